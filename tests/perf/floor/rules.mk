# SPDX-License-Identifier: LGPL-2.1-or-later
# A kernel module that measures bare hypercalls, for benchmarks: built like the driver, in a staged copy, but never
# installed. In Dom0: insmod "$(command -v xenferry-floor.ko)".
FLOOR_DIR = $(O)/floor/$(MODULE_RELEASE)
FLOOR_MODULE = $(FLOOR_DIR)/xenferry-floor.ko
FLOOR_SOURCES := $(wildcard tests/perf/floor/*.[ch]) tests/perf/floor/Kbuild

.PHONY: floor-module
floor-module: module_headers
	@mkdir -p $(FLOOR_DIR)
	@for f in $(FLOOR_SOURCES); do \
	   cmp -s $$f $(FLOOR_DIR)/$${f##*/} || install -m644 -p $$f $(FLOOR_DIR)/ || exit 1; done
	+$(MAKE) O= -C $(KDIR) M=$(abspath $(FLOOR_DIR)) KERNELRELEASE=$(MODULE_RELEASE) modules

$(FLOOR_MODULE): floor-module ;
LAB_PROGRAMS += $(FLOOR_MODULE)

FLOOR_CHECK := $(O)/lab/bin/floor-check
$(FLOOR_CHECK): tests/perf/floor/check.c tests/perf/floor/xenferry_floor.h include/xen/xenferry_privcmd.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -g $(WARNINGS) -D_GNU_SOURCE -Iinclude -o $@ $< -lxenforeignmemory
LAB_PROGRAMS += $(FLOOR_CHECK)
