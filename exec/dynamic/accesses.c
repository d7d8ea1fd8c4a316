/* SPDX-License-Identifier: Apache-2.0 */
/* The trees of a place have the span of each access, from its first byte to its last, by the
 * access's id.  What they find is then compared exactly. */
#include "exec/dynamic/accesses.h"

#include <stdlib.h>

void fs_accesses_init(fs_access_map *m, fsched_context *ctx) {
  assert(ctx != NULL);
  *m = (fs_access_map){.ctx = ctx, .unused = FS_NONE};
  fs_ranges_init(&m->spans, ctx);
}

void fs_accesses_release(fs_access_map *m) {
  fs_ranges_release(&m->spans);
  fs_vec_free(m->ctx, &m->access);
  fs_vec_free(m->ctx, &m->strided);
  fs_vec_free(m->ctx, &m->place);
  fs_vec_free(m->ctx, &m->of_task);
  fs_vec_free(m->ctx, &m->near);
  fs_vec_free(m->ctx, &m->found);
}

fs_status fs_accesses_places(fs_access_map *m, uint32_t n, uint32_t *first) {
  FS_TRY(fs_vec_ensure(m->ctx, &m->place, m->place.n + n));
  *first = (uint32_t)m->place.n;
  for (uint32_t i = 0; i < n; i++) {
    m->place.at[m->place.n++] = (fs_access_place){FS_NONE, FS_NONE};
  }
  return FSCHED_OK;
}

fs_status fs_accesses_reserve(fs_access_map *m, uint32_t n, uint32_t n_tasks, bool strided) {
  assert(m->access.n + n < FS_NONE);
  if (strided) {
    FS_TRY(fs_vec_ensure(m->ctx, &m->strided, m->access.n + n));
  }
  FS_TRY(fs_vec_ensure(m->ctx, &m->access, m->access.n + n));
  FS_TRY(fs_ranges_reserve(&m->spans, n));
  FS_TRY(fs_vec_ensure(m->ctx, &m->near, m->access.n + n));
  FS_TRY(fs_vec_ensure(m->ctx, &m->of_task, n_tasks));
  while (m->of_task.n < n_tasks) {
    m->of_task.at[m->of_task.n++] = FS_NONE;
  }
  return FSCHED_OK;
}

static uint64_t span_end(const fs_view_runs *r) { return r->offset + r->extent[0]; }
static bool is_strided(const fs_view_runs *r) { return r->n_dims > 0; }

static uint32_t *set_of(fs_access_map *m, const fs_task_access *a) {
  fs_access_place *p = &m->place.at[a->place];
  return a->reads ? &p->reads : &p->writes;
}

static void drop_access(fs_access_map *m, uint32_t id) {
  fs_task_access *a = &m->access.at[id];
  fs_ranges_remove(&m->spans, set_of(m, a), a->low, a->high, id);
  if (a->next == FS_NONE) {
    m->of_task.at[a->task] = a->previous;
  } else {
    m->access.at[a->next].previous = a->previous;
  }
  if (a->previous != FS_NONE) {
    m->access.at[a->previous].next = a->next;
  }
  a->next = m->unused;
  m->unused = id;
  m->n--;
}

static fs_status find_near(fs_access_map *m, uint32_t set, const fs_view_runs *runs) {
  uint64_t covered;
  return set == FS_NONE
             ? FSCHED_OK
             : fs_ranges_find(&m->spans, set, runs->offset, span_end(runs), &m->near, &covered);
}

/* How the bytes of a view lie to those of an access, whose spans meet.  Most are single runs. */
static fs_overlap compare_runs(const fs_access_map *m, const fs_view_runs *probe, uint32_t id) {
  const fs_task_access *a = &m->access.at[id];
  assert(probe->offset < a->high && a->low < span_end(probe));
  if (is_strided(probe) || a->strided) {
    fs_view_runs one = fs_view_range(a->low, a->high - a->low);
    return fs_view_overlap(probe, a->strided ? &m->strided.at[id] : &one, NULL);
  }
  return probe->offset <= a->low && a->high <= span_end(probe) ? FS_OVERLAP_COVERED
                                                               : FS_OVERLAP_PARTIAL;
}

