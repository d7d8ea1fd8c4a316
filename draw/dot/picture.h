/* SPDX-License-Identifier: Apache-2.0 */
/* What is drawn, before anything knows how: nodes in clusters, and edges with the reasons for them.
 * A picture is made of a graph, of a schedule with its synchronisation, or of a program; passes
 * then mark the critical path and make large pictures smaller; dot.c writes what is left.
 *
 * Ids count from 0; no pointers between entities. */
#ifndef FS_PICTURE_H
#define FS_PICTURE_H

#include "fsched/program.h"
#include "model/sync.h"

typedef enum fs_pic_source { FS_PIC_GRAPH, FS_PIC_SCHEDULE, FS_PIC_PROGRAM } fs_pic_source;

typedef enum fs_pic_kind {
  FS_PIC_OP,
  FS_PIC_GANG,
  FS_PIC_LOAD, /* copies, as fs_copy_role */
  FS_PIC_STORE,
  FS_PIC_WRITE,
  FS_PIC_READ,
  FS_PIC_KINDS
} fs_pic_kind;
static inline bool fs_pic_copies(unsigned kind) { return kind >= FS_PIC_LOAD; }

/* Why one node comes before another.  A set, for one edge is drawn between two nodes: its first
 * reason in this order decides how it looks, and that it is waited for is shown with it. */
typedef enum fs_pic_why {
  FS_PIC_DATA,
  FS_PIC_ORDER, /* `after`, and hazards */
  FS_PIC_REUSE,
  FS_PIC_RESOURCE,
  FS_PIC_CONCURRENCY,
  FS_PIC_BARRIER, /* of a schedule: an order that barriers needed */
  FS_PIC_WAIT,    /* a command waits for the other */
  FS_PIC_QUEUE,   /* one follows the other on a queue */
  FS_PIC_GATE,    /* of a program: one starts no earlier than the other, and else might */
  FS_PIC_WHYS
} fs_pic_why;

/* An op or a copy.  In a topological order, which is that of issue where there is one. */
typedef struct fs_pic_item {
  const char *name;   /* of the op, or of the buffer that is copied */
  const char *queues; /* of a gang: "q0, q1"; else NULL */
  uint32_t n_queues;  /* in that list */
  fs_tick start, end; /* as planned; of a graph as early as its edges allow */
  uint32_t cluster;   /* FS_NONE: in none */
  uint32_t version;   /* of the buffer that is copied */
  uint8_t kind;       /* fs_pic_kind */
} fs_pic_item;

/* What is drawn: at first one per item, with its number. */
typedef struct fs_pic_node {
  uint32_t first, last; /* items; of those between them it need not hold all */
  uint32_t ops, copies; /* it stands for */
  fs_tick start, end;
  uint32_t cluster;
  uint8_t kind;
  bool critical;
} fs_pic_node;

typedef struct fs_pic_edge {
  uint32_t from, to; /* nodes */
  uint32_t version;  /* the first one that is passed on; FS_NONE: none */
  uint16_t why;      /* bit per fs_pic_why */
  bool more;         /* versions */
  bool critical;
} fs_pic_edge;

/* Given content that a node reads, or what is kept that it writes. */
typedef struct fs_pic_end {
  uint32_t version, node;
} fs_pic_end;
typedef FS_VEC(fs_pic_end) fs_pic_ends;

/* A barrier, and the physical one that it is. */
typedef struct fs_pic_barrier {
  uint32_t physical, use;
  uint64_t slots; /* that its producers take */
} fs_pic_barrier;

typedef struct fs_picture {
  fsched_context *ctx;
  fs_arena arena;
  fs_pic_source source;
  const char *name, *unit;   /* unit may be NULL */
  fs_tick span, lower_bound; /* longest path or makespan; the bound is FS_TICK_NONE of a graph */
  uint32_t n_ops, n_copies;  /* among the items */

  uint32_t n_clusters;
  const char **cluster; /* their names */
  uint32_t *host;       /* per cluster: where a gang is drawn that runs there too, or FS_NONE */
  uint32_t unmerged;    /* clusters before they were merged; 0: they were not */

  uint32_t n_versions;
  const char **version_name; /* of the buffer */
  uint32_t *version_index;   /* in it */

  uint32_t n_items;
  fs_pic_item *item;
  uint32_t n_nodes;
  fs_pic_node *node;
  FS_VEC(fs_pic_edge) edge; /* ascending by (from, to), without repeats, after fs_picture_finish */
  fs_pic_ends given, kept;  /* of a graph: ascending, without repeats, after fs_picture_finish */

  /* Of a schedule or program with barriers: who updates and who waits for each, after
   * fs_picture_finish ascending and without repeats; `version` is the barrier. */
  uint32_t n_barriers;
  fs_pic_barrier *barrier;
  fs_pic_ends updates, awaits;
  uint32_t hidden_barriers; /* asked for and too many to be drawn */
  uint32_t full_syncs,
      some_syncs; /* of a schedule or program with syncs: full ones, counting ones */

  bool chains, groups;                /* nodes stand for chains, for groups of consecutive items */
  uint32_t no_data, implied, surplus; /* edges that were left out */
  uint32_t surplus_from;              /* what a node kept of such edges */
  uint32_t path_items;                /* on the critical path */
  fs_tick path_gaps;                  /* ticks on it in which none of them runs */
} fs_picture;

