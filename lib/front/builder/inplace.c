/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which in-place pairs are legal.  The output takes over the input's place while the op
 * runs, so every other op that reads or writes that version of the input has to come before the op,
 * whatever the times: it has to be one of the op's ancestors.
 *
 * Most of these users are predecessors.  For the others the op's ancestors are searched, not past
 * the earliest of those users in the topological order.  The number of edges that searches look at
 * is limited (limit.h).  A pair for which the limit was too low is dropped; but as it may still be
 * legal, no op is refused because its output needs a place (needs.h).
 *
 * With raw hazards other ops may write the output before the op does, and the op would then find
 * its place taken: these writers have to be the op's successors. */
#include <stdio.h>

#include "base/limit.h"
#include "front/builder/private.h"

typedef struct inplace_pairs {
  fsched_builder *b;
  fsched_graph *g;
  fs_arena *scratch;
  uint32_t *out, *in; /* per buffer: its first output and input arg, if of `indexed` */
  uint32_t indexed;   /* op whose args out and in hold; FS_NONE: none yet */
  uint8_t *taken;     /* per arg: whether it is in a pair */
  uint32_t *rank;     /* position in topo; NULL until it is needed */
  uint32_t *seen;     /* per op: number of the last search that met it, from 1 */
  uint32_t searches;
  fs_ids stack;
  uint64_t steps; /* edges that all searches looked at */
  bool cut;       /* the current search met a limit */
} inplace_pairs;

/* Enters the args of this op; entries of other ops' args stay where they are. */
static void index_args(inplace_pairs *p, uint32_t op) {
  FS_ASSERT_SLOW(op < p->g->n_ops);
  const fsched_graph *g = p->g;
  for (uint32_t arg = g->op_arg0[op + 1]; p->indexed != op && arg-- > g->op_arg0[op];) {
    if (fs_tag_begins(g->arg_tag[arg])) {
      p->out[g->arg_buffer[arg]] = arg;
    } else if (fs_tag_only_reads(g->arg_tag[arg])) {
      p->in[g->arg_buffer[arg]] = arg;
    }
  }
  p->indexed = op;
}

static uint32_t find_arg(const fsched_graph *g, uint32_t op, const uint32_t *first,
                         uint32_t buffer) {
  uint32_t arg = first[buffer];
  return arg != FS_NONE && arg >= g->op_arg0[op] && arg < g->op_arg0[op + 1] ? arg : FS_NONE;
}

