/* SPDX-License-Identifier: Apache-2.0 */
/* A claim at work: what claim.c and evict.c share. */
#ifndef FS_CLAIM_H
#define FS_CLAIM_H

#include "listsched/engine.h"

/* Stops counting a version, which is pinned or leaves, as evictable.  Requires a version in a
 * bounded memory. */
void fs_engine_withhold(fs_engine *e, uint32_t version);
/* The next victim of a memory in the policy's order, taken off the list, or FS_NONE.  Requires a
 * bounded memory. */
uint32_t fs_engine_next_victim(fs_engine *e, uint32_t memory, const fs_claim *c);
/* Sets *room: whether a bounded backing store has room for the copy of a dirty victim.  Requires a
 * version in a memory that spills. */
fs_status fs_engine_keep_store(fs_engine *e, uint32_t version, bool *room) FS_MUST_USE;
/* Makes the version leave, for the claim at work.  Requires a version that is in, and not pinned by
 * others than the claim at work. */
fs_status fs_engine_expel(fs_engine *e, uint32_t version) FS_MUST_USE;
/* Evicts and reserves; *place is FS_NONE if nothing helps.  Requires that there is no place yet. */
fs_status fs_engine_evict_for(fs_engine *e, const fs_claim *c, const fs_need *n, bool high,
                              uint32_t *place) FS_MUST_USE;

#endif
