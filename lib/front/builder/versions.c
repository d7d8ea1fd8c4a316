/* SPDX-License-Identifier: Apache-2.0 */
/* Versions and data edges: one walk over the ops in program order.
 *
 * For the current version of every buffer two sets of byte ranges are kept: the last writer of each
 * byte (disjoint ranges; given content has the writer FS_NONE), and the reads since then.  An op
 * first looks up all of its args, then enters them:
 *
 *               looks up, and depends on        enters
 *   in          writers                         reader
 *   inout       writers, readers*               writer; cuts writers and readers below
 *   out_existing  writers*, readers*            the same
 *   out         nothing                         a new version, with itself as the only writer
 *
 * where * means with hazards: sequential only.  A version in a counted memory holds its units as a
 * whole.  With these hazards, accesses there of which one writes are therefore ordered whatever
 * their ranges are, as if each of them touched one more byte that all of them share.  Readers are
 * kept only for buffers that some op writes in place.  A writer whose range was cut needs no edge
 * any more: the op that cut it is ordered after it (under hazards: raw the pair is a race).  Cost:
 * O(log n) per access and per edge found. */
#include "base/group.h"
#include "base/warnings.h"
#include "front/builder/private.h"

typedef struct version_walk {
  fsched_builder *b;
  fsched_graph *g;
  fs_ranges ranges;
  fs_ids found;
  bool given;                            /* given content was found since `given` was cleared */
  uint32_t *writers, *readers;           /* per buffer: sets */
  uint32_t *unit_writers, *unit_readers; /* the same for the shared byte of counted memories */
  uint32_t *count;                       /* per buffer: versions so far */
  uint32_t *last_out;                    /* per buffer: the last op with an `out` of it */
  uint8_t *tracked;                      /* per buffer: some op writes it in place: reads matter */
  uint8_t *touched;                      /* per buffer: some no_dep arg names it */
  uint32_t *mark;                        /* per op: the last op that has it as a predecessor */
  FS_VEC(uint32_t) pred;
} version_walk;

/* A buffer of size 0 still carries dependencies: it counts as one byte. */
static void range_of(const fsched_graph *g, uint32_t arg, uint64_t *lo, uint64_t *hi) {
  *lo = g->arg_offset[arg];
  *hi = *lo + fs_max(g->arg_length[arg], 1);
}

static uint64_t bytes_of(const fsched_graph *g, uint32_t arg) {
  if (fs_arg_view(g, arg) == NULL) {
    return fs_max(g->arg_length[arg], 1);
  }
  fs_view_runs runs = fs_arg_pieces(g, arg);
  uint64_t n = 0;
  for (fs_view_walk at = {.at = 0}; fs_view_walk_on(&runs, &at);) {
    n += at.high - at.low;
  }
  return n;
}

static fs_status add_pred(version_walk *w, uint32_t op, uint32_t before) {
  if (before == FS_NONE || before == op || w->mark[before] == op) {
    return FSCHED_OK;
  }
  w->mark[before] = op;
  return fs_vec_push(w->b->ctx, &w->pred, before);
}

static fs_status depend_on_range(version_walk *w, uint32_t op, uint32_t set, uint64_t lo,
                                 uint64_t hi, uint64_t *covered) {
  w->found.n = 0;
  FS_TRY(fs_ranges_find(&w->ranges, set, lo, hi, &w->found, covered));
  for (size_t i = 0; i < w->found.n; i++) {
    w->given = w->given || w->found.at[i] == FS_NONE;
    FS_TRY(add_pred(w, op, w->found.at[i]));
  }
  return FSCHED_OK;
}

/* Looks up all runs of an arg; w->given tells whether given content was among the writers. */
static fs_status depend_on(version_walk *w, uint32_t op, uint32_t set, uint32_t arg,
                           uint64_t *covered) {
  uint64_t lo;
  uint64_t hi;
  w->given = false;
  if (fs_arg_view(w->g, arg) == NULL) {
    range_of(w->g, arg, &lo, &hi);
    return depend_on_range(w, op, set, lo, hi, covered);
  }
  fs_view_runs runs = fs_arg_pieces(w->g, arg);
  *covered = 0;
  for (fs_view_walk at = {.at = 0}; fs_view_walk_on(&runs, &at);) {
    uint64_t some;
    FS_TRY(depend_on_range(w, op, set, at.low, at.high, &some));
    *covered += some;
  }
  return FSCHED_OK;
}

