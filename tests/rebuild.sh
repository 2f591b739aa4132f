#!/bin/sh
# Tests the Makefile: what is built for one MPI or one GPU architecture must be built again when another is
# named, and only then. Runs in a folder of its own, with a fake compiler that only counts its calls.
# usage: MAKE=make tests/rebuild.sh
root=$PWD
. tests/count.sh
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
makes() { # NUMBER ARGUMENT...: `make ARGUMENT...` calls the compiler that often
    expected=$1
    shift
    : >calls
    ${MAKE:-make} B=b NVCC=./compiler "$@" && echo "$(wc -l <calls) calls of the compiler, not $expected" &&
        [ "$(wc -l <calls)" = "$expected" ]
}
calls() { check "make $2 $3" makes "$@"; }
set -- src/engine/cuda/*/*.cu
gpu=$#
calls 1 libordernet-mpi.so MPICC=./compiler
calls 0 libordernet-mpi.so MPICC=./compiler
calls 1 libordernet-mpi.so MPICC=./other
calls 0 libordernet-mpi.so MPICC=./other
calls $((gpu + 1)) libordernet-cuda.so CUDA_ARCH=90 # each file and the library
calls 0 libordernet-cuda.so CUDA_ARCH=90
calls $((gpu + 1)) libordernet-cuda.so CUDA_ARCH=80
calls 0 libordernet-cuda.so CUDA_ARCH=80
finish
