/* SPDX-License-Identifier: Apache-2.0 */
/* Loops, instance by instance, in the order of a walk over each (model/stream/loop_walk.h): an
 * instance is issued when all that it waits for has been.
 *
 *   lane of the item      ... wait, event                            wait for all, event ...
 *   stream of each queue           wait, [wait] call [digest] event, ...
 *
 * Each queue has a stream of its own for the insides of loops.  The members of a gang meet on the
 * stream of one of them; so do those of a loop in a loop, before its first instance and after its
 * last.
 *
 * An instance takes a record: the next one of a fixed number, in turn, with room for its call in
 * the host's memory, which the device reads in place, and an event.  A record is taken again only
 * when its event is over; so whoever waits for an older instance need not wait, and a wait is
 * always for the event of its own target.  Neither depends on how often loops run. */
#include "exec/cuda/cuda.h"

/* Loading */

static fs_status refuse_in_loop(fsched_context *ctx, const fs_stream *s,
                                const fs_stream_loop_op *op, const char *what) {
  return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_UNSUPPORTED, FS_NOWHERE, NULL,
                 "op '%s' is in a loop: this version runs only built-in kernels there on CUDA "
                 "devices, not %s",
                 fs_stream_string(s, op->name), what);
}

static fs_status load_in_loop(fsched_context *ctx, fs_cuda_program *p,
                              const fs_stream_loop_op *op) {
  const fs_stream *s = p->s;
  const fs_stream_kernel *k = &s->kernels[op->kernel];
  if (k->builtin == FS_NONE) {
    return refuse_in_loop(ctx, s, op, "kernels of modules");
  }
  fs_builtin builtin = fs_builtin_find(fs_stream_string(s, k->builtin));
  if (builtin == FS_BUILTINS) {
    return fs_fail(ctx, FSCHED_REPLAY, FS_DIAG_REPLAY_KERNEL, FS_NOWHERE, NULL,
                   "op '%s': there is no built-in kernel '%s'", fs_stream_string(s, op->name),
                   fs_stream_string(s, k->builtin));
  }
  fs_tag_counts tags = {0};
  for (uint32_t a = op->arg0; a < op->arg0 + op->n_args; a++) {
    fs_count_tag(&tags, s->loop_args[a].tag);
  }
  const char *wants = fs_builtin_refusal(builtin, &tags);
  if (wants != NULL) {
    return fs_fail(ctx, FSCHED_REPLAY, FS_DIAG_REPLAY_KERNEL, FS_NOWHERE, NULL,
                   "op '%s': the built-in kernel '%s' wants %s", fs_stream_string(s, op->name),
                   fs_stream_string(s, k->builtin), wants);
  }
  p->modules.kernel[op->kernel] =
      (fs_cuda_kernel){.function = p->machine->device.function[builtin], .builtin = builtin};
  return FSCHED_OK;
}

fs_status fs_cuda_loops_load(fsched_context *ctx, fs_cuda_program *p) {
  assert(p->s->n_kernels == 0 || p->modules.kernel != NULL);
  for (uint32_t i = 0; i < p->s->n_loop_ops; i++) {
    const fs_stream_loop_op *op = &p->s->loop_ops[i];
    if (op->kernel != FS_NONE) {
      FS_TRY(load_in_loop(ctx, p, op));
    }
  }
  return FSCHED_OK;
}

/* Room */

/* The most bytes of a call, and of an instance's name. */
static void measure_ops(fs_instance *x, uint32_t depth, size_t *name_bytes) {
  const fs_stream *s = x->s;
  for (uint32_t c = 0; c < s->n_loop_commands; c++) {
    const fs_stream_loop_op *op = &s->loop_ops[s->loop_commands[c].op];
    uint64_t args = (uint64_t)op->n_args + s->loop_commands[c].n_places;
    uint64_t bytes = sizeof(fs_cuda_call) + args * sizeof(fs_cuda_arg);
    size_t name = fs_loop_name_bytes(fs_stream_string(s, op->name), depth);
    x->loops.call_bytes = fs_max(x->loops.call_bytes, bytes);
    *name_bytes = name > *name_bytes ? name : *name_bytes;
  }
}

