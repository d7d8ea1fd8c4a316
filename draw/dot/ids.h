/* SPDX-License-Identifier: Apache-2.0 */
/* Ids for the objects of cgraph, which writes subgraphs in the order of their ids.  Its own ids are
 * the addresses of names, which differ from run to run; here graphs count from 1.  Nodes and edges,
 * which it writes as they were made, keep its own. */
#ifndef FS_DOT_IDS_H
#define FS_DOT_IDS_H

#include <cgraph.h>
#include <stdint.h>

typedef struct fs_dot_ids {
  Agiddisc_t discipline; /* first: cgraph hands it back */
  Agraph_t *g;
  void *own;   /* what cgraph's own discipline keeps */
  char **name; /* of the graph with id i + 1, in cgraph's memory */
  uint32_t n, room;
} fs_dot_ids;

/* For one graph, which `ids` must outlive: Agdisc_t.id is &ids->discipline.  `name` has room for
 * the names of the graph and of its subgraphs, no two of which may have one name.  Requires room
 * for at least the graph's name. */
void fs_dot_ids_init(fs_dot_ids *ids, char **name, uint32_t room);

#endif
