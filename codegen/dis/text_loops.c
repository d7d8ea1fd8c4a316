/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that stay loops, for people.  In step t a command runs iteration (t - shift) * copies +
 * copy of its op, which is written as an index that is linear in t: load[t], load[2t+1], add[t-1].
 * So the text of a queue reads like the body of a loop over t.
 *
 * A command that is a loop itself has the rows of that below its own, as a loop over u within the
 * body over t: k[t-1], then load[t-1][u], add[t-1][u-1].  They are the same for all copies of the
 * command, and stand below copy 0 alone: else a text could be longer than its stream by the product
 * of the copies of all levels. */
#include "codegen/dis/text.h"
#include "model/kinds.h"
#include "model/stream/order.h"
#include "model/stream/views.h"

/* Letters of steps and of iterations, by the number of loops around. */
static const char step_of[FS_LOOP_NEST + 1] = "tuvwxyzs";
static const char iteration_of[FS_LOOP_NEST + 1] = "ijklmnop";

/* A loop, and the command that runs it in the loop around it. */
typedef struct loop_nest {
  const fs_stream_loop *loop;
  const struct loop_nest *around; /* NULL: the loop is an op of the stream */
  const fs_stream_loop_command *run;
  uint32_t depth; /* loops around it */
} loop_nest;

static int64_t constant_of(const fs_stream_loop *loop, const fs_stream_loop_command *m) {
  return (int64_t)m->copy - (int64_t)m->shift * loop->copies;
}

/* Writes [at]: iteration copies * step + constant. */
static void put_index(fs_listing *l, const loop_nest *n, int64_t constant) {
  fs_list_put(l, "[");
  if (n->loop->copies != 1) {
    fs_list_u64(l, "", n->loop->copies);
  }
  fs_text_printf(l->t, "%c", step_of[n->depth]);
  if (constant != 0) {
    fs_text_printf(l->t, "%+lld", (long long)constant);
  }
  fs_list_put(l, "]");
}

/* Writes NAME[at][at]...: an instance of an op of the loop, in this run of it. */
static void put_instance(fs_listing *l, const loop_nest *n, uint32_t op, int64_t constant) {
  int64_t at[FS_LOOP_NEST] = {0};
  const loop_nest *nest[FS_LOOP_NEST] = {NULL};
  at[n->depth] = constant;
  for (const loop_nest *x = n; x != NULL; x = x->around) {
    nest[x->depth] = x;
    if (x->around != NULL) {
      at[x->depth - 1] = constant_of(x->around->loop, x->run);
    }
  }
  fs_list_name(l, l->s->loop_ops[op].name);
  for (uint32_t d = 0; d <= n->depth; d++) {
    put_index(l, nest[d], at[d]);
  }
}

static void put_loop_waits(fs_listing *l, const loop_nest *n, const fs_stream_loop_command *m) {
  for (uint32_t i = 0; i < m->n_waits; i++) {
    const fs_stream_loop_wait *w = &l->s->loop_waits[m->wait0 + i];
    fs_list_put(l, i == 0 ? "" : " ");
    put_instance(l, n, l->s->loop_commands[w->command].op,
                 constant_of(n->loop, m) - (int64_t)w->distance);
    uint32_t queue = fs_loop_part_queue(l->s, n->loop, w->command);
    if (queue != FS_NONE) {
      fs_list_put(l, "@");
      fs_list_name(l, l->s->queues[queue].name);
    }
  }
  fs_list_put(l, m->n_waits == 0 ? "-" : "");
}

/* Writes the slot of a ring that an arg of a loop around takes, as it moves with that. */
static void put_slot_around(fs_listing *l, const loop_nest *n, const fs_stream_loop_arg *a) {
  uint32_t depth = l->s->rings[a->ring].depth;
  if (depth == 1) {
    return;
  }
  fs_text_printf(l->t, " in slot %c", iteration_of[n->depth]);
  if (a->back != 0) {
    fs_list_u64(l, "-", a->back);
  }
  fs_list_u64(l, " mod ", depth);
}

/* Writes by how many bytes an arg moves with each iteration of the loops around, the outermost
 * first. */
static void put_steps(fs_listing *l, const loop_nest *n, const fs_stream_loop_arg *a) {
  const fs_stream_loop_arg *arg[FS_LOOP_NEST];
  uint32_t d = n->depth;
  for (arg[d] = a; d > 0; d--) {
    arg[d - 1] = &l->s->loop_args[arg[d]->own];
  }
  for (; d <= n->depth; d++) {
    if (arg[d]->step != 0) {
      fs_text_printf(l->t, "%+lld%c", (long long)arg[d]->step, iteration_of[d]);
    }
  }
}

