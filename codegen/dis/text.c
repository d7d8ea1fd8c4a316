/* SPDX-License-Identifier: Apache-2.0 */
/* Disassembly for people: the target, then the commands queue by queue, a line each.  With
 * barriers, lines for a command's waits and updates stand around it; with syncs, the order of issue
 * follows. */
#include "codegen/dis/text.h"

#include "base/text/hex.h"
#include "base/text/view_text.h"
#include "codegen/codegen.h"
#include "fsched/graph.h"
#include "model/kinds.h"
#include "model/stream/members.h"
#include "model/stream/physicals.h"
#include "model/stream/views.h"
#include "model/sync.h"

static void put_size(fs_listing *l, const char *before, uint64_t value) {
  fs_list_put(l, before);
  if (value == FS_UNBOUNDED) {
    fs_list_put(l, "unbounded");
  } else {
    fs_text_u64(l->t, value);
  }
}

/* Writes "x", or "x.2" for a later version. */
static void put_version(fs_listing *l, uint32_t version) {
  const fs_stream_version *v = &l->s->versions[version];
  fs_list_name(l, l->s->buffers[v->buffer].name);
  if (v->index != 0) {
    fs_list_u64(l, ".", v->index);
  }
}

static fs_status put_barriers(fs_listing *l) {
  const fs_stream *s = l->s;
  uint64_t physicals;
  FS_TRY(fs_stream_physicals(l->t->ctx, s->barriers, s->n_barriers, s->guards, s->n_guards,
                             &physicals));
  fs_list_u64(l, "sync barrier: barriers ", s->n_barriers);
  fs_list_u64(l, ", physical ", physicals);
  if (s->meta->barrier_count != FS_NONE) {
    fs_list_u64(l, " of ", s->meta->barrier_count);
  }
  if (s->meta->barrier_slots != FS_NONE) {
    fs_list_u64(l, ", slots of each ", s->meta->barrier_slots);
  }
  fs_list_put(l, "\n");
  return FSCHED_OK;
}

static void put_stops(fs_listing *l) {
  uint32_t full = 0;
  for (uint32_t i = 0; i < l->s->n_stops; i++) {
    full += l->s->stops[i].queue == FS_NONE;
  }
  fs_list_u64(l, "sync block: full syncs ", full);
  fs_list_u64(l, ", counting syncs ", l->s->n_stops - full);
  fs_list_put(l, "\n");
}

static fs_status put_header(fs_listing *l) {
  const fs_stream *s = l->s;
  fs_list_put(l, "program ");
  fs_list_name(l, s->meta->name);
  fs_list_u64(l, ", format ", FS_STREAM_VERSION);
  fs_list_u64(l, "\nmakespan ", s->meta->makespan);
  if (s->meta->time_unit != FS_NONE) {
    fs_list_put(l, " ");
    fs_list_name(l, s->meta->time_unit);
  }
  fs_list_u64(l, ", lower bound ", s->meta->lower_bound);
  fs_list_u64(l, "\nops ", s->n_ops);
  if (s->n_loops != 0) {
    fs_list_u64(l, ", loops ", s->n_loops);
  }
  fs_list_u64(l, ", commands ", s->n_commands);
  if (fs_sync_has_waits(s->meta->sync)) {
    fs_list_u64(l, ", waits ", s->n_waits);
  }
  fs_list_u64(l, ", buffers ", s->n_buffers);
  fs_list_put(l, ", hazards ");
  fs_list_put(l, fs_words_hazards[s->meta->hazards]);
  if (s->meta->concurrency != 0) {
    fs_list_u64(l, ", concurrency ", s->meta->concurrency);
  }
  fs_list_put(l, "\n");
  switch (fs_stream_sync(s)) {
    case FS_SYNC_TIMELINE:
      break;
    case FS_SYNC_BARRIER:
      return put_barriers(l);
    case FS_SYNC_BLOCK:
      put_stops(l);
      break;
  }
  return FSCHED_OK;
}

