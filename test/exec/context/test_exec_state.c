/* SPDX-License-Identifier: Apache-2.0 */
/* State that programs of a context share by name: uses come in the order of the calls, whatever
 * order their fences come in; what failures leave behind; looks from outside. */
#include <sched.h>

#include "exec/context/core.h"
#include "exec/context/exec_kit.h"

#include "kit/context.h"

static fsched_device *device;
static fsched_exec *x;

enum { SET, STEP, GET, PROGRAMS };
static fsched_program *program[PROGRAMS];
static fsched_entry *entry[PROGRAMS];

/* s = value; s = 3 s + value, or a failure when value is below 0; r = s */
static const char *const graphs[] = {
    "fsched: 1\n"
    "buffers: [{name: s, size: 8, io: state}]\n"
    "ops: [{name: set, args: [{value: 1}, {out: s}], " KIT_KERNEL("add") "}]\n",
    "fsched: 1\n"
    "buffers: [{name: s, size: 8, io: state}]\n"
    "ops: [{name: step, args: [{value: 1}, {inout: s}], " KIT_KERNEL("step") "}]\n",
    "fsched: 1\n"
    "buffers: [{name: s, size: 8, io: state}, {name: r, size: 8, io: output}]\n"
    "ops: [{name: get, args: [{in: s}, {value: 0}, {out: r}], " KIT_KERNEL("add") "}]\n"};
static const char *const ops[] = {"set", "step", "get"};

static int step(const fsched_kernel_call *call) {
  const fsched_kernel_arg *s = kit_arg(call, FSCHED_INOUT);
  if (kit_value(call) < 0) {
    kit_put(s, 999); /* what a failure leaves behind */
    return (int)-kit_value(call);
  }
  kit_put(s, 3 * kit_get(s) + (uint64_t)kit_value(call));
  return 0;
}

/* Adds one to every byte. */
static int raise(const fsched_kernel_call *call) {
  const fsched_kernel_arg *s = kit_arg(call, FSCHED_INOUT);
  uint8_t *bytes = s->data;
  for (uint64_t i = 0; i < s->length; i++) {
    bytes[i]++;
  }
  return 0;
}

static const kit_kernel kernels[] = {
    {"add", kit_add}, {"step", step}, {"raise", raise}, {NULL, NULL}};

static void open_exec(void) {
  x = kit_exec(ctx, device, NULL, 3);
  for (uint32_t i = 0; i < PROGRAMS; i++) {
    entry[i] = kit_load(ctx, x, program[i]);
  }
}

static void set_up(void) {
  fs_test_begin();
  device = kit_device(ctx, kernels);
  for (uint32_t i = 0; i < PROGRAMS; i++) {
    program[i] = kit_compile(ctx, graphs[i]);
  }
  fsched_diag_clear(ctx);
  open_exec();
}

static void tear_down(void) {
  fsched_exec_destroy(x);
  for (uint32_t i = 0; i < PROGRAMS; i++) {
    fsched_program_destroy(program[i]);
  }
  fsched_device_release(device);
  fs_test_end();
}

static void invoke(uint32_t which, int64_t value, uint64_t *result, fsched_fence *wait,
                   fsched_fence *signal) {
  const fsched_parameter p = {ops[which], which == GET, value};
  const fsched_binding b = {.buffer = "r", .data = result, .bytes = 8};
  fsched_invocation v = {.size = sizeof v,
                         .wait = wait,
                         .signal = signal,
                         .bindings = &b,
                         .n_bindings = which == GET,
                         .parameters = &p,
                         .n_parameters = 1};
  ck_fs(ctx, fsched_invoke(ctx, entry[which], &v));
}

/* Invokes and waits for it. */
static fsched_cause run(uint32_t which, int64_t value, uint64_t *result) {
  fsched_semaphore *s = kit_timeline();
  fsched_fence *f = kit_fence(ctx, s, 1);
  invoke(which, value, result, NULL, f);
  fsched_cause cause = fsched_fence_wait(f, KIT_LIMIT);
  fsched_fence_release(f);
  fsched_semaphore_release(s);
  return cause;
}

