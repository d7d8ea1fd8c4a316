/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier of streams on known loops, and what it says where they are wrong. */
#include <stdio.h>

#include "fsched/compile.h"
#include "fsched/verify.h"
#include "kit/budget.h"
#include "verify/rolled/breaks.h"

#include "kit/context.h"

/* A ring with a value on entry, which an op changes in place; slices that move; units; scratch. */
static const char known[] =
    "fsched: 1\n"
    "target: {queues: [{name: q0, class: c}, {name: q1, class: c}],\n"
    "  memories: [{name: ddr}, {name: cmx, capacity: 16KiB}], resources: [{name: L, capacity: "
    "4}]}\n"
    "buffers:\n"
    "  - {name: x, size: 8000, memory: ddr, io: input}\n"
    "  - {name: y, size: 8000, memory: ddr, io: output}\n"
    "  - {name: w, size: 8000, memory: ddr}\n"
    "  - {name: r, size: 64, memory: cmx}\n"
    "ops:\n"
    "  - {name: init, on: q0, args: [{out: y}]}\n"
    "  - {name: pre, on: q0, args: [{out: r}]}\n"
    "  - loop: lp\n"
    "    trip: 80\n"
    "    buffers: {r: {depth: 3}}\n"
    "    ops:\n"
    "      - {name: a, on: q0, time: 3, latency: 9, scratch: {cmx: 40}, uses: {L: 1},\n"
    "         args: [{in: x, at: {offset: 0, length: 100, step: [16]}}, {in: r, distance: 1},\n"
    "                {out: r}, {out_existing: w, at: {offset: 0, length: 16, step: [16]}}]}\n"
    "      - {name: b, on: q1, time: 7, uses: {L: 2}, after: [{op: a, distance: 2}],\n"
    "         args: [{inout: r}, {inout: y, at: {offset: 0, length: 100, step: [50]}},\n"
    "                {in: w, at: {offset: 0, length: 16, step: [16]}}]}\n"
    "  - {name: fin, on: q1, args: [{in: r}, {inout: y}]}\n";

static fsched_graph *graph;
static fsched_program *program, *copy;

static void setup(const char *text) {
  fsched_read_options o = {.size = sizeof o};
  ck_fs(ctx, fsched_graph_parse(ctx, "known", text, strlen(text), &o, &graph));
  ck_fs(ctx, fsched_compile(ctx, graph, NULL, NULL, &program));
  copy = fs_mutant_copy(program);
}

static void teardown(void) {
  fs_mutant_free(copy);
  fsched_program_destroy(program);
  fsched_graph_destroy(graph);
  fsched_diag_clear(ctx);
}

/* Whether some diagnostic of that code contains the text. */
static bool says(const char *code, const char *text) {
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    const fsched_diag *d = fsched_diag_get(ctx, i);
    if (strcmp(d->code, code) == 0 && strstr(d->message, text) != NULL) {
      return true;
    }
  }
  return false;
}

static void must_say(const char *code, const char *text) {
  fsched_diag_clear(ctx);
  ck_assert_int_eq(fsched_verify_program(ctx, copy, NULL), FSCHED_WRONG);
  ck_assert_msg(says(code, text), "not '%s' but '%s'", text, fs_first_message(ctx));
}

#define RECORD(id, type) ((type *)(uintptr_t)copy->view.id)

/* Edits a copy of the known stream, which then has to be refused. */
#define WRONG(edit, code, text) \
  do {                          \
    setup(known);               \
    edit;                       \
    must_say(code, text);       \
    teardown();                 \
  } while (0)

