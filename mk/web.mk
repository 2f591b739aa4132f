# make page: builds build/page, a folder of static files with the library as WebAssembly (docs/browser.md).
# check-wasm and check-page test it in Node and in browsers; check-truth compares the answers of all formats and
# front ends; bench-wasm measures it. Needs clang and lld with wasi-libc; `make setup-page` installs them on Debian,
# and Node, Chromium and Firefox for the tests.
WASM_CC     ?= clang
WASM_B      := $(B)/wasm
PAGE        := $(B)/page
WASM_FLAGS  := --target=wasm32-wasi --sysroot=/usr -std=c11 -Oz -ffp-contract=off -fvisibility=hidden \
               -Iinclude -Isrc -D_GNU_SOURCE $(WARN) -Wno-shorten-64-to-32 -Wno-double-promotion
# size_t has 32 bits there: sizes are checked where they are read, not where they are narrowed.
# Files of src/engine/base that depend on the operating system have a counterpart of the same name in src/front/wasm.
WASM_ENTRY  := src/front/wasm/exports.c $(sort $(wildcard src/tasks/*/wasm/*.c))
WASM_OWN    := $(filter-out $(WASM_ENTRY),$(sort $(wildcard src/front/wasm/*.c)))
WASM_SRC    := $(filter-out $(WASM_OWN:src/front/wasm/%=src/engine/base/%),$(LIB_SRC)) $(WASM_OWN)
WASM_OBJ    := $(WASM_SRC:%.c=$(WASM_B)/%.o)
WASM_LINK   := --target=wasm32-wasi --sysroot=/usr -Wl,-z,stack-size=1048576 -Wl,--stack-first -Wl,--gc-sections
# The browser page reads and writes the files of the program's tasks with the same code. tests/header.sh reads this list too.
WASM_TASKS  := src/tasks/tours/geo.c src/tasks/tours/load.c src/tasks/tours/matrix.c src/tasks/tours/tsplib.c src/tasks/layout/alto.c src/tasks/layout/file.c src/tasks/layout/hocr.c src/tasks/layout/html.c src/tasks/layout/names.c src/tasks/layout/page_xml.c src/tasks/layout/page_xml_order.c src/tasks/layout/text.c src/tasks/layout/xml.c
WASM_PAGE   := $(patsubst %.c,$(WASM_B)/%.o,$(WASM_ENTRY) $(WASM_TASKS)) $(WASM_OBJ)
WASM_HERE   := $(shell command -v $(WASM_CC) >/dev/null && command -v wasm-ld >/dev/null && [ -e /usr/lib/wasm32-wasi/libc.a ] && \
               [ -e "$$($(WASM_CC) --target=wasm32-wasi --rtlib=compiler-rt -print-libgcc-file-name)" ] && echo yes)

$(WASM_B)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,WASM $<)
	$(Q)$(WASM_CC) $(WASM_FLAGS) -msimd128 $(WASM_K) -MMD -MP -c $< -o $@
# Fast code for what takes the time, small code (-Oz) for all else. The plain kernels stay plain: no SIMD.
$(patsubst %,$(WASM_B)/src/%.o,engine/decode/encode engine/decode/search tasks/tours/solve/subtree tasks/tours/solve/matching): WASM_K := -O2
$(patsubst %,$(WASM_B)/src/engine/kernels/%.o,simd128 weights $(notdir $(basename $(wildcard src/engine/kernels/cpu*.c)))): WASM_K := -O3
$(WASM_B)/src/engine/kernels/plain.o: WASM_K := -O3 -mno-simd128
$(WASM_B)/tests/%.o: WASM_K := -Itests/portable -Itests
# Exported to JavaScript, which needs no prototypes.
$(WASM_ENTRY:%.c=$(WASM_B)/%.o): WASM_K := -Wno-missing-prototypes
# Headers that replace libxml2's.
$(WASM_B)/src/tasks/layout/%.o: WASM_FLAGS += -Isrc/tasks/layout/wasm

-include $(WASM_PAGE:.o=.d)

# ---- The browser page

# The word model is not part of the list that the service worker keeps from the start.
PAGE_FILES  := $(filter-out sw.js,$(notdir $(wildcard web/*)))
PAGE_SAMPLES := $(patsubst examples/data/pages/%,examples/%,$(sort $(wildcard examples/data/pages/*.xml)))
PAGE_KEPT   := $(PAGE_FILES) ordernet.wasm models/tours.safetensors models/pages.safetensors $(PAGE_SAMPLES) LICENSE.txt
PAGE_NAMES  := $(PAGE_KEPT) models/words.safetensors sw.js
PAGE_ALL    := $(addprefix $(PAGE)/,$(PAGE_NAMES))

$(PAGE)/ordernet.wasm: $(WASM_PAGE)
	@mkdir -p $(@D)
	$(call say,LD $@)
	$(Q)$(WASM_CC) $(WASM_LINK) -mexec-model=reactor -Wl,--strip-all -Wl,--compress-relocations $^ -lm -o $@

$(addprefix $(PAGE)/,$(filter-out %.js,$(PAGE_FILES))): $(PAGE)/%: web/%
	@mkdir -p $(@D)
	$(Q)cp $< $@

# Copied without indentation and comment lines.
$(addprefix $(PAGE)/,$(filter %.js,$(PAGE_FILES))): $(PAGE)/%: web/%
	@mkdir -p $(@D)
	$(Q)sed -e 's/^ *//' -e '/^\/\//d' -e '/^\/\*\*.*\*\/$$/d' -e '/^\/\*\*/,/\*\/$$/d' $< > $@

$(PAGE)/LICENSE.txt: LICENSE
	@mkdir -p $(@D)
	$(Q)cp $< $@
$(PAGE)/examples/%: examples/data/pages/%
	@mkdir -p $(@D)
	$(Q)cp $< $@
$(PAGE)/models/%: models/%
	@mkdir -p $(@D)
	$(Q)cp $< $@

# A change of any file changes the name of the cache, so that browsers fetch all of them anew.
$(PAGE)/sw.js: web/sw.js $(addprefix $(PAGE)/,$(PAGE_KEPT)) models/words.safetensors
	$(call say,SW $@)
	$(Q)sed -e "s/@VERSION@/$$(cd $(PAGE) && cat $(PAGE_KEPT) | sha256sum | cut -c 1-16)/" \
	    -e "s/@WORDS@/$$(sha256sum models/words.safetensors | cut -c 1-16)/" \
	    -e 's|@FILES@|$(PAGE_KEPT:%="%",)|' web/sw.js > $@

page: $(PAGE_ALL)

# The browser page as one download, to unpack on a web server. The bytes are the same for one commit.
page-archive: page
	@mkdir -p dist
	$(call say,TAR dist/ordernet-page-$(VERSION).tar.xz)
	$(Q)$(TAR) -C $(PAGE) --transform 's,^,ordernet-page-$(VERSION)/,' $(sort $(PAGE_NAMES)) | xz -9e -T1 > dist/ordernet-page-$(VERSION).tar.xz
dist: $(if $(WASM_HERE),page-archive)
ifeq ($(WASM_HERE),)
$(WASM_PAGE): no-wasm
no-wasm:
	@echo "make page needs clang for WebAssembly (Debian: clang, lld, wasi-libc, libclang-rt-dev-wasm32); make setup-page installs it" >&2; exit 1
.PHONY: no-wasm
endif

# ---- Tests

# Tests of the library that run in Node.
WASM_TESTS  := test_kernels test_whole_net
$(WASM_B)/%.wasm: $(WASM_B)/%.o $(WASM_OBJ)
	$(call say,LD $@)
	$(Q)$(WASM_CC) $(WASM_LINK) $^ -lm -o $@

check-wasm:
	@if [ -z "$(WASM_HERE)" ]; then \
	    echo "skipped: no clang for WebAssembly here (make setup-page), the kernels were not tested as WebAssembly"; \
	elif ! command -v node >/dev/null; then \
	    echo "skipped: no Node here (make setup-page), the kernels were not tested as WebAssembly"; \
	else $(MAKE) --no-print-directory -s -j$$(nproc) $(WASM_TESTS:%=$(WASM_B)/tests/%.wasm) && \
	    for t in $(WASM_TESTS); do node --no-warnings tests/portable/wasi.mjs $(WASM_B)/tests/$$t.wasm || exit 1; done; fi

# The browser page itself, in each browser that is here.
BROWSERS    := $(if $(wildcard $(or $(CHROMIUM),/usr/bin/chromium)),chromium) $(if $(wildcard $(or $(FIREFOX),/usr/bin/firefox-esr)),firefox)
check-page: check-page-chromium check-page-firefox
check-page-chromium check-page-firefox: check-page-%:
	@if [ -z "$(WASM_HERE)" ]; then \
	    echo "skipped: no clang for WebAssembly here (make setup-page), the page was not built"; \
	elif ! command -v node >/dev/null || [ ! -d tests/web/node_modules/playwright-core ]; then \
	    echo "skipped: no Node with playwright-core here (make setup-page), the page was not tested"; \
	elif [ -z "$(filter $*,$(BROWSERS))" ]; then \
	    echo "skipped: no $* here (make setup-page), the page was not tested in it"; \
	else $(MAKE) --no-print-directory -s -j$$(nproc) page $(PROGRAM) && BROWSER=$* node tests/web/test.mjs $(PAGE) ./$(PROGRAM); fi

# One data set through every format, type and front (tests/truth). The Python package runs from the source, with the library beside it.
TRUTH := $(B)/truth
check-truth: $(PROGRAM) libordernet.so $(if $(WASM_HERE),$(PAGE)/ordernet.wasm)
	@if ! $(PYTHON) -c 'import numpy' 2>/dev/null; then \
	    echo "skipped: no NumPy here (make setup-python), formats and fronts were not compared"; \
	else mkdir -p $(TRUTH)/ordernet && cp python/ordernet/*.py $(TRUTH)/ordernet && \
	    cp -L libordernet.so $(TRUTH)/ordernet/libordernet.so && \
	    ORDERNET=$(PROGRAM) PYTHONPATH=$(TRUTH) $(PYTHON) tests/truth/test_truth.py \
	        $(if $(and $(WASM_HERE),$(shell command -v node)),$(PAGE)/ordernet.wasm); fi

# simd128 against plain WebAssembly and against AVX2, in Node.
bench-wasm: $(WASM_B)/bench/speed.wasm $(B)/bench/speed
	node bench/wasm.mjs $^ $(BENCH_ARGS)

CHECKS    += check-wasm check-page-chromium check-page-firefox check-truth
CHECK_BUILDS += $(if $(WASM_HERE),page)
.PHONY: page page-archive check-wasm check-page check-page-chromium check-page-firefox bench-wasm
