#!/bin/bash
# Compares tools by number of cities: mean gap to a long local search and CPU time per instance, one thread,
# of the network, of the network followed by local search, and of local search alone. Prints the table of
# docs/tours.md.
# usage: experiments/tsp/tools.sh    (some minutes)
set -eu
cd "$(dirname "$0")/../.."
program=${ORDERNET:-./ordernet}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
columns=(
    "net|--method ordernet"
    "net, --improve|--method ordernet --improve"
    "net, 8 symmetries|--method ordernet --symmetries 8"
    "net, 8 symmetries, --improve|--method ordernet --symmetries 8 --improve"
    "net, --improve --kicks 1000|--method ordernet --improve --kicks 1000"
    "2opt|--method 2opt"
    "2opt --kicks 1000|--method 2opt --kicks 1000"
    "2opt --kicks 10000|--method 2opt --kicks 10000"
)
printf '| cities |'
for column in "${columns[@]}"; do printf ' %s |' "${column%%|*}"; done
printf '\n| --- |'
for column in "${columns[@]}"; do printf ' --- |'; done
printf '\n'
TIMEFORMAT=%U
for pair in 10:100 20:100 50:50 100:30 200:20 500:6 1000:4; do
    n=${pair%:*} count=${pair#*:}
    $program tsp generate --quiet --n "$n" --per-size "$count" --seed 5 --method local --out "$work/cities.jsonl"
    $program tsp eval --quiet --no-net --out "$work/reference.csv" "$work/cities.jsonl" >/dev/null
    best=$(awk -F, '$2 == "reference" { print $4 }' "$work/reference.csv")
    printf '| %d |' "$n"
    for column in "${columns[@]}"; do
        # shellcheck disable=SC2086  # several words
        { time $program tsp solve --threads 1 ${column#*|} "$work/cities.jsonl" >"$work/out" 2>/dev/null; } 2>"$work/time"
        awk -v best="$best" -v count="$count" -v seconds="$(cat "$work/time")" '
            /mean length/ { gap = 100 * ($5 / best - 1)
                            if (gap * gap < 0.005 * 0.005) gap = 0
                            printf " %.2f%%, %.1f ms |", gap, 1000 * seconds / count }' "$work/out"
    done
    printf '\n'
done

# --geo: 20 lists of 50 places, in a window of Europe's size and all over the Earth.
places() { # WEST EAST SOUTH NORTH: even over the surface
    awk -v west="$1" -v east="$2" -v south="$3" -v north="$4" 'BEGIN {
        srand(1)
        degree = atan2(0, -1) / 180
        print "set,lat,lon"
        for (i = 0; i < 1000; i++) {
            z = sin(south * degree) + rand() * (sin(north * degree) - sin(south * degree))
            printf "%d,%.4f,%.4f\n", i % 20, atan2(z, sqrt(1 - z * z)) / degree, west + rand() * (east - west)
        }
    }'
}
printf '\n| 50 places | net | net, --improve |\n| --- | --- | --- |\n'
for window in "Europe|-10 30 35 60" "the Earth|-180 180 -90 90"; do
    # shellcheck disable=SC2086  # several words
    places ${window#*|} >"$work/places.csv"
    length() { $program tsp solve --geo --out "$work/out.csv" "$@" "$work/places.csv" 2>/dev/null | awk '/mean length/ { print $5 }'; }
    best=$(length --method 2opt --kicks 100000)
    printf '| %s |' "${window%%|*}"
    for args in "" --improve; do
        awk -v length_="$(length --method ordernet $args)" -v best="$best" 'BEGIN { printf " %.1f%% |", 100 * (length_ / best - 1) }'
    done
    printf '\n'
done