static fs_stream_loop *the_loop(void) { return RECORD(loops, fs_stream_loop); }
static fs_stream_loop_op *op_at(uint32_t i) { return RECORD(loop_ops, fs_stream_loop_op) + i; }
static fs_stream_ring *the_ring(void) { return RECORD(rings, fs_stream_ring); }
/* Arg i of op a, then those of b. */
static fs_stream_loop_arg *arg_at(uint32_t i) { return RECORD(loop_args, fs_stream_loop_arg) + i; }
static fs_stream_loop_after *the_after(void) { return RECORD(loop_afters, fs_stream_loop_after); }
static fs_stream_loop_command *command_at(uint32_t i) {
  return RECORD(loop_commands, fs_stream_loop_command) + i;
}
static fs_stream_loop_wait *wait_at(uint32_t i) {
  return RECORD(loop_waits, fs_stream_loop_wait) + i;
}
static fs_stream_loop_queue *queue_at(uint32_t i) {
  return RECORD(loop_queues, fs_stream_loop_queue) + i;
}
/* The first place of the command on that queue in a space, with or without an arg. */
static fs_stream_place *place_of(uint32_t queue, fs_space space, bool of_arg) {
  const fs_stream_loop_command *c = command_at(queue_at(queue)->command0);
  fs_stream_place *p = RECORD(loop_places, fs_stream_place) + c->place0;
  while (p->space != space || (p->arg != FS_NONE) != of_arg) {
    p++;
  }
  return p;
}
/* An arg of the loop's own op. */
static fs_stream_arg *own_arg(uint32_t buffer, bool writes) {
  fs_stream_arg *a = RECORD(args, fs_stream_arg) + copy->view.ops[the_loop()->op].arg0;
  while (a->buffer != buffer || fs_tag_writes(a->tag) != writes) {
    a++;
  }
  return a;
}

START_TEST(is_right)
{
  setup(known);
  ck_fs(ctx, fsched_verify_program(ctx, copy, graph));
  teardown();
}
END_TEST

START_TEST(records)
{
  static const char shape[] = "verify-shape";
  WRONG(the_loop()->trip = 0, shape, "loop lp: it has no iterations");
  WRONG(the_loop()->op = 99, shape, "loop : it is not an op without a kernel");
  WRONG(the_loop()->n_ops = 3, shape, "its queues, ops, rings, syncs or barriers are out of range");
  WRONG(the_loop()->n_queues = 1, shape, "its queues are not those of its op");
  WRONG(queue_at(0)->queue = 1, shape, "its queues are not those of its op");
  WRONG(queue_at(1)->command0 = 0, shape, "its queues' commands are out of range");
  WRONG(the_loop()->copies = 2, shape, "an op has not one command for each copy");
  WRONG(op_at(0)->latency = 2, shape, "an op has no name, time or kernel");
  WRONG(op_at(1)->n_args = 99, shape, "an op's args or 'after' entries are out of range");
  WRONG(the_after()->op = 2, shape, "an 'after' names what is not in it");
  WRONG((the_after()->op = 1, the_after()->distance = 0), shape, "names a later op of the same");
  WRONG(arg_at(0)->tag = 99, shape, "an arg has a wrong tag");
  WRONG(arg_at(0)->step = 200, shape, "an arg leaves its buffer");
  WRONG(arg_at(0)->step = -1, shape, "an arg leaves its buffer");
  WRONG(arg_at(1)->ring = 7, shape, "an arg has a ring that is not in it");
  WRONG(arg_at(1)->ring = FS_NONE, shape, "an arg leaves its buffer");
  WRONG((arg_at(1)->ring = FS_NONE, arg_at(1)->back = 0), shape, "is not of that ring");
  WRONG(arg_at(1)->length = 65, shape, "an arg leaves its ring");
  WRONG(arg_at(2)->length = 32, shape, "an arg begins a version of a ring, but");
  WRONG(arg_at(1)->back = 0, shape, "an arg uses a version of a ring before that is begun");
  WRONG(the_ring()->entry = 0, shape, "an arg uses what is in a ring on entry, where nothing is");
  WRONG(the_ring()->writer = 1, shape, "a ring's writer does not begin one version");
  WRONG(the_ring()->depth = 4, shape, "a ring's slots leave its arg");
  WRONG(the_ring()->arg = 0, shape, "a ring's arg or writer is not its own");
  WRONG(arg_at(3)->begins = 1, shape, "loop arg 3 begins a value, and is no slot of a loop");
  WRONG(arg_at(2)->begins = 1, shape, "loop arg 2 begins a value, and is no slot of a loop");
  WRONG(RECORD(args, fs_stream_arg)->begins = 1, shape, "arg 0 begins a value, and is no slot");
  WRONG(command_at(0)->copy = 1, shape, "a command's op, copy, shift, waits or places");
  WRONG(wait_at(0)->command = 9, shape, "a command's waits are out of order or for");
  WRONG(command_at(0)->signal ^= 1, "verify-signal", "loop lp: op a, copy 0, ");
}
END_TEST

