#!/bin/bash
# Tests every command with each of its allocations failing, one at a time: it must end with status 5 and an
# error message and leave no file, or do without that memory and give the same answer. A crash, another status
# or another answer fails.
# usage: tests/oom/run.sh PRELOAD.so [NAME ...]      ORDERNET names the program; OOM_EVERY=N tests every Nth allocation
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
preload=$(realpath "$1")
shift
only=" $* "
program=$(realpath "${ORDERNET:-ordernet}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
if nm -D "$program" 2>/dev/null | grep -q __asan_init; then
    echo "skipped: AddressSanitizer owns malloc in this build"
    exit 0
fi

# ---- What the commands work on: as small as can be, so that each has few allocations.
awk -f "$root/tests/cli/sets.awk" -v seed=1 -v count=3 >sets.jsonl
printf 'set,x,name,rank\na,1,p,1\na,0,q,0\nb,3,r,0\nb,4,s,1\n' >sets.csv
sort=$root/tests/cli/sort.safetensors
for who in cat dog; do for what in runs eats; do echo "the $who $what here now"; done; done >text
n=0
for word in the cat dog runs eats here now; do n=$((n + 1)); echo "$word $n.5 0.$n"; done >vectors
ordernet() { "$program" "$@"; }
export OMP_NUM_THREADS=1
shape='--encoder-blocks 1 --decoder-blocks 1 --hidden 4 --encoder-out 4 --decoder-out 4 --threads 1 --quiet --device cpu'
ordernet words prepare --text text --vectors vectors --out words.safetensors --quiet &&
    ordernet train --data words.safetensors $shape --epochs 2 --model wordmodel.safetensors >/dev/null &&
    ordernet train --data sets.jsonl --valid sets.jsonl $shape --epochs 2 --model trained.safetensors >/dev/null &&
    ordernet tsp generate --n 5 --per-size 2 --quiet --out tours.jsonl &&
    ordernet tsp generate --asymmetric --n 4 --per-size 2 --quiet --out costs.jsonl &&
    ordernet train --data costs.jsonl $shape --epochs 1 --model costs.safetensors >/dev/null || exit 1
printf ',A,B,C\nA,0,1,2\nB,3,0,4\nC,5,6,0\n' >table.csv
printf 'NAME: t\nTYPE: TSP\nDIMENSION: 5\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 0 3\n3 4 0\n4 4 4\n5 1 1\nEOF\n' >five.tsp
cp "$root/tests/pages/two-columns.xml" page.xml
echo '{"items": [[0, 0, 1, 1], [2, 0, 3, 1], [0, 2, 1, 3], [2, 2, 3, 3]], "order": [0, 2, 1, 3]}' >boxes.jsonl
tour=$root/models/tsp.safetensors

# ---- The commands: NAME | arguments, in which OUT is a file that is written.
commands() {
    cat <<END
train | train --data sets.jsonl --valid sets.jsonl $shape --epochs 2 --model OUT
train-csv | train --data sets.csv --holdout 50% --jitter 0.1 --drop 0.2 $shape --epochs 2 --model OUT
train-words | train --data words.safetensors --train-vectors --forget 0.1 $shape --epochs 2 --model OUT
train-folds | train --data sets.jsonl --folds 2 $shape --epochs 1 --model OUT
train-from | train --data sets.jsonl --from trained.safetensors --threads 1 --device cpu --quiet --epochs 1 --model OUT
order | order --threads 1 --device cpu --steps --top 2 --model $sort sets.jsonl
order-csv | order --threads 1 --device cpu --model $sort --features x --out OUT sets.csv
order-score | order --threads 1 --device cpu --score --model $sort sets.jsonl
order-words | order --threads 1 --device cpu --text --model wordmodel.safetensors text
eval | eval --threads 1 --device cpu --by-size --importance --repeats 1 --per-set OUT.csv --model $sort sets.jsonl
eval-baselines | eval --threads 1 --device cpu --baselines --train sets.jsonl --model $sort sets.jsonl
eval-json | eval --threads 1 --device cpu --json --model $sort sets.jsonl
inspect | inspect $sort
inspect-json | inspect --json $sort
draw | draw --what loss --out OUT.svg trained.log.csv
convert-csv | convert sets.jsonl OUT.csv
convert-safetensors | convert sets.csv OUT.safetensors
convert-npz | convert sets.csv OUT.npz
convert-gz | convert sets.csv OUT.jsonl.gz
bench | bench --preset tsp --n 4 --batch 2 --seconds 0.01 --threads 1 --device cpu --json
tsp-generate | tsp generate --n 5-6 --per-size 2 --threads 1 --quiet --out OUT.jsonl
tsp-solve | tsp solve --method exact --quiet --draw OUT.svg five.tsp
tsp-solve-christofides | tsp solve --method christofides --quiet five.tsp
tsp-solve-net | tsp solve --method ordernet --quiet --threads 1 --device cpu five.tsp
tsp-generate-asymmetric | tsp generate --asymmetric --n 4-5 --per-size 2 --threads 1 --quiet --out OUT.jsonl
tsp-solve-matrix | tsp solve --matrix --method 2opt --kicks 3 --quiet --route OUT.csv table.csv
tsp-solve-costs | tsp solve --method ordernet --model costs.safetensors --quiet --threads 1 --device cpu --symmetries 8 costs.jsonl
tsp-compare | tsp compare --threads 1 --device cpu --methods exact,2opt,ordernet five.tsp
tsp-eval | tsp eval --threads 1 --device cpu --quiet --out OUT.csv tours.jsonl
words-prepare | words prepare --text text --vectors vectors --quiet --out OUT.safetensors
words-eval | words eval --threads 1 --device cpu --model wordmodel.safetensors --text text --csv OUT
pages-order | pages order --threads 1 page.xml
pages-boxes | pages order --threads 1 boxes.jsonl
pages-train | pages train --threads 1 --quiet --epochs 1 --variants 0 --small-variants 1 --holdout 0 --model OUT boxes.jsonl
pages-eval | pages eval --rules-only page.xml boxes.jsonl
pages-check | pages check --threads 1 boxes.jsonl
pages-draw | pages draw --rule xy-columns --out OUT.svg page.xml
unscramble | unscramble --model wordmodel.safetensors cat the runs
unscramble-json | unscramble --json --model wordmodel.safetensors (cat, the dog) Now.
convert-half | convert --half $sort OUT.safetensors
merge | merge --out OUT.safetensors trained.safetensors trained.safetensors
help | help train
completion | completion bash
END
}

# Numbers that differ from run to run.
mask() { sed -E 's/[0-9.]+( sets\/s| s\b)/N\1/g; s/"(train|order)_examples_per_second": .*//; s/,[0-9.]+,[0-9.]+,(plain|avx2|avx512)$/,N/; s/[0-9]+\.[0-9]+$//' "$1"; }

# A file that is there is whole: that of a run without failures, or what a training writes on its way.
whole_files() {
    local file
    for file in out/*; do
        case $file in *.log.csv | *.checkpoint.* | *.best.* | 'out/*') continue ;; esac
        mask "$file" | cmp -s - "good/${file#out/}" || return 1
    done
}

one() { # NAME NUMBER TEXT...: a run whose allocation NUMBER fails
    local name=$1 at=$2 status
    shift 2
    rm -rf out && mkdir out
    LD_PRELOAD=$preload OOM_AT=$at timeout 60 "$program" "${@//OUT/out/o}" >stdout 2>stderr </dev/null
    status=$?
    points=$((points + 1))
    if [ $status = 0 ] && mask stdout | cmp -s - stdout.good && [ "$(ls out)" = "$files" ]; then return; fi
    if [ $status = 5 ] && grep -q memory stderr && whole_files; then return; fi
    failed=$((failed + 1))
    echo "FAILED $name: allocation $at: status $status, files: $(ls out | tr '\n' ' '): $(head -c 300 stderr)"
}

# All allocations of one command, in a folder of its own beside what the commands read.
command_points() { # NAME ARGUMENTS
    local name=$1 list files file at
    # shellcheck disable=SC2206 # the arguments are meant to be split
    list=($2)
    mkdir "run-$name" && cd "run-$name" && ln -s ../*.* ../text ../vectors . || exit 1
    [[ $2 != *.svg* ]] || export OOM_DIRECT=1
    failed=0 points=0
    mkdir out good
    if ! LD_PRELOAD=$preload OOM_COUNT=count "$program" "${list[@]//OUT/out/o}" >stdout 2>stderr </dev/null; then
        echo "FAILED $name: without a failing allocation: $(cat stderr)"
        exit 1
    fi
    files=$(ls out)
    mask stdout >stdout.good
    for file in out/*; do [ ! -f "$file" ] || mask "$file" >"good/${file#out/}"; done
    for ((at = 1; at <= $(cat count); at += every)); do one "$name" $at "${list[@]}"; done
    echo "$name: $points allocations failed, one at a time"
    [ $failed = 0 ]
}
export -f command_points one mask whole_files
every=${OOM_EVERY:-1}
export preload program every

commands | sed 's/ *| */|/' >list
while IFS='|' read -r name arguments; do
    [ "$only" = "  " ] || [[ $only == *" $name "* ]] || continue
    printf '%s\0%s\0' "$name" "$arguments"
done <list | xargs -0 -n 2 -P "$(nproc)" bash -c '(command_points "$1" "$2") >"result-$1" 2>&1; echo $? >"status-$1"' -
cat result-*
echo "$(cat status-* | grep -cx 0) passed, $(cat status-* | grep -cvx 0) failed"
! cat status-* | grep -qvx 0
