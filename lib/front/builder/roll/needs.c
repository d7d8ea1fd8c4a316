/* SPDX-License-Identifier: Apache-2.0 */
/* What an op of a loop needs by itself: no plan helps where that is more than there is. */
#include "base/text/size_text.h"
#include "front/builder/roll/roll.h"

/* Whether an op is in a loop, and runs. */
static bool is_looped(const fs_roller *r, uint32_t op) {
  return r->in.loop_of[op] != FS_NONE && fs_roller_op_runs(r, op);
}

static void check_uses(fs_roller *r) {
  fsched_builder *b = r->b;
  for (size_t i = 0; i < b->uses.item.n; i++) {
    const fs_item_draft *x = &b->uses.item.at[i];
    uint64_t have = b->resource_capacity.at[x->a];
    if (is_looped(r, x->op) && x->amount > have) {
      fs_builder_infeasible(b, FS_DIAG_USES_TOO_MUCH, fs_pos_at(&b->uses.at, i), NULL,
                            "op '%s' uses too much of '%s': needed %llu, available %llu, "
                            "excess %llu",
                            b->ops.text.at[x->op], b->resources.text.at[x->a],
                            (unsigned long long)x->amount, (unsigned long long)have,
                            (unsigned long long)(x->amount - have));
    }
  }
}

static void check_scratch(fs_roller *r) {
  fsched_builder *b = r->b;
  for (size_t i = 0; i < b->scratches.item.n; i++) {
    const fs_item_draft *x = &b->scratches.item.at[i];
    const fs_memory *m = &b->memory.at[x->a].m;
    char wanted[FS_SIZE_TEXT], have[FS_SIZE_TEXT];
    if (!is_looped(r, x->op) || !fs_memory_bounded(m)) {
      continue;
    }
    uint64_t size = fs_align_up(x->amount, m->align);
    if (size > m->capacity) {
      fs_builder_infeasible(b, FS_DIAG_DOES_NOT_FIT, fs_pos_at(&b->scratches.at, i), NULL,
                            "the scratch of op '%s' does not fit memory '%s': needed %s, "
                            "available %s",
                            b->ops.text.at[x->op], m->name, fs_size_text(wanted, size),
                            fs_size_text(have, m->capacity));
    }
  }
}

fs_status fs_roller_check_needs(fs_roller *r) {
  assert(r->in.b == r->b);
  bool before = r->b->infeasible;
  r->b->infeasible = false;
  check_uses(r);
  check_scratch(r);
  bool any = r->b->infeasible;
  r->b->infeasible = any || before;
  return any ? FSCHED_INFEASIBLE : FSCHED_OK;
}
