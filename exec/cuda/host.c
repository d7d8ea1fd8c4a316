/* SPDX-License-Identifier: Apache-2.0 */
/* A function is called in another thread than the slot's, at any time between two points.  So all
 * that it needs lies still in a task, and each queue has its own room: a queue's functions are
 * called one after the other.
 *
 * A kernel that does not return may be given up with its slot.  Then no function may touch the
 * invocation any more: one that begins later is turned away at the gate, a kernel in hand never
 * comes back from there (fs_hand), and while any other function is at work nothing is given up. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/loops/calls.h"
#include "exec/host/loops.h"

/* What is the host's */

/* Marks ops with commands on the host's queues, and then those of them that have others, too. */
static void mark(uint8_t *op, bool host) { *op = host ? 1 : *op != 0 ? FS_CUDA_BOTH : 0; }

static void mark_part(const fs_stream *s, const fs_stream_loop_queue *q, bool host,
                      uint8_t *loop_op) {
  for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
    mark(&loop_op[s->loop_commands[c].op], host);
  }
}

static void mark_queue(const fs_stream *s, const fs_stream_queue *queue, fs_cuda_host_ops *out) {
  bool host = queue->host != 0;
  for (uint32_t c = queue->command0; c < queue->command0 + queue->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    if (!fs_command_has_op(k)) {
      continue;
    }
    mark(&out->op[k->target], host);
    if (host && s->ops[k->target].n_members > 0) {
      out->member[s->ops[k->target].member0 + fs_stream_member_of(s, c)] = 1;
    }
  }
}

static void mark_queues(const fs_stream *s, bool host, fs_cuda_host_ops *out) {
  for (uint32_t q = 0; q < s->n_queues; q++) {
    if ((s->queues[q].host != 0) == host) {
      mark_queue(s, &s->queues[q], out);
    }
  }
  for (uint32_t i = 0; i < s->n_loop_queues; i++) {
    if ((s->queues[s->loop_queues[i].queue].host != 0) == host) {
      mark_part(s, &s->loop_queues[i], host, out->loop_op);
    }
  }
}

fs_status fs_cuda_host_find(fs_arena *arena, const fs_stream *s, fs_cuda_host_ops *out) {
  assert(s->n_meta == 1);
  *out = (fs_cuda_host_ops){0};
  FS_TRY(fs_new_zero(arena, &out->op, s->n_ops));
  FS_TRY(fs_new_zero(arena, &out->loop_op, s->n_loop_ops));
  FS_TRY(fs_new_zero(arena, &out->member, s->n_members));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    out->some = out->some || (s->queues[q].host != 0 && s->queues[q].n_commands > 0);
  }
  mark_queues(s, true, out);
  mark_queues(s, false, out);
  for (uint32_t l = 0; l < s->n_loops; l++) { /* a loop runs no kernel, its queues may be of both */
    (s->loops[l].within == FS_NONE ? out->op : out->loop_op)[s->loops[l].op] = 0;
  }
  out->size = fs_effect_measure(s);
  return FSCHED_OK;
}

/* What a message calls a command, "op 'a'" or "the copy of 'b'", and the args that it runs with if
 * it is a member with args of its own: its places may be those of all members. */
typedef struct host_subject {
  const char *what, *name, *queue;
  bool apart;
  fs_stream_member own;
} host_subject;

static bool member_touches(const host_subject *subject, const fs_stream_place *p) {
  bool content = p->version != FS_NONE;
  return fs_space_has_bytes(p->space) &&
         (!subject->apart || !content || p->arg - subject->own.arg0 < subject->own.n_args);
}

static fs_status check_places(fsched_context *ctx, const fs_stream *s, const fs_io *io,
                              const host_subject *subject, const fs_stream_place *place,
                              uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (member_touches(subject, &place[i]) && !io->store[place[i].index]) {
      return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_UNSUPPORTED, FS_NOWHERE,
                     "give the memory 'host: true'",
                     "%s '%s' runs on '%s', a queue of the host, and touches memory '%s', which is "
                     "the device's",
                     subject->what, subject->name, subject->queue,
                     fs_stream_string(s, s->memories[place[i].index].name));
    }
  }
  return FSCHED_OK;
}

static fs_status refuse_mixed(fsched_context *ctx, const char *op) {
  return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_UNSUPPORTED, FS_NOWHERE,
                 "members with args of their own may be of both",
                 "op '%s' has queues of the host and of the device, which cannot run it once, "
                 "together",
                 op);
}

