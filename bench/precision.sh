#!/bin/sh
# Measures what training loses by matrix products of lower precision: trains small networks on three tasks with two seeds,
# in float32, TF32 and bfloat16 (all in batches of mixed sizes), and prints the mean loss of the last tenth of the steps
# and how many new sets are exactly right. Needs a GPU, or the emulated one: make build/emulated/libordernet-cuda.so, then
#   ORDERNET_CUDA=$PWD/build/emulated/libordernet-cuda.so sh bench/precision.sh OUT 300
# usage: precision.sh OUT [STEPS]
set -eu
program=./ordernet out=$1 steps=${2:-3000}
mkdir -p "$out"
[ -e "$out/tours.safetensors" ] || {
    $program tsp generate --n 5-10 --per-size 2000 --seed 1 --quiet --out "$out/tours.safetensors"
    $program tsp generate --n 5-10 --per-size 100 --seed 2 --quiet --out "$out/tours-new.safetensors"
}
echo "| task | seed | precision | loss | exact |"
echo "| --- | --- | --- | --- | --- |"
# train TASK DATA NEW OPTION ...
train() {
    task=$1 data=$2 new=$3
    shift 3
    for seed in 1 2; do
        for precision in float32 tf32 bf16; do
            model=$out/$task-$precision-$seed.safetensors
            $program train --data "$data" --model "$model" --device cuda --precision $precision --seed $seed \
                --max-steps "$steps" --epochs 100000 --encoder-blocks 2 --decoder-blocks 2 "$@" --quiet --force
            loss=$(awk -F, 'NR > 1 { at[NR] = $1; loss[NR] = $3 } END {
                for (i in at) if (at[i] > 0.9 * at[NR]) { sum += loss[i]; n++ } printf "%.4f", sum / n }' "${model%.safetensors}.log.csv")
            exact=$($program eval --model "$model" --device cpu "$new" | awk '/exact/ { print $3; exit }')
            echo "| $task | $seed | $precision | $loss | $exact |"
        done
    done
}
train sorting examples/data/sort.jsonl examples/data/sort-valid.jsonl --hidden 32 --encoder-out 16 --decoder-out 16
train tours "$out/tours.safetensors" "$out/tours-new.safetensors" --hidden 32 --encoder-out 32 --decoder-out 32
digits=$(make -s print-shared)/data/tasks/digits
[ ! -e "$digits.train.jsonl" ] ||
    train digits "$digits.train.jsonl" "$digits.test.jsonl" --hidden 32 --encoder-out 64 --decoder-out 64
