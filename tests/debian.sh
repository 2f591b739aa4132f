#!/bin/sh
# Tests the Debian packages of `make deb`: lintian must find no error, and they are installed and tried in a
# fresh Debian system.
# usage: tests/debian.sh FOLDER SUITE
. tests/count.sh
check "lintian" lintian --fail-on error --suppress-tags initial-upload-closes-no-bugs "$1"/*.deb build/deb/*.dsc
cat >"$folder/inside" <<'END'
set -e
ordernet unscramble London was born in he . | grep 'He was born in London.'
ordernet pages order --out /tmp/ordered /usr/share/doc/ordernet/examples/data/pages
ls /tmp/ordered/*.xml
ls /usr/share/doc/python3-ordernet/python.md* /usr/share/doc/libordernet-dev/api.md* /usr/share/doc/libordernet-dev/examples/order.c /usr/share/doc/python3-ordernet/examples/ordernet.ipynb
ordernet tsp solve --geo --method ordernet --draw /tmp/tour.svg /usr/share/doc/ordernet/examples/data/capitals.csv >/dev/null
test -s /tmp/tour.svg && man -w ordernet 2>/dev/null || test -s /usr/share/man/man1/ordernet.1.gz
cat >/tmp/try.py <<'PY'
import json, subprocess, time, urllib.request
import numpy, ordernet
random = numpy.random.default_rng(1)
sets = [random.random((5, 1)) for _ in range(400)]
orders = [numpy.argsort(s[:, 0]) for s in sets]
model = ordernet.OrderNet(epochs=6).fit(sets, orders)
print("exact", model.score(sets[:100], orders[:100]))
print(ordernet.tour([[0, 0], [1, 0], [0, 1]]))
from importlib.metadata import version
assert version("ordernet") == ordernet.__version__
server = subprocess.Popen(["ordernet", "serve", "--port", "8123"], stderr=subprocess.DEVNULL)
for wait in range(50):
    try:
        page = urllib.request.urlopen("http://127.0.0.1:8123/").read()
        break
    except OSError:
        time.sleep(0.2)
words = urllib.request.urlopen("http://127.0.0.1:8123/models/words.safetensors")
assert b"OrderNet" in page and int(words.headers["Content-Length"]) > 20e6
server.terminate()
PY
python3 /tmp/try.py
END
# In a chroot alone there is no /proc.
cat >"$folder/bare" <<'END'
mount -t tmpfs none "$1/proc" && chroot "$1" ordernet unscramble to be or
END
# A set of packages, as mmdebstrap makes it, is not kept.
try() {
    mmdebstrap --quiet --variant=apt --customize-hook="cp $1/*_$3.deb $1/*_all.deb $folder/inside \"\$1\"/tmp" \
        --customize-hook='rm -f "$1"/tmp/*dbgsym*' --customize-hook='chroot "$1" sh -c "apt-get install -qq -y --no-install-recommends /tmp/*.deb"' \
        --customize-hook='chroot "$1" sh /tmp/inside' --customize-hook="unshare -m sh $folder/bare \"\$1\"" "$2" /dev/null
}
if command -v mmdebstrap >/dev/null && [ "$(id -u)" = 0 ]; then
    check "in a fresh Debian" try "$1" "$2" "$(dpkg --print-architecture)"
else
    skip "no mmdebstrap here (Debian: mmdebstrap), or not root: the packages were not installed"
fi
finish