static fs_status put_memories(fs_listing *l, fs_text *out) {
  static const char *const head[] = {"memory", "capacity",  "align",
                                     "extent", "placement", "backing"};
  fs_columns c;
  fs_columns_init(&c, out->ctx, 6);
  l->t = &c.text;
  for (uint32_t i = 0; i < 6; i++) {
    fs_list_put(l, head[i]);
    fs_columns_cell(&c, i >= 1 && i <= 3 ? FS_RIGHT : FS_LEFT);
  }
  for (uint32_t i = 0; i < l->s->n_memories; i++) {
    const fs_stream_memory *m = &l->s->memories[i];
    fs_list_name(l, m->name);
    fs_columns_cell(&c, FS_LEFT);
    put_size(l, "", m->capacity);
    fs_columns_cell(&c, FS_RIGHT);
    fs_list_u64(l, "", m->align);
    fs_columns_cell(&c, FS_RIGHT);
    fs_list_u64(l, "", m->extent);
    fs_columns_cell(&c, FS_RIGHT);
    fs_list_put(l, fs_words_placement[m->stack ? FSCHED_STACK : m->placement]);
    fs_list_put(l, m->host ? ", host" : "");
    fs_columns_cell(&c, FS_LEFT);
    if (m->backing == FS_NONE) {
      fs_list_put(l, "-");
    } else {
      fs_list_name(l, l->s->memories[m->backing].name);
    }
    fs_columns_cell(&c, FS_LEFT);
  }
  fs_text_puts(out, "\n");
  return fs_columns_finish(&c, "", out);
}

static void put_collectives(fs_listing *l) {
  for (uint32_t i = l->s->n_queues; i < l->s->n_axes; i++) {
    const fs_stream_axis *a = &l->s->axes[i];
    fs_list_put(l, i == l->s->n_queues ? "\ncollective " : "collective ");
    fs_list_name(l, a->name);
    fs_list_put(l, ": ");
    for (uint32_t k = 0; k < a->n_members; k++) {
      fs_list_put(l, k == 0 ? "" : ", ");
      fs_list_name(l, l->s->queues[l->s->axis_members[a->member0 + k]].name);
    }
    fs_list_put(l, "\n");
  }
}

static void put_clock(fs_listing *l, const fs_stream_wait *w, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    fs_list_put(l, i == 0 ? "" : " ");
    fs_list_name(l, l->s->axes[w[i].axis].name);
    fs_list_u64(l, ":", w[i].epoch);
  }
  fs_list_put(l, n == 0 ? "-" : "");
}

/* Writes " params 5", the number of bytes that the op's kernel gets; nothing if there are none. */
static void put_params(fs_listing *l, const fs_stream_command *c) {
  uint32_t kernel = fs_command_has_op(c) ? l->s->ops[c->target].kernel : FS_NONE;
  const char *text =
      kernel == FS_NONE ? NULL : fs_stream_string(l->s, l->s->kernels[kernel].params);
  if (text != NULL) {
    fs_list_u64(l, " params ", fs_hex_bytes(text));
  }
}

static void put_what(fs_listing *l, const fs_stream_command *c) {
  switch (fs_command_kind_of(c)) {
    case FS_COMMAND_RUN:
      fs_list_put(l, "run ");
      fs_list_name(l, l->s->ops[c->target].name);
      break;
    case FS_COMMAND_COPY:
      fs_list_put(l, fs_words_copy[c->direction]);
      fs_list_put(l, " ");
      put_version(l, c->target);
      break;
  }
  put_params(l, c);
  if (fs_command_members(l->s, c) > 0) {
    fs_list_u64(l, " member ", fs_stream_member_of(l->s, (uint32_t)(c - l->s->commands)));
  }
  if (c->gang_axis != FS_NONE) {
    fs_list_put(l, " with ");
    fs_list_name(l, l->s->axes[c->gang_axis].name);
    fs_list_u64(l, ":", c->gang_epoch);
  }
}

