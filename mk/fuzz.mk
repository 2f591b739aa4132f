# Each fuzz/fuzz_NAME.c feeds bytes to one reader. `make fuzz-NAME` searches for bytes that break it (clang's
# libFuzzer, FUZZ_SECONDS long) and adds new inputs to build/fuzz/corpus/NAME; `make check-corpus` replays the
# files of fuzz/corpus/NAME, seeds and past findings, with any compiler.
FUZZ_SECONDS ?= 30
FUZZ_NAMES   := $(patsubst fuzz/fuzz_%.c,%,$(sort $(wildcard fuzz/fuzz_*.c)))
FUZZ_H       := $(wildcard fuzz/*.h)
FUZZ_SAN     := address,undefined
# The folders of readers only: the kernels take minutes to build with sanitizers and read no files.
FUZZ_OBJ     := $(filter $(foreach d,base data words model,$(B)/src/$(d)/%),$(LIB_OBJ))
# The readers of pages, without what needs the network.
FUZZ_OBJ     += $(filter-out $(B)/src/pages/choose.o,$(filter $(B)/src/pages/%,$(CLI_OBJ)))
REPLAY_BIN   := $(FUZZ_NAMES:%=$(B)/fuzz/replay_%)

$(B)/fuzz/replay_%: fuzz/fuzz_%.c fuzz/replay.c $(FUZZ_H) $(FUZZ_OBJ)
	@mkdir -p $(@D)
	$(call say,CC $<)
	$(Q)$(CC) $(CPPFLAGS) $(ALLCFLAGS) $(filter %.c %.o,$^) $(LDFLAGS) $(LIB_LIBS) -ljansson -lxml2 -o $@

check-corpus: $(REPLAY_BIN)
	@for n in $(FUZZ_NAMES); do $(B)/fuzz/replay_$$n $$n fuzz/corpus/$$n || bad=1; done; [ -z "$$bad" ]
CHECKS += check-corpus

# The sanitized library and the fuzzer are built in a folder of their own.
fuzz-%:
	+$(MAKE) --no-print-directory CC=clang B=build/fuzz OPT=-O1 \
	    SAN='-fsanitize=fuzzer-no-link,$(FUZZ_SAN) -fno-sanitize-recover=undefined' build/fuzz/fuzz_$*
	@mkdir -p build/fuzz/corpus/$* fuzz/corpus/$*
	build/fuzz/fuzz_$* -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=4096 -malloc_limit_mb=2048 \
	    -print_final_stats=1 -artifact_prefix=build/fuzz/$*- build/fuzz/corpus/$* fuzz/corpus/$*

build/fuzz/fuzz_%: fuzz/fuzz_%.c $(FUZZ_H) $(FUZZ_OBJ)
	$(call say,CC $<)
	$(Q)$(CC) $(CPPFLAGS) $(ALLCFLAGS) -fsanitize=fuzzer,$(FUZZ_SAN) $(filter %.c %.o,$^) $(LDFLAGS) $(LIB_LIBS) -ljansson -lxml2 -o $@

fuzz: $(FUZZ_NAMES:%=fuzz-%)

.PHONY: check-corpus fuzz
