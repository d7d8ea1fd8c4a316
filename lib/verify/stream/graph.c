/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the program is one of the graph: names, tags, times, sizes, target, and each op on
 * queues that the graph allows. */
#include <stdio.h>

#include "base/context.h"
#include "model/loop_report.h"
#include "verify/overlap.h"
#include "verify/stream/stream.h"

typedef struct compare {
  fs_vs *v;
  const fsched_graph *g;
  uint32_t *inplace; /* per version: input that it may cover while its first op runs, or FS_NONE */
  fs_voverlap overlap;
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

/* The hint for properties of the target that --memory and --set change. */
static const char *target_hint(const char *what, const char *field) {
  bool target = strcmp(what, "memory") == 0 || strcmp(what, "resource") == 0 ||
                strcmp(field, "concurrency") == 0 || strcmp(field, "frontier.capacity") == 0 ||
                strcmp(field, "sync") == 0 || strcmp(field, "barriers.slots") == 0;
  return target ? "where compile was given --memory or --set, give verify the same" : NULL;
}

/* Reports "... memory 'm': capacity 5 in the program, 7 in the graph", unless the numbers are
 * equal. */
static void compare_numbers(compare *c, const char *what, const char *name, const char *field,
                            uint64_t mine, uint64_t graphs) {
  char text[2][24] = {"unbounded", "unbounded"};
  if (mine == graphs) {
    return;
  }
  for (int i = 0; i < 2; i++) {
    uint64_t value = i == 0 ? mine : graphs;
    if (value != FS_UNBOUNDED) {
      (void)snprintf(text[i], sizeof text[i], "%llu", (unsigned long long)value);
    }
  }
  fs_findings_add(&c->v->found, FS_DIAG_VERIFY_GRAPH, target_hint(what, field),
                  "not the graph's: %s '%s': %s %s in the program, %s in the graph", what, name,
                  field, text[0], text[1]);
}

static void words(compare *c, const char *what, const char *name, const char *field,
                  const char *mine, const char *graphs) {
  if (!same_text(mine, graphs)) {
    fs_findings_add(&c->v->found, FS_DIAG_VERIFY_GRAPH, target_hint(what, field),
                    "not the graph's: %s '%s': %s '%s' in the program, '%s' in the graph", what,
                    name, field, mine == NULL ? "" : mine, graphs == NULL ? "" : graphs);
  }
}

static const char *string(const compare *c, uint32_t offset) {
  return fs_stream_string(c->v->s, offset);
}

static uint32_t count_members(const fsched_graph *g) {
  uint32_t n = 0;
  for (uint32_t op = 0; g->op_members != NULL && op < g->n_ops; op++) {
    n += g->op_members[op];
  }
  return n;
}

static bool same_counts(compare *c) {
  const fs_stream *s = c->v->s;
  const fsched_graph *g = c->g;
  uint32_t queues = g->target.implicit_queues ? s->n_queues : g->target.n_queues;
  const struct {
    const char *what;
    uint32_t mine, graphs;
  } counts[] = {
      {"queues", s->n_queues, queues},
      {"memories", s->n_memories, g->target.n_memories},
      {"resources", s->n_resources, g->target.n_resources},
      {"buffers", s->n_buffers, g->n_buffers},
      {"versions", s->n_versions, g->n_versions},
      {"ops", s->n_ops, g->n_ops},
      {"args", s->n_args, g->n_args},
      {"members", s->n_members, count_members(g)},
      {"uses", s->n_uses, g->op_use0[g->n_ops]},
      {"scratch areas", s->n_scratches, g->op_scratch0[g->n_ops]},
      {"'after' entries", s->n_afters, g->op_after0[g->n_ops]},
      {"parameters", s->n_params, g->n_params},
      {"loops", s->n_loops, g->n_rolled},
      {"races of loops", s->n_loop_races, g->n_loop_races},
  };
  bool ok = true;
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    ok &= counts[i].mine == counts[i].graphs;
    compare_numbers(c, "graph", g->name, counts[i].what, counts[i].mine, counts[i].graphs);
  }
  return ok;
}

static const char *placement_word(unsigned placement, bool stack) {
  return fs_words_placement[!fs_placement_has_addresses(placement) ? FSCHED_COUNTED
                            : stack                                ? FSCHED_STACK
                                                                   : FSCHED_CONTIGUOUS];
}

