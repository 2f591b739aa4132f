#!/bin/sh
# Tests the examples of the documents: in each block that starts with ```console, every line that begins with
# "$ " is run, and must print the lines that follow it. README.md stays short.
# usage: tests/docs.sh DOCUMENT...
. tests/count.sh
check "README.md: at most 120 lines of at most 100 columns" \
    awk 'length > 100 || NR > 120 { print FILENAME ":" NR; bad = 1 } END { exit bad }' README.md
for document; do
    rm -f "$folder"/*.run
    awk -v folder="$folder" '
        /^```console$/ { inside = 1; next }
        /^```$/ { inside = 0 }
        inside && /^\$ / { n++; print substr($0, 3) > (folder "/" n ".run"); printf "" > (folder "/" n ".expected"); next }
        inside { print > (folder "/" n ".expected") }' "$document"
    n=1
    while [ -f "$folder/$n.run" ]; do
        sh "$folder/$n.run" >"$folder/printed" </dev/null
        check "$document: $(cat "$folder/$n.run")" diff "$folder/$n.expected" "$folder/printed"
        n=$((n + 1))
    done
done
finish
