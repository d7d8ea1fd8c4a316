/* SPDX-License-Identifier: Apache-2.0 */
/* Axioms that the checker of proofs takes, and those that it does not. */
#ifndef FS_TEST_AXIOMS_H
#define FS_TEST_AXIOMS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct fs_proof_axiom {
  const char *line;
  bool passes;
} fs_proof_axiom;

/* `head`: the lines up to "begin"; `end`: the last line. */
void fs_check_axioms(const char *graph, const char *head, const char *end, const fs_proof_axiom *at,
                     size_t n);

#endif
