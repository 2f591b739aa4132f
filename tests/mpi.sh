#!/bin/sh
# Tests training and ordering by several MPI ranks on this machine: 1, 2 and 3 with Open MPI, 2 with MPICH.
# What is not installed is reported as skipped.
# usage: ORDERNET=PROGRAM B=FOLDER tests/mpi.sh     FOLDER/openmpi and FOLDER/mpich hold libordernet-mpi.so
root=$PWD
program=$root/${ORDERNET:-ordernet}
. tests/count.sh
cd "$folder" || exit 1
export LC_ALL=C OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
library() { # FLAVOUR: whether that MPI is here; from now on its library is used
    ORDERNET_MPI=$root/$B/$1/libordernet-mpi.so
    export ORDERNET_MPI
    [ -f "$ORDERNET_MPI" ] && command -v "mpirun.$1" >/dev/null
}
openmpi() { # RANKS COMMAND...
    ranks=$1
    shift
    timeout 120 mpirun.openmpi --oversubscribe --bind-to none -n "$ranks" "$@"
}
mpich() {
    ranks=$1
    shift
    timeout 120 mpirun.mpich -n "$ranks" "$@"
}

# All numbers of a safetensors file, one per line: 8 bytes of length, the header, then float32.
numbers() { # FILE
    header=$(od -An -N8 -tu8 "$1")
    tail -c +$((header + 9)) "$1" | od -An -v -w4 -tf4
}
# The two trainings agree: the running loss at every row of the log, and the parameters. These start at +-1/sqrt(fan-in)
# and Adam moves by the rate where the gradient is rounding alone, so the bound is on their mean difference.
close() { # A B
    cut -d, -f1,3 "$1.log.csv" >a && cut -d, -f1,3 "$2.log.csv" >b &&
        paste -d, a b | awk -F, 'NR > 1 { d = $2 - $4; if (d < 0) d = -d; if ($1 != $3 || d > 1e-4 * $2) bad = $0 }
            END { if (bad != "" || NR < 20) { print "loss:", bad; exit 1 } }' &&
        numbers "$1.safetensors" >a && numbers "$2.safetensors" >b &&
        paste -d' ' a b | awk '{ d = $1 - $2; a = $1; sum += d < 0 ? -d : d; size += a < 0 ? -a : a }
            END { if (!(sum <= 1e-3 * size)) { print "parameters differ by", sum / size; exit 1 } }'
}
says() { # TEXT COMMAND...: it fails and says so, once
    text=$1
    shift
    "$@" >said 2>&1
    status=$?
    cat said
    [ $status != 0 ] && [ $status != 124 ] && [ "$(grep -c "$text" said)" = 1 ]
}

# Runs a command, in the named ranks without the library.
cat >without <<'END'
#!/bin/sh
case ",$1," in *",${OMPI_COMM_WORLD_RANK:-$PMI_RANK},"*) export ORDERNET_MPI=/nope.so ;; esac
shift
exec "$@"
END
chmod +x without
# An error that all ranks meet before they are connected is reported once, and no rank is left waiting.
before_the_world() { # WITH
    check "$1: a library that one rank lacks" says '^ordernet eval: rank 1, on .*nope.so' "$1" 3 ./without 1 "$program" \
        eval --model one.safetensors valid.jsonl
    check "$1: a library that the first rank lacks" says '^ordernet eval: .*nope.so' "$1" 3 ./without 0 "$program" eval \
        --model one.safetensors valid.jsonl
    check "$1: a library that all ranks lack" says '^ordernet eval: .*nope.so' "$1" 3 ./without 0,1,2 "$program" eval \
        --model one.safetensors valid.jsonl
    check "$1: an unknown command is reported once" says "unknown command 'bogus'" "$1" 3 "$program" bogus
    check "$1: no command" says '^Usage' "$1" 3 "$program"
    "$1" 3 "$program" --help >got
    check "$1: help comes once" test "$(grep -c '^Usage' got)" = 1
}

