# Stream and transport: what both the command and the engine are built on.
# SPDX-License-Identifier: LGPL-2.1-or-later

XF_STREAM_SRC := $(sort $(wildcard tools/migrate/stream/*.c tools/migrate/transport/*.c))
XF_STREAM_A   := tools/migrate/libxfstream.a

$(O)/release/$(XF_STREAM_A): $(XF_STREAM_SRC:%.c=$(O)/release/%.o)
$(O)/asan/$(XF_STREAM_A): $(XF_STREAM_SRC:%.c=$(O)/asan/%.o)
$(O)/release/$(XF_STREAM_A) $(O)/asan/$(XF_STREAM_A):
	rm -f $@
	$(AR) rcs $@ $^

ALL += $(O)/release/$(XF_STREAM_A)
