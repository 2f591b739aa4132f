CHECKS    += check-cli
check-cli: $(PROGRAM)
	@ORDERNET=$(PROGRAM) tests/cli/run.sh

.PHONY: check-cli
