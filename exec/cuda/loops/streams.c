/* SPDX-License-Identifier: Apache-2.0 */
/* Loops on streams and threads, instance by instance, in the order of a walk over each
 * (model/stream/loop_walk.h): an instance is issued when all that it waits for has been.
 *
 *   lane of each part     ... wait, event                                   wait, event ...
 *   stream of its queue             wait, [wait] [pace] call [digest] event, ...
 *
 * Each queue has a stream of its own for the insides of loops, which begins a loop behind the
 * queue's own lane; what is on the lane then comes behind that stream alone.  So queues enter and
 * leave a loop on their own: a wait for the epoch of a queue is for its part, and a wait for all of
 * the loop is for all parts (cuda/plan.h).  The parts are issued together, in an order in which
 * they could meet, which there is in a stream that gets to its end.
 *
 * There meet, on the stream of one of them, which all others then wait for:
 * - the members of a gang, as its kernel runs once; of those with args of their own each runs on
 * its own stream, between two meetings:
 *
 *     its own    wait, [wait] event            wait, call [digest] event   wait ...
 *     the one's  wait, [wait]       wait event       call [digest] event   wait event ...
 *
 * - the queues of a loop in a loop, before its first instance and behind its last, as nothing that
 *   it counts goes on: a slot that a queue begins to fill may be one that another one still reads.
 *   Where its runs are joined, waits reach back into earlier runs and slots go on, so each queue
 *   just goes on, and is as far as its command in the outer loop says;
 * - behind an outermost loop, only where values are moved (fs_stream_ring): all parts, on the lane
 *   of the first, which moves them.  Whoever needs such a value waits for all parts.
 *
 * A call of an instance takes a record: the next one of a fixed number, in turn, with room for it
 * in the host's memory, which the device reads in place, and an event.  A record is taken again
 * only when its event is over; so whoever waits for an older instance need not wait, and a wait is
 * always for the event of its own target.  Neither depends on how often loops run.
 *
 * Before a kernel of a module there is one more event, which shows that the kernel has begun
 * (cuda/loops/watch.c).
 *
 * A queue of the host is a thread: what is said of the streams of queues holds of it, but that it
 * is its own lane (cuda/threads.h).  Where queues meet, they do so on a stream if one of them has
 * one. */
#include "exec/cuda/loops/calls.h"
#include "exec/cuda/loops/times.h"
#include "exec/cuda/loops/unroll.h"
#include "exec/cuda/loops/watch.h"

/* Room */

static bool on_thread(const fs_instance *x, uint32_t queue) {
  return x->program->threads && x->s->queues[queue].host != 0;
}

/* Numbers the queues that are in loops, those that are threads behind the others. */
static void find_queues(fs_instance *x) {
  const fs_stream *s = x->s;
  fs_cuda_loops *r = &x->loops;
  for (unsigned thread = 0; thread < 2; thread++) {
    for (uint32_t i = 0; i < s->n_loop_queues; i++) {
      uint32_t queue = s->loop_queues[i].queue;
      if (r->stream_of[queue] == FS_NONE && on_thread(x, queue) == (thread != 0)) {
        r->stream_of[queue] = r->n_streams++;
        r->n_threads += thread;
      }
    }
  }
  for (uint32_t i = 0; i < s->n_loop_queues; i++) {
    const fs_stream_loop_queue *q = &s->loop_queues[i];
    for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
      r->queue_of[c] = q->queue;
    }
  }
}

/* In a watched program a kernel that hangs lets launches pile up behind it, and the driver has room
 * for a limited number of them, over all slots. */
static uint32_t count_records(const fs_instance *x) {
  uint64_t part = FS_CUDA_RECORDS / x->config.slots;
  return x->program->watched ? (uint32_t)fs_max(part, FS_CUDA_RECORDS / 8) : FS_CUDA_RECORDS;
}

static fs_status make_records(fs_instance *x) {
  fs_cuda_loops *r = &x->loops;
  r->n_records = count_records(x);
  FS_TRY(fs_new_zero(&x->arena, &r->latest, (size_t)x->s->n_loop_commands * r->n_records));
  FS_TRY(fs_new_zero(&x->arena, &r->record, r->n_records));
  return fs_cuda_loops_watch_make(x);
}

