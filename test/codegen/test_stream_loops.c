/* SPDX-License-Identifier: Apache-2.0 */
/* Streams with loops that stay loops: their check, disassembly and assembly.  The streams are
 * test/golden/loops.program.json: L1 has two copies, on two queues, with two rings; L2 has one, on
 * one queue, and walks backwards through a buffer; and test/golden/nest.program.json: rows has two
 * loops, of which cols is on two queues, with rings in rings of rows, and post has a third one;
 * pair has two copies of a loop; and test/golden/synced.program.json: a loop with two syncs, of
 * which one counts; and test/golden/tiles.program.json: two loops over tiles of matrices, as views;
 * and test/golden/params.program.json: two parameters, of which no loop of the stream takes the
 * first.
 */
#include "codegen/stream_kit.h"
#include "fsched/compile.h"
#include "fsched/verify.h"
#include "kit/golden_case.h"

#include "kit/context.h"

static const char *const golden[] = {"loops", "nest", "synced", "tiles", "pairs", "params", "kept"};

static fsched_program *open_golden(fsched_context *c, const char *name) {
  char file[64];
  size_t n;
  fsched_program *p;
  (void)snprintf(file, sizeof file, "%s.program.json", name);
  char *text = fs_golden_read(file, &n);
  ck_assert_ptr_nonnull(text);
  ck_fs(c, fsched_program_assemble(c, file, text, n, &p));
  free(text);
  return p;
}

START_TEST(forms)
{
  fsched_program *p = open_golden(ctx, golden[_i]);
  fs_check_forms(ctx, p, golden[_i]);
  fsched_program_destroy(p);
}
END_TEST

/* ---- parameters */

static void is_param(const fsched_program *p, uint32_t index, const char *name, uint64_t min,
                     uint64_t max) {
  fsched_param_range range = fsched_program_param(p, index);
  ck_assert_pstr_eq(range.name, name);
  ck_assert_uint_eq(range.min, min);
  ck_assert_uint_eq(range.max, max);
}

static void has_params_of_golden(const fsched_program *p) {
  ck_assert_uint_eq(fsched_program_params(p), 2);
  is_param(p, 0, "m", 2, 5);
  is_param(p, 1, "n", 0, 4);
  is_param(p, 2, NULL, 0, 0);
  is_param(p, FSCHED_NONE, NULL, 0, 0);
}

/* A program that was loaded tells its own names. */
START_TEST(params_listed)
{
  fsched_program *p = open_golden(ctx, "params"), *loaded;
  has_params_of_golden(p);
  size_t size;
  const void *bytes = fsched_program_bytes(p, &size);
  ck_fs(ctx, fsched_program_load(ctx, "params.fsb", bytes, size, &loaded));
  fsched_program_destroy(p);
  has_params_of_golden(loaded);
  fsched_program_destroy(loaded);
}
END_TEST

START_TEST(no_params_listed)
{
  fsched_program *p = open_golden(ctx, "loops");
  ck_assert_uint_eq(fsched_program_params(p), 0);
  is_param(p, 0, NULL, 0, 0);
  fsched_program_destroy(p);
}
END_TEST

/* Loops share n, the one of m never runs, and k has a value. */
START_TEST(params_compiled)
{
  static const char text[] =
      "fsched: 1\n"
      "target: {queues: [{name: q}]}\n"
      "buffers: [{name: x, size: 64, io: state}]\n"
      "ops:\n"
      "- {loop: A, trip: {param: n, max: 64}, ops: [{name: a, time: 1, args: [{inout: x}]}]}\n"
      "- {loop: B, trip: {param: m, max: 0}, ops: [{name: b, time: 1, args: [{inout: x}]}]}\n"
      "- {loop: C, trip: {param: k, max: 9}, ops: [{name: c, time: 1, args: [{inout: x}]}]}\n"
      "- loop: D\n"
      "  ops: [{name: d, time: 1, args: [{inout: x}]}]\n"
      "  trip: {param: n, min: 3, max: 70}\n";
  fsched_read_options o = {.size = sizeof o, .params = (const char *const[]){"k=5"}, .n_params = 1};
  fsched_graph *g;
  fsched_program *p;
  ck_fs(ctx, fsched_graph_parse(ctx, "params.yaml", text, sizeof text - 1, &o, &g));
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &p));
  fsched_graph_destroy(g);
  ck_assert_uint_eq(fsched_program_params(p), 2);
  is_param(p, 0, "n", 3, 64);
  is_param(p, 1, "m", 0, 0);
  is_param(p, 2, NULL, 0, 0);
  fsched_program_destroy(p);
}
END_TEST

