/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/replay/samples.h"

fs_status fs_samples_make(fs_arena *arena, const fs_stream *s, uint32_t n, fs_samples *samples) {
  assert(n <= FS_MOST_SAMPLES);
  FS_TRY(fs_new_zero(arena, &samples->record, n));
  FS_TRY(fs_new_zero(arena, &samples->ns, n));
  for (uint32_t i = 0; i < n; i++) {
    FS_TRY(fs_new_zero(arena, &samples->record[i].begin, s->n_commands));
    FS_TRY(fs_new_zero(arena, &samples->record[i].end, s->n_commands));
  }
  samples->n = n;
  return FSCHED_OK;
}

fs_status fs_samples_profile(fs_arena *arena, const fsched_program *program,
                             const fs_samples *samples, const fs_samples_of *of,
                             fsched_duration *command, fsched_profile **out) {
  assert(samples->n > 0);
  uint32_t n_commands = program->view.n_commands;
  fsched_duration *took;
  uint64_t *ns;
  FS_TRY(fs_new_zero(arena, &took, n_commands));
  FS_TRY(fs_new(arena, &ns, samples->n));
  for (uint32_t c = 0; c < n_commands; c++) {
    for (uint32_t i = 0; i < samples->n; i++) {
      ns[i] = samples->record[i].end[c] - samples->record[i].begin[c];
    }
    took[c] = fsched_duration_of(ns, samples->n);
  }
  if (command != NULL) {
    memcpy(command, took, n_commands * sizeof *took);
  }
  fsched_measurement m = {.size = sizeof m,
                          .on = of->on,
                          .tick_ps = of->tick_ps,
                          .simulated = of->simulated,
                          .in_ticks = of->in_ticks,
                          .command = took,
                          .n_commands = n_commands,
                          .makespan = fsched_duration_of(samples->ns, samples->n)};
  return fsched_profile_make(arena->ctx, program, &m, out);
}
