# xenferry: one entry point for everything. `make help` lists the targets.
# SPDX-License-Identifier: LGPL-2.1-or-later

VERSION := $(shell cat VERSION)
O       ?= build
CC      ?= gcc
PREFIX  ?= /usr
LIBDIR  ?= $(PREFIX)/lib/$(shell $(CC) -print-multiarch)

# Two builds of the same sources: `release` is installed, `asan` is what the tests run.
WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
CPPFLAGS := -D_GNU_SOURCE -DXENFERRY_VERSION='"$(VERSION)"' -Iinclude -Ilibxc-batch/include -Itools/migrate
CFLAGS_release := -std=gnu11 -O2 -g -fPIC -fvisibility=hidden $(WARNINGS)
CFLAGS_asan    := -std=gnu11 -O1 -g -fPIC -fno-omit-frame-pointer -fsanitize=address,undefined \
                  -fno-sanitize-recover=all $(WARNINGS)
LDFLAGS_asan   := -fsanitize=address,undefined

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: all check check-unit check-unit-all clean help packages-lab install

# What a build needs is there before anything else of this file is looked at:
# make builds an included file first and then starts over. PACKAGES=no leaves
# that to you (another distribution, no root).
PACKAGES ?= yes
ifneq ($(PACKAGES)$(filter-out clean help,$(or $(MAKECMDGOALS),all)),yes)
ifeq ($(PACKAGES),yes)
include $(O)/packages.build
endif
endif
$(O)/packages.build: packaging/packages.build packaging/install-packages
	@packaging/install-packages build
	@mkdir -p $(@D) && echo "# packages of $< are installed" > $@

$(O)/release/%.o: %.c VERSION
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS_release) -MMD -MP -c -o $@ $<

$(O)/asan/%.o: %.c VERSION
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS_asan) -MMD -MP -c -o $@ $<

packages-lab:
	@packaging/install-packages build lab

# Each part names its own targets; a part adds to ALL, CHECK_UNIT and INSTALL.
ALL :=
CHECK_UNIT :=
INSTALL :=
include $(wildcard drivers/rules.mk libxc-batch/rules.mk tools/migrate/rules.mk \
                   tests/unit/rules.mk tests/fuzz/rules.mk tests/perf/rules.mk tests/lab/rules.mk \
                   tests/perf/migrate/rules.mk)
-include $(shell find $(O)/release $(O)/asan -name '*.d' 2>/dev/null)

all: $(ALL)	## build library, engine and command
# As many at a time as there are processors; what each says is shown in one piece.
check-unit:	## unit, stream and command tests (under 2 minutes)
	$(MAKE) -j "$$(nproc)" --output-sync=target --no-print-directory check-unit-all
check-unit-all: $(CHECK_UNIT)
# One after the other: the lab's timing must not be disturbed by the unit tests.
check:	## every test, Xen in QEMU included (under 40 minutes on 2 cores)
	$(MAKE) check-unit
	$(MAKE) check-kernels
	$(MAKE) check-lab-selftest
	$(MAKE) check-lab
install: $(INSTALL)	## install all but the module (DESTDIR=, PREFIX=)
	$(if $(DESTDIR),,ldconfig)
clean:	## remove build/
	rm -rf $(O)
help:	## this list
	@awk -F'## ' '/^[a-z-]+:.*## /{t=$$1; sub(/:.*/, "", t); printf "  make %-16s %s\n", t, $$2}' $(MAKEFILE_LIST)
