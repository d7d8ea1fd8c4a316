/* SPDX-License-Identifier: Apache-2.0 */
/* The limit of ops at a time, in graphs with loops.
 *
 * A loop is one op, in which several run at a time.  So the limit becomes a resource: each op uses
 * a unit of it, and a loop as many as its plan has lanes of it.  Copies use none, and a gang is one
 * op, as with the limit. */
#include <stdio.h>

#include "front/builder/roll/roll.h"

/* Whether more ops could be under way than the limit allows: on each queue one, or more where it is
 * free before its op is over. */
static bool matters(const fsched_builder *b) {
  bool slow = b->wait > 0;
  for (size_t op = 0; op < b->op.n && !slow; op++) {
    slow = b->op.at[op].latency > b->op.at[op].time;
  }
  return b->concurrency > 0 && (slow || b->concurrency < b->queue.n);
}

/* A name that no other resource has. */
static void find_name(const fsched_builder *b, char *name, size_t room) {
  (void)snprintf(name, room, "concurrency");
  for (uint32_t n = 2; fs_names_find(&b->resources, name, strlen(name)) != FS_NONE; n++) {
    (void)snprintf(name, room, "concurrency %u", (unsigned)n);
  }
}

fs_status fs_roller_limit_ops(fsched_builder *b) {
  assert(!b->contracted && !b->unrolled);
  char name[32];
  uint32_t id;
  uint64_t limit = b->concurrency;
  bool any = matters(b);
  b->concurrency = 0;
  if (!any) {
    return FSCHED_OK;
  }
  find_name(b, name, sizeof name);
  FS_TRY(fsched_builder_resource(b, name, limit, &id));
  for (uint32_t op = 0; op < b->op.n; op++) {
    fs_item_draft use = {.op = op, .a = id, .amount = 1};
    FS_TRY(fs_vec_push(b->ctx, &b->uses.item, use));
    FS_TRY(fs_builder_place(b, &b->uses.at, b->uses.item.n - 1, fs_pos_at(&b->op_at, op)));
  }
  return FSCHED_OK;
}
