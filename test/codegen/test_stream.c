/* SPDX-License-Identifier: Apache-2.0 */
/* The command stream: goldens, the check of its binary form, disassembly and assembly. */
#include <unistd.h>
#include "kit/quick.h"

#include "base/crc32c.h"
#include "base/text/fields.h"
#include "codegen/stream_kit.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/golden_case.h"

#include "kit/context.h"

static const char *const cases[] = {"figure-10", "rich", "store", "parts"};

START_TEST(crc32c_vectors)
{
  ck_assert_uint_eq(fs_crc32c(0, "123456789", 9), 0xE3069283u);
  ck_assert_uint_eq(fs_crc32c(0, "", 0), 0);
  unsigned char bytes[300]; /* RFC 3720 B.4: 32 bytes of zeros, ones, or ascending numbers */
  memset(bytes, 0, sizeof bytes);
  ck_assert_uint_eq(fs_crc32c_portable(0, bytes, 32), 0x8A9136AAu);
  memset(bytes, 0xFF, sizeof bytes);
  ck_assert_uint_eq(fs_crc32c_portable(0, bytes, 32), 0x62A8AB43u);
  for (unsigned i = 0; i < sizeof bytes; i++) {
    bytes[i] = (unsigned char)i;
  }
  ck_assert_uint_eq(fs_crc32c_portable(0, bytes, 32), 0x46DD794Eu);
  for (size_t from = 0; from < 9; from++) {
    for (size_t n = 0; n + from < sizeof bytes; n++) {
      uint32_t whole = fs_crc32c(0, bytes + from, n);
      ck_assert_uint_eq(whole, fs_crc32c_portable(0, bytes + from, n));
      size_t half = n / 3;
      ck_assert_uint_eq(whole,
                        fs_crc32c(fs_crc32c(0, bytes + from, half), bytes + from + half, n - half));
    }
  }
}
END_TEST

START_TEST(goldens)
{
  fs_golden_case c;
  fs_golden_open(&c, ctx, cases[_i]);
  fs_check_forms(ctx, c.program, cases[_i]);
  ck_fs(ctx, fsched_verify_program(ctx, c.program, c.graph));
  fs_golden_close(&c);
}
END_TEST

START_TEST(round_trip_random)
{
  fs_gen_params params = fs_gen_any((uint64_t)_i, 80);
  params.views = params.ats;
  params.class_gangs = _i % 3 == 0;
  params.members = params.gangs;
  params.raw = _i % 7 == 0;
  fsched_graph *g;
  fsched_program *p;
  ck_fs(ctx, fs_gen_graph(ctx, &params, &g));
  ck_fs(ctx, fsched_compile(ctx, g, &fs_quick, NULL, &p));
  fsched_graph_destroy(g); /* a program does not need its graph */
  fs_check_round_trip(ctx, p);
  fsched_program_destroy(p);
}
END_TEST

static void refused(const void *bytes, size_t size, const char *code, const char *what) {
  fsched_program *p = NULL;
  fsched_diag_clear(ctx);
  fsched_status status = fsched_program_load(ctx, "bad.fsb", bytes, size, &p);
  ck_assert_msg(status == FSCHED_BAD_INPUT, "%s: status %d", what, status);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  const fsched_diag *d = fsched_diag_get(ctx, 0);
  ck_assert_msg(code == NULL || strcmp(code, d->code) == 0, "%s: %s: %s", what, d->code,
                d->message);
  ck_assert_str_eq(d->file, "bad.fsb");
  /* A program used in place is refused for the same reason. */
  ck_assert_int_eq(fsched_program_borrow(ctx, "bad.fsb", bytes, size, &p), FSCHED_BAD_INPUT);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message, fsched_diag_get(ctx, 1)->message);
}

START_TEST(every_prefix)
{
  fs_golden_case c;
  fs_golden_open(&c, ctx, cases[_i]);
  fs_stream_copy k = fs_stream_copy_of(c.program);
  for (size_t n = 0; n < k.size; n++) {
    unsigned char *cut = malloc(n == 0 ? 1 : n); /* the sanitizer guards its end */
    memcpy(cut, k.bytes, n);
    refused(cut, n, "stream-size", "prefix");
    free(cut);
  }
  free(k.bytes);
  fs_golden_close(&c);
}
END_TEST

