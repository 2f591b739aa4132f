#!/bin/sh
# What is built for one MPI or one kind of GPU is built anew when another is named, and only then. In a folder of its own,
# with a compiler that only counts its calls.
# usage: MAKE=make tests/rebuild.sh
root=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
ln -s "$root/Makefile" "$root/mk" "$root/src" "$root/include" .
cat >compiler <<'END'
#!/bin/sh
for last; do :; done
echo called >"$last"
echo called >>calls
END
chmod +x compiler
ln -s compiler other
unset MAKEFLAGS MAKEOVERRIDES MFLAGS
passed=0 failed=0
calls() { # HOW-MANY MAKE'S-ARGUMENT...: so many files are compiled or linked
    meant=$1
    shift
    : >calls
    if ${MAKE:-make} B=b NVCC=./compiler "$@" >log 2>&1 && [ "$(wc -l <calls)" = "$meant" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: make $*: $(wc -l <calls) calls of the compiler, not $meant"
        tail -n 5 log
    fi
}
set -- src/cuda/*/*.cu
gpu=$#
calls 1 libordernet-mpi.so MPICC=./compiler
calls 0 libordernet-mpi.so MPICC=./compiler
calls 1 libordernet-mpi.so MPICC=./other
calls 0 libordernet-mpi.so MPICC=./other
calls $((gpu + 1)) libordernet-cuda.so CUDA_ARCH=90 # each file and the library
calls 0 libordernet-cuda.so CUDA_ARCH=90
calls $((gpu + 1)) libordernet-cuda.so CUDA_ARCH=80
calls 0 libordernet-cuda.so CUDA_ARCH=80
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