/* Writes the place of iteration 0, and how those of others follow from it. */
static void put_loop_place(fs_listing *l, const loop_nest *n, const fs_stream_place *p) {
  fs_list_place(l, p);
  if (p->arg == FS_NONE) {
    return;
  }
  const fs_stream_loop_arg *a = &l->s->loop_args[p->arg];
  put_steps(l, n, a);
  fs_list_view(l, fs_stream_loop_view_of(l->s, p->arg));
  if (a->ring != FS_NONE) {
    fs_list_u64(l, " slot 0 of ", l->s->rings[a->ring].depth);
  }
  if (a->back != 0) {
    fs_list_u64(l, " back ", a->back);
  }
  for (n = n->around; n != NULL; n = n->around) {
    a = &l->s->loop_args[a->own];
    if (a->ring != FS_NONE) {
      put_slot_around(l, n, a);
    }
  }
}

static void put_indent(fs_listing *l, const loop_nest *n) {
  for (uint32_t i = 0; i <= n->depth; i++) {
    fs_list_put(l, "  ");
  }
}

/* Writes the syncs before a command, those of its step from place `first` on. */
static void put_loop_stops(fs_listing *l, fs_columns *c, const loop_nest *n, uint32_t first,
                           uint32_t issue) {
  for (uint32_t i = n->loop->stop0; i < n->loop->stop0 + n->loop->n_stops; i++) {
    const fs_stream_stop *stop = &l->s->loop_stops[i];
    if (stop->at >= first && stop->at <= issue) {
      fs_list_empty(c, fs_list_times(l));
      fs_list_u64(l, "", stop->at);
      fs_columns_cell(c, FS_RIGHT);
      put_indent(l, n);
      fs_list_stop(l, stop);
      fs_columns_cell(c, FS_LEFT);
      fs_list_empty(c, 2);
    }
  }
}

/* Writes [at] of an iteration among those of all runs that are joined: "[4t+u-3]", or of N trips
 * that a parameter gives "[N(t)+u-3]". */
static void put_joined_index(fs_listing *l, const loop_nest *n, int64_t constant) {
  int64_t before = -(int64_t)n->run->shift; /* the loop around has one copy */
  char step = step_of[n->around->depth];
  fs_list_put(l, "[");
  if (n->loop->param == FS_NONE) {
    fs_text_printf(l->t, "%llu%c+", (unsigned long long)n->loop->trip, step);
    constant += before * (int64_t)n->loop->trip;
  } else {
    fs_list_name(l, l->s->params[n->loop->param].name);
    fs_text_printf(l->t, before == 0 ? "(%c)+" : "(%c%+lld)+", step, (long long)before);
  }
  if (n->loop->copies != 1) {
    fs_list_u64(l, "", n->loop->copies);
  }
  fs_text_printf(l->t, constant == 0 ? "%c]" : "%c%+lld]", step_of[n->depth], (long long)constant);
}

/* Writes which barrier of a guard an iteration uses: "4..6 by [t-3] mod 3". */
static void put_guard(fs_listing *l, const loop_nest *n, const fs_stream_guard *g,
                      int64_t constant) {
  fs_list_u64(l, "", g->physical);
  if (g->depth > 1) {
    fs_list_u64(l, "..", g->physical + g->depth - 1);
  }
  fs_list_put(l, " by ");
  if (n->loop->joined != 0) {
    put_joined_index(l, n, constant);
  } else {
    put_index(l, n, constant);
  }
  if (g->depth > 1) {
    fs_list_u64(l, " mod ", g->depth);
  }
}

static void put_guard_row(fs_listing *l, fs_columns *c, const loop_nest *n, const char *kind,
                          const fs_stream_guard *g, int64_t constant) {
  fs_list_empty(c, fs_list_times(l));
  put_indent(l, n);
  fs_list_put(l, kind);
  put_guard(l, n, g, constant);
  fs_columns_cell(c, FS_LEFT);
  fs_list_empty(c, 2);
}

