UNIT_SRC_test_forecast := $(sort $(wildcard tools/migrate/policy/*.c))
