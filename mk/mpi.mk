# make MPI=1: the part that talks to MPI, in a library of its own that the program opens when mpirun started it.
# MPICC=mpicc.mpich builds it for MPICH.
MPICC     ?= mpicc

libordernet-mpi.so: src/mpi/mpi.c src/base/world.h include/ordernet.h
	$(MPICC) $(CPPFLAGS) $(ALLCFLAGS) -shared $< -o $@

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

.PHONY: install-mpi uninstall-mpi clean-mpi
