UNIT_SRC_test_workload := $(addprefix tests/lab/workload/, page.c table.c memory.c clocks.c console.c churn.c)
