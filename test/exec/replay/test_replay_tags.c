/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels see of their args: in a loop that stays a loop, and around it, the tags, numbers and
 * lengths that those of the unrolled graph see. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fsched/compile.h"
#include "fsched/kernel.h"
#include "fsched/replay.h"
#include "kit/nest_gen.h"
#include "kit/quick.h"
#include "kit/turn.h"

#include "codegen/stream_kit.h"
#include "kit/context.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { GRAPHS = 40 };
#else
enum { GRAPHS = 160 };
#endif

/* All calls of one replay, a line each, in the order of their names. */
typedef struct seen_calls {
  pthread_mutex_t lock;
  char **line;
  size_t n, room;
} seen_calls;

static seen_calls calls = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int note_call(const fsched_kernel_call *call) {
  char line[1024];
  size_t at =
      (size_t)snprintf(line, sizeof line, "%s %u/%u", call->op, call->member, call->n_members);
  for (uint32_t i = 0; i < call->n_args && at < sizeof line; i++) {
    const fsched_kernel_arg *a = &call->args[i];
    at += (size_t)snprintf(line + at, sizeof line - at, " %u:%lu:%ld", a->tag,
                           (unsigned long)a->length, (long)a->value);
  }
  pthread_mutex_lock(&calls.lock);
  if (calls.n == calls.room) {
    calls.room = 2 * calls.room + 64;
    calls.line = realloc(calls.line, calls.room * sizeof *calls.line);
  }
  calls.line[calls.n++] = strdup(line);
  pthread_mutex_unlock(&calls.lock);
  return at < sizeof line ? 0 : 1;
}

static fsched_kernel_fn find_kernel(void *user, const char *module, const char *function) {
  (void)user;
  (void)module;
  return strcmp(function, "see") == 0 ? note_call : NULL;
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_calls(seen_calls *c) {
  for (size_t i = 0; i < c->n; i++) {
    free(c->line[i]);
  }
  free(c->line);
  c->line = NULL;
  c->n = c->room = 0;
}

/* Gives each op a kernel that notes its calls; and, if `param`, all loops one parameter, which may
 * be at most what is returned. */
static uint64_t use_kernels(fs_text *t, bool param) {
  static const char name[] = "{name: ", trip[] = "trip: ";
  const char *ops = strstr(t->at, "ops:\n");
  ck_assert_ptr_nonnull(ops);
  uint64_t most = UINT64_MAX;
  fs_text out;
  fs_text_init(&out, ctx);
  fs_text_add(&out, t->at, (size_t)(ops - t->at));
  for (const char *p = ops; *p != '\0'; p++) {
    if (strncmp(p, name, sizeof name - 1) == 0) {
      fs_text_puts(&out, "{kernel: {module: k, function: see}, name: ");
      p += sizeof name - 2;
    } else if (param && strncmp(p, trip, sizeof trip - 1) == 0) {
      char *end;
      uint64_t n = strtoull(p + sizeof trip - 1, &end, 10);
      fs_text_printf(&out, "trip: {param: n, min: 0, max: %lu}", (unsigned long)n);
      most = n < most ? n : most;
      p = end - 1;
    } else {
      fs_text_add(&out, p, 1);
    }
  }
  fs_text_add(&out, "", 1);
  ck_assert(!out.failed);
  fs_text_drop(t);
  *t = out;
  return most;
}

static fs_status compile(const char *text, const char *set, bool unroll, fsched_program **out) {
  fsched_read_options o = {.size = sizeof o, .unroll = unroll};
  o.params = &set;
  o.n_params = unroll && set != NULL;
  fsched_compile_options k = {.size = sizeof k, .effort = FS_QUICK, .verify = 1};
  fsched_graph *g;
  *out = NULL;
  fs_status status = fsched_graph_parse(ctx, "loop.yaml", text, strlen(text), &o, &g);
  if (status == FSCHED_OK) {
    status = fsched_compile(ctx, g, &k, NULL, out);
    fsched_graph_destroy(g);
  }
  return status;
}

/* Replays once; the calls are what it leaves. */
static seen_calls calls_of(const fsched_program *p, const char *kind, const fsched_trips *trips) {
  fsched_device_options d = {.size = sizeof d, .kind = kind, .find = find_kernel};
  fsched_device *device;
  ck_fs(ctx, fsched_device_create(ctx, &d, &device));
  fsched_replay_options o = {.size = sizeof o, .device = device};
  o.trips = trips;
  o.n_trips = trips != NULL && p->view.n_loops > 0 ? 1 : 0;
  fsched_replay_result r = {.size = sizeof r};
  ck_fs(ctx, fsched_replay(ctx, p, &o, &r));
  fsched_device_release(device);
  seen_calls c = calls;
  calls.line = NULL;
  calls.n = calls.room = 0;
  if (c.n > 1) {
    qsort(c.line, c.n, sizeof *c.line, by_name);
  }
  return c;
}

static void must_be_same(const char *text, const seen_calls *a, const seen_calls *b) {
  for (size_t i = 0; i < a->n && i < b->n; i++) {
    ck_assert_msg(strcmp(a->line[i], b->line[i]) == 0, "'%s', and not '%s', in\n%s", b->line[i],
                  a->line[i], text);
  }
  ck_assert_msg(a->n == b->n, "%zu calls, and not %zu, in\n%s", b->n, a->n, text);
}

/* One for each op, and for each member of a group. */
static size_t n_calls(const fsched_program *p) {
  size_t n = 0;
  for (uint32_t i = 0; i < p->view.n_ops; i++) {
    n += p->view.ops[i].n_members == 0 ? 1 : p->view.ops[i].n_members;
  }
  return n;
}

static uint32_t n_begins(const fsched_program *p) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->view.n_args; i++) {
    n += p->view.args[i].begins;
  }
  for (uint32_t i = 0; i < p->view.n_loop_args; i++) {
    n += p->view.loop_args[i].begins;
  }
  return n;
}

