/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets have in common.  A target is fuzz_NAME.c with LLVMFuzzerTestOneInput, which
 * is linked with libFuzzer (make fuzz) or with each.c, which runs it on files.
 *
 * A target ends the process (abort) when a promise is broken: a status that is not allowed, a
 * failure without a diagnostic, success in spite of one, or memory that is not given back. */
#ifndef FS_FUZZ_KIT_H
#define FS_FUZZ_KIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fsched/compile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Larger graphs are read, but not compiled; programs beyond these limits are not replayed. */
enum { FS_FUZZ_OPS = 64, FS_FUZZ_QUEUES = 16, FS_FUZZ_MEMORY_LOG2 = 22 };

/* Aborts, with a message about the promise that was broken. */
void fs_fuzz_fail(const char *what) __attribute__((noreturn));
static inline void fs_fuzz_must(bool holds, const char *what) {
  if (!holds) {
    fs_fuzz_fail(what);
  }
}

/* A context with a bounded amount of memory, and how much it has taken. */
typedef struct fs_fuzz {
  fsched_context *ctx;
  size_t taken;
  bool short_of_memory; /* some request was refused */
} fs_fuzz;

#define FS_FUZZ_MAY(status) (1u << (status))
void fs_fuzz_begin(fs_fuzz *f);
/* Checks that the outcome of a call is one of those allowed (or FSCHED_SYSTEM, when memory was
 * short), and that there is a diagnostic exactly if it is a failure.  Returns whether it is
 * FSCHED_OK, and clears the diagnostics. */
bool fs_fuzz_met(fs_fuzz *f, fsched_status status, unsigned allowed, const char *what);
/* Ends the context; everything else has been destroyed before. */
void fs_fuzz_end(fs_fuzz *f);

/* Reads and compiles one of the files in test/fuzz; a fault in it aborts. */
fsched_graph *fs_fuzz_graph(fsched_context *ctx, const char *path);

/* Tries every way to show a program, its JSON form and back, verify, and, if that accepts it,
 * replays on the processor and in the simulation, which have to compute what a sequential
 * evaluation does.  Returns whether the verifier accepted it. */
bool fs_fuzz_program(fs_fuzz *f, const fsched_program *program);
/* Compiles, and tries every form of output of the schedule; the program goes through
 * fs_fuzz_program. */
void fs_fuzz_compile(fs_fuzz *f, const fsched_graph *graph, const fsched_compile_options *options);

#endif
