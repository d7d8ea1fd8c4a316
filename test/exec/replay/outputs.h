/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for all outputs of a program, to compare them with those of another one. */
#ifndef FS_TEST_OUTPUTS_H
#define FS_TEST_OUTPUTS_H

#include <stdlib.h>
#include <string.h>

#include "fsched/exec.h"
#include "model/stream/stream.h"

enum { FS_OUTPUTS_MOST = 16 };

typedef struct fs_outputs {
  uint32_t n;
  fsched_binding at[FS_OUTPUTS_MOST]; /* in the order of the program's buffers */
} fs_outputs;

/* Makes room for the outputs, which is 0.  The program must outlive it. */
static inline fs_outputs fs_outputs_of(const fsched_program *p) {
  const fs_stream *s = &p->view;
  fs_outputs o = {0};
  for (uint32_t b = 0; b < s->n_buffers; b++) {
    if (fs_io_is_output(s->buffers[b].io)) {
      size_t bytes = (size_t)s->buffers[b].io_size;
      ck_assert_uint_lt(o.n, FS_OUTPUTS_MOST);
      o.at[o.n] = (fsched_binding){.buffer = fs_stream_string(s, s->buffers[b].name),
                                   .data = calloc(1, bytes + 1),
                                   .bytes = bytes};
      ck_assert_ptr_nonnull(o.at[o.n++].data);
    }
  }
  return o;
}

static inline void fs_outputs_drop(fs_outputs *o) {
  for (uint32_t i = 0; i < o->n; i++) {
    free(o->at[i].data);
  }
  o->n = 0;
}

/* Whether both have the same outputs, and these the same bytes. */
static inline bool fs_outputs_same(const fs_outputs *a, const fs_outputs *b) {
  bool same = a->n == b->n;
  for (uint32_t i = 0; i < a->n && same; i++) {
    const fsched_binding *x = &a->at[i], *y = &b->at[i];
    same = strcmp(x->buffer, y->buffer) == 0 && x->bytes == y->bytes &&
           memcmp(x->data, y->data, (size_t)x->bytes) == 0;
  }
  return same;
}

#endif
