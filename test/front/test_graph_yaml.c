/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/text/diag_format.h"
#include "kit/budget.h"
#include "kit/temp_dir.h"
#include "model/graph.h"

#include "kit/context.h"

/* This text has every key of the format. */
static const char rich[] =
    "fsched: 1\n"
    "name: rich\n"
    "hazards: sequential\n"
    "target:\n"
    "  time_unit: us\n"
    "  queues:\n"
    "    - {name: dpu, class: compute, device: 2, machine: 1}\n"
    "    - {name: dma, class: copy, counting: false, host: true}\n"
    "  memories:\n"
    "    - name: cmx\n"
    "      capacity: 2MiB\n"
    "      align: 64\n"
    "      placement: contiguous\n"
    "      backing: ddr\n"
    "      spill: {on: copy, write: {fixed: 1, rate: 10}, read: {fixed: 2, rate: 0}}\n"
    "    - {name: tokens, capacity: 4096, placement: counted}\n"
    "    - {name: ddr, host: true}\n"
    "  resources: [{name: power, capacity: 12}]\n"
    "  concurrency: 4\n"
    "  barriers: {count: 8, slots: 256}\n"
    "  frontier: {capacity: 3}\n"
    "  sync: timeline\n"
    "buffers:\n"
    "  - {name: image, size: 64KiB, memory: cmx, io: input}\n"
    "  - {name: sum, size: 100, io: state}\n"
    "  - {name: y, size: 8192, io: output}\n"
    "  - {name: table, size: 8192, memory: ddr}\n"
    "ops:\n"
    "  - name: conv1\n"
    "    on: compute\n"
    "    time: 12\n"
    "    after: [load1]\n"
    "    start: 40\n"
    "    args:\n"
    "      - {in: image}\n"
    "      - {out: act1, size: 65536, memory: cmx}\n"
    "      - {inout: sum}\n"
    "      - {out_existing: y, at: [4096, 1KiB]}\n"
    "      - {no_dep: table}\n"
    "      - {value: -3}\n"
    "    uses: {power: 3}\n"
    "    scratch: {cmx: 2, tokens: 1}\n"
    "    slots: 3\n"
    "    inplace: {act1: image}\n"
    "    kernel: {module: k.so, function: conv, grid: [1, 2, 3], block: [4], shared: 4KiB}\n"
    "  - {name: load1, size: 5, on: [dma, dpu], kernel: {builtin: mix}}\n"
    "  - {name: last, on: dma, time: 0, args: [{in: act1}, {in: y, at: [4096, 1024]}]}\n";

static void check_rich_target(const fsched_graph *g) {
  const fs_target *t = &g->target;
  ck_assert_str_eq(g->name, "rich");
  ck_assert_str_eq(t->time_unit, "us");
  ck_assert_uint_eq(t->n_queues, 2);
  ck_assert_uint_eq(t->queue[0].device, 2);
  ck_assert_uint_eq(t->queue[0].machine, 1);
  ck_assert_str_eq(t->class_name[t->queue[1].class_id], "copy");
  ck_assert_uint_eq(t->memory[0].capacity, 2 << 20);
  ck_assert_uint_eq(t->memory[0].align, 64);
  ck_assert_uint_eq(t->memory[0].backing, 2);
  ck_assert_uint_eq(t->domain_queue[t->domain_queue0[t->memory[0].spill_domain]], 1);
  ck_assert_int_eq(t->memory[1].placement, FSCHED_COUNTED);
  ck_assert(!fs_memory_bounded(&t->memory[2]));
  ck_assert_uint_eq(fs_spill_write_time(&t->memory[0], 11), 3);
  ck_assert_uint_eq(fs_spill_read_time(&t->memory[0], 11), 2);
  ck_assert_uint_eq(t->resource_capacity[0], 12);
  ck_assert_uint_eq(t->concurrency, 4);
  ck_assert_uint_eq(t->frontier_capacity, 3);
  ck_assert_uint_eq(t->barrier_count, 8);
  ck_assert_uint_eq(t->barrier_slots, 256);
  ck_assert_int_eq(t->sync, FS_SYNC_TIMELINE);
  ck_assert(!t->queue[0].counting && !t->queue[1].counting && !t->memory[0].stack);
  ck_assert(!t->queue[0].host && t->queue[1].host && !t->memory[0].host && t->memory[2].host);
}

