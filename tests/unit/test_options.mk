UNIT_SRC_test_options := tools/migrate/cmd_options.c tools/migrate/cmd_common.c tests/unit/runinside.c
