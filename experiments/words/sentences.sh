#!/bin/bash
# Trains the shipped word model, one network for 2 to 20 words, on lines and on whole sentences, and measures
# it by length on articles kept out of training, against n-grams and another word model. Writes sentences.csv,
# loss.svg and the model.
#
# usage: experiments/words/sentences.sh [OPTION ...]
#   --small          minutes on two cores: a part of the text, small nets, few steps; shows that all parts work
#   --only PART      prepare (the data), mix, words, again, final (the stages of the training), or measure
#   --from FILE      begin the stage 'again' with this model instead of the one that 'mix' and 'words' train
#   --out DIR        where everything goes (experiments/words/out-sentences, or out-sentences-small)
#   --model FILE     measure this model instead of the one trained here
#   --five FILE      measure this model too: one for five words, as run.sh makes it
#   --device DEVICE  where to train: cpu, cuda (auto)
#
# A run that was stopped continues when it is started again.
set -euo pipefail
self=$(readlink -f "$0")
cd "$(dirname "$self")/../.."
program=./ordernet shared=$(make -s print-shared)/data
small= only= out= from= model= five= device=auto
while [ $# -gt 0 ]; do
    case $1 in
        --small) small=1; shift; continue ;;
        --only | --out | --from | --model | --five | --device)
            [ $# -ge 2 ] || { echo "$0: $1 needs a value" >&2; exit 2; }
            declare "${1#--}=$2"; shift 2; continue ;;
        -h | --help) sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p}' "$self"; exit 0 ;;
        *) echo "$0: unknown option $1; see --help" >&2; exit 2 ;;
    esac
done
case $only in '' | prepare | mix | words | again | final | measure) ;; *) echo "$0: there is no part $only; see --help" >&2; exit 2 ;; esac
out=${out:-experiments/words/out-sentences${small:+-small}}
model=${model:-$out/shipped.safetensors}
[ -r "$shared/sentences/ordinary.txt.xz" ] || { echo "$0: cannot read $shared/sentences; set ORDERNET_SHARED" >&2; exit 4; }
make -s ordernet build/bench/ngram
mkdir -p "$out"

# ---- Settings ------------------------------------------------------------------------------------------
common=(--warmup 0.02 --weight-decay 0.05 --clip 1 --batches one-size --train-vectors --epochs 1000
    --checkpoint-seconds 120 --resume --device "$device")
net=(--preset words --no-standardise --encoder-out 64 --hidden 512 --decoder-out 64)
first=(--batch 512) last=(--batch 1024 --learning-rate 2e-3 --forget 0.15 --dropout 0.1)
[ "$device" = cpu ] || { first+=(--precision tf32) last+=(--precision bf16); }
mix_steps=100000 words_steps=105000 again_steps=20000 final_steps=61000 part=cat
if [ "$small" ]; then
    net=(--preset words --no-standardise --encoder-blocks 2 --decoder-blocks 2 --encoder-out 8 --hidden 32 --decoder-out 8)
    mix_steps=60 words_steps=40 again_steps=20 final_steps=20 part="awk NR<=20000"
fi

