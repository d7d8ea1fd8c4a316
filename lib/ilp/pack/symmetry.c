/* SPDX-License-Identifier: Apache-2.0 */
/* The form of a solution that may be assumed, because each solution can be turned into one of it:
 *
 *   addresses  Each rectangle falls as far as it can: it lies at 0 or on another one, so its
 *              address is a sum of other sizes (a normal position).  A memory turned upside down is
 *              as good, so one rectangle, a large one, may be assumed to lie in the lower half.
 *   starts     In a strip, where only the rectangles limit the schedule, the same holds in time:
 *              each item starts at 0 or when another one ends; one of them starts in the first
 *              half; of items of the same size the one with the smaller id starts first.
 *
 * The assumptions hold together: falling moves nothing out of a lower half, so the memory is turned
 * first (pack/form.c does so to the known solution).  The model of pairs uses only the highest
 * normal position, as an upper bound: a binary for each of them makes it larger and no faster.
 *
 * Source: Christofides and Whitlock, An Algorithm for Two-Dimensional Cutting Problems (1977), for
 * the normal positions. */
#include "ilp/pack/private.h"

/* --- strips --- */

/* Has class c a queue for every item that may use it, even if all run at once? */
static bool ample_queues(const fs_problem *p, uint32_t c) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < p->n_items; i++) {
    for (uint32_t k = p->choice0[i]; k < p->choice0[i + 1]; k++) {
      sum += p->choice[k] != c ? 0 : p->gang[i] ? p->class_size[c] : 1;
    }
  }
  return sum <= p->class_size[c];
}

static bool ample_amount(const fs_problem *p, uint32_t a) {
  uint64_t left = p->amount_capacity[a];
  for (uint32_t k = 0; k < p->use0[p->n_items]; k++) {
    if (p->use[k] == a) {
      if (p->use_amount[k] > left) {
        return false;
      }
      left -= p->use_amount[k];
    }
  }
  return true;
}

static bool free_item(const fs_problem *p, uint32_t i) {
  return p->fixed == NULL || p->fixed[i] == FS_TICK_NONE;
}

/* Has residency r an address, and exists exactly while one item runs? */
static bool own_rectangle(const fs_problem *p, uint32_t r) {
  return p->res_begin0[r + 1] == p->res_begin0[r] + 1 && p->res_end0[r + 1] == p->res_end0[r] + 1 &&
         p->res_begin[p->res_begin0[r]] == p->res_end[p->res_end0[r]] && !p->res_to_end[r] &&
         fs_placement_has_addresses(p->graph->target.memory[p->res_memory[r]].placement);
}

bool fs_problem_is_strip(const fs_problem *p) {
  assert(p->res_begin0 != NULL && p->res_end0 != NULL);
  bool strip = p->n_edges == 0 && p->n_copies == 0 && p->n_residencies > 0;
  for (uint32_t i = 0; i < p->n_items && strip; i++) {
    strip = free_item(p, i);
  }
  for (uint32_t r = 0; r < p->n_residencies && strip; r++) {
    strip = own_rectangle(p, r);
  }
  for (uint32_t c = 0; c < p->n_classes && strip; c++) {
    strip = ample_queues(p, c);
  }
  for (uint32_t a = 0; a < p->n_amounts && strip; a++) {
    strip = ample_amount(p, a);
  }
  return strip;
}

/* --- the choice of rectangles --- */

static int64_t weight(const fs_pack_model *t, uint32_t r) {
  const fs_problem *p = t->p;
  uint64_t time = t->strip ? p->time[p->res_begin[p->res_begin0[r]]] : 1;
  uint64_t size = (uint64_t)fs_pack_size(t, r), most = (uint64_t)1 << 30;
  return (int64_t)(fs_min(size, most) * fs_min(time, most));
}

