# The bench and its command with everything of Xen's replaced by the test.
UNIT_SRC_test_bench := $(addprefix tools/migrate/,$(notdir $(wildcard tools/migrate/cmd_bench*.c)) cmd_common.c) \
    $(wildcard tools/migrate/bench/*.c) libxc-batch/src/explain.c libxc-batch/src/space.c libxc-batch/src/regions.c tests/unit/runinside.c
UNIT_LIBS_test_bench := -ljson-c -lxentoollog
$(UNIT_DIR)/test_bench.o: CPPFLAGS += -Ilibxc-batch/src
