# SPDX-License-Identifier: GPL-2.0-only
# The module is built by the kernel's own build system in a staged copy, so
# that nothing it generates ends up among the sources.
#   make module [KDIR=DIR]           builds for the kernel whose headers are in DIR
#   make module_install [KDIR=DIR]   installs to updates/ and runs depmod
#   make module INJECT=y             the test build, in build/module-inject/: see include/xen/xenferry_inject.h
#   make check-kernels               builds for every kernel that is looked after

KDIR ?= $(firstword $(wildcard /lib/modules/$(shell uname -r)/build) \
                    $(lastword $(sort $(wildcard /usr/src/linux-headers-*-amd64))))
# What uname -r says there; Debian's kernel.release says something else.
MODULE_RELEASE = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h 2>/dev/null)
# KROOT: a root of its own that KDIR lies in, with the compiler and the C library that its tools need.
KROOT ?=
MODULE_DIR = $(if $(KROOT),$(KROOT)/src,$(O)/$(if $(INJECT),module-inject,module)/$(MODULE_RELEASE))
MODULE_SOURCES := Kbuild VERSION $(wildcard drivers/privcmd/*.[ch] arch/x86/xen/*.[ch] include/xen/*.h)
# Without what this make was given: O is ours, and kbuild would take it for its own.
MODULE_MAKE = env -u MAKEFLAGS -u MFLAGS $(if $(KROOT), \
                $(CURDIR)/packaging/in-root $(KROOT) make -C $(patsubst $(KROOT)%,%,$(KDIR)) M=/src, \
                make -C $(KDIR) M=$(abspath $(MODULE_DIR))) -j $(shell nproc) $(if $(KCFLAGS),KCFLAGS='$(KCFLAGS)') \
              KERNELRELEASE=$(MODULE_RELEASE) XENFERRY_VERSION=$(VERSION) $(if $(INJECT),XENFERRY_INJECT=y)

.PHONY: module module_install module_headers check-kernels
module_headers:
	@test -n "$(MODULE_RELEASE)" || { \
	  echo "No kernel headers in KDIR=$(KDIR); expected a configured kernel build directory: install linux-headers-amd64 or pass KDIR=/usr/src/linux-headers-RELEASE." >&2; exit 1; }

# A source that is gone must not stay in the copy; one that is unchanged keeps its time.
module: module_headers
	@$(if $(MODULE_FRESH),rm -rf $(MODULE_DIR))
	@mkdir -p $(MODULE_DIR)
	@for f in $(MODULE_SOURCES); do \
	   cmp -s $$f $(MODULE_DIR)/$$f || install -D -m644 -p $$f $(MODULE_DIR)/$$f || exit 1; done
	@cd $(MODULE_DIR) && for f in $$(find drivers arch include -name '*.[ch]' ! -name '*.mod.c'); do \
	   test -e $(CURDIR)/$$f || rm -f $$f; done
	$(MODULE_MAKE) modules
	@for s in xen_privcmd_fops xen_privcmdbuf_fops; do \
	   want=$$(awk -v s=$$s '$$2 == s {print $$1}' $(KDIR)/Module.symvers); \
	   got=$$(awk -v s=$$s '$$2 == s {print $$1}' $(MODULE_DIR)/Module.symvers); \
	   test -z "$$want" -o "$$want" = "$$got" || { \
	     echo "$$s has version sum $$got, but $(MODULE_RELEASE) expects $$want, so xenfs would not load: see drivers/privcmd/exports.c." >&2; exit 1; }; done

module_install: module
	@test -z "$(INJECT)" || { echo "The module with fault injection is for tests only and is not installed; leave INJECT= away." >&2; exit 1; }
	$(MODULE_MAKE) INSTALL_MOD_DIR=updates modules_install
	depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) $(MODULE_RELEASE)

# The kernels that are not this machine's are fetched from Debian's mirror and unpacked under build/.
MODULE_KERNELS ?= 6.1 6.12 sid
check-kernels:	## build the module for Linux 6.1, 6.12 and the newest one
	@packaging/check-kernels $(abspath $(O)) $(MODULE_KERNELS)

include tests/lab/conformance/rules.mk
include tests/perf/floor/rules.mk
