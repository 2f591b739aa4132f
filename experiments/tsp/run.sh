#!/bin/bash
# Runs the whole tour experiment: makes optimal tours, trains on them, measures the network on new instances,
# and writes for each setting DIR/SETTING/ with the model, results.csv, figure-length and figure-gap (SVG and
# PNG), far.csv (200 to 1,000 cities), tsplib.txt, and pictures of tours (SVG and PNG).
#
# usage: experiments/tsp/run.sh [OPTION ...]
#   --small          minutes instead of hours: sizes 5-10, 1,500 instances each, one epoch, small evaluation
#   --only NAME      train and evaluate one of the settings below: paper, best, large (paper and best);
#                    large needs a GPU: 31 minutes on an H200
#   --out DIR        where everything goes (experiments/tsp/out, or out-small)
#   --tsplib DIR     TSPLIB instances to measure on ($ORDERNET_SHARED/data/tsplib; left out if it is not there)
#   --seed N         of the training data; evaluation uses seeds that follow it (1)
#   --device DEVICE  where to train: cpu, cuda (auto)
#
# A run that was stopped continues when it is started again.
set -eu
self=$(readlink -f "$0")
cd "$(dirname "$self")/../.."
program=./ordernet
small= only= out= tsplib= seed=1 device=auto

while [ $# -gt 0 ]; do
    case $1 in
        --small) small=1; shift; continue ;;
        --only | --out | --tsplib | --seed | --device)
            [ $# -ge 2 ] || { echo "$0: $1 needs a value" >&2; exit 2; }
            declare "${1#--}=$2"; shift 2; continue ;;
        -h | --help) sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p}' "$self"; exit 0 ;;
        *) echo "$0: unknown option $1; see --help" >&2; exit 2 ;;
    esac
done
case $only in '' | paper | best | large) ;; *) echo "$0: there is no setting $only; see --help" >&2; exit 2 ;; esac
tsplib=${tsplib:-$(make -s print-shared)/data/tsplib}
out=${out:-experiments/tsp/out${small:+-small}}
[ -x $program ] || make ordernet
mkdir -p "$out"

# ---- Settings ------------------------------------------------------------------------------------------
sizes=5-20 per_size=100000 valid_per_size=100
proven=5-20,25,30,40,50 proven_per_size=1000
beyond=75,100 beyond_per_size=1000
batch=128 epochs=10 best_average=0.999
deep_blocks=(--encoder-blocks 12 --decoder-blocks 6) deep_batch=256 deep_average=0.99
first_steps=33190 first_sizes=5-20,5-20,5-20,5-20,5-20,5-20,21-50,21-50,21-50 first_per_size=1300
large_steps=11224 large_per_size=1850
large_sizes=5-20,5-20,5-20,5-20,5-20,5-20,21-50,21-50,22,24,26,28,30,32,34,36,38,40,42,44,46,48,50,51-100,110,130,150,170,185,200
larger_steps=13900 larger_per_size=1230
larger_sizes=5-20,5-20,5-20,5-20,5-20,5-20,21-50,21-50,22,24,26,28,30,32,34,36,38,40,42,44,46,48,50,51-100
larger_sizes+=,110,120,130,140,150,160,170,180,190,200,200,250,300
# Sizes far beyond those of training, as CITIES:INSTANCES.
far=(200:100 500:30 1000:10)

if [ "$small" ]; then
    sizes=5-10 per_size=1500 valid_per_size=20
    proven=5-10,20,50 proven_per_size=50
    beyond=75,100 beyond_per_size=20
    batch=32 epochs=1 best_average=0.9
    deep_blocks=(--encoder-blocks 2 --decoder-blocks 2) deep_batch=32 deep_average=0.9
    first_steps=100 first_sizes=5-10 first_per_size=100
    large_steps=100 large_sizes=5-10,15,20 large_per_size=100
    larger_steps=100 larger_sizes=5-10,15,20,30 larger_per_size=100
    far=(200:2)
fi

# paper: as published. Adam, batches of 128, 10 epochs; the learning rate is our choice.
paper=(--preset tsp --no-standardise --batch $batch --epochs $epochs --learning-rate 1e-3 --schedule constant
    --warmup 0 --weight-decay 0 --clip 0 --average 0 --batches one-size --statistics running)
# best: models/tsp.safetensors. As many steps, with a larger learning rate, a cosine schedule, weight decay, an EMA of the
# weights, and norm statistics by the number of cities.
best=(--preset tsp --batch $batch --epochs $epochs --learning-rate 4e-3 --schedule cosine
    --warmup 0.02 --weight-decay 0.1 --clip 1 --average $best_average --batches one-size --statistics measured)
