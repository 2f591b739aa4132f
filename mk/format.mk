# make format puts the C, C++ and CUDA files into the form of .clang-format; check-format tells which are not in it;
# check-workflow checks the YAML files of .github. Other versions of clang-format break lines elsewhere, so only
# version 14 counts.
FORMATTED     = $(sort $(shell find src include tests fuzz bench examples -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cc'))
CLANG_FORMAT ?= $(shell for c in clang-format-14 clang-format; do $$c --version 2>/dev/null | grep -q 'version 14\.' && echo $$c && break; done)

format:
	@[ -n "$(CLANG_FORMAT)" ] || { echo "clang-format 14 is not installed (Debian: clang-format-14)"; exit 1; }
	$(CLANG_FORMAT) -i $(FORMATTED)

CHECKS    += check-format
check-format:
	@if [ -z "$(CLANG_FORMAT)" ]; then \
	    echo "skipped: clang-format 14 is not installed (Debian: clang-format-14), the formatting was not checked"; \
	elif ! $(CLANG_FORMAT) --dry-run --Werror $(FORMATTED); then \
	    echo "\`make format\` puts the files above into form"; exit 1; fi

# The files of GitHub: the workflow and the templates.
CHECKS    += check-workflow
check-workflow:
	@if ! command -v yamllint >/dev/null; then echo "skipped: no yamllint here (Debian: yamllint), .github was not checked"; \
	else yamllint --strict -d '{extends: default, rules: {line-length: {max: 120}}}' .github; fi

.PHONY: format check-format check-workflow
