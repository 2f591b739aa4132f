# make install PREFIX= DESTDIR= LIBDIR=: installs program, libraries, headers, man page, completions,
# documents, shipped models, and the browser page if it has been built; make uninstall removes them. make
# check-install tests both; check-symbols tests the exported symbols, check-header the headers.
LIBDIR    ?= $(PREFIX)/lib
INSTALL   ?= install
SHARE     := $(PREFIX)/share
COMPLETE  := $(B)/ordernet.bash $(B)/ordernet.zsh $(B)/ordernet.fish
HEADERS   := $(wildcard include/*.h)
MODELS    := $(wildcard models/*.safetensors)
# The data that the documents order, and the programs that they explain.
SAMPLES   := $(filter-out %.sh,$(wildcard examples/data/*.* examples/data/pages/* examples/*.*))
DOCS      := LICENSE README.md CHANGELOG.md CITATION.cff $(wildcard docs/* models/*.md) $(SAMPLES)

# Written each time, since PREFIX may differ from one call to the next.
ordernet.pc: FORCE
	@printf '%s\n' 'prefix=$(PREFIX)' 'includedir=$${prefix}/include' 'libdir=$(LIBDIR)' '' \
	    'Name: ordernet' 'Description: Learn an order from examples, and put new sets in order' \
	    'Version: $(VERSION)' 'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lordernet' \
	    'Libs.private: $(LIB_LIBS)' > $@

$(B)/ordernet.1: ordernet
	$(RUN) ./ordernet help --man > $@.tmp && mv $@.tmp $@

$(COMPLETE): $(B)/ordernet.%: ordernet
	$(RUN) ./ordernet completion $* > $@.tmp && mv $@.tmp $@

# A place as one word of the shell, whatever characters it has.
apostrophe := '
place      = '$(subst $(apostrophe),'\'',$(DESTDIR)$(1))'

install: all $(B)/ordernet.1 $(COMPLETE)
	$(INSTALL) -d $(call place,$(PREFIX)/bin) $(call place,$(PREFIX)/include) $(call place,$(LIBDIR)/pkgconfig) \
	    $(call place,$(SHARE)/man/man1) $(call place,$(SHARE)/bash-completion/completions) \
	    $(call place,$(SHARE)/zsh/site-functions) $(call place,$(SHARE)/fish/vendor_completions.d) \
	    $(call place,$(SHARE)/ordernet/models)
	$(INSTALL) -m 755 ordernet $(call place,$(PREFIX)/bin/ordernet)
	$(INSTALL) -m 644 $(HEADERS) $(call place,$(PREFIX)/include/)
	$(INSTALL) -m 644 libordernet.a $(call place,$(LIBDIR)/libordernet.a)
	$(INSTALL) -m 755 libordernet.so.$(VERSION) $(call place,$(LIBDIR)/libordernet.so.$(VERSION))
	ln -sf libordernet.so.$(VERSION) $(call place,$(LIBDIR)/libordernet.so.$(SOMAJOR))
	ln -sf libordernet.so.$(SOMAJOR) $(call place,$(LIBDIR)/libordernet.so)
	$(INSTALL) -m 644 ordernet.pc $(call place,$(LIBDIR)/pkgconfig/ordernet.pc)
	$(INSTALL) -m 644 $(B)/ordernet.1 $(call place,$(SHARE)/man/man1/ordernet.1)
	$(INSTALL) -m 644 $(B)/ordernet.bash $(call place,$(SHARE)/bash-completion/completions/ordernet)
	$(INSTALL) -m 644 $(B)/ordernet.zsh $(call place,$(SHARE)/zsh/site-functions/_ordernet)
	$(INSTALL) -m 644 $(B)/ordernet.fish $(call place,$(SHARE)/fish/vendor_completions.d/ordernet.fish)
	$(INSTALL) -m 644 $(MODELS) $(call place,$(SHARE)/ordernet/models/)
	for f in $(DOCS); do $(INSTALL) -D -m 644 $$f $(call place,$(SHARE)/doc/ordernet)/$$f || exit 1; done
	@# The page, if make page has built it: ordernet serve has it at /. Its word model is the shipped one, under a second name.
	[ ! -f $(B)/page/index.html ] || for f in $(filter-out models/words.safetensors,$(PAGE_NAMES)); do \
	    $(INSTALL) -D -m 644 $(B)/page/$$f $(call place,$(SHARE)/ordernet/page)/$$f || exit 1; done
	[ ! -f $(B)/page/index.html ] || ln -f $(call place,$(SHARE)/ordernet/models/words.safetensors) \
	    $(call place,$(SHARE)/ordernet/page/models/words.safetensors)
	@# The loader finds a new library in /usr/local/lib only through its cache.
	@[ -n $(call place,) ] || [ "$$(id -u)" != 0 ] || ldconfig 2>/dev/null || true

# Removes what install wrote; what others put beside it stays.
uninstall:
	rm -f $(call place,$(PREFIX)/bin/ordernet) $(foreach h,$(HEADERS),$(call place,$(PREFIX)/$(h))) \
	    $(call place,$(LIBDIR)/libordernet.a) $(call place,$(LIBDIR)/libordernet.so) \
	    $(call place,$(LIBDIR)/libordernet.so.$(SOMAJOR)) $(call place,$(LIBDIR)/libordernet.so.$(VERSION)) \
	    $(call place,$(LIBDIR)/pkgconfig/ordernet.pc) $(call place,$(SHARE)/man/man1/ordernet.1) \
	    $(call place,$(SHARE)/bash-completion/completions/ordernet) \
	    $(call place,$(SHARE)/zsh/site-functions/_ordernet) \
	    $(call place,$(SHARE)/fish/vendor_completions.d/ordernet.fish) \
	    $(foreach m,$(MODELS),$(call place,$(SHARE)/ordernet/$(m))) $(foreach d,$(DOCS),$(call place,$(SHARE)/doc/ordernet/$(d))) \
	    $(foreach f,$(PAGE_NAMES),$(call place,$(SHARE)/ordernet/page/$(f)))
	for d in docs models examples/data/pages examples/data examples ''; do rmdir $(call place,$(SHARE)/doc/ordernet)/"$$d" 2>/dev/null || true; done
	for d in page/models page models ''; do rmdir $(call place,$(SHARE)/ordernet)/"$$d" 2>/dev/null || true; done

# An optional library: part of all and of make install with NAME=1, removed by uninstall and clean in any case.
define optional # NAME, LIBRARY
ifdef $(1)
all: $(2)
install: install-$(1)
install-$(1): $(2)
	$(INSTALL) -d $$(call place,$(LIBDIR))
	$(INSTALL) -m 755 $(2) $$(call place,$(LIBDIR)/$(2))
endif
uninstall: uninstall-$(1)
uninstall-$(1):
	rm -f $$(call place,$(LIBDIR)/$(2))
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