/* An `out` that lies in a slot is told from an `out_existing`, which other kernels may have. */
START_TEST(begins)
{
  setup(known);
  fs_stream_arg *pre = RECORD(args, fs_stream_arg) + 1;
  ck_assert(pre->tag == FSCHED_OUT_EXISTING && pre->begins == 1);
  pre->begins = 0;
  ck_fs(ctx, fsched_verify_program(ctx, copy, NULL));
  ck_assert_int_eq(fsched_verify_program(ctx, copy, graph), FSCHED_WRONG);
  ck_assert(says("verify-graph", "not the graph's: args of op 'pre'"));
  teardown();
}
END_TEST

/* Takes the wait of a command for an op away, and makes signals fit. */
static void drop_wait(uint32_t from, uint32_t to) {
  for (uint32_t c = 0; c < copy->view.n_loop_commands; c++) {
    for (uint32_t w = command_at(c)->wait0; w < command_at(c)->wait0 + command_at(c)->n_waits;
         w++) {
      if (command_at(c)->op == to && command_at(wait_at(w)->command)->op == from) {
        fs_break_wait(copy, w);
        fs_break_repair(copy);
        return;
      }
    }
  }
  ck_abort_msg("no such wait");
}

START_TEST(orders)
{
  static const char edge[] = "verify-edge";
  WRONG(drop_wait(0, 1), edge, "loop lp: b[i] depends on a[i] by w and is not ordered after it");
  WRONG(drop_wait(1, 0), edge,
        "loop lp: a[i] depends on b[i - 1] by r and is not ordered after it");
  WRONG(wait_at(command_at(queue_at(1)->command0)->wait0)->distance = 1, edge, "a[i] by w");
  WRONG((drop_wait(0, 1), arg_at(6)->buffer = 0, arg_at(6)->own = arg_at(0)->own,
         the_after()->distance = 80, fs_break_repair(copy)),
        "verify-conflict", "loop lp: a[i - 3] and a[i] share r and are not ordered");
  WRONG(wait_at(command_at(queue_at(0)->command0)->wait0)->distance = 0, "verify-deadlock",
        "waits for itself");
}
END_TEST

/* Shortens an arg of the loop's own op, with its place, or moves its begin. */
static void cut(uint32_t buffer, bool writes, uint64_t length, uint64_t offset) {
  fs_stream_arg *a = own_arg(buffer, writes);
  uint32_t arg = (uint32_t)(a - copy->view.args);
  fs_stream_place *p = RECORD(places, fs_stream_place);
  for (uint32_t i = 0; i < copy->view.n_places; i++) {
    if (p[i].arg == arg && p[i].space == FS_SPACE_MEMORY && p[i].version != FS_NONE) {
      p[i].size = length;
      p[i].address += offset - a->offset;
    }
  }
  a->length = length;
  a->offset = offset;
}

/* What the loop touches and its own op does not. */
START_TEST(hulls)
{
  static const char place[] = "verify-place", value[] = "verify-value";
  WRONG(cut(1, true, 4049, 0), place, "loop lp: op b writes y where the loop's op does not");
  WRONG(cut(0, false, 1363, 0), place, "loop lp: op a reads x where the loop's op does not");
  WRONG(cut(3, false, 64, 0), place, "loop lp: its op does not write the slots of r");
  WRONG((arg_at(6)->offset = 48, arg_at(6)->step = 0), value, "op b[0] reads w where nothing was");
  WRONG((arg_at(6)->step = 15, arg_at(3)->length = 8), value, "op b[0] reads w where nothing was");
  WRONG(
      (arg_at(6)->length = 8, arg_at(6)->step = 15, arg_at(3)->length = 12, fs_break_repair(copy)),
      value, "op b[1] reads w where nothing was");
}
END_TEST

