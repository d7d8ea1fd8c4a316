/* SPDX-License-Identifier: Apache-2.0 */
/* The ops of an invocation, one after the other; loops iteration after iteration.
 *
 * A version of a heap is made, and held, before its first writer; it stays until its last user is
 * submitted, which retains it.  Scratch is a buffer that its task alone names.
 *
 * Instances of a loop name bytes of the versions that the loop's own args are of: each lies where
 * the stream's command has it.  So a ring is memory that its slots share, and what uses a slot
 * again waits for those who have used it before, as the order of submission says.  That is program
 * order, unless a slot is begun again before its value's last user comes in it, or an op comes
 * after a later one: then it is an order of the loop's queues. */
#include "base/group.h"
#include "exec/dynamic/program/program.h"
#include "model/stream/members.h"
#include "model/stream/views.h"

/* Tasks of one op, or of one iteration of an op in a loop: a range of walk.tasks. */
typedef struct task_range {
  uint32_t from, to;
} task_range;

typedef struct walk_scratch {
  fs_dynamic_buffer buffer;
  fs_dynamic_task holder;
} walk_scratch;

typedef struct program_walk {
  fsched_context *ctx;
  fs_instance *x;
  const fs_stream *s;
  const uint64_t *trips;
  fs_workers *w; /* or, of a rehearsal: */
  fs_dynamic *e;
  uint64_t *extent;
  fs_dynamic_buffer *buffer; /* per version, if it is declared */
  bool *declared;
  fs_dynamic_task *holder; /* per version */
  FS_VEC(fs_dynamic_task) tasks;
  task_range *of_op;
  FS_VEC(task_range) * of_body; /* per op of loops: of each iteration in this run */
  fs_loop_walk *order;          /* per loop; empty: its own is program order */
  FS_VEC(fs_dynamic_predecessor) preds;
  /* The task that is being put together: */
  FS_VEC(fs_dynamic_arg) args;
  FS_VEC(fs_task_value) values;
  FS_VEC(fs_dynamic_amount) uses;
  FS_VEC(walk_scratch) scratch;
  FS_VEC(uint32_t) queues;
  fs_dynamic_member
      *member;      /* as many as there are queues; `arg` is set when all are put together */
  uint32_t n_calls; /* members that have args: the first one, or each has its own */
  uint32_t n_gangs; /* tasks with several members, in this invocation */
  char *name;
  bool by_class; /* the queues are any of their class */
} program_walk;

/* ---- calls to the workers, or to the engine of a rehearsal */

/* Takes memory of a heap, with a hold. */
static fs_status make_buffer(program_walk *k, uint32_t memory, uint64_t size,
                             fs_dynamic_buffer *out, fs_dynamic_task *holder) {
  fs_dynamic_where where;
  if (k->w != NULL) {
    return fs_workers_make(k->w, memory, size, out, holder);
  }
  FS_TRY(fs_dynamic_make(k->e, memory, size, out, holder, &where));
  k->extent[memory] = fs_max(k->extent[memory], where.offset + size);
  return FSCHED_OK;
}

static fs_status make_version(program_walk *k, uint32_t version) {
  const fs_stream_buffer *b = &k->s->buffers[k->s->versions[version].buffer];
  FS_TRY(make_buffer(k, b->memory, b->size, &k->buffer[version], &k->holder[version]));
  k->declared[version] = true;
  return FSCHED_OK;
}

static fs_status import_version(program_walk *k, uint32_t version) {
  uint64_t size = k->s->buffers[k->s->versions[version].buffer].size;
  uint8_t *at = k->x->own[version];
  if (k->declared[version]) {
    return FSCHED_OK;
  }
  k->declared[version] = true;
  fs_dynamic_import d = {size, (uintptr_t)at, true, true, false};
  return k->w != NULL ? fs_workers_import(k->w, at, size, true, true, &k->buffer[version])
                      : fs_dynamic_import_buffer(k->e, &d, &k->buffer[version]);
}

static fs_status forget_buffer(program_walk *k, fs_dynamic_buffer buffer) {
  return k->w != NULL ? fs_workers_forget(k->w, buffer) : fs_dynamic_forget(k->e, buffer);
}

static fs_status release_holder(program_walk *k, fs_dynamic_task holder) {
  return k->w != NULL ? fs_workers_release(k->w, holder) : fs_dynamic_release(k->e, holder);
}

