/* SPDX-License-Identifier: Apache-2.0 */
/* Merge scans without vectors.  Equal axes are looked for first, as two frontiers of one system
 * mostly name the same ones. */
#include "frontier_reference.h"

/* So that no chance of linking slows it down. */
#define ALIGNED __attribute__((aligned(64)))

/* From entry i of both on, where axes differ. */
static fsched_frontier_order compare_apart(const fs_usual *a, const fs_usual *b, uint32_t i,
                                           bool a_more, bool b_more) {
  const fsched_frontier_entry *x = a->entry + i, *x_end = a->entry + a->n;
  const fsched_frontier_entry *y = b->entry + i, *y_end = b->entry + b->n;
  while (x < x_end && y < y_end) {
    if (x->axis < y->axis) {
      a_more = true;
      x++;
    } else if (x->axis > y->axis) {
      b_more = true;
      y++;
    } else {
      a_more |= x->epoch > y->epoch;
      b_more |= x->epoch < y->epoch;
      x++;
      y++;
    }
    if (a_more && b_more) {
      return FSCHED_FRONTIER_CONCURRENT;
    }
  }
  a_more |= x < x_end;
  b_more |= y < y_end;
  return a_more && b_more ? FSCHED_FRONTIER_CONCURRENT
         : a_more         ? FSCHED_FRONTIER_AFTER
         : b_more         ? FSCHED_FRONTIER_BEFORE
                          : FSCHED_FRONTIER_EQUAL;
}

ALIGNED fsched_frontier_order fs_usual_compare(const fs_usual *a, const fs_usual *b) {
  uint32_t n = a->n < b->n ? a->n : b->n, i = 0;
  bool a_more = false, b_more = false;
  for (; i < n && a->entry[i].axis == b->entry[i].axis; i++) {
    uint64_t x = a->entry[i].epoch, y = b->entry[i].epoch;
    if (x != y) {
      a_more |= x > y;
      b_more |= x < y;
      if (a_more && b_more) {
        return FSCHED_FRONTIER_CONCURRENT;
      }
    }
  }
  return compare_apart(a, b, i, a_more, b_more);
}

/* How many entries of the source the target lacks, from these on. */
static uint32_t count_new(const fsched_frontier_entry *t, const fsched_frontier_entry *t_end,
                          const fsched_frontier_entry *s, const fsched_frontier_entry *s_end) {
  uint32_t n = 0;
  while (t < t_end && s < s_end) {
    if (t->axis < s->axis) {
      t++;
    } else {
      n += t->axis != s->axis;
      t += t->axis == s->axis;
      s++;
    }
  }
  return n + (uint32_t)(s_end - s);
}

/* The leading common axes are raised in place; the rest is counted, then merged from the end. */
ALIGNED bool fs_usual_merge(fs_usual *target, const fs_usual *source) {
  fsched_frontier_entry *t = target->entry, *t_end = t + target->n;
  const fsched_frontier_entry *s = source->entry, *s_end = s + source->n;
  for (; t < t_end && s < s_end && t->axis == s->axis; t++, s++) {
    if (t->epoch < s->epoch) {
      t->epoch = s->epoch;
    }
  }
  if (s == s_end) {
    return true;
  }
  uint32_t n = target->n + count_new(t, t_end, s, s_end);
  if (n > target->capacity) {
    return false;
  }
  fsched_frontier_entry *to = target->entry + n;
  target->n = n;
  while (s_end > s) {
    if (t_end > t && t_end[-1].axis > s_end[-1].axis) {
      *--to = *--t_end;
    } else {
      *--to = *--s_end;
      if (t_end > t && t_end[-1].axis == to->axis) {
        t_end--;
        to->epoch = fs_max(to->epoch, t_end->epoch);
      }
    }
  }
  return true;
}

ALIGNED bool fs_usual_raise(fs_usual *f, fsched_frontier_entry e) {
  uint32_t low = 0, high = f->n;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (f->entry[middle].axis < e.axis) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low < f->n && f->entry[low].axis == e.axis) {
    if (f->entry[low].epoch < e.epoch) {
      f->entry[low].epoch = e.epoch;
    }
    return true;
  }
  if (f->n == f->capacity) {
    return false;
  }
  memmove(f->entry + low + 1, f->entry + low, (f->n - low) * sizeof e);
  f->entry[low] = e;
  f->n++;
  return true;
}

ALIGNED bool fs_usual_satisfied(const fs_usual *wanted, const fs_usual *progress) {
  const fsched_frontier_entry *w = wanted->entry, *w_end = w + wanted->n;
  const fsched_frontier_entry *p = progress->entry, *p_end = p + progress->n;
  for (; w < w_end; w++, p++) {
    while (p < p_end && p->axis < w->axis) {
      p++;
    }
    if (p == p_end || p->axis != w->axis || p->epoch < w->epoch) {
      return false;
    }
  }
  return true;
}

ALIGNED uint32_t fs_usual_undominated(const fs_usual *known, const fs_usual *wanted,
                                      fsched_frontier_entry *out) {
  const fsched_frontier_entry *w = wanted->entry, *w_end = w + wanted->n;
  const fsched_frontier_entry *k = known->entry, *k_end = k + known->n;
  uint32_t n = 0;
  for (; w < w_end; w++) {
    while (k < k_end && k->axis < w->axis) {
      k++;
    }
    if (k == k_end || k->axis != w->axis || k->epoch < w->epoch) {
      out[n++] = *w;
    }
  }
  return n;
}