static void compare_memory(compare *c, uint32_t i) {
  const fs_memory *m = &c->g->target.memory[i];
  const fs_stream *s = c->v->s;
  const fs_stream_memory *x = &s->memories[i];
  words(c, "memory", m->name, "name", string(c, x->name), m->name);
  compare_numbers(c, "memory", m->name, "capacity", x->capacity, m->capacity);
  compare_numbers(c, "memory", m->name, "align", x->align, m->align);
  words(c, "memory", m->name, "placement", placement_word(x->placement, x->stack != 0),
        placement_word(m->placement, m->stack));
  words(c, "memory", m->name, "backing",
        x->backing < s->n_memories ? string(c, s->memories[x->backing].name) : NULL,
        m->backing == FS_NONE ? NULL : c->g->target.memory[m->backing].name);
  compare_numbers(c, "memory", m->name, "host", x->host, m->host);
}

static const char *sync_word(unsigned sync) {
  return fs_sync_known(sync) ? fs_words_sync[sync] : "?";
}

/* Compares the sync of the two targets.  The use of barriers and their number are compile's to
 * choose; the other properties of the machine are not. */
static void compare_sync(compare *c) {
  const fs_stream_meta *m = c->v->s->meta;
  const fs_target *t = &c->g->target;
  const char *name = c->g->name;
  if (!fs_sync_has_barriers(m->sync)) {
    words(c, "graph", name, "sync", sync_word(m->sync), sync_word(t->sync));
  } else if (t->barrier_slots != 0) {
    uint64_t mine = m->barrier_slots == FS_NONE ? FS_UNBOUNDED : m->barrier_slots;
    uint64_t graphs = t->barrier_slots == FS_NONE ? FS_UNBOUNDED : t->barrier_slots;
    compare_numbers(c, "graph", name, "barriers.slots", mine, graphs);
  }
}

static void compare_target(compare *c) {
  const fs_stream *s = c->v->s;
  const fs_target *t = &c->g->target;
  const char *name = c->g->name;
  words(c, "graph", name, "name", string(c, s->meta[0].name), name);
  words(c, "graph", name, "hazards", fs_words_hazards[s->meta[0].hazards & 1],
        fs_words_hazards[c->g->hazards & 1]);
  words(c, "graph", name, "time_unit", string(c, s->meta[0].time_unit), t->time_unit);
  compare_numbers(c, "graph", name, "concurrency", s->meta[0].concurrency, t->concurrency);
  compare_numbers(c, "graph", name, "frontier.capacity", s->meta[0].frontier_capacity,
                  t->frontier_capacity);
  compare_sync(c);
  for (uint32_t i = 0; i < s->n_queues && !t->implicit_queues; i++) {
    const fs_queue *q = &t->queue[i];
    const fs_stream_queue *x = &s->queues[i];
    words(c, "queue", q->name, "name", string(c, x->name), q->name);
    words(c, "queue", q->name, "class", string(c, x->class_name), t->class_name[q->class_id]);
    compare_numbers(c, "queue", q->name, "device", x->device, q->device);
    compare_numbers(c, "queue", q->name, "machine", x->machine, q->machine);
    compare_numbers(c, "queue", q->name, "counting", x->counting, q->counting);
    compare_numbers(c, "queue", q->name, "host", x->host, q->host);
  }
  for (uint32_t i = 0; i < s->n_memories; i++) {
    compare_memory(c, i);
  }
  for (uint32_t i = 0; i < s->n_resources; i++) {
    const char *resource = t->resource_name[i];
    words(c, "resource", resource, "name", string(c, s->resources[i].name), resource);
    compare_numbers(c, "resource", resource, "capacity", s->resources[i].capacity,
                    t->resource_capacity[i]);
  }
}

