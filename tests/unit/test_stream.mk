# What the tests of the stream are built with: the generator and the libraries.
UNIT_STREAM := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_stream_*.c))
$(foreach test,$(UNIT_STREAM),\
	$(eval UNIT_SRC_$(test) := tests/unit/streamgen.c)\
	$(eval UNIT_LIBS_$(test) := $(O)/asan/tools/migrate/libxfinspect.a $(O)/asan/tools/migrate/libxfstream.a -ljson-c))

UNIT_LD_test_stream_nomem := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

# This one runs the command, too.
UNIT_ENV_test_stream_refused := XENFERRY=$(O)/asan/tools/migrate/xenferry
run-test_stream_refused: $(O)/asan/tools/migrate/xenferry
