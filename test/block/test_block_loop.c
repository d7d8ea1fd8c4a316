/* SPDX-License-Identifier: Apache-2.0 */
/* Loops with circular buffers, unrolled, on targets with sync: block, compared with the shared
 * facts: how many commands a counting sync leaves in flight, and how many syncs are needed by reads
 * after writes (RAW) and by writes after reads (WAR). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block/block.h"
#include "kit/shared_facts.h"

#include "kit/context.h"
#include "kit/sync_kit.h"

/* --- programs --- */

enum { MAX_STEPS = 512, MAX_BUFFERS = 32 };

/* One op on queue 0 or 1, with its buffers as bits. */
typedef struct step {
  uint32_t queue, reads, writes;
  long start; /* -1: not given */
} step;

typedef struct steps {
  uint32_t n;
  step at[MAX_STEPS];
} steps;

static void add(steps *p, uint32_t queue, uint32_t reads, uint32_t writes, long start) {
  ck_assert_uint_lt(p->n, MAX_STEPS);
  p->at[p->n++] = (step){queue, reads, writes, start};
}

static void write_args(FILE *f, const char *tag, uint32_t buffers) {
  for (uint32_t b = 0; b < MAX_BUFFERS; b++) {
    if ((buffers >> b & 1) != 0) {
      (void)fprintf(f, "      - {%s: s%u}\n", tag, b);
    }
  }
}

/* Everything is written in place, so that program order is the order of hazards. */
static fsched_graph *graph_of(const steps *p, bool counting) {
  char *text = NULL;
  size_t length = 0;
  FILE *f = open_memstream(&text, &length);
  ck_assert_ptr_nonnull(f);
  (void)fprintf(f,
                "fsched: 1\ntarget:\n  queues: [{name: q0}, {name: q1}]\n"
                "  memories: [{name: ddr}]\nbuffers:\n");
  for (uint32_t b = 0; b < MAX_BUFFERS; b++) {
    (void)fprintf(f, "  - {name: s%u, size: 8, memory: ddr, io: input}\n", b);
  }
  (void)fprintf(f, "ops:\n");
  for (uint32_t i = 0; i < p->n; i++) {
    (void)fprintf(f, "  - name: o%u\n    on: q%u\n", i, p->at[i].queue);
    if (p->at[i].start >= 0) {
      (void)fprintf(f, "    start: %ld\n", p->at[i].start);
    }
    (void)fprintf(f, "    args:\n");
    write_args(f, "in", p->at[i].reads);
    write_args(f, "out_existing", p->at[i].writes);
  }
  (void)fclose(f);
  fsched_graph *g;
  fs_status status = fsched_graph_parse(ctx, "loop.yaml", text, length, NULL, &g);
  ck_assert_msg(status == FSCHED_OK, "%s", text);
  free(text);
  g->target.sync = FS_SYNC_BLOCK;
  g->target.sync_cost = FSCHED_MAX_TIME; /* the fewest syncs */
  g->target.queue[0].counting = g->target.queue[1].counting = counting;
  return g;
}

static fsched_schedule *compile(const fsched_graph *g) {
  fsched_schedule *s;
  ck_assert_int_eq(fs_kit_synchronised(ctx, g, FS_SYNC_BLOCK, &s), FSCHED_OK);
  ck_assert_int_eq(fs_block_run(ctx, s->schedule, s->sync, fs_sync_again), FSCHED_OK);
  return s;
}

/* --- counting syncs --- */

enum { LOAD, USE, TRIP = 40 };

/* Makes N iterations with D slots, in which loads are P iterations ahead, and either the load or
 * the use comes first.  Starts are given, so that the order of issue is this one. */
static void circular(steps *p, uint32_t depth, uint32_t prefetch, bool load_first) {
  p->n = 0;
  long now = 0;
  for (uint32_t l = 0; l < prefetch; l++, now += 4) {
    add(p, LOAD, 0, (uint32_t)1 << l % depth, now);
  }
  for (uint32_t i = 0; i < TRIP; i++, now += 4) {
    uint32_t load = i + prefetch;
    if (load_first && load < TRIP) {
      add(p, LOAD, 0, (uint32_t)1 << load % depth, now);
    }
    add(p, USE, (uint32_t)1 << i % depth, 0, now + 2);
    if (!load_first && load < TRIP) {
      add(p, LOAD, 0, (uint32_t)1 << load % depth, now + 3);
    }
  }
}

