/* SPDX-License-Identifier: Apache-2.0 */
/* Content that is given or kept holds all of its bytes.  In programs made by hand, a part that no
 * command touches lies over another version; compiled programs may not have that. */
#include <stdio.h>

#include "fsched/compile.h"
#include "fsched/replay.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/golden_case.h"
#include "kit/mutate/mutate.h"
#include "verify/edit.h"

#include "kit/context.h"

/* Two ops on two queues share none of their 16 bytes; m has no store. */
static const char text_format[] =
    "fsched: 1\nname: g\ntarget:\n  queues: [{name: p}, {name: q}]\n"
    "  memories: [{name: m, capacity: 40}]\n"
    "buffers:\n%s\nops:\n%s";

static void compile_text(const char *buffers, const char *ops, fsched_program **program) {
  char text[1024];
  fsched_graph *g;
  size_t n = (size_t)snprintf(text, sizeof text, text_format, buffers, ops);
  ck_fs(ctx, fsched_graph_parse(ctx, "g", text, n, NULL, &g));
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, program));
  fsched_graph_destroy(g);
}

/* Moves version `v` of the program to `address`, wherever it is. */
static void move_version(fsched_program *p, uint32_t v, uint64_t address) {
  fs_stream *s = &p->view;
  fs_stream_version *version = (fs_stream_version *)(uintptr_t)&s->versions[v];
  uint64_t from = version->given_memory != FS_NONE  ? version->given_address
                  : version->kept_memory != FS_NONE ? version->kept_address
                                                    : UINT64_MAX;
  for (uint32_t i = 0; i < s->n_places; i++) {
    fs_stream_place *x = (fs_stream_place *)(uintptr_t)&s->places[i];
    if (x->space == FS_SPACE_MEMORY && x->version == v) {
      uint64_t offset = s->args[x->arg].offset;
      from = from == UINT64_MAX ? x->address - offset : from;
      ck_assert_uint_eq(x->address, from + offset);
      x->address = address + offset;
    }
  }
  version->given_address = version->given_memory == FS_NONE ? 0 : address;
  version->kept_address = version->kept_memory == FS_NONE ? 0 : address;
}

static void assert_refuted(const fsched_program *p, const char *code, const char *message) {
  fsched_diag_clear(ctx);
  ck_assert_int_eq(fsched_verify_program(ctx, p, NULL), FSCHED_WRONG);
  const fsched_diag *d = fsched_diag_get(ctx, 0);
  ck_assert_str_eq(d->message, message);
  ck_assert_str_eq(d->code, code);
}

static const char given[] =
    "  - {name: x, size: 16, io: input}\n  - {name: y, size: 16}\n"
    "  - {name: a, size: 1, io: output}\n";

/* The unread tail of an input lies over what another op writes: before it, after it, or
 * unordered. */
START_TEST(tail_of_an_input)
{
  static const char *const ops[] = {
      "  - {name: w, on: p, args: [{out: y}]}\n"
      "  - {name: r, on: p, args: [{in: x, at: [0, 8]}, {in: y}, {out: a}]}\n",
      "  - {name: w, on: p, args: [{in: x, at: [0, 8]}, {out: a}]}\n"
      "  - {name: r, on: p, args: [{out: y}]}\n",
      "  - {name: w, on: q, args: [{out: y}]}\n"
      "  - {name: r, on: p, args: [{in: x, at: [0, 8]}, {out: a}]}\n"};
  fsched_program *p, *copy;
  compile_text(given, ops[_i], &p);
  copy = fs_mutant_copy(p);
  ck_fs(ctx, fsched_verify_program(ctx, copy, NULL));
  move_version(copy, 0, 0);
  move_version(copy, 1, 16);
  move_version(copy, 2, 39);
  ck_fs(ctx, fsched_verify_program(ctx, copy, NULL));
  move_version(copy, 1, 8);
  if (_i == 0) {
    assert_refuted(copy, "verify-value",
                   "command 2 of p (op r) does not find all of x.0 in m at 0");
  } else if (_i == 1) {
    ck_fs(ctx, fsched_verify_program(ctx, copy, NULL)); /* its last reader is over */
  } else {
    assert_refuted(copy, "verify-conflict",
                   "command 1 of p (op r) and command 1 of q (op w) share the place of given or "
                   "kept content in m at 8 and are not ordered");
  }
  fs_mutant_free(copy);
  fsched_program_destroy(p);
}
END_TEST

