# make MPI=1: the part that talks to MPI, in a library of its own that the program opens when mpirun started it.
# MPICC=mpicc.mpich builds it for MPICH.
MPICC     ?= mpicc

libordernet-mpi.so: src/mpi/mpi.c src/base/world.h include/ordernet.h $(B)/MPICC.value
	$(call say,MPICC $<)
	$(Q)$(MPICC) $(CPPFLAGS) $(ALLCFLAGS) -shared $< -o $@

ifdef MPI
all: libordernet-mpi.so
install: install-mpi
install-mpi: libordernet-mpi.so
	$(INSTALL) -d $(DESTDIR)$(LIBDIR)
	$(INSTALL) -m 755 libordernet-mpi.so $(DESTDIR)$(LIBDIR)/libordernet-mpi.so
endif
uninstall: uninstall-mpi
uninstall-mpi:
	rm -f $(DESTDIR)$(LIBDIR)/libordernet-mpi.so
clean: clean-mpi
clean-mpi:
	rm -f libordernet-mpi.so

# The tests take every MPI that is here: Debian's names of their compilers.
MPI_HERE  := $(foreach m,openmpi mpich,$(if $(shell command -v mpicc.$(m)),$(B)/$(m)/libordernet-mpi.so))
$(B)/%/libordernet-mpi.so: src/mpi/mpi.c src/base/world.h include/ordernet.h $(B)/MPICC.value
	@mkdir -p $(@D)
	$(call say,MPICC $< for $*)
	$(Q)mpicc.$* $(CPPFLAGS) $(ALLCFLAGS) -shared $< -o $@

TSAN_TESTS += world
CHECKS    += check-mpi
check-mpi: $(PROGRAM) $(MPI_HERE)
	@ORDERNET=$(PROGRAM) B=$(B) sh tests/mpi.sh

# Both MPIs, where Debian's packages can be installed; large, and only the tests want both.
setup-mpi:
	@sh mk/setup-mpi.sh

.PHONY: check-mpi setup-mpi install-mpi uninstall-mpi clean-mpi
