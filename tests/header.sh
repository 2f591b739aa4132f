#!/bin/sh
# Checks that the public headers compile alone in C and C++, and that the folders of src include each other in
# one direction only:
#   engine <- app <- tasks <- front
# The program uses the library through its public headers and the helpers of engine/base named in SHARED; a
# task includes no other task and no front, fronts do not include each other, the library's error messages
# name no option of the program, and include guards are made from the paths of their files.
# usage: CC=COMPILER CXX=COMPILER tests/header.sh
. tests/count.sh

# The rest of base (SHA-256, arenas) is the library's own.
SHARED="choice clock error file json json_tree library limits lines memory names number rng shown thread_pool utf8 word_form world"
PUBLIC='ordernet(_[a-z]+)?\.h'
BASE="engine/base/($(echo "$SHARED" | tr ' ' '|'))\.h"

alone() { # LANGUAGE COMPILER FLAGS ...
    for header in include/*.h; do printf '#include <%s>\n' "${header#include/}"; done >"$folder/alone.$1"
    echo 'int main(void) { return 0; }' >>"$folder/alone.$1"
    compiler=$2 language=$1
    shift 2
    "$compiler" "$@" -Wall -Wextra -Werror -pedantic -fsyntax-only -Iinclude "$folder/alone.$language"
}
includes_only() { # FILES PATTERN: prints includes that do not match
    # shellcheck disable=SC2086 # a pattern of names
    ls $1 >>"$folder/read"
    # shellcheck disable=SC2086 # a pattern of names
    ! grep -Hn '#include "' $1 | grep -vE "\"($2)\""
}
no_options() { # FOLDER: prints error messages that name an option
    find "$1" -type f | xargs grep -HnE "\"([^\"]*[ (:'])?--[a-z]" && return 1 || return 0
}
# An error has the field that it is about (fail_field); its message names none.
no_fields() { # FOLDER: prints error messages that name a field of options
    find "$1" -type f | xargs grep -HnE '"[^"]*(\(|[a-z] )onet_[a-z]+_options\.[a-z]' | grep -vE '"onet_[a-z]+_options\.[a-z0-9_]+ onet_[a-z]+_options\.[a-z0-9_]+"' && return 1 || return 0
}
# Sentences of the engine speak of items and sets. Only the names of the paper's two nets are of its tasks.
no_tasks() { # FOLDER: prints strings with a word of a task
    find "$1" -type f ! -path '*/model/choices.c' | xargs grep -HnwE '"[^"]*\b(tours?|city|cities|scans|scanned|unscramble)\b' | grep -v '#include' && return 1 || return 0
}
every_file() { # prints files of src whose includes were not looked at
    find src -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | while read -r file; do
        grep -qxF "$file" "$folder/read" || echo "$file"
    done >"$folder/unread"
    ! grep . "$folder/unread"
}
# A folder includes those before it in the flow of data, and itself.
no_cycle() { # FOLDER: of its folders
    for folder_of in "$1"/*/; do
        name=$(basename "$folder_of")
        find "$folder_of" -type f | xargs grep -hoE "#include \"${1#src/}/[a-z]+/" | sed 's|.*/\(.*\)/|\1|' | sort -u |
            sed "s|^|$name |"
    done | awk '$1 != $2' >"$folder/edges"
    [ -s "$folder/edges" ] && tsort "$folder/edges" >/dev/null
}
# The same for every folder of src that has files, whatever it is part of.
no_cycle_of_all() {
    grep -rHoE '#include "[a-z_0-9/]+/' src | sed -E 's|^src/(.*)/[^/]*:#include "(.*)/$|\1 \2|' | sort -u |
        awk '$1 != $2' >"$folder/edges"
    [ -s "$folder/edges" ] && tsort "$folder/edges" >/dev/null
}

# Two headers with one guard would hide each other.
guards() { # prints headers whose guard is not made from their path; src/engine, tasks and front are left out of it
    find src -name '*.h' -o -name '*.cuh' | while read -r header; do
        guard=$(echo "$header" | sed -E 's,^src/(engine/|tasks/|front/)?,,; s,[/.-],_,g' | tr a-z A-Z)
        own=$(sed -n 's/^#ifndef \([A-Z_0-9]*_CUH\|[A-Z_0-9]*_H\)$/\1/p' "$header" | head -1)
        [ "${own:-$guard}" = "$guard" ] || echo "$header: $own is not $guard"
    done >"$folder/guards"
    ! grep . "$folder/guards"
}

check "C" alone c "${CC:-cc}" -std=c99
if command -v "${CXX:-c++}" >/dev/null; then
    check "C++" alone cc "${CXX:-c++}" -std=c++11
else
    skip "the header in C++: no C++ compiler"
fi
check "include guards have the names of their files" guards
check "src/engine includes the engine alone" includes_only "$(find src/engine -type f | tr "\n" " ")" "$PUBLIC|engine/[a-z_0-9/]+\.(h|cuh)|emulated_mma\.h"
check "src/engine's error messages name no task" no_tasks src/engine
for part in src/engine src/engine/cuda; do
    check "the folders of $part do not include each other in a circle" no_cycle "$part"
done
check "the folders of src do not include each other in a circle" no_cycle_of_all
check "src/app includes the public headers and itself" includes_only "src/app/*.[ch]" "$PUBLIC|$BASE|app/[a-z_0-9]+\.h"
check "src/tasks includes app/task.h" includes_only "src/tasks/*.[ch]" "app/task\.h"
for task in src/tasks/*/; do
    task=${task%/} own="${task#src/tasks/}"
    check "$task includes the public headers, src/app and itself" includes_only "$task/*.[ch]" \
        "$PUBLIC|$BASE|app/[a-z_0-9]+\.h|tasks/$own/[a-z_0-9/]+\.h"
    # Its folders are its part of the library, and what it exports to JavaScript.
    for part in "$task"/*/; do
        [ ! -d "$part" ] || check "${part%/} includes the engine, its task and app/wasm_export.h" \
            includes_only "$(find "$part" -name '*.[ch]' | tr "\n" " ")" \
            "$PUBLIC|engine/[a-z_0-9/]+\.h|app/wasm_export\.h|tasks/$own/[a-z_0-9/]+\.h"
    done
done
for front in src/front/*/; do
    front=${front%/}
    check "$front includes the public headers, src/app, tasks and itself" includes_only "$front/*.[ch]" \
        "$PUBLIC|engine/base/[a-z_0-9]+\.h|(app|tasks/[a-z]+|${front#src/})/[a-z_0-9]+\.h"
done
check "the includes of every file of src were looked at" every_file
# Neither users of the library and of the browser page nor clients of the server have options (server.c only starts it).
for part in src/app/request*.c src/tasks/*/request.c $(find src/front/serve -name '*.c' ! -name 'cmd_*' ! -name server.c); do
    check "$part names no option of the program" no_options "$part"
done
for part in src/engine src/front/wasm src/tasks/*/*/ $(sed -n 's/^WASM_TASKS *:= //p' mk/web.mk); do
    part=${part%/}
    check "$part names no option of the program" no_options "$part"
    check "$part names fields apart from error messages" no_fields "$part"
done
finish