static bool held_as_units(const fsched_graph *g, uint32_t buffer) {
  const fs_memory *m = &g->target.memory[g->buffer_memory[buffer]];
  return !fs_hazards_data_only(g->hazards) && !fs_placement_has_addresses(m->placement) &&
         fs_memory_bounded(m);
}

static fs_status look_up_units(version_walk *w, uint32_t op, uint32_t arg) {
  uint32_t buffer = w->g->arg_buffer[arg];
  uint64_t covered;
  if (!held_as_units(w->g, buffer)) {
    return FSCHED_OK;
  }
  FS_TRY(depend_on_range(w, op, w->unit_writers[buffer], 0, 1, &covered));
  return fs_tag_only_reads(w->g->arg_tag[arg])
             ? FSCHED_OK
             : depend_on_range(w, op, w->unit_readers[buffer], 0, 1, &covered);
}

static void not_produced(version_walk *w, uint32_t op, uint32_t arg, uint64_t covered) {
  const fsched_graph *g = w->g;
  if (w->b->incomplete) { /* a missing op may have produced the content */
    w->b->bad = true;
    return;
  }
  const char *name = g->buffer_name[g->arg_buffer[arg]];
  (void)fs_builder_fail(w->b, FS_DIAG_NOT_PRODUCED, fs_pos_at(&w->b->arg_at, arg),
                        covered == 0 ? "write it in an op before, or give it 'io: input'"
                                     : "reading a part takes 'at: [offset, length]'",
                        "op '%s' reads %s '%s', which nothing before it has produced",
                        g->op_name[op], covered == 0 ? "buffer" : "all of a range of buffer", name);
}

static fs_status look_up(version_walk *w, uint32_t op, uint32_t arg) {
  fsched_graph *g = w->g;
  uint32_t buffer = g->arg_buffer[arg];
  unsigned tag = g->arg_tag[arg];
  bool sequential = !fs_hazards_data_only(g->hazards);
  uint64_t covered = 0;
  if (!fs_tag_names_buffer(tag) || fs_tag_begins(tag)) {
    return FSCHED_OK;
  }
  g->arg_version[arg] = w->count[buffer] == 0 ? 0 : w->count[buffer] - 1;
  if (!fs_tag_accesses(tag)) {
    w->touched[buffer] = 1;
    return FSCHED_OK;
  }
  /* A write to some bytes of a piece, which then is the op's as a whole, keeps the others. */
  bool coarse = fs_arg_coarse(g, arg), keeps = coarse && !fs_tag_only_reads(tag);
  if (fs_tag_reads(tag) || sequential || keeps) {
    FS_TRY(depend_on(w, op, w->writers[buffer], arg, &covered));
  }
  if (fs_tag_reads(tag) || keeps) {
    g->buffer_wanted[buffer] |= w->given;
  }
  bool checked = w->b->sample; /* of all iterations */
  if (fs_tag_reads(tag) && !checked && (coarse ? covered == 0 : covered < bytes_of(g, arg))) {
    not_produced(w, op, arg, covered);
  }
  if (!fs_tag_only_reads(tag) && sequential) {
    FS_TRY(depend_on(w, op, w->readers[buffer], arg, &covered));
  }
  return look_up_units(w, op, arg);
}

/* Enters an access to the byte that stands for the units; an `out` accesses that of its new
 * version. */
static fs_status enter_units(version_walk *w, uint32_t op, uint32_t buffer, unsigned tag) {
  if (!held_as_units(w->g, buffer)) {
    return FSCHED_OK;
  }
  if (fs_tag_only_reads(tag)) {
    return w->tracked[buffer] ? fs_ranges_add(&w->ranges, &w->unit_readers[buffer], 0, 1, op)
                              : FSCHED_OK;
  }
  fs_ranges_clear(&w->ranges, &w->unit_readers[buffer]);
  return fs_ranges_replace(&w->ranges, &w->unit_writers[buffer], 0, 1, op);
}

