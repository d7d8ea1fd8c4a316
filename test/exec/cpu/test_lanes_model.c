/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of the CPU back end (exec/host/timeline.c, parked.c, cpu/lanes.c, cpu/worker.c),
 * explored completely: their own sources run here, with the atomics, locks and futexes of
 * model_atomics.h.
 *
 * A few threads are coroutines in one world, a block of memory that can be copied and put back.
 * Each atomic access, lock and futex call is a step; between two steps any thread that can may go
 * on.  Stores that are weaker than sequentially consistent enter the thread's buffer and reach
 * memory at any later moment, in order (TSO); all other operations wait until it is empty, except
 * loads, which see it first.  Every reachable world is visited once, depth first; a hash of each
 * world is kept, of its memory and of the live part of each stack.
 *
 * Where no thread can go on, all must have ended, every invocation must be over, and one thread
 * must have run each command once, after everything that it waits for.  A lost wake-up is a world
 * that stands still.
 *
 * The same exploration must find a fault in sources in which one site is spoilt (a store weakened,
 * a second look that sees nothing, a wake-up left out).  This shows that the explorer can fail, and
 * that each of these sites is needed. */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "exec/cpu/lanes_world.h"
#include "exec/cpu/state_space.h"
#include "kit/suite.h"

/* What is done to a site: its store is no longer sequentially consistent, its load sees a zero, or
 * what it adds, subtracts or wakes is forgotten. */
typedef enum spoilt { SOUND, WEAK_STORE, BLIND_LOAD, LOST_CHANGE, SPOILT } spoilt;

typedef struct lanes_model_place {
  const char *function, *expression;
  bool stored, loaded, modified;
} lanes_model_place;
enum { PLACES = 64 };

typedef struct lanes_model_explorer {
  const setting *setting;
  spoilt spoilt;
  const char *at;
  state_space space;
  size_t depth;
  uint64_t runs, stuck, faults, astray;
} lanes_model_explorer;

/* The world is global, as each test has a process of its own. */
static world w;
static lanes_model_explorer *now_exploring;
static ucontext_t home;
static uint32_t current;
static lanes_model_place places[PLACES];

/* The time that a command takes with a pace, and the amount by which the clock moves. */
enum { LONG_NS = 1000000, MOVE_NS = 2000000 };

/* Steps */

static void blame(const char *fault) { w.fault = w.fault == NULL ? fault : w.fault; }

/* Lets other threads run.  Registers' contents have to be in the frame, as everything that counts
 * is compared. */
__attribute__((noinline)) static void yield(pending step, const volatile void *on, uint64_t until) {
  __builtin_unwind_init();
  w.thread[current].pending = step;
  w.thread[current].on = on;
  w.thread[current].until = until;
  w.low[current] = (const char *)__builtin_frame_address(0) - SLACK;
  (void)swapcontext(&w.context[current], &home);
}

const char *model_site(const char *function, const char *expression) {
  uint32_t i = 0;
  while (places[i].function != NULL &&
         (places[i].function != function || places[i].expression != expression)) {
    i++;
  }
  assert(i + 1 < PLACES);
  places[i].function = function;
  places[i].expression = expression;
  return (const char *)&places[i];
}

static bool spoils(const char *site, spoilt how) {
  return now_exploring->spoilt == how && now_exploring->at == site;
}

/* Whether only the watchdog reads this. */
static bool is_private(const volatile void *at) {
  for (uint32_t i = 0; i < LANES; i++) {
    const char *lane = (const char *)&w.lane[i];
    if ((const volatile char *)at >= lane &&
        (const volatile char *)at < lane + offsetof(fs_cpu_lane, worker)) {
      return true;
    }
  }
  return false;
}

static uint64_t get(const volatile void *at, size_t size) {
  uint64_t value = 0;
  memcpy(&value, (const void *)at, size);
  return value;
}

static void put(volatile void *at, size_t size, uint64_t value) {
  memcpy((void *)at, &value, size);
}

