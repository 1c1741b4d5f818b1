UNIT_SRC_test_helper := $(addprefix tools/migrate/, config_line.c helper/config.c helper/stock_helper.c helper/passthrough.c \
	engine/stats.c policy/policy.c)
UNIT_LIBS_test_helper := -ljson-c -ldl
UNIT_LD_test_helper := -Wl,--wrap=dlsym
$(O)/asan/tests/unit/test_helper.o: CPPFLAGS += -DXENFERRY_XEN_VERSION='"$(XEN_VERSION)"'