static void find_queues(fs_instance *x) {
  const fs_stream *s = x->s;
  for (uint32_t i = 0; i < s->n_loop_queues; i++) {
    const fs_stream_loop_queue *q = &s->loop_queues[i];
    if (x->loops.stream_of[q->queue] == FS_NONE) {
      x->loops.stream_of[q->queue] = x->loops.n_streams++;
    }
    for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
      x->loops.queue_of[c] = q->queue;
    }
  }
}

fs_status fs_cuda_loops_make(fs_instance *x) {
  const fs_stream *s = x->s;
  fs_cuda_loops *r = &x->loops;
  assert(s->n_loops == 0 || !x->graph);
  if (s->n_loops == 0) {
    return FSCHED_OK;
  }
  uint32_t depth = fs_loops_depth(s);
  size_t name_bytes = 0;
  FS_TRY(fs_loops_make(&x->arena, s, &r->loops));
  FS_TRY(fs_new(&x->arena, &r->walk, depth));
  for (uint32_t i = 0; i < depth; i++) {
    FS_TRY(fs_loop_walk_make(&x->arena, s, &r->walk[i]));
  }
  FS_TRY(fs_new_none(&x->arena, &r->stream_of, s->n_queues));
  FS_TRY(fs_new(&x->arena, &r->queue_of, s->n_loop_commands));
  FS_TRY(fs_new_zero(&x->arena, &r->latest, (size_t)s->n_loop_commands * FS_CUDA_RECORDS));
  FS_TRY(fs_new_zero(&x->arena, &r->sum, s->n_loops));
  FS_TRY(fs_new_zero(&x->arena, &r->record, FS_CUDA_RECORDS));
  measure_ops(x, depth, &name_bytes);
  find_queues(x);
  return fs_new(&x->arena, &r->name, name_bytes);
}

void fs_cuda_loops_reset(fs_instance *x) {
  fs_cuda_loops *r = &x->loops;
  assert(r->taken == 0 || r->record != NULL);
  r->taken = 0;
  for (uint32_t i = 0; r->record != NULL && i < FS_CUDA_RECORDS; i++) {
    r->record[i].n_around = 0;
  }
  for (uint32_t l = 0; l < x->s->n_loops; l++) {
    r->sum[l] = 0;
  }
}

/* Records */

static fs_cuda_call *call_of(const fs_instance *x, uint64_t record) {
  return (fs_cuda_call *)(void *)(x->pinned + x->loops.calls +
                                  record % FS_CUDA_RECORDS * x->loops.call_bytes);
}

static uint64_t *digest_of(const fs_instance *x, uint64_t record) {
  return (uint64_t *)(void *)(x->pinned + x->loops.digests) + record % FS_CUDA_RECORDS;
}

/* Adds the digest of a record's instance, which is over, to that of its outermost loop. */
static void add_digest(fs_instance *x, uint64_t index) {
  fs_cuda_record *r = &x->loops.record[index];
  if (r->n_around == 0) {
    return;
  }
  for (uint32_t i = 0; i < r->n_around; i++) {
    r->at[i].around = i + 1 < r->n_around ? &r->at[i + 1] : NULL;
  }
  uint32_t loop = (uint32_t)(r->at[r->n_around - 1].loop - x->s->loops);
  x->loops.sum[loop] += fs_loop_digest(&r->at[0], *digest_of(x, index));
  r->n_around = 0;
}

void fs_cuda_loops_end(fs_instance *x, uint64_t *digest) {
  assert(digest != NULL);
  for (uint32_t i = 0; x->loops.record != NULL && i < FS_CUDA_RECORDS; i++) {
    add_digest(x, i);
  }
  for (uint32_t l = 0; l < x->s->n_loops && x->s->loops[l].within == FS_NONE; l++) {
    digest[x->s->loops[l].op] = x->loops.sum[l];
  }
}

static bool take_record(fs_instance *x, uint64_t *record) {
  fs_cuda_loops *r = &x->loops;
  uint32_t index = (uint32_t)(r->taken % FS_CUDA_RECORDS);
  if (r->taken >= FS_CUDA_RECORDS && !fs_cuda_await_event(x, r->event[index])) {
    return false;
  }
  add_digest(x, index);
  *record = r->taken++;
  return !fs_cuda_poisoned(x);
}