static void put_checks(fs_listing *l, fs_columns *c, const loop_nest *n,
                       const fs_stream_loop_command *m) {
  for (uint32_t i = m->check0; i < m->check0 + m->n_checks; i++) {
    const fs_stream_guard_check *check = &l->s->guard_checks[i];
    put_guard_row(l, c, n, "barrier_wait ", &l->s->guards[check->guard],
                  constant_of(n->loop, m) - (int64_t)check->distance);
  }
}

static void put_arrivals(fs_listing *l, fs_columns *c, const loop_nest *n, uint32_t queue,
                         const fs_stream_loop_command *m) {
  for (uint32_t i = n->loop->guard0; i < n->loop->guard0 + n->loop->n_guards; i++) {
    const fs_stream_guard *g = &l->s->guards[i];
    for (uint32_t k = g->producer0; k < g->producer0 + g->n_producers; k++) {
      if (l->s->producers[k] == m->op && fs_guard_has_queue(g, queue)) {
        put_guard_row(l, c, n, "barrier_update ", g, constant_of(n->loop, m));
      }
    }
  }
}

static void put_row(fs_listing *l, fs_columns *c, const loop_nest *n,
                    const fs_stream_loop_command *m) {
  fs_list_empty(c, fs_list_times(l));
  if (fs_sync_has_stops(l->s->meta->sync)) {
    fs_list_u64(l, "", m->issue);
    fs_columns_cell(c, FS_RIGHT);
  }
  put_indent(l, n);
  put_instance(l, n, m->op, constant_of(n->loop, m));
  fs_columns_cell(c, FS_LEFT);
  if (fs_sync_has_waits(l->s->meta->sync)) {
    put_loop_waits(l, n, m);
    fs_columns_cell(c, FS_LEFT);
    fs_list_put(l, m->signal ? "loop" : "-");
    fs_columns_cell(c, FS_LEFT);
  }
  fs_list_empty(c, 1); /* no frontier */
  for (uint32_t i = 0; i < m->n_places; i++) {
    fs_list_put(l, i == 0 ? "" : ", ");
    put_loop_place(l, n, &l->s->loop_places[m->place0 + i]);
  }
  fs_columns_cell(c, FS_LEFT);
}

/* Writes what the queue does in a step of the loop, and in those within it.  The recursion is at
 * most FS_LOOP_NEST deep.  O(commands of all of these). */
static void put_rows(fs_listing *l, fs_columns *c, uint32_t queue, const loop_nest *n) {
  const fs_stream *s = l->s;
  uint32_t q = n->loop->queue0, end = q + n->loop->n_queues, first = 0;
  while (q < end && s->loop_queues[q].queue != queue) {
    q++;
  }
  for (uint32_t i = 0; q < end && i < s->loop_queues[q].n_commands; i++) {
    const fs_stream_loop_command *m = &s->loop_commands[s->loop_queues[q].command0 + i];
    uint32_t inner = s->loop_ops[m->op].loop;
    put_loop_stops(l, c, n, first, m->issue);
    first = m->issue + 1;
    put_checks(l, c, n, m);
    put_row(l, c, n, m);
    put_arrivals(l, c, n, queue, m);
    if (inner != FS_NONE && m->copy == 0) {
      put_rows(l, c, queue, &(loop_nest){&s->loops[inner], n, m, n->depth + 1});
    }
  }
}

/* The loop that the op of the stream is, or NULL.  O(log loops). */
static const fs_stream_loop *loop_of(const fs_stream *s, uint32_t op) {
  uint32_t low = 0, high = s->n_loops;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (s->loops[middle].within == FS_NONE && s->loops[middle].op < op) {
      low = middle + 1;
    } else { /* also one that is in a loop: these come last */
      high = middle;
    }
  }
  return low < s->n_loops && s->loops[low].within == FS_NONE && s->loops[low].op == op
             ? &s->loops[low]
             : NULL;
}

void fs_list_loop(fs_listing *l, fs_columns *c, uint32_t queue, uint32_t op) {
  assert(queue < l->s->n_queues);
  const fs_stream_loop *loop = loop_of(l->s, op);
  if (loop != NULL) {
    put_rows(l, c, queue, &(loop_nest){.loop = loop});
  }
}

