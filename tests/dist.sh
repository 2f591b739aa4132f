#!/bin/sh
# Tests the archives of `make dist`: they are reproducible byte for byte, the source builds without a network,
# the static program runs.
# usage: tests/dist.sh ordernet-VERSION CPU
. tests/count.sh
archive=$1
root=$PWD
alone=
if unshare -rn true 2>/dev/null; then alone="unshare -rn"; else skip "no namespace without a network here: the source was built with it"; fi

git archive --prefix="$archive/" HEAD | xz -9e -T1 >"$folder/again.tar.xz"
check "the source is the same bytes twice" cmp "$folder/again.tar.xz" "dist/$archive.tar.xz"
mkdir "$folder/source" && tar -xJf "dist/$archive.tar.xz" -C "$folder/source" || exit 1
cp "dist/$archive-linux-$2.tar.xz" "$folder/static.tar.xz"
${MAKE:-make} --no-print-directory -s dist-static
check "the static program's archive is the same bytes twice" cmp "$folder/static.tar.xz" "dist/$archive-linux-$2.tar.xz"
# What calls this make must not reach the one that builds the source.
unset MAKEFLAGS MFLAGS MAKELEVEL B
cd "$folder/source/$archive" || exit 1
check "the source builds without a network" $alone make -s -j"$(nproc)" OPT=-O0 AVX_OPT=-O0
check "and orders words" sh -c './ordernet unscramble London was born in he . | grep -q "He was born in London."'
cd "$folder" || exit 1

try() { # CPU RUN...: the program of that archive, run by RUN
    cpu=$1
    shift
    rm -rf "$archive" && tar -xJf "$root/dist/$archive-linux-$cpu.tar.xz" || return 1
    cd "$archive" || return 1
    check "$cpu: needs no library" sh -c 'file -L ordernet | grep -q "statically linked"'
    check "$cpu: words" sh -c "$* ./ordernet unscramble London was born in he . | grep -q 'He was born in London.'"
    check "$cpu: cities, and a picture" "$@" ./ordernet tsp solve --geo --method ordernet --draw tour.png "$root/examples/data/capitals.csv"
    check "$cpu: the picture" sh -c 'file tour.png | grep -q "PNG image"'
    check "$cpu: pages" "$@" ./ordernet pages order --out ordered "$root/examples/data/pages"
    check "$cpu: licence" test -s LICENSE
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
