#!/bin/sh
# Checks that the compiler finds every library; on Debian and its derivatives it installs what is missing.
# usage: mk/setup.sh CC FOLDER
cc=$1
folder=$2
packages="libc6-dev libjansson-dev zlib1g-dev liblzma-dev libutf8proc-dev libcairo2-dev libjpeg62-turbo-dev libmicrohttpd-dev libxml2-dev libcmocka-dev"

# Tests whether a program with all libraries can be linked, whatever packages are installed.
can_link() {
    mkdir -p "$folder" && cat >"$folder/setup.c" <<'END' || exit 4
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
    "$cc" -I/usr/include/libxml2 "$folder/setup.c" -ljansson -lxml2 -lz -llzma -lutf8proc -lcairo -ljpeg -lmicrohttpd -lcmocka -lm -o "$folder/setup" \
        >"$folder/setup.log" 2>&1
}

can_link && exit 0

if ! command -v apt-get >/dev/null; then
    cat >&2 <<END
setup: '$cc' does not find all the libraries (see $folder/setup.log), and there is no apt-get here.
Install jansson, zlib, liblzma, utf8proc, cairo, libjpeg-turbo, libmicrohttpd, libxml2 and cmocka with their headers, then try again.
END
    exit 1
fi

missing=
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
command -v "$cc" >/dev/null || missing="$missing gcc"
if [ -z "$missing" ]; then
    echo "setup: all packages are installed, but '$cc' cannot link a program with them:" >&2
    cat "$folder/setup.log" >&2
    exit 1
fi

root=
[ "$(id -u)" = 0 ] || root=sudo
if [ -n "$root" ] && ! command -v sudo >/dev/null; then
    echo "setup: these packages are missing and only root can install them:$missing" >&2
    exit 1
fi
echo "setup: installing with apt-get:$missing"
# A new machine has no package lists; with old lists the installation may still work.
$root env DEBIAN_FRONTEND=noninteractive apt-get update -qq || echo "setup: apt-get update failed; continuing" >&2
# shellcheck disable=SC2086 # the list is meant to be split
if ! $root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing \
    >"$folder/setup.log" 2>&1; then
    tail -20 "$folder/setup.log" >&2
    echo "setup: apt-get could not install:$missing" >&2
    exit 1
fi
can_link && exit 0
echo "setup: the packages are installed, but '$cc' cannot link a program with them:" >&2
cat "$folder/setup.log" >&2
exit 1
