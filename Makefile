# Trellis.  `make` builds, `make check` tests, `make install` installs; see `make help`.
#
# Everything goes to $(BUILD).  Variants share this file:
#   make SAN=1            address and undefined-behaviour sanitizers, in build-san
#   make CFLAGS_EXTRA=... more flags
# The library needs zlib, zstd and xxHash; the tests need cmocka.

VERSION  = 0.1.0
PREFIX  ?= /usr/local
BUILD   ?= $(if $(SAN),build-san,build)
CC      ?= gcc
AR      ?= ar

WARN = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes \
       -Wmissing-prototypes -Wvla -Wdouble-promotion -Wundef -Wcast-qual -Wno-psabi
CPPFLAGS += -D_POSIX_C_SOURCE=200809L -DTRL_VERSION='"$(VERSION)"' -Iinclude -Isrc
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=c11 $(CFLAGS) -fopenmp-simd -ffp-contract=off -fPIC -fvisibility=hidden \
             -pthread $(WARN) $(CFLAGS_EXTRA)
LDLIBS = -lz -lzstd -lm -pthread
ifdef SAN
ALL_CFLAGS += -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
              -DTRL_NO_CLONES
LDFLAGS += -fsanitize=address,undefined
endif
ifdef WERROR
ALL_CFLAGS += -Werror
endif

LIB_SRC  := $(sort $(wildcard src/*/*.c))
CLI_SRC  := $(sort $(wildcard cli/*.c))
TEST_SRC := $(sort $(wildcard tests/unit/test_*.c))
LIB_OBJ  := $(LIB_SRC:%.c=$(BUILD)/%.o)
CLI_OBJ  := $(CLI_SRC:%.c=$(BUILD)/%.o)
TESTS    := $(TEST_SRC:tests/unit/%.c=$(BUILD)/tests/%)

all: $(BUILD)/libtrellis.a $(BUILD)/libtrellis.so $(BUILD)/trellis

# Vector kernels: -O3, and multiply-add contraction where the machine has it.
KERNELS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard src/num/*.c) $(wildcard src/*/*_kernel.c))
$(KERNELS): ALL_CFLAGS += -O3 -ffp-contract=fast

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/libtrellis.a: $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/libtrellis.so: $(LIB_OBJ)
	$(CC) $(LDFLAGS) -shared -Wl,-soname,libtrellis.so.0 -o $@ $^ $(LDLIBS)

$(BUILD)/trellis: $(CLI_OBJ) $(BUILD)/libtrellis.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# ---- tests ---------------------------------------------------------------------------
$(BUILD)/tests/%: tests/unit/%.c tests/unit/support.h $(BUILD)/libtrellis.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests/unit $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(BUILD)/libtrellis.a $(LDLIBS) -lcmocka

unit: $(TESTS)
	@for t in $(TESTS); do $$t >$(BUILD)/tests/log 2>&1 || { cat $(BUILD)/tests/log; echo "failed: $$t"; exit 1; }; \
	  sed -n 's/^\[  PASSED  \]/&/p' $(BUILD)/tests/log | sed "s|^|$$(basename $$t): |"; done

clean:
	rm -rf build build-san build-fuzz

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d)
.PHONY: all unit clean
.DELETE_ON_ERROR:
include mk/corpus.mk
