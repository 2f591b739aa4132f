# Tests that take minutes and are not part of `make check`.
$(B)/tests/learn: tests/long/learn.c $(LIB_OBJ)
	@mkdir -p $(@D)
	$(call say,CC $<)
	$(Q)$(CC) $(CPPFLAGS) $(ALLCFLAGS) $^ $(LDFLAGS) $(LIB_LIBS) -o $@

# Learns four orders: ascending, descending, by one of two features, outward from the mean.
check-long: $(B)/tests/learn
	$<

# Plants errors in a copy of the source and checks that the tests find each.
check-planted:
	@sh tests/planted.sh

.PHONY: check-long check-planted
