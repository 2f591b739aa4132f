# The network in double, with the plain kernels alone: gradients against finite differences.
DOUBLE_SRC := src/engine/kernels/plain.c src/engine/kernels/net.c src/engine/kernels/weights.c src/engine/kernels/relative.c $(wildcard src/engine/kernels/cpu*.c)
DOUBLE_OBJ := $(DOUBLE_SRC:%.c=$(B)/double/%.o)
OTHER_OBJ  := $(filter-out $(B)/src/engine/kernels/% $(B)/src/engine/train/% $(B)/src/engine/decode/% $(B)/src/engine/evaluate/% $(B)/src/tasks/tours/solve/%,$(LIB_OBJ)) $(B)/tests/paper_form.o

$(B)/double/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC $<)
	$(Q)$(CC) $(CPPFLAGS) -Itests -DONET_REAL=double $(ALLCFLAGS) -MMD -MP -c $< -o $@

$(B)/tests/double_gradients: $(B)/double/tests/double/test_gradients.o $(DOUBLE_OBJ) $(OTHER_OBJ)
	@mkdir -p $(@D)
	$(call say,LD $@)
	$(Q)$(CC) $(SAN) $^ $(LDFLAGS) -lcmocka $(LIB_LIBS) -o $@

-include $(DOUBLE_OBJ:.o=.d) $(B)/double/tests/double/test_gradients.d

check-double: $(B)/tests/double_gradients
	@$<

CHECKS    += check-double
.PHONY: check-double
