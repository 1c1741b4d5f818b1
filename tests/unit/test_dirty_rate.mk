# The command with everything of Xen's replaced by the test.
UNIT_SRC_test_dirty_rate := $(addprefix tools/migrate/,cmd_dirty_rate.c cmd_dirty_rate_report.c cmd_common.c cmd_json.c cmd_options.c config_line.c) \
	tests/unit/runinside.c \
	$(XF_WATCH_SRC) libxc-batch/src/explain.c libxc-batch/src/bitmap.c
UNIT_LIBS_test_dirty_rate := -ljson-c
