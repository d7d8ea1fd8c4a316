/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a scenario as a graph file: gen_scenarios SHAPE WIDTH DEPTH HARDWARE.
 *
 * WIDTH is the amount of parallel work, DEPTH the number of successive steps, HARDWARE the number
 * of compute queues (core0, core1, ...); the comment of each shape says what they mean exactly.
 * Times and sizes are made up, so that neighbours differ.  The same words give the same text. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WIDTH = 1000, MOST_DEPTH = 10000, MOST_HARDWARE = 64, CACHE = 64, TOKEN = 4 };

typedef struct scenario {
  unsigned width, depth, hardware;
  unsigned n_args; /* args written so far for the present op */
} scenario;

/* An op is written in three steps: begin, args, end; it writes a buffer of its own name. */

static void begin_op(scenario *s, const char *on, unsigned time) {
  printf(", on: %s, time: %u, size: %d, args: [", on, time, TOKEN);
  s->n_args = 0;
}

static void comma(scenario *s) { printf("%s", s->n_args++ == 0 ? "" : ", "); }

static void end_op(void) { printf("]}\n"); }

static unsigned ticks(unsigned a, unsigned b) { return 2 + (a * 3 + b * 2) % 5; }

static void one_core(char *on, size_t size, unsigned core) {
  (void)snprintf(on, size, "core%u", core);
}

/* Both functions take a format and its values. */
#define READ(s, ...) (comma(s), printf("{in: "), printf(__VA_ARGS__), printf("}"))
#define NAME(...) (printf("  - {name: "), printf(__VA_ARGS__))

/* Width chains of depth steps on any core. */
static void sequential(scenario *s) {
  for (unsigned d = 0; d < s->depth; d++) {
    for (unsigned w = 0; w < s->width; w++) {
      NAME("c%u.%u", w, d);
      begin_op(s, "core", ticks(w, d));
      if (d > 0) {
        READ(s, "c%u.%u", w, d - 1);
      }
      end_op();
    }
  }
}

/* Width chains, each step on the core after that of the step before. */
static void cross_queue(scenario *s) {
  for (unsigned d = 0; d < s->depth; d++) {
    for (unsigned w = 0; w < s->width; w++) {
      char on[16];
      one_core(on, sizeof on, (w + d) % s->hardware);
      NAME("c%u.%u", w, d);
      begin_op(s, on, ticks(w, d));
      if (d > 0) {
        READ(s, "c%u.%u", w, d - 1);
      }
      end_op();
    }
  }
}

/* Depth rounds of one op, width branches, and one op that needs them all. */
static void fork_join(scenario *s) {
  for (unsigned d = 0; d < s->depth; d++) {
    NAME("fork%u", d);
    begin_op(s, "core", 2);
    if (d > 0) {
      READ(s, "join%u", d - 1);
    }
    end_op();
    for (unsigned w = 0; w < s->width; w++) {
      NAME("branch%u.%u", d, w);
      begin_op(s, "core", ticks(w, d));
      READ(s, "fork%u", d);
      end_op();
    }
    NAME("join%u", d);
    begin_op(s, "core", 2);
    for (unsigned w = 0; w < s->width; w++) {
      READ(s, "branch%u.%u", d, w);
    }
    end_op();
  }
}

/* Depth steps on core0; width readers of the first step on the other cores, each after a long op,
 * so that all steps are complete when it needs the first one. */
static void late_waiter(scenario *s) {
  for (unsigned d = 0; d < s->depth; d++) {
    NAME("step%u", d);
    begin_op(s, "core0", 2);
    if (d > 0) {
      READ(s, "step%u", d - 1);
    }
    end_op();
  }
  for (unsigned w = 0; w < s->width; w++) {
    char on[16];
    one_core(on, sizeof on, s->hardware == 1 ? 0 : 1 + w % (s->hardware - 1));
    NAME("long%u", w);
    begin_op(s, on, 2 * s->depth + 1 + w % 3);
    end_op();
    NAME("late%u", w);
    begin_op(s, on, 1);
    READ(s, "long%u", w);
    READ(s, "step0");
    end_op();
  }
}

/* Width requests: the host reads one; in each of depth layers a core computes, the network sends,
 * and the next core adds what was sent to what the host had read. */
static void multi_domain(scenario *s) {
  for (unsigned w = 0; w < s->width; w++) {
    char on[16];
    NAME("ask%u", w);
    begin_op(s, "host", 1);
    end_op();
    for (unsigned d = 0; d < s->depth; d++) {
      one_core(on, sizeof on, (w + d) % s->hardware);
      NAME("part%u.%u", w, d);
      begin_op(s, on, ticks(w, d));
      if (d == 0) {
        READ(s, "ask%u", w);
      } else {
        READ(s, "sum%u.%u", w, d - 1);
      }
      end_op();
      NAME("send%u.%u", w, d);
      begin_op(s, "net", 2);
      READ(s, "part%u.%u", w, d);
      end_op();
      one_core(on, sizeof on, (w + d + 1) % s->hardware);
      NAME("sum%u.%u", w, d);
      begin_op(s, on, 2);
      READ(s, "send%u.%u", w, d);
      READ(s, "ask%u", w);
      end_op();
    }
    NAME("reply%u", w);
    begin_op(s, "host", 1);
    READ(s, "sum%u.%u", w, s->depth - 1);
    READ(s, "part%u.0", w);
    end_op();
  }
}

