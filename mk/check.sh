#!/bin/sh
# Runs make targets one after the other and adds up their tests. A target reports them in any of these ways:
#   N passed, N failed[, N skipped]   alone on a line, by scripts
#   [  PASSED  ] N test(s).           and FAILED, by cmocka programs
#   skipped: REASON                   one line per skipped test, by both: these lines are what is counted as skipped
# A target that succeeds and reports nothing counts as one passed test; one that fails, as at least one failed test.
# usage: mk/check.sh FOLDER TARGET...
log=$1/check.log
shift
mkdir -p "$(dirname "$log")"
passed=0 failed=0 skipped=0 bad=
for target; do
    echo "==== $target"
    { $MAKE --no-print-directory "$target" 2>&1; echo $? >"$log.status"; } | tee "$log"
    status=$(cat "$log.status")
    # cmocka writes to both streams, so its closing lines may follow a part of another line.
    eval "$(awk '
        function number(line, mark) {
            return match(line, "\\[  " mark "  \\] [0-9]+ test\\(s\\)") ? substr(line, RSTART + 13) + 0 : 0
        }
        /^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ { p += $1; f += $3; next }
        /^skipped: / { k++ }
        { p += number($0, "PASSED"); f += number($0, "FAILED") }
        END { printf "p=%d f=%d k=%d\n", p, f, k }' "$log")"
    if [ "$status" != 0 ]; then
        bad="$bad $target"
        [ "$f" -gt 0 ] || f=1
    elif [ "$((p + f + k))" = 0 ]; then
        p=1
    fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + k))
done
rm -f "$log" "$log.status"
[ -z "$bad" ] || echo "failed:$bad"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
