#!/bin/sh
# Both libraries show the functions that ordernet.h declares, and nothing else.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0
sed -n 's/^ONET_API .*[ *]\(onet_[a-z0-9_]*\)(.*/\1/p' include/ordernet.h | sort >"$folder/declared"
nm -D --defined-only libordernet.so | awk '{ print $3 }' | sort >"$folder/shared"
nm -g --defined-only libordernet.a | awk 'NF == 3 { print $3 }' | sort >"$folder/static"
for library in shared static; do
    if diff -u "$folder/declared" "$folder/$library"; then
        passed=$((passed + 1))
    else
        echo "the $library library and include/ordernet.h differ (- declared, + visible)"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
