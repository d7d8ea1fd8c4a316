/* SPDX-License-Identifier: Apache-2.0 */
/* Frontiers are sorted arrays; most operations are one walk along two of them, without a copy.
 *
 * Two frontiers of one system mostly name the same axes, so merge and compare begin with the prefix
 * of equal axes.  A merge whose sum fits then goes once from the high end to the low end, in place.
 *
 * A merge that overflows must keep the largest epochs of the union without room for the union:
 * bisection finds the epoch of which only some entries stay, each step a walk (64 at most); then
 * entries that leave the target are squeezed out, and entries from the source are merged in from
 * the high end, in place.
 *
 * The walks exist twice, plain and with vectors (wide.h), with the same results. */
#include "fsched/frontier.h"

#include "base/base.h"
#include "frontier/wide.h"

typedef fsched_frontier_entry frontier_entry;

/* Entries that one vector holds, and two. */
enum { FEW = 4, WINDOW = 8 };
/* Entries that are looked at one by one before vectors, as they decide many comparisons. */
enum { FIRST = 3 };

fsched_status fsched_frontier_validate(const fsched_frontier *f) {
  if (f->n > f->capacity) {
    return FSCHED_BAD_INPUT;
  }
  for (uint32_t i = 0; i < f->n; i++) {
    if (f->entry[i].epoch == 0 || (i > 0 && f->entry[i - 1].axis >= f->entry[i].axis)) {
      return FSCHED_BAD_INPUT;
    }
  }
  return FSCHED_OK;
}

#define VALID(f) (fsched_frontier_validate(f) == FSCHED_OK)

/* The entries of `wanted` that `known` does not cover, for outputs with room for all of `wanted`.
 * For few wanted entries, for which looking for the last known axis does not pay. */
static uint32_t undominated_few(const fsched_frontier *known, const fsched_frontier *wanted,
                                frontier_entry *out) {
  const frontier_entry *k = known->entry, *w = wanted->entry;
  uint32_t n = 0;
  for (uint32_t i = 0, at = 0; i < wanted->n; i++) {
    while (at < known->n && k[at].axis < w[i].axis) {
      at++;
    }
    if (at == known->n || k[at].axis != w[i].axis || k[at].epoch < w[i].epoch) {
      out[n].axis = w[i].axis;
      out[n++].epoch = w[i].epoch;
    }
  }
  return n;
}

/* The same for many: covered entries are stored too, and then overwritten.  Up to the last known
 * axis the walk along the known ones needs no end check; later wanted entries are not covered. */
static uint32_t undominated_plain(const fsched_frontier *known, const fsched_frontier *wanted,
                                  frontier_entry *out) {
  const frontier_entry *k = known->entry;
  const frontier_entry *w = wanted->entry;
  const frontier_entry *w_end = w + wanted->n;
  const frontier_entry *stop = w_end;
  while (stop > w && (known->n == 0 || stop[-1].axis > k[known->n - 1].axis)) {
    stop--;
  }
  frontier_entry *o = out;
  for (; w < stop; w++) {
    while (k->axis < w->axis) {
      k++;
    }
    *o = *w;
    o += k->axis != w->axis || k->epoch < w->epoch;
  }
  while (w < w_end) {
    *o++ = *w++;
  }
  return (uint32_t)(o - out);
}

/* For outputs with room for fewer entries than there may be. */
static __attribute__((noinline)) uint32_t undominated_some(const fsched_frontier *known,
                                                           const fsched_frontier *wanted,
                                                           frontier_entry *out, uint32_t room) {
  uint32_t n = 0;
  uint32_t k = 0;
  for (uint32_t i = 0; i < wanted->n; i++) {
    frontier_entry w = wanted->entry[i];
    while (k < known->n && known->entry[k].axis < w.axis) {
      k++;
    }
    if (k < known->n && known->entry[k].axis == w.axis && known->entry[k].epoch >= w.epoch) {
      continue;
    }
    if (n < room) {
      out[n] = w;
    }
    n++;
  }
  return n;
}

/* The first entry whose axis is at least `axis`: of many by halves, of a few from the high end, as
 * a new axis is most often a high one. */
static inline frontier_entry *find_entry(const fsched_frontier *f, fsched_axis axis) {
  frontier_entry *low = f->entry;
  size_t n = f->n;
  if (n > WINDOW) {
    uint32_t first = 0, end = f->n;
    while (first < end) {
      uint32_t middle = first + (end - first) / 2;
      if (low[middle].axis < axis) {
        first = middle + 1;
      } else {
        end = middle;
      }
    }
    return low + first;
  }
  frontier_entry *p = low + n;
  while (p > low && p[-1].axis >= axis) {
    p--;
  }
  return p;
}

