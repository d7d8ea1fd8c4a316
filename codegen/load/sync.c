/* SPDX-License-Identifier: Apache-2.0 */
/* The records that order the commands of programs without timelines.  A walk over a program that
 * passed this check stays within its arrays:
 *
 *   barrier   updates and waits tile their sections and name barriers, ascending; the numbers of
 *             producers and consumers are right, and both are above 0; the uses of every physical
 *             barrier are 0, 1, ... in some order;
 *   block     the places in the order of issue are a permutation, ascending along every queue; the
 *             syncs are sorted, and each waits for a command that was issued before it.
 *
 * A program has only the records of its own kind of sync; the
 * checks of loops are looked at with these (load/loops.c).  The verifier finds out whether it keeps
 * within the machine's barriers and slots, and whether it can run. */
#include "model/sync.h"
#include "base/group.h"
#include "codegen/load/check.h"

#define MOST_KEEP (1u << 31)
#include "fsched/graph.h"

#define FS_OF_COMMAND "of command %u of queue '%s'"

static const char *queue_name(const fs_checker *c, uint32_t queue) {
  return c->v.strings + c->v.queues[queue].name;
}

/* ---- records of other kinds of sync */

static fs_status check_no_timeline(fs_checker *c, uint32_t queue, const fs_stream_command *m) {
  FS_NEED(c, m->n_waits == 0 && m->signal == 0 && m->scope == FS_SCOPE_QUEUE, VALUE,
          "a wait, signal or scope " FS_OF_COMMAND ", in a program without timelines", m->epoch,
          queue_name(c, queue));
  return FSCHED_OK;
}

static fs_status check_no_barrier(fs_checker *c, uint32_t queue, const fs_stream_command *m) {
  FS_NEED(c,
          m->barrier_wait0 == 0 && m->n_barrier_waits == 0 && m->barrier_update0 == 0 &&
              m->n_barrier_updates == 0,
          VALUE, "a barrier " FS_OF_COMMAND ", in a program without barriers", m->epoch,
          queue_name(c, queue));
  return FSCHED_OK;
}

static fs_status check_no_issue(fs_checker *c, uint32_t queue, const fs_stream_command *m) {
  FS_NEED(c, m->issue == 0, VALUE,
          "place %u in the order of issue " FS_OF_COMMAND ", in a program without syncs", m->issue,
          m->epoch, queue_name(c, queue));
  return FSCHED_OK;
}

static fs_status check_kind(fs_checker *c, uint32_t queue, const fs_stream_command *m) {
  uint32_t sync = c->v.meta->sync;
  if (!fs_sync_has_waits(sync)) {
    FS_TRY(check_no_timeline(c, queue, m));
  }
  if (!fs_sync_has_barriers(sync)) {
    FS_TRY(check_no_barrier(c, queue, m));
  }
  return fs_sync_has_stops(sync) ? FSCHED_OK : check_no_issue(c, queue, m);
}

/* ---- barriers */

typedef struct fs_counts {
  uint32_t *producers, *consumers; /* per barrier */
  uint32_t at_wait, at_update;
} fs_counts;

static fs_status check_waits_of(fs_checker *c, uint32_t queue, const fs_stream_command *m,
                                fs_counts *n) {
  const fs_stream *v = &c->v;
  FS_NEED(c,
          m->barrier_wait0 == n->at_wait && m->n_barrier_waits <= v->n_barrier_waits - n->at_wait,
          TILING, "the barrier waits from %u, %u of them, should begin at %u", m->barrier_wait0,
          m->n_barrier_waits, n->at_wait);
  for (uint32_t end = n->at_wait + m->n_barrier_waits; n->at_wait < end; n->at_wait++) {
    uint32_t barrier = v->barrier_waits[n->at_wait];
    FS_NEED(c, barrier < v->n_barriers, REFERENCE,
            "a wait " FS_OF_COMMAND " is for barrier %u of %u", m->epoch, queue_name(c, queue),
            barrier, v->n_barriers);
    FS_NEED(c, n->at_wait == m->barrier_wait0 || barrier > v->barrier_waits[n->at_wait - 1], WAIT,
            "the barrier waits " FS_OF_COMMAND " do not ascend", m->epoch, queue_name(c, queue));
    n->consumers[barrier]++;
  }
  return FSCHED_OK;
}

