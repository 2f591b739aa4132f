# $(B)/NAME.value holds the value that the make variable NAME had at the last build; targets that NAME affects depend on
# it, so that they are built again when the value changes.
$(B)/%.value: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$($*)' | cmp -s - $@ || printf '%s\n' '$($*)' > $@
.PRECIOUS: $(B)/%.value

CHECKS    += check-rebuild
check-rebuild:
	@MAKE='$(MAKE)' sh tests/rebuild.sh

.PHONY: check-rebuild