static fs_status release_version(program_walk *k, uint32_t version) {
  fs_dynamic_task t = k->holder[version];
  k->holder[version] = FS_DYNAMIC_NO_TASK;
  return t == FS_DYNAMIC_NO_TASK ? FSCHED_OK : release_holder(k, t);
}

/* In a rehearsal a task ends when there is no room for the next one. */
static uint64_t read_no_time(void *user) {
  (void)user;
  return 0;
}
static bool end_next(void *user, uint64_t until) {
  program_walk *k = user;
  fs_dynamic_start start;
  (void)until;
  if (!fs_dynamic_next(k->e, &start)) {
    return false;
  }
  for (uint32_t m = 0; m < start.n_members; m++) {
    fs_dynamic_complete(k->e, start.task, m);
  }
  return true;
}

static fs_status make_engine(program_walk *k) {
  const fs_stream *s = k->s;
  fs_dynamic_options o = {.n_queues = k->x->n_queues,
                          .class_of = k->x->class_of,
                          .heap = k->x->room,
                          .n_heaps = k->x->n_heaps,
                          .n_resources = s->n_resources,
                          .capacity = k->x->capacity,
                          .concurrency = s->meta->concurrency,
                          .hazards = fs_program_hazards(s),
                          .undefined = true,
                          .user = k,
                          .now = read_no_time,
                          .wait = end_next};
  return fs_dynamic_create(k->ctx, &o, &k->e);
}

/* ---- putting a task together */

static void begin_task(program_walk *k) {
  assert(k->scratch.n == 0);
  k->args.n = k->values.n = k->uses.n = k->queues.n = 0;
  k->n_calls = 0;
  k->preds.n = 0;
  k->by_class = false;
}

/* The args from now on are those of the next member. */
static void begin_member(program_walk *k) {
  assert(k->n_calls < k->x->n_queues);
  k->member[k->n_calls++] = (fs_dynamic_member){0, NULL};
}

static fs_status add_value(program_walk *k, uint32_t place, int64_t value) {
  return fs_vec_push(k->ctx, &k->values, ((fs_task_value){k->n_calls - 1, place, value}));
}

/* What a tag means for a version whose memory is there. */
static fsched_tag tag_of(uint32_t tag) {
  return fs_tag_begins(tag) ? FSCHED_OUT_EXISTING : (fsched_tag)tag;
}

static fs_status add_arg(program_walk *k, uint32_t tag, uint32_t version, const fs_view *view) {
  const fs_stream_buffer *b = &k->s->buffers[k->s->versions[version].buffer];
  if (k->x->own[version] != NULL) {
    FS_TRY(import_version(k, version));
  } else if (!k->declared[version]) {
    FS_TRY(make_version(k, version));
  }
  bool whole = view->offset == 0 && view->element == 1 && view->n_dims == 1 &&
               view->stride[0] == 1 && view->shape[0] == b->size;
  fs_dynamic_arg a = {tag_of(tag), k->buffer[version], !whole, *view};
  k->member[k->n_calls - 1].n_args++;
  return fs_vec_push(k->ctx, &k->args, a);
}

static fs_view range_view(uint64_t offset, uint64_t length) {
  return (fs_view){.offset = offset, .element = 1, .n_dims = 1, .shape = {length}, .stride = {1}};
}

/* Takes scratch for the task, which the members get behind their args. */
static fs_status add_scratch(program_walk *k, uint64_t size, uint32_t memory) {
  walk_scratch of;
  FS_TRY(fs_vec_reserve(k->ctx, &k->scratch, k->scratch.n + 1));
  FS_TRY(make_buffer(k, memory, size, &of.buffer, &of.holder));
  k->scratch.at[k->scratch.n++] = of;
  return FSCHED_OK;
}

static fs_status end_member(program_walk *k) {
  for (size_t i = 0; i < k->scratch.n; i++) {
    fs_dynamic_arg a = {.tag = FSCHED_NO_DEP, .buffer = k->scratch.at[i].buffer};
    k->member[k->n_calls - 1].n_args++;
    FS_TRY(fs_vec_push(k->ctx, &k->args, a));
  }
  return FSCHED_OK;
}

/* The task alone has the scratch from now on. */
static fs_status drop_scratch(program_walk *k) {
  while (k->scratch.n > 0) {
    const walk_scratch *of = &k->scratch.at[--k->scratch.n];
    FS_TRY(release_holder(k, of->holder));
    FS_TRY(forget_buffer(k, of->buffer));
  }
  return FSCHED_OK;
}

