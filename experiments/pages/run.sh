#!/bin/sh
# Trains models/pages.safetensors on all training pages, and measures the method on what it has not seen: a collection left
# out in turn, and documents of collections that were seen. Minutes on two cores.
# usage: experiments/pages/run.sh FOLDER [THREADS]     writes FOLDER/pages.safetensors and FOLDER/*.txt
set -e
out=$1
threads=${2:-0}
data=${ORDERNET_SHARED:-../shared}/data/pages
mkdir -p "$out"
train() { ./ordernet pages train "$1" --holdout 0 --threads "$threads" --model "$2" --quiet; }
measure() { ./ordernet pages eval --threads "$threads" --model "$1" "$2"; }

train "$data/train.jsonl" "$out/pages.safetensors"
measure "$out/pages.safetensors" "$data/valid.jsonl" >"$out/valid.txt"

for source in austrian reichsanzeiger hkb; do
    grep "\"source\":\"$source\"" "$data/train.jsonl" >"$out/held.jsonl"
    grep -v "\"source\":\"$source\"" "$data/train.jsonl" >"$out/rest.jsonl"
    train "$out/rest.jsonl" "$out/without-$source.safetensors"
    measure "$out/without-$source.safetensors" "$out/held.jsonl" >"$out/without-$source.txt"
    # Fine-tuned on 20 of its pages (hkb has only 18), measured on the others.
    # Every third page, since pages of one issue stand together.
    awk -v few="$out/few.jsonl" -v others="$out/others.jsonl" \
        '{ if (NR % 3 == 1 && n < 20) { n++; print >few } else print >others }' "$out/held.jsonl"
    [ -s "$out/others.jsonl" ] || continue
    ./ordernet pages train "$out/few.jsonl" --from "$out/without-$source.safetensors" --holdout 0 --threads "$threads" \
        --model "$out/tuned-$source.safetensors" --quiet
    measure "$out/tuned-$source.safetensors" "$out/others.jsonl" >"$out/tuned-$source.txt"
done
