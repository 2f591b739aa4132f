#!/bin/bash
# Soak test: trains, orders and serves in a loop, with random kills, full disks (a limit of file sizes) and
# memory limits. Nothing may be lost: a killed training that is resumed ends with the model of an
# uninterrupted one, byte for byte; files are complete or absent; a server gives the same answer or none; a
# program never ends by a signal that it was not sent. Nothing may be leaked: no temporary file stays, and a
# server has as many open files after its requests as before.
# usage: tests/soak.sh [SECONDS] [SEED]      ORDERNET names the program
seconds=${1:-1800}
RANDOM=${2:-1}
cd "$(dirname "$0")/.." || exit 1
root=$PWD
program=$(realpath "${ORDERNET:-ordernet}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
model=$root/tests/cli/sort.safetensors
awk -f "$root/tests/cli/sets.awk" -v seed=1 -v count=400 >train.jsonl
awk -f "$root/tests/cli/sets.awk" -v seed=2 -v count=3000 >ask.jsonl
shape="--data train.jsonl --valid ask.jsonl --valid-limit 50 --hidden 8 --encoder-blocks 1 --encoder-out 4 --decoder-blocks 1
    --decoder-out 4 --epochs 12 --threads 1 --kernels plain --quiet --checkpoint-seconds 0.02"
train() { "$program" train $shape "$@"; }
train --model whole.safetensors >/dev/null || exit 1
"$program" order --model "$model" --out whole.out.jsonl ask.jsonl || exit 1
cp whole.out.jsonl old.jsonl

failed=0
declare -A count
bad() {
    failed=$((failed + 1))
    echo "FAILED: $*"
}
some_time() { sleep "0.$(printf %03d $((RANDOM % 400)))"; }

kill_training() {
    local signal=${1:-KILL} status pid
    rm -f m.*
    for _ in 1 2 3; do
        # shellcheck disable=SC2086 # the options are meant to be split
        "$program" train $shape --model m.safetensors --resume >/dev/null 2>&1 & # not the function: its shell would get the signal
        pid=$!
        some_time
        kill -"$signal" $pid 2>/dev/null
        wait $pid 2>/dev/null
        status=$?
        case $signal/$status in */0 | KILL/137 | *KILL/137 | TERM/130 | HUP/130 | INT/130 | TERM/143 | HUP/129 | INT/130) ;;
        *) bad "training sent $signal ended with $status" ;; esac
    done
    train --model m.safetensors --resume >/dev/null 2>err || bad "resuming after $signal: $(cat err)"
    cmp -s m.safetensors whole.safetensors || bad "the resumed model after $signal is another one"
}

kill_ordering() {
    local pid
    cp old.jsonl out.jsonl
    "$program" order --model "$model" --out out.jsonl ask.jsonl &
    pid=$!
    sleep "0.0$((RANDOM % 90 + 10))"
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null
    cmp -s out.jsonl whole.out.jsonl || bad "a killed order left another file"
}

full_disk() {
    local status blocks=$((RANDOM % 120 + 1))
    cp old.jsonl out.jsonl
    (ulimit -f $blocks; "$program" order --model "$model" --out out.jsonl ask.jsonl) 2>err
    status=$?
    [ $status = 4 ] || [ $status = 0 ] || bad "order on a full disk ended with $status: $(cat err)"
    cmp -s out.jsonl whole.out.jsonl || bad "a full disk left another file"
    rm -f f.*
    (ulimit -f $((RANDOM % 12 + 1)); train --model f.safetensors) >/dev/null 2>err
    status=$?
    [ $status = 4 ] || [ $status = 0 ] || bad "training on a full disk ended with $status: $(cat err)"
    train --model f.safetensors --resume >/dev/null 2>err || bad "resuming after a full disk: $(cat err)"
    cmp -s f.safetensors whole.safetensors || bad "the model after a full disk is another one"
}