static fs_status add_amount(program_walk *k, uint32_t resource, uint64_t amount) {
  for (size_t i = 0; i < k->uses.n; i++) {
    if (k->uses.at[i].resource == resource) {
      k->uses.at[i].amount += amount;
      return FSCHED_OK;
    }
  }
  return fs_vec_push(k->ctx, &k->uses, ((fs_dynamic_amount){resource, amount}));
}

static fs_status add_preds(program_walk *k, task_range r) {
  for (uint32_t i = r.from; i < r.to; i++) {
    FS_TRY(fs_vec_push(k->ctx, &k->preds, ((fs_dynamic_predecessor){k->tasks.at[i], true, false})));
  }
  return FSCHED_OK;
}

/* Says where the args of each member are; the members behind have none. */
static void place_members(program_walk *k, uint32_t n_members) {
  const fs_dynamic_arg *at = k->args.at;
  for (uint32_t m = 0; m < n_members; m++) {
    k->member[m] = (fs_dynamic_member){m < k->n_calls ? k->member[m].n_args : 0, at};
    at = at == NULL ? NULL : at + k->member[m].n_args; /* NULL where there is none */
  }
}

static fs_status send_task(program_walk *k, const char *name, const fs_program_key *key) {
  fs_dynamic_task t;
  fsched_kernel_call shape = {.params = key, .n_params = sizeof *key};
  fs_workers_task task = {
      .name = name, .n_values = (uint32_t)k->values.n, .value = k->values.at, .shape = &shape};
  uint32_t n_queues = (uint32_t)k->queues.n;
  task.group = n_queues > 1;
  bool named = n_queues > 0 && !k->by_class;
  place_members(k, fs_max(n_queues, 1));
  task.submission = (fs_dynamic_submission){.n_members = fs_max(n_queues, 1),
                                            .member = k->member,
                                            .n_queues = named ? n_queues : 0,
                                            .queue = k->queues.at,
                                            .n_predecessors = (uint32_t)k->preds.n,
                                            .predecessor = k->preds.at,
                                            .n_uses = (uint32_t)k->uses.n,
                                            .use = k->uses.at};
  task.submission.class_ = n_queues > 0 ? k->x->class_of[k->queues.at[0]] : 0;
  if (k->w != NULL) {
    atomic_fetch_add(&k->x->shared->moves, 1);
    FS_TRY(fs_workers_submit(k->w, &task, &t));
  } else {
    FS_TRY(fs_dynamic_submit(k->e, &task.submission, &t, NULL));
  }
  return fs_vec_push(k->ctx, &k->tasks, t);
}

/* Submits what is put together. */
static fs_status submit_task(program_walk *k, const char *name, fs_program_key *key) {
  key->n_members = (uint32_t)k->queues.n;
  key->gang = key->n_members > 1 ? k->n_gangs++ : FS_NONE;
  if (k->w != NULL && key->gang != FS_NONE) {
    assert(key->gang < k->x->n_gangs);
    memset(&k->x->gang[key->gang], 0, sizeof *k->x->gang);
  }
  FS_TRY(send_task(k, name, key));
  return drop_scratch(k);
}

/* ---- ops */

static fs_view arg_view(const fs_stream *s, uint32_t arg) {
  const fs_stream_view *v = fs_stream_view_of(s, arg);
  return v != NULL ? fs_stream_placed(v, s->args[arg].offset)
                   : range_view(s->args[arg].offset, s->args[arg].length);
}

static bool has_memory(const program_walk *k, uint32_t version) {
  return k->x->own[version] != NULL || k->declared[version];
}

static fs_status add_op_arg(program_walk *k, uint32_t arg, uint32_t place) {
  const fs_stream_arg *a = &k->s->args[arg];
  const int64_t *given = k->w == NULL ? NULL : k->x->work->values;
  if (!fs_tag_names_buffer(a->tag)) {
    return add_value(k, place, given == NULL ? a->value : given[arg]);
  }
  if (a->version == FS_NONE || (!fs_tag_accesses(a->tag) && !has_memory(k, a->version))) {
    return add_value(k, place, 0); /* it has no memory at this time */
  }
  fs_view view = arg_view(k->s, arg);
  return add_arg(k, a->tag, a->version, &view);
}

