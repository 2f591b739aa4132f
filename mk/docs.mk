# Runs the examples of the documents, and checks that examples/data is what its script makes.
CHECKS    += check-docs
check-docs: ordernet
	@sh tests/docs.sh $(wildcard README.md docs/*.md)
	@mkdir -p $(B)/data && sh examples/data/make.sh $(B)/data
	@for f in $(B)/data/*.jsonl; do cmp $$f examples/data/$$(basename $$f) || exit 1; done
	@echo "1 passed, 0 failed"

.PHONY: check-docs
