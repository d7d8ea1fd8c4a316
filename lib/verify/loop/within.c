/* SPDX-License-Identifier: Apache-2.0 */
/* One order between two instances, exactly.
 *
 * Each op has a place: the least iteration of it that is known to start behind the end of the first
 * instance, or behind its start, if that is asked.  With it all later ones of the op are known, as
 * the last link of a chain holds at all greater distances.  Places only go down.  A circle of links
 * adds up to more than 0, so the best chain to an op meets no op twice, and as many rounds as there
 * are ops reach all (Bellman and Ford). */
#include "verify/loop/parts.h"

typedef struct within_finder {
  fs_op_instance first;
  int64_t copies, last; /* the last iteration that certainly exists */
  int64_t *place;       /* per op; FS_LOOP_FAR: none */
  bool begun, nearer;   /* links of the first instance are followed; a place went down */
  bool start;           /* it is enough that the first instance has started */
} within_finder;

static void bring_nearer(void *user, const fs_loop_link *link) {
  within_finder *f = user;
  int64_t from = f->begun ? f->place[link->from] : f->first.trip;
  if (from == FS_LOOP_FAR ||
      (!f->begun && (link->from != f->first.op || !(link->over || f->start)))) {
    return;
  }
  int64_t to = fs_loop_raise(from + link->lag, link->since, f->copies);
  if (to <= f->last && to < f->place[link->to]) {
    f->place[link->to] = to;
    f->nearer = true;
  }
}

bool fs_loop_within(const fs_loop_links *links, fs_op_instance first, fs_op_instance then,
                    bool start, int64_t *place) {
  assert(first.op < links->n_ops && then.op < links->n_ops);
  assert(place != NULL);
  int64_t last = first.trip > then.trip ? first.trip : then.trip;
  within_finder f = {
      .first = first, .copies = links->r->copies, .last = last, .place = place, .start = start};
  for (uint32_t op = 0; op < links->n_ops; op++) {
    place[op] = FS_LOOP_FAR;
  }
  fs_loop_links_walk(links, bring_nearer, &f);
  f.begun = true;
  while (f.nearer) {
    f.nearer = false;
    fs_loop_links_walk(links, bring_nearer, &f);
  }
  return place[then.op] <= then.trip;
}