static fs_status add_op_args(program_walk *k, const fs_stream_op *op) {
  for (uint32_t m = 0; m < fs_op_calls(op); m++) {
    fs_stream_member own = fs_op_call_args(k->s, op, m);
    begin_member(k);
    for (uint32_t i = 0; i < own.n_args; i++) {
      FS_TRY(add_op_arg(k, own.arg0 + i, i));
    }
    FS_TRY(end_member(k));
  }
  return FSCHED_OK;
}

static bool is_scratch(const fs_stream_place *p) {
  return p->version == FS_NONE && fs_space_has_bytes(p->space) && (p->mode & FS_MODE_W) != 0;
}

static fs_status add_op_needs(program_walk *k, uint32_t id) {
  const fs_stream *s = k->s;
  const fs_stream_op *op = &s->ops[id];
  k->by_class = op->by_class != 0;
  for (uint32_t i = op->scratch0; i < op->scratch0 + op->n_scratches; i++) {
    FS_TRY(add_scratch(k, s->scratches[i].size, s->scratches[i].memory));
  }
  for (uint32_t i = op->use0; i < op->use0 + op->n_uses; i++) {
    FS_TRY(add_amount(k, s->uses[i].resource, s->uses[i].amount));
  }
  for (uint32_t i = k->x->op_queue0[id]; i < k->x->op_queue0[id + 1]; i++) {
    FS_TRY(fs_vec_push(k->ctx, &k->queues, k->x->op_queue[i]));
  }
  return FSCHED_OK;
}

static fs_status add_op_afters(program_walk *k, uint32_t id) {
  const fs_stream_op *op = &k->s->ops[id];
  for (uint32_t i = op->after0; i < op->after0 + op->n_afters; i++) {
    FS_TRY(add_preds(k, k->of_op[k->s->afters[i]]));
  }
  return FSCHED_OK;
}

/* ---- loops */

/* The version whose bytes an arg of a loop's op names, and where the command of the stream has the
 * first byte of its buffer. */
static uint32_t find_version(const fs_stream *s, const fs_stream_loop *loop, uint32_t command,
                             const fs_stream_loop_arg *a, uint64_t *begin) {
  while (loop->within != FS_NONE) {
    a = &s->loop_args[a->own];
    loop = &s->loops[loop->within];
  }
  const fs_stream_command *c = &s->commands[command];
  for (uint32_t i = c->place0; i < c->place0 + c->n_places; i++) {
    const fs_stream_place *p = &s->places[i];
    if (fs_space_has_bytes(p->space) && p->version != FS_NONE && p->arg == a->own) {
      *begin = p->address - s->args[a->own].offset;
      break;
    }
  }
  return s->args[a->own].version;
}

/* Adds an arg whose place is that at *place, or behind. */
static fs_status add_body_arg(program_walk *k, const fs_loop_instance *at, uint32_t arg, uint32_t i,
                              uint32_t *place) {
  const fs_stream *s = k->s;
  const fs_stream_loop_arg *a = &s->loop_args[arg];
  if (!fs_tag_names_buffer(a->tag)) {
    return add_value(k, i, a->value);
  }
  while (!fs_space_has_bytes(s->loop_places[*place].space) ||
         s->loop_places[*place].version == FS_NONE || s->loop_places[*place].arg != arg) {
    ++*place;
  }
  uint64_t begin = 0;
  uint32_t version = find_version(s, at->loop, at->command, a, &begin);
  if (!fs_tag_accesses(a->tag) && !has_memory(k, version)) {
    return add_value(k, i, 0);
  }
  fs_loop_where w = fs_loop_arg_where(s, a, at);
  uint64_t from = s->loop_places[*place].address + w.way - begin;
  const fs_stream_view *v = fs_stream_loop_view_of(s, arg);
  fs_view view =
      v != NULL ? fs_stream_placed(v, from) : range_view(from, w.range.end - w.range.begin);
  return add_arg(k, a->tag, version, &view);
}

static fs_status add_body_args(program_walk *k, const fs_loop_instance *at) {
  const fs_stream_loop_op *op = &k->s->loop_ops[at->op];
  uint32_t place = k->s->loop_commands[at->loop_command].place0;
  for (uint32_t m = 0; m < fs_loop_op_calls(op); m++) {
    fs_stream_member own = fs_loop_op_call_args(k->s, op, m);
    begin_member(k);
    for (uint32_t i = 0; i < own.n_args; i++) {
      FS_TRY(add_body_arg(k, at, own.arg0 + i, i, &place));
    }
    FS_TRY(end_member(k));
  }
  return FSCHED_OK;
}