static fs_status enter_range(version_walk *w, uint32_t op, uint32_t arg, uint64_t lo, uint64_t hi) {
  uint32_t buffer = w->g->arg_buffer[arg];
  if (fs_tag_only_reads(w->g->arg_tag[arg])) {
    return w->tracked[buffer] ? fs_ranges_add(&w->ranges, &w->readers[buffer], lo, hi, op)
                              : FSCHED_OK;
  }
  FS_TRY(fs_ranges_cut(&w->ranges, &w->readers[buffer], lo, hi));
  return fs_ranges_replace(&w->ranges, &w->writers[buffer], lo, hi, op);
}

static fs_status enter_in_place(version_walk *w, uint32_t op, uint32_t arg) {
  const fsched_graph *g = w->g;
  uint32_t buffer = g->arg_buffer[arg];
  uint64_t lo;
  uint64_t hi;
  FS_TRY(enter_units(w, op, buffer, g->arg_tag[arg]));
  w->count[buffer] += w->count[buffer] == 0 && !fs_tag_only_reads(g->arg_tag[arg]);
  if (fs_arg_view(g, arg) == NULL) {
    range_of(g, arg, &lo, &hi);
    return enter_range(w, op, arg, lo, hi);
  }
  fs_view_runs runs = fs_arg_pieces(g, arg);
  for (fs_view_walk at = {.at = 0}; fs_view_walk_on(&runs, &at);) {
    FS_TRY(enter_range(w, op, arg, at.low, at.high));
  }
  return FSCHED_OK;
}

static fs_status enter_out(version_walk *w, uint32_t op, uint32_t arg) {
  fsched_graph *g = w->g;
  uint32_t buffer = g->arg_buffer[arg];
  if (w->last_out[buffer] == op) {
    (void)fs_builder_fail(w->b, FS_DIAG_REPEATED_OUT, fs_pos_at(&w->b->arg_at, arg), NULL,
                          "op '%s' has two 'out' args of buffer '%s'", g->op_name[op],
                          g->buffer_name[buffer]);
  }
  w->last_out[buffer] = op;
  uint64_t lo;
  uint64_t hi;
  range_of(g, arg, &lo, &hi);
  fs_ranges_clear(&w->ranges, &w->writers[buffer]);
  fs_ranges_clear(&w->ranges, &w->readers[buffer]);
  g->arg_version[arg] = w->count[buffer]++;
  FS_TRY(enter_units(w, op, buffer, FSCHED_OUT));
  return fs_ranges_add(&w->ranges, &w->writers[buffer], lo, hi, op);
}

static fs_status walk_op(version_walk *w, uint32_t op) {
  fsched_graph *g = w->g;
  uint32_t first = g->op_arg0[op];
  uint32_t end = g->op_arg0[op + 1];
  for (uint32_t arg = first; arg < end; arg++) {
    FS_TRY(look_up(w, op, arg));
  }
  bool warn = fs_warn_on(w->b->ctx, FS_WARN_REDUNDANT_AFTER);
  for (uint32_t i = g->op_after0[op]; i < g->op_after0[op + 1]; i++) {
    if (warn) {
      uint8_t given = w->mark[g->after_op[i]] == op;
      FS_TRY(fs_vec_push(w->b->ctx, &w->b->after_given, given));
    }
    FS_TRY(add_pred(w, op, g->after_op[i]));
  }
  /* Args of old versions come first: their readers must not count for the new version. */
  for (uint32_t arg = first; arg < end; arg++) {
    unsigned tag = g->arg_tag[arg];
    if (fs_tag_accesses(tag) && !fs_tag_begins(tag)) {
      FS_TRY(enter_in_place(w, op, arg));
    }
  }
  for (uint32_t arg = first; arg < end; arg++) {
    if (fs_tag_begins(g->arg_tag[arg])) {
      FS_TRY(enter_out(w, op, arg));
    }
  }
  return FSCHED_OK;
}