START_TEST(every_flipped_byte)
{
  fs_golden_case c;
  fs_golden_open(&c, ctx, cases[_i]);
  fs_stream_copy k = fs_stream_copy_of(c.program);
  for (size_t i = 0; i < k.size; i++) {
    for (unsigned bit = 0; bit < 8; bit += 7) {
      k.bytes[i] ^= (unsigned char)(1u << bit);
      refused(k.bytes, k.size, NULL, "flip");
      k.bytes[i] ^= (unsigned char)(1u << bit);
    }
    k.bytes[i] ^= 0xFF;
    refused(k.bytes, k.size, NULL, "flip");
    k.bytes[i] ^= 0xFF;
  }
  free(k.bytes);
  fs_golden_close(&c);
}
END_TEST

/* Streams are damaged under a right checksum: they are refused, or are accepted and then have only
 * one form. */
START_TEST(signed_damage_random)
{
  fs_golden_case c;
  fs_golden_open(&c, ctx, cases[_i % 4]);
  fs_rng rng = {(uint64_t)_i};
  unsigned accepted = 0;
  for (int n = 0; n < 1500; n++) {
    fs_stream_copy k = fs_stream_copy_of(c.program);
    fs_stream_damage(&k, &rng, 0, k.size);
    fs_stream_copy_sign(&k);
    fsched_program *p;
    fsched_diag_clear(ctx);
    fsched_status status = fsched_program_load(ctx, "damaged", k.bytes, k.size, &p);
    if (status == FSCHED_OK) {
      accepted++;
      fs_check_round_trip(ctx, p);
      fsched_program_destroy(p);
    } else {
      ck_assert_int_eq(status, FSCHED_BAD_INPUT);
      ck_assert_uint_eq(fsched_diag_count(ctx), 1);
    }
    free(k.bytes);
  }
  ck_assert_uint_gt(accepted, 10);
  fs_golden_close(&c);
}
END_TEST

/* Each is one fault in "rich": q0, q1, gang0 with collective _gang0; command 1 is the gang op
 * sum. */
#define FAULT(name, statement, code_) \
  static void fault_##name(fs_stream_copy *k) { statement; }
#include "codegen/stream_faults.def"
#include "model/handle.h"
#undef FAULT
static const struct {
  const char *name, *code;
  void (*apply)(fs_stream_copy *k);
} faults[] = {
#define FAULT(name, statement, code_) {#name, code_, fault_##name},
#include "codegen/stream_faults.def"
#undef FAULT
};

START_TEST(each_rule)
{
  fs_golden_case c;
  fs_golden_open(&c, ctx, "rich");
  fs_stream_copy k = fs_stream_copy_of(c.program);
  faults[_i].apply(&k);
  fs_stream_copy_sign(&k);
  refused(k.bytes, k.size, faults[_i].code, faults[_i].name);
  free(k.bytes);
  fs_golden_close(&c);
}
END_TEST

/* Each is one fault in "parts": members and views. */
#define FAULT(name, statement, code_) \
  static void member_fault_##name(fs_stream_copy *k) { statement; }
#include "codegen/stream_member_faults.def"
#undef FAULT
static const struct {
  const char *name, *code;
  void (*apply)(fs_stream_copy *k);
} member_faults[] = {
#define FAULT(name, statement, code_) {#name, code_, member_fault_##name},
#include "codegen/stream_member_faults.def"
#undef FAULT
};

START_TEST(each_rule_of_members)
{
  fs_golden_case c;
  fs_golden_open(&c, ctx, "parts");
  fs_stream_copy k = fs_stream_copy_of(c.program);
  member_faults[_i].apply(&k);
  fs_stream_copy_sign(&k);
  refused(k.bytes, k.size, member_faults[_i].code, member_faults[_i].name);
  free(k.bytes);
  fs_golden_close(&c);
}
END_TEST

