/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that lack something, on the simulation: if the verifier says that it was needed, some
 * durations have to show it. */
#ifndef FS_TEST_SIM_KIT_H
#define FS_TEST_SIM_KIT_H

#include "exec/conformance/conformance_kit.h"

/* `sim` stays in use until conf_close. */
void sim_open(conf *c, fs_conformance *sim, fsched_durations durations, uint64_t seed);
/* A random graph, compiled.  Only memory orders the ops, so that all that a wait is for is seen in
 * bytes. */
fsched_program *sim_compile(const conf *c, uint64_t seed);
/* Whether one of `n` invocations goes wrong; *by_guard: because two touched the same at once. */
bool sim_goes_wrong(const conf *c, const fsched_program *p, uint32_t n, bool *by_guard);

typedef struct sim_counts {
  uint32_t dropped, needed, caught, by_guard;
} sim_counts;

/* Counts a stream that lacks something: does it have to go wrong, and does it in `n` invocations?
 */
void sim_judge(const conf *c, const fsched_program *mutant, uint32_t n, sim_counts *counts);
/* So many of 100 that are needed have been caught, some in the act. */
void sim_check_counts(const sim_counts *counts, uint32_t least_needed, uint32_t least_percent);

#endif
