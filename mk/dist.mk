# Builds and tests what is published. make dist: the source as dist/ordernet-VERSION.tar.xz, and the statically linked program
# with its models and the page as dist/ordernet-VERSION-linux-CPU.tar.xz (dist-aarch64: the latter for ARM). make deb and
# deb-arm64: Debian packages in dist/debian. make container: an image of the server. check-dist and check-debs test them.
DIST        := ordernet-$(VERSION)
CPU          = $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
STATIC       = dist/$(DIST)-linux-$(CPU).tar.xz
# Functions that are never called are linked at address 0: libmicrohttpd's TLS, which the server does not use, and ICU (src/front/static/absent.c).
UNUSED       = $(shell nm -u $(foreach l,microhttpd xml2,$(shell $(CC) -print-file-name=lib$(l).a)) 2>/dev/null | \
               sed -n 's/^ *U \(gnutls_[^g].*\|ucnv_[a-z]*[A-Z].*\|UCNV_.*\)/-Wl,--defsym=\1=0/p' | sort -u)
STATIC_CLI   = -Wl,--start-group -lz -llzma -lutf8proc $(CLI_LIBS) -lpixman-1 -lfontconfig -lexpat -lfreetype -lpng16 -lbrotlidec -lbrotlicommon \
               -luuid -lX11 -lXext -lXrender -lxcb -lxcb-shm -lxcb-render -lXau -lXdmcp -Wl,--end-group -lm -pthread
# Two builds of one commit give the same bytes: no names, times or order of the machine's own.
TAR          = LC_ALL=C tar --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw --mtime=@$(COMMITTED) -c
COMMITTED    = $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null),$(shell stat -c %Y CHANGELOG.md))
# The source archive and the Debian packages are made of a commit; the program's archive is made of the working tree.
NEED_GIT     = @git rev-parse -q --verify HEAD >/dev/null 2>&1 || { echo "$@ is made of a commit: this is no git repository"; exit 1; }
# Whose code is in the program. Their notices come along, and the licences that these name: those of cairo, libmicrohttpd and
# glibc (LGPL) allow it because the source archive links the program with other versions of them.
INSIDE       := libc6-dev zlib1g-dev liblzma-dev libutf8proc-dev libjansson-dev libcairo2-dev libjpeg62-turbo-dev libmicrohttpd-dev \
               libxml2-dev libpixman-1-dev libfontconfig-dev libexpat1-dev libfreetype-dev libpng-dev libbrotli-dev uuid-dev libx11-dev \
               libxext-dev libxrender-dev libxcb1-dev libxcb-shm0-dev libxcb-render0-dev libxau-dev libxdmcp-dev

dist: dist-source dist-static

dist-source:
	$(NEED_GIT)
	@mkdir -p dist
	$(call say,TAR dist/$(DIST).tar.xz)
	$(Q)git archive --prefix=$(DIST)/ HEAD | xz -9e -T1 > dist/$(DIST).tar.xz

$(B)/static/ordernet: $(LIB_OBJ) $(CLI_OBJ) $(B)/src/front/static/absent.o
	@mkdir -p $(@D)
	$(call say,LD $@)
	$(Q)$(CC) -static -s $^ $(LDFLAGS) $(UNUSED) $(STATIC_CLI) -o $@

# For another CPU: make, with its compiler, a folder of its own, and Debian's libraries for arm64 in build/arm64, which
# mmdebstrap fills. Python and NumPy are there to try the wheel.
SUITE       ?= bookworm
ARM64       := $(CURDIR)/build/arm64
CROSS        = $(MAKE) --no-print-directory B=build/aarch64 PROGRAM=build/aarch64/ordernet SYSROOT=$(ARM64) DIST_PAGE=$(PAGE) \
               CC='aarch64-linux-gnu-gcc --sysroot=$(ARM64)'
$(ARM64)/usr/lib:
	@command -v mmdebstrap >/dev/null || { echo "mmdebstrap is not installed (Debian: mmdebstrap)"; exit 1; }
	$(call say,MMDEBSTRAP $(@D:/usr=))
	$(Q)mmdebstrap --quiet --variant=extract --architectures=arm64 --include=libc6-dev,libjansson-dev,zlib1g-dev,liblzma-dev,libutf8proc-dev,libcairo2-dev,libjpeg62-turbo-dev,libmicrohttpd-dev,libxml2-dev,python3-numpy \
	    $(SUITE) $(@D:/usr=)
dist-aarch64: setup-debian $(ARM64)/usr/lib
	$(BUILD_PAGE)
	$(Q)$(CROSS) -j$$(nproc) dist-static

