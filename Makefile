# OrderNet. `make` builds, `make demo` shows it, `make check` proves it; see README.md.
# The header has the version: "#define ONET_VERSION_MAJOR 0", MINOR, PATCH.
VERSION   := $(shell sed -n 's/^.define ONET_VERSION_[A-Z]* //p' include/ordernet.h | paste -sd.)
SOMAJOR   := $(firstword $(subst ., ,$(VERSION)))
PREFIX    ?= /usr/local
DESTDIR   ?=
CC        ?= cc
B         ?= build
# The program; a build for a test (sanitizers) puts its own elsewhere.
PROGRAM   ?= ordernet

OPT       ?= -O2
WARN      := -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wno-unknown-warning-option -Wno-format-truncation
ifdef WERROR
WARN      += -Werror
endif
CPPFLAGS  += -Iinclude -Isrc -D_GNU_SOURCE
# -ffp-contract=off: the plain kernels give the same bits with gcc and clang; fused multiply-adds are written out.
CFLAGS    ?= $(OPT) -g
ALLCFLAGS  = -std=c11 -fPIC -fvisibility=hidden -pthread -ffp-contract=off $(WARN) $(CFLAGS) $(SAN)
LIB_LIBS  := -lz -llzma -lutf8proc -lm -ldl -pthread
CLI_LIBS  := -ljansson -lcairo

# The folders in the order in which data flows through them.
LIB_DIRS  := base data words model kernels train decode evaluate
CLI_DIRS  := tsp show cli
LIB_SRC   := $(foreach d,$(LIB_DIRS),$(sort $(wildcard src/$(d)/*.c)))
CLI_SRC   := $(foreach d,$(CLI_DIRS),$(sort $(wildcard src/$(d)/*.c)))
LIB_OBJ   := $(LIB_SRC:%.c=$(B)/%.o)
CLI_OBJ   := $(CLI_SRC:%.c=$(B)/%.o)

all: $(PROGRAM) libordernet.a libordernet.so ordernet.pc

include mk/*.mk

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALLCFLAGS) $(KFLAGS) -MMD -MP -c $< -o $@

# What a training step does beside its kernels: small loops, which the compiler turns into vectors.
$(patsubst %,$(B)/src/kernels/%.o,cpu cpu_encoder cpu_decoder cpu_head) $(B)/src/kernels/weights.o: KFLAGS := -O3
# Kernels for one instruction set each, in files of their own; picked at run time.
# On other processors these files are empty and the plain kernels serve.
ifneq (,$(findstring x86_64,$(shell $(CC) -dumpmachine)))
$(B)/src/kernels/avx2.o: KFLAGS := -O3 -mavx2 -mfma
$(B)/src/kernels/avx512.o: KFLAGS := -O3 -mavx512f -mavx512vl -mavx512bw -mavx512dq -mfma
endif

$(PROGRAM): $(LIB_OBJ) $(CLI_OBJ)
	$(CC) $(SAN) $^ $(LDFLAGS) $(LIB_LIBS) $(CLI_LIBS) -o $@

libordernet.so.$(VERSION): $(LIB_OBJ)
	$(CC) $(SAN) -shared -Wl,-soname,libordernet.so.$(SOMAJOR) $^ $(LDFLAGS) $(LIB_LIBS) -o $@

libordernet.so: libordernet.so.$(VERSION)
	ln -sf $< libordernet.so.$(SOMAJOR)
	ln -sf libordernet.so.$(SOMAJOR) $@

# One object in which only onet_ names are visible, as in the shared library.
libordernet.a: $(LIB_OBJ)
	ld -r $^ -o $(B)/ordernet.o
	objcopy --wildcard --keep-global-symbol='onet_*' $(B)/ordernet.o
	rm -f $@ && ar rcs $@ $(B)/ordernet.o

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d)

clean:
	rm -rf $(B) ordernet libordernet.* ordernet.pc demo

.PHONY: all clean
