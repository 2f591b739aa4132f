demo: setup
	@$(MAKE) --no-print-directory -s -j$$(nproc) ordernet
	@sh examples/demo.sh

.PHONY: demo
