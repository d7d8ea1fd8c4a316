/* SPDX-License-Identifier: Apache-2.0 */
/* CPU back end: decodes the stream into steps.
 *
 * Waits become pointers to timelines, the commands of one gang op become a meeting, kernels are
 * looked up.  Syncs (sync: block) become the waits that they imply for each queue.  Waits for a
 * barrier are on the timeline of its physical barrier: commands that update the barrier wait until
 * it is mapped, commands that wait for it until it is complete.  All checks are made here, so that
 * in the workers only kernels can fail. */
#include <sched.h>

#include "base/group.h"
#include "exec/cpu/cpu.h"
#include "model/stream/points.h"
#include "model/sync.h"

/* Spins before sleeping: long (about half a millisecond) where every queue can have a processor,
 * else just long enough for a hand-off that is under way. */
enum { SPINS_ALONE = 1 << 14, SPINS_SHARED = 1 << 7 };

static uint32_t processors(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

/* Allocates elements on cache lines of their own, as timelines and workers need; the arena aligns
 * to 16 bytes only. */
static fs_status new_lines(fs_arena *arena, size_t n, size_t size, void *out_ptr) {
  unsigned char *raw;
  if (n > (SIZE_MAX / 2 - FS_LINE) / size) {
    n = SIZE_MAX / 2 / size; /* the allocation below fails, with a diagnostic */
  }
  FS_TRY(fs_new_zero(arena, &raw, n * size + FS_LINE));
  void *aligned = raw + (FS_LINE - (uintptr_t)raw % FS_LINE) % FS_LINE;
  memcpy(out_ptr, &aligned, sizeof aligned);
  return FSCHED_OK;
}

static fs_step_wait make_wait(const fs_instance *x, uint32_t axis, uint32_t epoch) {
  return (fs_step_wait){&x->timeline[axis], x->period[axis], axis, epoch};
}

/* Lists the commands of each of n meetings: the members, which start together. */
static fs_status list_members(fs_instance *x, uint64_t n) {
  const fs_stream *s = x->stream;
  uint32_t total = 0;
  for (uint64_t m = 0; m < n; m++) {
    total += x->meeting[m].members;
    x->meeting[m].member0 = total; /* filling moves it to the begin of the members */
  }
  FS_TRY(fs_new(&x->arena, &x->member, total));
  for (uint32_t c = 0; c < s->n_commands; c++) {
    if (x->step[c].meeting != FS_NONE) {
      x->member[--x->meeting[x->step[c].meeting].member0] = c;
    }
  }
  return FSCHED_OK;
}

/* Makes one meeting for each epoch of each collective axis, in that order. */
static fs_status decode_gangs(fs_instance *x) {
  const fs_stream *s = x->stream;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    uint32_t axis = s->commands[c].gang_axis;
    if (axis != FS_NONE) {
      x->period[axis] = fs_max(x->period[axis], s->commands[c].gang_epoch);
    }
  }
  uint64_t n = 0;
  uint64_t *meeting0;
  FS_TRY(fs_new(&x->arena, &meeting0, s->n_axes));
  for (uint32_t a = s->n_queues; a < s->n_axes; a++) {
    meeting0[a] = n;
    n += x->period[a];
  }
  FS_TRY(fs_new_zero(&x->arena, &x->meeting, n + x->n_alone));
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    if (k->gang_axis != FS_NONE) {
      uint64_t m = meeting0[k->gang_axis] + k->gang_epoch - 1;
      x->step[c].meeting = (uint32_t)m;
      x->meeting[m].members = s->axes[k->gang_axis].n_members;
      x->meeting[m].over = make_wait(x, k->gang_axis, k->gang_epoch);
      x->meeting[m].apart = fs_command_members(s, k) > 0;
    }
  }
  fs_cpu_meet_for_loops(x, n);
  return x->physicals.n == 0 && s->n_members == 0 ? FSCHED_OK : list_members(x, n + x->n_alone);
}

static fs_status decode_points(fs_instance *x) {
  const fs_stream *s = x->stream;
  fs_points p;
  FS_TRY(fs_stream_points_find(&x->arena, s, &p));
  FS_TRY(fs_new(&x->arena, &x->wait, p.point0[s->n_commands]));
  for (uint32_t c = 0; c < s->n_commands; c++) {
    x->step[c].wait0 = p.point0[c];
    x->step[c].n_waits = (p.point0[c + 1] - p.point0[c]) & 0x7FFFFFFF;
  }
  for (uint32_t w = 0; w < p.point0[s->n_commands]; w++) {
    const fs_stream_wait *wait = &p.point[w];
    x->wait[w] = make_wait(x, wait->axis, wait->epoch);
    if (fs_sync_has_stops(s->meta->sync) && wait->axis < s->n_queues) {
      x->step[s->queues[wait->axis].command0 + wait->epoch - 1].signal = 1;
    }
  }
  return FSCHED_OK;
}

