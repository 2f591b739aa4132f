# Builds and runs most tests of `make check`: unit tests, the command line (tests/cli), gradients in double, examples and
# documents, files read by Python, page files, failing allocations, and compilation by clang. make golden: writes the
# expected values by PyTorch.

# ---- Units: each tests/test_NAME.c is a cmocka program, linked with the objects that it uses, of all but the program's
# main. The other tests/*.c are helpers that every test may use.
TEST_SRC  := $(sort $(wildcard tests/test_*.c))
TEST_BIN  := $(TEST_SRC:%.c=$(B)/%)
TEST_HELP := $(filter-out $(TEST_SRC),$(sort $(wildcard tests/*.c)))
TEST_OBJ  := $(TEST_HELP:%.c=$(B)/%.o) $(B)/tests/all.a

$(B)/tests/%.o: CPPFLAGS += -Itests

# An archive, from which the linker takes what a test needs: half the time and a sixtieth of the space of linking all.
$(B)/tests/all.a: $(filter-out $(B)/src/front/cli/main.o,$(LIB_OBJ) $(CLI_OBJ))
	@mkdir -p $(@D)
	$(Q)rm -f $@ && ar rcs $@ $^

$(B)/tests/test_%: tests/test_%.c $(TEST_OBJ)
	@mkdir -p $(@D)
	$(call say,CC $<)
	$(Q)$(CC) $(CPPFLAGS) -Itests $(ALLCFLAGS) -MMD -MP $< $(TEST_OBJ) $(LDFLAGS) -lcmocka $(LIB_LIBS) $(CLI_LIBS) -o $@

-include $(TEST_BIN:%=%.d) $(TEST_HELP:%.c=$(B)/%.d)

# Make would delete them as intermediate files.
.SECONDARY: $(TEST_HELP:%.c=$(B)/%.o)

check-unit: $(TEST_BIN)
	@status=0; for t in $(TEST_BIN); do echo "== $$t"; $$t || status=1; done; exit $$status

CHECKS    += check-unit

.PHONY: check-unit

# ---- The program: tests/cli/*.case
CHECKS    += check-cli
check-cli: $(PROGRAM)
	@ORDERNET=$(PROGRAM) tests/cli/run.sh

.PHONY: check-cli

# ---- The network in double, with the plain kernels alone: gradients against finite differences.
DOUBLE_SRC := src/engine/kernels/plain.c src/engine/kernels/batch_size.c src/engine/kernels/weights.c src/engine/kernels/relative.c $(wildcard src/engine/kernels/cpu*.c)
DOUBLE_OBJ := $(DOUBLE_SRC:%.c=$(B)/double/%.o)
DOUBLE_REST  := $(filter-out $(B)/src/engine/kernels/% $(B)/src/engine/train/% $(B)/src/engine/decode/% $(B)/src/engine/evaluate/% $(B)/src/engine/tune/% $(B)/src/tasks/%,$(LIB_OBJ)) $(B)/tests/paper_form.o

$(B)/double/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC $<)
	$(Q)$(CC) $(CPPFLAGS) -Itests -DONET_REAL=double $(ALLCFLAGS) -MMD -MP -c $< -o $@

$(B)/tests/double_gradients: $(B)/double/tests/double/test_gradients.o $(DOUBLE_OBJ) $(DOUBLE_REST)
	@mkdir -p $(@D)
	$(call say,LD $@)
	$(Q)$(CC) $(SAN) $^ $(LDFLAGS) -lcmocka $(LIB_LIBS) -o $@

-include $(DOUBLE_OBJ:.o=.d) $(B)/double/tests/double/test_gradients.d

check-double: $(B)/tests/double_gradients
	@$<

CHECKS    += check-double
EARLY_BUILDS += $(B)/tests/double_gradients
.PHONY: check-double

# Makes tests/golden.safetensors again. It is committed, so that `make check` needs no PyTorch.
PYTHON_TORCH ?= /usr/bin/python3

golden:
	$(PYTHON_TORCH) reference/make_golden.py

.PHONY: golden

# ---- Examples and documents
# The examples use only the public header and library, like a user's program.
EXAMPLES  := $(patsubst %.c,$(B)/%,$(wildcard examples/*.c))

$(B)/examples/%: examples/%.c $(wildcard include/*.h) libordernet.so
	@mkdir -p $(@D)
	$(call say,CC $<)
	$(Q)$(CC) -std=c11 $(WARN) $(CFLAGS) $(SAN) -Iinclude $< -L. -lordernet -o $@

CHECKS    += check-examples
check-examples: $(EXAMPLES)
	@B=$(B) sh tests/examples.sh

.PHONY: check-examples

# Runs the examples of the documents, and checks that examples/data is what its script makes.
CHECKS    += check-docs
check-docs: ordernet
	@sh tests/docs.sh $(wildcard README.md docs/*.md)
	@mkdir -p $(B)/data && sh examples/data/make.sh $(B)/data
	@for f in $(B)/data/*.jsonl $(B)/data/town.csv; do cmp $$f examples/data/$$(basename $$f) || exit 1; done
	@echo "1 passed, 0 failed"

.PHONY: check-docs

# ---- Files
# Python reads what ordernet writes: without any package, and with NumPy and safetensors.
check-python-reads: ordernet
	@mkdir -p $(B)/tests
	@if ! command -v $(PYTHON) >/dev/null; then echo "skipped: no $(PYTHON) here, what ordernet writes was not read by Python"; exit 0; fi; set -e; \
	./ordernet convert tests/data/deflated.npz $(B)/tests/sets.safetensors; \
	./ordernet convert $(B)/tests/sets.safetensors $(B)/tests/sets.npz; \
	PYTHONPATH=$(B)/packages $(PYTHON) tests/python_reads.py $(B)/tests/sets.safetensors $(B)/tests/sets.npz $(wildcard models/*.safetensors)
CHECKS += check-python-reads

.PHONY: check-python-reads

# Orders page files: nothing but the order may change in them.
check-pages: $(PROGRAM)
	@tests/pages/run.sh ./$(PROGRAM)
CHECKS += check-pages

.PHONY: check-pages

# ---- Memory
# Out of memory: every command with its allocations failing in turn (tests/oom): one of nineteen, which takes half a minute;
# all of them with OOM_EVERY=1.
OOM_EVERY ?= 19

$(B)/tests/oom.so: tests/oom/preload.c
	@mkdir -p $(@D)
	$(call say,CC $<)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -shared -fPIC -O1 $(WARN) $< -o $@

check-oom: $(PROGRAM) $(B)/tests/oom.so
	@ORDERNET=$(PROGRAM) OOM_EVERY=$(OOM_EVERY) tests/oom/run.sh $(B)/tests/oom.so
	@if nm -D $(PROGRAM) 2>/dev/null | grep -q __asan_init; then echo "skipped: AddressSanitizer owns malloc in this build"; \
	else ORDERNET=$(PROGRAM) OOM_EVERY=$(OOM_EVERY) /usr/bin/python3 tests/oom/serve.py $(B)/tests/oom.so; fi

CHECKS    += check-oom
.PHONY: check-oom

# ---- Another compiler
# make check-clang: the sources of the program, the library and the unit tests are read by clang too, and its warnings, some of
# which gcc does not have, are errors. make check-clang-builds makes the program and the tests of them, without optimising too
# (the kernels, whose loops must be unrolled, keep their -O3).
CLANG_CHECKS := check-clang check-clang-builds
check-clang-builds: CLANG_MAKES = CFLAGS=-O0 B=$(B)/clang $(B)/clang/ordernet $(TEST_BIN:$(B)/%=$(B)/clang/%)
check-clang: CLANG_MAKES = CFLAGS=-fsyntax-only B=$(B)/clang-reads $(patsubst $(B)/%,$(B)/clang-reads/%,$(LIB_OBJ) $(CLI_OBJ) $(TEST_BIN:=.o) $(TEST_HELP:%.c=$(B)/%.o))
$(CLANG_CHECKS):
	@if ! command -v clang >/dev/null; then \
	    echo "skipped: no clang here (Debian: clang), nothing was compiled by it"; \
	else $(MAKE) --no-print-directory -s -j$$(nproc) CC=clang WERROR=1 PROGRAM=$(B)/clang/ordernet $(CLANG_MAKES) && \
	    echo "1 passed, 0 failed"; fi

CHECKS    += check-clang
LONG_CHECKS += check-clang-builds
.PHONY: $(CLANG_CHECKS)
