/* SPDX-License-Identifier: Apache-2.0 */
/* Workers that were not forked.  What they need of an instance lies at the begin of the memory that
 * they share, without pointers:
 *
 *     | header | the program | directory of modules | what all write |
 *
 * The submitting process writes it before it submits anything; a worker makes an instance of its
 * own when its first member comes. */
#include <stdio.h>
#include <sys/mman.h>

#include "base/context.h"
#include "base/process.h"
#include "base/saturate.h"
#include "exec/dynamic/program/program.h"
#include "exec/host/timeline.h"

typedef struct program_header {
  uint64_t stream, stream_bytes; /* offsets, from here; bytes */
  uint64_t modules, modules_bytes;
  uint64_t shared;
  uint64_t pace_ps;
  uint32_t n_hands, n_gangs;
  uint32_t trusts, empty, has_modules, unused;
} program_header;

/* The file that a stream is used in place of. */
static const unsigned char *file_of(const fs_stream *s) {
  return (const unsigned char *)(const void *)s->meta - sizeof(fs_stream_header);
}

static uint64_t file_bytes(const fs_stream *s) {
  fs_stream_header h;
  memcpy(&h, file_of(s), sizeof h);
  return h.file_size;
}

/* Lays out what is shared, of which the rest is known. */
static uint64_t lay_out(program_header *h, uint64_t shared_bytes) {
  h->stream = fs_heap_rounded(sizeof *h, FS_LINE);
  h->modules = fs_heap_rounded(fs_add_most(h->stream, h->stream_bytes), FS_LINE);
  h->shared = fs_heap_rounded(fs_add_most(h->modules, h->modules_bytes), FS_LINE);
  return fs_heap_rounded(fs_add_most(h->shared, shared_bytes), FS_LINE);
}

static program_header header_of(const fs_instance *x) {
  const char *modules = x->options->modules;
  return (program_header){.stream_bytes = file_bytes(x->stream),
                          .modules_bytes = modules == NULL ? 0 : strlen(modules) + 1,
                          .pace_ps = x->config.pace_ps,
                          .n_hands = x->n_hands,
                          .n_gangs = x->n_gangs,
                          .trusts = x->options->trust_modules != 0,
                          .empty = x->config.empty,
                          .has_modules = modules != NULL};
}

uint64_t fs_program_share_bytes(const fs_instance *x) {
  program_header h = header_of(x);
  return lay_out(&h, x->shared_bytes);
}

fs_status fs_program_share(fs_instance *x) {
  assert(x->workers != NULL && x->spawns);
  program_header h = header_of(x);
  uint64_t bytes = lay_out(&h, x->shared_bytes);
  unsigned char *at;
  FS_TRY(fs_workers_memory(x->workers, bytes, &at));
  memcpy(at, &h, sizeof h);
  memcpy(at + h.stream, file_of(x->stream), h.stream_bytes);
  if (h.has_modules != 0) {
    memcpy(at + h.modules, x->options->modules, h.modules_bytes);
  }
  memcpy(at + h.shared, x->shared, x->shared_bytes);
  (void)munmap(x->shared_at, x->shared_bytes);
  x->shares = true;
  x->shared_at = at + h.shared;
  fs_program_place_shared(x);
  for (uint32_t i = 0; i < x->n_hands; i++) {
    x->hand_room[i].hand = &x->hand[i];
  }
  return FSCHED_OK;
}

/* ---- in a worker */

static fs_status load_stream(fsched_context *ctx, fs_instance *x, const program_header *h,
                             const unsigned char *shared) {
  fsched_program *program;
  FS_TRY(fsched_program_load(ctx, "the program", shared + h->stream, h->stream_bytes, &program));
  x->stream = &program->view; /* as long as the process */
  return FSCHED_OK;
}

static fs_status make_attached(fs_program_attached *a) {
  fsched_context *ctx = a->ctx;
  fs_instance *x = &a->x;
  unsigned char *shared = a->shared;
  program_header h;
  fsched_device_options *o;
  memcpy(&h, shared, sizeof h);
  fs_arena_init(&x->arena, ctx);
  FS_TRY(load_stream(ctx, x, &h, shared));
  FS_TRY(fs_new_zero(&x->arena, &o, 1));
  *o = (fsched_device_options){.size = sizeof *o,
                               .kind = "dynamic",
                               .trust_modules = h.trusts != 0,
                               .kernel_runs = a->kernel_runs,
                               .runs_user = a->runs_user};
  o->modules = h.has_modules != 0 ? (const char *)shared + h.modules : NULL;
  x->ctx = ctx;
  x->options = o;
  x->processes = true;
  x->config = (fs_backend_config){.pace_ps = h.pace_ps, .empty = h.empty != 0};
  x->n_hands = h.n_hands;
  x->n_gangs = h.n_gangs;
  x->shared_at = shared + h.shared;
  fs_program_place_shared(x);
  return fs_program_learn(ctx, x);
}

int fs_program_serve(const fs_started_member *member, void *user) {
  fs_program_attached *a = user;
  if (!a->tried) {
    a->tried = true;
    a->status = make_attached(a);
  }
  return a->status == FSCHED_OK ? fs_program_run(member, &a->x) : FSCHED_CAUSE_SYSTEM;
}