/* ---- checks */

#define FAULT(name, statement, message) \
  static void fault_##name(fs_stream_copy *k) { statement; }
#include "codegen/stream_loop_faults.def"
#undef FAULT
#define FAULT(name, statement, message) \
  static void nest_fault_##name(fs_stream_copy *k) { statement; }
#include "codegen/stream_nest_faults.def"
#undef FAULT
#define FAULT(name, statement, message) \
  static void fault_##name(fs_stream_copy *k) { statement; }
#include "codegen/synced_faults.def"
#undef FAULT
#define FAULT(name, statement, message) \
  static void fault_##name(fs_stream_copy *k) { statement; }
#include "codegen/tiles_faults.def"
#undef FAULT
#define FAULT(name, statement, message) \
  static void fault_##name(fs_stream_copy *k) { statement; }
#include "codegen/pairs_faults.def"
#undef FAULT
#define FAULT(name, statement, message) \
  static void param_fault_##name(fs_stream_copy *k) { statement; }
#include "codegen/params_faults.def"
#undef FAULT
static const struct {
  const char *golden, *name, *message;
  void (*apply)(fs_stream_copy *k);
} faults[] = {
#define FAULT(name, statement, message) {"loops", #name, message, fault_##name},
#include "codegen/stream_loop_faults.def"
#undef FAULT
#define FAULT(name, statement, message) {"nest", #name, message, nest_fault_##name},
#include "codegen/stream_nest_faults.def"
#undef FAULT
#define FAULT(name, statement, message) {"synced", #name, message, fault_##name},
#include "codegen/synced_faults.def"
#undef FAULT
#define FAULT(name, statement, message) {"tiles", #name, message, fault_##name},
#include "codegen/tiles_faults.def"
#undef FAULT
#define FAULT(name, statement, message) {"pairs", #name, message, fault_##name},
#include "codegen/pairs_faults.def"
#undef FAULT
#define FAULT(name, statement, message) {"params", #name, message, param_fault_##name},
#include "codegen/params_faults.def"
#undef FAULT
};

START_TEST(each_rule)
{
  fsched_program *p = open_golden(ctx, faults[_i].golden), *bad = NULL;
  fs_stream_copy k = fs_stream_copy_of(p);
  faults[_i].apply(&k);
  fs_stream_copy_sign(&k);
  fsched_status status = fsched_program_load(ctx, "bad.fsb", k.bytes, k.size, &bad);
  ck_assert_msg(status == FSCHED_BAD_INPUT, "%s: status %d", faults[_i].name, status);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message, faults[_i].message);
  free(k.bytes);
  fsched_program_destroy(p);
}
END_TEST

/* These are right. */
static void allow_tail(fs_stream_copy *k) {
  k->loop_args[0].length = k->loop_places[0].size = k->loop_places[2].size = 17;
}
static void allow_no_wait(fs_stream_copy *k) { k->loop_commands[2].shift = 1u << 20; }
static void allow_most_trips(fs_stream_copy *k) {
  k->loops[0].trip = k->loops[0].least = k->loops[0].most = FSCHED_MAX_TIME;
  k->loop_args[0].step = 0;
}
static void allow_counted_scratch(fs_stream_copy *k) {
  k->loop_places[16].space = FS_SPACE_COUNTED;
}
static void allow_depth_back(fs_stream_copy *k) { k->loop_args[3].back = 2; }
static void allow_steps(fs_stream_copy *k) {
  k->loop_args[16].step = 191; /* 256 + 3 * 64 + 3 * 191 is in the buffer */
  k->loop_args[3].step = k->loop_args[17].step = -32;
}
static void allow_deep_steps(fs_stream_copy *k) { k->loop_args[28].step = 15; }
static void allow_places_at_ends(fs_stream_copy *k) {
  k->loop_places[29].address = 960;
  k->loop_places[30].address = 96;
  k->loop_places[31].address = 208;
  k->loop_places[42].address = 216;
}
/* Bytes that a later iteration has no more of, beyond the end of the version, have no place. */
static void allow_clipped_version(fs_stream_copy *k) {
  k->loop_args[20].length = k->loop_places[33].size = 63;
  k->loop_args[20].step = 1;
}