# The browser page is built by this CPU's program; its word model is the shipped one, under a second name.
DIST_PAGE   ?= $(PAGE)
BUILD_PAGE   = $(if $(WASM_HERE),$(Q)$(MAKE) --no-print-directory -s page)
dist-static: $(B)/static/ordernet
	$(if $(SYSROOT),,$(BUILD_PAGE))
	@mkdir -p dist && rm -rf $(B)/$(DIST) && mkdir -p $(B)/$(DIST)/models $(B)/$(DIST)/licences
	$(Q)cp $< LICENSE README.md CHANGELOG.md CITATION.cff $(B)/$(DIST) && cp -r docs $(B)/$(DIST) && cp models/*.safetensors models/*.md $(B)/$(DIST)/models
	$(Q)for f in $(SAMPLES); do $(INSTALL) -D -m 644 $$f $(B)/$(DIST)/$$f || exit 1; done
	$(Q)cp debian/copyright $(B)/$(DIST)/licences/ordernet.txt
	$(Q)for p in $(INSIDE); do cp $(SYSROOT)/usr/share/doc/$$p/copyright $(B)/$(DIST)/licences/$$p.txt || exit 1; done
	$(Q)for l in $$(sed -n 's|.*/usr/share/common-licenses/\([A-Za-z0-9.-]*[A-Za-z0-9]\).*|\1|p' $(B)/$(DIST)/licences/*.txt | sort -u); do \
	    cp -L /usr/share/common-licenses/$$l $(B)/$(DIST)/licences/$$l || exit 1; done
	$(Q)if [ -f $(DIST_PAGE)/index.html ]; then for f in $(filter-out models/words.safetensors,$(PAGE_NAMES)); do \
	    $(INSTALL) -D -m 644 $(DIST_PAGE)/$$f $(B)/$(DIST)/page/$$f || exit 1; done && \
	    ln $(B)/$(DIST)/models/words.safetensors $(B)/$(DIST)/page/models/words.safetensors; \
	else echo "without the page: no clang for WebAssembly here (make setup-page)"; fi
	$(call say,TAR $(STATIC))
	$(Q)$(TAR) -C $(B) $(DIST) | xz -9e -T1 > $(STATIC)

# make deb: Debian packages, in dist/debian, from a copy of the commit, for this CPU; make deb-arm64: those for arm64, cross-built
# in a Debian system of their own, and tried there by QEMU.
deb: setup-debian
	$(NEED_GIT)
	@rm -rf $(B)/deb && mkdir -p $(B)/deb dist/debian && rm -f dist/debian/*_$(DEB_CPU).deb dist/debian/*_all.deb
	$(Q)git archive --prefix=$(DIST)/ HEAD | tar -x -C $(B)/deb
	$(Q)git archive --prefix=$(DIST)/ HEAD -- . ':!debian' | xz -1 -T1 > $(B)/deb/ordernet_$(VERSION).orig.tar.xz
	$(call say,DPKG-BUILDPACKAGE)
	$(Q)cd $(B)/deb/$(DIST) && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL dpkg-buildpackage -d -us -uc -j$$(nproc) >../log 2>&1 || { tail -30 ../log; exit 1; }
	$(Q)cp $(B)/deb/*.deb dist/debian && ls dist/debian
deb-arm64: setup-debian
	$(NEED_GIT)
	@rm -rf $(B)/deb-arm64 && mkdir -p $(B)/deb-arm64 dist/debian && rm -f dist/debian/*_arm64.deb
	$(Q)git archive --prefix=$(DIST)/ HEAD | tar -x -C $(B)/deb-arm64
	$(call say,DPKG-BUILDPACKAGE arm64)
	$(Q)timeout 3600 sh mk/deb-arm64.sh $(B)/deb-arm64 $(DIST) $(SUITE) dist/debian && ls dist/debian
DEB_CPU      = $(shell dpkg --print-architecture)

# One after the other, since the last two take packages of the first.
LONG_CHECKS += check-debs
check-debs:
	@$(MAKE) --no-print-directory -k check-deb check-deb-arm64 check-container
check-deb: deb
	@sh tests/debian.sh dist/debian $(SUITE)
check-deb-arm64:
	@if [ "$$(id -u)" != 0 ] || [ "$(DEB_CPU)" != amd64 ]; then echo "skipped: only root on amd64 cross-builds packages for arm64, in a system of their own"; \
	else $(MAKE) --no-print-directory deb-arm64 && lintian --fail-on error --suppress-tags initial-upload-closes-no-bugs dist/debian/*_arm64.deb && \
	    echo "1 passed, 0 failed"; fi

# The source is the same bytes in another folder and builds without a network, and the static program is the same bytes again;
# without any file of this machine beside it, it orders words, pages and cities, draws and serves; the program for ARM is tried
# under QEMU.
LONG_CHECKS += check-dist
check-dist: dist
	@rm -f dist/$(DIST)-linux-aarch64.tar.xz
	@$(MAKE) --no-print-directory dist-aarch64 >$(B)/dist-aarch64.log 2>&1 || \
	    echo "skipped: the program for ARM was not built: $$(tail -1 $(B)/dist-aarch64.log)"
	@sh tests/dist.sh $(DIST) $(CPU)

# make container: the server as an image, from the packages.
CONTAINER   ?= $(firstword $(shell command -v podman buildah docker))
container:
	@[ -n "$(CONTAINER)" ] || { echo "there is no podman, buildah or docker here (Debian: podman)"; exit 1; }
	@ls dist/debian/ordernet_$(VERSION)-*_$(DEB_CPU).deb >/dev/null 2>&1 || $(MAKE) --no-print-directory deb
	$(CONTAINER) build -t ordernet $(BASE:%=--build-arg BASE=%) -f Containerfile .
check-container:
	@ls dist/debian/ordernet_$(VERSION)-*_$(DEB_CPU).deb >/dev/null 2>&1 || $(MAKE) --no-print-directory deb
	@sh tests/container.sh $(SUITE)

.PHONY: dist dist-source dist-static dist-aarch64 check-dist deb deb-arm64 check-deb check-deb-arm64 check-debs check-container container
