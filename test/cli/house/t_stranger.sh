# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# A stranger's program against the installed library: one function submits to a capture and to dynamic
# runs, on threads, on forked processes, and on spawned ones, which find the installed fsched-worker in
# PATH and the program's kernel in a module.  All leave the same bytes.

# shellcheck disable=SC1091 # no need to look
. "$TOP/test/cli/installed.sh" || return 0
begin_consumers

cat >stranger.c <<'C'
#include <fsched/compile.h>
#include <fsched/dynamic.h>
#include <fsched/replay.h>
#include <fsched/submit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 16, STEPS = 5 };

/* out[i] = in[i] * factor + member */
int scale(const fsched_kernel_call *call) {
  const unsigned char *in = (const unsigned char *)call->args[0].data;
  unsigned char *out = (unsigned char *)call->args[1].data;
  size_t i;
  for (i = 0; i < call->args[1].length; i++) {
    out[i] = (unsigned char)(in[i] * call->args[2].value + (int)call->member);
  }
  return 0;
}

#ifndef KERNELS
static fsched_context *ctx;

static void need(fsched_status status, const char *what) {
  if (status != FSCHED_OK) {
    unsigned i;
    for (i = 0; i < fsched_diag_count(ctx); i++) {
      fprintf(stderr, "%s\n", fsched_diag_get(ctx, i)->message);
    }
    fprintf(stderr, "%s: %d\n", what, (int)status);
    exit(1);
  }
}
#define NEED(call) need((call), #call)

static fsched_builder *describe(void) {
  fsched_builder *b;
  fsched_queue_desc q0 = {0}, q1 = {0};
  fsched_memory_desc memory = {0};
  q0.size = q1.size = sizeof q0;
  q0.name = "q0";
  q1.name = "q1";
  memory.size = sizeof memory;
  memory.name = "ddr";
  NEED(fsched_builder_create(ctx, "stranger", &b));
  NEED(fsched_builder_queue(b, &q0, NULL));
  NEED(fsched_builder_queue(b, &q1, NULL));
  NEED(fsched_builder_memory(b, &memory, NULL));
  return b;
}

/* The calls of either header. */
typedef struct calls {
  void *of;
  fsched_status (*import)(void *, const fsched_submit_import_desc *, uint32_t *);
  fsched_status (*task)(void *, const fsched_submit_task_desc *, uint32_t *);
  fsched_status (*group)(void *, const fsched_submit_group_desc *, uint32_t *);
} calls;

#define CALLS(kind, type)                                                                        \
  static fsched_status kind##_import(void *of, const fsched_submit_import_desc *d, uint32_t *i) { \
    return fsched_##kind##_import((type *)of, d, i);                                             \
  }                                                                                              \
  static fsched_status kind##_task(void *of, const fsched_submit_task_desc *d, uint32_t *i) {     \
    return fsched_##kind##_task((type *)of, d, i);                                               \
  }                                                                                              \
  static fsched_status kind##_group(void *of, const fsched_submit_group_desc *d, uint32_t *i) {   \
    return fsched_##kind##_group((type *)of, d, i);                                              \
  }
CALLS(submit, fsched_submitter)
CALLS(dynamic, fsched_dynamic)

static fsched_submit_callable_desc callable(fsched_kernel_desc *k) {
  fsched_submit_callable_desc c = {0};
  memset(k, 0, sizeof *k);
  k->size = sizeof *k;
  k->module = "scale";
  k->function = "scale";
  c.size = sizeof c;
  c.name = "scale";
  c.kernel = k;
  return c;
}

static fsched_submit_arg arg(fsched_tag tag, uint32_t buffer) {
  fsched_submit_arg a = {0};
  a.size = sizeof a;
  a.tag = tag;
  a.buffer = buffer;
  a.value = 3;
  return a;
}

/* x goes through tasks that allocate what they write; two members write the halves of y. */
static void submit_all(const calls *c, unsigned char *x, unsigned char *y) {
  static const char *const queues[] = {"q0", "q1"};
  fsched_submit_import_desc i = {0};
  fsched_submit_alloc_desc own = {0};
  fsched_submit_view half[2];
  fsched_submit_arg a[2][3];
  fsched_submit_member member[2];
  fsched_submit_group_desc g = {0};
  uint32_t in, out, id;
  uint64_t shape = N;
  int k;
  i.size = sizeof i;
  i.bytes = N;
  i.name = "x";
  i.io = FSCHED_IO_INPUT;
  i.address = x;
  NEED(c->import(c->of, &i, &in));
  i.name = "y";
  i.io = FSCHED_IO_OUTPUT;
  i.address = y;
  NEED(c->import(c->of, &i, &out));
  own.size = sizeof own;
  own.element = 1;
  own.n_dims = 1;
  own.shape = &shape;
  for (k = 0; k < STEPS; k++) {
    fsched_submit_task_desc t = {0};
    uint32_t made;
    a[0][0] = arg(FSCHED_IN, in);
    a[0][1] = arg(FSCHED_OUT, 0);
    a[0][2] = arg(FSCHED_VALUE, 0);
    a[0][1].alloc = &own;
    a[0][1].allocated = &made;
    t.size = sizeof t;
    t.args = a[0];
    t.n_args = 3;
    NEED(c->task(c->of, &t, &id));
    in = made;
  }
  for (k = 0; k < 2; k++) {
    memset(&half[k], 0, sizeof half[k]);
    half[k].size = sizeof half[k];
    half[k].offset = (uint64_t)k * N / 2;
    half[k].length = N / 2;
    a[k][0] = arg(FSCHED_IN, in);
    a[k][1] = arg(FSCHED_OUT_EXISTING, out);
    a[k][2] = arg(FSCHED_VALUE, 0);
    a[k][0].view = a[k][1].view = &half[k];
    member[k].args = a[k];
    member[k].n_args = 3;
  }
  g.size = sizeof g;
  g.queues = queues;
  g.members = member;
  g.n_members = 2;
  NEED(c->group(c->of, &g, &id));
}

