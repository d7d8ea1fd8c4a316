/* SPDX-License-Identifier: Apache-2.0 */
/* Making a schedule from an answer: the parts of it that the answer does not give and that have to
 * be found. */
#ifndef FS_PROBLEM_ANSWER_PRIVATE_H
#define FS_PROBLEM_ANSWER_PRIVATE_H

#include "problem/problem.h"

typedef struct fs_assembly {
  fs_problem *p;
  const fs_answer *a;
  fs_schedule *s;
  fs_arena scratch;
  uint32_t *by_start;   /* items by start, those without length first, then topologically */
  fs_tick *begin, *end; /* per residency of the problem */
  /* The times in moments, in which an item without length lasts a moment, too.  The item at place k
   * of by_start starts at moment 2k + 1; an item without length has ended at 2k + 2, any other item
   * just before the first item that starts at its end or later.  Residencies that overlap in
   * moments are in memory at once when the items are issued in this order. */
  bool instants; /* some item has no length */
  fs_tick *item_from, *item_to, *from, *to;
  uint64_t *address; /* per residency of the problem */
  const char *why;   /* set when the answer cannot be a schedule; in the problem's arena */
} fs_assembly;

/* The class of every item, FS_NONE for a gang.  Requires items by start.  answer/classes.c */
fs_status fs_answer_classes(fs_assembly *y, const uint32_t **out) FS_MUST_USE;
/* Fills s->queue and the names of the queues.  Requires items by start, and a schedule to fill.
 * answer/queues.c */
fs_status fs_answer_queues(fs_assembly *y) FS_MUST_USE;
/* Finds the queues of a problem that is `sets`, those of gangs too.  Requires the same, and queues
 * that the target names.  answer/gangs.c */
fs_status fs_answer_gangs(fs_assembly *y) FS_MUST_USE;
/* Finds the moments of items and residencies; requires by_start.  answer/moments.c */
fs_status fs_answer_moments(fs_assembly *y) FS_MUST_USE;
/* Where items have no length: refutes the answer if more than a capacity is held at one moment.
 * Requires moments. */
fs_status fs_answer_amounts(fs_assembly *y) FS_MUST_USE;
/* Fills address[].  Requires moments.  answer/places.c */
fs_status fs_answer_places(fs_assembly *y) FS_MUST_USE;
/* Sets `why`, the reason why the answer is no schedule: a text in the problem's arena.  Requires
 * that nothing was refuted before. */
fs_status fs_answer_refute(fs_assembly *y, const char *format, ...) FS_MUST_USE
    __attribute__((format(printf, 2, 3)));
/* "op A" or "read of x.0"; returns `text`.  Requires an item, and room for some text. */
const char *fs_problem_item_name(const fs_problem *p, uint32_t item, char *text, size_t size);

#endif
