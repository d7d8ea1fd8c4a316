/* SPDX-License-Identifier: Apache-2.0 */
/* A picture before it is written: nodes in clusters, and edges with their reasons.  A picture is
 * made from a graph, from a schedule with its synchronisation, or from a program.  Then passes mark
 * the critical path and reduce large pictures, and write.c writes the result.
 *
 * Ids count from 0; there are no pointers between entities. */
#ifndef FS_PICTURE_H
#define FS_PICTURE_H

#include "fsched/program.h"
#include "model/shown.h"
#include "model/sync.h"

typedef enum fs_pic_source { FS_PIC_GRAPH, FS_PIC_SCHEDULE, FS_PIC_PROGRAM } fs_pic_source;

typedef enum fs_pic_kind {
  FS_PIC_OP,
  FS_PIC_GANG,
  FS_PIC_LOAD, /* copies, in the order of fs_copy_role */
  FS_PIC_STORE,
  FS_PIC_WRITE,
  FS_PIC_READ,
  FS_PIC_KINDS
} fs_pic_kind;
static inline bool fs_pic_copies(unsigned kind) { return kind >= FS_PIC_LOAD; }

/* The reasons why one node comes before another.  They form a set, as two nodes have one edge: its
 * first reason in this order decides how it looks, and a wait among its reasons is shown as
 * well. */
typedef enum fs_pic_why {
  FS_PIC_DATA,
  FS_PIC_ORDER, /* `after`, and hazards */
  FS_PIC_REUSE,
  FS_PIC_RESOURCE,
  FS_PIC_CONCURRENCY,
  FS_PIC_BARRIER, /* of a schedule: an order added for barriers */
  FS_PIC_WAIT,    /* a command waits for another */
  FS_PIC_QUEUE,   /* next to each other on a queue */
  FS_PIC_GATE,    /* of a program: one command may start no earlier than another starts */
  FS_PIC_WHYS
} fs_pic_why;

/* An op or a copy.  Items are in a topological order, the order of issue where there is one. */
typedef struct fs_pic_item {
  const char *name;   /* of the op, or of the buffer that is copied */
  const char *queues; /* of a gang: "q0, q1"; NULL: not a gang */
  uint32_t n_queues;  /* number of queues in that list */
  fs_tick start, end; /* as planned; in a graph as early as its edges allow */
  uint32_t cluster;   /* FS_NONE: in no cluster */
  uint32_t version;   /* of the buffer that is copied */
  uint8_t kind;       /* fs_pic_kind */
  bool members;       /* of a gang: each queue runs a member with args of its own */
  const char *parts;  /* of an op (draw/parts.h), or NULL */
} fs_pic_item;

/* A node of the picture: at first one per item, with the item's number. */
typedef struct fs_pic_node {
  uint32_t first, last; /* items; the node need not hold all items between them */
  uint32_t ops, copies; /* number of ops and copies that it stands for */
  fs_tick start, end;
  uint32_t cluster;
  uint8_t kind;
  bool critical;
} fs_pic_node;

typedef struct fs_pic_edge {
  uint32_t from, to; /* nodes */
  uint32_t version;  /* the first version that is passed on; FS_NONE: none */
  uint16_t why;      /* one bit per fs_pic_why */
  bool more;         /* whether other versions are passed on too */
  bool critical;
} fs_pic_edge;

/* A version, and a node that reads its given content or writes its kept content. */
typedef struct fs_pic_end {
  uint32_t version, node;
} fs_pic_end;
typedef FS_VEC(fs_pic_end) fs_pic_ends;

/* A barrier, and the physical barrier that it uses. */
typedef struct fs_pic_barrier {
  uint32_t physical, use;
  uint64_t slots; /* number of slots that its producers take */
} fs_pic_barrier;

