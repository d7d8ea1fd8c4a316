/* SPDX-License-Identifier: Apache-2.0 */
#include "base/view.h"

#include "base/saturate.h"

enum { END_BITS = 63 };

static bool is_empty(const fs_view *v) {
  bool empty = false;
  for (uint32_t d = 0; d < v->n_dims; d++) {
    empty = empty || v->shape[d] == 0;
  }
  return empty;
}

/* Behind its last byte, saturating. */
static uint64_t find_end(const fs_view *v) {
  uint64_t end = fs_add_most(v->offset, v->element);
  for (uint32_t d = 0; d < v->n_dims && !is_empty(v); d++) {
    end = fs_add_most(end, fs_multiply_most(v->shape[d] - 1, v->stride[d]));
  }
  return is_empty(v) ? v->offset : end;
}

bool fs_view_valid(const fs_view *v) {
  return v->n_dims <= FS_VIEW_DIMS && v->element > 0 && find_end(v) >> END_BITS == 0;
}

uint64_t fs_view_end(const fs_view *v) {
  assert(fs_view_valid(v));
  return find_end(v);
}

uint64_t fs_view_elements(const fs_view *v) {
  assert(fs_view_valid(v));
  uint64_t n = 1;
  for (uint32_t d = 0; d < v->n_dims; d++) {
    n = fs_multiply_most(n, v->shape[d]);
  }
  return is_empty(v) ? 0 : n;
}

/* Takes a dimension into the run if its steps leave no gap, or into a dimension if it goes on with
 * that one's steps (3 by 8 and 2 by 16 are 5 by 8); else puts it in front of those that are there,
 * which have no greater strides. */
static void add_dimension(fs_view_runs *r, uint64_t shape, uint64_t stride) {
  if (r->n_dims == 0 && stride <= r->run) {
    r->run += (shape - 1) * stride;
    return;
  }
  for (uint32_t d = 0; d < r->n_dims; d++) {
    uint64_t ratio = stride / r->stride[d];
    if (ratio * r->stride[d] == stride && ratio <= r->shape[d]) {
      r->shape[d] += (shape - 1) * ratio;
      return;
    }
  }
  for (uint32_t d = r->n_dims++; d > 0; d--) {
    r->shape[d] = r->shape[d - 1];
    r->stride[d] = r->stride[d - 1];
  }
  r->shape[0] = shape;
  r->stride[0] = stride;
}

/* The one with the smallest stride of those that are not taken, which it then is. */
static uint32_t next_dimension(const fs_view *v, bool *taken) {
  uint32_t least = FS_NONE;
  for (uint32_t d = 0; d < v->n_dims; d++) {
    least = !taken[d] && (least == FS_NONE || v->stride[d] < v->stride[least]) ? d : least;
  }
  taken[least] = true;
  return least;
}

fs_view_runs fs_view_runs_of(const fs_view *v) {
  assert(fs_view_valid(v));
  fs_view_runs r = {.offset = v->offset, .run = is_empty(v) ? 0 : v->element};
  bool taken[FS_VIEW_DIMS] = {false};
  for (uint32_t k = 0; k < v->n_dims && r.run > 0; k++) { /* by ascending stride */
    uint32_t least = next_dimension(v, taken);
    if (v->shape[least] > 1 && v->stride[least] > 0) {
      add_dimension(&r, v->shape[least], v->stride[least]);
    }
  }
  r.extent[r.n_dims] = r.run;
  for (uint32_t d = r.n_dims; d-- > 0;) {
    r.extent[d] = r.extent[d + 1] + (r.shape[d] - 1) * r.stride[d];
  }
  return r;
}

/* Where the first run begins that ends behind `from`, of dimension d and those behind it, which
 * begin at `base`.  Requires that there is one. */
static uint64_t find_next(const fs_view_runs *v, uint32_t d, uint64_t base, uint64_t from,
                          uint32_t most, uint32_t *steps) {
  ++*steps;
  if (d == v->n_dims) {
    return base;
  }
  /* The first row that ends behind `from`; a later one may have an earlier run, if it begins before
   * the first one's. */
  uint64_t reach = base + v->extent[d + 1];
  uint64_t i = from < reach ? 0 : (from - reach) / v->stride[d] + 1;
  uint64_t best = find_next(v, d + 1, base + i * v->stride[d], from, most, steps);
  for (i++; i < v->shape[d] && base + i * v->stride[d] < best && *steps <= most; i++) {
    best = fs_min(best, find_next(v, d + 1, base + i * v->stride[d], from, most, steps));
  }
  return best;
}

