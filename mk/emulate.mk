# make check-emulated: the GPU kernels on the processor, threads as fibers (tests/cuda/emulate), since most machines that
# test this have no GPU. Needs a C++ compiler.
EMULATED := $(patsubst src/cuda/%.cu,$(B)/emulated/%.o,$(filter-out src/cuda/order%,$(wildcard src/cuda/*.cu)))
EMUFLAGS := -std=c++17 -O1 -g -fPIC -fvisibility=hidden -Itests/cuda/emulate -Iinclude -Isrc -Isrc/cuda -w

$(B)/emulated/%.o: src/cuda/%.cu $(wildcard src/cuda/*.cuh src/cuda/*.h src/kernels/*.h tests/cuda/emulate/*)
	@mkdir -p $(@D)
	@sed 's/extern __shared__ float4 memory\[\];/float4 *memory = emulated_shared();/' $< >$(@:.o=.cc)
	$(CXX) $(EMUFLAGS) -c $(@:.o=.cc) -o $@

$(B)/emulated/libordernet-cuda.so: $(EMULATED) tests/cuda/emulate/emulate.cc $(B)/src/base/error.o
	$(CXX) $(EMUFLAGS) -shared $^ -pthread -o $@

check-emulated:
	@if [ -n "$(SAN)" ] || ! $(CXX) --version >/dev/null 2>&1; then \
	    echo "skipped: the GPU kernels are emulated with a C++ compiler and without sanitizers"; \
	else $(MAKE) --no-print-directory $(B)/emulated/libordernet-cuda.so $(B)/tests/cuda/test_cuda && \
	    $(B)/tests/cuda/test_cuda $(B)/emulated/libordernet-cuda.so emulated; fi

CHECKS += check-emulated
.PHONY: check-emulated
