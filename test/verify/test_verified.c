/* SPDX-License-Identifier: Apache-2.0 */
/* Verified programs compute what they should.  Programs are changed in several ways at once
 * (edit.h), and whatever passes both the check of its form and the verifier is replayed, on the
 * processors and in a simulation with adversarial durations.  It has to compute what its ops say:
 * every op's output is compared with the library's own sequential evaluation, every output file's
 * bytes with one that shares nothing with it (evaluate.h).
 *
 * FSCHED_MUTANTS=N goes on until N changed programs have been replayed, FSCHED_SEED=S begins with
 * other programs; the counts are printed.  What fails is kept in verified-fault.fsb. */
#include <stdio.h>
#include <stdlib.h>
#include "kit/quick.h"

#include "fsched/compile.h"
#include "fsched/replay.h"
#include "fsched/verify.h"
#include "kit/evaluate.h"
#include "kit/mutate/mutate.h"
#include "kit/resync.h"
#include "kit/suite.h"
#include "kit/turn.h"
#include "model/stream/order.h"
#include "model/sync.h"
#include "verify/edit.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { ENOUGH = 150 };
#else
enum { ENOUGH = 1200 };
#endif
/* Each turn has a range of seeds of its own, of this size. */
enum { OF_A_TURN = 1000 };
/* The test makes at least so many changes of each kind. */
enum { EVERY_EDIT = 1000 };
enum { EACH = 300, MOST_EDITS = 4, MOST_BYTES = 1 << 16, MOST_COMMANDS = 64, TOLD = 20000 };

typedef struct verified_counts {
  uint64_t made, malformed, refuted, repaired, too_large, no_kernel, equal, bytes;
  uint64_t by_edit[FS_EDIT_COUNT];
} verified_counts;

typedef struct verified_trial {
  fsched_context *ctx;
  const fsched_program *base;
  fsched_device *sim;
  uint64_t seed, index;
  uint32_t edits; /* which edits were made, as bits */
  verified_counts *n;
} verified_trial;

static const char *said(const verified_trial *t) {
  uint32_t n = fsched_diag_count(t->ctx);
  return n == 0 ? "nothing reported" : fsched_diag_get(t->ctx, 0)->message;
}

static void keep_fault(const fsched_program *p) {
  size_t size;
  const void *bytes = fsched_program_bytes(p, &size);
  FILE *f = fopen("verified-fault.fsb", "wb");
  if (f != NULL) {
    (void)!fwrite(bytes, 1, size, f);
    (void)fclose(f);
  }
}

static void give_up(const verified_trial *t, const fsched_program *p, const char *on,
                    const char *what) {
  keep_fault(p);
  ck_abort_msg("seed %llu, mutant %llu, %s: %s (kept in verified-fault.fsb)",
               (unsigned long long)t->seed, (unsigned long long)t->index, on, what);
}

/* --- replay --- */

typedef struct bound {
  fsched_binding *binding;
  uint32_t n;
} bound;

static bound bind_all(const fs_stream *s) {
  bound b = {calloc((size_t)s->n_buffers + 1, sizeof *b.binding), 0};
  for (uint32_t i = 0; i < s->n_buffers; i++) {
    const fs_stream_buffer *x = &s->buffers[i];
    if (x->io == FSCHED_IO_INPUT || x->io == FSCHED_IO_CONSTANT || x->io == FSCHED_IO_OUTPUT) {
      fsched_binding *to = &b.binding[b.n++];
      *to = (fsched_binding){
          .buffer = fs_stream_string(s, x->name), .data = calloc(x->size + 1, 1), .bytes = x->size};
      if (x->io != FSCHED_IO_OUTPUT) {
        fs_evaluate_input(i, to->data, x->size);
      }
    }
  }
  return b;
}

static void unbind(bound *b) {
  for (uint32_t i = 0; i < b->n; i++) {
    free(b->binding[i].data);
  }
  free(b->binding);
}

static void compare_outputs(const verified_trial *t, const fsched_program *p, const char *on,
                            const bound *b, uint32_t invocations) {
  const fs_stream *s = &p->view;
  fs_evaluated *want = fs_evaluate(s, invocations);
  uint32_t at = 0;
  for (uint32_t i = 0; i < s->n_buffers; i++) {
    uint32_t io = s->buffers[i].io;
    bool has = io == FSCHED_IO_INPUT || io == FSCHED_IO_CONSTANT || io == FSCHED_IO_OUTPUT;
    const uint8_t *got = has ? b->binding[at++].data : NULL;
    for (uint64_t k = 0; io == FSCHED_IO_OUTPUT && k < s->buffers[i].size; k++) {
      if (want[i].data != NULL && want[i].defined[k]) {
        t->n->bytes++;
        if (got[k] != want[i].data[k]) {
          give_up(t, p, on, fs_stream_string(s, s->buffers[i].name));
        }
      }
    }
  }
  fs_evaluate_free(s, want);
}

