/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: why something that was waited for will not come, in one number.
 *
 * Trackers and semaphores hand it to the callbacks of their waiters: 0 says that what was waited
 * for has come, a negative number is one of those below, a positive number is the caller's own,
 * passed on as it is. */
#ifndef FSCHED_CAUSE_H
#define FSCHED_CAUSE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t fsched_cause;

/* Names of the negative ones; FSCHED_CAUSE_NONE: nothing went wrong. */
enum {
  FSCHED_CAUSE_NONE = 0,
  FSCHED_CAUSE_CANCELLED = -1, /* the object that was waited on has been destroyed */
  FSCHED_CAUSE_RETIRED = -2,   /* the axis has ended in order and will not advance any more */
  FSCHED_CAUSE_TIMEOUT = -3,
  FSCHED_CAUSE_SYSTEM = -4, /* the machine failed: memory, a descriptor, the other process */
  FSCHED_CAUSE_WRONG = -5   /* the program is wrong: nothing orders commands that conflict */
};

#ifdef __cplusplus
}
#endif
#endif