static const struct {
  const char *golden;
  void (*change)(fs_stream_copy *k);
} right[] = {{"loops", allow_tail},          {"loops", allow_no_wait},
             {"loops", allow_most_trips},    {"loops", allow_counted_scratch},
             {"loops", allow_depth_back},    {"nest", allow_steps},
             {"nest", allow_deep_steps},     {"nest", allow_places_at_ends},
             {"nest", allow_clipped_version}};

START_TEST(allowed)
{
  fsched_program *p = open_golden(ctx, right[_i].golden), *good;
  fs_stream_copy k = fs_stream_copy_of(p);
  right[_i].change(&k);
  fs_stream_copy_sign(&k);
  ck_fs(ctx, fsched_program_load(ctx, "good.fsb", k.bytes, k.size, &good));
  fs_check_round_trip(ctx, good);
  fsched_program_destroy(good);
  free(k.bytes);
  fsched_program_destroy(p);
}
END_TEST

/* Reading an accepted stream never leaves it, whatever was changed. */
static void walk(const fsched_program *p) {
  char *text;
  size_t n;
  fs_check_round_trip(ctx, p);
  for (uint32_t i = 0; i < fsched_program_params(p); i++) {
    fsched_param_range range = fsched_program_param(p, i);
    ck_assert(range.name[0] != '\0' && range.min <= range.max && range.max <= FSCHED_MAX_TIME);
  }
  fsched_status status = fsched_verify_program(ctx, p, NULL);
  ck_assert(status == FSCHED_OK || status == FSCHED_WRONG);
  fsched_diag_clear(ctx);
  ck_fs(ctx, fsched_program_trace(ctx, p, NULL, &text, &n));
  fsched_text_free(ctx, text, n);
  if (fsched_program_explain(ctx, p, NULL, NULL, 0, &text, &n) == FSCHED_OK) {
    fsched_text_free(ctx, text, n);
  }
}

/* The sections of loops are damaged under a right checksum. */
START_TEST(signed_damage_random)
{
  fsched_program *p = open_golden(ctx, golden[_i % 6]);
  fs_rng rng = {(uint64_t)_i};
  unsigned accepted = 0;
  for (int n = 0; n < 1500; n++) {
    fs_stream_copy k = fs_stream_copy_of(p);
    size_t from = (size_t)((unsigned char *)k.params - k.bytes);
    size_t to = (size_t)((unsigned char *)k.strings - k.bytes);
    fs_stream_damage(&k, &rng, from, to);
    fs_stream_copy_sign(&k);
    fsched_program *damaged;
    fsched_diag_clear(ctx);
    fsched_status status = fsched_program_load(ctx, "damaged", k.bytes, k.size, &damaged);
    if (status == FSCHED_OK) {
      accepted++;
      walk(damaged);
      fsched_program_destroy(damaged);
    } else if (status != FSCHED_BAD_INPUT || fsched_diag_count(ctx) != 1) {
      ck_abort_msg("status %d with %u reports", status, fsched_diag_count(ctx));
    }
    free(k.bytes);
  }
  ck_assert_uint_gt(accepted, 10);
  fsched_program_destroy(p);
}
END_TEST

/* ---- assembly */

/* Commands for queues that do not have them. */
#define NOP                                                                         \
  "{\"op\": \"nop\", \"copy\": 0, \"shift\": 0, \"waits\": [], \"signal\": false, " \
  "\"places\": []}"
#define IN                                                                                      \
  "{\"op\": \"in\", \"copy\": 1, \"shift\": 0, \"waits\": [], \"signal\": false, \"places\": [" \
  "{\"buffer\": \"y\", \"version\": 0, \"memory\": \"dram\", \"address\": 1216, \"size\": 40, " \
  "\"mode\": \"r\"}, {\"buffer\": \"y\", \"version\": 0, \"memory\": \"dram\", \"address\": "   \
  "1216, "                                                                                      \
  "\"size\": 40, \"mode\": \"w\"}]}, "

