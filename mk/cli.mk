CHECKS    += check-cli
check-cli: ordernet
	@tests/cli/run.sh

.PHONY: check-cli
