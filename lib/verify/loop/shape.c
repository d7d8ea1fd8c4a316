/* SPDX-License-Identifier: Apache-2.0 */
/* The form of a loop and its rules: ids, ranges, and each op's commands. */
#include "verify/loop/parts.h"

/* Each check returns what is wrong, or NULL. */

static const char *check_sizes(const fs_rolled_loop *r, const fs_loop_rules *rules) {
  if (r->copies == 0) {
    return "no copies";
  }
  if (r->n_commands > FS_LOOP_COMMANDS) {
    return "too many commands";
  }
  if ((uint64_t)rules->n_members * r->copies > r->n_commands) {
    return "a member without a command for each copy";
  }
  return NULL;
}

static const char *check_queues(const fs_rolled_loop *r) {
  if (r->n_queues == 0) {
    return r->n_commands == 0 ? NULL : "commands without a queue";
  }
  if (r->command0[0] != 0 || r->command0[r->n_queues] != r->n_commands) {
    return "commands in no queue";
  }
  for (uint32_t q = 0; q < r->n_queues; q++) {
    if (r->command0[q] > r->command0[q + 1] || r->command0[q + 1] > r->n_commands) {
      return "a queue's commands out of range";
    }
    if (q > 0 && r->queue[q - 1] >= r->queue[q]) {
      return "queues out of order";
    }
  }
  return NULL;
}

static bool is_range(uint32_t first, uint32_t n, uint32_t of) {
  return first <= of && n <= of - first;
}

static const char *check_wait(const fs_rolled_loop *r, const fs_rolled_command *c,
                              const fs_rolled_wait *w) {
  if (w->command >= r->n_commands || w->distance > FS_LOOP_NUMBER) {
    return "a wait's target or distance out of range";
  }
  /* copy - distance and the target's copy are of one class. */
  int64_t apart = (int64_t)c->copy - w->distance - r->command[w->command].copy;
  return apart % r->copies == 0 ? NULL : "a wait's target of another copy";
}

static const char *check_commands(const fs_rolled_loop *r, const fs_loop_rules *rules) {
  for (uint32_t k = 0; k < r->n_commands; k++) {
    const fs_rolled_command *c = &r->command[k];
    if (c->member >= rules->n_members || c->copy >= r->copies || c->shift > FS_LOOP_NUMBER ||
        !is_range(c->wait0, c->n_waits, r->n_waits)) {
      return "a command's member, copy, shift or waits out of range";
    }
  }
  for (uint32_t k = 0; k < r->n_commands; k++) {
    const fs_rolled_command *c = &r->command[k];
    for (uint32_t w = 0; w < c->n_waits; w++) {
      const char *what = check_wait(r, c, &r->wait[c->wait0 + w]);
      if (what != NULL) {
        return what;
      }
    }
  }
  return NULL;
}

/* `last` has a place for each op: the last queue that it was seen on, FS_NONE before. */
static const char *check_ops(const fs_rolled_loop *r, uint32_t n_ops, uint32_t *last) {
  for (uint32_t q = 0; q < r->n_queues; q++) {
    for (uint32_t k = r->command0[q]; k < r->command0[q + 1]; k++) {
      uint32_t op = r->command[k].member * r->copies + r->command[k].copy;
      assert(op < n_ops);
      if (last[op] == q) {
        return "two commands for one copy on one queue";
      }
      last[op] = q;
    }
  }
  for (uint32_t op = 0; op < n_ops; op++) {
    if (last[op] == FS_NONE) {
      return "a member without a command for each copy";
    }
  }
  return NULL;
}

static const char *check_rings(const fs_rolled_loop *r, const fs_loop_rules *rules) {
  for (uint32_t k = 0; k < r->n_rings; k++) {
    const fs_rolled_ring *ring = &r->ring[k];
    if (ring->writer >= rules->n_members || ring->depth == 0 || ring->depth > FS_LOOP_NUMBER) {
      return "a ring's writer or depth out of range";
    }
    for (uint32_t i = 0; i < ring->n_readers; i++) {
      const fs_rolled_reader *reader = &r->reader[ring->reader0 + i];
      if (reader->member >= rules->n_members || reader->back > FS_LOOP_NUMBER) {
        return "a ring's reader out of range";
      }
    }
  }
  return NULL;
}

static const char *check_guards(const fs_rolled_loop *r, const fs_loop_rules *rules) {
  if (!r->guarded && (r->n_guards > 0 || r->n_checks > 0)) {
    return "guards or checks of a loop that is not guarded";
  }
  for (uint32_t g = 0; g < r->n_guards; g++) {
    const fs_rolled_guard *guard = &r->guard[g];
    if (guard->depth == 0 || guard->depth > FS_LOOP_NUMBER || guard->n_producers == 0) {
      return "a guard's depth out of range, or it has no producers";
    }
    for (uint32_t i = guard->producer0; i < guard->producer0 + guard->n_producers; i++) {
      if (r->producer[i] >= rules->n_members) {
        return "a guard's producer out of range";
      }
    }
  }
  for (uint32_t k = 0; k < r->n_commands; k++) {
    if (!is_range(r->command[k].check0, r->command[k].n_checks, r->n_checks)) {
      return "a command's checks out of range";
    }
  }
  for (uint32_t i = 0; i < r->n_checks; i++) {
    if (r->check[i].guard >= r->n_guards || r->check[i].distance > FS_LOOP_NUMBER) {
      return "a check's guard or distance out of range";
    }
  }
  return NULL;
}

static const char *check_rules(const fs_rolled_loop *r, const fs_loop_rules *rules) {
  for (uint32_t k = 0; k < rules->n_orders; k++) {
    const fs_loop_order *o = &rules->order[k];
    if (o->from >= rules->n_members || o->to >= rules->n_members || o->distance > FS_LOOP_NUMBER) {
      return "an order out of range";
    }
  }
  for (uint32_t l = 0; l < rules->n_lanes; l++) {
    for (uint32_t k = rules->lane0[l]; k < rules->lane0[l + 1]; k++) {
      uint32_t copy = rules->lane_copy == NULL ? FS_NONE : rules->lane_copy[k];
      if (rules->lane[k] >= rules->n_members || (copy != FS_NONE && copy >= r->copies)) {
        return "a lane's member out of range";
      }
    }
  }
  return NULL;
}

fs_status fs_loop_shape(fsched_context *ctx, const fs_rolled_loop *r, const fs_loop_rules *rules,
                        fs_loop_fault *fault) {
  FS_SCRATCH(scratch, ctx);
  uint32_t *last;
  const char *what = check_sizes(r, rules);
  what = what != NULL ? what : check_queues(r);
  what = what != NULL ? what : check_commands(r, rules);
  if (what == NULL) {
    uint32_t n_ops = rules->n_members * r->copies;
    FS_TRY(fs_new_none(&scratch, &last, n_ops));
    what = check_ops(r, n_ops, last);
  }
  what = what != NULL ? what : check_rings(r, rules);
  what = what != NULL ? what : check_guards(r, rules);
  what = what != NULL ? what : check_rules(r, rules);
  fault->what = what;
  fault->kind = what != NULL ? FS_LOOP_MALFORMED : FS_LOOP_RIGHT;
  return FSCHED_OK;
}