static int compare_order(const void *a, const void *b) {
  const fs_access_order *x = a, *y = b;
  return x->order < y->order ? -1 : x->order > y->order;
}

fs_status fs_accesses_find(fs_access_map *m, uint32_t place, const fs_view_runs *runs, bool reads) {
  assert(place < m->place.n);
  const fs_access_place *p = &m->place.at[place];
  m->near.n = m->found.n = 0;
  if (runs->run == 0 || (p->writes == FS_NONE && (p->reads == FS_NONE || !reads))) {
    return FSCHED_OK;
  }
  FS_TRY(find_near(m, p->writes, runs));
  if (reads) {
    FS_TRY(find_near(m, p->reads, runs));
  }
  for (size_t i = 0; i < m->near.n; i++) {
    const fs_task_access *a = &m->access.at[m->near.at[i]];
    switch (compare_runs(m, runs, m->near.at[i])) {
      case FS_OVERLAP_NONE:
        break;
      case FS_OVERLAP_PARTIAL:
      case FS_OVERLAP_COVERED:
        FS_TRY(fs_vec_push(m->ctx, &m->found, ((fs_access_order){a->order, m->near.at[i]})));
        break;
    }
  }
  if (m->found.n > 1) {
    qsort(m->found.at, m->found.n, sizeof *m->found.at, compare_order);
  }
  return FSCHED_OK;
}

/* Takes out those of a set that a write covers. */
static void drop_covered(fs_access_map *m, uint32_t set, const fs_view_runs *runs) {
  m->near.n = 0;
  fs_status status = find_near(m, set, runs);
  assert(status == FSCHED_OK); /* there is room for all accesses */
  (void)status;
  for (size_t i = 0; i < m->near.n; i++) {
    switch (compare_runs(m, runs, m->near.at[i])) {
      case FS_OVERLAP_NONE:
      case FS_OVERLAP_PARTIAL:
        break;
      case FS_OVERLAP_COVERED:
        drop_access(m, m->near.at[i]);
        break;
    }
  }
}

static uint32_t new_access(fs_access_map *m) {
  uint32_t id = m->unused;
  if (id == FS_NONE) {
    assert(m->access.n < m->access.cap);
    id = (uint32_t)m->access.n++;
  } else {
    m->unused = m->access.at[id].next;
  }
  m->n++;
  return id;
}

void fs_accesses_insert(fs_access_map *m, uint32_t place, uint32_t task, const fs_view_runs *runs,
                        bool reads) {
  assert(place < m->place.n);
  if (runs->run == 0) {
    return;
  }
  if (!reads && m->place.at[place].writes != FS_NONE) {
    drop_covered(m, m->place.at[place].writes, runs);
  }
  if (!reads && m->place.at[place].reads != FS_NONE) {
    drop_covered(m, m->place.at[place].reads, runs);
  }
  uint32_t id = new_access(m), previous = m->of_task.at[task];
  fs_task_access *a = &m->access.at[id];
  *a = (fs_task_access){.low = runs->offset,
                        .high = span_end(runs),
                        .order = m->next_order++,
                        .task = task,
                        .place = place,
                        .previous = previous,
                        .next = FS_NONE,
                        .reads = reads,
                        .strided = is_strided(runs)};
  if (a->strided) {
    assert(id < m->strided.cap);
    m->strided.at[id] = *runs;
  }
  if (previous != FS_NONE) {
    m->access.at[previous].next = id;
  }
  m->of_task.at[task] = id;
  fs_status status = fs_ranges_add(&m->spans, set_of(m, a), a->low, a->high, id);
  assert(status == FSCHED_OK); /* room was reserved */
  (void)status;
}

void fs_accesses_drop_task(fs_access_map *m, uint32_t task) {
  assert(task < m->of_task.n);
  while (m->of_task.at[task] != FS_NONE) {
    drop_access(m, m->of_task.at[task]);
  }
}

void fs_accesses_drop_place(fs_access_map *m, uint32_t place) {
  assert(place < m->place.n);
  fs_access_place *p = &m->place.at[place];
  while (p->writes != FS_NONE) {
    drop_access(m, m->spans.node.at[p->writes].op);
  }
  while (p->reads != FS_NONE) {
    drop_access(m, m->spans.node.at[p->reads].op);
  }
}