START_TEST(places)
{
  static const char place[] = "verify-place";
  WRONG(place_of(0, FS_SPACE_MEMORY, true)->address++, place, "place 0: not where the loop has");
  WRONG(place_of(0, FS_SPACE_MEMORY, true)->size--, place, "place 0: not the argument's buffer");
  WRONG(place_of(0, FS_SPACE_MEMORY, false)->address++, place,
        "place 4: not in the loop's scratch");
  WRONG(place_of(1, FS_SPACE_RESOURCE, false)->address = 4, "verify-lane", "not among the units");
  WRONG(command_at(0)->n_places = 3, place, "place 3: a place is missing");
  WRONG(place_of(0, FS_SPACE_MEMORY, false)->mode = FS_MODE_R, place, "neither scratch nor units");
}
END_TEST

/* An arg that moves unlike the one that writes what it reads is as right, as long as it stays
 * behind; one that stands still, too. */
START_TEST(reads_its_own)
{
  static const struct {
    uint64_t offset, length;
    int64_t step;
  } reads[] = {{0, 16, 15}, {0, 16, 0}, {0, 8, 16}, {8, 8, 8}};
  for (uint32_t i = 0; i < sizeof reads / sizeof *reads; i++) {
    setup(known);
    arg_at(6)->offset = reads[i].offset;
    arg_at(6)->length = reads[i].length;
    arg_at(6)->step = reads[i].step;
    fs_break_repair(copy);
    fsched_diag_clear(ctx);
    (void)!fsched_verify_program(ctx, copy, NULL); /* it lacks waits, perhaps */
    ck_assert(!says("verify-value", ""));
    teardown();
  }
}
END_TEST

/* Two ops that have nothing to do with each other, but for units and scratch. */
static const char shared[] =
    "fsched: 1\n"
    "target: {queues: [{name: q0}, {name: q1}], memories: [{name: ddr}, {name: cmx, capacity: "
    "256}],\n"
    "  resources: [{name: L, capacity: 4}]}\n"
    "buffers:\n"
    "  - {name: y, size: 800, memory: ddr, io: output}\n"
    "  - {name: z, size: 800, memory: ddr, io: output}\n"
    "ops:\n"
    "  - loop: lp\n"
    "    trip: 50\n"
    "    ops:\n"
    "      - {name: a, on: q0, time: 3, uses: {L: 2}, scratch: {cmx: 40},\n"
    "         args: [{out_existing: y, at: {offset: 0, length: 16, step: [16]}}]}\n"
    "      - {name: b, on: q1, time: 7, uses: {L: 2}, scratch: {cmx: 40},\n"
    "         args: [{out_existing: z, at: {offset: 0, length: 16, step: [16]}}]}\n";

START_TEST(shares)
{
  setup(shared);
  ck_fs(ctx, fsched_verify_program(ctx, copy, graph));
  place_of(1, FS_SPACE_RESOURCE, false)->address = place_of(0, FS_SPACE_RESOURCE, false)->address;
  must_say("verify-conflict", "share L and are not ordered");
  teardown();
  setup(shared);
  place_of(1, FS_SPACE_MEMORY, false)->address = place_of(0, FS_SPACE_MEMORY, false)->address;
  must_say("verify-conflict", "share cmx and are not ordered");
  teardown();
  setup(shared);
  op_at(1)->latency = 8; /* its next iteration may start before it is over */
  must_say("verify-conflict", "loop lp: b[i");
  teardown();
}
END_TEST