awk -f "$root/tests/cli/sets.awk" -v seed=1 -v count=400 >train.jsonl
awk -f "$root/tests/cli/sets.awk" -v seed=2 -v count=200 >valid.jsonl
small='--hidden 16 --encoder-blocks 2 --encoder-out 8 --decoder-blocks 2 --decoder-out 8 --quiet'
train() { # WITH RANKS MODEL OPTION...
    with=$1 ranks=$2 model=$3
    shift 3
    case " $* " in *" --resume "*) ;; *) set -- --force "$@" ;; esac
    # shellcheck disable=SC2086 # the options are meant to be split
    $with "$ranks" "$program" train --data train.jsonl --valid valid.jsonl $small --model "$model.safetensors" "$@"
}
alone() { # RANKS COMMAND...: the plain program
    shift
    "$@"
}
words() { # WITH RANKS MODEL: words whose vectors are trained too
    $1 "$2" "$program" train --data words.safetensors --preset words --encoder-blocks 1 --decoder-blocks 1 --hidden 16 \
        --encoder-out 8 --decoder-out 8 --batch 8 --epochs 1 --train-vectors --threads 1 --quiet --force --model "$3.safetensors"
}
relations() { # WITH RANKS MODEL: relations between items, and one feature
    # shellcheck disable=SC2086
    $1 "$2" "$program" train --data tours.jsonl --valid tours.jsonl $small --max-steps 30 --batch 8 --threads 1 --force \
        --model "$3.safetensors"
}
# Waits for a checkpoint to be there; gives up after a while.
started() { # MODEL
    i=0
    until [ -e "$1.checkpoint.safetensors" ] || [ $((i += 1)) -gt 600 ]; do sleep 0.05; done
}
long='--epochs 60 --checkpoint-seconds 0.02 --threads 1'
interrupted() { # a signal to one rank ends all, writes a checkpoint and says how to resume
    # shellcheck disable=SC2086
    train openmpi 2 stopped $long >out 2>&1 &
    started stopped
    kill -INT "$(pgrep -f "^$program train.*stopped" | tail -n 1)"
    wait $!
    cat out
    grep -q 'interrupted at step' out && [ ! -e stopped.safetensors ]
}
ctrl_c() { # mpirun passes Ctrl-C on, then kills what is left, perhaps before its message: the checkpoint is whole
    # shellcheck disable=SC2086
    train openmpi 2 cut --epochs 100000 --checkpoint-seconds 0.02 --threads 1 >out 2>&1 &
    started cut
    kill -INT "$(pgrep -f "^mpirun.openmpi .*$program train.*cut")"
    wait $!
    cat out
    [ ! -e cut.safetensors ] && numbers cut.checkpoint.safetensors >/dev/null
}
# Every one of the 540 steps once, the first as in the unbroken run, the last near it: rounding grows over hundreds of steps.
goes_on() { # UNBROKEN RESUMED
    cut -d, -f1,3 "$1.log.csv" >a && cut -d, -f1,3 "$2.log.csv" >b &&
        paste -d, a b | awk -F, 'NR > 1 { d = $2 - $4; if (d < 0) d = -d; if ($1 != $3 || d > ($1 <= 50 ? 1e-4 * $2 : 0.02)) bad = $0 }
            END { if (bad != "" || NR != 781) { print NR, "rows; loss:", bad; exit 1 } }'
}
killed() { # a rank that dies ends all, and mpirun names it
    # shellcheck disable=SC2086
    train openmpi 3 dead --epochs 100000 --checkpoint-seconds 0.02 --threads 1 >out 2>&1 &
    started dead
    kill -9 "$(pgrep -f "^$program train.*dead" | tail -n 1)"
    wait $! && return 1
    cat out
    grep -q 'signal 9' out && ! pgrep -f "^$program train.*dead" && numbers dead.checkpoint.safetensors >/dev/null
}

