/* SPDX-License-Identifier: Apache-2.0 */
#include "modulo/repeat.h"

fs_status fs_modulo_repeat(fs_arena *arena, const fs_modulo_problem *p, const fs_modulo_plan *plan,
                           uint32_t times, fs_modulo_plan *out) {
  assert(plan->found.is == FS_YES && plan->copies > 0 && times > 0);
  uint32_t n = plan->copies * p->n, lanes = plan->lane0[n];
  *out = *plan;
  out->copies *= times;
  out->period *= times;
  FS_TRY(fs_new(arena, &out->start, (size_t)n * times));
  FS_TRY(fs_new(arena, &out->shift, (size_t)n * times));
  FS_TRY(fs_new(arena, &out->queue, (size_t)n * times));
  FS_TRY(fs_new(arena, &out->lane0, (size_t)n * times + 1));
  FS_TRY(fs_new(arena, &out->lane, (size_t)lanes * times));
  for (uint32_t x = 0; x < n * times; x++) {
    out->start[x] = plan->start[x % n] + x / n * plan->period;
    out->shift[x] = (uint32_t)(out->start[x] / out->period);
    out->queue[x] = plan->queue[x % n];
    out->lane0[x] = x / n * lanes + plan->lane0[x % n];
  }
  out->lane0[n * times] = lanes * times;
  for (uint32_t i = 0; i < lanes * times; i++) {
    out->lane[i] = plan->lane[i % lanes];
  }
  return FSCHED_OK;
}
