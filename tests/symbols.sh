#!/bin/sh
# Checks that the shared and the static library export the functions that the public headers declare, and
# nothing else.
. tests/count.sh
sed -n 's/^ONET_API .*[ *]\(onet_[a-z0-9_]*\)(.*/\1/p' include/*.h | sort >"$folder/declared"
nm -D --defined-only libordernet.so | awk '{ print $3 }' | sort >"$folder/shared"
nm -g --defined-only libordernet.a | awk 'NF == 3 { print $3 }' | sort >"$folder/static"
for library in shared static; do
    check "the functions of the $library library (+) are those of the headers (-)" \
        diff -u "$folder/declared" "$folder/$library"
done
finish