bool fs_view_next(const fs_view_runs *v, uint64_t from, uint64_t *low, uint64_t *high,
                  uint32_t *steps) {
  if (v->run == 0 || v->offset + v->extent[0] <= from) {
    return false;
  }
  *low = find_next(v, 0, v->offset, from, FS_VIEW_STEPS, steps);
  *high = *low + v->run;
  return true;
}

bool fs_view_walk_on(const fs_view_runs *v, fs_view_walk *w) {
  uint32_t steps = 0; /* no limit: a run that is left out would be a dependence that is lost */
  if (v->run == 0 || v->offset + v->extent[0] <= w->at) {
    return false;
  }
  uint64_t low = find_next(v, 0, v->offset, w->at, UINT32_MAX, &steps);
  w->low = fs_max(low, w->at);
  w->high = w->at = low + v->run;
  return true;
}

fs_view_runs fs_view_pieces_of(const fs_view *v) {
  assert(fs_view_valid(v));
  fs_view_runs r = fs_view_runs_of(v);
  return fs_view_fine(&r) ? r : fs_view_range(r.offset, r.extent[0]);
}

bool fs_view_has_box(const fs_view_runs *entry, const fs_view_runs *part) {
  if (part->run == 0) {
    return true;
  }
  if (entry->n_dims != part->n_dims || part->offset < entry->offset) {
    return false;
  }
  uint64_t rest = part->offset - entry->offset;
  for (uint32_t d = 0; d < part->n_dims; d++) {
    uint64_t stride = part->stride[d];
    if (stride == 0 || entry->stride[d] != stride || entry->shape[d] < part->shape[d]) {
      return false;
    }
    uint64_t first = rest / stride; /* where the box begins, unless it has no room there */
    if (first > entry->shape[d] - part->shape[d]) {
      return false;
    }
    rest -= first * stride;
  }
  return entry->run >= part->run && rest <= entry->run - part->run;
}

static bool is_covered(const fs_view_runs *probe, const fs_view_runs *entry, uint32_t *steps) {
  uint64_t at = 0, low, high, from, to;
  bool covered = true;
  while (covered && *steps <= FS_VIEW_STEPS && fs_view_next(entry, at, &low, &high, steps)) {
    at = fs_max(at, low);
    covered = fs_view_next(probe, at, &from, &to, steps) && from <= at;
    at = covered ? fs_min(to, high) : at;
  }
  return covered;
}

static bool is_apart(const fs_view_runs *a, const fs_view_runs *b, uint32_t *steps) {
  uint64_t at = 0, low, high, from, to;
  bool apart = true;
  while (apart && *steps <= FS_VIEW_STEPS && fs_view_next(a, at, &low, &high, steps) &&
         fs_view_next(b, low, &from, &to, steps)) {
    apart = from >= high;
    at = from;
  }
  return apart;
}

fs_overlap fs_view_overlap(const fs_view_runs *probe, const fs_view_runs *entry, bool *gave_up) {
  uint32_t steps = 0;
  if (gave_up != NULL) {
    *gave_up = false;
  }
  if (fs_view_has_box(probe, entry)) {
    return FS_OVERLAP_COVERED;
  }
  bool apart = is_apart(probe, entry, &steps);
  bool covered = (!apart || entry->run == 0) && is_covered(probe, entry, &steps);
  bool over = steps > FS_VIEW_STEPS;
  if (gave_up != NULL) {
    *gave_up = over;
  }
  return over      ? FS_OVERLAP_PARTIAL
         : covered ? FS_OVERLAP_COVERED
         : apart   ? FS_OVERLAP_NONE
                   : FS_OVERLAP_PARTIAL;
}

/* Whether each dimension's steps are at least as long as what those with shorter steps span: then
 * no two elements meet. */
static bool is_nested(const fs_view *v) {
  uint64_t span = v->element;
  bool taken[FS_VIEW_DIMS] = {false}, nested = true;
  for (uint32_t k = 0; k < v->n_dims && nested; k++) {
    uint32_t least = next_dimension(v, taken);
    if (v->shape[least] > 1) {
      nested = v->stride[least] >= span;
      span += (v->shape[least] - 1) * v->stride[least];
    }
  }
  return nested;
}

bool fs_view_overlaps_itself(const fs_view *v) {
  assert(fs_view_valid(v));
  fs_view_runs r = fs_view_runs_of(v);
  uint64_t bytes = fs_multiply_most(fs_view_elements(v), v->element), at = 0, found = 0, low, high;
  if (is_nested(v)) {
    return false;
  }
  uint32_t steps = 0;
  while (steps <= FS_VIEW_STEPS && fs_view_next(&r, at, &low, &high, &steps)) {
    found += high - fs_max(low, at);
    at = high;
  }
  return steps > FS_VIEW_STEPS || found < bytes;
}
