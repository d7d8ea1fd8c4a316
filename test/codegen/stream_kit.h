/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of programs' forms have in common. */
#ifndef FS_TEST_STREAM_KIT_H
#define FS_TEST_STREAM_KIT_H

#include "fsched/program.h"
#include "kit/gen.h"
#include "model/stream/stream.h"

/* A copy of a program's bytes that may be changed, and its sections. free(bytes). */
typedef struct fs_stream_copy {
  unsigned char *bytes;
  size_t size;
  fs_stream_header *header;
#define FS_COPY_SECTION_(id, type) type *id;
  FS_STREAM_SECTIONS(FS_COPY_SECTION_)
#undef FS_COPY_SECTION_
} fs_stream_copy;

fs_stream_copy fs_stream_copy_of(const fsched_program *p);
/* Makes the checksum right. */
void fs_stream_copy_sign(fs_stream_copy *c);

/* Changes one or two of the words in [from, to) of the bytes. */
void fs_stream_damage(fs_stream_copy *c, fs_rng *rng, size_t from, size_t to);

/* Checks that asm(dis(p)) is p, that the same holds for p when it was loaded, and that p has a
 * text. */
void fs_check_round_trip(fsched_context *ctx, const fsched_program *p);
/* Checks the golden files NAME.program.json and NAME.program.txt, and the round trip. */
void fs_check_forms(fsched_context *ctx, const fsched_program *p, const char *name);

/* Returns the program's JSON text with its first `from` replaced; *line is where it was. free. */
char *fs_edited_json(fsched_context *ctx, const fsched_program *p, const char *from, const char *to,
                     size_t *length, uint32_t *line);

#endif
