#!/bin/sh
# Both libraries export the functions that ordernet.h declares, and nothing else.
. tests/count.sh
sed -n 's/^ONET_API .*[ *]\(onet_[a-z0-9_]*\)(.*/\1/p' include/ordernet.h | sort >"$folder/declared"
nm -D --defined-only libordernet.so | awk '{ print $3 }' | sort >"$folder/shared"
nm -g --defined-only libordernet.a | awk 'NF == 3 { print $3 }' | sort >"$folder/static"
for library in shared static; do
    check "the functions of the $library library (+) are those of ordernet.h (-)" \
        diff -u "$folder/declared" "$folder/$library"
done
finish