fs_status fs_cuda_loops_make(fsched_context *ctx, fs_instance *x) {
  const fs_stream *s = x->s;
  fs_cuda_loops *r = &x->loops;
  if (s->n_loops == 0) {
    return FSCHED_OK;
  }
  uint32_t depth = fs_loops_depth(s);
  FS_TRY(fs_loops_make(&x->arena, s, &r->loops));
  FS_TRY(fs_new(&x->arena, &r->walk, depth));
  for (uint32_t i = 0; i < depth; i++) {
    FS_TRY(fs_loop_walk_make(&x->arena, s, &r->walk[i]));
  }
  FS_TRY(fs_new_none(&x->arena, &r->stream_of, s->n_queues));
  FS_TRY(fs_new(&x->arena, &r->queue_of, s->n_loop_commands));
  FS_TRY(fs_new_zero(&x->arena, &r->sum, s->n_loops));
  find_queues(x);
  FS_TRY(fs_cuda_calls_make(x, depth));
  return x->graph ? fs_cuda_unroll_make(ctx, x) : make_records(x);
}

void fs_cuda_loops_reset(fs_instance *x) {
  fs_cuda_loops *r = &x->loops;
  assert(r->taken == 0 || r->record != NULL);
  r->taken = 0;
  for (uint32_t i = 0; i < r->n_records; i++) {
    r->record[i] = (fs_cuda_record){0};
  }
  for (uint32_t l = 0; l < x->s->n_loops; l++) {
    r->sum[l] = 0;
  }
  r->part = 0;
}

/* Records */

static fs_cuda_call *call_of(const fs_instance *x, uint64_t record) {
  return (fs_cuda_call *)(void *)(x->pinned + x->loops.calls +
                                  record % x->loops.n_records * x->loops.call_bytes);
}

static uint64_t *digest_of(const fs_instance *x, uint64_t record) {
  return (uint64_t *)(void *)(x->pinned + x->loops.digests) + record % x->loops.n_records;
}

/* Adds the digest of a record's call, which is over.  Records come in the order in which they were
 * taken. */
static void add_digest(fs_instance *x, uint64_t record) {
  uint64_t index = record % x->loops.n_records;
  fs_cuda_record *r = &x->loops.record[index];
  if (r->digests) {
    fs_cuda_call_over(x, &r->at[0],
                      r->host ? x->hosts.record[index].digest : *digest_of(x, record));
    r->digests = false;
  }
}

void fs_cuda_loops_end(fs_instance *x, uint64_t *digest) {
  assert(digest != NULL);
  uint64_t taken = x->loops.taken;
  for (uint64_t i = taken - fs_min(taken, x->loops.n_records); i < taken; i++) {
    add_digest(x, i);
  }
  if (x->graph) {
    fs_cuda_unroll_digests(x);
  }
  for (uint32_t l = 0; l < x->s->n_loops && x->s->loops[l].within == FS_NONE; l++) {
    digest[x->s->loops[l].op] = x->loops.sum[l];
  }
}

static bool take_record(fs_instance *x, uint64_t *record) {
  fs_cuda_loops *r = &x->loops;
  uint32_t index = (uint32_t)(r->taken % r->n_records);
  if (r->taken >= r->n_records && !fs_cuda_await_point(x, &r->record[index].point, false)) {
    return false;
  }
  add_digest(x, r->taken);
  fs_cuda_loops_over(x, &r->record[index]);
  r->record[index] = (fs_cuda_record){0};
  *record = r->taken++;
  return !fs_cuda_poisoned(x);
}

static bool record_on(fs_instance *x, uint64_t record, fs_cuda_line line) {
  uint32_t index = (uint32_t)(record % x->loops.n_records);
  fs_cuda_record *r = &x->loops.record[index];
  r->marked = fs_cuda_line_mark(x, line, x->loops.event[index], x->threads.in_loops, &r->point);
  return r->marked;
}

/* Makes a line wait for a record, unless that is over or before it on the line. */
static bool wait_for_record(fs_instance *x, uint64_t record, fs_cuda_line line) {
  uint32_t index = (uint32_t)(record % x->loops.n_records);
  assert(record < x->loops.taken);
  return x->loops.taken - record > x->loops.n_records ||
         fs_cuda_line_wait(x, line, &x->loops.record[index].point);
}

/* Makes a line wait for all that has been issued on another one. */
static bool follow_line(fs_instance *x, fs_cuda_line line, fs_cuda_line other) {
  uint64_t record;
  return line == other || (take_record(x, &record) && record_on(x, record, other) &&
                           wait_for_record(x, record, line));
}

