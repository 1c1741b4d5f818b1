# What the tests of the stream are built with: the generator and the library.
UNIT_STREAM := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_stream_*.c))
$(foreach test,$(UNIT_STREAM),$(eval UNIT_SRC_$(test) := tests/unit/streamgen.c))
$(foreach test,$(UNIT_STREAM),$(eval UNIT_LIBS_$(test) := $(O)/asan/tools/migrate/libxfstream.a))
