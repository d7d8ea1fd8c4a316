/* SPDX-License-Identifier: Apache-2.0 */
/* The command half: epochs, gangs, waits, frontiers, places.
 *
 * A collective axis counts the gang's ops: on each member queue the gang's commands have epochs 1,
 * 2, ... in order, equally many on each, and one epoch is one op.  Waits and frontiers may name
 * only these epochs, so the epochs are checked first. */
#include "codegen/load/check.h"
#include "fsched/graph.h"
#include "model/sync.h"

typedef struct fs_gangs {
  uint32_t *last;     /* per axis: the largest epoch */
  uint32_t *first_op; /* per collective axis: index in `op` of its first epoch */
  uint32_t *op;
} fs_gangs;

static const char *queue_name(const fs_checker *c, uint32_t queue) {
  return c->v.strings + c->v.queues[queue].name;
}

/* ---- gangs */

static bool is_member(const fs_stream_axis *a, const uint32_t *members, uint32_t queue) {
  uint32_t low = a->member0, high = a->member0 + a->n_members;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (members[middle] < queue) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < a->member0 + a->n_members && members[low] == queue;
}

static fs_status check_gang(fs_checker *c, uint32_t queue, const fs_stream_command *command,
                            uint32_t *count) {
  const fs_stream *v = &c->v;
  uint32_t axis = command->gang_axis;
  FS_NEED(c, axis >= v->n_queues && axis < v->n_axes && fs_kind_has_gang(command->kind), REFERENCE,
          "command %u of queue '%s' is a gang of axis %u", command->epoch, queue_name(c, queue),
          axis);
  FS_NEED(c, is_member(&v->axes[axis], v->axis_members, queue), REFERENCE,
          "command %u of queue '%s' is a gang of axis '%s', which has no such member",
          command->epoch, queue_name(c, queue), v->strings + v->axes[axis].name);
  FS_NEED(c, command->gang_epoch == ++*count, EPOCH,
          "command %u of queue '%s' has epoch %u on axis '%s' instead of %u", command->epoch,
          queue_name(c, queue), command->gang_epoch, v->strings + v->axes[axis].name, *count);
  return FSCHED_OK;
}

/* Checks the epochs on queues and on collective axes; fills g->last. */
static fs_status check_epochs(fs_checker *c, fs_gangs *g) {
  const fs_stream *v = &c->v;
  uint32_t *seen, *count;
  uint64_t *total;
  FS_TRY(fs_new_none(&c->arena, &seen, v->n_axes)); /* per axis: the queue last met */
  FS_TRY(fs_new_zero(&c->arena, &count, v->n_axes));
  FS_TRY(fs_new_zero(&c->arena, &total, v->n_axes));
  FS_TRY(fs_new_zero(&c->arena, &g->last, v->n_axes));
  for (uint32_t q = 0; q < v->n_queues; q++) {
    g->last[q] = v->queues[q].n_commands;
    for (uint32_t i = 0; i < v->queues[q].n_commands; i++) {
      const fs_stream_command *command = &v->commands[v->queues[q].command0 + i];
      uint32_t axis = command->gang_axis;
      FS_NEED(c, command->epoch == i + 1, EPOCH, "command %u of queue '%s' has epoch %u", i + 1,
              queue_name(c, q), command->epoch);
      if (axis == FS_NONE) {
        FS_NEED(c, command->gang_epoch == 0, EPOCH,
                "command %u of queue '%s' has a gang epoch alone", i + 1, queue_name(c, q));
        continue;
      }
      if (axis < v->n_axes && seen[axis] != q) {
        seen[axis] = q;
        count[axis] = 0;
      }
      uint32_t none = 0;
      FS_TRY(check_gang(c, q, command, axis < v->n_axes ? &count[axis] : &none));
      total[axis]++;
      g->last[axis] = (uint32_t)fs_max(g->last[axis], count[axis]);
    }
  }
  for (uint32_t a = v->n_queues; a < v->n_axes; a++) {
    FS_NEED(c, total[a] == (uint64_t)g->last[a] * v->axes[a].n_members, EPOCH,
            "the members of axis '%s' have different numbers of its commands",
            v->strings + v->axes[a].name);
  }
  return FSCHED_OK;
}