/* Notes a time of an instance, unless the pair is FS_NONE. */
static bool note_time(fs_instance *x, uint32_t pair, bool end, fs_cuda_line line) {
  if (pair == FS_NONE || !fs_cuda_line_is_thread(x, line)) {
    return fs_cuda_times_record(x, pair, end, pair == FS_NONE ? NULL : x->lane[line]);
  }
  fs_cuda_step note = {.kind = FS_CUDA_NOTE, .time = fs_cuda_times_noted(x, pair, end)};
  return fs_cuda_step_put(x, line, note);
}

/* Instances */

/* Commands that run an instance are those of its op and copy from `first` to before `end`. */
typedef struct cuda_members {
  uint32_t first, end, copy;
  fs_cuda_line line; /* where they meet */
} cuda_members;

/* The line of a queue that is in loops, inside of them. */
static fs_cuda_line inside_of(const fs_instance *x, uint32_t queue) {
  if (on_thread(x, queue)) {
    return x->n_streams + x->threads.of[queue];
  }
  return x->loops.lane0 + x->loops.stream_of[queue];
}

static fs_cuda_line line_of(const fs_instance *x, uint32_t loop_command) {
  return inside_of(x, x->loops.queue_of[loop_command]);
}

static bool is_member(const fs_instance *x, const fs_loop_instance *at, const cuda_members *m,
                      uint32_t c) {
  const fs_stream_loop_command *k = &x->s->loop_commands[c];
  return k->op == at->op && k->copy == m->copy;
}

static cuda_members members_of(const fs_instance *x, const fs_loop_instance *at, uint32_t depth) {
  const fs_stream_loop_queue *q = &x->s->loop_queues[at->loop->queue0];
  const fs_stream_loop_queue *last = q + at->loop->n_queues - 1;
  bool gang = x->loops.walk[depth].members[at->loop_command] > 1;
  cuda_members m = {.first = gang ? q->command0 : at->loop_command,
                    .end = gang ? last->command0 + last->n_commands : at->loop_command + 1,
                    .copy = x->s->loop_commands[at->loop_command].copy,
                    .line = line_of(x, at->loop_command)};
  for (uint32_t c = m.first; c < m.end && fs_cuda_line_is_thread(x, m.line); c++) {
    m.line = is_member(x, at, &m, c) ? line_of(x, c) : m.line;
  }
  return m;
}

/* The number of an instance's iteration, over all runs that are joined. */
static uint64_t number_of(const fs_loop_instance *at) { return at->before + at->iteration; }

/* Where the record of an iteration is noted. */
static fs_cuda_latest *latest_of(const fs_instance *x, const fs_loop_instance *at, uint32_t c,
                                 uint64_t iteration) {
  uint64_t turn = iteration / at->loop->copies % x->loops.n_records;
  return &x->loops.latest[(size_t)c * x->loops.n_records + turn];
}

/* Makes a line wait for an iteration of a command.  Where a later one is noted, all records have
 * been taken since. */
static bool wait_for_iteration(fs_instance *x, const fs_loop_instance *at, uint32_t c,
                               uint64_t iteration, fs_cuda_line line) {
  const fs_cuda_latest *l = latest_of(x, at, c, iteration);
  return l->iteration != iteration || wait_for_record(x, l->record, line);
}

static bool wait_for_targets(fs_instance *x, const fs_loop_instance *at, uint32_t c,
                             fs_cuda_line line) {
  const fs_stream_loop_command *k = &x->s->loop_commands[c];
  for (uint32_t i = k->wait0; i < k->wait0 + k->n_waits; i++) {
    const fs_stream_loop_wait *w = &x->s->loop_waits[i];
    if (w->distance <= number_of(at) &&
        !wait_for_iteration(x, at, w->command, number_of(at) - w->distance, line)) {
      return false;
    }
  }
  return true;
}

/* Where the members meet, all that they wait for comes first. */
static bool wait_for_all(fs_instance *x, const fs_loop_instance *at, const cuda_members *m) {
  for (uint32_t c = m->first; c < m->end; c++) {
    if (is_member(x, at, m, c) && !wait_for_targets(x, at, c, m->line)) {
      return false;
    }
  }
  return true;
}

/* So does all that their queues have so far. */
static bool meet_members(fs_instance *x, const fs_loop_instance *at, const cuda_members *m) {
  for (uint32_t c = m->first; c < m->end; c++) {
    if (is_member(x, at, m, c) && !follow_line(x, m->line, line_of(x, c))) {
      return false;
    }
  }
  return true;
}

static void note_record(fs_instance *x, const fs_loop_instance *at, uint32_t c, uint64_t record) {
  *latest_of(x, at, c, number_of(at)) =
      (fs_cuda_latest){.record = record, .iteration = number_of(at)};
}