static fs_status add_body_needs(program_walk *k, const fs_loop_instance *at) {
  const fs_stream *s = k->s;
  const fs_stream_loop_command *c = &s->loop_commands[at->loop_command];
  k->by_class = s->loop_ops[at->op].by_class != 0;
  for (uint32_t i = c->place0; i < c->place0 + c->n_places; i++) {
    const fs_stream_place *p = &s->loop_places[i];
    if (is_scratch(p)) {
      FS_TRY(add_scratch(k, p->size, p->index));
    } else if (fs_space_of_resource(p->space)) {
      FS_TRY(add_amount(k, p->index, p->size));
    }
  }
  for (uint32_t i = k->x->body0[at->op]; i < k->x->body0[at->op + 1]; i++) {
    const fs_body_command *b = &k->x->body[i];
    if (b->copy == at->iteration % at->loop->copies) {
      FS_TRY(fs_vec_push(k->ctx, &k->queues, b->queue));
    }
  }
  return FSCHED_OK;
}

static fs_status add_body_afters(program_walk *k, const fs_loop_instance *at) {
  const fs_stream *s = k->s;
  for (; at != NULL; at = at->around) { /* what an inner loop comes after, its ops do */
    const fs_stream_loop_op *op = &s->loop_ops[at->op];
    for (uint32_t i = op->after0; i < op->after0 + op->n_afters; i++) {
      const fs_stream_loop_after *a = &s->loop_afters[i];
      if (a->distance <= at->iteration && at->iteration - a->distance < k->of_body[a->op].n) {
        FS_TRY(add_preds(k, k->of_body[a->op].at[at->iteration - a->distance]));
      }
    }
  }
  return FSCHED_OK;
}

static fs_program_key key_of(const fs_loop_instance *at, uint32_t op) {
  fs_program_key key;
  memset(&key, 0, sizeof key);
  key.op = op;
  key.command = at->command;
  for (const fs_loop_instance *i = at; i != NULL; i = i->around) {
    key.depth++;
  }
  uint32_t d = key.depth;
  for (const fs_loop_instance *i = at; i != NULL; i = i->around) {
    key.level[--d] = (fs_program_level){i->loop_command, i->op, i->iteration, i->before};
  }
  return key;
}

static fs_status submit_instance(program_walk *k, uint32_t op, const fs_loop_instance *at) {
  begin_task(k);
  FS_TRY(add_body_needs(k, at));
  FS_TRY(add_body_args(k, at));
  FS_TRY(add_body_afters(k, at));
  FS_TRY(add_op_afters(k, op));
  fs_program_key key = key_of(at, op);
  fs_loop_name(k->name, fs_stream_string(k->s, k->s->loop_ops[at->op].name), at);
  return submit_task(k, k->name, &key);
}

/* Moves the last value of a ring to where it is looked for (fs_stream_ring). */
static fs_status submit_move(program_walk *k, uint32_t op, const fs_stream_loop *loop,
                             uint32_t ring, uint64_t trips, const fs_loop_instance *around) {
  const fs_stream *s = k->s;
  uint32_t command = k->x->command[op];
  fs_loop_move m = fs_loop_last_value(s, loop, ring, trips, command, around);
  if (m.bytes == 0) {
    return FSCHED_OK;
  }
  uint32_t arg = s->rings[loop->ring0 + ring].arg;
  uint64_t begin = 0;
  fs_stream_loop_arg own = {.own = arg};
  uint32_t version = find_version(s, loop, command, &own, &begin);
  begin_task(k);
  begin_member(k);
  fs_view from = range_view(m.from - begin, m.bytes), to = range_view(m.to - begin, m.bytes);
  FS_TRY(add_arg(k, FSCHED_IN, version, &from));
  FS_TRY(add_arg(k, FSCHED_OUT_EXISTING, version, &to));
  FS_TRY(fs_vec_push(k->ctx, &k->queues, k->x->op_queue[k->x->op_queue0[op]]));
  FS_TRY(add_op_afters(k, op));
  fs_program_key key = {.op = op, .command = command, .moves = true};
  return submit_task(k, "move", &key);
}

