/* SPDX-License-Identifier: Apache-2.0 */
/* Whether guards keep their phases apart, and checks are waits; see loop.h. */
#include "verify/loop/parts.h"

typedef struct guard_at_hand {
  fs_loop_judge *j;
  uint32_t which;
  const fs_rolled_guard *g;
} guard_at_hand;

static bool is_producer(const fs_rolled_loop *r, uint32_t guard, uint32_t member) {
  const fs_rolled_guard *g = &r->guard[guard];
  bool found = false;
  for (uint32_t i = g->producer0; i < g->producer0 + g->n_producers && !found; i++) {
    found = r->producer[i] == member;
  }
  return found;
}

/* --- checks are waits --- */

static bool is_checked(const fs_rolled_loop *r, const fs_rolled_command *k,
                       const fs_rolled_wait *w) {
  bool found = false;
  for (uint32_t i = k->check0; i < k->check0 + k->n_checks && !found; i++) {
    found = r->check[i].distance == w->distance &&
            is_producer(r, r->check[i].guard, r->command[w->command].member);
  }
  return found;
}

static bool is_waited(const fs_rolled_loop *r, const fs_rolled_command *k, uint32_t member,
                      uint32_t distance) {
  bool found = false;
  for (uint32_t i = k->wait0; i < k->wait0 + k->n_waits && !found; i++) {
    found = r->wait[i].distance == distance && r->command[r->wait[i].command].member == member;
  }
  return found;
}

/* Waits of a distance name the copy that it leads to. */
static bool check_said(fs_loop_judge *j, const fs_rolled_command *k) {
  const fs_rolled_loop *r = j->r;
  for (uint32_t i = k->wait0; i < k->wait0 + k->n_waits; i++) {
    if (!is_checked(r, k, &r->wait[i])) {
      uint32_t from = r->command[r->wait[i].command].member;
      return fs_loop_refuse(j, FS_LOOP_SAID, 0, from, k->member, r->wait[i].distance);
    }
  }
  for (uint32_t i = k->check0; i < k->check0 + k->n_checks; i++) {
    const fs_rolled_guard *g = &r->guard[r->check[i].guard];
    for (uint32_t p = g->producer0; p < g->producer0 + g->n_producers; p++) {
      if (!is_waited(r, k, r->producer[p], r->check[i].distance)) {
        return fs_loop_refuse(j, FS_LOOP_SAID, 0, r->producer[p], k->member, r->check[i].distance);
      }
    }
  }
  return true;
}

/* --- phases --- */

static bool check_arrivals(const guard_at_hand *h) {
  const fs_rolled_guard *g = h->g;
  for (uint32_t p = g->producer0; p < g->producer0 + g->n_producers; p++) {
    for (uint32_t q = g->producer0; q < g->producer0 + g->n_producers; q++) {
      fs_loop_needed needed = {h->j->r->producer[p], 0, h->j->r->producer[q], g->depth};
      if (!fs_loop_needs(h->j, FS_LOOP_GUARD, h->which, needed)) {
        return false;
      }
    }
  }
  return true;
}

/* The first iteration of a guard that a command with a check at a distance looks at. */
static int64_t first_checked(const fs_loop_judge *j, const fs_rolled_command *k,
                             uint32_t distance) {
  int64_t u = j->r->copies;
  return (((int64_t)k->copy - (int64_t)distance) % u + u) % u;
}

/* Whether a command has seen each phase before the producers complete the next one: before some of
 * them starts. */
static bool check_seen(const guard_at_hand *h, const fs_rolled_command *k, uint32_t distance) {
  fs_loop_judge *j = h->j;
  const uint32_t *producer = &j->r->producer[h->g->producer0];
  int64_t i = first_checked(j, k, distance), seen = i + distance, next = i + h->g->depth;
  bool kept = seen >= j->links.trips || next >= j->links.trips;
  for (uint32_t p = 0; p < h->g->n_producers && !kept; p++) {
    kept = (producer[p] == k->member && seen == next) ||
           fs_loop_starts(j, fs_loop_instance_of(j, k->member, seen),
                          fs_loop_instance_of(j, producer[p], next));
  }
  return kept || fs_loop_refuse(j, FS_LOOP_GUARD, h->which, k->member, producer[0], next - seen);
}

static bool has_check(const fs_rolled_loop *r, const fs_rolled_command *k, uint32_t guard,
                      uint32_t distance) {
  bool found = false;
  for (uint32_t i = k->check0; i < k->check0 + k->n_checks && !found; i++) {
    found = r->check[i].guard == guard && r->check[i].distance == distance;
  }
  return found;
}

/* Whether the check of the iteration depth before comes first, by the same command or one on its
 * queue. */
static bool check_turn(const guard_at_hand *h, uint32_t command, uint32_t distance) {
  const fs_rolled_loop *r = h->j->r;
  const fs_rolled_command *k = &r->command[command];
  int64_t u = r->copies, depth = h->g->depth;
  uint32_t q = h->j->links.queue[command];
  int64_t again = fs_loop_raise(first_checked(h->j, k, distance), depth, u);
  bool first = depth % u == 0 || again + distance >= h->j->links.trips;
  for (uint32_t c = r->command0[q]; c < r->command0[q + 1] && !first; c++) {
    const fs_rolled_command *x = &r->command[c];
    int64_t steps = (int64_t)x->shift - (int64_t)k->shift + (c >= command);
    int64_t before = u * steps + (int64_t)k->copy - (int64_t)x->copy;
    first = x->member == k->member && (depth - before) % u == 0 && before <= depth &&
            has_check(r, x, h->which, distance);
  }
  return first || fs_loop_refuse(h->j, FS_LOOP_TURN, h->which, k->member, k->member, depth);
}

static bool check_command(const guard_at_hand *h, uint32_t command) {
  const fs_rolled_command *k = &h->j->r->command[command];
  for (uint32_t i = k->check0; i < k->check0 + k->n_checks; i++) {
    const fs_rolled_check *check = &h->j->r->check[i];
    if (check->guard == h->which &&
        !(check_seen(h, k, check->distance) && check_turn(h, command, check->distance))) {
      return false;
    }
  }
  return true;
}

bool fs_loop_guards(fs_loop_judge *j) {
  assert(j->before.stuck == FS_NONE);
  const fs_rolled_loop *r = j->r;
  bool right = true;
  for (uint32_t c = 0; c < r->n_commands && right && r->guarded; c++) {
    right = check_said(j, &r->command[c]);
  }
  for (uint32_t g = 0; g < r->n_guards && right; g++) {
    guard_at_hand h = {j, g, &r->guard[g]};
    if (h.g->depth < j->links.trips) {
      right = check_arrivals(&h);
      for (uint32_t c = 0; c < r->n_commands && right; c++) {
        right = check_command(&h, c);
      }
    }
  }
  return right;
}