/* Moves the entries of [at, end) up by one; few of them in pairs, which beats a call. */
static inline void move_up(frontier_entry *at, frontier_entry *end) {
  if (end - at > WINDOW) {
    memmove(at + 1, at, (size_t)(end - at) * sizeof *at);
    return;
  }
  for (; end - at >= 2; end -= 2) {
    frontier_entry pair[2];
    memcpy(pair, end - 2, sizeof pair);
    memcpy(end - 1, pair, sizeof pair);
  }
  if (end > at) {
    *end = end[-1];
  }
}

/* Inserts an entry where there is room.  Stores by parts, or GCC builds the entry on the stack and
 * stalls on loading it. */
static inline void insert_at(fsched_frontier *f, frontier_entry *at, fsched_axis axis,
                             uint64_t epoch) {
  move_up(at, f->entry + f->n);
  at->axis = axis;
  at->epoch = epoch;
  f->n++;
}

/* Does x leave before y when there is room for one of them? */
static bool leaves_first(frontier_entry x, frontier_entry y) {
  return x.epoch != y.epoch ? x.epoch < y.epoch : x.axis > y.axis;
}

/* Inserts into a full frontier: the entry that leaves may be the new one.  Returns 1, for its
 * callers. */
static __attribute__((noinline)) int evict(fsched_frontier *f, uint32_t at, fsched_axis axis,
                                           uint64_t epoch, frontier_entry *evicted) {
  frontier_entry out = {axis, epoch};
  uint32_t leaver = FS_NONE;
  for (uint32_t i = 0; i < f->n; i++) {
    if (leaves_first(f->entry[i], out)) {
      out = f->entry[i];
      leaver = i;
    }
  }
  f->tainted = 1;
  if (evicted != NULL) {
    *evicted = out;
  }
  if (leaver == FS_NONE) {
    return 1;
  }
  /* The place of the entry that leaves moves to where the new one belongs. */
  if (leaver < at) {
    at--;
    memmove(f->entry + leaver, f->entry + leaver + 1, (at - leaver) * sizeof out);
  } else {
    memmove(f->entry + at + 1, f->entry + at, (leaver - at) * sizeof out);
  }
  f->entry[at] = (frontier_entry){axis, epoch};
  return 1;
}

static __attribute__((noinline)) int raise_plain(fsched_frontier *f, fsched_axis axis,
                                                 uint64_t epoch, frontier_entry *evicted) {
  frontier_entry *at = find_entry(f, axis);
  frontier_entry *end = f->entry + f->n;
  if (at < end && at->axis == axis) {
    at->epoch = fs_max(at->epoch, epoch);
    return 0;
  }
  if (f->n == f->capacity) {
    return evict(f, (uint32_t)(at - f->entry), axis, epoch, evicted);
  }
  insert_at(f, at, axis, epoch);
  return 0;
}

/* Both frontiers as one ascending list, common axes once. */
typedef struct both {
  const fsched_frontier *target, *source;
  uint32_t t, s;
} both;

/* False at the end; *fresh: the target has no such axis. */
static bool next(both *b, frontier_entry *e, bool *fresh) {
  bool t = b->t < b->target->n;
  bool s = b->s < b->source->n;
  if (!t && !s) {
    return false;
  }
  *fresh = !t || (s && b->source->entry[b->s].axis < b->target->entry[b->t].axis);
  *e = *fresh ? b->source->entry[b->s] : b->target->entry[b->t];
  if (!*fresh && s && b->source->entry[b->s].axis == e->axis) {
    e->epoch = fs_max(e->epoch, b->source->entry[b->s++].epoch);
  } else if (*fresh) {
    b->s++;
  }
  b->t += !*fresh;
  return true;
}

/* The number of entries of the union with an epoch above `epoch`. */
static uint64_t count_above(const fsched_frontier *target, const fsched_frontier *source,
                            uint64_t epoch) {
  both b = {target, source, 0, 0};
  uint64_t n = 0;
  bool fresh;
  for (frontier_entry e; next(&b, &e, &fresh);) {
    n += e.epoch > epoch;
  }
  return n;
}