/* Chooses in each memory the largest residency that does not fill it; of equal ones the first. */
static void choose_low_halves(fs_pack_model *t) {
  const fs_problem *p = t->p;
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    uint32_t m = p->res_memory[r];
    if (fs_pack_placed(t, r) && fs_pack_size(t, r) < t->room[m] &&
        (t->low_half[m] == FS_NONE || weight(t, r) > weight(t, t->low_half[m]))) {
      t->low_half[m] = r;
    }
  }
}

static bool same_size(const fs_problem *p, uint32_t i, uint32_t k, const uint32_t *first,
                      const uint32_t *next) {
  uint32_t a = first[i], b = first[k];
  while (a != FS_NONE && b != FS_NONE && p->res_memory[a] == p->res_memory[b] &&
         p->res_size[a] == p->res_size[b]) {
    a = next[a];
    b = next[b];
  }
  return a == FS_NONE && b == FS_NONE && p->time[i] == p->time[k];
}

/* Finds for each item the next one of the same size, and for the first half the item of the largest
 * area. */
static fs_status choose_items(fs_pack_model *t) {
  const fs_problem *p = t->p;
  uint32_t *first, *next, largest = FS_NONE;
  uint64_t *area;
  FS_TRY(fs_new_none(&t->arena, &first, p->n_items));
  FS_TRY(fs_new_none(&t->arena, &next, p->n_residencies));
  FS_TRY(fs_new_zero(&t->arena, &area, p->n_items));
  for (uint32_t r = p->n_residencies; r-- > 0;) {
    uint32_t i = p->res_begin[p->res_begin0[r]];
    next[r] = first[i];
    first[i] = r;
    area[i] += (uint64_t)weight(t, r) / (uint64_t)p->n_residencies;
  }
  for (uint32_t i = 0; i < p->n_items; i++) {
    largest = largest == FS_NONE || area[i] > area[largest] ? i : largest;
    for (uint32_t k = i + 1; k < p->n_items && t->alike[i] == FS_NONE; k++) {
      t->alike[i] = same_size(p, i, k, first, next) ? k : FS_NONE;
    }
  }
  t->early_half = largest;
  return FSCHED_OK;
}

fs_status fs_pack_symmetry_find(fs_pack_model *t) {
  bool given = t->options.address != NULL;
  t->strip = !t->options.peak && !given && fs_problem_is_strip(t->p);
  t->early_half = FS_NONE;
  FS_TRY(fs_new_none(&t->arena, &t->alike, t->p->n_items));
  if (given) {
    return FSCHED_OK; /* nothing can be turned */
  }
  choose_low_halves(t);
  return t->strip ? choose_items(t) : FSCHED_OK;
}

/* --- bounds --- */

/* The sums of parts that are at most `room`: bit s is set when s is such a sum. */
typedef struct sums {
  uint64_t bit[fs_most_sum_room / 64 + 1];
  int64_t room;
} sums;

static void add_part(sums *s, int64_t part) {
  assert(s->room >= 0);
  if (part <= 0 || part > s->room) {
    return;
  }
  size_t words = (size_t)part / 64, bits = (size_t)part % 64;
  for (size_t w = (size_t)s->room / 64 + 1; w-- > words;) {
    uint64_t low = bits != 0 && w > words ? s->bit[w - words - 1] >> (64 - bits) : 0;
    s->bit[w] |= s->bit[w - words] << bits | low;
  }
}

static int64_t largest_sum(const sums *s) {
  int64_t sum = s->room;
  while ((s->bit[sum / 64] >> sum % 64 & 1) == 0) {
    sum--;
  }
  return sum;
}

/* Is the room small enough, and are the parts few enough, to enumerate the sums? */
static bool within_limits(const fs_pack_model *t, const sums *s, uint32_t parts) {
  const fs_limits *l = fs_limits_of(t->ctx);
  return s->room <= (int64_t)l->sum_room && parts <= l->sum_parts;
}

