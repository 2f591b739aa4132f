#!/bin/sh
# Runs make targets one after the other and sums up what passed and failed in them: lines "N passed, N failed",
# and the closing lines of cmocka programs. A target without either counts as one test.
# usage: mk/check.sh FOLDER TARGET...
log=$1/check.log
shift
mkdir -p "$(dirname "$log")"
passed=0 failed=0 bad=
for target; do
    echo "==== $target"
    { $MAKE --no-print-directory "$target" 2>&1; echo $? >"$log.status"; } | tee "$log"
    status=$(cat "$log.status")
    # cmocka writes to both streams, so that its closing lines may stand behind half a line of another.
    eval "$(awk '
        function number(line, mark) {
            return match(line, "\\[  " mark "  \\] [0-9]+ test\\(s\\)") ? substr(line, RSTART + 13) + 0 : 0
        }
        /^[0-9]+ passed, [0-9]+ failed$/ { p += $1; f += $3; next }
        { p += number($0, "PASSED"); f += number($0, "FAILED") }
        END { printf "p=%d f=%d\n", p, f }' "$log")"
    if [ "$status" != 0 ]; then
        bad="$bad $target"
        [ "$f" -gt 0 ] || f=1
    elif [ "$((p + f))" = 0 ]; then
        p=1
    fi
    passed=$((passed + p)) failed=$((failed + f))
done
rm -f "$log" "$log.status"
[ -z "$bad" ] || echo "failed:$bad"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
