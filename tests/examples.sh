#!/bin/sh
# Tests the example programs: trains with examples/train.c on the example data, orders three numbers with
# examples/order.c, and words with examples/words.c.
# usage: B=FOLDER tests/examples.sh
. tests/count.sh
export LD_LIBRARY_PATH="$PWD"
model=$folder/sort.safetensors
trains() { "$B/examples/train" examples/data/sort.jsonl "$model" | grep 'parameters from'; }
orders() {
    "$B/examples/order" "$model" 0.9 0.1 0.5 >"$folder/ordered" || return 1
    cat "$folder/ordered"
    [ "$(head -n 3 "$folder/ordered" | cut -d' ' -f1 | paste -sd' ')" = "0.1 0.5 0.9" ]
}
words() { [ "$("$B/examples/words" four ONE three)" = "ONE three four" ]; }
check "train" trains
check "order" orders
check "words" words
finish
