/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: the outcome of a wait, in one number.
 *
 * Trackers and semaphores pass a cause to the callbacks of their waiters: 0 means success, a
 * negative number is a failure listed below, and a positive number is a failure that the caller
 * defined, passed on unchanged. */
#ifndef FSCHED_CAUSE_H
#define FSCHED_CAUSE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t fsched_cause;

/* The causes that the library defines; FSCHED_CAUSE_NONE is success. */
enum {
  FSCHED_CAUSE_NONE = 0,
  FSCHED_CAUSE_CANCELLED = -1, /* the object of the wait has been destroyed */
  FSCHED_CAUSE_RETIRED = -2,   /* the axis has ended in order and will not advance any more */
  FSCHED_CAUSE_TIMEOUT = -3,
  FSCHED_CAUSE_SYSTEM = -4, /* the system failed: memory, a descriptor, another process */
  FSCHED_CAUSE_WRONG = -5   /* the program is wrong: nothing orders commands that conflict */
};

#ifdef __cplusplus
}
#endif
#endif