static bool record_on(fs_instance *x, uint64_t record, fs_cu_stream stream) {
  x->loops.record[record % FS_CUDA_RECORDS].stream = stream;
  return FS_CUDA_DO(x, cuEventRecord, (x->loops.event[record % FS_CUDA_RECORDS], stream));
}

/* Makes a stream wait for a record, unless that is over or before it on the stream. */
static bool wait_for_record(fs_instance *x, uint64_t record, fs_cu_stream stream) {
  uint32_t index = (uint32_t)(record % FS_CUDA_RECORDS);
  assert(record < x->loops.taken);
  return x->loops.taken - record > FS_CUDA_RECORDS || x->loops.record[index].stream == stream ||
         FS_CUDA_DO(x, cuStreamWaitEvent, (stream, x->loops.event[index], 0));
}

/* Makes a stream wait for all that has been issued on another one. */
static bool follow_stream(fs_instance *x, fs_cu_stream stream, fs_cu_stream other) {
  uint64_t record;
  return stream == other || (take_record(x, &record) && record_on(x, record, other) &&
                             wait_for_record(x, record, stream));
}

/* Instances */

/* Commands that run an instance are those of its op and copy from `first` to before `end`. */
typedef struct cuda_members {
  uint32_t first, end, copy;
  fs_cu_stream stream; /* where they meet */
} cuda_members;

static fs_cu_stream stream_of(const fs_instance *x, uint32_t loop_command) {
  const fs_cuda_loops *r = &x->loops;
  return x->lane[r->lane0 + r->stream_of[r->queue_of[loop_command]]];
}

static cuda_members members_of(const fs_instance *x, const fs_loop_instance *at, uint32_t depth) {
  const fs_stream_loop_queue *q = &x->s->loop_queues[at->loop->queue0];
  const fs_stream_loop_queue *last = q + at->loop->n_queues - 1;
  bool gang = x->loops.walk[depth].members[at->loop_command] > 1;
  return (cuda_members){.first = gang ? q->command0 : at->loop_command,
                        .end = gang ? last->command0 + last->n_commands : at->loop_command + 1,
                        .copy = x->s->loop_commands[at->loop_command].copy,
                        .stream = stream_of(x, at->loop_command)};
}

static bool is_member(const fs_instance *x, const fs_loop_instance *at, const cuda_members *m,
                      uint32_t c) {
  const fs_stream_loop_command *k = &x->s->loop_commands[c];
  return k->op == at->op && k->copy == m->copy;
}

/* Where the record of an iteration is noted. */
static uint64_t *latest_of(const fs_instance *x, const fs_loop_instance *at, uint32_t c,
                           uint64_t iteration) {
  uint64_t turn = iteration / at->loop->copies % FS_CUDA_RECORDS;
  return &x->loops.latest[(size_t)c * FS_CUDA_RECORDS + turn];
}

static bool wait_for_targets(fs_instance *x, const fs_loop_instance *at, uint32_t c,
                             fs_cu_stream stream) {
  const fs_stream_loop_command *k = &x->s->loop_commands[c];
  for (uint32_t i = k->wait0; i < k->wait0 + k->n_waits; i++) {
    const fs_stream_loop_wait *w = &x->s->loop_waits[i];
    if (w->distance <= at->iteration &&
        !wait_for_record(x, *latest_of(x, at, w->command, at->iteration - w->distance), stream)) {
      return false;
    }
  }
  return true;
}

/* Where the members meet, all that they wait for comes first. */
static bool wait_for_all(fs_instance *x, const fs_loop_instance *at, const cuda_members *m) {
  for (uint32_t c = m->first; c < m->end; c++) {
    if (is_member(x, at, m, c) && !wait_for_targets(x, at, c, m->stream)) {
      return false;
    }
  }
  return true;
}

/* So does all that their queues have so far. */
static bool meet_members(fs_instance *x, const fs_loop_instance *at, const cuda_members *m) {
  for (uint32_t c = m->first; c < m->end; c++) {
    if (is_member(x, at, m, c) && !follow_stream(x, m->stream, stream_of(x, c))) {
      return false;
    }
  }
  return true;
}

