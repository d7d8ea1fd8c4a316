# SPDX-License-Identifier: Apache-2.0
# make, make check, make demo, make bench, make install; CC, CFLAGS, LDFLAGS, PREFIX, DESTDIR and
# BUILD (the build directory) are honoured.
CC ?= cc
BUILD ?= build
CFLAGS ?= -O2 -g
WARN = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
YAML_CFLAGS := $(shell pkg-config --cflags yaml-0.1 2>/dev/null)
YAML_LIBS := $(shell pkg-config --libs yaml-0.1 2>/dev/null || echo -lyaml)
CHECK_CFLAGS := $(shell pkg-config --cflags check 2>/dev/null)
CHECK_LIBS := $(shell pkg-config --libs check 2>/dev/null || echo -lcheck)
FLAGS = -std=c11 -D_GNU_SOURCE -Iinclude -Ilib $(WARN) -fPIC -fvisibility=hidden -pthread $(YAML_CFLAGS)

LIB_SRC := $(wildcard lib/*.c lib/*/*.c codegen/*.c exec/*.c)
CLI_SRC := $(wildcard cli/*.c)
TEST_SRC := $(wildcard test/*.c)
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o)
CLI_OBJ := $(CLI_SRC:%.c=$(BUILD)/%.o)
TEST_OBJ := $(TEST_SRC:%.c=$(BUILD)/%.o)

all: $(BUILD)/libfsched.a

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/test/%.o: FLAGS += -Itest $(CHECK_CFLAGS)

$(BUILD)/libfsched.a: $(LIB_OBJ)
	rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/test/run: $(TEST_OBJ) $(BUILD)/libfsched.a
	$(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $^ $(CHECK_LIBS) $(YAML_LIBS)

check: $(BUILD)/test/run
	$(BUILD)/test/run

clean:
	rm -rf $(BUILD)

.PHONY: all check clean
-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(TEST_OBJ:.o=.d)
