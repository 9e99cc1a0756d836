# Trellis.  `make` builds, `make demo` shows what it does, `make test` proves it; `make help`
# lists the rest.  Everything goes to $(BUILD).  Variants share this file:
#   make SAN=1             address and undefined-behaviour sanitizers, in build-san
#   make SAN=thread        the thread sanitizer, in build-tsan
#   make CC=clang          another compiler; `make portability` tries those it finds
#   make WERROR=1          warnings are errors, as in CI
#   make CFLAGS_EXTRA=...  more flags;  make V=1  whole commands
# The library needs zlib, zstd and xxHash; the tests need cmocka: `make deps` installs them.

VERSION := $(shell awk '/^.define TRL_VERSION_[MP]/ {v = v dot $$3; dot = "."} END {print v}' include/trellis/version.h)
SOVERSION = 0
PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
LIBDIR  ?= $(PREFIX)/lib
INCDIR  ?= $(PREFIX)/include
MANDIR  ?= $(PREFIX)/share/man
DATADIR ?= $(PREFIX)/share
BUILD   ?= $(if $(SAN),$(if $(filter thread,$(SAN)),build-tsan,build-san),build)
CC      ?= gcc
AR      ?= ar
CLANG   ?= clang
FUZZ_SECONDS ?= 20
Q        = $(if $(V),,@)$(if $(V),,echo '  $(1)  $@';)
JOBS     = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc)) # all, unless told

WARN = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes \
       -Wmissing-prototypes -Wvla -Wdouble-promotion -Wundef -Wcast-qual -Wno-psabi
CPPFLAGS += -D_POSIX_C_SOURCE=200809L -DTRL_VERSION='"$(VERSION)"' -Iinclude -Isrc
CFLAGS ?= -O2 -g1# lines in traces; all of -g takes a sixth longer to compile (CFLAGS='-O0 -g' for a debugger)
LDLIBS = -lz -lzstd -lm -pthread

# What the compiler is and makes: a name stays as it is where it is not defined.
MACROS := $(shell echo __clang__ __i386__ | $(CC) $(CFLAGS) $(CFLAGS_EXTRA) -E -P -x c - 2>/dev/null)
ifeq ($(filter __clang__,$(MACROS)),)
WARN += -Wno-double-promotion # clang counts NAN, a float
endif
ifeq ($(filter __i386__,$(MACROS)),)
MACHINE = -msse2 -mfpmath=sse # doubles that are rounded as such, as everywhere else
endif

