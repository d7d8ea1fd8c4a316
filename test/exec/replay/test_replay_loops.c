/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that stay loops: byte for byte what their unrolling writes, on threads and in simulations
 * with durations of all kinds. */
#include <stdlib.h>
#include <string.h>

#include "fsched/compile.h"
#include "fsched/replay.h"
#include "fsched/verify.h"
#include "kit/chain_gen.h"
#include "kit/issue_judge.h"
#include "kit/nest_gen.h"
#include "kit/turn.h"
#include "model/stream/views.h"

#include "codegen/stream_kit.h"
#include "exec/replay/outputs.h"
#include "kit/context.h"
#include "kit/gen.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { GRAPHS = 50 };
#else
enum { GRAPHS = 250 };
#endif

typedef struct loop_counts {
  uint32_t right, refused; /* by the unrolled compilation; `too_large`: only as a loop */
  uint32_t unrolled, too_large;
  uint32_t in_slots; /* something is given or kept in one of several slots */
  uint32_t joined;   /* a loop has joined runs */
} loop_counts;

static fs_status compile(const char *name, const char *text, bool unroll, fsched_program **out) {
  fsched_read_options o = {.size = sizeof o, .unroll = unroll};
  fsched_compile_options c = {.size = sizeof c, .effort = FSCHED_EFFORT(0), .verify = 1};
  fsched_graph *g;
  *out = NULL;
  fs_status status = fsched_graph_parse(ctx, name, text, strlen(text), &o, &g);
  if (status == FSCHED_OK) {
    status = fsched_compile(ctx, g, &c, NULL, out);
    fsched_graph_destroy(g);
  }
  return status;
}

/* The outputs of the last invocation, which the caller drops. */
static fs_outputs replay(uint64_t seed, const fsched_program *p, fsched_device *device,
                         uint32_t threads) {
  fs_outputs out = fs_outputs_of(p);
  fsched_replay_options o = {.size = sizeof o, .check = 1, .device = device, .threads = threads};
  fsched_replay_result r = {.size = sizeof r};
  o.bindings = out.at;
  o.n_bindings = out.n;
  o.repeat = 1 + seed % 3;
  fs_status status = fsched_replay(ctx, p, &o, &r);
  ck_assert_msg(status == FSCHED_OK, "seed %lu: %s", (unsigned long)seed,
                fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "");
  ck_assert_uint_gt(r.checked_ops, 0);
  return out;
}

/* Runs it, without a look at what comes out. */
static void replay_checked(uint64_t seed, const fsched_program *p, fsched_device *device,
                           uint32_t threads) {
  fs_outputs out = replay(seed, p, device, threads);
  fs_outputs_drop(&out);
}

/* Drops what came out. */
static void must_equal(uint64_t seed, const fs_outputs *want, fs_outputs got, const char *on) {
  ck_assert_msg(fs_outputs_same(want, &got), "seed %lu: other bytes on %s", (unsigned long)seed,
                on);
  fs_outputs_drop(&got);
}

static void replay_simulated(uint64_t seed, const fsched_program *p, const fs_outputs *want) {
  for (int kind = FSCHED_DURATIONS_PLANNED; kind <= FSCHED_DURATIONS_ADVERSARIAL; kind++) {
    fsched_device_options o = {.size = sizeof o, .kind = "sim"};
    fsched_device *device;
    o.durations = (fsched_durations)kind;
    o.seed = seed;
    ck_fs(ctx, fsched_device_create(ctx, &o, &device));
    must_equal(seed, want, replay(seed, p, device, 0), "the simulation");
    fsched_device_release(device);
  }
}

static bool is_unrolled(void) {
  bool found = false;
  for (uint32_t i = 0; i < fsched_diag_count(ctx) && !found; i++) {
    found = strcmp(fsched_diag_get(ctx, i)->code, "unrolled") == 0;
  }
  return found;
}

/* The ops that need too much, each once, as the diagnostics say in unrolled graphs ("op 'a[0]'") or
 * in others ("op 'a'"): of ten ops of digits, as bits. */