/* The unwritten tail of an output lies over another output, and over what lives before and after
 * it. */
START_TEST(tail_of_an_output)
{
  static const char both[] =
      "  - {name: x, size: 16, io: output}\n"
      "  - {name: y, size: 16, io: output}\n";
  static const char one[] = "  - {name: x, size: 16, io: output}\n  - {name: y, size: 16}\n";
  static const char *const ops[] = {
      "  - {name: w, on: p, args: [{out_existing: x, at: [0, 8]}]}\n"
      "  - {name: r, on: p, args: [{out_existing: y, at: [8, 8]}]}\n",
      "  - {name: w, on: p, args: [{out_existing: x, at: [0, 8]}]}\n"
      "  - {name: r, on: p, args: [{out: y}]}\n",
      "  - {name: w, on: p, args: [{out: y}]}\n"
      "  - {name: r, on: p, args: [{out_existing: x, at: [0, 8]}]}\n"};
  fsched_program *p, *copy;
  compile_text(_i == 0 ? both : one, ops[_i], &p);
  copy = fs_mutant_copy(p);
  move_version(copy, 0, 0);
  move_version(copy, 1, 16);
  ck_fs(ctx, fsched_verify_program(ctx, copy, NULL));
  move_version(copy, 1, 8);
  if (_i == 2) {
    ck_fs(ctx, fsched_verify_program(ctx, copy, NULL)); /* nobody needs what was there before */
  } else {
    assert_refuted(copy, "verify-kept", "x.0 is not in m at 0 at the end");
  }
  fs_mutant_free(copy);
  fsched_program_destroy(p);
}
END_TEST

/* An address alone, without an access, makes a replay put the content there. */
START_TEST(content_without_access)
{
  static const char text[] =
      "fsched: 1\nname: g\ntarget: {queues: [{name: p}], memories: [{name: m}]}\n"
      "buffers:\n  - {name: x, size: 16, io: constant}\n  - {name: y, size: 16}\n"
      "ops:\n  - {name: w, on: p, args: [{out: y}]}\n"
      "  - {name: r, on: p, args: [{no_dep: x}, {inout: y}]}\n";
  fsched_program *p;
  fsched_graph *g = fs_parse(text);
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &p));
  fsched_program *copy = fs_mutant_copy(p);
  ck_fs(ctx, fsched_verify_program(ctx, copy, NULL));
  move_version(copy, 0, 0);
  move_version(copy, 1, 8);
  ((fs_stream_memory *)(uintptr_t)copy->view.memories)->extent = 64;
  assert_refuted(copy, "verify-value", "command 2 of p (op r) does not find all of x.0 in m at 0");
  fs_mutant_free(copy);
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

/* A version that nobody has written is copied from where another is given. */
START_TEST(copy_of_another)
{
  static const char text[] =
      "fsched: 1\nname: g\ntarget:\n  queues: [{name: p}, {name: q, class: copy}]\n"
      "  memories:\n    - {name: m, capacity: 40, backing: s,\n"
      "       spill: {on: copy, write: {fixed: 1}, read: {fixed: 1}}}\n    - {name: s}\n"
      "buffers:\n  - {name: x, size: 16, io: input}\n  - {name: y, size: 16}\n"
      "ops:\n  - {name: r, on: p, args: [{in: x}, {out: y}]}\n";
  fsched_program *p;
  fsched_graph *g = fs_parse(text);
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &p));
  fsched_program *copy = fs_mutant_copy(p);
  for (uint32_t i = 0; i < copy->view.n_commands; i++) {
    fs_stream_command *c = (fs_stream_command *)(uintptr_t)&copy->view.commands[i];
    if (c->kind == FS_COMMAND_COPY) {
      c->target = 1;
      for (uint32_t k = 0; k < c->n_places; k++) {
        ((fs_stream_place *)(uintptr_t)&copy->view.places[c->place0 + k])->version = 1;
      }
    }
  }
  assert_refuted(copy, "verify-value", "command 1 of p (op r) does not find x.0 in m at 0");
  fs_mutant_free(copy);
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