/* Checks that all commands of one epoch of a collective axis run the same op. */
static fs_status check_gang_ops(fs_checker *c, fs_gangs *g) {
  const fs_stream *v = &c->v;
  size_t n = 0;
  FS_TRY(fs_new(&c->arena, &g->first_op, v->n_axes));
  for (uint32_t a = v->n_queues; a < v->n_axes; a++) {
    g->first_op[a] = (uint32_t)n;
    n += g->last[a];
  }
  FS_TRY(fs_new_none(&c->arena, &g->op, n));
  for (uint32_t i = 0; n != 0 && i < v->n_commands; i++) {
    const fs_stream_command *command = &v->commands[i];
    if (command->gang_axis == FS_NONE) {
      continue;
    }
    uint32_t *op = &g->op[g->first_op[command->gang_axis] + command->gang_epoch - 1];
    FS_NEED(c, *op == FS_NONE || *op == command->target, EPOCH,
            "epoch %u of axis '%s' is op %u on one queue and op %u on another", command->gang_epoch,
            v->strings + v->axes[command->gang_axis].name, *op, command->target);
    uint32_t members = v->ops[command->target].n_members;
    uint32_t queues = v->axes[command->gang_axis].n_members;
    FS_NEED(c, members == 0 || members == queues, EPOCH,
            "op %u has %u members, and axis '%s' has %u queues", command->target, members,
            v->strings + v->axes[command->gang_axis].name, queues);
    *op = command->target;
  }
  return FSCHED_OK;
}

/* Checks that the commands of an op that could have other queues are on queues of one class. */
static fs_status check_choices(fs_checker *c) {
  const fs_stream *v = &c->v;
  uint32_t *class_name;
  FS_TRY(fs_new_none(&c->arena, &class_name, v->n_ops));
  for (uint32_t q = 0; q < v->n_queues; q++) {
    const fs_stream_queue *k = &v->queues[q];
    for (uint32_t i = k->command0; i < k->command0 + k->n_commands; i++) {
      uint32_t op = fs_command_op(&v->commands[i]);
      if (op == FS_NONE || v->ops[op].by_class == 0) {
        continue;
      }
      class_name[op] = class_name[op] == FS_NONE ? k->class_name : class_name[op];
      FS_TRY(fs_check_class(c, class_name[op], k->class_name, "op", op));
    }
  }
  return FSCHED_OK;
}

/* ---- one command */

/* The end of a message that names the command. */
#define FS_OF_COMMAND "of command %u of queue '%s'"

static fs_status check_clock(fs_checker *c, uint32_t queue, uint32_t epoch,
                             const fs_stream_wait *wait, uint32_t n, const uint32_t *last,
                             const char *what) {
  for (uint32_t i = 0; i < n; i++) {
    FS_NEED(c, wait[i].axis < c->v.n_axes, REFERENCE,
            "the %s " FS_OF_COMMAND " names axis %u of %u", what, epoch, queue_name(c, queue),
            wait[i].axis, c->v.n_axes);
    FS_NEED(c, i == 0 || wait[i].axis > wait[i - 1].axis, WAIT,
            "the %s " FS_OF_COMMAND " does not ascend", what, epoch, queue_name(c, queue));
    FS_NEED(c, wait[i].epoch != 0 && wait[i].epoch <= last[wait[i].axis], WAIT,
            "the %s " FS_OF_COMMAND " names epoch %u of axis '%s', which has %u", what, epoch,
            queue_name(c, queue), wait[i].epoch, c->v.strings + c->v.axes[wait[i].axis].name,
            last[wait[i].axis]);
  }
  return FSCHED_OK;
}

static fs_status check_fields(fs_checker *c, uint32_t queue, const fs_stream_command *m) {
  const char *name = queue_name(c, queue);
  FS_NEED(c, m->kind < FS_N_COMMAND_KINDS, VALUE, "the kind " FS_OF_COMMAND " is %u", m->epoch,
          name, m->kind);
  FS_NEED(c, m->direction < (fs_kind_has_direction(m->kind) ? FS_N_COPY_KINDS : 1), VALUE,
          "the direction " FS_OF_COMMAND " is %u", m->epoch, name, m->direction);
  uint32_t limit = fs_stream_targets(&c->v, fs_command_kind_of(m));
  FS_NEED(c, m->target < limit, REFERENCE, "the target " FS_OF_COMMAND " is %u of %u", m->epoch,
          name, m->target, limit);
  FS_NEED(c, m->gang_axis != FS_NONE || !fs_command_has_op(m) || c->v.ops[m->target].n_members == 0,
          EPOCH, "the op " FS_OF_COMMAND " has members, and it is in no gang", m->epoch, name);
  FS_NEED(c, m->signal <= 1 && m->scope < FS_N_SCOPES && m->tainted <= 1, VALUE,
          "signal, scope or taint " FS_OF_COMMAND " is %u, %u, %u", m->epoch, name, m->signal,
          m->scope, m->tainted);
  FS_NEED(c, m->reserved[0] == 0 && m->reserved[1] == 0 && m->reserved[2] == 0 && m->reserved2 == 0,
          VALUE, "a reserved field " FS_OF_COMMAND " is not zero", m->epoch, name);
  FS_NEED(c, m->start <= m->end && m->end <= FS_STREAM_MOST, VALUE,
          "the time " FS_OF_COMMAND " is [%llu, %llu)", m->epoch, name,
          (unsigned long long)m->start, (unsigned long long)m->end);
  FS_NEED(c, fs_command_free(&c->v, m) <= m->end, VALUE,
          "the queue goes on at %llu, after the end " FS_OF_COMMAND " at %llu",
          (unsigned long long)fs_command_free(&c->v, m), m->epoch, name,
          (unsigned long long)m->end);
  FS_NEED(c, m->n_frontier <= c->v.meta->frontier_capacity, WAIT,
          "the frontier " FS_OF_COMMAND " has %u entries, more than its capacity", m->epoch, name,
          m->n_frontier);
  return FSCHED_OK;
}

