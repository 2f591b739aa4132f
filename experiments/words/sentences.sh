#!/bin/bash
# The shipped word model: one network for 2 to 20 words, trained on lines and on whole sentences, and what it gives on articles
# kept out of training, by length, against n-grams and the network of run.sh. Writes sentences.csv, loss.svg and the model.
#
# usage: experiments/words/sentences.sh [OPTION ...]
#   --small          minutes on two cores: a part of the text, small nets, few steps; shows that all parts work
#   --only PART      train, or measure
#   --out DIR        where everything goes (experiments/words/out-sentences, or out-sentences-small)
#   --model FILE     measure this model instead of the one trained here
#   --device DEVICE  where to train: cpu, cuda (auto)
#
# A run that was stopped continues when it is started again.
set -euo pipefail
self=$(readlink -f "$0")
cd "$(dirname "$self")/../.."
program=./ordernet shared=$(make -s print-shared)/data
small= only= out= model= device=auto
while [ $# -gt 0 ]; do
    case $1 in
        --small) small=1; shift; continue ;;
        --only | --out | --model | --device)
            [ $# -ge 2 ] || { echo "$0: $1 needs a value" >&2; exit 2; }
            declare "${1#--}=$2"; shift 2; continue ;;
        -h | --help) sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p}' "$self"; exit 0 ;;
        *) echo "$0: unknown option $1; see --help" >&2; exit 2 ;;
    esac
done
case $only in '' | train | measure) ;; *) echo "$0: --only $only: give train or measure" >&2; exit 2 ;; esac
out=${out:-experiments/words/out-sentences${small:+-small}}
model=${model:-$out/words.safetensors}
[ -r "$shared/sentences/ordinary.txt.xz" ] || { echo "$0: cannot read $shared/sentences; set ORDERNET_SHARED" >&2; exit 4; }
[ -x $program ] || make ordernet
mkdir -p "$out"

# ---- Settings ------------------------------------------------------------------------------------------
common=(--batch 512 --warmup 0.02 --weight-decay 0.05 --clip 1 --batches one-size --train-vectors --epochs 1000
    --checkpoint-seconds 120 --resume --device "$device")
net=(--preset words --no-standardise --encoder-out 64 --hidden 512 --decoder-out 64)
[ "$device" = cpu ] || common+=(--precision tf32)
mix_steps=110000 words_steps=80000 part=cat
if [ "$small" ]; then
    net=(--preset words --no-standardise --encoder-blocks 2 --decoder-blocks 2 --encoder-out 8 --hidden 32 --decoder-out 8)
    mix_steps=60 words_steps=40 part="awk NR<=20000"
fi

# ---- Data ----------------------------------------------------------------------------------------------
# Held out: lines 120,001 to 132,000, of featured and good articles, and the sentences of these articles.
if [ ! -e "$out/prepared" ]; then
    echo "== preparing the data"
    # The vectors are trained further; two decimals of their first values are enough.
    xz -dc "$shared/words/glove.6B.50d.subset.txt.xz" |
        awk '{ printf "%s", $1; for (i = 2; i <= NF; i++) printf " %.2f", $i; print "" }' > "$out/vectors.txt" &
    xz -dc "$shared/sentences/ordinary.txt.xz" | $part > "$out/ordinary.txt" &
    xz -dc "$shared/sentences/featured_good.txt.xz" > "$out/good.txt" &
    xz -dc "$shared/words/train.txt.xz" > "$out/all.txt" &
    wait
    awk 'NR > 333000 && NR <= 374200' "$out/good.txt" > "$out/held-out.txt"
    awk 'NR <= 333000 || NR > 374200' "$out/good.txt" | $part | cat - "$out/ordinary.txt" > "$out/sentences.txt"
    awk 'NR > 120000 && NR <= 132000' "$out/all.txt" > "$out/articles.txt"
    awk 'NR <= 120000 || NR > 132000' "$out/all.txt" | $part > "$out/lines.txt"
    # WikiText consists of featured and good articles, the first 210,860 lines: in the end they occur twice.
    awk 'NR <= 198860 { print } { print }' "$out/lines.txt" > "$out/lines2.txt"
    windows() { # FILE SEED WINDOWS LENGTH
        "$program" words prepare --text "$out/sentences.txt" --lines "$out/$1.txt" --seed "$2" --windows "$3" --length "$4"
    }
    lengths=2-4:1,5:2,6-10:4,11-14:1.5,15-20:0.5
    windows five 1 sentence:1.5,anywhere:1 5 &
    windows long 2 paragraph:4,sentence:0.8,anywhere:0.3,whole:0.1 $lengths &
    windows opening 3 paragraph:4,sentence:0.2 $lengths &
    wait
    sets() { # NAME: the sets of the windows and lines on standard input
        # A word without a vector needs 60 occurrences for a row of its own, since lines and windows repeat words.
        "$program" words prepare --text - --vectors "$out/vectors.txt" --own-row 60 --limit-words 115000 --windows whole \
            --length 2-20 --out "$out/$1-data.safetensors"
    }
    cat "$out"/{lines,five,long}.txt | sets mix &
    cat "$out"/{lines2,opening}.txt | sets words
    wait
    rm "$out"/{all,good,ordinary,lines,lines2,five,long,opening}.txt
    touch "$out/prepared"