/* The first entry that stays, in order of leaving: all entries before it in that order leave. */
static frontier_entry find_least(const fsched_frontier *target, const fsched_frontier *source) {
  assert(target->capacity > 0);
  uint64_t low = 0; /* the least epoch above which no more than `capacity` are */
  uint64_t high = UINT64_MAX;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (count_above(target, source, middle) <= target->capacity) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  uint64_t room = target->capacity - count_above(target, source, low);
  if (room == 0) {
    return (frontier_entry){UINT64_MAX, low + 1};
  }
  both b = {target, source, 0, 0};
  frontier_entry least = {UINT64_MAX, low};
  bool fresh;
  for (frontier_entry e; room > 0 && next(&b, &e, &fresh);) {
    if (e.epoch == low) {
      least.axis = e.axis;
      room--;
    }
  }
  return least;
}

/* A merge that may overflow: the entries of the union with the smallest epochs leave. */
static void merge_tight(fsched_frontier *target, const fsched_frontier *source) {
  assert(target->n <= target->capacity);
  if (target->capacity == 0) {
    target->tainted = target->tainted || source->n > 0;
    return;
  }
  frontier_entry least = {UINT64_MAX, 0};
  if (count_above(target, source, 0) > target->capacity) {
    least = find_least(target, source);
    target->tainted = 1;
  }
  /* Raise, and squeeze out the entries that leave. */
  both b = {target, source, 0, 0};
  uint32_t kept = 0;
  uint32_t added = 0;
  bool fresh;
  for (frontier_entry e; next(&b, &e, &fresh);) {
    if (leaves_first(e, least)) {
      continue;
    }
    if (fresh) {
      added++;
    } else {
      target->entry[kept++] = e;
    }
  }
  target->n = kept;
  /* Merge from the high end. */
  uint32_t to = kept + added;
  uint32_t t = kept;
  for (uint32_t s = source->n; to > t;) {
    frontier_entry e = source->entry[s - 1];
    if (t > 0 && target->entry[t - 1].axis >= e.axis) {
      s -= target->entry[t - 1].axis == e.axis;
      target->entry[--to] = target->entry[--t];
    } else {
      s--;
      if (!leaves_first(e, least)) {
        target->entry[--to] = e;
      }
    }
  }
  target->n = kept + added;
}

/* Merges source[first..] into target[first..], whose capacity suffices for both: from the high end,
 * placed as if no axis were common, then moved down over the gap that common ones leave. */
static void merge_apart(fsched_frontier *target, const fsched_frontier *source, uint32_t first) {
  frontier_entry *low = target->entry + first;
  frontier_entry *t = target->entry + target->n;
  const frontier_entry *s_low = source->entry + first;
  const frontier_entry *s = source->entry + source->n;
  frontier_entry *end = t + (s - s_low);
  frontier_entry *to = end;
  while (s > s_low && t > low) {
    if (t[-1].axis > s[-1].axis) {
      *--to = *--t;
    } else if (t[-1].axis < s[-1].axis) {
      *--to = *--s;
    } else {
      *--to = *--s;
      to->epoch = fs_max(s->epoch, (--t)->epoch);
    }
  }
  while (s > s_low) {
    *--to = *--s;
  }
  if (to > t) {
    memmove(t, to, (size_t)(end - to) * sizeof *t);
  }
  target->n = (uint32_t)(end - target->entry - (to - t));
}

/* Merges the entries after the leading common axes, from `first` on. */
static void merge_rest(fsched_frontier *target, const fsched_frontier *source, uint32_t first) {
  assert(first <= source->n && first <= target->n);
  uint32_t more = source->n - first;
  if (more > target->capacity - target->n) {
    merge_tight(target, source);
  } else if (more >= FEW && /* or the call costs more than the walk */
             (target->n == 0 || target->entry[target->n - 1].axis < source->entry[first].axis)) {
    memcpy(target->entry + target->n, source->entry + first, more * sizeof(frontier_entry));
    target->n += more;
  } else {
    merge_apart(target, source, first);
  }
}

static __attribute__((noinline)) void merge_plain(fsched_frontier *target,
                                                  const fsched_frontier *source) {
  uint32_t both_have = target->n < source->n ? target->n : source->n;
  uint32_t first = fs_raise_plain(target->entry, source->entry, 0, both_have);
  if (first < source->n) {
    merge_rest(target, source, first);
  }
}

static fsched_frontier_order order_of(uint32_t answer) {
  static const fsched_frontier_order order[] = {
      [0] = FSCHED_FRONTIER_EQUAL,
      [FS_A_LACKS] = FSCHED_FRONTIER_BEFORE,
      [FS_B_LACKS] = FSCHED_FRONTIER_AFTER,
      [FS_A_LACKS | FS_B_LACKS] = FSCHED_FRONTIER_CONCURRENT,
  };
  return answer >= FS_AXES_DIFFER ? FSCHED_FRONTIER_CONCURRENT : order[answer];
}