static fs_status check_command(fsched_context *ctx, const fs_stream *s, const fs_io *io,
                               uint32_t queue, const fs_stream_command *c,
                               const fs_cuda_host_ops *ops) {
  const char *name = fs_command_target_name(s, c);
  host_subject subject = {.what = fs_command_has_op(c) ? "op" : "the copy of",
                          .name = name,
                          .queue = fs_stream_string(s, s->queues[queue].name)};
  bool marked = fs_command_has_op(c) && ops->op[c->target] != 0;
  subject.apart = marked && s->ops[c->target].n_members > 0;
  if (s->queues[queue].host == 0) {
    return marked && !subject.apart ? refuse_mixed(ctx, name) : FSCHED_OK;
  }
  if (subject.apart) {
    subject.own = fs_stream_args_of(s, (uint32_t)(c - s->commands));
  }
  return fs_command_has_op(c) && !marked /* it is a loop */
             ? FSCHED_OK
             : check_places(ctx, s, io, &subject, &s->places[c->place0], c->n_places);
}

/* `call`: which of its op's calls it is. */
static fs_status check_loop_command(fsched_context *ctx, const fs_stream *s, const fs_io *io,
                                    uint32_t queue, const fs_stream_loop_command *c, uint32_t call,
                                    const fs_cuda_host_ops *ops) {
  const fs_stream_loop_op *op = &s->loop_ops[c->op];
  const char *name = fs_stream_string(s, op->name);
  host_subject subject = {.what = "op",
                          .name = name,
                          .queue = fs_stream_string(s, s->queues[queue].name),
                          .apart = op->n_members > 0};
  if (ops->loop_op[c->op] == 0) {
    return FSCHED_OK;
  }
  if (s->queues[queue].host == 0) {
    return subject.apart ? FSCHED_OK : refuse_mixed(ctx, name);
  }
  if (subject.apart) {
    subject.own = fs_loop_op_call_args(s, op, call);
  }
  return check_places(ctx, s, io, &subject, &s->loop_places[c->place0], c->n_places);
}

static fs_status check_loops(fsched_context *ctx, const fs_stream *s, const fs_io *io,
                             const fs_cuda_host_ops *ops) {
  uint32_t *call_of;
  FS_SCRATCH(scratch, ctx);
  FS_TRY(fs_cuda_calls_number(&scratch, s, &call_of));
  for (uint32_t i = 0; i < s->n_loop_queues; i++) {
    const fs_stream_loop_queue *q = &s->loop_queues[i];
    for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
      FS_TRY(check_loop_command(ctx, s, io, q->queue, &s->loop_commands[c], call_of[c], ops));
    }
  }
  return FSCHED_OK;
}

fs_status fs_cuda_host_check(fsched_context *ctx, const fs_stream *s, const fs_io *io,
                             const fs_cuda_host_ops *ops) {
  assert(io->store != NULL || s->n_memories == 0);
  for (uint32_t q = 0; q < s->n_queues && ops->some; q++) {
    const fs_stream_queue *queue = &s->queues[q];
    for (uint32_t c = queue->command0; c < queue->command0 + queue->n_commands; c++) {
      FS_TRY(check_command(ctx, s, io, q, &s->commands[c], ops));
    }
  }
  return ops->some && s->n_loops > 0 ? check_loops(ctx, s, io, ops) : FSCHED_OK;
}

/* A slot's tables */

static fs_status make_rooms(fs_instance *x) {
  fs_cuda_hosts *h = &x->hosts;
  FS_TRY(fs_new_zero(&x->arena, &h->room, x->s->n_queues));
  FS_TRY(fs_new_zero(&x->arena, &h->hand, x->s->n_queues));
  for (uint32_t q = 0; q < x->s->n_queues; q++) {
    if (x->s->queues[q].host != 0) {
      FS_TRY(fs_effect_room_make(&x->arena, x->program->hosts.size, &h->hand[q], &h->room[q]));
    }
  }
  return FSCHED_OK;
}

