/* SPDX-License-Identifier: Apache-2.0 */
/* Submitting: checks (check.c), memory, look-ups, and only then changes, for which all room is
 * there.  Waiting for memory may change everything, so the checks come again behind it. */
#include "base/context.h"
#include "base/saturate.h"
#include "exec/dynamic/private.h"

/* What a full heap waits by. */
typedef struct heap_wait {
  fs_dynamic *e;
  bool waited;
} heap_wait;

static uint64_t read_clock(void *user) {
  const fs_dynamic *e = ((heap_wait *)user)->e;
  return e->options.now == NULL ? 0 : e->options.now(e->options.user);
}

static bool wait_for_end(void *user, uint64_t until) {
  heap_wait *w = user;
  const fs_dynamic *e = w->e;
  w->waited = true;
  return e->options.wait != NULL && e->options.wait(e->options.user, until) && e->n_causes == 0;
}

/* Whether a task cannot be consumed before its run's user goes on: its scope is open, something
 * holds it, or it is memory that nobody has retained. */
static bool is_stuck(void *user, uint32_t owner) {
  const fs_dynamic *e = ((heap_wait *)user)->e;
  const fs_dynamic_slot *s = &e->slot.at[owner];
  if (s->holds > 0 || (fs_slot_ended(s) && s->releases == s->references + 1)) {
    return true;
  }
  return s->in_scope;
}

fs_status fs_submission_memory(fs_dynamic *e, uint64_t bytes, uint32_t *piece, bool *waited) {
  heap_wait user = {e, false};
  fs_heap_waiting w = {&user, e->options.timeout, read_clock, wait_for_end, is_stuck};
  uint32_t heap = e->heap;
  fs_status status = fs_heap_take(&e->heaps, heap, bytes, &w, piece);
  *waited = user.waited;
  if (status == FSCHED_REPLAY) {
    FS_TRY(fs_run_accepts(e)); /* which says why, if the run has failed meanwhile */
    return fs_heap_full(&e->heaps, heap, fs_heap_rounded(bytes, e->heaps.ring[heap].room.align),
                        "and nothing comes back any more");
  }
  return status;
}

/* Records a predecessor once. */
static fs_status add_found(fs_dynamic *e, uint32_t slot, bool waits, bool retains) {
  fs_dynamic_slot *s = &e->slot.at[slot];
  if (s->seen_by == e->submission) {
    fs_dynamic_found *f = &e->found.at[s->seen_at];
    f->waits = f->waits || waits;
    f->retains = f->retains || retains;
    return FSCHED_OK;
  }
  FS_TRY(fs_vec_push(e->ctx, &e->found, ((fs_dynamic_found){slot, waits, retains})));
  s->seen_by = e->submission;
  s->seen_at = (uint32_t)e->found.n - 1;
  return FSCHED_OK;
}

/* Looks up what an arg of the present version depends on. */
static fs_status look_up_use(fs_dynamic *e, const fs_dynamic_use *u, bool manual) {
  const fs_dynamic_record *r = &e->record.at[u->record];
  bool all = u->writes && e->tracks_reads;
  if (r->owned) {
    FS_TRY(add_found(e, (uint32_t)r->owner, false, true));
  }
  if (manual || !(u->reads || all)) {
    return FSCHED_OK;
  }
  FS_TRY(fs_accesses_find(&e->accesses, u->place, &u->runs, all));
  for (size_t i = 0; i < e->accesses.found.n; i++) {
    uint32_t access = e->accesses.found.at[i].access;
    FS_TRY(add_found(e, e->accesses.access.at[access].task, true, true));
  }
  return FSCHED_OK;
}

/* Where the buffer of an arg is, or will be.  Requires that versions are not made yet. */
static fs_dynamic_where where_of(const fs_dynamic *e, const fs_dynamic_use *u, uint32_t piece) {
  const fs_dynamic_record *r = &e->record.at[u->record];
  const fs_heap_piece *p = &e->heaps.piece.at[piece];
  switch (u->version) {
    case FS_USE_PRESENT:
      return (fs_dynamic_where){r->heap, r->owned ? r->offset : r->address, r->size};
    case FS_USE_MAKES:
    case FS_USE_JOINS:
    case FS_USE_RENEWS:
      break;
  }
  return (fs_dynamic_where){p->ring, p->offset + u->carve, r->size};
}

static void find_scratch(const fs_dynamic *e, const fs_dynamic_submission *s, uint32_t piece,
                         fs_dynamic_where *where) {
  const fs_heap_piece *p = &e->heaps.piece.at[piece];
  uint64_t at = p->offset + e->scratch;
  for (uint32_t i = 0; i < s->n_scratch; i++) {
    where[i] = (fs_dynamic_where){p->ring, at, s->scratch[i]};
    at += fs_heap_rounded(s->scratch[i], e->heaps.ring[p->ring].room.align);
  }
}

