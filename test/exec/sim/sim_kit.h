/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that lack something, on the simulation: if the verifier says that it was needed, some
 * durations have to show it. */
#ifndef FS_TEST_SIM_KIT_H
#define FS_TEST_SIM_KIT_H

#include "exec/conformance/conformance_kit.h"
#include "kit/gen.h"

/* Opens the device `sim`, which stays in use until conf_close. */
void sim_open(conf *c, fs_conformance *sim, fsched_durations durations, uint64_t seed);
/* Random graphs in which only memory orders ops, so that whatever a wait is for shows in bytes. */
fs_gen_params sim_params(uint64_t seed);
fsched_program *sim_compile(const conf *c, const fs_gen_params *params);
/* A copy of the program that lacks a wait. */
fsched_program *sim_drop_wait(const fsched_program *p, uint32_t wait);
/* Whether one of `n` invocations goes wrong; *by_guard says that two commands touched the same
 * bytes at once. */
bool sim_goes_wrong(const conf *c, const fsched_program *p, uint32_t n, bool *by_guard);

typedef struct sim_counts {
  uint32_t dropped, needed, caught, by_guard;
} sim_counts;

/* Counts a stream that lacks something: whether it has to go wrong, and whether it does in `n`
 * invocations. */
void sim_judge(const conf *c, const fsched_program *mutant, uint32_t n, sim_counts *counts);
/* Checks that at least so many streams had to go wrong, that at least so many percent of these were
 * caught, and that the guard caught some. */
void sim_check_counts(const sim_counts *counts, uint32_t least_needed, uint32_t least_percent);

#endif
