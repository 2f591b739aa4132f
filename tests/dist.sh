#!/bin/sh
# Tests the archives of `make dist`: another clone makes the same source archive, the source builds without a network and makes
# the same archive of the static program, which does its tasks and serves without any library of this machine (for ARM by QEMU).
# usage: tests/dist.sh ordernet-VERSION CPU
. tests/count.sh
archive=$1
root=$PWD
alone=
if unshare -rn true 2>/dev/null; then alone="unshare -rn"; else skip "no namespace without a network here: the source was built with it"; fi
# The settings of the make that runs this must not reach those that build elsewhere.
unset MAKEFLAGS MFLAGS MAKELEVEL B

git clone -q . "$folder/clone" || exit 1
check "another clone" make -s -C "$folder/clone" dist-source
check "makes the same source archive" cmp "$folder/clone/dist/$archive.tar.xz" "dist/$archive.tar.xz"
mkdir "$folder/source" && tar -xJf "dist/$archive.tar.xz" -C "$folder/source" || exit 1
cd "$folder/source/$archive" || exit 1
check "the source builds without a network" $alone env SOURCE_DATE_EPOCH="$(git -C "$root" log -1 --format=%ct)" make -s -j"$(nproc)" dist-static
check "and orders words" sh -c './build/static/ordernet unscramble --model models/words.safetensors London was born in he . | grep -q "He was born in London."'
if git -C "$root" diff --quiet HEAD; then
    check "in another folder the static program's archive is the same bytes" cmp "dist/$archive-linux-$2.tar.xz" "$root/dist/$archive-linux-$2.tar.xz"
else
    skip "there are changes that are not committed: the static program was not compared with that of the source archive"
fi
cd "$folder" && rm -rf clone source || exit 1

try() { # CPU RUN...: the program of that archive, run by RUN
    cpu=$1
    shift
    rm -rf "$archive" && tar -xJf "$root/dist/$archive-linux-$cpu.tar.xz" || return 1
    cd "$archive" || return 1
    check "$cpu: needs no library" sh -c 'file -L ordernet | grep -q "statically linked"'
    check "$cpu: words" sh -c "$* ./ordernet unscramble London was born in he . | grep -q 'He was born in London.'"
    check "$cpu: cities, and a picture" "$@" ./ordernet tsp solve --geo --method ordernet --draw tour.png examples/data/capitals.csv
    check "$cpu: the picture" sh -c 'file tour.png | grep -q "PNG image"'
    check "$cpu: pages" "$@" ./ordernet pages order --out ordered examples/data/pages
    check "$cpu: licence" test -s LICENSE
    for notice in ordernet.txt libcairo2-dev.txt libmicrohttpd-dev.txt LGPL-2.1; do
        check "$cpu: licences/$notice" test -s "licences/$notice"
    done
    # Port 0: the server says which one it took.
    "$@" ./ordernet serve --port 0 >serve.log 2>&1 &
    server=$!
    for wait in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        url=$(grep -o 'http://[0-9.:]*' serve.log | head -1)
        [ -z "$url" ] || break
        sleep 1
    done
    check "$cpu: serves" curl -sf -m 20 "$url/healthz"
    if [ -d page ]; then
        check "$cpu: serves the page" sh -c "curl -sf -m 20 '$url/' | grep -q OrderNet"
        check "$cpu: serves its model" curl -sf -m 60 -o words.safetensors "$url/models/words.safetensors"
        check "$cpu: which is the shipped one" cmp words.safetensors models/words.safetensors
    else
        skip "no clang for WebAssembly here (make setup-page): the archive for $cpu has no page"
    fi
    kill "$server" && wait "$server"
    cd ..
}
try "$2"
# Nothing of this machine is there.
mkdir "$archive/tmp" && check "$2: in a folder with nothing else" unshare -r chroot "$archive" /ordernet unscramble --model /models/words.safetensors to be or
if command -v qemu-aarch64 >/dev/null && [ -f "$root/dist/$archive-linux-aarch64.tar.xz" ]; then
    try aarch64 qemu-aarch64
else
    skip "no qemu-aarch64 here (Debian: qemu-user), the program for ARM was not tried"
fi
finish
