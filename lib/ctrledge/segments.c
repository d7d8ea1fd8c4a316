/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the segments of residencies.  Places are aligned, so two residencies that share an aligned
 * cell both touch its first byte, and cells can stand for bytes.  With byte ranges this is not so;
 * memories with ranges use the bytes that are really touched.
 *
 * The segment of content that is given or kept where it lives is whole as well.  Bytes of it that
 * no item touches are in place from the begin, or must be there at the end, so other items use the
 * memory after its last access, or before its first.
 *
 * Where items get new times later (kinds of sync other than timelines), the plan has to keep whole
 * residencies apart, and not only the bytes that are touched.  Then a segment is a residency, too,
 * with all of its accesses. */
#include "ctrledge/segments.h"

#include "base/radix.h"

typedef struct segment_maker {
  const fs_schedule *s;
  bool whole; /* the kind of sync keeps whole residencies apart */
  bool open;  /* queues will be chosen anew */
  bool apart; /* with barriers: an item tells of its own end alone */
  const fs_accesses *acc;
  const fs_lags *lags;
  fs_segments *out;
  bool *exact;             /* per memory: has accesses by ranges */
  uint32_t *item_seg;      /* per item: the last segment that has it as a member */
  uint32_t *item_slot;     /* per item: its index in `member` of that segment */
  uint32_t *queue_seg;     /* per queue: the last segment with a plain item of the queue */
  uint32_t *queue_slot;    /* per queue: the index of the latest such item */
  FS_VEC(uint32_t) member; /* the distinct items of the present segment */
  FS_VEC(uint8_t) state;   /* per member: NOT_FIRST, NOT_LAST */
  FS_VEC(uint64_t) cut;    /* where ranges begin and end; twice the room, for sorting */
} segment_maker;

enum { NOT_FIRST = 1, NOT_LAST = 2 };

static bool whole(const fs_accesses *acc, uint32_t access) {
  return acc->high[access] == FS_UNBOUNDED;
}

static const fs_memory *memory_of(const segment_maker *m, uint32_t residency) {
  return &m->s->graph->target.memory[m->s->res_memory[residency]];
}

/* Is content given or kept where it lives, so that all of it is there, touched or not? */
static bool stays(const segment_maker *m, uint32_t residency) {
  uint32_t version = m->s->res_version[residency];
  return version != FS_NONE && !fs_memory_spills(memory_of(m, residency)) &&
         (fs_version_given(m->s->graph, version) || fs_version_kept(m->s->graph, version));
}

/* Does a residency hold units of a counted memory, touched or not? */
static bool counted(const segment_maker *m, uint32_t residency) {
  return !fs_placement_has_addresses(memory_of(m, residency)->placement);
}

/* Does an access hold the whole residency, whatever it touches? */
static bool holds_all(const segment_maker *m, uint32_t residency) {
  return stays(m, residency) || m->whole || counted(m, residency);
}

static void order(segment_maker *m, uint32_t before, uint32_t after) {
  m->state.at[before] |= NOT_LAST;
  m->state.at[after] |= NOT_FIRST;
}

/* Orders two members by their queue.  The end of a slow one is implied by another slow one alone,
 * which nobody follows without a wait for its epoch; and by none where each tells of its own end.
 */
static void order_by_queue(segment_maker *m, uint32_t before, uint32_t after) {
  bool ends = !fs_item_slow(m->s, m->member.at[before]) ||
              (!m->apart && fs_item_slow(m->s, m->member.at[after]));
  m->state.at[before] |= ends ? NOT_LAST : 0;
  m->state.at[after] |= NOT_FIRST;
}

/* Does an edge order one item after another as a whole? */
static bool is_ordered(const segment_maker *m, uint32_t before, uint32_t after) {
  if (!fs_direct_edge(m->s, m->acc, before, after)) {
    return false;
  }
  bool ops =
      m->lags->lag != NULL && !fs_item_is_copy(m->s, before) && !fs_item_is_copy(m->s, after);
  uint32_t edge = ops ? fs_lags_edge(m->s->graph, before, after) : FS_NONE;
  return edge == FS_NONE || !fs_lags_some(m->lags, edge);
}