/* The members' lines wait for a record of the one where they have met. */
static bool part_members(fs_instance *x, const fs_loop_instance *at, const cuda_members *m,
                         uint64_t record) {
  for (uint32_t c = m->first; c < m->end; c++) {
    if (is_member(x, at, m, c) && !wait_for_record(x, record, line_of(x, c))) {
      return false;
    }
  }
  return true;
}

/* Keeps the instance until it is over: its digest depends on it, and a kernel that hangs is named
 * by it. */
static void keep_instance(fs_instance *x, const fs_loop_instance *at, uint64_t record) {
  fs_cuda_record *r = &x->loops.record[record % x->loops.n_records];
  for (; at != NULL; at = at->around) {
    assert(r->n_around < FS_LOOP_NEST);
    r->at[r->n_around] = *at;
    r->at[r->n_around].around = at->around == NULL ? NULL : &r->at[r->n_around + 1];
    r->n_around++;
  }
}

/* Holds an instance back, if its pace wants that. */
static bool hold_back(fs_instance *x, const fs_loop_instance *at, fs_cuda_line line) {
  fs_cuda_launch l;
  if (!fs_cuda_call_pace(x, at, &l)) {
    return true;
  }
  return fs_cuda_line_is_thread(x, line)
             ? fs_cuda_step_put(
                   x, line, (fs_cuda_step){.kind = FS_CUDA_HOLD, .value = x->loops.pace[at->op]})
             : fs_cuda_launch_on(x, &l, x->lane[line]);
}

static bool launch_kernel(fs_instance *x, const fs_loop_instance *at, uint64_t record,
                          fs_cuda_line line) {
  uint32_t index = (uint32_t)(record % x->loops.n_records);
  fs_cu_address call = (fs_cu_address)(uintptr_t)call_of(x, record);
  fs_cuda_record *r = &x->loops.record[index];
  if (!hold_back(x, at, line)) {
    return false;
  }
  if (fs_cuda_loop_foreign(x, at)) {
    r->lane = x->loops.stream_of[x->loops.queue_of[at->loop_command]];
    r->foreign = true;
    if (!r->host && !FS_CUDA_DO(x, cuEventRecord, (x->loops.begun[index], x->lane[line]))) {
      return false;
    }
  }
  if (r->host) {
    fs_cuda_step run = {.kind = FS_CUDA_RUN, .task = fs_cuda_host_record(x, index)};
    return fs_cuda_step_put(x, line, run);
  }
  fs_cuda_launch l;
  fs_cuda_call_launch(x, at, call, &l);
  return fs_cuda_launch_on(x, &l, x->lane[line]);
}

static bool call_instance(fs_instance *x, const fs_loop_instance *at, uint64_t record,
                          uint32_t pair, fs_cuda_line line) {
  fs_cuda_launch l;
  fs_cuda_record *r = &x->loops.record[record % x->loops.n_records];
  keep_instance(x, at, record);
  r->host = fs_cuda_line_is_thread(x, line);
  if (!x->config.empty && !r->host) {
    fs_cuda_call_write(x, at, (fs_cu_address)(uintptr_t)digest_of(x, record), call_of(x, record));
  }
  if (!note_time(x, pair, false, line) || !launch_kernel(x, at, record, line) ||
      !note_time(x, pair, true, line)) {
    return false;
  }
  bool digests = fs_cuda_call_digest(x, (fs_cu_address)(uintptr_t)call_of(x, record), &l);
  r->digests = digests;
  return !digests || r->host || fs_cuda_launch_on(x, &l, x->lane[line]);
}

static bool run_instances(fs_instance *x, const fs_stream_loop *loop,
                          const fs_loop_instance *around, uint32_t command, uint32_t depth);

/* The loop that an instance is a run of; NULL: of none. */
static const fs_stream_loop *inner_of(const fs_instance *x, const fs_loop_instance *at) {
  uint32_t inner = x->s->loop_ops[at->op].loop;
  return inner == FS_NONE ? NULL : &x->s->loops[inner];
}

/* Moves a value.  A thread does so where no queue of its loop is a stream, so nothing of the loop
 * is in a memory that is not the host's. */
