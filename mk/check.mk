# make check: every target in CHECKS, CHECK_JOBS at a time, then a table of their times and a closing line that adds them up. make
# check-long: those in LONG_CHECKS, which take minutes each; .ci/run adds some of them to make check (MORE=TARGETS). The other
# mk/*.mk files append theirs: CHECKS += check-NAME. No two of them may write the same file: what several need is built before
# them, CHECK_BUILDS += TARGET. What needs nothing that make check installs is built while it installs: EARLY_BUILDS += TARGET.
# One more than there are CPUs: browsers, servers and ranks wait for each other half of their time.
CHECK_JOBS ?= $(shell echo $$(($$(nproc) + 1)))
# Of CHECKS they take the longest, so they begin first, after MORE; the short ones fill the time that is left at the end.
FIRST      := check-package check-unit check-page-firefox check-emulated check-cli check-page-chromium check-oom check-truth check-mpi check-clang \
              check-portable check-serve
check: setup
	@$(MAKE) --no-print-directory -k -j$$(($$(nproc) + 1)) setup-check build-early || true
	@# By another make, which looks for compilers and MPIs again.
	@$(MAKE) --no-print-directory run-checks TARGETS='$(MORE) $(FIRST) $(filter-out $(MORE) $(FIRST),$(CHECKS))'
# Compiles while packages are installed, at a low priority, since all else waits for them. What was not built, because a compiler
# is installed anew, is built later.
build-early:
	@nice -n 19 $(MAKE) --no-print-directory -k all $(TEST_BIN) $(EARLY_BUILDS) || true
check-long: setup-check setup-debian setup-container
	@$(MAKE) --no-print-directory run-checks TARGETS='$(LONG_CHECKS)'
run-checks:
	@$(MAKE) --no-print-directory -j$$(nproc) all $(TEST_BIN)
	@echo "building what several targets need: $(RUN_BUILDS)"
	@# If one of them is not built, the target that needs it says so, and fails.
	@$(MAKE) --no-print-directory -s -k -j$$(nproc) $(RUN_BUILDS) >/dev/null 2>&1 || true
	@MAKE='$(MAKE)' JOBS=$(CHECK_JOBS) sh mk/check.sh $(B) $(TARGETS)
RUN_BUILDS  = $(CHECK_BUILDS) $(if $(filter check-asan%,$(TARGETS)),build-asan)

# The counting itself: targets that pass, fail and skip in every way.
CHECKS    += check-counting
check-counting:
	@sh tests/counting.sh

.PHONY: check build-early check-long run-checks check-counting

# Install what is missing: the libraries; what the page, the tests of several ranks and the Python package need; all of that and
# what other tests need. They do nothing if all is there.
SETUP      = @CC='$(CC)' PYTHON='$(PYTHON)' sh mk/setup.sh $(B)
setup:
	$(SETUP) build
setup-page setup-mpi setup-python setup-debian setup-container: setup-%:
	$(SETUP) $*
setup-check:
	$(SETUP) build page mpi tests python || [ $$? = 2 ]

.PHONY: setup setup-page setup-mpi setup-python setup-debian setup-container setup-check

# Trains a model in seconds and shows what the shipped ones do.
demo: setup
	@$(MAKE) --no-print-directory -s -j$$(nproc) ordernet
	@sh examples/demo.sh

.PHONY: demo
