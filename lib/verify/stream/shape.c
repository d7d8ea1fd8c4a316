/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the records make sense together.  Every id is checked again here, so that the later
 * parts rely on this file alone: axes, epochs, each op exactly once (or once per member of its
 * gang), waits and frontier entries that name commands which exist. */
#include <stdio.h>
#include <stdlib.h>

#include "base/context.h"
#include "base/group.h"
#include "base/radix.h"
#include "verify/stream/stream.h"

const char *fs_vs_command_name(const fs_vs *v, uint32_t command, char text[FS_VNAME]) {
  assert(command < v->s->n_commands);
  const fs_stream_command *c = &v->s->commands[command];
  uint32_t q = v->command_queue[command];
  const char *queue = fs_vs_string(v, v->s->queues[q].name);
  uint32_t epoch = command - v->s->queues[q].command0 + 1;
  char version[FS_VNAME];
  switch (fs_command_kind_of(c)) {
    case FS_COMMAND_RUN:
      snprintf(text, FS_VNAME, "command %u of %.60s (op %.80s)", epoch, queue,
               fs_vs_op_name(v, c->target));
      break;
    case FS_COMMAND_COPY:
      snprintf(text, FS_VNAME, "command %u of %.60s (spill %s of %.80s)", epoch, queue,
               fs_words_copy[c->direction], fs_vs_version_name(v, c->target, version));
      break;
  }
  return text;
}

const char *fs_vs_version_name(const fs_vs *v, uint32_t version, char text[FS_VNAME]) {
  assert(version < v->s->n_versions);
  const fs_stream_version *x = &v->s->versions[version];
  snprintf(text, FS_VNAME, "%.150s.%u", fs_vs_string(v, v->s->buffers[x->buffer].name), x->index);
  return text;
}

static bool is_string(const fs_stream *s, uint32_t offset) {
  return offset == FS_NONE || offset < s->n_strings;
}
static bool is_id_or_none(uint32_t id, uint32_t limit) { return id == FS_NONE || id < limit; }

/* Checks the ranges of the tables that describe the target and the buffers. */
static bool target_ranges(const fs_stream *s) {
  bool ok = s->n_meta == 1 && s->n_axes >= s->n_queues && is_string(s, s->meta[0].name);
  for (uint32_t i = 0; ok && i < s->n_memories; i++) {
    const fs_stream_memory *m = &s->memories[i];
    ok = is_string(s, m->name) && is_id_or_none(m->backing, s->n_memories) && m->align != 0 &&
         (m->align & (m->align - 1)) == 0 && m->align <= FSCHED_MAX_SIZE;
  }
  for (uint32_t i = 0; ok && i < s->n_resources; i++) {
    ok = is_string(s, s->resources[i].name);
  }
  for (uint32_t i = 0; ok && i < s->n_params; i++) {
    ok = is_string(s, s->params[i].name) && s->params[i].least <= s->params[i].most;
  }
  for (uint32_t i = 0; ok && i < s->n_loop_races; i++) {
    const fs_stream_loop_race *r = &s->loop_races[i];
    ok = is_string(s, r->op_a) && is_string(s, r->op_b) && is_string(s, r->buffer);
  }
  uint32_t next = 0;
  for (uint32_t i = 0; ok && i < s->n_buffers; i++) {
    const fs_stream_buffer *b = &s->buffers[i];
    ok = is_string(s, b->name) && b->memory < s->n_memories && b->version0 == next &&
         fs_vs_in_range(b->version0, b->n_versions, s->n_versions) && b->size <= FSCHED_MAX_SIZE &&
         b->io_size <= b->size && b->given <= b->size - b->io_size &&
         b->kept <= b->size - b->io_size;
    next = ok ? next + b->n_versions : 0;
    for (uint32_t k = 0; ok && k < b->n_versions; k++) {
      const fs_stream_version *x = &s->versions[b->version0 + k];
      ok = x->buffer == i && x->index == k && is_id_or_none(x->given_memory, s->n_memories) &&
           is_id_or_none(x->kept_memory, s->n_memories);
    }
  }
  return ok && next == s->n_versions;
}

