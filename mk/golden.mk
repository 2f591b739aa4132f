# Makes tests/golden again. The files are committed, so that `make check` needs no PyTorch.
PYTHON_TORCH ?= /usr/bin/python3

golden:
	$(PYTHON_TORCH) reference/make_golden.py

.PHONY: golden
