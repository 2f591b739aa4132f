# make check-asan: runs the tests of units, command line and server under AddressSanitizer and
# UndefinedBehaviorSanitizer. make check-tsan: runs the tests that use threads under ThreadSanitizer. -O1: the checks
# dominate the time, and the stack traces stay readable. gcc 12's object-size check reports a false overflow where a
# function table is selected; AddressSanitizer finds real ones.
ASAN      := B=$(B)/asan PROGRAM=$(B)/asan/ordernet OPT=-O1 \
             SAN='-fsanitize=address,undefined -fno-sanitize=object-size -fno-sanitize-recover=all -fno-omit-frame-pointer'
TSAN      := B=$(B)/tsan PROGRAM=$(B)/tsan/ordernet OPT=-O1 SAN=-fsanitize=thread

# check-asan-NAME is check-NAME under AddressSanitizer.
build-asan:
	+@$(MAKE) --no-print-directory -s -k $(ASAN) $(B)/asan/ordernet $(TEST_BIN:$(B)/%=$(B)/asan/%)
ASAN_CHECKS := check-asan-unit check-asan-cli check-asan-serve
$(ASAN_CHECKS): check-asan-%:
	@LSAN_OPTIONS=suppressions=$(CURDIR)/mk/lsan.supp:print_suppressions=0 $(MAKE) --no-print-directory $(ASAN) check-$*
check-asan:
	@$(MAKE) --no-print-directory -j$$(nproc) build-asan
	@$(MAKE) --no-print-directory -k $(ASAN_CHECKS)

# Names of the tests/test_NAME.c that use threads; other mk/*.mk files append theirs.
TSAN_TESTS += train engine_properties groups tsp_exact
TSAN_BIN   = $(filter $(TSAN_TESTS:%=$(B)/tsan/tests/test_%),$(TEST_BIN:$(B)/%=$(B)/tsan/%))
check-tsan:
	@$(MAKE) --no-print-directory -s -j$$(nproc) $(TSAN) $(TSAN_BIN)
	@status=0; for t in $(TSAN_BIN); do echo "== $$t"; $$t || status=1; done; exit $$status

LONG_CHECKS  += $(ASAN_CHECKS) check-tsan
.PHONY: build-asan check-asan $(ASAN_CHECKS) check-tsan
