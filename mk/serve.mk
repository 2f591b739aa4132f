# Tests and benchmarks the server (check-serve, check-soak, bench-serve), rebuilds it when docs/openapi.json changes, which
# src/front/serve/reply.c embeds, and lists the objects that fuzz_request needs.
$(B)/src/front/serve/reply.o: docs/openapi.json

# The server through real sockets; a program with sanitizers gets more time.
check-serve: $(PROGRAM)
	@if ! command -v python3 >/dev/null; then echo "skipped: no python3 here, the server was not tested"; \
	else ORDERNET=$(PROGRAM) PATIENCE=$(if $(SAN),3,1) python3 tests/serve/test_serve.py; fi
CHECKS    += check-serve
TSAN_TESTS  += serve_request

# Ten minutes of mixed load.
LONG_CHECKS += check-soak
check-soak: $(PROGRAM)
	ORDERNET=$(PROGRAM) python3 tests/serve/soak.py $(SOAK_SECONDS)

# Load by wrk (Debian: wrk) and the share of the engine's own rate that is served.
bench-serve: $(PROGRAM) $(B)/bench/serve_engine
	@command -v wrk >/dev/null || { echo "wrk is not installed (Debian: wrk)"; exit 1; }
	ORDERNET=$(PROGRAM) ENGINE=$(B)/bench/serve_engine python3 bench/serve.py $(BENCH_ARGS)

# The parser of requests, without the engine.
$(B)/fuzz/replay_request build/fuzz/fuzz_request: $(patsubst %,$(B)/src/app/%.o,request_fields models request_sets text)

.PHONY: check-serve check-soak bench-serve