static bool move_value(fs_instance *x, const fs_loop_move *m, fs_cuda_line line) {
  fs_cu_address to = fs_cuda_at(x, m->memory, m->to), from = fs_cuda_at(x, m->memory, m->from);
  if (!fs_cuda_line_is_thread(x, line)) {
    return FS_CUDA_DO(x, cuMemcpyAsync, (to, from, m->bytes, x->lane[line]));
  }
  assert(x->io->store[m->memory]);
  fs_cuda_step move = {.kind = FS_CUDA_MOVE,
                       .value = m->bytes,
                       .to = (void *)(uintptr_t)to,
                       .from = (const void *)(uintptr_t)from};
  return fs_cuda_step_put(x, line, move);
}

/* Moves the values that are behind a run which is over, on a line that has waited for all of it. */
static bool leave_run(fs_instance *x, const fs_stream_loop *loop, const fs_loop_instance *around,
                      uint32_t command, fs_cuda_line line) {
  uint64_t trips = fs_loop_trips(x->s, x->work->trips, loop);
  bool done = true;
  for (uint32_t k = 0; k < loop->n_rings && done && !x->config.empty; k++) {
    fs_loop_move m = fs_loop_last_value(x->s, loop, k, trips, command, around);
    done = m.bytes == 0 || move_value(x, &m, line);
  }
  return done;
}

/* A run of a loop in a loop whose runs are joined: what its queues do is over one by one. */
static bool run_joined(fs_instance *x, const fs_loop_instance *at, const cuda_members *m,
                       uint32_t depth) {
  (void)fs_cuda_times_take(x, at);
  for (uint32_t c = m->first; c < m->end; c++) {
    if (is_member(x, at, m, c) && (!wait_for_targets(x, at, c, line_of(x, c)) ||
                                   !note_time(x, fs_cuda_times_part(x, c), false, line_of(x, c)))) {
      return false;
    }
  }
  if (!run_instances(x, inner_of(x, at), at, at->command, depth + 1)) {
    return false;
  }
  for (uint32_t c = m->first; c < m->end; c++) {
    uint64_t record;
    if (!is_member(x, at, m, c)) {
      continue;
    }
    if (!note_time(x, fs_cuda_times_part(x, c), true, line_of(x, c)) || !take_record(x, &record) ||
        !record_on(x, record, line_of(x, c))) {
      return false;
    }
    note_record(x, at, c, record);
  }
  return true;
}

/* A run of another one: its queues begin together and end together. */
static bool run_inside(fs_instance *x, const fs_loop_instance *at, const cuda_members *m,
                       uint32_t depth, uint32_t pair, uint64_t *record) {
  const fs_stream_loop *inner = inner_of(x, at);
  return note_time(x, pair, false, m->line) && take_record(x, record) &&
         record_on(x, *record, m->line) && part_members(x, at, m, *record) &&
         run_instances(x, inner, at, at->command, depth + 1) && meet_members(x, at, m) &&
         leave_run(x, inner, at, at->command, m->line) && note_time(x, pair, true, m->line) &&
         take_record(x, record);
}

/* Runs members with args of their own, each on its own line behind a record of where they have
 * met.  The one where they are to meet again then waits for all. */
static bool call_members(fs_instance *x, const fs_loop_instance *at, const cuda_members *m) {
  uint64_t record;
  if (!take_record(x, &record) || !record_on(x, record, m->line) ||
      !part_members(x, at, m, record)) {
    return false;
  }
  uint64_t first = x->loops.taken;
  for (uint32_t c = m->first; c < m->end; c++) {
    fs_loop_instance own = *at;
    own.loop_command = c;
    if (is_member(x, at, m, c) &&
        (!take_record(x, &record) ||
         !call_instance(x, &own, record, fs_cuda_times_part(x, c), line_of(x, c)) ||
         !record_on(x, record, line_of(x, c)))) {
      return false;
    }
  }
  for (uint64_t i = first; i <= record; i++) {
    if (!wait_for_record(x, i, m->line)) {
      return false;
    }
  }
  return true;
}

/* Runs an instance that is no run of a loop. */
static bool run_kernel(fs_instance *x, const fs_loop_instance *at, const cuda_members *m,
                       uint32_t pair, uint64_t *record) {
  return fs_cuda_calls_apart(x->s, at)
             ? call_members(x, at, m) && take_record(x, record)
             : take_record(x, record) && call_instance(x, at, *record, pair, m->line);
}

