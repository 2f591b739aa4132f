#!/bin/sh
# Trains models/pages.safetensors on all training pages, and measures the method on what a model has not seen: documents of
# collections that it knows, whole collections, and these after fine-tuning on 20 of their pages. A quarter of an hour on two
# cores; the model alone (FOLDER model) takes a minute.
# usage: experiments/pages/run.sh FOLDER [model]     writes FOLDER/pages.safetensors and FOLDER/*.txt
set -e
out=$1
data=${ORDERNET_SHARED:-../shared}/data/pages
mkdir -p "$out"
train() { ./ordernet pages train "$1" --holdout 0 --quiet --model "$2"; }
measure() { ./ordernet pages eval --model "$1" "$2" >"$3"; }

train "$data/train.jsonl" "$out/pages.safetensors"
[ "$2" != model ] || exit 0
measure "$out/pages.safetensors" "$data/valid.jsonl" "$out/valid.txt"

experiments/pages/split.py "$data" "$out"
for name in fold0 fold1 fold2 fold3 austrian reichsanzeiger hkb; do
    train "$out/$name-rest.jsonl" "$out/$name.safetensors"
    measure "$out/$name.safetensors" "$out/$name-held.jsonl" "$out/$name.txt"
done
for name in austrian reichsanzeiger hkb; do
    ./ordernet pages train "$out/$name-few.jsonl" --from "$out/$name.safetensors" --holdout 0 --quiet \
        --model "$out/$name-tuned.safetensors"
    measure "$out/$name-tuned.safetensors" "$out/$name-others.jsonl" "$out/$name-tuned.txt"
done
