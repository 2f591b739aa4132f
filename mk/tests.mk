# Each tests/test_NAME.c is a cmocka program of its own, linked with every object but the program's main.
TEST_SRC  := $(sort $(wildcard tests/test_*.c))
TEST_BIN  := $(TEST_SRC:%.c=$(B)/%)
TEST_OBJ  := $(filter-out $(B)/src/cli/main.o,$(LIB_OBJ) $(CLI_OBJ))

$(B)/tests/test_%: tests/test_%.c $(TEST_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests $(ALLCFLAGS) -MMD -MP $< $(TEST_OBJ) $(LDFLAGS) -lcmocka $(LIB_LIBS) $(CLI_LIBS) -o $@

-include $(TEST_BIN:%=%.d)

check-unit: $(TEST_BIN)
	@status=0; for t in $(TEST_BIN); do echo "== $$t"; $$t || status=1; done; exit $$status

CHECKS    += check-unit

.PHONY: check-unit
