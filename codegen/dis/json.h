/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of fsched_program_json: json.c writes all but the loops, json_loops.c writes these. */
#ifndef FS_DIS_JSON_H
#define FS_DIS_JSON_H

#include "base/text/fields.h"
#include "model/stream/stream.h"

typedef struct fs_dis {
  fs_text t;
  const fs_stream *s;
} fs_dis;

static inline void fs_dis_put(fs_dis *d, const char *text) { fs_text_puts(&d->t, text); }

/* Writes a prefix and a number; the prefix is punctuation and a key, e.g. ", \"size\": ". */
static inline void fs_dis_u64(fs_dis *d, const char *prefix, uint64_t value) {
  fs_dis_put(d, prefix);
  fs_text_u64(&d->t, value);
}

static inline void fs_dis_name(fs_dis *d, const char *prefix, uint32_t string) {
  fs_dis_put(d, prefix);
  fs_text_quoted(&d->t, fs_stream_string(d->s, string));
}

static inline void fs_dis_word(fs_dis *d, const char *prefix, const char *word) {
  fs_dis_put(d, prefix);
  fs_text_json_string(&d->t, word);
}

static inline void fs_dis_optional(fs_dis *d, const char *prefix, uint32_t string) {
  if (string != FS_NONE) {
    fs_dis_name(d, prefix, string);
  }
}

/* The separator before a member of a list or object: ", " for all but the first. */
static inline const char *fs_dis_comma(uint32_t index) { return index == 0 ? "" : ", "; }
/* Begins a record on a line of its own. */
static inline void fs_dis_line(fs_dis *d, uint32_t index) {
  fs_dis_put(d, index == 0 ? "\n  {" : ",\n  {");
}
static inline void fs_dis_end(fs_dis *d, uint32_t n) { fs_dis_put(d, n == 0 ? "]" : "\n ]"); }

/* Begins the object of an arg, with its tag and the buffer or value. */
void fs_dis_tag(fs_dis *d, uint32_t tag, uint32_t buffer, int64_t value);
void fs_dis_range(fs_dis *d, uint64_t offset, uint64_t length);
void fs_dis_view(fs_dis *d, uint64_t offset, const fs_stream_view *view);
/* Writes a place.  `buffer` is that of the arg that it belongs to, FS_NONE if it belongs to none;
 * `op` is the name of the op whose scratch it may be. */
void fs_dis_place(fs_dis *d, const fs_stream_place *p, uint32_t buffer, uint32_t op);
/* Writes a sync.  Requires a queue of the stream, or none. */
void fs_dis_stop(fs_dis *d, const fs_stream_stop *s);
/* Writes the list of parameters, or of loops, if there are some. */
void fs_dis_params(fs_dis *d);
void fs_dis_loops(fs_dis *d);

#endif
