#!/bin/sh
# Compares the files of the sdist with those of the clone, and for check-sdist builds a wheel from it, outside the clone and
# without any index, and finds a tour with it.
# usage: MAKE=make PYTHON=/usr/bin/python3 python/tests/sdist.sh FOLDER check-sdist-files|check-sdist
folder=$1 target=$2
if ! why=$(sh mk/setup.sh "$(dirname "$folder")" python); then
    echo "skipped: the sdist was not built: $(echo "$why" | tail -1) (make setup-python installs it)"
    exit 0
fi
rm -rf "$folder" && mkdir -p "$folder" || exit 1
$MAKE --no-print-directory -s sdist >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
tar tzf dist/ordernet-*.tar.gz | sed 's|^[^/]*/||' | sort >"$folder/packed"
find Makefile setup.py pyproject.toml include mk src models -type f ! -name '*.py[co]' | sort >"$folder/needed"
lost=$(comm -13 "$folder/packed" "$folder/needed")
[ -s "$folder/needed" ] && [ -z "$lost" ] || { echo "not in the sdist:" $lost; exit 1; }
echo "1 passed, 0 failed"
[ "$target" = check-sdist ] || exit 0
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
tar xzf dist/ordernet-*.tar.gz -C "$scratch" && cd "$scratch"/ordernet-* || exit 1
# The settings of the make that runs this must not reach the one that builds the wheel.
unset MAKEFLAGS MFLAGS MAKELEVEL B
OPT=-O0 AVX_OPT=-O0 "$PYTHON" -m pip wheel --quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation \
    --wheel-dir "$scratch" . || exit 1
"$PYTHON" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --target "$scratch/installed" \
    "$scratch"/*.whl || exit 1
cd "$scratch/installed" || exit 1
# One wheel serves every Python: all of Debian's that are installed are tried.
for python in "$PYTHON" /usr/bin/python3.[0-9] /usr/bin/python3.[0-9][0-9]; do
    [ -x "$python" ] || continue
    "$python" -c 'import numpy' 2>/dev/null || { echo "skipped: $python has no NumPy, the package was not tried with it"; continue; }
    "$python" -c 'import ordernet; assert sorted(ordernet.tour([[0, 0], [1, 0], [0, 1]])) == [0, 1, 2]' || exit 1
    echo "1 passed, 0 failed"
done