/* Width requests with a cache each, depth rounds: in a round each makes a token, and the host picks
 * what they do in the next one.  The near memory holds one cache per core and one more. */
static void paging(scenario *s) {
  for (unsigned d = 0; d < s->depth; d++) {
    for (unsigned w = 0; w < s->width; w++) {
      NAME("turn%u.%u", w, d);
      printf(", on: core, time: %u, args: [{%s: cache%u}, {out: turn%u.%u, size: %d, memory: far}",
             ticks(w, d), d == 0 ? "out" : "inout", w, w, d, TOKEN);
      s->n_args = 2;
      if (d > 0) {
        READ(s, "pick%u", d - 1);
      }
      end_op();
    }
    NAME("pick%u", d);
    printf(", on: host, args: [");
    s->n_args = 0;
    for (unsigned w = 0; w < s->width; w++) {
      READ(s, "turn%u.%u", w, d);
    }
    comma(s);
    if (d + 1 < s->depth) {
      printf("{out: pick%u, size: %d, memory: far}", d, TOKEN);
    } else {
      printf("{out: pick%u}", d);
    }
    end_op();
  }
}

/* The host reads width inputs, width models look at one each, a large one at all of them; its
 * result goes through width models of depth layers, and the host combines everything. */
static void multi_model(scenario *s) {
  for (unsigned w = 0; w < s->width; w++) {
    NAME("input%u", w);
    begin_op(s, "host", 1);
    end_op();
    NAME("sense%u", w);
    begin_op(s, "core", ticks(w, 0));
    READ(s, "input%u", w);
    end_op();
  }
  NAME("think");
  begin_op(s, "core", 6);
  for (unsigned w = 0; w < s->width; w++) {
    READ(s, "sense%u", w);
  }
  end_op();
  for (unsigned d = 0; d < s->depth; d++) {
    for (unsigned w = 0; w < s->width; w++) {
      NAME("act%u.%u", w, d);
      begin_op(s, "core", ticks(w, d));
      if (d == 0) {
        READ(s, "think");
      } else {
        READ(s, "act%u.%u", w, d - 1);
      }
      end_op();
    }
  }
  NAME("assemble");
  begin_op(s, "host", 1);
  READ(s, "think");
  for (unsigned w = 0; w < s->width; w++) {
    READ(s, "act%u.%u", w, s->depth - 1);
  }
  end_op();
}

/* Depth layers: width parts on each core, a sum on all cores at once, and a line in the host's log.
 */
static void collective(scenario *s) {
  for (unsigned d = 0; d < s->depth; d++) {
    for (unsigned c = 0; c < s->hardware; c++) {
      char on[16];
      one_core(on, sizeof on, c);
      for (unsigned w = 0; w < s->width; w++) {
        NAME("part%u.%u.%u", d, c, w);
        begin_op(s, on, ticks(c, w));
        if (d > 0) {
          READ(s, "sum%u", d - 1);
        }
        end_op();
      }
    }
    NAME("sum%u, on: [", d);
    for (unsigned c = 0; c < s->hardware; c++) {
      printf("%score%u", c == 0 ? "" : ", ", c);
    }
    printf("], time: 3, size: %d, args: [", TOKEN);
    s->n_args = 0;
    for (unsigned c = 0; c < s->hardware; c++) {
      for (unsigned w = 0; w < s->width; w++) {
        READ(s, "part%u.%u.%u", d, c, w);
      }
    }
    end_op();
    NAME("log%u", d);
    begin_op(s, "host", 1);
    READ(s, "sum%u", d);
    end_op();
  }
}

/* Declares the outputs. */
#define RESULT(...) (printf("  - {name: "), printf(__VA_ARGS__), printf(", io: output}\n"))

static void last_of_chains(const scenario *s) {
  for (unsigned w = 0; w < s->width; w++) {
    RESULT("c%u.%u", w, s->depth - 1);
  }
}

static void last_join(const scenario *s) { RESULT("join%u", s->depth - 1); }

static void all_late(const scenario *s) {
  if (s->depth > 1) {
    RESULT("step%u", s->depth - 1);
  }
  for (unsigned w = 0; w < s->width; w++) {
    RESULT("late%u", w);
  }
}

