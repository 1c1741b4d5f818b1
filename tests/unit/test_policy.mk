UNIT_SRC_test_policy := tools/migrate/policy/policy.c
