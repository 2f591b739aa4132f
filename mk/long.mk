# Defines tests that take minutes, part of `make check-long`, not of `make check`: learning at full scale; errors planted in the
# source by hand or by rules, which the tests must notice; training and ordering that is killed at random or short of disk and
# memory; every failed allocation. make coverage: the share of the readers' lines and branches that their tests run.
$(B)/tests/learn: tests/long/learn.c $(LIB_OBJ)
	@mkdir -p $(@D)
	$(call say,CC $<)
	$(Q)$(CC) $(CPPFLAGS) $(ALLCFLAGS) $^ $(LDFLAGS) $(LIB_LIBS) -o $@

# Learns four orders (ascending, descending, by one of two features, outward from the mean), and many sizes in batches of one size.
check-learn: $(B)/tests/learn $(B)/tests/test_mixed
	$(B)/tests/learn
	$(B)/tests/test_mixed learn

# Plants errors in a copy of the source and checks that the tests find each.
check-planted:
	@sh tests/planted.sh

# Plants errors that are drawn by rules, and prints the share that the tests notice.
check-mutants:
	@python3 tests/mutants.py --count $(or $(COUNT),60) --seed $(or $(SEED),1)

# Half an hour of training and ordering with random kills, full disks and memory limits.
check-soak-files: $(PROGRAM)
	@ORDERNET=$(PROGRAM) tests/soak.sh $(or $(SOAK_SECONDS),1800)

# Every allocation fails once.
check-oom-all:
	@$(MAKE) --no-print-directory check-oom OOM_EVERY=1

LONG_CHECKS += check-learn check-planted check-mutants check-soak-files check-oom-all

# Branches of the readers that their unit tests and the corpora take, by gcov.
COVERED   := engine/base engine/data engine/words
COVER_TESTS := $(addprefix test_,data_csv data_jsonl data_lines data_files npz safetensors pick constraints record_text file number \
    shown arguments words_vectors words_lookup words_public model_file)
coverage:
	+@$(MAKE) --no-print-directory -s B=$(B)/gcov OPT=-O0 SAN=--coverage PROGRAM=$(B)/gcov/ordernet \
	    TEST_BIN='$(COVER_TESTS:%=$(B)/gcov/tests/%)' check-unit check-corpus >$(B)/gcov.log 2>&1 || tail $(B)/gcov.log
	@for d in $(COVERED); do (cd $(B)/gcov && gcov -b -n src/$$d/*.gcda 2>/dev/null) | awk -v d=$$d \
	    '/^File/ { own = index($$0, "src/" d "/") } own && /^Lines/ { split($$2, a, ":"); l += a[2] * $$4 / 100; ln += $$4 } \
	     own && /^Taken/ { split($$4, a, ":"); b += a[2] * $$6 / 100; bn += $$6 } \
	     END { printf "src/%s: %.1f%% of %d lines, %.1f%% of %d branches\n", d, 100 * l / ln, ln, 100 * b / bn, bn }'; done

.PHONY: check-learn check-planted check-mutants check-soak-files check-oom-all coverage
