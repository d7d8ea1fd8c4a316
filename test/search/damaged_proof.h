/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs that are damaged. */
#ifndef FS_TEST_DAMAGED_PROOF_H
#define FS_TEST_DAMAGED_PROOF_H

#include "kit/gen.h"
#include "verify/proof/written_proof.h"

/* So many times a proof of the least makespan, damaged in a few places, that claims a tick more:
 * none is accepted.  Returns how many were looked at behind their header. */
unsigned fs_claim_more(const fsched_graph *g, const fs_written_proof *p, fs_rng *r,
                       unsigned damages);

#endif
