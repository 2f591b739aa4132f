#!/bin/sh
# Runs make targets, JOBS at a time, and adds up their tests. The output of a target is printed whole when it has ended. A
# target reports its tests in any of these ways:
#   N passed, N failed[, N skipped]   alone on a line, by scripts
#   [  PASSED  ] N test(s).           and FAILED, by cmocka programs
#   skipped: REASON                   one line per skipped test, by both: these lines are what is counted as skipped
# A target that succeeds and reports nothing counts as one passed test; one that fails, as at least one failed test.
# Before the closing line comes a table of the time of each target: wall-clock seconds, and CPU seconds.
# usage: MAKE=make [JOBS=N] mk/check.sh FOLDER [--expect | --begin | --end] TARGET...
#   --expect  forgets earlier runs; these targets count as failed at the end unless they have run
#   --begin   runs the targets and keeps what they print, with status 0 whatever they report
#   --end     runs the targets, and reports them with those of --begin
logs=$1/check
shift
part=
case $1 in --*) part=$1 && shift ;; esac
case $part in '' | --expect) rm -rf "$logs" ;; esac
mkdir -p "$logs"
touch "$logs/ended" "$logs/expected"
export logs
if [ "$part" = --expect ]; then
    printf '%s\n' "$@" >"$logs/expected"
    exit 0
fi

# Runs one target, then writes one line: its name, exit status, seconds, and seconds of its children as `times` has them.
one='start=$(date +%s)
$MAKE --no-print-directory "$1" >"$logs/$1" 2>&1
status=$?
seconds=$(($(date +%s) - start))
times >"$logs/$1.times"
echo "$1 $status $seconds $(tail -n 1 "$logs/$1.times")"'

# xargs rather than `&`, which would keep Ctrl-C from the tests.
run() { printf '%s\n' "$@" | xargs -P "${JOBS:-1}" -n 1 sh -c "$one" target; }
if [ "$part" = --begin ]; then
    run "$@" >"$logs/ended"
    exit 0
fi

{ cat "$logs/ended"; run "$@"; } | {
    : >"$logs/table"
    passed=0 failed=0 skipped=0 bad=
    while read -r target status seconds user system; do
        echo "==== $target"
        cat "$logs/$target"
        # cmocka writes to both streams, so its closing lines may follow a part of another line.
        eval "$(awk '
            function number(line, mark) {
                return match(line, "\\[  " mark "  \\] [0-9]+ test\\(s\\)") ? substr(line, RSTART + 13) + 0 : 0
            }
            /^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ { p += $1; f += $3; next }
            /^skipped: / { k++ }
            { p += number($0, "PASSED"); f += number($0, "FAILED") }
            END { printf "p=%d f=%d k=%d\n", p, f, k }' "$logs/$target")"
        if [ "$status" != 0 ]; then
            bad="$bad $target"
            [ "$f" -gt 0 ] || f=1
        elif [ "$((p + f + k))" = 0 ]; then
            p=1
        fi
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + k))
        echo "$target $seconds $user $system" >>"$logs/table"
    done
    # A target that did not end, because something killed it, failed.
    # shellcheck disable=SC2013 # names of targets are words
    for target in $(cat "$logs/expected") "$@"; do
        grep -q "^$target " "$logs/table" || { bad="$bad $target" failed=$((failed + 1)); }
    done
    # "1m2.5s" is 62.5 seconds.
    awk 'function number(t, part) { split(t, part, /[ms]/); return 60 * part[1] + part[2] }
        BEGIN { printf "%8s %8s  target\n", "seconds", "CPU" }
        { printf "%8d %8.1f  %s\n", $2, number($3) + number($4), $1 }' "$logs/table"
    rm -rf "$logs"
    [ -z "$bad" ] || echo "failed:$bad"
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
}