if library openmpi; then
    for word in the cat dog bird fish runs sleeps here now; do
        n=$((n + 1))
        echo "$word $((n % 3)).5 $((n % 4)).25 -0.$n"
    done >vectors
    for who in cat dog bird fish; do for what in runs sleeps; do echo "the $who $what here now"; done; done >text
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do cat text; done >texts
    "$program" words prepare --text texts --vectors vectors --out words.safetensors --quiet

    check "alone" train alone 1 one --epochs 4 --batch 32 --clip 1 --average 0.9 --threads 1
    for n in 1 2 3; do
        check "$n ranks" train openmpi $n many$n --epochs 4 --batch 32 --clip 1 --average 0.9 --threads 1
        check "$n ranks: the model of one process" close one many$n
        check "$n ranks: best model" test -s many$n.best.safetensors
    done
    check "one rank: the plain program's bits" cmp one.safetensors many1.safetensors
    check "2 ranks with 2 threads each" train openmpi 2 threads --epochs 4 --batch 32 --clip 1 --average 0.9 --threads 2
    check "2 ranks: the same bits for any threads" cmp many2.safetensors threads.safetensors
    check "alone, batches of 2" train alone 1 tiny --max-steps 30 --batch 2
    check "3 ranks, batches of 2: a rank may have no set" train openmpi 3 tiny3 --max-steps 30 --batch 2
    check "3 ranks, batches of 2: the model of one process" close tiny tiny3
    check "alone, items left out, with noise" train alone 1 drop --epochs 4 --batch 32 --drop 0.5 --jitter 0.05 --weight-decay 0.1
    check "3 ranks, items left out, with noise" train openmpi 3 drop3 --epochs 4 --batch 32 --drop 0.5 --jitter 0.05 --weight-decay 0.1
    check "3 ranks, items left out: the model of one process" close drop drop3
    check "2 ranks, fine-tuning" train openmpi 2 from2 --epochs 1 --batch 32 --from one.safetensors
    # shellcheck disable=SC2086 # the options are meant to be split
    check "2 ranks, cross-validation" openmpi 2 "$program" train --data train.jsonl $small --epochs 1 --folds 2
    "$program" tsp generate --asymmetric --n 4-6 --per-size 20 --seed 1 --out tours.jsonl --quiet
    check "relations alone" relations alone 1 relations1
    check "relations, 3 ranks" relations openmpi 3 relations3
    check "relations, 3 ranks: the model of one process" close relations1 relations3
    "$program" order --model relations1.safetensors --top 3 --steps tours.jsonl >meant
    openmpi 2 "$program" order --model relations1.safetensors --top 3 --steps tours.jsonl >got 2>log
    check "order with relations, 2 ranks" cmp meant got
    check "words alone" words alone 1 words1
    check "words, 3 ranks" words openmpi 3 words3
    check "words, 3 ranks: the model and vectors of one process" close words1 words3

    # Each rank with the GPU of its number on the machine, or two of them with the same one.
    if [ -f "$root/libordernet-cuda.so" ] && nvidia-smi >/dev/null 2>&1; then
        check "a GPU alone" train alone 1 gpu1 --max-steps 40 --batch 32 --device cuda
        check "2 ranks with GPUs" train openmpi 2 gpu2 --max-steps 40 --batch 32 --device cuda
        check "2 ranks with GPUs: the model of one process" close gpu1 gpu2
        check "3 ranks with GPUs, batches of 2: a rank may have no set" train openmpi 3 gpu3 --max-steps 30 --batch 2 --device cuda
    else
        skip "ranks with GPUs; there is no GPU here, or libordernet-cuda.so was not built (make CUDA=1)"
    fi

    # On another number of ranks the rest of the run is that of the unbroken one, up to rounding.
    # shellcheck disable=SC2086
    check "unbroken" train alone 1 unbroken $long
    check "interrupt" interrupted
    check "interrupt of mpirun" ctrl_c
    # shellcheck disable=SC2086
    check "resumed by 3 ranks" train openmpi 3 stopped $long --resume
    check "resumed by 3 ranks: the steps of one process" goes_on unbroken stopped
    check "dead rank" killed
    check "the last checkpoint of the dead is whole" says 'belongs to a run of' train openmpi 2 dead --resume --epochs 2

    for n in 2 3; do
        for how in "--top 3 --steps" "--decode sample --top 2" "--decode greedy"; do
            # shellcheck disable=SC2086
            "$program" order --model one.safetensors $how valid.jsonl >meant
            # shellcheck disable=SC2086
            openmpi $n "$program" order --model one.safetensors $how valid.jsonl >got 2>log
            check "order $how, $n ranks" cmp meant got
        done
        "$program" eval --model one.safetensors --by-size valid.jsonl >meant
        openmpi $n "$program" eval --model one.safetensors --by-size valid.jsonl >got 2>log
        check "eval, $n ranks" cmp meant got
    done
    "$program" order --model one.safetensors valid.jsonl >meant
    check "order into a file" openmpi 2 "$program" order --model one.safetensors --out got valid.jsonl
    check "order into a file: the answers of one process" cmp meant got
    check "order into a file on a full disk" says 'No space left' openmpi 2 "$program" order --model one.safetensors --to jsonl \
        --out /dev/full valid.jsonl
    "$program" order --model words1.safetensors --text texts >meant
    openmpi 2 "$program" order --model words1.safetensors --text <texts >got 2>log
    check "order of words from standard input" cmp meant got

    check "a bad option is reported once" says 'unknown option --modl' openmpi 3 "$program" order --modl x
    check "a missing file is reported once" says 'cannot open nope' openmpi 3 "$program" train --data nope --model x.safetensors
    check "a bad set is reported once, after the answers before it" sh -c "(head -n 3 valid.jsonl; echo bad) |
        mpirun.openmpi --oversubscribe -n 2 '$program' order --model one.safetensors >got 2>said
        [ \$? = 3 ] && [ \$(wc -l <got) = 3 ] && [ \$(grep -c 'not valid JSON' said) = 1 ]"
    cp tiny.safetensors copy.safetensors
    check "another model" says '^ordernet eval: rank 1 has another model in tiny' openmpi 1 "$program" eval --model one.safetensors \
        valid.jsonl : -n 1 "$program" eval --model tiny.safetensors valid.jsonl
    check "a copy of the model" openmpi 1 "$program" eval --model tiny.safetensors valid.jsonl : -n 1 "$program" eval \
        --model copy.safetensors --threads 1 valid.jsonl
    given="train --data train.jsonl --model x.safetensors --quiet"
    # shellcheck disable=SC2086
    check "another option" says '^ordernet train: rank 2 was given another --batch' openmpi 2 "$program" $given --max-steps 3 : \
        -n 1 "$program" $given --max-steps 3 --batch 8
    check "another command" says 'rank 1 was given another command' openmpi 1 "$program" eval --model one.safetensors \
        valid.jsonl : -n 1 "$program" order --model one.safetensors valid.jsonl
    check "a wrong option in one rank" says 'unknown option --modl' openmpi 1 "$program" eval --model one.safetensors valid.jsonl : \
        -n 1 "$program" eval --modl one.safetensors valid.jsonl
    before_the_world openmpi
    check "no library: what to do" says 'make MPI=1' env ORDERNET_MPI= sh -c "
        cp '$program' here && timeout 60 mpirun.openmpi --oversubscribe -n 2 ./here train --data train.jsonl --model x.safetensors"
else
    skip "Open MPI is not here (Debian: openmpi-bin libopenmpi-dev), or its library was not built"
fi

if library mpich; then
    check "alone" train alone 1 one --epochs 2 --batch 32 --threads 1
    check "MPICH, 2 ranks" train mpich 2 mpich --epochs 2 --batch 32 --threads 1
    check "MPICH, 2 ranks: the model of one process" close one mpich
    "$program" eval --model one.safetensors valid.jsonl >meant
    mpich 2 "$program" eval --model one.safetensors valid.jsonl >got 2>log
    check "MPICH: eval" cmp meant got
    before_the_world mpich
    if command -v mpirun.openmpi >/dev/null; then
        check "a library of another MPI: what to do" says 'MPICC=mpicc' openmpi 2 "$program" train --data train.jsonl \
            --model x.safetensors
    else
        skip "a library of another MPI: only one MPI is here"
    fi
else
    skip "MPICH is not here (Debian: mpich libmpich-dev), or its library was not built"
fi
finish