/* Returns `keep` of the only stop of a queue before a command; -1 without one. */
static long kept_before(const fs_sync *y, uint32_t queue, uint32_t at) {
  for (uint32_t i = 0; i < y->n_stops; i++) {
    ck_assert_uint_ne(y->stop[i].queue, FS_NONE);
    if (y->stop[i].at == at && y->stop[i].queue == queue) {
      return (long)y->stop[i].keep;
    }
  }
  return -1;
}

/* Checks all iterations in the steady state: each use waits for its load, each load for the last
 * use of its slot, and neither for more. */
static void check_keeps(uint32_t depth, uint32_t prefetch, bool load_first, long load_keep,
                        long use_keep) {
  static steps p;
  circular(&p, depth, prefetch, load_first);
  fsched_graph *g = graph_of(&p, true);
  fsched_schedule *s = compile(g);
  const fs_sync *y = s->sync;
  uint32_t load_stops = 0;
  for (uint32_t i = depth + prefetch; i + prefetch < TRIP; i++) {
    uint32_t load = y->issue[y->queue_command0[LOAD] + i + prefetch];
    uint32_t use = y->issue[y->queue_command0[USE] + i];
    ck_assert_uint_eq(use, load_first ? load + 1 : load - 1);
    ck_assert_int_eq(kept_before(y, LOAD, use), load_keep);
    ck_assert_int_eq(kept_before(y, USE, load), use_keep);
    ck_assert_int_eq(kept_before(y, LOAD, load), -1);
    ck_assert_int_eq(kept_before(y, USE, use), -1);
  }
  for (uint32_t i = 0; i < y->n_stops; i++) {
    load_stops += y->stop[i].queue == LOAD;
  }
  ck_assert_uint_eq(load_stops, TRIP);
  ck_assert_uint_eq(y->n_stops - load_stops, depth < TRIP ? TRIP - depth : 0);
  ck_assert_uint_eq(y->n_full, 0);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}

/* With the load first, P of the issued loads may be in flight, and D - P - 1 uses; with the use
 * first, P - 1 loads and D - P uses. */
START_TEST(keeps)
{
  for (uint32_t depth = 1; depth <= 10; depth++) {
    for (uint32_t prefetch = 0; prefetch < depth; prefetch++) {
      check_keeps(depth, prefetch, true, prefetch, (long)depth - (long)prefetch - 1);
      if (prefetch > 0) {
        check_keeps(depth, prefetch, false, (long)prefetch - 1, (long)depth - (long)prefetch);
      }
    }
  }
}
END_TEST

START_TEST(wait_facts)
{
  FILE *file = fs_shared_facts("circular_vectors.txt");
  if (file == NULL) {
    return;
  }
  char line[4096];
  uint32_t seen = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    char kind[32];
    unsigned depth;
    unsigned prefetch;
    unsigned keep;
    if (sscanf(line, "wait kind=%31s D=%u P=%u keep=%u", kind, &depth, &prefetch, &keep) == 4) {
      seen++;
      if (strcmp(kind, "computeWAR") == 0) {
        check_keeps(depth, prefetch, true, prefetch, keep);
      } else { /* loads are waited for before the next one is issued */
        ck_assert_str_eq(kind, "cpasync");
        bool load_first = prefetch == 0;
        check_keeps(depth, prefetch, load_first, keep, (long)depth - prefetch - load_first);
      }
    } else if (sscanf(line, "tmaw stage=%u prefetch=%u where=main_end keep=%u", &depth, &prefetch,
                      &keep) == 3) {
      /* A store on a counting queue reads the only slot before it is written again. */
      seen++;
      check_keeps(depth, prefetch, true, prefetch, keep);
    }
  }
  (void)fclose(file);
  ck_assert_uint_ge(seen, 8);
}
END_TEST

/* --- RAW and WAR --- */

typedef struct block_loop_counts {
  uint32_t raw, war;
} block_loop_counts;

/* Does step j read what i wrote, or overwrite what i read or wrote, with nothing in between? */
static bool hazard(const steps *p, uint32_t i, uint32_t j, bool raw) {
  uint32_t open = p->at[j].writes;
  uint32_t from = p->at[i].reads | p->at[i].writes;
  if (raw) {
    open = p->at[j].reads;
    from = p->at[i].writes;
  }
  for (uint32_t k = i + 1; k < j; k++) {
    open &= ~p->at[k].writes;
  }
  return (open & from) != 0 && p->at[i].queue != p->at[j].queue;
}

