/* SPDX-License-Identifier: Apache-2.0 */
/* For each memory, a sweep over the begins and ends of its residencies, in order of time.
 *
 * The bytes in use are the addresses that some residency covers (model/cover.h), not the sum of the
 * sizes, as residencies may share addresses at a time.  Counted memories have no addresses; there
 * the bytes in use are the sum of the sizes. */
#include <stdlib.h>

#include "draw/trace/private.h"
#include "fsched/graph.h"
#include "model/cover.h"

typedef struct residency_change {
  uint64_t time;
  uint32_t memory, id; /* id: 2 * residency, plus 1 for its end */
} residency_change;

static int by_memory_and_time(const void *a, const void *b) {
  const residency_change *x = a, *y = b;
  if (x->memory != y->memory) {
    return x->memory < y->memory ? -1 : 1;
  }
  if (x->time != y->time) {
    return x->time < y->time ? -1 : 1;
  }
  return x->id < y->id ? -1 : x->id > y->id;
}

static uint64_t last_end(const fs_stream *s, const fs_trace_run *run) {
  uint64_t last = 0;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    last = fs_max(last, run->end[c]);
  }
  return last;
}

static fs_status find_changes(const fs_tracer *r, fs_arena *arena, residency_change **changes,
                              size_t *n) {
  const fs_stream_residencies *x = &r->residencies;
  fs_time_span *span;
  FS_TRY(fs_new(arena, &span, x->n));
  FS_TRY(fs_new(arena, changes, 2 * (size_t)x->n));
  fs_stream_residencies_time(x, r->run->begin, r->run->end, last_end(r->s, r->run), span);
  *n = 0;
  for (uint32_t i = 0; i < x->n; i++) {
    if (x->size[i] > 0 && span[i].begin < span[i].end) {
      (*changes)[(*n)++] = (residency_change){span[i].begin, x->memory[i], 2 * i};
      (*changes)[(*n)++] = (residency_change){span[i].end, x->memory[i], 2 * i + 1};
    }
  }
  if (*n > 1) {
    qsort(*changes, *n, sizeof **changes, by_memory_and_time);
  }
  return FSCHED_OK;
}

/* Makes the empty cover for the residencies in these changes. */
static fs_status make_cover(const fs_tracer *r, fs_arena *arena, const residency_change *c,
                            size_t n, fs_cover *v) {
  const fs_stream_residencies *x = &r->residencies;
  uint64_t *border;
  FS_TRY(fs_new(arena, &border, 2 * n));
  for (size_t i = 0; i < n; i++) {
    uint32_t id = c[i].id / 2;
    border[i] = x->address[id] + (c[i].id % 2 == 0 ? 0 : x->size[id]);
  }
  return fs_cover_init(v, arena, border, (uint32_t)n);
}

/* The bytes in use after a change; `bytes` are those before it. */
static uint64_t apply(const fs_tracer *r, fs_cover *v, const residency_change *c, uint64_t bytes) {
  uint32_t id = c->id / 2;
  uint64_t address = r->residencies.address[id], size = r->residencies.size[id];
  bool begins = c->id % 2 == 0;
  if (!fs_placement_has_addresses(r->s->memories[c->memory].placement)) {
    return begins ? bytes + size : bytes - size;
  }
  fs_cover_change(v, address, size, begins);
  return fs_cover_bytes(v);
}

static void put_count(fs_tracer *r, uint32_t memory, uint64_t time, uint64_t bytes) {
  const fs_stream_memory *m = &r->s->memories[memory];
  fs_trace_begin(r, "C");
  fs_trace_time(r, "ts", time);
  fs_text_puts(&r->text, ",\"name\":");
  fs_text_puts(&r->word, fs_stream_string(r->s, m->name));
  fs_text_puts(&r->word, " (capacity ");
  fs_text_u64(&r->word, m->capacity);
  fs_text_puts(&r->word, ")");
  fs_trace_word(r);
  fs_text_puts(&r->text, ",\"args\":{\"bytes\":");
  fs_text_u64(&r->text, bytes);
  fs_text_puts(&r->text, "}}");
}

/* Writes one memory's counter from its changes: a value at time 0, then one wherever it differs. */
static void put_counter(fs_tracer *r, fs_cover *v, uint32_t memory, const residency_change *c,
                        size_t n) {
  uint64_t bytes = 0, shown = 0;
  if (n == 0 || c[0].time > 0) {
    put_count(r, memory, 0, 0);
  }
  for (size_t i = 0; i < n;) {
    uint64_t time = c[i].time;
    for (; i < n && c[i].time == time; i++) {
      bytes = apply(r, v, &c[i], bytes);
    }
    if (bytes != shown) {
      put_count(r, memory, time, bytes);
      shown = bytes;
    }
  }
}

fs_status fs_trace_counters(fs_tracer *r, fs_arena *arena) {
  residency_change *c;
  size_t n, end = 0;
  FS_TRY(find_changes(r, arena, &c, &n));
  for (uint32_t m = 0; m < r->s->n_memories; m++) {
    size_t first = end;
    while (end < n && c[end].memory == m) {
      end++;
    }
    if (r->s->memories[m].capacity != FS_UNBOUNDED) {
      fs_cover v;
      FS_TRY(make_cover(r, arena, c + first, end - first, &v));
      put_counter(r, &v, m, c + first, end - first);
    }
  }
  return FSCHED_OK;
}