static void compare_buffers(compare *c) {
  const fs_stream *s = c->v->s;
  const fsched_graph *g = c->g;
  for (uint32_t i = 0; i < s->n_buffers; i++) {
    const fs_stream_buffer *b = &s->buffers[i];
    const char *name = g->buffer_name[i];
    words(c, "buffer", name, "name", string(c, b->name), name);
    compare_numbers(c, "buffer", name, "size", b->size, g->buffer_size[i]);
    fs_buffer_slot slot = fs_buffer_slot_of(g, i);
    compare_numbers(c, "buffer", name, "size of what is given or kept", b->io_size, slot.size);
    compare_numbers(c, "buffer", name, "offset of what is given", b->given, slot.given);
    compare_numbers(c, "buffer", name, "offset of what is kept", b->kept, slot.kept);
    words(c, "buffer", name, "memory",
          b->memory < s->n_memories ? string(c, s->memories[b->memory].name) : NULL,
          g->target.memory[g->buffer_memory[i]].name);
    words(c, "buffer", name, "io", fs_io_known(b->io) ? fs_words_io[b->io] : NULL,
          fs_words_io[g->buffer_io[i]]);
    if (b->version0 != g->buffer_version0[i]) {
      differs(c, "versions of buffer", name);
    }
  }
}

bool fs_vs_same_kernel(const fs_vs *v, const fsched_graph *g, uint32_t mine, uint32_t graphs) {
  const fs_stream *s = v->s;
  assert(graphs == FS_NONE || graphs < g->n_kernels);
  if (mine == FS_NONE || graphs == FS_NONE || mine >= s->n_kernels) {
    return mine == graphs;
  }
  const fs_stream_kernel *a = &s->kernels[mine];
  const fs_kernel *b = &g->kernel[graphs];
  return same_text(fs_stream_string(s, a->builtin), b->builtin) &&
         same_text(fs_stream_string(s, a->module), b->module) &&
         same_text(fs_stream_string(s, a->function), b->function) &&
         same_text(fs_stream_string(s, a->params), b->params) &&
         a->shared_bytes == b->shared_bytes && memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
         memcmp(a->block, b->block, sizeof a->block) == 0;
}

static bool arg_begins(const fsched_graph *g, uint32_t arg) {
  return g->arg_begins != NULL && g->arg_begins[arg];
}

bool fs_vs_same_view(const fs_stream_view *a, const fs_view *b) {
  if (a == NULL || b == NULL) {
    return a == NULL && b == NULL;
  }
  bool same = a->element == b->element && a->n_dims == b->n_dims;
  for (uint32_t d = 0; same && d < a->n_dims; d++) {
    same = a->shape[d] == b->shape[d] && a->stride[d] == b->stride[d];
  }
  return same;
}

static bool same_args(const compare *c, uint32_t first, uint32_t n) {
  const fsched_graph *g = c->g;
  for (uint32_t i = first; i < first + n; i++) {
    const fs_stream_arg *a = &c->v->s->args[i];
    bool value = !fs_tag_names_buffer(a->tag);
    if (a->tag != g->arg_tag[i] || a->buffer != g->arg_buffer[i] ||
        (value ? a->value != g->arg_value[i]
               : a->offset != g->arg_offset[i] || a->length != g->arg_length[i]) ||
        (a->begins != 0) != arg_begins(g, i) ||
        !fs_vs_same_view(fs_stream_view_of(c->v->s, i), fs_arg_view(g, i))) {
      return false;
    }
  }
  return true;
}

