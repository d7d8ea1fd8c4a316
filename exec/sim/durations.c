/* SPDX-License-Identifier: Apache-2.0 */
/* Simulation: how long a command takes, in virtual time (fs_sim_times).
 *
 * A draw is a hash of the seed, the invocation's number in its slot, and the command or its gang,
 * so that it does not depend on the order in which commands begin; in loops, of the op and its
 * iterations.
 *
 * Adversarial strategies, which take turns by seed + invocation:
 *   DELAY   one command takes longer than all others together, which take their planned time or
 *           none; the next command comes a round of the strategies later, so that each has its turn
 *   QUEUES  a queue is quick, so that its commands take no time, or slow, a thousand times as long
 *           as planned
 *   OPS     one command in eight is slow, the others are quick
 *   SCALES  half of the commands are quick, the others are slower by a power of two up to 2^15
 *   GATE    for barriers: every command is quick but those that come on their queue right before a
 *           consumer of one barrier, so that its physical barrier is long in use; another barrier
 *           each time
 *
 * A command that is planned to take less than the average counts as average there, so that ops
 * without a duration have one. */
#include <stdlib.h>

#include "base/saturate.h"
#include "base/text/ticks.h"
#include "exec/sim/loops/loops.h"
#include "front/profile/profile.h"

enum { DELAY, QUEUES, OPS, SCALES, GATE };
enum { SLOW = 1024, QUICK = 64 };

/* ---- measured durations */

/* The key under which a profile lists a command. */
typedef struct name {
  const char *name;
  uint32_t version, index; /* index: in the order of the profile */
  uint8_t kind;
} name;

static int compare_names(const name *a, const name *b) {
  int order = strcmp(a->name, b->name);
  return order != 0           ? order
         : a->kind != b->kind ? (a->kind > b->kind) - (a->kind < b->kind)
                              : (a->version > b->version) - (a->version < b->version);
}

static int by_name(const void *a, const void *b) {
  const name *x = a, *y = b;
  int order = compare_names(x, y);
  return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static name name_of(const fs_stream *s, const fs_stream_command *c) {
  return (name){.name = fs_command_target_name(s, c),
                .version = fs_command_has_version(c) ? s->versions[c->target].index : 0,
                .kind = (uint8_t)fs_profile_kind_of(c)};
}

/* The index of the first entry of that name; n when there is none. */
static uint32_t find_name(const name *sorted, uint32_t n, const name *wanted) {
  uint32_t low = 0, high = n;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (compare_names(&sorted[middle], wanted) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < n && compare_names(&sorted[low], wanted) == 0 ? low : n;
}

/* Copies of one version in one direction take its measurements in order; once these have run out,
 * further copies take the last one. */
static void assign(fs_instance *x, const fsched_profile *p, const name *sorted, uint32_t *taken) {
  const fs_stream *s = x->stream;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    name wanted = name_of(s, &s->commands[c]);
    uint32_t first = find_name(sorted, p->n_items, &wanted), i = first;
    if (first == p->n_items) {
      continue;
    }
    if (wanted.kind != FS_PROFILE_OP) {
      i += taken[first];
      bool more = i + 1 < p->n_items && compare_names(&sorted[i + 1], &wanted) == 0;
      taken[first] += more;
    }
    const fsched_duration *took = &p->item[sorted[i].index].took;
    x->times.measured[c] =
        took->count == 0 ? UINT64_MAX : fs_multiply_most(took->median_ns, x->times.per_ns);
  }
}

static fs_status read_profile(fs_instance *x, const fsched_profile *p) {
  name *sorted;
  uint32_t *taken;
  FS_TRY(fs_new_none(&x->arena, &x->times.measured, x->stream->n_commands));
  fs_arena_mark mark = fs_arena_set_mark(&x->arena);
  FS_TRY(fs_new(&x->arena, &sorted, p->n_items));
  FS_TRY(fs_new_zero(&x->arena, &taken, p->n_items));
  for (uint32_t i = 0; i < p->n_items; i++) {
    const fs_profile_item *item = &p->item[i];
    sorted[i] = (name){item->name, item->version, i, item->kind};
  }
  qsort(sorted, p->n_items, sizeof *sorted, by_name);
  assign(x, p, sorted, taken);
  fs_arena_reset(&x->arena, mark);
  return FSCHED_OK;
}

/* ---- */

static uint64_t planned(const fs_instance *x, const fs_stream_command *c) {
  uint64_t ticks = c->end > c->start ? c->end - c->start : 0;
  return fs_multiply_most(ticks, x->times.tick);
}

static uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t words[2] = {a, b};
  return fs_hash_bytes(0, words, sizeof words);
}

