/* SPDX-License-Identifier: Apache-2.0 */
/* Runs an invocation by one launch of a graph.
 *
 * The nodes are made from the items and the edges from the plan.  No stream is captured, so the
 * graph orders only what the program orders.  An item may be several nodes in a row; its successors
 * come after the last of these that matters to memory.  Of a loop, there are such nodes for each
 * instance (cuda/loops/unroll.c).
 *
 *   [time] -> [pace] -> kernel or copy -> [time] -> [digest] -> [event]
 *
 * All content has to be in place before the launch, and kept content is taken out after it.
 * Addresses are part of a graph, so with a pool a slot keeps the graphs for the latest places of
 * its memory. */
#include "exec/cuda/graph.h"

#include "exec/cuda/loops/unroll.h"

enum { CHUNK_LOG2 = 30 }; /* a copy node copies at most 2^30 bytes */

void fs_cuda_graph_begin(fs_cuda_graph_maker *m) {
  m->first = true;
  m->n_after = 0;
}

void fs_cuda_graph_after(fs_cuda_graph_maker *m, fs_cu_node node) {
  assert(m->first && node != NULL);
  for (size_t i = 0; i < m->n_after; i++) {
    if (m->after[i] == node) {
      return;
    }
  }
  m->after[m->n_after++] = node;
}

/* The predecessors of the next node; returns their number. */
static size_t before(const fs_cuda_graph_maker *m, const fs_cu_node **nodes) {
  *nodes = m->first ? m->after : &m->at;
  return m->first ? m->n_after : 1;
}

static bool set_node(fs_cuda_graph_maker *m, fs_cu_node node) {
  m->at = node;
  m->first = false;
  return true;
}

bool fs_cuda_graph_kernel(fs_cuda_graph_maker *m, const fs_cuda_launch *l) {
  const fs_cu_node *nodes;
  size_t n = before(m, &nodes);
  fs_cu_kernel_node k = {.function = l->function,
                         .grid = {l->grid[0], l->grid[1], l->grid[2]},
                         .block = {l->block[0], l->block[1], l->block[2]},
                         .shared_bytes = l->shared_bytes,
                         .params = l->params};
  fs_cu_node node;
  return FS_CUDA_DO(m->x, cuGraphAddKernelNode, (&node, m->graph, nodes, n, &k)) &&
         set_node(m, node);
}

bool fs_cuda_graph_host(fs_cuda_graph_maker *m, fs_cuda_task *task) {
  const fs_cu_node *nodes;
  size_t n = before(m, &nodes);
  fs_cu_host_node h = {.function = fs_cuda_host_run, .user = task};
  fs_cu_node node;
  return FS_CUDA_DO(m->x, cuGraphAddHostNode, (&node, m->graph, nodes, n, &h)) && set_node(m, node);
}

static fs_cu_place make_place(fs_cu_address address, bool host) {
  return host ? (fs_cu_place){.type = FS_CU_MEMORY_HOST, .host = (void *)(uintptr_t)address}
              : (fs_cu_place){.type = FS_CU_MEMORY_DEVICE, .device = address};
}

bool fs_cuda_graph_copy(fs_cuda_graph_maker *m, const fs_cuda_work *w) {
  for (uint64_t done = 0, n; done < w->size; done += n) {
    n = fs_min(w->size - done, UINT64_C(1) << CHUNK_LOG2);
    const fs_cu_node *nodes;
    size_t n_nodes = before(m, &nodes);
    fs_cu_copy c = {.from = make_place(w->from + done, w->from_host),
                    .to = make_place(w->to + done, w->to_host),
                    .width = n,
                    .height = 1,
                    .depth = 1};
    c.from.pitch = c.to.pitch = n;
    c.from.height = c.to.height = 1;
    fs_cu_node node;
    if (!FS_CUDA_DO(m->x, cuGraphAddMemcpyNode,
                    (&node, m->graph, nodes, n_nodes, &c, m->x->machine->device.cuda.context))) {
      return false;
    }
    (void)set_node(m, node);
  }
  return true;
}

bool fs_cuda_graph_empty(fs_cuda_graph_maker *m) {
  const fs_cu_node *nodes;
  size_t n = before(m, &nodes);
  fs_cu_node node;
  return FS_CUDA_DO(m->x, cuGraphAddEmptyNode, (&node, m->graph, nodes, n)) && set_node(m, node);
}