static bool op_ranges(const fs_stream *s) {
  bool ok = true;
  for (uint32_t i = 0; ok && i < s->n_ops; i++) {
    const fs_stream_op *o = &s->ops[i];
    ok = is_string(s, o->name) && fs_vs_in_range(o->arg0, o->n_args, s->n_args) &&
         fs_vs_in_range(o->use0, o->n_uses, s->n_uses) &&
         fs_vs_in_range(o->scratch0, o->n_scratches, s->n_scratches) &&
         fs_vs_in_range(o->after0, o->n_afters, s->n_afters) && o->time <= FSCHED_MAX_TIME &&
         o->slow <= 1 && fs_vs_members_tile(s, o);
  }
  for (uint32_t i = 0; ok && i < s->n_args; i++) {
    const fs_stream_arg *a = &s->args[i];
    ok = fs_tag_known(a->tag) && (a->buffer != FS_NONE) == fs_tag_names_buffer(a->tag) &&
         is_id_or_none(a->version, s->n_versions);
    if (ok && a->buffer != FS_NONE) {
      ok = a->buffer < s->n_buffers && a->offset <= s->buffers[a->buffer].size &&
           a->length <= s->buffers[a->buffer].size - a->offset;
    }
  }
  for (uint32_t i = 0; ok && i < s->n_uses; i++) {
    ok = s->uses[i].resource < s->n_resources;
  }
  for (uint32_t i = 0; ok && i < s->n_scratches; i++) {
    ok = s->scratches[i].memory < s->n_memories && s->scratches[i].size <= FSCHED_MAX_SIZE;
  }
  for (uint32_t i = 0; ok && i < s->n_afters; i++) {
    ok = s->afters[i] < s->n_ops;
  }
  for (uint32_t i = 0; ok && i < s->n_races; i++) {
    ok = s->races[i].op_a < s->n_ops && s->races[i].op_b < s->n_ops &&
         s->races[i].version < s->n_versions;
  }
  return ok;
}

static bool place_ok(const fs_stream *s, const fs_stream_place *p) {
  uint32_t limit = fs_space_in_memory(p->space)     ? s->n_memories
                   : fs_space_of_resource(p->space) ? s->n_resources
                                                    : 1;
  return p->space < FS_N_SPACES && p->index < limit && p->mode >= FS_MODE_R &&
         p->mode <= FS_MODE_RW && is_id_or_none(p->version, s->n_versions) &&
         p->address <= UINT64_MAX - 1 && p->size <= UINT64_MAX - 1 - p->address;
}

static bool command_ranges(const fs_stream *s) {
  bool ok = true;
  for (uint32_t i = 0; ok && i < s->n_commands; i++) {
    const fs_stream_command *c = &s->commands[i];
    ok = c->kind < FS_N_COMMAND_KINDS && c->target < fs_stream_targets(s, fs_command_kind_of(c)) &&
         c->direction < FS_N_COPY_KINDS && fs_vs_in_range(c->wait0, c->n_waits, s->n_waits) &&
         fs_vs_in_range(c->frontier0, c->n_frontier, s->n_frontiers) &&
         fs_vs_in_range(c->place0, c->n_places, s->n_places) &&
         is_id_or_none(c->gang_axis, s->n_axes);
  }
  for (uint32_t i = 0; ok && i < s->n_places; i++) {
    ok = place_ok(s, &s->places[i]);
  }
  for (uint32_t i = 0; ok && i < s->n_loop_places; i++) {
    ok = place_ok(s, &s->loop_places[i]);
  }
  return ok;
}

/* Checks that queue axes come in order of queues, then collectives over distinct queues, and that
 * no id is there twice. */