static uint32_t ops_that_need_too_much(void) {
  uint32_t ops = 0;
  for (size_t i = 0; i < fsched_diag_count(ctx); i++) {
    const fsched_diag *d = fsched_diag_get(ctx, i);
    const char *name = strstr(d->message, "op 'o");
    bool too_much = strcmp(d->code, "uses-too-much") == 0 || strcmp(d->code, "does-not-fit") == 0;
    ops |= too_much && name != NULL ? 1u << (name[5] - '0') : 0;
  }
  return ops;
}

/* What means nothing, unrolled, means nothing as a loop, but that a state has slots there.  What
 * can't be because of what single ops need can't be as a loop, because of the same ops. */
static void compare_refused(uint64_t seed, fs_status status, const char *text) {
  static const char state[] = "the given content of state";
  fsched_program *loop;
  bool in_slots = strncmp(fsched_diag_get(ctx, fsched_diag_count(ctx) - 1)->message, state,
                          sizeof state - 1) == 0;
  uint32_t ops = ops_that_need_too_much();
  bool amounts = strstr(text, "{L: 5}") != NULL || strstr(text, "{cmx: 70000}") != NULL;
  fsched_diag_clear(ctx);
  fs_status as_loop = compile("loop.yaml", text, false, &loop);
  ck_assert_msg(in_slots || status != FSCHED_BAD_INPUT || as_loop != FSCHED_OK, "seed %lu",
                (unsigned long)seed);
  if (status == FSCHED_INFEASIBLE && amounts && ops != 0) {
    uint32_t bits = ops_that_need_too_much();
    ck_assert_msg(as_loop == FSCHED_INFEASIBLE && bits == ops,
                  "seed %lu: status %d, ops %x, not %x", (unsigned long)seed, as_loop,
                  (unsigned)bits, (unsigned)ops);
  }
  fsched_program_destroy(loop);
}

static bool has_io_in_slots(const fs_stream *s) {
  bool found = false;
  for (uint32_t b = 0; b < s->n_buffers && !found; b++) {
    found = fs_io_said(s->buffers[b].io) && s->buffers[b].io_size < s->buffers[b].size;
  }
  return found;
}

static bool has_joined(const fs_stream *s) {
  bool found = false;
  for (uint32_t l = 0; l < s->n_loops && !found; l++) {
    found = s->loops[l].joined != 0;
  }
  return found;
}

static void compare(uint64_t seed, const char *text, loop_counts *counts) {
  fsched_program *flat, *loop;
  fs_outputs want;
  fs_status unrolled = compile("unrolled.yaml", text, true, &flat);
  if (unrolled != FSCHED_OK) {
    counts->refused++;
    compare_refused(seed, unrolled, text);
    return;
  }
  fs_status status = compile("loop.yaml", text, false, &loop);
  if (status != FSCHED_OK) {
    ck_assert_msg(status == FSCHED_INFEASIBLE, "seed %lu: status %d: %s", (unsigned long)seed,
                  status, fsched_diag_get(ctx, 0)->message);
    counts->too_large++;
    fsched_program_destroy(flat);
    return;
  }
  counts->unrolled += is_unrolled();
  ck_assert_msg(!is_unrolled() || loop->view.n_loop_commands == 0, "seed %lu", (unsigned long)seed);
  if (fs_sync_has_stops(loop->view.meta->sync)) {
    ck_assert_msg(fs_issue_stream_is_right(&loop->view), "seed %lu", (unsigned long)seed);
  }
  want = replay(seed, flat, NULL, 0);
  must_equal(seed, &want, replay(seed, loop, NULL, (uint32_t)(seed % 3)), "threads");
  replay_simulated(seed, loop, &want);
  fs_outputs_drop(&want);
  counts->right += !is_unrolled();
  counts->in_slots += has_io_in_slots(&loop->view);
  counts->joined += has_joined(&loop->view);
  fsched_program_destroy(flat);
  fsched_program_destroy(loop);
}

static loop_counts compare_all(uint64_t part, void (*generate)(uint64_t, fs_text *)) {
  loop_counts counts = {0};
  for (uint64_t k = 0; k < GRAPHS; k++) {
    uint64_t seed = (fs_turn() * 10 + part) * GRAPHS + k;
    fs_text t;
    fs_text_init(&t, ctx);
    generate(seed, &t);
    fs_text_add(&t, "", 1);
    ck_assert(!t.failed);
    compare(seed, t.at, &counts);
    fs_text_drop(&t);
    fsched_diag_clear(ctx);
  }
  return counts;
}