START_TEST(every_key)
{
  fsched_graph *g = fs_parse(rich);
  check_rich_target(g);
  ck_assert_uint_eq(g->n_ops, 3);
  ck_assert_uint_eq(g->op_time[0], 12);
  ck_assert_uint_eq(g->op_time[1], 1);
  ck_assert_uint_eq(g->op_time[2], 0);
  ck_assert_uint_eq(g->op_start[0], 40);
  ck_assert_uint_eq(g->op_slots[0], 3);
  ck_assert_uint_eq(g->op_slots[1], 1);
  ck_assert(g->op_start[1] == FS_TICK_NONE);
  ck_assert_uint_eq(g->op_gang[1], 0);
  ck_assert_uint_eq(g->pred[g->pred0[0]], 1);
  ck_assert_uint_eq(g->topo[0], 1);
  ck_assert_uint_eq(g->op_arg0[1], 6);
  ck_assert_int_eq(g->arg_value[5], -3);
  ck_assert_uint_eq(g->arg_offset[3], 4096);
  ck_assert_uint_eq(g->arg_length[3], 1024);
  ck_assert_uint_eq(g->use_amount[0], 3);
  ck_assert_uint_eq(g->op_scratch0[1], 2);
  ck_assert_uint_eq(g->op_inplace0[1], 1);
  ck_assert_uint_eq(g->inplace_out[0], 1);
  const fs_kernel *k = &g->kernel[g->op_kernel[0]];
  ck_assert_str_eq(k->function, "conv");
  ck_assert_uint_eq(k->grid[2], 3);
  ck_assert_uint_eq(k->block[1], 1);
  ck_assert_uint_eq(k->shared_bytes, 4096);
  ck_assert_str_eq(g->kernel[g->op_kernel[1]].builtin, "mix");
  ck_assert_str_eq(g->buffer_name[g->arg_buffer[g->op_arg0[1]]], "load1");
  ck_assert_uint_eq(fsched_diag_count(ctx), 0);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(defaults)
{
  fsched_graph *g =
      fs_parse("fsched: 1\nops:\n  - {name: a, size: 7}\n  - {name: b, args: [{in: a}]}\n");
  ck_assert_str_eq(g->name, "g");
  ck_assert(g->target.implicit_queues);
  ck_assert_uint_eq(g->target.frontier_capacity, 16);
  ck_assert_uint_eq(g->target.concurrency, 0);
  ck_assert_int_eq(g->hazards, FSCHED_HAZARDS_SEQUENTIAL);
  ck_assert_uint_eq(g->op_time[0], 1);
  ck_assert_uint_eq(g->n_edges, 1);
  ck_assert_ptr_null(g->op_start);
  ck_assert_uint_eq(g->buffer_size[0], 7);
  fsched_graph_destroy(g);
}
END_TEST

/* YAML 1.1 would read these as booleans, null and octal numbers. */
START_TEST(names_of_yaml_words)
{
  fsched_graph *g = fs_parse(
      "fsched: 1\nops: [{name: on}, {name: yes}, {name: ~, after: [n]}, {name: n}, {name: 012}]\n");
  ck_assert_str_eq(g->op_name[0], "on");
  ck_assert_str_eq(g->op_name[2], "~");
  ck_assert_str_eq(g->op_name[4], "012");
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(json_is_yaml)
{
  fsched_graph *g = fs_parse(
      "{\"fsched\": 1, \"ops\": [{\"name\": \"a\", \"time\": 3},\n"
      "\t{\"name\": \"b\", \"after\": [\"a\"]}]}");
  ck_assert_uint_eq(g->n_edges, 1);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(raw_hazards_list_races)
{
  fsched_graph *g = fs_parse(
      "fsched: 1\nhazards: raw\nbuffers: [{name: x, size: 8, io: input}]\n"
      "ops:\n  - {name: r, args: [{in: x}]}\n"
      "  - {name: w, args: [{inout: x}]}\n"
      "  - {name: v, args: [{out_existing: x, at: [0, 4]}]}\n");
  ck_assert_uint_eq(g->n_edges, 0);
  ck_assert_uint_eq(g->n_races, 3);
  fsched_graph_destroy(g);
}
END_TEST

static fs_status read_with(const char *memory, const char *setting, fsched_graph **g) {
  fsched_read_options o = {.size = sizeof o,
                           .memory_overrides = &memory,
                           .n_memory_overrides = memory != NULL,
                           .target_overrides = &setting,
                           .n_target_overrides = setting != NULL};
  fsched_diag_clear(ctx);
  return fsched_graph_parse(ctx, "t.yaml", rich, strlen(rich), &o, g);
}

START_TEST(overrides)
{
  fsched_graph *g;
  ck_assert_int_eq(read_with("cmx=1MiB", "concurrency=9", &g), FSCHED_OK);
  ck_assert_uint_eq(g->target.memory[0].capacity, 1 << 20);
  ck_assert_uint_eq(g->target.concurrency, 9);
  fsched_graph_destroy(g);
  ck_assert_int_eq(read_with(NULL, "memories.cmx.spill.write.rate=5", &g), FSCHED_OK);
  ck_assert_uint_eq(g->target.memory[0].write_rate, 5);
  ck_assert_uint_eq(g->target.memory[0].write_fixed, 1);
  fsched_graph_destroy(g);
  ck_assert_int_eq(read_with("tokens=1MiB", "resources.power.capacity=3", &g), FSCHED_OK);
  ck_assert_uint_eq(g->target.memory[1].capacity, 1 << 20);
  ck_assert_uint_eq(g->target.resource_capacity[0], 3);
  fsched_graph_destroy(g);
  ck_assert_int_eq(read_with("cmx=64KiB", NULL, &g), FSCHED_INFEASIBLE);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "does-not-fit");
  ck_assert_int_eq(read_with(NULL, "queues.dpu.class=x", &g), FSCHED_USAGE);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "bad-override");
  ck_assert_int_eq(read_with(NULL, "sync=blok", &g), FSCHED_USAGE);
  ck_assert_int_eq(read_with(NULL, "frontier.capacity=0", &g), FSCHED_USAGE);
  ck_assert_int_eq(read_with("cmz=1", NULL, &g), FSCHED_USAGE);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->hint, "did you mean 'cmx'?");
}
END_TEST

