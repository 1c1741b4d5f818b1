UNIT_SRC_test_helper_ours = $(UNIT_ENGINE_SRC) $(addprefix tools/migrate/, config_line.c $(addprefix helper/, config.c domain.c ours_save.c ours_restore.c))
UNIT_LIBS_test_helper_ours = $(UNIT_ENGINE_LIBS) -lxenctrl
UNIT_LD_test_helper_ours := -Wl,--wrap=xc_domain_getinfo,--wrap=xc_domain_get_guest_width