/* A loop that leaves gaps keeps the content there, so that has to be where it writes. */
static const char gaps[] =
    "fsched: 1\n"
    "target: {queues: [{name: q0, class: c}, {name: dma, class: d}],\n"
    "  memories: [{name: ddr}, {name: cmx, capacity: 256, backing: ddr,\n"
    "    spill: {on: dma, write: {rate: 8}, read: {rate: 8}}}]}\n"
    "buffers:\n"
    "  - {name: o, size: 128, memory: ddr, io: output}\n"
    "  - {name: y, size: 120, memory: cmx}\n"
    "  - {name: big, size: 256, memory: cmx}\n"
    "ops:\n"
    "  - {name: init, on: q0, args: [{out: y}]}\n"
    "  - {name: a, on: q0, args: [{out: big}, {out_existing: o, at: {offset: 0, length: 8}}],\n"
    "     after: [init]}\n"
    "  - loop: lp\n"
    "    trip: 8\n"
    "    ops:\n"
    "      - {name: b, on: q0, after: [a],\n"
    "         args: [{out_existing: y, at: {offset: 0, length: %d, step: [16]}}]}\n"
    "  - {name: last, on: q0, args: [{in: y}, {out: o}]}\n";

/* Lets the copy that brings the content back put it elsewhere. */
static void lose_content(void) {
  fs_stream_place *p = RECORD(places, fs_stream_place);
  for (uint32_t c = 0; c < copy->view.n_commands; c++) {
    const fs_stream_command *k = &copy->view.commands[c];
    if (k->kind == FS_COMMAND_COPY && k->direction == FS_SPILL_READ) {
      p[k->place0 + 1].address = 128;
      return;
    }
  }
  ck_abort_msg("no copy");
}

START_TEST(leaves_gaps)
{
  for (int length = 8; length <= 16; length += 8) {
    char text[2048];
    (void)snprintf(text, sizeof text, gaps, length);
    setup(text);
    ck_fs(ctx, fsched_verify_program(ctx, copy, graph));
    lose_content();
    fs_status status = fsched_verify_program(ctx, copy, NULL);
    ck_assert_int_eq(status, length == 8 ? FSCHED_WRONG : FSCHED_OK);
    ck_assert(length == 16 || says("verify-value", "does not find y.0"));
    teardown();
  }
}
END_TEST

/* What is wrong in late iterations alone. */
static const char late[] =
    "fsched: 1\n"
    "target: {queues: [{name: q0}, {name: q1}], memories: [{name: ddr}]}\n"
    "buffers:\n"
    "  - {name: y, size: 800, memory: ddr, io: output}\n"
    "  - {name: w, size: 8000, memory: ddr}\n"
    "ops:\n"
    "  - loop: lp\n"
    "    trip: 80\n"
    "    ops:\n"
    "      - {name: a, on: q0, args: [{out_existing: w, at: {offset: 0, length: 1000}},\n"
    "         {out_existing: w, at: {offset: 1000, length: 8, step: [16]}}]}\n"
    "      - {name: b, on: q1, args: [{in: w, at: {offset: 1000, length: 8, step: [16]}},\n"
    "         {out_existing: y, at: {offset: 0, length: 8, step: [8]}}]}\n";

START_TEST(late_iterations)
{
  setup(late);
  ck_fs(ctx, fsched_verify_program(ctx, copy, graph));
  arg_at(2)->offset = 0;
  arg_at(2)->step = 15;
  fs_break_repair(copy);
  must_say("verify-value", "loop lp: op b[64] reads w where nothing was written yet");
  teardown();
}
END_TEST

/* An op that begins a value where it reads the one before has to read all of it. */
static const char in_place[] =
    "fsched: 1\n"
    "target: {queues: [{name: q0}], memories: [{name: ddr}, {name: cmx, capacity: 1KiB}]}\n"
    "buffers:\n"
    "  - {name: x, size: 64, memory: cmx}\n"
    "  - {name: y, size: 64, memory: ddr, io: output}\n"
    "  - {name: r, size: 64, memory: cmx}\n"
    "  - {name: s, size: 64, memory: cmx}\n"
    "ops:\n"
    "  - {name: pre, on: q0, args: [{out: r}, {out: x}]}\n"
    "  - loop: lp\n"
    "    trip: 80\n"
    "    buffers: {r: {depth: 2}, s: {depth: 1}}\n"
    "    ops:\n"
    "      - {name: a, on: q0, args: [{in: r, distance: 1}, {in: x}, {out: r}, {out: s}]}\n"
    "  - {name: fin, on: q0, args: [{in: r}, {in: s}, {out: y}]}\n";

