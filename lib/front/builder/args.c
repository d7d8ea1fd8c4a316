/* SPDX-License-Identifier: Apache-2.0 */
/* Finish: args and their views. */
#include "front/builder/private.h"

static fs_status mark_begins(fsched_builder *b, fsched_graph *g, size_t arg) {
  if (g->arg_begins == NULL) {
    FS_TRY(fs_new_zero(&b->arena, &g->arg_begins, g->n_args));
  }
  g->arg_begins[arg] = true;
  return FSCHED_OK;
}

/* Views are of args, or of those of bodies. */
static fs_status copy_views(fsched_builder *b, fsched_graph *g) {
  if (b->view.n == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(&b->arena, &g->view, b->view.n));
  g->n_views = (uint32_t)b->view.n;
  memcpy(g->view, b->view.at, b->view.n * sizeof *g->view);
  return FSCHED_OK;
}

static fs_status copy_view(fsched_builder *b, fsched_graph *g, size_t arg, uint32_t view) {
  if (g->arg_view == NULL) {
    FS_TRY(fs_new_none(&b->arena, &g->arg_view, g->n_args));
  }
  g->arg_view[arg] = view;
  return FSCHED_OK;
}

/* Keeps whose args they are, if some op has members with args of their own. */
static fs_status copy_members(fsched_builder *b, fsched_graph *g) {
  bool some = false;
  for (uint32_t op = 0; op < g->n_ops && !some; op++) {
    some = b->op.at[op].members > 0;
  }
  if (!some) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(&b->arena, &g->op_members, g->n_ops));
  FS_TRY(fs_new(&b->arena, &g->arg_member, g->n_args));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    g->op_members[op] = b->op.at[op].members;
  }
  for (uint32_t i = 0; i < g->n_args; i++) {
    g->arg_member[i] = b->arg.at[i].member;
  }
  return FSCHED_OK;
}

fs_status fs_builder_copy_args(fsched_builder *b, fsched_graph *g) {
  assert(g->op_arg0 == NULL);
  size_t n = g->n_args = (uint32_t)b->arg.n;
  FS_TRY(fs_new(&b->arena, &g->op_arg0, (size_t)g->n_ops + 1));
  FS_TRY(fs_new(&b->arena, &g->arg_tag, n));
  FS_TRY(fs_new(&b->arena, &g->arg_buffer, n));
  FS_TRY(fs_new_none(&b->arena, &g->arg_version, n));
  FS_TRY(fs_new(&b->arena, &g->arg_offset, n));
  FS_TRY(fs_new(&b->arena, &g->arg_length, n));
  FS_TRY(fs_new(&b->arena, &g->arg_value, n));
  FS_TRY(copy_views(b, g));
  for (uint32_t i = 0; i < g->n_ops; i++) {
    g->op_arg0[i] = b->op.at[i].arg0;
  }
  g->op_arg0[g->n_ops] = (uint32_t)n;
  for (size_t i = 0; i < n; i++) {
    const fs_arg_draft *a = &b->arg.at[i];
    bool value = !fs_tag_names_buffer(a->tag);
    g->arg_tag[i] = a->tag;
    g->arg_buffer[i] = a->buffer;
    g->arg_offset[i] = a->offset;
    g->arg_length[i] = value ? 0 : a->u.length;
    g->arg_value[i] = value ? a->u.value : 0;
    FS_TRY(a->begins ? mark_begins(b, g, i) : FSCHED_OK);
    FS_TRY(a->view != FS_NONE ? copy_view(b, g, i, a->view) : FSCHED_OK);
  }
  FS_TRY(copy_members(b, g));
  fs_vec_free(b->ctx, &b->arg);
  return FSCHED_OK;
}
