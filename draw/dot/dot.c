/* SPDX-License-Identifier: Apache-2.0 */
/* From a graph, schedule or program to DOT: makes the picture, marks its critical path, reduces it
 * if it is large, and writes it. */
#include "draw/dot/dot.h"

#include "draw/dot/place.h"
#include "draw/dot/write.h"

static fs_status reduce(fs_picture *p, fs_dot_collapse collapse) {
  if (collapse == FS_DOT_NEVER || (collapse == FS_DOT_AUTO && p->n_nodes <= FS_DOT_LARGE)) {
    return FSCHED_OK;
  }
  FS_TRY(fs_picture_chains(p));
  if (p->n_nodes <= FS_DOT_MOST) {
    return FSCHED_OK;
  }
  return fs_picture_groups(p, p->source == FS_PIC_GRAPH ? FS_DOT_GROUPS : FS_DOT_LARGE);
}

static fs_status choose_layout(fs_picture *p, fs_dot_layout *layout) {
  uint64_t effort;
  FS_TRY(fs_place_effort(p, &effort));
  bool many = p->source != FS_PIC_GRAPH && p->n_nodes + p->n_barriers > FS_DOT_PLACED;
  *layout = many || effort > FS_DOT_EFFORT ? FS_LAYOUT_PLACED : FS_LAYOUT_FULL;
  return FSCHED_OK;
}

/* Leaves out edges of placed pictures, as straight lines would hide those of queues and waits. */
static fs_status leave_out(fs_picture *p, fs_dot_collapse collapse, fs_dot_layout layout) {
  if (collapse == FS_DOT_NEVER || layout == FS_LAYOUT_FULL) {
    return FSCHED_OK;
  }
  if (p->source != FS_PIC_GRAPH) {
    FS_TRY(fs_picture_drop_data(p));
  }
  return fs_picture_thin(p, FS_DOT_EDGES);
}

static fs_status finish_picture(fs_picture *p, const fs_dot_options *options, fs_text *out) {
  fs_dot_options o = {.size = sizeof o};
  if (options != NULL) {
    memcpy(&o, options, fs_min(options->size, sizeof o));
  }
  fs_dot_layout layout;
  FS_TRY(fs_picture_critical(p));
  fs_picture_show_barriers(p, o.barriers ? FS_DOT_LARGE : 0);
  p->hidden_barriers = o.barriers ? p->hidden_barriers : 0;
  FS_TRY(fs_picture_merge_clusters(p, o.collapse == FS_DOT_NEVER ? FS_DOT_LARGE : FS_DOT_QUEUES));
  FS_TRY(reduce(p, o.collapse));
  FS_TRY(fs_picture_find_empty(p));
  FS_TRY(choose_layout(p, &layout));
  FS_TRY(leave_out(p, o.collapse, layout));
  if (!o.buffers) {
    p->given.n = p->kept.n = 0;
  }
  return fs_dot_write(p, layout, o.full_names, out);
}

/* Draws the picture if its making has succeeded, which `status` says. */
static fs_status draw_picture(fs_picture *p, fs_status status, const fs_dot_options *options,
                              char **text, size_t *length) {
  fs_text out;
  fs_text_init(&out, p->ctx);
  if (status == FSCHED_OK) {
    status = finish_picture(p, options, &out);
  }
  fs_picture_release(p);
  if (status != FSCHED_OK) {
    fs_text_drop(&out);
    return status;
  }
  return fs_text_take(&out, text, length);
}

fs_status fs_dot_graph(fsched_context *ctx, const fsched_graph *g, const fs_dot_options *options,
                       char **text, size_t *length) {
  fs_picture p;
  fs_picture_init(&p, ctx, FS_PIC_GRAPH);
  return draw_picture(&p, fs_picture_of_graph(g, &p), options, text, length);
}

fs_status fs_dot_schedule(fsched_context *ctx, const fs_sync *sync, const fs_dot_options *options,
                          char **text, size_t *length) {
  assert(sync != NULL);
  fs_picture p;
  fs_picture_init(&p, ctx, FS_PIC_SCHEDULE);
  return draw_picture(&p, fs_picture_of_schedule(sync, &p), options, text, length);
}

fs_status fs_dot_program(fsched_context *ctx, const fsched_program *program,
                         const fs_dot_options *options, char **text, size_t *length) {
  fs_picture p;
  fs_picture_init(&p, ctx, FS_PIC_PROGRAM);
  return draw_picture(&p, fs_picture_of_program(program, &p), options, text, length);
}
