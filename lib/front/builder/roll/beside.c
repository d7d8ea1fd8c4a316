/* SPDX-License-Identifier: Apache-2.0 */
/* What lies in memory beside a loop, from before its end to behind it, and that the loop does not
 * touch.  Where a memory has no way out for it, the loop's slots have to do with the rest.
 *
 * Other loops are one op, as they will be.  An op is before the loop if a path of edges leads to
 * one of its iterations, and behind it if one leads there from the loop.  Content lies beside it if
 * it is used before it, and needed behind it.  Other content may lie there, too, as ops begin when
 * they can: whether there is a schedule with what is left, fit.c tries. */
#include "base/saturate.h"
#include "front/builder/roll/roll.h"

typedef struct beside_finder {
  const fs_roller *r;
  const fsched_graph *g; /* a sample, in which loops around this one run once */
  uint32_t loop;
  bool *within, *before, *behind; /* per op */
  bool *counted;                  /* per buffer that a loop has slots for */
} beside_finder;

/* The loop at hand that an op is in, or FS_NONE. */
static uint32_t loop_of(const beside_finder *f, uint32_t op) {
  uint32_t b = f->g->op_body_op[op], loop = b == FS_NONE ? FS_NONE : f->g->body_op_loop[b];
  return loop != FS_NONE && fs_roller_stays(f->r, loop) ? loop : FS_NONE;
}

/* Notes the iterations that the loop has: its sample may have more. */
static void mark_loop(beside_finder *f, const fs_loop_index *index) {
  for (uint32_t op = 0; op < f->g->n_ops; op++) {
    uint32_t b = f->g->op_body_op[op];
    f->within[op] =
        b != FS_NONE && f->g->body_op_loop[b] == f->loop && index->nth[op] < f->r->in.trip[f->loop];
  }
}

/* Goes along all edges, in a topological order or back. */
static void follow_edges(const beside_finder *f, bool back, bool *marked) {
  const fsched_graph *g = f->g;
  const uint32_t *row0 = back ? g->succ0 : g->pred0, *row = back ? g->succ : g->pred;
  for (uint32_t i = 0; i < g->n_ops; i++) {
    uint32_t op = g->topo[back ? g->n_ops - 1 - i : i];
    for (uint32_t k = row0[op]; k < row0[op + 1]; k++) {
      marked[op] = marked[op] || f->within[row[k]] || marked[row[k]];
    }
  }
}

/* Other loops at hand are one op each: where one of its ops is marked, all are.  *more: some were
 * not. */
static void spread_in_loops(const beside_finder *f, bool *loop_marked, bool *marked, bool *more) {
  *more = false;
  for (uint32_t pass = 0; pass < 2; pass++) {
    for (uint32_t op = 0; op < f->g->n_ops; op++) {
      uint32_t loop = loop_of(f, op);
      if (loop == FS_NONE || loop == f->loop) {
        continue;
      }
      if (pass == 0) {
        loop_marked[loop] = loop_marked[loop] || marked[op];
      } else if (loop_marked[loop] && !marked[op]) {
        marked[op] = *more = true;
      }
    }
  }
}

static fs_status mark_paths(beside_finder *f, fs_arena *scratch) {
  bool *loop_marked, more;
  for (uint32_t back = 0; back < 2; back++) {
    bool *marked = back == 0 ? f->behind : f->before;
    FS_TRY(fs_new_zero(scratch, &loop_marked, f->g->n_loops));
    do {
      follow_edges(f, back == 1, marked);
      spread_in_loops(f, loop_marked, marked, &more);
    } while (more);
  }
  return FSCHED_OK;
}

/* Whether a version lies beside the loop in any case. */
static bool lies_beside(const beside_finder *f, uint32_t version) {
  const fsched_graph *g = f->g;
  bool before = fs_version_given(g, version), behind = fs_version_kept(g, version);
  for (uint32_t a = g->version_access0[version]; a < g->version_access0[version + 1]; a++) {
    uint32_t op = g->access_op[a];
    if (loop_of(f, op) == f->loop) {
      return false;
    }
    before = before || f->before[op];
    behind = behind || f->behind[op];
  }
  return before && behind;
}

/* The buffer that a version was one of as it was described: values that iterations hand on have
 * become buffers of their own in the sample. */
static uint32_t described(const beside_finder *f, uint32_t version) {
  uint32_t buffer = f->g->version_buffer[version];
  return buffer < f->g->n_named ? buffer
                                : fs_names_find(&f->r->b->buffers, f->g->buffer_name[buffer],
                                                fs_described_name(f->g, buffer));
}

/* The bytes of a buffer, which of one that another loop has slots for count once. */
static uint64_t bytes_of(beside_finder *f, uint32_t buffer) {
  const fs_ring_buffer *ring = &f->r->ring[buffer];
  uint64_t align = f->g->target.memory[f->g->buffer_memory[buffer]].align;
  if (ring->loop == FS_NONE) {
    return fs_align_up(f->r->b->buffer_size.at[buffer], align);
  }
  if (f->counted[buffer]) {
    return 0;
  }
  f->counted[buffer] = true;
  return fs_roller_has_slots(f->r, buffer) ? fs_multiply_most(ring->depth, ring->slot)
                                           : fs_align_up(f->r->b->buffer_size.at[buffer], align);
}

fs_status fs_roller_count_beside(const fs_roller *r, const fsched_graph *g,
                                 const fs_loop_index *index, uint32_t loop, uint64_t *held) {
  assert(loop < g->n_loops);
  FS_SCRATCH(scratch, r->b->ctx);
  beside_finder f = {.r = r, .g = g, .loop = loop};
  FS_TRY(fs_new_zero(&scratch, &f.within, g->n_ops));
  FS_TRY(fs_new_zero(&scratch, &f.before, g->n_ops));
  FS_TRY(fs_new_zero(&scratch, &f.behind, g->n_ops));
  FS_TRY(fs_new_zero(&scratch, &f.counted, r->b->buffer_size.n));
  mark_loop(&f, index);
  FS_TRY(mark_paths(&f, &scratch));
  for (uint32_t v = 0; v < g->n_versions; v++) {
    uint32_t m = fs_version_memory(g, v);
    bool leaves =
        !fs_memory_bounded(&g->target.memory[m]) || fs_memory_spills(&g->target.memory[m]);
    if (!leaves && lies_beside(&f, v)) {
      held[m] = fs_add_most(held[m], bytes_of(&f, described(&f, v)));
    }
  }
  return FSCHED_OK;
}
