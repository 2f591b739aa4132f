# The original files of the shared pages, ordered: nothing but the order may change.
check-pages: $(PROGRAM)
	@tests/pages/run.sh ./$(PROGRAM)
CHECKS += check-pages

.PHONY: check-pages