START_TEST(as_unrolled)
{
  loop_counts counts = compare_all((uint64_t)_i, fs_loop_gen);
  fs_assert_seen(counts.right, GRAPHS / 2);
  ck_assert_uint_lt(counts.unrolled, GRAPHS / 20 + 3);
  ck_assert_uint_lt(counts.too_large, GRAPHS / 20 + 3);
}
END_TEST

START_TEST(joined_as_unrolled)
{
  loop_counts counts = compare_all((uint64_t)_i, fs_nest_gen_joined);
  fs_assert_seen(counts.right, GRAPHS / 2);
  ck_assert_uint_lt(counts.unrolled, GRAPHS / 20 + 3);
}
END_TEST

/* So are those whose barriers count the iterations of all runs, often enough. */
START_TEST(joined_barred_as_unrolled)
{
  loop_counts counts = compare_all(30 + (uint64_t)_i, fs_nest_gen_joined_barriers);
  fs_assert_seen(counts.right, GRAPHS / 2);
  fs_assert_seen(counts.joined, GRAPHS / 8);
  ck_assert_uint_lt(counts.unrolled, GRAPHS / 20 + 3);
}
END_TEST

/* Values that loops hand on to each other, which stay loops. */
START_TEST(chains_as_unrolled)
{
  loop_counts counts = compare_all(20 + (uint64_t)_i, fs_chain_gen);
  fs_assert_seen(counts.right, GRAPHS / 3);
  ck_assert_uint_lt(counts.unrolled, GRAPHS / 50);
}
END_TEST

START_TEST(nested_as_unrolled)
{
  loop_counts counts = compare_all((uint64_t)_i, fs_nest_gen);
  fs_assert_seen(counts.right, GRAPHS / 3);
  ck_assert_uint_lt(counts.unrolled, GRAPHS / 8);
  ck_assert_uint_lt(counts.too_large, GRAPHS / 10 + 3);
}
END_TEST

static void keep_loops(uint64_t seed, fs_text *t) {
  fs_loop_gen(seed, t);
  fs_loop_gen_keep(seed, t);
}
static void keep_nests(uint64_t seed, fs_text *t) {
  fs_nest_gen(seed, t);
  fs_loop_gen_keep(seed, t);
}
static void keep_joined(uint64_t seed, fs_text *t) {
  fs_nest_gen_joined(seed, t);
  fs_loop_gen_keep(seed, t);
}
static void keep_chains(uint64_t seed, fs_text *t) {
  fs_chain_gen(seed, t);
  fs_loop_gen_keep(seed, t);
}
static void keep_barred(uint64_t seed, fs_text *t) {
  fs_loop_gen_barriers(seed, t);
  fs_loop_gen_keep(seed, t);
}
static void keep_synced(uint64_t seed, fs_text *t) {
  fs_nest_gen_syncs(seed, t);
  fs_loop_gen_keep(seed, t);
}
static void (*const keep[])(uint64_t seed, fs_text *t) = {keep_loops,  keep_nests,  keep_joined,
                                                          keep_chains, keep_barred, keep_synced};

/* Values of slots that are given, or kept, or both. */
START_TEST(kept_as_unrolled)
{
  loop_counts counts = compare_all(30 + (uint64_t)_i, keep[_i]);
  fs_assert_seen(counts.right, GRAPHS / 6);
  fs_assert_seen(counts.in_slots, GRAPHS / 8);
  ck_assert_uint_lt(counts.unrolled, GRAPHS / 12);
}
END_TEST

START_TEST(synced_as_unrolled)
{
  loop_counts counts = compare_all((uint64_t)_i, fs_loop_gen_syncs);
  fs_assert_seen(counts.right, GRAPHS / 2);
  ck_assert_uint_lt(counts.unrolled, GRAPHS / 20 + 3);
  ck_assert_uint_lt(counts.too_large, GRAPHS / 20 + 3);
}
END_TEST

START_TEST(synced_nests_as_unrolled)
{
  loop_counts counts = compare_all((uint64_t)_i, fs_nest_gen_syncs);
  fs_assert_seen(counts.right, GRAPHS / 3);
  ck_assert_uint_lt(counts.unrolled, GRAPHS / 8);
  ck_assert_uint_lt(counts.too_large, GRAPHS / 10 + 3);
}
END_TEST

