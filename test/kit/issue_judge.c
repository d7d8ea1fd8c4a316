/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/issue_judge.h"

static uint32_t queue_of(const fs_rolled_loop *r, uint32_t command) {
  uint32_t q = 0;
  while (command >= r->command0[q + 1]) {
    q++;
  }
  return q;
}

/* The number of commands of a queue that are issued before a place of a step, in all steps. */
static uint64_t issued(const fs_rolled_loop *r, uint32_t q, uint64_t step, uint32_t place) {
  uint64_t n = 0;
  for (uint64_t t = 0; t <= step; t++) {
    for (uint32_t c = r->command0[q]; c < r->command0[q + 1]; c++) {
      n += t < step || r->command[c].issue < place;
    }
  }
  return n;
}

/* Whether a sync before a place of a step says that so many commands of a queue are over. */
static bool says(const fs_rolled_loop *r, uint32_t q, uint64_t step, uint32_t place,
                 uint64_t wanted) {
  for (uint64_t t = 0; t <= step; t++) {
    for (uint32_t i = 0; i < r->n_stops; i++) {
      const fs_rolled_stop *s = &r->stop[i];
      bool before = t < step || s->at <= place;
      bool counts = s->queue == FS_NONE || s->queue == r->queue[q];
      if (before && counts && issued(r, q, t, s->at) >= wanted + s->keep) {
        return true;
      }
    }
  }
  return false;
}

bool fs_issue_keeps(const fs_rolled_loop *r, uint64_t trip, uint32_t command,
                    const fs_rolled_wait *wait) {
  const fs_rolled_command *c = &r->command[command], *x = &r->command[wait->command];
  uint32_t q = queue_of(r, wait->command);
  for (uint64_t i = c->copy; i < trip; i += r->copies) {
    if (i >= wait->distance) {
      uint64_t step = (i - c->copy) / r->copies + c->shift;
      uint64_t target = (i - wait->distance - x->copy) / r->copies + x->shift;
      if (!says(r, q, step, c->issue, issued(r, q, target, x->issue) + 1)) {
        return false;
      }
    }
  }
  return true;
}

/* Whether a sync stands between two commands of a gang. */
static bool parts_gang(const fs_rolled_loop *r) {
  for (uint32_t a = 0; a < r->n_commands; a++) {
    for (uint32_t b = 0; b < r->n_commands; b++) {
      const fs_rolled_command *x = &r->command[a], *y = &r->command[b];
      for (uint32_t i = 0; i < r->n_stops && x->member == y->member && x->copy == y->copy; i++) {
        if (r->stop[i].at > x->issue && r->stop[i].at <= y->issue) {
          return true;
        }
      }
    }
  }
  return false;
}

bool fs_issue_is_right(const fs_rolled_loop *r, uint64_t trip) {
  for (uint32_t c = 0; c < r->n_commands; c++) {
    const fs_rolled_command *k = &r->command[c];
    for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits; w++) {
      if (!fs_issue_keeps(r, trip, c, &r->wait[w])) {
        return false;
      }
    }
  }
  return !parts_gang(r);
}
