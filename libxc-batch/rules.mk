# libxcbatch. SPDX-License-Identifier: LGPL-2.1-or-later
LIB_SRC := $(wildcard libxc-batch/src/*.c)
LIB_DIR := $(O)/release/libxc-batch
LIB_A_release := $(LIB_DIR)/libxcbatch.a
LIB_A_asan    := $(O)/asan/libxc-batch/libxcbatch.a
LIB_SO  := $(LIB_DIR)/libxcbatch.so.0
LIB_LIBS := -lxenctrl
LIB_MAN := $(wildcard libxc-batch/man/*.3)

# One function that runs only on processors that have it.
$(O)/release/libxc-batch/src/page_hash_avx2.o: CFLAGS_release += -mavx2 -O3
$(O)/asan/libxc-batch/src/page_hash_avx2.o: CFLAGS_asan += -mavx2

$(LIB_A_release): $(LIB_SRC:%.c=$(O)/release/%.o)
$(LIB_A_asan): $(LIB_SRC:%.c=$(O)/asan/%.o)
$(LIB_A_release) $(LIB_A_asan):
	rm -f $@
	$(AR) rcs $@ $^

$(LIB_SO): $(LIB_SRC:%.c=$(O)/release/%.o) libxc-batch/libxcbatch.map
	$(CC) -shared -Wl,-soname,libxcbatch.so.0 -Wl,-z,defs -Wl,--version-script=libxc-batch/libxcbatch.map \
	    -o $@ $(filter %.o,$^) $(LIB_LIBS)

ALL += $(LIB_A_release) $(LIB_A_asan) $(LIB_SO)

INSTALL += install-lib
.PHONY: install-lib
install-lib: $(LIB_A_release) $(LIB_SO)
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(PREFIX)/include/xen $(DESTDIR)$(PREFIX)/share/man/man3
	install -m 755 $(LIB_SO) $(DESTDIR)$(LIBDIR)/libxcbatch.so.0
	ln -sf libxcbatch.so.0 $(DESTDIR)$(LIBDIR)/libxcbatch.so
	install -m 644 $(LIB_A_release) $(DESTDIR)$(LIBDIR)/libxcbatch.a
	sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' libxc-batch/xcbatch.pc.in \
	    >$(DESTDIR)$(LIBDIR)/pkgconfig/xcbatch.pc
	install -m 644 libxc-batch/include/xcbatch.h $(DESTDIR)$(PREFIX)/include/xcbatch.h
	install -m 644 include/xen/xenferry_privcmd.h $(DESTDIR)$(PREFIX)/include/xen/xenferry_privcmd.h
	install -m 644 $(LIB_MAN) $(DESTDIR)$(PREFIX)/share/man/man3
	# Each function of a page can be asked for by its name.
	for page in $(LIB_MAN); do \
	    for name in $$(sed -n 's/^\.Nm \(xcbatch_[a-z_]*\).*/\1/p' $$page | sort -u); do \
		echo ".so man3/$$(basename $$page)" >$(DESTDIR)$(PREFIX)/share/man/man3/$$name.3; \
	    done; \
	done

# The library on a real kernel and hypervisor: the lab's scenarios driver-library-* run it in Dom0.
LIB_CHECK := $(O)/release/libxc-batch/check/xcbatch-check
LAB_PROGRAMS += $(LIB_CHECK)
$(LIB_CHECK): $(O)/release/libxc-batch/check/xcbatch_check.o $(LIB_A_release)
	$(CC) -o $@ $^ $(LIB_LIBS) -lxenforeignmemory
