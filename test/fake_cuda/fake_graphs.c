/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the driver: modules, kernels and graphs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/cuda/builtin.h"
#include "fake_cuda/fake_call.h"

/* ---- modules, functions */

/* Options 5 and 6 are the buffer for messages, and its size. */
static result cuModuleLoadDataEx(void **out, const void *image, unsigned n, unsigned *options,
                                 void **values) {
  CALL(true, false);
  TRY;
  wait_for_hanging(NULL);
  char why[200] = "";
  ptx_module *ptx = ptx_read(image, why, sizeof why);
  if (ptx == NULL) {
    for (unsigned i = 0; i + 1 < n; i++) {
      if (options[i] == 5 && options[i + 1] == 6) {
        (void)snprintf(values[i], (size_t)(uintptr_t)values[i + 1], "ptxas error   : %s\n", why);
      }
    }
    END(INVALID_PTX);
  }
  module *m = new_object(KIND_MODULE, sizeof *m);
  m->ptx = ptx;
  m->builtin = strcmp(image, fs_cuda_builtin_ptx) == 0;
  *out = m;
  END(OK);
}

static result cuModuleUnload(void *handle) {
  CALL(true, false);
  OBJECT(module, m, handle, KIND_MODULE)
  wait_for_hanging(__func__);
  if (!all_done()) {
    note_fault("%s: its kernels may still run", __func__);
  }
  m->base.live = false;
  for (object *o = fake.objects; o != NULL; o = o->next) {
    if (o->kind == KIND_FUNCTION && ((function *)o)->module == m) {
      o->live = false;
    }
  }
  END(failed);
}

static result cuModuleGetFunction(void **out, void *handle, const char *name) {
  CALL(true, false);
  TRY;
  OBJECT(module, m, handle, KIND_MODULE)
  const ptx_entry *entry = ptx_find(m->ptx, name);
  if (entry == NULL) {
    END(NOT_FOUND);
  }
  for (object *o = fake.objects; o != NULL; o = o->next) { /* one function has one handle */
    function *f = (function *)o;
    if (o->kind == KIND_FUNCTION && o->live && f->module == m && f->entry == entry) {
      *out = f;
      END(OK);
    }
  }
  function *f = new_object(KIND_FUNCTION, sizeof *f);
  f->entry = entry;
  f->module = m;
  f->shared_limit = 49152;
  *out = f;
  END(OK);
}

static result cuFuncGetAttribute(int *value, unsigned attribute, void *handle) {
  CALL(true, false);
  TRY;
  OBJECT(function, f, handle, KIND_FUNCTION)
  f->loaded = true;
  *value = attribute == 8 ? f->shared_limit : 90;
  END(OK);
}

static result cuFuncSetAttribute(void *handle, unsigned attribute, int value) {
  CALL(true, false);
  TRY;
  OBJECT(function, f, handle, KIND_FUNCTION)
  if (attribute != 8 || value > 232448) {
    END(INVALID_VALUE);
  }
  f->shared_limit = value;
  END(OK);
}

static result cuFuncLoad(void *handle) {
  CALL(true, false);
  TRY;
  OBJECT(function, f, handle, KIND_FUNCTION)
  f->loaded = true;
  END(OK);
}

static result cuFuncGetParamInfo(void *handle, size_t index, size_t *offset, size_t *size) {
  CALL(true, false);
  TRY;
  OBJECT(function, f, handle, KIND_FUNCTION)
  *offset = 8 * index;
  *size = ptx_param_bytes(f->entry, (uint32_t)index);
  END(*size == 0 ? INVALID_VALUE : OK);
}

static result make_kernel(function *f, const unsigned *grid, const unsigned *block, unsigned shared,
                          void **params, command *c, const char *call) {
  *c = (command){.kind = RUN_KERNEL, .function = f, .launch.shared_bytes = shared};
  uint64_t threads = 1;
  for (int i = 0; i < 3; i++) {
    c->launch.grid[i] = grid[i];
    c->launch.block[i] = block[i];
    threads *= block[i];
    if (grid[i] == 0 || grid[i] > (i == 0 ? 2147483647u : 65535u)) {
      return INVALID_VALUE;
    }
  }
  if (threads == 0 || threads > 1024 || shared > (unsigned)f->shared_limit) {
    return INVALID_VALUE;
  }
  if (!f->loaded) {
    note_fault("%s: the function is not loaded yet", call);
  }
  for (uint32_t i = 0, word = 0; ptx_param_bytes(f->entry, i) > 0; i++) {
    uint32_t bytes = ptx_param_bytes(f->entry, i);
    if (word + (bytes + 7) / 8 > PTX_PARAMS) {
      return INVALID_VALUE;
    }
    memcpy(&c->launch.params[word], params[i], bytes);
    word += (bytes + 7) / 8;
  }
  return OK;
}

