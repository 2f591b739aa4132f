# The server has docs/openapi.json in it (src/serve/openapi.c).
$(B)/src/serve/openapi.o: docs/openapi.json

# The server through real sockets.
check-serve: $(PROGRAM)
	@if ! command -v python3 >/dev/null; then echo "skipped: no python3 here, the server was not asked anything"; \
	else ORDERNET=$(PROGRAM) python3 tests/serve/test_serve.py; fi
CHECKS    += check-serve

# Needs clang's libFuzzer only for `make fuzz-request`; the parser of requests without the engine.
$(B)/fuzz/replay_request build/fuzz/fuzz_request: $(patsubst %,$(B)/src/serve/%.o,envelope fields models sets text)

.PHONY: check-serve
