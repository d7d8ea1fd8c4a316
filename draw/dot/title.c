/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the label of a picture: numbers of ops and copies, the time they take, and what is left
 * out. */
#include "draw/dot/title.h"

#include "base/text/plural.h"
#include "draw/dot/label.h"

void fs_dot_put_unit(const fs_picture *p, fs_text *t) {
  if (p->unit != NULL) {
    fs_text_puts(t, " ");
    fs_dot_escape(t, p->unit);
  }
}

void fs_dot_put_counts(fs_text *t, uint32_t ops, uint32_t copies) {
  if (ops > 0) {
    fs_text_printf(t, "%u op%s", ops, fs_plural_s(ops));
  }
  if (copies > 0) {
    fs_text_printf(t, "%s%u cop%s", ops > 0 ? ", " : "", copies, fs_plural_ies(copies));
  }
}

/* Writes "5 ops, 2 loads, 1 store, 0 spills". */
static void put_totals(const fs_picture *p, fs_text *t) {
  uint32_t n[FS_PIC_KINDS] = {0};
  for (uint32_t i = 0; i < p->n_items; i++) {
    n[p->item[i].kind]++;
  }
  fs_dot_put_counts(t, p->n_ops, 0);
  if (p->n_copies > 0) {
    uint32_t loads = n[FS_PIC_LOAD], stores = n[FS_PIC_STORE],
             spills = p->n_copies - loads - stores;
    fs_text_printf(t, ", %u load%s, %u store%s, %u spill%s", loads, fs_plural_s(loads), stores,
                   fs_plural_s(stores), spills, fs_plural_s(spills));
  }
}

static void put_span(const fs_picture *p, fs_text *t) {
  fs_text_puts(t, p->source == FS_PIC_GRAPH ? ", longest path " : ", makespan ");
  fs_text_u64(t, p->span);
  fs_dot_put_unit(p, t);
  if (p->lower_bound != FS_TICK_NONE) {
    fs_text_puts(t, ", lower bound ");
    fs_text_u64(t, p->lower_bound);
    fs_dot_put_unit(p, t);
  }
  const char *what = p->n_copies > 0 ? "ops and copies" : fs_plural(p->path_items, "op", "ops");
  fs_text_printf(t, "\\lcritical path (bold): %u %s, ", p->path_items, what);
  if (p->path_gaps == 0) {
    fs_text_puts(t, "without gaps");
  } else {
    fs_text_puts(t, "with gaps of ");
    fs_text_u64(t, p->path_gaps);
    fs_dot_put_unit(p, t);
  }
}

static void put_reduction(const fs_picture *p, fs_text *t) {
  if (p->n_nodes < p->n_items) {
    fs_text_printf(t, "\\l%u drawn as %u: ", p->n_items, p->n_nodes);
    fs_text_puts(t, p->chains ? "chains are one node" : "");
    fs_text_puts(t, p->chains && p->groups ? ", and so is " : "");
    if (p->groups) {
      fs_text_puts(t, p->source == FS_PIC_GRAPH ? "what is near each other in program order"
                                                : "what runs near each other on a queue");
    }
  }
}

static void put_omission(const fs_picture *p, fs_text *t) {
  if (p->unmerged > 0) {
    fs_text_printf(t, "\\l%u %s drawn as %u", p->unmerged,
                   p->source == FS_PIC_GRAPH ? "sets of queues" : "queues", p->n_clusters);
  }
  if (p->no_data > 0) {
    fs_text_printf(t, "\\l%u edge%s not drawn", p->no_data,
                   fs_plural(p->no_data, " that is neither control, a wait nor next on a queue is",
                             "s that are neither control, waits nor next on a queue are"));
  }
  if (p->implied > 0) {
    fs_text_printf(t, "\\l%u edge%s not drawn: other edges imply %s", p->implied,
                   fs_plural(p->implied, " is", "s are"), fs_plural(p->implied, "it", "them"));
  }
  if (p->surplus > 0) {
    fs_text_printf(t, "\\l%u edge%s not drawn: no more than %u to a node", p->surplus,
                   fs_plural(p->surplus, " is", "s are"), p->surplus_from);
  }
}

static void put_sync(const fs_picture *p, fs_text *t) {
  if (p->n_barriers + p->hidden_barriers > 0) {
    fs_text_printf(t, "\\l%u barriers", p->n_barriers + p->hidden_barriers);
    fs_text_puts(t, p->hidden_barriers > 0 ? ", too many to be drawn as nodes" : "");
  }
  if (p->full_syncs + p->some_syncs > 0) {
    fs_text_printf(t, "\\l%u full sync%s", p->full_syncs, fs_plural_s(p->full_syncs));
  }
  if (p->some_syncs > 0) {
    fs_text_printf(t, ", %u that count%s", p->some_syncs, fs_plural(p->some_syncs, "s", ""));
  }
}

void fs_dot_put_title(const fs_picture *p, fs_text *t) {
  static const char *const what[] = {"graph", "schedule", "program"};
  fs_dot_escape(t, p->name);
  fs_text_printf(t, ": %s, ", what[p->source]);
  put_totals(p, t);
  if (p->n_items > 0) {
    put_span(p, t);
  }
  put_sync(p, t);
  put_reduction(p, t);
  put_omission(p, t);
  fs_text_puts(t, "\\l");
}
