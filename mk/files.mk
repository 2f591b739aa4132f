# What ordernet writes is read by others: Python, without any package or with NumPy and safetensors.
check-python-reads: ordernet
	@mkdir -p $(B)/tests
	@if ! command -v python3 >/dev/null; then echo "skipped: no python3 on this machine"; exit 0; fi; set -e; \
	./ordernet convert tests/data/deflated.npz $(B)/tests/sets.safetensors; \
	./ordernet convert $(B)/tests/sets.safetensors $(B)/tests/sets.npz; \
	python3 tests/python_reads.py $(B)/tests/sets.safetensors $(B)/tests/sets.npz $(wildcard models/*.safetensors)
CHECKS += check-python-reads

.PHONY: check-python-reads