START_TEST(overrides_without_a_target)
{
  const char *set[] = {"concurrency=2", "frontier.capacity=4"};
  fsched_read_options o = {.size = sizeof o, .target_overrides = set, .n_target_overrides = 2};
  static const char text[] = "fsched: 1\nops: [{name: a}]\n";
  fsched_graph *g;
  ck_assert_int_eq(fsched_graph_parse(ctx, "t", text, strlen(text), &o, &g), FSCHED_OK);
  ck_assert_uint_eq(g->target.concurrency, 2);
  ck_assert_uint_eq(g->target.frontier_capacity, 4);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(target_in_a_file_of_its_own)
{
  fs_temp_dir dir;
  char graph[80];
  char target[80];
  fs_temp_dir_make(dir);
  (void)snprintf(graph, sizeof graph, "%s/g.yaml", dir);
  (void)snprintf(target, sizeof target, "%s/t.yaml", dir);
  static const char g_text[] = "fsched: 1\ntarget: t.yaml\nops: [{name: a, on: gpu}]\n";
  static const char t_text[] = "fsched: 1\nqueues: [{name: g0, class: gpu}]\n";
  ck_assert_int_eq(fs_file_write(ctx, graph, g_text, strlen(g_text)), FSCHED_OK);
  ck_assert_int_eq(fs_file_write(ctx, target, t_text, strlen(t_text)), FSCHED_OK);
  fsched_graph *g;
  ck_assert_int_eq(fsched_graph_read(ctx, graph, NULL, &g), FSCHED_OK);
  ck_assert_str_eq(g->target.queue[0].name, "g0");
  ck_assert_str_eq(fsched_graph_name(g), "g");
  ck_assert_uint_eq(fsched_graph_files(g), 2);
  ck_assert_str_eq(fsched_graph_file(g, 0), graph);
  ck_assert_str_eq(fsched_graph_file(g, 1), target);
  fsched_graph_destroy(g);
  fs_temp_dir_drop(dir);
}
END_TEST

/* The 22 shared scenarios parse and have the edges that are written in them. */
START_TEST(shared_scenarios)
{
  const char *shared = getenv("FSCHED_SHARED");
  char path[512];
  (void)snprintf(path, sizeof path, "%s/data/scenarios", shared == NULL ? "../shared" : shared);
  DIR *d = opendir(path);
  if (d == NULL) {
    printf("shared_scenarios: skipped, there is no %s\n", path);
    return;
  }
  int n = 0;
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    if (strstr(e->d_name, ".yaml") != NULL) {
      char file[1024];
      (void)snprintf(file, sizeof file, "%s/%s", path, e->d_name);
      fsched_graph *g;
      ck_assert_msg(fsched_graph_read(ctx, file, NULL, &g) == FSCHED_OK, "%s: %s", file,
                    fs_first_message(ctx));
      ck_assert_uint_gt(fsched_graph_edges(g), 0);
      fsched_graph_destroy(g);
      n++;
    }
  }
  closedir(d);
  ck_assert_int_eq(n, 22);
}
END_TEST

