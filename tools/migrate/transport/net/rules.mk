# The network transport: what carries a stream to another host. Apart from libxfstream.a, because the
# library that is loaded into Xen's helper must not bring TLS and compression along.
# SPDX-License-Identifier: LGPL-2.1-or-later

XF_NET_SRC  := $(sort $(wildcard tools/migrate/transport/net/*.c))
XF_NET_A    := tools/migrate/libxfnet.a
XF_NET_LIBS := -lgnutls -lzstd -llz4 -lpthread

$(O)/release/$(XF_NET_A): $(XF_NET_SRC:%.c=$(O)/release/%.o)
$(O)/asan/$(XF_NET_A): $(XF_NET_SRC:%.c=$(O)/asan/%.o)
$(O)/release/$(XF_NET_A) $(O)/asan/$(XF_NET_A):
	rm -f $@
	$(AR) rcs $@ $^

# Keys for tests, in Dom0 and out of it.
makekey := $(O)/release/tests/lab/tools/makekey
$(makekey): $(O)/release/tests/lab/tools/makekey.o
	$(CC) -o $@ $^ -lgnutls
LAB_PROGRAMS += $(makekey)
