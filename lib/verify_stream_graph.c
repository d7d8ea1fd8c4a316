/* SPDX-License-Identifier: Apache-2.0 */
/* Is the program that graph's?  Names, tags, times, sizes, target; and each op on queues that the
 * graph allows. */
#include <stdio.h>

#include "context.h"
#include "verify_stream.h"

typedef struct compare {
  fs_vs *v;
  const fsched_graph *g;
} compare;

static bool same_text(const char *a, const char *b) {
  return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}
static bool same(const compare *c, uint32_t offset, const char *name) {
  return same_text(fs_stream_string(c->v->s, offset), name);
}

static void differs(compare *c, const char *what, const char *name) {
  FS_WRONG(c->v, FS_DIAG_VERIFY_GRAPH, "not the graph's: %s '%s'", what, name);
}

static bool same_counts(const compare *c) {
  const fs_stream *s = c->v->s;
  const fsched_graph *g = c->g;
  return s->n_memories == g->target.n_memories && s->n_resources == g->target.n_resources &&
         s->n_buffers == g->n_buffers && s->n_versions == g->n_versions && s->n_ops == g->n_ops &&
         s->n_args == g->n_args && s->n_uses == g->op_use0[g->n_ops] &&
         s->n_scratches == g->op_scratch0[g->n_ops] && s->n_afters == g->op_after0[g->n_ops] &&
         (g->target.implicit_queues || s->n_queues == g->target.n_queues);
}

static void compare_target(compare *c) {
  const fs_stream *s = c->v->s;
  const fs_target *t = &c->g->target;
  if (!same(c, s->meta[0].name, c->g->name) || s->meta[0].hazards != c->g->hazards ||
      !same(c, s->meta[0].time_unit, t->time_unit) || s->meta[0].concurrency != t->concurrency ||
      s->meta[0].frontier_capacity != t->frontier_capacity) {
    differs(c, "name or settings of", c->g->name);
  }
  for (uint32_t i = 0; i < s->n_queues && !t->implicit_queues; i++) {
    const fs_queue *q = &t->queue[i];
    if (!same(c, s->queues[i].name, q->name) || s->queues[i].device != q->device ||
        s->queues[i].machine != q->machine ||
        !same(c, s->queues[i].class_name, t->class_name[q->class_id])) {
      differs(c, "queue", q->name);
    }
  }
  for (uint32_t i = 0; i < s->n_memories; i++) {
    const fs_memory *m = &t->memory[i];
    const fs_stream_memory *x = &s->memories[i];
    if (!same(c, x->name, m->name) || x->capacity != m->capacity || x->align != m->align ||
        x->placement != m->placement || x->backing != m->backing) {
      differs(c, "memory", m->name);
    }
  }
  for (uint32_t i = 0; i < s->n_resources; i++) {
    if (!same(c, s->resources[i].name, t->resource_name[i]) ||
        s->resources[i].capacity != t->resource_capacity[i]) {
      differs(c, "resource", t->resource_name[i]);
    }
  }
}

static void compare_buffers(compare *c) {
  const fs_stream *s = c->v->s;
  const fsched_graph *g = c->g;
  for (uint32_t i = 0; i < s->n_buffers; i++) {
    const fs_stream_buffer *b = &s->buffers[i];
    if (!same(c, b->name, g->buffer_name[i]) || b->size != g->buffer_size[i] ||
        b->memory != g->buffer_memory[i] || b->io != g->buffer_io[i] ||
        b->version0 != g->buffer_version0[i]) {
      differs(c, "buffer", g->buffer_name[i]);
    }
  }
}

static bool same_kernel(const compare *c, uint32_t mine, uint32_t graphs) {
  const fs_stream *s = c->v->s;
  if (mine == FS_NONE || graphs == FS_NONE || mine >= s->n_kernels) {
    return mine == graphs;
  }
  const fs_stream_kernel *a = &s->kernels[mine];
  const fs_kernel *b = &c->g->kernel[graphs];
  return same(c, a->builtin, b->builtin) && same(c, a->module, b->module) &&
         same(c, a->function, b->function) && a->shared_bytes == b->shared_bytes &&
         memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
         memcmp(a->block, b->block, sizeof a->block) == 0;
}

static bool same_args(const compare *c, uint32_t first, uint32_t n) {
  const fsched_graph *g = c->g;
  for (uint32_t i = first; i < first + n; i++) {
    const fs_stream_arg *a = &c->v->s->args[i];
    bool value = a->tag == FSCHED_VALUE;
    if (a->tag != g->arg_tag[i] || a->buffer != g->arg_buffer[i] ||
        (value ? a->value != g->arg_value[i]
               : a->offset != g->arg_offset[i] || a->length != g->arg_length[i])) {
      return false;
    }
  }
  return true;
}

static bool same_lists(const compare *c, const fs_stream_op *o) {
  const fs_stream *s = c->v->s;
  const fsched_graph *g = c->g;
  bool ok = true;
  for (uint32_t i = o->use0; ok && i < o->use0 + o->n_uses; i++) {
    ok = s->uses[i].resource == g->use_resource[i] && s->uses[i].amount == g->use_amount[i];
  }
  for (uint32_t i = o->scratch0; ok && i < o->scratch0 + o->n_scratches; i++) {
    ok = s->scratches[i].memory == g->scratch_memory[i] &&
         s->scratches[i].size == g->scratch_size[i];
  }
  for (uint32_t i = o->after0; ok && i < o->after0 + o->n_afters; i++) {
    ok = s->afters[i] == g->after_op[i];
  }
  return ok;
}