static inline bool entry_covers(const frontier_entry *a, const frontier_entry *b) {
  return a->axis == b->axis && a->epoch >= b->epoch;
}

/* For frontiers with equally many entries. */
static inline int covers_plain(const frontier_entry *a, const frontier_entry *b, uint32_t n) {
  uint32_t i = 0;
  while (i < n && entry_covers(&a[i], &b[i])) {
    i++;
  }
  return i == n;
}

/* For frontiers with equally many entries, of which those before i say that only one side lacks
 * something. */
static inline fsched_frontier_order unlike_plain(const frontier_entry *a, const frontier_entry *b,
                                                 uint32_t i, uint32_t n, bool a_lacks) {
  const frontier_entry *low = a_lacks ? a : b;
  const frontier_entry *high = a_lacks ? b : a;
  while (i < n && entry_covers(&high[i], &low[i])) {
    i++;
  }
  return i < n     ? FSCHED_FRONTIER_CONCURRENT
         : a_lacks ? FSCHED_FRONTIER_BEFORE
                   : FSCHED_FRONTIER_AFTER;
}

/* For frontiers with equally many entries, whose first ones are the same. */
static fsched_frontier_order compare_plain(const frontier_entry *a, const frontier_entry *b,
                                           uint32_t n) {
  if (n >= FEW && memcmp(a, b, n * sizeof *a) == 0) {
    return FSCHED_FRONTIER_EQUAL;
  }
  return order_of(fs_compare_plain(a, b, n));
}

#ifdef FS_WIDE
/* The same with vectors. */

static FS_WIDE __attribute__((noinline)) uint32_t undominated_wide(const fsched_frontier *known,
                                                                   const fsched_frontier *wanted,
                                                                   frontier_entry *out) {
  return fs_undominated_wide(known->entry, known->n, wanted->entry, wanted->n, out);
}

static FS_WIDE __attribute__((noinline)) int covers_wide(const frontier_entry *a,
                                                         const frontier_entry *b, uint32_t n) {
  enum { LACKS = FS_A_LACKS | FS_AXES_DIFFER };
  /* Of few entries all are most often the same, and of more a lack shows early. */
  uint32_t answer = n < WINDOW ? fs_compare_wide(a, b, n) : fs_unlike_wide(a, b, n, LACKS);
  return (answer & LACKS) == 0;
}

static FS_WIDE __attribute__((noinline)) fsched_frontier_order compare_wide(const frontier_entry *a,
                                                                            const frontier_entry *b,
                                                                            uint32_t n) {
  return order_of(fs_compare_wide(a, b, n));
}

static FS_WIDE __attribute__((noinline)) fsched_frontier_order unlike_wide(const frontier_entry *a,
                                                                           const frontier_entry *b,
                                                                           uint32_t n) {
  return order_of(fs_unlike_wide(a, b, n, 0));
}

/* Raises an axis that belongs among the WINDOW entries from `at` on, or behind them. */
FS_WIDE_INLINE int raise_in(fsched_frontier *f, frontier_entry *at, fsched_axis axis,
                            uint64_t epoch, frontier_entry *evicted) {
  fs_wide_window w = fs_find_wide(at, axis);
  if (w.hit) {
    if (at[w.below].epoch < epoch) {
      at[w.below].epoch = epoch;
    }
    return 0;
  }
  uint32_t n = f->n;
  if (n == f->capacity) {
    return evict(f, (uint32_t)(at - f->entry) + w.below, axis, epoch, evicted);
  }
  frontier_entry *end = f->entry + n;
  if (end - at > 2 * WINDOW) { /* then a call costs less than the loop */
    insert_at(f, at + w.below, axis, epoch);
    return 0;
  }
  if (end - at > WINDOW) {
    fs_move_up_wide(at + WINDOW, end);
  }
  fs_insert_wide(w, at, axis, epoch);
  f->n = n + 1;
  return 0;
}

