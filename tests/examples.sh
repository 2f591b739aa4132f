#!/bin/sh
# Trains with examples/train.c on the example data and orders three numbers with examples/order.c.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export LD_LIBRARY_PATH="$PWD"
passed=0 failed=0
if "$B/examples/train" examples/data/sort.jsonl "$folder/sort.safetensors" >"$folder/log" 2>&1 &&
    grep -q 'parameters from' "$folder/log"; then
    passed=$((passed + 1))
else
    echo "FAILED: train"
    cat "$folder/log"
    failed=$((failed + 1))
fi
"$B/examples/order" "$folder/sort.safetensors" 0.9 0.1 0.5 >"$folder/log" 2>&1
if [ "$(head -3 "$folder/log")" = "0.1 (item 1)
0.5 (item 2)
0.9 (item 0)" ]; then
    passed=$((passed + 1))
else
    echo "FAILED: order"
    cat "$folder/log"
    failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