static void put_ring(fs_listing *l, const fs_stream_loop *loop, const fs_stream_ring *r) {
  const fs_stream *s = l->s;
  uint32_t buffer = loop->within == FS_NONE ? s->args[r->arg].buffer : s->loop_args[r->arg].buffer;
  fs_list_put(l, "  ring ");
  fs_list_name(l, s->buffers[buffer].name);
  fs_list_u64(l, ": ", r->size);
  fs_list_u64(l, " bytes in slots of ", r->slot);
  fs_list_u64(l, ", depth ", r->depth);
  fs_list_put(l, ", from ");
  fs_list_name(l, s->loop_ops[r->writer].name);
  switch ((fs_ring_entry)r->entry) {
    case FS_RING_EMPTY:
      fs_list_put(l, "\n");
      break;
    case FS_RING_ENTRY:
      fs_list_put(l, ", with a value on entry\n");
      break;
    case FS_RING_RETURNS:
      fs_list_put(l, ", with a value on entry, to where the last returns\n");
      break;
    case FS_RING_LEAVES:
      fs_list_put(l, ", the last left in its last slot\n");
      break;
  }
}

static void put_guard_line(fs_listing *l, const fs_stream_guard *g) {
  fs_list_u64(l, g->depth == 1 ? "  barrier " : "  barriers ", g->physical);
  if (g->depth > 1) {
    fs_list_u64(l, "..", g->physical + g->depth - 1);
  }
  fs_list_put(l, ": ");
  for (uint32_t k = 0; k < g->n_producers; k++) {
    fs_list_put(l, k == 0 ? "" : ", ");
    fs_list_name(l, l->s->loop_ops[l->s->producers[g->producer0 + k]].name);
    if (g->queue != FS_NONE) {
      fs_list_put(l, "@");
      fs_list_name(l, l->s->queues[g->queue].name);
    }
  }
  fs_list_put(l, "\n");
}

/* Lists the ops of the body that could have other queues of their class. */
static void put_choices(fs_listing *l, const fs_stream_loop *loop) {
  const char *lead = "  by class: ";
  for (uint32_t i = loop->op0; i < loop->op0 + loop->n_ops; i++) {
    if (l->s->loop_ops[i].by_class != 0) {
      fs_list_put(l, lead);
      fs_list_name(l, l->s->loop_ops[i].name);
      lead = ", ";
    }
  }
  fs_list_put(l, lead[0] == ',' ? "\n" : "");
}

/* Writes the names of the loops around and of the loop: tiles/k. */
static void put_path(fs_listing *l, const fs_stream_loop *loop) {
  const fs_stream *s = l->s;
  uint32_t name[FS_LOOP_NEST], n = 0;
  for (; loop->within != FS_NONE; loop = &s->loops[loop->within]) {
    name[n++] = s->loop_ops[loop->op].name;
  }
  fs_list_name(l, s->ops[loop->op].name);
  while (n > 0) {
    fs_list_put(l, "/");
    fs_list_name(l, name[--n]);
  }
}

static void put_trips(fs_listing *l, const fs_stream_loop *loop) {
  if (loop->param == FS_NONE) {
    fs_list_u64(l, ": iterations ", loop->trip);
    return;
  }
  fs_list_put(l, ": iterations ");
  fs_list_name(l, l->s->params[loop->param].name);
  fs_list_u64(l, " of ", loop->least);
  fs_list_u64(l, " to ", loop->most);
}

static void put_params(fs_listing *l) {
  for (uint32_t i = 0; i < l->s->n_params; i++) {
    const fs_stream_param *p = &l->s->params[i];
    fs_list_put(l, i == 0 ? "\nparam " : "param ");
    fs_list_name(l, p->name);
    fs_list_u64(l, ": ", p->least);
    fs_list_u64(l, " to ", p->most);
    fs_list_put(l, "\n");
  }
}

void fs_list_loops(fs_listing *l) {
  const fs_stream *s = l->s;
  put_params(l);
  for (uint32_t i = 0; i < s->n_loops; i++) {
    const fs_stream_loop *loop = &s->loops[i];
    fs_list_put(l, "\nloop ");
    put_path(l, loop);
    put_trips(l, loop);
    fs_list_u64(l, ", copies ", loop->copies);
    fs_list_u64(l, ", ops ", loop->n_ops);
    fs_list_put(l, loop->joined != 0 ? ", runs joined\n" : "\n");
    put_choices(l, loop);
    for (uint32_t k = 0; k < loop->n_rings; k++) {
      put_ring(l, loop, &s->rings[loop->ring0 + k]);
    }
    for (uint32_t k = 0; k < loop->n_guards; k++) {
      put_guard_line(l, &s->guards[loop->guard0 + k]);
    }
  }
}
