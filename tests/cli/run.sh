#!/bin/bash
# Runs the command-line tests: each tests/cli/*.case holds a command, what it must print, and its exit status.
#
#   What the case shows, in a line or two.
#   --- cmd            bash, run in an empty folder that is removed afterwards; $ROOT is the repository
#   ordernet order --model $ROOT/tests/cli/... sets.jsonl
#   --- mask           may be left out: a sed script for what differs from run to run (times, rates)
#   s/[0-9]+ sets\/s/N sets\/s/
#   --- stdout         exactly this; may be left out where nothing is printed
#   --- stderr         exactly this; may be left out where nothing is printed
#   --- exit 2         the exit status of the last command; may be left out where it is 0
#
# In both outputs the empty folder's path is replaced by TMP and the repository's by ROOT. A case that needs
# what is not there prints a line "SKIP: reason" and exits with 77. Progress lines, which only a slow machine
# prints, are left out of stderr.
#
# usage: tests/cli/run.sh [--update] [CASE ...]     --update writes what was printed into the cases
# ORDERNET names the program to test, ./ordernet when it is not set.
cd "$(dirname "$0")/../.." || exit 1
export ROOT=$PWD
program=$(realpath "${ORDERNET:-ordernet}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$program" "$work/bin/ordernet"
export PATH="$work/bin:$PATH" LC_ALL=C TERM=dumb
# A wide or narrow terminal, or the user's own settings, must not change what is compared.
unset COLUMNS OMP_NUM_THREADS ORDERNET_CUDA ORDERNET_MPI

update=
[ "$1" = --update ] && update=1 && shift
[ $# -gt 0 ] || set -- tests/cli/*.case

section() { # FILE NAME: the lines of a section
    awk -v want="--- $2" '/^--- / { on = $0 == want; next } on' "$1"
}

declare -A slow=([stderr]='/^[a-z].*\/s, .* left$/d; ')
passed=0 failed=0 skipped=0
for case in "$@"; do
    [ -f "$case" ] || { echo "$case: no such case" >&2; exit 1; }
    name=$(basename "$case" .case)
    folder=$work/$name
    mkdir -p "$folder"
    section "$case" cmd >"$work/cmd"
    section "$case" mask >"$work/mask"
    (cd "$folder" && timeout 300 bash "$work/cmd" >"$work/stdout.raw" 2>"$work/stderr.raw" </dev/null)
    status=$?
    if [ "$status" = 77 ]; then
        echo "skipped: $name: $(sed -n 's/^SKIP: //p' "$work/stdout.raw")"
        skipped=$((skipped + 1))
        rm -rf "$folder"
        continue
    fi
    {
        awk '/^--- (stdout|stderr|exit)/ { exit } { print }' "$case"
        for stream in stdout stderr; do
            sed -E -e "${slow[$stream]}s|$folder|TMP|g; s|$ROOT|ROOT|g" -f "$work/mask" "$work/$stream.raw" >"$work/$stream"
            [ ! -s "$work/$stream" ] || { echo "--- $stream"; cat "$work/$stream"; }
        done
        [ "$status" = 0 ] || echo "--- exit $status"
    } >"$work/actual"
    if [ -n "$update" ]; then
        cp "$work/actual" "$case"
        passed=$((passed + 1))
    elif sed -zE 's/--- exit 0\n$//; s/--- stderr\n(--- exit [0-9]+\n)?$/\1/; s/--- stdout\n(--- (stderr|exit)|$)/\1/' "$case" |
        diff -u --label "$case" --label "what happened" - "$work/actual"; then
        passed=$((passed + 1))
    else
        echo "FAILED: $name"
        failed=$((failed + 1))
    fi
    rm -rf "$folder"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