uint64_t model_load(const char *site, const volatile void *at, size_t size) {
  if (is_private(at)) {
    return get(at, size);
  }
  ((lanes_model_place *)(void *)site)->loaded = true;
  yield(ANY, NULL, 0);
  const thread *t = &w.thread[current];
  for (uint8_t i = t->n; i > 0; i--) {
    if (t->buffer[i - 1].at == at) {
      return t->buffer[i - 1].value;
    }
  }
  return spoils(site, BLIND_LOAD) ? 0 : get(at, size);
}

void model_store(const char *site, volatile void *at, size_t size, uint64_t value, bool weak) {
  if (is_private(at)) {
    return;
  }
  ((lanes_model_place *)(void *)site)->stored |= !weak;
  if (!weak && !spoils(site, WEAK_STORE)) {
    yield(FULL, NULL, 0);
    put(at, size, value);
    return;
  }
  yield(ANY, NULL, 0);
  thread *t = &w.thread[current];
  assert(t->n < BUFFER);
  t->buffer[t->n].at = at;
  t->buffer[t->n].size = size;
  t->buffer[t->n++].value = value;
}

uint64_t model_modify(const char *site, volatile void *at, size_t size, model_change change,
                      uint64_t operand) {
  if (is_private(at)) {
    return 0;
  }
  ((lanes_model_place *)(void *)site)->modified |= change != MODEL_SWAP;
  yield(FULL, NULL, 0);
  uint64_t old = get(at, size);
  if (!spoils(site, LOST_CHANGE)) {
    put(at, size,
        change == MODEL_ADD   ? old + operand
        : change == MODEL_SUB ? old - operand
                              : operand);
  }
  return old;
}

bool model_exchange(const char *site, volatile void *at, size_t size, void *expected,
                    uint64_t desired) {
  (void)site;
  yield(FULL, NULL, 0);
  uint64_t old = get(at, size);
  if (old != get(expected, size)) {
    put(expected, size, old);
    return false;
  }
  put(at, size, desired);
  return true;
}

void model_lock(pthread_mutex_t *lock) {
  yield(LOCKS, lock, 0);
  put(lock, 1, 1);
}

/* An unlock is one step with the step before it, as it only lets others go on. */
void model_unlock(pthread_mutex_t *lock) {
  if (w.thread[current].n > 0) {
    yield(FULL, NULL, 0);
  }
  put(lock, 1, 0);
}

void model_futex_wait(const _Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns) {
  yield(FULL, NULL, 0);
  if (get(word, sizeof *word) == value && timeout_ns > 0) {
    yield(SLEEPS, word, timeout_ns);
  }
}

void model_futex_wake_all(const _Atomic uint32_t *word) {
  const char *site = model_site("wake", word == &w.x.poisoned ? "poisoned" : "a word");
  ((lanes_model_place *)(void *)site)->modified = true;
  yield(FULL, NULL, 0);
  for (uint32_t i = 0; i < THREADS && !spoils(site, LOST_CHANGE); i++) {
    if (w.thread[i].pending == SLEEPS && w.thread[i].on == word) {
      w.thread[i].pending = ANY;
    }
  }
}

uint64_t model_now_ns(void) { return w.clock; }

/* Functions that the sources call. */

bool model_go_on_alone(fs_cpu_lane *l, uint64_t k) {
  uint8_t *running = &w.running[l - w.lane];
  if (*running != 0) {
    blame("two threads run a lane");
  }
  *running = 1;
  bool over = model_cpu_go_on(l, k);
  *running = 0;
  return over;
}

/* Whether all that the command waits for has run in this invocation. */
static bool is_due(uint32_t command) {
  const lane_plan *lane = &now_exploring->setting->lane[command / STEPS];
  uint8_t runs = w.runs[command] + 1;
  for (uint8_t i = 0; i < lane->step[command % STEPS].n; i++) {
    uint32_t before =
        lane->step[command % STEPS].lane[i] * STEPS + lane->step[command % STEPS].command[i] - 1u;
    if (w.runs[before] < runs) {
      return false;
    }
  }
  return command % STEPS == 0 || w.runs[command - 1] >= runs;
}