/* Finds the task's predecessors, and where its args and its scratch are (`where` may be NULL). */
static fs_status look_up(fs_dynamic *e, const fs_dynamic_submission *s, uint32_t piece,
                         fs_dynamic_where *where) {
  size_t n = e->use.n; /* there may be no list at all */
  e->found.n = 0;
  for (size_t k = 0; k < n; k++) {
    const fs_dynamic_use *u = &e->use.at[k];
    if (u->version == FS_USE_PRESENT) {
      FS_TRY(look_up_use(e, u, s->manual));
    }
    if (where != NULL) {
      *where++ = where_of(e, u, piece);
    }
  }
  for (uint32_t i = 0; i < s->n_predecessors; i++) {
    const fs_dynamic_predecessor *p = &s->predecessor[i];
    if (fs_slot_lives(e, p->task) && (p->waits || p->retains)) {
      FS_TRY(add_found(e, (uint32_t)p->task, p->waits, p->retains));
    }
  }
  if (where != NULL) {
    find_scratch(e, s, piece, where);
  }
  return FSCHED_OK;
}

/* Whether a task needs more than one queue. */
static bool needs_more(const fs_dynamic_submission *s) { return s->n_members > 1 || s->n_uses > 0; }

/* Copies of what a task names, if it needs more than one queue. */
typedef struct named_needs {
  uint32_t *queues;
  fs_dynamic_amount *amounts;
} named_needs;

static void drop_needs(fs_dynamic *e, const fs_dynamic_submission *s, named_needs *n) {
  n->queues = fs_realloc(e->ctx, n->queues, s->n_members * sizeof *n->queues, 0);
  n->amounts = fs_realloc(e->ctx, n->amounts, s->n_uses * sizeof *n->amounts, 0);
}

static fs_status copy_needs(fs_dynamic *e, const fs_dynamic_submission *s, named_needs *n) {
  if (needs_more(s) && s->n_queues > 0) {
    n->queues = fs_realloc(e->ctx, NULL, 0, s->n_members * sizeof *n->queues);
    if (n->queues == NULL) {
      return FSCHED_SYSTEM;
    }
    memcpy(n->queues, s->queue, s->n_members * sizeof *n->queues);
  }
  if (s->n_uses > 0) {
    n->amounts = fs_realloc(e->ctx, NULL, 0, s->n_uses * sizeof *n->amounts);
    if (n->amounts == NULL) {
      drop_needs(e, s, n);
      return FSCHED_SYSTEM;
    }
    memcpy(n->amounts, s->use, s->n_uses * sizeof *n->amounts);
  }
  return FSCHED_OK;
}

/* Room for everything that a submission adds. */
static fs_status reserve_room(fs_dynamic *e, const fs_dynamic_submission *s, named_needs *needs) {
  FS_TRY(fs_slot_reserve(e, (uint32_t)e->found.n));
  FS_TRY(fs_accesses_reserve(&e->accesses, (uint32_t)e->use.n, (uint32_t)e->slot.n, e->strided));
  FS_TRY(fs_record_reserve(e, e->use.n));
  return copy_needs(e, s, needs);
}

/* Makes the task's versions, and then adds its accesses; those of a version that it has renewed
 * matter to nobody. */
static void insert_uses(fs_dynamic *e, uint32_t slot, uint32_t piece) {
  size_t n = e->use.n; /* there may be no list at all */
  for (size_t k = 0; k < n && e->makes; k++) {
    const fs_dynamic_use *u = &e->use.at[k];
    switch (u->version) {
      case FS_USE_PRESENT:
      case FS_USE_JOINS:
        break;
      case FS_USE_MAKES:
      case FS_USE_RENEWS:
        fs_record_renew(e, u->record, fs_slot_handle(e, slot), piece, u->carve);
        break;
    }
  }
  for (size_t k = 0; k < n; k++) {
    const fs_dynamic_use *u = &e->use.at[k];
    const fs_dynamic_record *r = &e->record.at[u->record];
    bool past = e->makes && u->version == FS_USE_PRESENT && r->made_by == e->submission;
    if (past || !(u->writes || (u->reads && e->tracks_reads))) {
      continue;
    }
    if (u->writes) {
      fs_record_write(e, u->record, &u->runs, u->whole);
    }
    fs_accesses_insert(&e->accesses, u->place, slot, &u->runs, !u->writes);
  }
}

static uint32_t list_of(const fs_dynamic *e, const fs_dynamic_submission *s) {
  return needs_more(s) ? 2 * e->n_queues : s->n_queues == 1 ? s->queue[0] : e->n_queues + s->class_;
}

