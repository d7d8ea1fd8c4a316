/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: the independent check of schedules and programs; shares no code with the passes.
 *
 * Proven of a schedule: precedence, queues, resources, concurrency, capacity, placement, and that
 * every access finds its version (spills included).  Proven of a program, for all durations:
 * conflicting accesses are ordered by queue order and waits, counted memories, resources and
 * concurrency stay within their capacities, nothing deadlocks, every access finds the right
 * version, and no wait is superfluous.  Each violation is a diagnostic with the code of its rule
 * (lib/base/diag.def); up to the context's max_errors of them are reported.  Errors: FSCHED_WRONG
 * when a rule is violated. */
#ifndef FSCHED_VERIFY_H
#define FSCHED_VERIFY_H

#include "fsched/compile.h"

#ifdef __cplusplus
extern "C" {
#endif

FSCHED_API FSCHED_MUST_USE fsched_status fsched_verify_schedule(fsched_context *ctx,
                                                                const fsched_graph *graph,
                                                                const fsched_schedule *schedule);
/** `graph` may be NULL; if it is not, the program must also be one of this graph. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_verify_program(fsched_context *ctx,
                                                               const fsched_program *program,
                                                               const fsched_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