fsched_cause model_effect_run(const fs_effects *e, const fs_effect_room *room, const fs_work *work,
                              uint32_t command) {
  (void)e, (void)room, (void)work;
  if (!is_due(command)) {
    blame("a command runs too early");
  }
  w.runs[command]++;
  return now_exploring->setting->ending == FAILS && command == 0 && w.over == 0 ? 7 : 0;
}

void model_effect_give(const fs_effects *e, const fs_work *work, uint32_t item) {
  (void)e, (void)work, (void)item;
}

void model_effect_keep(const fs_effects *e, const fs_work *work, uint32_t item) {
  (void)e, (void)work, (void)item;
}

void model_cpu_barrier_start(fs_instance *x, uint32_t command, uint64_t k) {
  (void)x, (void)command, (void)k;
}

void model_cpu_barrier_end(fs_instance *x, uint32_t command, uint64_t k) {
  (void)x, (void)command, (void)k;
}

void model_cpu_barrier_set(fs_instance *x, uint64_t k) { (void)x, (void)k; }

/* The thread that invokes. */

static void start(void) {
  w.x.next++;
  atomic_store_explicit(&w.x.poisoned, 0, memory_order_relaxed);
  atomic_store_explicit(&w.x.cause, FSCHED_CAUSE_NONE, memory_order_relaxed);
  fs_timeline_publish(w.x.go, w.x.next);
}

/* Stands in for the core's callback in fs_work; the core takes its lock there. */
static void done(void *user, fsched_cause cause, uint64_t ns) {
  const setting *of = now_exploring->setting;
  (void)user, (void)ns;
  model_lock(&w.core);
  bool failed = of->ending == FAILS && w.over == 0;
  if (failed ? cause != 7 : of->ending != CANCELS && cause != FSCHED_CAUSE_NONE) {
    blame("another end than expected");
  }
  for (uint32_t c = 0; c < COMMANDS && cause == FSCHED_CAUSE_NONE; c++) {
    if (c % STEPS < of->lane[c / STEPS].n && w.runs[c] != w.over + 1) {
      blame("a command has not run once");
    }
  }
  w.over++;
  for (uint32_t c = 0; c < COMMANDS; c++) { /* commands that were left out count, too */
    w.runs[c] = (uint8_t)w.over;
  }
  model_unlock(&w.core);
  if (of->from_done && w.over < of->invocations) {
    start();
  }
}

static void cancel(void) {
  model_lock(&w.core);
  if (w.over == 0) {
    fs_cpu_poison(&w.x, FSCHED_CAUSE_CANCELLED);
  }
  model_unlock(&w.core);
}

static void invoke_all(void) {
  const setting *of = now_exploring->setting;
  for (uint32_t k = 0; k < of->invocations; k++) {
    if (k == 0 || !of->from_done) {
      start();
    }
    if (of->content == COMES) {
      fs_timeline_publish(w.arrival.ready, w.x.next);
    }
    if (k == 0 && of->ending == CANCELS) {
      cancel();
    }
    yield(AWAITS, NULL, k + 1);
  }
  atomic_store(&w.x.stop, 1);
  fs_timeline_wake(w.x.go);
}

/* Making a world */

static void make_lane(uint32_t i) {
  const lane_plan *plan = &now_exploring->setting->lane[i];
  fs_cpu_lane *l = &w.lane[i];
  *l = (fs_cpu_lane){.queue = i, .n_steps = plan->n, .timeline = &w.timeline[i]};
  l->steps = &w.step[(size_t)i * STEPS];
  w.period[i] = plan->n;
  for (uint32_t j = 0; j < plan->n; j++) {
    uint32_t c = i * STEPS + j;
    w.step[c] = (fs_cpu_step){.command = c, .meeting = FS_NONE, .wait0 = c * WAITS, .signal = 1};
    w.step[c].n_waits = plan->step[j].n;
    w.command[c].end = LONG_NS;
    for (uint32_t k = 0; k < plan->step[j].n; k++) {
      uint32_t axis = plan->step[j].lane[k];
      w.wait[c * WAITS + k] = (fs_step_wait){.timeline = &w.timeline[axis],
                                             .period = now_exploring->setting->lane[axis].n,
                                             .axis = axis,
                                             .epoch = plan->step[j].command[k]};
    }
  }
}

