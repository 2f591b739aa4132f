#!/bin/bash
# Trainings with whole sentences beside the lines: `five`, five words again, and `long`, 2 to 20 words; and what they give on
# articles kept out of training, by length, against n-grams and the shipped model. Writes sentences.csv and the models.
#
# usage: experiments/words/sentences.sh [OPTION ...]
#   --small          minutes on two cores: a part of the text, small nets, few steps; shows that all parts work
#   --only NAME      train and evaluate one of them: five, long
#   --out DIR        where everything goes (experiments/words/out-sentences, or out-sentences-small)
#   --device DEVICE  where to train: cpu, cuda (auto)
#
# A run that was stopped continues when it is started again.
set -euo pipefail
self=$(readlink -f "$0")
cd "$(dirname "$self")/../.."
program=./ordernet shared=$(make -s print-shared)/data
small= only= out= device=auto
while [ $# -gt 0 ]; do
    case $1 in
        --small) small=1; shift; continue ;;
        --only | --out | --device)
            [ $# -ge 2 ] || { echo "$0: $1 needs a value" >&2; exit 2; }
            declare "${1#--}=$2"; shift 2; continue ;;
        -h | --help) sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p}' "$self"; exit 0 ;;
        *) echo "$0: unknown option $1; see --help" >&2; exit 2 ;;
    esac
done
out=${out:-experiments/words/out-sentences${small:+-small}}
[ -r "$shared/sentences/ordinary.txt.xz" ] || { echo "$0: cannot read $shared/sentences; set ORDERNET_SHARED" >&2; exit 4; }
[ -x $program ] || make ordernet
mkdir -p "$out"

# ---- Settings ------------------------------------------------------------------------------------------
common=(--batch 512 --schedule cosine --warmup 0.02 --weight-decay 0.05 --clip 1 --average 0.999 --batches one-size
    --train-vectors --epochs 1000 --checkpoint-seconds 300 --resume --device "$device")
net=(--preset words --no-standardise --encoder-out 64 --hidden 512 --decoder-out 64)
five_mix_steps=60000 five_steps=30000 long_steps=40000 part=cat
if [ "$small" ]; then
    net=(--preset words --no-standardise --encoder-blocks 2 --decoder-blocks 2 --encoder-out 8 --hidden 32 --decoder-out 8)
    five_mix_steps=60 five_steps=40 long_steps=60 part="awk NR<=20000"
fi

# ---- Data ----------------------------------------------------------------------------------------------
# Held out: lines 120,001 to 132,000, of featured and good articles, and the sentences of these articles.
if [ ! -e "$out/long-data.safetensors" ]; then
    echo "== preparing the data"
    # The vectors are trained further; two decimals of their first values are enough.
    xz -dc "$shared/words/glove.6B.50d.subset.txt.xz" |
        awk '{ printf "%s", $1; for (i = 2; i <= NF; i++) printf " %.2f", $i; print "" }' > "$out/vectors.txt"
    {
        xz -dc "$shared/sentences/featured_good.txt.xz" | awk 'NR <= 333000 || NR > 374200' | $part
        xz -dc "$shared/sentences/ordinary.txt.xz" | $part
    } > "$out/sentences.txt"
    xz -dc "$shared/words/train.txt.xz" > "$out/all.txt"
    awk 'NR > 120000 && NR <= 132000' "$out/all.txt" > "$out/articles.txt"
    awk 'NR <= 120000 || NR > 132000' "$out/all.txt" | $part > "$out/lines.txt"
    # WikiText consists of featured and good articles, the first 210,860 lines: they occur three times.
    awk 'NR <= 198860 { print; print } { print }' "$out/lines.txt" > "$out/lines3.txt"
    "$program" words prepare --text "$out/sentences.txt" --windows sentence:1,anywhere:1.5 --length 5 --lines "$out/windows5.txt"
    "$program" words prepare --text "$out/sentences.txt" --windows paragraph:2,sentence:0.7,anywhere:0.3,whole:0.5 \
        --length 2:0.5,3-8:3,9-12:1.5,13-20:0.4 --lines "$out/windows.txt"
    # A word without a vector needs 30 occurrences for a row of its own, since lines are repeated.
    rows=(--vectors "$out/vectors.txt" --own-row 30 --limit-words 115000)
    "$program" words prepare --text "$out/lines3.txt" "${rows[@]}" --out "$out/lines-data.safetensors"
    cat "$out/lines3.txt" "$out/windows5.txt" |
        "$program" words prepare --text - "${rows[@]}" --out "$out/mix-data.safetensors"
    cat "$out/lines.txt" "$out/windows.txt" |
        "$program" words prepare --text - "${rows[@]}" --windows whole --length 2-20 --out "$out/long-data.safetensors"
    rm "$out/all.txt" "$out/lines3.txt" "$out/windows5.txt" "$out/windows.txt"
