#!/bin/sh
# Profiles each GPU kernel of one training step with Nsight Compute: time, float32 operations (a TF32 product
# on the tensor cores counts a third, one of bfloat16 not at all) and device memory traffic. FIRST-LAST: sets of
# these sizes in turn. With `graph` the step is launched as in training, as one CUDA graph; else operation by
# operation, and the single kernel of a narrow network then runs once per phase.
# usage: profile.sh TEST_PROGRAM tsp|words|large BATCH ITEMS|FIRST-LAST [graph] [tf32|bf16]
command -v ncu >/dev/null || { echo "profile.sh: ncu (Nsight Compute) is not installed, or not in PATH" >&2; exit 1; }
program=$1
shift
table=$(ncu --clock-control none --cache-control none --metrics gpu__time_duration.sum,smsp__sass_thread_inst_executed_op_ffma_pred_on.sum,sm__ops_path_tensor_src_tf32_dst_fp32.sum,dram__bytes.sum \
    --csv "$program" ./libordernet-cuda.so profile "$@" 2>/dev/null | awk -F'","' '
    /^"[0-9]/ {
        name = $5; sub(/\(.*/, "", name); sub(/^void /, "", name)
        value = $NF; gsub(/[",]/, "", value); unit = $14
        scale = unit ~ /^G/ ? 1e9 : unit ~ /^M/ ? 1e6 : unit ~ /^K/ ? 1e3 : 1
        if ($13 ~ /time_duration/) { t = value * (unit ~ /^us/ ? 1 : unit ~ /^ms/ ? 1000 : 0.001); count[name]++; time[name] += t; all += t }
        if ($13 ~ /ffma/) work[name] += 2 * value * scale
        if ($13 ~ /tensor/) work[name] += value * scale / 3
        if ($13 ~ /dram/) bytes[name] += value * scale
    }
    END {
        if (!all) exit 1
        for (n in time) {
            printf "%-46s %3d launches %8.1f us %6.1f each %5.1f%% %6.2f TFLOP/s %6.3f TB/s\n", n, count[n] / 2, time[n] / 2, time[n] / count[n], 100 * time[n] / all, 1e-6 * work[n] / time[n], 1e-6 * bytes[n] / time[n]
            flops += work[n]; moved += bytes[n]
        }
        printf "all kernels, one after the other: %.1f us, %.2f GFLOP, %.1f MB\n", all / 2, flops / 2e9, moved / 2e6
    }') || { echo "profile.sh: ncu measured no kernel; 'ncu $program ./libordernet-cuda.so profile $*' says why" >&2; exit 1; }
printf '%s\n' "$table" | sort
