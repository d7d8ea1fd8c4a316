# SPDX-License-Identifier: Apache-2.0
#
# make                 library, shared library and program in $(BUILD)
# make check           unit suites, program tests, a short fuzz run; UPDATE=1 rewrites golden files
# make check-asan      the same under the address and undefined-behaviour sanitizers
# make check-tsan      the replay suites under the thread sanitizer
# make check-stress    the same as check with tiny blocks and capacities (-DFS_STRESS)
# make fuzz-smoke      the examples as graphs and streams: every prefix (of long ones every n-th)
#                      and 5,000 byte flips of each, about a minute; FUZZ=--all: every prefix of all
#                      and 10,000 flips of each (many minutes)
# make bench           builds and runs every bench/bench_*.c
# make demo            compiles, verifies and replays examples/resnet50.yaml
# make examples        writes examples/resnet50.yaml anew
# make lint            rules on includes, licences, man pages, scripts, format
# make install         to $(DESTDIR)$(PREFIX); uninstall, dist, clean
#
# CC, CPPFLAGS, CFLAGS, LDFLAGS, PREFIX, DESTDIR and BUILD (the build directory) are honoured; a
# change of flags rebuilds; V=1 shows the commands.  What is missing to build is installed by scripts/deps.

CC ?= cc
BUILD ?= build
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
COMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions
INSTALL ?= install

VERSION := $(shell sed -n 's/^\#define FS_VERSION "\(.*\)"/\1/p' lib/version.c)
SOVERSION := 0

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
YAML_CFLAGS := $(shell pkg-config --cflags yaml-0.1 2>/dev/null)
YAML_LIBS := $(shell pkg-config --libs yaml-0.1 2>/dev/null || echo -lyaml)
# The DOT emitter's library; for the program alone, libfsched does without it.
CGRAPH_CFLAGS := $(shell pkg-config --cflags libcgraph 2>/dev/null || echo -I/usr/include/graphviz)
CGRAPH_LIBS := $(shell pkg-config --libs libcgraph 2>/dev/null || echo -lcgraph -lcdt)
CGRAPH_VERSION := $(shell pkg-config --modversion libcgraph 2>/dev/null)
CHECK_CFLAGS := $(shell pkg-config --cflags check 2>/dev/null)
CHECK_LIBS := $(shell pkg-config --libs check 2>/dev/null || echo -lcheck)

# What the sources need, whatever the caller's CFLAGS are.
FLAGS := -std=c11 -D_GNU_SOURCE -Iinclude -Ilib -I. $(WARN) -fPIC -fvisibility=hidden -pthread \
	$(YAML_CFLAGS)