/* Orders the member `slot` after its predecessors in the same segment. */
static void order_by_edges(segment_maker *m, uint32_t seg, uint32_t slot) {
  const fsched_graph *g = m->s->graph;
  uint32_t item = m->member.at[slot];
  bool op = !fs_item_is_copy(m->s, item);
  uint32_t n_preds = (op ? g->pred0[item + 1] - g->pred0[item] : 0) +
                     (m->acc->data0[item + 1] - m->acc->data0[item]);
  if (n_preds / 8 > slot) { /* there are fewer members than predecessors */
    for (uint32_t i = 0; i < slot; i++) {
      if (is_ordered(m, m->member.at[i], item)) {
        order(m, i, slot);
      }
    }
    return;
  }
  for (uint32_t i = m->acc->data0[item]; i < m->acc->data0[item + 1]; i++) {
    if (m->item_seg[m->acc->data[i]] == seg) {
      order(m, m->item_slot[m->acc->data[i]], slot);
    }
  }
  for (uint32_t i = op ? g->pred0[item] : 0; op && i < g->pred0[item + 1]; i++) {
    if (m->item_seg[g->pred[i]] == seg && !fs_lags_some(m->lags, i)) {
      order(m, m->item_slot[g->pred[i]], slot);
    }
  }
}

static fs_status add_member(segment_maker *m, uint32_t seg, uint32_t item) {
  FS_ASSERT_SLOW(item < m->s->n_items);
  if (m->item_seg[item] == seg) {
    return FSCHED_OK;
  }
  uint32_t slot = (uint32_t)m->member.n;
  fsched_context *ctx = m->out->ctx;
  FS_TRY(fs_vec_push(ctx, &m->member, item));
  FS_TRY(fs_vec_push(ctx, &m->state, 0));
  m->item_seg[item] = seg;
  m->item_slot[item] = slot;
  if (!m->open && fs_item_plain(m->s, item)) {
    uint32_t q = m->s->queue[item];
    if (m->queue_seg[q] == seg) {
      order_by_queue(m, m->queue_slot[q], slot);
    }
    m->queue_seg[q] = seg;
    m->queue_slot[q] = slot;
  }
  order_by_edges(m, seg, slot);
  return FSCHED_OK;
}

/* Adds the segment of a residency's offsets [low, high), with the accesses that touch all of it. */
static fs_status add_segment(segment_maker *m, uint32_t r, uint64_t low, uint64_t high) {
  FS_ASSERT_SLOW(r < m->s->n_residencies);
  FS_ASSERT_SLOW(low <= high);
  fs_segments *out = m->out;
  uint32_t seg = out->n;
  bool all = holds_all(m, r);
  m->member.n = 0;
  m->state.n = 0;
  for (uint32_t i = m->acc->res0[r]; i < m->acc->res0[r + 1]; i++) {
    if (all || (m->acc->low[i] <= low && high <= m->acc->high[i])) {
      FS_TRY(add_member(m, seg, m->acc->item[i]));
    }
  }
  if (m->member.n == 0 && !counted(m, r)) {
    return FSCHED_OK;
  }
  for (uint32_t i = 0; i < m->member.n; i++) {
    if ((m->state.at[i] & NOT_FIRST) == 0) {
      FS_TRY(fs_vec_push(out->ctx, &out->first, m->member.at[i]));
    }
    if ((m->state.at[i] & NOT_LAST) == 0) {
      FS_TRY(fs_vec_push(out->ctx, &out->last, m->member.at[i]));
    }
  }
  FS_TRY(fs_vec_push(out->ctx, &out->residency, r));
  FS_TRY(fs_vec_push(out->ctx, &out->low, low));
  FS_TRY(fs_vec_push(out->ctx, &out->high, high));
  FS_TRY(fs_vec_push(out->ctx, &out->first0, (uint32_t)out->first.n));
  FS_TRY(fs_vec_push(out->ctx, &out->last0, (uint32_t)out->last.n));
  out->n++;
  return FSCHED_OK;
}

/* The number of bytes that are touched, before alignment. */
static uint64_t touched_size(const fs_schedule *s, uint32_t r) {
  const fsched_graph *g = s->graph;
  if (s->res_version[r] != FS_NONE) {
    return fs_version_size(g, s->res_version[r]);
  }
  uint32_t op = s->res_op[r];
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    if (s->scratch_residency[i] == r) {
      return g->scratch_size[i];
    }
  }
  return s->res_size[r];
}