/* Adds the task; nothing can fail any more. */
static fs_dynamic_task add_task(fs_dynamic *e, const fs_dynamic_submission *s, uint32_t piece,
                                const named_needs *needs) {
  uint32_t slot = fs_slot_take(e, piece);
  for (size_t i = 0; i < e->found.n; i++) {
    fs_slot_follow(e, slot, &e->found.at[i]);
  }
  insert_uses(e, slot, piece);
  fs_dynamic_slot *t = &e->slot.at[slot];
  t->n_members = s->n_members;
  t->queues = needs->queues;
  t->amounts = needs->amounts;
  t->n_amounts = s->n_uses;
  t->class_ = s->class_;
  t->list = list_of(e, s);
  t->user = s->user;
  t->holds = s->n_holds;
  t->references += s->n_holds;
  e->n_holds += s->n_holds;
  t->state = FS_TASK_PENDING;
  e->n_unfinished++;
  if (t->n_waits == 0) {
    fs_ready_add(e, slot);
  }
  return fs_slot_handle(e, slot);
}

fs_status fs_dynamic_submit(fs_dynamic *e, const fs_dynamic_submission *s, fs_dynamic_task *out,
                            fs_dynamic_where *where) {
  uint32_t piece;
  named_needs needs = {NULL, NULL};
  bool waited;
  FS_TRY(fs_submission_check(e, s));
  FS_TRY(fs_submission_memory(e, e->need, &piece, &waited));
  fs_status status = waited ? fs_submission_check(e, s) : FSCHED_OK;
  status = status == FSCHED_OK ? look_up(e, s, piece, where) : status;
  status = status == FSCHED_OK ? reserve_room(e, s, &needs) : status;
  if (status != FSCHED_OK) {
    fs_heap_undo(&e->heaps, piece);
    return status;
  }
  *out = add_task(e, s, piece, &needs);
  return FSCHED_OK;
}

/* Declares a buffer with a version in e->heap, which belongs to a task of its own. */
static fs_status make_version(fs_dynamic *e, uint64_t size, fs_dynamic_buffer *out,
                              uint32_t *slot) {
  uint32_t piece;
  bool waited;
  FS_TRY(fs_submission_memory(e, size, &piece, &waited));
  fs_status status = waited ? fs_run_accepts(e) : FSCHED_OK;
  status = status == FSCHED_OK ? fs_slot_reserve(e, 0) : status;
  status = status == FSCHED_OK ? fs_accesses_reserve(&e->accesses, 0, (uint32_t)e->slot.n, false)
                               : status;
  status = status == FSCHED_OK ? fs_dynamic_declare(e, size, out) : status;
  if (status != FSCHED_OK) {
    fs_heap_undo(&e->heaps, piece);
    return status;
  }
  *slot = fs_slot_take(e, piece);
  e->slot.at[*slot].state = FS_TASK_COMPLETED;
  e->slot.at[*slot].releases = 1;
  fs_record_renew(e, (uint32_t)*out, fs_slot_handle(e, *slot), piece, 0);
  return FSCHED_OK;
}

fs_status fs_dynamic_alloc(fs_dynamic *e, uint32_t n_dims, const uint64_t *shape, uint64_t element,
                           fs_dynamic_buffer *out, fs_dynamic_task *task) {
  uint64_t size = element;
  for (uint32_t d = 0; d < n_dims; d++) {
    size = fs_multiply_most(size, shape[d]);
  }
  if (n_dims == 0 || size == 0) {
    return fs_dynamic_error(e, FSCHED_BAD_INPUT, ARG, "memory is asked for without a dimension");
  }
  FS_TRY(fs_run_accepts(e));
  uint32_t slot;
  fs_dynamic_buffer buffer;
  e->heap = fs_heap_ring_of(e->n_scopes);
  FS_TRY(make_version(e, size, &buffer, &slot));
  *task = fs_slot_handle(e, slot);
  *out = buffer;
  return FSCHED_OK;
}

fs_status fs_dynamic_make(fs_dynamic *e, uint32_t heap, uint64_t size, fs_dynamic_buffer *out,
                          fs_dynamic_task *task, fs_dynamic_where *where) {
  assert(heap < e->heaps.n);
  FS_TRY(fs_run_accepts(e));
  uint32_t slot;
  e->heap = heap;
  FS_TRY(make_version(e, size, out, &slot));
  fs_dynamic_slot *s = &e->slot.at[slot];
  s->holds++;
  s->references++;
  e->n_holds++;
  *task = fs_slot_handle(e, slot);
  if (where != NULL) {
    const fs_dynamic_record *r = &e->record.at[(uint32_t)*out];
    *where = (fs_dynamic_where){r->heap, r->offset, r->size};
  }
  return FSCHED_OK;
}
