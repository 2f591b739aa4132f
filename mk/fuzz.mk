# Each fuzz/fuzz_NAME.c feeds bytes to one reader. `make fuzz-NAME` searches for bytes that break it (clang's
# libFuzzer, SECONDS=30 long) and adds new inputs to build/fuzz/corpus/NAME; `make fuzz-all SECONDS=N` does so for each
# in turn and sums up; `make fuzz-keep` keeps what reaches new code in the archives fuzz/corpus/NAME.tar.gz; `make check-corpus`
# replays the files of the archives, seeds and past findings, with any compiler.
FUZZ_SECONDS := $(or $(SECONDS),30)
FUZZ_NAMES   := $(patsubst fuzz/fuzz_%.c,%,$(sort $(wildcard fuzz/fuzz_*.c)))
FUZZ_H       := $(wildcard fuzz/*.h) tests/json_oracle.h
FUZZ_SAN     := address,undefined
# The folders of readers only: the kernels take minutes to build with sanitizers and read no files.
FUZZ_OBJ     := $(filter $(foreach d,base words data model,$(B)/src/engine/$(d)/%) $(B)/src/tasks/words/sentence/%,$(LIB_OBJ))
# The readers of pages, without what needs the network.
FUZZ_OBJ     += $(filter-out $(addprefix $(B)/src/tasks/layout/,order/choose.o order/pages.o cmd_%),$(filter $(B)/src/tasks/layout/%,$(LIB_OBJ) $(CLI_OBJ)))
# Other objects that some targets need.
FUZZ_MORE    := $(addprefix $(B)/src/,app/chart.o app/canvas.o app/options.o tasks/tours/matrix.o tasks/tours/tsplib.o tasks/tours/solve/instance.o \
                tasks/words/readings.o engine/train/identity.o engine/train/choices.o)
REPLAY_BIN   := $(FUZZ_NAMES:%=$(B)/fuzz/replay_%)

# The objects that a target does not use are left out by the linker.
$(B)/fuzz/more.a: $(FUZZ_OBJ) $(FUZZ_MORE)
	@mkdir -p $(@D)
	$(Q)rm -f $@ && ar rcs $@ $^

$(B)/fuzz/replay_%: fuzz/fuzz_%.c fuzz/replay.c $(FUZZ_H) $(B)/fuzz/more.a
	@mkdir -p $(@D)
	$(call say,CC $<)
	$(Q)$(CC) $(CPPFLAGS) $(ALLCFLAGS) $(filter %.c %.o,$^) $(filter %.a,$^) $(LDFLAGS) $(LIB_LIBS) $(CLI_LIBS) -o $@

# The folder is emptied first: what an older archive held is not replayed.
$(B)/fuzz/seeds/%.unpacked: fuzz/corpus/%.tar.gz
	@rm -rf $(@:.unpacked=) && mkdir -p $(@:.unpacked=)
	$(Q)tar -xzf $< -C $(@:.unpacked=) && touch $@

check-corpus: $(REPLAY_BIN) $(FUZZ_NAMES:%=$(B)/fuzz/seeds/%.unpacked)
	@for n in $(FUZZ_NAMES); do $(B)/fuzz/replay_$$n $$n $(B)/fuzz/seeds/$$n || bad=1; done; [ -z "$$bad" ]
CHECKS += check-corpus

# The sanitized library and the fuzzers are built in a folder of their own, with small buffers: a run is short then, and
# its bytes cross their borders.
FUZZ_MAKE    := $(MAKE) --no-print-directory CC=clang B=build/fuzz OPT='-O2 -fno-omit-frame-pointer -DFILE_CHUNK=512' \
                SAN='-fsanitize=fuzzer-no-link,$(FUZZ_SAN) -fno-sanitize-recover=undefined'
fuzz-bins:
	+@$(FUZZ_MAKE) $(FUZZ_NAMES:%=build/fuzz/fuzz_%) $(FUZZ_NAMES:%=build/fuzz/fuzz/seeds/%.unpacked)

fuzz-%:
	+@$(FUZZ_MAKE) build/fuzz/fuzz_$* build/fuzz/fuzz/seeds/$*.unpacked
	@fuzz/all.sh $(FUZZ_SECONDS) $*

LONG_CHECKS += fuzz-all
fuzz-all:
	@if ! echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | clang -fsanitize=fuzzer -x c - -o $(B)/fuzzer 2>/dev/null; then \
	    echo "skipped: no clang with libFuzzer here (Debian: clang, libclang-rt-14-dev), nothing was fuzzed"; \
	else $(MAKE) --no-print-directory -s -j$$(nproc) fuzz-bins && fuzz/all.sh $(FUZZ_SECONDS) $(FUZZ_NAMES); fi

# Adds found inputs that reach new code to the archives of the repository.
fuzz-keep: fuzz-bins
	@mkdir -p $(FUZZ_NAMES:%=build/fuzz/corpus/%)
	@python3 fuzz/keep.py found build/fuzz build/fuzz/corpus $(FUZZ_NAMES)

build/fuzz/fuzz_%: fuzz/fuzz_%.c $(FUZZ_H) $(B)/fuzz/more.a
	$(call say,CC $<)
	$(Q)$(CC) $(CPPFLAGS) $(ALLCFLAGS) -fsanitize=fuzzer,$(FUZZ_SAN) $(filter %.c %.o,$^) $(filter %.a,$^) $(LDFLAGS) $(LIB_LIBS) $(CLI_LIBS) -o $@

.PHONY: check-corpus fuzz-all fuzz-bins fuzz-keep
