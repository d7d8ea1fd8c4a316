/* SPDX-License-Identifier: Apache-2.0 */
/* A fixture with a context, a device of the CPU that has the kernels below, and timelines, all of
 * them new for each test.  Include this behind all other headers, as its names are short.
 *
 *   add       out = in + value
 *   sum       out = the sum of all inputs
 *   fail      as add; a `value` makes it fail with that cause
 *   negative  fails with a cause that does not exist
 *   count     as add, and counts its calls in `entered`
 *   meet      as add, once two calls are running
 *   gate      counts its calls, then as add, once `open_at` is at its `value` */
#ifndef FS_TEST_EXEC_CASE_H
#define FS_TEST_EXEC_CASE_H

#include "exec/context/exec_kit.h"
#include "kit/context.h"

extern const kit_kernel kernels[];
extern fsched_device *device;
extern fsched_semaphore *line, *end, *open_at;
extern kit_count entered;
extern _Atomic int most_running; /* the most calls of `gate` at once */

void fs_test_device(TCase *t);

#endif