static void print(const char *what, const unsigned char *y) {
  int i;
  printf("%s:", what);
  for (i = 0; i < N; i++) {
    printf(" %d", y[i]);
  }
  printf("\n");
}

static void capture(const char *modules, unsigned char *x) {
  unsigned char y[N] = {0};
  fsched_kernel_desc k;
  fsched_submit_callable_desc c = callable(&k);
  fsched_submitter *s;
  fsched_graph *g;
  fsched_program *p;
  fsched_device *device;
  fsched_device_options d = {0};
  fsched_binding binding[2];
  fsched_replay_options r = {0};
  calls to;
  NEED(fsched_submit_create(describe(), &s));
  NEED(fsched_submit_callable(s, &c, NULL));
  to.of = s;
  to.import = submit_import;
  to.task = submit_task;
  to.group = submit_group;
  submit_all(&to, x, y);
  NEED(fsched_submit_finish(s, &g));
  fsched_submit_destroy(s);
  NEED(fsched_compile(ctx, g, NULL, NULL, &p));
  memset(binding, 0, sizeof binding);
  binding[0].buffer = "x";
  binding[0].data = x;
  binding[1].buffer = "y";
  binding[1].data = y;
  binding[0].bytes = binding[1].bytes = N;
  d.size = sizeof d;
  d.modules = modules;
  NEED(fsched_device_create(ctx, &d, &device));
  r.size = sizeof r;
  r.device = device;
  r.bindings = binding;
  r.n_bindings = 2;
  NEED(fsched_replay(ctx, p, &r, NULL));
  fsched_device_release(device);
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
  print("captured", y);
}

static fsched_kernel_fn find(void *user, const char *module, const char *function) {
  (void)user;
  (void)module;
  return strcmp(function, "scale") == 0 ? scale : NULL;
}

static void run(const char *what, const char *modules, int processes, int spawn,
                const unsigned char *given) {
  fsched_kernel_desc k;
  fsched_submit_callable_desc c = callable(&k);
  fsched_dynamic_options o = {0};
  fsched_dynamic *d;
  void *x, *y;
  calls to;
  o.size = sizeof o;
  o.processes = processes;
  o.spawn = spawn;
  o.memory_bytes = 4096;
  o.modules = modules;
  o.find = modules == NULL ? find : NULL;
  NEED(fsched_dynamic_create(describe(), &o, &d));
  NEED(fsched_dynamic_callable(d, &c, NULL));
  NEED(fsched_dynamic_open(d));
  NEED(fsched_dynamic_memory(d, N, &x));
  NEED(fsched_dynamic_memory(d, N, &y));
  memcpy(x, given, N);
  to.of = d;
  to.import = dynamic_import;
  to.task = dynamic_task;
  to.group = dynamic_group;
  submit_all(&to, (unsigned char *)x, (unsigned char *)y);
  NEED(fsched_dynamic_close(d));
  NEED(fsched_dynamic_drain(d));
  print(what, (const unsigned char *)y);
  fsched_dynamic_destroy(d);
}

int main(int argc, char **argv) {
  unsigned char x[N];
  int i;
  if (argc != 2) {
    return 2;
  }
  for (i = 0; i < N; i++) {
    x[i] = (unsigned char)i;
  }
  NEED(fsched_context_create(NULL, &ctx));
  run("forked", NULL, 1, 0, x);
  run("threads", NULL, 0, 0, x);
  run("spawned", argv[1], 1, 1, x);
  capture(argv[1], x);
  fsched_context_destroy(ctx);
  return 0;
}
#endif
C

# What y is, without fsched: 243 x modulo 256, and in the upper half 1 more.
awk 'BEGIN { for (i = 0; i < 16; i++) {
  v = i; for (k = 0; k < 5; k++) v = v * 3 % 256
  printf " %d", (v * 3 + (i >= 8)) % 256
} }' >plain
for what in forked threads spawned captured; do echo "$what:$(cat plain)"; done >wanted

mkdir modules
# shellcheck disable=SC2046,SC2086 # flags are words
run 0 $CC -std=c99 -Wall -Wextra -Werror -o stranger stranger.c $(pkg-config --cflags --libs fsched)
# shellcheck disable=SC2046,SC2086
run 0 $CC -std=c99 -shared -fPIC -DKERNELS -o modules/scale.so stranger.c $(pkg-config --cflags fsched)
run 0 env PATH="$usr/bin:$PATH" ./stranger modules
expect "all leave the same bytes" same wanted out
same wanted out || diff wanted out
# Without the installed worker no process can be spawned, and the program is told so.
run 1 env PATH=/nowhere ./stranger modules
expect "no worker" holds err 'no process for a worker could be started'
rm modules/scale.so
run 1 env PATH="$usr/bin:$PATH" ./stranger modules
expect "no module" holds err 'scale'