/* Given content that is overwritten unread comes late, so no other content may be read there. */
START_TEST(in_place_of_what_is_given)
{
  static const char buffers[] = "  - {name: x, size: 16, io: input}\n  - {name: y, size: 16}\n";
  static const char ops[] =
      "  - {name: w, on: p, args: [{out: y}]}\n"
      "  - {name: r, on: p, args: [{in: y}, {out_existing: x}]}\n";
  fsched_program *p, *copy;
  compile_text(buffers, ops, &p);
  copy = fs_mutant_copy(p);
  move_version(copy, 0, 0);
  move_version(copy, 1, 16);
  ck_fs(ctx, fsched_verify_program(ctx, copy, NULL));
  move_version(copy, 1, 0);
  assert_refuted(copy, "verify-self", "command 2 of p (op r): its places 0 and 1 overlap");
  fs_mutant_free(copy);
  fsched_program_destroy(p);
}
END_TEST

/* Moves the place of arg `arg` of command `command`, alone, by so many bytes. */
static void move_arg(fsched_program *p, uint32_t command, uint32_t arg, uint64_t bytes) {
  const fs_stream_command *c = &p->view.commands[command];
  for (uint32_t i = c->place0; i < c->place0 + c->n_places; i++) {
    fs_stream_place *x = (fs_stream_place *)(uintptr_t)&p->view.places[i];
    x->address += x->space == FS_SPACE_MEMORY && x->arg == arg ? bytes : 0;
  }
}

/* An op that writes in place what nothing has begun yet, and begins a version of its own beside it,
 * makes two; in either order of its args. */
START_TEST(two_versions_of_one_op)
{
  static const char *const args[] = {"{out_existing: y}, {out: y}", "{out: y}, {out_existing: y}"};
  char text[1024];
  fsched_graph *g;
  fsched_program *p;
  size_t n =
      (size_t)snprintf(text, sizeof text,
                       "fsched: 1\nname: g\ntarget: {queues: [{name: p}], memories: [{name: m}]}\n"
                       "buffers: [{name: y, size: 16}]\nops:\n  - {name: w, on: p, args: [%s]}\n"
                       "  - {name: r, on: p, args: [{in: y}]}\n",
                       args[_i]);
  ck_fs(ctx, fsched_graph_parse(ctx, "g", text, n, NULL, &g));
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &p));
  ck_assert_uint_eq(p->view.buffers[0].n_versions, 2);
  ck_fs(ctx, fsched_verify_program(ctx, p, g));
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

/* The args of one version lie where it is: a write to one address is seen through the other. */
START_TEST(one_version_at_two_addresses)
{
  static const char *const ops[] = {
      "  - {name: w, on: p, args: [{out_existing: y}, {out_existing: y}]}\n",
      "  - {name: w, on: p, args: [{out_existing: y, at: [0, 8]}, {out_existing: y}]}\n",
      "  - {name: w, on: p, args: [{inout: x}, {inout: x}]}\n",
      "  - {name: w, on: p, args: [{in: x, at: [0, 8]}, {inout: x, at: [4, 12]}]}\n",
      "  - {name: w, on: p, args: [{inout: x, at: [4, 12]}, {in: x, at: [0, 8]}]}\n",
      "  - {name: w, on: p, args: [{in: x}, {in: x, at: [4, 4]}]}\n",
      "  - {name: w, on: p, args: [{out_existing: y}, {in: x}, {out_existing: y}]}\n",
      "  - {name: w, on: p, args: [{in: x}, {no_dep: x}]}\n"};
  static const char text_of[] =
      "fsched: 1\nname: g\ntarget: {queues: [{name: p}], memories: [{name: m}]}\n"
      "buffers: [{name: x, size: 16, io: input}, {name: y, size: 16}]\nops:\n%s";
  char text[1024];
  fsched_graph *g;
  fsched_program *p;
  size_t n = (size_t)snprintf(text, sizeof text, text_of, ops[_i]);
  ck_fs(ctx, fsched_graph_parse(ctx, "g", text, n, NULL, &g));
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &p));
  fsched_program *copy = fs_mutant_copy(p);
  ((fs_stream_memory *)(uintptr_t)copy->view.memories)->extent = 256;
  ck_fs(ctx, fsched_verify_program(ctx, copy, NULL));
  uint32_t last = copy->view.ops[0].n_args - 1;
  move_arg(copy, 0, last, 64);
  char message[128];
  (void)snprintf(message, sizeof message,
                 "command 1 of p (op w), place %u: another argument has the version elsewhere",
                 last + 1);
  assert_refuted(copy, "verify-place", message);
  fs_mutant_free(copy);
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