/* Reads a text of which every prefix, and many with changed bytes, are tried: there is an answer,
 * never a crash, and a diagnostic unless it is OK. */
static void try_text(const char *text, size_t n) {
  fsched_context *c;
  fsched_graph *g = NULL;
  ck_assert_int_eq(fsched_context_create(NULL, &c), FSCHED_OK);
  fs_status status = fsched_graph_parse(c, "t", text, n, NULL, &g);
  ck_assert_msg(status == FSCHED_OK || status == FSCHED_BAD_INPUT || status == FSCHED_INFEASIBLE ||
                    strstr(fs_test_diags(c), "cannot read the target") != NULL,
                "status %d", status);
  ck_assert((status == FSCHED_OK) == (g != NULL));
  ck_assert((status == FSCHED_OK) == (fsched_diag_errors(c) == 0));
  fsched_graph_destroy(g);
  fsched_context_destroy(c);
}

START_TEST(every_prefix)
{
  for (size_t n = 0; n <= strlen(rich); n++) {
    char *text = malloc(n + 1); /* exactly as long, so that a read behind it is caught */
    memcpy(text, rich, n);
    text[n] = '\0';
    try_text(text, n);
    free(text);
  }
}
END_TEST

START_TEST(byte_flips)
{
  char *text = strdup(rich);
  size_t n = strlen(rich);
  uint64_t x = 88172645463325252u;
  for (int i = 0; i < 3000; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    size_t at = x % n;
    char old = text[at];
    text[at] =
        x >> 40 & 1 ? (char)(old ^ (1 << (x >> 32 & 7))) : " \n:{}[],-#&*!|'\"0"[x >> 33 & 15];
    try_text(text, n);
    text[at] = x >> 50 & 3 ? old : text[at]; /* some faults stay */
    if (i % 50 == 0) {
      memcpy(text, rich, n);
    }
  }
  free(text);
}
END_TEST

/* _i 1 stands for a text with faults, for the paths that report. */
START_TEST(every_allocation_may_fail)
{
  char *text = strdup(rich);
  if (_i == 1) {
    memcpy(strstr(text, "after: [load1]"), "after: [laod1]", 14);
    memcpy(strstr(text, "time: 12"), "tiem: 12", 8);
  }
  const char *set = "frontier.capacity=5";
  fsched_read_options options = {
      .size = sizeof options, .target_overrides = &set, .n_target_overrides = 1};
  bool done = false;
  for (long n = 1; !done; n++) {
    fs_budget x = {.left = n};
    fsched_context_options o = {.size = sizeof o, .reallocate = fs_budget_reallocate, .user = &x};
    fsched_context *c;
    fsched_graph *g = NULL;
    if (fsched_context_create(&o, &c) == FSCHED_OK) {
      fs_status status = fsched_graph_parse(c, "t", text, strlen(text), &options, &g);
      done = x.left >= 0;
      ck_assert(!done || status == (_i == 0 ? FSCHED_OK : FSCHED_BAD_INPUT));
      ck_assert(done || status == FSCHED_SYSTEM || _i == 1);
      ck_assert(status != FSCHED_OK || _i == 0);
      fsched_graph_destroy(g);
      fsched_context_destroy(c);
    }
    ck_assert_int_eq(x.held, 0);
    ck_assert_int_lt(n, 5000);
  }
  free(text);
}
END_TEST

/* The corpus: test/bad/NAME.yaml with the text that is printed for it in NAME.expect.  Comments at
 * its head, "# set: KEY=VALUE" and "# memory: NAME=CAPACITY", are overrides; "# warn: CLASS"
 * switches a class of warnings on, and "# unroll: N" unrolls loops, with the parameter n. */
enum { MAX_SETS = 8 };