/* No program can have these, as the builder refuses them. */
START_TEST(bad_names_and_machines)
{
  fsched_builder *b;
  ck_fs(ctx, fsched_builder_create(ctx, "bad", &b));
  uint32_t id;
  fsched_queue_desc q = {.size = sizeof q, .name = "q", .machine = _i == 0 ? 256 : 255};
  fsched_status status = fsched_builder_queue(b, &q, &id);
  fsched_op_desc o = {.size = sizeof o, .name = _i == 0 ? "op" : "o\xC0p", .time = 1};
  fsched_graph *g = NULL;
  fsched_program *p;
  status = status == FSCHED_OK ? fsched_builder_op(b, &o, &id) : status;
  status = status == FSCHED_OK ? fsched_builder_finish(b, &g) : status;
  status = status == FSCHED_OK ? fsched_compile(ctx, g, &fs_quick, NULL, &p) : status;
  ck_assert_int_eq(status, FSCHED_BAD_INPUT);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  fsched_graph_destroy(g);
  fsched_builder_destroy(b);
}
END_TEST

/* Any text comes back unchanged through YAML. */
START_TEST(quoted_texts)
{
  static const char *const texts[][2] = {
      {"plain", "\"plain\""},
      {"a\"\\\n\t", "\"a\\\"\\\\\\u000a\\u0009\""},
      {"\xC3\xA9\"\\\n", "\"\xC3\xA9\\\"\\\\\\u000a\""},
      {"\x7F", "\"\\u007f\""},
      {"\xC2\x85\xC2\xA0", "\"\\u0085\xC2\xA0\""},
      {"\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xAA", "\"\\u2028\\u2029\xE2\x80\xAA\""},
      {"\xEF\xBB\xBF\xEF\xBF\xBE\xEF\xBF\xBF", "\"\\ufeff\\ufffe\\uffff\""},
      {"\xF0\x9F\x98\x80", "\"\xF0\x9F\x98\x80\""},
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    fs_text t;
    char *text;
    size_t n;
    fs_text_init(&t, ctx);
    fs_text_quoted(&t, texts[i][0]);
    ck_fs(ctx, fs_text_take(&t, &text, &n));
    ck_assert_str_eq(text, texts[i][1]);
    fs_arena arena;
    fs_doc doc;
    fs_arena_init(&arena, ctx);
    ck_fs(ctx, fs_doc_parse(ctx, &arena, "text", text, n, &doc));
    ck_assert_str_eq(doc.node[0].text, texts[i][0]);
    fs_arena_release(&arena);
    fsched_text_free(ctx, text, n);
  }
}
END_TEST

/* Keys of YAML are limited in length, names are not: a frontier contains names of queues. */
/* Op 0 needs a resource and scratch in a memory of this name, and of a short one. */
static void add_needs(fsched_builder *b, const char *name) {
  const char *const names[] = {name, "short"};
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t id;
    ck_fs(ctx, fsched_builder_resource(b, names[i], 7 + i, &id));
    ck_fs(ctx, fsched_builder_use(b, 0, id, 3 + i));
    fsched_memory_desc m = {.size = sizeof m, .name = names[i], .capacity = 64};
    ck_fs(ctx, fsched_builder_memory(b, &m, &id));
    ck_fs(ctx, fsched_builder_scratch(b, 0, id, 16 + i));
  }
}

START_TEST(long_names)
{
  char name[2001];
  size_t length = (size_t[]){160, 161, 2000}[_i];
  memset(name, '\n', length); /* this is the longest when it is written */
  name[length] = '\0';
  fsched_builder *b;
  fsched_graph *g;
  fsched_program *p, *back;
  uint32_t id;
  ck_fs(ctx, fsched_builder_create(ctx, "long", &b));
  fsched_queue_desc q = {.size = sizeof q, .name = name};
  ck_fs(ctx, fsched_builder_queue(b, &q, &id));
  fsched_op_desc o = {.size = sizeof o, .name = "a", .time = 1};
  ck_fs(ctx, fsched_builder_op(b, &o, &id));
  add_needs(b, name);
  ck_fs(ctx, fsched_builder_finish(b, &g));
  ck_fs(ctx,
        fsched_compile(
            ctx, g, &(fsched_compile_options){.size = sizeof(fsched_compile_options), .verify = 1},
            NULL, &p));
  char *text;
  size_t n, size, size_back;
  ck_fs(ctx, fsched_program_json(ctx, p, &text, &n));
  ck_fs(ctx, fsched_program_assemble(ctx, "long", text, n, &back));
  const void *bytes = fsched_program_bytes(p, &size),
             *bytes_back = fsched_program_bytes(back, &size_back);
  ck_assert_uint_eq(size, size_back);
  ck_assert_int_eq(memcmp(bytes, bytes_back, size), 0);
  fsched_text_free(ctx, text, n);
  fsched_program_destroy(back);
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
  fsched_builder_destroy(b);
}
END_TEST