/* For more than WINDOW entries; a new axis is most often the highest. */
static FS_WIDE __attribute__((noinline)) int raise_wide_far(fsched_frontier *f, fsched_axis axis,
                                                            uint64_t epoch,
                                                            frontier_entry *evicted) {
  size_t n = f->n;
  frontier_entry *end = f->entry + n;
  if (n < f->capacity && end[-1].axis < axis) {
    end->axis = axis;
    end->epoch = epoch;
    f->n++;
    return 0;
  }
  frontier_entry *at = f->entry;
  while (n > WINDOW) {
    size_t half = n / 2;
    at = at[half - 1].axis < axis ? at + half : at;
    n -= half;
  }
  at = at < end - WINDOW ? at : end - WINDOW;
  return raise_in(f, at, axis, epoch, evicted);
}

/* For WINDOW entries or more. */
static FS_WIDE __attribute__((noinline)) int raise_wide(fsched_frontier *f, fsched_axis axis,
                                                        uint64_t epoch, frontier_entry *evicted) {
  if (f->n > WINDOW) {
    return raise_wide_far(f, axis, epoch, evicted);
  }
  return raise_in(f, f->entry, axis, epoch, evicted);
}

/* Merges from `first` on; all entries before it are merged. */
static FS_WIDE __attribute__((noinline)) void merge_wide_from(fsched_frontier *target,
                                                              const fsched_frontier *source,
                                                              uint32_t first) {
  uint32_t both_have = target->n < source->n ? target->n : source->n;
  first = fs_raise_wide(target->entry, source->entry, first, both_have);
  if (first < source->n) {
    merge_rest(target, source, first);
  }
}

/* For frontiers of which some first axes differ, with at least FEW entries each. */
static FS_WIDE __attribute__((noinline)) void merge_wide_apart(fsched_frontier *target,
                                                               const fsched_frontier *source) {
  uint32_t t_n = target->n;
  uint32_t s_n = source->n;
  bool fits = s_n <= target->capacity - t_n;
  if (fits && FEW < t_n && t_n <= WINDOW && FEW < s_n && s_n <= WINDOW &&
      target->entry[t_n - 1].axis >= source->entry->axis) {
    target->n = fs_merge_few(target->entry, t_n, source->entry, s_n);
  } else if (target->entry->axis != source->entry->axis) {
    merge_rest(target, source, 0);
  } else {
    merge_wide_from(target, source, 0);
  }
}

/* The most frequent case comes first: eight or four entries with the same axes. */
static FS_WIDE __attribute__((noinline, aligned(64))) void merge_wide(
    fsched_frontier *target, const fsched_frontier *source) {
  uint32_t t_n = target->n;
  uint32_t s_n = source->n;
  if (t_n < FEW || s_n < FEW) {
    merge_wide_from(target, source, 0);
    return;
  }
  frontier_entry *t = target->entry;
  const frontier_entry *s = source->entry;
  if (t->axis != s->axis) {
    merge_wide_apart(target, source);
    return;
  }
  bool eight = t_n >= WINDOW && s_n >= WINDOW;
  if (!(eight ? fs_raise8(t, s) : fs_raise4(t, s))) {
    merge_wide_apart(target, source);
  } else if (s_n > (eight ? WINDOW : FEW)) {
    merge_wide_from(target, source, eight ? WINDOW : FEW);
  }
}

#endif

/* The operations */

uint32_t fsched_frontier_undominated(const fsched_frontier *known, const fsched_frontier *wanted,
                                     frontier_entry *out, uint32_t room) {
  FS_ASSERT_SLOW(VALID(known) && VALID(wanted));
  if (room < wanted->n) {
    return undominated_some(known, wanted, out, room);
  }
  if (wanted->n < FEW) {
    return undominated_few(known, wanted, out);
  }
  return FS_WIDE_OR(undominated_wide(known, wanted, out), undominated_plain(known, wanted, out));
}

/* For frontiers with equally many entries: the first ones decide most questions, and cost less than
 * a vector. */
static inline int covers(const frontier_entry *a, const frontier_entry *b, uint32_t n) {
  if (n == 0) {
    return 1;
  }
  int first = (a->axis == b->axis) & (a->epoch >= b->epoch);
  if (n == 1 || !first) {
    return first;
  }
  if (!FS_WIDE_OR(true, false) || n < FEW) {
    return covers_plain(a + 1, b + 1, n - 1);
  }
  uint32_t more = n < WINDOW ? 1 : FIRST - 1;
  return covers_plain(a + 1, b + 1, more) && FS_WIDE_OR(covers_wide(a, b, n), 1);
}

