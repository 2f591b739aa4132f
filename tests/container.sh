#!/bin/sh
# Builds the image of the Containerfile with buildah, on a Debian system that mmdebstrap makes instead of one from a registry, and asks
# the server in it.
# usage: tests/container.sh SUITE       after make deb
. tests/count.sh
for tool in buildah mmdebstrap; do
    command -v $tool >/dev/null || { skip "no $tool here (Debian: $tool), no image was built"; finish; exit; }
done
# Nothing is kept, and nothing of the user's images is touched.
store="--root $folder/store --runroot $folder/run --storage-driver vfs"
make_base() {
    mmdebstrap --quiet --variant=apt "$1" "$folder/base.tar" && base=$(buildah $store from scratch) &&
        buildah $store add -q "$base" "$folder/base.tar" / && buildah $store commit -q "$base" base && rm -f "$folder/base.tar"
}
if ! make_base "$1" >"$folder/base.log" 2>&1; then
    skip "no base for an image could be made here: $(tail -1 "$folder/base.log")"
    finish
    exit
fi
check "the image is built" buildah $store build -q --isolation chroot --build-arg BASE=localhost/base -t ordernet .
container=$(buildah $store from ordernet)
inside() { buildah $store run --isolation chroot "$container" -- "$@"; }
check "not root" test "$(inside id -u)" = 65534
check "the packages are not in it" inside test ! -e /packages/ordernet-models*
entry=$(buildah $store inspect --format '{{range .OCIv1.Config.Entrypoint}}{{.}} {{end}}' "$container")
check "the server is its entry point" test "$entry" = "ordernet serve --host 0.0.0.0 --port 8080 "
inside $entry --port 8129 >"$folder/serve.log" 2>&1 &
server=$!
for wait in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    curl -sf http://localhost:8129/healthz >/dev/null && break
    sleep 1
done
check "the page" sh -c "curl -sf http://localhost:8129/ | grep -q OrderNet || { cat '$folder/serve.log'; false; }"
check "a sentence" sh -c "curl -sf -o /dev/null -H 'Content-Type: application/json' -d '{\"words\": [\"to\", \"be\", \"or\"]}' http://localhost:8129/v1/unscramble"
kill "$server"
wait "$server" 2>/dev/null
buildah $store rm -a >/dev/null && buildah $store rmi -a -f >/dev/null 2>&1
finish
