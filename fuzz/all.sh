#!/bin/bash
# Runs fuzz targets one after the other and sums up. New inputs go to build/fuzz/corpus/NAME, inputs that
# crash a target to build/fuzz/NAME-crash-...
# usage: fuzz/all.sh SECONDS NAME ...      with the programs and the unpacked seeds of `make fuzz-bins`
seconds=$1
shift
out=build/fuzz
# A small quarantine and short stacks: most of a run's time would go there.
export ASAN_OPTIONS=quarantine_size_mb=8:malloc_context_size=6:detect_leaks=1:allocator_may_return_null=1
total=0 findings=0
printf '%-12s %12s %9s %7s %8s %8s\n' target executions per_s edges corpus findings
for name; do
    mkdir -p "$out/corpus/$name"
    "$out/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -malloc_limit_mb=2048 -max_len=4096 \
        -print_final_stats=1 -artifact_prefix="$out/$name-" "$out/corpus/$name" "$out/fuzz/seeds/$name" >"$out/$name.log" 2>&1
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$name.log")
    edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$out/$name.log" | tail -n 1)
    found=$(find "$out" -maxdepth 1 -name "$name-crash-*" -o -maxdepth 1 -name "$name-timeout-*" -o -maxdepth 1 -name "$name-oom-*" -o -maxdepth 1 -name "$name-leak-*" | wc -l)
    printf '%-12s %12s %9s %7s %8s %8s\n' "$name" "${runs:-0}" "$((${runs:-0} / seconds))" "${edges:-?}" \
        "$(find "$out/corpus/$name" "$out/fuzz/seeds/$name" -type f | wc -l)" "$found"
    total=$((total + ${runs:-0})) findings=$((findings + found))
done
echo "$total executions, $findings findings"
[ "$findings" = 0 ]
