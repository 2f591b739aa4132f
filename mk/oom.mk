# Out of memory: every command with its allocations failing in turn (tests/oom): one of eleven, which takes a minute; all of
# them with OOM_EVERY=1.
OOM_EVERY ?= 11

$(B)/tests/oom.so: tests/oom/preload.c
	@mkdir -p $(@D)
	$(call say,CC $<)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -shared -fPIC -O1 $(WARN) $< -o $@

check-oom: $(PROGRAM) $(B)/tests/oom.so
	@ORDERNET=$(PROGRAM) OOM_EVERY=$(OOM_EVERY) tests/oom/run.sh $(B)/tests/oom.so
	@if nm -D $(PROGRAM) 2>/dev/null | grep -q __asan_init; then echo "skipped: AddressSanitizer owns malloc in this build"; \
	else ORDERNET=$(PROGRAM) OOM_EVERY=$(OOM_EVERY) /usr/bin/python3 tests/oom/serve.py $(B)/tests/oom.so; fi

CHECKS    += check-oom
.PHONY: check-oom
