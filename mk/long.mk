# What takes minutes, and is not part of `make check`.
$(B)/tests/learn: tests/long/learn.c $(LIB_OBJ)
	@mkdir -p $(@D)
	$(call say,CC $<)
	$(Q)$(CC) $(CPPFLAGS) $(ALLCFLAGS) $^ $(LDFLAGS) $(LIB_LIBS) -o $@

# The orders of docs/model.md's proof: sorting both ways, by one of two features, outward from the mean.
check-long: $(B)/tests/learn
	$<

# Plants errors in a copy of the source and shows that the suite notices each.
check-planted:
	@sh tests/planted.sh

.PHONY: check-long check-planted
