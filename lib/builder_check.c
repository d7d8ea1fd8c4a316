/* SPDX-License-Identifier: Apache-2.0 */
/* The last steps of finish: which in-place pairs are legal, and whether every op fits by itself. */
#include "builder_private.h"

static uint32_t find_arg(const fsched_graph *g, uint32_t op, uint32_t buffer, fsched_tag tag) {
  for (uint32_t arg = g->op_arg0[op]; arg < g->op_arg0[op + 1]; arg++) {
    if (g->arg_tag[arg] == tag && g->arg_buffer[arg] == buffer) {
      return arg;
    }
  }
  return FS_NONE;
}

/* The input dies with this op: nobody else reads it, and only earlier ops write it. */
static bool last_use(const fsched_graph *g, uint32_t op, uint32_t version) {
  uint32_t uses = 0;
  for (uint32_t i = g->version_access0[version]; i < g->version_access0[version + 1]; i++) {
    unsigned tag = g->arg_tag[g->access_arg[i]];
    if (g->access_op[i] == op) {
      uses++;
    } else if (fs_tag_reads(tag) || uses > 0) {
      return false;
    }
  }
  return uses == 1;
}

/* Why the output may not take the input's place; NULL: it may. */
static const char *inplace_fault(const fsched_graph *g, uint32_t op, uint32_t out, uint32_t in) {
  uint32_t a = g->arg_buffer[out];
  uint32_t b = g->arg_buffer[in];
  uint32_t version = g->arg_version[in];
  if (g->buffer_size[a] != g->buffer_size[b]) {
    return "their sizes differ";
  }
  if (g->buffer_memory[a] != g->buffer_memory[b]) {
    return "they are in different memories";
  }
  if (g->arg_offset[in] != 0 || g->arg_length[in] != g->buffer_size[b]) {
    return "only a part of the input is read";
  }
  if (fs_version_kept(g, version)) {
    return "the input is kept to the end";
  }
  return last_use(g, op, version) ? NULL : "the input is used elsewhere too";
}

/* An input's place goes to one output, an output has one place. */
static bool taken(const fsched_graph *g, uint32_t op, uint32_t n, uint32_t out, uint32_t in) {
  for (uint32_t i = g->op_inplace0[op]; i < n; i++) {
    if (g->inplace_out[i] == out || g->inplace_in[i] == in) {
      return true;
    }
  }
  return false;
}

static uint32_t keep_pair(fsched_builder *b, fsched_graph *g, uint32_t op, size_t item,
                          uint32_t n) {
  const fs_item_draft *d = &b->inplaces.item.at[item];
  uint32_t out = find_arg(g, op, d->a, FSCHED_OUT);
  uint32_t in = find_arg(g, op, d->b, FSCHED_IN);
  if (out == FS_NONE || in == FS_NONE) {
    if (!b->incomplete) {
      (void)fs_builder_fail(b, FS_DIAG_BAD_INPLACE, fs_place(&b->inplaces.at, item), NULL,
                            "op '%s' has no '%s' arg of buffer '%s'", g->op_name[op],
                            out == FS_NONE ? "out" : "in",
                            g->buffer_name[out == FS_NONE ? d->a : d->b]);
    }
    return n;
  }
  if (g->arg_version[in] == FS_NONE ||
      !fs_memory_bounded(&g->target.memory[g->buffer_memory[d->a]])) {
    return n; /* places are not shared there */
  }
  const char *fault = inplace_fault(g, op, out, in);
  if (fault == NULL && taken(g, op, n, out, in)) {
    fault = "one of them is in another pair of the op already";
  }
  if (fault == NULL) {
    g->inplace_out[n] = out;
    g->inplace_in[n] = in;
    return n + 1;
  }
  if (!b->bad && b->inplace_dropped++ < FS_WARNINGS_SHOWN) {
    fs_report(b->ctx, FSCHED_WARNING, FS_DIAG_INPLACE, fs_place(&b->inplaces.at, item), NULL,
              "op '%s' cannot write '%s' in place of '%s': %s", g->op_name[op],
              g->buffer_name[d->a], g->buffer_name[d->b], fault);
  }
  return n;
}

fs_status fs_builder_inplaces(fsched_builder *b, fsched_graph *g) {
  FS_TRY(fs_new_zero(&b->arena, &g->op_inplace0, (size_t)g->n_ops + 1));
  FS_TRY(fs_new(&b->arena, &g->inplace_out, b->inplaces.item.n));
  FS_TRY(fs_new(&b->arena, &g->inplace_in, b->inplaces.item.n));
  /* Calls may come in any order of ops; they hardly ever do, so the list is walked from where the
   * op before left off and from the start only when it is not sorted. */
  size_t n_items = b->inplaces.item.n;
  bool sorted = true;
  for (size_t i = 1; i < n_items; i++) {
    sorted = sorted && b->inplaces.item.at[i - 1].op <= b->inplaces.item.at[i].op;
  }
  uint32_t n = 0;
  size_t next = 0;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    g->op_inplace0[op] = n;
    for (size_t i = sorted ? next : 0; i < n_items; i++) {
      uint32_t owner = b->inplaces.item.at[i].op;
      if (owner == op) {
        n = keep_pair(b, g, op, i, n);
        next = i + 1;
      } else if (sorted && owner > op) {
        break;
      }
    }
  }
  g->op_inplace0[g->n_ops] = n;
  return FSCHED_OK;
}