static bool is_pred(const fsched_graph *g, uint32_t op, uint32_t before) {
  FS_ASSERT_SLOW(op < g->n_ops && before < g->n_ops);
  uint32_t low = g->pred0[op];
  uint32_t high = g->pred0[op + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (g->pred[middle] < before) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < g->pred0[op + 1] && g->pred[low] == before;
}

static fs_status prepare_search(inplace_pairs *p) {
  if (p->rank != NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_zero(p->scratch, &p->seen, p->g->n_ops));
  FS_TRY(fs_new(p->scratch, &p->rank, p->g->n_ops));
  for (uint32_t i = 0; i < p->g->n_ops; i++) {
    p->rank[p->g->topo[i]] = i;
  }
  return FSCHED_OK;
}

/* Marks the ancestors of `op` of at least `lowest` rank, up to the limits. */
static fs_status mark_ancestors(inplace_pairs *p, uint32_t op, uint32_t lowest) {
  assert(p->rank != NULL && op < p->g->n_ops);
  const fsched_graph *g = p->g;
  const fs_limits *l = fs_limits_of(p->b->ctx);
  uint64_t left = fs_min(l->inplace_search, l->inplace_steps - p->steps);
  p->stack.n = 0;
  p->searches++;
  FS_TRY(fs_vec_push(p->b->ctx, &p->stack, op));
  while (p->stack.n > 0 && left > 0) {
    uint32_t at = p->stack.at[--p->stack.n];
    for (uint32_t e = g->pred0[at]; e < g->pred0[at + 1] && left > 0; e++, left--) {
      uint32_t before = g->pred[e];
      p->steps++;
      if (p->rank[before] >= lowest && p->seen[before] != p->searches) {
        p->seen[before] = p->searches;
        FS_TRY(fs_vec_push(p->b->ctx, &p->stack, before));
      }
    }
  }
  p->cut = left == 0;
  return FSCHED_OK;
}

/* Sets `other` to the first op that also uses the version and is not known to come before `op`; to
 * `op` itself when it uses the version twice; to FS_NONE when `op` is the last user of the
 * input. */
static fs_status other_use(inplace_pairs *p, uint32_t op, uint32_t version, uint32_t *other) {
  const fsched_graph *g = p->g;
  uint32_t first = g->version_access0[version], end = g->version_access0[version + 1];
  uint32_t lowest = FS_NONE;
  uint32_t own = 0;
  for (uint32_t i = first; i < end; i++) {
    uint32_t user = g->access_op[i];
    own += user == op;
    if (user != op && !is_pred(g, op, user)) {
      FS_TRY(prepare_search(p));
      lowest = (uint32_t)fs_min(lowest, p->rank[user]);
    }
  }
  *other = own == 1 ? FS_NONE : op;
  p->cut = false;
  if (lowest == FS_NONE || own != 1) {
    return FSCHED_OK;
  }
  FS_TRY(mark_ancestors(p, op, lowest));
  for (uint32_t i = first; i < end && *other == FS_NONE; i++) {
    uint32_t user = g->access_op[i];
    bool before = user == op || is_pred(g, op, user) || p->seen[user] == p->searches;
    *other = before ? FS_NONE : user;
  }
  return FSCHED_OK;
}

/* With raw hazards: the first op that also writes the version and is not a direct successor of
 * `op`, or FS_NONE. */
static uint32_t racing_writer(const fsched_graph *g, uint32_t op, uint32_t version) {
  assert(version < g->n_versions);
  for (uint32_t i = g->version_access0[version];
       fs_hazards_data_only(g->hazards) && i < g->version_access0[version + 1]; i++) {
    uint32_t other = g->access_op[i];
    if (other != op && fs_tag_writes_over(g->arg_tag[g->access_arg[i]]) && !is_pred(g, other, op)) {
      return other;
    }
  }
  return FS_NONE;
}

/* The reason why the output may not take the input's place, other uses of the two aside; NULL:
 * none. */
static const char *inplace_fault(const fsched_graph *g, uint32_t out, uint32_t in) {
  assert(out < g->n_args && in < g->n_args);
  uint32_t a = g->arg_buffer[out];
  uint32_t b = g->arg_buffer[in];
  if (g->buffer_size[a] != g->buffer_size[b]) {
    return "their sizes differ";
  }
  if (g->buffer_memory[a] != g->buffer_memory[b]) {
    return "they are in different memories";
  }
  if (!fs_arg_whole(g, in)) {
    return "only a part of the input is read";
  }
  if (fs_arg_member(g, out) != fs_arg_member(g, in)) {
    return "another member reads the input";
  }
  return fs_version_kept(g, g->arg_version[in]) ? "the input is kept to the end" : NULL;
}

void fs_builder_drop_inplace(fsched_builder *b, size_t item, const char *op, const char *out,
                             const char *in, const char *fault) {
  assert(item < b->inplaces.item.n);
  fs_pos at = fs_pos_at(&b->inplaces.at, item);
  if (!b->bad && !b->sample && fs_builder_tells(b, FS_DIAG_INPLACE, at) &&
      b->inplace_dropped++ < FS_WARNINGS_SHOWN) {
    fs_report(b->ctx, FSCHED_WARNING, FS_DIAG_INPLACE, at, NULL,
              "op '%s' cannot write '%s' in place of '%s': %s", op, out, in, fault);
  }
}

static void drop_pair(fsched_builder *b, const fsched_graph *g, size_t item, const char *fault) {
  const fs_item_draft *d = &b->inplaces.item.at[item];
  fs_builder_drop_inplace(b, item, g->op_name[d->op], g->buffer_name[d->a], g->buffer_name[d->b],
                          fault);
}

/* Checks a pair: an input's place goes to one output only, and an output has only one place. */
static fs_status check_pair(inplace_pairs *p, size_t item, uint32_t out, uint32_t in, bool *legal) {
  assert(item < p->b->inplaces.item.n);
  const fsched_graph *g = p->g;
  uint32_t op = p->b->inplaces.item.at[item].op;
  const char *fault = inplace_fault(g, out, in);
  char text[160];
  if (fault == NULL && !p->b->bad) { /* after an error the ops may have no order */
    uint32_t other;
    FS_TRY(other_use(p, op, g->arg_version[in], &other));
    uint32_t writer = racing_writer(g, op, g->arg_version[out]);
    if (other == op) {
      fault = "the op has several args of the input";
    } else if (other != FS_NONE) {
      (void)snprintf(
          text, sizeof text, "op '%.80s' uses it too, and %s", g->op_name[other],
          p->cut ? "whether it comes before takes too long to find out" : "need not come before");
      g->arg_open[out] = p->cut;
      fault = text;
    } else if (writer != FS_NONE) {
      (void)snprintf(text, sizeof text, "op '%.80s' writes the output too, and need not come after",
                     g->op_name[writer]);
      fault = text;
    }
  }
  if (fault == NULL && (p->taken[out] || p->taken[in])) {
    fault = "one of them is in another pair of the op already";
  }
  if (fault != NULL) {
    drop_pair(p->b, g, item, fault);
  }
  *legal = fault == NULL;
  return FSCHED_OK;
}

/* Appends the pair to the `n` that are kept, if it is legal. */
static fs_status keep_pair(inplace_pairs *p, uint32_t op, size_t item, uint32_t *n) {
  fsched_builder *b = p->b;
  fsched_graph *g = p->g;
  const fs_item_draft *d = &b->inplaces.item.at[item];
  index_args(p, op);
  uint32_t out = find_arg(g, op, p->out, d->a);
  uint32_t in = find_arg(g, op, p->in, d->b);
  if (out == FS_NONE || in == FS_NONE) {
    if (!b->incomplete) {
      (void)fs_builder_fail(b, FS_DIAG_BAD_INPLACE, fs_pos_at(&b->inplaces.at, item), NULL,
                            "op '%s' has no '%s' arg of buffer '%s'", g->op_name[op],
                            out == FS_NONE ? "out" : "in",
                            g->buffer_name[out == FS_NONE ? d->a : d->b]);
    }
    return FSCHED_OK;
  }
  if (g->arg_version[in] == FS_NONE ||
      !fs_memory_bounded(&g->target.memory[g->buffer_memory[d->a]])) {
    return FSCHED_OK; /* there an output takes over no place */
  }
  bool legal;
  FS_TRY(check_pair(p, item, out, in, &legal));
  if (legal) {
    g->inplace_out[*n] = out;
    g->inplace_in[*n] = in;
    p->taken[out] = p->taken[in] = 1;
    *n += 1;
  }
  return FSCHED_OK;
}

/* Keeps the legal pairs.  Calls may come in any order of ops, but nearly always come op by op, so
 * the list is walked from the end of the previous op's entries, and from the start only when it is
 * not sorted. */
static fs_status keep_pairs(inplace_pairs *p) {
  const fsched_builder *b = p->b;
  size_t n_items = b->inplaces.item.n;
  bool sorted = true;
  for (size_t i = 1; i < n_items; i++) {
    sorted = sorted && b->inplaces.item.at[i - 1].op <= b->inplaces.item.at[i].op;
  }
  uint32_t n = 0;
  size_t next = 0;
  for (uint32_t op = 0; op < p->g->n_ops; op++) {
    p->g->op_inplace0[op] = n;
    for (size_t i = sorted ? next : 0; i < n_items; i++) {
      uint32_t owner = b->inplaces.item.at[i].op;
      if (owner == op) {
        FS_TRY(keep_pair(p, op, i, &n));
        next = i + 1;
      } else if (sorted && owner > op) {
        break;
      }
    }
  }
  p->g->op_inplace0[p->g->n_ops] = n;
  return FSCHED_OK;
}

static fs_status prepare_pairs(inplace_pairs *p) {
  if (p->b->inplaces.item.n == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_none(p->scratch, &p->out, p->g->n_buffers));
  FS_TRY(fs_new_none(p->scratch, &p->in, p->g->n_buffers));
  return fs_new_zero(p->scratch, &p->taken, p->g->n_args);
}

static fs_status find_pairs(inplace_pairs *p) {
  FS_TRY(prepare_pairs(p));
  return keep_pairs(p);
}

fs_status fs_builder_inplaces(fsched_builder *b, fsched_graph *g) {
  assert(g->succ0 != NULL && g->op_arg0 != NULL);
  FS_TRY(fs_new_zero(&b->arena, &g->op_inplace0, (size_t)g->n_ops + 1));
  FS_TRY(fs_new(&b->arena, &g->inplace_out, b->inplaces.item.n));
  FS_TRY(fs_new(&b->arena, &g->inplace_in, b->inplaces.item.n));
  FS_TRY(fs_new_zero(&b->arena, &g->arg_open, g->n_args));
  FS_SCRATCH(scratch, b->ctx);
  inplace_pairs p = {.b = b, .g = g, .indexed = FS_NONE, .scratch = &scratch};
  fs_status status = find_pairs(&p);
  fs_vec_free(b->ctx, &p.stack);
  return status;
}
