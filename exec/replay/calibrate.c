/* SPDX-License-Identifier: Apache-2.0 */
/* Calibration: costs are slopes, so that the fixed cost of a run cancels out.
 *
 *   command   a chain of empty ops on one queue: a long chain less a short one
 *   wait      the same with a chain that goes from queue to queue
 *   sync      the same on a target with nothing but syncs, each of which stops both queues; less
 * the time of the command copies    reads and writes of several sizes; the slope comes from the
 * largest size and a sixteenth of it, the fixed part is the rest of the smallest copy's time
 *
 * Of several rounds the quickest counts, as other load on the machine only adds time. */
#include "fsched/calibrate.h"

#include "base/context.h"
#include "base/mem.h"
#include "fsched/compile.h"
#include "fsched/replay.h"
#include "model/stream/stream.h"

enum { SHORT = 64, LONG = 1024, DEFAULT_ROUNDS = 9, SIZES = 3, SPREAD = 16 };
static const uint64_t default_most = UINT64_C(64) << 20, smallest = 4096;

typedef struct calibration {
  fsched_context *ctx;
  fsched_device *device;
  fsched_calibrate_options options;
  uint64_t bytes[SIZES]; /* sizes of the copies, ascending */
} calibration;

/* The times of the quickest copies of each size and direction; UINT64_MAX: none was seen. */
typedef struct copies {
  uint64_t write[SIZES], read[SIZES];
} copies;

static fs_status compile(const calibration *c, fs_text *text, fsched_program **out) {
  char *bytes;
  size_t length;
  fsched_graph *graph;
  FS_TRY(fs_text_take(text, &bytes, &length));
  fs_status status = fsched_graph_parse(c->ctx, "calibration", bytes, length, NULL, &graph);
  fsched_text_free(c->ctx, bytes, length);
  FS_TRY(status);
  status = fsched_compile(c->ctx, graph, NULL, NULL, out);
  fsched_graph_destroy(graph);
  return status;
}

static fs_status chain_ns(const calibration *c, uint32_t n, uint32_t queues, fs_sync_kind sync,
                          uint64_t *ns) {
  fs_text t;
  fsched_program *program;
  fs_text_init(&t, c->ctx);
  fs_text_printf(&t, "fsched: 1\ntarget: {queues: [{name: q0}, {name: q1}], sync: %s}\nops:\n",
                 fs_words_sync[sync]);
  for (uint32_t i = 0; i < n; i++) {
    fs_text_printf(&t, "  - {name: o%u, on: q%u, kernel: {builtin: nop}", i, i % queues);
    if (i > 0) {
      fs_text_printf(&t, ", after: [o%u]", i - 1);
    }
    fs_text_puts(&t, "}\n");
  }
  FS_TRY(compile(c, &t, &program));
  fsched_replay_options o = {.size = sizeof o, .device = c->device, .repeat = c->options.rounds};
  fsched_replay_result r = {.size = sizeof r};
  fs_status status = fsched_replay(c->ctx, program, &o, &r);
  fsched_program_destroy(program);
  *ns = r.minimum_ns;
  return status;
}

/* Measures the picoseconds per op of a chain over that many queues. */
static fs_status chain_slope(const calibration *c, uint32_t queues, fs_sync_kind sync,
                             uint64_t *ps) {
  uint64_t few, many;
  FS_TRY(chain_ns(c, SHORT, queues, sync, &few));
  FS_TRY(chain_ns(c, LONG, queues, sync, &many));
  *ps = many > few ? (many - few) * 1000 / (LONG - SHORT) : 0;
  return FSCHED_OK;
}

/* Writes a graph with an op that reads an input and an op that writes an output, for each size.
 * With `both` they use memories of their own, so that reads and writes have a queue each and
 * overlap. */
static void copy_graph(const calibration *c, bool both, fs_text *t) {
  uint64_t capacity = 8 * c->bytes[SIZES - 1] + 4096;
  fs_text_printf(t,
                 "fsched: 1\ntarget:\n  queues: [{name: q0}, {name: c0, class: k0}, {name: q1}, "
                 "{name: c1, class: k1}]\n  memories:\n");
  for (int f = 0; f <= both; f++) {
    fs_text_printf(t,
                   "    - {name: d%d, capacity: %llu, align: 256, backing: h%d, spill: {on: k%d, "
                   "write: {fixed: 1}, read: {fixed: 1}}}\n    - {name: h%d}\n",
                   f, (unsigned long long)capacity, f, f, f);
  }
  fs_text_puts(t, "buffers:\n");
  for (int i = 0; i < SIZES; i++) {
    unsigned long long n = (unsigned long long)c->bytes[i];
    fs_text_printf(t, "  - {name: in%d, size: %llu, memory: d0, io: input}\n", i, n);
    fs_text_printf(t, "  - {name: out%d, size: %llu, memory: d%d, io: output}\n", i, n, both);
  }
  fs_text_puts(t, "ops:\n");
  for (int i = 0; i < SIZES; i++) {
    fs_text_printf(t, "  - {name: r%d, on: q0, kernel: {builtin: nop}, args: [{in: in%d}]}\n", i,
                   i);
    fs_text_printf(t, "  - {name: w%d, on: q1, kernel: {builtin: nop}, args: [{out: out%d}]}\n", i,
                   i);
  }
}

