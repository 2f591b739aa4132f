#!/bin/sh
# Runs `make demo`: learns to sort numbers from examples and sorts new sets; unscrambles lines with the
# shipped word model; finds tours with the shipped tour model.
set -e
data=examples/data
model=demo/sort.safetensors
mkdir -p demo

echo "1. Examples: sets of 2 to 10 numbers, each with its ascending order, in $data/sort.jsonl:"
head -2 $data/sort.jsonl | cut -c 1-100 | sed 's/^/     /'
echo
echo "2. Learn the order from them:"
./ordernet train --data $data/sort.jsonl --valid $data/sort-valid.jsonl --model $model --force --seed 1 \
    --hidden 32 --epochs 15 | sed 's/^/     /'
echo
echo "3. Order new sets, the last one larger than any example:"
./ordernet order --model $model $data/sort-ask.jsonl | awk '{
    match($0, /"items": *\[\[[^a-z]*\]\]/); items = substr($0, RSTART, RLENGTH)
    match($0, /"order": *\[[^]]*\]/); order = substr($0, RSTART, RLENGTH)
    gsub(/[^-0-9.,]/, "", items); gsub(/[^0-9,]/, "", order)
    n = split(items, x, ","); split(order, o, ",")
    printf "     in "; for (i = 1; i <= n; i++) printf " %s", x[i]
    printf "\n     out"; for (t = 1; t <= n; t++) printf " %s", x[o[t] + 1]
    printf "\n"
}'
echo
echo "4. Measure the model on sets that it was not trained on:"
./ordernet eval --model $model $data/sort-valid.jsonl | sed 's/^/     /'
echo
echo "The model is in $model; ./ordernet inspect $model describes it."

if [ -f models/words.safetensors ]; then
    echo
    echo "5. Unscramble lines with the shipped word model:"
    for line in 'this an is example sentence .' 'France is of Paris the capital .' 'London was born in he .' \
        'river the through city the flows .'; do
        echo "     in   $line"
        ./ordernet unscramble --top 1 $line | sed 's/^ *\([0-9.]*%\)  \(.*\)/     out  \2  (\1)/'
    done
fi

if [ -f models/tours.safetensors ]; then
    echo
    echo "6. Tours through random cities and through a TSPLIB file, with the shipped tour model:"
    tsplib=$ORDERNET_SHARED/data/tsplib/berlin52.tsp
    [ -f "$tsplib" ] || tsplib=$data/random40.tsp
    ./ordernet tsp generate --n 10,20,40 --per-size 1 --seed 2019 >demo/cities.jsonl
    ./ordernet tsp compare --methods exact,christofides,ordernet --symmetries 8 --draw demo/tours \
        --title "Optimal, Christofides, OrderNet" demo/cities.jsonl "$tsplib" | sed 's/^/     /'
    echo "     The tours are drawn in demo/tours.svg and demo/tours.png."
fi

if [ -f models/pages.safetensors ]; then
    echo
    echo "7. The reading order of two scanned pages, given from top to bottom, with the shipped page model:"
    rm -rf demo/top-down demo/pages
    ./ordernet pages order --quiet --rule top-down --out demo/top-down $data/pages/reichsanzeiger.xml $data/pages/book.xml
    ./ordernet pages order --out demo/pages demo/top-down 2>&1 | sed 's/^/     /'
    ./ordernet pages eval --quiet $data/pages |
        awk '/^all/ { print "     regions followed by the right one: " $6 "% from top to bottom, " $3 "% now (collections that the model was trained on)"; exit }'
    for page in reichsanzeiger book; do ./ordernet pages draw --out demo/$page demo/top-down/$page.xml; done
    echo "     The files are in demo/pages; demo/reichsanzeiger.svg and demo/book.svg show the given and the found order."
fi
