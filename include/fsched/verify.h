/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: the independent check of schedules, programs and proofs; shares no code with the passes.
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
/** Checks proofs (fsched-proof(5)) that no schedule of the graph ends before *bound, in ticks; 0:
 *  the text has none of them; FSCHED_NO_SCHEDULE: one shows that there is no schedule.
 *  `name` stands for the text in diagnostics.  Errors: FSCHED_BAD_INPUT for a text that is not of
 *  the form of proofs, FSCHED_WRONG for a step that does not follow, and for a graph that proofs do
 *  not cover; FSCHED_USAGE, FSCHED_SYSTEM; *bound is then 0. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_verify_proof(fsched_context *ctx,
                                                             const fsched_graph *graph,
                                                             const char *text, size_t length,
                                                             const char *name, uint64_t *bound);
/** The same; `peak`, or NULL, has room for a number per memory of the target
 * (fsched_graph_memories), in its order, which gets the bytes of it that a proof shows every
 * schedule to take; 0: none does. After any error all are 0. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_verify_proofs(fsched_context *ctx,
                                                              const fsched_graph *graph,
                                                              const char *text, size_t length,
                                                              const char *name, uint64_t *bound,
                                                              uint64_t *peak);
/** More than any bound: there is no schedule. */
#define FSCHED_NO_SCHEDULE UINT64_MAX

#ifdef __cplusplus
}
#endif
#endif
