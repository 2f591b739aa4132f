#!/bin/sh
# Tests whole trainings by the program on the emulated GPU: the log must agree with that of the CPU step by
# step, and a training that was stopped and resumed must end like an uninterrupted one.
# usage: train.sh PROGRAM LIBRARY
program=$1
export ORDERNET_CUDA="$2"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0

check() { # what, command ...
    what=$1
    shift
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED $what"; fi
}

data=examples/data/sort.jsonl
settings="--quiet --encoder-blocks 1 --hidden 16 --encoder-out 8 --decoder-blocks 1
    --decoder-out 8 --batch 4 --max-steps 42 --learning-rate 1e-4 --statistics running"

train() { # model, options ...
    model=$1
    shift
    # shellcheck disable=SC2086 # the settings are meant to be split
    "$program" train --data $data $settings --model "$folder/$model.safetensors" "$@"
}

losses() { awk -F, 'NR > 1 { print $1, $3 }' "$folder/$1.log.csv"; }

# The steps and, within one part in $3 (1000), the losses of two logs.
same_losses() {
    losses "$1" >"$folder/1"
    losses "$2" >"$folder/2"
    paste -d' ' "$folder/1" "$folder/2" |
        awk -v part="${3-1000}" \
            '$1 != $3 || $2 !~ /^[0-9.]+$/ || $4 !~ /^[0-9.]+$/ || ($2 - $4) ^ 2 > ($2 / part) ^ 2 { bad = 1 }
             END { exit bad || NR < 42 }'
}

check "a training on a CPU" train cpu --device cpu
check "a training on the emulated GPU" train gpu --device cuda
check "the log's kernels" grep -q ',cuda$' "$folder/gpu.log.csv"
check "the log's losses" same_losses gpu cpu
few="--batches mixed --drop 0.5 --jitter 0.1 --stray 0.3 --dropout 0.2 --from $folder/cpu.safetensors"
# shellcheck disable=SC2086
check "fine-tuning with items left out, noise and steps that stray, on a CPU" train few-cpu --device cpu $few
# shellcheck disable=SC2086
check "fine-tuning with items left out, noise and steps that stray, on the emulated GPU" train few-gpu --device cuda $few
check "the losses of fine-tuning" same_losses few-gpu few-cpu

# Narrow nets on batches of one size round nothing; a batch of mixed sizes does.
for precision in tf32 bf16; do
    check "a training in $precision" train $precision --device cuda --batches mixed --precision $precision
    check "its losses" same_losses $precision cpu 100
    losses $precision >"$folder/1"
    losses cpu >"$folder/2"
    check "but not those of float32" test "$(cmp -s "$folder/1" "$folder/2"; echo $?)" = 1
done

stops_and_goes_on() { # model, the same unbroken
    # shellcheck disable=SC2086
    "$program" train --data $data $settings --model "$folder/$1.safetensors" --device cuda --checkpoint-seconds 0.001 \
        2>"$folder/said" &
    for i in $(seq 1000); do
        [ ! -e "$folder/$1.checkpoint.safetensors" ] || break
        sleep 0.01
    done
    kill -TERM $!
    wait $!
    check "the stopped training's status" test $? = 130
    check "the training that goes on" train "$1" --device cuda --resume
    check "the same model" cmp "$folder/$1.safetensors" "$folder/$2.safetensors"
    check "the same losses" same_losses "$1" "$2"
}
stops_and_goes_on stopped gpu

data=$folder/tours.jsonl # costs as relations
"$program" tsp generate --asymmetric --n 3-5 --per-size 8 --seed 1 --out "$data" --quiet
settings="$settings --drop 0.3"
check "a training with relations on a CPU" train related-cpu --device cpu
check "a training with relations on the emulated GPU" train related --device cuda
check "the losses with relations" same_losses related related-cpu
stops_and_goes_on related-stopped related
echo "$passed passed, $failed failed"
[ $failed = 0 ]