static uint32_t first_command(const program_walk *k, const fs_stream_loop *loop, uint32_t op,
                              uint64_t iteration) {
  for (uint32_t i = k->x->body0[op]; i < k->x->body0[op + 1]; i++) {
    if (k->x->body[i].copy == iteration % loop->copies) {
      return k->x->body[i].command;
    }
  }
  return FS_NONE;
}

static fs_status walk_loop(program_walk *k, uint32_t op, const fs_stream_loop *loop,
                           const fs_loop_instance *around);

/* Submits an instance, or a run of the loop that it is. */
static fs_status walk_instance(program_walk *k, uint32_t op, fs_loop_instance *at) {
  task_range r = {(uint32_t)k->tasks.n, 0};
  uint32_t inner = k->s->loop_ops[at->op].loop;
  at->loop_command = first_command(k, at->loop, at->op, at->iteration);
  FS_TRY(inner == FS_NONE ? submit_instance(k, op, at) : walk_loop(k, op, &k->s->loops[inner], at));
  r.to = (uint32_t)k->tasks.n;
  k->of_body[at->op].at[at->iteration] = r;
  return FSCHED_OK;
}

static bool is_poisoned(const program_walk *k) { return k->w != NULL && fs_program_poisoned(k->x); }

static fs_status walk_program_order(program_walk *k, uint32_t op, fs_loop_instance *at,
                                    uint64_t trips) {
  const fs_stream_loop *loop = at->loop;
  for (at->iteration = 0; at->iteration < trips; at->iteration++) {
    for (at->op = loop->op0; at->op < loop->op0 + loop->n_ops; at->op++) {
      if (is_poisoned(k)) {
        return FSCHED_OK;
      }
      FS_TRY(walk_instance(k, op, at));
    }
  }
  return FSCHED_OK;
}

/* The queues take turns, so that none has to wait long for its first task. */
static fs_status walk_queue_order(program_walk *k, uint32_t op, fs_loop_instance *at,
                                  uint64_t trips) {
  const fs_stream_loop *loop = at->loop;
  fs_loop_walk *w = &k->order[loop - k->s->loops];
  uint32_t command;
  fs_loop_walk_begin(w, loop, trips);
  while (!is_poisoned(k) && fs_loop_walk_next(w, &command, &at->iteration)) {
    at->op = k->s->loop_commands[command].op;
    FS_TRY(walk_instance(k, op, at));
    w->queue = w->queue + 1 < loop->n_queues ? w->queue + 1 : 0;
  }
  assert(is_poisoned(k) || w->left == 0);
  return FSCHED_OK;
}

/* Forgets the tasks of the run before. */
static fs_status begin_body(program_walk *k, const fs_stream_loop *loop, uint64_t trips) {
  for (uint32_t i = loop->op0; i < loop->op0 + loop->n_ops; i++) {
    FS_TRY(fs_vec_reserve(k->ctx, &k->of_body[i], trips));
    k->of_body[i].n = trips;
    for (uint64_t t = 0; t < trips; t++) {
      k->of_body[i].at[t] = (task_range){0, 0};
    }
  }
  return FSCHED_OK;
}

/* Submits a run of a loop.  The recursion is as deep as loops nest. */
static fs_status walk_loop(program_walk *k, uint32_t op, const fs_stream_loop *loop,
                           const fs_loop_instance *around) {
  const fs_stream *s = k->s;
  uint64_t trips = fs_loop_trips(s, k->trips, loop);
  fs_loop_instance at = {.loop = loop,
                         .command = k->x->command[op],
                         .before = fs_loop_before(loop, around, trips),
                         .around = around};
  FS_TRY(begin_body(k, loop, trips));
  FS_TRY(k->order[loop - s->loops].s != NULL ? walk_queue_order(k, op, &at, trips)
                                             : walk_program_order(k, op, &at, trips));
  for (uint32_t i = 0; trips > 0 && i < loop->n_rings && !is_poisoned(k); i++) {
    FS_TRY(submit_move(k, op, loop, i, trips, around));
  }
  return FSCHED_OK;
}

/* ---- the walk */

