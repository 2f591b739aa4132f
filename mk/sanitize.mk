# The whole suite under AddressSanitizer and UndefinedBehaviorSanitizer, and the tests that use threads under
# ThreadSanitizer. -O1: the checks dominate the time, and the stack traces stay readable. gcc 12's object-size
# check reports a false overflow where a function table is selected; AddressSanitizer finds real ones.
ASAN      := B=$(B)/asan PROGRAM=$(B)/asan/ordernet OPT=-O1 \
             SAN='-fsanitize=address,undefined -fno-sanitize=object-size -fno-sanitize-recover=all -fno-omit-frame-pointer'
TSAN      := B=$(B)/tsan PROGRAM=$(B)/tsan/ordernet OPT=-O1 SAN=-fsanitize=thread

# Other mk/*.mk files append checks that run under AddressSanitizer too.
ASAN_CHECKS += check-unit check-cli
check-asan:
	@$(MAKE) --no-print-directory -s -k -j$$(nproc) $(ASAN) $(B)/asan/ordernet $(TEST_BIN:$(B)/%=$(B)/asan/%)
	@status=0; for c in $(ASAN_CHECKS); do \
	    LSAN_OPTIONS=suppressions=$(CURDIR)/mk/lsan.supp:print_suppressions=0 \
	    $(MAKE) --no-print-directory $(ASAN) $$c || status=1; done; exit $$status

# Names of the tests/test_NAME.c that use threads; other mk/*.mk files append theirs.
TSAN_TESTS += train engine_properties
TSAN_BIN   = $(filter $(TSAN_TESTS:%=$(B)/tsan/tests/test_%),$(TEST_BIN:$(B)/%=$(B)/tsan/%))
check-tsan:
	@[ -z "$(TSAN_BIN)" ] || $(MAKE) --no-print-directory -s -j$$(nproc) $(TSAN) $(TSAN_BIN)
	@status=0; for t in $(TSAN_BIN); do echo "== $$t"; $$t || status=1; done; exit $$status

CHECKS    += check-asan check-tsan
.PHONY: check-asan check-tsan