/* ---- places */

fs_status fs_check_place(fs_checker *c, const fs_command_name *command, const fs_stream_place *p) {
  assert(command->name != NULL);
  const fs_stream *v = &c->v;
  FS_NEED(c,
          p->space < FS_N_SPACES && p->mode >= FS_MODE_R && p->mode <= FS_MODE_RW &&
              p->reserved[0] == 0 && p->reserved[1] == 0,
          PLACE, "a place of command %u of %s '%s' has space %u, mode %u", command->number,
          command->of, command->name, p->space, p->mode);
  uint32_t limit = fs_space_in_memory(p->space)     ? v->n_memories
                   : fs_space_of_resource(p->space) ? v->n_resources
                                                    : 1;
  FS_NEED(c, p->index < limit, REFERENCE, "a place of command %u of %s '%s' has index %u of %u",
          command->number, command->of, command->name, p->index, limit);
  uint64_t extent = fs_space_has_bytes(p->space) ? v->memories[p->index].extent : FS_STREAM_MOST;
  FS_NEED(c, p->address <= extent && p->size <= extent - p->address, PLACE,
          "the place [%llu, +%llu) of command %u of %s '%s' is outside [0, %llu)",
          (unsigned long long)p->address, (unsigned long long)p->size, command->number, command->of,
          command->name, (unsigned long long)extent);
  return FSCHED_OK;
}

/* Finds the scratch of a RUN that this place is for: the memories agree, and the sizes where the
 * place has bytes. */
static fs_status check_scratch_place(fs_checker *c, uint32_t queue, const fs_stream_command *m,
                                     const fs_stream_place *p) {
  const fs_stream_op *op = fs_command_has_op(m) ? &c->v.ops[m->target] : NULL;
  FS_NEED(c, op != NULL && p->arg >= op->scratch0 && p->arg - op->scratch0 < op->n_scratches, PLACE,
          "a place " FS_OF_COMMAND " is scratch %u, which its op does not have", m->epoch,
          queue_name(c, queue), p->arg);
  const fs_stream_scratch *s = &c->v.scratches[p->arg];
  FS_NEED(c, p->index == s->memory && (fs_space_has_units(p->space) || p->size == s->size), PLACE,
          "scratch %u " FS_OF_COMMAND " is in another memory or of another size", p->arg, m->epoch,
          queue_name(c, queue));
  return FSCHED_OK;
}

/* Checks that a RUN has one MEMORY place for each buffer arg, in order; *n is their number. */
static fs_status check_arg_places(fs_checker *c, uint32_t queue, const fs_stream_command *m,
                                  uint32_t *n) {
  const fs_stream_op *op = &c->v.ops[m->target];
  const fs_stream_place *places = c->v.places + m->place0;
  *n = 0;
  for (uint32_t a = op->arg0; a < op->arg0 + op->n_args; a++) {
    const fs_stream_arg *arg = &c->v.args[a];
    if (!fs_tag_names_buffer(arg->tag)) {
      continue;
    }
    FS_NEED(c, *n < m->n_places, PLACE, "arg %u " FS_OF_COMMAND " has no place", a, m->epoch,
            queue_name(c, queue));
    const fs_stream_place *p = &places[(*n)++];
    FS_NEED(c,
            fs_space_has_bytes(p->space) && p->arg == a && p->version == arg->version &&
                p->size == arg->length,
            PLACE,
            "the place of arg %u " FS_OF_COMMAND " is of space %u, arg %u, version %u, size %llu",
            a, m->epoch, queue_name(c, queue), p->space, p->arg, p->version,
            (unsigned long long)p->size);
  }
  return FSCHED_OK;
}