START_TEST(files)
{
  fs_golden_case c;
  fs_golden_open(&c, ctx, "rich");
  char path[] = "/tmp/fsched-test-XXXXXX";
  int fd = mkstemp(path);
  ck_assert_int_ge(fd, 0);
  size_t size, again;
  const void *bytes = fsched_program_bytes(c.program, &size);
  ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
  fsched_program *p;
  ck_fs(ctx, fsched_program_open(ctx, path, &p));
  ck_assert_mem_eq(fsched_program_bytes(p, &again), bytes, size);
  ck_assert_uint_eq(again, size);
  fs_check_round_trip(ctx, p);
  fsched_program_destroy(p);
  ck_fs(ctx, fsched_program_map(ctx, path, &p));
  ck_assert_mem_eq(fsched_program_bytes(p, &again), bytes, size);
  ck_assert_uint_eq(again, size);
  fsched_program_destroy(p);
  ck_assert_int_eq(ftruncate(fd, (off_t)size - 8), 0);
  ck_assert_int_eq(fsched_program_map(ctx, path, &p), FSCHED_BAD_INPUT);
  ck_assert_int_eq(fsched_program_open(ctx, path, &p), FSCHED_BAD_INPUT);
  ck_assert_int_eq(ftruncate(fd, 0), 0);
  ck_assert_int_eq(fsched_program_open(ctx, path, &p), FSCHED_BAD_INPUT);
  ck_assert_int_eq(close(fd), 0);
  ck_assert_int_eq(unlink(path), 0);
  fsched_diag_clear(ctx);
  ck_assert_int_eq(fsched_program_open(ctx, path, &p), FSCHED_SYSTEM);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "file");
  fsched_program_destroy(NULL);
  fs_golden_close(&c);
}
END_TEST

/* A loaded program has memory of its own: its file may be overwritten, cut and removed. */
START_TEST(file_that_changes_after_loading)
{
  fs_golden_case c;
  fs_golden_open(&c, ctx, "rich");
  char path[] = "/tmp/fsched-test-XXXXXX";
  int fd = mkstemp(path);
  size_t size, again;
  const void *bytes = fsched_program_bytes(c.program, &size);
  ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
  fsched_program *p;
  ck_fs(ctx, fsched_program_open(ctx, path, &p));
  ck_assert_int_eq(pwrite(fd, "another file", 12, 64), 12);
  ck_assert_mem_eq(fsched_program_bytes(p, &again), bytes, size);
  ck_assert_int_eq(ftruncate(fd, 0), 0); /* with a mapping, the pages would be gone */
  ck_assert_mem_eq(fsched_program_bytes(p, &again), bytes, size);
  ck_assert_uint_eq(again, size);
  fs_check_round_trip(ctx, p);
  fsched_program_destroy(p);
  ck_assert_int_eq(close(fd), 0);
  ck_assert_int_eq(unlink(path), 0);
  fs_golden_close(&c);
}
END_TEST