/* Deals lanes to workers as fs_cpu_deal does. */
static void deal(void) {
  fs_instance *x = &w.x;
  for (uint32_t i = 0; i < x->n_lanes; i++) {
    fs_worker *worker = &w.worker[i % x->n_workers];
    worker->instance = x;
    w.lane[i].worker = worker;
    worker->lane = worker->lane == NULL ? &w.lane[i] : worker->lane;
    worker->n_lanes++;
  }
}

static void enter(void) {
  if (current < WORKERS) {
    (void)fs_cpu_worker(&w.worker[current]);
  } else {
    invoke_all();
  }
  yield(ENDED, NULL, 0);
}

static void make_threads(void) {
  for (uint32_t i = 0; i < THREADS; i++) {
    bool there = i == WORKERS || i < now_exploring->setting->n_workers;
    w.thread[i].pending = there ? ANY : ENDED;
    w.low[i] = w.stack[i] + STACK;
    (void)getcontext(&w.context[i]);
    w.context[i].uc_stack.ss_sp = w.stack[i];
    w.context[i].uc_stack.ss_size = STACK;
    makecontext(&w.context[i], enter, 0);
  }
}

static void make_world(void) {
  const setting *of = now_exploring->setting;
  memset(&w, 0, sizeof w);
  fs_instance *x = &w.x;
  x->stream = &w.stream;
  x->io = &w.io;
  x->work = &w.work;
  x->timeline = w.timeline;
  x->n_timelines = TIMELINES;
  x->period = w.period;
  x->step = w.step;
  x->wait = w.wait;
  x->lane = w.lane;
  x->worker = w.worker;
  x->n_lanes = of->n_lanes;
  x->n_workers = of->n_workers;
  x->config.pace_ps = of->paced * 1000;
  x->go = &w.timeline[AXES];
  w.stream.n_axes = AXES;
  w.stream.commands = w.command;
  w.io.kept0 = w.none;
  w.io.given0 = w.given0;
  w.io.command_given = &w.given;
  w.io.n_given = 1;
  for (uint32_t c = 1; c <= COMMANDS; c++) {
    w.given0[c] = of->content != NO_CONTENT;
  }
  x->arrival = &w.arrival;
  w.arrival.ready = &w.timeline[AXES + 1];
  w.arrival.there = &w.timeline[AXES + 2];
  w.work.done = done;
  w.clock = 1;
  for (uint32_t i = 0; i < of->n_lanes; i++) {
    make_lane(i);
  }
  deal();
  make_threads();
}

/* Exploring */

static const char *low_of(uint32_t i) { return w.low[i] - (uintptr_t)w.low[i] % 8; }

static void hash_world(uint64_t hash[2]) {
  hash[0] = 1, hash[1] = 2;
  mix_hash(hash, &w, offsetof(world, context));
  for (uint32_t i = 0; i < THREADS; i++) {
    if (w.thread[i].pending != ENDED) {
      mix_hash(hash, low_of(i), (size_t)(w.stack[i] + STACK - low_of(i)));
    }
  }
  hash[0] |= 1; /* 0 marks an empty place */
}

static bool is_able(uint32_t i) {
  const thread *t = &w.thread[i];
  switch (t->pending) {
    case ANY:
      return true;
    case FULL:
      return t->n == 0;
    case LOCKS:
      return t->n == 0 && get(t->on, 1) == 0;
    case AWAITS:
      return w.over >= t->until;
    case SLEEPS:
    case ENDED:
      break;
  }
  return false;
}

static void run_thread(uint32_t i) {
  current = i;
  (void)swapcontext(&home, &w.context[i]);
  memset(w.stack[i], 0, (size_t)(low_of(i) - w.stack[i])); /* equal states must have equal bytes */
}

/* Lets the thread's oldest store reach memory. */
static void drain(thread *t) {
  put(t->buffer[0].at, t->buffer[0].size, t->buffer[0].value);
  memmove(t->buffer, t->buffer + 1, (BUFFER - 1) * sizeof t->buffer[0]);
  memset(&t->buffer[BUFFER - 1], 0, sizeof t->buffer[0]);
  t->n--;
}