static bool axis_shapes(const fs_stream *s) {
  bool ok = true;
  for (uint32_t i = 0; ok && i < s->n_axes; i++) {
    const fs_stream_axis *a = &s->axes[i];
    ok = is_string(s, a->name) && a->kind == (i < s->n_queues ? FS_AXIS_QUEUE : FS_AXIS_COLLECTIVE);
    if (!ok || i < s->n_queues) {
      continue;
    }
    ok = a->n_members > 0 && fs_vs_in_range(a->member0, a->n_members, s->n_axis_members);
    for (uint32_t k = 0; ok && k < a->n_members; k++) {
      uint32_t q = s->axis_members[a->member0 + k];
      ok = q < s->n_queues && (k == 0 || s->axis_members[a->member0 + k - 1] < q);
    }
  }
  return ok;
}

static fs_status axis_ids(fs_vs *v) {
  uint64_t *id;
  FS_TRY(fs_new(&v->arena, &id, v->s->n_axes));
  for (uint32_t i = 0; i < v->s->n_axes; i++) {
    id[i] = v->s->axes[i].id;
  }
  qsort(id, v->s->n_axes, sizeof *id, fs_compare_u64);
  for (uint32_t i = 1; i < v->s->n_axes; i++) {
    if (id[i] == id[i - 1]) {
      FS_WRONG(v, FS_DIAG_VERIFY_SHAPE, "two axes have the id 0x%016llx",
               (unsigned long long)id[i]);
    }
  }
  return FSCHED_OK;
}

static bool queue_epochs(fs_vs *v) {
  const fs_stream *s = v->s;
  uint32_t next = 0;
  for (uint32_t q = 0; q < s->n_queues; q++) {
    const fs_stream_queue *x = &s->queues[q];
    if (!is_string(s, x->name) || x->command0 != next ||
        !fs_vs_in_range(next, x->n_commands, s->n_commands)) {
      return false;
    }
    for (uint32_t k = 0; k < x->n_commands; k++) {
      v->command_queue[next + k] = q;
      if (s->commands[next + k].epoch != k + 1) {
        return false;
      }
    }
    v->axis_count[q] = x->n_commands;
    next += x->n_commands;
  }
  return next == s->n_commands;
}

/* Checks that the gang commands of an axis count 1, 2, ... on each member queue, equally many on
 * each. */
static fs_status gang_epochs(fs_vs *v, bool *ok) {
  const fs_stream *s = v->s;
  uint32_t *seen;
  FS_TRY(fs_new_zero(&v->arena, &seen, s->n_axis_members));
  for (uint32_t i = 0; i < s->n_commands && *ok; i++) {
    const fs_stream_command *c = &s->commands[i];
    if (c->gang_axis == FS_NONE) {
      *ok = c->gang_epoch == 0;
      continue;
    }
    const fs_stream_axis *a = &s->axes[c->gang_axis];
    uint32_t lo = 0, hi = c->gang_axis < s->n_queues ? 0 : a->n_members;
    while (hi - lo > 1) {
      uint32_t mid = lo + (hi - lo) / 2;
      (s->axis_members[a->member0 + mid] <= v->command_queue[i]) ? (lo = mid) : (hi = mid);
    }
    *ok = fs_kind_has_gang(c->kind) && lo < hi &&
          s->axis_members[a->member0 + lo] == v->command_queue[i] &&
          c->gang_epoch == ++seen[a->member0 + lo];
  }
  for (uint32_t x = s->n_queues; x < s->n_axes && *ok; x++) {
    v->axis_count[x] = seen[s->axes[x].member0];
    for (uint32_t k = 1; k < s->axes[x].n_members && *ok; k++) {
      *ok = seen[s->axes[x].member0 + k] == v->axis_count[x];
    }
  }
  return FSCHED_OK;
}

/* Fills occ_command: the members of each occurrence, ascending by queue, which is command order
 * too. */
