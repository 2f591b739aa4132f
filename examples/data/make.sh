#!/bin/sh
# Makes the example data: sets of distinct numbers and their ascending order. The numbers come from the
# Park-Miller generator (MINSTD), small enough to be exact in awk's doubles, so that every awk writes the same
# files.
# usage: examples/data/make.sh [FOLDER]
set -e
cd "${1:-$(dirname "$0")}"

# sets COUNT LOW HIGH SEED ORDERED: COUNT sets of LOW to HIGH numbers, with or without their order.
sets() {
    awk -v count="$1" -v low="$2" -v high="$3" -v seed="$4" -v ordered="$5" '
    function below(n) { seed = seed * 16807 % 2147483647; return int(seed / 2147483647 * n) }
    BEGIN {
        for (i = 0; i < 20; i++) below(1)
        for (s = 0; s < count; s++) {
            n = low + below(high - low + 1)
            split("", taken)
            for (i = 0; i < n; i++) {
                do x[i] = below(1000); while (x[i] in taken)
                taken[x[i]] = 1
            }
            items = order = ""
            for (i = 0; i < n; i++) items = items (i ? ", " : "") sprintf("[0.%03d]", x[i])
            t = 0
            for (v = 0; v < 1000 && t < n; v++)
                for (i = 0; i < n; i++)
                    if (x[i] == v) order = order (t++ ? ", " : "") i
            print "{\"items\": [" items "]" (ordered ? ", \"order\": [" order "]" : "") "}"
        }
    }'
}

sets 500 2 10 1 1 > sort.jsonl
sets 100 2 10 2 1 > sort-valid.jsonl
{ sets 4 4 10 3 0; sets 1 20 20 4 0; } > sort-ask.jsonl
