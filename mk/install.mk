# make install PREFIX= DESTDIR= LIBDIR=: program, libraries, headers, man page, completions, shipped models, and the page
# if it has been built.
LIBDIR    ?= $(PREFIX)/lib
INSTALL   ?= install
SHARE     := $(PREFIX)/share
COMPLETE  := $(B)/ordernet.bash $(B)/ordernet.zsh $(B)/ordernet.fish
HEADERS   := $(wildcard include/*.h)
MODELS    := $(wildcard models/*.safetensors)

# Written each time, since PREFIX may differ from one call to the next.
ordernet.pc: FORCE
	@printf '%s\n' 'prefix=$(PREFIX)' 'includedir=$${prefix}/include' 'libdir=$(LIBDIR)' '' \
	    'Name: ordernet' 'Description: Learn an order from examples, and put new sets in order' \
	    'Version: $(VERSION)' 'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lordernet' \
	    'Libs.private: $(LIB_LIBS)' > $@

$(B)/ordernet.1: ordernet
	./ordernet help --man > $@.tmp && mv $@.tmp $@

$(COMPLETE): $(B)/ordernet.%: ordernet
	./ordernet completion $* > $@.tmp && mv $@.tmp $@

install: all $(B)/ordernet.1 $(COMPLETE)
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(LIBDIR)/pkgconfig \
	    $(DESTDIR)$(SHARE)/man/man1 $(DESTDIR)$(SHARE)/bash-completion/completions \
	    $(DESTDIR)$(SHARE)/zsh/site-functions $(DESTDIR)$(SHARE)/fish/vendor_completions.d \
	    $(DESTDIR)$(SHARE)/ordernet/models
	$(INSTALL) -m 755 ordernet $(DESTDIR)$(PREFIX)/bin/ordernet
	$(INSTALL) -m 644 $(HEADERS) $(DESTDIR)$(PREFIX)/include/
	$(INSTALL) -m 644 libordernet.a $(DESTDIR)$(LIBDIR)/libordernet.a
	$(INSTALL) -m 755 libordernet.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libordernet.so.$(VERSION)
	ln -sf libordernet.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libordernet.so.$(SOMAJOR)
	ln -sf libordernet.so.$(SOMAJOR) $(DESTDIR)$(LIBDIR)/libordernet.so
	$(INSTALL) -m 644 ordernet.pc $(DESTDIR)$(LIBDIR)/pkgconfig/ordernet.pc
	$(INSTALL) -m 644 $(B)/ordernet.1 $(DESTDIR)$(SHARE)/man/man1/ordernet.1
	$(INSTALL) -m 644 $(B)/ordernet.bash $(DESTDIR)$(SHARE)/bash-completion/completions/ordernet
	$(INSTALL) -m 644 $(B)/ordernet.zsh $(DESTDIR)$(SHARE)/zsh/site-functions/_ordernet
	$(INSTALL) -m 644 $(B)/ordernet.fish $(DESTDIR)$(SHARE)/fish/vendor_completions.d/ordernet.fish
	for m in $(MODELS); do $(INSTALL) -m 644 $$m $(DESTDIR)$(SHARE)/ordernet/models/ || exit 1; done
	@# The page, if make page has built it: ordernet serve has it at /.
	[ ! -f $(B)/page/index.html ] || (cd $(B)/page && find . -type f) | while read -r f; do \
	    $(INSTALL) -D -m 644 $(B)/page/$$f $(DESTDIR)$(SHARE)/ordernet/page/$$f || exit 1; done
	@# The loader finds a new library in /usr/local/lib only through its cache.
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || ldconfig 2>/dev/null || true

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/ordernet $(HEADERS:%=$(DESTDIR)$(PREFIX)/%) \
	    $(DESTDIR)$(LIBDIR)/libordernet.a $(DESTDIR)$(LIBDIR)/libordernet.so \
	    $(DESTDIR)$(LIBDIR)/libordernet.so.$(SOMAJOR) $(DESTDIR)$(LIBDIR)/libordernet.so.$(VERSION) \
	    $(DESTDIR)$(LIBDIR)/pkgconfig/ordernet.pc $(DESTDIR)$(SHARE)/man/man1/ordernet.1 \
	    $(DESTDIR)$(SHARE)/bash-completion/completions/ordernet \
	    $(DESTDIR)$(SHARE)/zsh/site-functions/_ordernet \
	    $(DESTDIR)$(SHARE)/fish/vendor_completions.d/ordernet.fish
	rm -rf $(DESTDIR)$(SHARE)/ordernet

# An optional library: part of all and of make install with NAME=1, removed by uninstall and clean in any case.
define optional # NAME, LIBRARY
ifdef $(1)
all: $(2)
install: install-$(1)
install-$(1): $(2)
	$(INSTALL) -d $(DESTDIR)$(LIBDIR)
	$(INSTALL) -m 755 $(2) $(DESTDIR)$(LIBDIR)/$(2)
endif
uninstall: uninstall-$(1)
uninstall-$(1):
	rm -f $(DESTDIR)$(LIBDIR)/$(2)
clean: clean-$(1)
clean-$(1):
	rm -f $(2)
.PHONY: install-$(1) uninstall-$(1) clean-$(1)
endef
$(eval $(call optional,CUDA,libordernet-cuda.so))
$(eval $(call optional,MPI,libordernet-mpi.so))

CHECKS    += check-symbols check-header check-install
check-header:
	@CC='$(CC)' CXX='$(CXX)' sh tests/header.sh
check-symbols: libordernet.so libordernet.a
	@sh tests/symbols.sh
check-install: all $(B)/ordernet.1 $(COMPLETE)
	@MAKE='$(MAKE)' CC='$(CC)' sh tests/install.sh

FORCE:
.PHONY: install uninstall check-symbols check-header check-install FORCE