static fs_status index_occurrences(fs_vs *v) {
  const fs_stream *s = v->s;
  FS_TRY(fs_new(&v->arena, &v->occ0, s->n_axes + 1));
  uint32_t n = 0;
  for (uint32_t x = 0; x < s->n_axes; x++) {
    v->occ0[x] = n;
    n += x < s->n_queues ? 0 : v->axis_count[x];
  }
  v->occ0[s->n_axes] = v->n_occ = n;
  FS_TRY(fs_new_none(&v->arena, &v->command_occ, s->n_commands));
  for (uint32_t i = 0; i < s->n_commands; i++) {
    const fs_stream_command *c = &s->commands[i];
    if (c->gang_axis != FS_NONE) {
      v->command_occ[i] = v->occ0[c->gang_axis] + c->gang_epoch - 1;
    }
  }
  return fs_group(&v->arena, v->command_occ, s->n_commands, n, &v->occ_command0, &v->occ_command);
}

/* Fills op_command: the commands that run an op. */
static fs_status index_ops(fs_vs *v) {
  const fs_stream *s = v->s;
  uint32_t *op;
  FS_TRY(fs_new(&v->arena, &op, s->n_commands));
  for (uint32_t i = 0; i < s->n_commands; i++) {
    op[i] = fs_command_op(&s->commands[i]);
  }
  return fs_group(&v->arena, op, s->n_commands, s->n_ops, &v->op_command0, &v->op_command);
}

static void check_once(fs_vs *v) {
  for (uint32_t o = 0; o < v->s->n_ops; o++) {
    uint32_t n = v->op_command0[o + 1] - v->op_command0[o];
    const uint32_t *c = v->op_command + v->op_command0[o];
    uint32_t occ = n == 0 ? FS_NONE : v->command_occ[c[0]];
    uint32_t want = occ == FS_NONE ? 1 : v->occ_command0[occ + 1] - v->occ_command0[occ];
    bool ok = n == want;
    for (uint32_t k = 0; ok && k < n; k++) {
      ok = v->command_occ[c[k]] == occ;
    }
    if (!ok) {
      FS_WRONG(v, FS_DIAG_VERIFY_ONCE, "op %s is run by %u commands that are not one gang's",
               fs_vs_op_name(v, o), n);
    }
    uint32_t members = v->s->ops[o].n_members;
    if (members > 0 && (occ == FS_NONE || members != n)) {
      FS_WRONG(v, FS_DIAG_VERIFY_GANG, "op %s has %u members, and %u commands", fs_vs_op_name(v, o),
               members, n);
    }
  }
}

bool fs_vs_is_loop(const fs_vs *v, uint32_t op) {
  uint32_t low = 0, high = v->s->n_loops; /* those in other loops come last */
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const fs_stream_loop *l = &v->s->loops[middle];
    if (l->within == FS_NONE && l->op < op) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < v->s->n_loops && v->s->loops[low].within == FS_NONE && v->s->loops[low].op == op;
}

uint32_t fs_vs_first_of(const fs_vs *v, uint32_t occ) {
  assert(occ < v->n_occ);
  uint32_t first = v->occ_command[v->occ_command0[occ]];
  for (uint32_t k = v->occ_command0[occ]; k < v->occ_command0[occ + 1]; k++) {
    uint32_t c = v->occ_command[k];
    first = v->s->commands[c].start < v->s->commands[first].start ? c : first;
  }
  return first;
}

uint32_t fs_vs_last_of(const fs_vs *v, uint32_t occ) {
  assert(occ < v->n_occ);
  uint32_t last = v->occ_command[v->occ_command0[occ]];
  for (uint32_t k = v->occ_command0[occ]; k < v->occ_command0[occ + 1]; k++) {
    uint32_t c = v->occ_command[k];
    last = v->s->commands[c].end > v->s->commands[last].end ? c : last;
  }
  return last;
}

/* Members begin and end together, but those of a loop. */
static bool same_times(const fs_vs *v, const fs_stream_command *a, const fs_stream_command *b) {
  return (a->start == b->start && a->end == b->end) || fs_vs_is_loop(v, a->target);
}

