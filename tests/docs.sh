#!/bin/sh
# The examples of the documents are true: in each block that starts with ```console, every line with "$ " in front
# is run, and what it prints must be the lines that follow.
# usage: tests/docs.sh DOCUMENT...
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0
for document; do
    awk -v folder="$folder" '
        /^```console$/ { inside = 1; next }
        /^```$/ { inside = 0 }
        inside && /^\$ / { n++; print substr($0, 3) > (folder "/" n ".run"); printf "" > (folder "/" n ".meant"); next }
        inside { print > (folder "/" n ".meant") }' "$document"
    n=1
    while [ -f "$folder/$n.run" ]; do
        sh "$folder/$n.run" >"$folder/got" </dev/null
        if cmp -s "$folder/got" "$folder/$n.meant"; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "$document: $(cat "$folder/$n.run")"
            diff "$folder/$n.meant" "$folder/got" || true
        fi
        n=$((n + 1))
    done
    rm -f "$folder"/*
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
