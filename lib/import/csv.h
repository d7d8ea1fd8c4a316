/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of comma-separated fields.  Blanks around a field do not count; a field in quotes may hold
 * commas, and quotes (each written twice), but no line end. */
#ifndef FS_IMPORT_CSV_H
#define FS_IMPORT_CSV_H

#include "import/import.h"

typedef struct fs_csv_field {
  fs_text_span span; /* without the quotes */
  bool escaped;      /* the field holds quotes, each written twice */
} fs_csv_field;

typedef FS_VEC(fs_csv_field) fs_csv_row;

/* Splits a line into its fields.  Returns false when the line is malformed, which is reported, or
 * when *status is not FSCHED_OK. */
bool fs_csv_split(fs_import *in, fs_text_span line, fs_csv_row *row, fs_status *status);
/* The text of a field, with a zero byte behind it, in the import's arena; NULL when out of
 * memory. */
const char *fs_csv_text(fs_import *in, const fs_csv_field *field, size_t *length);
/* Adds a field, in quotes where the field needs them. */
void fs_csv_put(fs_text *t, const char *field);

#endif
