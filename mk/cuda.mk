# make CUDA=1: builds the GPU kernels into a library of their own, which the program loads at run time. Needs
# nvcc 12 or newer. make check-cuda: tests the kernels on a GPU; check-cuda-reads and check-cuda-builds: compile them on
# machines without one.
CUDA_PATH ?= /usr/local/cuda
NVCC      ?= $(firstword $(wildcard $(CUDA_PATH)/bin/nvcc) nvcc)
CUDA_ARCH ?= 90
CUDA_OPT  ?= -O3
CUDA_CODE := -gencode arch=compute_$(CUDA_ARCH),code=[sm_$(CUDA_ARCH),compute_$(CUDA_ARCH)]
NVFLAGS   := -std=c++20 $(CUDA_OPT) -lineinfo $(CUDA_CODE) \
             -Iinclude -Isrc -Xcompiler -fPIC,-fvisibility=hidden,-Wall,-Wextra,-Wno-missing-field-initializers
ifdef WERROR
NVFLAGS   += -Werror all-warnings
endif
CUDA_SRC  := $(sort $(wildcard src/engine/cuda/*/*.cu))
CUDA_OBJ  := $(CUDA_SRC:%.cu=$(B)/%.o)

$(B)/src/engine/cuda/%.o: src/engine/cuda/%.cu $(B)/CUDA_ARCH.value
	@mkdir -p $(@D)
	$(call say,NVCC $<)
	$(Q)$(NVCC) $(NVFLAGS) -MMD -MP -c $< -o $@

ERROR_OBJ := $(addprefix $(B)/src/engine/base/,error.o number.o shown.o)

libordernet-cuda.so: $(CUDA_OBJ) $(ERROR_OBJ) $(B)/src/engine/kernels/batch_size.o
	$(call say,LD $@)
	$(Q)$(NVCC) -shared -gencode arch=compute_$(CUDA_ARCH),code=sm_$(CUDA_ARCH) $^ -o $@

# Its tests are linked with few objects, since machines with a GPU often lack the other libraries.
CUDA_TEST := $(B)/tests/cuda/test_cuda.o $(B)/tests/golden_file.o $(filter $(B)/src/engine/kernels/%,$(LIB_OBJ)) $(ERROR_OBJ) \
             $(addprefix $(B)/src/engine/,base/choice.o base/clock.o base/library.o base/memory.o base/huge_pages.o base/thread_pool.o model/choices.o model/settings.o model/net_shape.o \
               model/generated.o)

$(B)/tests/cuda/test_cuda: $(CUDA_TEST)
	@mkdir -p $(@D)
	$(call say,LD $@)
	$(Q)$(CC) $(SAN) $^ $(LDFLAGS) -lm -ldl -pthread -o $@

CUDA_ORDER_TEST := $(B)/tests/cuda/test_cuda_order.o $(filter $(B)/src/engine/kernels/% $(B)/src/engine/decode/%,$(LIB_OBJ)) $(ERROR_OBJ) \
             $(addprefix $(B)/src/engine/,base/choice.o base/clock.o base/library.o base/memory.o base/huge_pages.o base/thread_pool.o base/rng.o base/sha256.o base/sized.o base/utf8.o base/version.o base/world.o \
               data/columns.o data/constraints.o data/relating.o data/scaling.o data/scaling_learn.o data/doubles.o data/lost.o data/sets.o data/sets_check.o model/choices.o model/settings.o model/net_shape.o model/generated.o model/statistics.o)

$(B)/tests/cuda/test_cuda_order: $(CUDA_ORDER_TEST)
	@mkdir -p $(@D)
	$(call say,LD $@)
	$(Q)$(CC) $(SAN) $^ $(LDFLAGS) -lm -ldl -pthread -o $@

$(B)/tests/cuda/test_cuda_ranks: $(B)/tests/cuda/test_cuda_ranks.o $(LIB_OBJ)
	@mkdir -p $(@D)
	$(call say,LD $@)
	$(Q)$(CC) $(SAN) $^ $(LDFLAGS) $(LIB_LIBS) -o $@

CUDA_TESTS := $(B)/tests/cuda/test_cuda $(B)/tests/cuda/test_cuda_order
CUDA_RANKS := $(B)/tests/cuda/test_cuda_ranks

-include $(CUDA_OBJ:.o=.d) $(CUDA_TESTS:=.d) $(CUDA_RANKS:=.d)

# Only the test with several ranks needs what `make setup` installs.
check-cuda:
	@nvidia-smi -L >/dev/null 2>&1 || \
	    { echo "there is no NVIDIA GPU here (nvidia-smi fails): make check-cuda needs one"; exit 1; }
	@$(MAKE) --no-print-directory -s -j$$(nproc) libordernet-cuda.so $(CUDA_TESTS)
	@if $(MAKE) --no-print-directory -s setup; then \
	    $(MAKE) --no-print-directory -s -j$$(nproc) $(CUDA_RANKS) && sh tests/cuda/check.sh $(CUDA_TESTS) $(CUDA_RANKS); \
	else \
	    echo "skipped: training by several ranks (test_cuda_ranks), which needs the libraries named above"; \
	    sh tests/cuda/check.sh $(CUDA_TESTS); \
	fi

# Without a GPU: nvcc reads the code, its warnings are errors; and in check-long it compiles it as for a GPU.
check-cuda-reads:
	@if $(NVCC) --version >/dev/null 2>&1; then \
	    $(MAKE) --no-print-directory -s -j$$(nproc) WERROR=1 CUDA_OPT='-O1 -Xcicc -O0' $(CUDA_SRC:%.cu=$(B)/cuda-reads/%.ptx); \
	else echo "skipped: no nvcc here ($(NVCC)), the GPU code was not read by it"; fi
$(B)/cuda-reads/%.ptx: %.cu
	@mkdir -p $(@D)
	$(call say,NVCC $<)
	$(Q)$(NVCC) $(filter-out $(CUDA_CODE),$(NVFLAGS)) -arch=compute_$(CUDA_ARCH) -MMD -MP -ptx $< -o $@

-include $(CUDA_SRC:%.cu=$(B)/cuda-reads/%.d)

check-cuda-builds:
	@if $(NVCC) --version >/dev/null 2>&1; then \
	    $(MAKE) --no-print-directory -j$$(nproc) B=$(B)/cuda-check WERROR=1 $(CUDA_OBJ:$(B)/%=$(B)/cuda-check/%); \
	else echo "skipped: no nvcc here ($(NVCC)), the GPU code was not compiled"; fi

CHECKS    += check-cuda-reads
LONG_CHECKS += check-cuda-builds
EARLY_BUILDS += check-cuda-reads
.PHONY: check-cuda check-cuda-reads check-cuda-builds
