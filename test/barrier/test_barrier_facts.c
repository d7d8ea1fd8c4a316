/* SPDX-License-Identifier: Apache-2.0 */
/* barriers.txt of the shared facts.  Tasks of a case depend on each other by its virtual barriers;
 * from these dependencies alone barriers are made anew.  In every case a machine respects the
 * orders, and there are no more barriers than expected.  The orders answer records REUSE and PATH;
 * BATCH is sharing by slots. */
#include <stdio.h>
#include <stdlib.h>

#include "barrier/barrier_machine.h"
#include "barrier/order.h"
#include "kit/shared_facts.h"

#include "kit/context.h"

enum { TASKS = 64, BARRIERS = 64, ROWS = 16, LINE = 1024, RUNS = 10 };

typedef struct barrier_facts_task {
  uint32_t queue, slots;
  uint64_t waits, updates; /* sets of barriers */
} barrier_facts_task;

typedef struct barrier_facts_fact {
  char name[128];
  uint32_t n_tasks, n_queues, n_slots, n_physical;
  char queue[TASKS][16];
  barrier_facts_task task[TASKS];
  uint64_t expected;             /* barriers in lines EXPECT */
  uint32_t n_expect, n_barriers; /* FS_NONE: none given */
  uint32_t row[ROWS][4], n_rows; /* REUSE: 0, vid, prev, may; PATH: 1, a, b, is */
} barrier_facts_fact;

static uint64_t set_of(const char *text) {
  uint64_t set = 0;
  if (*text == '-') {
    return 0;
  }
  for (char *end; *text != '\0'; text = *end == ',' ? end + 1 : end) {
    unsigned long b = strtoul(text, &end, 10);
    ck_assert_uint_lt(b, BARRIERS);
    set |= UINT64_C(1) << b;
  }
  return set;
}

static uint32_t option(const char *line, const char *name) {
  const char *at = strstr(line, name);
  return at == NULL ? 0 : (uint32_t)strtoul(at + strlen(name), NULL, 10);
}

/* Returns the queue of a name; `any` is a queue of the task's own. */
static uint32_t queue_of(barrier_facts_fact *f, const char *name) {
  uint32_t q = 0;
  while (q < f->n_queues && (strcmp(name, "any") == 0 || strcmp(f->queue[q], name) != 0)) {
    q++;
  }
  if (q == f->n_queues) {
    f->n_queues++;
    ck_assert_uint_lt(strlen(name), sizeof f->queue[q]);
    strcpy(f->queue[q], name);
  }
  return q;
}

static void read_line(barrier_facts_fact *f, const char *line) {
  char a[64];
  char b[256];
  char c[256];
  uint32_t x, y, z;
  if (sscanf(line, "CASE %127s", f->name) == 1) {
    uint32_t slots = option(line, "max-variant-count=");
    f->n_slots = slots > 0 ? slots : option(line, "slots=");
    f->n_physical = option(line, "num-barriers=");
  } else if (sscanf(line, "IN %u %63s %u %255s %255s", &x, a, &y, b, c) == 5) {
    ck_assert_uint_eq(x, f->n_tasks);
    ck_assert_uint_lt(x, TASKS);
    f->task[f->n_tasks++] = (barrier_facts_task){queue_of(f, a), y, set_of(b), set_of(c)};
  } else if (sscanf(line, "EXPECT_BARRIERS %u", &x) == 1) {
    f->n_barriers = x;
  } else if (sscanf(line, "EXPECT %63s %255s %255s", a, b, c) == 3) {
    f->expected |= set_of(c);
    f->n_expect++;
  } else if (sscanf(line, "REUSE %u %u %u", &x, &y, &z) == 3) {
    memcpy(f->row[f->n_rows++], (uint32_t[]){0, x, y, z}, sizeof f->row[0]);
  } else if (sscanf(line, "PATH %u %u %u", &x, &y, &z) == 3) {
    memcpy(f->row[f->n_rows++], (uint32_t[]){1, x, y, z}, sizeof f->row[0]);
  }
  ck_assert_uint_lt(f->n_rows, ROWS);
}

/* The largest number of slots that the case itself takes in a barrier, or its limit. */
static uint32_t slots_of(const barrier_facts_fact *f) {
  uint32_t most = f->n_slots == 0 ? 256 : f->n_slots;
  for (uint32_t b = 0; b < BARRIERS; b++) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n_tasks; i++) {
      n += (f->task[i].updates >> b & 1) != 0 ? f->task[i].slots : 0;
    }
    most = n > most ? n : most;
  }
  return most;
}

static void make(const barrier_facts_fact *f, fs_bm *m) {
  fs_bm_init(m, f->n_queues, slots_of(f));
  for (uint32_t i = 0; i < f->n_tasks; i++) {
    fs_bm_item_add(m, f->task[i].queue, 1 + i % 5, f->task[i].slots);
    for (uint32_t k = 0; k < f->n_tasks; k++) {
      if ((f->task[k].updates & f->task[i].waits) != 0) {
        fs_bm_link_add(m, k, i); /* this fails where k comes later */
      }
    }
  }
}

static uint32_t count(uint64_t set) { return (uint32_t)__builtin_popcountll(set); }

static uint32_t barriers_expected(const barrier_facts_fact *f) {
  uint64_t all = 0;
  for (uint32_t i = 0; i < f->n_tasks; i++) {
    all |= f->task[i].updates;
  }
  return f->n_barriers != FS_NONE ? f->n_barriers : count(f->n_expect > 0 ? f->expected : all);
}