typedef struct fitter {
  fsched_builder *b;
  const fsched_graph *g;
  uint64_t *need;   /* per memory, for the op at hand */
  uint32_t *memory; /* those with a need */
  uint32_t n_memory;
  uint32_t *last_op; /* per version: the last op that counted it */
} fitter;

static void need_more(fitter *f, uint32_t memory, uint64_t size) {
  const fs_memory *m = &f->g->target.memory[memory];
  if (!fs_memory_bounded(m) || size == 0) {
    return;
  }
  if (f->need[memory] == 0) {
    f->memory[f->n_memory++] = memory;
  }
  /* A sum that leaves 64 bits is over every capacity anyway. */
  f->need[memory] = fs_min(f->need[memory] + fs_align_up(size, m->align), UINT64_MAX / 4);
}

/* The parts of the sum, for the message. */
static void list_parts(fitter *f, uint32_t op, uint32_t memory, fs_text *out) {
  enum { SHOWN = 12 };
  const fsched_graph *g = f->g;
  uint64_t align = g->target.memory[memory].align;
  uint32_t shown = 0;
  for (uint32_t arg = g->op_arg0[op]; arg < g->op_arg0[op + 1]; arg++) {
    uint32_t v = g->arg_version[arg];
    bool again = v == FS_NONE || f->last_op[v] != op || g->arg_tag[arg] == FSCHED_NO_DEP;
    if (again || fs_version_memory(g, v) != memory) {
      continue;
    }
    f->last_op[v] = FS_NONE; /* listed */
    if (shown++ < SHOWN) {
      fs_text_printf(out, "%s%.40s %llu", shown == 1 ? "" : ", ",
                     g->buffer_name[g->arg_buffer[arg]],
                     (unsigned long long)fs_align_up(fs_version_size(g, v), align));
    }
  }
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    if (g->scratch_memory[i] == memory && shown++ < SHOWN) {
      fs_text_printf(out, "%sscratch %llu", shown == 1 ? "" : ", ",
                     (unsigned long long)fs_align_up(g->scratch_size[i], align));
    }
  }
  if (shown > SHOWN) {
    fs_text_printf(out, " and %u more", shown - SHOWN);
  }
}

static void report_misfit(fitter *f, uint32_t op, uint32_t memory) {
  const fs_memory *m = &f->g->target.memory[memory];
  fs_text parts;
  fs_text_init(&parts, f->b->ctx);
  fs_text_puts(&parts, "needed at once: ");
  list_parts(f, op, memory, &parts);
  fs_text_add(&parts, "", 1);
  uint64_t need = f->need[memory];
  fs_builder_infeasible(
      f->b, FS_DIAG_DOES_NOT_FIT, fs_place(&f->b->op_at, op), parts.failed ? NULL : parts.at,
      "op '%s' does not fit memory '%s': needed %llu, available %llu, excess %llu",
      f->g->op_name[op], m->name, (unsigned long long)need, (unsigned long long)m->capacity,
      (unsigned long long)(need - m->capacity));
  fs_text_drop(&parts);
}

/* Distinct versions count: `in` beside `out` of one buffer holds two places. */
static void fit_op(fitter *f, uint32_t op) {
  const fsched_graph *g = f->g;
  for (uint32_t arg = g->op_arg0[op]; arg < g->op_arg0[op + 1]; arg++) {
    uint32_t v = g->arg_version[arg];
    if (v != FS_NONE && g->arg_tag[arg] != FSCHED_NO_DEP && f->last_op[v] != op) {
      f->last_op[v] = op;
      need_more(f, fs_version_memory(g, v), fs_version_size(g, v));
    }
  }
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    need_more(f, g->scratch_memory[i], g->scratch_size[i]);
  }
  for (uint32_t i = 0; i < f->n_memory; i++) {
    uint32_t memory = f->memory[i];
    if (f->need[memory] > g->target.memory[memory].capacity) {
      report_misfit(f, op, memory);
    }
    f->need[memory] = 0;
  }
  f->n_memory = 0;
}

static void check_uses(fsched_builder *b, const fsched_graph *g) {
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t i = g->op_use0[op]; i < g->op_use0[op + 1]; i++) {
      uint32_t r = g->use_resource[i];
      uint64_t have = g->target.resource_capacity[r];
      if (g->use_amount[i] > have) {
        fs_builder_infeasible(b, FS_DIAG_USES_TOO_MUCH, fs_place(&b->uses.at, i), NULL,
                              "op '%s' uses too much of '%s': needed %llu, available %llu, "
                              "excess %llu",
                              g->op_name[op], g->target.resource_name[r],
                              (unsigned long long)g->use_amount[i], (unsigned long long)have,
                              (unsigned long long)(g->use_amount[i] - have));
      }
    }
  }
}

fs_status fs_builder_capacity(fsched_builder *b, fsched_graph *g) {
  fs_arena scratch;
  fs_arena_init(&scratch, b->ctx);
  fitter f = {.b = b, .g = g};
  fs_status status = fs_new_zero(&scratch, &f.need, g->target.n_memories);
  status = status == FSCHED_OK ? fs_new(&scratch, &f.memory, g->target.n_memories) : status;
  status = status == FSCHED_OK ? fs_new_none(&scratch, &f.last_op, g->n_versions) : status;
  if (status == FSCHED_OK) {
    for (uint32_t op = 0; op < g->n_ops; op++) {
      fit_op(&f, op);
    }
    check_uses(b, g);
  }
  fs_arena_release(&scratch);
  return status;
}
