# argus: library, command-line program, tests. GNU make.
#
#   make              build        make install     install below the prefix
#   make demo         everything from nothing: set-up, build, ffmpeg, captions
#   make check        everything from nothing: set-up, build, all tests
#   make help         the other targets
#
# Run in the source tree, all output goes to build/. Run configure from another
# directory to build there instead.

S := $(patsubst %/,%,$(dir $(realpath $(lastword $(MAKEFILE_LIST)))))
# One spelling of the build directory, since dependency files name targets by it.
B ?= build
override B := $(abspath $(B))

.DEFAULT_GOAL := all
SHELL := /bin/sh
MAKEFLAGS += -r

# Targets that need no configured tree, so that they work on a bare machine.
BARE := help demo check check-aarch64 setup asan distclean
ifneq ($(filter-out $(BARE),$(or $(MAKECMDGOALS),all)),)
include $(B)/config.mak
endif

# Runs again, with the same options, when configure is newer.
$(B)/config.mak: $(S)/configure
	@echo "CONF    $(B)/config.mak"
	@mkdir -p $(B)
	$(Q)cd $(B) && $(S)/configure $(CONFIGURE_ARGS) >configure.out 2>&1 || \
	    { cat configure.out; echo "make setup installs the packages that are missing."; exit 1; }
	$(Q)rm -f $(B)/configure.out

# make V=1 prints the commands.
ifneq ($(V),1)
Q := @
SAY = @printf '%-7s %s\n'
else
SAY = @:
endif

ALL_CFLAGS = $(CFLAGS) $(WARNFLAGS) -I$(S) -I$(B)

$(B)/%.o: $(S)/%.c $(B)/config.mak
	$(SAY) CC $*.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(FLAGS) -MMD -MP -c -o $@ $<

all:

include $(S)/libargus/Makefile
include $(S)/tools/Makefile
include $(S)/tests/Makefile
-include $(shell test -d $(B) && find $(B)/libargus $(B)/tools $(B)/tests -name '*.d' 2>/dev/null)

# --- everything from nothing

# All cores, unless make was told how many.
JOBS = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 1))

setup:
	@$(S)/tools/setup.sh check $(B)/config.mak

demo:
	@$(S)/tools/setup.sh demo $(B)/config.mak
	@$(MAKE) --no-print-directory $(JOBS) all
	@$(S)/tools/ffmpeg.sh $(B)
	@$(S)/tools/demo.sh $(B)

check:
	@$(S)/tools/setup.sh check $(B)/config.mak
	@MAKE="$(MAKE) --no-print-directory" JOBS="$(JOBS)" $(S)/tests/ci.sh $(B)

# For AArch64 with a cross compiler, under qemu; skipped where these are not installed.
check-aarch64:
	@MAKE="$(MAKE) --no-print-directory" JOBS="$(JOBS)" $(S)/tests/aarch64.sh $(B)

asan:
	@MAKE="$(MAKE) --no-print-directory" JOBS="$(JOBS)" $(S)/tests/asan.sh $(B)

# The patches against the releases: V=7.1.5 or V=all; FATE=all for all of FFmpeg's tests.
check-ffmpeg: lib
	@FATE="$(FATE)" $(S)/tools/check-ffmpeg.sh $(B) $(filter-out all 1,$(V))

# --- install: DESTDIR=DIR puts everything below DIR, prefix=DIR overrides configure

PC_DIR = $(libdir)/pkgconfig
DOC_DIR = $(datadir)/doc/argus
BASH_COMPLETION = $(datadir)/bash-completion/completions/argus
ZSH_COMPLETION = $(datadir)/zsh/site-functions/_argus
# Only static: what the library needs is public. Both: only for pkg-config --static.
PC_PRIVATE = $(if $(filter yes,$(CONFIG_SHARED)),.private)
PC_DEPS = Requires$(PC_PRIVATE): jansson libpcre2-8
INSTALLED_LIBS = $(if $(filter yes,$(CONFIG_STATIC)),libargus.a) \
    $(if $(filter yes,$(CONFIG_SHARED)),$(notdir $(LIB_SO)) libargus.so.$(LIB_MAJOR) libargus.so)

define PC_HEAD
Name: libargus
Description: captions for pictures and video from small vision-language models
Version: $(LIB_VERSION)
endef
define PC_INSTALLED
prefix=$(prefix)
libdir=$(libdir)
includedir=$(includedir)

