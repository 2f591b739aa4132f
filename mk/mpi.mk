# make MPI=1: builds the MPI code into a library of its own, which the program loads if mpirun started it.
# MPICC=mpicc.mpich builds it for MPICH. make check-mpi: tests it with every MPI that is installed.
MPICC     ?= mpicc

libordernet-mpi.so: src/engine/mpi/mpi.c src/engine/base/world.h include/ordernet.h $(B)/MPICC.value
	$(call say,MPICC $<)
	$(Q)$(MPICC) $(CPPFLAGS) $(ALLCFLAGS) -shared $< -o $@

# The tests use every MPI that is installed, by the names of Debian's compilers.
MPI_HERE  := $(foreach m,openmpi mpich,$(if $(shell command -v mpicc.$(m)),$(B)/$(m)/libordernet-mpi.so))
$(B)/%/libordernet-mpi.so: src/engine/mpi/mpi.c src/engine/base/world.h include/ordernet.h $(B)/MPICC.value
	@mkdir -p $(@D)
	$(call say,MPICC $< for $*)
	$(Q)mpicc.$* $(CPPFLAGS) $(ALLCFLAGS) -shared $< -o $@

TSAN_TESTS += world
CHECKS    += check-mpi
check-mpi: $(PROGRAM) $(MPI_HERE)
	@ORDERNET=$(PROGRAM) B=$(B) sh tests/mpi.sh

.PHONY: check-mpi