/* Returns false where this library has no such kernel, or where the program needs more memory than
 * it may use. */
static bool replay(const verified_trial *t, const fsched_program *p, fsched_device *device,
                   const char *on, uint32_t invocations) {
  bound b = bind_all(&p->view);
  fsched_replay_options o = {.size = sizeof o,
                             .check = p->view.n_races == 0,
                             .repeat = invocations,
                             .memory_limit_log2 = 24,
                             .device = device,
                             .bindings = b.binding,
                             .n_bindings = b.n};
  fs_status status = fsched_replay(t->ctx, p, &o, NULL);
  const char *code = status == FSCHED_OK ? "" : fsched_diag_get(t->ctx, 0)->code;
  bool kernel = strcmp(code, "replay-kernel") == 0;
  if (status != FSCHED_OK && !kernel) {
    give_up(t, p, on, said(t));
  }
  if (status == FSCHED_OK && p->view.n_races == 0) {
    compare_outputs(t, p, on, &b, invocations);
  }
  unbind(&b);
  return !kernel;
}

static bool small(const fs_stream *s) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < s->n_memories; i++) {
    bytes += fs_min(s->memories[i].extent, MOST_BYTES + 1);
  }
  for (uint32_t i = 0; i < s->n_buffers; i++) {
    bytes += fs_min(s->buffers[i].size, MOST_BYTES + 1);
  }
  return bytes <= MOST_BYTES;
}

/* Does an op that claims to overwrite given content write nothing? Then the bytes are what lay
 * there before, or what was given; no rule says which. */
static bool writes_nothing(const fs_stream *s) {
  for (uint32_t i = 0; i < s->n_ops; i++) {
    const fs_stream_op *op = &s->ops[i];
    const char *builtin =
        op->kernel == FS_NONE ? NULL : fs_stream_string(s, s->kernels[op->kernel].builtin);
    for (uint32_t a = op->arg0; a < op->arg0 + op->n_args; a++) {
      uint32_t v = s->args[a].buffer == FS_NONE ? FS_NONE : s->args[a].version;
      if (builtin != NULL && strcmp(builtin, "nop") == 0 && v != FS_NONE &&
          fs_tag_writes(s->args[a].tag) && s->versions[v].given_memory != FS_NONE) {
        return true;
      }
    }
  }
  return false;
}

static void replay_verified(const verified_trial *t, const fsched_program *p) {
  if (!small(&p->view)) {
    t->n->too_large++;
    return;
  }
  if (writes_nothing(&p->view)) {
    t->n->no_kernel++;
    return;
  }
  uint32_t invocations = 1 + t->index % 2;
  if (!replay(t, p, NULL, "on the CPU", invocations) ||
      !replay(t, p, t->sim, "in a simulation", 1)) {
    t->n->no_kernel++;
    return;
  }
  t->n->equal++;
  for (uint32_t e = 0; e < FS_EDIT_COUNT; e++) {
    t->n->by_edit[e] += t->edits >> e & 1;
  }
}

/* --- changes --- */

/* Passes a copy through the check of the form: returns a program as it would be loaded, or NULL. */
static fsched_program *load(const verified_trial *t, const fsched_program *copy) {
  fsched_program *made = fs_edit_bytes(t->ctx, copy), *p = NULL;
  size_t size;
  const void *bytes = fsched_program_bytes(made, &size);
  fs_status status = fsched_program_load(t->ctx, "mutant", bytes, size, &p);
  ck_assert(status == FSCHED_OK || status == FSCHED_BAD_INPUT);
  ck_assert((status == FSCHED_OK) == (fsched_diag_count(t->ctx) == 0));
  fsched_program_destroy(made);
  return p;
}

static bool verified(const verified_trial *t, const fsched_program *p) {
  fs_status status = fsched_verify_program(t->ctx, p, NULL);
  ck_assert(status == FSCHED_OK || status == FSCHED_WRONG);
  fsched_diag_clear(t->ctx);
  return status == FSCHED_OK;
}

