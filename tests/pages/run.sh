#!/bin/sh
# Orders all original files of the shared pages by a rule, and checks that nothing but the order changed.
# usage: tests/pages/run.sh PROGRAM
raw=$ORDERNET_SHARED/data/pages/raw.tar.xz
[ -f "$raw" ] || { echo "skipped: $raw is missing"; exit 0; }
[ -x /usr/bin/python3 ] || { echo "skipped: python3 is missing"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar xJf "$raw" -C "$work" || exit 1
"$1" pages order --quiet --rule xy-columns --out "$work/ordered" "$work/raw" || exit 1
/usr/bin/python3 tests/pages/same_but_order.py "$work/raw" "$work/ordered"