/* Issues an instance whose members meet, if it has several. */
static bool run_together(fs_instance *x, const fs_loop_instance *at, const cuda_members *m,
                         uint32_t depth) {
  uint32_t pair = fs_cuda_times_take(x, at);
  uint64_t record;
  if (!wait_for_all(x, at, m) || !meet_members(x, at, m) ||
      !(inner_of(x, at) != NULL ? run_inside(x, at, m, depth, pair, &record)
                                : run_kernel(x, at, m, pair, &record)) ||
      !record_on(x, record, m->line) || !part_members(x, at, m, record)) {
    return false;
  }
  for (uint32_t c = m->first; c < m->end; c++) {
    if (is_member(x, at, m, c)) {
      note_record(x, at, c, record);
    }
  }
  return true;
}

static bool issue_instance(fs_instance *x, const fs_loop_instance *at, uint32_t depth) {
  const fs_stream_loop *inner = inner_of(x, at);
  cuda_members m = members_of(x, at, depth);
  bool joined = inner != NULL && inner->joined != 0;
  if (!(joined ? run_joined(x, at, &m, depth) : run_together(x, at, &m, depth))) {
    return false;
  }
  atomic_fetch_add_explicit(&x->moves, 1, memory_order_relaxed);
  return true;
}

/* Tells the core which instances wait for each other. */
static bool fail_stuck(fs_instance *x, fs_loop_walk *walk, const fs_loop_instance *like) {
  char text[FS_CUDA_STUCK_TEXT];
  if (!fs_cuda_poisoned(x) && x->work->failed != NULL) {
    fs_cuda_loop_stuck_text(x, walk, like, text);
    x->work->failed(x->work->user, FSCHED_CAUSE_WRONG, text);
  }
  fs_cuda_poison(x, FSCHED_CAUSE_WRONG);
  return false;
}

/* The recursion is as deep as loops nest. */
static bool run_instances(fs_instance *x, const fs_stream_loop *loop,
                          const fs_loop_instance *around, uint32_t command, uint32_t depth) {
  fs_loop_walk *walk = &x->loops.walk[depth];
  uint64_t trips = fs_loop_trips(x->s, x->work->trips, loop);
  fs_loop_instance at = {.loop = loop,
                         .command = command,
                         .before = fs_loop_before(loop, around, trips),
                         .around = around};
  fs_cuda_times_enter(x, loop, around);
  fs_loop_walk_begin(walk, loop, trips);
  while (fs_loop_walk_next(walk, &at.loop_command, &at.iteration)) {
    at.op = x->s->loop_commands[at.loop_command].op;
    if (fs_cuda_poisoned(x) || !issue_instance(x, &at, depth)) {
      return false;
    }
  }
  return walk->left == 0 || fail_stuck(x, walk, &at);
}

/* Whether a run of an outermost loop moves values at its end. */
static bool moves_values(const fs_instance *x, const fs_stream_loop *loop, uint32_t command) {
  uint64_t trips = fs_loop_trips(x->s, x->work->trips, loop);
  bool moves = false;
  for (uint32_t k = 0; k < loop->n_rings && !moves && !x->config.empty; k++) {
    moves = fs_loop_last_value(x->s, loop, k, trips, command, NULL).bytes > 0;
  }
  return moves;
}

/* Ends the parts of an outermost loop on their lanes. */
static bool leave_parts(fs_instance *x, const fs_stream_loop *loop, const fs_cuda_item *part) {
  bool moves = moves_values(x, loop, part->command);
  fs_cuda_line first = fs_cuda_line_of(x, part->lane);
  for (uint32_t i = 1; i < part->parts && fs_cuda_line_is_thread(x, first); i++) {
    first = fs_cuda_line_of(x, part[i].lane);
  }
  for (uint32_t i = 0; i < part->parts; i++) {
    fs_cuda_line lane = fs_cuda_line_of(x, part[i].lane);
    if (!follow_line(x, lane, inside_of(x, part[i].queue)) ||
        (moves && !follow_line(x, first, lane))) {
      return false;
    }
  }
  return !moves || leave_run(x, loop, NULL, part->command, first);
}

bool fs_cuda_loop_issue(fs_instance *x, uint32_t item) {
  const fs_cuda_item *part = &x->program->plan.item[item];
  assert(fs_cuda_is_loop(x, part->command) && part->parts > 0);
  uint32_t op = x->s->commands[part->command].target;
  const fs_stream_loop *loop = &x->s->loops[x->loops.loops.of[op]];
  for (uint32_t i = 0; i < part->parts; i++) {
    if (!follow_line(x, inside_of(x, part[i].queue), fs_cuda_line_of(x, part[i].lane))) {
      return false;
    }
  }
  return run_instances(x, loop, NULL, part->command, 0) && leave_parts(x, loop, part);
}