COMPILE = $(CC) $(FLAGS) $(EXTRA_FLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP
LINK = $(CC) $(CFLAGS) $(LDFLAGS) -pthread

LIB_SRC := $(wildcard lib/*.c lib/*/*.c codegen/*.c draw/*.c exec/*.c)
DOT_SRC := $(wildcard draw/dot/*.c)
CLI_SRC := $(wildcard cli/*.c)
TEST_SRC := $(wildcard test/*.c)
BENCH_SRC := $(wildcard bench/bench_*.c)
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o)
DOT_OBJ := $(DOT_SRC:%.c=$(BUILD)/%.o)
CLI_OBJ := $(CLI_SRC:%.c=$(BUILD)/%.o)
TEST_OBJ := $(TEST_SRC:%.c=$(BUILD)/%.o)
BENCH_BIN := $(BENCH_SRC:%.c=$(BUILD)/%)
TOOL_BIN := $(BUILD)/test/fuzz/fuzz_smoke $(BUILD)/examples/gen_resnet50 \
	$(BUILD)/examples/library
OBJ := $(LIB_OBJ) $(DOT_OBJ) $(CLI_OBJ) $(TEST_OBJ) $(BENCH_BIN:=.o) $(TOOL_BIN:=.o)

# Suites with threads, and what the sanitizer builds are made of.
TSAN_SUITES ?= replay replay_random
ASAN_FLAGS := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=all
TSAN_FLAGS := -O1 -g -fsanitize=thread

# $(call say,CC,name) before a command: shows it short, or with V=1 as it is.
say = $(if $(V),,@printf '  %-6s %s\n' $(1) $(2) && )

all: $(BUILD)/libfsched.a $(BUILD)/libfsched.so $(BUILD)/fsched

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(COMPILE) -c -o $@ $<

# A suite is declared by suites.def alone, so its definition has no prototype before it.
$(BUILD)/test/%.o: private EXTRA_FLAGS = -Itest -Wno-missing-prototypes $(CHECK_CFLAGS)
$(BUILD)/draw/dot/%.o: private EXTRA_FLAGS = $(CGRAPH_CFLAGS)
$(BUILD)/cli/help.o: private EXTRA_FLAGS = -DFS_CGRAPH_VERSION='"$(CGRAPH_VERSION)"'
$(BUILD)/bench/%.o: private EXTRA_FLAGS = -Itest
$(BUILD)/bench/bench_replay.o: private EXTRA_FLAGS = -Itest -fopenmp

# Rewritten only when the flags differ from the last time, so that only then all is rebuilt.
quote = '$(subst ','\'',$(1))'
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(call quote,$(COMPILE) : $(LINK) : $(YAML_LIBS) $(CGRAPH_LIBS) $(CGRAPH_VERSION)) >$@.new
	@if cmp -s $@.new $@; then rm -f $@.new; else \
	  if printf '#include <%s>\n' yaml.h cgraph.h | \
	    $(CC) $(FLAGS) $(CGRAPH_CFLAGS) $(CPPFLAGS) $(CFLAGS) -E -x c - >/dev/null; \
	  then mv -f $@.new $@; \
	  else echo 'no yaml.h or cgraph.h: scripts/deps installs what is missing' >&2; exit 1; fi; fi

$(BUILD)/libfsched.a: $(LIB_OBJ)
	@rm -f $@
	$(call say,AR,$@)$(AR) qcs $@ $(LIB_OBJ)

$(BUILD)/libfsched.so: $(LIB_OBJ) lib/fsched.map
	$(call say,LINK,$@)$(LINK) -shared -Wl,-soname,libfsched.so.$(SOVERSION) -Wl,--version-script=lib/fsched.map \
	  -o $@ $(LIB_OBJ) $(YAML_LIBS)
	@ln -sf libfsched.so $@.$(SOVERSION)

$(BUILD)/fsched: $(CLI_OBJ) $(DOT_OBJ) $(BUILD)/libfsched.a
	$(call say,LINK,$@)$(LINK) -o $@ $^ $(YAML_LIBS) $(CGRAPH_LIBS)

$(BUILD)/test/run: $(TEST_OBJ) $(DOT_OBJ) $(BUILD)/libfsched.a
	$(call say,LINK,$@)$(LINK) -o $@ $^ $(CHECK_LIBS) $(YAML_LIBS) $(CGRAPH_LIBS)

$(BUILD)/test/fuzz/fuzz_smoke: $(BUILD)/test/fuzz/fuzz_smoke.o $(BUILD)/libfsched.a
	$(call say,LINK,$@)$(LINK) -o $@ $< $(BUILD)/libfsched.a $(YAML_LIBS)

$(BUILD)/examples/gen_resnet50: $(BUILD)/examples/gen_resnet50.o
	$(call say,LINK,$@)$(LINK) -o $@ $<

# The library's example, linked as a user links it.
$(BUILD)/examples/library: $(BUILD)/examples/library.o $(BUILD)/libfsched.so
	$(call say,LINK,$@)$(LINK) -o $@ $< -L$(BUILD) -lfsched -Wl,-rpath,'$$ORIGIN/..'

$(BENCH_BIN): $(BUILD)/bench/%: $(BUILD)/bench/%.o $(BUILD)/test/gen.o $(BUILD)/test/naive.o \
	  $(BUILD)/libfsched.a
	$(call say,LINK,$@)$(LINK) $(if $(filter %_replay,$@),-fopenmp) -o $@ $^ $(YAML_LIBS) -lm

$(BUILD)/fsched.bash: scripts/gen-completion $(BUILD)/fsched
	$(call say,GEN,$@)scripts/gen-completion $(BUILD)/fsched >$@

TESTS := $(BUILD)/test/run $(BUILD)/fsched $(TOOL_BIN) $(BUILD)/libfsched.so
check: $(TESTS)
	@BUILD=$(BUILD) scripts/run-tests

check-asan:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/asan CFLAGS='$(ASAN_FLAGS)' \
	  LDFLAGS='-fsanitize=address,undefined' check

check-tsan:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/tsan CFLAGS='$(TSAN_FLAGS)' \
	  LDFLAGS='-fsanitize=thread' SUITES='$(TSAN_SUITES)' check-suites

check-stress:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/stress CPPFLAGS='$(CPPFLAGS) -DFS_STRESS' check

# The unit suites in $(SUITES), or all of them, alone.
check-suites: $(BUILD)/test/run
	@BUILD=$(BUILD) scripts/run-tests --suites $(SUITES)

fuzz-smoke: $(TESTS)
	$(BUILD)/test/fuzz/fuzz_smoke $(FUZZ) examples/*.yaml

bench: $(BENCH_BIN)
	@for b in $(BENCH_BIN); do echo "== $$b"; $$b || exit 1; done

demo: $(BUILD)/fsched
	@BUILD=$(BUILD) scripts/run-demo

examples: $(BUILD)/examples/gen_resnet50
	$(BUILD)/examples/gen_resnet50 >examples/resnet50.yaml.new
	mv -f examples/resnet50.yaml.new examples/resnet50.yaml

lint:
	@scripts/lint

MAN1 := $(wildcard man/*.1)
MAN5 := $(wildcard man/*.5)
SO := libfsched.so
install: all $(BUILD)/fsched.bash
	$(INSTALL) -d '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(LIBDIR)/pkgconfig' \
	  '$(DESTDIR)$(INCLUDEDIR)/fsched' '$(DESTDIR)$(MANDIR)/man1' '$(DESTDIR)$(MANDIR)/man5' \
	  '$(DESTDIR)$(COMPLETIONDIR)'
	$(INSTALL) -m 755 $(BUILD)/fsched '$(DESTDIR)$(BINDIR)'
	$(INSTALL) -m 644 $(BUILD)/libfsched.a '$(DESTDIR)$(LIBDIR)'
	$(INSTALL) -m 755 $(BUILD)/$(SO) '$(DESTDIR)$(LIBDIR)/$(SO).$(VERSION)'
	ln -sf $(SO).$(VERSION) '$(DESTDIR)$(LIBDIR)/$(SO).$(SOVERSION)'
	ln -sf $(SO).$(SOVERSION) '$(DESTDIR)$(LIBDIR)/$(SO)'
	$(INSTALL) -m 644 include/fsched/*.h '$(DESTDIR)$(INCLUDEDIR)/fsched'
	$(if $(MAN1),$(INSTALL) -m 644 $(MAN1) '$(DESTDIR)$(MANDIR)/man1')
	$(if $(MAN5),$(INSTALL) -m 644 $(MAN5) '$(DESTDIR)$(MANDIR)/man5')
	$(INSTALL) -m 644 $(BUILD)/fsched.bash '$(DESTDIR)$(COMPLETIONDIR)/fsched'
	printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR:$(PREFIX)/%=$${prefix}/%)' \
	  'includedir=$(INCLUDEDIR:$(PREFIX)/%=$${prefix}/%)' '' 'Name: fsched' \
	  'Description: static schedule compiler for graphs of operations' \
	  'Version: $(VERSION)' 'Requires.private: yaml-0.1' 'Cflags: -I$${includedir}' \
	  'Libs: -L$${libdir} -lfsched' 'Libs.private: -pthread' \
	  >'$(DESTDIR)$(LIBDIR)/pkgconfig/fsched.pc'

uninstall:
	rm -f '$(DESTDIR)$(COMPLETIONDIR)/fsched' '$(DESTDIR)$(BINDIR)/fsched' '$(DESTDIR)$(LIBDIR)/libfsched.a' \
	  '$(DESTDIR)$(LIBDIR)/$(SO).$(VERSION)' '$(DESTDIR)$(LIBDIR)/$(SO).$(SOVERSION)' \
	  '$(DESTDIR)$(LIBDIR)/$(SO)' '$(DESTDIR)$(LIBDIR)/pkgconfig/fsched.pc'
	rm -rf '$(DESTDIR)$(INCLUDEDIR)/fsched'
	cd '$(DESTDIR)$(MANDIR)' && rm -f $(MAN1:man/%=man1/%) $(MAN5:man/%=man5/%)

dist:
	@mkdir -p $(BUILD)
	git archive --format=tar --prefix=fsched-$(VERSION)/ -o $(BUILD)/fsched-$(VERSION).tar HEAD
	gzip -9nf $(BUILD)/fsched-$(VERSION).tar

clean:
	rm -rf $(BUILD)

.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all check check-asan check-tsan check-stress check-suites fuzz-smoke bench demo examples \
	lint install uninstall dist clean FORCE
-include $(OBJ:.o=.d)
