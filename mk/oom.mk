# Out of memory: every command with each of its allocations failing in turn (tests/oom).
$(B)/tests/oom.so: tests/oom/preload.c
	@mkdir -p $(@D)
	$(call say,CC $<)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -shared -fPIC -O1 $(WARN) $< -o $@

check-oom: $(PROGRAM) $(B)/tests/oom.so
	@ORDERNET=$(PROGRAM) tests/oom/run.sh $(B)/tests/oom.so

CHECKS    += check-oom
.PHONY: check-oom
