/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of the interval, without a search for a plan. */
#ifndef FS_MODULO_BOUNDS_H
#define FS_MODULO_BOUNDS_H

#include "modulo/body.h"

/* The work of each set of queues or lanes over their number, or of ops that exclude each other, and
 * the largest cycle ratio of edges and of rings of given or largest depth.  `roles` is left as it
 * is.  *endless: there is a cycle without distance, so there is no plan.  Requires a body of one
 * copy. Complexity: O(claims^2), and that of fs_modulo_cycle.  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_bounds_of(fsched_context *ctx, const fs_modulo_body *b, fs_modulo_bounds *out,
                              bool *endless) FS_MUST_USE;

/* The least period in which whole claims can be divided among tracks so that none is overloaded, or
 * a lower bound of it if it takes more than so many steps; or what ops that exclude each other
 * need, if that is more; divided by the copies.  *by, *index: what needs it, FS_MODULO_BY_ROLES and
 * the first queue of the group, FS_MODULO_BY_QUEUES and the queue, or FS_MODULO_BY_RESOURCE and the
 * resource.  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_roles(fsched_context *ctx, const fs_modulo_body *b, uint64_t steps,
                          fs_modulo_ratio *out, fs_modulo_limit *by, uint32_t *index) FS_MUST_USE;

#endif