/* Whether every arg is that of the same member. */
static bool same_members(const compare *c, uint32_t op) {
  const fs_stream *s = c->v->s;
  const fs_stream_op *o = &s->ops[op];
  const fsched_graph *g = c->g;
  bool same = o->n_members == (g->op_members == NULL ? 0 : g->op_members[op]);
  for (uint32_t m = 0; same && m < o->n_members; m++) {
    const fs_stream_member *x = &s->members[o->member0 + m];
    for (uint32_t i = 0; same && i < x->n_args; i++) {
      same = g->arg_member[x->arg0 + i] == m;
    }
  }
  return same;
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

/* Whether the commands of the op are planned to take its latency; those of a loop have parts. */
static bool same_latency(const compare *c, uint32_t op) {
  const fs_vs *v = c->v;
  const fsched_graph *g = c->g;
  bool same = true;
  if (fs_vs_is_loop(v, op)) {
    return true;
  }
  for (uint32_t k = v->op_command0[op]; g->op_latency != NULL && k < v->op_command0[op + 1]; k++) {
    const fs_stream_command *m = &v->s->commands[v->op_command[k]];
    same = same && m->end - m->start == g->op_latency[op];
  }
  return same;
}

/* Whether the commands of the op have those parts of it, from the first start on, that the graph
 * plans. */
static bool same_parts(const compare *c, uint32_t op) {
  const fs_vs *v = c->v;
  const fs_rolled_part *part = NULL;
  uint64_t first = UINT64_MAX;
  bool same = true;
  for (uint32_t l = 0; l < c->g->n_rolled; l++) {
    const fs_rolled *x = &c->g->rolled[l];
    bool planned = x->within == FS_NONE && x->op == op && x->report->span == c->g->op_time[op];
    part = planned ? x->part : part;
  }
  for (uint32_t k = v->op_command0[op]; k < v->op_command0[op + 1]; k++) {
    first = fs_min(first, v->s->commands[v->op_command[k]].start);
  }
  for (uint32_t k = v->op_command0[op]; k < v->op_command0[op + 1]; k++) {
    const fs_stream_command *m = &v->s->commands[v->op_command[k]];
    uint32_t i = k - v->op_command0[op];
    same = same && m->start - first == (part == NULL ? 0 : part[i].begin) &&
           (part == NULL || m->end - first == part[i].end);
  }
  return same;
}

/* Whether the graph lets an op take other queues of a class than it has. */
static bool has_choice(const fsched_graph *g, uint32_t op) {
  uint32_t gang = g->op_gang[op], domain = g->op_domain[op];
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    if (g->rolled[l].within == FS_NONE && g->rolled[l].op == op) {
      return false;
    }
  }
  if (gang != FS_NONE) {
    return g->gang_queue0[gang] + g->gang_members[gang] < g->gang_queue0[gang + 1];
  }
  return g->target.implicit_queues ||
         g->target.domain_queue0[domain] + 1 < g->target.domain_queue0[domain + 1];
}

