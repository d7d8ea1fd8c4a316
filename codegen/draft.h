/* SPDX-License-Identifier: Apache-2.0 */
/* A program being written: set the counts, allocate once, fill the records in place, finish.
 *
 * The binary form is canonical: sections follow each other in order, records follow the order of
 * their owners, and every string field has a text of its own, the texts being in the order of the
 * fields in the file.  Equal contents therefore give equal bytes. */
#ifndef FS_DRAFT_H
#define FS_DRAFT_H

#include "base/text/utf8.h"
#include "model/stream/stream.h"

typedef struct fs_draft {
  fsched_context *ctx;
  unsigned char *bytes;
  size_t size;
  uint32_t string_end;  /* bytes of the string section in use */
  const char *bad_text; /* the last text that was not UTF-8, or NULL */
#define FS_DRAFT_SECTION_(id, type) \
  type *id;                         \
  uint64_t n_##id;
  FS_STREAM_SECTIONS(FS_DRAFT_SECTION_)
#undef FS_DRAFT_SECTION_
} fs_draft;

/* Requires the counts, and that this was not called before.  Errors: FSCHED_SYSTEM (too large, out
 * of memory, or a big-endian machine), reported. */
fs_status fs_draft_alloc(fs_draft *d) FS_MUST_USE;
/* Appends a text to the string section, for which n_strings has room; NULL is FS_NONE.  Requires
 * that fs_draft_alloc was called. */
uint32_t fs_draft_string(fs_draft *d, const char *text);
/* Writes the header and hands the bytes over to a new program, whose view is set.  Requires that
 * fs_draft_alloc was called, and that the strings fill their section.
 * Errors: FSCHED_BAD_INPUT for a text that is not UTF-8, reported; FSCHED_SYSTEM. */
fs_status fs_draft_finish(fs_draft *d, fsched_program **out) FS_MUST_USE;
/* Frees all memory that was not handed over. */
void fs_draft_drop(fs_draft *d);

/* The bytes that a text takes in the string section. */
static inline uint64_t fs_string_bytes(const char *text) {
  return text == NULL ? 0 : (uint64_t)strlen(text) + 1;
}
/* Requires an offset that is aligned. */
static inline uint64_t fs_section_end(uint64_t offset, uint64_t bytes) {
  FS_ASSERT_SLOW(offset % 8 == 0);
  return fs_align_up(offset + bytes, 8);
}
/* The records are little-endian and used in place. */
static inline bool fs_host_little_endian(void) { return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__; }
/* Makes a program that owns the bytes; its view is still to be set.  Requires bytes. */
fs_status fs_program_make(fsched_context *ctx, void *bytes, size_t size, bool mapped,
                          fsched_program **out) FS_MUST_USE;

#endif
