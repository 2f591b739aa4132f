# The network in double, with the plain kernels alone: gradients against finite differences.
DOUBLE_SRC := src/kernels/plain.c src/kernels/net.c src/kernels/weights.c src/kernels/relative.c $(wildcard src/kernels/cpu*.c)
DOUBLE_OBJ := $(DOUBLE_SRC:%.c=$(B)/double/%.o)
OTHER_OBJ  := $(filter-out $(B)/src/kernels/% $(B)/src/train/% $(B)/src/decode/% $(B)/src/evaluate/% $(B)/src/tsp/%,$(LIB_OBJ)) $(B)/tests/paper_form.o

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
