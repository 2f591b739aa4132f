#!/bin/sh
# Time of each kernel in one step, by Nsight Compute. usage: profile.sh TEST_PROGRAM tsp|words BATCH ITEMS
ncu --clock-control none --cache-control none --metrics gpu__time_duration.sum,smsp__sass_thread_inst_executed_op_ffma_pred_on.sum,dram__bytes.sum \
    --csv "$1" ./libordernet-cuda.so profile "$2" "$3" "$4" 2>/dev/null | awk -F'","' '
    /^"[0-9]/ {
        name = $5; sub(/\(.*/, "", name); sub(/^void /, "", name)
        value = $NF; gsub(/[",]/, "", value)
        if ($13 ~ /time_duration/) { unit = $14; t = value * (unit ~ /^us/ ? 1 : unit ~ /^ms/ ? 1000 : 0.001); count[name]++; time[name] += t; all += t }
        if ($13 ~ /ffma/) fma[name] += value
    }
    END {
        for (n in time) printf "%-52s %4d launches %9.1f us %6.2f us each %5.1f%% %7.2f TFLOP/s\n", n, count[n] / 2, time[n] / 2, time[n] / count[n], 100 * time[n] / all, 2e-6 * fma[n] / time[n]
        printf "all kernels, one after the other: %.1f us\n", all / 2
    }' | sort -k4 -n -r
