/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: programs, that is compiled command streams.
 *
 * A program is immutable and may be shared by threads once it is made.  Its binary form is
 * versioned, checksummed and little-endian, and is used in place; fsched_program_load and
 * fsched_program_open check it in full (O(size)) before anything of it is used. */
#ifndef FSCHED_PROGRAM_H
#define FSCHED_PROGRAM_H

#include "fsched.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fsched_program fsched_program;

/** Copies `bytes`. Errors: FSCHED_BAD_INPUT with a diagnostic for anything malformed. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_program_load(fsched_context *ctx, const char *name,
                                                             const void *bytes, size_t size,
                                                             fsched_program **out);
/** Maps the file ("-": reads standard input). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_program_open(fsched_context *ctx, const char *path,
                                                             fsched_program **out);
FSCHED_API void fsched_program_destroy(fsched_program *p);
/** The binary form; valid as long as the program. */
FSCHED_API const void *fsched_program_bytes(const fsched_program *p, size_t *size);

/** Disassembly and assembly; texts are released with fsched_text_free. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_program_text(fsched_context *ctx,
                                                             const fsched_program *p, char **text,
                                                             size_t *length);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_program_json(fsched_context *ctx,
                                                             const fsched_program *p, char **text,
                                                             size_t *length);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_program_assemble(fsched_context *ctx,
                                                                 const char *name,
                                                                 const char *text, size_t length,
                                                                 fsched_program **out);

#ifdef __cplusplus
}
#endif
#endif