/* Compiles for one queue, and memory without limit. */
static fsched_program *compile_simple(const char *buffers, const char *ops) {
  static const char text_of[] =
      "fsched: 1\nname: g\ntarget: {queues: [{name: p}], memories: [{name: m}]}\n"
      "buffers: [%s]\nops:\n%s";
  char text[1024];
  fsched_graph *g;
  fsched_program *p;
  size_t n = (size_t)snprintf(text, sizeof text, text_of, buffers, ops);
  ck_fs(ctx, fsched_graph_parse(ctx, "g", text, n, NULL, &g));
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &p));
  fsched_graph_destroy(g);
  return p;
}

/* The given content lies a few bytes from where the commands have the version, over bytes of
 * theirs: it is there before them, so what they write stays. */
START_TEST(given_beside)
{
  fsched_program *p =
      compile_simple("{name: s, size: 6, io: state}",
                     "  - {name: w, args: [{out_existing: s}]}\n"
                     "  - {name: r, args: [{in: s, at: [3, 1]}, {out: t, size: 3}]}\n");
  fsched_program *copy = fs_mutant_copy(p);
  fs_stream_version *s = (fs_stream_version *)(uintptr_t)&copy->view.versions[0];
  ck_assert(s->given_address == 0 && copy->view.memories[0].extent >= 8);
  s->given_address = 2;
  fsched_program *made = fs_edit_bytes(ctx, copy);
  fsched_replay_options o = {.size = sizeof o, .check = 1, .repeat = 3};
  ck_fs(ctx, fsched_verify_program(ctx, made, NULL));
  ck_fs(ctx, fsched_replay_cpu(ctx, made, &o, NULL));
  fsched_program_destroy(made);
  fs_mutant_free(copy);
  fsched_program_destroy(p);
}
END_TEST

/* Its commands overwrite a part of the given content through another address of the version, so an
 * address at which all of it should be comes too late. */
START_TEST(given_beside_and_lost)
{
  fsched_program *p = compile_simple("{name: s, size: 6, io: input}",
                                     "  - {name: w, args: [{out_existing: s, at: [1, 3]}]}\n"
                                     "  - {name: r, args: [{no_dep: s}, {out: t, size: 3}]}\n"
                                     "  - {name: e, args: [{in: s, at: [1, 3]}]}\n");
  fsched_program *copy = fs_mutant_copy(p);
  ck_fs(ctx, fsched_verify_program(ctx, copy, NULL));
  ((fs_stream_version *)(uintptr_t)&copy->view.versions[0])->given_address = 2;
  ck_fs(ctx, fsched_verify_program(ctx, copy, NULL));
  move_arg(copy, 1, 1, 2); /* the args of r: 1 and 2 */
  assert_refuted(copy, "verify-value", "command 2 of p (op r) does not find all of s.0 in m at 2");
  fs_mutant_free(copy);
  fsched_program_destroy(p);
}
END_TEST

/* In these graphs inputs and outputs live in bounded memories without a store, in parts. */
START_TEST(compiled)
{
  uint32_t n = 0;
  for (uint64_t seed = 1; seed <= 150; seed++) {
    fs_gen_params params = fs_gen_any(seed + (uint64_t)_i * 1000, 30);
    params.backing = false;
    params.io = params.ats = params.inouts = true;
    params.n_memories = fs_max(params.n_memories, 1);
    params.tightness = seed % 2 == 0 ? 0.6 : 0.9;
    fsched_graph *g;
    fsched_program *p = NULL;
    if (fs_gen_graph(ctx, &params, &g) != FSCHED_OK) {
      continue;
    }
    if (fsched_compile(ctx, g, NULL, NULL, &p) == FSCHED_OK) {
      fsched_diag_clear(ctx);
      n++;
      ck_assert_msg(fsched_verify_program(ctx, p, g) == FSCHED_OK, "seed %llu: %s",
                    (unsigned long long)seed, fsched_diag_get(ctx, 0)->message);
    }
    fsched_diag_clear(ctx);
    fsched_program_destroy(p);
    fsched_graph_destroy(g);
  }
  ck_assert_uint_gt(n, 50);
}
END_TEST

FS_SUITE(verify_hold, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 3, tail_of_an_input, tail_of_an_output);
  FS_TESTS(t, content_without_access, copy_of_another, in_place_of_what_is_given, given_beside,
           given_beside_and_lost);
  FS_LOOPS(t, 0, 8, one_version_at_two_addresses);
  FS_LOOPS(t, 0, 2, two_versions_of_one_op);
  FS_LOOPS(t, 0, 4, compiled);
}