static fs_status make_physicals(fs_instance *x) {
  const fs_stream *s = x->stream;
  const fs_physicals *p = &x->physicals;
  FS_TRY(new_lines(&x->arena, p->n, sizeof *x->physical, &x->physical));
  FS_TRY(fs_new(&x->arena, &x->turn, s->n_barriers));
  for (uint32_t i = 0; i < p->n; i++) {
    x->physical[i].phase = &x->timeline[fs_cpu_phase(x, i)];
    x->physical[i].period = 2 * (uint64_t)fs_physical_uses(p, i);
  }
  for (uint32_t b = 0; b < s->n_barriers; b++) {
    uint32_t use = s->barriers[b].use;
    x->turn[b] = (fs_turn){.physical = &x->physical[p->of[b]],
                           .value = 2 * (uint64_t)use + 1,
                           .next = fs_physical_barrier(p, p->of[b], use + 1),
                           .sole_producer = s->barriers[b].n_producers == 1,
                           .sole_consumer = s->barriers[b].n_consumers == 1,
                           .known = true,
                           .consumer = FS_NONE};
  }
  fs_cpu_barrier_set(x, 0);
  return FSCHED_OK;
}

static fs_step_wait barrier_wait(const fs_instance *x, uint32_t barrier, bool complete) {
  const fs_turn *t = &x->turn[barrier];
  return (fs_step_wait){t->physical->phase, t->physical->period,
                        fs_cpu_phase(x, x->physicals.of[barrier]), (uint32_t)t->value + complete};
}

/* Per barrier, its producers: commands. */
typedef struct producer_lists {
  uint32_t *first, *command; /* CSR */
} producer_lists;

static fs_status list_producers(fs_arena *arena, const fs_stream *s, producer_lists *out) {
  FS_TRY(fs_new_zero(arena, &out->first, (size_t)s->n_barriers + 2));
  FS_TRY(fs_new(arena, &out->command, s->n_barrier_updates));
  for (uint32_t i = 0; i < s->n_barrier_updates; i++) {
    out->first[s->barrier_updates[i].barrier + 2]++;
  }
  fs_group_sum(out->first, s->n_barriers);
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    for (uint32_t i = 0; i < k->n_barrier_updates; i++) {
      out->command[out->first[s->barrier_updates[k->barrier_update0 + i].barrier + 1]++] = c;
    }
  }
  return FSCHED_OK;
}

/* Notes the only consumer of each barrier that has one, if it starts on its own. */
static void find_consumers(fs_instance *x) {
  const fs_stream *s = x->stream;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    for (uint32_t i = 0; i < k->n_barrier_waits; i++) {
      uint32_t barrier = s->barrier_waits[k->barrier_wait0 + i];
      bool alone = s->barriers[barrier].n_consumers == 1 && x->step[c].meeting == FS_NONE;
      x->turn[barrier].consumer = alone ? c : FS_NONE;
    }
  }
}

/* Whether command `b` comes at or behind command `a` on the queue of `a`. */
static bool follows(const uint32_t *queue, uint32_t a, uint32_t b) {
  return queue[a] == queue[b] && a <= b;
}

/* Whether a producer knows, when all barriers that it waits for are complete, that the only
 * consumer of the use before has started. */
static bool knows(const fs_stream *s, const uint32_t *queue, const producer_lists *p,
                  uint32_t producer, uint32_t consumer) {
  enum { LOOKED_AT = 64 };
  const fs_stream_command *k = &s->commands[producer];
  uint32_t looked = 0;
  if (follows(queue, consumer, producer)) {
    return producer != consumer;
  }
  for (uint32_t i = 0; i < k->n_barrier_waits; i++) {
    uint32_t barrier = s->barrier_waits[k->barrier_wait0 + i];
    for (uint32_t j = p->first[barrier]; j < p->first[barrier + 1]; j++) {
      if (++looked > LOOKED_AT) {
        return false;
      }
      if (follows(queue, consumer, p->command[j])) {
        return true;
      }
    }
  }
  return false;
}

