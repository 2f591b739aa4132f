# Files written by the PyTorch twin are committed: `make check` needs no torch. This makes them anew.
PYTHON_TORCH ?= /usr/bin/python3

golden:
	$(PYTHON_TORCH) reference/make_golden.py

.PHONY: golden