/* How often the op of a body runs, in all loops around it. */
static uint64_t runs_of(const fs_stream *s, uint32_t loop) {
  uint64_t n = 1;
  for (; loop != FS_NONE; loop = s->loops[loop].within) {
    n = fs_multiply_most(n, s->loops[loop].trip);
  }
  return n;
}

/* Adds up what is planned, and lists what may be the victim. */
static fs_status count_planned(fs_instance *x) {
  const fs_stream *s = x->stream;
  fs_sim_times *t = &x->times;
  FS_TRY(fs_new(&x->arena, &t->victim, (size_t)s->n_commands + s->n_loop_commands));
  for (uint32_t c = 0; c < s->n_commands; c++) {
    if (fs_sim_loop_of(x, c) == FS_NONE) {
      t->total = fs_add_most(t->total, planned(x, &s->commands[c]));
      t->victim[t->n_victims++] = c;
    }
  }
  uint64_t n = t->n_victims;
  for (uint32_t q = 0; q < s->n_loop_queues; q++) {
    uint32_t first = s->loop_queues[q].command0, end = first + s->loop_queues[q].n_commands;
    for (uint32_t c = first; c < end; c++) {
      const fs_stream_loop_op *op = &s->loop_ops[s->loop_commands[c].op];
      if (op->loop == FS_NONE) {
        uint64_t runs = runs_of(s, x->loops->part[q].loop);
        uint64_t time = fs_multiply_most(op->latency, t->tick);
        t->total = fs_add_most(t->total, fs_multiply_most(runs, time));
        n = fs_add_most(n, runs);
        t->victim[t->n_victims++] = s->n_commands + c;
      }
    }
  }
  t->mean = fs_max(n == 0 ? 0 : t->total / n, t->tick);
  t->total = fs_max(t->total, t->tick);
  return FSCHED_OK;
}

fs_status fs_sim_times_make(fs_instance *x) {
  const fs_stream *s = x->stream;
  fs_sim_times *t = &x->times;
  t->mode = x->options->durations;
  t->seed = x->options->seed;
  uint64_t ps = x->config.tick_ps;
  ps = ps != 0 ? ps : fs_tick_ps(fs_stream_string(s, s->meta->time_unit));
  ps = ps != 0 ? ps : FS_TICK_UNKNOWN_PS;
  t->per_ns = ps % 1000 == 0 ? 1 : 1000;
  t->tick = ps * t->per_ns / 1000;
  FS_TRY(count_planned(x));
  return t->mode == FSCHED_DURATIONS_MEASURED ? read_profile(x, x->options->profile) : FSCHED_OK;
}

/* What is drawn for: a command, or an instance in a loop. */
typedef struct drawn_for {
  uint64_t time, occupied; /* as planned, in units of virtual time */
  uint64_t draw, axis;
  bool slow, victim, gate; /* gate: the next command of its queue waits for the barrier */
} drawn_for;

void fs_sim_times_begin(fs_instance *x, uint64_t k) {
  const fs_stream *s = x->stream;
  uint32_t strategies = s->n_barriers > 0 ? GATE + 1 : GATE;
  uint64_t turn = x->times.seed + k;
  uint32_t victims = turn % strategies == GATE ? s->n_barriers : x->times.n_victims;
  x->times.draw = (fs_sim_draw){
      .salt = mix(x->times.seed, k),
      .strategy = (uint32_t)(turn % strategies),
      .victim = victims == 0 ? 0 : (uint32_t)(turn / strategies % victims),
  };
}