/* Finds the barriers whose producers all know that they are mapped. */
static fs_status find_known(fs_instance *x) {
  const fs_stream *s = x->stream;
  FS_SCRATCH(scratch, x->arena.ctx);
  producer_lists p;
  uint32_t *queue;
  FS_TRY(list_producers(&scratch, s, &p));
  FS_TRY(fs_new(&scratch, &queue, s->n_commands));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    for (uint32_t c = 0; c < s->queues[q].n_commands; c++) {
      queue[s->queues[q].command0 + c] = q;
    }
  }
  find_consumers(x);
  for (uint32_t b = 0; b < s->n_barriers; b++) {
    fs_turn *next = &x->turn[x->turn[b].next];
    uint32_t consumer = x->turn[b].consumer, to = x->turn[b].next;
    if (s->barriers[to].use == 0) {
      continue;
    }
    next->known = consumer != FS_NONE;
    for (uint32_t i = p.first[to]; next->known && i < p.first[to + 1]; i++) {
      next->known = knows(s, queue, &p, p.command[i], consumer);
    }
  }
  return FSCHED_OK;
}

/* Whether anything happens when a consumer of the barrier starts. */
static bool start_matters(const fs_instance *x, uint32_t barrier) {
  const fs_turn *t = &x->turn[barrier], *next = &x->turn[t->next];
  return !t->sole_consumer || !fs_cpu_next_is_known(x, t) || !next->sole_producer ||
         !next->sole_consumer;
}

static fs_status list_starts(fs_instance *x) {
  const fs_stream *s = x->stream;
  uint32_t n = 0;
  FS_TRY(fs_new(&x->arena, &x->start0, (size_t)s->n_commands + 1));
  FS_TRY(fs_new(&x->arena, &x->start, s->n_barrier_waits));
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    x->start0[c] = n;
    for (uint32_t i = 0; i < k->n_barrier_waits; i++) {
      uint32_t barrier = s->barrier_waits[k->barrier_wait0 + i];
      if (start_matters(x, barrier)) {
        x->start[n++] = barrier;
      }
    }
  }
  x->start0[s->n_commands] = n;
  return FSCHED_OK;
}

static fs_status list_updates(fs_instance *x) {
  const fs_stream *s = x->stream;
  uint32_t n = 0;
  FS_TRY(fs_new(&x->arena, &x->update0, (size_t)s->n_commands + 1));
  FS_TRY(fs_new(&x->arena, &x->update, s->n_barrier_updates));
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    x->update0[c] = n;
    for (uint32_t i = 0; i < k->n_barrier_updates; i++) {
      const fs_turn *t = &x->turn[s->barrier_updates[k->barrier_update0 + i].barrier];
      x->update[n++] = (fs_cpu_update){t->physical->phase, t->physical->period, t->value + 1,
                                       t->sole_producer ? NULL : t->physical};
    }
  }
  x->update0[s->n_commands] = n;
  return FSCHED_OK;
}

/* Adds the waits of a command: first for the barriers that it waits for, then for those it updates
 * and does not know to be mapped. */
static fs_status decode_barriers(fs_instance *x) {
  const fs_stream *s = x->stream;
  uint32_t n = 0;
  FS_TRY(make_physicals(x));
  FS_TRY(find_known(x));
  FS_TRY(list_starts(x));
  FS_TRY(list_updates(x));
  FS_TRY(fs_new(&x->arena, &x->wait, (size_t)s->n_barrier_waits + s->n_barrier_updates));
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    x->step[c].wait0 = n;
    for (uint32_t i = 0; i < k->n_barrier_waits; i++) {
      x->wait[n++] = barrier_wait(x, s->barrier_waits[k->barrier_wait0 + i], true);
    }
    for (uint32_t i = 0; i < k->n_barrier_updates; i++) {
      uint32_t barrier = s->barrier_updates[k->barrier_update0 + i].barrier;
      if (!x->turn[barrier].known) {
        x->wait[n++] = barrier_wait(x, barrier, false);
      }
    }
    x->step[c].n_waits = (n - x->step[c].wait0) & 0x7FFFFFFF;
  }
  return FSCHED_OK;
}

static fs_status decode_steps(fsched_context *ctx, fs_instance *x) {
  const fs_stream *s = x->stream;
  FS_TRY(fs_new(&x->arena, &x->step, s->n_commands));
  FS_TRY(fs_physicals_make(&x->arena, s, &x->physicals));
  FS_TRY(fs_cpu_count_loops(x));
  FS_TRY(fs_guards_make(ctx, &x->arena, s, &x->guards));
  x->n_timelines = fs_cpu_phase(x, x->physicals.n) + x->n_loop_axes + x->guards.n;
  FS_TRY(new_lines(&x->arena, x->n_timelines, sizeof *x->timeline, &x->timeline));
  FS_TRY(new_lines(&x->arena, x->guards.n, sizeof *x->loop_barrier, &x->loop_barrier));
  x->go = &x->timeline[s->n_axes];
  FS_TRY(fs_new_zero(&x->arena, &x->period, s->n_axes));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    x->period[q] = s->queues[q].n_commands;
  }
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    x->step[c] = (fs_cpu_step){.command = c, .meeting = FS_NONE, .signal = k->signal != 0};
  }
  FS_TRY(fs_cpu_decode_loops(x));
  fs_cpu_make_guards(x);
  FS_TRY(decode_gangs(x));
  return x->physicals.n > 0 ? decode_barriers(x) : decode_points(x);
}

