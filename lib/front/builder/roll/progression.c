/* SPDX-License-Identifier: Apache-2.0 */
#include "front/builder/roll/progression.h"

#include "base/saturate.h"

static void sort_steps(fs_progression *p) {
  for (uint32_t i = 1; i < p->n; i++) {
    uint64_t step = p->step[i], trip = p->trip[i];
    uint32_t k = i;
    for (; k > 0 && p->step[k - 1] > step; k--) {
      p->step[k] = p->step[k - 1];
      p->trip[k] = p->trip[k - 1];
    }
    p->step[k] = step;
    p->trip[k] = trip;
  }
}

void fs_progression_close(fs_progression *p) {
  uint32_t n = 0;
  sort_steps(p);
  for (uint32_t i = 0; i < p->n; i++) {
    if (n == 0 && p->step[i] <= p->length) {
      p->length += p->step[i] * (p->trip[i] - 1);
    } else {
      p->step[n] = p->step[i];
      p->trip[n++] = p->trip[i];
    }
  }
  p->n = n;
}

uint64_t fs_progression_span(const fs_progression *p) {
  uint64_t span = p->length;
  for (uint32_t i = 0; i < p->n; i++) {
    span += p->step[i] * (p->trip[i] - 1);
  }
  return span;
}

uint64_t fs_progression_ranges(const fs_progression *p) {
  uint64_t n = 1;
  for (uint32_t i = 0; i < p->n; i++) {
    n = fs_multiply_most(n, p->trip[i]);
  }
  return n;
}

bool fs_progression_alike(const fs_progression *a, const fs_progression *b) {
  bool same = a->n == b->n;
  for (uint32_t i = 0; same && i < a->n; i++) {
    same = a->step[i] == b->step[i] && a->trip[i] == b->trip[i];
  }
  return same;
}

bool fs_progression_lies_in(const fs_progression *a, const fs_progression *b) {
  if (fs_progression_alike(a, b)) {
    return b->low <= a->low && a->low + a->length <= b->low + b->length;
  }
  if (b->n == 0) {
    return b->low <= a->low && a->low + fs_progression_span(a) <= b->low + b->length;
  }
  if (a->n > 1 || b->n != 1 || a->low < b->low || (a->n == 1 && a->step[0] % b->step[0] != 0)) {
    return false;
  }
  uint64_t first = (a->low - b->low) / b->step[0], behind = (a->low - b->low) % b->step[0];
  uint64_t way = a->n == 0 ? 0 : (a->trip[0] - 1) * (a->step[0] / b->step[0]);
  return behind + a->length <= b->length && first + way < b->trip[0];
}
