#!/bin/sh
# mk/check.sh counts what passed, failed and was skipped, whoever reports it; and every test reports what it skips.
# usage: tests/counting.sh
root=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset MAKEFLAGS MAKEOVERRIDES MFLAGS
cat >"$folder/Makefile" <<'END'
silent:
	@true
script:
	@echo "skipped: no GPU"; echo "3 passed, 0 failed, 1 skipped"
cmocka:
	@printf '[  PASSED  ] 2 test(s).\n\nskipped: no data\nhalf a line[  SKIPPED ] 1 test(s), listed below:\n'
skips:
	@echo "skipped: no compiler for aarch64"
fails:
	@echo "4 passed, 2 failed"; false
unreported:
	@echo "5 passed, 0 failed"; exit 3
END
passed=0 failed=0
closes() { # LINE STATUS TARGET...: the closing line and the exit status of those targets
    meant="$1, status $2"
    shift 2
    closing=$(cd "$folder" && MAKE=make sh "$root/mk/check.sh" b "$@" 2>&1; echo "status $?")
    got=$(printf '%s\n' "$closing" | tail -n 2 | paste -sd, | sed 's/,status/, status/')
    if [ "$got" = "$meant" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $*: $got; not $meant"
    fi
}
closes "1 passed, 0 failed, 0 skipped" 0 silent
closes "3 passed, 0 failed, 1 skipped" 0 script
closes "2 passed, 0 failed, 1 skipped" 0 cmocka
closes "0 passed, 0 failed, 1 skipped" 0 skips
closes "4 passed, 2 failed, 0 skipped" 1 fails
closes "5 passed, 1 failed, 0 skipped" 1 unreported
closes "10 passed, 2 failed, 3 skipped" 1 silent script cmocka skips fails

# A bare skip() prints no reason, so it would not be counted.
if grep -nE '(^|[^_a-z])skip\(\)' tests/*.c tests/*/*.c; then
    failed=$((failed + 1))
    echo "FAILED: the tests above call skip(); they must call skip_because() of tests/unit.h"
else
    passed=$((passed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
