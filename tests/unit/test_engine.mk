# What the tests of the engine are built with: a simulated guest, and the engine with all below it.
UNIT_ENGINE_SRC := tests/unit/simguest.c $(sort $(wildcard tests/unit/simpv*.c)) tests/unit/pvstream.c \
	tests/unit/enginejob.c tests/unit/streamgen.c tools/migrate/guest/guest.c tools/migrate/guest/failure.c \
	$(sort $(wildcard tools/migrate/engine/*.c tools/migrate/policy/*.c tools/migrate/pv/*.c))
UNIT_ENGINE_LIBS := $(O)/asan/tools/migrate/libxfstream.a $(O)/asan/libxc-batch/libxcbatch.a -ljson-c -lpthread
UNIT_ENGINE := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_engine_*.c))
$(foreach test,$(UNIT_ENGINE),$(eval UNIT_SRC_$(test) := $(UNIT_ENGINE_SRC)))
$(foreach test,$(UNIT_ENGINE),$(eval UNIT_LIBS_$(test) := $(UNIT_ENGINE_LIBS)))