static bool is_victim(const fs_instance *x, uint32_t command) {
  uint32_t victim = x->times.n_victims == 0 ? 0 : x->times.victim[x->times.draw.victim];
  const fs_stream_command *c = &x->stream->commands[command];
  const fs_stream_command *v = &x->stream->commands[victim];
  return command == victim || (victim < x->stream->n_commands && fs_sim_is_gang(c) &&
                               c->gang_axis == v->gang_axis && c->gang_epoch == v->gang_epoch);
}

/* Whether the next command of its queue waits for the victim. */
static bool is_before_consumer(const fs_instance *x, uint32_t command) {
  const fs_stream *s = x->stream;
  const fs_stream_command *c = &s->commands[command];
  if (c->epoch == s->queues[x->queue[command]].n_commands) {
    return false;
  }
  for (uint32_t i = c[1].barrier_wait0; i < c[1].barrier_wait0 + c[1].n_barrier_waits; i++) {
    if (s->barrier_waits[i] == x->times.draw.victim) {
      return true;
    }
  }
  return false;
}

/* All members of a gang draw the same duration. */
static drawn_for command_of(const fs_instance *x, uint32_t command) {
  const fs_stream_command *c = &x->stream->commands[command];
  uint64_t salt = x->times.draw.salt, free = fs_command_free(x->stream, c) - c->start;
  bool gang = fs_sim_is_gang(c), gates = x->times.draw.strategy == GATE;
  return (drawn_for){
      .time = planned(x, c),
      .occupied = fs_multiply_most(free, x->times.tick),
      .draw = mix(salt, gang ? mix(c->gang_axis, c->gang_epoch) : command),
      .axis = gang ? c->gang_axis : x->queue[command],
      .slow = fs_command_slow(x->stream, c),
      .victim = !gates && is_victim(x, command),
      .gate = gates && is_before_consumer(x, command),
  };
}

/* The victim of a loop is one instance. */
static bool is_victim_instance(const fs_instance *x, const fs_loop_instance *at) {
  const fs_stream *s = x->stream;
  uint32_t victim = x->times.victim[x->times.draw.victim];
  if (victim < s->n_commands || s->loop_commands[victim - s->n_commands].op != at->op) {
    return false;
  }
  uint64_t level = 0;
  bool is = true;
  for (; at != NULL && is; at = at->around, level++) {
    uint64_t trips = fs_loop_trips(x->stream, x->work->trips, at->loop);
    is = at->iteration == mix(x->times.draw.salt, level) % trips;
  }
  return is;
}

/* What the instance draws does not depend on its queue, unless that is slow as a whole. */
static drawn_for instance_of(const fs_instance *x, const fs_loop_instance *at) {
  const fs_stream_loop_op *op = &x->stream->loop_ops[at->op];
  const fs_sim_loops *l = x->loops;
  const fs_sim_member *m = &l->member[at->loop_command];
  bool gang = l->member[m->leader].members > 1;
  uint64_t draw = mix(x->times.draw.salt, ~(uint64_t)at->op);
  for (const fs_loop_instance *i = at; i != NULL; i = i->around) {
    draw = mix(draw, i->iteration);
  }
  return (drawn_for){
      .time = fs_multiply_most(op->latency, x->times.tick),
      .occupied = fs_multiply_most(op->time, x->times.tick),
      .draw = draw,
      .axis = gang ? x->stream->n_axes + (uint64_t)at->op : x->stream->loop_queues[m->part].queue,
      .slow = op->latency > op->time,
      .victim = is_victim_instance(x, at),
  };
}

static uint64_t random_part(uint64_t time, uint64_t draw) {
  uint64_t part = draw % 1025; /* in 256ths: up to about four times the planned time */
  return fs_add_most(fs_multiply_most(time / 256, part), time % 256 * part / 256);
}

static uint64_t adversarial(const fs_sim_times *t, const drawn_for *d) {
  uint64_t base = fs_max(d->time, t->mean);
  switch (t->draw.strategy) {
    case DELAY:
      return d->victim ? fs_add_most(t->total, t->tick) : (t->draw.salt & 1) != 0 ? d->time : 0;
    case QUEUES:
      return (mix(t->draw.salt, ~d->axis) & 1) != 0 ? fs_multiply_most(base, SLOW) : 0;
    case OPS:
      return d->draw % 8 == 0 ? fs_multiply_most(base, SLOW) : base / QUICK;
    case GATE:
      return d->gate ? fs_multiply_most(base, SLOW) : 0;
    default:
      return (d->draw & 1) == 0 ? 0 : fs_multiply_most(base, (uint64_t)1 << d->draw / 2 % 16);
  }
}

