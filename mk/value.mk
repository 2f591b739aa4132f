# $(B)/NAME.value changes when the make variable NAME has another value than at the last build: what is built by it depends
# on that file.
$(B)/%.value: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$($*)' | cmp -s - $@ || printf '%s\n' '$($*)' > $@
.PRECIOUS: $(B)/%.value

CHECKS    += check-rebuild
check-rebuild:
	@MAKE='$(MAKE)' sh tests/rebuild.sh

.PHONY: check-rebuild