START_TEST(works_in_place)
{
  setup(in_place);
  ck_fs(ctx, fsched_verify_program(ctx, copy, graph));
  ck_assert_uint_eq(the_ring()->depth, 2);
  arg_at(0)->back = 2; /* the slot that it writes */
  ck_fs(ctx, fsched_verify_program(ctx, copy, NULL));
  arg_at(0)->length = 32;
  fs_break_repair(copy);
  must_say("verify-self", "loop lp: op a begins a value where it uses another, not in place");
  teardown();
}
END_TEST

/* An op may put its output over its input, a loop may not. */
START_TEST(reads_on)
{
  setup(in_place);
  fs_stream_place *p = RECORD(places, fs_stream_place);
  uint64_t x = 0;
  for (uint32_t i = 0; i < copy->view.n_places; i++) {
    bool has = p[i].version != FS_NONE && p[i].index == 1;
    x = has && copy->view.versions[p[i].version].buffer == 0 ? p[i].address : x;
  }
  for (uint32_t i = 0; i < copy->view.n_places; i++) {
    bool has = p[i].version != FS_NONE && p[i].index == 1;
    p[i].address = has && copy->view.versions[p[i].version].buffer == 3 ? x : p[i].address;
  }
  fs_break_repair(copy);
  must_say("verify-self", "loop lp: places 2 and 3 of its op overlap");
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  teardown();
}
END_TEST

/* The first two iterations of b read the value on entry, and so does the first of a.  If a changes
 * it, b has to come later in these two. */
static const char entry[] =
    "fsched: 1\n"
    "target: {queues: [{name: q0}, {name: q1}, {name: q2}],\n"
    "  memories: [{name: ddr}, {name: cmx, capacity: 4KiB}]}\n"
    "buffers:\n"
    "  - {name: y, size: 64, memory: ddr, io: output}\n"
    "  - {name: z, size: 64, memory: ddr, io: output}\n"
    "  - {name: r, size: 64, memory: cmx}\n"
    "ops:\n"
    "  - {name: pre, on: q0, args: [{out: r}]}\n"
    "  - loop: lp\n"
    "    trip: 80\n"
    "    ops:\n"
    "      - {name: a, on: q0, args: [{in: r, distance: 1}, {out_existing: z}]}\n"
    "      - {name: b, on: q1, after: [{op: a, distance: 1}],\n"
    "         args: [{in: r, distance: 2}, {out_existing: y}]}\n"
    "      - {name: c, on: q2, args: [{out: r}]}\n"
    "  - {name: fin, on: q0, args: [{in: r}]}\n";

START_TEST(changes_on_entry)
{
  setup(entry);
  ck_fs(ctx, fsched_verify_program(ctx, copy, graph));
  arg_at(0)->tag = FSCHED_INOUT;
  fs_break_repair(copy);
  must_say("verify-edge", "loop lp: b[i] depends on a[i] by r and is not ordered after it");
  teardown();
}
END_TEST

/* Iteration i of b reads what iterations i - 1 and i of a write: of several copies, each comes
 * after two of the other op. */
static const char copies[] =
    "fsched: 1\n"
    "target: {queues: [{name: q0, class: c}, {name: q1, class: c}, {name: q2, class: d},\n"
    "  {name: q3, class: d}], memories: [{name: ddr}]}\n"
    "buffers:\n"
    "  - {name: y, size: 800, memory: ddr, io: output}\n"
    "  - {name: z, size: 800, memory: ddr, io: output}\n"
    "ops:\n"
    "  - {name: pre, on: q0, args: [{out: y}]}\n"
    "  - loop: lp\n"
    "    trip: 40\n"
    "    ops:\n"
    "      - {name: a, on: c, time: 10,\n"
    "         args: [{out_existing: y, at: {offset: 16, length: 16, step: [16]}}]}\n"
    "      - {name: b, on: d, time: 10, args: [{in: y, at: {offset: 0, length: 32, step: [16]}},\n"
    "         {out_existing: z, at: {offset: 0, length: 16, step: [16]}}]}\n";

