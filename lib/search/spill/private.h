/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FS_SEARCH_SPILL_PRIVATE_H
#define FS_SEARCH_SPILL_PRIVATE_H

#include "search/spill/spill.h"

/* Tells the learner why the point, which was just found, is no schedule.  refuse.c */
fs_status fs_spills_refuse(fs_spills *s, const fs_spill_fixed *fixed) FS_MUST_USE;

#endif