/* Each replaces one text in the disassembly of "rich". */
static const struct {
  const char *from, *to, *code, *message;
} edits[] = {
    {"\"fsched_program\": 15", "\"fsched_program\": 1", "stream-version",
     "the text has format version 1; this fsched reads version 15"},
    {"\"frontier_capacity\"", "\"barriers\": {}, \"frontier_capacity\"", "stream-key",
     "'barriers' belongs to programs with sync 'barrier', this one has 'timeline'"},
    {"\"races\": [],", "\"races\": [], \"stops\": [],", "stream-key",
     "'stops' belongs to programs with sync 'block', this one has 'timeline'"},
    {"\"sync\": \"timeline\"", "\"sync\": \"barrier\"", "stream-key", "key 'barriers' is missing"},
    {"\"sync\": \"timeline\"", "\"sync\": \"block\"", "stream-key", "key 'stops' is missing"},
    {"\"waits\": [{\"axis\": \"gang0\"", "\"issue\": 0, \"waits\": [{\"axis\": \"gang0\"",
     "stream-key", "'issue' belongs to programs with sync 'block', this one has 'timeline'"},
    {"\"commands\": [\n   {",
     "\"commands\": [\n   {\"kind\": \"barrier_wait\", \"barrier\": 0, \"physical\": 0, \"use\": "
     "0}, {",
     "stream-key",
     "'barrier_wait' belongs to programs with sync 'barrier', this one has 'timeline'"},
    {"\"makespan\"", "\"makspan\"", "stream-key", "unknown key 'makspan'"},
    {"\"races\": [],", "", "stream-key", "key 'races' is missing"},
    {"\"hazards\": \"sequential\"", "\"hazards\": \"none\"", "stream-type",
     "expected sequential, raw, found 'none'"},
    {"\"makespan\": 24", "\"makespan\": \"24\"", "stream-type",
     "expected a number from 0 to 2^64-1, found '24'"},
    {"\"id\": \"0x01", "\"id\": \"01", "stream-type",
     "expected \"0x\" and 16 hexadecimal digits, found '0100000000000000'"},
    {"\"members\": [\"q0\"", "\"members\": [\"q2\"", "stream-reference", "unknown queue 'q2'"},
    {"\"name\": \"tokens\"", "\"name\": \"sram\"", "stream-name",
     "there is another memory named 'sram'"},
    {"\"backing\": \"hbm\"", "\"backing\": \"hbn\"", "stream-reference", "unknown memory 'hbn'"},
    {"\"in\": \"image\"", "\"in\": \"imag\"", "stream-reference", "unknown buffer 'imag'"},
    {"\"in\": \"image\"", "\"out\": \"raw\", \"in\": \"image\"", "stream-key",
     "an arg has one tag"},
    {"{\"in\": \"image\", ", "{", "stream-key",
     "the arg has no tag (in, out, inout, out_existing, no_dep, value)"},
    {"\"in\": \"image\", \"version\": 0", "\"in\": \"image\", \"version\": 3", "stream-reference",
     "buffer 'image' has no version 3, but 1 versions"},
    {"\"at\": [1, 16]", "\"at\": [1]", "stream-type", "expected [offset, length]"},
    {"\"at\": [1, 16]", "\"at\": [2, 16]", "stream-value",
     "arg 4 is the range [2, +16) of 17 bytes"},
    {"\"after\": [\"load\"]", "\"after\": [\"lod\"]", "stream-reference", "unknown op 'lod'"},
    {"\"uses\": {\"power\"", "\"uses\": {\"powder\"", "stream-reference",
     "unknown resource 'powder'"},
    {"\"grid\": [4, 2, 1]", "\"grid\": [4, 2]", "stream-type", "expected [x, y, z]"},
    {"\"value\": -9223372036854775808", "\"value\": -9223372036854775809", "stream-type",
     "expected a number from -2^63 to 2^63-1, found '-9223372036854775809'"},
    {"\"op\": \"load\"", "\"op\": \"unload\"", "stream-reference", "unknown op 'unload'"},
    {"\"kind\": \"run\", \"op\": \"load\"", "\"kind\": \"run\"", "stream-key",
     "a command that runs has an op, and no buffer, version or direction"},
    {"\"direction\": \"read\", ", "", "stream-key",
     "a copy has a buffer, a version and a direction, and no op"},
    {"\"waits\": [{\"axis\": \"gang0\"", "\"waits\": [{\"axis\": \"gang1\"", "stream-reference",
     "unknown axis 'gang1'"},
    {"\"epoch\": 1,", "\"epoch\": 4294967296,", "stream-type",
     "expected a number below 2^32, found '4294967296'"},
    {"\"kernel\": 1", "\"kernel\": 2", "stream-reference", "there is no kernel 2, but 2 kernels"},
    {"\"epoch\": 1,", "\"epoch\": 2,", "stream-epoch", "command 1 of queue 'q0' has epoch 2"},
    {"\"signal\": true", "\"signal\": 1", "stream-type", "expected true or false, found '1'"},
    {"\"mode\": \"r\"", "\"mode\": \"x\"", "stream-type", "expected none, r, w, rw, found 'x'"},
    {"\"mode\": \"r\"", "\"mode\": \"none\"", "stream-place",
     "a place of command 1 of queue 'q0' has space 0, mode 0"},
    {"\"places\": [{\"buffer\": \"image\"", "\"places\": [{\"buffer\": \"raw\"", "stream-place",
     "the op's next argument is not buffer 'raw'"},
    {"\"counted\": \"tokens\"", "\"counted\": \"tokens\", \"memory\": \"sram\"", "stream-key",
     "a place has one of memory, counted, resource, concurrency"},
    {"\"memory\": \"sram\", \"address\": 24, \"size\": 20, \"mode\"",
     "\"address\": 24, \"size\": 20, \"mode\"", "stream-key",
     "the place has no memory, counted, resource or concurrency"},
    {"\"scratch\": \"sum\", \"memory\"", "\"scratch\": \"load\", \"memory\"", "stream-place",
     "scratch belongs to the op of its command and lies in a memory"},
    {"\"scratch\": \"sum\", \"memory\": \"sram\"", "\"scratch\": \"sum\", \"memory\": \"hbm\"",
     "stream-place", "op 'sum' has no scratch in that memory"},
    {"\"axes\": [", "\"axes\": [3, ", "stream-type", "expected a mapping, found '3'"},
    {"\"builtin\": \"mix\", ", "", "stream-value",
     "kernel 0 is neither a builtin alone, nor a function of a module"},
    {"\"builtin\": \"mix\", ", "\"builtin\": \"mix\", \"module\": \"m\", ", "stream-value",
     "kernel 0 is neither a builtin alone, nor a function of a module"},
    {"\"builtin\": \"mix\", ", "\"builtin\": \"mix\", \"module\": \"m\", \"function\": \"f\", ",
     "stream-value", "kernel 0 is neither a builtin alone, nor a function of a module"},
    {"\"function\": \"sum\", ", "", "stream-value",
     "kernel 1 is neither a builtin alone, nor a function of a module"},
    {"\"builtin\": \"mix\"", "\"builtin\": \"mux\"", "stream-value",
     "kernel 0 is 'mux', and no built-in kernel has that name"},
};

