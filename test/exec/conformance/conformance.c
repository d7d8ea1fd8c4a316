/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of devices under test, and the rig. */
#include "exec/conformance/conformance.h"

#include "base/clock.h"
#include "base/futex.h"
#include "exec/conformance/conformance_kit.h"
#include "exec/host/watch.h"
#include "exec/replay/reference.h"
#include "kit/quick.h"
#include "kit/resync.h"

enum { MOST = 16 };
static const fs_conformance *registered[MOST]; /* Check knows a test by function and number */
static int n_registered;

_Atomic int conf_failure;

const fs_conformance *conf_registered(int i) { return registered[i]; }

void fs_conformance_add(const fs_suite *s, const fs_conformance *what) {
  int i = 0;
  while (i < n_registered && registered[i] != what) {
    i++;
  }
  assert(i < MOST);
  registered[i] = what;
  n_registered += i == n_registered;
  TCase *t = fs_case(s, NULL);
  fs_conformance_instances(t, i);
  fs_conformance_failures(t, i);
  fs_conformance_execs(t, i);
  fs_conformance_syncs(t, i);
  fs_conformance_loads(t, i);
  fs_conformance_fork(t, i);
}

void conf_ok(const conf *c, fs_status status, const char *what) {
  uint32_t n = fsched_diag_count(c->ctx);
  ck_assert_msg(status == FSCHED_OK, "%s: status %d: %s", what, status,
                n == 0 ? "" : fsched_diag_get(c->ctx, n - 1)->message);
}

/* Kernels of modules.  What mix would compute is not known here, so they write how many args they
 * have. */
static int kernel(const fsched_kernel_call *call) {
  for (uint32_t i = 0; i < call->n_args; i++) {
    uint32_t tag = call->args[i].tag;
    if (tag == FSCHED_OUT || tag == FSCHED_OUT_EXISTING) {
      memset(call->args[i].data, (int)call->n_args, call->args[i].length);
    }
  }
  return conf_failure;
}

static fsched_kernel_fn find(void *user, const char *module, const char *function) {
  (void)user;
  return module != NULL && strcmp(function, "f") == 0 ? kernel : NULL;
}

void conf_open(conf *c, const fs_conformance *what) {
  *c = (conf){.what = what};
  conf_failure = 0;
  ck_assert_int_eq(fsched_context_create(NULL, &c->ctx), FSCHED_OK);
  fsched_device_options o = what->device;
  o.size = sizeof o;
  o.find = find;
  if (what->before != NULL) {
    what->before(what->user, &o);
  }
  c->options = o;
  conf_ok(c, fsched_device_create(c->ctx, &o, &c->device), "device");
  c->backend = c->device->backend;
  c->on_host = c->backend->on_host;
  c->m = malloc(sizeof *c->m);
  ck_assert_ptr_nonnull(c->m);
  conf_fresh(c);
}

void conf_fresh(conf *c) { mk_init(c->m, c->ctx); }

void conf_close(conf *c) {
  fsched_device_release(c->device);
  free(c->m);
  fsched_context_destroy(c->ctx);
  if (c->what->after != NULL) {
    c->what->after(c->what->user);
  }
}

fsched_program *conf_compile(const conf *c, uint64_t seed) {
  fs_gen_params params = fs_gen_any(seed, 50);
  params.class_gangs = seed % 3 == 0;
  fsched_graph *graph;
  fsched_program *program;
  conf_ok(c, fs_gen_graph(c->ctx, &params, &graph), "generate");
  conf_ok(c, fsched_compile(c->ctx, graph, &fs_quick, NULL, &program), "compile");
  fsched_graph_destroy(graph);
  return program;
}

fsched_program *conf_compile_as(const conf *c, uint64_t seed, fs_sync_kind kind) {
  fsched_program *p = conf_compile(c, seed), *q = fs_resync(c->ctx, &p->view, kind, seed), *read;
  size_t size;
  const void *bytes = fsched_program_bytes(q, &size);
  conf_ok(c, fsched_program_borrow(c->ctx, "resync", bytes, size, &read), "check");
  fsched_program_destroy(read);
  fsched_program_destroy(p);
  return q;
}

