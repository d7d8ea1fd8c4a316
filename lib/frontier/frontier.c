/* SPDX-License-Identifier: Apache-2.0 */
/* Frontiers are sorted arrays; every operation is one walk along two of them.
 *
 * A merge that overflows must keep the largest epochs of the union without room for the union:
 * bisection over the epoch finds the one that must leave in part, each step a walk (64 at most);
 * then what leaves the target is squeezed out and what comes from the source is merged in from the
 * high end, in place. */
#include "fsched/frontier.h"

#include "base.h"

enum { ORDINAL_BITS = 40, DOMAIN_SHIFT = 40, MACHINE_SHIFT = 48, SESSION_SHIFT = 56 };
enum { DEVICE_SHIFT = 32, QUEUE_SHIFT = 24, BYTE_LIMIT = 256 };

typedef fsched_frontier_entry entry;

fsched_status fsched_axis_make(fsched_axis_parts parts, fsched_axis *axis) {
  if (parts.session >= BYTE_LIMIT || parts.machine >= BYTE_LIMIT || parts.domain >= BYTE_LIMIT ||
      parts.ordinal > FSCHED_AXIS_MAX_ORDINAL) {
    return FSCHED_USAGE;
  }
  *axis = (uint64_t)parts.session << SESSION_SHIFT | (uint64_t)parts.machine << MACHINE_SHIFT |
          (uint64_t)parts.domain << DOMAIN_SHIFT | parts.ordinal;
  return FSCHED_OK;
}

fsched_status fsched_axis_queue(uint32_t session, uint32_t machine, uint32_t device, uint32_t queue,
                                fsched_axis *axis) {
  if (device >= BYTE_LIMIT || queue >= BYTE_LIMIT) {
    return FSCHED_USAGE;
  }
  uint64_t ordinal = (uint64_t)device << DEVICE_SHIFT | (uint64_t)queue << QUEUE_SHIFT;
  return fsched_axis_make((fsched_axis_parts){session, machine, FSCHED_AXIS_QUEUE, ordinal}, axis);
}

fsched_axis_parts fsched_axis_split(fsched_axis axis) {
  return (fsched_axis_parts){.session = (uint32_t)(axis >> SESSION_SHIFT),
                             .machine = (uint32_t)(axis >> MACHINE_SHIFT) % BYTE_LIMIT,
                             .domain = (uint32_t)(axis >> DOMAIN_SHIFT) % BYTE_LIMIT,
                             .ordinal = axis & FSCHED_AXIS_MAX_ORDINAL};
}

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

static bool valid(const fsched_frontier *f) { return fsched_frontier_validate(f) == FSCHED_OK; }

uint32_t fsched_frontier_undominated(const fsched_frontier *known, const fsched_frontier *wanted,
                                     entry *out, uint32_t room) {
  assert(valid(known) && valid(wanted));
  uint32_t n = 0;
  uint32_t k = 0;
  for (uint32_t i = 0; i < wanted->n; i++) {
    entry w = wanted->entry[i];
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

int fsched_frontier_dominates(const fsched_frontier *a, const fsched_frontier *b) {
  return !b->tainted && fsched_frontier_undominated(a, b, NULL, 0) == 0;
}

fsched_frontier_order fsched_frontier_compare(const fsched_frontier *a, const fsched_frontier *b) {
  int after = fsched_frontier_dominates(a, b);
  int before = fsched_frontier_dominates(b, a);
  if (after && before) {
    return FSCHED_FRONTIER_EQUAL;
  }
  if (before) {
    return FSCHED_FRONTIER_BEFORE;
  }
  return after ? FSCHED_FRONTIER_AFTER : FSCHED_FRONTIER_CONCURRENT;
}

/* The first entry whose axis is at least `axis`. */
static uint32_t lower_bound(const fsched_frontier *f, fsched_axis axis) {
  uint32_t low = 0;
  uint32_t high = f->n;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (f->entry[middle].axis < axis) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Does x leave before y when there is room for one of them? */
static bool leaves_first(entry x, entry y) {
  return x.epoch != y.epoch ? x.epoch < y.epoch : x.axis > y.axis;
}

int fsched_frontier_raise(fsched_frontier *f, entry e, entry *evicted) {
  assert(valid(f) && e.epoch > 0);
  uint32_t at = lower_bound(f, e.axis);
  if (at < f->n && f->entry[at].axis == e.axis) {
    f->entry[at].epoch = fs_max(f->entry[at].epoch, e.epoch);
    return 0;
  }
  int full = f->n == f->capacity;
  entry out = e;
  if (full) {
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
    memmove(f->entry + leaver, f->entry + leaver + 1, (f->n - leaver - 1) * sizeof e);
    f->n--;
    at -= leaver < at;
  }
  memmove(f->entry + at + 1, f->entry + at, (f->n - at) * sizeof e);
  f->entry[at] = e;
  f->n++;
  return full;
}

/* Both frontiers as one ascending list, common axes once. */
typedef struct both {
  const fsched_frontier *target, *source;
  uint32_t t, s;
} both;

/* False at the end; *fresh: the target has no such axis. */
static bool next(both *b, entry *e, bool *fresh) {
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

/* How many entries of the union have an epoch above `epoch`. */
static uint64_t count_above(const fsched_frontier *target, const fsched_frontier *source,
                            uint64_t epoch) {
  both b = {target, source, 0, 0};
  uint64_t n = 0;
  bool fresh;
  for (entry e; next(&b, &e, &fresh);) {
    n += e.epoch > epoch;
  }
  return n;
}

/* The last entry to stay, in order of leaving: what leaves before it leaves. */
static entry find_least(const fsched_frontier *target, const fsched_frontier *source) {
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
    return (entry){UINT64_MAX, low + 1};
  }
  both b = {target, source, 0, 0};
  entry least = {UINT64_MAX, low};
  bool fresh;
  for (entry e; room > 0 && next(&b, &e, &fresh);) {
    if (e.epoch == low) {
      least.axis = e.axis;
      room--;
    }
  }
  return least;
}

void fsched_frontier_merge(fsched_frontier *target, const fsched_frontier *source) {
  assert(valid(target) && valid(source));
  if (target->capacity == 0) {
    target->tainted = target->tainted || source->tainted || source->n > 0;
    return;
  }
  entry least = {UINT64_MAX, 0};
  if (count_above(target, source, 0) > target->capacity) {
    least = find_least(target, source);
    target->tainted = 1;
  }
  target->tainted = target->tainted || source->tainted;
  /* Raise, and squeeze out what leaves. */
  both b = {target, source, 0, 0};
  uint32_t kept = 0;
  uint32_t added = 0;
  bool fresh;
  for (entry e; next(&b, &e, &fresh);) {
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
    entry e = source->entry[s - 1];
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
