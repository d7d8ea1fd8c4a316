/* SPDX-License-Identifier: Apache-2.0 */
/* What a loop has to keep, compared with the distances that are shown: orders, rings, lanes; for
 * guards see loop/guards.c. */
#include "verify/loop/parts.h"

static int64_t least_of(const fs_loop_judge *j, uint32_t from, uint32_t to) {
  assert(from < j->before.n && to < j->before.n);
  return j->before.least[(size_t)from * j->before.n + to];
}

bool fs_loop_refuse(fs_loop_judge *j, fs_loop_fault_kind kind, uint32_t which, uint32_t from,
                    uint32_t to, int64_t distance) {
  assert(from < j->rules->n_members && to < j->rules->n_members);
  j->fault->kind = kind;
  j->fault->which = which;
  j->fault->from = from;
  j->fault->to = to;
  j->fault->distance = distance;
  return false;
}

fs_op_instance fs_loop_instance_of(const fs_loop_judge *j, uint32_t member, int64_t trip) {
  assert(trip >= 0);
  return (fs_op_instance){member * j->r->copies + (uint32_t)(trip % j->r->copies), trip};
}

bool fs_loop_keeps(fs_loop_judge *j, fs_op_instance first, fs_op_instance then, bool *all) {
  *all = least_of(j, first.op, then.op) <= then.trip - first.trip;
  return *all || fs_loop_within(&j->links, first, then, false, j->place);
}

bool fs_loop_starts(fs_loop_judge *j, fs_op_instance first, fs_op_instance then) {
  bool all;
  return fs_loop_keeps(j, first, then, &all) ||
         fs_loop_within(&j->links, first, then, true, j->place);
}

bool fs_loop_needs(fs_loop_judge *j, fs_loop_fault_kind kind, uint32_t which,
                   fs_loop_needed needed) {
  bool all;
  for (uint32_t round = 0; round < j->r->copies; round++) {
    int64_t first = needed.since + round, then = first + needed.distance;
    if (first < j->links.trips && then < j->links.trips &&
        !fs_loop_keeps(j, fs_loop_instance_of(j, needed.from, first),
                       fs_loop_instance_of(j, needed.to, then), &all)) {
      return fs_loop_refuse(j, kind, which, needed.from, needed.to, needed.distance);
    }
  }
  return true;
}

static bool check_orders(fs_loop_judge *j) {
  for (uint32_t k = 0; k < j->rules->n_orders; k++) {
    const fs_loop_order *o = &j->rules->order[k];
    if (!fs_loop_needs(j, FS_LOOP_ORDER, k, (fs_loop_needed){o->from, 0, o->to, o->distance})) {
      return false;
    }
  }
  return true;
}

/* The reader's iterations `last`, and those whole rounds of copies before it, read what was in the
 * last slot on entry.  The latest stands for all others, if it is shown at any distance or comes
 * before the writer; else a few are tried one by one. */
static bool check_readers_on_entry(fs_loop_judge *j, uint32_t k, uint32_t reader, int64_t last) {
  int64_t writes = (int64_t)j->r->ring[k].depth - 1, trip = last;
  uint32_t writer = j->r->ring[k].writer;
  bool all = false, kept = true;
  for (uint32_t n = 0; kept && !all && trip >= 0 && (n == 0 || trip + j->r->copies > writes); n++) {
    kept = n < FS_LOOP_TRIED && fs_loop_keeps(j, fs_loop_instance_of(j, reader, trip),
                                              fs_loop_instance_of(j, writer, writes), &all);
    trip -= kept ? j->r->copies : 0;
  }
  return kept || fs_loop_refuse(j, FS_LOOP_RING, k, reader, writer, writes - trip);
}

/* Iterations below `back` read what was in the last slot on entry. */
static bool check_entry(fs_loop_judge *j, uint32_t k, const fs_rolled_reader *reader) {
  const fs_rolled_ring *ring = &j->r->ring[k];
  int64_t u = j->r->copies, trips = j->links.trips;
  int64_t n = reader->back < trips ? reader->back : trips;
  for (int64_t copy = 0; copy < u && copy < n && ring->depth <= trips; copy++) {
    int64_t last = copy + (n - 1 - copy) / u * u;
    if (reader->member == ring->writer && last == (int64_t)ring->depth - 1) {
      last -= u; /* that one works in place */
    }
    if (!check_readers_on_entry(j, k, reader->member, last)) {
      return false;
    }
  }
  return true;
}

static bool check_reader(fs_loop_judge *j, uint32_t k, const fs_rolled_reader *reader) {
  const fs_rolled_ring *ring = &j->r->ring[k];
  fs_loop_needed full = {ring->writer, 0, reader->member, reader->back};
  fs_loop_needed empty = {reader->member, reader->back, ring->writer,
                          (int64_t)ring->depth - reader->back};
  bool in_place = reader->member == ring->writer && reader->back == ring->depth;
  return fs_loop_needs(j, FS_LOOP_RING, k, full) &&
         (in_place || fs_loop_needs(j, FS_LOOP_RING, k, empty)) && check_entry(j, k, reader);
}

