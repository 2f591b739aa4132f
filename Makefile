# Builds the program `ordernet` and the library (libordernet.a, libordernet.so) from src. The other targets are in
# mk/*.mk: `make demo` shows the program, `make check` tests it, `make install` installs it; see README.md.

# The header has the version: "#define ONET_VERSION_MAJOR 0", MINOR, PATCH.
VERSION   := $(shell sed -n 's/^.define ONET_VERSION_[A-Z]* //p' include/ordernet.h | paste -sd.)
# The number of the ABI: raised when programs that were compiled with an older header no longer work.
SOMAJOR   := 1
PREFIX    ?= /usr/local
DESTDIR   ?=
CC        ?= cc
B         ?= build
# The program; a build for a test (sanitizers) puts its own elsewhere.
PROGRAM   ?= ordernet

# Data for tests and experiments, kept outside the repository; tests that need a file skip if it is not there.
ORDERNET_SHARED ?= ../shared
export ORDERNET_SHARED

# A recipe's long commands are printed as one short line, such as "CC src/x.c"; whole with V=1, not at all with -s.
ifdef V
say        =
Q         :=
else
say        = $(if $(findstring s,$(firstword -$(MAKEFLAGS))),,$(info $(1)))
Q         := @
endif

OPT       ?= -O2
WARN      := -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wconversion -Wno-sign-conversion -Wno-unknown-warning-option -Wno-format-truncation
# Not with clang, which also reports NAN and INFINITY, floats in C, where a double is initialised with them.
WARN      += $(if $(findstring clang,$(shell $(CC) --version)),,-Wdouble-promotion)
ifdef WERROR
WARN      += -Werror
endif
CPPFLAGS  += -Iinclude -Isrc -D_GNU_SOURCE
# Only the layout task includes libxml2.
$(B)/src/tasks/layout/%.o $(B)/tests/test_pages $(B)/tests/test_browser_xml $(B)/tests/test_pages.o $(B)/tests/test_browser_xml.o $(B)/bench/pages $(B)/fuzz/replay_pages build/fuzz/fuzz_pages: CPPFLAGS += -I$(SYSROOT)/usr/include/libxml2
# -ffp-contract=off: the plain kernels give the same bits with gcc and clang; fused multiply-adds are written out.
CFLAGS    ?= $(OPT) -g
ALLCFLAGS  = -std=c11 -fPIC -fvisibility=hidden -pthread -ffp-contract=off $(WARN) $(CFLAGS) $(SAN)
LIB_LIBS  := -lz -llzma -lutf8proc -lm -ldl -pthread
CLI_LIBS  := -ljansson -lcairo -ljpeg -lmicrohttpd -lxml2

# The folders in the order in which data flows through them; the library has those up to the tasks' own.
ENGINE    := $(addprefix engine/,base words data model kernels train decode evaluate tune)
LIB_DIRS  := $(ENGINE) tasks/tours/solve tasks/words/sentence tasks/layout/order
CLI_DIRS  := app tasks $(patsubst src/%/,%,$(sort $(wildcard src/tasks/*/))) front/serve front/cli
LIB_SRC   := $(foreach d,$(LIB_DIRS),$(sort $(wildcard src/$(d)/*.c)))
CLI_SRC   := $(foreach d,$(CLI_DIRS),$(sort $(wildcard src/$(d)/*.c)))
LIB_OBJ   := $(LIB_SRC:%.c=$(B)/%.o)
CLI_OBJ   := $(CLI_SRC:%.c=$(B)/%.o)

all: $(PROGRAM) libordernet.a libordernet.so ordernet.pc

include mk/*.mk

# $(B)/NAME.value holds the value that the make variable NAME had at the last build; targets that NAME affects depend on
# it, so that they are built again when the value changes.
$(B)/%.value: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$($*)' | cmp -s - $@ || printf '%s\n' '$($*)' > $@
.PRECIOUS: $(B)/%.value

CHECKS    += check-rebuild
check-rebuild:
	@MAKE='$(MAKE)' sh tests/rebuild.sh

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC $<)
	$(Q)$(CC) $(CPPFLAGS) $(ALLCFLAGS) $(KFLAGS) -MMD -MP -c $< -o $@

# What a training step does beside its kernels: small loops that the compiler vectorises at -O3.
$(patsubst %,$(B)/src/engine/kernels/%.o,cpu cpu_memory cpu_optimise cpu_encoder cpu_pool cpu_decoder cpu_head) $(B)/src/engine/kernels/weights.o: KFLAGS := -O3
# Kernels for one instruction set each, in files of their own; picked at run time.
# On other CPUs these files are empty and the plain kernels are used. With sanitizers avx512.c takes a minute at -O3.
AVX_OPT   ?= $(if $(SAN),-O1,-O3)
ifneq (,$(findstring x86_64,$(shell $(CC) -dumpmachine)))
$(B)/src/engine/kernels/avx2.o: KFLAGS := $(AVX_OPT) -mavx2 -mfma
$(B)/src/engine/kernels/avx512.o: KFLAGS := $(AVX_OPT) -mavx512f -mavx512vl -mavx512bw -mavx512dq -mfma
endif
$(B)/src/engine/kernels/neon.o: KFLAGS := -O3

$(PROGRAM): $(LIB_OBJ) $(CLI_OBJ)
	$(call say,LD $@)
	$(Q)$(CC) $(SAN) $^ $(LDFLAGS) $(LIB_LIBS) $(CLI_LIBS) -o $@

libordernet.so.$(VERSION): $(LIB_OBJ)
	$(call say,LD $@)
	$(Q)$(CC) $(SAN) -shared -Wl,-soname,libordernet.so.$(SOMAJOR) $^ $(LDFLAGS) $(LIB_LIBS) -o $@

libordernet.so: libordernet.so.$(VERSION)
	$(Q)ln -sf $< libordernet.so.$(SOMAJOR)
	$(Q)ln -sf libordernet.so.$(SOMAJOR) $@

# The compiler's own ld, objcopy and ar, which for another CPU are not those of this one.
binutil    = $(shell $(CC) -print-prog-name=$(1))
# One object in which only onet_ names are visible, as in the shared library.
libordernet.a: $(LIB_OBJ)
	$(call say,AR $@)
	$(Q)$(call binutil,ld) -r $^ -o $(B)/ordernet.o
	$(Q)$(call binutil,objcopy) --wildcard --keep-global-symbol='onet_*' $(B)/ordernet.o
	$(Q)rm -f $@ && $(call binutil,ar) rcs $@ $(B)/ordernet.o

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d)

clean:
	rm -rf $(B) ordernet libordernet.* ordernet.pc demo

# For scripts that are run without make.
print-shared:
	@echo $(ORDERNET_SHARED)

.PHONY: all clean print-shared check-rebuild
