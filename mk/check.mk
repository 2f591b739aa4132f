# make check: runs every target in CHECKS, CHECK_JOBS at a time, in two phases: EARLY targets while packages are installed,
# then the others; then prints a table of their times and the numbers of all tests that passed, failed and were skipped.
# make check-long: runs those in LONG_CHECKS, which take minutes each. make setup and setup-NAME install the packages that are
# missing; make demo trains a small model and shows what the shipped ones do.
#
# .ci/run adds some of LONG_CHECKS to make check (MORE=TARGETS). The other mk/*.mk files append their targets: CHECKS +=
# check-NAME. No two of them may write the same file: what several need is built before them, CHECK_BUILDS += TARGET. What the
# EARLY ones need is built first: EARLY_BUILDS += TARGET.

# One more than there are CPUs: browsers, servers and ranks wait for each other half of their time.
CHECK_JOBS ?= $(shell echo $$(($$(nproc) + 1)))
# These need no package but those of setup-first, so they run while the other packages are installed, at a low priority, since
# all other targets wait for these packages.
EARLY      := check-unit check-emulated check-double check-corpus check-rebuild check-header check-format
# The longest of CHECKS begin first, after MORE; the short ones fill the time that is left at the end.
FIRST      := check-package check-page-firefox check-cli check-page-chromium check-oom check-truth check-mpi check-clang check-portable \
              check-serve
LATE        = $(MORE) $(FIRST) $(filter-out $(MORE) $(EARLY) $(FIRST),$(CHECKS))
check: setup-first
	@sh mk/check.sh $(B) --expect $(EARLY)
	@$(MAKE) --no-print-directory -k -j$$(($$(nproc) + 1)) setup-check check-early || true
	@# By another make, which looks for compilers and MPIs again.
	@$(MAKE) --no-print-directory run-checks PART=--end TARGETS='$(LATE)'
check-early:
	@nice -n 19 $(MAKE) --no-print-directory -k all $(TEST_BIN) $(EARLY_BUILDS) || true
	@echo "running beside it: $(EARLY)"
	@MAKE='nice -n 19 $(MAKE)' JOBS=$(CHECK_JOBS) sh mk/check.sh $(B) --begin $(EARLY)
check-long: setup-check setup-debian setup-container
	@$(MAKE) --no-print-directory run-checks TARGETS='$(LONG_CHECKS)'
run-checks:
	@$(MAKE) --no-print-directory -j$$(nproc) all $(TEST_BIN)
	@echo "building what several targets need: $(RUN_BUILDS)"
	@# If one of them is not built, the target that needs it says so, and fails.
	@$(MAKE) --no-print-directory -s -k -j$$(nproc) $(RUN_BUILDS) >/dev/null 2>&1 || true
	@MAKE='$(MAKE)' JOBS=$(CHECK_JOBS) sh mk/check.sh $(B) $(PART) $(TARGETS)
RUN_BUILDS  = $(CHECK_BUILDS) $(if $(filter check-asan%,$(TARGETS)),build-asan)

# The counting itself: targets that pass, fail and skip in every way.
CHECKS    += check-counting
check-counting:
	@sh tests/counting.sh

.PHONY: check check-early check-long run-checks check-counting

# Install what is missing: the libraries; what the page, the tests of several ranks and the Python package need; all of that and
# what other tests need. They do nothing if all is there.
SETUP      = @CC='$(CC)' PYTHON='$(PYTHON)' sh mk/setup.sh $(B)
setup:
	$(SETUP) build
setup-page setup-mpi setup-python setup-debian setup-container: setup-%:
	$(SETUP) $*
setup-first:
	$(SETUP) build tests
setup-check:
	$(SETUP) build page mpi tests python || [ $$? = 2 ]

.PHONY: setup setup-page setup-mpi setup-python setup-debian setup-container setup-first setup-check

# Trains a model in seconds and shows what the shipped ones do.
demo: setup
	@$(MAKE) --no-print-directory -s -j$$(nproc) ordernet
	@sh examples/demo.sh

.PHONY: demo