static void note_copies(const calibration *c, const fsched_program *program,
                        const fsched_replay_result *r, copies *out) {
  const fs_stream *s = &program->view;
  for (uint32_t k = 0; k < s->n_commands; k++) {
    const fs_stream_command *command = &s->commands[k];
    if (!fs_command_has_version(command)) {
      continue;
    }
    uint64_t bytes = s->buffers[s->versions[command->target].buffer].size;
    uint64_t *quickest = fs_command_direction(command) == FS_SPILL_WRITE ? out->write : out->read;
    for (int i = 0; i < SIZES; i++) {
      if (bytes == c->bytes[i]) {
        quickest[i] = fs_min(quickest[i], r->command[k].min_ns);
      }
    }
  }
}

static fs_status measure_copies(const calibration *c, bool both, copies *out) {
  fs_text t;
  fsched_program *program;
  memset(out, 0xFF, sizeof *out);
  fs_text_init(&t, c->ctx);
  copy_graph(c, both, &t);
  FS_TRY(compile(c, &t, &program));
  fsched_duration *command =
      fs_realloc(c->ctx, NULL, 0, program->view.n_commands * sizeof *command);
  fsched_replay_options o = {.size = sizeof o,
                             .device = c->device,
                             .repeat = c->options.rounds,
                             .profile = c->options.rounds};
  fsched_replay_result r = {.size = sizeof r, .command = command};
  fs_status status = command == NULL ? FSCHED_SYSTEM : fsched_replay(c->ctx, program, &o, &r);
  if (status == FSCHED_OK) {
    note_copies(c, program, &r, out);
  }
  fsched_profile_destroy(r.profile);
  (void)fs_realloc(c->ctx, command, program->view.n_commands * sizeof *command, 0);
  fsched_program_destroy(program);
  return status;
}

static fsched_copy_cost fit(const calibration *c, const uint64_t ns[SIZES]) {
  uint64_t more = c->bytes[SIZES - 1] - c->bytes[SIZES - 2];
  fsched_copy_cost cost = {.fixed_ns = ns[0]};
  if (ns[SIZES - 1] <= ns[SIZES - 2]) { /* no slope can be seen, so the time counts as fixed */
    cost.fixed_ns = fs_max(ns[0], fs_max(ns[1], ns[SIZES - 1]));
    return cost;
  }
  uint64_t longer = ns[SIZES - 1] - ns[SIZES - 2];
  cost.bytes_per_us = fs_max(more * 1000 / longer, 1); /* `more` is below 2^50 */
  uint64_t moving = c->bytes[0] * 1000 / cost.bytes_per_us;
  cost.fixed_ns = ns[0] > moving ? ns[0] - moving : 0;
  return cost;
}

static fs_status calibrate(const calibration *c, fsched_calibration *out) {
  copies alone, both;
  FS_TRY(chain_slope(c, 1, FS_SYNC_TIMELINE, &out->command_ps));
  FS_TRY(chain_slope(c, 2, FS_SYNC_TIMELINE, &out->wait_ps));
  FS_TRY(chain_slope(c, 2, FS_SYNC_BLOCK, &out->sync_ps));
  out->sync_ps -= fs_min(out->sync_ps, out->command_ps);
  FS_TRY(measure_copies(c, false, &alone));
  FS_TRY(measure_copies(c, true, &both));
  out->write = fit(c, alone.write);
  out->read = fit(c, alone.read);
  out->write_both = fit(c, both.write);
  out->read_both = fit(c, both.read);
  return FSCHED_OK;
}

fsched_status fsched_calibrate(fsched_context *ctx, fsched_device *device,
                               const fsched_calibrate_options *options,
                               fsched_calibration *result) {
  calibration c = {.ctx = ctx, .device = device};
  fsched_calibration out = {0};
  FS_TRY(fs_check_options(ctx, "fsched_calibration", result->size,
                          FS_SIZE_UP_TO(fsched_calibration, read_both)));
  if (options != NULL) {
    FS_TRY(fs_check_options(ctx, "fsched_calibrate_options", options->size,
                            FS_SIZE_UP_TO(fsched_calibrate_options, rounds)));
    memcpy(&c.options, options, fs_min(options->size, sizeof c.options));
  }
  c.options.most_bytes = c.options.most_bytes == 0 ? default_most : c.options.most_bytes;
  c.options.rounds = c.options.rounds == 0 ? DEFAULT_ROUNDS : c.options.rounds;
  if (c.options.most_bytes < 2 * SPREAD * smallest || c.options.most_bytes > UINT64_C(1) << 40 ||
      c.options.rounds > 1000) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_REPLAY_OPTIONS, FS_NOWHERE, NULL,
                   "'most_bytes' is from 128 KiB to 1 TiB, 'rounds' at most 1,000");
  }
  c.bytes[0] = smallest;
  c.bytes[1] = c.options.most_bytes / SPREAD;
  c.bytes[2] = c.options.most_bytes;
  FS_TRY(calibrate(&c, &out));
  out.size = fs_min(result->size, sizeof out);
  memcpy(result, &out, out.size);
  return FSCHED_OK;
}
