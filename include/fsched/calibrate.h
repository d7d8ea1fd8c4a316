/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: measures the costs of copies, launches and waits on a device, for target files. */
#ifndef FSCHED_CALIBRATE_H
#define FSCHED_CALIBRATE_H

#include "fsched/exec.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A copy of n bytes takes fixed_ns + n * 1000 / bytes_per_us nanoseconds; bytes_per_us 0: only the
 *  fixed time could be measured. */
typedef struct fsched_copy_cost {
  uint64_t fixed_ns, bytes_per_us;
} fsched_copy_cost;

typedef struct fsched_calibration {
  size_t size;
  uint64_t command_ps; /* picoseconds of a command without waits, after another on its queue; 0: too
                          short to be measured */
  uint64_t wait_ps; /* picoseconds of a command that waits for one of another queue; 0: likewise */
  fsched_copy_cost write, read; /* to the backing store and from it, while no other copy runs */
  fsched_copy_cost write_both, read_both; /* while the other direction is busy on a second queue */
  uint64_t sync_ps; /* picoseconds that a full sync adds to a command behind it */
} fsched_calibration;

typedef struct fsched_calibrate_options {
  size_t size;
  uint64_t most_bytes; /* largest copy; 0: 64 MiB */
  uint32_t rounds;     /* repetitions of each measurement; the quickest counts; 0: 9 */
} fsched_calibrate_options;

/** Runs small programs on the device for a few seconds.  `options` may be NULL.  The result depends
 *  on the machine and its load.  Memory: about four times most_bytes, on the host and on the
 *  device.
 *  Errors: FSCHED_USAGE (options), those of fsched_replay. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_calibrate(fsched_context *ctx,
                                                          fsched_device *device,
                                                          const fsched_calibrate_options *options,
                                                          fsched_calibration *result);

#ifdef __cplusplus
}
#endif
#endif