void fs_list_place(fs_listing *l, const fs_stream_place *p) {
  fs_list_put(l, fs_words_mode[p->mode]);
  fs_list_put(l, " ");
  if (p->version != FS_NONE) {
    put_version(l, p->version);
    fs_list_put(l, " ");
  }
  switch (fs_place_space(p)) {
    case FS_SPACE_MEMORY:
    case FS_SPACE_COUNTED:
      fs_list_name(l, l->s->memories[p->index].name);
      fs_list_put(l, fs_space_has_units(p->space) ? " units" : "");
      break;
    case FS_SPACE_RESOURCE:
      fs_list_name(l, l->s->resources[p->index].name);
      break;
    case FS_SPACE_CONCURRENCY:
      fs_list_put(l, "slot");
      break;
  }
  fs_list_u64(l, "[", p->address);
  fs_list_u64(l, ",", p->address + p->size);
  fs_list_put(l, ")");
}

static void put_barrier(fs_listing *l, const char *kind, uint32_t barrier) {
  const fs_stream_barrier *b = &l->s->barriers[barrier];
  fs_list_u64(l, kind, barrier);
  fs_list_u64(l, " (physical ", b->physical);
  fs_list_u64(l, ", use ", b->use);
}

static void put_barrier_waits(fs_listing *l, fs_columns *c, const fs_stream_command *m) {
  for (uint32_t i = 0; i < m->n_barrier_waits; i++) {
    fs_list_empty(c, fs_list_times(l));
    put_barrier(l, "barrier_wait ", l->s->barrier_waits[m->barrier_wait0 + i]);
    fs_list_put(l, ")");
    fs_columns_cell(c, FS_LEFT);
    fs_list_empty(c, 2);
  }
}

static void put_barrier_updates(fs_listing *l, fs_columns *c, const fs_stream_command *m) {
  for (uint32_t i = 0; i < m->n_barrier_updates; i++) {
    const fs_stream_update *u = &l->s->barrier_updates[m->barrier_update0 + i];
    fs_list_empty(c, fs_list_times(l));
    put_barrier(l, "barrier_update ", u->barrier);
    fs_list_u64(l, ", slots ", u->slots);
    fs_list_put(l, ")");
    fs_columns_cell(c, FS_LEFT);
    fs_list_empty(c, 2);
  }
}

void fs_list_stop(fs_listing *l, const fs_stream_stop *stop) {
  assert(stop->queue == FS_NONE || stop->queue < l->s->n_queues);
  fs_list_put(l, "sync");
  if (stop->queue != FS_NONE) {
    fs_list_put(l, " ");
    fs_list_name(l, l->s->queues[stop->queue].name);
    if (stop->keep > 0) {
      fs_list_u64(l, " but the last ", stop->keep);
    }
  }
}

/* Writes the syncs before a queue's next command: a single one as it is, of several the last one
 * and their number.  *stop is the first sync that the queue has not met. */
static void put_stops_before(fs_listing *l, fs_columns *c, uint32_t issue, uint32_t *stop) {
  uint32_t first = *stop;
  while (*stop < l->s->n_stops && l->s->stops[*stop].at <= issue) {
    ++*stop;
  }
  if (*stop == first) {
    return;
  }
  const fs_stream_stop *last = &l->s->stops[*stop - 1];
  fs_list_empty(c, fs_list_times(l));
  fs_list_u64(l, "", last->at);
  fs_columns_cell(c, FS_RIGHT);
  fs_list_stop(l, last);
  if (*stop - first > 1) {
    fs_list_u64(l, ", the last of ", *stop - first);
  }
  fs_columns_cell(c, FS_LEFT);
  fs_list_empty(c, 2);
}

void fs_list_view(fs_listing *l, const fs_stream_view *v) {
  if (v != NULL) {
    fs_list_put(l, " as ");
    fs_text_view(l->t, v->shape, v->stride, v->n_dims, v->element);
  }
}