static uint64_t read_word(void) {
  uint64_t word = 0;
  ck_fs(ctx, fsched_exec_read_state(ctx, x, "s", &word, sizeof word));
  return word;
}

START_TEST(carried_from_one_to_the_next)
{
  uint64_t r = 0;
  ck_assert_int_eq(run(SET, 5, NULL), 0);
  ck_assert_int_eq(run(STEP, 1, NULL), 0);
  ck_assert_int_eq(run(STEP, 2, NULL), 0);
  ck_assert_int_eq(run(GET, 0, &r), 0);
  ck_assert_uint_eq(r, 50);
  ck_assert_uint_eq(read_word(), 50);
  uint64_t word = 7;
  ck_fs(ctx, fsched_exec_write_state(ctx, x, "s", &word, sizeof word));
  ck_assert_int_eq(run(STEP, 0, NULL), 0);
  ck_assert_uint_eq(read_word(), 21);
}
END_TEST

/* The first content is made from the name: it is the same in every context, whatever was loaded
 * first. */
START_TEST(first_content)
{
  uint64_t first = read_word();
  ck_assert_uint_ne(first, 0);
  ck_assert_int_eq(run(SET, 1, NULL), 0);
  fsched_exec_destroy(x);
  open_exec();
  ck_assert_uint_eq(read_word(), first);
}
END_TEST

/* Random orders */

enum { MOST = 8, THREADS = 3 };

typedef struct signaller {
  fsched_semaphore *line[MOST];
  uint32_t n;
  pthread_t thread;
} signaller;

static void *signal_all(void *user) {
  signaller *s = user;
  for (uint32_t i = 0; i < s->n; i++) {
    kit_publish(s->line[i], 1);
  }
  return NULL;
}

static uint64_t dice(uint64_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  return *seed ^= *seed << 17;
}

/* Chooses an invocation, and computes what it will give in the order of the calls. */
static void ask(uint64_t *seed, uint64_t *model, uint64_t *result, uint64_t *wanted,
                fsched_fence *wait) {
  uint32_t which = (uint32_t)(dice(seed) % PROGRAMS);
  int64_t value = which == GET ? 0 : (int64_t)(dice(seed) % 1000);
  *model = which == SET ? (uint64_t)value : which == STEP ? 3 * *model + (uint64_t)value : *model;
  *wanted = which == GET ? *model : 0;
  invoke(which, value, result, wait, NULL);
}

/* Several threads signal the fences, each its share in random order; half of them perhaps before
 * the last call. */
static void one_run(uint64_t seed, uint64_t *model) {
  signaller s[THREADS] = {{.n = 0}};
  fsched_semaphore *line[MOST];
  uint64_t result[MOST] = {0}, wanted[MOST];
  uint32_t n = 2 + (uint32_t)(dice(&seed) % (MOST - 1)), early = (uint32_t)(dice(&seed) % n);
  for (uint32_t i = 0; i < n; i++) {
    line[i] = kit_timeline();
    signaller *to = &s[dice(&seed) % THREADS];
    uint32_t at = (uint32_t)(dice(&seed) % (to->n + 1));
    to->line[to->n++] = to->line[at];
    to->line[at] = line[i];
  }
  for (uint32_t i = 0; i < n; i++) {
    fsched_fence *wait = kit_fence(ctx, line[i], 1);
    ask(&seed, model, &result[i], &wanted[i], dice(&seed) % 8 == 0 ? NULL : wait);
    fsched_fence_release(wait);
    for (uint32_t t = 0; i == early && t < THREADS; t++) {
      ck_assert_int_eq(pthread_create(&s[t].thread, NULL, signal_all, &s[t]), 0);
    }
  }
  ck_assert_uint_eq(read_word(), *model);
  for (uint32_t t = 0; t < THREADS; t++) {
    ck_assert_int_eq(pthread_join(s[t].thread, NULL), 0);
  }
  for (uint32_t i = 0; i < n; i++) {
    if (result[i] != wanted[i]) {
      ck_abort_msg("seed %llu, invocation %u: %llu, not %llu", (unsigned long long)seed, i,
                   (unsigned long long)result[i], (unsigned long long)wanted[i]);
    }
    fsched_semaphore_release(line[i]);
  }
}

