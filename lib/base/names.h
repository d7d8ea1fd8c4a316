/* SPDX-License-Identifier: Apache-2.0 */
/* Names to ids: a table of strings (without NUL inside), numbered from 0 in order of addition, with
 * look-up by content.  The order never depends on the hash.  Each call takes expected O(length),
 * whatever the names are (keyed.h). */
#ifndef FS_NAMES_H
#define FS_NAMES_H

#include "base/keyed.h"
#include "base/mem.h"

typedef struct fs_names {
  fsched_context *ctx;
  fs_arena *arena; /* holds the NUL-terminated copies of names */
  FS_VEC(const char *) text;
  uint64_t *slot;  /* open addressing: hash << 32 | id, FS_NAMES_EMPTY when free */
  size_t n_slots;  /* a power of two, or 0 */
  fs_hash_key key; /* the context's */
} fs_names;

/* Requires an arena with a context. */
void fs_names_init(fs_names *t, fs_arena *arena);
void fs_names_free(fs_names *t); /* the copies stay in the arena */
/* Copies a table to one that is initialised and empty, but not its texts, which must last as long
 * as that.  Errors: FSCHED_SYSTEM.  Requires an empty table. */
fs_status fs_names_copy(const fs_names *from, fs_names *to) FS_MUST_USE;
static inline uint32_t fs_names_count(const fs_names *t) { return (uint32_t)t->text.n; }

/* The id of a name, or FS_NONE.  Requires a name without NUL inside. */
uint32_t fs_names_find(const fs_names *t, const char *name, size_t length);
/* Finds or adds a name; *added says which (`added` may be NULL).  Requires a name without NUL
 * inside. */
fs_status fs_names_intern(fs_names *t, const char *name, size_t length, uint32_t *id,
                          bool *added) FS_MUST_USE;
/* Adds an id for a name that may already have one; look-ups keep finding the first.  Requires a
 * name without NUL inside. */
fs_status fs_names_add(fs_names *t, const char *name, size_t length, uint32_t *id,
                       bool *repeated) FS_MUST_USE;
/* Adds a name that the caller keeps for as long as the table, without a copy.  *first is the id
 * that look-ups find: an older one if the table already had the name. */
fs_status fs_names_add_kept(fs_names *t, const char *name, uint32_t *first) FS_MUST_USE;

/* Spelling distance (insertions, deletions, replacements, swaps of neighbours), or `limit` if the
 * distance is not smaller.  For names longer than 64 bytes it is `limit`. */
unsigned fs_spelling_distance(const char *a, const char *b, unsigned limit);
/* Returns the candidate nearest to `name` if it is near enough to be what was meant, else NULL.  A
 * candidate that begins with the name, or with which the name begins (in, input), is preferred to
 * one with a wrong letter.  Ties go to the first.  Looks at no more than 100,000 candidates. */
const char *fs_nearest(const char *name, const char *const *candidate, size_t n);

#endif