/* Each replaces one text in the disassembly. */
typedef struct json_edit {
  const char *from, *to, *message;
} json_edit;
static const json_edit edits[] = {
    {"{\"op\": \"L1\", \"trip\"", "{\"op\": \"L3\", \"trip\"", "unknown op 'L3'"},
    {"\"trip\": 100", "\"trips\": 100", "unknown key 'trips'"},
    {"\"trip\": 100, ", "", "key 'trip' is missing"},
    {"\"copies\": 2", "\"copies\": 0", "a loop has 1 to 64 copies"},
    {"\"copies\": 2", "\"copies\": 65", "a loop has 1 to 64 copies"},
    {"\"copies\": 2", "\"copies\": 1", "the loop has no copy 1, but 1"},
    {"\"copies\": 2", "\"copies\": 3", "a wait is for copy 2 of 'mul', which has no command"},
    {"{\"arg\": 1", "{\"arg\": 3", "the loop has no arg 3, but 3"},
    {"\"writer\": \"load\"", "\"writer\": \"tick\"", "unknown op of the loop 'tick'"},
    {"\"entry\": true", "\"entry\": 1", "expected true or false, found '1'"},
    {"\"name\": \"mul\"", "\"name\": \"load\"", "there is another op of the loop named 'load'"},
    {"\"kernel\": 0", "\"kernel\": 1", "there is no kernel 1, but 1 kernels"},
    {"{\"in\": \"x\", \"at\"", "{\"at\"",
     "the arg has no tag (in, out, inout, out_existing, no_dep, value)"},
    {"{\"in\": \"x\", \"at\"", "{\"in\": \"z\", \"at\"", "unknown buffer 'z'"},
    {"\"at\": [0, 16], \"step\"", "\"at\": [16], \"step\"", "expected [offset, length]"},
    {"\"ring\": 0", "\"ring\": 2", "the loop has no ring 2, but 2"},
    {"\"ring\": 0, ", "", "'ring' and 'back' go together"},
    {", \"back\": 0", "", "'ring' and 'back' go together"},
    {"{\"value\": 7}", "{\"value\": 7, \"step\": 1}",
     "a value has no ring and no range, and moves with nothing"},
    {"{\"value\": 7}", "{\"value\": 7, \"ring\": 0, \"back\": 0}",
     "a value has no ring and no range, and moves with nothing"},
    {"{\"op\": \"load\", \"distance\": 1}", "{\"op\": \"tick\", \"distance\": 1}",
     "unknown op of the loop 'tick'"},
    {"{\"queue\": \"vec\"", "{\"queue\": \"vac\"", "unknown queue 'vac'"},
    {"{\"queue\": \"vec\"", "{\"queue\": \"_gang0\"", "queue 0 of loop 'L2' is queue 3 of 3"},
    {"{\"op\": \"tick\", \"copy\"", "{\"op\": \"tock\", \"copy\"", "unknown op of the loop 'tock'"},
    {"\"waits\": [{\"op\": \"mul\"", "\"waits\": [{\"op\": \"mol\"",
     "unknown op of the loop 'mol'"},
    {"\"scratch\": \"mul\"", "\"scratch\": \"load\"",
     "scratch belongs to the op of its command and lies in a memory"},
    {"{\"scratch\": \"tick\", \"memory\": \"sram\"",
     "{\"scratch\": \"tick\", \"resource\": \"power\"",
     "scratch belongs to the op of its command and lies in a memory"},
    {"\"signal\": false, \"places\": [{\"buffer\": \"acc\"",
     "\"signal\": false, \"places\": [{\"buffer\": \"y\"",
     "the op's next argument is not buffer 'y'"},
    {"\"sync\": \"timeline\"", "\"sync\": \"block\"", "key 'stops' is missing"},
    {"{\"value\": 7}", "{\"value\": 7, \"own\": 0}",
     "a value has no ring and no range, and moves with nothing"},
    {"{\"value\": 7}", "{\"value\": 7, \"begins\": true}", "'begins' is of an 'out_existing'"},
    {"\"ring\": 0, \"back\": 0", "\"ring\": 0, \"back\": 0, \"begins\": true",
     "'begins' is of an 'out_existing'"},
    {"\"ring\": 0, \"back\": 0", "\"ring\": 0, \"back\": 0, \"own\": 1",
     "what has a ring moves with the arg that the ring is in"},
};
static const json_edit nest_edits[] = {
    {"\"within\": 0", "\"within\": 2", "loop 2 is in loop 2, which does not come before it"},
    {"\"within\": 0", "\"within\": \"rows\"", "expected a number from 0 to 2^64-1, found 'rows'"},
    {"\"op\": \"cols\", \"within\"", "\"op\": \"cals\", \"within\"",
     "unknown op of the loop around 'cals'"},
    {"\"op\": \"in\", \"within\": 1", "\"op\": \"pair\"", "the loops do not ascend"},
    {"\"op\": \"post\", \"within\": 0", "\"op\": \"cols\", \"within\": 0",
     "loop 2 is an op with a kernel, or which is loop 3"},
    {"\"own\": 0", "\"own\": 7", "the loop has no arg 7, but 7"},
    {"\"own\": 0", "\"own\": 2",
     "loop arg 16 moves with arg 4, which is not one of loop 'cols' and buffer 0"},
    {"]},\n  {\"op\": \"post\", \"within\"",
     ", {\"queue\": \"vec\", \"commands\": [" NOP "]}]},\n  {\"op\": \"post\", \"within\"",
     "loop 'cols' has 3 queues, but commands on 2"},
    {"{\"op\": \"half\", \"copy\": 1", IN "{\"op\": \"half\", \"copy\": 1",
     "op 1 of loop 'pair' has 2 commands for copy 1, and 1 for copy 0"},
};

