/* SPDX-License-Identifier: Apache-2.0 */
/* All orders in which a submitting thread and its workers can hand over: the code of the baton runs
 * in fibers, which change before each access of a shared word, and every choice is tried; for the
 * larger programs, of those that take the processor from a fiber which could go on a few times.  A
 * state that was there before is not tried again: it is the shared words, and of each fiber what it
 * has read so far, from which the rest follows.  An order in which all sleep and not all is done
 * has lost a wake-up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "kit/suite.h"

static void model_step(const void *word);
static void model_sleep(const void *word, uint32_t value, uint64_t timeout_ns);
static void model_wake(const void *word);

#define FS_BATON_STEP(word) model_step(word)
#define FS_BATON_SLEEP(word, value, timeout_ns) model_sleep((word), (value), (timeout_ns))
#define FS_BATON_WAKE(word) model_wake(word)
#define FS_BATON_LOOKS 1
#define fs_baton_try model_try
#define fs_baton_take model_take
#define fs_baton_leave model_leave
#define fs_baton_rest model_rest
#define fs_baton_call model_call
#define fs_baton_tell model_tell
#define fs_baton_has_news model_has_news
#define fs_baton_hear model_hear
#define fs_bed_give model_give
#define fs_bed_look model_look
#define fs_bed_sleep model_bed_sleep
#define fs_bed_clear model_clear
#include "exec/dynamic/carrier/baton.c"

enum { MOST_WORKERS = 2, FIBERS = MOST_WORKERS + 1, STACK = 64 << 10, MOST_STEPS = 400 };
enum { SEEN = 1 << 22 };

typedef struct fiber {
  ucontext_t context;
  unsigned char *stack;
  const void *sleeps_on; /* NULL: it can go on */
  uint64_t history;
  uint32_t steps;
  bool done;
} fiber;

typedef struct model_worker {
  fs_news news; /* the first member */
  fs_bed bed;
  bool busy;
} model_worker;

/* One order of one program.  There is one model at a time, which fibers reach without arguments. */
static struct model {
  fiber fiber[FIBERS];
  ucontext_t chooser;
  uint32_t n_workers, n_tasks, running;
  /* What the baton keeps: */
  fs_baton baton;
  model_worker worker[MOST_WORKERS];
  uint32_t todo, n_running, n_done;
  bool rests;
  bool at_once; /* workers try to get the baton before they leave news */
  /* The choices, of which the first n_forced are given. */
  uint8_t choice[MOST_STEPS], open[MOST_STEPS];
  uint32_t n_forced, n_choices;
  uint32_t n_taken, most_taken; /* how often a fiber that could go on did not */
} model;

static uint64_t mix(uint64_t a, uint64_t b) {
  a = (a ^ b) * 0x9e3779b97f4a7c15u;
  return a ^ a >> 29;
}

static void yield_fiber(void) {
  fiber *f = &model.fiber[model.running];
  f->steps++;
  (void)swapcontext(&f->context, &model.chooser);
}

/* Notes what the running fiber is about to see. */
static void model_step(const void *word) {
  yield_fiber();
  fiber *f = &model.fiber[model.running];
  uint32_t value;
  memcpy(&value, word, sizeof value); /* of a pointer the low half, which tells them apart */
  f->history = mix(mix(f->history, (uintptr_t)word - (uintptr_t)&model), value);
}

/* Without a limit, as a limit could hide a wake-up that is lost. */
static void model_sleep(const void *word, uint32_t value, uint64_t timeout_ns) {
  (void)timeout_ns;
  model_step(word);
  uint32_t now;
  memcpy(&now, word, sizeof now);
  if (now == value) {
    model.fiber[model.running].sleeps_on = word;
    yield_fiber();
  }
}

static void model_wake(const void *word) {
  model_step(word);
  for (uint32_t i = 0; i < FIBERS; i++) {
    model.fiber[i].sleeps_on = model.fiber[i].sleeps_on == word ? NULL : model.fiber[i].sleeps_on;
  }
}

/* Here the running fiber knows nothing of what it has read, beside a number. */
static void forget(uint32_t known) {
  fiber *f = &model.fiber[model.running];
  f->history = known;
  f->steps = 0;
}

/* ---- what workers.c and threads.c do */