static fs_status check_updates_of(fs_checker *c, uint32_t queue, const fs_stream_command *m,
                                  fs_counts *n) {
  const fs_stream *v = &c->v;
  const fs_stream_update *u = v->barrier_updates;
  FS_NEED(c,
          m->barrier_update0 == n->at_update &&
              m->n_barrier_updates <= v->n_barrier_updates - n->at_update,
          TILING, "the barrier updates from %u, %u of them, should begin at %u", m->barrier_update0,
          m->n_barrier_updates, n->at_update);
  for (uint32_t end = n->at_update + m->n_barrier_updates; n->at_update < end; n->at_update++) {
    uint32_t barrier = u[n->at_update].barrier, slots = u[n->at_update].slots;
    FS_NEED(c, barrier < v->n_barriers, REFERENCE,
            "an update " FS_OF_COMMAND " is of barrier %u of %u", m->epoch, queue_name(c, queue),
            barrier, v->n_barriers);
    FS_NEED(c, n->at_update == m->barrier_update0 || barrier > u[n->at_update - 1].barrier, WAIT,
            "the barrier updates " FS_OF_COMMAND " do not ascend", m->epoch, queue_name(c, queue));
    FS_NEED(c, slots != 0 && slots <= INT32_MAX, VALUE,
            "an update " FS_OF_COMMAND " takes %u slots", m->epoch, queue_name(c, queue), slots);
    n->producers[barrier]++;
  }
  return FSCHED_OK;
}

/* Checks that the uses of a physical barrier are 0, 1, ...: each is below their number, and no two
 * are the same. */
static fs_status check_uses(fs_checker *c) {
  const fs_stream *v = &c->v;
  uint32_t *first, *taken;
  FS_TRY(fs_new_zero(&c->arena, &first, (size_t)v->n_barriers + 1)); /* per physical barrier */
  FS_TRY(fs_new_none(&c->arena, &taken, v->n_barriers));
  for (uint32_t b = 0; b < v->n_barriers; b++) {
    FS_NEED(c, v->barriers[b].physical < v->n_barriers, VALUE,
            "barrier %u is physical barrier %u, of a program with %u barriers", b,
            v->barriers[b].physical, v->n_barriers);
    first[v->barriers[b].physical + 1]++;
  }
  fs_group_starts(first, v->n_barriers);
  for (uint32_t b = 0; b < v->n_barriers; b++) {
    uint32_t physical = v->barriers[b].physical, use = v->barriers[b].use;
    uint32_t n = first[physical + 1] - first[physical];
    FS_NEED(c, use < n, VALUE, "barrier %u is use %u of physical barrier %u, which has %u uses", b,
            use, physical, n);
    uint32_t *owner = &taken[first[physical] + use];
    FS_NEED(c, *owner == FS_NONE, VALUE,
            "barriers %u and %u are both use %u of physical barrier %u", *owner, b, use, physical);
    *owner = b;
  }
  return FSCHED_OK;
}

static fs_status check_barriers(fs_checker *c) {
  const fs_stream *v = &c->v;
  fs_counts n = {0};
  FS_TRY(fs_new_zero(&c->arena, &n.producers, v->n_barriers));
  FS_TRY(fs_new_zero(&c->arena, &n.consumers, v->n_barriers));
  for (uint32_t q = 0; q < v->n_queues; q++) {
    for (uint32_t i = 0; i < v->queues[q].n_commands; i++) {
      const fs_stream_command *m = &v->commands[v->queues[q].command0 + i];
      FS_TRY(check_waits_of(c, q, m, &n));
      FS_TRY(check_updates_of(c, q, m, &n));
    }
  }
  FS_NEED(c, n.at_wait == v->n_barrier_waits && n.at_update == v->n_barrier_updates, TILING,
          "barrier waits or updates belong to no command");
  for (uint32_t b = 0; b < v->n_barriers; b++) {
    const fs_stream_barrier *r = &v->barriers[b];
    FS_NEED(c, r->n_producers == n.producers[b] && r->n_consumers == n.consumers[b], VALUE,
            "barrier %u says it has %u producers and %u consumers, but has %u and %u", b,
            r->n_producers, r->n_consumers, n.producers[b], n.consumers[b]);
    FS_NEED(c, r->n_producers != 0 && r->n_consumers != 0, VALUE,
            "barrier %u has %u producers and %u consumers; it needs both", b, r->n_producers,
            r->n_consumers);
  }
  return check_uses(c);
}