static bool same_op(const compare *c, uint32_t op) {
  const fs_stream_op *o = &c->v->s->ops[op];
  const fsched_graph *g = c->g;
  return same(c, o->name, g->op_name[op]) && o->time == g->op_time[op] &&
         o->arg0 == g->op_arg0[op] && o->n_args == g->op_arg0[op + 1] - g->op_arg0[op] &&
         o->use0 == g->op_use0[op] && o->n_uses == g->op_use0[op + 1] - g->op_use0[op] &&
         o->scratch0 == g->op_scratch0[op] &&
         o->n_scratches == g->op_scratch0[op + 1] - g->op_scratch0[op] &&
         o->after0 == g->op_after0[op] && o->n_afters == g->op_after0[op + 1] - g->op_after0[op] &&
         same_args(c, o->arg0, o->n_args) && same_lists(c, o) &&
         same_kernel(c, o->kernel, g->op_kernel[op]);
}

static bool in_domain(const fs_target *t, uint32_t domain, uint32_t queue) {
  if (t->implicit_queues) {
    return true;
  }
  for (uint32_t i = t->domain_queue0[domain]; i < t->domain_queue0[domain + 1]; i++) {
    if (t->domain_queue[i] == queue) {
      return true;
    }
  }
  return false;
}

static bool right_queues(const compare *c, uint32_t op) {
  const fs_vs *v = c->v;
  const fsched_graph *g = c->g;
  uint32_t first = v->op_command0[op], n = v->op_command0[op + 1] - first;
  if (n == 0) {
    return true; /* reported already */
  }
  uint32_t gang = g->op_gang[op], command = v->op_command[first];
  if (gang == FS_NONE) {
    return v->s->commands[command].gang_axis == FS_NONE &&
           in_domain(&g->target, g->op_domain[op], v->command_queue[command]);
  }
  bool ok = n == g->gang_queue0[gang + 1] - g->gang_queue0[gang];
  for (uint32_t k = 0; ok && k < n; k++) {
    ok = v->command_queue[v->op_command[first + k]] == g->gang_queue[g->gang_queue0[gang] + k];
  }
  return ok;
}

static void compare_copies(compare *c) {
  for (uint32_t i = 0; i < c->v->s->n_commands; i++) {
    const fs_stream_command *x = &c->v->s->commands[i];
    if (x->kind == FS_COMMAND_RUN) {
      continue;
    }
    const fs_memory *m = &c->g->target.memory[fs_version_memory(c->g, x->target)];
    uint64_t size = fs_version_size(c->g, x->target);
    bool write = x->direction == FS_SPILL_WRITE;
    uint64_t fixed = write ? m->write_fixed : m->read_fixed;
    uint64_t rate = write ? m->write_rate : m->read_rate;
    char name[FS_VNAME];
    if (!fs_memory_spills(m) ||
        !in_domain(&c->g->target, m->spill_domain, c->v->command_queue[i]) ||
        x->end - x->start != fixed + (rate == 0 ? 0 : fs_ceil_div(size, rate))) {
      differs(c, "queue or time of", fs_vs_command_name(c->v, i, name));
    }
  }
}

/* An in-place output has to be one that the graph declares. */
static bool declared(const compare *c, uint32_t op, uint32_t version_a, uint32_t version_b) {
  const fsched_graph *g = c->g;
  for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
    uint32_t out = g->arg_version[g->inplace_out[i]], in = g->arg_version[g->inplace_in[i]];
    if ((out == version_a && in == version_b) || (out == version_b && in == version_a)) {
      return true;
    }
  }
  return false;
}

static bool share(const fs_stream_place *a, const fs_stream_place *b) {
  return a->space == b->space && a->index == b->index && a->version != FS_NONE &&
         b->version != FS_NONE && a->version != b->version &&
         ((a->mode | b->mode) & FS_MODE_W) != 0 && a->size > 0 && b->size > 0 &&
         a->address < b->address + b->size && b->address < a->address + a->size;
}

static void check_inplace(compare *c, uint32_t op) {
  const fs_stream *s = c->v->s;
  const fs_stream_command *x = &s->commands[c->v->op_command[c->v->op_command0[op]]];
  const fs_stream_place *p = s->places + x->place0;
  for (uint32_t i = 0; i < x->n_places; i++) {
    for (uint32_t k = 0; k < i; k++) {
      if (share(&p[i], &p[k]) && !declared(c, op, p[i].version, p[k].version)) {
        FS_WRONG(c->v, FS_DIAG_VERIFY_SELF, "op %s is not declared to work in place",
                 fs_vs_op_name(c->v, op));
      }
    }
  }
}

fs_status fs_vs_graph(fs_vs *v, const fsched_graph *g) {
  compare c = {v, g};
  uint32_t errors = fsched_diag_errors(v->ctx);
  if (!same_counts(&c)) {
    differs(&c, "number of things in", g->name);
    return FSCHED_OK;
  }
  compare_target(&c);
  compare_buffers(&c);
  for (uint32_t o = 0; o < g->n_ops; o++) {
    if (!same_op(&c, o)) {
      differs(&c, "op", g->op_name[o]);
    } else if (!right_queues(&c, o)) {
      differs(&c, "queues of op", g->op_name[o]);
    }
  }
  if (fsched_diag_errors(v->ctx) != errors) {
    return FSCHED_OK;
  }
  compare_copies(&c);
  for (uint32_t o = 0; o < g->n_ops; o++) {
    if (v->op_command0[o] < v->op_command0[o + 1]) {
      check_inplace(&c, o);
    }
  }
  return FSCHED_OK;
}
