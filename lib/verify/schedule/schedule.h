/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the schedule verifier; see schedule/schedule.c. */
#ifndef FS_VERIFY_SCHEDULE_H
#define FS_VERIFY_SCHEDULE_H

#include "model/sync.h"
#include "verify/map.h"

enum { FS_SNAME = 192 }; /* bytes of a description in a message */

typedef struct fs_vsched {
  fsched_context *ctx;
  const fsched_graph *g;
  const fs_schedule *s;
  const fs_sync *sync; /* or NULL */
  fs_arena arena;
  uint32_t *position; /* per item: its index in the order of issue */
  uint32_t *by_place; /* residencies of versions by (memory, version, begin, id) */
  uint32_t n_by_place;
  bool any_slow; /* some op ends later than its queues go on */
  /* lags.c, where loops stay ones: per op, the loop that it is and that is in no other, or FS_NONE;
   * and an edge, and per version the last one at which it was accessed, and written. */
  uint32_t *loop, noted, *noted_at;
  uint8_t *noted_writes;
} fs_vsched;

#define FS_REFUTE(v, code, ...) \
  fs_report((v)->ctx, FSCHED_ERROR, (code), FS_NOWHERE, NULL, __VA_ARGS__)

/* Writes "op A at 3" or "spill write of x.0 at 3"; returns `text`.  Requires an item of the
 * schedule. */
const char *fs_vsched_item(const fs_vsched *v, uint32_t item, char text[FS_SNAME]);
/* Writes "x.0 in cmx during [0, 3)"; returns `text`.  Requires a residency of the schedule. */
const char *fs_vsched_residency(const fs_vsched *v, uint32_t residency, char text[FS_SNAME]);
/* Requires an item that is a copy. */
static inline uint32_t fs_vsched_copy(const fs_vsched *v, uint32_t item) {
  assert(item >= v->g->n_ops);
  return item - v->g->n_ops;
}

/* lags.c: makes what the other functions need. */
fs_status fs_vsched_find_loops(fs_vsched *v) FS_MUST_USE;

/* What each queue of an op has of it, if it is a loop whose queues enter and leave on their own;
 * else NULL. */
const fs_rolled_part *fs_vsched_parts(const fs_vsched *v, uint32_t item);
/* The times that an edge orders: what is needed of the earlier op is over at `end`, and `start` is
 * the first start in the later one that needs it. */
typedef struct fs_vedge {
  fs_tick end, start;
} fs_vedge;
/* Requires ops of the graph. */
fs_vedge fs_vsched_edge(fs_vsched *v, uint32_t before, uint32_t after);

/* Each part reports its findings; FSCHED_WRONG means that later parts cannot be done. */
/* Requires items whose times, queues and amounts have been accepted. */
fs_status fs_vsched_memory(fs_vsched *v) FS_MUST_USE; /* residencies: capacity and overlap */
/* Requires residencies that fs_vsched_memory has listed. */
fs_status fs_vsched_values(fs_vsched *v) FS_MUST_USE; /* accesses, contents, copies */

/* The order in which amounts change at one time: first the ends, then intervals without length,
 * then the begins. */
typedef enum fs_vphase { FS_PHASE_END, FS_PHASE_INSTANT, FS_PHASE_BEGIN } fs_vphase;
typedef struct fs_vevent {
  fs_tick time;
  uint32_t phase, id;
} fs_vevent;
void fs_vevents_sort(fs_vevent *at, size_t n);
/* Adds the events of [begin, end) and returns their number. */
static inline uint32_t fs_vevents_add(fs_vevent *at, fs_tick begin, fs_tick end, uint32_t id) {
  if (begin == end) {
    at[0] = (fs_vevent){begin, FS_PHASE_INSTANT, id};
    return 1;
  }
  at[0] = (fs_vevent){begin, FS_PHASE_BEGIN, id};
  at[1] = (fs_vevent){end, FS_PHASE_END, id};
  return 2;
}

#endif