static void check_fact(const barrier_facts_fact *f, const fs_bm *m, const fs_barriers *b) {
  const char *fault = fs_bm_check(&m->p, b);
  fs_rng r = {11};
  for (int i = 0; i < RUNS && fault == NULL; i++) {
    fault = fs_bm_run(&m->p, b, i % 2 == 0 ? FS_BM_ANY : FS_BM_TIMES, &r);
  }
  if (fault != NULL || b->n > barriers_expected(f)) {
    ck_abort_msg("%s: %u barriers, %u expected: %s", f->name, b->n, barriers_expected(f),
                 fault == NULL ? "more" : fault);
  }
  if (f->n_physical > 0 && b->used > f->n_physical) {
    ck_abort_msg("%s: %u physical barriers of %u", f->name, b->used, f->n_physical);
  }
}

/* Whether every task that waits for `prev` is over before each task that updates `next` starts. */
static bool may_reuse(const barrier_facts_fact *f, const fs_order *o, uint32_t next,
                      uint32_t prev) {
  for (uint32_t i = 0; i < f->n_tasks; i++) {
    for (uint32_t k = 0; k < f->n_tasks; k++) {
      if ((f->task[i].waits >> prev & 1) != 0 && (f->task[k].updates >> next & 1) != 0 &&
          !fs_order_before(o, i, o->p->item_command[k])) {
        return false;
      }
    }
  }
  return true;
}

static void check_rows(const barrier_facts_fact *f, fs_arena *arena, const fs_bm *m) {
  fs_order o;
  ck_assert_int_eq(fs_order_init(arena, &m->p, &o), FSCHED_OK);
  ck_assert_int_eq(fs_order_rows(arena, &o, 0, m->p.n_queues), FSCHED_OK);
  for (uint32_t i = 0; i < f->n_rows; i++) {
    const uint32_t *row = f->row[i];
    bool is = row[0] == 0 ? may_reuse(f, &o, row[1], row[2])
                          : fs_order_before(&o, row[1], m->p.item_command[row[2]]);
    if (is != (row[3] != 0)) {
      ck_abort_msg("%s: %s %u %u", f->name, row[0] == 0 ? "REUSE" : "PATH", row[1], row[2]);
    }
  }
}

static void run_fact(const barrier_facts_fact *f) {
  fs_bm m;
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  make(f, &m);
  const uint32_t bounds[] = {f->n_physical > 0 ? f->n_physical : FS_NONE, FS_NONE, 2};
  for (int i = 0; i < 3; i++) {
    fs_barriers b;
    fs_barrier_problem *p = fs_bm_plan(&m, bounds[i]);
    if (fs_barriers_assign(ctx, &arena, p, &b) != FSCHED_OK) {
      ck_abort_msg("%s: no barriers within %u", f->name, bounds[i]);
    }
    if (i < 2) {
      check_fact(f, &m, &b);
    } else {
      fs_rng r = {5};
      ck_assert_ptr_null(fs_bm_check(p, &b));
      ck_assert_ptr_null(fs_bm_run(p, &b, FS_BM_ANY, &r));
    }
  }
  check_rows(f, &arena, &m);
  fs_arena_release(&arena);
  fs_bm_free(&m);
}

START_TEST(every_case)
{
  FILE *file = fs_shared_facts("barriers.txt");
  if (file == NULL) {
    return;
  }
  barrier_facts_fact *f = calloc(1, sizeof *f);
  uint32_t n_cases = 0;
  uint32_t n_rows = 0;
  char line[LINE];
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "CASE", 4) == 0) {
      memset(f, 0, sizeof *f);
      f->n_barriers = FS_NONE;
    }
    read_line(f, line);
    if (strncmp(line, "END", 3) == 0) {
      run_fact(f);
      n_cases++;
      n_rows += f->n_rows;
    }
  }
  ck_assert_uint_ge(n_cases, 51);
  ck_assert_uint_ge(n_rows, 12);
  free(f);
  (void)fclose(file);
}
END_TEST

/* Writes the sets of tasks that the batches have, one after the other, in the form of the
 * record. */
static void batches(uint32_t first, uint32_t n, uint32_t n_slots, char *text) {
  fs_bm m;
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  fs_bm_init(&m, n + 1, n_slots);
  for (uint32_t i = 0; i < n; i++) {
    fs_bm_item_add(&m, i, 1, 1);
  }
  fs_bm_item_add(&m, n, 1, 1);
  for (uint32_t i = 0; i < n; i++) {
    fs_bm_link_add(&m, i, n);
  }
  fs_barriers b;
  fs_barrier_problem *p = fs_bm_plan(&m, FS_NONE);
  ck_assert_int_eq(fs_barriers_assign(ctx, &arena, p, &b), FSCHED_OK);
  for (uint32_t k = 0; k < b.n; k++) {
    char separator = ' ';
    for (uint32_t c = 0; c < n; c++) {
      if (b.update[b.update0[c]] == k) {
        sprintf(text + strlen(text), "%c%u", separator, first + c);
        separator = ',';
      }
    }
  }
  fs_arena_release(&arena);
  fs_bm_free(&m);
}

/* There are producers of two parallel barriers, 0 to 5 on one kind of executor, 6 to 15 on
 * another. */
START_TEST(batches_by_slots)
{
  FILE *file = fs_shared_facts("barriers.txt");
  if (file == NULL) {
    return;
  }
  char any[LINE] = "BATCH any_executor";
  char by[LINE] = "BATCH by_executor";
  batches(0, 16, 8, any);
  batches(0, 6, 8, by);
  batches(6, 10, 8, by);
  int n_found = 0;
  char line[LINE];
  while (fgets(line, sizeof line, file) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "BATCH", 5) == 0) {
      ck_assert_str_eq(line, strstr(line, "any") != NULL ? any : by);
      n_found++;
    }
  }
  ck_assert_int_eq(n_found, 2);
  (void)fclose(file);
}
END_TEST

FS_SUITE(barrier_facts, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, every_case, batches_by_slots);
}