static fs_status decode_items(fs_instance *x) {
  FS_TRY(fs_new_zero(&x->arena, &x->arrival, x->io->n_given));
  for (uint32_t i = 0; i < x->io->n_given; i++) {
    x->arrival[i].ready = &x->timeline[fs_cpu_ready(x, i)];
    x->arrival[i].there = &x->timeline[fs_cpu_there(x, i)];
  }
  return fs_new_zero(&x->arena, &x->kept_left, x->io->n_kept);
}

static fs_status decode_effects(fsched_context *ctx, fs_instance *x) {
  if (x->config.empty) {
    return FSCHED_OK;
  }
  FS_TRY(fs_kernels_find(ctx, &x->arena, x->stream, x->options, &x->kernels));
  FS_TRY(fs_memories_take(ctx, &x->arena, x->stream, x->io, x->config.memory_limit,
                          x->config.pooled, &x->memories));
  x->effects = (fs_effects){x->stream, x->io, &x->kernels, &x->memories};
  return decode_items(x);
}

/* Makes one lane for every queue that has commands, and one for a stream without commands. */
static fs_status decode_lanes(fs_instance *x) {
  const fs_stream *s = x->stream;
  FS_TRY(fs_new_none(&x->arena, &x->queue_lane, s->n_queues));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    if (s->queues[q].n_commands > 0) {
      x->queue_lane[q] = x->n_lanes++;
    }
  }
  FS_TRY(new_lines(&x->arena, fs_max(x->n_lanes, 1), sizeof *x->lane, &x->lane));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    if (x->queue_lane[q] != FS_NONE) {
      fs_cpu_lane *l = &x->lane[x->queue_lane[q]];
      l->queue = q;
      l->steps = x->step + s->queues[q].command0;
      l->n_steps = s->queues[q].n_commands;
      l->timeline = &x->timeline[q];
    }
  }
  x->n_lanes = (uint32_t)fs_max(x->n_lanes, 1);
  for (uint32_t i = 0; i < x->n_lanes; i++) { /* lanes rest until the first invocation */
    x->lane[i].blocked = 1;
    x->lane[i].at = FS_NONE;
    x->lane[i].axis = s->n_axes;
    x->lane[i].value = 1;
  }
  return FSCHED_OK;
}

/* Makes the workers.  All slots together have at most as many threads as the options say, but each
 * slot has at least one. */
static fs_status decode_workers(fs_instance *x) {
  uint32_t slots = (uint32_t)fs_max(x->config.slots, 1);
  uint64_t most = fs_max(fs_host_threads(x->options) / slots, 1);
  x->n_workers = (uint32_t)fs_min(x->n_lanes, most);
  FS_TRY(new_lines(&x->arena, x->n_workers, sizeof *x->worker, &x->worker));
  fs_effect_size size = fs_effect_measure(x->stream);
  for (uint32_t i = 0; i < x->n_workers; i++) {
    x->worker[i].instance = x;
    FS_TRY(fs_effect_room_make(&x->arena, size, &x->worker[i].hand, &x->worker[i].room));
  }
  bool alone = !fs_cpu_shared(x) && x->n_workers <= processors() / slots;
  x->spins = alone ? SPINS_ALONE : SPINS_SHARED;
  return FSCHED_OK;
}

void fs_cpu_deal(fs_instance *x) {
  assert(x->n_started > 0 && x->n_started <= x->n_workers);
  for (uint32_t i = 0; i < x->n_lanes; i++) {
    fs_worker *w = &x->worker[i % x->n_workers];
    x->lane[i].worker = w;
    w->lane = w->lane == NULL ? &x->lane[i] : w->lane;
    w->n_lanes++;
  }
}

fs_status fs_cpu_decode(fsched_context *ctx, fs_instance *x) {
  assert(x->stream != NULL && x->io != NULL);
  FS_TRY(decode_steps(ctx, x));
  FS_TRY(decode_effects(ctx, x));
  FS_TRY(decode_lanes(x));
  return decode_workers(x);
}
