/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a profile.  profile.c makes it from a stream, or profile/parse.c reads it from a
 * file; profile/json.c, profile/apply.c and profile/report.c use it. */
#ifndef FS_PROFILE_H
#define FS_PROFILE_H

#include "base/context.h"
#include "base/mem.h"
#include "fsched/profile.h"
#include "model/stream/stream.h"

/* The largest time in ns: times are summed, and written as numbers of JSON. */
#define FS_PROFILE_MOST_NS ((uint64_t)1 << 53)

typedef enum fs_profile_kind {
  FS_PROFILE_OP,
  FS_PROFILE_WRITE, /* spill_write */
  FS_PROFILE_READ
} fs_profile_kind;

/* The profile's kind of a command. */
static inline fs_profile_kind fs_profile_kind_of(const fs_stream_command *c) {
  fs_profile_kind kind = FS_PROFILE_OP;
  switch (fs_command_kind_of(c)) {
    case FS_COMMAND_RUN:
      break;
    case FS_COMMAND_COPY:
      kind = fs_command_direction(c) == FS_SPILL_WRITE ? FS_PROFILE_WRITE : FS_PROFILE_READ;
      break;
  }
  return kind;
}

typedef struct fs_profile_item {
  const char *name;          /* name of the op, or of the copy's buffer */
  uint32_t version;          /* of a copy: the version that it moves */
  uint8_t kind;              /* fs_profile_kind */
  uint32_t queue0, n_queues; /* range in item_queue; may be empty in a profile that was read */
  fs_tick planned;           /* FS_TICK_NONE: not known */
  fsched_duration took;
  fs_pos at;
} fs_profile_item;

struct fsched_profile {
  fs_arena arena;
  fsched_context *ctx;
  const char *file;              /* path that the profile was read from, or NULL */
  const char *graph, *time_unit; /* or NULL */
  const char *on;                /* or NULL */
  fs_pos graph_at;
  uint64_t tick_ps; /* 0: not known */
  bool tick_given;  /* the caller has set tick_ps, which then counts more than a time unit */
  bool simulated;   /* the times are those of a simulation */
  bool in_ticks;   /* of a profile just made: its times count a tick of unknown length as tick_ps */
  fs_tick planned; /* makespan; FS_TICK_NONE: not known */
  fsched_duration makespan;
  uint64_t expected_ns; /* makespan of ops and copies alone; FS_TICK_NONE: not known */
  uint32_t n_queues, n_items;
  const char **queue; /* names, in the order of their first items */
  uint32_t *item_queue;
  fs_profile_item *item; /* in the order of the stream */
};

extern const char *const fs_profile_kind_name[3];

fs_status fs_profile_create(fsched_context *ctx, fsched_profile **out) FS_MUST_USE;
/* The length of a tick of the plan in ps; 0: not known. */
uint64_t fs_profile_tick_ps(const fsched_profile *p);

#endif
