/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the mappings of fsched's own JSON (programs, schedules) with positions: every key must be
 * known and every value have its type, and the first fault is reported with its position. */
#ifndef FS_FIELDS_H
#define FS_FIELDS_H

#include "base/names.h"
#include "base/text/node.h"

typedef struct fs_fields {
  fsched_context *ctx;
  const fs_doc *doc;
  /* The codes under which faults are reported. */
  fs_diag_code key, type, reference;
} fs_fields;

typedef struct fs_field {
  const char *name;
  bool required;
} fs_field;

/* Fails with a diagnostic at the node. */
#define fs_fields_fail(f, code, node, ...) \
  fs_fail((f)->ctx, FSCHED_BAD_INPUT, (code), fs_node_pos((f)->doc, (node)), NULL, __VA_ARGS__)

/* Finds the values of a mapping, in the order of `field`; FS_NONE stands for a missing value. */
fs_status fs_fields_mapping(const fs_fields *f, uint32_t node, const fs_field *field, size_t n,
                            uint32_t *value) FS_MUST_USE;
/* *first is the first child of a sequence (or FS_NONE), *n their number (may be NULL). */
fs_status fs_fields_sequence(const fs_fields *f, uint32_t node, uint32_t *first,
                             uint32_t *n) FS_MUST_USE;
/* The same for a mapping with arbitrary keys, whose children are key, value, key, ...; *n counts
 * pairs. */
fs_status fs_fields_pairs(const fs_fields *f, uint32_t node, uint32_t *first,
                          uint32_t *n) FS_MUST_USE;
fs_status fs_fields_text(const fs_fields *f, uint32_t node, const char **out) FS_MUST_USE;
fs_status fs_fields_u64(const fs_fields *f, uint32_t node, uint64_t *out) FS_MUST_USE;
fs_status fs_fields_u32(const fs_fields *f, uint32_t node, uint32_t *out) FS_MUST_USE;
fs_status fs_fields_i64(const fs_fields *f, uint32_t node, int64_t *out) FS_MUST_USE;
fs_status fs_fields_bool(const fs_fields *f, uint32_t node, bool *out) FS_MUST_USE;
/* Reads one of n words; *index is its place among them. */
fs_status fs_fields_word(const fs_fields *f, uint32_t node, const char *const *word, size_t n,
                         uint32_t *index) FS_MUST_USE;
/* Reads a name of the table; `what` says what it names, such as "buffer". */
fs_status fs_fields_name(const fs_fields *f, uint32_t node, const fs_names *names, const char *what,
                         uint32_t *id) FS_MUST_USE;

static inline uint32_t fs_fields_next(const fs_fields *f, uint32_t node) {
  return f->doc->node[node].next;
}

/* Adds a text in quotes that every JSON and YAML reader gives back unchanged.  Beside what
 * fs_text_json_string escapes, it escapes characters that YAML takes for line breaks or does not
 * allow. */
void fs_text_quoted(fs_text *t, const char *s);

#endif
