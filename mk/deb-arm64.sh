#!/bin/sh
# Cross-builds the Debian packages for arm64 in a fresh Debian system for amd64, which has arm64 as its second CPU, and tries
# them there by QEMU. Python is not tried, since Debian's for arm64 cannot be set up without running it as arm64's own.
# usage: mk/deb-arm64.sh FOLDER-WITH-SOURCE ordernet-VERSION SUITE FOLDER-OF-PACKAGES
folder=$1 source=$2 suite=$3 packages=$4
cat >"$folder/inside" <<END
set -e
export DEBIAN_FRONTEND=noninteractive
cd /build/$source
apt-get build-dep -qq -y --no-install-recommends -a arm64 -P cross --arch-only ./ >/build/log 2>&1 || { tail -30 /build/log; exit 1; }
dpkg-buildpackage -a arm64 -B -us -uc -j\$(nproc) >/build/log 2>&1 || { tail -30 /build/log; exit 1; }
cd /build
rm -f *dbgsym*
dpkg-deb -c python3-ordernet_*_arm64.deb | grep -c 'dist-packages/ordernet/__init__.py\|dist-packages/ordernet/libordernet.so\|dist-info/METADATA' | grep -x 3
apt-get install -y --no-install-recommends ./ordernet_*_arm64.deb ./libordernet1_*_arm64.deb ./libordernet-dev_*_arm64.deb ./ordernet-models_*_all.deb \
    >/build/log 2>&1 || { tail -30 /build/log; exit 1; }
file -L /usr/bin/ordernet 2>/dev/null || true
qemu-aarch64 /usr/bin/ordernet unscramble London was born in he . | grep 'He was born in London.'
qemu-aarch64 /usr/bin/ordernet pages order --out /build/ordered $source/examples/data/pages
ls /build/ordered/*.xml
qemu-aarch64 /usr/bin/ordernet tsp solve --geo --method ordernet --draw /build/tour.svg $source/examples/data/capitals.csv >/dev/null
test -s /build/tour.svg
aarch64-linux-gnu-gcc $source/examples/order.c -lordernet -o /build/order
qemu-aarch64 /build/order /usr/share/ordernet/models/tsp.safetensors 0 0 1 1 0 1 1 0
END
ls "$packages"/ordernet-models_*_all.deb >/dev/null || { echo "make deb builds the models, which are for all CPUs: it comes first"; exit 1; }
mmdebstrap --quiet --variant=apt --architectures=amd64,arm64 --include=build-essential,crossbuild-essential-arm64,qemu-user \
    --customize-hook='mkdir "$1/build"' --customize-hook="cp -r $folder/$source $folder/inside $packages/ordernet-models_*_all.deb \"\$1/build\"" \
    --customize-hook='chroot "$1" sh /build/inside' --customize-hook="cp \"\$1\"/build/*_arm64.deb $packages" "$suite" /dev/null
