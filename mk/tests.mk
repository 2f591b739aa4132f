# Each tests/test_NAME.c is a cmocka program of its own, linked with every object except the program's main.
# The other tests/*.c are helpers that every test may use.
TEST_SRC  := $(sort $(wildcard tests/test_*.c))
TEST_BIN  := $(TEST_SRC:%.c=$(B)/%)
TEST_HELP := $(filter-out $(TEST_SRC),$(sort $(wildcard tests/*.c)))
TEST_OBJ  := $(filter-out $(B)/src/front/cli/main.o,$(LIB_OBJ) $(CLI_OBJ)) $(TEST_HELP:%.c=$(B)/%.o)

$(B)/tests/%.o: CPPFLAGS += -Itests

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