static void report_end(model_worker *w) {
  w->busy = false;
  model.n_running--;
  model.n_done++;
}

static void hear_news(void *user) {
  (void)user;
  for (fs_news *n = model_hear(&model.baton); n != NULL; n = n->next) {
    report_end((model_worker *)(void *)n);
  }
  for (uint32_t i = 0; i < model.n_workers && model.todo > 0; i++) {
    if (!model.worker[i].busy) {
      model.worker[i].busy = true;
      model.todo--;
      model.n_running++;
      model_give(&model.worker[i].bed, FS_BED_GIVEN);
    }
  }
  if (model.rests && model.n_running == 0) {
    model_call(&model.baton);
  }
}

static void run_submitter(void) {
  for (uint32_t i = 0; i < model.n_tasks; i++) {
    forget(i);
    model_take(&model.baton);
    model.todo++;
    model_leave(&model.baton, hear_news, NULL);
  }
  forget(100);
  model_take(&model.baton);
  hear_news(NULL);
  while (model.n_running > 0) {
    forget(101);
    model.rests = true;
    model_rest(&model.baton, hear_news, NULL, UINT64_MAX);
    model.rests = false;
  }
  forget(102);
  model_leave(&model.baton, hear_news, NULL);
  for (uint32_t i = 0; i < model.n_workers; i++) {
    model_give(&model.worker[i].bed, FS_BED_STOP);
  }
}

static void run_worker(model_worker *w) {
  for (;;) {
    forget(0);
    if (model_look(&w->bed) == FS_BED_IDLE && model_has_news(&model.baton) &&
        model_try(&model.baton)) {
      model_leave(&model.baton, hear_news, NULL);
    }
    forget(1);
    if (model_bed_sleep(&w->bed) == FS_BED_STOP) {
      return;
    }
    forget(2);
    model_clear(&w->bed);
    if (model.at_once && model_try(&model.baton)) {
      report_end(w);
      model_leave(&model.baton, hear_news, NULL);
    } else {
      model_tell(&model.baton, &w->news);
    }
  }
}

static void run_fiber(int i) {
  if (i == 0) {
    run_submitter();
  } else {
    run_worker(&model.worker[i - 1]);
  }
  model.fiber[i].done = true;
  yield_fiber();
}

/* ---- the choices */

static void begin_fiber(uint32_t i, bool done) {
  fiber *f = &model.fiber[i];
  f->sleeps_on = NULL;
  f->history = f->steps = 0;
  f->done = done;
  (void)getcontext(&f->context);
  f->context.uc_stack.ss_sp = f->stack;
  f->context.uc_stack.ss_size = STACK;
  f->context.uc_link = NULL;
  makecontext(&f->context, (void (*)(void))run_fiber, 1, (int)i);
}

static void begin_order(uint32_t n_workers, uint32_t n_tasks) {
  memset(&model.baton, 0, sizeof model.baton);
  memset(model.worker, 0, sizeof model.worker);
  model.n_workers = n_workers;
  model.n_tasks = n_tasks;
  model.todo = model.n_running = model.n_done = model.n_choices = model.n_taken = 0;
  model.running = 0;
  model.rests = false;
  for (uint32_t i = 0; i < FIBERS; i++) {
    begin_fiber(i, i > n_workers);
  }
}

static uint64_t hash_state(void) {
  uint64_t h = mix(model.baton.held, (uintptr_t)atomic_load(&model.baton.news));
  h = mix(mix(h, model.baton.calls), model.todo * 64 + model.n_running * 8 + model.rests);
  for (uint32_t i = 0; i < model.n_workers; i++) {
    const model_worker *w = &model.worker[i];
    h = mix(mix(h, (uintptr_t)w->news.next), w->bed.state * 2 + w->busy);
  }
  for (uint32_t i = 0; i <= model.n_workers; i++) {
    const fiber *f = &model.fiber[i];
    h = mix(mix(mix(h, f->history), (uintptr_t)f->sleeps_on), f->steps * 2 + f->done);
  }
  if (model.most_taken != UINT32_MAX) {
    h = mix(h, model.n_taken * FIBERS + model.running);
  }
  return h | 1;
}

