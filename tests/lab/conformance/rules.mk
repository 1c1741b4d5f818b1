# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs for Dom0 that put xen-privcmd through its paces.
CONFORM_BIN := $(O)/lab/bin
CONFORM_CASES := main cases_map cases_args cases_vma cases_process cases_later
CONFORM_CFLAGS := -std=gnu11 -O2 -g $(WARNINGS) -D_GNU_SOURCE -Iinclude

CONFORM_HEADERS := $(wildcard tests/lab/conformance/*.h) include/xen/xenferry_privcmd.h

$(CONFORM_BIN)/privcmd-conform: $(patsubst %,tests/lab/conformance/%.c,conform $(CONFORM_CASES)) $(CONFORM_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(CONFORM_CFLAGS) -static -pthread -s -o $@ $(filter %.c,$^)

CONFORM_CHECKS := $(addprefix $(CONFORM_BIN)/privcmd-,window inject stress fragment)
$(CONFORM_CHECKS): $(CONFORM_BIN)/privcmd-%: tests/lab/conformance/conform.c tests/lab/conformance/%.c $(CONFORM_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(CONFORM_CFLAGS) -static -pthread -s -o $@ $(filter %.c,$^)

$(CONFORM_BIN)/privcmd-hold $(CONFORM_BIN)/privcmd-restricted: $(CONFORM_BIN)/privcmd-%: tests/lab/conformance/%.c $(CONFORM_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(CONFORM_CFLAGS) -static -s -o $@ $(filter %.c,$^)

$(CONFORM_BIN)/still-guest: tests/lab/conformance/still-guest.S
	@mkdir -p $(@D)
	$(CC) -nostdlib -static -no-pie -Wl,--build-id=none -Wl,-N -Wl,--no-warn-rwx-segments -Wl,-Ttext=0x100000 \
	    -Wl,--section-start=.note.Xen=0x101000 -Wl,-e,start -o $@ $<

LAB_PROGRAMS += $(CONFORM_BIN)/privcmd-conform $(CONFORM_CHECKS) \
                $(CONFORM_BIN)/privcmd-hold $(CONFORM_BIN)/privcmd-restricted $(CONFORM_BIN)/still-guest
