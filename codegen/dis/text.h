/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of fsched_program_text: text.c writes all but the loops, text_loops.c writes these. */
#ifndef FS_DIS_TEXT_H
#define FS_DIS_TEXT_H

#include "base/text/columns.h"
#include "model/stream/stream.h"

typedef struct fs_listing {
  bool any_slow; /* some op ends after its queue goes on */
  fs_text *t;    /* the text that cells are written to */
  const fs_stream *s;
} fs_listing;

static inline void fs_list_put(fs_listing *l, const char *text) { fs_text_puts(l->t, text); }

static inline void fs_list_name(fs_listing *l, uint32_t string) {
  fs_text_visible(l->t, fs_stream_string(l->s, string));
}

static inline void fs_list_u64(fs_listing *l, const char *before, uint64_t value) {
  fs_list_put(l, before);
  fs_text_u64(l->t, value);
}

/* The columns of epochs and times, which come first. */
static inline uint32_t fs_list_times(const fs_listing *l) { return l->any_slow ? 4 : 3; }

/* Writes empty cells at the beginning of a line that belongs to a command but is not one. */
static inline void fs_list_empty(fs_columns *c, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    fs_columns_cell(c, FS_RIGHT);
  }
}

void fs_list_place(fs_listing *l, const fs_stream_place *p);
/* Writes " as 16x8 of 4 by 64x4": the points of a strided view in each dimension, the bytes at each
 * unless that is one, and the bytes from one point to the next.  NULL: nothing. */
void fs_list_view(fs_listing *l, const fs_stream_view *v);
/* Writes a sync: "sync dma but the last 2".  Requires a queue of the stream, or none. */
void fs_list_stop(fs_listing *l, const fs_stream_stop *stop);
/* Writes a line for each loop and its rings. */
void fs_list_loops(fs_listing *l);
/* Writes what the queue does in one step of a loop, a line for each command, and below that of a
 * loop in it what that does; after the command of the op, and nothing where it is not a loop. */
void fs_list_loop(fs_listing *l, fs_columns *c, uint32_t queue, uint32_t op);

#endif