static const json_edit synced_edits[] = {
    {"\"shift\": 0, \"issue\": 0, ", "\"shift\": 0, ", "key 'issue' is missing"},
    {"\"at\": 1, ", "\"at\": 3, ", "a sync is before command 3 of the order of issue, of 3"},
    {"\"at\": 1, ", "", "key 'at' is missing"},
    {"\"kind\": \"full\"", "\"kind\": \"count\"",
     "a sync that counts has a queue and what it keeps"},
    {"\"kind\": \"count\", \"queue\"", "\"kind\": \"full\", \"queue\"",
     "a full sync has no queue and keeps nothing"},
    {"\"queue\": \"dma\", \"keep\"", "\"queue\": \"dpu\", \"keep\"",
     "a sync cannot count 'dpu', which is not a queue with 'counting'"},
    {"],\n   \"stops\": [", "],\n   \"syncs\": [", "unknown key 'syncs'"},
};

static void edit_golden(const char *name, const json_edit *edit) {
  fsched_program *p = open_golden(ctx, name), *assembled;
  size_t length;
  uint32_t line;
  char *bad = fs_edited_json(ctx, p, edit->from, edit->to, &length, &line);
  ck_assert_int_eq(fsched_program_assemble(ctx, "bad.json", bad, length, &assembled),
                   FSCHED_BAD_INPUT);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message, edit->message);
  free(bad);
  fsched_program_destroy(p);
}

START_TEST(assembly_faults)
{ edit_golden("loops", &edits[_i]); }
END_TEST

START_TEST(nested_assembly_faults)
{ edit_golden("nest", &nest_edits[_i]); }
END_TEST

START_TEST(synced_assembly_faults)
{ edit_golden("synced", &synced_edits[_i]); }
END_TEST

static fsched_status everything(fsched_context *c, const void *program) {
  fsched_program *again;
  char *text;
  size_t n;
  FS_TRY(fsched_program_text(c, program, &text, &n));
  fsched_text_free(c, text, n);
  FS_TRY(fsched_program_json(c, program, &text, &n));
  fsched_status status = fsched_program_assemble(c, "again", text, n, &again);
  fsched_text_free(c, text, n);
  if (status == FSCHED_OK) {
    fsched_program_destroy(again);
  }
  return status;
}

START_TEST(out_of_memory)
{
  fs_budget budget;
  fsched_context *c = fs_budget_context(&budget);
  fsched_program *p = open_golden(c, golden[_i]);
  fs_fail_each_allocation(c, &budget, everything, p);
  fsched_program_destroy(p);
  fsched_context_destroy(c);
  ck_assert_int_eq(budget.blocks, 0);
}
END_TEST

FS_SUITE(stream_loops, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 5, forms);
  FS_LOOPS(t, 0, 5, out_of_memory);
  FS_TESTS(t, params_listed, no_params_listed, params_compiled);
  FS_LOOPS(t, 0, (int)(sizeof right / sizeof right[0]), allowed);
  FS_LOOPS(t, 0, 12, signed_damage_random);
  FS_LOOPS(t, 0, (int)(sizeof faults / sizeof faults[0]), each_rule);
  FS_LOOPS(t, 0, (int)(sizeof edits / sizeof edits[0]), assembly_faults);
  FS_LOOPS(t, 0, (int)(sizeof nest_edits / sizeof nest_edits[0]), nested_assembly_faults);
  FS_LOOPS(t, 0, (int)(sizeof synced_edits / sizeof synced_edits[0]), synced_assembly_faults);
}