/* Stops at the first entry that is not covered. */
int fsched_frontier_dominates(const fsched_frontier *a, const fsched_frontier *b) {
  FS_ASSERT_SLOW(VALID(a) && VALID(b));
  if (b->tainted || b->n > a->n) { /* more axes than `a` has */
    return 0;
  }
  const frontier_entry *x = a->entry;
  const frontier_entry *y = b->entry;
  if (a->n == b->n) {
    return covers(x, y, a->n);
  }
  const frontier_entry *x_end = x + a->n;
  const frontier_entry *y_end = y + b->n;
  for (; y < y_end; x++, y++) {
    while (x < x_end && x->axis < y->axis) {
      x++;
    }
    if (x == x_end || x->axis != y->axis || x->epoch < y->epoch) {
      return 0;
    }
  }
  return 1;
}

int fsched_frontier_satisfied(const fsched_frontier *wanted, const fsched_frontier *progress) {
  return fsched_frontier_dominates(progress, wanted);
}

/* For frontiers that cannot be equal: of different numbers of axes the smaller lacks one, and
 * nothing dominates a tainted frontier. */
static __attribute__((noinline)) fsched_frontier_order compare_unequal(const fsched_frontier *a,
                                                                       const fsched_frontier *b) {
  if (fsched_frontier_dominates(a, b)) {
    return FSCHED_FRONTIER_AFTER;
  }
  return fsched_frontier_dominates(b, a) ? FSCHED_FRONTIER_BEFORE : FSCHED_FRONTIER_CONCURRENT;
}

/* For frontiers with equally many entries, whose first epochs differ: where both lack something, it
 * mostly shows in the first few entries. */
static inline fsched_frontier_order compare_unlike(const frontier_entry *a, const frontier_entry *b,
                                                   uint32_t n) {
  bool a_lacks = a->epoch < b->epoch;
  if (!FS_WIDE_OR(true, false) || n <= FEW) {
    return unlike_plain(a, b, 1, n, a_lacks);
  }
  if (unlike_plain(a, b, 1, FIRST, a_lacks) == FSCHED_FRONTIER_CONCURRENT) {
    return FSCHED_FRONTIER_CONCURRENT;
  }
  return FS_WIDE_OR(unlike_wide(a, b, n), FSCHED_FRONTIER_CONCURRENT);
}

/* With equally many axes, each lacks an entry of the other as soon as two axes differ. */
fsched_frontier_order fsched_frontier_compare(const fsched_frontier *a, const fsched_frontier *b) {
  FS_ASSERT_SLOW(VALID(a) && VALID(b));
  uint32_t n = a->n;
  if (n != b->n || (a->tainted | b->tainted) != 0) {
    return compare_unequal(a, b);
  }
  const frontier_entry *x = a->entry;
  const frontier_entry *y = b->entry;
  if (n == 0) {
    return FSCHED_FRONTIER_EQUAL;
  }
  if (x->axis != y->axis) {
    return FSCHED_FRONTIER_CONCURRENT;
  }
  if (x->epoch != y->epoch) {
    return compare_unlike(x, y, n);
  }
  return FS_WIDE_OR(compare_wide(x, y, n), compare_plain(x, y, n));
}

int fsched_frontier_raise(fsched_frontier *f, frontier_entry e, frontier_entry *evicted) {
  FS_ASSERT_SLOW(VALID(f) && e.epoch > 0);
  if (f->n < WINDOW) {
    return raise_plain(f, e.axis, e.epoch, evicted);
  }
  return FS_WIDE_OR(raise_wide(f, e.axis, e.epoch, evicted),
                    raise_plain(f, e.axis, e.epoch, evicted));
}

/* For sources with fewer than FEW entries. */
static inline void merge_few(fsched_frontier *target, const fsched_frontier *source) {
  frontier_entry *t = target->entry;
  const frontier_entry *s = source->entry;
  if (source->n != 1) {
    merge_plain(target, source);
  } else if (target->n == 0 || t->axis != s->axis) {
    (void)fsched_frontier_raise(target, *s, NULL);
  } else if (t->epoch < s->epoch) {
    t->epoch = s->epoch;
  }
}

void fsched_frontier_merge(fsched_frontier *target, const fsched_frontier *source) {
  FS_ASSERT_SLOW(VALID(target) && VALID(source));
  if (__builtin_expect(source->tainted, 0)) {
    target->tainted = 1;
  }
  if (source->n < FEW) {
    merge_few(target, source);
    return;
  }
  FS_WIDE_OR(merge_wide(target, source), merge_plain(target, source));
}

int fsched_frontier_merge_dominated(fsched_frontier *target, const fsched_frontier *source) {
  int dominated = fsched_frontier_dominates(source, target);
  fsched_frontier_merge(target, source);
  return dominated;
}
