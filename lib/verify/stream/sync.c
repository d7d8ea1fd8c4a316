/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the records of the program's kind of sync make sense, and that the machine has what
 * they ask for.  Builds the indices that the walk uses.
 *
 *   barrier  physical ids are in range, their uses counted from 0 without a gap or a repeat, so
 *            that an id is one barrier at a time; stored counts of producers and consumers are the
 *            real ones, and both at least one (a barrier without consumers is never free again);
 *            slots: each update takes some, a barrier has enough for all of its producers, and a
 *            command takes as many as its op demands, over all barriers that it updates;
 *   block    the order of issue keeps each queue's own order; counting syncs are of counting
 *            queues.
 *
 * Programs of one kind have no records of the others.  Complexity: O((barriers + waits) log). */
#include <stdlib.h>

#include "base/context.h"
#include "base/group.h"
#include "verify/stream/stream.h"

static bool in_range(uint32_t first, uint32_t n, uint32_t limit) {
  return first <= limit && n <= limit - first;
}

/* --- records of other kinds of sync --- */

static void check_kind(fs_vs *v) {
  const fs_stream *s = v->s;
  static const char *const kinds[] = {[FS_SYNC_TIMELINE] = "timelines",
                                      [FS_SYNC_BARRIER] = "barriers",
                                      [FS_SYNC_BLOCK] = "full syncs"};
  bool stray = (!fs_sync_has_waits(v->kind) && s->n_waits > 0) ||
               (!fs_sync_has_barriers(v->kind) &&
                s->n_barriers + (uint64_t)s->n_barrier_waits + s->n_barrier_updates > 0) ||
               (!fs_sync_has_stops(v->kind) && s->n_stops > 0);
  for (uint32_t i = 0; i < s->n_commands && !stray; i++) {
    const fs_stream_command *c = &s->commands[i];
    stray = (!fs_sync_has_waits(v->kind) && c->n_waits > 0) ||
            (!fs_sync_has_barriers(v->kind) && c->n_barrier_waits + c->n_barrier_updates > 0) ||
            (!fs_sync_has_stops(v->kind) && c->issue != 0);
  }
  if (stray) {
    FS_WRONG(v, FS_DIAG_VERIFY_SYNC, "the target has %s alone, and the program uses another sync",
             kinds[v->kind]);
  }
}

/* --- barriers --- */

static bool barrier_ranges(const fs_stream *s) {
  for (uint32_t i = 0; i < s->n_commands; i++) {
    const fs_stream_command *c = &s->commands[i];
    if (!in_range(c->barrier_wait0, c->n_barrier_waits, s->n_barrier_waits) ||
        !in_range(c->barrier_update0, c->n_barrier_updates, s->n_barrier_updates)) {
      return false;
    }
    const uint32_t *w = s->barrier_waits + c->barrier_wait0;
    for (uint32_t k = 0; k < c->n_barrier_waits; k++) {
      if (w[k] >= s->n_barriers || (k > 0 && w[k - 1] >= w[k])) {
        return false;
      }
    }
    const fs_stream_update *u = s->barrier_updates + c->barrier_update0;
    for (uint32_t k = 0; k < c->n_barrier_updates; k++) {
      if (u[k].barrier >= s->n_barriers || (k > 0 && u[k - 1].barrier >= u[k].barrier)) {
        return false;
      }
    }
  }
  return true;
}

static fs_status index_consumers(fs_vs *v) {
  const fs_stream *s = v->s;
  FS_TRY(fs_new_zero(&v->arena, &v->consumer0, (size_t)s->n_barriers + 2));
  for (uint32_t i = 0; i < s->n_commands; i++) {
    for (uint32_t k = 0; k < s->commands[i].n_barrier_waits; k++) {
      v->consumer0[s->barrier_waits[s->commands[i].barrier_wait0 + k] + 2]++;
    }
  }
  fs_group_sum(v->consumer0, s->n_barriers);
  FS_TRY(fs_new(&v->arena, &v->consumer, v->consumer0[s->n_barriers + 1]));
  for (uint32_t i = 0; i < s->n_commands; i++) {
    for (uint32_t k = 0; k < s->commands[i].n_barrier_waits; k++) {
      uint32_t b = s->barrier_waits[s->commands[i].barrier_wait0 + k];
      v->consumer[v->consumer0[b + 1]++] = i;
    }
  }
  return FSCHED_OK;
}

static fs_status index_producers(fs_vs *v) {
  const fs_stream *s = v->s;
  FS_TRY(fs_new_zero(&v->arena, &v->producer0, (size_t)s->n_barriers + 2));
  for (uint32_t i = 0; i < s->n_commands; i++) {
    for (uint32_t k = 0; k < s->commands[i].n_barrier_updates; k++) {
      v->producer0[s->barrier_updates[s->commands[i].barrier_update0 + k].barrier + 2]++;
    }
  }
  fs_group_sum(v->producer0, s->n_barriers);
  FS_TRY(fs_new(&v->arena, &v->producer, v->producer0[s->n_barriers + 1]));
  for (uint32_t i = 0; i < s->n_commands; i++) {
    for (uint32_t k = 0; k < s->commands[i].n_barrier_updates; k++) {
      const fs_stream_update *u = &s->barrier_updates[s->commands[i].barrier_update0 + k];
      v->producer[v->producer0[u->barrier + 1]++] = (fs_vproducer){i, u->slots};
    }
  }
  return FSCHED_OK;
}

typedef struct use {
  uint32_t physical, use, barrier;
} use;

/* Compares barriers by use; each barrier is there only once. */
static int compare_uses(const void *a, const void *b) {
  const use *x = a, *y = b;
  if (x->physical != y->physical) {
    return x->physical < y->physical ? -1 : 1;
  }
  if (x->use != y->use) {
    return x->use < y->use ? -1 : 1;
  }
  return x->barrier < y->barrier ? -1 : x->barrier > y->barrier;
}

/* Builds the index of uses.  *ok tells whether the uses of each physical barrier are 0, 1, ... */
static fs_status index_uses(fs_vs *v, bool *ok) {
  const fs_stream *s = v->s;
  use *at;
  FS_TRY(fs_new(&v->arena, &at, s->n_barriers));
  FS_TRY(fs_new_none(&v->arena, &v->use_before, s->n_barriers));
  FS_TRY(fs_new_none(&v->arena, &v->use_behind, s->n_barriers));
  for (uint32_t b = 0; b < s->n_barriers; b++) {
    at[b] = (use){s->barriers[b].physical, s->barriers[b].use, b};
  }
  if (s->n_barriers > 1) {
    qsort(at, s->n_barriers, sizeof *at, compare_uses);
  }
  for (uint32_t i = 0; i < s->n_barriers; i++) {
    bool first = i == 0 || at[i - 1].physical != at[i].physical;
    uint32_t want = first ? 0 : at[i - 1].use + 1;
    if (at[i].use != want) {
      FS_WRONG(v, FS_DIAG_VERIFY_BARRIER,
               "barrier %u is use %u of physical barrier %u, where use %u comes next",
               at[i].barrier, at[i].use, at[i].physical, want);
      *ok = false;
    }
    if (!first) {
      v->use_before[at[i].barrier] = at[i - 1].barrier;
      v->use_behind[at[i - 1].barrier] = at[i].barrier;
    }
  }
  return FSCHED_OK;
}

static void check_barrier(fs_vs *v, uint32_t b) {
  const fs_stream_barrier *x = &v->s->barriers[b];
  const fs_stream_meta *m = v->s->meta;
  uint32_t producers = v->producer0[b + 1] - v->producer0[b];
  uint32_t consumers = v->consumer0[b + 1] - v->consumer0[b];
  uint64_t slots = 0;
  for (uint32_t k = v->producer0[b]; k < v->producer0[b + 1]; k++) {
    slots += v->producer[k].slots;
  }
  if (m->barrier_count != FS_NONE && x->physical >= m->barrier_count) {
    FS_WRONG(v, FS_DIAG_VERIFY_BARRIER,
             "barrier %u is physical barrier %u, but these are numbered 0 to %u", b, x->physical,
             m->barrier_count - 1);
  }
  if (x->n_producers != producers || x->n_consumers != consumers) {
    FS_WRONG(v, FS_DIAG_VERIFY_BARRIER,
             "barrier %u says %u producers and %u consumers, but has %u and %u", b, x->n_producers,
             x->n_consumers, producers, consumers);
  } else if (producers == 0 || consumers == 0) {
    FS_WRONG(v, FS_DIAG_VERIFY_BARRIER, "barrier %u has no %s", b,
             producers == 0 ? "producers" : "consumers, so its physical barrier is never free");
  }
  if (m->barrier_slots != FS_NONE && slots > m->barrier_slots) {
    FS_WRONG(v, FS_DIAG_VERIFY_SLOTS,
             "the producers of barrier %u take %llu slots, and a barrier has %u", b,
             (unsigned long long)slots, m->barrier_slots);
  }
}

/* The least number of producer slots that a command takes, over all barriers that it updates. */
static uint32_t demand(const fs_vs *v, uint32_t command) {
  const fs_stream_command *c = &v->s->commands[command];
  uint32_t slots = fs_command_has_op(c) ? v->s->ops[c->target].slots : 1;
  return slots > 1 ? slots : 1;
}

