/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/proof/written_proof.h"

#include "fsched/compile.h"

#include "kit/context.h"

fs_written_proof fs_write_proof(const fsched_graph *g, uint64_t seed, uint64_t nodes) {
  fs_written_proof p = {0};
  fsched_compile_options o = {.size = sizeof o,
                              .verify = 1,
                              .seed = seed,
                              .refine = FSCHED_REFINE_SEARCH,
                              .node_limit = nodes,
                              .proof = &p.text,
                              .proof_length = &p.n};
  fsched_schedule *s;
  ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  p.makespan = fsched_schedule_makespan(s);
  p.bound = fsched_schedule_lower_bound(s);
  fsched_schedule_destroy(s);
  return p;
}
