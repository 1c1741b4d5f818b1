# The network transport: its parts, whole sessions over socketpairs and loopback, and the two commands.
UNIT_NET := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_net_*.c))
$(foreach test,$(UNIT_NET),\
	$(eval UNIT_LIBS_$(test) := $(O)/asan/$(XF_NET_A) $(O)/asan/$(XF_STREAM_A) $(XF_NET_LIBS))\
	$(eval UNIT_ENV_$(test) := MAKEKEY=$(makekey)))
$(UNIT_NET:%=run-%): $(makekey)

UNIT_SRC_test_net_session := tests/unit/netjob.c
UNIT_SRC_test_net_hostile := tests/unit/netjob.c
UNIT_SRC_test_net_lies := tests/unit/netjob.c

# These start the commands, as a user would.
UNIT_SRC_test_net_commands := tests/unit/runcmd.c tools/migrate/cmd_listen_command.c
# Looking for leaks as each of some 40 processes ends takes longer than all the rest; the other tests do it.
UNIT_ENV_test_net_commands := ASAN_OPTIONS=detect_leaks=0 XENFERRY=$(O)/asan/tools/migrate/xenferry MAKEKEY=$(abspath $(makekey))
run-test_net_commands: $(O)/asan/tools/migrate/xenferry