/* Moves the clock beyond the end of a sleep that has a limit. */
static bool move_clock(void) {
  bool some = false;
  if (now_exploring->setting->ending == CANCELS) {
    return false;
  }
  for (uint32_t i = 0; i < THREADS; i++) {
    if (w.thread[i].pending == SLEEPS && w.thread[i].until != UINT64_MAX) {
      w.thread[i].pending = ANY;
      some = true;
    }
  }
  w.clock += some ? MOVE_NS : 0;
  return some;
}

static void judge(lanes_model_explorer *x, bool stuck, uint32_t number) {
  bool ended = true;
  for (uint32_t i = 0; i < THREADS; i++) {
    ended = ended && w.thread[i].pending == ENDED;
  }
  x->faults += w.fault != NULL;
  if (stuck && ended) {
    x->runs++;
    x->space.ends[number] = 1;
    x->faults += w.over != x->setting->invocations;
  } else {
    x->stuck += stuck;
  }
}

/* Whether to stop: a spoilt source is explored only until it fails. */
static bool is_enough(const lanes_model_explorer *x) {
  return x->spoilt != SOUND && x->stuck + x->faults > 0;
}

/* Copies the world without the dead parts of the stacks, which are zero. */
static char *save(void) {
  size_t n = offsetof(world, stack);
  for (uint32_t i = 0; i < THREADS; i++) {
    n += (size_t)(w.stack[i] + STACK - low_of(i));
  }
  char *saved = malloc(n), *at = saved + offsetof(world, stack);
  ck_assert_ptr_nonnull(saved);
  memcpy(saved, &w, offsetof(world, stack));
  for (uint32_t i = 0; i < THREADS; i++) {
    size_t live = (size_t)(w.stack[i] + STACK - low_of(i));
    memcpy(at, low_of(i), live);
    at += live;
  }
  return saved;
}

/* Restores a world after a step of that thread, or of none. */
static void put_back(const char *saved, uint32_t moved) {
  const char *at = saved + offsetof(world, stack);
  memcpy(&w, saved, offsetof(world, stack));
  for (uint32_t i = 0; i < THREADS; i++) {
    size_t live = (size_t)(w.stack[i] + STACK - low_of(i));
    memcpy(w.stack[i] + STACK - live, at, live);
    if (i == moved) {
      memset(w.stack[i], 0, STACK - live);
    }
    at += live;
  }
}

static uint32_t explore(lanes_model_explorer *x);
enum { LONGEST = 20000 }; /* steps of a run */

/* Tries one move in the current world and then restores it: move 2 * i is a step of thread i, move
 * 2 * i + 1 a store of its buffer; the last move is the clock's. */
static bool try_move(lanes_model_explorer *x, const char *before, uint32_t number, uint32_t move) {
  thread *t = &w.thread[move / 2 % THREADS];
  if (move == 2 * THREADS) {
    if (!move_clock()) {
      return false;
    }
  } else if (move % 2 == 0 ? !is_able(move / 2) : t->n == 0) {
    return false;
  } else if (move % 2 == 0) {
    run_thread(move / 2);
  } else {
    drain(t);
  }
  add_edge(&x->space, number, explore(x));
  put_back(before, move / 2);
  return true;
}

/* Explores from the current world, and returns its number. */
static uint32_t explore(lanes_model_explorer *x) {
  uint64_t hash[2];
  uint32_t number;
  hash_world(hash);
  if (!insert_state(&x->space, hash, &number) || is_enough(x)) {
    return number;
  }
  char *before = save();
  bool stuck = true;
  x->depth++;
  ck_assert_uint_lt(x->depth, LONGEST);
  for (uint32_t move = 0; move <= 2 * THREADS; move++) {
    stuck = !try_move(x, before, number, move) && stuck;
  }
  judge(x, stuck, number);
  x->depth--;
  free(before);
  return number;
}

