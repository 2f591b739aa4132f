# make check-portable: compiles the CPU-dependent code for another CPU (ARM), to check that nothing assumes x86-64,
# and tests kernels and whole networks under QEMU, statically linked, since the other CPU's libraries are not
# installed here.
OTHER_CC   ?= aarch64-linux-gnu-gcc
OTHER_RUN  ?= qemu-aarch64
OTHER_TEST := $(addprefix src/engine/kernels/,plain.c avx2.c avx512.c neon.c simd128.c pick.c batch_size.c) src/engine/base/choice.c src/engine/base/rng.c \
              tests/test_kernels.c
OTHER_OBJ  := $(OTHER_TEST:%.c=$(B)/other/%.o)
# Whole nets: the engine, with what replaces the libraries of the operating system in WebAssembly.
OTHER_OWN  := $(filter-out src/front/wasm/exports.c,$(sort $(wildcard src/front/wasm/*.c)))
OTHER_NET  := $(filter-out $(OTHER_OWN:src/front/wasm/%=src/engine/base/%),$(filter src/engine/%,$(LIB_SRC))) $(OTHER_OWN) tests/portable/host.c tests/test_whole_net.c
OTHER_NETS := $(OTHER_NET:%.c=$(B)/other/%.o)
# What depends on the CPU and is in neither test is compiled alone.
OTHER_SRC  := $(filter-out $(OTHER_NET),$(filter src/engine/base/% src/engine/kernels/% src/engine/decode/%,$(LIB_SRC)))

$(B)/other/%.o: %.c
	@mkdir -p $(@D)
	$(call say,OTHER $<)
	$(Q)$(OTHER_CC) $(CPPFLAGS) -Itests/portable -Itests -std=c11 -O1 -ffp-contract=off $(OTHER_OPT) $(WARN) -Werror -MMD -MP -c $< -o $@

$(B)/other/src/engine/kernels/%.o: OTHER_OPT := -O2
$(B)/other/test_kernels: $(OTHER_OBJ)
	$(Q)$(OTHER_CC) -static $^ -lm -pthread -o $@

$(B)/other/src/front/wasm/unicode.o: WARN += -Wno-attributes
$(B)/other/test_whole_net: $(OTHER_NETS)
	$(Q)$(OTHER_CC) -static $^ -lm -pthread -o $@

-include $(OTHER_OBJ:.o=.d) $(OTHER_NETS:.o=.d)

check-portable:
	@if ! command -v $(OTHER_CC) >/dev/null; then \
	    echo "skipped: no $(OTHER_CC) here (Debian: gcc-aarch64-linux-gnu), nothing was compiled for another CPU"; \
	else \
	    mkdir -p $(B) && for f in $(OTHER_SRC); do \
	        $(OTHER_CC) $(CPPFLAGS) -std=c11 -O1 $(WARN) -Werror -c $$f -o $(B)/portable.o || exit 1; done && \
	    rm -f $(B)/portable.o && echo "$(words $(OTHER_SRC)) passed, 0 failed"; fi
	@if ! command -v $(OTHER_CC) >/dev/null || ! command -v $(OTHER_RUN) >/dev/null; then \
	    echo "skipped: no $(OTHER_CC) with $(OTHER_RUN) here (Debian: qemu-user), its kernels were not tested"; \
	else $(MAKE) --no-print-directory -s -j$$(nproc) $(B)/other/test_kernels $(B)/other/test_whole_net && \
	    $(OTHER_RUN) $(B)/other/test_kernels && $(OTHER_RUN) $(B)/other/test_whole_net; fi

CHECKS    += check-portable
.PHONY: check-portable