static fs_status make_tasks(fs_instance *x) {
  fs_cuda_hosts *h = &x->hosts;
  const fs_cuda_plan *plan = &x->program->plan;
  FS_TRY(fs_new_zero(&x->arena, &h->item, plan->n_items));
  FS_TRY(fs_new_zero(&x->arena, &h->record, x->loops.n_records));
  FS_TRY(fs_new_zero(&x->arena, &h->digest, (size_t)x->s->n_ops + x->s->n_members));
  for (uint32_t i = 0; i < plan->n_items; i++) {
    h->item[i] =
        (fs_cuda_task){.x = x, .command = plan->item[i].command, .queue = plan->item[i].queue};
  }
  return FSCHED_OK;
}

fs_status fs_cuda_host_make(fsched_context *ctx, fs_instance *x) {
  fs_cuda_hosts *h = &x->hosts;
  assert(x->program != NULL);
  if (!x->program->hosts.some) {
    return FSCHED_OK;
  }
  FS_TRY(make_rooms(x));
  FS_TRY(make_tasks(x));
  FS_TRY(fs_new_zero(&x->arena, &h->memories.base, x->s->n_memories));
  h->memories.io = x->io;
  h->memories.n = x->s->n_memories;
  h->effects = (fs_effects){
      .s = x->s, .io = x->io, .kernels = &x->program->hosts.kernels, .memories = &h->memories};
  h->has_gate = pthread_mutex_init(&h->gate, NULL) == 0;
  return h->has_gate ? FSCHED_OK : fs_no_memory(ctx, sizeof h->gate);
}

void fs_cuda_host_place(fs_instance *x) {
  assert(x->hosts.memories.base != NULL || !x->program->hosts.some);
  for (uint32_t m = 0; m < x->hosts.memories.n; m++) {
    x->hosts.memories.base[m] = x->io->store[m] ? x->pinned : NULL;
  }
}

void fs_cuda_host_begin(fs_instance *x) {
  fs_cuda_hosts *h = &x->hosts;
  assert(x->work != NULL);
  h->work = *x->work;
  h->work.record.digest = x->work->record.digest == NULL ? NULL : h->digest;
  h->closed = false; /* no function is at work between invocations */
}

void fs_cuda_host_release(fs_instance *x) {
  if (x->hosts.has_gate) {
    (void)pthread_mutex_destroy(&x->hosts.gate);
    x->hosts.has_gate = false;
  }
}

/* Tasks */

/* Copies an instance and those around it, the innermost first. */
static uint32_t copy_instance(fs_loop_instance *to, const fs_loop_instance *at) {
  uint32_t n = 0;
  for (; at != NULL; at = at->around, n++) {
    to[n] = *at;
    to[n].around = at->around == NULL ? NULL : &to[n + 1];
  }
  return n;
}

fs_cuda_task *fs_cuda_host_item(fs_instance *x, uint32_t item) {
  assert(x->hosts.item != NULL && fs_cuda_is_host(x, item));
  return &x->hosts.item[item];
}

/* The command of an instance's outermost loop on a queue. */
static uint32_t command_on(const fs_instance *x, const fs_loop_instance *at, uint32_t queue) {
  const fs_cuda_plan *plan = &x->program->plan;
  const fs_cuda_item *part = &plan->item[plan->item_of[at->command]];
  uint32_t command = at->command;
  for (uint32_t i = 0; i < part->parts; i++) {
    command = part[i].queue == queue ? part[i].command : command;
  }
  return command;
}

static fs_cuda_task instance_task(fs_instance *x, const fs_loop_instance *at) {
  uint32_t queue = x->loops.queue_of[at->loop_command];
  return (fs_cuda_task){.x = x, .command = command_on(x, at, queue), .queue = queue, .at = at};
}

fs_cuda_task *fs_cuda_host_record(fs_instance *x, uint32_t record) {
  assert(record < x->loops.n_records);
  x->hosts.record[record] = instance_task(x, &x->loops.record[record].at[0]);
  return &x->hosts.record[record];
}

fs_status fs_cuda_host_list_make(fs_instance *x, uint32_t n, uint32_t depth) {
  fs_cuda_hosts *h = &x->hosts;
  assert(h->instance == NULL);
  FS_TRY(fs_new_zero(&x->arena, &h->instance, n));
  FS_TRY(fs_new_zero(&x->arena, &h->at, (size_t)n * depth));
  h->depth = depth;
  h->n_instances = 0;
  return FSCHED_OK;
}

