/* SPDX-License-Identifier: Apache-2.0 */
/* What is over before what in loops in loops some of whose runs are joined: from all that happens,
 * instance by instance.  Written from the comments of model/stream/stream.h alone. */
#ifndef FS_TEST_ROLLED_EVENT_JUDGE_H
#define FS_TEST_ROLLED_EVENT_JUDGE_H

#include "model/stream/stream.h"

typedef struct fs_event_judge {
  const fs_stream *s;
  uint32_t n, room, n_edges, room_edges; /* events */
  uint32_t *edge0, *edge;                /* from; to: as they come */
  uint32_t n_instances;
  uint8_t *reached; /* per instance, then event: the event comes behind its end */
  bool stuck;       /* events wait for each other in a circle */
} fs_event_judge;

/* Follows a loop that is in no other.  Instances of ops are numbered in program order. */
void fs_event_judge_make(const fs_stream *s, uint32_t loop, fs_event_judge *out);
/* Whether one instance is over before another one starts. */
bool fs_event_judge_before(const fs_event_judge *j, uint32_t first, uint32_t then);
void fs_event_judge_free(fs_event_judge *j);

#endif
