/* SPDX-License-Identifier: Apache-2.0 */
/* What a program's ops compute, one after the other in program order, but each behind those that it
 * is `after` and whose bytes it reads.  This is written for tests alone, from the manual's words,
 * and shares nothing with exec/.  Versions are derived from the tags, not read from the program;
 * kernels are computed here.
 *
 * A byte is defined when it is given, or written by an op all of whose input was defined; only such
 * bytes have one right value. */
#ifndef FS_TEST_EVALUATE_H
#define FS_TEST_EVALUATE_H

#include <stdbool.h>

#include "model/stream/stream.h"

typedef struct fs_evaluated {
  uint8_t *data, *defined; /* NULL: there was never any content */
} fs_evaluated;

/* Fills `data` with what the test gives the buffer of that number. */
void fs_evaluate_input(uint32_t buffer, uint8_t *data, uint64_t n);
/* Returns the content of all buffers after so many invocations, whose inputs and constants are
 * those of fs_evaluate_input.  Kernels are built in. */
fs_evaluated *fs_evaluate(const fs_stream *s, uint32_t invocations);
void fs_evaluate_free(const fs_stream *s, fs_evaluated *e);

#endif