static void corpus_options(const char *text, char sets[][64], size_t *n_sets, char memories[][64],
                           size_t *n_memories) {
  *n_sets = *n_memories = 0;
  for (const char *line = text; line[0] == '#'; line = strchr(line, '\n') + 1) {
    if (sscanf(line, "# set: %63s", sets[*n_sets]) == 1) {
      ++*n_sets;
    } else if (sscanf(line, "# memory: %63s", memories[*n_memories]) == 1) {
      ++*n_memories;
    }
  }
}

/* Reads "# unroll: N" into NAME=N. */
static int corpus_unroll(const char *text, char param[64]) {
  for (const char *line = text; line[0] == '#'; line = strchr(line, '\n') + 1) {
    unsigned n;
    if (sscanf(line, "# unroll: %u", &n) == 1) {
      (void)snprintf(param, 64, "n=%u", n);
      return 1;
    }
  }
  return 0;
}

static void corpus_warnings(fsched_context *c, const char *text) {
  char name[64];
  for (const char *line = text; line[0] == '#'; line = strchr(line, '\n') + 1) {
    if (sscanf(line, "# warn: %63s", name) == 1) {
      ck_assert_int_eq(fsched_warning_set(c, name, FSCHED_WARNING_ON), FSCHED_OK);
    }
  }
}

static void run_corpus_file(const char *path, fs_text *out, uint8_t *seen) {
  char sets[MAX_SETS][64];
  char memories[MAX_SETS][64];
  char param[64];
  const char *set[MAX_SETS];
  const char *memory[MAX_SETS];
  const char *params[] = {param};
  fsched_read_options o = {.size = sizeof o, .target_overrides = set, .memory_overrides = memory};
  char *text;
  size_t n;
  fsched_context *c;
  ck_assert_int_eq(fsched_context_create(NULL, &c), FSCHED_OK);
  ck_assert_int_eq(fs_file_read(ctx, path, &text, &n), FSCHED_OK);
  corpus_options(text, sets, &o.n_target_overrides, memories, &o.n_memory_overrides);
  corpus_warnings(c, text);
  o.unroll = corpus_unroll(text, param);
  o.params = params;
  o.n_params = o.unroll && strstr(text, "param: n,") != NULL;
  (void)fs_realloc(ctx, text, n + 1, 0);
  for (size_t i = 0; i < MAX_SETS; i++) {
    set[i] = sets[i];
    memory[i] = memories[i];
  }
  fsched_graph *g = NULL;
  fs_status status = fsched_graph_read(c, path, &o, &g);
  for (uint32_t i = 0; i < fsched_diag_count(c); i++) {
    const fsched_diag *d = fsched_diag_get(c, i);
    fs_diag_format(d, false, out);
    for (int code = 0; code < FS_DIAG_COUNT; code++) {
      seen[code] |= strcmp(d->code, fs_diag_code_name((fs_diag_code)code)) == 0;
    }
  }
  fs_text_printf(out, "%u errors, status %d\n", fsched_diag_errors(c), status);
  fsched_graph_destroy(g);
  fsched_context_destroy(c);
}

static void compare_expect(const char *yaml, const fs_text *out) {
  char path[512];
  char *text;
  size_t n;
  (void)snprintf(path, sizeof path, "%.*s.expect", (int)(strlen(yaml) - 5), yaml);
  if (getenv("UPDATE") != NULL) {
    ck_assert_int_eq(fs_file_write(ctx, path, out->at, out->n), FSCHED_OK);
  }
  ck_assert_msg(fs_file_read(ctx, path, &text, &n) == FSCHED_OK, "no %s: run with UPDATE=1", path);
  ck_assert_msg(n == out->n && memcmp(text, out->at, n) == 0, "%s differs; now:\n%.*s", path,
                (int)out->n, out->at);
  (void)fs_realloc(ctx, text, n + 1, 0);
}

