/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a task can be submitted.  Its args become uses: the bytes, and how the version is found.
 * Everything that is wrong is found here, before anything of the engine changes. */
#include <inttypes.h>

#include "base/context.h"
#include "base/saturate.h"
#include "exec/dynamic/private.h"

/* Why a queue has no worker any more. */
static const char *why_retired(const fs_dynamic *e, uint32_t queue) {
  return e->queue[queue].why == NULL ? "it has died" : e->queue[queue].why;
}

/* The first such queue of a class, which has one. */
static uint32_t first_retired(const fs_dynamic *e, uint32_t class_) {
  uint32_t q = 0;
  while (e->queue[q].class_ != class_ || !e->queue[q].retired) {
    q++;
    assert(q < e->n_queues);
  }
  return q;
}

static fs_status check_queues(fs_dynamic *e, const fs_dynamic_submission *s) {
  if (s->n_queues != s->n_members) {
    return fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG,
                            "%" PRIu32 " queues are named for %" PRIu32 " members", s->n_queues,
                            s->n_members);
  }
  fs_status status = FSCHED_OK;
  for (uint32_t m = 0; m < s->n_members && status == FSCHED_OK; m++) {
    uint32_t q = s->queue[m];
    if (q >= e->n_queues) {
      status = fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG, "there is no queue %" PRIu32, q);
    } else if ((e->kept[q / 64] >> q % 64 & 1) != 0) {
      status = fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG, "queue %s is named twice",
                                fs_queue_shown(e, q).text);
    } else if (e->queue[q].retired) {
      status = fs_dynamic_error(e, FSCHED_REPLAY, RUN, "queue %s has no worker any more: %s",
                                fs_queue_shown(e, q).text, why_retired(e, q));
    } else {
      e->kept[q / 64] |= (uint64_t)1 << q % 64;
    }
  }
  return status;
}

/* The queues of a class, with those that have no worker any more. */
static uint32_t count_queues(const fs_dynamic *e, uint32_t class_) {
  uint32_t n = 0;
  for (uint32_t q = 0; q < e->n_queues; q++) {
    n += e->queue[q].class_ == class_;
  }
  return n;
}

static fs_status check_target(fs_dynamic *e, const fs_dynamic_submission *s) {
  if (s->n_members == 0) {
    return fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG, "a group has no members");
  }
  if (s->n_queues > 0) {
    memset(e->kept, 0, e->n_words * sizeof *e->kept); /* kept is scratch between two starts */
    return check_queues(e, s);
  }
  uint32_t n = s->class_ < e->n_queues ? e->class_size[s->class_] : 0;
  if (s->n_members > n) {
    if (s->n_members <= count_queues(e, s->class_)) {
      uint32_t gone = first_retired(e, s->class_);
      return fs_dynamic_error(e, FSCHED_REPLAY, RUN,
                              "%" PRIu32
                              " members need a worker each, and the class of queue %s"
                              " has %" PRIu32 " left: %s",
                              s->n_members, fs_queue_shown(e, gone).text, n, why_retired(e, gone));
    }
    return fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG,
                            "%" PRIu32 " members need a queue each, and class %" PRIu32
                            " has %" PRIu32,
                            s->n_members, s->class_, n);
  }
  return FSCHED_OK;
}

static fs_status set_tag(fs_dynamic *e, const fs_dynamic_arg *a, fs_dynamic_use *u) {
  switch (a->tag) {
    case FSCHED_IN:
      u->reads = true;
      return FSCHED_OK;
    case FSCHED_INOUT:
      u->reads = u->writes = true;
      return FSCHED_OK;
    case FSCHED_OUT:
      u->writes = true;
      u->whole = !a->has_view;
      return FSCHED_OK;
    case FSCHED_OUT_EXISTING:
      u->writes = true;
      return FSCHED_OK;
    case FSCHED_NO_DEP:
      return FSCHED_OK;
    case FSCHED_VALUE:
      break;
  }
  return fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG, "a number is no arg of a dynamic run");
}

