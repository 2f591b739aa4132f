#!/bin/sh
# Makes the example data: sets of distinct numbers and their ascending order, and travel times in a town. The
# numbers come from the Park-Miller generator (MINSTD), small enough to be exact in awk's doubles, so that every
# awk writes the same files.
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

# A town that does not exist: 7 streets and 9 avenues, one-way by turns, but for the ring around them. A block takes 20
# to 35 seconds. The times from stop to stop are those of the shortest paths.
awk '
function join_nodes(a, b, seconds) { if (!((a, b) in time) || time[a, b] > seconds) time[a, b] = seconds }
function road(a, b, seconds, ways) {
    if (ways != "back") join_nodes(a, b, seconds)
    if (ways != "there") join_nodes(b, a, seconds)
}
BEGIN {
    columns = 9; rows = 7
    count = split("Depot 4 2,Station 8 1,Market 4 3,School 1 5,Library 6 1,Museum 7 5,Hospital 0 2,Theatre 2 3,Bakery 5 6,Park 8 6," \
                  "Harbour 3 6,Mill 6 4,Town hall 2 1", stops, ",")
    for (y = 0; y < rows; y++)
        for (x = 0; x < columns; x++) {
            here = y * columns + x
            ring = y == 0 || y == rows - 1
            if (x + 1 < columns) road(here, here + 1, 20 + 5 * (y % 3), ring ? "both" : y % 2 ? "there" : "back")
            ring = x == 0 || x == columns - 1
            if (y + 1 < rows) road(here, here + columns, 25 + 5 * (x % 3), ring ? "both" : x % 2 ? "back" : "there")
        }
    nodes = rows * columns
    for (k = 0; k < nodes; k++)
        for (i = 0; i < nodes; i++)
            if ((i, k) in time)
                for (j = 0; j < nodes; j++)
                    if (i != j && (k, j) in time) join_nodes(i, j, time[i, k] + time[k, j])
    for (s = 1; s <= count; s++) {
        parts = split(stops[s], word, " ")
        node[s] = word[parts] * columns + word[parts - 1]
        name[s] = word[1] (parts == 4 ? " " word[2] : "")
        printf ",%s", name[s]
    }
    print ""
    for (a = 1; a <= count; a++) {
        printf "%s", name[a]
        for (b = 1; b <= count; b++) printf ",%d", a == b ? 0 : time[node[a], node[b]]
        print ""
    }
}' > town.csv
