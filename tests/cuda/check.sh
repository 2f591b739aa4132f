#!/bin/sh
# Runs the GPU tests on a machine with a GPU: each test program alone, then three copies of the first at the
# same time, then all but *_ranks on small cases under compute-sanitizer (if installed), then the benchmarks.
# usage: check.sh TEST_PROGRAM...
library=./libordernet-cuda.so
status=0
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || exit 1
for test; do "$test" "$library" || status=1; done
# Processes that share a GPU are preempted anywhere: an order of work that nothing guarantees shows there.
echo "== three at a time"
copies=
for copy in 1 2 3; do
    "$1" "$library" >"shared-$copy.log" 2>&1 &
    copies="$copies $!"
done
for copy in $copies; do wait "$copy" || status=1; done
tail -q -n 3 shared-?.log
rm -f shared-?.log
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
if [ -n "$sanitizer" ]; then
    for test; do
        case $test in *_ranks) continue ;; esac # its kernels run in child processes
        for tool in memcheck racecheck; do
            echo "== compute-sanitizer $tool ${test##*/}"
            cases=small
            case $tool$test in racecheck*/test_cuda) cases=races ;; esac # it is slow
            timeout 300 "$sanitizer" --tool $tool --error-exitcode 9 "$test" "$library" $cases >sanitizer.log 2>&1
            [ $? != 124 ] || echo "it did not end within 300 seconds" >>sanitizer.log
            grep -q "ERROR SUMMARY: 0 errors\|RACECHECK SUMMARY: 0 hazards" sanitizer.log || status=1
            tail -8 sanitizer.log
            rm -f sanitizer.log
        done
    done
else
    echo "skipped: compute-sanitizer is not installed"
fi
for test; do "$test" "$library" bench || status=1; done
exit $status