# Hardened: canaries, checked string functions, relocations read-only from the start, and a program
# that may lie anywhere (objects are position-independent for the shared library's sake).
PIE   ?= -pie
HARDEN = -fstack-protector-strong \
         $(if $(SAN)$(filter -O0,$(CFLAGS) $(CFLAGS_EXTRA)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
ALL_LDFLAGS = -Wl,-z,relro,-z,now $(LDFLAGS)

ALL_CFLAGS = -std=c11 $(CFLAGS) $(MACHINE) -fopenmp-simd -ffp-contract=off -fPIC -fvisibility=hidden \
             -pthread $(HARDEN) $(WARN) $(CFLAGS_EXTRA)
ifdef SAN
SANITIZE = -fsanitize=$(if $(filter thread,$(SAN)),thread,address,undefined)
ALL_CFLAGS += $(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer -DTRL_NO_CLONES
ALL_LDFLAGS += $(SANITIZE)
endif
ifdef WERROR
ALL_CFLAGS += -Werror
endif

# Kernels first: they compile longest, and a last one would keep the other processors waiting.
LIB_SRC  := $(sort $(wildcard src/*/*_kernel.c)) $(filter-out %_kernel.c,$(sort $(wildcard src/*/*.c)))
CLI_SRC  := $(sort $(wildcard cli/*.c))
LIB_OBJ  := $(LIB_SRC:%.c=$(BUILD)/%.o)
CLI_OBJ  := $(CLI_SRC:%.c=$(BUILD)/%.o)
TESTS    := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/unit/test_*.c)))
REPLAYS  := $(patsubst tests/fuzz/fuzz_%.c,$(BUILD)/tests/replay_%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZERS  := $(patsubst tests/fuzz/%.c,build-fuzz/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(sort $(wildcard examples/*.c)))

BENCHES  := $(patsubst bench/%.c,$(BUILD)/bench/%,$(sort $(wildcard bench/*.c)))

all: $(BUILD)/libtrellis.a $(BUILD)/libtrellis.so $(BUILD)/trellis

help:
	@echo 'make             the library (static, shared) and the program, in $(BUILD)/'
	@echo 'make demo        train taggers and a parser on the sample corpus and show what they do'
	@echo 'make test        everything: make deps, check, check-san, check-tsan, portability-quick'
	@echo 'make check       unit tests, fuzzing corpus, command line, docs, layers, install'
	@echo 'make check-san   unit tests, fuzzing corpus, failing allocations, with ASan and UBSan'
	@echo 'make check-tsan  the unit tests that start threads, with TSan'
	@echo 'make portability unit tests with clang, for 32-bit x86, musl and arm64, as far as installed'
	@echo 'make unit        the unit tests alone'
	@echo 'make python      the Python package, in $(BUILD)/python (pip install ./python installs it)'
	@echo 'make experiments the tables of the papers, to docs/results; one: experiment-mest, -nota,'
	@echo '                 -piecewise, -factorial, -skip-chain, -log-z, -speed, -crfcfg, -ptcfg, -treemest (TRELLIS_DATA)'
	@echo 'make fuzz        fuzz every reader for FUZZ_SECONDS=$(FUZZ_SECONDS) each (needs clang)'
	@echo 'make install     to PREFIX=$(PREFIX), below DESTDIR if set; make uninstall'
	@echo 'make deps        install what is missing to build and test (Debian packages)'
	@echo 'make clean       remove all build folders'
	@echo 'Variables: BUILD=dir, SAN=1 (sanitizers), WERROR=1, V=1 (whole commands), CFLAGS_EXTRA=...'

# ---- library and program ---------------------------------------------------------------
# Vector kernels: -O3, and multiply-add contraction where the machine has it.
KERNELS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard src/num/*.c) $(wildcard src/*/*_kernel.c))
$(KERNELS): ALL_CFLAGS += -O3 -ffp-contract=fast
# Of those without variants (TRL_CLONES) baseline x86-64 contracts nothing: nor does any other machine.
$(patsubst %.c,$(BUILD)/%.o,$(shell grep -L TRL_CLONES src/num/*.c src/*/*_kernel.c)): \
	ALL_CFLAGS += -ffp-contract=off

$(BUILD)/%.o: %.c Makefile include/trellis/version.h
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/libtrellis.a: $(LIB_OBJ)
	@rm -f $@
	$(call Q,AR)$(AR) rcs $@ $^

# The shared library exports what the public headers declare and nothing else: gcc makes
# resolvers of target_clones global whatever -fvisibility says.
$(BUILD)/exports.map: $(wildcard include/trellis/*.h)
	@mkdir -p $(@D)
	@{ echo '{ global:'; sed -n 's/^TRL_API.*[ *]\(trl_[a-z0-9_]*\)(.*/\1;/p' $^; \
	  echo 'local: *; };'; } >$@

$(BUILD)/libtrellis.so: $(LIB_OBJ) $(BUILD)/exports.map
	$(call Q,LD)$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,libtrellis.so.$(SOVERSION) \
	  -Wl,--version-script=$(BUILD)/exports.map -o $@ $(LIB_OBJ) $(LDLIBS)

$(BUILD)/trellis: $(CLI_OBJ) $(BUILD)/libtrellis.a
	$(call Q,LD)$(CC) $(PIE) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

# ---- tests -------------------------------------------------------------------------------
# One program per test file, with what it includes in a .d file beside it.
TEST_CC = $(call Q,CC)mkdir -p $(@D); \
          $(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(PIE) $(ALL_LDFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@

WRAPS = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc
$(BUILD)/tests/test_tagger: ALL_LDFLAGS += $(WRAPS) # it counts allocations

$(BUILD)/tests/test_%: tests/unit/test_%.c $(BUILD)/libtrellis.a
	$(TEST_CC) -Itests/unit $< $(BUILD)/libtrellis.a $(LDLIBS) -lcmocka

$(BUILD)/tests/replay_%: tests/fuzz/fuzz_%.c tests/fuzz/replay.c $(BUILD)/libtrellis.a
	$(TEST_CC) $< tests/fuzz/replay.c $(BUILD)/libtrellis.a $(LDLIBS)

$(BUILD)/tests/test_alloc: tests/alloc/test_alloc.c tests/alloc/failing.c $(BUILD)/libtrellis.a
	$(TEST_CC) -Itests/unit -Itests/alloc $(WRAPS) $(filter %.c,$^) $(BUILD)/libtrellis.a \
	  $(LDLIBS) -lcmocka

$(BUILD)/bench/%: bench/%.c $(BUILD)/libtrellis.a
	$(TEST_CC) $< $(BUILD)/libtrellis.a $(LDLIBS)

# Examples see the public headers only.
$(BUILD)/examples/%: examples/%.c $(BUILD)/libtrellis.a
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) -Iinclude -std=c11 $(CFLAGS) $(WARN) $(if $(WERROR),-Werror) -fPIE $(PIE) $(ALL_LDFLAGS) \
	  -MMD -MP -MF $@.d -MT $@ -o $@ $< $(BUILD)/libtrellis.a $(LDLIBS)

# The Python package (docs/python.md) as it would be installed, in $(BUILD)/python.
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
PYTHON_SRC := $(wildcard python/*.py python/src/* python/trellis/*.py* python/trellis/*/*.py* python/trellis/*/*/*.py*)
$(BUILD)/python/built: $(PYTHON_SRC) $(BUILD)/libtrellis.a $(wildcard include/trellis/*.h)
	@rm -rf $(@D) && mkdir -p $(@D)
	$(call Q,PY)CC='$(CC)' CFLAGS='-g $(WARN) -Wno-pedantic $(if $(WERROR),-Werror) $(SANITIZE)' LDFLAGS='$(SANITIZE)' \
	  TRELLIS_LIBRARY=$(BUILD)/libtrellis.a $(PYTHON) python/build_backend.py $(@D) && touch $@

python: $(BUILD)/python/built

unit: $(TESTS)
	@BUILD=$(BUILD) scripts/check.sh unit

check: all $(TESTS) $(REPLAYS) $(EXAMPLES) $(BENCHES) $(BUILD)/tests/test_alloc corpus
	@BUILD=$(BUILD) scripts/check.sh unit replay alloc cli layers format man example bench docs install abi python

check-san:
	@+$(MAKE) --no-print-directory SAN=1 BUILD=$(BUILD)-san check-san-here

check-san-here: $(TESTS) $(REPLAYS) $(BUILD)/tests/test_alloc
	@BUILD=$(BUILD) scripts/check.sh unit replay alloc python-leaks

portability:
	@+MAKE="$(MAKE)" scripts/portability.sh

portability-quick: # what CI can afford
	@+MAKE="$(MAKE)" scripts/portability.sh --quick

# The unit tests that start threads.
TSAN_UNITS = test_batch test_brown test_dataset test_gradient test_history test_latent test_mest test_nota test_optimizers test_parse_batch test_pool \
             test_search_examples test_sparse test_tagger test_tokens test_train_decode test_tree_nota
check-tsan:
	@+$(MAKE) --no-print-directory SAN=thread BUILD=$(BUILD)-tsan check-tsan-here

check-tsan-here: $(TSAN_UNITS:%=$(BUILD)/tests/%)
	@BUILD=$(BUILD) UNITS="$(TSAN_UNITS)" scripts/check.sh unit

test:
	@scripts/deps.sh --tests
	@+BUILD=$(BUILD) scripts/test-all.sh $(MAKE) $(JOBS)

fuzz: $(FUZZERS)
	@scripts/fuzz.sh $(FUZZ_SECONDS) $(FUZZERS)

FUZZ_CFLAGS = -std=c11 -O1 -g -ffp-contract=off -pthread -DTRL_NO_CLONES -Wno-psabi \
              -Wno-unknown-pragmas -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_OBJ := $(LIB_SRC:%.c=build-fuzz/%.o)

build-fuzz/src/%.o: src/%.c Makefile
	@mkdir -p $(@D)
	$(call Q,CC)$(CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link $(CPPFLAGS) -MMD -MP -c -o $@ $<

build-fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(FUZZ_OBJ)
	$(call Q,LD)$(CLANG) $(CPPFLAGS) $(FUZZ_CFLAGS) -fsanitize=fuzzer -o $@ $^ $(LDLIBS)

# ---- the rest ------------------------------------------------------------------------------
deps:
	@scripts/deps.sh --tests

demo:
	@scripts/deps.sh
	@echo 'Building ...'
	@+$(MAKE) --no-print-directory --silent $(JOBS) all corpus
	@BUILD=$(BUILD) scripts/demo.sh

DEST_LIB = $(DESTDIR)$(LIBDIR)
SONAME   = libtrellis.so.$(SOVERSION)

install: all
	install -d $(DESTDIR)$(BINDIR) $(DEST_LIB)/pkgconfig $(DESTDIR)$(INCDIR)/trellis \
	  $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(DATADIR)/trellis/models $(DESTDIR)$(DATADIR)/trellis/templates
	install $(BUILD)/trellis $(DESTDIR)$(BINDIR)/trellis
	install -m 644 $(BUILD)/libtrellis.a $(DEST_LIB)/libtrellis.a
	install $(BUILD)/libtrellis.so $(DEST_LIB)/libtrellis.so.$(VERSION)
	ln -sf libtrellis.so.$(VERSION) $(DEST_LIB)/$(SONAME)
	ln -sf $(SONAME) $(DEST_LIB)/libtrellis.so
	install -m 644 include/trellis/*.h $(DESTDIR)$(INCDIR)/trellis
	install -m 644 man/trellis.1 $(DESTDIR)$(MANDIR)/man1/trellis.1
	install -m 644 models/*.graph $(DESTDIR)$(DATADIR)/trellis/models
	install -m 644 templates/* $(DESTDIR)$(DATADIR)/trellis/templates
	sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCDIR@|$(INCDIR)|' \
	  -e 's|@VERSION@|$(VERSION)|' mk/trellis.pc.in >$(DEST_LIB)/pkgconfig/trellis.pc

uninstall:
	rm -f $(DESTDIR)$(BINDIR)/trellis $(DEST_LIB)/libtrellis.a $(DEST_LIB)/libtrellis.so \
	  $(DEST_LIB)/$(SONAME) $(DEST_LIB)/libtrellis.so.$(VERSION) \
	  $(DEST_LIB)/pkgconfig/trellis.pc $(DESTDIR)$(MANDIR)/man1/trellis.1
	rm -rf $(DESTDIR)$(INCDIR)/trellis $(DESTDIR)$(DATADIR)/trellis

clean:
	rm -rf build build-*

include mk/corpus.mk
include mk/experiments.mk
-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(TESTS:=.d) $(REPLAYS:=.d) $(EXAMPLES:=.d) $(BENCHES:=.d) \
         $(BUILD)/tests/test_alloc.d $(FUZZ_OBJ:.o=.d)
.PHONY: all help python unit portability portability-quick check check-san check-san-here check-tsan check-tsan-here test fuzz deps demo install uninstall clean
.SECONDARY: $(FUZZ_OBJ)
.DELETE_ON_ERROR:
