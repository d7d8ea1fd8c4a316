/* SPDX-License-Identifier: Apache-2.0 */
/* Syncs as relations between pairs of commands, each found by looking at every record: which
 * commands are over before a command begins, and which have begun.  A program deadlocks when these
 * relations and queue order, with the members of a gang as one, have a circle. */
#include <stdlib.h>

#include "kit/oracle/oracle_private.h"

static uint32_t queue_of(const fs_stream *s, uint32_t command) {
  uint32_t q = 0;
  while (command >= s->queues[q].command0 + s->queues[q].n_commands) {
    q++;
  }
  return q;
}

static bool point_names(const fs_stream *s, const fs_stream_wait *w, uint32_t d) {
  const fs_stream_command *m = &s->commands[d];
  uint32_t q = queue_of(s, d);
  return w->axis < s->n_queues ? q == w->axis && d - s->queues[q].command0 + 1 == w->epoch
                               : m->gang_axis == w->axis && m->gang_epoch == w->epoch;
}

static bool waits_for(const fs_stream *s, uint32_t c, uint32_t barrier) {
  for (uint32_t i = 0; i < s->commands[c].n_barrier_waits; i++) {
    if (s->barrier_waits[s->commands[c].barrier_wait0 + i] == barrier) {
      return true;
    }
  }
  return false;
}

static uint64_t slots_on(const fs_stream *s, uint32_t d, uint32_t barrier) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < s->commands[d].n_barrier_updates; i++) {
    const fs_stream_update *u = &s->barrier_updates[s->commands[d].barrier_update0 + i];
    sum += u->barrier == barrier ? u->slots : 0;
  }
  return sum;
}

static uint64_t need(const fs_stream *s, uint32_t d) {
  const fs_stream_command *m = &s->commands[d];
  return m->kind == FS_COMMAND_RUN ? s->ops[m->target].slots : 1;
}

/* Whether c waits for a barrier that d updates. */
static bool shown(const fs_stream *s, uint32_t d, uint32_t c) {
  bool found = false;
  for (uint32_t b = 0; b < s->n_barriers; b++) {
    found = found || (waits_for(s, c, b) && slots_on(s, d, b) > 0);
  }
  return found;
}

static bool stop_covers(const fs_stream *s, const fs_stream_stop *x, uint32_t d) {
  uint32_t at = s->commands[d].issue, behind = 0;
  if (at >= x->at || x->queue == FS_NONE) {
    return at < x->at;
  }
  if (queue_of(s, d) != x->queue) {
    return false;
  }
  for (uint32_t k = 0; k < s->queues[x->queue].n_commands; k++) {
    uint32_t other = s->commands[s->queues[x->queue].command0 + k].issue;
    behind += other > at && other < x->at;
  }
  return behind >= x->keep;
}

bool fs_oracle_held(const fs_stream *s, uint32_t d, uint32_t c) {
  const fs_stream_command *m = &s->commands[c];
  bool over = false;
  for (uint32_t i = 0; i < m->n_waits && s->meta[0].sync == FS_SYNC_TIMELINE; i++) {
    over = over || point_names(s, &s->waits[m->wait0 + i], d);
  }
  for (uint32_t i = 0; i < s->n_stops && s->meta[0].sync == FS_SYNC_BLOCK; i++) {
    over = over || (s->stops[i].at <= m->issue && stop_covers(s, &s->stops[i], d));
  }
  return over || (s->meta[0].sync == FS_SYNC_BARRIER && shown(s, d, c));
}

/* --- what is over --- */

enum { MAX_BARRIERS = 256 };

/* What holds before a command begins: commands that are over, and barriers that are complete. */
typedef struct facts {
  uint64_t over;
  bool complete[MAX_BARRIERS];
} facts;

static bool take(facts *to, const facts *from) {
  bool changed = (from->over & ~to->over) != 0;
  to->over |= from->over;
  for (uint32_t b = 0; b < MAX_BARRIERS; b++) {
    changed = changed || (from->complete[b] && !to->complete[b]);
    to->complete[b] = to->complete[b] || from->complete[b];
  }
  return changed;
}

static bool set_over(facts *f, const facts *all, uint32_t d) {
  bool changed = !(f->over >> d & 1);
  f->over |= (uint64_t)1 << d;
  return take(f, &all[d]) || changed;
}

/* Whether d updates barriers, and all of them are complete. */
static bool all_complete(const fs_stream *s, const facts *f, uint32_t d) {
  bool all = s->commands[d].n_barrier_updates > 0;
  for (uint32_t i = 0; i < s->commands[d].n_barrier_updates; i++) {
    all = all && f->complete[s->barrier_updates[s->commands[d].barrier_update0 + i].barrier];
  }
  return all;
}

static bool learn_barriers(const fs_stream *s, facts *all, uint32_t c) {
  bool changed = false;
  for (uint32_t b = 0; b < s->n_barriers; b++) {
    if (!all[c].complete[b] && waits_for(s, c, b)) {
      changed = all[c].complete[b] = true;
    }
    for (uint32_t d = 0; d < s->n_commands && all[c].complete[b]; d++) {
      /* d has begun */
      changed = (slots_on(s, d, b) > 0 && take(&all[c], &all[d])) || changed;
    }
  }
  for (uint32_t d = 0; d < s->n_commands; d++) {
    changed = (all_complete(s, &all[c], d) && set_over(&all[c], all, d)) || changed;
  }
  return changed;
}

static bool learn(const fs_stream *s, facts *all, uint32_t c) {
  bool first = c == s->queues[queue_of(s, c)].command0;
  bool slow = !first && is_slow(s, c - 1); /* it may still run, and has begun */
  bool changed = !first && (slow ? take(&all[c], &all[c - 1]) : set_over(&all[c], all, c - 1));
  if (s->meta[0].sync == FS_SYNC_BARRIER) {
    return learn_barriers(s, all, c) || changed;
  }
  for (uint32_t d = 0; d < s->n_commands; d++) {
    bool held = fs_oracle_held(s, d, c);
    for (uint32_t e = s->queues[queue_of(s, d)].command0; held && e < d; e++) { /* an epoch */
      changed = set_over(&all[c], all, e) || changed;
    }
    changed = (held && set_over(&all[c], all, d)) || changed;
  }
  return changed;
}

void fs_oracle_over(const fs_stream *s, uint64_t *over) {
  facts *all = calloc(s->n_commands + 1, sizeof *all);
  assert(s->n_barriers <= MAX_BARRIERS);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t c = 0; c < s->n_commands; c++) {
      changed = learn(s, all, c) || changed;
    }
  }
  for (uint32_t c = 0; c < s->n_commands; c++) {
    over[c] = all[c].over;
  }
  free(all);
}

void fs_oracle_reached(const fs_stream *s, uint64_t *over) {
  uint64_t before[MAX_COMMANDS];
  fs_oracle_over(s, before);
  for (uint32_t c = 0; c < s->n_commands; c++) {
    over[c] = 0;
    for (uint32_t d = s->queues[queue_of(s, c)].command0; d <= c; d++) {
      over[c] |= before[d] | (uint64_t)1 << d;
    }
  }
}

/* Whether d waits for an earlier use of a physical barrier than one that c updates; then d has
 * begun before c ends its update. */
bool fs_oracle_begun(const fs_stream *s, uint32_t d, uint32_t c) {
  for (uint32_t b = 0; b < s->n_barriers && s->meta[0].sync == FS_SYNC_BARRIER; b++) {
    for (uint32_t e = 0; e < s->n_barriers; e++) {
      if (slots_on(s, c, b) > 0 && s->barriers[e].physical == s->barriers[b].physical &&
          s->barriers[e].use < s->barriers[b].use && waits_for(s, d, e)) {
        return true;
      }
    }
  }
  return false;
}

bool fs_oracle_circle(const fs_stream *s) {
  uint64_t before[MAX_COMMANDS] = {0};
  uint32_t first[MAX_COMMANDS];
  for (uint32_t c = 0; c < s->n_commands; c++) {
    first[c] = c;
    for (uint32_t d = 0; d < c; d++) {
      bool gang = s->commands[c].gang_axis != FS_NONE &&
                  s->commands[c].gang_axis == s->commands[d].gang_axis &&
                  s->commands[c].gang_epoch == s->commands[d].gang_epoch;
      first[c] = gang ? first[d] : first[c];
    }
  }
  for (uint32_t c = 0; c < s->n_commands; c++) {
    for (uint32_t d = 0; d < s->n_commands; d++) {
      bool queue = queue_of(s, c) == queue_of(s, d) && d < c;
      if (queue || fs_oracle_held(s, d, c) || fs_oracle_begun(s, d, c)) {
        before[first[c]] |= (uint64_t)1 << first[d];
      }
    }
  }
  for (uint32_t k = 0; k < s->n_commands; k++) {
    for (uint32_t c = 0; c < s->n_commands; c++) {
      before[c] |= before[c] >> k & 1 ? before[k] : 0;
    }
  }
  bool circle = false;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    circle = circle || (before[c] >> c & 1);
  }
  return circle;
}

/* --- records --- */

static bool barrier_right(const fs_stream *s, uint32_t b) {
  const fs_stream_barrier *x = &s->barriers[b];
  uint64_t slots = 0;
  uint32_t producers = 0, consumers = 0, earlier = 0, same = 0;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    uint64_t mine = slots_on(s, c, b);
    producers += mine > 0;
    slots += mine;
    consumers += waits_for(s, c, b);
  }
  for (uint32_t e = 0; e < s->n_barriers; e++) {
    earlier += s->barriers[e].physical == x->physical && s->barriers[e].use < x->use;
    same += s->barriers[e].physical == x->physical && s->barriers[e].use == x->use;
  }
  return x->physical < s->meta[0].barrier_count && slots <= s->meta[0].barrier_slots &&
         producers > 0 && consumers > 0 && producers == x->n_producers &&
         consumers == x->n_consumers && same == 1 && earlier == x->use;
}

static bool updates_right(const fs_stream *s, uint32_t c) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < s->commands[c].n_barrier_updates; i++) {
    const fs_stream_update *u = &s->barrier_updates[s->commands[c].barrier_update0 + i];
    sum += u->slots;
    if (u->slots == 0) {
      return false;
    }
  }
  return s->commands[c].n_barrier_updates == 0 || sum >= need(s, c);
}

static bool issue_right(const fs_stream *s, uint32_t c) {
  uint32_t same = 0;
  for (uint32_t d = 0; d < s->n_commands; d++) {
    same += s->commands[d].issue == s->commands[c].issue;
    if (queue_of(s, c) == queue_of(s, d) && d < c && s->commands[d].issue > s->commands[c].issue) {
      return false;
    }
  }
  return same == 1 && s->commands[c].issue < s->n_commands;
}

fs_oracle_verdict fs_oracle_check_sync(const machine *x) {
  const fs_stream *s = x->s;
  bool right = true;
  for (uint32_t b = 0; b < s->n_barriers && s->meta[0].sync == FS_SYNC_BARRIER; b++) {
    right = right && barrier_right(s, b);
  }
  for (uint32_t c = 0; c < s->n_commands; c++) {
    right = right && (s->meta[0].sync != FS_SYNC_BARRIER || updates_right(s, c)) &&
            (s->meta[0].sync != FS_SYNC_BLOCK || issue_right(s, c));
  }
  for (uint32_t i = 0; i < s->n_stops; i++) {
    const fs_stream_stop *t = &s->stops[i];
    right = right && (t->queue == FS_NONE || s->queues[t->queue].counting) &&
            (i == 0 || t[-1].at <= t->at);
  }
  return right ? FS_ORACLE_RIGHT : FS_ORACLE_SYNC;
}