static void all_replies(const scenario *s) {
  for (unsigned w = 0; w < s->width; w++) {
    RESULT("reply%u", w);
  }
}

static void all_caches(const scenario *s) {
  for (unsigned w = 0; w < s->width; w++) {
    printf("  - {name: cache%u, size: %d, memory: near, io: output}\n", w, CACHE - TOKEN);
  }
  printf("  - {name: pick%u, size: %d, memory: far, io: output}\n", s->depth - 1, TOKEN);
}

static void the_whole(const scenario *s) {
  (void)s;
  RESULT("assemble");
}

static void all_logs(const scenario *s) {
  for (unsigned d = 0; d < s->depth; d++) {
    RESULT("log%u", d);
  }
}

typedef struct shape {
  const char *name, *says;
  void (*write)(scenario *s);
  void (*results)(const scenario *s);
  bool host, net; /* the shape needs these queues too */
  bool pages;     /* the shape needs a memory that is too small, and a queue for copies */
} shape;

static const shape shapes[] = {
    {"sequential", "chains on any core: a chain stays where it began", sequential, last_of_chains,
     false, false, false},
    {"cross-queue", "chains that go from core to core: every step has to wait", cross_queue,
     last_of_chains, false, false, false},
    {"fork-join", "one, many, one: the join waits once for each core", fork_join, last_join, false,
     false, false},
    {"late-waiter", "asked for late, the first step still means only the first step", late_waiter,
     all_late, false, false, false},
    {"multi-domain", "host, cores and network: what is known through three queues needs no wait",
     multi_domain, all_replies, true, true, false},
    {"paging", "caches that do not fit: copies wait for their users, and users for copies", paging,
     all_caches, true, false, true},
    {"multi-model", "a wide join, and a wide fork after it", multi_model, the_whole, true, false,
     false},
    {"collective", "a sum on all cores at once is one entry of a frontier", collective, all_logs,
     true, false, false}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void write_target(const shape *k, const scenario *s) {
  printf("target:\n  time_unit: us\n  queues:\n");
  for (unsigned c = 0; c < s->hardware; c++) {
    printf("    - {name: core%u, class: core}\n", c);
  }
  printf("%s%s%s", k->host ? "    - {name: host, class: host}\n" : "",
         k->net ? "    - {name: net, class: net}\n" : "",
         k->pages ? "    - {name: pager, class: copy}\n" : "");
  printf("  memories:\n");
  if (k->pages) {
    printf(
        "    - name: near\n      capacity: %u\n      backing: far\n"
        "      spill: {on: copy, write: {fixed: 1, rate: 32}, read: {fixed: 1, rate: 32}}\n"
        "    - {name: far}\n",
        (s->hardware + 1) * CACHE);
  } else {
    printf("    - {name: store}\n");
  }
  printf("buffers:\n");
  k->results(s);
}

static void write_scenario(const shape *k, scenario *s) {
  printf("# SPDX-License-Identifier: Apache-2.0\n# %s\n# Written by: gen_scenarios %s %u %u %u\n",
         k->says, k->name, s->width, s->depth, s->hardware);
  printf("fsched: 1\nname: %s-%u-%u-%u\n", k->name, s->width, s->depth, s->hardware);
  write_target(k, s);
  printf("ops:\n");
  k->write(s);
}

/* The decimal number from 1 to `most` in the text; 0 if it is not one. */
static unsigned number(const char *text, unsigned most) {
  char *end;
  if (*text < '0' || *text > '9') {
    return 0;
  }
  unsigned long n = strtoul(text, &end, 10);
  return *end == '\0' && n <= most ? (unsigned)n : 0;
}

static int usage(void) {
  fprintf(stderr,
          "usage: gen_scenarios SHAPE WIDTH DEPTH HARDWARE >GRAPH.yaml\n"
          "WIDTH is 1 to %d, DEPTH 1 to %d, HARDWARE 1 to %d; SHAPE is one of\n",
          MOST_WIDTH, MOST_DEPTH, MOST_HARDWARE);
  for (size_t i = 0; i < SHAPES; i++) {
    fprintf(stderr, "  %-13s %s\n", shapes[i].name, shapes[i].says);
  }
  return 2;
}

int main(int argc, char **argv) {
  if (argc != 5) {
    return usage();
  }
  scenario s = {.width = number(argv[2], MOST_WIDTH),
                .depth = number(argv[3], MOST_DEPTH),
                .hardware = number(argv[4], MOST_HARDWARE)};
  const shape *k = NULL;
  for (size_t i = 0; i < SHAPES; i++) {
    k = strcmp(argv[1], shapes[i].name) == 0 ? &shapes[i] : k;
  }
  if (k == NULL || s.width == 0 || s.depth == 0 || s.hardware == 0) {
    return usage();
  }
  write_scenario(k, &s);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    perror("gen_scenarios");
    return 5;
  }
  return 0;
}