START_TEST(barred_as_unrolled)
{
  loop_counts counts = compare_all((uint64_t)_i, fs_loop_gen_barriers);
  fs_assert_seen(counts.right, GRAPHS / 2);
  ck_assert_uint_lt(counts.unrolled, GRAPHS / 20 + 3);
  ck_assert_uint_lt(counts.too_large, GRAPHS / 20 + 3);
}
END_TEST

START_TEST(barred_nests_as_unrolled)
{
  loop_counts counts = compare_all((uint64_t)_i, fs_nest_gen_barriers);
  fs_assert_seen(counts.right, GRAPHS / 3);
  ck_assert_uint_lt(counts.unrolled, GRAPHS / 8);
  ck_assert_uint_lt(counts.too_large, GRAPHS / 10 + 3);
}
END_TEST

#define FEW_HEAD                                                                       \
  "fsched: 1\ntarget: {queues: [{name: q}, {name: r}]}\nbuffers:\n"                    \
  "  - {name: acc, size: 64}\n  - {name: one, size: 64}\n"                             \
  "  - {name: y, size: 4000, io: output}\n  - {name: z, size: 64, io: output}\nops:\n" \
  "  - {name: init, on: q, args: [{out: y}, {out: acc}]}\n"
#define FEW_BEHIND "  - {name: end, on: q, args: [{in: acc}, {out: z}]}\n"

/* Loops that end before they reach a distance: what further iterations would lose is there. */
START_TEST(few_as_unrolled)
{
  static const char *const text[] = {
      FEW_HEAD
      "  - loop: l\n    trip: 1\n    ops:\n"
      "      - {name: look, on: r, args: [{in: acc, distance: 2}, {out: one}]}\n"
      "      - {name: add, on: q, args: [{inout: acc}, {in: one}]}\n" FEW_BEHIND,
      FEW_HEAD
      "  - loop: o\n    trip: 3\n    ops:\n"
      "      - loop: l\n        trip: 1\n        ops:\n"
      "          - {name: look, on: r, args: [{in: acc, distance: 4}, {out: one}]}\n"
      "          - {name: add, on: q, args: [{in: one}, {inout: acc}]}\n" FEW_BEHIND,
      FEW_HEAD
      "  - loop: o\n    trip: 1\n    ops:\n"
      "      - {name: look, on: r, args: [{in: acc, distance: 2}, {out: one}]}\n"
      "      - loop: l\n        trip: 5\n        ops:\n"
      "          - {name: add, on: q, args: [{in: one}, {inout: acc}]}\n" FEW_BEHIND,
  };
  loop_counts counts = {0};
  compare((uint64_t)_i, text[_i], &counts);
  ck_assert_uint_eq(counts.right, 1);
}
END_TEST

/* Changes a dimension of a view, and as many bytes as it has then. */
static bool change_view(fs_stream_copy *k, const fs_stream *s, fs_rng *rng) {
  fs_stream_view *v = &k->loop_views[fs_rng_below(rng, s->n_loop_views)];
  uint32_t d = fs_rng_below(rng, v->n_dims);
  uint64_t *number = fs_rng_one_in(rng, 2) ? &v->shape[d] : &v->stride[d];
  *number += *number > 1 && fs_rng_one_in(rng, 2) ? UINT64_MAX : 1 + fs_rng_below(rng, 3);
  fs_view placed = fs_stream_placed(v, 0);
  k->loop_args[v->arg].length = fs_view_end(&placed);
  for (uint32_t i = 0; i < s->n_loop_places; i++) {
    if (k->loop_places[i].version != FS_NONE && k->loop_places[i].arg == v->arg) {
      k->loop_places[i].size = fs_view_end(&placed);
    }
  }
  return true;
}

/* Gives a member the first or last arg of the next one or before; whether there were two. */
static bool change_members(fs_stream_copy *k, const fs_stream *s, fs_rng *rng) {
  fs_stream_member *m = &k->loop_members[fs_rng_below(rng, s->n_loop_members)];
  if (m + 1 == k->loop_members + s->n_loop_members || m[0].arg0 + m[0].n_args != m[1].arg0) {
    return false;
  }
  bool more = fs_rng_one_in(rng, 2);
  if ((more ? m[1] : m[0]).n_args == 0) {
    return false;
  }
  m[0].n_args += more ? 1 : UINT32_MAX;
  m[1].n_args += more ? UINT32_MAX : 1;
  m[1].arg0 += more ? 1 : UINT32_MAX;
  return true;
}