static result cuLaunchKernel(void *handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                             unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                             void *stream_handle, void **params, void **extra) {
  (void)extra;
  CALL(true, true);
  TRY;
  OBJECT(function, f, handle, KIND_FUNCTION)
  OBJECT(stream, s, stream_handle, KIND_STREAM)
  command c;
  result r = make_kernel(f, (unsigned[]){grid_x, grid_y, grid_z},
                         (unsigned[]){block_x, block_y, block_z}, shared, params, &c, __func__);
  if (r == OK) {
    await_room(s);
    stream_push(s, &c);
  }
  END(r);
}

/* ---- graphs */

static result cuGraphCreate(void **out, unsigned flags) {
  CALL(true, false);
  TRY;
  *out = new_object(KIND_GRAPH, sizeof(graph));
  END(flags == 0 ? OK : INVALID_VALUE);
}

static result cuGraphDestroy(void *handle) {
  CALL(true, false);
  OBJECT(graph, g, handle, KIND_GRAPH)
  for (uint32_t i = 0; i < g->n; i++) {
    g->node[i]->base.live = false;
  }
  g->base.live = false;
  END(failed);
}

static result add_node(graph *g, void *const *after, size_t n, const command *c, void **out,
                       const char *call) {
  node *x = new_object(KIND_NODE, sizeof *x);
  x->graph = g;
  x->empty = c == NULL;
  if (c != NULL) {
    x->command = *c;
  }
  x->after = malloc((n + 1) * sizeof *x->after);
  for (size_t i = 0; i < n; i++) {
    const node *before = check_object(after[i], KIND_NODE, call);
    if (before == NULL || before->graph != g) {
      note_fault("%s: a dependency is no node of the graph", call);
      return INVALID_VALUE;
    }
    for (size_t j = 0; j < x->n_after; j++) {
      if (x->after[j] == before->index) { /* the driver refuses this, too */
        note_fault("%s: the same dependency twice", call);
        return INVALID_VALUE;
      }
    }
    x->after[x->n_after++] = before->index;
  }
  if (g->n == g->cap) {
    g->cap = g->cap == 0 ? 16 : 2 * g->cap;
    g->node = realloc(g->node, g->cap * sizeof(node *));
  }
  x->index = g->n;
  g->node[g->n++] = x;
  *out = x;
  return OK;
}

typedef struct kernel_node {
  void *function;
  unsigned grid[3], block[3], shared;
  void **params, **extra;
  void *kernel, *context;
} kernel_node;

static result cuGraphAddKernelNode(void **out, void *handle, void *const *after, size_t n,
                                   const kernel_node *params) {
  CALL(true, false);
  TRY;
  OBJECT(graph, g, handle, KIND_GRAPH)
  OBJECT(function, f, params->function, KIND_FUNCTION)
  command c;
  result r =
      make_kernel(f, params->grid, params->block, params->shared, params->params, &c, __func__);
  END(r == OK ? add_node(g, after, n, &c, out, __func__) : r);
}

typedef struct copy_side {
  size_t x, y, z, level;
  unsigned type;
  void *host;
  address device;
  void *array, *reserved;
  size_t pitch, height;
} copy_side;
typedef struct copy_node {
  copy_side from, to;
  size_t width, height, depth;
} copy_node;

static uint64_t side_address(const copy_side *s) {
  return s->type == 1 ? (uint64_t)(uintptr_t)s->host : s->type == 2 ? s->device : 0;
}

static result cuGraphAddMemcpyNode(void **out, void *handle, void *const *after, size_t n,
                                   const copy_node *copy, void *context) {
  CALL(true, false);
  TRY;
  OBJECT(graph, g, handle, KIND_GRAPH)
  command c = {.kind = RUN_COPY,
               .to = side_address(&copy->to),
               .from = side_address(&copy->from),
               .size = copy->width};
  bool flat = copy->height == 1 && copy->depth == 1 && copy->from.x == 0 && copy->to.x == 0;
  if (!flat || context != &the_context || copy->from.level != 0 || copy->from.reserved != NULL ||
      memory_bytes(c.to, c.size) == NULL || memory_bytes(c.from, c.size) == NULL) {
    note_fault("%s: no copy from memory to memory", __func__);
    END(INVALID_VALUE);
  }
  END(add_node(g, after, n, &c, out, __func__));
}

typedef struct host_node {
  void (*host)(void *user);
  void *user;
} host_node;