/* The members' streams wait for a record of the one where they have met. */
static bool part_members(fs_instance *x, const fs_loop_instance *at, const cuda_members *m,
                         uint64_t record) {
  for (uint32_t c = m->first; c < m->end; c++) {
    if (is_member(x, at, m, c) && !wait_for_record(x, record, stream_of(x, c))) {
      return false;
    }
  }
  return true;
}

static void note_record(fs_instance *x, const fs_loop_instance *at, const cuda_members *m,
                        uint64_t record) {
  for (uint32_t c = m->first; c < m->end; c++) {
    if (is_member(x, at, m, c)) {
      *latest_of(x, at, c, at->iteration) = record;
    }
  }
}

static void write_places(fs_instance *x, const fs_loop_instance *at, fs_cuda_call *call) {
  const fs_stream *s = x->s;
  const fs_stream_loop_command *c = &s->loop_commands[at->loop_command];
  const fs_stream_loop_op *op = &s->loop_ops[at->op];
  fs_cuda_arg *arg = (fs_cuda_arg *)(call + 1);
  for (uint32_t i = c->place0; i < c->place0 + c->n_places; i++) {
    const fs_stream_place *p = &s->loop_places[i];
    fs_cuda_arg *to = NULL;
    uint64_t way = 0, length = p->size;
    if (!fs_space_has_bytes(p->space)) {
      continue;
    }
    if (p->version != FS_NONE && p->arg - op->arg0 < op->n_args) {
      fs_loop_where w = fs_loop_arg_where(s, &s->loop_args[p->arg], at);
      to = &arg[p->arg - op->arg0];
      way = w.way;
      length = w.range.end - w.range.begin;
    } else if (p->version == FS_NONE && (p->mode & FS_MODE_W) != 0) {
      to = &arg[op->n_args + call->n_scratch++];
      *to = (fs_cuda_arg){0};
    }
    if (to != NULL) {
      to->pooled = !x->io->store[p->index];
      to->data = fs_io_at(x->io, p->index, p->address + way) +
                 (to->pooled ? 0 : (fs_cu_address)(uintptr_t)x->pinned);
      to->length = length;
    }
  }
}

static fs_builtin builtin_in_loop(const fs_instance *x, const fs_stream_loop_op *op) {
  return op->kernel == FS_NONE ? FS_BUILTIN_MIX : x->program->modules.kernel[op->kernel].builtin;
}

static void write_instance(fs_instance *x, const fs_loop_instance *at, uint64_t record) {
  const fs_stream_loop_op *op = &x->s->loop_ops[at->op];
  fs_cuda_call *call = call_of(x, record);
  fs_cuda_arg *arg = (fs_cuda_arg *)(call + 1);
  fs_loop_name(x->loops.name, fs_stream_string(x->s, op->name), at);
  *call = (fs_cuda_call){.seed = fs_kernel_seed(x->loops.name),
                         .digest = (fs_cu_address)(uintptr_t)digest_of(x, record),
                         .n_args = op->n_args,
                         .kernel = builtin_in_loop(x, op)};
  for (uint32_t i = 0; i < op->n_args; i++) {
    const fs_stream_loop_arg *a = &x->s->loop_args[op->arg0 + i];
    arg[i] = (fs_cuda_arg){.value = (uint64_t)a->value,
                           .reads = fs_tag_reads(a->tag),
                           .writes = fs_tag_writes(a->tag),
                           .has_value = !fs_tag_names_buffer(a->tag)};
  }
  write_places(x, at, call);
}

/* Keeps what its digest depends on until the instance is over. */
static void keep_instance(fs_instance *x, const fs_loop_instance *at, uint64_t record) {
  fs_cuda_record *r = &x->loops.record[record % FS_CUDA_RECORDS];
  for (; at != NULL; at = at->around) {
    assert(r->n_around < FS_LOOP_NEST);
    r->at[r->n_around++] = *at;
  }
}