/* Changes a number of a loop's body; whether there was one. */
static bool change(fs_stream_copy *k, const fs_stream *s, fs_rng *rng) {
  if (s->n_loop_views > 0 && fs_rng_one_in(rng, 3)) {
    return change_view(k, s, rng);
  }
  if (s->n_loop_members > 0 && fs_rng_one_in(rng, 3)) {
    return change_members(k, s, rng);
  }
  fs_stream_loop_wait *w =
      s->n_loop_waits == 0 ? NULL : &k->loop_waits[fs_rng_below(rng, s->n_loop_waits)];
  fs_stream_loop_command *c = &k->loop_commands[fs_rng_below(rng, s->n_loop_commands)];
  fs_stream_loop_arg *a = &k->loop_args[fs_rng_below(rng, s->n_loop_args)];
  switch (fs_rng_below(rng, 6)) {
    case 0:
      c->shift += c->shift > 0 && fs_rng_one_in(rng, 2) ? UINT32_MAX : 1;
      return true;
    case 1:
      a->back += a->back > 0 && fs_rng_one_in(rng, 2) ? UINT32_MAX : 1;
      return a->ring != FS_NONE;
    case 2:
      a->step += fs_rng_one_in(rng, 2) ? 16 : -16;
      return a->ring == FS_NONE && a->buffer != FS_NONE;
    default:
      if (w != NULL) {
        w->distance += w->distance > 0 && fs_rng_one_in(rng, 2) ? UINT32_MAX : 1;
      }
      return w != NULL;
  }
}

typedef struct mutant_counts {
  uint32_t malformed, refused, right;
} mutant_counts;

/* What verify accepts of a changed program does in every execution what its args mean. */
static void judge_mutant(uint64_t seed, const fsched_program *p, fs_rng *rng, mutant_counts *n) {
  fs_stream_copy k = fs_stream_copy_of(p);
  fsched_program *q = NULL;
  bool changed = change(&k, &p->view, rng);
  fs_stream_copy_sign(&k);
  if (!changed || fsched_program_load(ctx, "mutant.fsb", k.bytes, k.size, &q) != FSCHED_OK) {
    n->malformed++;
  } else if (fsched_verify_program(ctx, q, NULL) != FSCHED_OK) {
    n->refused++;
  } else {
    replay_checked(seed, q, NULL, 1 + (uint32_t)(seed % 3));
    replay_checked(seed, q, NULL, 0);
    fsched_device_options o = {.size = sizeof o, .kind = "sim", .seed = seed};
    fsched_device *device;
    o.durations = FSCHED_DURATIONS_ADVERSARIAL;
    ck_fs(ctx, fsched_device_create(ctx, &o, &device));
    replay_checked(seed, q, device, 0);
    fsched_device_release(device);
    n->right++;
  }
  fsched_program_destroy(q);
  fsched_diag_clear(ctx);
  free(k.bytes);
}

static void judge_mutants(uint64_t part, void (*generate)(uint64_t, fs_text *)) {
  mutant_counts counts = {0};
  for (uint64_t j = 0; j < GRAPHS; j++) {
    uint64_t seed = (fs_turn() * 10 + part) * GRAPHS + j;
    fs_rng rng = {seed};
    fsched_program *p;
    fs_text t;
    fs_text_init(&t, ctx);
    generate(seed, &t);
    fs_text_add(&t, "", 1);
    if (compile("nest.yaml", t.at, false, &p) == FSCHED_OK) {
      for (uint32_t i = 0; i < 10 && p->view.n_loops > 0; i++) {
        judge_mutant(seed, p, &rng, &counts);
      }
      fsched_program_destroy(p);
    }
    fs_text_drop(&t);
    fsched_diag_clear(ctx);
  }
  fs_assert_seen(counts.refused, GRAPHS / 4);
  fs_assert_seen(counts.right, GRAPHS / 4);
}