static fs_status start_walk(version_walk *w, fs_arena *scratch) {
  fsched_graph *g = w->g;
  FS_TRY(fs_new_none(scratch, &w->writers, g->n_buffers));
  FS_TRY(fs_new_none(scratch, &w->readers, g->n_buffers));
  FS_TRY(fs_new_none(scratch, &w->unit_writers, g->n_buffers));
  FS_TRY(fs_new_none(scratch, &w->unit_readers, g->n_buffers));
  FS_TRY(fs_new_none(scratch, &w->last_out, g->n_buffers));
  FS_TRY(fs_new_zero(scratch, &w->count, g->n_buffers));
  FS_TRY(fs_new_zero(scratch, &w->tracked, g->n_buffers));
  FS_TRY(fs_new_zero(scratch, &w->touched, g->n_buffers));
  FS_TRY(fs_new_zero(&w->b->arena, &g->buffer_wanted, g->n_buffers));
  FS_TRY(fs_new_none(scratch, &w->mark, g->n_ops));
  for (uint32_t arg = 0; arg < g->n_args; arg++) {
    unsigned tag = g->arg_tag[arg];
    if (fs_tag_writes_in_place(tag)) {
      w->tracked[g->arg_buffer[arg]] = !fs_hazards_data_only(g->hazards);
    }
  }
  for (uint32_t i = 0; i < g->n_buffers; i++) {
    unsigned io = g->buffer_io[i];
    if (fs_io_given(io)) {
      w->count[i] = 1;
      FS_TRY(fs_ranges_add(&w->ranges, &w->writers[i], 0, fs_max(g->buffer_size[i], 1), FS_NONE));
    }
  }
  return FSCHED_OK;
}

/* Marks carried buffers as wanted whose given content is not all overwritten at the end of the
 * walk. */
static fs_status keep_given(version_walk *w) {
  const fsched_graph *g = w->g;
  for (uint32_t i = 0; i < g->n_buffers; i++) {
    if (fs_io_carried(g->buffer_io[i]) && w->count[i] == 1) {
      uint64_t covered;
      w->found.n = 0;
      FS_TRY(fs_ranges_find(&w->ranges, w->writers[i], 0, fs_max(g->buffer_size[i], 1), &w->found,
                            &covered));
      for (size_t k = 0; k < w->found.n; k++) {
        w->g->buffer_wanted[i] |= w->found.at[k] == FS_NONE;
      }
    }
  }
  return FSCHED_OK;
}

/* Turns version numbers within a buffer into ids. */
static fs_status number_versions(version_walk *w) {
  fsched_graph *g = w->g;
  FS_TRY(fs_new(&w->b->arena, &g->buffer_version0, (size_t)g->n_buffers + 1));
  uint32_t n = 0;
  for (uint32_t i = 0; i < g->n_buffers; i++) {
    g->buffer_version0[i] = n;
    n += w->count[i] == 0 ? w->touched[i] : w->count[i];
  }
  g->buffer_version0[g->n_buffers] = n;
  g->n_versions = n;
  FS_TRY(fs_new(&w->b->arena, &g->version_buffer, n));
  for (uint32_t i = 0; i < g->n_buffers; i++) {
    for (uint32_t v = g->buffer_version0[i]; v < g->buffer_version0[i + 1]; v++) {
      g->version_buffer[v] = i;
    }
    if (fs_io_is_output(g->buffer_io[i]) && w->count[i] == 0 && !w->b->incomplete) {
      (void)fs_builder_fail(w->b, FS_DIAG_OUTPUT_NOT_WRITTEN, fs_pos_at(&w->b->buffer_at, i), NULL,
                            "no op writes the output '%s'", g->buffer_name[i]);
    }
  }
  return FSCHED_OK;
}

