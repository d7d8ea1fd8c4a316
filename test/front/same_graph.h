/* SPDX-License-Identifier: Apache-2.0 */
/* Are two graphs the same but for the names of buffers? */
#ifndef FS_TEST_SAME_GRAPH_H
#define FS_TEST_SAME_GRAPH_H

#include <check.h>
#include <string.h>

#include "model/graph.h"

#include "kit/context.h"

/* Whether both graphs are one but for the names of buffers. */
static inline void assert_same(const fsched_graph *a, const fsched_graph *c, const char *text) {
  for (uint32_t op = 0; op < a->n_ops && op < c->n_ops; op++) {
    ck_assert_msg(a->pred0[op + 1] == c->pred0[op + 1],
                  "op %s or %s has %u or %u predecessors:\n%s", a->op_name[op], c->op_name[op],
                  a->pred0[op + 1] - a->pred0[op], c->pred0[op + 1] - c->pred0[op], text);
  }
  ck_assert_msg(a->n_ops == c->n_ops && a->n_edges == c->n_edges && a->n_args == c->n_args,
                "%u and %u ops, %u and %u edges, %u and %u args of\n%s", a->n_ops, c->n_ops,
                a->n_edges, c->n_edges, a->n_args, c->n_args, text);
  uint32_t *other, *back;
  ck_fs(ctx, fs_new_none(&own_arena, &other, a->n_versions));
  ck_fs(ctx, fs_new_none(&own_arena, &back, c->n_versions));
  for (uint32_t op = 0; op < a->n_ops; op++) {
    ck_assert_str_eq(a->op_name[op], c->op_name[op]);
    ck_assert_uint_eq(a->pred0[op + 1], c->pred0[op + 1]);
    ck_assert_uint_eq(a->op_arg0[op + 1], c->op_arg0[op + 1]);
  }
  for (uint32_t e = 0; e < a->n_edges; e++) {
    ck_assert_msg(a->pred[e] == c->pred[e], "edge %u: op %u or %u of\n%s", e, a->pred[e],
                  c->pred[e], text);
  }
  for (uint32_t i = 0; i < a->n_args; i++) {
    uint32_t v = a->arg_version[i], w = c->arg_version[i];
    ck_assert_uint_eq(a->arg_tag[i], c->arg_tag[i]);
    ck_assert_uint_eq(a->arg_offset[i], c->arg_offset[i]);
    ck_assert_uint_eq(a->arg_length[i], c->arg_length[i]);
    if (v == FS_NONE || w == FS_NONE) { /* a number */
      ck_assert_uint_eq(v, w);
      continue;
    }
    ck_assert_msg((other[v] == FS_NONE || other[v] == w) && (back[w] == FS_NONE || back[w] == v),
                  "arg %u is on another version of\n%s", i, text);
    other[v] = w;
    back[w] = v;
  }
}

/* Whether the context has a diagnostic of this code. */
static inline bool has_diag(const char *code) {
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    if (strcmp(fsched_diag_get(ctx, i)->code, code) == 0) {
      return true;
    }
  }
  return false;
}

#endif