static bool check_rings(fs_loop_judge *j) {
  for (uint32_t k = 0; k < j->r->n_rings; k++) {
    const fs_rolled_ring *ring = &j->r->ring[k];
    fs_loop_needed again = {ring->writer, 0, ring->writer, ring->depth};
    if (!fs_loop_needs(j, FS_LOOP_RING, k, again)) {
      return false;
    }
    for (uint32_t i = 0; i < ring->n_readers; i++) {
      if (!check_reader(j, k, &j->r->reader[ring->reader0 + i])) {
        return false;
      }
    }
  }
  return true;
}

/* The least number of the class of `value` modulo u that is not below the floor. */
static int64_t least_from(int64_t value, int64_t floor, int64_t u) {
  int64_t over = (value - floor) % u;
  return floor + (over < 0 ? over + u : over);
}

/* Two ops of a lane.  All distances, which are of one class, above -least(b, a) and below
 * least(a, b) meet, if there are iterations so far apart.  An op meets itself if that is not 0. */
static bool check_pair(fs_loop_judge *j, uint32_t lane, uint32_t a, uint32_t b) {
  int64_t u = j->r->copies, to = least_of(j, a, b), back = least_of(j, b, a);
  int64_t apart = (int64_t)b - a; /* op ids are of the classes of their copies */
  int64_t most = j->links.trips - 1 < FS_LOOP_FAR - 1 ? j->links.trips - 1 : FS_LOOP_FAR - 1;
  int64_t floor = a == b ? 1 : back == FS_LOOP_FAR ? -most : 1 - back;
  int64_t low = least_from(apart, floor < -most ? -most : floor, u);
  if (low > most || low >= to) {
    return true;
  }
  int64_t meet = back != FS_LOOP_FAR && a != b ? low
                 : to != FS_LOOP_FAR           ? to - u
                                               : fs_loop_raise(apart, 1, u);
  return fs_loop_refuse(j, FS_LOOP_LANE, lane, a / j->r->copies, b / j->r->copies,
                        meet < low || meet > most ? low : meet);
}

static bool is_of_lane(const fs_loop_judge *j, uint32_t k, uint32_t copy) {
  const uint32_t *of = j->rules->lane_copy;
  return of == NULL || of[k] == FS_NONE || of[k] == copy;
}

/* Two entries of a lane. */
static bool check_members(fs_loop_judge *j, uint32_t lane, uint32_t a, uint32_t b) {
  uint32_t u = j->r->copies;
  const uint32_t *member = j->rules->lane;
  for (uint32_t from = 0; from < u; from++) {
    for (uint32_t to = 0; to < u; to++) {
      if (is_of_lane(j, a, from) && is_of_lane(j, b, to) &&
          !check_pair(j, lane, member[a] * u + from, member[b] * u + to)) {
        return false;
      }
    }
  }
  return true;
}

static bool check_lanes(fs_loop_judge *j) {
  const uint32_t *lane0 = j->rules->lane0;
  for (uint32_t l = 0; l < j->rules->n_lanes; l++) {
    for (uint32_t k = lane0[l]; k < lane0[l + 1]; k++) {
      for (uint32_t i = lane0[l]; i <= k; i++) {
        if (!check_members(j, l, i, k)) {
          return false;
        }
      }
    }
  }
  return true;
}

fs_status fs_verify_loop(fsched_context *ctx, const fs_rolled_loop *r, const fs_loop_rules *rules,
                         fs_loop_fault *fault) {
  FS_SCRATCH(scratch, ctx);
  fs_loop_judge j = {.r = r, .rules = rules, .fault = fault};
  *fault = (fs_loop_fault){.kind = FS_LOOP_RIGHT};
  FS_TRY(fs_loop_shape(ctx, r, rules, fault));
  if (fault->kind == FS_LOOP_MALFORMED) {
    return FSCHED_OK;
  }
  FS_TRY(fs_loop_links_make(&scratch, r, rules, &j.links));
  FS_TRY(fs_loop_before_find(ctx, &scratch, &j.links, &j.before));
  FS_TRY(fs_new(&scratch, &j.place, j.before.n));
  fault->steps = j.before.steps;
  if (j.before.stuck != FS_NONE) {
    uint32_t member = j.before.stuck / r->copies;
    (void)fs_loop_refuse(&j, FS_LOOP_DEADLOCK, 0, member, member, 0);
    return FSCHED_OK;
  }
  (void)(fs_loop_guards(&j) && check_orders(&j) && check_rings(&j) && check_lanes(&j));
  return FSCHED_OK;
}