/* Whether the state is new. */
static bool enter_state(uint64_t *seen, uint64_t state, uint64_t *n_states) {
  uint64_t at = state >> 20 & (SEEN - 1);
  while (seen[at] != 0 && seen[at] != state) {
    at = (at + 1) & (SEEN - 1);
  }
  if (seen[at] == state) {
    return false;
  }
  ck_assert_uint_lt(*n_states, SEEN / 2);
  seen[at] = state;
  ++*n_states;
  return true;
}

/* The fibers that can go on, as a set; if no more may be taken from it, the one that ran, alone. */
static uint8_t find_open(void) {
  uint8_t set = 0;
  for (uint32_t i = 0; i < FIBERS; i++) {
    set |= (uint8_t)((!model.fiber[i].done && model.fiber[i].sleeps_on == NULL) << i);
  }
  if (model.n_taken == model.most_taken && (set >> model.running & 1) != 0) {
    return (uint8_t)(1u << model.running);
  }
  return set;
}

/* Runs an order to its end, or to a state that was there. */
static void run_order(uint64_t *seen, uint64_t *n_states) {
  for (;;) {
    uint8_t open = find_open();
    if (open == 0) {
      bool all = true;
      for (uint32_t i = 0; i < FIBERS; i++) {
        all = all && model.fiber[i].done;
      }
      ck_assert_msg(all, "after %u steps all sleep, and %u of %u tasks are done", model.n_choices,
                    model.n_done, model.n_tasks);
      ck_assert_uint_eq(model.n_done, model.n_tasks);
      return;
    }
    uint32_t n = model.n_choices;
    ck_assert_uint_lt(n, MOST_STEPS);
    if (n >= model.n_forced) {
      if (!enter_state(seen, hash_state(), n_states)) {
        return;
      }
      model.open[n] = open;
      model.choice[n] = (uint8_t)__builtin_ctz(open);
    }
    model.n_taken += (open >> model.running & 1) != 0 && model.choice[n] != model.running;
    model.running = model.choice[n];
    model.n_choices++;
    (void)swapcontext(&model.chooser, &model.fiber[model.running].context);
  }
}

/* Moves to the next order; false: there is none. */
static bool next_order(void) {
  while (model.n_choices > 0) {
    uint32_t n = --model.n_choices;
    uint32_t later = model.open[n] & (0xfeu << model.choice[n]);
    if (later != 0) {
      model.choice[n] = (uint8_t)__builtin_ctz(later);
      model.n_forced = n + 1;
      return true;
    }
  }
  return false;
}

static void try_orders(uint32_t n_workers, uint32_t n_tasks, uint32_t most_taken) {
  uint64_t n_states = 0, n_orders = 0;
  uint64_t *seen = calloc(SEEN, sizeof *seen);
  ck_assert_ptr_nonnull(seen);
  for (uint32_t i = 0; i < FIBERS; i++) {
    model.fiber[i].stack = malloc(STACK);
    ck_assert_ptr_nonnull(model.fiber[i].stack);
  }
  model.n_forced = 0;
  model.most_taken = most_taken;
  do {
    begin_order(n_workers, n_tasks);
    run_order(seen, &n_states);
    n_orders++;
  } while (next_order());
  printf("%u workers, %u tasks: %llu orders, %llu states\n", n_workers, n_tasks,
         (unsigned long long)n_orders, (unsigned long long)n_states);
  for (uint32_t i = 0; i < FIBERS; i++) {
    free(model.fiber[i].stack);
  }
  free(seen);
}

/* _i: twice the number of tasks, and whether workers report at once. */
START_TEST(one_worker)
{
  model.at_once = _i % 2 == 1;
  try_orders(1, (uint32_t)_i / 2, UINT32_MAX);
}
END_TEST

START_TEST(one_worker_has_more)
{
  model.at_once = _i == 1;
  try_orders(1, 4, 3);
}
END_TEST

START_TEST(two_workers)
{
  model.at_once = _i == 1;
  try_orders(2, 2, 2);
}
END_TEST

FS_SUITE(dynamic_baton, s) {
  TCase *t = fs_case(s, NULL);
  FS_LOOPS(t, 0, 6, one_worker);
  FS_LOOPS(t, 0, 2, one_worker_has_more, two_workers);
}
