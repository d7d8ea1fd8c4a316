# SPDX-License-Identifier: Apache-2.0
#
# make                 library, shared library and program in $(BUILD)
# make check           unit suites, program tests, a short fuzz run; UPDATE=1 rewrites golden files
# make check-asan      the same under the address and undefined-behaviour sanitizers
# make check-tsan      the replay suites under the thread sanitizer
# make check-gpu       the CUDA suites on this machine's device; without one it says so and succeeds
# make check-stress    the same as check with tiny blocks and capacities (-DFS_STRESS)
# make stress          long runs of random programs of submits, and of tasks on threads, in minutes
# make fuzz-smoke      the examples as graphs and streams: every prefix (of long ones every n-th)
#                      and 5,000 byte flips of each, about a minute; FUZZ=--all: every prefix of all
#                      and 10,000 flips of each (many minutes)
# make fuzz            coverage-guided fuzzing with clang's libFuzzer, FUZZ_SECONDS (900) for each of
#                      FUZZ_TARGETS (all), FUZZ_JOBS at once; FUZZ_LOG (a file that is kept) adds up
#                      the CPU time
# make fuzz-quick      the same, 10 seconds each
# make fuzz-coverage   the lines that the inputs found so far reach
# make coverage        the lines and branches of each room that the unit suites reach (gcov)
# make bench           builds and runs every bench/bench_*.c (make benches only builds them)
# make demo            compiles, verifies and replays examples/resnet50.yaml
# make examples        writes examples/resnet50.yaml, scenarios/*.yaml and gemm-out-of-core/graph.yaml
#                      anew
# make pictures        writes examples/figure-10.svg, resnet50.svg, */picture.svg and */loop.svg anew
# make lint            rules on includes, licences, man pages, scripts, format
# make dist            $(BUILD)/fsched-VERSION.tar.gz, the same bytes from a clone and from itself
# make repro           builds twice in unlike places and settings and compares every installed byte
# make install         to $(DESTDIR)$(PREFIX); uninstall, clean
# make help            prints this
#
# CC, CPPFLAGS, CFLAGS, LDFLAGS, PREFIX, DESTDIR and BUILD (the build directory) are honoured.  A
# change of flags rebuilds, but a plain "make install" installs what is built.  V=1 shows the
# commands.  What is missing to build is installed by scripts/deps.

BUILD ?= build
# One directory has one name, below or with its whole path: flags name it, and other flags build anew.
override BUILD := $(patsubst $(CURDIR)/%,%,$(BUILD))
# "make install" installs what was built: of these it takes those of that call, if it is given none.
REMEMBERED := CC CPPFLAGS CFLAGS LDFLAGS
ifneq ($(filter install,$(MAKECMDGOALS)),)
-include $(BUILD)/flags.mk
$(foreach v,$(REMEMBERED),$(if $(filter undefined default,$(origin $(v))),\
  $(if $(filter undefined,$(origin BUILT_$(v))),,$(eval $(v) = $$(BUILT_$(v))))))
endif
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR ?= $(PREFIX)/share/zsh/site-functions
FISHCOMPDIR ?= $(PREFIX)/share/fish/vendor_completions.d
INSTALL ?= install

VERSION := $(shell sed -n 's/^\#define FS_VERSION "\(.*\)"/\1/p' lib/base/version.c)
# Of the manual, set together with the version.
DATE := 2026-11-21
SOVERSION := 0

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
# A switch that lacks a member of its enumeration is a fault; in the product one with a default too.
WARN += -Werror=switch
WHOLE = $(if $(filter test/% bench/%,$<),,-Wswitch-enum -Werror=switch-enum)
YAML_CFLAGS := $(shell pkg-config --cflags yaml-0.1 2>/dev/null)
YAML_LIBS := $(shell pkg-config --libs yaml-0.1 2>/dev/null || echo -lyaml)
# The DOT emitter's library; for the program alone, libfsched does without it.
CGRAPH_CFLAGS := $(shell pkg-config --cflags libcgraph 2>/dev/null || echo -I/usr/include/graphviz)
CGRAPH_LIBS := $(shell pkg-config --libs libcgraph 2>/dev/null || echo -lcgraph -lcdt)
CGRAPH_VERSION := $(shell pkg-config --modversion libcgraph 2>/dev/null)
# GLPK's solver is a program of its own, under the GPL as GLPK is: it shares nothing with the others,
# and is left out where GLPK is not installed.
HAVE_GLPK := $(shell echo '\#include <glpk.h>' | $(CC) $(CPPFLAGS) $(CFLAGS) -E -x c - >/dev/null 2>&1 && echo yes)
CHECK_CFLAGS := $(shell pkg-config --cflags check 2>/dev/null)
CHECK_LIBS := $(shell pkg-config --libs check 2>/dev/null || echo -lcheck)

