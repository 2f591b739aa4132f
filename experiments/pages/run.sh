#!/bin/sh
# Trains models/pages.safetensors on all training pages, and measures the method on unseen pages: documents of
# collections that the model knows, whole unseen collections, and these after fine-tuning on 20 of their
# pages; with the separators of the original files and without. Each with several seeds: SEEDS, "1 2 3" if not
# set. A quarter of an hour per seed on two cores; JOBS=10 trains that many models at a time, each on one
# core. The model alone (FOLDER model) takes three minutes.
# usage: experiments/pages/run.sh FOLDER [model]     writes FOLDER/pages.safetensors, valid*.txt, table.txt and more
set -e
out=$1
data=${ORDERNET_SHARED:-../shared}/data/pages
program=${ORDERNET:-./ordernet}
[ "${JOBS:-1}" = 1 ] || threads="--threads 1"

train() { # PAGES MODEL [OPTION ...]
    pages=$1 model=$2
    shift 2
    "$program" pages train "$pages" --holdout 0 --quiet --force --model "$model" $threads "$@"
}
order() { # MODEL PAGES FOUND: with and without separators
    for x in "" -plain; do "$program" pages order --model "$1" $threads "$2$x.jsonl" >"$3$x.jsonl"; done
}

case $2 in
split) # NAME SEED: one split, which this script calls itself for
    name=$3 seed=$4 model=$out/$4/$3.safetensors
    train "$out/$name-rest.jsonl" "$model" --seed "$seed" --plain 100
    order "$model" "$out/$name-held" "$out/$seed/$name-held"
    [ -f "$out/$name-few.jsonl" ] || exit 0
    tuned=$out/$seed/$name-tuned.safetensors
    train "$out/$name-few.jsonl" "$tuned" --seed "$seed" --from "$model"
    order "$tuned" "$out/$name-others" "$out/$seed/$name-tuned-others"
    exit 0
    ;;
esac

mkdir -p "$out/rules"
experiments/pages/split.py "$data" "$out"
train "$out/train.jsonl" "$out/pages.safetensors" --plain 100
[ "$2" != model ] || exit 0
for x in "" -plain; do
    "$program" pages eval --model "$out/pages.safetensors" "$out/valid$x.jsonl" >"$out/valid$x.txt"
    for rule in top-down prints xy-rows xy-columns xy-separators gutters; do
        for name in train valid; do
            "$program" pages order --rule $rule "$out/$name$x.jsonl" >"$out/rules/$rule-$name$x.jsonl"
        done
    done
done
for seed in ${SEEDS:-1 2 3}; do
    mkdir -p "$out/$seed"
    for name in austrian reichsanzeiger fold0 fold1 fold2 fold3 hkb; do echo "$name $seed"; done
done | xargs -P "${JOBS:-1}" -L 1 "$0" "$out" split
experiments/pages/table.py "$out" | tee "$out/table.txt"
