# The command `xenferry`.
# SPDX-License-Identifier: LGPL-2.1-or-later

XF_INSPECT_SRC := $(sort $(wildcard tools/migrate/inspect/*.c))
XF_INSPECT_A   := tools/migrate/libxfinspect.a
XF_WATCH_SRC   := $(sort $(wildcard tools/migrate/watch/*.c tools/migrate/policy/*.c)) tools/migrate/guest/guard.c \
	tools/migrate/helper/config.c
XF_CMD_SRC     := tools/migrate/main.c tools/migrate/config_line.c $(sort $(wildcard tools/migrate/cmd_*.c tools/migrate/bench/*.c)) \
	$(sort $(wildcard tools/migrate/report/*.c)) $(XF_WATCH_SRC)
include tools/migrate/transport/net/rules.mk

XF_CMD_A       := $(XF_INSPECT_A) $(XF_NET_A) $(XF_STREAM_A) libxc-batch/libxcbatch.a
XF_MAN         := $(sort $(wildcard tools/migrate/man/*.[15]))
XF_CMD_LIBS    := -ljson-c -lm -lxenforeignmemory -lxenctrl -lxenstore -lxentoollog $(XF_NET_LIBS)

# What has the installed helper's name in it.
XF_CMD_PREFIXED := $(foreach b,release asan,$(foreach c,migrate_check migrate_run listen_session,\
	$(O)/$(b)/tools/migrate/cmd_$(c).o))
$(XF_CMD_PREFIXED): CPPFLAGS += -DXENFERRY_HELPER='"$(PREFIX)/lib/xenferry/xenferry-save-helper"'

# What has the prefix in it is built anew when another one is given.
$(XF_CMD_PREFIXED): $(O)/prefix
.PHONY: note-prefix
$(O)/prefix: note-prefix
	@mkdir -p $(@D)
	@echo '$(PREFIX)' | cmp -s - $@ || echo '$(PREFIX)' >$@

$(O)/release/$(XF_INSPECT_A): $(XF_INSPECT_SRC:%.c=$(O)/release/%.o)
$(O)/asan/$(XF_INSPECT_A): $(XF_INSPECT_SRC:%.c=$(O)/asan/%.o)
$(O)/release/$(XF_INSPECT_A) $(O)/asan/$(XF_INSPECT_A):
	rm -f $@
	$(AR) rcs $@ $^

$(O)/release/tools/migrate/xenferry: $(XF_CMD_SRC:%.c=$(O)/release/%.o) $(XF_CMD_A:%=$(O)/release/%)
	$(CC) -o $@ $^ $(XF_CMD_LIBS)
# The tests run this one.
$(O)/asan/tools/migrate/xenferry: $(XF_CMD_SRC:%.c=$(O)/asan/%.o) $(XF_CMD_A:%=$(O)/asan/%)
	$(CC) $(LDFLAGS_asan) -o $@ $^ $(XF_CMD_LIBS)

ALL += $(O)/release/tools/migrate/xenferry

.PHONY: install-command
INSTALL += install-command
install-command: $(O)/release/tools/migrate/xenferry
	install -D -m 755 $< $(DESTDIR)$(PREFIX)/bin/xenferry
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man5
	install -m 644 $(filter %.1,$(XF_MAN)) $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 $(filter %.5,$(XF_MAN)) $(DESTDIR)$(PREFIX)/share/man/man5
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/system
	sed 's|/usr/bin/|$(PREFIX)/bin/|' packaging/xenferry-listen.service > $(DESTDIR)$(PREFIX)/lib/systemd/system/xenferry-listen.service

.PHONY: check-man
CHECK_UNIT += check-man
check-man: $(O)/asan/tools/migrate/xenferry
	tests/unit/check-man $< $(XF_MAN) $(wildcard libxc-batch/man/*.3)