# What the sources need, whatever the caller's CFLAGS are.
FLAGS := -std=c11 -D_GNU_SOURCE -Iinclude -Ilib -I. $(WARN) -fPIC -fvisibility=hidden -pthread \
	$(YAML_CFLAGS)
# Debug information names this directory "." and the build directory "build", wherever they are.
MAP = -ffile-prefix-map=$(CURDIR)=. $(if $(filter /%,$(BUILD)),-ffile-prefix-map=$(BUILD)=build)
COMPILE = $(CC) $(FLAGS) $(WHOLE) $(EXTRA_FLAGS) $(MAP) $(CPPFLAGS) $(CFLAGS) -MMD -MP
LINK = $(CC) $(CFLAGS) $(LDFLAGS) -pthread

# $(call sources,ROOMS,PATTERNS): all .c files in these directories and below, without those that match.
sources = $(sort $(filter-out $(2),$(shell find $(1) -name '*.c')))
LIB_SRC := $(call sources,lib codegen draw exec,lib/ilp/glpk/% draw/dot/% exec/dynamic/worker/%)
DOT_SRC := $(sort $(wildcard draw/dot/*.c))
GLPK_SRC := $(sort $(wildcard lib/ilp/glpk/*.c))
CLI_SRC := $(call sources,cli,cli/gen/%)
# What is not a part of the test runner is a program, or a library, of its own.
TEST_SRC := $(call sources,test,$(addprefix test/,cost/% cuda_modules/% fake_cuda/% fuzz/% locale/% memory/% preload/%))
BENCH_SRC := $(wildcard bench/bench_*.c)
# The text of the built-in kernels for devices is made a string when it is built.
BUILTIN := $(BUILD)/exec/cuda/builtin_ptx
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o) $(BUILTIN).o
DOT_OBJ := $(DOT_SRC:%.c=$(BUILD)/%.o)
GLPK_OBJ := $(GLPK_SRC:%.c=$(BUILD)/%.o)
WORKER_OBJ := $(patsubst %,$(BUILD)/exec/dynamic/worker/%.o,main told)
WORKER_BIN := $(BUILD)/fsched-worker
GLPK_BIN := $(if $(HAVE_GLPK),$(BUILD)/fsched-glpk)
CLI_OBJ := $(CLI_SRC:%.c=$(BUILD)/%.o)
TEST_OBJ := $(TEST_SRC:%.c=$(BUILD)/%.o)
GEN_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard cli/gen/*.c)))
# A CUDA driver that runs on the processor.
FAKE_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard test/fake_cuda/*.c))) \
	$(BUILD)/exec/host/kernel.o $(BUILTIN).o
FAKE_CUDA := $(BUILD)/test/fake_cuda/libcuda.so.1
BENCH_BIN := $(BENCH_SRC:%.c=$(BUILD)/%)
TOOL_BIN := $(BUILD)/test/fuzz/fuzz_smoke $(BUILD)/examples/gen_resnet50 \
	$(BUILD)/examples/scenarios/gen_scenarios \
	$(BUILD)/examples/gemm-out-of-core/gen_gemm $(BUILD)/examples/gemm-out-of-core/check_gemm \
	$(BUILD)/examples/embed/embed $(BUILD)/examples/serve/serve $(BUILD)/examples/submit/submit $(BUILD)/test/locale/fsched
# Targets for libFuzzer, or, with each.c, for the inputs in files.
FUZZ_NAMES := $(filter-out smoke,$(patsubst test/fuzz/fuzz_%.c,%,$(sort $(wildcard test/fuzz/fuzz_*.c))))
FUZZ_BIN := $(FUZZ_NAMES:%=$(BUILD)/test/fuzz/fuzz_%)
FUZZ_OBJ := $(BUILD)/test/fuzz/kit.o $(BUILD)/test/fuzz/kit_program.o
FUZZ_MAIN := $(BUILD)/test/fuzz/each.o
# Memory that runs out.
SHORT_BIN := $(BUILD)/test/memory/short.so $(BUILD)/test/memory/short_of
# Writes the graphs whose cost is counted.
COST_BIN := $(BUILD)/test/cost/shape
# Kernels of tests, which workers open.
KERNELS_SO := $(BUILD)/test/exec/dynamic/kernels.so
# Kernels of an example, which a replay opens.
GEMM_SO := $(BUILD)/examples/gemm-out-of-core/gemm.so
OBJ := $(GEMM_SO:.so=.o) $(LIB_OBJ) $(DOT_OBJ) $(GLPK_OBJ) $(WORKER_OBJ) $(CLI_OBJ) $(TEST_OBJ) $(FAKE_OBJ) $(GEN_OBJ) $(BENCH_BIN:=.o) $(BUILD)/bench/frontier_reference.o $(BUILD)/bench/dags.o $(TOOL_BIN:=.o) \
	$(FUZZ_BIN:=.o) $(FUZZ_OBJ) $(FUZZ_MAIN) \
	$(BUILD)/test/memory/short.o $(BUILD)/test/memory/short_of.o $(COST_BIN:=.o)

# Suites with threads, and what the sanitizer builds are made of.
TSAN_SUITES ?= fence pool exec exec_bind exec_order exec_chain exec_state exec_end exec_loops exec_kernels exec_stress exec_frontier exec_causality \
	replay replay_threads replay_random replay_sync cuda cuda_exec cuda_hang conformance_cpu conformance_threads conformance_sim conformance_dynamic sim sim_random sim_sync tracker tracker_axes semaphore semaphore_facts semaphore_many semaphore_threads \
	semaphore_handles semaphore_process semaphore_page dynamic_workers dynamic_processes dynamic_calls dynamic_gangs dynamic_hosts dynamic_programs dynamic_facts dynamic_trace submit_bytes \
	search_jobs
ASAN_FLAGS := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=all
TSAN_FLAGS := -O1 -g -fsanitize=thread

FUZZ_FLAGS := -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=all
FUZZ_CC ?= clang

# $(call say,CC,name) before a command: shows it short, or with V=1 as it is.
say = $(if $(V),,@printf '  %-6s %s\n' $(1) $(2) && )

# Made from the table of options: the pages of the manual and the completions.
PAGES := $(patsubst %,$(BUILD)/%,$(sort $(wildcard man/*.[1357])))
# Each function of the library is a page that includes libfsched(3).
FUNCTIONS := $(shell scripts/functions)
LINKS := $(FUNCTIONS:%=$(BUILD)/man/links/%.3)
COMPLETIONS := $(addprefix $(BUILD)/completion/fsched.,bash zsh fish)

all: $(BUILD)/libfsched.a $(BUILD)/libfsched.so $(BUILD)/fsched $(WORKER_BIN) $(or $(GLPK_BIN),no-glpk) $(PAGES) $(LINKS) $(COMPLETIONS)

no-glpk:
	@echo 'no glpk.h: fsched-glpk, the solver of --refine, is not built (Debian: libglpk-dev)'

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(COMPILE) -c -o $@ $<

$(BUILTIN).c: exec/cuda/kernels/builtin.ptx scripts/gen-kernels
	@mkdir -p $(@D)
	$(call say,GEN,$@)scripts/gen-kernels --embed $< >$@.new && mv -f $@.new $@

$(BUILTIN).o: private EXTRA_FLAGS = -ffile-prefix-map=$(BUILD)=build
$(BUILTIN).o: $(BUILTIN).c $(BUILD)/flags
	$(call say,CC,$<)$(COMPILE) -c -o $@ $<

# The fake driver, and sources of the product compiled under other names, are called through no header.
$(BUILD)/test/%.o: private EXTRA_FLAGS = -Itest -Wno-missing-prototypes $(CHECK_CFLAGS)
$(BUILD)/lib/ilp/glpk/%.o: private EXTRA_FLAGS = -DFSCHED_VERSION='"$(VERSION)"'
$(BUILD)/lib/ilp/glpk/main.o: lib/base/version.c
$(BUILD)/draw/dot/%.o: private EXTRA_FLAGS = $(CGRAPH_CFLAGS)
$(BUILD)/test/draw/dot/test_dot.o $(BUILD)/test/draw/dot/test_dot_large.o: private EXTRA_FLAGS = -Itest -Wno-missing-prototypes $(CHECK_CFLAGS) $(CGRAPH_CFLAGS)
$(BUILD)/cli/commands/help.o: private EXTRA_FLAGS = -DFS_CGRAPH_VERSION='"$(CGRAPH_VERSION)"'
$(BUILD)/bench/%.o: private EXTRA_FLAGS = -Itest
$(BUILD)/bench/dags.o: private EXTRA_FLAGS = -Itest -fopenmp
$(BUILD)/bench/bench_replay.o $(BUILD)/bench/bench_dynamic.o: private EXTRA_FLAGS = -Itest -fopenmp

# Rewritten only when the flags differ from the last time, so that only then all is rebuilt.
hash := \#
kept = $(subst $(hash),\$(hash),$(subst $$,$$$$,$(1)))
quote = '$(subst ','\'',$(1))'
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(call quote,$(COMPILE) : $(LINK) : $(YAML_LIBS) $(CGRAPH_LIBS) $(CGRAPH_VERSION)) >$@.new
	@if [ -f $@.mk ] && cmp -s $@.new $@; then rm -f $@.new; else \
	  if printf '#include <%s>\n' yaml.h cgraph.h | \
	    $(CC) $(FLAGS) $(CGRAPH_CFLAGS) $(CPPFLAGS) $(CFLAGS) -E -x c - >/dev/null; \
	  then printf '%s\n' $(foreach v,$(REMEMBERED),$(call quote,BUILT_$(v) := $(call kept,$($(v))))) >$@.mk && mv -f $@.new $@; \
	  else echo 'no yaml.h or cgraph.h: scripts/deps installs what is missing' >&2; exit 1; fi; fi

$(BUILD)/libfsched.a: $(LIB_OBJ)
	@rm -f $@
	$(call say,AR,$@)$(AR) qcsD $@ $(LIB_OBJ)

$(BUILD)/libfsched.so: $(LIB_OBJ) lib/fsched.map
	$(call say,LINK,$@)$(LINK) -shared -Wl,-soname,libfsched.so.$(SOVERSION) -Wl,--version-script=lib/fsched.map \
	  -o $@ $(LIB_OBJ) $(YAML_LIBS)
	@ln -sf libfsched.so $@.$(SOVERSION)

$(BUILD)/fsched: $(CLI_OBJ) $(DOT_OBJ) $(BUILD)/libfsched.a
	$(call say,LINK,$@)$(LINK) -o $@ $^ $(YAML_LIBS) $(CGRAPH_LIBS)

$(WORKER_BIN): $(WORKER_OBJ) $(BUILD)/libfsched.a
	$(call say,LINK,$@)$(LINK) -o $@ $^ $(YAML_LIBS)

$(BUILD)/fsched-glpk: $(GLPK_OBJ)
	$(call say,LINK,$@)$(LINK) -o $@ $^ -lglpk -lm

$(FAKE_CUDA): $(FAKE_OBJ)
	$(call say,LINK,$@)$(LINK) -shared -o $@ $^ -lm

$(BUILD)/test/run: $(TEST_OBJ) $(DOT_OBJ) $(BUILD)/libfsched.a | $(FAKE_CUDA) $(GLPK_BIN) $(WORKER_BIN) $(KERNELS_SO)
	$(call say,LINK,$@)$(LINK) -o $@ $^ $(CHECK_LIBS) $(YAML_LIBS) $(CGRAPH_LIBS)

$(BUILD)/test/fuzz/fuzz_smoke: $(BUILD)/test/fuzz/fuzz_smoke.o $(BUILD)/libfsched.a
	$(call say,LINK,$@)$(LINK) -o $@ $< $(BUILD)/libfsched.a $(YAML_LIBS)

# FUZZ_LINK: that of libFuzzer, which has a main of its own.
$(FUZZ_BIN): %: %.o $(FUZZ_OBJ) $(if $(FUZZ_LINK),,$(FUZZ_MAIN)) $(BUILD)/libfsched.a
	$(call say,LINK,$@)$(LINK) $(FUZZ_LINK) -o $@ $^ $(YAML_LIBS) -lm

# Preloaded, so without a sanitizer.
$(BUILD)/test/memory/short.o: private EXTRA_FLAGS = -fvisibility=default -Wno-missing-prototypes
$(BUILD)/test/memory/short.so: $(BUILD)/test/memory/short.o
	$(call say,LINK,$@)$(LINK) -shared -o $@ $< -ldl

$(BUILD)/test/memory/short_of $(COST_BIN): %: %.o
	$(call say,LINK,$@)$(LINK) -o $@ $<

# The program, but with the locale of its environment set, which the program itself never does.
$(BUILD)/test/locale/fsched: $(BUILD)/test/locale/fsched.o $(CLI_OBJ) $(DOT_OBJ) $(BUILD)/libfsched.a
	$(call say,LINK,$@)$(LINK) -o $@ $^ $(YAML_LIBS) $(CGRAPH_LIBS)

$(BUILD)/examples/gen_resnet50 $(BUILD)/examples/scenarios/gen_scenarios: %: %.o
	$(call say,LINK,$@)$(LINK) -o $@ $<

$(BUILD)/examples/gemm-out-of-core/gen_gemm $(BUILD)/examples/gemm-out-of-core/check_gemm: %: %.o
	$(call say,LINK,$@)$(LINK) -o $@ $< -lm

$(GEMM_SO) $(KERNELS_SO): %.so: %.o
	$(call say,LINK,$@)$(LINK) -shared -o $@ $<

# The library's examples, linked as a user links them.
$(BUILD)/examples/embed/embed $(BUILD)/examples/serve/serve $(BUILD)/examples/submit/submit: %: %.o $(BUILD)/libfsched.so
	$(call say,LINK,$@)$(LINK) -o $@ $< -L$(BUILD) -lfsched -Wl,-rpath,'$$ORIGIN/../..'

# The same DAGs for several run times.
$(BUILD)/bench/bench_replay $(BUILD)/bench/bench_dynamic: $(BUILD)/bench/dags.o

$(BENCH_BIN): $(BUILD)/bench/%: $(BUILD)/bench/%.o $(BUILD)/test/kit/gen.o $(BUILD)/test/kit/naive.o $(BUILD)/test/search/plant.o \
	  $(BUILD)/test/frontier/tracker/tracker_stress.o $(BUILD)/test/frontier/semaphore/semaphore_stress.o $(BUILD)/libfsched.a
	$(call say,LINK,$@)$(LINK) $(if $(filter %_replay %_dynamic,$@),-fopenmp) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(YAML_LIBS) -lm

# What frontiers are measured beside, built with the same flags.
$(BUILD)/bench/bench_frontier: $(BUILD)/bench/frontier_reference.o

$(BUILD)/cli/gen/gen: $(GEN_OBJ) $(BUILD)/cli/common/args.o $(BUILD)/cli/common/describe.o $(BUILD)/libfsched.a
	$(call say,LINK,$@)$(LINK) -o $@ $^ $(YAML_LIBS)

$(PAGES): $(BUILD)/man/%: man/% $(BUILD)/cli/gen/gen Makefile
	@mkdir -p $(@D)
	$(call say,GEN,$@)$(BUILD)/cli/gen/gen page $< $(DATE) >$@

$(BUILD)/man/libfsched.3: $(wildcard include/fsched/*.h)

$(LINKS): Makefile
	@mkdir -p $(@D)
	@echo '.so man3/libfsched.3' >$@

$(COMPLETIONS): $(BUILD)/completion/fsched.%: $(BUILD)/cli/gen/gen
	@mkdir -p $(@D)
	$(call say,GEN,$@)$(BUILD)/cli/gen/gen $* >$@

TESTS := $(BUILD)/test/run $(BUILD)/fsched $(WORKER_BIN) $(or $(GLPK_BIN),no-glpk) $(TOOL_BIN) $(FUZZ_BIN) $(SHORT_BIN) $(COST_BIN) $(GEMM_SO) $(BUILD)/libfsched.so $(PAGES) \
	$(LINKS) $(COMPLETIONS)
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

# What is only worth its time now and then: many random programs, and tasks through real workers.
stress: $(BUILD)/test/run
	@FSCHED_PROGRAMS=$${FSCHED_PROGRAMS:-10000} FSCHED_TASKS=$${FSCHED_TASKS:-10000000} \
	  $(MAKE) --no-print-directory SUITES='submit_bytes dynamic_workers' check-suites

check-gpu: $(BUILD)/test/run $(BUILD)/fsched $(addprefix $(BUILD)/examples/gemm-out-of-core/,gen_gemm check_gemm)
	@BUILD=$(BUILD) scripts/check-gpu

# The unit suites in $(SUITES), or all of them, alone.
check-suites: $(BUILD)/test/run
	@BUILD=$(BUILD) scripts/run-tests --suites $(SUITES)

fuzz-smoke: $(TESTS)
	$(BUILD)/test/fuzz/fuzz_smoke $(FUZZ) examples/*.yaml examples/*/graph.yaml test/fuzz/*.yaml

fuzz-targets: $(FUZZ_BIN)

# With "make fuzz FUZZ_SECONDS=3600 FUZZ_TARGETS='graph asm' FUZZ_JOBS=2" as variables of make too.
export FUZZ_SECONDS FUZZ_TARGETS FUZZ_JOBS FUZZ_LOG
fuzz: $(BUILD)/fsched
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/fuzz CC='$(FUZZ_CC)' CFLAGS='$(FUZZ_FLAGS)' \
	  LDFLAGS='-fsanitize=address,undefined' FUZZ_LINK=-fsanitize=fuzzer fuzz-targets
	@BUILD=$(BUILD) scripts/fuzz run

fuzz-quick: FUZZ_SECONDS := 10
fuzz-quick: fuzz

coverage:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/gcov CFLAGS='-O1 -g --coverage -fprofile-update=atomic' \
	  LDFLAGS=--coverage check-suites
	@scripts/coverage $(BUILD)/gcov

fuzz-coverage: $(BUILD)/fsched
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/coverage CC='$(FUZZ_CC)' \
	  CFLAGS='-O1 -g -fprofile-instr-generate -fcoverage-mapping' fuzz-targets
	@BUILD=$(BUILD) scripts/fuzz coverage

# Beside ours, where its header is installed.
$(BUILD)/bench/taskflow: bench/taskflow.cpp
	@mkdir -p $(@D)
	@if echo '#include <taskflow/taskflow.hpp>' | $(CXX) -std=c++17 -E -x c++ - >/dev/null 2>&1; \
	then $(CXX) -std=c++17 -O2 -pthread -o $@ $<; \
	else printf '#!/bin/sh\necho "skip: no taskflow/taskflow.hpp"\n' >$@ && chmod +x $@; fi

# Only built: no test runs them.
benches: $(BENCH_BIN)

bench: benches $(BUILD)/bench/taskflow $(BUILD)/fsched
	@for b in $(BENCH_BIN) $(BUILD)/bench/taskflow; do echo "== $$b"; $$b || exit 1; done

demo: $(BUILD)/fsched $(PAGES)
	@BUILD=$(BUILD) scripts/run-demo

# Each scenario, and the product of matrices, says in its head how it is written.
examples: $(BUILD)/examples/gen_resnet50 $(BUILD)/examples/scenarios/gen_scenarios \
	  $(BUILD)/examples/gemm-out-of-core/gen_gemm
	$(BUILD)/examples/gen_resnet50 >examples/resnet50.yaml.new
	mv -f examples/resnet50.yaml.new examples/resnet50.yaml
	@for graph in examples/scenarios/*.yaml examples/gemm-out-of-core/graph.yaml; do \
	  $(BUILD)/$${graph%/*}/$$(sed -n 's/^# Written by: //p' $$graph) >$$graph.new && \
	  mv -f $$graph.new $$graph || exit 1; \
	done

# Rewritten only when what is drawn differs.
pictures: $(BUILD)/fsched
	@for graph in examples/figure-10.yaml examples/resnet50.yaml examples/*/graph.yaml; do \
	  case $$graph in */graph.yaml) svg=$${graph%/*}/picture.svg ;; *) svg=$${graph%.yaml}.svg ;; esac; \
	  $(BUILD)/fsched compile $$graph -q --unroll -o $(BUILD)/picture.fsb --emit svg=$(BUILD)/picture.svg || exit 1; \
	  cmp -s $(BUILD)/picture.svg $$svg || { echo "  SVG    $$svg"; cp $(BUILD)/picture.svg $$svg; } || exit 1; \
	done
	@for svg in examples/*/loop.svg; do \
	  $(BUILD)/fsched compile $${svg%/*}/graph.yaml -q -o $(BUILD)/picture.fsb --emit svg=$(BUILD)/picture.svg || exit 1; \
	  cmp -s $(BUILD)/picture.svg $$svg || { echo "  SVG    $$svg"; cp $(BUILD)/picture.svg $$svg; } || exit 1; \
	done

lint:
	@BUILD=$(BUILD) scripts/lint

SO := libfsched.so
CMAKEDIR = $(LIBDIR)/cmake/fsched
# $(call cmake_file,NAME): fills in cmake/NAME.in for this installation.
cmake_file = scripts/gen-cmake $(1) '$(PREFIX)' '$(BINDIR)' '$(LIBDIR)' '$(INCLUDEDIR)' $(VERSION) $(SOVERSION) \
	"$$(echo __SIZEOF_POINTER__ | $(CC) $(CPPFLAGS) $(CFLAGS) -E -P -x c -)" >'$(DESTDIR)$(CMAKEDIR)/$(1)'
install: all
	$(INSTALL) -d '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(LIBDIR)/pkgconfig' '$(DESTDIR)$(CMAKEDIR)' \
	  '$(DESTDIR)$(INCLUDEDIR)/fsched' '$(DESTDIR)$(MANDIR)/man1' '$(DESTDIR)$(MANDIR)/man3' \
	  '$(DESTDIR)$(MANDIR)/man5' '$(DESTDIR)$(MANDIR)/man7' '$(DESTDIR)$(BASHCOMPDIR)' '$(DESTDIR)$(ZSHCOMPDIR)' \
	  '$(DESTDIR)$(FISHCOMPDIR)'
	$(INSTALL) -m 755 $(BUILD)/fsched $(WORKER_BIN) $(GLPK_BIN) '$(DESTDIR)$(BINDIR)'
	$(INSTALL) -m 644 $(BUILD)/libfsched.a '$(DESTDIR)$(LIBDIR)'
	$(INSTALL) -m 755 $(BUILD)/$(SO) '$(DESTDIR)$(LIBDIR)/$(SO).$(VERSION)'
	ln -sf $(SO).$(VERSION) '$(DESTDIR)$(LIBDIR)/$(SO).$(SOVERSION)'
	ln -sf $(SO).$(SOVERSION) '$(DESTDIR)$(LIBDIR)/$(SO)'
	$(INSTALL) -m 644 include/fsched/*.h '$(DESTDIR)$(INCLUDEDIR)/fsched'
	$(INSTALL) -m 644 $(filter %.1,$(PAGES)) '$(DESTDIR)$(MANDIR)/man1'
	$(INSTALL) -m 644 $(filter %.3,$(PAGES) $(LINKS)) '$(DESTDIR)$(MANDIR)/man3'
	$(INSTALL) -m 644 $(filter %.5,$(PAGES)) '$(DESTDIR)$(MANDIR)/man5'
	$(INSTALL) -m 644 $(filter %.7,$(PAGES)) '$(DESTDIR)$(MANDIR)/man7'
	$(INSTALL) -m 644 $(BUILD)/completion/fsched.bash '$(DESTDIR)$(BASHCOMPDIR)/fsched'
	$(INSTALL) -m 644 $(BUILD)/completion/fsched.zsh '$(DESTDIR)$(ZSHCOMPDIR)/_fsched'
	$(INSTALL) -m 644 $(BUILD)/completion/fsched.fish '$(DESTDIR)$(FISHCOMPDIR)/fsched.fish'
	printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR:$(PREFIX)/%=$${prefix}/%)' \
	  'includedir=$(INCLUDEDIR:$(PREFIX)/%=$${prefix}/%)' \
	  'fsched=$(BINDIR:$(PREFIX)/%=$${prefix}/%)/fsched' '' 'Name: fsched' \
	  'Description: static schedule compiler for graphs of operations' \
	  'Version: $(VERSION)' 'Requires.private: yaml-0.1' 'Cflags: -I$${includedir}' \
	  'Libs: -L$${libdir} -lfsched' 'Libs.private: -pthread' \
	  >'$(DESTDIR)$(LIBDIR)/pkgconfig/fsched.pc'
	chmod 644 '$(DESTDIR)$(LIBDIR)/pkgconfig/fsched.pc'
	$(call cmake_file,fsched-config.cmake)
	$(call cmake_file,fsched-config-version.cmake)
	chmod 644 '$(DESTDIR)$(CMAKEDIR)'/fsched-config*.cmake
	$(INSTALL) -m 644 cmake/fsched-add-program.cmake '$(DESTDIR)$(CMAKEDIR)'

uninstall:
	rm -f '$(DESTDIR)$(BASHCOMPDIR)/fsched' '$(DESTDIR)$(ZSHCOMPDIR)/_fsched' \
	  '$(DESTDIR)$(FISHCOMPDIR)/fsched.fish' '$(DESTDIR)$(BINDIR)/fsched' \
	  '$(DESTDIR)$(BINDIR)/fsched-worker' '$(DESTDIR)$(BINDIR)/fsched-glpk' '$(DESTDIR)$(LIBDIR)/libfsched.a' \
	  '$(DESTDIR)$(LIBDIR)/$(SO).$(VERSION)' '$(DESTDIR)$(LIBDIR)/$(SO).$(SOVERSION)' \
	  '$(DESTDIR)$(LIBDIR)/$(SO)' '$(DESTDIR)$(LIBDIR)/pkgconfig/fsched.pc'
	rm -rf '$(DESTDIR)$(INCLUDEDIR)/fsched' '$(DESTDIR)$(CMAKEDIR)'
	cd '$(DESTDIR)$(MANDIR)' && rm -f \
	  $(foreach n,1 3 5 7,$(addprefix man$(n)/,$(notdir $(filter %.$(n),$(PAGES) $(LINKS)))))

dist:
	@scripts/dist $(BUILD)/fsched-$(VERSION).tar.gz

repro:
	@CC='$(CC)' scripts/repro

clean:
	rm -rf $(BUILD)

.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:
help:
	@sed -n '/^# make  /,/^$$/s/^# \{0,1\}//p' Makefile

.PHONY: all no-glpk help check check-gpu check-asan check-tsan check-stress check-suites stress fuzz-smoke fuzz fuzz-quick fuzz-targets fuzz-coverage coverage bench benches demo examples \
	pictures lint install uninstall dist repro clean FORCE
-include $(OBJ:.o=.d)
