# make page: build/page, a folder of static files with the library as WebAssembly (docs/page.md). Needs clang and lld
# with wasi-libc; `make setup-page` installs them on Debian, and Node and chromium for the tests.
WASM_CC     ?= clang
WASM_B      := $(B)/wasm
WASM_FLAGS  := --target=wasm32-wasi --sysroot=/usr -std=c11 -O2 -ffp-contract=off -fvisibility=hidden \
               -Iinclude -Isrc -D_GNU_SOURCE $(WARN)
# Files of src/base that depend on the operating system have a counterpart of the same name in src/wasm.
WASM_OWN    := $(filter-out src/wasm/page.c,$(sort $(wildcard src/wasm/*.c)))
WASM_SRC    := $(filter-out $(WASM_OWN:src/wasm/%=src/base/%),$(LIB_SRC)) $(WASM_OWN)
WASM_OBJ    := $(WASM_SRC:%.c=$(WASM_B)/%.o)
WASM_LINK   := --target=wasm32-wasi --sysroot=/usr -Wl,-z,stack-size=1048576 -Wl,--stack-first -Wl,--gc-sections
# The tests need no part of the page, and the library needs all of these.
WASM_HERE   := $(shell command -v $(WASM_CC) >/dev/null && command -v wasm-ld >/dev/null && [ -e /usr/lib/wasm32-wasi/libc.a ] && echo yes)

# The plain kernels stay plain; all else may use vectors.
$(WASM_B)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,WASM $<)
	$(Q)$(WASM_CC) $(WASM_FLAGS) -msimd128 $(WASM_K) -MMD -MP -c $< -o $@
$(WASM_B)/src/kernels/plain.o: WASM_K := -mno-simd128
$(patsubst %,$(WASM_B)/src/kernels/%.o,simd128 cpu cpu_memory cpu_optimise cpu_encoder cpu_pool cpu_decoder cpu_head weights): WASM_K := -O3
$(WASM_B)/tests/%.o: WASM_K := -Itests/portable -Itests

-include $(WASM_OBJ:.o=.d)

# Tests of the library that run in Node.
WASM_TESTS  := test_kernels
$(WASM_B)/tests/%.wasm: $(WASM_B)/tests/%.o $(WASM_OBJ)
	$(call say,LD $@)
	$(Q)$(WASM_CC) $(WASM_LINK) $^ -lm -o $@

check-wasm:
	@if [ -z "$(WASM_HERE)" ]; then \
	    echo "skipped: no clang for WebAssembly here (make setup-page), the kernels were not tested as WebAssembly"; \
	elif ! command -v node >/dev/null; then \
	    echo "skipped: no Node here (make setup-page), the kernels were not tested as WebAssembly"; \
	else $(MAKE) --no-print-directory -s -j$$(nproc) $(WASM_TESTS:%=$(WASM_B)/tests/%.wasm) && \
	    for t in $(WASM_TESTS); do node --no-warnings tests/portable/wasi.mjs $(WASM_B)/tests/$$t.wasm || exit 1; done; fi

CHECKS    += check-wasm
.PHONY: check-wasm

setup-page:
	@sh mk/setup-page.sh
.PHONY: setup-page