static fs_status check_imported(fs_dynamic *e, const fs_dynamic_submission *s,
                                const fs_dynamic_record *r, fs_dynamic_use *u) {
  if (u->reads && !r->readable) {
    return fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG, "a buffer that may not be read is read");
  }
  if (u->writes && !r->writable) {
    return fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG,
                            "a buffer that may not be written is written");
  }
  if (r->device && s->n_queues == 0) {
    return fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG,
                            "memory of a device is accessed by a task that names no queue");
  }
  u->place = r->place + (r->device ? s->queue[u->member] : 0);
  return FSCHED_OK;
}

/* An arg that names the version which is there. */
static fs_status check_present(fs_dynamic *e, const fs_dynamic_record *r, fs_dynamic_use *u) {
  u->version = FS_USE_PRESENT;
  if (r->owner == FS_DYNAMIC_NO_TASK) {
    return fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG, "nothing has written the buffer");
  }
  if (!fs_slot_lives(e, r->owner)) {
    return fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG, "the memory of the buffer is gone");
  }
  bool right = true;
  if (u->reads && !e->options.undefined) {
    switch (fs_record_written(e, r, &u->runs)) {
      case FS_WRITTEN_ALL:
      case FS_WRITTEN_OPEN: /* an error is what is known to be one */
        break;
      case FS_WRITTEN_SOME:
        right = false;
        break;
      case FS_WRITTEN_NONE:
      case FS_WRITTEN_NOT_ALL:
        right = u->writes;
        break;
    }
  }
  return right ? FSCHED_OK
               : fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG,
                                  "bytes of a buffer are read that nothing has written");
}

static fs_status check_declared(fs_dynamic *e, fs_dynamic_record *r, fs_dynamic_use *u) {
  u->place = r->place;
  bool none = r->owner == FS_DYNAMIC_NO_TASK, made = r->made_by == e->submission;
  if (!u->writes || !(none || u->whole)) {
    return check_present(e, r, u);
  }
  if (made && none) {
    u->version = FS_USE_JOINS;
    u->carve = e->use.at[r->made_at].carve;
    return FSCHED_OK;
  }
  u->version = none ? FS_USE_MAKES : FS_USE_RENEWS;
  e->makes = true;
  u->carve = e->need;
  e->need += fs_heap_rounded(r->size, e->heaps.ring[e->heap].room.align);
  r->made_by = e->submission;
  r->made_at = (uint32_t)e->use.n;
  return FSCHED_OK;
}

static fs_status add_use(fs_dynamic *e, const fs_dynamic_submission *s, uint32_t member,
                         const fs_dynamic_arg *a) {
  FS_TRY(fs_vec_ensure(e->ctx, &e->use, e->use.n + 1));
  fs_dynamic_use *u = &e->use.at[e->use.n]; /* it is large, and filled where it stays */
  u->member = member;
  u->version = FS_USE_PRESENT;
  u->reads = u->writes = u->whole = false;
  u->record = fs_record_of(e, a->buffer);
  if (u->record == FS_NONE) {
    return FSCHED_BAD_INPUT;
  }
  fs_dynamic_record *r = &e->record.at[u->record];
  FS_TRY(set_tag(e, a, u));
  FS_TRY(fs_record_runs(e, r, a->has_view ? &a->view : NULL, &u->runs));
  if (!s->checked && u->writes && a->has_view && fs_view_overlaps_itself(&a->view)) {
    return fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG, "a view that is written overlaps itself");
  }
  FS_TRY(r->owned ? check_declared(e, r, u) : check_imported(e, s, r, u));
  e->strided |= u->runs.n_dims > 0;
  e->use.n++;
  return FSCHED_OK;
}

static bool renews(const fs_dynamic_use *u) {
  switch (u->version) {
    case FS_USE_PRESENT:
    case FS_USE_MAKES:
    case FS_USE_JOINS:
      return false;
    case FS_USE_RENEWS:
      return true;
  }
  return false;
}

