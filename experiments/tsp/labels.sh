#!/bin/bash
# Measures how good and how fast the local search is that labels instances of more than 50 cities: for each
# number of kicks per city, the mean gap to better tours of the same instances, the share of tours that are
# not longer, and the CPU time per tour on one thread. The better tours are proven optima up to 50 cities, and
# beyond those of 200 kicks per city.
#
# usage: experiments/tsp/labels.sh [CITIES:INSTANCES ...]     (50:300 100:100 200:40)
set -eu
cd "$(dirname "$(readlink -f "$0")")/../.."
[ -x ./ordernet ] || make ordernet
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TIMEFORMAT=%U

# tours FILE CITIES INSTANCES OPTION ...: writes the length of each tour
tours() {
    local file=$1
    ./ordernet tsp generate --n "$2" --per-size "$3" --seed 9 --quiet "${@:4}" --out "$work/tours.jsonl"
    awk '{
        gsub(/[^-0-9.e,]/, " "); gsub(/,/, " "); sub(/^ *e *s/, "")
        k = 0
        for (i = 1; i <= NF; i++) if ($i ~ /^-?[0-9.]/) v[k++] = $i
        n = k / 3; sum = 0
        for (t = 0; t < n; t++) {
            a = v[2 * n + t]; b = v[2 * n + (t + 1) % n]
            sum += sqrt((v[2 * a] - v[2 * b]) ^ 2 + (v[2 * a + 1] - v[2 * b + 1]) ^ 2)
        }
        printf "%.12f\n", sum
    }' "$work/tours.jsonl" >"$work/$file"
}

[ $# -gt 0 ] || set -- 50:300 100:100 200:40
printf '%6s %6s %9s %16s %12s\n' cities kicks gap 'not longer' 'ms per tour'
for pair in "$@"; do
    n=${pair%:*} count=${pair#*:}
    if [ "$n" -le 50 ]; then tours better "$n" "$count" --method exact; else tours better "$n" "$count" --method local --kicks 200; fi
    for kicks in 0 5 10 20 50; do
        seconds=$({ time ./ordernet tsp generate --n "$n" --per-size "$count" --seed 9 --quiet --threads 1 \
            --method local --kicks $kicks --out "$work/timed.jsonl"; } 2>&1)
        tours some "$n" "$count" --method local --kicks $kicks
        paste "$work/some" "$work/better" | awk -v n="$n" -v k=$kicks -v s="$seconds" '
            { gap += $1 / $2 - 1; good += $1 <= $2 * (1 + 1e-7) }
            END { printf "%6d %6d %8.4f%% %15.1f%% %12.2f\n", n, k, 100 * gap / NR, 100 * good / NR, 1000 * s / NR }'
    done
done