typedef struct fs_picture {
  fsched_context *ctx;
  fs_arena arena;
  fs_pic_source source;
  const char *name, *unit;   /* unit may be NULL */
  fs_tick span, lower_bound; /* longest path or makespan; of a graph lower_bound is FS_TICK_NONE */
  uint32_t n_ops, n_copies;  /* among the items */

  uint32_t n_clusters;
  const char **cluster; /* their names */
  uint32_t *host;       /* per cluster: the cluster where a gang of it is drawn; FS_NONE: no gang */
  uint32_t unmerged;    /* number of clusters before merging; 0: not merged */

  uint32_t n_versions;
  const char **version_name; /* name of the buffer */
  uint32_t *version_index;   /* index of the version in its buffer */

  uint32_t n_items;
  fs_pic_item *item;
  uint32_t n_nodes;
  fs_pic_node *node;
  FS_VEC(fs_pic_edge) edge; /* ascending by (from, to), without repeats, after fs_picture_finish */
  fs_pic_ends given, kept;  /* of a graph: ascending, without repeats, after fs_picture_finish */

  /* For a schedule or program with barriers: the nodes that update or await each barrier, after
   * fs_picture_finish ascending and without repeats; here `version` is the barrier. */
  uint32_t n_barriers;
  fs_pic_barrier *barrier;
  fs_pic_ends updates, awaits;
  uint32_t hidden_barriers; /* number of barriers that were to be drawn but are too many */
  uint32_t full_syncs,
      some_syncs; /* of a schedule or program with syncs: full ones, counting ones */

  bool chains, groups;                /* nodes stand for chains, for groups of neighbours */
  uint32_t no_data, implied, surplus; /* numbers of edges left out, by reason */
  uint32_t surplus_from;              /* a node's incoming edges beyond this number are surplus */
  uint32_t path_items;                /* number of items on the critical path */
  /* Loops that stay loops, which are drawn apart; and the names of all queues. */
  uint32_t n_loops;
  fs_shown_loop *loop;
  const char ***loop_parts; /* per loop and op of its body: what else there is to say of it
                               (draw/parts.h), or NULL */
  const char **queue_name;

  fs_tick path_gaps; /* ticks on that path in which none of its items runs */
} fs_picture;

void fs_picture_init(fs_picture *p, fsched_context *ctx, fs_pic_source source);
void fs_picture_release(fs_picture *p);

/* A picture is made by adding clusters, items, and edges in any order, and by finishing, which
 * makes a node of each item, and one edge of all edges between the same nodes; O(edges log edges).
 * This adds n clusters.  Requires that there are none yet. */
fs_status fs_picture_clusters(fs_picture *p, uint32_t n) FS_MUST_USE;
/* Requires that there are none yet. */
fs_status fs_picture_items(fs_picture *p, uint32_t n) FS_MUST_USE;
/* Requires two items. */
fs_status fs_picture_edge(fs_picture *p, uint32_t from, uint32_t to, fs_pic_why why) FS_MUST_USE;
/* Adds an edge for data in a version.  Requires two items, and a version. */
fs_status fs_picture_data(fs_picture *p, uint32_t from, uint32_t to, uint32_t version) FS_MUST_USE;
/* Requires that there are none yet. */
fs_status fs_picture_versions(fs_picture *p, uint32_t n) FS_MUST_USE;
/* Adds the versions of a graph, with their names. */
fs_status fs_picture_graph_versions(fs_picture *p, const fsched_graph *g) FS_MUST_USE;
/* Sets the loops that stay loops, and what there is to say of their ops. */
fs_status fs_picture_graph_loops(fs_picture *p, const fsched_graph *g) FS_MUST_USE;
/* Requires that this is called once. */
fs_status fs_picture_finish(fs_picture *p) FS_MUST_USE;
fs_status fs_picture_barriers(fs_picture *p, uint32_t n) FS_MUST_USE;
/* The item updates the barrier and takes so many of its slots, or waits for the barrier.  Requires
 * an item and a barrier. */
fs_status fs_picture_update(fs_picture *p, uint32_t item, uint32_t barrier,
                            uint32_t slots) FS_MUST_USE;
/* Requires an item and a barrier. */
fs_status fs_picture_await(fs_picture *p, uint32_t item, uint32_t barrier) FS_MUST_USE;
/* A list of the names of queues, with commas, in the arena.  Requires one name at least. */
const char *fs_picture_list(fs_picture *p, const char *const *name, const uint32_t *id, uint32_t n);

