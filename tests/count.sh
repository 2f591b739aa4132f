# Shell library of the test scripts, which begin with `. tests/count.sh`: makes a scratch folder $folder, and
# counts passed, failed and skipped checks.
#   check NAME COMMAND...   the command must succeed; its output is shown if it does not
#   skip REASON             counts a test that cannot run here
#   finish                  prints the closing line that mk/check.sh reads; its status is the script's
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0 skipped=0
check() {
    name=$1
    shift
    if "$@" >"$folder/check.log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
        cat "$folder/check.log"
    fi
}
skip() {
    echo "skipped: $1"
    skipped=$((skipped + 1))
}
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
}