$(PC_HEAD)
$(PC_DEPS)
Libs: -L$${libdir} -largus$(if $(PC_PRIVATE),, -lm -pthread)
Libs.private: -lm -pthread
Cflags: -I$${includedir}
endef
# For programs that use the build tree (the ffmpeg of the demo and the tests). They get
# the static library: it runs without installing anything, so all libraries are listed.
define PC_BUILD
$(PC_HEAD)
Requires: jansson libpcre2-8
Libs: -L$(B) -l:libargus.a -lm -pthread $(filter -fsanitize=%,$(LDFLAGS))
Cflags: -I$(S)
endef
export PC_INSTALLED PC_BUILD

$(B)/libargus-uninstalled.pc: $(B)/config.mak $(S)/libargus/version.h $(S)/Makefile
	$(Q)printf '%s\n' "$$PC_BUILD" >$@
lib: $(B)/libargus-uninstalled.pc

install: all
	$(SAY) INSTALL "$(DESTDIR)$(prefix)"
	$(Q)mkdir -p $(DESTDIR)$(libdir)/pkgconfig $(DESTDIR)$(includedir)/libargus $(DESTDIR)$(DOC_DIR)
	$(Q)cp -P $(addprefix $(B)/,$(INSTALLED_LIBS)) $(DESTDIR)$(libdir)/
	$(Q)cp $(S)/libargus/argus.h $(S)/libargus/version.h $(DESTDIR)$(includedir)/libargus/
	$(Q)printf '%s\n' "$$PC_INSTALLED" >$(DESTDIR)$(PC_DIR)/libargus.pc
	$(Q)mkdir -p $(DESTDIR)$(datadir)/argus/models
	$(Q)cp $(S)/models/*.json $(DESTDIR)$(datadir)/argus/models/
	$(Q)cp $(S)/LICENSE $(S)/README.md $(S)/NEWS $(S)/doc/*.md $(S)/doc/example.c $(DESTDIR)$(DOC_DIR)/
ifeq ($(CONFIG_CLI),yes)
	$(Q)mkdir -p $(DESTDIR)$(bindir) $(DESTDIR)$(mandir)/man1
	$(Q)cp $(B)/argus $(DESTDIR)$(bindir)/argus
	$(Q)cp $(S)/doc/argus.1 $(DESTDIR)$(mandir)/man1/
	$(Q)mkdir -p $(DESTDIR)$(dir $(BASH_COMPLETION)) $(DESTDIR)$(dir $(ZSH_COMPLETION))
	$(Q)cp $(S)/tools/completion/argus.bash $(DESTDIR)$(BASH_COMPLETION)
	$(Q)cp $(S)/tools/completion/_argus $(DESTDIR)$(ZSH_COMPLETION)
endif

uninstall:
	$(SAY) REMOVE "from $(DESTDIR)$(prefix)"
	$(Q)cd $(DESTDIR)$(libdir) && rm -f $(INSTALLED_LIBS) pkgconfig/libargus.pc
	$(Q)rm -rf $(DESTDIR)$(includedir)/libargus $(DESTDIR)$(DOC_DIR)
	$(Q)rm -f $(patsubst $(S)/models/%,$(DESTDIR)$(datadir)/argus/models/%,$(wildcard $(S)/models/*.json))
	$(Q)rm -f $(DESTDIR)$(bindir)/argus $(DESTDIR)$(mandir)/man1/argus.1
	$(Q)rm -f $(DESTDIR)$(BASH_COMPLETION) $(DESTDIR)$(ZSH_COMPLETION)

clean:
	rm -rf $(B)/libargus $(B)/tools $(B)/tests $(B)/argus $(B)/lib*

distclean:
	rm -rf $(S)/build

help:
	@echo "make              build library, program and tests"
	@echo "make demo         set-up, build, ffmpeg with the filter, captions of a clip"
	@echo "make check        set-up, build, all tests; one summary at the end"
	@echo "make setup        only install the packages that are missing (apt)"
	@echo "make install      install (DESTDIR=, prefix=); make uninstall removes"
	@echo "make unit         unit tests            make checkasm   kernels against plain C"
	@echo "make fate         program and filter against fate-refs/"
	@echo "make parity       against Hugging Face  (SETS=\"argus-tiny synth-tiny synth-256m\")"
	@echo "make check-real MODEL=DIR   the published SmolVLM-256M-Instruct against published facts"
	@echo "make benches      programs that only measure: tests/checkasm/stack, tests/bench/stages"
	@echo "make threads      same bits for 1, 2, 3 threads; every kernel tier"
	@echo "make check-aarch64  cross build; kernels and a part of the tests under qemu"
	@echo "make asan         all of that once more under AddressSanitizer and UBSan"
	@echo "make check-ffmpeg V=7.1.5   the patch in that FFmpeg: builds, its tests pass (V=all: four releases)"
	@echo "make V=1 ...      print the commands"
	@echo "make clean        remove what was built; distclean removes build/"

.PHONY: all clean distclean help demo check check-aarch64 check-ffmpeg setup asan install uninstall
