UNIT_SRC_test_guest_extents := tools/migrate/guest/extents.c