START_TEST(order_of_the_calls)
{
  enum { RUNS = KIT_SLOW ? 150 : 1000 };
  uint64_t model = read_word();
  for (uint64_t seed = 1; seed <= RUNS; seed++) {
    one_run(seed * UINT64_C(0x9E3779B97F4A7C15), &model);
  }
}
END_TEST

/* Invocations without state do not wait for those with state. */
START_TEST(others_are_not_ordered)
{
  fsched_program *p = kit_compile(ctx, KIT_ONE("add"));
  fsched_entry *e = kit_load(ctx, x, p);
  fsched_semaphore *s = kit_timeline(), *t = kit_timeline();
  fsched_fence *never = kit_fence(ctx, s, 1), *done = kit_fence(ctx, t, 1);
  invoke(STEP, 1, NULL, never, NULL);
  fsched_invocation v = {.size = sizeof v, .signal = done};
  ck_fs(ctx, fsched_invoke(ctx, e, &v));
  ck_assert_int_eq(fsched_fence_wait(done, KIT_LIMIT), FSCHED_CAUSE_NONE);
  kit_publish(s, 1);
  fsched_exec_destroy(x);
  open_exec();
  fsched_fence_release(never), fsched_fence_release(done);
  fsched_semaphore_release(s), fsched_semaphore_release(t);
  fsched_program_destroy(p);
}
END_TEST

static void publish(void *user, fsched_cause cause) {
  (void)cause;
  kit_publish(user, 1);
}

/* The fence of an invocation with state is reached in a callback of one that ends without having
 * started. */
START_TEST(admitted_from_a_callback)
{
  fsched_program *p = kit_compile(ctx, KIT_ONE("add"));
  fsched_entry *e = kit_load(ctx, x, p);
  fsched_semaphore *s = kit_timeline(), *t = kit_timeline();
  fsched_fence *wait = kit_fence(ctx, s, 1), *bad = kit_fence(ctx, t, 1);
  uint64_t r = 0;
  ck_assert_int_eq(run(SET, 5, NULL), 0);
  fsched_semaphore *done = kit_timeline();
  fsched_fence *got = kit_fence(ctx, done, 1);
  invoke(GET, 0, &r, wait, got);
  fsched_invocation v = {.size = sizeof v, .wait = bad, .callback = publish, .user = s};
  ck_fs(ctx, fsched_invoke(ctx, e, &v));
  (void)fsched_semaphore_fail(t, 3);
  ck_assert_int_eq(fsched_fence_wait(got, KIT_LIMIT), FSCHED_CAUSE_NONE);
  ck_assert_uint_eq(r, 5);
  fsched_exec_destroy(x);
  open_exec();
  fsched_fence_release(wait), fsched_fence_release(bad), fsched_fence_release(got);
  fsched_semaphore_release(s), fsched_semaphore_release(t), fsched_semaphore_release(done);
  fsched_program_destroy(p);
}
END_TEST

/* Failures */

START_TEST(failure_reaches_all_later_ones)
{
  uint64_t r = 0;
  char text[100];
  ck_assert_int_eq(run(SET, 5, NULL), 0);
  fsched_semaphore *s = kit_timeline();
  fsched_fence *f[3];
  for (uint64_t i = 0; i < 3; i++) {
    fsched_semaphore *own = kit_timeline();
    f[i] = kit_fence(ctx, own, 1);
    fsched_semaphore_release(own);
  }
  fsched_fence *wait = kit_fence(ctx, s, 1);
  invoke(STEP, -42, NULL, wait, f[0]);
  invoke(STEP, 1, NULL, NULL, f[1]);
  invoke(GET, 0, &r, NULL, f[2]);
  kit_publish(s, 1);
  for (uint64_t i = 0; i < 3; i++) {
    ck_assert_int_eq(fsched_fence_wait(f[i], KIT_LIMIT), 42);
    fsched_fence_release(f[i]);
  }
  ck_assert_int_eq(run(SET, 1, NULL), 42);
  ck_assert_uint_eq(read_word(), 5); /* what the last success has left */
  ck_assert_uint_eq(r, 0);
  ck_assert_uint_gt(fsched_exec_failure(x, text, sizeof text), 0);
  ck_assert_str_eq(text, "op 'step': its kernel failed");
  fsched_exec_reset(x);
  ck_assert_int_eq(run(STEP, 1, NULL), 0);
  ck_assert_uint_eq(read_word(), 16);
  fsched_fence_release(wait);
  fsched_semaphore_release(s);
}
END_TEST

