#!/bin/sh
# Tests mk/check.sh: it must count what passed, failed and was skipped, whichever kind of test reports it, and
# every test must report what it skips. Tests make check-format too: with a bad file, and without clang-format.
# usage: tests/counting.sh
root=$PWD
. tests/count.sh
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
slow slower:
	@echo begins; sleep 0.3; echo ends
END
# `make killed` kills what has called it.
cat >"$folder/make" <<'END'
#!/bin/sh
case $2 in killed) kill -9 $PPID ;; *) exec make "$@" ;; esac
END
chmod +x "$folder/make"
sums_up() { # LINE STATUS TARGET...
    line=$1 expected=$2
    shift 2
    (cd "$folder" && MAKE=./make sh "$root/mk/check.sh" b "$@") >"$folder/printed" 2>&1
    status=$?
    cat "$folder/printed"
    [ "$status" = "$expected" ] && [ "$(tail -n 1 "$folder/printed")" = "$line" ]
}
closes() { check "$1, status $2" sums_up "$@"; } # what those targets close with
closes "1 passed, 0 failed, 0 skipped" 0 silent
closes "3 passed, 0 failed, 1 skipped" 0 script
closes "2 passed, 0 failed, 1 skipped" 0 cmocka
closes "0 passed, 0 failed, 1 skipped" 0 skips
closes "4 passed, 2 failed, 0 skipped" 1 fails
closes "5 passed, 1 failed, 0 skipped" 1 unreported
closes "0 passed, 1 failed, 0 skipped" 1 killed
closes "10 passed, 2 failed, 3 skipped" 1 silent script cmocka skips fails
export JOBS=3
closes "10 passed, 2 failed, 3 skipped" 1 silent script cmocka skips fails

# What was begun is counted with the rest, the failed and the killed too.
begun() { # LINE STATUS TARGET...: those targets first, then silent
    line=$1 expected=$2
    shift 2
    (cd "$folder" && sh "$root/mk/check.sh" b --expect "$@" && MAKE=./make sh "$root/mk/check.sh" b --begin "$@") &&
        sums_up "$line" "$expected" --end silent
}
never_begun() { # what was to begin them died
    (cd "$folder" && sh "$root/mk/check.sh" b --expect script fails) && sums_up "1 passed, 2 failed, 0 skipped" 1 --end silent
}
check "targets that were begun" begun "4 passed, 0 failed, 1 skipped" 0 script
check "a begun target that failed" begun "5 passed, 2 failed, 0 skipped" 1 fails
check "a begun target that was killed" begun "1 passed, 1 failed, 0 skipped" 1 killed
check "expected targets that never began" never_begun
check "nothing is left of an earlier run" sums_up "1 passed, 0 failed, 0 skipped" 0 silent

# Of targets that run at the same time, each is printed whole, and has its line in the table.
whole() {
    sums_up "2 passed, 0 failed, 0 skipped" 0 slow slower &&
        [ "$(grep -A 1 begins "$folder/printed" | grep -c ends)" = 2 ] &&
        tail -n 4 "$folder/printed" | awk '$3 ~ /^(target|slow|slower)$/ { n++ } END { exit n != 3 }'
}
check "output of two targets" whole
unset JOBS

# A bare skip() prints no reason, so it would not be counted.
no_bare_skip() { ! grep -nE '(^|[^_a-z])skip\(\)' tests/*.c tests/*/*.c; }
check "these tests must call skip_because() of tests/unit.h instead of skip()" no_bare_skip

# check-format skips without clang-format, and finds a badly formatted file with it.
says() { # TEXT COMMAND...: the command's output has that text
    text=$1
    shift
    "$@" >"$folder/printed" 2>&1
    cat "$folder/printed"
    grep -q "$text" "$folder/printed"
}
printf 'int  x;\n' >"$folder/bad.c"
check "check-format without clang-format" says '^skipped: ' make check-format CLANG_FORMAT=
if clang-format-14 --version >/dev/null 2>&1; then
    check "check-format of a bad file" says 'bad.c:1:4: error' make check-format CLANG_FORMAT=clang-format-14 FORMATTED="$folder/bad.c"
else
    skip "clang-format 14 is not installed, check-format was not tested"
fi
finish
