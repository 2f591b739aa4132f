#!/bin/bash
# Trains the rivals (nets.py) on the training file of experiments/tsp and measures them on its test instances;
# writes results.csv beside this script. Needs PyTorch, and a GPU for the full settings. The three networks
# are trained at the same time.
#
# usage: experiments/rivals/run.sh [--small] [--out DIR]
#   --small     minutes on a CPU, to see the steps work: 200 tours per size, one epoch; results.csv goes to DIR
#   --out DIR   data, weights and logs (experiments/rivals/out, or out-small)
set -eu
cd "$(dirname "$0")/../.."
program=${ORDERNET:-./ordernet} python=${PYTHON:-python3}
small= out=
while [ $# -gt 0 ]; do
    case $1 in
        --small) small=1; shift ;;
        --out) out=$2; shift 2 ;;
        *) echo "usage: $0 [--small] [--out DIR]" >&2; exit 2 ;;
    esac
done
out=${out:-experiments/rivals/out${small:+-small}}
results=experiments/rivals/results.csv
per_size=100000 tests=1000 far=100
settings=(--epochs 30 --seconds 270 --batch 512)
if [ "$small" ]; then
    per_size=200 tests=10 far=2 results=$out/results.csv
    settings=(--epochs 1 --batch 32)
fi
mkdir -p "$out"

# The files of experiments/tsp/run.sh: the same seeds and sizes give the same instances.
make_data() { # FILE SIZES PER-SIZE SEED METHOD
    [ -e "$out/$1" ] || $program tsp generate --n "$2" --per-size "$3" --seed "$4" --method "$5" --kicks 200 \
        --out "$out/$1"
}
make_data train.safetensors 5-20 $per_size 1 exact
make_data valid.safetensors 5-20 100 2 exact
make_data proven.safetensors 5-20,25,30,40,50 $tests 3 exact
make_data beyond.safetensors 75,100 $tests 4 local
make_data far-200.safetensors 200 $far 5 local

nets=(pointer attention-small attention-large)
declare -A rate=([pointer]=1e-3 [attention-small]=2e-3 [attention-large]=1e-3)
trainings=()
for net in "${nets[@]}"; do
    [ ! -e "$out/$net.json" ] || continue # written when a training has ended
    $python experiments/rivals/rivals.py train $net --data "$out/train.safetensors" --valid "$out/valid.safetensors" \
        --out "$out/$net.pt" --learning-rate "${rate[$net]}" "${settings[@]}" &
    trainings+=($!)
done
for training in "${trainings[@]}"; do wait "$training"; done
for net in "${nets[@]}"; do
    $python experiments/rivals/rivals.py evaluate $net "$out/$net.pt" --out "$out/$net.csv" "$out/proven.safetensors" \
        "$out/beyond.safetensors" "$out/far-200.safetensors"
done
awk 'FNR > 1 || NR == 1' "$out"/{pointer,attention-small,attention-large}.csv >"$results"
echo "results in $results; ordernet tsp eval --rivals $results adds them to its table and figures"
