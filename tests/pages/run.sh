#!/bin/sh
# Orders all original files of the shared pages by a rule, and checks that nothing but the order changed; without them, the pages of
# the repository.
# usage: tests/pages/run.sh PROGRAM
raw=$ORDERNET_SHARED/data/pages/raw.tar.xz
[ -x /usr/bin/python3 ] || { echo "skipped: python3 is missing"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -f "$raw" ]; then
    tar xJf "$raw" -C "$work" || exit 1
else
    echo "only the pages of the repository: $raw is missing"
    mkdir "$work/raw" && cp examples/data/pages/*.xml tests/pages/*.xml "$work/raw" || exit 1
fi
"$1" pages order --quiet --rule xy-columns --out "$work/ordered" "$work/raw" || exit 1
/usr/bin/python3 tests/pages/same_but_order.py "$work/raw" "$work/ordered"
