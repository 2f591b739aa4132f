# make check: every target in CHECKS, CHECK_JOBS at a time, then a table of their times and a closing line that adds them up. The
# other mk/*.mk files append theirs: CHECKS += check-NAME. No two of them may write the same file: what several need is built
# or installed before them, CHECK_BUILDS += TARGET.
CHECK_JOBS ?= $(shell nproc)
# They take the longest, so they begin first; the short ones fill the time that is left at the end.
LONG_CHECKS := check-asan-cli check-cuda-builds check-emulated check-asan-unit check-tsan check-package check-oom
check: setup
	@$(MAKE) --no-print-directory -j$$(nproc) all $(TEST_BIN)
	@echo "building what several targets need: $(CHECK_BUILDS)"
	@# If one of them is not built, the target that needs it says so, and fails.
	@$(MAKE) --no-print-directory -s -k -j$$(nproc) $(CHECK_BUILDS) >/dev/null 2>&1 || true
	@MAKE='$(MAKE)' JOBS=$(CHECK_JOBS) sh mk/check.sh $(B) $(LONG_CHECKS) $(filter-out $(LONG_CHECKS),$(CHECKS))

# The counting itself: targets that pass, fail and skip in every way.
CHECKS    += check-counting
check-counting:
	@sh tests/counting.sh

.PHONY: check check-counting

# Installs the libraries that are missing; does nothing if all are there.
setup:
	@sh mk/setup.sh "$(CC)" $(B)

.PHONY: setup

# Trains a model in seconds and shows what the shipped ones do.
demo: setup
	@$(MAKE) --no-print-directory -s -j$$(nproc) ordernet
	@sh examples/demo.sh

.PHONY: demo