/* The name of a queue, with a mark if it is a thread of the host, in the arena or as it was; NULL:
 * there is no memory.  Requires a name. */
const char *fs_picture_queue(fs_picture *p, const char *name, bool host);

/* Notes that a gang runs on these clusters, and is drawn in the first of them.  Requires one
 * cluster at least. */
void fs_picture_host(fs_picture *p, const uint32_t *cluster, uint32_t n);

/* Merges nodes: node i becomes part of node group[i]; groups are numbered from 0 in the order of
 * their first nodes.  Requires a group for every node. */
fs_status fs_picture_contract(fs_picture *p, const uint32_t *group, uint32_t n_groups) FS_MUST_USE;

/* The three makers of pictures; a picture refers to names in the structure that it is made from. */
/* Defined in graph.c.  O(edges * args per op * log args) where each op's args are of different
 * versions; otherwise an edge may take the product of the args of both ops, times the log. */
fs_status fs_picture_of_graph(const fsched_graph *g, fs_picture *p) FS_MUST_USE;
/* Whether an arg of op `b`, from `*arg` on, reads bytes of a version that op `a` writes.  If so,
 * `*arg` becomes the arg after it, and `*version` the version.  Requires two ops. */
bool fs_picture_next_data(const fsched_graph *g, uint32_t a, uint32_t b, uint32_t *arg,
                          uint32_t *version);
/* Draws the schedule with its synchronisation.  Defined in schedule.c. */
fs_status fs_picture_of_schedule(const fs_sync *y, fs_picture *p) FS_MUST_USE;
/* The program need not be right: commands that wait for each other come last.  Defined in
 * program.c. */
fs_status fs_picture_of_program(const fsched_program *program, fs_picture *p) FS_MUST_USE;

/* Marks the chain of items that explains the span: of all chains along edges to the item that ends
 * last, one with the fewest ticks in which none of its items runs.  Must come before nodes are
 * merged.  Requires a node for every item.  O(items + edges).  Defined in critical.c. */
fs_status fs_picture_critical(fs_picture *p) FS_MUST_USE;

/* Merges neighbouring clusters until there are at most `most`.  Must come after fs_picture_finish.
 * O(clusters + items).  Requires most > 0.  Defined in clusters.c. */
fs_status fs_picture_merge_clusters(fs_picture *p, uint32_t most) FS_MUST_USE;
/* Keeps the hosts only of clusters without nodes.  O(clusters + nodes). */
fs_status fs_picture_find_empty(fs_picture *p) FS_MUST_USE;

/* Leaves out edges that are neither control, waits, along a queue nor critical.  Defined in
 * thin.c. */
fs_status fs_picture_drop_data(fs_picture *p) FS_MUST_USE;
/* Makes nodes of barriers, if there are at most `most`: edges lose waits as a reason, and those
 * with no other reason are left out.  Otherwise no barrier is drawn.  Defined in barriers.c. */
void fs_picture_show_barriers(fs_picture *p, uint32_t most);
/* If there are more than `most` edges, leaves out those that others imply, then those that are too
 * many at single nodes.  Waits, queues and the critical path stay.
 * O(edges * (1 + nodes / 64)), for at most 8,192 nodes; with more, only the latter. */
fs_status fs_picture_thin(fs_picture *p, uint32_t most) FS_MUST_USE;

/* Merges chains: nodes of one kind and cluster, each the only successor of the previous node, which
 * is its only predecessor.  Requires nodes.  O(nodes + edges).  Defined in collapse.c. */
fs_status fs_picture_chains(fs_picture *p) FS_MUST_USE;
/* Merges nodes of one kind and cluster that are near each other in the order of issue, until there
 * are no more than `most`, or one per kind and cluster.  Requires nodes.  O((nodes + clusters +
 * edges) log items). */
fs_status fs_picture_groups(fs_picture *p, uint32_t most) FS_MUST_USE;

#endif