static lanes_model_explorer run(const setting *of, spoilt how, const char *at) {
  lanes_model_explorer x = {.setting = of, .spoilt = how, .at = at};
  now_exploring = &x;
  make_world();
  (void)explore(&x);
  if (x.stuck + x.faults == 0) {
    x.astray = count_astray(&x.space);
  }
  drop_states(&x.space);
  return x;
}

/* `of` lists each lane's commands in order, with what they wait for. */
static const setting settings[] = {
#include "exec/cpu/lanes_settings.def"
};
enum { SETTINGS = sizeof settings / sizeof *settings };

START_TEST(nothing_is_lost)
{
  if (settings[_i].large && getenv("FSCHED_LANES") == NULL) {
    return;
  }
  lanes_model_explorer x = run(&settings[_i], SOUND, NULL);
  ck_assert_msg(x.stuck + x.faults + x.astray == 0, "%s: stuck %lu, faults %lu, astray %lu",
                settings[_i].name, (unsigned long)x.stuck, (unsigned long)x.faults,
                (unsigned long)x.astray);
  ck_assert_uint_gt(x.runs, 0);
  ck_assert_uint_gt(x.space.n, 100);
}
END_TEST

static bool applies(const lanes_model_place *p, spoilt how) {
  return how == WEAK_STORE ? p->stored : how == BLIND_LOAD ? p->loaded : p->modified;
}

/* Whether one of the small settings finds the fault. */
static bool is_found(const lanes_model_place *p, spoilt how) {
  for (uint32_t i = 0; i < SETTINGS; i++) {
    if (settings[i].small) {
      lanes_model_explorer x = run(&settings[i], how, (const char *)p);
      if (x.stuck + x.faults + x.astray > 0) {
        return true;
      }
    }
  }
  return false;
}

/* Sites that may be spoilt, as they are there for speed, or for what is not explored here. */
static const struct {
  spoilt how;
  const char *function, *expression;
} harmless[] = {
#define LANES_HARMLESS(how, function, expression) {how, function, expression},
#include "exec/cpu/lanes_harmless.def"
#undef LANES_HARMLESS
};
enum { HARMLESS = sizeof harmless / sizeof *harmless };

static bool is_harmless(const lanes_model_place *p, spoilt how) {
  bool found = false;
  for (uint32_t i = 0; i < HARMLESS; i++) {
    found = found || (harmless[i].how == how && strcmp(harmless[i].function, p->function) == 0 &&
                      strcmp(harmless[i].expression, p->expression) == 0);
  }
  return found;
}

/* Each site that the settings reach is spoilt in turn. */
START_TEST(each_is_needed)
{
  static const char *const names[] = {"", "a weak store", "a blind load", "a lost change"};
  uint32_t found = 0, n_harmless = 0;
  for (uint32_t i = 0; i < SETTINGS; i++) {
    if (settings[i].small) {
      (void)run(&settings[i], SOUND, NULL);
    }
  }
  ck_assert_uint_gt(HARMLESS, 0);
  for (const lanes_model_place *p = places; p->function != NULL; p++) {
    for (spoilt how = WEAK_STORE; how < SPOILT; how++) {
      if (!applies(p, how)) {
        continue;
      }
      bool needed = is_found(p, how);
      found += needed;
      n_harmless += !needed;
      ck_assert_msg(needed != is_harmless(p, how), "%s at '%s' of %s: %s", names[how],
                    p->expression, p->function, needed ? "is found" : "is not found");
    }
  }
  ck_assert_uint_eq(n_harmless, HARMLESS);
  ck_assert_uint_gt(found, 20);
}
END_TEST

/* Sanitizers of memory and threads cannot handle stacks that are put back. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { EXPLORES = 0 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
enum { EXPLORES = 0 };
#else
enum { EXPLORES = 1 };
#endif
#else
enum { EXPLORES = 1 };
#endif

FS_SUITE(lanes_model, s) {
  TCase *t = fs_case(s, NULL);
  tcase_set_timeout(t, 120);
  if (EXPLORES) {
    FS_LOOPS(t, 0, SETTINGS, nothing_is_lost);
    FS_TESTS(t, each_is_needed);
  }
}