static void judge(verified_trial *t, fsched_program *copy) {
  fsched_program *p = load(t, copy);
  fsched_diag_clear(t->ctx);
  if (p == NULL) {
    t->n->malformed++;
    return;
  }
  bool ok = verified(t, p);
  if (!ok && p->view.n_commands <= MOST_COMMANDS) { /* once more, with frontiers that fit */
    fsched_program_destroy(p);
    fs_mutant_repair(copy);
    p = load(t, copy);
    ok = p != NULL && verified(t, p);
    t->n->repaired += ok;
    fsched_diag_clear(t->ctx);
  }
  t->n->refuted += !ok;
  if (ok) {
    replay_verified(t, p);
    fsched_diag_clear(t->ctx);
  }
  fsched_program_destroy(p);
}

static void one_mutant(verified_trial *t) {
  fs_rng rng = {t->seed * UINT64_C(1000003) + t->index};
  fsched_program *copy = fs_mutant_copy(t->base);
  uint32_t n = 1 + fs_rng_below(&rng, MOST_EDITS);
  t->edits = 0;
  for (uint32_t i = 0; i < n; i++) {
    fs_edit e = (fs_edit)fs_rng_below(&rng, FS_EDIT_COUNT);
    t->edits |= fs_edit_program(copy, e, &rng) ? 1u << e : 0;
  }
  if (t->edits != 0) {
    t->n->made++;
    judge(t, copy);
  }
  fs_mutant_free(copy);
}

/* --- programs --- */

/* Given content is overwritten as a whole and then read in part, so nobody sees it. */
static fsched_graph *unseen_content(fsched_context *ctx) {
  static const char text[] =
      "fsched: 1\nname: g\ntarget: {queues: [{name: p}, {name: q}], memories: [{name: m}]}\n"
      "buffers:\n  - {name: s, size: 6, io: state}\n  - {name: i, size: 9, io: input}\n"
      "ops:\n  - {name: w, args: [{out_existing: s}]}\n"
      "  - {name: v, args: [{out_existing: i}]}\n"
      "  - {name: r, args: [{in: s, at: [3, 1]}, {in: i, at: [4, 2]}, {out: t, size: 3}]}\n"
      "  - {name: e, args: [{in: i, at: [7, 2]}, {in: t}, {out: u, size: 3}]}\n";
  fsched_graph *g;
  ck_assert_int_eq(fsched_graph_parse(ctx, "g", text, sizeof text - 1, NULL, &g), FSCHED_OK);
  return g;
}

static fsched_graph *make_graph(fsched_context *ctx, uint64_t seed) {
  if (seed % 16 == 2) {
    return unseen_content(ctx);
  }
  fs_gen_params params = fs_gen_any(seed, 9);
  params.views = params.ats;
  params.class_gangs = seed % 3 == 1;
  params.members = params.gangs;
  fsched_graph *g = NULL;
  params.io = true;
  params.n_queues = (uint32_t)fs_min(params.n_queues, 4);
  params.backing = seed % 3 != 0;
  params.raw = seed % 7 == 0;
  params.max_size = seed % 2 == 0 ? 24 : 8;
  params.align = seed % 4 == 0 ? 4 : 1;
  params.tightness = seed % 2 == 0 ? 1.0 : 2.0;
  params.latencies = seed % 4 == 1; /* these keep their timelines */
  return fs_gen_graph(ctx, &params, &g) == FSCHED_OK ? g : NULL;
}

/* Makes a program of any kind of sync, with the built-in kernels in it; NULL: none for this
 * seed. */
static fsched_program *make_base(fsched_context *ctx, uint64_t seed) {
  fsched_graph *g = make_graph(ctx, seed);
  fsched_program *p = NULL, *base = NULL;
  if (g != NULL && fsched_compile(ctx, g, &fs_quick, NULL, &p) == FSCHED_OK &&
      p->view.n_commands <= MOST_COMMANDS) {
    if (seed % 4 == 3 && p->view.n_races == 0) {
      fs_sync_kind kind = seed % 8 == 3 ? FS_SYNC_BARRIER : FS_SYNC_BLOCK;
      fsched_program *other = fs_resync(ctx, &p->view, kind, seed);
      fsched_program_destroy(p);
      p = other;
    }
    base = fs_edit_with_kernels(ctx, p);
    fsched_diag_clear(ctx);
  }
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
  return base;
}