START_TEST(nested_mutants)
{ judge_mutants(5 + (uint64_t)_i, fs_nest_gen); }
END_TEST

START_TEST(chained_mutants)
{ judge_mutants(22 + (uint64_t)_i, fs_chain_gen); }
END_TEST

/* Changes a sync of a loop, or the places of two commands; whether there were some. */
static bool change_syncs(fs_stream_copy *k, const fs_stream *s, fs_rng *rng) {
  fs_stream_loop_command *c = &k->loop_commands[fs_rng_below(rng, s->n_loop_commands)];
  fs_stream_loop_command *d = &k->loop_commands[fs_rng_below(rng, s->n_loop_commands)];
  fs_stream_stop *stop =
      s->n_loop_stops == 0 ? NULL : &k->loop_stops[fs_rng_below(rng, s->n_loop_stops)];
  if (stop == NULL || fs_rng_one_in(rng, 5)) {
    uint32_t issue = c->issue;
    c->issue = d->issue;
    d->issue = issue;
    return c != d;
  }
  if (fs_rng_one_in(rng, 2)) {
    stop->at += stop->at > 0 && fs_rng_one_in(rng, 2) ? UINT32_MAX : 1;
    return true;
  }
  stop->keep += stop->keep > 0 && fs_rng_one_in(rng, 2) ? UINT32_MAX : 1;
  return stop->queue != FS_NONE;
}

/* What verify accepts, syncs keep. */
static void judge_syncs(uint64_t seed, const fsched_program *p, fs_rng *rng, mutant_counts *n) {
  fs_stream_copy k = fs_stream_copy_of(p);
  fsched_program *q = NULL;
  bool changed = change_syncs(&k, &p->view, rng);
  fs_stream_copy_sign(&k);
  if (!changed || fsched_program_load(ctx, "mutant.fsb", k.bytes, k.size, &q) != FSCHED_OK) {
    n->malformed++;
  } else if (fsched_verify_program(ctx, q, NULL) != FSCHED_OK) {
    ck_assert_msg(!fs_issue_stream_is_right(&q->view), "seed %lu: refused", (unsigned long)seed);
    n->refused++;
  } else {
    ck_assert_msg(fs_issue_stream_is_right(&q->view), "seed %lu: accepted", (unsigned long)seed);
    n->right++;
  }
  fsched_program_destroy(q);
  fsched_diag_clear(ctx);
  free(k.bytes);
}

START_TEST(synced_mutants)
{
  mutant_counts counts = {0};
  for (uint64_t j = 0; j < GRAPHS; j++) {
    uint64_t seed = (fs_turn() * 10 + 7 + (uint64_t)_i) * GRAPHS + j;
    fs_rng rng = {seed};
    fsched_program *p;
    fs_text t;
    fs_text_init(&t, ctx);
    fs_nest_gen_syncs(seed, &t);
    fs_text_add(&t, "", 1);
    if (compile("nest.yaml", t.at, false, &p) == FSCHED_OK) {
      for (uint32_t i = 0; i < 10 && p->view.n_loops > 0; i++) {
        judge_syncs(seed, p, &rng, &counts);
      }
      fsched_program_destroy(p);
    }
    fs_text_drop(&t);
    fsched_diag_clear(ctx);
  }
  fs_assert_seen(counts.refused, GRAPHS / 4);
  fs_assert_seen(counts.right, GRAPHS / 4);
}
END_TEST

FS_SUITE(replay_loops, s) {
  TCase *t = fs_case(s, fs_test_silent);
  FS_LOOPS(t, 0, 4, as_unrolled);
  FS_LOOPS(t, 0, 3, few_as_unrolled);
  FS_LOOPS(t, 0, 4, nested_as_unrolled, joined_as_unrolled, joined_barred_as_unrolled);
  FS_LOOPS(t, 0, 2, synced_as_unrolled, synced_nests_as_unrolled);
  FS_LOOPS(t, 0, 2, barred_as_unrolled, barred_nests_as_unrolled);
  FS_LOOPS(t, 0, 2, chains_as_unrolled);
  FS_LOOPS(t, 0, sizeof keep / sizeof *keep, kept_as_unrolled);
  FS_LOOPS(t, 0, 2, nested_mutants, synced_mutants, chained_mutants);
}
