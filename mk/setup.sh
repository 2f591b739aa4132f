#!/bin/sh
# Installs what is missing, with apt-get on Debian and its derivatives. usage: [CC=cc] [PYTHON=PROGRAM] mk/setup.sh FOLDER PART...
#   build   the libraries: status 1 unless a program can be linked with them
#   page    the browser page and its tests, and the kernels of other CPUs
#   mpi     both MPIs
#   python  the Python package and its tests: status 2 unless it can be built and tested
#   tests   what other tests need
#   debian  Debian packages and archives for another CPU
#   container  the image of the server, and its test
# The tests of what cannot be installed are skipped with a reason.
folder=$1
mkdir -p "$folder" || exit 4
cc=${CC:-cc}
python=${PYTHON:-/usr/bin/python3}
shift
missing=

need() { # COMMAND-OR-FILE PACKAGE...: one of them is not there without the packages
    command -v "$1" >/dev/null || [ -e "$1" ] || { shift && missing="$missing $*"; }
}
lacks() { # MODULE of Python
    ! "$python" -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('$1') is None)" 2>/dev/null
}
# Tests whether a program with all libraries can be linked, whatever packages are installed.
can_link() {
    cat >"$folder/setup.c" <<'END' || exit 4
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cairo/cairo-svg.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <jpeglib.h>
#include <libxml/parser.h>
#include <lzma.h>
#include <microhttpd.h>
#include <utf8proc.h>
#include <zlib.h>
int main(void) { return 0; }
END
    # shellcheck disable=SC2086 # it may have several words: ccache gcc
    $cc -I/usr/include/libxml2 "$folder/setup.c" -ljansson -lxml2 -lz -llzma -lutf8proc -lcairo -ljpeg -lmicrohttpd -lcmocka -lm -o "$folder/setup" \
        >"$folder/setup.log" 2>&1
}
build() {
    can_link && return
    for package in libc6-dev libjansson-dev zlib1g-dev liblzma-dev libutf8proc-dev libcairo2-dev libjpeg62-turbo-dev \
        libmicrohttpd-dev libxml2-dev libcmocka-dev; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
    done
    need "${cc%% *}" gcc
}
page() {
    need clang clang
    need wasm-ld lld
    need /usr/lib/wasm32-wasi/libc.a wasi-libc
    ls /usr/lib/llvm-*/lib/clang/*/lib/wasi/libclang_rt.builtins-wasm32.a >/dev/null 2>&1 || missing="$missing libclang-rt-dev-wasm32"
    need node nodejs
    # Node's own packages bring npm with them, and Debian's npm does not go with those.
    command -v node >/dev/null || need npm npm
    need /usr/bin/chromium chromium fonts-dejavu-core
    need /usr/bin/firefox-esr firefox-esr
    need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    need qemu-aarch64 qemu-user
}
mpi() {
    { command -v mpicc.openmpi && command -v mpirun.openmpi; } >/dev/null || missing="$missing openmpi-bin libopenmpi-dev"
    { command -v mpicc.mpich && command -v mpirun.mpich; } >/dev/null || missing="$missing mpich libmpich-dev"
}
python() {
    need "$python" python3
    for pair in ensurepip:python3-venv pip:python3-pip setuptools:python3-setuptools wheel:python3-wheel numpy:python3-numpy \
        pytest:python3-pytest pandas:python3-pandas sklearn:python3-sklearn joblib:python3-joblib matplotlib:python3-matplotlib \
        tqdm:python3-tqdm nbconvert:python3-nbconvert ipykernel:python3-ipykernel torch:python3-torch \
        fitz:python3-fitz pdfminer:python3-pdfminer; do
        ! lacks "${pair%%:*}" || missing="$missing ${pair#*:}"
    done
}
tests() {
    need g++ g++
    need curl curl
    need readelf binutils
    need localedef locales
    need yamllint yamllint
    ls /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a >/dev/null 2>&1 || missing="$missing libclang-rt-14-dev"
    need clang-format-14 clang-format-14
}
debian() {
    need dpkg-buildpackage dpkg-dev
    need dh debhelper
    need dh_python3 dh-python
    need lintian lintian
    need mmdebstrap mmdebstrap
    need file file
    need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    need qemu-aarch64 qemu-user
    need xz xz-utils
}
container() {
    need podman podman runc
    need buildah buildah
}
for part; do "$part"; done

if [ -n "$missing" ]; then
    root=
    [ "$(id -u)" = 0 ] || root=sudo
    if ! command -v apt-get >/dev/null; then
        echo "setup: there is no apt-get here; Debian's names of what is missing:$missing" >&2
    elif [ -n "$root" ] && ! command -v sudo >/dev/null; then
        echo "setup: these packages are missing and only root can install them:$missing" >&2
    else
        echo "setup: installing with apt-get:$missing"
        # A new machine has no package lists; with old lists the installation may still work.
        [ -n "$(find "$folder/setup.updated" -mmin -60 2>/dev/null)" ] ||
            { $root env DEBIAN_FRONTEND=noninteractive apt-get update -qq && : >"$folder/setup.updated"; } ||
            echo "setup: apt-get update failed; continuing" >&2
        install() { # PACKAGE...
            $root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >"$folder/setup.log" 2>&1
        }
        # One that cannot be installed does not keep the others away.
        # shellcheck disable=SC2086 # the list is meant to be split
        install $missing || for package in $missing; do
            install "$package" || { tail -5 "$folder/setup.log" >&2; echo "setup: not installed: $package" >&2; }
        done
    fi
fi

for part; do
    case $part in
    build)
        can_link && continue
        echo "setup: '$cc' cannot link a program with jansson, zlib, liblzma, utf8proc, cairo, libjpeg-turbo, libmicrohttpd, libxml2 and cmocka:" >&2
        cat "$folder/setup.log" >&2
        exit 1
        ;;
    page)
        [ -d tests/web/node_modules/playwright-core ] || ! command -v npm >/dev/null || {
            echo "setup: installing with npm: playwright-core"
            npm ci --prefix tests/web --no-audit --no-fund --loglevel=error || echo "setup: not installed: playwright-core" >&2
        }
        ;;
    python)
        # Not in Debian 12. Beside the other packages, for tests/python_reads.py alone.
        ! lacks safetensors || [ -d "$folder/packages/safetensors" ] ||
            "$python" -m pip install --quiet --disable-pip-version-check --retries 0 --timeout 20 --no-deps \
                --target "$folder/packages" safetensors 2>"$folder/setup.log" ||
            echo "setup: not installed: Python's safetensors, no index of packages can be reached" >&2
        for module in venv ensurepip pip setuptools wheel numpy pytest; do
            ! lacks $module || { echo "$python has no module $module"; exit 2; }
        done
        ;;
    esac
done
exit 0
