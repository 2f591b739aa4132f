# make check: every target in CHECKS, one after the other, and one closing line that sums them up. The other
# mk/*.mk files append theirs: CHECKS += check-NAME.
check: setup
	@$(MAKE) --no-print-directory -j$$(nproc) all $(TEST_BIN)
	@MAKE='$(MAKE)' sh mk/check.sh $(B) $(CHECKS)

.PHONY: check
