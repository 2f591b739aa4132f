# Builds and tests the Python package: `make wheel` builds dist/ordernet-VERSION-py3-none-PLATFORM.whl and the
# sdist, `make check-python` installs the wheel into a fresh virtual environment and runs python/tests there,
# `make check-sdist` builds a wheel of the sdist alone, `make wheel-aarch64` cross-compiles the wheel for ARM, `make
# bench-python` measures the package. No package index is used.
PYTHON      ?= /usr/bin/python3
PYTHON_LIB  := $(B)/python/libordernet.so
PYTHON_VENV := $(B)/python/venv
# Libraries that a machine may lack are linked in, and its symbols are hidden from Python's own zlib.
STATIC_LIBS := -Wl,-Bstatic -lz -llzma -lutf8proc -Wl,-Bdynamic -lm -ldl -pthread

$(PYTHON_LIB): $(LIB_OBJ)
	@mkdir -p $(@D)
	$(call say,LD $@)
	$(Q)$(CC) $(SAN) -shared -Wl,-soname,libordernet.so -Wl,--exclude-libs,ALL -Wl,--strip-debug $^ $(LDFLAGS) $(STATIC_LIBS) -o $@

# build/lib is removed first: setuptools would take what another build left there into the wheel.
wheel: $(PYTHON_LIB) sdist
	@rm -rf build/lib build/bdist.* dist/*_$(CPU).whl
	$(call say,WHEEL dist)
	$(Q)$(PYTHON) -m pip wheel --quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation --wheel-dir dist .
	@ls dist
sdist:
	@# What setuptools remembers of an earlier one would hide what is missing.
	@rm -rf dist/*.tar.gz python/ordernet.egg-info && mkdir -p dist $(B)/python
	$(Q)$(PYTHON) -c 'from setuptools import build_meta; build_meta.build_sdist("dist")' >$(B)/python/sdist.log 2>&1 || \
	    { cat $(B)/python/sdist.log; exit 1; }

wheel-aarch64: setup-debian $(ARM64)/usr/lib
	$(Q)$(CROSS) -s -j$$(nproc) build/aarch64/python/libordernet.so
	@rm -rf build/lib build/bdist.* dist/*_aarch64.whl
	$(Q)ORDERNET_LIBRARY=build/aarch64/python/libordernet.so $(PYTHON) -m pip wheel --quiet --disable-pip-version-check --no-index \
	    --no-deps --no-build-isolation --wheel-dir dist .
	@ls dist

# Debian's Python for arm64 orders with that wheel, by QEMU.
LONG_CHECKS += check-wheel-aarch64
check-wheel-aarch64:
	@if ! command -v qemu-aarch64 >/dev/null || ! command -v aarch64-linux-gnu-gcc >/dev/null; then \
	    echo "skipped: no aarch64-linux-gnu-gcc with qemu-aarch64 here (make setup-page), the wheel for ARM was not built"; \
	else $(MAKE) --no-print-directory wheel-aarch64 && sh python/tests/aarch64.sh $(ARM64) dist/*_aarch64.whl; fi

check-python: $(PROGRAM) libordernet.so
	@MAKE='$(MAKE)' PYTHON='$(PYTHON)' sh python/tests/run.sh $(PYTHON_VENV) ./$(PROGRAM)

# Measures the package against the C call and the command; needs the virtual environment of check-python.
bench-python: $(PROGRAM)
	@[ -x $(PYTHON_VENV)/bin/python ] || $(MAKE) --no-print-directory check-python
	@ORDERNET=./$(PROGRAM) $(PYTHON_VENV)/bin/python bench/python.py

# The sdist has every file of the folders that a build needs, and a wheel is made of it alone, quickly rather than fast, and used.
check-sdist-files check-sdist:
	@MAKE='$(MAKE)' PYTHON='$(PYTHON)' sh python/tests/sdist.sh $(B)/python/sdist $@

# One after the other, since both build dist.
CHECKS    += check-package
LONG_CHECKS += check-sdist
check-package:
	@$(MAKE) --no-print-directory -k check-python check-sdist-files

clean: clean-python
clean-python:
	rm -rf dist python/ordernet.egg-info

.PHONY: wheel sdist wheel-aarch64 check-wheel-aarch64 bench-python check-python check-sdist-files check-sdist check-package clean-python
