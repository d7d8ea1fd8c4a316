/* SPDX-License-Identifier: Apache-2.0 */
/* Small changes to records.  Most keep the program well-formed, so that only what it means is
 * wrong: where a list gets shorter or longer, the lists behind it move. */
#include <stddef.h>
#include <stdlib.h>

#include "base/crc32c.h"
#include "kit/mutate/mutate_private.h"
#include "kit/oracle/oracle.h"
#include "model/sync.h"

enum { SLACK = 4 }; /* records that may be added to a section */

const char *fs_program_mutation_name(fs_program_mutation m) {
  static const char *const name[] = {
#define FS_MUTATION_NAME(id, text) text,
      FS_PROGRAM_MUTATIONS(FS_MUTATION_NAME)
#undef FS_MUTATION_NAME
  };
  return name[m];
}
/* --- programs --- */

fsched_program *fs_mutant_copy(const fsched_program *p) {
  fsched_program *copy = calloc(1, sizeof *copy);
#define COPY_SECTION(id, type)                                               \
  {                                                                          \
    type *records = calloc((size_t)p->view.n_##id + SLACK, sizeof *records); \
    memcpy(records, p->view.id, (size_t)p->view.n_##id * sizeof *records);   \
    copy->view.id = records;                                                 \
    copy->view.n_##id = p->view.n_##id;                                      \
  }
  FS_STREAM_SECTIONS(COPY_SECTION)
#undef COPY_SECTION
  return copy;
}

void fs_mutant_free(fsched_program *p) {
#define FREE_SECTION(id, type) free((void *)(uintptr_t)p->view.id);
  FS_STREAM_SECTIONS(FREE_SECTION)
#undef FREE_SECTION
  free(p);
}

#define PLACE(m) REC(m, places, fs_stream_place)
#define WAIT(m) REC(m, waits, fs_stream_wait)
#define FRONTIER(m) REC(m, frontiers, fs_stream_wait)

/* Returns a command for which the test holds, or FS_NONE after some tries. */
static uint32_t pick_command(mutant *m, bool (*test)(const fs_stream_command *)) {
  for (uint32_t tries = 0; m->s->n_commands > 0 && tries < 64; tries++) {
    uint32_t c = pick(m, m->s->n_commands);
    if (test(&m->s->commands[c])) {
      return c;
    }
  }
  return FS_NONE;
}
static bool has_wait(const fs_stream_command *c) { return c->n_waits > 0; }
static bool is_copy(const fs_stream_command *c) { return c->kind == FS_COMMAND_COPY; }
static bool is_run(const fs_stream_command *c) { return c->kind == FS_COMMAND_RUN; }
static bool is_gang(const fs_stream_command *c) { return c->gang_axis != FS_NONE; }

static uint32_t pick_place(mutant *m, fs_space low, fs_space high) {
  for (uint32_t tries = 0; m->s->n_places > 0 && tries < 64; tries++) {
    uint32_t p = pick(m, m->s->n_places);
    if (m->s->places[p].space >= low && m->s->places[p].space <= high && m->s->places[p].size > 0) {
      return p;
    }
  }
  return FS_NONE;
}

/* Gives all members of a gang the place's new value, so that only its meaning is wrong. */
static void spread(mutant *m, uint32_t place) {
  const fs_stream *s = m->s;
  uint32_t owner = 0;
  while (s->commands[owner].place0 > place ||
         place >= s->commands[owner].place0 + s->commands[owner].n_places) {
    owner++;
  }
  const fs_stream_command *o = &s->commands[owner];
  for (uint32_t c = 0; c < s->n_commands && o->gang_axis != FS_NONE; c++) {
    if (s->commands[c].gang_axis == o->gang_axis && s->commands[c].gang_epoch == o->gang_epoch) {
      PLACE(m)[s->commands[c].place0 + place - o->place0] = s->places[place];
    }
  }
}

static bool drop_wait(mutant *m) {
  uint32_t c = pick_command(m, has_wait);
  if (c == FS_NONE) {
    return false;
  }
  uint32_t at = m->s->commands[c].wait0 + pick(m, m->s->commands[c].n_waits);
  memmove(WAIT(m) + at, WAIT(m) + at + 1, (m->s->n_waits - at - 1) * sizeof *m->s->waits);
  COMMAND(m)[c].n_waits--;
  for (uint32_t i = 0; i < m->s->n_commands; i++) {
    COMMAND(m)[i].wait0 -= m->s->commands[i].wait0 > at;
  }
  m->s->n_waits--;
  return true;
}

static bool add_wait(mutant *m) {
  uint32_t c = pick(m, m->s->n_commands), axis = pick(m, m->s->n_queues);
  if (m->s->queues[axis].n_commands == 0) {
    return false;
  }
  const fs_stream_command *x = &m->s->commands[c];
  uint32_t at = x->wait0;
  while (at < x->wait0 + x->n_waits && m->s->waits[at].axis < axis) {
    at++;
  }
  if (at < x->wait0 + x->n_waits && m->s->waits[at].axis == axis) {
    return false;
  }
  memmove(WAIT(m) + at + 1, WAIT(m) + at, (m->s->n_waits - at) * sizeof *m->s->waits);
  WAIT(m)[at] = (fs_stream_wait){axis, 1 + pick(m, m->s->queues[axis].n_commands)};
  for (uint32_t i = 0; i < m->s->n_commands; i++) {
    COMMAND(m)
    [i].wait0 += i != c && m->s->commands[i].wait0 >= at &&
                 (m->s->commands[i].wait0 > x->wait0 || m->s->commands[i].n_waits > 0);
  }
  COMMAND(m)[c].n_waits++;
  m->s->n_waits++;
  uint32_t target = m->s->queues[axis].command0 + m->s->waits[at].epoch - 1;
  COMMAND(m)[target].signal = 1;
  if (m->s->commands[target].scope == FS_SCOPE_QUEUE) {
    COMMAND(m)[target].scope = FS_SCOPE_DEVICE;
  }
  return true;
}

static bool swap_commands(mutant *m) {
  uint32_t c = pick(m, m->s->n_commands);
  if (c == 0 || m->s->commands[c].epoch == 1) {
    return false;
  }
  fs_stream_command *a = &COMMAND(m)[c - 1], *b = &COMMAND(m)[c], swap = *a;
  *a = *b;
  *b = swap;
  b->epoch = a->epoch;
  a->epoch = b->epoch - 1;
  return true;
}

static bool shift_address(mutant *m) {
  uint32_t p = pick_place(m, FS_SPACE_MEMORY, FS_SPACE_MEMORY);
  if (p == FS_NONE) {
    return false;
  }
  uint64_t step = fs_rng_one_in(m->rng, 2) ? 1 : m->s->memories[m->s->places[p].index].align;
  bool down = m->s->places[p].address >= step && fs_rng_one_in(m->rng, 2);
  PLACE(m)[p].address += down ? -step : step;
  spread(m, p);
  return true;
}

/* Moves all places at one address of a memory together, so that they still agree. */
static bool move_content(mutant *m) {
  uint32_t p = pick_place(m, FS_SPACE_MEMORY, FS_SPACE_MEMORY);
  if (p == FS_NONE) {
    return false;
  }
  const fs_stream_place from = m->s->places[p];
  uint64_t align = m->s->memories[from.index].align;
  uint64_t span = m->s->memories[from.index].extent / align + 1;
  uint64_t to = pick(m, (uint32_t)fs_min(span, 1 << 20)) * align;
  for (uint32_t i = 0; i < m->s->n_places; i++) {
    fs_stream_place *x = &PLACE(m)[i];
    if (x->space == FS_SPACE_MEMORY && x->index == from.index && x->version == from.version &&
        x->address >= from.address && x->address < from.address + from.size) {
      x->address = x->address - from.address + to;
    }
  }
  return to != from.address;
}

static bool overlap(mutant *m) {
  uint32_t a = pick_place(m, FS_SPACE_MEMORY, FS_SPACE_CONCURRENCY);
  uint32_t b = pick_place(m, FS_SPACE_MEMORY, FS_SPACE_CONCURRENCY);
  if (a == FS_NONE || b == FS_NONE || m->s->places[a].space != m->s->places[b].space ||
      m->s->places[a].index != m->s->places[b].index ||
      m->s->places[a].address == m->s->places[b].address) {
    return false;
  }
  PLACE(m)[a].address = m->s->places[b].address;
  spread(m, a);
  return true;
}

static bool wait_epoch(mutant *m) {
  uint32_t c = pick_command(m, has_wait);
  if (c == FS_NONE) {
    return false;
  }
  fs_stream_wait *w = &WAIT(m)[m->s->commands[c].wait0 + pick(m, m->s->commands[c].n_waits)];
  w->epoch += fs_rng_one_in(m->rng, 2) && w->epoch > 1 ? UINT32_MAX : 1;
  return true;
}

static bool wait_axis(mutant *m) {
  uint32_t c = pick_command(m, has_wait);
  if (c == FS_NONE || m->s->commands[c].n_waits != 1) {
    return false;
  }
  fs_stream_wait *w = &WAIT(m)[m->s->commands[c].wait0];
  uint32_t axis = pick(m, m->s->n_axes);
  bool same = w->axis == axis;
  w->axis = axis;
  return !same;
}

static bool change_signal(mutant *m) {
  uint32_t c = pick(m, m->s->n_commands);
  COMMAND(m)[c].signal ^= 1;
  return true;
}

static bool change_scope(mutant *m) {
  uint32_t c = pick(m, m->s->n_commands);
  uint8_t old = m->s->commands[c].scope;
  COMMAND(m)[c].scope = (uint8_t)pick(m, FS_SCOPE_SYSTEM + 1);
  return m->s->commands[c].scope != old;
}

static bool frontier_epoch(mutant *m) {
  if (m->s->n_frontiers == 0) {
    return false;
  }
  fs_stream_wait *f = &FRONTIER(m)[pick(m, m->s->n_frontiers)];
  f->epoch += fs_rng_one_in(m->rng, 2) && f->epoch > 1 ? UINT32_MAX : 1;
  return true;
}

static bool frontier_drop(mutant *m) {
  uint32_t c = pick(m, m->s->n_commands);
  if (m->s->commands[c].n_frontier == 0) {
    return false;
  }
  fs_stream_command *x = &COMMAND(m)[c];
  uint32_t k = pick(m, x->n_frontier);
  fs_stream_wait *f = FRONTIER(m) + x->frontier0;
  memmove(f + k, f + k + 1, (x->n_frontier - k - 1) * sizeof *f);
  x->n_frontier--;
  return true;
}

static bool shift_lane(mutant *m) {
  uint32_t p = pick_place(m, FS_SPACE_COUNTED, FS_SPACE_CONCURRENCY);
  if (p == FS_NONE) {
    return false;
  }
  fs_stream_place *x = &PLACE(m)[p];
  uint64_t step = 1 + pick(m, (uint32_t)fs_min(x->size + 1, 1000));
  x->address += fs_rng_one_in(m->rng, 2) && x->address >= step ? -step : step;
  spread(m, p);
  return true;
}

static bool lane_size(mutant *m) {
  uint32_t p = pick_place(m, FS_SPACE_COUNTED, FS_SPACE_CONCURRENCY);
  if (p == FS_NONE) {
    return false;
  }
  PLACE(m)[p].size += fs_rng_one_in(m->rng, 2) ? UINT64_MAX : 1;
  spread(m, p);
  return true;
}

static bool copy_version(mutant *m) {
  uint32_t c = pick_command(m, is_copy);
  if (c == FS_NONE || m->s->n_versions < 2) {
    return false;
  }
  uint32_t version = pick(m, m->s->n_versions), old = m->s->commands[c].target;
  COMMAND(m)[c].target = version;
  for (uint32_t i = 0; i < m->s->commands[c].n_places; i++) {
    PLACE(m)[m->s->commands[c].place0 + i].version = version;
  }
  return version != old;
}

static bool copy_flip(mutant *m) {
  uint32_t c = pick_command(m, is_copy);
  if (c == FS_NONE || m->s->commands[c].n_places < 2) {
    return false;
  }
  fs_stream_place *p = &PLACE(m)[m->s->commands[c].place0], swap = p[0];
  COMMAND(m)[c].direction ^= 1;
  p[0] = p[1];
  p[1] = swap;
  p[0].mode = FS_MODE_R;
  p[1].mode = FS_MODE_W;
  for (uint32_t i = 2; i < m->s->commands[c].n_places; i++) {
    p[i].mode ^= FS_MODE_RW;
  }
  return true;
}

/* Moves the queue's later epochs one earlier; waits that named them name the new ones. */
static void renumber(fs_stream_wait *w, uint32_t n, uint32_t axis, uint32_t epoch) {
  for (uint32_t i = 0; i < n; i++) {
    w[i].epoch -= w[i].axis == axis && w[i].epoch >= epoch && w[i].epoch > 1;
  }
}

static bool drop_copy(mutant *m) {
  uint32_t c = pick_command(m, is_copy);
  if (c == FS_NONE) {
    return false;
  }
  uint32_t q = 0, epoch = m->s->commands[c].epoch;
  while (c >= m->s->queues[q].command0 + m->s->queues[q].n_commands) {
    q++;
  }
  memmove(COMMAND(m) + c, COMMAND(m) + c + 1, (m->s->n_commands - c - 1) * sizeof *m->s->commands);
  m->s->n_commands--;
  fs_stream_queue *queue = REC(m, queues, fs_stream_queue);
  queue[q].n_commands--;
  for (uint32_t i = q + 1; i < m->s->n_queues; i++) {
    queue[i].command0--;
  }
  for (uint32_t i = c; i < queue[q].command0 + queue[q].n_commands; i++) {
    COMMAND(m)[i].epoch--;
  }
  renumber(WAIT(m), m->s->n_waits, q, epoch);
  renumber(FRONTIER(m), m->s->n_frontiers, q, epoch);
  return m->s->n_commands > 0;
}

static bool arg_version(mutant *m) {
  if (m->s->n_args == 0 || m->s->n_versions < 2) {
    return false;
  }
  fs_stream_arg *a = &REC(m, args, fs_stream_arg)[pick(m, m->s->n_args)];
  if (a->buffer == FS_NONE) {
    return false;
  }
  const fs_stream_buffer *b = &m->s->buffers[a->buffer];
  uint32_t old = a->version;
  a->version = b->version0 + pick(m, b->n_versions);
  return a->version != old;
}

static bool move_version(mutant *m, bool given) {
  for (uint32_t tries = 0; m->s->n_versions > 0 && tries < 64; tries++) {
    fs_stream_version *v = &REC(m, versions, fs_stream_version)[pick(m, m->s->n_versions)];
    uint32_t memory = given ? v->given_memory : v->kept_memory;
    if (memory != FS_NONE) {
      uint64_t *address = given ? &v->given_address : &v->kept_address;
      uint64_t step = m->s->memories[memory].align;
      *address += fs_rng_one_in(m->rng, 2) && *address >= step ? -step : step;
      return true;
    }
  }
  return false;
}

static bool run_another(mutant *m) {
  uint32_t a = pick_command(m, is_run), b = pick_command(m, is_run);
  if (a == FS_NONE || b == FS_NONE || m->s->commands[a].target == m->s->commands[b].target) {
    return false;
  }
  COMMAND(m)[a].target = m->s->commands[b].target;
  return true;
}

static bool gang_epoch(mutant *m) {
  uint32_t c = pick_command(m, is_gang);
  if (c == FS_NONE) {
    return false;
  }
  COMMAND(m)[c].gang_epoch++;
  return true;
}

static bool gang_member(mutant *m) {
  uint32_t c = pick_command(m, is_gang);
  if (c == FS_NONE) {
    return false;
  }
  if (m->s->commands[c].n_places > 0 && fs_rng_one_in(m->rng, 2)) {
    PLACE(m)[m->s->commands[c].place0].address++;
  } else {
    COMMAND(m)[c].start++;
    COMMAND(m)[c].end++;
  }
  return true;
}

static bool change_epoch(mutant *m) {
  COMMAND(m)[pick(m, m->s->n_commands)].epoch += fs_rng_one_in(m->rng, 2) ? 1 : UINT32_MAX;
  return true;
}

static bool change_mode(mutant *m) {
  uint32_t p = pick_place(m, FS_SPACE_MEMORY, FS_SPACE_CONCURRENCY);
  if (p == FS_NONE) {
    return false;
  }
  PLACE(m)[p].mode = (uint8_t)(1 + m->s->places[p].mode % 3);
  spread(m, p);
  return true;
}

static bool change_plan(mutant *m) {
  fs_stream_command *c = &COMMAND(m)[pick(m, m->s->n_commands)];
  if (c->start > 0 && fs_rng_one_in(m->rng, 2)) {
    c->start--;
    c->end--;
  } else {
    c->end++;
  }
  return true;
}

static bool change_graph(mutant *m) {
  fs_stream_op *o = &REC(m, ops, fs_stream_op)[pick(m, m->s->n_ops)];
  switch (pick(m, 3)) {
    case 0:
      o->name = m->s->ops[(o - m->s->ops + 1) % m->s->n_ops].name;
      return m->s->n_ops > 1;
    case 1:
      REC(m, buffers, fs_stream_buffer)[pick(m, m->s->n_buffers)].size++;
      return true;
    default:
      REC(m, meta, fs_stream_meta)->concurrency++;
      return true;
  }
}

static bool add_race(mutant *m) {
  if (m->s->n_ops < 2 || m->s->n_versions == 0) {
    return false;
  }
  REC(m, races, fs_stream_race)
  [m->s->n_races++] = (fs_stream_race){0, 1, pick(m, m->s->n_versions), 0};
  return true;
}

/* Finds two members of one group, neither without args; NULL: there are none. */
static fs_stream_member *two_members(mutant *m, uint32_t *a, uint32_t *b) {
  for (uint32_t tries = 0; m->s->n_members > 0 && tries < 64; tries++) {
    const fs_stream_op *o = &m->s->ops[pick(m, m->s->n_ops)];
    if (o->n_members >= 2) {
      *a = o->member0 + pick(m, o->n_members);
      *b = o->member0 + pick(m, o->n_members);
      if (*a != *b && m->s->members[*a].n_args > 0 && m->s->members[*b].n_args > 0) {
        return REC(m, members, fs_stream_member);
      }
    }
  }
  return NULL;
}

static bool has_view(const mutant *m, const fs_stream_arg *a) {
  bool found = false;
  for (uint32_t i = 0; i < m->s->n_views; i++) {
    found = found || m->s->views[i].arg == (uint32_t)(a - m->s->args);
  }
  return found;
}

/* Exchanges an arg of one member with one of another; args with views stay, as these name them. */
static bool exchange_args(mutant *m) {
  uint32_t a, b;
  const fs_stream_member *of = two_members(m, &a, &b);
  if (of == NULL) {
    return false;
  }
  fs_stream_arg *x = &REC(m, args, fs_stream_arg)[of[a].arg0 + pick(m, of[a].n_args)];
  fs_stream_arg *y = &REC(m, args, fs_stream_arg)[of[b].arg0 + pick(m, of[b].n_args)];
  fs_stream_arg kept = *x;
  if (memcmp(x, y, sizeof *x) == 0 || has_view(m, x) || has_view(m, y)) {
    return false;
  }
  *x = *y;
  *y = kept;
  return true;
}

/* Two members run with the args of one of them. */
static bool give_args_twice(mutant *m) {
  uint32_t a, b;
  fs_stream_member *of = two_members(m, &a, &b);
  if (of == NULL) {
    return false;
  }
  of[a] = of[b];
  return true;
}

bool fs_mutate_program(fsched_program *copy, fs_program_mutation mutation, fs_rng *rng) {
  mutant m = {&copy->view, rng};
  if (m.s->n_commands == 0 || m.s->n_ops == 0 || m.s->n_buffers == 0) {
    return false;
  }
  switch (mutation) {
    case FS_MUTATE_DROP_WAIT:
      return drop_wait(&m);
    case FS_MUTATE_SWAP_COMMANDS:
      return swap_commands(&m);
    case FS_MUTATE_SHIFT_ADDRESS:
      return shift_address(&m);
    case FS_MUTATE_MOVE_CONTENT:
      return move_content(&m);
    case FS_MUTATE_WAIT_EPOCH:
      return wait_epoch(&m);
    case FS_MUTATE_WAIT_AXIS:
      return wait_axis(&m);
    case FS_MUTATE_ADD_WAIT:
      return add_wait(&m);
    case FS_MUTATE_SIGNAL:
      return change_signal(&m);
    case FS_MUTATE_SCOPE:
      return change_scope(&m);
    case FS_MUTATE_FRONTIER_EPOCH:
      return frontier_epoch(&m);
    case FS_MUTATE_FRONTIER_DROP:
      return frontier_drop(&m);
    case FS_MUTATE_TAINT:
      COMMAND(&m)[pick(&m, m.s->n_commands)].tainted ^= 1;
      return true;
    case FS_MUTATE_LANE:
      return shift_lane(&m);
    case FS_MUTATE_LANE_SIZE:
      return lane_size(&m);
    case FS_MUTATE_COPY_VERSION:
      return copy_version(&m);
    case FS_MUTATE_COPY_FLIP:
      return copy_flip(&m);
    case FS_MUTATE_DROP_COPY:
      return drop_copy(&m);
    case FS_MUTATE_ARG_VERSION:
      return arg_version(&m);
    case FS_MUTATE_GIVEN:
      return move_version(&m, true);
    case FS_MUTATE_KEPT:
      return move_version(&m, false);
    case FS_MUTATE_TARGET:
      return run_another(&m);
    case FS_MUTATE_GANG:
      return gang_epoch(&m);
    case FS_MUTATE_MEMBER:
      return gang_member(&m);
    case FS_MUTATE_EPOCH:
      return change_epoch(&m);
    case FS_MUTATE_MODE:
      return change_mode(&m);
    case FS_MUTATE_PLAN:
      return change_plan(&m);
    case FS_MUTATE_MAKESPAN:
      REC(&m, meta, fs_stream_meta)->makespan++;
      return true;
    case FS_MUTATE_GRAPH:
      return change_graph(&m);
    case FS_MUTATE_RACE:
      return add_race(&m);
    case FS_MUTATE_OVERLAP:
      return overlap(&m);
    case FS_MUTATE_MEMBER_ARGS:
      return exchange_args(&m);
    case FS_MUTATE_MEMBER_TWICE:
      return give_args_twice(&m);
    default:
      return fs_mutate_sync(&m, mutation);
  }
}

/* --- repair --- */

static bool names(const fs_stream *s, const fs_stream_wait *w, uint32_t queue, uint32_t command) {
  const fs_stream_command *c = &s->commands[command];
  return w->axis < s->n_queues ? w->axis == queue && w->epoch == c->epoch
                               : w->axis == c->gang_axis && w->epoch == c->gang_epoch;
}

static uint32_t queue_of(const fs_stream *s, uint32_t command) {
  uint32_t q = 0;
  while (command >= s->queues[q].command0 + s->queues[q].n_commands) {
    q++;
  }
  return q;
}

static void repair_signal(fs_stream *s, fs_stream_command *command, uint32_t d) {
  command[d].signal = command[d].scope = 0;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    for (uint32_t i = 0; i < s->commands[c].n_waits; i++) {
      if (names(s, &s->waits[s->commands[c].wait0 + i], queue_of(s, d), d)) {
        const fs_stream_queue *a = &s->queues[queue_of(s, c)], *b = &s->queues[queue_of(s, d)];
        unsigned scope = s->waits[s->commands[c].wait0 + i].axis == queue_of(s, c) ? FS_SCOPE_QUEUE
                         : a->machine != b->machine                                ? FS_SCOPE_SYSTEM
                         : a->device != b->device ? FS_SCOPE_DEVICE_GROUP
                                                  : FS_SCOPE_DEVICE;
        command[d].signal = 1;
        command[d].scope = (uint8_t)fs_max(command[d].scope, scope);
      }
    }
  }
}

void fs_mutant_repair(fsched_program *copy) {
  fs_stream *s = &copy->view;
  uint64_t known[64] = {0};
  fs_stream_command *command = (fs_stream_command *)(uintptr_t)s->commands;
  size_t room = (size_t)s->n_commands * s->n_queues + SLACK;
  fs_stream_wait *f = calloc(room, sizeof *f);
  uint32_t n = 0;
  fs_oracle_reached(s, known);
  for (uint32_t c = 0; c < s->n_commands; c++) {
    repair_signal(s, command, c);
    command[c].frontier0 = n;
    command[c].tainted = 0;
    for (uint32_t q = 0; q < s->n_queues; q++) {
      uint32_t epoch = 0;
      for (uint32_t k = 0; k < s->queues[q].n_commands; k++) {
        epoch = known[c] >> (s->queues[q].command0 + k) & 1 ? k + 1 : epoch;
      }
      bool own = q == queue_of(s, c);
      bool fits = n - command[c].frontier0 + !own < s->meta[0].frontier_capacity;
      if (epoch > 0 && (own || fits)) {
        f[n++] = (fs_stream_wait){q, epoch};
      } else if (epoch > 0) {
        command[c].tainted = 1;
      }
    }
    command[c].n_frontier = n - command[c].frontier0;
  }
  free((void *)(uintptr_t)s->frontiers);
  s->frontiers = f;
  s->n_frontiers = n;
}

void fs_mutate_bytes(unsigned char *bytes, size_t size, fs_rng *rng) {
  fs_stream_header *h = (fs_stream_header *)(void *)bytes;
  uint32_t section;
  do { /* strings are the last section */
    section = fs_rng_below(rng, sizeof h->section / sizeof h->section[0] - 1);
  } while (h->section[section].count == 0);
  static const uint32_t record[] = {
#define RECORD_SIZE(id, type) sizeof(type),
      FS_STREAM_SECTIONS(RECORD_SIZE)
#undef RECORD_SIZE
  };
  uint64_t words = h->section[section].count * record[section] / 4;
  unsigned char *at =
      bytes + h->section[section].offset + 4 * (uint64_t)fs_rng_below(rng, (uint32_t)words);
  uint32_t value;
  memcpy(&value, at, sizeof value);
  switch (fs_rng_below(rng, 4)) {
    case 0:
      value += 1;
      break;
    case 1:
      value -= 1;
      break;
    case 2:
      value ^= (uint32_t)1 << fs_rng_below(rng, 12);
      break;
    default:
      value = fs_rng_below(rng, 16);
      break;
  }
  memcpy(at, &value, sizeof value);
  h->checksum = 0;
  h->checksum = fs_crc32c(0, bytes, size);
}