/* Prepares an instance while both contexts' allocators let the n-th allocation fail. */
static fs_status prepare_with(const conf *c, const fs_stream *s, const fs_io *io, long left) {
  fs_budget budget = {.left = 1000};
  fsched_context_options o = {
      .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
  fs_backend_config config = {.memory_limit = UINT64_C(1) << 36, .slots = 1};
  fsched_context *ctx, *own;
  fs_instance *x = NULL;
  ck_assert_int_eq(fsched_context_create(&o, &ctx), FSCHED_OK);
  ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
  budget.left = left;
  fs_status status = c->backend->prepare(ctx, own, c->device->machine, s, io, &config, &x);
  budget.left = 1000;
  if (status == FSCHED_OK) {
    c->backend->destroy(x);
  } else {
    ck_assert_int_eq(status, FSCHED_SYSTEM);
    ck_assert_uint_ge(fsched_diag_errors(ctx) + fsched_diag_errors(own), 1);
  }
  fsched_context_destroy(own);
  fsched_context_destroy(ctx);
  ck_assert_int_eq(budget.blocks, 0);
  return status;
}

void conf_fail_allocations(const conf *c, const fs_stream *s) {
  fs_arena arena;
  fs_io io;
  fs_arena_init(&arena, c->ctx);
  conf_ok(c, fs_io_make(&arena, s, &io), "io");
  long n = 0;
  while (prepare_with(c, s, &io, n) != FSCHED_OK) {
    n++;
    ck_assert_int_lt(n, 1000);
  }
  ck_assert_int_gt(n, 0);
  fs_arena_release(&arena);
}

/* ---- what the core does for an instance */

static void tell(rig *r) { pthread_cond_broadcast(&r->news); }

static void given_taken(void *user, uint32_t item) {
  rig *r = user;
  pthread_mutex_lock(&r->lock);
  r->taken[item]++;
  r->out_of_order = r->out_of_order || r->n_done > 0;
  pthread_mutex_unlock(&r->lock);
}

static void kept_there(void *user, uint32_t item) {
  rig *r = user;
  pthread_mutex_lock(&r->lock);
  r->there[item]++;
  r->out_of_order = r->out_of_order || r->n_done > 0;
  tell(r);
  pthread_mutex_unlock(&r->lock);
}

static void failed(void *user, fsched_cause cause, const char *what) {
  rig *r = user;
  pthread_mutex_lock(&r->lock);
  r->n_failed++;
  r->failed_cause = cause;
  (void)snprintf(r->failed, sizeof r->failed, "%s", what == NULL ? "" : what);
  r->out_of_order = r->out_of_order || r->n_done > 0;
  pthread_mutex_unlock(&r->lock);
}

static void forget(rig *r) {
  memset(r->taken, 0, r->io.n_given * sizeof *r->taken);
  memset(r->there, 0, r->io.n_kept * sizeof *r->there);
  r->n_done = r->n_failed = 0;
  r->failed[0] = '\0';
}

static void done(void *user, fsched_cause cause, uint64_t ns) {
  rig *r = user;
  pthread_mutex_lock(&r->lock);
  r->cause = cause;
  r->ns = ns;
  if (r->again > 0 && cause == FSCHED_CAUSE_NONE) {
    r->again--;
    forget(r);
    r->n_runs++;
    r->c->backend->start(r->instance, &r->work);
  } else {
    r->n_done++;
    tell(r);
  }
  pthread_mutex_unlock(&r->lock);
}

static void take_arrays(rig *r) {
  const conf *c = r->c;
  const fs_stream *s = r->s;
  conf_ok(c, fs_new_zero(&r->arena, &r->given, r->io.n_given), "given");
  conf_ok(c, fs_new_zero(&r->arena, &r->late, r->io.n_given), "late");
  conf_ok(c, fs_new_zero(&r->arena, &r->taken, r->io.n_given), "taken");
  conf_ok(c, fs_new_zero(&r->arena, &r->kept, r->io.n_kept), "kept");
  conf_ok(c, fs_new_zero(&r->arena, &r->there, r->io.n_kept), "there");
  conf_ok(c, fs_new_zero(&r->arena, &r->record.digest, s->n_ops), "digest");
  conf_ok(c, fs_new_zero(&r->arena, &r->record.begin, s->n_commands), "begin");
  conf_ok(c, fs_new_zero(&r->arena, &r->record.end, s->n_commands), "end");
  conf_ok(c, fs_new(&r->arena, &r->args, s->n_args), "args");
  for (uint32_t i = 0; i < r->io.n_given; i++) {
    uint8_t *bytes;
    conf_ok(c, fs_new(&r->arena, &bytes, r->io.given[i].size), "given bytes");
    r->given[i] = bytes;
  }
  for (uint32_t i = 0; i < r->io.n_kept; i++) {
    uint8_t *bytes;
    conf_ok(c, fs_new(&r->arena, &bytes, r->io.kept[i].size), "kept bytes");
    r->kept[i] = bytes;
  }
}

void rig_open(rig *r, const conf *c, const fs_stream *s, rig_options o) {
  *r = (rig){.c = c, .s = s, .seen = *s};
  fs_arena_init(&r->arena, c->ctx);
  conf_ok(c, fs_context_own(c->ctx, &r->own), "context");
  conf_ok(c, fs_io_make(&r->arena, s, &r->io), "io");
  take_arrays(r);
  if (!o.timed) {
    r->record.begin = r->record.end = NULL;
  }
  r->config = (fs_backend_config){.memory_limit = UINT64_C(1) << 36,
                                  .empty = o.empty,
                                  .pooled = o.pooled && r->io.pooled_bytes > 0,
                                  .slots = 1};
  ck_assert_int_eq(pthread_mutex_init(&r->lock, NULL), 0);
  ck_assert_int_eq(pthread_cond_init(&r->news, NULL), 0);
  conf_ok(c, fs_stream_points_find(&r->arena, s, &r->points), "points");
  conf_ok(
      c,
      c->backend->prepare(c->ctx, r->own, c->device->machine, s, &r->io, &r->config, &r->instance),
      "prepare");
}

void rig_close(rig *r) {
  r->c->backend->destroy(r->instance);
  fsched_context_destroy(r->own);
  (void)pthread_cond_destroy(&r->news);
  (void)pthread_mutex_destroy(&r->lock);
  fs_arena_release(&r->arena);
}

void rig_fill_item(rig *r, uint32_t item, uint64_t seed) {
  fs_fill_bytes(seed * 1000 + item, r->given[item], r->io.given[item].size);
}

void rig_fill_given(rig *r, uint64_t seed) {
  for (uint32_t i = 0; i < r->io.n_given; i++) {
    rig_fill_item(r, i, seed);
  }
}

void rig_fill(rig *r, uint64_t seed) {
  rig_fill_given(r, seed);
  memset(r->late, 0, r->io.n_given * sizeof *r->late);
  for (uint32_t i = 0; i < r->io.n_kept; i++) {
    memset(r->kept[i], 0x5A, r->io.kept[i].size);
  }
}

void rig_start(rig *r) {
  pthread_mutex_lock(&r->lock);
  forget(r);
  r->n_runs++;
  pthread_mutex_unlock(&r->lock);
  r->work = (fs_work){.memory = r->work.memory,
                      .given = (const void *const *)r->given,
                      .late = r->late,
                      .kept = r->kept,
                      .values = r->values,
                      .record = r->record,
                      .given_taken = given_taken,
                      .kept_there = kept_there,
                      .failed = failed,
                      .done = done,
                      .user = r};
  r->c->backend->start(r->instance, &r->work);
}

fsched_cause rig_await(rig *r) {
  pthread_mutex_lock(&r->lock);
  while (r->n_done == 0) {
    pthread_cond_wait(&r->news, &r->lock);
  }
  fsched_cause cause = r->cause;
  pthread_mutex_unlock(&r->lock);
  ck_assert_uint_eq(r->n_done, 1);
  ck_assert(!r->out_of_order);
  return cause;
}

bool rig_await_end(rig *r) {
  fs_watch watch = {0};
  bool done = false;
  for (bool stuck = false; !stuck && !done;) {
    bool idle = false;
    pthread_mutex_lock(&r->lock);
    done = r->n_done > 0;
    uint64_t moves = r->c->backend->progress(r->instance, &idle);
    stuck = fs_watch_stuck(&watch, moves, idle, fs_now_ns(), 1000000);
    pthread_mutex_unlock(&r->lock);
    fs_pause();
  }
  return done;
}

void rig_await_stuck(rig *r) { ck_assert(!rig_await_end(r)); }

void rig_poison(rig *r, fsched_cause cause) {
  pthread_mutex_lock(&r->lock);
  if (r->n_done == 0) {
    r->c->backend->poison(r->instance, cause);
  }
  pthread_mutex_unlock(&r->lock);
}

void rig_await_kept(rig *r, uint32_t item) {
  pthread_mutex_lock(&r->lock);
  while (r->there[item] == 0) {
    ck_assert_uint_eq(r->n_done, 0);
    pthread_cond_wait(&r->news, &r->lock);
  }
  pthread_mutex_unlock(&r->lock);
}

/* ---- results */

/* Finds the values of this invocation as the reference does. */
static void see_values(rig *r) {
  memcpy(r->args, r->s->args, r->s->n_args * sizeof *r->args);
  for (uint32_t i = 0; i < r->s->n_args && r->values != NULL; i++) {
    r->args[i].value = r->values[i];
  }
  r->seen.args = r->args;
}

fs_status rig_compare(rig *r) {
  const void **given, **kept;
  fs_arena_mark mark = fs_arena_set_mark(&r->arena);
  conf_ok(r->c, fs_new_zero(&r->arena, &given, r->s->n_versions), "given");
  conf_ok(r->c, fs_new_zero(&r->arena, &kept, r->s->n_versions), "kept");
  for (uint32_t i = 0; i < r->io.n_given; i++) {
    given[r->io.given[i].version] = r->given[i];
    ck_assert_uint_le(r->taken[i], r->given[i] == NULL ? UINT32_MAX : 1);
  }
  for (uint32_t i = 0; i < r->io.n_kept; i++) {
    kept[r->io.kept[i].version] = r->kept[i];
    ck_assert_uint_eq(r->there[i], r->kept[i] != NULL);
  }
  see_values(r);
  fs_reference_run run = {.invocations = 1,
                          .digest = r->record.digest,
                          .given = given,
                          .kept = kept,
                          .options = r->c->device->host};
  fs_reference_counts counts;
  fs_status status = fs_reference_compare(r->c->ctx, &r->seen, &run, &counts);
  fs_arena_reset(&r->arena, mark);
  return status;
}

/* A command that signals what the wait is for; FS_NONE if there is none. */
static uint32_t source(const fs_stream *s, const fs_stream_wait *w) {
  if (s->axes[w->axis].kind == FS_AXIS_QUEUE) {
    return s->queues[w->axis].command0 + w->epoch - 1;
  }
  for (uint32_t c = 0; c < s->n_commands; c++) {
    if (s->commands[c].gang_axis == w->axis && s->commands[c].gang_epoch == w->epoch) {
      return c;
    }
  }
  return FS_NONE;
}

/* A slow command holds back the epochs behind it: all commands up to the epoch are over when one
 * that waits for it begins.  Barriers tell of one command alone. */
static void check_epoch(const rig *r, const fs_stream_wait *w, uint32_t command) {
  const fs_stream *s = r->s;
  for (uint32_t c = 0; c < s->n_commands && fs_stream_has_slow(s); c++) {
    const fs_stream_command *k = &s->commands[c];
    bool of_gang = k->gang_axis == w->axis && k->gang_epoch == w->epoch;
    bool of_queue = w->axis < s->n_queues && c == s->queues[w->axis].command0 + w->epoch - 1;
    uint32_t n = s->meta->sync == FS_SYNC_BARRIER ? 1 : k->epoch;
    for (uint32_t i = 0; (of_gang || of_queue) && i < n; i++) {
      ck_assert_msg(r->record.end[c - i] <= r->record.begin[command],
                    "command %u begins before %u is over, whose epoch it waits for", command,
                    c - i);
    }
  }
}

/* All commands that reach the epoch are over when one that waits for it begins. */
static void check_over(const rig *r, const fs_stream_wait *w, uint32_t command) {
  const fs_stream *s = r->s;
  for (uint32_t c = source(s, w); c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    bool of_gang = k->gang_axis == w->axis && k->gang_epoch == w->epoch;
    if ((of_gang || c == source(s, w)) && r->record.end[c] > r->record.begin[command]) {
      ck_abort_msg("command %u begins at %llu, before %u is over at %llu", command,
                   (unsigned long long)r->record.begin[command], c,
                   (unsigned long long)r->record.end[c]);
    }
  }
}

/* Whether the command's op is a loop, which its queues enter and leave on their own. */
static bool is_loop(const fs_stream *s, const fs_stream_command *k) {
  for (uint32_t l = 0; l < s->n_loops; l++) {
    if (fs_command_has_op(k) && s->loops[l].within == FS_NONE && s->loops[l].op == k->target) {
      return true;
    }
  }
  return false;
}

void rig_check_times(const rig *r) {
  const fs_stream *s = r->s;
  const uint64_t *begin = r->record.begin, *end = r->record.end;
  for (uint32_t q = 0; q < s->n_queues; q++) {
    const fs_stream_queue *queue = &s->queues[q];
    for (uint32_t c = queue->command0; c < queue->command0 + queue->n_commands; c++) {
      const fs_stream_command *k = &s->commands[c];
      ck_assert_msg(begin[c] <= end[c], "command %u ends before it begins", c);
      if (r->c->what->without_plan) {
        continue;
      }
      bool slow = c > queue->command0 && fs_command_slow(s, &s->commands[c - 1]);
      if (c > queue->command0 && (slow ? begin[c - 1] : end[c - 1]) > begin[c]) {
        ck_abort_msg("command %u begins before the one before it is over", c);
      }
      for (uint32_t w = r->points.point0[c]; w < r->points.point0[c + 1]; w++) {
        check_epoch(r, &r->points.point[w], c);
        check_over(r, &r->points.point[w], c);
      }
      fs_stream_wait self = {k->gang_axis, k->gang_epoch};
      uint32_t first = k->gang_axis == FS_NONE ? c : source(s, &self);
      bool apart = is_loop(s, k) || fs_command_members(s, k) > 0; /* each runs its own part */
      if (!apart && (begin[first] != begin[c] || end[first] != end[c])) {
        ck_abort_msg("members %u and %u of a gang are not together", first, c);
      }
    }
  }
}

void rig_check(rig *r) {
  conf_ok(r->c, rig_compare(r), "compare");
  if (r->record.begin != NULL) {
    rig_check_times(r);
  }
}

void rig_run(rig *r, uint64_t seed) {
  rig_fill(r, seed);
  rig_start(r);
  fsched_cause cause = rig_await(r);
  ck_assert_msg(cause == FSCHED_CAUSE_NONE, "cause %d: %s", (int)cause, r->failed);
  rig_check(r);
}
