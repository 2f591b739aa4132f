#!/bin/sh
# Tests the wheel for ARM with Debian's Python for arm64, run by QEMU; its tag must name the glibc that the library's symbols need.
# usage: python/tests/aarch64.sh ROOT WHEEL
. tests/count.sh
root=$1 wheel=$2
/usr/bin/python3 -m zipfile -e "$wheel" "$folder/package" || exit 1
newest=$(readelf -W --dyn-syms "$folder/package/ordernet/libordernet.so" | sed -n 's/.*@GLIBC_\([0-9.]*\).*/\1/p' | sort -uV | tail -1)
check "$wheel is tagged by its symbols, which need glibc $newest" test "${wheel%_"$(echo "$newest" | tr . _)"_aarch64.whl}" != "$wheel"
cat >"$folder/try.py" <<'END'
import platform, numpy, ordernet
assert platform.machine() == "aarch64"
random = numpy.random.default_rng(1)
sets = [random.random((4, 1)) for _ in range(200)]
model = ordernet.OrderNet(epochs=6, hidden=16).fit(sets, [numpy.argsort(s[:, 0]) for s in sets])
assert sorted(model.order(sets[0])) == [0, 1, 2, 3]
assert sorted(ordernet.tour([[0, 0], [1, 0], [0, 1]])) == [0, 1, 2]
END
# Debian's alternatives are not set up in ROOT, so the folders of BLAS and LAPACK are named.
lib=$root/usr/lib/aarch64-linux-gnu
check "Python for arm64" qemu-aarch64 -L "$root" -E LD_LIBRARY_PATH="$lib/blas:$lib/lapack:$lib" -E PYTHONHOME="$root/usr" \
    -E PYTHONPATH="$folder/package:$root/usr/lib/python3/dist-packages" "$root"/usr/bin/python3.*[0-9] "$folder/try.py"
finish