void fs_cuda_host_list(fs_instance *x, const fs_loop_instance *at) {
  fs_cuda_hosts *h = &x->hosts;
  if (h->instance != NULL) {
    fs_loop_instance *to = &h->at[(size_t)h->n_instances * h->depth];
    (void)copy_instance(to, at);
    h->instance[h->n_instances] = instance_task(x, to);
  }
  h->n_instances++;
}

fs_cuda_task *fs_cuda_host_instance(fs_instance *x, uint32_t n) {
  assert(n < x->hosts.n_instances);
  return &x->hosts.instance[n];
}

/* Running */

static bool enter_gate(fs_cuda_hosts *h) {
  pthread_mutex_lock(&h->gate);
  bool open = !h->closed;
  h->inside += open;
  pthread_mutex_unlock(&h->gate);
  return open;
}

static void leave_gate(fs_cuda_hosts *h) {
  pthread_mutex_lock(&h->gate);
  h->inside--;
  pthread_mutex_unlock(&h->gate);
}

/* Runs a command, and of a member with args of its own takes the digest. */
static fsched_cause run_command(const fs_cuda_task *t, const fs_effect_room *room) {
  fs_cuda_hosts *h = &t->x->hosts;
  const fs_stream *s = t->x->s;
  const fs_stream_command *c = &s->commands[t->command];
  fsched_cause cause = fs_effect_run(&h->effects, room, &h->work, t->command);
  if (fs_command_members(s, c) > 0 && h->work.record.digest != NULL && cause == FSCHED_CAUSE_NONE) {
    h->digest[s->n_ops + s->ops[c->target].member0 + fs_stream_member_of(s, t->command)] =
        fs_effect_member_digest(&h->effects, room, &h->work, t->command);
  }
  return cause;
}

static fsched_cause run_task(fs_cuda_task *t) {
  fs_cuda_hosts *h = &t->x->hosts;
  const fs_effect_room *room = &h->room[t->queue];
  if (t->at == NULL) {
    return run_command(t, room);
  }
  fs_loop_instance at = *t->at;
  at.command = t->command;
  t->digest = 0;
  return fs_loop_run_call(&h->effects, room, &h->work, &at, t->x->loops.call_of[at.loop_command],
                          &t->digest);
}

void fs_cuda_host_run(void *task) {
  fs_cuda_task *t = task;
  fs_instance *x = t->x;
  if (!enter_gate(&x->hosts)) {
    return;
  }
  if (!x->config.empty && !fs_cuda_poisoned(x)) {
    fsched_cause cause = run_task(t);
    if (cause != FSCHED_CAUSE_NONE) {
      fs_cuda_poison(x, cause);
    }
  }
  leave_gate(&x->hosts);
}

void fs_cuda_host_digests(const fs_instance *x, uint64_t *digest) {
  assert(digest != NULL || x->s->n_ops == 0);
  for (uint32_t op = 0; op < x->s->n_ops && x->program->hosts.some; op++) {
    const fs_stream_op *o = &x->s->ops[op];
    bool host = x->program->hosts.op[op] != 0;
    digest[op] = !host ? digest[op] : o->n_members > 0 ? 0 : x->hosts.digest[op];
    for (uint32_t m = o->member0; m < o->member0 + o->n_members && host; m++) {
      digest[op] += x->program->hosts.member[m] != 0 ? x->hosts.digest[x->s->n_ops + m] : 0;
    }
  }
}

/* Gives the kernels in hand up, if no other function is at work. */
static bool give_up_hands(fs_cuda_hosts *h, uint32_t n) {
  uint32_t busy = 0;
  bool all = true;
  for (uint32_t q = 0; q < n; q++) {
    busy += fs_hand_busy(atomic_load(&h->hand[q].count));
  }
  for (uint32_t q = 0; q < n && h->inside == busy; q++) {
    uint64_t count = atomic_load(&h->hand[q].count);
    all = all &&
          (count == FS_HAND_LOST || !fs_hand_busy(count) || fs_hand_give_up(&h->hand[q], count));
  }
  return all && h->inside == busy;
}

bool fs_cuda_host_close(fs_instance *x) {
  fs_cuda_hosts *h = &x->hosts;
  if (!x->program->hosts.some) {
    return true;
  }
  pthread_mutex_lock(&h->gate);
  h->closed = give_up_hands(h, x->s->n_queues);
  bool closed = h->closed;
  pthread_mutex_unlock(&h->gate);
  return closed;
}
