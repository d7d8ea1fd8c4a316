/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs that the search writes. */
#ifndef FS_TEST_WRITTEN_PROOF_H
#define FS_TEST_WRITTEN_PROOF_H

#include <stddef.h>
#include <stdint.h>

#include "fsched/graph.h"

typedef struct fs_written_proof {
  char *text; /* released by fsched_text_free */
  size_t n;
  uint64_t makespan, bound; /* of the schedule */
} fs_written_proof;

fs_written_proof fs_write_proof(const fsched_graph *g, uint64_t seed, uint64_t nodes);

#endif
