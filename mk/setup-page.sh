#!/bin/sh
# Installs what `make page` and its tests need (Debian packages, npm packages), and what tests the kernels of other
# CPUs. Tests whose part is missing are skipped with a reason.
missing=
need() { # COMMAND-OR-FILE PACKAGE
    command -v "$1" >/dev/null || [ -e "$1" ] || missing="$missing $2"
}
need clang clang
need wasm-ld lld
need /usr/lib/wasm32-wasi/libc.a wasi-libc
ls /usr/lib/llvm-*/lib/clang/*/lib/wasi/libclang_rt.builtins-wasm32.a >/dev/null 2>&1 || missing="$missing libclang-rt-dev-wasm32"
need node nodejs
need npm npm
need /usr/bin/chromium "chromium fonts-dejavu-core"
need aarch64-linux-gnu-gcc "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
need qemu-aarch64 qemu-user
if [ -n "$missing" ]; then
    root=
    [ "$(id -u)" = 0 ] || root=sudo
    echo "setup: installing with apt-get:$missing"
    $root env DEBIAN_FRONTEND=noninteractive apt-get update -qq || echo "setup: apt-get update failed; continuing" >&2
    # shellcheck disable=SC2086 # the list is meant to be split
    $root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing >/dev/null ||
        echo "setup: not installed:$missing"
fi
[ -d tests/page/node_modules/playwright-core ] || ! command -v npm >/dev/null || {
    echo "setup: installing with npm: playwright-core"
    npm ci --prefix tests/page --no-audit --no-fund --loglevel=error || echo "setup: not installed: playwright-core"
}