/* Finds the normal starts of an item of a strip; false: there are too many to enumerate. */
static bool normal_starts(const fs_pack_model *t, uint32_t item, sums *s) {
  const fs_problem *p = t->p;
  *s = (sums){.bit = {1}, .room = (int64_t)(p->horizon - fs_min(p->horizon, p->time[item]))};
  if (!within_limits(t, s, p->n_items)) {
    return false;
  }
  for (uint32_t i = 0; i < p->n_items; i++) {
    add_part(s, i == item || p->time[i] > p->horizon ? 0 : (int64_t)p->time[i]);
  }
  return true;
}

static bool normal_places(const fs_pack_model *t, uint32_t residency, sums *s) {
  const fs_problem *p = t->p;
  uint32_t m = p->res_memory[residency];
  *s = (sums){.bit = {1}, .room = t->room[m] - fs_pack_size(t, residency)};
  if (s->room < 0 || !within_limits(t, s, p->n_residencies)) {
    return false;
  }
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    bool other = r != residency && p->res_memory[r] == m && fs_pack_placed(t, r);
    add_part(s, other ? fs_pack_size(t, r) : 0);
  }
  return true;
}

int64_t fs_pack_latest(const fs_pack_model *t, uint32_t item) {
  assert(item < t->p->n_items);
  sums s;
  if (!t->strip) {
    return INT64_MAX;
  }
  int64_t most = normal_starts(t, item, &s) ? largest_sum(&s) : s.room;
  return item == t->early_half && s.room / 2 < most ? s.room / 2 : most;
}

int64_t fs_pack_highest(const fs_pack_model *t, uint32_t residency) {
  assert(residency < t->p->n_residencies);
  sums s;
  uint32_t m = t->p->res_memory[residency];
  bool turned = t->low_half[m] == residency && !(t->options.peak && m == t->options.peak_memory);
  int64_t most = normal_places(t, residency, &s) ? largest_sum(&s) : s.room;
  return turned && s.room / 2 < most ? s.room / 2 : most;
}

static uint32_t list(const sums *s, int64_t most, int64_t *out) {
  uint32_t n = 0;
  for (int64_t at = 0; at <= most; at++) {
    if ((s->bit[at / 64] >> at % 64 & 1) != 0) {
      out[n++] = at;
    }
  }
  return n;
}

fs_decision fs_pack_list_starts(const fs_pack_model *t, uint32_t item, int64_t *out, uint32_t *n) {
  assert(t->strip && item < t->p->n_items);
  sums s;
  *n = 0;
  if (!normal_starts(t, item, &s)) {
    return fs_not_decided();
  }
  *n = list(&s, fs_pack_latest(t, item), out);
  return fs_decided_by(*n > 0);
}

fs_decision fs_pack_list_places(const fs_pack_model *t, uint32_t residency, int64_t *out,
                                uint32_t *n) {
  assert(t->strip && residency < t->p->n_residencies);
  sums s;
  *n = 0;
  if (fs_pack_size(t, residency) > t->room[t->p->res_memory[residency]]) {
    return fs_decided_by(false);
  }
  if (!normal_places(t, residency, &s)) {
    return fs_not_decided();
  }
  *n = list(&s, fs_pack_highest(t, residency), out);
  return fs_decided_by(*n > 0);
}

fs_status fs_pack_symmetry_rows(fs_pack_model *t) {
  const fs_problem *p = t->p;
  for (uint32_t i = 0; i < p->n_items && t->strip; i++) {
    if (t->alike[i] != FS_NONE) {
      FS_TRY(fs_pack_row_before(t, t->span[i].begin, 0, t->span[t->alike[i]].begin, FS_NONE,
                                "alike", i, t->alike[i]));
    }
  }
  uint32_t r = t->options.peak ? t->low_half[t->options.peak_memory] : FS_NONE;
  if (r == FS_NONE) {
    return FSCHED_OK;
  }
  FS_TRY(fs_model_begin_row(&t->model, -FS_MODEL_INF, -fs_pack_size(t, r), "low_half_%u", r));
  FS_TRY(fs_pack_add(t, t->place[r], 2));
  FS_TRY(fs_model_add_term(&t->model, t->peak, -1));
  return fs_model_end_row(&t->model);
}
