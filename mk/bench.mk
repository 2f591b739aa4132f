# Builds and runs the benchmarks: each bench/NAME.c is a program, which `make bench-NAME` builds and runs.
BENCH_SRC := $(sort $(wildcard bench/*.c))
BENCH_BIN := $(BENCH_SRC:%.c=$(B)/%)
BENCH_OBJ := $(filter-out $(B)/src/front/cli/main.o,$(LIB_OBJ) $(CLI_OBJ))

$(BENCH_BIN): $(B)/bench/%: bench/%.c $(BENCH_OBJ)
	@mkdir -p $(@D)
	$(call say,CC $<)
	$(Q)$(CC) $(CPPFLAGS) $(ALLCFLAGS) -MMD -MP $< $(BENCH_OBJ) $(LDFLAGS) $(LIB_LIBS) $(CLI_LIBS) -o $@

-include $(BENCH_BIN:%=%.d)

$(BENCH_SRC:bench/%.c=bench-%): bench-%: $(B)/bench/%
	$< $(BENCH_ARGS)

.PHONY: $(BENCH_SRC:bench/%.c=bench-%)
bench-growth: $(PROGRAM)

# The benchmarks compile; they measure only when asked to.
CHECKS    += check-bench
check-bench: $(BENCH_BIN)
.PHONY: check-bench