START_TEST(failed_fence_reaches_all_later_ones)
{
  fsched_semaphore *s = kit_timeline();
  fsched_fence *wait = kit_fence(ctx, s, 1);
  ck_assert_int_eq(run(SET, 5, NULL), 0);
  invoke(STEP, 1, NULL, wait, NULL);
  (void)fsched_semaphore_fail(s, 3);
  ck_assert_int_eq(run(STEP, 1, NULL), 3);
  fsched_exec_reset(x);
  ck_assert_int_eq(run(STEP, 2, NULL), 0);
  ck_assert_uint_eq(read_word(), 17);
  fsched_fence_release(wait);
  fsched_semaphore_release(s);
}
END_TEST

START_TEST(refusals)
{
  static const char wide[] =
      "fsched: 1\n"
      "buffers: [{name: new, size: 4, io: state}, {name: s, size: 12, io: state}]\n"
      "ops: [{name: w, args: [{inout: new}, {inout: s}]}]\n";
  static const char lost[] =
      "fsched: 1\n"
      "buffers: [{name: new, size: 8, io: state}]\n"
      "ops: [{name: w, args: [{inout: new}], " KIT_KERNEL("nowhere") "}]\n";
  static const char fresh[] =
      "fsched: 1\n"
      "buffers: [{name: new, size: 16, io: state}]\n"
      "ops: [{name: w, args: [{inout: new}]}]\n";
  fsched_program *p[] = {kit_compile(ctx, wide), kit_compile(ctx, lost), kit_compile(ctx, fresh)};
  fsched_entry *e = entry[0];
  uint64_t word = 0;
  kit_refused(ctx, fsched_exec_load(ctx, x, p[0], &e), FSCHED_USAGE, "exec",
              "state 's' has 8 bytes in one program and 12 in another");
  ck_assert_ptr_null(e);
  kit_refused(ctx, fsched_exec_load(ctx, x, p[1], &e), FSCHED_REPLAY, "replay-kernel", "module");
  kit_refused(ctx, fsched_exec_read_state(ctx, x, "new", &word, 8), FSCHED_USAGE, "exec",
              "there is no state 'new'"); /* programs that were refused leave no state behind */
  kit_refused(ctx, fsched_exec_write_state(ctx, x, NULL, &word, 8), FSCHED_USAGE, "exec",
              "there is no state ''");
  ck_fs(ctx, fsched_exec_load(ctx, x, p[2], &e));
  kit_refused(ctx, fsched_exec_read_state(ctx, x, "s", &word, 7), FSCHED_USAGE, "exec",
              "state 's' has 8 bytes, not 7");
  kit_refused(ctx, fsched_exec_write_state(ctx, x, "S", &word, 8), FSCHED_USAGE, "exec",
              "there is no state 'S'");
  fsched_exec_destroy(x);
  open_exec();
  for (uint32_t i = 0; i < 3; i++) {
    fsched_program_destroy(p[i]);
  }
}
END_TEST

/* Looks from outside take their place in the same order: nobody sees half of a change. */

static void *read_once(void *word) {
  fsched_context *c;
  if (fsched_context_create(NULL, &c) != FSCHED_OK ||
      fsched_exec_read_state(c, x, "s", word, 8) != FSCHED_OK) {
    *(uint64_t *)word = 0;
  }
  fsched_context_destroy(c);
  return NULL;
}