/* ---- block */

static fs_status check_issue(fs_checker *c) {
  const fs_stream *v = &c->v;
  uint8_t *seen;
  FS_TRY(fs_new_zero(&c->arena, &seen, v->n_commands));
  for (uint32_t q = 0; q < v->n_queues; q++) {
    for (uint32_t i = 0; i < v->queues[q].n_commands; i++) {
      const fs_stream_command *m = &v->commands[v->queues[q].command0 + i];
      FS_NEED(c, m->issue < v->n_commands && !seen[m->issue], VALUE,
              "place %u in the order of issue " FS_OF_COMMAND " is not one of %u, or taken",
              m->issue, m->epoch, queue_name(c, q), v->n_commands);
      FS_NEED(c, i == 0 || m->issue > m[-1].issue, VALUE,
              "the order of issue of queue '%s' is not that of its commands", queue_name(c, q));
      seen[m->issue] = 1;
    }
  }
  return FSCHED_OK;
}

/* The number of the queue's commands that are issued before `at`. */
static uint32_t issued_before(const fs_stream *v, uint32_t queue, uint32_t at) {
  const fs_stream_command *commands = v->commands + v->queues[queue].command0;
  uint32_t low = 0, high = v->queues[queue].n_commands;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (commands[middle].issue < at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Whether two syncs are in order.  At one place in the order of issue a full sync comes first
 * (FS_NONE + 1 is 0), then syncs of queues, ascending. */
static bool ascends(const fs_stream_stop *a, const fs_stream_stop *b) {
  return a->at < b->at || (a->at == b->at && a->queue + 1 < b->queue + 1);
}

static fs_status check_stops(fs_checker *c) {
  const fs_stream *v = &c->v;
  for (uint32_t i = 0; i < v->n_stops; i++) {
    const fs_stream_stop *s = &v->stops[i];
    FS_NEED(c, s->at != 0 && s->at < v->n_commands, VALUE,
            "sync %u is before command %u of the order of issue, of %u", i, s->at, v->n_commands);
    FS_NEED(c, i == 0 || ascends(&v->stops[i - 1], s), VALUE, "sync %u is not in order", i);
    FS_NEED(c, s->reserved == 0 && (s->queue != FS_NONE || s->keep == 0), VALUE,
            "sync %u has keep %u, reserved %u", i, s->keep, s->reserved);
    if (s->queue == FS_NONE) {
      continue;
    }
    FS_NEED(c, s->queue < v->n_queues && v->queues[s->queue].counting, REFERENCE,
            "sync %u counts queue %u of %u, or one that cannot be counted", i, s->queue,
            v->n_queues);
    uint32_t issued = issued_before(v, s->queue, s->at);
    FS_NEED(c, s->keep < issued, VALUE,
            "sync %u keeps %u commands of queue '%s', where %u are issued before it", i, s->keep,
            queue_name(c, s->queue), issued);
  }
  return FSCHED_OK;
}

/* ---- block, in loops */

/* Checks that commands have the places of a step, each one, and along each queue in order. */
static fs_status check_loop_places(fs_checker *c, const fs_stream_loop *l, uint32_t first,
                                   uint32_t n) {
  const fs_stream *v = &c->v;
  bool stops = fs_sync_has_stops(v->meta->sync);
  uint8_t *seen;
  FS_TRY(fs_new_zero(&c->arena, &seen, n));
  for (uint32_t i = first; i < first + n; i++) {
    const fs_stream_loop_command *m = &v->loop_commands[i];
    FS_NEED(c, m->reserved == 0 && (stops || m->issue == 0), VALUE,
            "command %u of loop '%s' has place %u in a step, reserved %u", i - first,
            fs_check_loop_name(c, l), m->issue, m->reserved);
    FS_NEED(c, !stops || (m->issue < n && !seen[m->issue]), VALUE,
            "place %u in a step of command %u of loop '%s' is not one of %u, or taken", m->issue,
            i - first, fs_check_loop_name(c, l), n);
    seen[stops ? m->issue : 0] = 1;
  }
  for (uint32_t q = l->queue0; q < l->queue0 + l->n_queues && stops; q++) {
    const fs_stream_loop_queue *of = &v->loop_queues[q];
    for (uint32_t i = of->command0 + 1; i < of->command0 + of->n_commands; i++) {
      FS_NEED(c, v->loop_commands[i].issue > v->loop_commands[i - 1].issue, VALUE,
              "the order of issue of queue %u of loop '%s' is not that of its commands",
              q - l->queue0, fs_check_loop_name(c, l));
    }
  }
  return FSCHED_OK;
}

static bool is_loop_queue(const fs_stream *v, const fs_stream_loop *l, uint32_t queue) {
  uint32_t q = l->queue0, end = l->queue0 + l->n_queues;
  while (q < end && v->loop_queues[q].queue != queue) {
    q++;
  }
  return q < end;
}

fs_status fs_check_loop_issue(fs_checker *c, const fs_stream_loop *l, uint32_t first, uint32_t n) {
  assert(first <= c->v.n_loop_commands && n <= c->v.n_loop_commands - first);
  const fs_stream *v = &c->v;
  FS_TRY(check_loop_places(c, l, first, n));
  FS_NEED(c, fs_sync_has_stops(v->meta->sync) || l->n_stops == 0, VALUE,
          "loop '%s' has %u syncs, in a program that is not for syncs", fs_check_loop_name(c, l),
          l->n_stops);
  for (uint32_t i = l->stop0; i < l->stop0 + l->n_stops; i++) {
    const fs_stream_stop *s = &v->loop_stops[i];
    FS_NEED(c, s->at < n && (i == l->stop0 || ascends(s - 1, s)), VALUE,
            "sync %u of loop '%s' is not in order, or before command %u of %u", i - l->stop0,
            fs_check_loop_name(c, l), s->at, n);
    FS_NEED(c, s->reserved == 0 && s->keep <= MOST_KEEP && (s->queue != FS_NONE || s->keep == 0),
            VALUE, "sync %u of loop '%s' has keep %u, reserved %u", i - l->stop0,
            fs_check_loop_name(c, l), s->keep, s->reserved);
    FS_NEED(c,
            s->queue == FS_NONE || (is_loop_queue(v, l, s->queue) && v->queues[s->queue].counting),
            REFERENCE, "sync %u of loop '%s' counts queue %u of %u, or one that cannot be counted",
            i - l->stop0, fs_check_loop_name(c, l), s->queue, v->n_queues);
  }
  return FSCHED_OK;
}

/* ---- the whole */

fs_status fs_check_sync(fs_checker *c) {
  assert(c->v.n_meta == 1);
  const fs_stream *v = &c->v;
  uint32_t sync = v->meta->sync;
  FS_NEED(c,
          fs_sync_has_barriers(sync) ||
              (v->n_barriers == 0 && v->n_barrier_waits == 0 && v->n_barrier_updates == 0),
          VALUE, "a program without barriers has %u", v->n_barriers);
  FS_NEED(c, fs_sync_has_stops(sync) || v->n_stops == 0, VALUE,
          "a program that is not for syncs has %u", v->n_stops);
  for (uint32_t q = 0; q < v->n_queues; q++) {
    for (uint32_t i = 0; i < v->queues[q].n_commands; i++) {
      FS_TRY(check_kind(c, q, &v->commands[v->queues[q].command0 + i]));
    }
  }
  if (fs_sync_has_barriers(sync)) {
    return check_barriers(c);
  }
  FS_TRY(fs_sync_has_stops(sync) ? check_issue(c) : FSCHED_OK);
  return check_stops(c);
}