bool fs_cuda_graph_record(fs_cuda_graph_maker *m, fs_cu_event event) {
  const fs_cu_node *nodes;
  size_t n = before(m, &nodes);
  fs_cu_node node;
  return FS_CUDA_DO(m->x, cuGraphAddEventRecordNode, (&node, m->graph, nodes, n, event)) &&
         set_node(m, node);
}

/* Adds the item's kernel or copy. */
static bool add_effect(fs_cuda_graph_maker *m, uint32_t item) {
  const fs_cuda_work *w = &m->x->todo[item];
  return (!w->host || fs_cuda_graph_host(m, fs_cuda_host_item(m->x, item))) &&
         (w->launch.function == NULL || fs_cuda_graph_kernel(m, &w->launch)) &&
         fs_cuda_graph_copy(m, w) && (!m->first || fs_cuda_graph_empty(m));
}

/* Begins an item, or a part of a loop, behind its predecessors. */
static bool begin_item(fs_cuda_graph_maker *m, uint32_t item) {
  fs_instance *x = m->x;
  const fs_cuda_plan *plan = &x->program->plan;
  const fs_cuda_item *t = &plan->item[item];
  fs_cuda_graph_begin(m);
  for (uint32_t i = 0; i < t->n_after; i++) {
    m->after[m->n_after++] = m->tail[plan->after[t->after0 + i]]; /* no item twice */
  }
  return !x->built.timed || fs_cuda_graph_record(m, x->time[2 * item]);
}

/* Ends what begin_item has begun. */
static bool end_item(fs_cuda_graph_maker *m, uint32_t item) {
  fs_instance *x = m->x;
  fs_cuda_launch extra;
  void *params[2];
  if (x->built.timed && !fs_cuda_graph_record(m, x->time[2 * item + 1])) {
    return false;
  }
  if (fs_cuda_digest_launch(x, item, params, &extra) && !fs_cuda_graph_kernel(m, &extra)) {
    return false;
  }
  m->tail[item] = m->at;
  return !x->program->watched ||
         fs_cuda_graph_record(m, x->event[x->program->plan.item[item].event]);
}

/* Adds all parts of a loop: their begins, the instances, and their ends. */
static bool add_loop(fs_cuda_graph_maker *m, uint32_t item) {
  const fs_cuda_item *part = &m->x->program->plan.item[item];
  for (uint32_t i = 0; i < part->parts; i++) {
    if (!begin_item(m, item + i) || !fs_cuda_unroll_enter(m, part[i].queue)) {
      return false;
    }
  }
  if (!fs_cuda_unroll_add(m, part->command)) {
    return false;
  }
  for (uint32_t i = 0; i < part->parts; i++) {
    if (!fs_cuda_unroll_leave(m, part[i].queue) || !end_item(m, item + i)) {
      return false;
    }
  }
  return true;
}

/* Adds an item that is no part of a loop. */
static bool add_one(fs_cuda_graph_maker *m, uint32_t item) {
  fs_cuda_launch pace;
  uint64_t ns;
  void *params[2];
  return begin_item(m, item) &&
         (!fs_cuda_pace_launch(m->x, item, &ns, params, &pace) || fs_cuda_graph_kernel(m, &pace)) &&
         add_effect(m, item) && end_item(m, item);
}

/* Adds an item, or all parts of an op that has some. */
static bool add_item(fs_cuda_graph_maker *m, uint32_t item) {
  const fs_cuda_item *t = &m->x->program->plan.item[item];
  if (fs_cuda_is_loop(m->x, t->command)) {
    return add_loop(m, item);
  }
  bool added = true;
  for (uint32_t i = item; i < item + t->parts && added; i++) {
    added = add_one(m, i);
  }
  return added;
}