/* Whether two args touch the same bytes, and one of them, or both, write them. */
static bool uses_conflict(const fs_dynamic *e, const fs_dynamic_use *a, const fs_dynamic_use *b) {
  bool both = a->writes && b->writes, apart = a->member != b->member;
  if (a->place != b->place || !(both || (apart && e->tracks_reads))) {
    return false;
  }
  if (renews(a) || renews(b)) {
    return both;
  }
  bool accesses = (a->reads || a->writes) && (b->reads || b->writes);
  if (!accesses || !(a->writes || b->writes) || (apart && !e->tracks_reads)) {
    return false;
  }
  switch (fs_view_overlap(&a->runs, &b->runs, NULL)) {
    case FS_OVERLAP_NONE:
      return false;
    case FS_OVERLAP_PARTIAL:
      return true;
    case FS_OVERLAP_COVERED:
      return b->runs.run > 0;
  }
  return true;
}

static fs_status check_conflicts(fs_dynamic *e) {
  for (size_t i = 0; i < e->use.n; i++) {
    for (size_t k = i + 1; k < e->use.n; k++) {
      const fs_dynamic_use *a = &e->use.at[i], *b = &e->use.at[k];
      if (uses_conflict(e, a, b)) {
        return a->member == b->member
                   ? fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG,
                                      "two args of a task write overlapping bytes")
                   : fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG,
                                      "members %" PRIu32 " and %" PRIu32
                                      " of a group touch the same bytes, and one writes them",
                                      a->member, b->member);
      }
    }
  }
  return FSCHED_OK;
}

static fs_status check_amounts(fs_dynamic *e, const fs_dynamic_submission *s) {
  for (uint32_t i = 0; i < s->n_uses; i++) {
    const fs_dynamic_amount *u = &s->use[i];
    if (u->resource >= e->n_resources) {
      return fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG, "there is no resource %" PRIu32,
                              u->resource);
    }
    if (u->amount == 0 || u->amount > e->capacity[u->resource]) {
      return fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG,
                              "%" PRIu64 " of resource %" PRIu32 " are needed, and it has %" PRIu64,
                              u->amount, u->resource, e->capacity[u->resource]);
    }
    for (uint32_t k = 0; k < i; k++) {
      if (s->use[k].resource == u->resource) {
        return fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG, "resource %" PRIu32 " is named twice",
                                u->resource);
      }
    }
  }
  return FSCHED_OK;
}

/* Puts the scratch behind the versions that the task makes. */
static void add_scratch(fs_dynamic *e, const fs_dynamic_submission *s) {
  uint64_t align = e->heaps.ring[e->heap].room.align;
  e->scratch = e->need;
  for (uint32_t i = 0; i < s->n_scratch; i++) {
    e->need = fs_add_most(e->need, fs_heap_rounded(s->scratch[i], align));
  }
}

fs_status fs_submission_check(fs_dynamic *e, const fs_dynamic_submission *s) {
  FS_TRY(fs_run_accepts(e));
  FS_TRY(check_target(e, s));
  FS_TRY(check_amounts(e, s));
  assert(s->heap <= e->heaps.n);
  e->submission++;
  e->use.n = 0;
  e->need = 0;
  e->heap = s->heap > 0 ? s->heap - 1 : fs_heap_ring_of(e->n_scopes);
  e->strided = e->makes = false;
  for (uint32_t m = 0; m < s->n_members; m++) {
    for (uint32_t i = 0; i < s->member[m].n_args; i++) {
      FS_TRY(add_use(e, s, m, &s->member[m].arg[i]));
    }
  }
  for (uint32_t i = 0; i < s->n_predecessors; i++) {
    if (!fs_slot_was(e, s->predecessor[i].task)) {
      return fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG, "there is no such predecessor");
    }
  }
  add_scratch(e, s);
  FS_ASSERT_SLOW(!s->checked || check_conflicts(e) == FSCHED_OK);
  return s->checked ? FSCHED_OK : check_conflicts(e);
}