# ---- Data ----------------------------------------------------------------------------------------------
# Held out: the first 88 articles of WikiText-2, 2,350 lines of train.txt; lines 120,001 to 132,000, of featured and good
# articles, and the sentences of these articles.
sentences() { # WikiText's paragraphs as sentences, one per line, ^ before those that open a paragraph
    # Sentences end at . ? or !, unless a quotation ends there too.
    awk '/^ = / || NF < 5 { next }
        { line = "^"; n = 0
          for (i = 1; i <= NF; i++) {
              line = line " " $i; n++
              if ($i ~ /^[.?!]$/ && $(i + 1) != "\"") { if (n > 2) print line; line = ""; n = 0 }
          }
          if (n > 4) print line }'
}
quoted() { # sentences from an opening quotation mark on, where it closes within six words, as if they opened a paragraph
    awk '{ open = 0
           for (i = 1; i <= NF; i++) {
               if ($i != "\"") continue
               open = !open
               if (!open || i < 3 || NF - i < 5) continue
               for (j = i + 2; j <= i + 7 && $j != "\""; j++);
               if ($j != "\"") continue
               line = "^"
               for (j = i; j <= NF; j++) line = line " " $j
               print line
           } }'
}
if [ ! -e "$out/prepared" ]; then
    echo "== preparing the data"
    # The vectors are trained further; two decimals of their first values are enough.
    xz -dc "$shared/words/glove.6B.50d.subset.txt.xz" |
        awk '{ printf "%s", $1; for (i = 2; i <= NF; i++) printf " %.2f", $i; print "" }' > "$out/vectors.txt" &
    xz -dc "$shared/sentences/ordinary.txt.xz" | $part > "$out/ordinary.txt" &
    xz -dc "$shared/sentences/featured_good.txt.xz" > "$out/featured.txt" &
    xz -dc "$shared/words/train.txt.xz" > "$out/all.txt" &
    xz -dc "$shared/wikitext/wikitext2.train.tokens.xz" | awk 'NR >= 5022' | sentences | $part > "$out/wikitext.txt" &
    wait
    awk 'NR > 333000 && NR <= 374200' "$out/featured.txt" > "$out/held-out.txt"
    awk 'NR <= 333000 || NR > 374200' "$out/featured.txt" | $part > "$out/good.txt"
    cat "$out"/{good,ordinary}.txt > "$out/sentences.txt"
    quoted < "$out/sentences.txt" > "$out/quoted.txt"
    awk 'NR <= 2350' "$out/all.txt" > "$out/wikitext2.txt"
    awk 'NR > 120000 && NR <= 132000' "$out/all.txt" > "$out/articles.txt"
    awk 'NR > 2350 && (NR <= 120000 || NR > 132000)' "$out/all.txt" | $part > "$out/lines.txt"
    # WikiText consists of featured and good articles, the first 210,860 lines: in the end they occur twice.
    awk 'NR <= 196510 { print } { print }' "$out/lines.txt" > "$out/lines2.txt"
    windows() { # TO FROM SEED WINDOWS LENGTH
        "$program" words prepare --text "$out/$2.txt" --lines "$out/$1.txt" --seed "$3" --windows "$4" --length "$5"
    }
    lengths=2-4:1,5:2,6-10:4,11-14:1.5,15-20:0.5
    windows five sentences 11 sentence:0.5,anywhere:0.5 5 &
    windows long sentences 12 paragraph:4,sentence:1,anywhere:1,whole:0.1 $lengths &
    windows opening sentences 13 paragraph:4,sentence:0.6 $lengths &
    windows good5 good 18 sentence:1 5 &
    windows good20 good 19 sentence:0.5 $lengths &
    # WikiText-2 and openings with a quotation mark, which the other files lack: 3.7% of WikiText's paragraphs open with one.
    windows wiki5 wikitext 14 paragraph:8,sentence:1,anywhere:1 5 &
    windows wiki wikitext 15 paragraph:8,sentence:1.5,anywhere:1.5 $lengths &
    windows quote5 quoted 16 paragraph:1 5 &
    windows quote quoted 17 paragraph:1 $lengths &
    wait
    sets() { # NAME: the sets of the windows and lines on standard input
        # A word without a vector needs 60 occurrences for a row of its own, since lines and windows repeat words.
        "$program" words prepare --text - --vectors "$out/vectors.txt" --own-row 60 --limit-words 115000 --windows whole \
            --unk-share 0.4 --length 2-20 --out "$out/$1-data.safetensors"
    }
    cat "$out"/{lines,five,long,wiki5,wiki,quote}.txt | sets mix &
    cat "$out"/{lines2,opening,good5,good20,wiki5,wiki,quote5,quote}.txt | sets words
    wait
    rm "$out"/{all,featured,good,good5,good20,ordinary,lines,lines2,five,long,opening,wiki5,wiki,quote5,quote,quoted,wikitext}.txt
    touch "$out/prepared"
fi
[ "$only" != prepare ] || exit 0