START_TEST(assembly_faults)
{
  fs_golden_case c;
  fs_golden_open(&c, ctx, "rich");
  size_t length;
  uint32_t line;
  char *bad = fs_edited_json(ctx, c.program, edits[_i].from, edits[_i].to, &length, &line);
  fsched_program *p;
  ck_assert_int_eq(fsched_program_assemble(ctx, "bad.json", bad, length, &p), FSCHED_BAD_INPUT);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  const fsched_diag *d = fsched_diag_get(ctx, 0);
  ck_assert_str_eq(d->message, edits[_i].message);
  ck_assert_str_eq(d->code, edits[_i].code);
  ck_assert_str_eq(d->file, "bad.json");
  free(bad);
  fs_golden_close(&c);
}
END_TEST

/* Every mention of the name is replaced by the empty name. */
START_TEST(no_empty_names)
{
  static const char *const names[][2] = {
      {"\"q0\"", "axis 0 has no name"},     {"\"_gang0\"", "axis 3 has no name"},
      {"\"disk\"", "memory 3 has no name"}, {"\"power\"", "resource 0 has no name"},
      {"\"mid\"", "buffer 5 has no name"},  {"\"final\"", "op 3 has no name"}};
  fs_golden_case c;
  fs_golden_open(&c, ctx, "rich");
  size_t n, length = strlen(names[_i][0]);
  char *text;
  ck_fs(ctx, fsched_program_json(ctx, c.program, &text, &n));
  fs_text nameless;
  fs_text_init(&nameless, ctx);
  const char *at = text;
  for (const char *next; (next = strstr(at, names[_i][0])) != NULL; at = next + length) {
    fs_text_add(&nameless, at, (size_t)(next - at));
    fs_text_puts(&nameless, "\"\"");
  }
  fs_text_puts(&nameless, at);
  fsched_program *p;
  ck_assert_int_eq(fsched_program_assemble(ctx, "bad.json", nameless.at, nameless.n, &p),
                   FSCHED_BAD_INPUT);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message, names[_i][1]);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "stream-name");
  fs_text_drop(&nameless);
  fsched_text_free(ctx, text, n);
  fs_golden_close(&c);
}
END_TEST