fi

# ---- Training: all windows at a constant rate, then the beginnings of paragraphs while it falls -----------
train() { # NAME STEPS OPTION ...
    local name=$1 steps=$2
    shift 2
    [ ! -e "$out/$name.done" ] || return 0
    echo "== training: $name"
    "$program" train --data "$out/$name-data.safetensors" --model "$out/$name.safetensors" "${common[@]}" --max-steps "$steps" "$@"
    touch "$out/$name.done"
}
if [ "$only" != measure ]; then
    train mix $mix_steps "${net[@]}" --schedule constant --learning-rate 2e-3 --average 0.9995 --forget 0.1 --statistics running
    train words $words_steps --from "$out/mix.safetensors" --schedule cosine --learning-rate 2e-3 --average 0.999 --forget 0.12 \
        --statistics measured --half
fi
[ "$only" != train ] || exit 0

# ---- Measures: lines held out, and the validation articles ------------------------------------------------
raw=$shared/wikitext/wikitext103.valid.tokens
# Sentences end at . ? or !, unless a quotation ends there too.
awk '/^ = / || NF < 5 { next }
    { line = "^"; n = 0
      for (i = 1; i <= NF; i++) {
          line = line " " $i; n++
          if ($i ~ /^[.?!]$/ && $(i + 1) != "\"") { if (n > 2) print line; line = ""; n = 0 }
      } }' "$raw" > "$out/valid-sentences.txt"
awk '/^\^ / && NF > 8 { $1 = ""; print }' "$out/held-out.txt" > "$out/paragraphs.txt"
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
    measure "$name" articles8 "$@" --text "$out/paragraphs.txt" --first 8
    measure "$name" first5 "$@" --text "$shared/words/valid.txt"
    for k in 8 12 20; do measure "$name" first$k "$@" --text "$raw" --first $k; done
    measure "$name" sentences "$@" --text "$out/valid-sentences.txt" --windows whole --length 2-20
}
each ngram ngram --train "$out/ngram-data.safetensors" --beam 5
each words evaluate --model "$model"
{
    echo "model,test,$(head -n 1 "$out/ngram-articles.csv")"
    for file in "$out"/{ngram,words}-{articles,articles8,first5,first8,first12,first20,sentences}.csv; do
        [ -e "$file" ] || continue
        name=${file##*/} name=${name%.csv}
        tail -n +2 "$file" | sed "s/^/${name%-*},${name##*-},/"
    done
} > "$out/sentences.csv"
"$program" curve --out "$out/loss.svg" --what loss --title "Loss on the training windows" "$out"/*.log.csv
echo "== $out: sentences.csv, loss.svg"
