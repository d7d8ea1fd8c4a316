/* SPDX-License-Identifier: Apache-2.0 */
/* Modulo scheduling: how many random bodies are proven, how long that takes, and how it grows.
 *
 * Bodies have classes of 1 to 3 queues and rings, most of which have depths 1 to 4.  Times are
 * CPU milliseconds of one run; `memory`: it limits, `none`: it is too small for any plan; the
 * makespan is proven, too, where it is looked for; the exponent is that of the growth of the median
 * from the row before. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/radix.h"
#include "modulo/body_gen.h"
#include "modulo/modulo.h"

enum { BODIES = 200 };

static double cpu_seconds(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(fs_status status) {
  if (status != FSCHED_OK) {
    fprintf(stderr, "bench_modulo: out of memory\n");
    exit(EXIT_FAILURE);
  }
}

typedef struct modulo_case {
  const char *what;
  uint32_t least, most; /* ops */
  bool open;            /* depths are chosen, in less memory than they would take */
  bool held_back, lanes, goals;
  uint32_t copies;
  uint32_t bodies; /* up to BODIES */
} modulo_case;

static const modulo_case modulo_cases[] = {
    {"depths given", 20, 30, .copies = 1, .bodies = 200},
    {"depths chosen, memory binds", 20, 30, .open = true, .copies = 1, .bodies = 200},
    {"waits held back", 20, 30, .held_back = true, .copies = 1, .bodies = 200},
    {"lanes of two resources", 20, 30, .lanes = true, .copies = 1, .bodies = 200},
    {"up to 4 copies", 20, 30, .copies = 4, .bodies = 200},
    {"the same, waits held back", 20, 30, .held_back = true, .copies = 4, .bodies = 200},
    {"the same, lanes", 20, 30, .lanes = true, .copies = 4, .bodies = 200},
    {"the same, memory binds", 20, 30, .open = true, .copies = 4, .bodies = 200},
    {"with makespan and memory", 20, 30, .goals = true, .copies = 1, .bodies = 200},
    {"10 ops", 10, 10, .copies = 1, .bodies = 200},
    {"25 ops", 25, 25, .copies = 1, .bodies = 200},
    {"50 ops", 50, 50, .copies = 1, .bodies = 200},
    {"100 ops", 100, 100, .copies = 1, .bodies = 20},
    {"200 ops", 200, 200, .copies = 1, .bodies = 20},
};

typedef struct modulo_tally {
  uint32_t bodies, proven, limited, none;
  uint64_t ns[BODIES];
} modulo_tally;

/* The bytes with which no ring is worse off than one iteration after the other needs. */
static uint64_t least_bytes(const fs_body *b) {
  uint64_t bytes = 0;
  for (uint32_t r = 0; r < b->p.n_rings; r++) {
    uint32_t depth = 1;
    for (uint32_t k = b->reader0[r]; k < b->reader0[r + 1]; k++) {
      depth = b->reader[k].back + 1 > depth ? b->reader[k].back + 1 : depth;
    }
    bytes += depth * b->ring[r].size;
  }
  return bytes;
}

/* Draws a body; with chosen depths its memory has more than is needed for any plan, and less than
 * the plan without a limit takes. */
static void draw_case(fsched_context *ctx, const modulo_case *c, uint32_t k, fs_body *b) {
  fs_body_params g = {.seed = k, .n = c->least + k % (c->most - c->least + 1), .open = c->open};
  g.classes = c->open ? 3 : 0; /* with few queues, these limit */
  g.held_back = c->held_back;
  g.lanes = c->lanes;
  fs_body_draw(&g, b);
  if (c->open) {
    FS_SCRATCH(arena, ctx);
    fs_modulo_plan plan;
    must(fs_modulo_schedule(ctx, &arena, &b->p, &(fs_modulo_options){.steps = 1 << 22, .copies = 1},
                            &plan));
    fs_rng r = {k};
    uint64_t least = least_bytes(b), bytes = plan.bytes[0];
    b->capacity[0] =
        bytes <= least + 1 ? bytes : least + fs_rng_below(&r, (uint32_t)(bytes - least) / 2 + 1);
  }
}

static void measure_body(fsched_context *ctx, const modulo_case *c, uint32_t k, modulo_tally *t) {
  static fs_body b;
  FS_SCRATCH(arena, ctx);
  fs_modulo_plan plan;
  fs_modulo_options o = {.copies = c->copies, .quick = !c->goals};
  draw_case(ctx, c, k, &b);
  double begin = cpu_seconds();
  must(fs_modulo_schedule(ctx, &arena, &b.p, &o, &plan));
  t->ns[t->bodies++] = (uint64_t)(1e9 * (cpu_seconds() - begin));
  bool found = plan.found.is == FS_YES && plan.proven && (!c->goals || plan.least_memory);
  t->proven += found || plan.found.is == FS_NO;
  t->none += plan.found.is == FS_NO;
  t->limited += plan.limited_by == FS_MODULO_BY_MEMORY;
}

static double measure_case(fsched_context *ctx, const modulo_case *c, double before) {
  modulo_tally t = {0};
  uint64_t key[2 * BODIES];
  for (uint32_t k = 0; k < c->bodies; k++) {
    measure_body(ctx, c, k, &t);
    key[k] = t.ns[k];
  }
  fs_radix_sort_block(key, c->bodies);
  double median = 1e-6 * (double)key[c->bodies / 2], most = 1e-6 * (double)key[c->bodies - 1];
  double late = 1e-6 * (double)key[c->bodies * 99 / 100];
  printf("%-28s %6u %5.1f %% %6u %6u %9.3f %9.3f %9.3f", c->what, c->bodies,
         100.0 * t.proven / c->bodies, t.limited, t.none, median, late, most);
  if (before > 0) {
    printf(" %6.2f", log(median / before) / log(c->least == 25 ? 2.5 : 2));
  }
  printf("\n");
  (void)fflush(stdout);
  return c->least == c->most ? median : 0;
}

int main(void) {
  fsched_context *ctx;
  double before = 0;
  must(fsched_context_create(NULL, &ctx));
  printf("%-28s %6s %7s %6s %6s %9s %9s %9s %6s\n", "", "bodies", "proven", "memory", "none",
         "median", "99 %", "max ms", "exp.");
  for (size_t i = 0; i < sizeof modulo_cases / sizeof *modulo_cases; i++) {
    before = measure_case(ctx, &modulo_cases[i], before);
  }
  fsched_context_destroy(ctx);
  return EXIT_SUCCESS;
}
