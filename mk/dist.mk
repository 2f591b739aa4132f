# make dist: builds the downloads in dist/: the source as ordernet-VERSION.tar.xz, and the statically linked
# program with its models as ordernet-VERSION-linux-CPU.tar.xz. make dist-aarch64 cross-compiles the latter,
# with Debian's libraries for arm64 in the folder build/arm64, which mmdebstrap fills.
DIST        := ordernet-$(VERSION)
CPU          = $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
STATIC       = dist/$(DIST)-linux-$(CPU).tar.xz
# What is never called is at address 0: libmicrohttpd's TLS, which the server does not use, and ICU (src/front/static/absent.c).
UNUSED       = $(shell nm -u $(foreach l,microhttpd xml2,$(shell $(CC) -print-file-name=lib$(l).a)) 2>/dev/null | \
               sed -n 's/^ *U \(gnutls_[^g].*\|ucnv_[a-z]*[A-Z].*\|UCNV_.*\)/-Wl,--defsym=\1=0/p' | sort -u)
STATIC_CLI   = -Wl,--start-group -lz -llzma -lutf8proc $(CLI_LIBS) -lpixman-1 -lfontconfig -lexpat -lfreetype -lpng16 -lbrotlidec -lbrotlicommon \
               -luuid -lX11 -lXext -lXrender -lxcb -lxcb-shm -lxcb-render -lXau -lXdmcp -Wl,--end-group -lm -pthread
# Two builds of one commit give the same bytes: no names, times or order of the machine's own.
TAR          = LC_ALL=C tar --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw --mtime=@$(COMMITTED) -c
COMMITTED    = $(shell git log -1 --format=%ct)

dist: dist-source dist-static

dist-source:
	@mkdir -p dist
	$(call say,TAR dist/$(DIST).tar.xz)
	$(Q)git archive --prefix=$(DIST)/ HEAD | xz -9e -T1 > dist/$(DIST).tar.xz

$(B)/static/ordernet: $(LIB_OBJ) $(CLI_OBJ) $(B)/src/front/static/absent.o
	@mkdir -p $(@D)
	$(call say,LD $@)
	$(Q)$(CC) -static -s $^ $(LDFLAGS) $(UNUSED) $(STATIC_CLI) -o $@

# For another CPU: make, with its compiler and libraries and a folder of its own.
SUITE       ?= bookworm
ARM64       := $(CURDIR)/build/arm64
CROSS        = $(MAKE) --no-print-directory B=build/aarch64 PROGRAM=build/aarch64/ordernet SYSROOT=$(ARM64) CC='aarch64-linux-gnu-gcc --sysroot=$(ARM64)'
$(ARM64)/usr/lib:
	@command -v mmdebstrap >/dev/null || { echo "mmdebstrap is not installed (Debian: mmdebstrap)"; exit 1; }
	$(call say,MMDEBSTRAP $(@D:/usr=))
	$(Q)mmdebstrap --quiet --variant=extract --architectures=arm64 --include=libc6-dev,libjansson-dev,zlib1g-dev,liblzma-dev,libutf8proc-dev,libcairo2-dev,libjpeg62-turbo-dev,libmicrohttpd-dev,libxml2-dev \
	    $(SUITE) $(@D:/usr=)
dist-aarch64: $(ARM64)/usr/lib
	$(Q)$(CROSS) -j$$(nproc) dist-static

dist-static: $(B)/static/ordernet
	@mkdir -p dist && rm -rf $(B)/$(DIST) && mkdir -p $(B)/$(DIST)/models
	$(Q)cp $< LICENSE README.md $(B)/$(DIST) && cp models/*.safetensors models/*.md $(B)/$(DIST)/models
	$(call say,TAR $(STATIC))
	$(Q)$(TAR) -C $(B) $(DIST) | xz -9e -T1 > $(STATIC)

# make deb: Debian packages, in dist/debian, from a copy of the commit, for this CPU.
deb:
	@rm -rf $(B)/deb && mkdir -p $(B)/deb dist/debian
	$(Q)git archive --prefix=$(DIST)/ HEAD | tar -x -C $(B)/deb
	$(Q)git archive --prefix=$(DIST)/ HEAD -- . ':!debian' | xz -T1 > $(B)/deb/ordernet_$(VERSION).orig.tar.xz
	$(call say,DPKG-BUILDPACKAGE)
	$(Q)cd $(B)/deb/$(DIST) && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL dpkg-buildpackage -d -us -uc -j$$(nproc) >../log 2>&1 || { tail -30 ../log; exit 1; }
	$(Q)cp $(B)/deb/*.deb dist/debian && ls dist/debian

LONG_CHECKS += check-deb
check-deb: deb
	@sh tests/debian.sh dist/debian $(SUITE)

# The source is the same bytes twice and builds without a network; the static program, without any file of this machine beside it,
# orders words, pages and cities, draws and serves; that for ARM under QEMU. A minute or two.
LONG_CHECKS += check-dist
check-dist: dist dist-aarch64
	@sh tests/dist.sh $(DIST) $(CPU)

.PHONY: dist dist-source dist-static dist-aarch64 check-dist deb check-deb
