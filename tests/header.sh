#!/bin/sh
# The public headers are all that the program uses: they compile alone in C and C++, the program's folders include no
# folder of the library but base, and the library's sentences name no option of the program.
# usage: CC=COMPILER CXX=COMPILER tests/header.sh
. tests/count.sh

LIBRARY="base data words model kernels cuda mpi train decode evaluate tsp"
PROGRAM="sentences tours pages show serve cli"
# The small helpers that both may use. The rest of base (SHA-256, arenas) is the library's own.
SHARED="choice clock error file fold library memory names number pool rng shown utf8 world"

alone() { # LANGUAGE COMPILER FLAGS ...
    printf '#include <ordernet_tsp.h>\nint main(void) { return 0; }\n' >"$folder/alone.$1"
    compiler=$2 language=$1
    shift 2
    "$compiler" "$@" -Wall -Wextra -Werror -pedantic -fsyntax-only -Iinclude "$folder/alone.$language"
}
own_folders() { # FOLDER: prints what it must not include
    allowed="cli|pages|sentences|serve|show|tours"
    ! grep -Hn '#include "' "src/$1"/*.[ch] |
        grep -vE "\"(ordernet(_tsp)?\.h|($allowed)/[a-z_0-9]+\.h|base/($(echo "$SHARED" | tr ' ' '|'))\.h)\""
}
no_options() { # FOLDER: prints sentences that name an option
    find "src/$1" -type f | xargs grep -HnE '"[^"]*--[a-z]' && return 1 || return 0
}

check "C" alone c "${CC:-cc}" -std=c99
if command -v "${CXX:-c++}" >/dev/null; then
    check "C++" alone cc "${CXX:-c++}" -std=c++11
else
    skip "the header in C++: no C++ compiler"
fi
for part in $PROGRAM; do check "src/$part includes the public headers and folders of the program" own_folders "$part"; done
for part in $LIBRARY; do check "src/$part names no option of the program" no_options "$part"; done
finish