fi

# ---- Trainings -----------------------------------------------------------------------------------------
train() { # NAME DATA STEPS OPTION ...
    local name=$1 data=$2 steps=$3
    shift 3
    [ ! -e "$out/$name.done" ] || return 0
    echo "== training: $name"
    "$program" train --data "$out/$data-data.safetensors" --model "$out/$name.safetensors" "${common[@]}" --max-steps "$steps" "$@"
    touch "$out/$name.done"
}
for name in ${only:-five long}; do
    case $name in
        five) # lines and windows mixed, then the lines alone
            train five-mix mix $five_mix_steps "${net[@]}" --statistics running --forget 0.12 --learning-rate 2e-3
            train five lines $five_steps --from "$out/five-mix.safetensors" --statistics running --forget 0.17 --learning-rate 1e-3 ;;
        long) # from `five`, on lines and windows of all lengths
            [ -e "$out/five.safetensors" ] || { echo "$0: long begins with the model of five: train it first" >&2; exit 2; }
            train long long $long_steps --from "$out/five.safetensors" --statistics measured --forget 0.1 --learning-rate 1.5e-3 ;;
        *) echo "$0: --only $name: give five or long" >&2; exit 2 ;;
    esac
done

# ---- Measures: lines held out, and the validation articles ------------------------------------------------
raw=$shared/wikitext/wikitext103.valid.tokens
# Sentences end at . ? or !, unless a quotation ends there too.
awk '/^ = / || NF < 5 { next }
    { line = "^"; n = 0
      for (i = 1; i <= NF; i++) {
          line = line " " $i; n++
          if ($i ~ /^[.?!]$/ && $(i + 1) != "\"") { if (n > 2) print line; line = ""; n = 0 }
      } }' "$raw" > "$out/valid-sentences.txt"
if [ ! -e "$out/ngram-data.safetensors" ]; then
    "$program" words prepare --text "$out/sentences.txt" --vectors "$out/vectors.txt" --windows whole --length 3-30 \
        --out "$out/ngram-data.safetensors" --quiet
fi
measure() { # NAME TEST COMMAND ...: a table and a CSV file
    local name=$1 test=$2
    shift 2
    echo "== $name: $test"
    "$program" words "$@" --csv "$out/$name-$test.csv"
}
each() { # NAME COMMAND ...: all tests
    local name=$1
    shift
    measure "$name" articles "$@" --text "$out/articles.txt"
    measure "$name" first5 "$@" --text "$shared/words/valid.txt"
    for k in 8 12 20; do measure "$name" first$k "$@" --text "$raw" --first $k; done
    measure "$name" sentences "$@" --text "$out/valid-sentences.txt" --windows whole --length 2-20
}
each ngram ngram --train "$out/ngram-data.safetensors" --beam 5
each shipped evaluate --model models/words.safetensors
for name in ${only:-five long}; do each "$name" evaluate --model "$out/$name.safetensors"; done
{
    echo "model,test,$(head -n 1 "$out/ngram-articles.csv")"
    for file in "$out"/{ngram,shipped,five,long}-{articles,first5,first8,first12,first20,sentences}.csv; do
        [ -e "$file" ] || continue
        name=${file##*/} name=${name%.csv}
        tail -n +2 "$file" | sed "s/^/${name%-*},${name##*-},/"
    done
} > "$out/sentences.csv"
"$program" curve --out "$out/loss.svg" --what loss --title "Loss on the training windows" "$out"/*.log.csv
echo "== $out: sentences.csv, loss.svg"