static fs_status walk_op(program_walk *k, uint32_t id) {
  const fs_stream_op *op = &k->s->ops[id];
  uint32_t loop = k->x->loops.of == NULL ? FS_NONE : k->x->loops.of[id];
  k->of_op[id].from = (uint32_t)k->tasks.n;
  if (loop != FS_NONE) {
    FS_TRY(walk_loop(k, id, &k->s->loops[loop], NULL));
  } else if (k->x->command[id] != FS_NONE) {
    fs_program_key key = {.op = id, .command = k->x->command[id]};
    begin_task(k);
    FS_TRY(add_op_needs(k, id));
    FS_TRY(add_op_args(k, op));
    FS_TRY(add_op_afters(k, id));
    FS_TRY(submit_task(k, fs_stream_string(k->s, op->name), &key));
  }
  k->of_op[id].to = (uint32_t)k->tasks.n;
  for (uint32_t i = op->arg0; i < op->arg0 + op->n_args; i++) {
    uint32_t v = k->s->args[i].version;
    if (v != FS_NONE && k->x->last_use[v] == id) {
      FS_TRY(release_version(k, v));
    }
  }
  if (k->x->loops.of == NULL && !k->x->any_after) {
    k->tasks.n = 0; /* nobody asks for them */
  }
  return FSCHED_OK;
}

static fs_status walk_all(program_walk *k) {
  for (uint32_t i = 0; i < k->s->n_ops; i++) {
    if (is_poisoned(k)) {
      return FSCHED_OK;
    }
    FS_TRY(walk_op(k, k->x->order == NULL ? i : k->x->order[i]));
  }
  return FSCHED_OK;
}

static fs_status make_walk(program_walk *k, fs_arena *arena) {
  const fs_stream *s = k->s;
  size_t bytes = 1;
  for (uint32_t i = 0; i < s->n_loop_ops; i++) {
    bytes =
        fs_max(bytes, fs_loop_name_bytes(fs_stream_string(s, s->loop_ops[i].name), FS_LOOP_NEST));
  }
  FS_TRY(fs_new(arena, &k->name, bytes));
  FS_TRY(fs_new(arena, &k->buffer, s->n_versions));
  FS_TRY(fs_new_zero(arena, &k->declared, s->n_versions));
  FS_TRY(fs_new(arena, &k->holder, s->n_versions));
  FS_TRY(fs_new_zero(arena, &k->of_op, s->n_ops));
  memset(k->holder, 0xff, s->n_versions * sizeof *k->holder);
  FS_TRY(fs_new_zero(arena, &k->member, k->x->n_queues));
  FS_TRY(fs_program_orders(arena, s, &k->order));
  k->of_body = fs_arena_zalloc(arena, s->n_loop_ops * sizeof *k->of_body);
  return s->n_loop_ops > 0 && k->of_body == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

static void drop_walk(program_walk *k) {
  for (size_t i = 0; i < k->scratch.n && k->w != NULL; i++) {
    fs_status status = forget_buffer(k, k->scratch.at[i].buffer);
    assert(status == FSCHED_OK);
    (void)status;
  }
  for (uint32_t v = 0; v < k->s->n_versions && k->declared != NULL && k->w != NULL; v++) {
    if (k->declared[v]) {
      fs_status status = forget_buffer(k, k->buffer[v]);
      assert(status == FSCHED_OK);
      (void)status;
    }
  }
  for (uint32_t i = 0; i < k->s->n_loop_ops && k->of_body != NULL; i++) {
    fs_vec_free(k->ctx, &k->of_body[i]);
  }
  fs_vec_free(k->ctx, &k->tasks);
  fs_vec_free(k->ctx, &k->preds);
  fs_vec_free(k->ctx, &k->args);
  fs_vec_free(k->ctx, &k->values);
  fs_vec_free(k->ctx, &k->uses);
  fs_vec_free(k->ctx, &k->scratch);
  fs_vec_free(k->ctx, &k->queues);
  fs_dynamic_destroy(k->e);
}

fs_status fs_program_walk(fsched_context *ctx, fs_instance *x, const uint64_t *trips,
                          uint64_t *extent) {
  FS_SCRATCH(arena, ctx);
  program_walk k = {.ctx = ctx,
                    .x = x,
                    .s = x->stream,
                    .trips = trips,
                    .extent = extent,
                    .w = extent == NULL ? x->workers : NULL};
  fs_status status = make_walk(&k, &arena);
  if (status == FSCHED_OK && extent != NULL) {
    status = make_engine(&k);
  }
  status = status == FSCHED_OK ? walk_all(&k) : status;
  if (extent != NULL) {
    x->n_gangs = k.n_gangs;
  }
  drop_walk(&k);
  return status;
}
