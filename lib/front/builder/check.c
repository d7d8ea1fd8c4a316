/* SPDX-License-Identifier: Apache-2.0 */
/* The precondition of compiling: every op fits into the memories, and into the resources that it
 * uses, by itself; and the kind of sync has what the graph asks for. */
#include "base/text/size_text.h"
#include "front/builder/private.h"
#include "model/needs.h"

typedef struct fitter {
  fsched_builder *b;
  const fsched_graph *g;
  fs_needs needs;
  bool any;          /* some op does not fit */
  uint64_t *most;    /* per memory: the largest need */
  uint32_t *misfits; /* per memory: number of ops that do not fit */
} fitter;

/* Lists the parts of the sum of an op's needs, for the message. */
static void list_parts(fitter *f, uint32_t op, uint32_t memory, fs_text *out) {
  assert(op < f->g->n_ops && memory < f->g->target.n_memories);
  enum { SHOWN = 12 };
  const fsched_graph *g = f->g;
  uint64_t align = g->target.memory[memory].align;
  uint32_t shown = 0;
  for (uint32_t arg = g->op_arg0[op]; arg < g->op_arg0[op + 1]; arg++) {
    uint32_t v = g->arg_version[arg];
    bool counts = v != FS_NONE && f->needs.counted[v] == f->needs.turn;
    if (!counts || !fs_tag_accesses(g->arg_tag[arg]) || fs_version_memory(g, v) != memory) {
      continue;
    }
    f->needs.counted[v] = 0; /* so that each version is listed once */
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

/* Whether a buffer of the op is in the memory because the graph names none for it, although it
 * could name another one with a capacity. */
static bool by_default(const fitter *f, uint32_t op, uint32_t memory) {
  const fsched_graph *g = f->g;
  uint32_t bounded = 0;
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    bounded += fs_memory_bounded(&g->target.memory[m]);
  }
  if (bounded < 2) {
    return false;
  }
  for (uint32_t arg = g->op_arg0[op]; arg < g->op_arg0[op + 1]; arg++) {
    uint32_t v = g->arg_version[arg];
    if (v != FS_NONE && fs_version_memory(g, v) == memory &&
        f->b->buffer_memory.at[g->arg_buffer[arg]] == FS_NONE) {
      return true;
    }
  }
  return false;
}

static void report_misfit(fitter *f, uint32_t op, uint32_t memory) {
  const fs_memory *m = &f->g->target.memory[memory];
  char have[FS_SIZE_TEXT];
  char wanted[FS_SIZE_TEXT];
  char excess[FS_SIZE_TEXT];
  fs_text parts;
  fs_text_init(&parts, f->b->ctx);
  fs_text_puts(&parts, "needed at once: ");
  list_parts(f, op, memory, &parts);
  if (by_default(f, op, memory)) {
    fs_text_printf(&parts, "; '%.40s' is the default of 'memory', the first with a capacity",
                   m->name);
  }
  fs_text_add(&parts, "", 1);
  uint64_t need = f->needs.need[memory];
  fs_builder_infeasible(f->b, FS_DIAG_DOES_NOT_FIT, fs_pos_at(&f->b->op_at, op),
                        parts.failed ? NULL : parts.at,
                        "op '%s' does not fit memory '%s': needed %s, available %s, excess %s",
                        f->g->op_name[op], m->name, fs_size_text(wanted, need),
                        fs_size_text(have, m->capacity), fs_size_text(excess, need - m->capacity));
  fs_text_drop(&parts);
}

/* Checks one op.  Distinct versions count separately: an `in` beside an `out` of one buffer holds
 * two places. */
static void fit_op(fitter *f, uint32_t op, bool report) {
  assert(op < f->g->n_ops);
  fs_needs_find(&f->needs, op);
  for (uint32_t i = 0; i < f->needs.n; i++) {
    uint32_t memory = f->needs.memory[i];
    const fs_memory *m = &f->g->target.memory[memory];
    f->most[memory] = fs_max(f->most[memory], f->needs.need[memory]);
    if (fs_memory_bounded(m) && f->needs.need[memory] > m->capacity) {
      f->misfits[memory] += !report;
      f->any = true;
      if (report) {
        report_misfit(f, op, memory);
      }
    }
  }
}

/* Reports sufficient capacities: one line for each memory that is too small for several ops. */
static void say_what_fits(const fitter *f) {
  for (uint32_t m = 0; m < f->g->target.n_memories; m++) {
    char text[FS_SIZE_TEXT];
    if (f->misfits[m] > 1) {
      fs_builder_infeasible(f->b, FS_DIAG_DOES_NOT_FIT, f->b->memory.at[m].at, NULL,
                            "memory '%s' is too small for %u ops: the smallest capacity that fits "
                            "every op is %s",
                            f->g->target.memory[m].name, f->misfits[m],
                            fs_size_text(text, f->most[m]));
    }
  }
}

static void check_uses(fsched_builder *b, const fsched_graph *g) {
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t i = g->op_use0[op]; i < g->op_use0[op + 1]; i++) {
      uint32_t r = g->use_resource[i];
      uint64_t have = g->target.resource_capacity[r];
      if (g->use_amount[i] > have) {
        fs_builder_infeasible(b, FS_DIAG_USES_TOO_MUCH, fs_pos_at(&b->uses.at, i), NULL,
                              "op '%s' uses too much of '%s': needed %llu, available %llu, "
                              "excess %llu",
                              g->op_name[op], g->target.resource_name[r],
                              (unsigned long long)g->use_amount[i], (unsigned long long)have,
                              (unsigned long long)(g->use_amount[i] - have));
      }
    }
  }
}

