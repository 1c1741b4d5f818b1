# The tests of the command start it as a user would.
UNIT_CMD := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_cmd_*.c))
$(foreach test,$(UNIT_CMD),\
	$(eval UNIT_SRC_$(test) := tests/unit/runcmd.c tests/unit/streamgen.c)\
	$(eval UNIT_LIBS_$(test) := -ljson-c)\
	$(eval UNIT_ENV_$(test) := XENFERRY=$(O)/asan/tools/migrate/xenferry))
$(UNIT_CMD:%=run-%): $(O)/asan/tools/migrate/xenferry