static int by_name(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

START_TEST(bad_graphs)
{
  uint8_t seen[FS_DIAG_COUNT] = {0};
  struct dirent **entry;
  int n = scandir("test/bad", &entry, NULL, by_name);
  ck_assert_msg(n > 0, "run from the top of the source tree");
  for (int i = 0; i < n; i++) {
    const char *name = entry[i]->d_name;
    if (strlen(name) > 5 && strcmp(name + strlen(name) - 5, ".yaml") == 0) {
      char path[512];
      fs_text out;
      fs_text_init(&out, ctx);
      (void)snprintf(path, sizeof path, "test/bad/%s", name);
      run_corpus_file(path, &out, seen);
      compare_expect(path, &out);
      fs_text_drop(&out);
    }
    free(entry[i]);
  }
  free(entry);
  for (int code = FS_DIAG_YAML_SYNTAX; code <= FS_DIAG_USES_TOO_MUCH; code++) {
    /* Only the builder's callers can get the first code; the other needs a graph of more than a
     * thousand ops. */
    if (code != FS_DIAG_BAD_ARGUMENT && code != FS_DIAG_TOO_MANY_RACES) {
      ck_assert_msg(seen[code], "no file in test/bad shows '%s'",
                    fs_diag_code_name((fs_diag_code)code));
    }
  }
}
END_TEST

START_TEST(too_many_races)
{
  fs_text t;
  fs_text_init(&t, ctx);
  fs_text_puts(&t, "fsched: 1\nhazards: raw\nbuffers: [{name: x, size: 8, io: state}]\nops:\n");
  for (int i = 0; i < 1500; i++) {
    fs_text_printf(&t, "  - {name: o%d, args: [{out_existing: x}]}\n", i);
  }
  fsched_graph *g;
  ck_assert_int_eq(fsched_graph_parse(ctx, "t", t.at, t.n, NULL, &g), FSCHED_BAD_INPUT);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "too-many-races");
  fs_text_drop(&t);
}
END_TEST

/* Tabs, wide characters and long lines leave the caret under its token. */
START_TEST(caret)
{
  fs_text t;
  fs_text_init(&t, ctx);
  fsched_diag d = {.severity = FSCHED_ERROR,
                   .code = "c",
                   .message = "m",
                   .file = "f",
                   .line = 3,
                   .column = 6,
                   .length = 4,
                   .source_line =
                       "\t\xC3\xBC: a\xC3\xBC\x1b"
                       "b"};
  fs_diag_format(&d, false, &t);
  fs_text_add(&t, "", 1);
  ck_assert_str_eq(t.at,
                   "f:3:6: error: m [c]\n"
                   "    3 | \t\xC3\xBC: a\xC3\xBC\\x1bb\n"
                   "      | \t   ^~~~~~\n");
  fs_text_drop(&t);
  d.message = "m\xC2\x9Bn\x7F";
  d.file = "f\xC2\x80";
  d.column = 4;
  d.length = 5;
  d.source_line = "\xC2\x9B x\xC2\x85zz";
  d.hint = "h\x07";
  fs_diag_format(&d, false, &t);
  fs_text_add(&t, "", 1);
  ck_assert_str_eq(t.at,
                   "f\\u0080:3:4: error: m\\u009bn\\x7f [c]\n"
                   "    3 | \\u009b x\\u0085zz\n"
                   "      |        ^~~~~~~~~\n"
                   "  hint: h\\x07\n");
  fs_text_drop(&t);
  char line[1001];
  memset(line, 'x', 1000);
  line[1000] = '\0';
  d = (fsched_diag){.severity = FSCHED_WARNING,
                    .code = "c",
                    .message = "m",
                    .file = "f",
                    .line = 1,
                    .column = 501,
                    .length = 1,
                    .source_line = line,
                    .hint = "h"};
  fs_diag_format(&d, true, &t);
  ck_assert_uint_lt(t.n, 600);
  ck_assert_ptr_nonnull(strstr(t.at, "...xxx"));
  fs_text_drop(&t);
  fs_diag_format_json(&d, &t);
  fs_text_add(&t, "", 1);
  ck_assert_str_eq(t.at,
                   "{\"severity\": \"warning\", \"code\": \"c\", \"message\": \"m\", "
                   "\"file\": \"f\", \"line\": 1, \"column\": 501, \"length\": 1, "
                   "\"hint\": \"h\"}\n");
  fs_text_drop(&t);
}
END_TEST

FS_SUITE(graph_yaml, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, every_key, defaults, names_of_yaml_words, json_is_yaml, raw_hazards_list_races,
           overrides, overrides_without_a_target, target_in_a_file_of_its_own, shared_scenarios,
           every_prefix, byte_flips, bad_graphs, too_many_races, caret);
  FS_LOOPS(t, 0, 2, every_allocation_may_fail);
}