/* The first pass over the ops makes no reports, so that sufficient capacities are reported before
 * the ops that do not fit, and are not lost among many messages. */
static void fit_all(fitter *f) {
  for (uint32_t op = 0; op < f->g->n_ops; op++) {
    fit_op(f, op, false);
  }
  if (f->any) {
    say_what_fits(f);
    for (uint32_t op = 0; op < f->g->n_ops; op++) {
      fit_op(f, op, true);
    }
  }
}

fs_status fs_builder_capacity(fsched_builder *b, fsched_graph *g) {
  assert(g->op_inplace0 != NULL);
  FS_SCRATCH(scratch, b->ctx);
  fitter f = {.b = b, .g = g};
  FS_TRY(fs_needs_init(&f.needs, g, &scratch));
  FS_TRY(fs_new_zero(&scratch, &f.most, g->target.n_memories));
  FS_TRY(fs_new_zero(&scratch, &f.misfits, g->target.n_memories));
  fit_all(&f);
  check_uses(b, g);
  return FSCHED_OK;
}

void fs_builder_check_sync(fsched_builder *b) {
  if (fs_sync_has_stops(b->sync) || fs_builder_lost(b, FS_KIND_SYNC)) {
    return;
  }
  for (uint32_t q = 0; q < b->queue.n; q++) {
    if (b->queue.at[q].counting) {
      (void)fs_builder_fail(b, FS_DIAG_SYNC_KIND, fs_pos_at(&b->counting_at, q),
                            "leave it out, or give the target 'sync: block'",
                            "queue '%s' is counting, which takes 'sync: block', not '%s'",
                            b->queue.at[q].name, fs_words_sync[b->sync]);
    }
  }
  for (uint32_t m = 0; m < b->memory.n; m++) {
    if (b->memory.at[m].m.stack) {
      (void)fs_builder_fail(b, FS_DIAG_SYNC_KIND, b->memory.at[m].placement_at,
                            "use 'contiguous', or give the target 'sync: block'",
                            "memory '%s' is a stack, which takes 'sync: block', not '%s'",
                            b->memory.at[m].m.name, fs_words_sync[b->sync]);
    }
  }
}