static fs_status cut_by_ranges(segment_maker *m, uint32_t r, uint64_t size) {
  assert(size > 0);
  fsched_context *ctx = m->out->ctx;
  m->cut.n = 0;
  FS_TRY(fs_vec_push(ctx, &m->cut, 0));
  FS_TRY(fs_vec_push(ctx, &m->cut, size));
  for (uint32_t i = m->acc->res0[r]; i < m->acc->res0[r + 1]; i++) {
    if (!whole(m->acc, i)) {
      FS_TRY(fs_vec_push(ctx, &m->cut, m->acc->low[i]));
      FS_TRY(fs_vec_push(ctx, &m->cut, m->acc->high[i]));
    }
  }
  size_t n = m->cut.n;
  FS_TRY(fs_vec_reserve(ctx, &m->cut, 2 * n));
  fs_radix_sort_block(m->cut.at, n);
  for (size_t i = 1; i < n; i++) {
    if (m->cut.at[i - 1] < m->cut.at[i]) {
      FS_TRY(add_segment(m, r, m->cut.at[i - 1], m->cut.at[i]));
    }
  }
  return FSCHED_OK;
}

static fs_status add_residency(segment_maker *m, uint32_t r) {
  if (!m->exact[m->s->res_memory[r]]) {
    return add_segment(m, r, 0, m->s->res_size[r]);
  }
  bool ranges = false;
  for (uint32_t i = m->acc->res0[r]; !holds_all(m, r) && i < m->acc->res0[r + 1]; i++) {
    ranges = ranges || !whole(m->acc, i);
  }
  uint64_t size = touched_size(m->s, r);
  return ranges ? cut_by_ranges(m, r, size) : add_segment(m, r, 0, size);
}

static fs_status prepare_segments(segment_maker *m, fs_arena *scratch) {
  const fs_schedule *s = m->s;
  FS_TRY(fs_new_zero(scratch, &m->exact, s->graph->target.n_memories));
  FS_TRY(fs_new_none(scratch, &m->item_seg, s->n_items));
  FS_TRY(fs_new(scratch, &m->item_slot, s->n_items));
  FS_TRY(fs_new_none(scratch, &m->queue_seg, s->n_queues));
  FS_TRY(fs_new(scratch, &m->queue_slot, s->n_queues));
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    uint32_t memory = s->res_memory[r];
    if (holds_all(m, r)) {
      continue;
    }
    for (uint32_t i = m->acc->res0[r]; i < m->acc->res0[r + 1] && !m->exact[memory]; i++) {
      m->exact[memory] = !whole(m->acc, i);
    }
  }
  return FSCHED_OK;
}

static fs_status make_segments(segment_maker *m, fs_arena *scratch) {
  FS_TRY(prepare_segments(m, scratch));
  FS_TRY(fs_vec_push(m->out->ctx, &m->out->first0, 0));
  FS_TRY(fs_vec_push(m->out->ctx, &m->out->last0, 0));
  for (uint32_t r = 0; r < m->s->n_residencies; r++) {
    if (m->s->res_size[r] > 0) {
      FS_TRY(add_residency(m, r));
    }
  }
  return FSCHED_OK;
}

/* Do items get new times later? */
static bool retimed(fs_sync_kind kind) {
  switch (kind) {
    case FS_SYNC_TIMELINE:
      return false;
    case FS_SYNC_BARRIER:
    case FS_SYNC_BLOCK:
      break;
  }
  return true;
}

fs_status fs_segments_make(fsched_context *ctx, const fs_schedule *s, fs_sync_kind kind,
                           bool queues_open, const fs_accesses *acc, const fs_lags *lags,
                           fs_segments *out) {
  assert(acc->res0 != NULL && acc->position != NULL);
  *out = (fs_segments){.ctx = ctx};
  segment_maker m = {.s = s,
                     .whole = retimed(kind),
                     .open = queues_open,
                     .apart = fs_sync_has_barriers(kind),
                     .acc = acc,
                     .lags = lags,
                     .out = out};
  FS_SCRATCH(scratch, ctx);
  fs_status status = make_segments(&m, &scratch);
  fs_vec_free(ctx, &m.member);
  fs_vec_free(ctx, &m.state);
  fs_vec_free(ctx, &m.cut);
  return status;
}

void fs_segments_release(fs_segments *segs) {
  fsched_context *ctx = segs->ctx;
  fs_vec_free(ctx, &segs->residency);
  fs_vec_free(ctx, &segs->low);
  fs_vec_free(ctx, &segs->high);
  fs_vec_free(ctx, &segs->first0);
  fs_vec_free(ctx, &segs->first);
  fs_vec_free(ctx, &segs->last0);
  fs_vec_free(ctx, &segs->last);
}