/* The first property in which the op differs from the graph's op, NULL when there is none. */
static const char *op_difference(const compare *c, uint32_t op) {
  const fs_stream_op *o = &c->v->s->ops[op];
  const fsched_graph *g = c->g;
  if (!same(c, o->name, g->op_name[op])) {
    return "name of op";
  }
  if (o->time != g->op_time[op]) {
    return "time of op";
  }
  if ((o->by_class != 0) != has_choice(g, op)) {
    return "choice of queues of op";
  }
  if (o->slow != (g->op_latency != NULL && g->op_latency[op] > g->op_time[op]) ||
      !same_latency(c, op)) {
    return "latency of op";
  }
  if (!same_parts(c, op)) {
    return "queues of op";
  }
  if (o->slots != (g->op_slots == NULL ? 1 : g->op_slots[op])) {
    return "slots of op";
  }
  if (o->arg0 != g->op_arg0[op] || o->n_args != g->op_arg0[op + 1] - g->op_arg0[op] ||
      !same_args(c, o->arg0, o->n_args)) {
    return "args of op";
  }
  if (!same_members(c, op)) {
    return "members of op";
  }
  if (o->use0 != g->op_use0[op] || o->n_uses != g->op_use0[op + 1] - g->op_use0[op] ||
      o->scratch0 != g->op_scratch0[op] ||
      o->n_scratches != g->op_scratch0[op + 1] - g->op_scratch0[op] ||
      o->after0 != g->op_after0[op] || o->n_afters != g->op_after0[op + 1] - g->op_after0[op] ||
      !same_lists(c, o)) {
    return "'uses', 'scratch' or 'after' of op";
  }
  return fs_vs_same_kernel(c->v, g, o->kernel, g->op_kernel[op]) ? NULL : "kernel of op";
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

static bool in_gang(const fsched_graph *g, uint32_t gang, uint32_t queue) {
  for (uint32_t i = g->gang_queue0[gang]; i < g->gang_queue0[gang + 1]; i++) {
    if (g->gang_queue[i] == queue) {
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
  bool ok = n == g->gang_members[gang];
  for (uint32_t k = 0; ok && k < n; k++) {
    uint32_t queue = v->command_queue[v->op_command[first + k]];
    ok = in_gang(g, gang, queue) &&
         (k == 0 || v->command_queue[v->op_command[first + k - 1]] < queue);
  }
  return ok;
}

static void compare_copies(compare *c) {
  for (uint32_t i = 0; i < c->v->s->n_commands; i++) {
    const fs_stream_command *x = &c->v->s->commands[i];
    if (!fs_command_has_version(x)) {
      continue;
    }
    const fs_memory *m = &c->g->target.memory[fs_version_memory(c->g, x->target)];
    uint64_t size = fs_version_size(c->g, x->target);
    bool write = x->direction == FS_SPILL_WRITE;
    uint64_t fixed = write ? m->write_fixed : m->read_fixed;
    uint64_t rate = write ? m->write_rate : m->read_rate;
    size *= write ? m->write_per : m->read_per;
    char name[FS_VNAME];
    if (!fs_memory_spills(m) ||
        !in_domain(&c->g->target, m->spill_domain, c->v->command_queue[i]) ||
        x->end - x->start != fixed + (rate == 0 ? 0 : fs_ceil_div(size, rate))) {
      differs(c, "queue or time of", fs_vs_command_name(c->v, i, name));
    }
  }
}

/* Whether an in-place output is one that the graph declares. */
static bool declared(void *x, const fs_stream_place *a, const fs_stream_place *b) {
  const compare *c = x;
  uint32_t v = a->version, w = b->version;
  return v == FS_NONE || w == FS_NONE || v == w || c->inplace[v] == w || c->inplace[w] == v;
}

static void check_inplace(compare *c, uint32_t op) {
  const fs_stream *s = c->v->s;
  const fsched_graph *g = c->g;
  const fs_stream_command *x = &s->commands[c->v->op_command[c->v->op_command0[op]]];
  const fs_stream_place *a, *b;
  for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
    c->inplace[g->arg_version[g->inplace_out[i]]] = g->arg_version[g->inplace_in[i]];
  }
  if (fs_voverlap_find(&c->overlap, s->places + x->place0, x->n_places, declared, c, &a, &b)) {
    FS_WRONG(c->v, FS_DIAG_VERIFY_SELF, "op %s is not declared to work in place",
             fs_vs_op_name(c->v, op));
  }
}

static fs_status check_inplaces(compare *c) {
  const fsched_graph *g = c->g;
  FS_TRY(fs_new_none(&c->v->arena, &c->inplace, g->n_versions));
  FS_TRY(fs_voverlap_init(&c->v->arena, c->v->s, &c->overlap));
  for (uint32_t o = 0; o < g->n_ops; o++) {
    if (c->v->op_command0[o] < c->v->op_command0[o + 1]) {
      check_inplace(c, o);
    }
  }
  return FSCHED_OK;
}

static void compare_loop_races(compare *c) {
  for (uint32_t i = 0; i < c->g->n_loop_races; i++) {
    const fs_stream_loop_race *mine = &c->v->s->loop_races[i];
    const fs_graph_race *graphs = &c->g->loop_race[i];
    if (!same(c, mine->op_a, graphs->op_a) || !same(c, mine->op_b, graphs->op_b) ||
        !same(c, mine->buffer, graphs->buffer) || mine->distance != graphs->distance) {
      FS_WRONG(
          c->v, FS_DIAG_VERIFY_RACE,
          "not the graph's: race %u of loops is of '%s' and '%s' on '%s', in the graph of '%s' "
          "and '%s' on '%s'",
          i, fs_stream_string(c->v->s, mine->op_a), fs_stream_string(c->v->s, mine->op_b),
          fs_stream_string(c->v->s, mine->buffer), graphs->op_a, graphs->op_b, graphs->buffer);
    }
  }
}

fs_status fs_vs_graph(fs_vs *v, const fsched_graph *g) {
  assert(v->command_queue != NULL || v->s->n_commands == 0);
  compare c = {.v = v, .g = g};
  uint32_t wrong = v->found.total;
  if (!same_counts(&c)) {
    return FSCHED_OK;
  }
  compare_target(&c);
  compare_buffers(&c);
  for (uint32_t o = 0; o < g->n_ops; o++) {
    const char *difference = op_difference(&c, o);
    if (difference != NULL) {
      differs(&c, difference, g->op_name[o]);
    } else if (!right_queues(&c, o)) {
      differs(&c, "queues of op", g->op_name[o]);
    }
  }
  compare_loop_races(&c);
  fs_vs_loops_graph(v, g);
  if (v->found.total != wrong) {
    return FSCHED_OK;
  }
  compare_copies(&c);
  return check_inplaces(&c);
}
