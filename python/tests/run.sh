#!/bin/sh
# Builds the wheel, installs it into a fresh virtual environment without any index, and runs the tests there.
# usage: MAKE=make PYTHON=/usr/bin/python3 python/tests/run.sh VENV PROGRAM [PYTEST-ARGUMENT ...]
venv=$1
ORDERNET=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
export ORDERNET
shift 2
if ! why=$(sh mk/setup.sh "$(dirname "$venv")" python); then
    echo "skipped: the Python package was not built: $(echo "$why" | tail -1) (make setup-python installs it)"
    exit 0
fi
$MAKE --no-print-directory -s wheel >"$(dirname "$venv").log" 2>&1 || { cat "$(dirname "$venv").log"; exit 1; }
# Debian's own packages stay visible: NumPy comes from there, since no index is asked.
rm -rf "$venv"
"$PYTHON" -m venv --system-site-packages "$venv" || exit 1
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-index dist/*_"$(uname -m)".whl || exit 1
# In this folder, the source of the package is not what Python imports.
cd python/tests && exec "../../$venv/bin/python" -m pytest -q -p no:cacheprovider "$@"
