/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements of some invocations of a replay, and the profile that is made from them. */
#ifndef FS_EXEC_SAMPLES_H
#define FS_EXEC_SAMPLES_H

#include "base/mem.h"
#include "exec/host/backend.h"
#include "fsched/profile.h"

enum { FS_MOST_SAMPLES = 1000 };

typedef struct fs_samples {
  uint32_t n;
  fs_record *record; /* per sample: begin and end of every command */
  uint64_t *ns;      /* per sample: duration of the invocation */
} fs_samples;

/* Makes n samples in the arena, which take 16 bytes per command and sample.  Requires a number up
 * to FS_MOST_SAMPLES. */
fs_status fs_samples_make(fs_arena *arena, const fs_stream *s, uint32_t n,
                          fs_samples *samples) FS_MUST_USE;
/* What the samples are of: the device's kind, whether it simulates, and the length of a tick; 0: as
 * the time unit says. */
typedef struct fs_samples_of {
  const char *on;
  bool simulated, in_ticks; /* as in fsched_measurement */
  uint64_t tick_ps;
} fs_samples_of;
/* Makes the profile.  `command` is NULL or gets each command's duration.  Requires at least one
 * sample. */
fs_status fs_samples_profile(fs_arena *arena, const fsched_program *program,
                             const fs_samples *samples, const fs_samples_of *of,
                             fsched_duration *command, fsched_profile **out) FS_MUST_USE;

#endif
