# make check-emulated: tests the GPU kernels on the CPU, with CUDA threads as fibers (tests/cuda/emulate), for
# machines without a GPU. make check-emulated-races: looks there for data races among CUDA threads. Both need a C++
# compiler.
EMULATED := $(patsubst src/engine/cuda/%.cu,$(B)/emulated/%.o,$(wildcard src/engine/cuda/*/*.cu))
EMUFLAGS := -std=c++20 -O1 -g -fPIC -fvisibility=hidden -Itests/cuda/emulate -Iinclude -Isrc -w
RACES    := -fsanitize=thread --param tsan-distinguish-volatile=1
EMUSOURCE = sed 's/extern __shared__ float4 memory\[\];/float4 *memory = emulated_shared();/' $< >$(@:.o=.cc)
EMUDEPS  := $(wildcard include/*.h src/engine/model/*.h src/engine/cuda/*.h src/engine/cuda/*/*.cuh src/engine/kernels/*.h tests/cuda/emulate/*.h)

$(B)/emulated/%.o: src/engine/cuda/%.cu $(EMUDEPS)
	@mkdir -p $(@D)
	@$(EMUSOURCE)
	$(call say,CXX $<)
	$(Q)$(CXX) $(EMUFLAGS) -c $(@:.o=.cc) -o $@

$(B)/emulated/libordernet-cuda.so: $(EMULATED) tests/cuda/emulate/emulate.cc $(ERROR_OBJ) $(B)/src/engine/kernels/batch_size.o
	$(call say,LD $@)
	$(Q)$(CXX) $(EMUFLAGS) -O2 -shared $^ -pthread -o $@

check-emulated:
	@if [ -n "$(SAN)" ] || ! $(CXX) --version >/dev/null 2>&1; then \
	    echo "skipped: the GPU kernels are emulated with a C++ compiler and without sanitizers"; \
	else $(MAKE) --no-print-directory -j$$(nproc) $(B)/emulated/libordernet-cuda.so $(CUDA_TESTS) $(PROGRAM) && \
	    { $(B)/tests/cuda/test_cuda_order $(B)/emulated/libordernet-cuda.so emulated & beside=$$!; \
	        $(B)/tests/cuda/test_cuda $(B)/emulated/libordernet-cuda.so emulated; status=$$?; \
	        wait $$beside && [ $$status = 0 ]; } && \
	    sh tests/cuda/emulate/train.sh ./$(PROGRAM) $(B)/emulated/libordernet-cuda.so && \
	    EMULATED=$(abspath $(B))/emulated/libordernet-cuda.so ORDERNET=$(PROGRAM) \
	        tests/cli/run.sh tests/cuda/emulate/train.case tests/cuda/emulate/order.case; fi

# make check-emulated-races: the same kernels under ThreadSanitizer, which reports data races among CUDA threads (a
# missing __syncthreads) in whatever order they ran (tests/cuda/emulate/races.h). Needs g++ and its libtsan, 3 GB of
# memory and about three minutes.
$(B)/races/%.o: src/engine/cuda/%.cu $(EMUDEPS)
	@mkdir -p $(@D)
	@$(EMUSOURCE)
	$(call say,CXX $<)
	$(Q)$(CXX) $(EMUFLAGS) $(RACES) -c $(@:.o=.cc) -o $@

$(B)/races/emulate.o: tests/cuda/emulate/emulate.cc $(EMUDEPS)
	@mkdir -p $(@D)
	$(call say,CXX $<)
	$(Q)$(CXX) $(EMUFLAGS) -O2 -DEMULATE_RACES -c $< -o $@

$(B)/races/libordernet-cuda.so: $(EMULATED:$(B)/emulated/%=$(B)/races/%) $(B)/races/emulate.o $(ERROR_OBJ) $(B)/src/engine/kernels/batch_size.o
	$(call say,LD $@)
	$(Q)$(CXX) -fsanitize=thread -shared $^ -pthread -o $@

$(B)/races/test_cuda: $(CUDA_TEST)
$(B)/races/test_cuda_order: $(CUDA_ORDER_TEST)
$(B)/races/test_cuda $(B)/races/test_cuda_order:
	@mkdir -p $(@D)
	$(call say,LD $@)
	$(Q)$(CXX) -fsanitize=thread $^ $(LDFLAGS) -lm -ldl -pthread -o $@

check-emulated-races: export TSAN_OPTIONS := history_size=4:suppressions=tests/cuda/emulate/races.supp
check-emulated-races: $(B)/races/libordernet-cuda.so $(B)/races/test_cuda $(B)/races/test_cuda_order
	$(B)/races/test_cuda $(B)/races/libordernet-cuda.so races
	EMULATE_MULTIPROCESSORS=1 $(B)/races/test_cuda_order $(B)/races/libordernet-cuda.so races

CHECKS += check-emulated
EARLY_BUILDS += $(if $(SAN),,$(if $(shell command -v $(CXX)),$(B)/emulated/libordernet-cuda.so $(CUDA_TESTS)))
LONG_CHECKS += check-emulated-races
.PHONY: check-emulated check-emulated-races