static bool add_items(fs_instance *x, fs_cu_graph graph, fs_arena *scratch) {
  const fs_cuda_plan *plan = &x->program->plan;
  fs_cuda_graph_maker m = {.x = x, .graph = graph, .scratch = scratch};
  uint32_t most = fs_cuda_unroll_most_after(x->s);
  for (uint32_t i = 0; i < plan->n_items; i++) {
    most = plan->item[i].n_after > most ? plan->item[i].n_after : most;
  }
  if (fs_new(scratch, &m.tail, plan->n_items) != FSCHED_OK ||
      fs_new(scratch, &m.after, most) != FSCHED_OK) {
    return fs_cuda_ok(x, "memory for a graph", FS_CU_OUT_OF_MEMORY);
  }
  if (!fs_cuda_unroll_begin(&m)) {
    return false;
  }
  for (uint32_t i = 0; i < plan->n_items; i += plan->item[i].parts) {
    if (!add_item(&m, i)) {
      return false;
    }
  }
  return true;
}

static bool instantiate(fs_instance *x, fs_cuda_made *made) {
  return FS_CUDA_DO(x, cuGraphInstantiateWithFlags, (&made->executable, made->graph, 0)) &&
         FS_CUDA_DO(x, cuGraphUpload, (made->executable, x->lane[0])) &&
         fs_cuda_await_stream(x, x->lane[0]);
}

static bool make_graph(fs_instance *x, fs_cuda_made *made) {
  if (!FS_CUDA_DO(x, cuGraphCreate, (&made->graph, 0))) {
    made->graph = NULL;
    return false;
  }
  FS_SCRATCH(scratch, x->own);
  bool added = add_items(x, made->graph, &scratch);
  if (!added) {
    return false;
  }
  if (!instantiate(x, made)) {
    return false;
  }
  made->block = x->built.block;
  return true;
}

static void drop_made(fs_instance *x, fs_cuda_made *made) {
  bool lost = atomic_load(&x->machine->lost) != 0;
  if (made->executable != NULL && !lost) {
    (void)FS_CUDA_CALL(x, cuGraphExecDestroy, (made->executable));
  }
  if (made->graph != NULL && !lost) {
    (void)FS_CUDA_CALL(x, cuGraphDestroy, (made->graph));
  }
  *made = (fs_cuda_made){0};
}

bool fs_cuda_graph_find(fs_instance *x) {
  for (uint32_t i = 0; i < x->n_made; i++) {
    if (x->made[i].block == x->built.block) {
      x->executable = x->made[i].executable;
      return true;
    }
  }
  fs_cuda_made *made = &x->made[x->next_made];
  drop_made(x, made);
  x->next_made = (x->next_made + 1) % FS_CUDA_MADE;
  x->n_made = x->n_made < FS_CUDA_MADE ? x->n_made + 1 : FS_CUDA_MADE;
  bool done = make_graph(x, made);
  x->executable = made->executable;
  return done;
}

void fs_cuda_graph_drop(fs_instance *x) {
  for (uint32_t i = 0; i < x->n_made; i++) {
    drop_made(x, &x->made[i]);
  }
  x->n_made = x->next_made = 0;
  x->executable = NULL;
}

/* The first item that wants the content. */
static uint32_t first_item_of(const fs_instance *x, uint32_t given) {
  const fs_cuda_plan *plan = &x->program->plan;
  for (uint32_t i = 0; i < plan->n_items; i++) {
    uint32_t c = plan->item[i].command;
    for (uint32_t j = x->io->given0[c]; j < x->io->given0[c + 1]; j++) {
      if (x->io->command_given[j] == given) {
        return i;
      }
    }
  }
  return FS_NONE;
}

bool fs_cuda_graph_launch(fs_instance *x, uint32_t *wants) {
  const fs_io *io = x->io;
  *wants = FS_NONE;
  for (uint32_t g = 0; g < io->n_given && !x->config.empty; g++) {
    if (x->given_there[g] || io->given[g].touches == 0) {
      continue;
    }
    if (atomic_load(&x->given_ready[g]) == 0) {
      *wants = *wants == FS_NONE ? g : *wants;
    } else if (!fs_cuda_put(x, g, x->lane[0])) {
      return false;
    }
  }
  if (*wants != FS_NONE) {
    atomic_store(&x->waits_item, first_item_of(x, *wants));
    return !fs_cuda_poisoned(x);
  }
  if (fs_cuda_poisoned(x)) {
    return false;
  }
  uint32_t n = x->program->plan.n_items;
  if (n > 0 && !FS_CUDA_DO(x, cuGraphLaunch, (x->executable, x->lane[0]))) {
    return false;
  }
  x->n_issued = n;
  memset(x->issued, 1, n);
  return true;
}
