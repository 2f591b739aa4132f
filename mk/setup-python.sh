#!/bin/sh
# Installs with apt-get what the Python package is built and tested with. usage: PYTHON=PROGRAM mk/setup-python.sh
#   status 0: it can be built and tested; tests of the optional packages that are missing skip themselves
#   status 1: it cannot, and the reason was printed
python=${PYTHON:-/usr/bin/python3}
packages="venv:python3-venv pip:python3-pip setuptools:python3-setuptools wheel:python3-wheel numpy:python3-numpy
    pytest:python3-pytest pandas:python3-pandas sklearn:python3-sklearn joblib:python3-joblib
    matplotlib:python3-matplotlib tqdm:python3-tqdm nbconvert:python3-nbconvert ipykernel:python3-ipykernel"

lacks() { # MODULE
    ! "$python" -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('$1') is None)" 2>/dev/null
}
can_build() {
    for module in venv ensurepip pip setuptools wheel numpy pytest; do
        ! lacks $module || { echo "$python has no module $module"; return 1; }
    done
}

missing=
for pair in $packages; do
    ! lacks "${pair%%:*}" || missing="$missing ${pair#*:}"
done
lacks ensurepip && missing="$missing python3-venv"
command -v "$python" >/dev/null || missing="python3 $missing"
if [ -n "$missing" ] && command -v apt-get >/dev/null; then
    root=
    [ "$(id -u)" = 0 ] || root=sudo
    echo "setup: installing with apt-get:" $missing
    $root env DEBIAN_FRONTEND=noninteractive apt-get update -qq || echo "setup: apt-get update failed; continuing" >&2
    # shellcheck disable=SC2086 # the list is meant to be split
    $root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing >/dev/null ||
        echo "setup: not installed:" $missing
fi
can_build
