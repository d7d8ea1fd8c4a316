/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of several copies in which queues, or lanes, take turns: iteration i of an op is on track
 * i mod t of a group of t.  Then all tracks do the same, one period after the other, so one of them
 * stands for all: in t periods it runs each op once.  So the search has as few ops as one copy, and
 * a group that is to be full just has to be filled by all ops together.
 *
 * Few plans are like that, so where there is none, there may be others. */
#ifndef FS_MODULO_TURNS_H
#define FS_MODULO_TURNS_H

#include "modulo/fixed.h"

/* Makes a body of one copy take turns: each group of so many tracks as divide the copies, if any of
 * its ops takes one of them, whichever it is.  *any: some group does.  Requires a body of one copy.
 * Complexity: O(claims). */
void fs_modulo_take_turns(fs_modulo_body *b, uint32_t copies, bool *any);

/* Writes choices of a body that takes turns as those of the body of so many copies, which they may
 * not suit: what holds waits back is not known of turns.  Requires choices with room.
 * Complexity: O(claims * copies). */
void fs_modulo_unroll_turns(const fs_modulo_body *turned, const fs_modulo_choice *c,
                            const fs_modulo_body *b, fs_modulo_choice *out);

#endif