static bool same_places(const fs_stream *s, const fs_stream_command *a,
                        const fs_stream_command *b) {
  return a->n_places == b->n_places &&
         (a->n_places == 0 || memcmp(s->places + a->place0, s->places + b->place0,
                                     a->n_places * sizeof *s->places) == 0);
}

static void check_gangs(fs_vs *v) {
  char name[FS_VNAME];
  for (uint32_t o = 0; o < v->n_occ; o++) {
    uint32_t first = v->occ_command[v->occ_command0[o]];
    for (uint32_t k = v->occ_command0[o] + 1; k < v->occ_command0[o + 1]; k++) {
      const fs_stream_command *a = &v->s->commands[first];
      const fs_stream_command *b = &v->s->commands[v->occ_command[k]];
      if (a->target != b->target || !same_times(v, a, b) || !same_places(v->s, a, b)) {
        FS_WRONG(v, FS_DIAG_VERIFY_GANG, "%s differs from the gang's first member",
                 fs_vs_command_name(v, v->occ_command[k], name));
      }
    }
  }
}

/* Whether points ascend strictly by axis and their epochs exist. */
static bool points_ok(const fs_vs *v, const fs_stream_wait *w, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (w[i].axis >= v->s->n_axes || (i > 0 && w[i - 1].axis >= w[i].axis) || w[i].epoch == 0 ||
        w[i].epoch > v->axis_count[w[i].axis]) {
      return false;
    }
  }
  return true;
}

/* Checks waits and frontiers; false means that the walk cannot be done. */
static bool check_points(fs_vs *v) {
  bool ok = true;
  char name[FS_VNAME];
  for (uint32_t i = 0; i < v->s->n_commands; i++) {
    const fs_stream_command *c = &v->s->commands[i];
    if (!points_ok(v, v->s->waits + c->wait0, c->n_waits)) {
      FS_WRONG(v, FS_DIAG_VERIFY_WAIT, "a wait of %s is out of order or for what never comes",
               fs_vs_command_name(v, i, name));
      ok = false;
    }
    if (!points_ok(v, v->s->frontiers + c->frontier0, c->n_frontier)) {
      FS_WRONG(v, FS_DIAG_VERIFY_FRONTIER,
               "the frontier of %s is out of order or names what never comes",
               fs_vs_command_name(v, i, name));
      ok = false;
    }
  }
  return ok;
}

fs_status fs_vs_shape(fs_vs *v) {
  const fs_stream *s = v->s;
  if (!target_ranges(s) || !op_ranges(s) || !command_ranges(s) || !axis_shapes(s)) {
    FS_WRONG(v, FS_DIAG_VERIFY_SHAPE, "the program's tables refer to what is not there");
    return FSCHED_WRONG;
  }
  FS_TRY(axis_ids(v));
  FS_TRY(fs_new(&v->arena, &v->command_queue, s->n_commands));
  FS_TRY(fs_new_zero(&v->arena, &v->axis_count, s->n_axes));
  if (!queue_epochs(v)) {
    FS_WRONG(v, FS_DIAG_VERIFY_SHAPE, "the queues' epochs do not count their commands");
    return FSCHED_WRONG;
  }
  bool ok = true;
  FS_TRY(gang_epochs(v, &ok));
  if (!ok) {
    FS_WRONG(v, FS_DIAG_VERIFY_GANG, "gang epochs do not count up on all members of their axis");
    return FSCHED_WRONG;
  }
  FS_TRY(index_occurrences(v));
  FS_TRY(index_ops(v));
  check_once(v);
  check_gangs(v);
  bool points = check_points(v);
  FS_TRY(fs_vs_sync(v));
  FS_TRY(fs_vs_loops_shape(v));
  FS_TRY(fs_vs_loops_begins(v));
  return points ? FSCHED_OK : FSCHED_WRONG;
}