/* The version of an arg.  A buffer whose content was read but never produced has no versions. */
static uint32_t version_of_arg(const fsched_graph *g, uint32_t arg) {
  uint32_t buffer = g->arg_buffer[arg];
  if (buffer == FS_NONE || g->buffer_version0[buffer] == g->buffer_version0[buffer + 1]) {
    return FS_NONE;
  }
  return g->buffer_version0[buffer] + g->arg_version[arg];
}

static fs_status list_accesses(version_walk *w) {
  fsched_graph *g = w->g;
  FS_TRY(fs_new_zero(&w->b->arena, &g->version_access0, (size_t)g->n_versions + 2));
  for (uint32_t arg = 0; arg < g->n_args; arg++) {
    g->arg_version[arg] = version_of_arg(g, arg);
    if (g->arg_version[arg] != FS_NONE && fs_tag_accesses(g->arg_tag[arg])) {
      g->version_access0[g->arg_version[arg] + 2]++;
    }
  }
  fs_group_sum(g->version_access0, g->n_versions);
  uint32_t n = g->version_access0[g->n_versions + 1];
  FS_TRY(fs_new(&w->b->arena, &g->access_op, n));
  FS_TRY(fs_new(&w->b->arena, &g->access_arg, n));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t arg = g->op_arg0[op]; arg < g->op_arg0[op + 1]; arg++) {
      if (g->arg_version[arg] != FS_NONE && fs_tag_accesses(g->arg_tag[arg])) {
        uint32_t at = g->version_access0[g->arg_version[arg] + 1]++;
        g->access_op[at] = op;
        g->access_arg[at] = arg;
      }
    }
  }
  return FSCHED_OK;
}

static void check_no_dep(version_walk *w) {
  const fsched_graph *g = w->g;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t arg = g->op_arg0[op]; arg < g->op_arg0[op + 1]; arg++) {
      if (fs_tag_is_address(g->arg_tag[arg])) {
        uint32_t buffer = g->arg_buffer[arg];
        const fs_memory *m = &g->target.memory[g->buffer_memory[buffer]];
        if (fs_memory_bounded(m)) {
          (void)fs_builder_fail(w->b, FS_DIAG_NO_DEP_BOUNDED, fs_pos_at(&w->b->arg_at, arg),
                                "put the buffer into an unbounded memory, or use 'in'",
                                "op '%s' has no_dep of '%s', whose life in the bounded memory '%s' "
                                "it cannot hold",
                                g->op_name[op], g->buffer_name[buffer], m->name);
        }
      }
    }
  }
}

static fs_status run_walk(version_walk *w, fs_arena *scratch) {
  fsched_graph *g = w->g;
  FS_TRY(start_walk(w, scratch));
  check_no_dep(w);
  FS_TRY(fs_new(&w->b->arena, &g->pred0, (size_t)g->n_ops + 2)); /* one more for fs_builder_order */
  for (uint32_t op = 0; op < g->n_ops; op++) {
    g->pred0[op] = (uint32_t)w->pred.n;
    FS_TRY(walk_op(w, op));
    if (w->pred.n > INT32_MAX) {
      return fs_fail(w->b->ctx, FSCHED_BAD_INPUT, FS_DIAG_OUT_OF_RANGE, FS_NOWHERE, NULL,
                     "the graph has too many edges");
    }
  }
  g->n_edges = g->pred0[g->n_ops] = (uint32_t)w->pred.n;
  FS_TRY(fs_new(&w->b->arena, &g->pred, g->n_edges));
  if (g->n_edges > 0) {
    memcpy(g->pred, w->pred.at, g->n_edges * sizeof *g->pred);
  }
  FS_TRY(keep_given(w));
  FS_TRY(number_versions(w));
  return list_accesses(w);
}

fs_status fs_builder_versions(fsched_builder *b, fsched_graph *g) {
  assert(g->op_arg0 != NULL);
  version_walk w = {.b = b, .g = g};
  FS_SCRATCH(scratch, b->ctx);
  fs_ranges_init(&w.ranges, b->ctx);
  fs_status status = run_walk(&w, &scratch);
  fs_ranges_release(&w.ranges);
  fs_vec_free(b->ctx, &w.found);
  fs_vec_free(b->ctx, &w.pred);
  return status;
}