START_TEST(several_copies)
{
  setup(copies);
  ck_fs(ctx, fsched_verify_program(ctx, copy, graph));
  ck_assert_uint_gt(the_loop()->copies, 1);
  uint32_t n = copy->view.n_loop_waits;
  ck_assert_uint_ge(n, 4);
  teardown();
  for (uint32_t w = 0; w < n; w++) {
    setup(copies);
    fs_break_wait(copy, w);
    fs_break_repair(copy);
    must_say("verify-edge", "by y and is not ordered");
    teardown();
  }
}
END_TEST

/* --- the graph --- */

static void differs(const char *from, const char *to, const char *text) {
  char other[sizeof known + 64];
  const char *at = strstr(known, from);
  fsched_graph *g;
  fsched_read_options o = {.size = sizeof o};
  ck_assert(at != NULL);
  (void)snprintf(other, sizeof other, "%.*s%s%s", (int)(at - known), known, to, at + strlen(from));
  setup(known);
  ck_fs(ctx, fsched_graph_parse(ctx, "known", other, strlen(other), &o, &g));
  fsched_diag_clear(ctx);
  ck_assert_int_eq(fsched_verify_program(ctx, program, g), FSCHED_WRONG);
  ck_assert_msg(says("verify-graph", text), "%s: '%s'", to, fs_first_message(ctx));
  fsched_graph_destroy(g);
  teardown();
}

START_TEST(other_graphs)
{
  differs("trip: 80", "trip: 79", "trips, ops, rings or copies of 'lp' in loop 'lp'");
  differs("name: b,", "name: c,", "name of 'c' in loop 'lp'");
  differs("latency: 9", "latency: 8", "time or latency of 'a' in loop 'lp'");
  differs("step: [50]", "step: [49]", "args of 'b' in loop 'lp'");
  differs("{inout: r}", "{in: r}", "args of 'b' in loop 'lp'");
  differs("distance: 2", "distance: 3", "'after' of 'b' in loop 'lp'");
  differs("time: 7", "kernel: {builtin: nop}, time: 7", "kernel of 'b' in loop 'lp'");
  differs("depth: 3", "depth: 5", "slots of 'r' in loop 'lp'");
  differs("scratch: {cmx: 40}", "scratch: {cmx: 41}", "scratch or 'uses' of 'a' in loop 'lp'");
  differs("uses: {L: 2}", "uses: {L: 3}", "scratch or 'uses' of 'b' in loop 'lp'");
  differs("loop: lp", "loop: other", "name of op 'other'");
}
END_TEST

/* --- what it costs --- */

/* A loop of which nothing but its number of trips, and perhaps the depth of a ring, differs. */
static const char costs[] =
    "fsched: 1\n"
    "target: {queues: [{name: q0}, {name: q1}], memories: [{name: ddr}]}\n"
    "buffers:\n"
    "  - {name: y, size: 800, memory: ddr, io: output}\n"
    "  - {name: w, size: 34359738368, memory: ddr}\n"
    "  - {name: r, size: 64, memory: ddr}\n"
    "ops:\n"
    "  - {name: init, on: q0, args: [{out: y}]}\n"
    "  - loop: lp\n"
    "    trip: %u\n"
    "    buffers: {r: {depth: 3}}\n"
    "    ops:\n"
    "      - {name: a, on: q0, time: 3, args: [{out: r}, {out_existing: w, at: {offset: 0, length: "
    "16, "
    "step: [16]}}]}\n"
    "      - {name: b, on: q1, time: 7, args: [{in: r}, {in: w, at: {offset: 0, length: 8, step: "
    "[16]}}, {inout: y}]}\n"
    "  - {name: fin, on: q1, args: [{inout: y}]}\n";