# ---- Training: all windows at a constant rate, then the beginnings of paragraphs while it falls; then both
# again with dropout, since the network then knows by heart what it was trained on --------------------------
train() { # NAME DATA STEPS OPTION ...
    local name=$1 data=$2 steps=$3
    shift 3
    case $only in '' | $name) ;; *) return 0 ;; esac
    [ ! -e "$out/$name.done" ] || return 0
    echo "== training: $name"
    "$program" train --data "$out/$data-data.safetensors" --model "$out/$name.safetensors" "${common[@]}" --max-steps "$steps" "$@"
    touch "$out/$name.done"
}
if [ ! "$from" ]; then
    train mix mix $mix_steps "${net[@]}" "${first[@]}" --schedule constant --learning-rate 2e-3 --average 0.9995 --forget 0.1 \
        --statistics running
    train words words $words_steps --from "$out/mix.safetensors" "${first[@]}" --schedule cosine --learning-rate 2e-3 --average 0.999 \
        --forget 0.15 --statistics measured --half
fi
train again mix $again_steps --from "${from:-$out/words.safetensors}" "${last[@]}" --schedule constant --average 0.9995 --statistics running
train final words $final_steps --from "$out/again.safetensors" "${last[@]}" --schedule cosine --average 0.999 --statistics measured --half
# The network is too sure of its answers: a temperature chosen on lines held out of training.
if [ -e "$out/final.done" ] && [ ! -e "$out/shipped.safetensors" ]; then
    "$program" calibrate --model "$out/final.safetensors" --format text --out "$out/shipped.safetensors" "$out/articles.txt"
fi
case $only in '' | measure) ;; *) exit 0 ;; esac

# ---- Measures: lines held out, and the validation articles ------------------------------------------------
raw=$shared/wikitext/wikitext103.valid.tokens
sentences < "$raw" | grep ' [.?!]$' > "$out/valid-sentences.txt"
awk '/^\^ / && NF > 8 { $1 = ""; print }' "$out/held-out.txt" > "$out/paragraphs.txt"
if [ ! -e "$out/ngram-data.safetensors" ]; then
    "$program" words prepare --text "$out/sentences.txt" --vectors "$out/vectors.txt" --windows whole --length 3-30 \
        --out "$out/ngram-data.safetensors" --quiet
fi
measure() { # NAME TEST COMMAND ...: a table and a CSV file
    local name=$1 test=$2
    shift 2
    echo "== $name: $test"
    "$@" --csv "$out/$name-$test.csv"
}
each() { # NAME COMMAND ...: all tests
    local name=$1
    shift
    measure "$name" wikitext2 "$@" --text "$out/wikitext2.txt"
    measure "$name" articles "$@" --text "$out/articles.txt"
    measure "$name" articles8 "$@" --text "$out/paragraphs.txt" --first 8
    measure "$name" first5 "$@" --text "$shared/words/valid.txt"
    for k in 8 12 20; do measure "$name" first$k "$@" --text "$raw" --first $k; done
    measure "$name" sentences "$@" --text "$out/valid-sentences.txt" --windows whole --length 2-20
}
each ngram build/bench/ngram --train "$out/ngram-data.safetensors" --beam 5
each words "$program" words eval --model "$model"
[ ! "$five" ] || each five "$program" words eval --model "$five"
{
    echo "model,test,$(head -n 1 "$out/ngram-articles.csv")"
    for file in "$out"/{ngram,words,five}-{wikitext2,articles,articles8,first5,first8,first12,first20,sentences}.csv; do
        [ -e "$file" ] || continue
        name=${file##*/} name=${name%.csv}
        tail -n +2 "$file" | sed "s/^/${name%-*},${name##*-},/"
    done
} > "$out/sentences.csv"
mkdir -p "$out/curve"
for name in mix words again final; do [ ! -e "$out/$name.log.csv" ] || awk 'NR == 1 || NR % 20 == 0' "$out/$name.log.csv" > "$out/curve/$name.log.csv"; done
if [ -e "$out/curve/final.log.csv" ]; then
    "$program" draw --out "$out/loss.svg" --what loss --title "Loss on the training windows" "$out"/curve/*.log.csv
fi
echo "== $out: sentences.csv, loss.svg"