/* A part of `time`, as `a` is of `b`; of numbers above 2^32 the first 32 bits count.  Requires
 * a <= b, and b > 0. */
static uint64_t part_of(uint64_t time, uint64_t a, uint64_t b) {
  assert(a <= b && b > 0);
  for (; b > UINT32_MAX; a >>= 1) {
    b >>= 1;
  }
  return time / b * a + time % b * a / b;
}

/* Random and adversarial durations keep the queue for the planned part of the duration, for none of
 * it or for all. */
static uint64_t occupancy(const fs_instance *x, const drawn_for *d, uint64_t duration) {
  if (!d->slow) {
    return duration;
  }
  switch (x->times.mode) {
    case FSCHED_DURATIONS_RANDOM:
    case FSCHED_DURATIONS_ADVERSARIAL:
      switch (mix(d->draw, 1) % 4) {
        case 0:
          return 0;
        case 1:
          return duration;
        default:
          return part_of(duration, d->occupied, d->time);
      }
    case FSCHED_DURATIONS_MEASURED:
    case FSCHED_DURATIONS_PLANNED:
      break;
  }
  return fs_min(d->occupied, duration);
}

uint64_t fs_sim_occupancy(const fs_instance *x, uint32_t command, uint64_t duration) {
  assert(command < x->stream->n_commands);
  drawn_for d = command_of(x, command);
  return occupancy(x, &d, duration);
}

uint64_t fs_sim_duration(const fs_instance *x, uint32_t command) {
  assert(command < x->stream->n_commands);
  drawn_for d = command_of(x, command);
  switch (x->times.mode) {
    case FSCHED_DURATIONS_RANDOM:
      return random_part(d.time, d.draw);
    case FSCHED_DURATIONS_ADVERSARIAL:
      return adversarial(&x->times, &d);
    case FSCHED_DURATIONS_MEASURED:
      return x->times.measured[command] == UINT64_MAX ? d.time : x->times.measured[command];
    case FSCHED_DURATIONS_PLANNED:
      break;
  }
  return d.time;
}

/* Instances of a loop that was measured take their planned part of that. */
static uint64_t measured_part(const fs_instance *x, uint32_t command, uint64_t time) {
  uint64_t all = planned(x, &x->stream->commands[command]), took = x->times.measured[command];
  return took == UINT64_MAX ? time : all == 0 ? 0 : part_of(took, fs_min(time, all), all);
}

uint64_t fs_sim_instance_duration(const fs_instance *x, const fs_loop_instance *at) {
  assert(at->op < x->stream->n_loop_ops);
  drawn_for d = instance_of(x, at);
  switch (x->times.mode) {
    case FSCHED_DURATIONS_RANDOM:
      return random_part(d.time, d.draw);
    case FSCHED_DURATIONS_ADVERSARIAL:
      return adversarial(&x->times, &d);
    case FSCHED_DURATIONS_MEASURED:
      return measured_part(x, at->command, d.time);
    case FSCHED_DURATIONS_PLANNED:
      break;
  }
  return d.time;
}

uint64_t fs_sim_instance_occupancy(const fs_instance *x, const fs_loop_instance *at,
                                   uint64_t duration) {
  assert(at->op < x->stream->n_loop_ops);
  drawn_for d = instance_of(x, at);
  if (x->times.measured != NULL) {
    d.occupied = measured_part(x, at->command, d.occupied);
  }
  return occupancy(x, &d, duration);
}

uint64_t fs_sim_loop_end(const fs_instance *x, uint32_t command, uint64_t begin, uint64_t time) {
  assert(command < x->stream->n_commands);
  bool known = x->times.measured != NULL && x->times.measured[command] != UINT64_MAX;
  return known ? fs_max(time, fs_add_most(begin, x->times.measured[command])) : time;
}
