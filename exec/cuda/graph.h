/* SPDX-License-Identifier: Apache-2.0 */
/* Making the nodes of a graph, one item or instance after the other. */
#ifndef FS_EXEC_CUDA_GRAPH_H
#define FS_EXEC_CUDA_GRAPH_H

#include "exec/cuda/cuda.h"

/* What is at hand, an item or an instance of a loop, is several nodes in a row; the first of them
 * comes after all of `after`. */
typedef struct fs_cuda_graph_maker {
  fs_instance *x;
  fs_cu_graph graph;
  fs_cu_node *tail;  /* per item: the node that its successors wait for */
  fs_cu_node *after; /* no node twice, which the driver would refuse */
  size_t n_after;
  fs_cu_node at; /* the last node of what is at hand */
  bool first;    /* it has no node yet */
  fs_arena *scratch;
  struct fs_cuda_unrolling *unrolling; /* NULL: there are no loops */
} fs_cuda_graph_maker;

/* Begins what comes next, after nothing so far. */
void fs_cuda_graph_begin(fs_cuda_graph_maker *m);
/* Puts it after that node, too.  Requires that it has no node yet, and room. */
void fs_cuda_graph_after(fs_cuda_graph_maker *m, fs_cu_node node);
/* Add a node to what is at hand.  False: poisoned. */
bool fs_cuda_graph_kernel(fs_cuda_graph_maker *m, const fs_cuda_launch *l) FS_MUST_USE;
bool fs_cuda_graph_host(fs_cuda_graph_maker *m, fs_cuda_task *task) FS_MUST_USE;
bool fs_cuda_graph_copy(fs_cuda_graph_maker *m, const fs_cuda_work *w) FS_MUST_USE;
bool fs_cuda_graph_empty(fs_cuda_graph_maker *m) FS_MUST_USE;
bool fs_cuda_graph_record(fs_cuda_graph_maker *m, fs_cu_event event) FS_MUST_USE;

#endif
