# One data set through every format, type and front (tests/truth). The Python package runs from the source, with the library beside it.
TRUTH := $(B)/truth
check-truth: $(PROGRAM) libordernet.so $(if $(WASM_HERE),$(PAGE)/ordernet.wasm)
	@if ! $(PYTHON) -c 'import numpy' 2>/dev/null; then \
	    echo "skipped: no NumPy here (make setup-python), formats and fronts were not compared"; \
	else mkdir -p $(TRUTH)/ordernet && cp python/ordernet/*.py $(TRUTH)/ordernet && \
	    cp -L libordernet.so $(TRUTH)/ordernet/libordernet.so && \
	    ORDERNET=$(PROGRAM) PYTHONPATH=$(TRUTH) $(PYTHON) tests/truth/test_truth.py \
	        $(if $(and $(WASM_HERE),$(shell command -v node)),$(PAGE)/ordernet.wasm); fi
CHECKS    += check-truth

.PHONY: check-truth