/* Makes as many buffers outputs as there can be, so that files show what ops compute. */
static const fsched_program *with_outputs(fsched_context *ctx, fsched_program *base) {
  for (uint32_t b = 0; base != NULL && b < base->view.n_buffers; b++) {
    fsched_program *copy = fs_mutant_copy(base), *more = NULL;
    if (base->view.buffers[b].io == FSCHED_IO_NONE && fs_edit_io(copy, b, FSCHED_IO_OUTPUT)) {
      more = fs_edit_bytes(ctx, copy);
    }
    if (more != NULL && fsched_verify_program(ctx, more, NULL) == FSCHED_OK) {
      fsched_program *less = base;
      base = more;
      more = less;
    }
    fsched_diag_clear(ctx);
    fsched_program_destroy(more);
    fs_mutant_free(copy);
  }
  return base;
}

static void mutate_base(uint64_t seed, uint64_t enough, verified_counts *n) {
  fsched_context *ctx;
  const fsched_context_options options = {.size = sizeof options, .max_errors = 1};
  ck_assert_int_eq(fsched_context_create(&options, &ctx), FSCHED_OK);
  verified_trial t = {
      .ctx = ctx, .seed = seed, .n = n, .base = with_outputs(ctx, make_base(ctx, seed))};
  fsched_device_options sim = {.size = sizeof sim,
                               .kind = "sim",
                               .durations = FSCHED_DURATIONS_ADVERSARIAL,
                               .memory_limit = MOST_BYTES << 4,
                               .seed = seed};
  ck_assert_int_eq(fsched_device_create(ctx, &sim, &t.sim), FSCHED_OK);
  if (t.base != NULL) {
    ck_assert_msg(fsched_verify_program(ctx, t.base, NULL) == FSCHED_OK, "seed %llu: %s",
                  (unsigned long long)seed, said(&t));
    replay_verified(&t, t.base);
    for (t.index = 0; t.index < EACH && n->equal < enough; t.index++) {
      one_mutant(&t);
    }
  }
  fsched_device_release(t.sim);
  fsched_program_destroy((fsched_program *)(uintptr_t)t.base);
  fsched_context_destroy(ctx);
}

static uint64_t number_of(const char *variable, uint64_t usual) {
  const char *text = getenv(variable);
  return text == NULL ? usual : strtoull(text, NULL, 10);
}

static void tell(const verified_counts *n, uint64_t seed) {
  printf(
      "verified: seed %llu: %llu changed programs: %llu malformed, %llu refuted, %llu verified "
      "(%llu with new frontiers): %llu equal with %llu output bytes, %llu too large, %llu "
      "without a kernel\n",
      (unsigned long long)seed, (unsigned long long)n->made, (unsigned long long)n->malformed,
      (unsigned long long)n->refuted, (unsigned long long)(n->equal + n->too_large + n->no_kernel),
      (unsigned long long)n->repaired, (unsigned long long)n->equal, (unsigned long long)n->bytes,
      (unsigned long long)n->too_large, (unsigned long long)n->no_kernel);
  (void)fflush(stdout);
}

static bool every_edit_verified(const verified_counts *n) {
  bool every = true;
  for (unsigned e = 0; e < FS_EDIT_COUNT; e++) {
    every = every && n->by_edit[e] > 0;
  }
  return every;
}

/* This goes on until each kind of change has been verified, which for some happens once in a
 * thousand. */
START_TEST(verified_is_equal)
{
  verified_counts n = {0};
  uint64_t enough = number_of("FSCHED_MUTANTS", ENOUGH),
           seed = number_of("FSCHED_SEED", 1 + fs_turn() * OF_A_TURN);
  bool told = getenv("FSCHED_MUTANTS") != NULL;
  uint64_t most = enough >= EVERY_EDIT ? 5 * enough : enough;
  for (uint64_t next = TOLD; n.equal < enough || (n.equal < most && !every_edit_verified(&n));
       seed++) {
    mutate_base(seed, n.equal < enough ? enough : most, &n);
    if (told && n.equal >= next) {
      tell(&n, seed);
      next += TOLD;
    }
  }
  if (told) {
    tell(&n, seed);
  }
  fs_assert_seen(n.refuted, n.equal / 10);
  for (unsigned e = 0; enough >= EVERY_EDIT && e < FS_EDIT_COUNT; e++) {
    ck_assert_msg(n.by_edit[e] > 0, "%s: never verified", fs_edit_name((fs_edit)e));
  }
}
END_TEST

FS_SUITE(verified, s) {
  TCase *t = fs_case(s, NULL);
  tcase_set_timeout(t, getenv("FSCHED_MUTANTS") != NULL ? 0 : 120);
  FS_TESTS(t, verified_is_equal);
}
