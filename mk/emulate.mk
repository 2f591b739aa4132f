# make check-emulated: the GPU kernels on the processor, threads as fibers, where there is no GPU to test them on.
EMULATED := $(patsubst src/cuda/%.cu,$(B)/emulated/%.o,$(filter-out src/cuda/order%,$(wildcard src/cuda/*.cu)))
EMUFLAGS := -std=c++17 -O1 -g -fPIC -fvisibility=hidden -Itests/cuda/emulate -Iinclude -Isrc -Isrc/cuda -w

$(B)/emulated/%.o: src/cuda/%.cu $(wildcard src/cuda/*.cuh src/cuda/*.h tests/cuda/emulate/*)
	@mkdir -p $(@D)
	sed 's/extern __shared__ float4 memory\[\];/float4 *memory = emulated_shared();/' $< >$(@:.o=.cc)
	$(CXX) $(EMUFLAGS) -c $(@:.o=.cc) -o $@

$(B)/emulated/libordernet-cuda.so: $(EMULATED) tests/cuda/emulate/emulate.cc $(B)/src/base/error.o
	$(CXX) $(EMUFLAGS) -shared $^ -pthread -o $@

check-emulated: $(B)/emulated/libordernet-cuda.so $(B)/tests/cuda/test_cuda
	$(B)/tests/cuda/test_cuda $(B)/emulated/libordernet-cuda.so emulated
.PHONY: check-emulated
