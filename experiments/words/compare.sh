#!/bin/bash
# Trains one setting and measures it on more lines than valid.txt has: 20,514 lines of the training text, the second half
# of WikiText-2 and a part of the featured and good articles, are kept out of the training for this.
#
# usage: experiments/words/compare.sh NAME REPEAT SENTENCES [OPTION ...]
#   NAME       of this training; files go to experiments/words/out-compare
#   REPEAT     how often per epoch the training sees the lines of WikiText-2 and of featured and good articles
#   SENTENCES  1: the later sentences of WikiText-2's paragraphs (of its first half) are trained on too; 0: not
#   OPTION     further options of `ordernet train`; a later one overrides those below
set -euo pipefail
self=$(readlink -f "$0")
cd "$(dirname "$self")/../.."
usage() { sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p}' "$self"; exit "$1"; }
case ${1:-} in -h | --help) usage 0 ;; esac
[ $# -ge 3 ] && [[ $2 =~ ^[1-9][0-9]?$ ]] && [[ $3 =~ ^[01]$ ]] || usage 2
name=$1 repeat=$2 sentences=$3 out=experiments/words/out-compare shared=$(make -s print-shared)/data
shift 3
program=./ordernet
[ -x $program ] || make ordernet
mkdir -p $out
data=$out/train-$repeat-$sentences.safetensors

if [ ! -e "$out/articles.txt" ]; then
    "$program" words prepare --text "$shared/words/train.txt.xz" --lines $out/all.txt --quiet
    awk 'NR > 8514 && NR <= 17028' $out/all.txt > $out/wikitext2.txt
    awk 'NR > 120000 && NR <= 132000' $out/all.txt > $out/articles.txt
fi
if [ ! -e "$data" ]; then
    {
        awk -v repeat="$repeat" '(NR > 8514 && NR <= 17028) || (NR > 120000 && NR <= 132000) { next }
            { for (i = NR <= 210860 ? repeat : 1; i; i--) print }' $out/all.txt
        [ "$sentences" = 0 ] || xz -dc "$shared"/wikitext/wikitext2.train.tokens.xz |
            awk '/^ = / || NF < 5 { next } ++paragraphs > 8514 { next }
                 { n = split($0, s, / [.?!] /); for (i = 2; i <= n; i++) print s[i] }' |
            "$program" words prepare --text - --first 5 --lines - --quiet
    } > $out/lines.txt
    "$program" words prepare --text $out/lines.txt --vectors "$shared/words/glove.6B.50d.subset.txt.xz" --first 5 --out "$data"
fi
"$program" train --data "$data" --model "$out/$name.safetensors" --force --preset words --no-standardise --batch 512 \
    --learning-rate 2e-3 --schedule cosine --warmup 0.02 --weight-decay 0.05 --clip 1 --average 0.999 \
    --batches one-size --statistics running --train-vectors "$@"
for lines in "$shared/words/valid.txt" $out/wikitext2.txt $out/articles.txt; do
    echo "${lines##*/}"
    "$program" eval --format text --model "$out/$name.safetensors" --quiet "$lines"
done