static uint64_t turns(void) {
  pthread_mutex_lock(&x->lock);
  uint64_t n = x->turns;
  pthread_mutex_unlock(&x->lock);
  return n;
}

/* The look comes between two invocations, of which the first is held up. */
START_TEST(look_takes_its_turn)
{
  fsched_semaphore *s = kit_timeline(), *t = kit_timeline();
  fsched_fence *wait = kit_fence(ctx, s, 1), *done = kit_fence(ctx, t, 1);
  uint64_t word = 1, before = turns();
  pthread_t thread;
  invoke(SET, 5, NULL, wait, NULL);
  ck_assert_int_eq(pthread_create(&thread, NULL, read_once, &word), 0);
  while (turns() < before + 2) {
    (void)sched_yield();
  }
  invoke(SET, 7, NULL, NULL, done);
  kit_publish(s, 1);
  ck_assert_int_eq(fsched_fence_wait(done, KIT_LIMIT), FSCHED_CAUSE_NONE);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  ck_assert_uint_eq(word, 5);
  ck_assert_uint_eq(read_word(), 7);
  fsched_fence_release(wait), fsched_fence_release(done);
  fsched_semaphore_release(s), fsched_semaphore_release(t);
}
END_TEST

enum { LARGE = 1 << 16 };

typedef struct looker {
  fsched_entry *entry;
  fsched_exec *exec;
  uint32_t times, wrong;
  bool writes;
  pthread_t thread;
} looker;

static void *look_often(void *user) {
  looker *l = user;
  fsched_context *c;
  uint8_t *bytes = malloc(LARGE);
  l->wrong += fsched_context_create(NULL, &c) != FSCHED_OK;
  for (uint32_t i = 0; i < l->times; i++) {
    l->wrong += fsched_invoke(c, l->entry, NULL) != FSCHED_OK;
    if (l->writes) {
      memset(bytes, (int)i, LARGE);
      l->wrong += fsched_exec_write_state(c, l->exec, "s", bytes, LARGE) != FSCHED_OK;
    } else {
      l->wrong += fsched_exec_read_state(c, l->exec, "s", bytes, LARGE) != FSCHED_OK;
      l->wrong += memcmp(bytes, bytes + 1, LARGE - 1) != 0;
    }
  }
  fsched_context_destroy(c);
  free(bytes);
  return NULL;
}

START_TEST(looks_see_whole_states)
{
  enum { LOOKERS = 3 };
  static const char graph[] =
      "fsched: 1\n"
      "buffers: [{name: s, size: 65536, io: state}]\n"
      "ops: [{name: up, args: [{inout: s}], " KIT_KERNEL("raise") "}]\n";
  fsched_program *p = kit_compile(ctx, graph);
  fsched_exec *y = kit_exec(ctx, device, NULL, 2);
  looker l[LOOKERS];
  fsched_entry *e = kit_load(ctx, y, p);
  uint8_t *bytes = calloc(1, LARGE);
  ck_fs(ctx, fsched_exec_write_state(ctx, y, "s", bytes, LARGE));
  for (uint32_t i = 0; i < LOOKERS; i++) {
    l[i] = (looker){.entry = e, .exec = y, .times = KIT_SLOW ? 30 : 200, .writes = i == 0};
    ck_assert_int_eq(pthread_create(&l[i].thread, NULL, look_often, &l[i]), 0);
  }
  for (uint32_t i = 0; i < LOOKERS; i++) {
    ck_assert_int_eq(pthread_join(l[i].thread, NULL), 0);
    ck_assert_uint_eq(l[i].wrong, 0);
  }
  free(bytes);
  fsched_exec_destroy(y);
  fsched_program_destroy(p);
}
END_TEST

FS_SUITE(exec_state, s) {
  TCase *t = fs_case(s, NULL);
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, set_up, tear_down);
  FS_TESTS(t, carried_from_one_to_the_next, first_content, order_of_the_calls,
           others_are_not_ordered, admitted_from_a_callback, failure_reaches_all_later_ones,
           failed_fence_reaches_all_later_ones, refusals, look_takes_its_turn,
           looks_see_whole_states);
}