static bool call_instance(fs_instance *x, const fs_loop_instance *at, uint64_t record,
                          fs_cu_stream stream) {
  const fs_cuda_device *d = &x->machine->device;
  fs_builtin builtin =
      x->config.empty ? FS_BUILTIN_NOP : builtin_in_loop(x, &x->s->loop_ops[at->op]);
  fs_cu_address call = (fs_cu_address)(uintptr_t)call_of(x, record);
  void *params[] = {&call, &x->built.block};
  fs_cuda_launch l = {.function = d->function[builtin],
                      .grid = {1, 1, 1},
                      .block = {builtin == FS_BUILTIN_NOP ? 1 : FS_CUDA_BLOCK, 1, 1},
                      .params = params};
  if (x->config.empty) {
    return fs_cuda_launch_on(x, &l, stream);
  }
  write_instance(x, at, record);
  if (!fs_cuda_launch_on(x, &l, stream)) {
    return false;
  }
  if (!x->built.digests) {
    return true;
  }
  keep_instance(x, at, record);
  l.function = d->digest;
  l.block[0] = FS_CUDA_BLOCK;
  return fs_cuda_launch_on(x, &l, stream);
}

static bool run_instances(fs_instance *x, const fs_stream_loop *loop,
                          const fs_loop_instance *around, uint32_t command, uint32_t depth);

/* A run of a loop in a loop: its queues begin together and end together. */
static bool run_inside(fs_instance *x, const fs_loop_instance *at, const cuda_members *m,
                       uint32_t depth, uint64_t *record) {
  uint32_t inner = x->s->loop_ops[at->op].loop;
  return take_record(x, record) && record_on(x, *record, m->stream) &&
         part_members(x, at, m, *record) &&
         run_instances(x, &x->s->loops[inner], at, at->command, depth + 1) &&
         meet_members(x, at, m) && take_record(x, record);
}

static bool issue_instance(fs_instance *x, const fs_loop_instance *at, uint32_t depth) {
  cuda_members m = members_of(x, at, depth);
  uint64_t record;
  bool inner = x->s->loop_ops[at->op].loop != FS_NONE;
  if (!wait_for_all(x, at, &m) || !meet_members(x, at, &m) ||
      !(inner ? run_inside(x, at, &m, depth, &record)
              : take_record(x, &record) && call_instance(x, at, record, m.stream)) ||
      !record_on(x, record, m.stream) || !part_members(x, at, &m, record)) {
    return false;
  }
  note_record(x, at, &m, record);
  atomic_fetch_add_explicit(&x->moves, 1, memory_order_relaxed);
  return true;
}

/* The recursion is as deep as loops nest. */
static bool run_instances(fs_instance *x, const fs_stream_loop *loop,
                          const fs_loop_instance *around, uint32_t command, uint32_t depth) {
  fs_loop_walk *walk = &x->loops.walk[depth];
  fs_loop_instance at = {.loop = loop, .command = command, .around = around};
  fs_loop_walk_begin(walk, loop);
  while (fs_loop_walk_next(walk, &at.loop_command, &at.iteration)) {
    at.op = x->s->loop_commands[at.loop_command].op;
    if (fs_cuda_poisoned(x) || !issue_instance(x, &at, depth)) {
      return false;
    }
  }
  if (walk->left > 0) {
    fs_cuda_poison(x, FSCHED_CAUSE_WRONG);
  }
  return walk->left == 0;
}

bool fs_cuda_loop_issue(fs_instance *x, uint32_t command, fs_cu_stream lane) {
  const fs_cuda_loops *r = &x->loops;
  assert(fs_cuda_is_loop(x, command));
  const fs_stream_loop *loop = &x->s->loops[r->loops.of[x->s->commands[command].target]];
  uint64_t begin;
  if (!take_record(x, &begin) || !record_on(x, begin, lane)) {
    return false;
  }
  for (uint32_t q = loop->queue0; q < loop->queue0 + loop->n_queues; q++) {
    if (!wait_for_record(x, begin, x->lane[r->lane0 + r->stream_of[x->s->loop_queues[q].queue]])) {
      return false;
    }
  }
  if (!run_instances(x, loop, NULL, command, 0)) {
    return false;
  }
  for (uint32_t q = loop->queue0; q < loop->queue0 + loop->n_queues; q++) {
    if (!follow_stream(x, lane, x->lane[r->lane0 + r->stream_of[x->s->loop_queues[q].queue]])) {
      return false;
    }
  }
  return true;
}
