/* SPDX-License-Identifier: Apache-2.0 */
/* The writer of a picture, and calls of cgraph; a call that fails is noted in the writer.  cgraph
 * takes values of type char *, and copies them. */
#ifndef FS_DOT_WRITER_H
#define FS_DOT_WRITER_H

#include <cgraph.h>

#include "draw/dot/place.h"
#include "draw/dot/write.h"

/* Loops of a picture that are drawn, and commands of one. */
enum { FS_DOT_LOOPS = 64, FS_DOT_COMMANDS = 256 };

typedef struct fs_writer {
  fs_picture *p;
  fs_dot_layout layout;
  bool failed;          /* whether a call of cgraph has failed; sticky */
  fs_pic_places places; /* of FS_LAYOUT_PLACED */
  uint32_t *near;       /* per node: number of buffers beside it */
  Agraph_t *g;
  Agraph_t **cluster;
  Agnode_t **node;
  Agnode_t **command;           /* per command of the loop that is being written */
  Agnode_t *loop[FS_DOT_LOOPS]; /* per loop: the node of the op that it is; NULL: it has none */
  const char **shown;           /* per item: its name, shortened unless full names are wanted */
  fs_text line;                 /* the value being made */
} fs_writer;

/* The attribute must have been declared; else the call fails. */
void fs_dot_set(fs_writer *w, void *object, const char *key, const char *value);
/* Sets the attribute to the text in `line`, which is then empty. */
void fs_dot_set_line(fs_writer *w, void *object, const char *key);
/* NULL after failures. */
Agnode_t *fs_dot_node(fs_writer *w, Agraph_t *g, const char *prefix, uint32_t number);
Agedge_t *fs_dot_edge(fs_writer *w, Agnode_t *from, Agnode_t *to);
Agraph_t *fs_dot_cluster(fs_writer *w, const char *name);

/* Writes the loops, but for large ones; none where the places of nodes are known. */
void fs_dot_write_loops(fs_writer *w);

#endif
