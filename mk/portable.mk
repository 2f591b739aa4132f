# The code that depends on the CPU, compiled for another one: nothing may assume x86-64.
OTHER_CC  ?= aarch64-linux-gnu-gcc
OTHER_SRC := $(filter src/base/% src/kernels/% src/decode/%,$(LIB_SRC)) bench/bf16.c

check-portable:
	@if ! command -v $(OTHER_CC) >/dev/null; then \
	    echo "skipped: no $(OTHER_CC) here (Debian: gcc-aarch64-linux-gnu), nothing was compiled for another CPU"; \
	else \
	    mkdir -p $(B) && for f in $(OTHER_SRC); do \
	        $(OTHER_CC) $(CPPFLAGS) -std=c11 -O1 $(WARN) -Werror -c $$f -o $(B)/portable.o || exit 1; done && \
	    rm -f $(B)/portable.o && echo "$(words $(OTHER_SRC)) passed, 0 failed"; fi

CHECKS    += check-portable
.PHONY: check-portable