/* Writes the places of a command, of a member those of its own args. */
static void put_places(fs_listing *l, const fs_stream_command *m) {
  bool member = fs_command_members(l->s, m) > 0, some = false;
  fs_stream_member own = {0, 0};
  if (member) {
    own = fs_stream_args_of(l->s, (uint32_t)(m - l->s->commands));
  }
  for (uint32_t i = 0; i < m->n_places; i++) {
    const fs_stream_place *p = &l->s->places[m->place0 + i];
    bool of_arg = fs_space_has_bytes(p->space) && p->arg != FS_NONE &&
                  (p->version != FS_NONE || p->mode == FS_MODE_R);
    if (member && of_arg && p->arg - own.arg0 >= own.n_args) {
      continue;
    }
    fs_list_put(l, some ? ", " : "");
    fs_list_place(l, p);
    if (of_arg) {
      fs_list_view(l, l->s->n_views == 0 ? NULL : fs_stream_view_of(l->s, p->arg));
    }
    some = true;
  }
}

static void put_command(fs_listing *l, fs_columns *c, const fs_stream_command *m) {
  fs_sync_kind sync = fs_stream_sync(l->s);
  fs_list_u64(l, "", m->epoch);
  fs_columns_cell(c, FS_RIGHT);
  fs_list_u64(l, "", m->start);
  fs_columns_cell(c, FS_RIGHT);
  fs_list_u64(l, "", m->end);
  fs_columns_cell(c, FS_RIGHT);
  if (l->any_slow) {
    fs_list_u64(l, "", fs_command_free(l->s, m));
    fs_columns_cell(c, FS_RIGHT);
  }
  if (fs_sync_has_stops(sync)) {
    fs_list_u64(l, "", m->issue);
    fs_columns_cell(c, FS_RIGHT);
  }
  put_what(l, m);
  fs_columns_cell(c, FS_LEFT);
  if (fs_sync_has_waits(sync)) {
    put_clock(l, l->s->waits + m->wait0, m->n_waits);
    fs_columns_cell(c, FS_LEFT);
    fs_list_put(l, m->signal ? fs_words_scope[m->scope] : "-");
    fs_columns_cell(c, FS_LEFT);
  }
  put_clock(l, l->s->frontiers + m->frontier0, m->n_frontier);
  fs_list_put(l, m->tainted ? " tainted" : "");
  fs_columns_cell(c, FS_LEFT);
  put_places(l, m);
  fs_columns_cell(c, FS_LEFT);
}

static fs_status put_queue(fs_listing *l, uint32_t queue, fs_text *out) {
  /* The titles of the columns; by fs_sync_kind those behind the times, and how many of these hold
   * numbers. */
  static const char *const times[] = {"epoch", "start", "end", "free"};
  static const char *const head[][5] = {{"command", "waits", "signal", "frontier", "places"},
                                        {"command", "frontier", "places"},
                                        {"issue", "command", "frontier", "places"}};
  static const uint32_t columns[] = {5, 3, 4}, numbers[] = {0, 0, 1};
  uint32_t sync = l->s->meta->sync, n_times = fs_list_times(l), stop = 0;
  const fs_stream_queue *q = &l->s->queues[queue];
  l->t = out;
  fs_list_put(l, "\nqueue ");
  fs_list_name(l, q->name);
  fs_list_put(l, " (class ");
  fs_list_name(l, q->class_name);
  fs_list_u64(l, ", device ", q->device);
  fs_list_u64(l, ", machine ", q->machine);
  fs_list_put(l, q->counting ? ", counting" : "");
  fs_list_put(l, q->host ? ", host" : "");
  fs_list_u64(l, "): commands ", q->n_commands);
  fs_list_put(l, "\n");
  fs_columns c;
  fs_columns_init(&c, out->ctx, n_times + columns[sync]);
  l->t = &c.text;
  for (uint32_t i = 0; i < n_times + columns[sync] && q->n_commands != 0; i++) {
    fs_list_put(l, i < n_times ? times[i] : head[sync][i - n_times]);
    fs_columns_cell(&c, i < n_times + numbers[sync] ? FS_RIGHT : FS_LEFT);
  }
  for (uint32_t i = 0; i < q->n_commands; i++) {
    const fs_stream_command *m = &l->s->commands[q->command0 + i];
    put_stops_before(l, &c, m->issue, &stop);
    put_barrier_waits(l, &c, m);
    put_command(l, &c, m);
    fs_list_loop(l, &c, queue, fs_command_op(m));
    put_barrier_updates(l, &c, m);
  }
  return fs_columns_finish(&c, "  ", out);
}