/* Checks the source and the destination of a copy. */
static fs_status check_copy_places(fs_checker *c, uint32_t queue, const fs_stream_command *m,
                                   uint32_t *n) {
  const fs_stream_place *p = c->v.places + m->place0;
  uint64_t size = c->v.buffers[c->v.versions[m->target].buffer].size;
  *n = 2;
  for (uint32_t i = 0; i < *n; i++) {
    FS_NEED(c,
            i < m->n_places && fs_space_has_bytes(p[i].space) && p[i].arg == FS_NONE &&
                p[i].version == m->target && p[i].size == size &&
                p[i].mode == (i == 0 ? FS_MODE_R : FS_MODE_W),
            PLACE, "the %s " FS_OF_COMMAND " is not one of its version's %llu bytes",
            i == 0 ? "source" : "destination", m->epoch, queue_name(c, queue),
            (unsigned long long)size);
  }
  return FSCHED_OK;
}

/* Checks a place after those of args and copies: scratch, then counted intervals, resources,
 * concurrency. */
static fs_status check_other_place(fs_checker *c, uint32_t queue, const fs_stream_command *m,
                                   const fs_stream_place *p, const fs_stream_place *before) {
  FS_NEED(c, before == NULL || before->space <= p->space, PLACE,
          "the places " FS_OF_COMMAND " are not in order of their spaces", m->epoch,
          queue_name(c, queue));
  if (fs_space_has_bytes(p->space) || (fs_space_has_units(p->space) && p->version == FS_NONE)) {
    FS_NEED(c, p->version == FS_NONE, PLACE, "version %u " FS_OF_COMMAND " belongs to no arg",
            p->version, m->epoch, queue_name(c, queue));
    return check_scratch_place(c, queue, m, p);
  }
  bool versioned = fs_space_has_units(p->space) && p->version < c->v.n_versions;
  FS_NEED(
      c,
      p->arg == FS_NONE && (versioned || (!fs_space_in_memory(p->space) && p->version == FS_NONE)),
      PLACE, "an interval " FS_OF_COMMAND " has version %u, arg %u", m->epoch, queue_name(c, queue),
      p->version, p->arg);
  return FSCHED_OK;
}

static fs_status check_places(fs_checker *c, uint32_t queue, const fs_stream_command *m) {
  const fs_command_name name = {m->epoch, "queue", queue_name(c, queue)};
  const fs_stream_place *p = c->v.places + m->place0;
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->n_places; i++) {
    FS_TRY(fs_check_place(c, &name, &p[i]));
  }
  switch (fs_command_kind_of(m)) {
    case FS_COMMAND_RUN:
      FS_TRY(check_arg_places(c, queue, m, &n));
      break;
    case FS_COMMAND_COPY:
      FS_TRY(check_copy_places(c, queue, m, &n));
      break;
  }
  for (uint32_t i = n; i < m->n_places; i++) {
    FS_TRY(check_other_place(c, queue, m, &p[i], i == n ? NULL : &p[i - 1]));
  }
  return FSCHED_OK;
}

static fs_status check_command(fs_checker *c, uint32_t queue, const fs_stream_command *m,
                               const uint32_t *last, uint32_t at[3]) {
  const fs_stream *v = &c->v;
  FS_TRY(check_fields(c, queue, m));
  FS_TRY(fs_check_tile(c, m->wait0, m->n_waits, v->n_waits, "waits", &at[0]));
  FS_TRY(fs_check_tile(c, m->frontier0, m->n_frontier, v->n_frontiers, "frontiers", &at[1]));
  FS_TRY(fs_check_tile(c, m->place0, m->n_places, v->n_places, "places", &at[2]));
  FS_TRY(check_clock(c, queue, m->epoch, v->waits + m->wait0, m->n_waits, last, "wait list"));
  FS_TRY(check_clock(c, queue, m->epoch, v->frontiers + m->frontier0, m->n_frontier, last,
                     "frontier"));
  return check_places(c, queue, m);
}

fs_status fs_check_commands(fs_checker *c) {
  assert(c->v.n_meta == 1);
  const fs_stream *v = &c->v;
  fs_gangs g;
  uint32_t at[3] = {0};
  FS_TRY(check_epochs(c, &g));
  for (uint32_t q = 0; q < v->n_queues; q++) {
    const fs_stream_command *commands = v->commands + v->queues[q].command0;
    for (uint32_t i = 0; i < v->queues[q].n_commands; i++) {
      FS_TRY(check_command(c, q, &commands[i], g.last, at));
    }
  }
  FS_NEED(c, at[0] == v->n_waits && at[1] == v->n_frontiers && at[2] == v->n_places, TILING,
          "waits, frontiers or places belong to no command");
  FS_TRY(check_gang_ops(c, &g));
  return check_choices(c);
}