# large: models/tours.safetensors. A deeper network, trained on 5 to 50 cities, then, from that model, on 5 to 200,
# then on 5 to 300. A third of the instances is not uniform, and each is there under the 8 symmetries of the square.
# Small sizes are listed several times: the loss is a mean over steps, of which a large set has more.
deep=(--batch $deep_batch --epochs 100000 --schedule cosine --warmup 0.02 --weight-decay 0.1 --clip 1 --average $deep_average)
first=(--preset tsp "${deep_blocks[@]}" "${deep[@]}" --learning-rate 4e-3 --max-steps $first_steps)
large=("${deep[@]}" --learning-rate 3e-3 --max-steps $large_steps --half)
larger=("${deep[@]}" --learning-rate 2e-3 --max-steps $larger_steps --half)

# ---- Data ----------------------------------------------------------------------------------------------
# make_data FILE SIZES PER-SIZE SEED METHOD [OPTION ...]
make_data() {
    [ -e "$out/$1" ] || {
        echo "== making $1"
        $program tsp generate --n "$2" --per-size "$3" --seed "$4" --method "$5" --kicks "${6:-200}" "${@:7}" --out "$out/$1"
    }
}
[ "$only" = large ] || make_data train.safetensors $sizes $per_size "$seed" exact
make_data valid.safetensors $sizes $valid_per_size $((seed + 1)) exact
make_data proven.safetensors $proven $proven_per_size $((seed + 2)) exact
make_data beyond.safetensors $beyond $beyond_per_size $((seed + 3)) local
for pair in "${far[@]}"; do
    make_data "far-${pair%:*}.safetensors" "${pair%:*}" "${pair#*:}" $((seed + 4)) local
done
make_data show.jsonl 20,50,100,200 1 $((seed + 5)) local

# ---- Training and evaluation ---------------------------------------------------------------------------
# learn NAME DATA MODEL OPTION ...: until the training has ended, --resume continues from its checkpoint.
learn() {
    [ ! -e "$3.done" ] || return 0
    echo "== $1: training"
    $program train --data "$2" --model "$3" --resume --checkpoint-seconds 300 --seed "$seed" --device "$device" "${@:4}"
    touch "$3.done"
}
for name in ${only:-paper best}; do
    declare -n settings=$name
    to=$out/$name
    mkdir -p "$to"
    if [ $name = large ]; then
        # stage MODEL NAME SIZES PER-SIZE SEED OPTION ...: the data, then the training
        stage() {
            [ ! -e "$to/$1.safetensors.done" ] || return 0
            make_data "$2.safetensors" "$3" "$4" $((seed + $5)) auto 20 --shape mixed --symmetries 8
            learn "$2" "$out/$2.safetensors" "$to/$1.safetensors" "${@:6}"
        }
        stage first first $first_sizes $first_per_size 200 "${first[@]}"
        stage second large $large_sizes $large_per_size 201 --from "$to/first.safetensors" "${large[@]}"
        stage tsp larger $larger_sizes $larger_per_size 202 --from "$to/second.safetensors" "${larger[@]}"
    else
        learn $name "$out/train.safetensors" "$to/tsp.safetensors" --valid "$out/valid.safetensors" "${settings[@]}"
    fi

    echo "== $name: evaluation, beam 5"
    # The rivals were measured on these very instances, and trained on the file of `best`.
    rivals=()
    [ "$small$seed$name" != 1best ] || rivals=(--rivals experiments/rivals/results.csv)
    $program tsp eval --model "$to/tsp.safetensors" --beam 5 --out "$to/results.csv" --figure "$to/figure" \
        "${rivals[@]}" "$out/proven.safetensors" "$out/beyond.safetensors" | tee "$to/results.txt"
    echo "== $name: larger instances"
    files=()
    for pair in "${far[@]}"; do files+=("$out/far-${pair%:*}.safetensors"); done
    $program tsp eval --model "$to/tsp.safetensors" --beam 5 --out "$to/far.csv" "${rivals[@]}" "${files[@]}" | tee "$to/far.txt"
    $program tsp compare --methods 2opt,christofides,ordernet --model "$to/tsp.safetensors" --draw "$to/tours" \
        "$out/show.jsonl"
    if [ -e "$tsplib/berlin52.tsp" ]; then
        echo "== $name: TSPLIB"
        list=()
        for file in burma14 ulysses22 gr24 att48 eil51 berlin52 st70 kroA100 a280; do
            [ ! -e "$tsplib/$file.tsp" ] || list+=("$tsplib/$file.tsp")
        done
        for symmetries in 1 8; do
            echo "beam 5, symmetries $symmetries"
            $program tsp compare --methods exact,christofides,farthest,2opt,ordernet --symmetries $symmetries \
                --model "$to/tsp.safetensors" --draw "$to/tsplib-$symmetries" "${list[@]}"
        done | tee "$to/tsplib.txt"
    else
        echo "== $name: TSPLIB left out, there is no $tsplib/berlin52.tsp"
    fi
done
echo "results in $out"
