/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of programs that keep together what belongs together: a buffer gets another size with all
 * ranges and places that follow from it, a version goes elsewhere as a whole, an arg gets another
 * tag and its places the matching mode.  Many of the results are therefore right programs, of
 * another graph than they were compiled from. (mutate.h breaks programs by the smallest
 * changes.) */
#ifndef FS_TEST_EDIT_H
#define FS_TEST_EDIT_H

#include "kit/gen.h"
#include "model/stream/stream.h"

/* X(id, "what it does") */
#define FS_EDITS(X)                           \
  X(SIZE, "resize a buffer")                  \
  X(PLACE, "move a version")                  \
  X(RANGE, "change a range")                  \
  X(TAG, "change a tag")                      \
  X(IO, "change what is given and kept")      \
  X(KERNEL, "change a kernel")                \
  X(VALUE, "change a value")                  \
  X(NAME, "change a name")                    \
  X(MEMORY, "change a memory")                \
  X(HAZARDS, "change the hazards")            \
  X(GIVEN_KEPT, "move what is given or kept") \
  X(LIMIT, "change a limit")                  \
  X(MUTATE, "break it")

typedef enum fs_edit {
#define FS_EDIT_ID_(id, text) FS_EDIT_##id,
  FS_EDITS(FS_EDIT_ID_)
#undef FS_EDIT_ID_
      FS_EDIT_COUNT
} fs_edit;
const char *fs_edit_name(fs_edit edit);

/* Changes a copy (fs_mutant_copy) in that way; false if there is nothing to change. */
bool fs_edit_program(fsched_program *copy, fs_edit edit, fs_rng *rng);
/* Sets the buffer's fsched_io; it is given where its first version lies first, and kept where its
 * last one lies last. */
bool fs_edit_io(fsched_program *copy, uint32_t buffer, uint32_t io);
/* Returns the copy as a program with bytes, and with its lists in order; fsched_program_destroy. */
fsched_program *fs_edit_bytes(fsched_context *ctx, const fsched_program *copy);
/* Returns the program with the built-in kernels beside its own, so that KERNEL finds them. */
fsched_program *fs_edit_with_kernels(fsched_context *ctx, const fsched_program *p);

#endif
