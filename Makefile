# argus: library, command-line program, tests. GNU make.
#
#   make              build        make install     install below the prefix
#   make demo         everything from nothing: set-up, build, ffmpeg, captions
#   make check        everything from nothing: set-up, build, all tests
#   make help         the other targets
#
# Run in the source tree, all output goes to build/. Run configure from another
# directory to build there instead.

B ?= build
ifeq ($(B),build)
S := $(CURDIR)
endif

.DEFAULT_GOAL := all
SHELL := /bin/sh
MAKEFLAGS += -r

# Targets that need no configured tree.
BARE := help demo check setup distclean check-real
ifneq ($(filter-out $(BARE),$(or $(MAKECMDGOALS),all)),)
include $(B)/config.mak
endif

# Runs again, with the same options, when configure is newer.
$(B)/config.mak: $(S)/configure
	@echo "CONF    $(B)/config.mak"
	$(Q)$(if $(filter build,$(B)),./configure,$(S)/configure) $(CONFIGURE_ARGS) >$(B)-configure.out 2>&1 || \
	    { cat $(B)-configure.out; rm -f $(B)-configure.out; exit 1; }
	$(Q)rm -f $(B)-configure.out

# make V=1 prints the commands.
ifndef V
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

clean:
	rm -rf $(B)/libargus $(B)/tools $(B)/tests $(B)/bin $(B)/lib*

distclean:
	rm -rf build

.PHONY: all clean distclean help demo check setup install uninstall
