#!/bin/bash
# Runs the whole word-order experiment: prepares text and vectors, trains, evaluates, compares with n-grams,
# and writes results.csv, examples.md and the learning curves learning.svg and loss.svg.
#
# usage: experiments/words/run.sh [OPTION ...]
#   --small          minutes instead of hours: 20,000 lines, one epoch, the same steps
#   --only NAME      train and evaluate one of the settings below: paper, trained, best
#   --out DIR        where everything goes (experiments/words/out, or out-small)
#   --text FILE      training text: ready lines, or WikiText-103's own wiki.train.tokens; .gz and .xz as well
#   --valid FILE     validation text, likewise
#   --vectors FILE   word vectors in GloVe's text format
#   --device DEVICE  where to train: cpu, cuda (auto)
#
# A run that was stopped continues when it is started again.
set -euo pipefail
self=$(readlink -f "$0")
cd "$(dirname "$self")/../.."
program=./ordernet
shared=$(make -s print-shared)/data/words
text=$shared/train.txt.xz valid=$shared/valid.txt vectors=$shared/glove.6B.50d.subset.txt.xz
raw=$shared/../wikitext/wikitext2.train.tokens.xz
small= only= out= device=auto

while [ $# -gt 0 ]; do
    case $1 in
        --small) small=1; shift; continue ;;
        --only | --out | --text | --valid | --vectors | --device)
            [ $# -ge 2 ] || { echo "$0: $1 needs a value" >&2; exit 2; }
            declare "${1#--}=$2"; shift 2; continue ;;
        -h | --help) sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p}' "$self"; exit 0 ;;
        *) echo "$0: unknown option $1; see --help" >&2; exit 2 ;;
    esac
done
out=${out:-experiments/words/out${small:+-small}}
for file in "$text" "$valid" "$vectors"; do
    [ -r "$file" ] || { echo "$0: cannot read $file; give --text, --valid and --vectors" >&2; exit 4; }
done
make -s ordernet build/bench/ngram
mkdir -p "$out"

# ---- Settings ------------------------------------------------------------------------------------------
# paper: as published. Frozen vectors, Adam, batches of 128, 10 epochs; the learning rate is our choice.
paper=(--preset words --no-standardise --batch 128 --epochs 10 --learning-rate 1e-3 --schedule constant
    --warmup 0 --weight-decay 0 --clip 0 --average 0 --batches one-size --statistics running)
# trained: the vectors trained too, larger batches, a cosine schedule and an EMA of the weights.
trained=(--preset words --no-standardise --batch 512 --epochs 8 --learning-rate 2e-3 --schedule cosine
    --warmup 0.02 --weight-decay 0 --clip 0 --average 0.999 --batches one-size --statistics running --train-vectors)
# best: shipped before the network of sentences.sh. A wider network; one word in six is replaced by an unknown one, against
# overfitting; and more of the kind of articles that WikiText consists of (see below).
best=(--preset words --encoder-out 48 --hidden 384 --decoder-out 48 --no-standardise --batch 512 --epochs 18
    --learning-rate 2e-3 --schedule cosine --warmup 0.02 --weight-decay 0.05 --clip 1 --average 0.999
    --batches one-size --statistics running --train-vectors --forget 0.17)

if [ "$small" ]; then
    lines=20000
    for name in paper trained best; do
        declare -n settings=$name
        settings+=(--epochs 1 --batch 64)
    done
    trained+=(--average 0.98)
    best+=(--average 0.98)
fi

# ---- Data ----------------------------------------------------------------------------------------------
if [ ! -e "$out/train.safetensors" ]; then
    echo "== preparing the data"
    if [ "$small" ]; then
        "$program" words prepare --text "$text" --lines - --quiet | awk -v n=$lines 'NR <= n' > "$out/train.txt"
        text=$out/train.txt
    fi
    "$program" words prepare --text "$text" --vectors "$vectors" --first 5 --out "$out/train.safetensors" \
        2> "$out/prepare.txt" || { cat "$out/prepare.txt" >&2; exit 1; }
    cat "$out/prepare.txt"
fi
# WikiText consists of featured and good articles. The shared text begins with 210,860 lines of such articles; the rest is
# from ordinary ones. `best` sees the first part three times per epoch, and later sentences of WikiText-2's paragraphs too.
best_data=$out/train.safetensors
if [ ! "$small" ] && [ "$text" = "$shared/train.txt.xz" ] && [ -r "$raw" ]; then
    best_data=$out/best-train.safetensors
    if [ ! -e "$best_data" ]; then
        {
            "$program" words prepare --text "$text" --lines - --quiet | awk 'NR <= 210860 { print; print } { print }'
            xz -dc "$raw" | awk '!/^ = / { n = split($0, s, / [.?!] /); for (i = 2; i <= n; i++) print s[i] }' |
                "$program" words prepare --text - --first 5 --lines - --quiet
        } > "$out/best.txt"
        "$program" words prepare --text "$out/best.txt" --vectors "$vectors" --first 5 --out "$best_data"
        rm "$out/best.txt"
    fi
fi
"$program" words prepare --text "$valid" --vocabulary "$out/train.safetensors" --first 5 \
    --out "$out/valid.safetensors" --lines "$out/valid.txt"

# ---- n-grams, the nets ----------------------------------------------------------------------------------
echo "== n-grams"
build/bench/ngram --train "$out/train.safetensors" --text "$out/valid.txt" --csv "$out/ngram.csv"

for name in ${only:-paper trained best}; do
    declare -n settings=$name
    model=$out/$name.safetensors data=$out/train.safetensors
    [ $name != best ] || data=$best_data
    if [ ! -e "$out/$name.done" ]; then
        echo "== training: $name"
        "$program" train --data "$data" --valid "$out/valid.safetensors" --model "$model" \
            --device "$device" --checkpoint-seconds 300 --resume "${settings[@]}"
        touch "$out/$name.done"
    fi
    echo "== evaluating: $name"
    "$program" words eval --model "$model" --text "$out/valid.txt" --csv "$out/$name.csv" \
        --examples "$out/$name.examples.md"
done

# ---- One table of all ----------------------------------------------------------------------------------
{
    echo "model,$(head -n 1 "$out/ngram.csv")"
    for name in ngram paper trained best; do
        [ ! -e "$out/$name.csv" ] || tail -n +2 "$out/$name.csv" | sed "s/^/$name,/"
    done
} > "$out/results.csv"
for name in best trained paper; do
    [ -e "$out/$name.examples.md" ] && cp "$out/$name.examples.md" "$out/examples.md" && break
done

# ---- Learning curves -----------------------------------------------------------------------------------
logs=()
for name in paper trained best; do
    [ ! -e "$out/$name.log.csv" ] || logs+=("$out/$name.log.csv")
done
"$program" draw --out "$out/learning.svg" --title "Lines put back, by training" "${logs[@]}"
"$program" draw --out "$out/loss.svg" --what loss --title "Loss on the training lines" "${logs[@]}"
echo "== $out: results.csv, examples.md, learning.svg, loss.svg"