START_TEST(damaged_text_random)
{
  fs_golden_case c;
  fs_golden_open(&c, ctx, cases[_i % 4]);
  char *text;
  size_t n;
  ck_fs(ctx, fsched_program_json(ctx, c.program, &text, &n));
  char *bad = malloc(n);
  fs_rng rng = {(uint64_t)_i};
  for (int k = 0; k < 200; k++) {
    memcpy(bad, text, n);
    size_t length = k % 4 == 0 ? fs_rng_below(&rng, (uint32_t)n) : n;
    for (uint32_t m = fs_rng_below(&rng, 3) + (k % 4 != 0); m-- > 0;) {
      static const char letters[] = "0123456789\"{}[],: abc-\n\x80\xff";
      bad[fs_rng_below(&rng, (uint32_t)n)] = letters[fs_rng_below(&rng, sizeof letters - 1)];
    }
    fsched_program *p;
    fsched_diag_clear(ctx);
    fsched_status status = fsched_program_assemble(ctx, "damaged", bad, length, &p);
    if (status == FSCHED_OK) {
      fs_check_round_trip(ctx, p);
      fsched_program_destroy(p);
    } else {
      ck_assert_int_eq(status, FSCHED_BAD_INPUT);
      ck_assert_uint_gt(fsched_diag_count(ctx), 0);
    }
  }
  free(bad);
  fsched_text_free(ctx, text, n);
  fs_golden_close(&c);
}
END_TEST

static fsched_status everything(fsched_context *c, const void *schedule) {
  const fsched_schedule *s = schedule;
  fsched_program *p = NULL, *q = NULL;
  char *text = NULL;
  size_t n = 0, size;
  FS_TRY(fs_codegen_run(c, s->schedule, s->sync, &p));
  const void *bytes = fsched_program_bytes(p, &size);
  fsched_status status = fsched_program_load(c, "p", bytes, size, &q);
  if (status == FSCHED_OK) {
    fsched_program_destroy(q);
    status = fsched_program_text(c, p, &text, &n);
  }
  if (status == FSCHED_OK) {
    fsched_text_free(c, text, n);
    status = fsched_program_json(c, p, &text, &n);
  }
  if (status == FSCHED_OK) {
    status = fsched_program_assemble(c, "p", text, n, &q);
    fsched_text_free(c, text, n);
  }
  if (status == FSCHED_OK) {
    fsched_program_destroy(q);
  }
  fsched_program_destroy(p);
  return status;
}

/* Every allocation of codegen, load, disassembly and assembly fails once. */
START_TEST(out_of_memory)
{
  fs_budget budget;
  fsched_context *c = fs_budget_context(&budget);
  fs_golden_case g;
  fs_golden_open(&g, c, "rich");
  fs_fail_each_allocation(c, &budget, everything, g.schedule);
  fs_golden_close(&g);
  fsched_context_destroy(c);
  ck_assert_int_eq(budget.blocks, 0);
}
END_TEST

FS_SUITE(stream, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, crc32c_vectors, quoted_texts, files, file_that_changes_after_loading, out_of_memory);
  FS_LOOPS(t, 0, 4, goldens, every_prefix, every_flipped_byte);
  FS_LOOPS(t, 0, 3, long_names);
  FS_LOOPS(t, 0, 80, round_trip_random);
  FS_LOOPS(t, 0, 8, signed_damage_random);
  FS_LOOPS(t, 0, 6, no_empty_names, damaged_text_random);
  FS_LOOPS(t, 0, (int)(sizeof faults / sizeof faults[0]), each_rule);
  FS_LOOPS(t, 0, (int)(sizeof member_faults / sizeof member_faults[0]), each_rule_of_members);
  FS_LOOPS(t, 0, 2, bad_names_and_machines);
  FS_LOOPS(t, 0, (int)(sizeof edits / sizeof edits[0]), assembly_faults);
}