# A disk that is full: a file system of its own, of 32 to 159 KB, with other blocks to write than those of `ulimit -f`.
small_disk() {
    local status
    unshare -rm bash -c 'mount -t tmpfs -o size=$1k none small && shift && cp old.jsonl small/out.jsonl 2>/dev/null
        cp small/out.jsonl before.jsonl
        "$@" order --model "$model" --out small/out.jsonl ask.jsonl 2>err
        echo $? >status
        cmp -s small/out.jsonl before.jsonl || cmp -s small/out.jsonl whole.out.jsonl || echo changed >>status
        rm small/*
        "$@" train $shape --model small/f.safetensors >/dev/null 2>>err
        echo $? >>status
        cp small/* kept 2>/dev/null' bash $((RANDOM % 128 + 32)) "$program"
    for status in $(cat status); do
        [ "$status" = 4 ] || [ "$status" = 0 ] || bad "on a small disk: $status: $(cat err)"
    done
    mv kept/* . 2>/dev/null
    train --model f.safetensors --resume >/dev/null 2>err || bad "resuming after a small disk: $(cat err)"
    cmp -s f.safetensors whole.safetensors || bad "the model after a small disk is another one"
    rm -f f.*
}

little_memory() {
    local status kilobytes=$((RANDOM * 3 + 20000))
    (ulimit -v $kilobytes; "$program" order --threads 1 --beam 50 --model "$model" --out little.jsonl ask.jsonl) 2>err
    status=$?
    # Under 127 MB or so the loader itself has too little: status 127.
    case $status in 0 | 1 | 4 | 5 | 127) ;; *) bad "order with $kilobytes KB ended with $status: $(cat err)" ;; esac
    [ $status != 0 ] || [ "$(wc -l <little.jsonl)" = 3000 ] || bad "order with $kilobytes KB left out answers"
    rm -f little.jsonl
}

# Starts a server with a limit of memory in kilobytes, or "unlimited"; sets pid, and port unless it has ended.
start_server() {
    : >served
    (ulimit -v "$1"; exec "$program" serve --port 0 --threads 2 --model sort=serve.safetensors) >served 2>err &
    pid=$!
    port=
    while [ -z "$port" ] && kill -0 $pid 2>/dev/null; do
        sleep 0.02
        port=$(sed -n 's|^serving .*:\([0-9]*\)/$|\1|p' served)
    done
}
ask() { curl -s -m 60 -H 'Content-Type: application/json' -d @request.json "http://127.0.0.1:$port/v1/order"; }
open_files() { find /proc/$pid/fd -type l | wc -l; }

# Requests beside reloads of a model that is replaced; then a random end while a request is under way.
kill_serving() {
    local pid port before after signal status
    start_server unlimited
    [ -n "$port" ] || { bad "no server: $(cat err)"; return; }
    ask >/dev/null
    before=$(open_files)
    for _ in 1 2 3 4 5 6; do
        cp "$model" new.safetensors && mv new.safetensors serve.safetensors && kill -HUP $pid
        ask | cmp -s - answer.json || bad "the server gave another answer beside a reload"
    done
    for _ in 1 2 3 4 5; do
        after=$(open_files)
        [ "$after" -gt "$before" ] || break
        sleep 0.1 # a connection is closed a moment after its client has the answer
    done
    [ "$after" -le "$before" ] || bad "the server has $after files open, $before before"
    case $((RANDOM % 3)) in 0) signal=KILL status=137 ;; 1) signal=TERM status=0 ;; *) signal=INT status=0 ;; esac
    ask >last.json &
    client=$!
    sleep "0.0$(printf %02d $((RANDOM % 100)))"
    kill -$signal $pid
    wait $pid 2>/dev/null
    local ended=$?
    wait $client
    [ $ended = $status ] || bad "the server sent $signal ended with $ended: $(cat err)"
    [ ! -s last.json ] || cmp -s last.json answer.json || bad "the server sent $signal gave half an answer"
}

# With little memory a server answers, says why it cannot, or does not start.
little_serving() {
    local pid port kilobytes=$((RANDOM * 8 + 100000)) status
    start_server $kilobytes
    if [ -n "$port" ]; then
        for _ in 1 2 3; do
            ask >last.json
            [ ! -s last.json ] || cmp -s last.json answer.json || grep -q '"error"' last.json ||
                bad "the server with $kilobytes KB gave another answer"
        done
        kill -TERM $pid
    fi
    wait $pid 2>/dev/null
    status=$?
    case $status in 0 | 1 | 4 | 5 | 127) ;; *) bad "the server with $kilobytes KB ended with $status: $(cat err)" ;; esac
}

serving=
if command -v curl >/dev/null; then
    serving=2 # kinds of rounds
    cp "$model" serve.safetensors
    { printf '{"model": "sort", "top": 3, "sets": [' && head -n 200 ask.jsonl | paste -sd, && printf ']}'; } >request.json
    start_server unlimited
    ask >answer.json
    kill $pid && wait $pid || exit 1
    grep -q '"answers"' answer.json || { echo "FAILED: $(head -c 300 answer.json)"; exit 1; }
else
    echo "skipped: no curl here, the server was not tested"
fi

mkdir small kept
export model shape
mounts=
if unshare -rm mount -t tmpfs none small 2>/dev/null; then mounts=1; else echo "skipped: no file system can be mounted here, no small disk"; fi

end=$((SECONDS + seconds))
while [ $SECONDS -lt $end ]; do
    case $((RANDOM % (7 + ${serving:-0}))) in
    0) what=kill-9 && kill_training KILL ;;
    1) what=term && kill_training TERM ;;
    2) what=hangup && kill_training HUP ;;
    3) what=kill-order && kill_ordering ;;
    4) if [ $((RANDOM % 2)) = 0 ] && [ -n "$mounts" ]; then what=small-disk && small_disk; else what=full-disk && full_disk; fi ;;
    7) what=serving && kill_serving ;;
    8) what=serving-little-memory && little_serving ;;
    *) what=little-memory && little_memory ;;
    esac
    count[$what]=$((${count[$what]:-0} + 1))
done
train --model m.safetensors --resume >/dev/null 2>&1
if compgen -G '*.tmp.*' >/dev/null; then bad "temporary files are left: $(echo ./*.tmp.*)"; fi
for what in "${!count[@]}"; do echo "$what: ${count[$what]}"; done | sort
[ $failed = 0 ] && echo "1 passed, 0 failed" || echo "0 passed, $failed failed"
[ $failed = 0 ]
