# The engine: what xl's save helper loads. SPDX-License-Identifier: LGPL-2.1-or-later

# xenguest.h is of one Xen version, and so is what is built with it.
XEN_VERSION := $(shell pkg-config --modversion xencontrol 2>/dev/null | cut -d. -f1,2)

MIGRATE := tools/migrate

include tools/migrate/stream/rules.mk
include tools/migrate/command.mk

# Our archive of the library goes in, so that the preload brings no library of ours along.
guest_lib_src := $(sort $(wildcard $(addprefix $(MIGRATE)/, engine/*.c guest/*.c policy/*.c pv/*.c))) $(MIGRATE)/config_line.c \
	$(addprefix $(MIGRATE)/helper/, entry.c config.c domain.c logger.c ours_restore.c ours_save.c \
		passthrough.c)
guest_lib_archives := $(O)/release/$(XF_STREAM_A) $(LIB_A_release)
launcher_src := $(addprefix $(MIGRATE)/helper/, launcher.c stock_helper.c)

guest_lib := $(O)/release/$(MIGRATE)/libxenferry-guest.so
launcher  := $(O)/release/$(MIGRATE)/xenferry-save-helper
ALL += $(guest_lib) $(launcher)

$(O)/release/$(MIGRATE)/helper/stock_helper.o $(O)/asan/$(MIGRATE)/helper/stock_helper.o: \
	CPPFLAGS += -DXENFERRY_XEN_VERSION='"$(XEN_VERSION)"'

$(guest_lib): $(guest_lib_src:%.c=$(O)/release/%.o) $(guest_lib_archives)
	$(CC) -shared -Wl,-z,defs -Wl,-soname,libxenferry-guest.so -Wl,--exclude-libs,ALL -o $@ $^ \
		-lxenguest -lxenctrl -lxentoollog -ljson-c

$(launcher): $(launcher_src:%.c=$(O)/release/%.o)
	$(CC) -o $@ $^

# What the lab's scenarios of damaged and old streams use in Dom0.
streamedit := $(O)/release/tests/lab/tools/streamedit
$(streamedit): $(O)/release/tests/lab/tools/streamedit.o
	$(CC) -o $@ $^
LAB_PROGRAMS += $(streamedit)

# What makes Xen's free memory dirty.
dirtyfree := $(O)/release/tests/lab/tools/dirtyfree
$(dirtyfree): $(O)/release/tests/lab/tools/dirtyfree.o
	$(CC) -o $@ $^ -lxenforeignmemory -lxenctrl
LAB_PROGRAMS += $(dirtyfree)

.PHONY: install-migrate
INSTALL += install-migrate
install-migrate: $(guest_lib) $(launcher)
	install -D -m 755 $(launcher) $(DESTDIR)$(PREFIX)/lib/xenferry/xenferry-save-helper
	install -D -m 755 $(guest_lib) $(DESTDIR)$(PREFIX)/lib/xenferry/libxenferry-guest.so