static result cuGraphAddHostNode(void **out, void *handle, void *const *after, size_t n,
                                 const host_node *params) {
  CALL(true, false);
  TRY;
  OBJECT(graph, g, handle, KIND_GRAPH)
  command c = {.kind = RUN_HOST, .host = params->host, .user = params->user};
  END(c.host == NULL ? INVALID_VALUE : add_node(g, after, n, &c, out, __func__));
}

static result cuGraphAddEmptyNode(void **out, void *handle, void *const *after, size_t n) {
  CALL(true, false);
  TRY;
  OBJECT(graph, g, handle, KIND_GRAPH)
  END(add_node(g, after, n, NULL, out, __func__));
}

static result cuGraphAddEventRecordNode(void **out, void *handle, void *const *after, size_t n,
                                        void *event_handle) {
  CALL(true, false);
  TRY;
  OBJECT(graph, g, handle, KIND_GRAPH)
  OBJECT(event, e, event_handle, KIND_EVENT)
  command c = {.kind = RUN_RECORD, .event = e};
  END(add_node(g, after, n, &c, out, __func__));
}

static result cuGraphInstantiateWithFlags(void **out, void *handle, unsigned long long flags) {
  CALL(true, false);
  TRY;
  OBJECT(graph, g, handle, KIND_GRAPH)
  wait_for_hanging(NULL);
  executable *x = new_object(KIND_EXECUTABLE, sizeof *x);
  x->n = g->n;
  x->command = calloc(g->n + 1, sizeof *x->command);
  x->empty = calloc(g->n + 1, sizeof *x->empty);
  x->after = calloc(g->n + 1, sizeof(uint32_t *));
  x->n_after = calloc(g->n + 1, sizeof *x->n_after);
  for (uint32_t i = 0; i < g->n; i++) {
    const node *from = g->node[i];
    x->command[i] = from->command;
    x->empty[i] = from->empty;
    x->n_after[i] = (uint32_t)from->n_after;
    x->after[i] = malloc((from->n_after + 1) * sizeof(uint32_t));
    memcpy(x->after[i], from->after, from->n_after * sizeof(uint32_t));
  }
  *out = x;
  END(flags == 0 ? OK : INVALID_VALUE);
}

static result cuGraphUpload(void *handle, void *stream_handle) {
  CALL(true, true);
  TRY;
  OBJECT(executable, x, handle, KIND_EXECUTABLE)
  OBJECT(stream, s, stream_handle, KIND_STREAM)
  x->uploaded = s != NULL;
  END(OK);
}

static result cuGraphLaunch(void *handle, void *stream_handle) {
  CALL(true, true);
  TRY;
  OBJECT(executable, x, handle, KIND_EXECUTABLE)
  OBJECT(stream, s, stream_handle, KIND_STREAM)
  if (!x->uploaded) {
    note_fault("%s: the graph is not uploaded", __func__);
  }
  for (uint32_t i = 0; i < x->n; i++) {
    if (!x->empty[i] && x->command[i].kind == RUN_RECORD) {
      if (check_object(x->command[i].event, KIND_EVENT, __func__) == NULL) {
        END(INVALID_HANDLE);
      }
      x->command[i].event->recorded++;
    }
    if (!x->empty[i] && x->command[i].kind == RUN_KERNEL &&
        check_object(x->command[i].function, KIND_FUNCTION, __func__) == NULL) {
      END(INVALID_HANDLE);
    }
  }
  stream_push(s, &(command){.kind = RUN_GRAPH, .executable = x});
  END(OK);
}

static result cuGraphExecDestroy(void *handle) {
  CALL(true, false);
  OBJECT(executable, x, handle, KIND_EXECUTABLE)
  (void)run_until(NULL, 0, NULL);
  x->base.live = false;
  END(failed);
}

const driver_function graph_functions[] = {
    F(cuModuleLoadDataEx, 2010),
    F(cuModuleUnload, 2000),
    F(cuModuleGetFunction, 2000),
    F(cuFuncGetAttribute, 2020),
    F(cuFuncSetAttribute, 9000),
    F(cuFuncLoad, 12040),
    F(cuFuncGetParamInfo, 12040),
    F(cuLaunchKernel, 4000),
    F(cuGraphCreate, 10000),
    F(cuGraphDestroy, 10000),
    F(cuGraphAddKernelNode, 12000),
    F(cuGraphAddMemcpyNode, 10000),
    F(cuGraphAddHostNode, 10000),
    F(cuGraphAddEmptyNode, 10000),
    F(cuGraphAddEventRecordNode, 11010),
    F(cuGraphInstantiateWithFlags, 11040),
    F(cuGraphUpload, 11010),
    F(cuGraphLaunch, 10000),
    F(cuGraphExecDestroy, 10000),
    {NULL, 0, NULL},
};
