/* SPDX-License-Identifier: Apache-2.0 */
/* Members with args of their own: their queues, and conflicts between them.
 *
 * Members run at the same time, so whatever one writes no other may access.  The runs of bytes of
 * all accesses of one version are sorted by where they begin, and looked at in this order.  A run
 * meets an earlier one that ends behind its begin; of these it suffices to know the one that ends
 * last, and the one of another member that ends last, both among writes and among all:
 *
 *   member 0   [-- write --)     [-- read --)
 *   member 1            [-- read --)              meets the write
 */
#include <stdlib.h>

#include "front/builder/private.h"

typedef struct member_run {
  uint64_t low, high;
  uint32_t arg, member;
  bool writes;
} member_run;

typedef FS_VEC(member_run) member_runs;

/* The end that is farthest, and the farthest one of other members. */
typedef struct farthest {
  uint64_t end, other_end;
  uint32_t member;
} farthest;

/* Runs that compare equal are equal in every member but `high`, which is compared, too. */
static int compare_runs(const void *x, const void *y) {
  const member_run *a = x, *b = y;
  const uint64_t p[] = {a->low, a->arg, a->high}, q[] = {b->low, b->arg, b->high};
  for (size_t i = 0; i < sizeof p / sizeof p[0]; i++) {
    if (p[i] != q[i]) {
      return p[i] < q[i] ? -1 : 1;
    }
  }
  return 0;
}

static void go_on_to(farthest *f, const member_run *r) {
  if (r->member == f->member) {
    f->end = fs_max(f->end, r->high);
  } else if (r->high > f->end) {
    f->other_end = f->end;
    f->end = r->high;
    f->member = r->member;
  } else {
    f->other_end = fs_max(f->other_end, r->high);
  }
}

/* Whether a run of another member ends behind the begin of this one. */
static bool meets(const farthest *f, const member_run *r) {
  return (r->member == f->member ? f->other_end : f->end) > r->low;
}

static fs_status list_runs(const fsched_graph *g, uint32_t first, uint32_t end, member_runs *runs) {
  for (uint32_t i = first; i < end; i++) {
    uint32_t arg = g->access_arg[i];
    member_run r = {
        .arg = arg, .member = fs_arg_member(g, arg), .writes = fs_tag_writes(g->arg_tag[arg])};
    fs_view_runs pieces = fs_arg_pieces(g, arg);
    for (fs_view_walk at = {.at = 0}; fs_view_walk_on(&pieces, &at);) {
      r.low = at.low;
      r.high = at.high;
      FS_TRY(fs_vec_push(g->ctx, runs, r));
    }
  }
  return FSCHED_OK;
}

fs_status fs_builder_members_meet(const fsched_graph *g, uint32_t first, uint32_t end, bool *meet,
                                  uint32_t *at) {
  assert(first < end && g->access_op[first] == g->access_op[end - 1]);
  *meet = false;
  bool writes = false, several = false;
  for (uint32_t i = first; i < end; i++) {
    uint32_t arg = g->access_arg[i];
    writes = writes || fs_tag_writes(g->arg_tag[arg]);
    several = several || fs_arg_member(g, arg) != fs_arg_member(g, g->access_arg[first]);
  }
  if (!writes || !several) {
    return FSCHED_OK;
  }
  member_runs runs = {0};
  fs_status status = list_runs(g, first, end, &runs);
  farthest all = {.member = FS_NONE}, written = {.member = FS_NONE};
  if (status == FSCHED_OK) {
    qsort(runs.at, runs.n, sizeof *runs.at, compare_runs);
  }
  for (size_t i = 0; i < runs.n && status == FSCHED_OK && !*meet; i++) {
    const member_run *r = &runs.at[i];
    *meet = meets(r->writes ? &all : &written, r);
    *at = r->arg;
    go_on_to(&all, r);
    if (r->writes) {
      go_on_to(&written, r);
    }
  }
  fs_vec_free(g->ctx, &runs);
  return status;
}

fs_status fs_builder_member_conflicts(fsched_builder *b, const fsched_graph *g) {
  assert(g->version_access0 != NULL);
  uint32_t end = 0;
  if (g->op_members == NULL || fs_hazards_data_only(g->hazards) || b->sample) {
    return FSCHED_OK;
  }
  for (uint32_t v = 0; v < g->n_versions; v++) {
    for (uint32_t i = g->version_access0[v]; i < g->version_access0[v + 1]; i = end) {
      uint32_t op = g->access_op[i], at;
      bool meet = false;
      for (end = i + 1; end < g->version_access0[v + 1] && g->access_op[end] == op;) {
        end++;
      }
      if (g->op_members[op] > 0) {
        FS_TRY(fs_builder_members_meet(g, i, end, &meet, &at));
      }
      if (meet) {
        (void)fs_builder_fail(b, FS_DIAG_MEMBER_CONFLICT, fs_pos_at(&b->arg_at, at),
                              "members run at the same time; use 'hazards: raw' if they may race",
                              "op '%s': one member writes bytes of '%s' that another one accesses",
                              g->op_name[op], g->buffer_name[g->version_buffer[v]]);
      }
    }
  }
  return FSCHED_OK;
}

fs_status fs_builder_check_members(fsched_builder *b, const fsched_graph *g) {
  assert(g->op_arg0 != NULL);
  for (uint32_t op = 0; g->op_members != NULL && op < g->n_ops; op++) {
    const fs_op_draft *d = &b->op.at[op];
    fs_pos pos = fs_pos_at(&b->op_on_at, op);
    if (d->members > 0 && g->target.implicit_queues) {
      (void)fs_builder_fail(b, FS_DIAG_BAD_MEMBERS, pos, "give the target 'queues'",
                            "op '%s' has members, and the target has no queues", g->op_name[op]);
      continue;
    }
    uint32_t before = FS_NONE;
    for (uint32_t i = 0; d->member0 != FS_NONE && i < d->members; i++) {
      const char *name = b->words.text.at[b->member_word.at[d->member0 + i]];
      uint32_t queue = fs_names_find(&b->queues, name, strlen(name)); /* FS_NONE: was reported */
      if (before != FS_NONE && queue <= before) {
        (void)fs_builder_fail(b, FS_DIAG_BAD_MEMBERS, pos, "member i is that of the i-th queue",
                              "op '%s' with members names queue '%s' out of the target's order",
                              g->op_name[op], name);
        break;
      }
      before = queue;
    }
  }
  return FSCHED_OK;
}
