/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: the independent check of schedules and programs; shares no code with the passes.
 *
 * What is proven of a schedule: precedence, queues, resources, concurrency, capacity, placement,
 * and that every access finds its version (spills included).  Of a program, for every set of
 * actual durations: conflicting accesses are ordered by queue order and waits, everything counted
 * stays within its capacity, nothing deadlocks, every value is the right one, and no wait is
 * superfluous.  Each violation is a diagnostic with the code of its rule (lib/base/diag.def); up to
 * the context's max_errors of them are reported.  Errors: FSCHED_WRONG when refuted. */
#ifndef FSCHED_VERIFY_H
#define FSCHED_VERIFY_H

#include "fsched/compile.h"

#ifdef __cplusplus
extern "C" {
#endif

FSCHED_API FSCHED_MUST_USE fsched_status fsched_verify_schedule(fsched_context *ctx,
                                                                const fsched_graph *graph,
                                                                const fsched_schedule *schedule);
/** `graph` may be NULL; with it, the program must also be that graph's. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_verify_program(fsched_context *ctx,
                                                               const fsched_program *program,
                                                               const fsched_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