void fs_picture_init(fs_picture *p, fsched_context *ctx, fs_pic_source source);
void fs_picture_release(fs_picture *p);

/* Making a picture: clusters and items, edges in any order, then finish, which makes a node of each
 * item and puts edges of one pair together.  Requires that there are none yet.  O(edges log
 * edges). */
fs_status fs_picture_clusters(fs_picture *p, uint32_t n) FS_MUST_USE;
/* Requires that there are none yet. */
fs_status fs_picture_items(fs_picture *p, uint32_t n) FS_MUST_USE;
/* Requires two items. */
fs_status fs_picture_edge(fs_picture *p, uint32_t from, uint32_t to, fs_pic_why why) FS_MUST_USE;
/* An edge of data in a version.  Requires two items, and a version. */
fs_status fs_picture_data(fs_picture *p, uint32_t from, uint32_t to, uint32_t version) FS_MUST_USE;
/* Requires that there are none yet. */
fs_status fs_picture_versions(fs_picture *p, uint32_t n) FS_MUST_USE;
/* The same from a graph, names included. */
fs_status fs_picture_graph_versions(fs_picture *p, const fsched_graph *g) FS_MUST_USE;
/* Requires that this is called once. */
fs_status fs_picture_finish(fs_picture *p) FS_MUST_USE;
fs_status fs_picture_barriers(fs_picture *p, uint32_t n) FS_MUST_USE;
/* The item updates the barrier, taking so many slots; it waits for it.  Requires an item and a
 * barrier. */
fs_status fs_picture_update(fs_picture *p, uint32_t item, uint32_t barrier,
                            uint32_t slots) FS_MUST_USE;
/* Requires an item and a barrier. */
fs_status fs_picture_await(fs_picture *p, uint32_t item, uint32_t barrier) FS_MUST_USE;
/* A copy, in the arena, of the names of queues, with commas.  Requires one name at least. */
const char *fs_picture_list(fs_picture *p, const char *const *name, const uint32_t *id, uint32_t n);

/* A gang runs on these clusters, and is drawn in the first of them.  Requires one cluster at
 * least. */
void fs_picture_host(fs_picture *p, const uint32_t *cluster, uint32_t n);

/* Puts nodes together: node i becomes part of node group[i]; groups are numbered from 0 in the
 * order of their first nodes.  Requires a group for every node. */
fs_status fs_picture_contract(fs_picture *p, const uint32_t *group, uint32_t n_groups) FS_MUST_USE;

/* The three makers; the picture refers to names of what it is made from. */
/* O((edges) * args per op).  from_graph.c */
fs_status fs_picture_of_graph(const fsched_graph *g, fs_picture *p) FS_MUST_USE;
/* The args of op `b` from `*arg` on: is there one that reads bytes of a version that op `a` writes?
 * Then `*arg` is behind it, and `*version` what it reads.  Requires two ops. */
bool fs_picture_next_data(const fsched_graph *g, uint32_t a, uint32_t b, uint32_t *arg,
                          uint32_t *version);
/* The schedule with its synchronisation.  from_schedule.c */
fs_status fs_picture_of_schedule(const fs_sync *y, fs_picture *p) FS_MUST_USE;
/* The program need not be right: commands that wait for each other come last.  from_program.c */
fs_status fs_picture_of_program(const fsched_program *program, fs_picture *p) FS_MUST_USE;

/* Marks the chain of items that explains the span: of all chains along the edges to the item that
 * ends last, one with the fewest ticks in which nothing of it runs.  Before nodes are put together.
 * Requires a node for every item.  O(items + edges).  critical.c */
fs_status fs_picture_critical(fs_picture *p) FS_MUST_USE;

/* No more than `most` clusters, of neighbours.  After fs_picture_finish; O(clusters + items).
 * Requires most > 0.  clusters.c */
fs_status fs_picture_merge_clusters(fs_picture *p, uint32_t most) FS_MUST_USE;
/* Leaves hosts only to clusters without nodes.  O(clusters + nodes). */
fs_status fs_picture_find_empty(fs_picture *p) FS_MUST_USE;

/* Leaves out edges that are neither control, waits, next on a queue nor critical.  thin.c */
fs_status fs_picture_drop_data(fs_picture *p) FS_MUST_USE;
/* Barriers become nodes, up to `most` of them: edges are then no waits any more, and those that
 * were nothing else are gone.  Of more, none does.  barriers.c */
void fs_picture_show_barriers(fs_picture *p, uint32_t most);
/* Where there are more than `most` edges: leaves out those that others imply, then what is too much
 * for single nodes.  Waits, queues and the critical path stay.
 * O(edges * (1 + nodes / 64)), for at most 8,192 nodes; beyond, nothing is found to be implied. */
fs_status fs_picture_thin(fs_picture *p, uint32_t most) FS_MUST_USE;

/* Puts chains together: nodes of one kind and cluster, each the only successor of the one before,
 * which is its only predecessor.  Requires nodes.  O(nodes + edges).  collapse.c */
fs_status fs_picture_chains(fs_picture *p) FS_MUST_USE;
/* Puts nodes of one kind and cluster together that are near each other in order of issue, until
 * there are no more than `most`, or no more than one per kind and cluster.  Requires nodes.
 * O((nodes + edges) log). */
fs_status fs_picture_groups(fs_picture *p, uint32_t most) FS_MUST_USE;

#endif