/* A sync that data needs counts as RAW, whatever else it orders. */
static block_loop_counts count_syncs(const steps *p, const fs_sync *y) {
  block_loop_counts c = {0, 0};
  for (uint32_t k = 0; k < y->n_stops; k++) {
    uint32_t from = k == 0 ? 0 : y->stop[k - 1].at;
    uint32_t to = k + 1 < y->n_stops ? y->stop[k + 1].at : y->n_commands;
    bool raw = false;
    for (uint32_t i = 0; i < p->n; i++) {
      for (uint32_t j = i + 1; j < p->n; j++) {
        uint32_t a = y->issue[y->item_command[y->item_command0[i]]];
        uint32_t b = y->issue[y->item_command[y->item_command0[j]]];
        raw = raw || (a >= from && a < y->stop[k].at && b >= y->stop[k].at && b < to &&
                      hazard(p, i, j, true));
      }
    }
    c.raw += raw;
    c.war += !raw;
  }
  return c;
}

enum { A = 1, B = 2, C = 4, ITERATIONS = 6 };

/* Makes programs of the facts' notes.  A thread block's threads are two queues: one reads what the
 * other writes. */
static void program_of(const char *note, steps *p, uint32_t *loops) {
  p->n = 0;
  *loops = 1;
  if (strstr(note, "circular_loop") != NULL) { /* a slot written again and again */
    *loops = ITERATIONS;
    for (uint32_t i = 0; i < ITERATIONS; i++) {
      add(p, 0, 0, A, -1);
      add(p, 1, A, 0, -1);
    }
  } else if (strstr(note, "two_transfers") != NULL) { /* through A, and then through B */
    add(p, 0, 0, A, -1);
    add(p, 1, A, B, -1);
    add(p, 0, B, C, -1);
  } else if (strstr(note, "last_statement") != NULL) { /* written and read in each iteration */
    *loops = ITERATIONS;
    for (uint32_t i = 0; i < ITERATIONS; i++) {
      add(p, 0, 0, A, -1);
      add(p, 1, A, B, -1);
    }
  } else if (strstr(note, "aliased") != NULL) { /* A serves two buffers in turn, B goes between */
    *loops = ITERATIONS;
    for (uint32_t i = 0; i < ITERATIONS; i++) {
      add(p, 0, 0, A, -1);
      add(p, 1, A, B, -1);
      add(p, 0, B, A, -1);
      add(p, 1, A, 0, -1);
    }
  } else { /* written once, read once */
    add(p, 0, 0, A, -1);
    add(p, 1, A, 0, -1);
  }
}

/* Compares with the number that a fact expects: "2", ">=1", or "-" for anything. */
static void compare(const char *expected, uint32_t got, const char *line) {
  const char *digits = expected + strspn(expected, ">=");
  if (*digits == '-') {
    return;
  }
  uint32_t wanted = (uint32_t)strtoul(digits, NULL, 10);
  bool right = digits == expected ? got == wanted : got >= wanted;
  ck_assert_msg(right, "%u syncs: %s", got, line);
}

/* WAR syncs between iterations come once per iteration, except for the last. */
START_TEST(sync_facts)
{
  FILE *file = fs_shared_facts("circular_vectors.txt");
  if (file == NULL) {
    return;
  }
  static steps p;
  char line[4096];
  uint32_t seen = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    char raw[16];
    char war[16];
    if (sscanf(line, "sync raw=%15s war=%15s", raw, war) != 2) {
      continue;
    }
    uint32_t loops;
    program_of(line, &p, &loops);
    fsched_graph *g = graph_of(&p, false);
    fsched_schedule *s = compile(g);
    block_loop_counts c = count_syncs(&p, s->sync);
    ck_assert_uint_eq(c.war % (loops > 1 ? loops - 1 : 1), 0);
    compare(raw, c.raw / loops, line);
    compare(war, loops > 1 ? c.war / (loops - 1) : c.war, line);
    ck_assert_uint_eq(c.raw + c.war, s->sync->n_full);
    fsched_schedule_destroy(s);
    fsched_graph_destroy(g);
    seen++;
  }
  (void)fclose(file);
  ck_assert_uint_ge(seen, 6);
}
END_TEST

FS_SUITE(block_loop, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, keeps, wait_facts, sync_facts);
}