/* The allocations that the verifier makes; *peak: the most bytes at once. */
static long count_allocations(uint32_t trip, uint32_t depth, long *peak) {
  char text[2048];
  fs_budget f = {.left = 1 << 30};
  fsched_context_options o = {.size = sizeof o, .reallocate = fs_budget_reallocate, .user = &f};
  fsched_context *own;
  (void)snprintf(text, sizeof text, costs, trip);
  setup(text);
  the_ring()->depth = depth;
  ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
  long left = f.left, held = f.held;
  f.peak = held;
  fs_status status = fsched_verify_program(own, copy, NULL);
  ck_assert_msg(status == FSCHED_OK || depth != 3, "%s", fs_first_message(own));
  left -= f.left;
  *peak = f.peak - held;
  fsched_context_destroy(own);
  teardown();
  return left;
}

START_TEST(trips_do_not_matter)
{
  long peak, least;
  long n = count_allocations(100, 3, &least);
  ck_assert_int_eq(count_allocations(1000, 3, &peak), n);
  ck_assert_int_eq(peak, least);
  ck_assert_int_eq(count_allocations(2000000000, 3, &peak), n);
  ck_assert_int_eq(peak, least);
}
END_TEST

START_TEST(memory_runs_out)
{
  fs_budget f = {.left = 1 << 30};
  fsched_context_options o = {.size = sizeof o, .reallocate = fs_budget_reallocate, .user = &f};
  fsched_context *own;
  setup(known);
  ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
  fs_status status = FSCHED_SYSTEM;
  for (long n = 0; status != FSCHED_OK; n++) {
    long before = f.held;
    f.left = n;
    status = fsched_verify_program(own, program, graph);
    f.left = 1 << 30;
    ck_assert(status == FSCHED_OK || status == FSCHED_SYSTEM);
    ck_assert_int_eq(f.held, before);
    fsched_diag_clear(own);
  }
  fsched_context_destroy(own);
  ck_assert_int_eq(f.held, 0);
  teardown();
}
END_TEST

/* --- a loop in a loop, as an op on two queues, with a sync behind it --- */

static const char gang[] =
    "fsched: 1\n"
    "target: {queues: [{name: q0}, {name: q1}, {name: q2}], sync: block}\n"
    "buffers: [{name: y, size: 64, io: output}, {name: z, size: 64, io: output}]\n"
    "ops:\n"
    "  - loop: outer\n"
    "    trip: 4\n"
    "    ops:\n"
    "      - loop: inner\n"
    "        trip: 3\n"
    "        ops:\n"
    "          - {name: load, on: q0, args: [{out: s, size: 64}]}\n"
    "          - {name: use, on: q1, args: [{in: s}, {out_existing: y}]}\n"
    "      - {name: end, on: q2, args: [{in: y}, {out_existing: z}]}\n";

/* The sequencer gets to the second member of a gang only behind the sync, which waits for the first
 * one, and that for the second. */
START_TEST(syncs_part_gangs)
{
  for (uint32_t q = 0; q < 2; q++) {
    setup(gang);
    ck_fs(ctx, fsched_verify_program(ctx, copy, graph));
    ck_assert_uint_gt(the_loop()->n_stops, 0);
    command_at(queue_at(q)->command0)->shift++;
    must_say("verify-deadlock", "loop outer: a sync stands between the commands of op inner");
    command_at(queue_at(1 - q)->command0)->shift++;
    must_say("verify-wait", "no sync keeps the wait of op end for op inner");
    ck_assert(!says("verify-deadlock", "a sync stands between"));
    teardown();
  }
}
END_TEST

FS_SUITE(verify_rolled_known, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, is_right, records, begins, orders, hulls, places, reads_its_own, shares, leaves_gaps,
           other_graphs, late_iterations, works_in_place, reads_on, changes_on_entry,
           several_copies, trips_do_not_matter, syncs_part_gangs, memory_runs_out);
}
