#!/bin/sh
# Tests the container image: builds it from the Containerfile with buildah, on a Debian system that mmdebstrap makes instead of one from
# a registry, and sends requests to the server in it; with podman also where the container may write nothing.
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
inside ${entry% 8080 } 8129 >"$folder/serve.log" 2>&1 &
server=$!
ask() { # WHAT PORT
    for wait in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        curl -sf "http://localhost:$2/healthz" >/dev/null && break
        sleep 1
    done
    check "$1: the page" sh -c "curl -sf http://localhost:$2/ | grep -q OrderNet || { cat '$folder/serve.log'; false; }"
    check "$1: a sentence" curl -sf -o "$folder/answer" -H 'Content-Type: application/json' -d '{"words": ["to", "be", "or"]}' "http://localhost:$2/v1/unscramble"
}
ask "in a chroot" 8129
kill "$server"
wait "$server" 2>/dev/null

# crun does not start where version 1 and 2 of control groups are mixed; podman's own limits are above those of some machines.
limits="--ulimit nofile=1024:1024 --ulimit nproc=1024:1024"
why="no podman here (Debian: podman, runc)" by=
for runtime in crun runc; do
    path=$(command -v $runtime) && command -v podman >/dev/null || continue
    if why=$(podman $store --runtime "$path" run --rm --read-only $limits -p 8130:8080 localhost/base true 2>&1); then
        by="podman $store --runtime $path"
        break
    fi
done
if [ -z "$by" ]; then
    skip "no container was started: $(echo "$why" | tail -1)"
else
    $by run -d --name server --read-only --read-only-tmpfs=false $limits -p 8130:8080 localhost/ordernet >"$folder/serve.log" 2>&1
    ask "by podman, read-only" 8130
    check "nothing can be written" sh -c "! $by exec server touch /tmp/x"
    $by rm -f -t 5 server >/dev/null
fi
buildah $store rm -a >/dev/null && buildah $store rmi -a -f >/dev/null 2>&1
finish
