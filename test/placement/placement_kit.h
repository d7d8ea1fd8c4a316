/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of a placement as two truth values: was one found, and is the answer proven? */
#ifndef FS_TEST_PLACEMENT_KIT_H
#define FS_TEST_PLACEMENT_KIT_H

#include "placement/placement.h"

static inline fs_status fs_test_place(fsched_context *ctx, const fs_placement *p, bool lowest,
                                      uint64_t *address, uint64_t *peak, bool *found,
                                      bool *proven) {
  fs_decision exists = fs_not_decided();
  bool least = false;
  fs_status status = fs_placement_run(ctx, p, lowest, address, peak, &exists, &least);
  *found = exists.is == FS_YES;
  *proven = *found ? least : exists.is == FS_NO;
  return status;
}

#endif
