# Python reads what ordernet writes: without any package, and with NumPy and safetensors.
check-python-reads: ordernet
	@mkdir -p $(B)/tests
	@if ! command -v python3 >/dev/null; then echo "skipped: no python3 here, what ordernet writes was not read by Python"; exit 0; fi; set -e; \
	./ordernet convert tests/data/deflated.npz $(B)/tests/sets.safetensors; \
	./ordernet convert $(B)/tests/sets.safetensors $(B)/tests/sets.npz; \
	python3 tests/python_reads.py $(B)/tests/sets.safetensors $(B)/tests/sets.npz $(wildcard models/*.safetensors)
CHECKS += check-python-reads

.PHONY: check-python-reads
