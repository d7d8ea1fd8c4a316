/* SPDX-License-Identifier: Apache-2.0 */
/* Ids for the objects of cgraph, which writes subgraphs in the order of their ids.  The ids that
 * cgraph makes are addresses of names, which differ from run to run, so graphs are numbered from 1
 * here.  Nodes and edges, which are written in the order of creation, keep cgraph's ids. */
#ifndef FS_DOT_IDS_H
#define FS_DOT_IDS_H

#include <cgraph.h>
#include <stdint.h>

typedef struct fs_dot_ids {
  Agiddisc_t discipline; /* the first member, as cgraph passes its address */
  Agraph_t *g;
  void *own;   /* the state of cgraph's own discipline */
  char **name; /* of the graph with id i + 1, in cgraph's memory */
  uint32_t n, room;
} fs_dot_ids;

/* Prepares the ids of one graph, which `ids` must outlive: Agdisc_t.id is &ids->discipline.  `name`
 * has room for the names of the graph and of its subgraphs, which must differ.  Requires room for
 * at least the graph's name. */
void fs_dot_ids_init(fs_dot_ids *ids, char **name, uint32_t room);

#endif
