/* SPDX-License-Identifier: Apache-2.0 */
/* Two carriers, each with the workers of its kind: threads are made once all processes are, which
 * may have to be forked.  The processes' carrier has the memory of the user, which threads reach as
 * it is. */
#include "exec/dynamic/process/mixed.h"

#include "base/context.h"
#include "base/mem.h"

typedef struct mixed_carrier mixed_carrier;

/* The workers of a kind: which of all each is. */
typedef struct mixed_side {
  mixed_carrier *of;
  fs_carrier *carrier;
  uint32_t n, *worker;
} mixed_side;

struct mixed_carrier {
  fs_carrier carrier;
  fs_arena arena;
  fs_carrier_options options;
  mixed_side side[2]; /* processes, threads */
  const bool *host;   /* per worker */
  uint32_t *place;    /* per worker: which one of its side it is */
};

static fs_status accept_call(fs_carrier *carrier, uint32_t kernel, const fsched_kernel_call *call) {
  const mixed_carrier *c = (mixed_carrier *)carrier;
  fs_carrier *processes = c->side[0].carrier; /* whose messages have a limit */
  return processes->functions->accepts(processes, kernel, call);
}

static void start_member(fs_carrier *carrier, uint32_t worker, const fs_started_member *member) {
  const mixed_carrier *c = (mixed_carrier *)carrier;
  assert(worker < c->options.n_workers);
  fs_carrier *to = c->side[c->host[worker]].carrier;
  to->functions->start(to, c->place[worker], member);
}

/* Threads alone leave news. */
static void hear_threads(fs_carrier *carrier, fs_news *news) {
  fs_carrier *threads = ((const mixed_carrier *)carrier)->side[1].carrier;
  threads->functions->hear(threads, news);
}

static void leave_baton(void *user) {
  const mixed_side *s = user;
  s->of->options.leave(s->of->options.user);
}

static void take_back(void *user, uint32_t worker, const char *cause) {
  const mixed_side *s = user;
  s->of->options.returned(s->of->options.user, s->worker[worker], cause);
}

static void lose_worker(void *user, uint32_t worker, const char *cause) {
  const mixed_side *s = user;
  s->of->options.lost(s->of->options.user, s->worker[worker], cause);
}

static void destroy_both(fs_carrier *carrier) {
  mixed_carrier *c = (mixed_carrier *)carrier;
  for (int i = 1; i >= 0; i--) {
    fs_carrier *of = c->side[i].carrier;
    if (of != NULL) {
      of->functions->destroy(of);
    }
  }
  fs_arena arena = c->arena; /* holds c itself */
  fs_arena_release(&arena);
}

static fs_status deal_out(mixed_carrier *c) {
  uint32_t n = c->options.n_workers;
  bool *host;
  FS_TRY(fs_new(&c->arena, &host, n));
  FS_TRY(fs_new(&c->arena, &c->place, n));
  memcpy(host, c->options.host, n * sizeof *host);
  c->host = host;
  for (int i = 0; i < 2; i++) {
    c->side[i].of = c;
    FS_TRY(fs_new(&c->arena, &c->side[i].worker, n));
  }
  for (uint32_t w = 0; w < n; w++) {
    mixed_side *s = &c->side[host[w]];
    c->place[w] = s->n;
    s->worker[s->n++] = w;
  }
  return FSCHED_OK;
}

static fs_status make_both(fsched_context *ctx, mixed_carrier *c,
                           const fs_process_options *process) {
  fs_carrier_options o = c->options;
  FS_TRY(deal_out(c));
  o.leave = leave_baton;
  o.returned = take_back;
  o.lost = lose_worker;
  o.n_workers = c->side[0].n;
  o.user = &c->side[0];
  FS_TRY(fs_carrier_processes(ctx, &o, process, &c->side[0].carrier));
  o.n_workers = c->side[1].n;
  o.user = &c->side[1];
  o.heap_bytes = o.shared_bytes = 0;
  FS_TRY(fs_carrier_threads(ctx, &o, &c->side[1].carrier));
  c->carrier.spawned = c->side[0].carrier->spawned;
  c->carrier.heap = c->side[0].carrier->heap;
  c->carrier.shared = c->side[0].carrier->shared;
  return FSCHED_OK;
}

static uint32_t count_host(const fs_carrier_options *o) {
  uint32_t n = 0;
  for (uint32_t w = 0; w < o->n_workers && o->host != NULL; w++) {
    n += o->host[w];
  }
  return n;
}

fs_status fs_carrier_mixed(fsched_context *ctx, const fs_carrier_options *options,
                           const fs_process_options *process, fs_carrier **out) {
  static const fs_carrier_functions functions = {accept_call, start_member, hear_threads,
                                                 destroy_both};
  uint32_t n_host = count_host(options);
  *out = NULL;
  if (n_host == 0 || n_host == options->n_workers) {
    return n_host == 0 ? fs_carrier_processes(ctx, options, process, out)
                       : fs_carrier_threads(ctx, options, out);
  }
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  mixed_carrier *c;
  fs_status status = fs_new_zero(&arena, &c, 1);
  if (status != FSCHED_OK) {
    fs_arena_release(&arena);
    return status;
  }
  *c = (mixed_carrier){.carrier = {.functions = &functions}, .arena = arena, .options = *options};
  status = make_both(ctx, c, process);
  if (status != FSCHED_OK) {
    destroy_both(&c->carrier);
    return status;
  }
  *out = &c->carrier;
  return FSCHED_OK;
}
