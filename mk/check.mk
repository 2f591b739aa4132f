# make check: every target in CHECKS, one after the other, and a closing line that adds them up. The other mk/*.mk
# files append theirs: CHECKS += check-NAME.
check: setup
	@$(MAKE) --no-print-directory -j$$(nproc) all $(TEST_BIN)
	@MAKE='$(MAKE)' sh mk/check.sh $(B) $(CHECKS)

# The counting itself: targets that pass, fail and skip in every way.
CHECKS    += check-counting
check-counting:
	@sh tests/counting.sh

.PHONY: check check-counting
