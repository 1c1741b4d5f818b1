UNIT_SRC_test_guest_guard := tools/migrate/guest/guard.c
