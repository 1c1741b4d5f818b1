# Unit tests: every tests/unit/test_*.c is one cmocka program, built with ASan and UBSan.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A test NAME (tests/unit/NAME.c) that needs more than that says so in tests/unit/NAME.mk:
#   UNIT_SRC_NAME   more sources of this repository, built as build/asan/*.o
#   UNIT_LIBS_NAME  archives and -l flags, in link order
#   UNIT_LD_NAME    linker flags, such as -Wl,--wrap=ioctl
#   UNIT_ENV_NAME   environment of the run
UNIT_TESTS := $(sort $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c)))
UNIT_DIR := $(O)/asan/tests/unit
include $(wildcard tests/unit/test_*.mk)

define UNIT_RULE
$(UNIT_DIR)/$(1): $(UNIT_DIR)/$(1).o $(UNIT_SRC_$(1):%.c=$(O)/asan/%.o) $(filter %.a,$(UNIT_LIBS_$(1)))
	$$(CC) $$(LDFLAGS_asan) $(UNIT_LD_$(1)) -o $$@ $$(filter %.o,$$^) $(UNIT_LIBS_$(1)) -lcmocka

.PHONY: run-$(1)
run-$(1): $(UNIT_DIR)/$(1)
	timeout 300 env $(UNIT_ENV_$(1)) $$<
endef
$(foreach test,$(UNIT_TESTS),$(eval $(call UNIT_RULE,$(test))))

CHECK_UNIT += $(UNIT_TESTS:%=run-%)

.PHONY: run-check-xcbatch-api
run-check-xcbatch-api: $(LIB_SO) $(LIB_A_release)
	+timeout 300 tests/unit/check-xcbatch-api $(LIB_SO) $(O)/check-xcbatch-api
CHECK_UNIT += run-check-xcbatch-api

.PHONY: run-check-install
run-check-install: $(ALL)
	+timeout 300 tests/unit/check-install $(O)/check-install
CHECK_UNIT += run-check-install

.PHONY: run-check-options
run-check-options:
	tests/unit/check-options
CHECK_UNIT += run-check-options
