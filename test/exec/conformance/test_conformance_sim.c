/* SPDX-License-Identifier: Apache-2.0 */
/* Conformance of the simulation, with every kind of durations. */
#include "exec/conformance/conformance.h"

FS_SUITE(conformance_sim, s) {
  static const fs_conformance sims[] = {
      {.device = {.kind = "sim"}},
      {.device = {.kind = "sim", .durations = FSCHED_DURATIONS_RANDOM, .seed = 1}},
      {.device = {.kind = "sim", .durations = FSCHED_DURATIONS_ADVERSARIAL, .seed = 2}}};
  for (unsigned i = 0; i < sizeof sims / sizeof *sims; i++) {
    fs_conformance_add(s, &sims[i]);
  }
}