static void check_slots(fs_vs *v, uint32_t command) {
  const fs_stream_command *c = &v->s->commands[command];
  const fs_stream_update *u = v->s->barrier_updates + c->barrier_update0;
  char name[FS_VNAME];
  uint64_t sum = 0;
  for (uint32_t k = 0; k < c->n_barrier_updates; k++) {
    sum += u[k].slots;
    if (u[k].slots == 0) {
      FS_WRONG(v, FS_DIAG_VERIFY_SLOTS, "%s takes no slot of barrier %u, which it updates",
               fs_vs_command_name(v, command, name), u[k].barrier);
    }
  }
  if (c->n_barrier_updates > 0 && sum < demand(v, command)) {
    FS_WRONG(v, FS_DIAG_VERIFY_SLOTS, "%s takes %llu slots where its op demands %u",
             fs_vs_command_name(v, command, name), (unsigned long long)sum, demand(v, command));
  }
}

static fs_status barriers(fs_vs *v) {
  if (!barrier_ranges(v->s)) {
    FS_WRONG(v, FS_DIAG_VERIFY_SHAPE, "commands refer to barriers that are not there");
    return FSCHED_WRONG;
  }
  bool ok = true;
  FS_TRY(index_consumers(v));
  FS_TRY(index_producers(v));
  FS_TRY(index_uses(v, &ok));
  for (uint32_t b = 0; b < v->s->n_barriers; b++) {
    check_barrier(v, b);
  }
  for (uint32_t i = 0; i < v->s->n_commands; i++) {
    check_slots(v, i);
  }
  return ok ? FSCHED_OK : FSCHED_WRONG;
}

/* --- order of issue, stops --- */

static fs_status index_issue(fs_vs *v, bool *ok) {
  const fs_stream *s = v->s;
  char name[FS_VNAME];
  FS_TRY(fs_new_none(&v->arena, &v->issue_command, s->n_commands));
  for (uint32_t i = 0; i < s->n_commands; i++) {
    uint32_t at = s->commands[i].issue;
    if (at >= s->n_commands || v->issue_command[at] != FS_NONE) {
      FS_WRONG(v, FS_DIAG_VERIFY_STOP, "%s is issued at %u, which is taken or behind the end",
               fs_vs_command_name(v, i, name), at);
      *ok = false;
      continue;
    }
    v->issue_command[at] = i;
    if (s->commands[i].epoch > 1 && s->commands[i - 1].issue > at) {
      FS_WRONG(v, FS_DIAG_VERIFY_STOP, "%s is issued before the command before it on its queue",
               fs_vs_command_name(v, i, name));
      *ok = false;
    }
  }
  return FSCHED_OK;
}

/* Whether stops are in order: full stops first (their queue plus one is 0), then by queue. */
static bool stops_in_order(const fs_stream_stop *a, const fs_stream_stop *b) {
  return a->at != b->at ? a->at < b->at : a->queue + 1 < b->queue + 1;
}

static bool check_stop(fs_vs *v, uint32_t i) {
  const fs_stream *s = v->s;
  const fs_stream_stop *x = &s->stops[i];
  if (x->at >= s->n_commands || (i > 0 && !stops_in_order(x - 1, x)) ||
      (x->queue == FS_NONE ? x->keep != 0 : x->queue >= s->n_queues)) {
    FS_WRONG(v, FS_DIAG_VERIFY_STOP, "sync %u is out of order, or before or of what is not there",
             i);
    return false;
  }
  if (x->queue != FS_NONE && s->queues[x->queue].counting == 0) {
    FS_WRONG(v, FS_DIAG_VERIFY_STOP, "sync %u lets %u commands of %s go on, which does not count",
             i, x->keep, fs_vs_string(v, s->queues[x->queue].name));
  }
  return true;
}

static fs_status stops(fs_vs *v) {
  bool ok = true;
  FS_TRY(index_issue(v, &ok));
  for (uint32_t i = 0; i < v->s->n_stops; i++) {
    ok = check_stop(v, i) && ok;
  }
  return ok ? FSCHED_OK : FSCHED_WRONG;
}

fs_status fs_vs_sync(fs_vs *v) {
  assert(v->command_queue != NULL || v->s->n_commands == 0);
  if (!fs_sync_known(v->s->meta[0].sync)) {
    FS_WRONG(v, FS_DIAG_VERIFY_SYNC, "there is no sync of kind %u", v->s->meta[0].sync);
    return FSCHED_WRONG;
  }
  v->kind = (fs_sync_kind)v->s->meta[0].sync;
  check_kind(v);
  switch (v->kind) {
    case FS_SYNC_TIMELINE:
      break;
    case FS_SYNC_BARRIER:
      return barriers(v);
    case FS_SYNC_BLOCK:
      return stops(v);
  }
  return FSCHED_OK;
}