/* The program has been written as bytes and as JSON, and read again. */
static void reread(fsched_program **p) {
  fsched_program *again;
  char *json;
  size_t length;
  ck_fs(ctx, fsched_program_json(ctx, *p, &json, &length));
  ck_fs(ctx, fsched_program_assemble(ctx, "loop.json", json, length, &again));
  fsched_text_free(ctx, json, length);
  fsched_program_destroy(*p);
  *p = again;
}

/* Compares the calls of the loop and its unrolling.  *begins: adds how many args have a tag that
 * only kernels see.  Returns whether both can be compiled. */
static bool compare(const char *text, uint64_t n, bool param, uint32_t *begins) {
  char set[32];
  fsched_program *flat, *loop;
  fsched_trips trips = {"n", n};
  (void)snprintf(set, sizeof set, "n=%lu", (unsigned long)n);
  if (compile(text, param ? set : NULL, true, &flat) != FSCHED_OK) {
    return false;
  }
  if (compile(text, NULL, false, &loop) != FSCHED_OK) {
    fsched_program_destroy(flat);
    return false;
  }
  ck_assert_uint_eq(n_begins(flat), 0);
  *begins += n_begins(loop);
  reread(&loop);
  seen_calls want = calls_of(flat, "cpu", NULL);
  ck_assert_uint_eq(want.n, n_calls(flat));
  for (int kind = 0; kind < 2; kind++) {
    seen_calls got = calls_of(loop, kind == 0 ? "cpu" : "sim", param ? &trips : NULL);
    must_be_same(text, &want, &got);
    free_calls(&got);
  }
  free_calls(&want);
  fsched_program_destroy(flat);
  fsched_program_destroy(loop);
  return true;
}

static void compare_all(uint64_t part, void (*generate)(uint64_t, fs_text *)) {
  uint32_t right = 0, begins = 0;
  bool param = part % 2 == 1;
  for (uint64_t k = 0; k < GRAPHS; k++) {
    uint64_t seed = (fs_turn() * 10 + part) * GRAPHS + k;
    fs_text t;
    fs_text_init(&t, ctx);
    generate(seed, &t);
    fs_text_add(&t, "", 1);
    uint64_t most = use_kernels(&t, param);
    right += compare(t.at, most == UINT64_MAX ? 0 : seed % (most + 1), param, &begins);
    fs_text_drop(&t);
    fsched_diag_clear(ctx);
  }
  fs_assert_seen(right, GRAPHS / 16);
  fs_assert_seen(begins, GRAPHS / 32);
}

START_TEST(of_loops)
{ compare_all((uint64_t)_i, fs_loop_gen); }
END_TEST

START_TEST(of_nests)
{ compare_all((uint64_t)_i, fs_nest_gen); }
END_TEST

START_TEST(of_synced_loops)
{ compare_all((uint64_t)_i, fs_loop_gen_syncs); }
END_TEST

START_TEST(of_loops_with_barriers)
{ compare_all((uint64_t)_i, fs_loop_gen_barriers); }
END_TEST

FS_SUITE(replay_tags, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 2, of_loops, of_nests, of_synced_loops, of_loops_with_barriers);
}
