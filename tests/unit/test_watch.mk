UNIT_SRC_test_watch = $(UNIT_ENGINE_SRC) tools/migrate/watch/watch.c
UNIT_LIBS_test_watch = $(UNIT_ENGINE_LIBS)
