/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that change programs have in common. */
#ifndef FS_TEST_MUTATE_PRIVATE_H
#define FS_TEST_MUTATE_PRIVATE_H

#include "kit/mutate/mutate.h"

typedef struct mutant {
  fs_stream *s;
  fs_rng *rng;
} mutant;

/* The writable records of a section. */
#define REC(m, id, type) ((type *)(uintptr_t)(m)->s->id)
#define COMMAND(m) REC(m, commands, fs_stream_command)

static inline uint32_t pick(mutant *m, uint32_t n) { return fs_rng_below(m->rng, n); }

/* Changes barriers and stops in that way; false if there is nothing to change. */
bool fs_mutate_sync(mutant *m, fs_program_mutation mutation);

#endif
