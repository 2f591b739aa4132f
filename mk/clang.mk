# make check-clang: the program, the library and the unit tests are compiled by clang too, and its warnings are errors. It warns of
# what gcc does not, without optimising too (the kernels, whose loops must be unrolled, keep their -O3).
check-clang:
	@if ! command -v clang >/dev/null; then \
	    echo "skipped: no clang here (Debian: clang), nothing was compiled by it"; \
	else \
	    $(MAKE) --no-print-directory -s -j$$(nproc) CC=clang WERROR=1 OPT=-O0 B=$(B)/clang PROGRAM=$(B)/clang/ordernet \
	        $(B)/clang/ordernet $(TEST_BIN:$(B)/%=$(B)/clang/%) && \
	    echo "1 passed, 0 failed"; fi

CHECKS    += check-clang
.PHONY: check-clang