/* The commands, sorted by their places in the order of issue. */
static fs_status by_issue(const fs_stream *s, fs_arena *arena, uint32_t **command,
                          uint32_t **queue) {
  FS_TRY(fs_new(arena, command, s->n_commands));
  FS_TRY(fs_new(arena, queue, s->n_commands));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    for (uint32_t i = 0; i < s->queues[q].n_commands; i++) {
      uint32_t c = s->queues[q].command0 + i, at = s->commands[c].issue;
      (*command)[at] = c;
      (*queue)[at] = q;
    }
  }
  return FSCHED_OK;
}

static void put_issue(fs_listing *l, fs_columns *c, const uint32_t *command,
                      const uint32_t *queue) {
  const fs_stream *s = l->s;
  uint32_t stop = 0;
  for (uint32_t i = 0; i < s->n_commands; i++) {
    for (; stop < s->n_stops && s->stops[stop].at == i; stop++) {
      fs_list_empty(c, 2);
      fs_list_stop(l, &s->stops[stop]);
      fs_columns_cell(c, FS_LEFT);
    }
    fs_list_u64(l, "", i);
    fs_columns_cell(c, FS_RIGHT);
    fs_list_name(l, s->queues[queue[i]].name);
    fs_list_u64(l, ":", s->commands[command[i]].epoch);
    fs_columns_cell(c, FS_LEFT);
    put_what(l, &s->commands[command[i]]);
    fs_columns_cell(c, FS_LEFT);
  }
}

/* Writes the order in which the sequencer issues commands and waits at syncs. */
static fs_status put_issue_order(fs_listing *l, fs_text *out) {
  uint32_t *command, *queue;
  fs_columns c;
  fs_text_puts(out, "\norder of issue\n");
  fs_columns_init(&c, out->ctx, 3);
  l->t = &c.text;
  FS_SCRATCH(arena, out->ctx);
  fs_status status = by_issue(l->s, &arena, &command, &queue);
  if (status == FSCHED_OK) {
    put_issue(l, &c, command, queue);
  }
  fs_status finished = fs_columns_finish(&c, "  ", out);
  return status == FSCHED_OK ? finished : status;
}

/* Lists the ops that could have other queues of their class. */
static void put_choices(fs_listing *l) {
  const char *lead = "\nby class: ";
  for (uint32_t i = 0; i < l->s->n_ops; i++) {
    if (l->s->ops[i].by_class != 0) {
      fs_list_put(l, lead);
      fs_list_name(l, l->s->ops[i].name);
      lead = ", ";
    }
  }
  fs_list_put(l, lead[0] == ',' ? "\n" : "");
}

static fs_status put_all(fs_listing *l, fs_text *out) {
  l->t = out;
  FS_TRY(put_header(l));
  FS_TRY(put_memories(l, out));
  l->t = out;
  put_collectives(l);
  put_choices(l);
  fs_list_loops(l);
  for (uint32_t q = 0; q < l->s->n_queues; q++) {
    FS_TRY(put_queue(l, q, out));
  }
  return fs_sync_has_stops(l->s->meta->sync) && l->s->n_commands != 0 ? put_issue_order(l, out)
                                                                      : FSCHED_OK;
}

fs_status fsched_program_text(fsched_context *ctx, const fsched_program *p, char **text,
                              size_t *length) {
  fs_text out;
  fs_text_init(&out, ctx);
  fs_listing l = {.s = &p->view, .any_slow = fs_stream_has_slow(&p->view)};
  fs_status status = put_all(&l, &out);
  if (status != FSCHED_OK) {
    fs_text_drop(&out);
    return status;
  }
  return fs_text_take(&out, text, length);
}
