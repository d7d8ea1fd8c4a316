/* SPDX-License-Identifier: Apache-2.0 */
/* Disassembly as JSON: everything that the binary form holds, by name, with a line per record, so
 * that assembly gives back the same bytes and changes show line by line.  A property that a record
 * lacks (no backing store, no limit, no kernel) has no key. */
#include "codegen/dis/json.h"

#include "codegen/codegen.h"
#include "fsched/graph.h"
#include "model/kinds.h"
#include "model/stream/physicals.h"
#include "model/stream/views.h"
#include "model/sync.h"

static void put_meta(fs_dis *d, uint64_t physicals) {
  const fs_stream_meta *m = d->s->meta;
  fs_dis_u64(d, "{\n \"fsched_program\": ", FS_STREAM_VERSION);
  fs_dis_name(d, ",\n \"name\": ", m->name);
  fs_dis_optional(d, ",\n \"time_unit\": ", m->time_unit);
  fs_dis_word(d, ",\n \"hazards\": ", fs_words_hazards[m->hazards]);
  fs_dis_word(d, ",\n \"sync\": ", fs_words_sync[m->sync]);
  fs_dis_u64(d, ",\n \"makespan\": ", m->makespan);
  fs_dis_u64(d, ",\n \"lower_bound\": ", m->lower_bound);
  fs_dis_u64(d, ",\n \"concurrency\": ", m->concurrency);
  fs_dis_u64(d, ",\n \"frontier_capacity\": ", m->frontier_capacity);
  if (fs_sync_has_barriers(m->sync)) {
    bool count = m->barrier_count != FS_NONE;
    fs_dis_put(d, ",\n \"barriers\": {");
    if (count) {
      fs_dis_u64(d, "\"count\": ", m->barrier_count);
    }
    if (m->barrier_slots != FS_NONE) {
      fs_dis_put(d, fs_dis_comma(count));
      fs_dis_u64(d, "\"slots\": ", m->barrier_slots);
    }
    fs_dis_put(d, fs_dis_comma(count || m->barrier_slots != FS_NONE));
    fs_dis_u64(d, "\"used\": ", physicals);
    fs_dis_put(d, "}");
  }
}

static void put_axes(fs_dis *d) {
  fs_dis_put(d, ",\n \"axes\": [");
  for (uint32_t i = 0; i < d->s->n_axes; i++) {
    const fs_stream_axis *a = &d->s->axes[i];
    fs_dis_line(d, i);
    fs_dis_name(d, "\"name\": ", a->name);
    fs_text_printf(&d->t, ", \"id\": \"0x%016llx\"", (unsigned long long)a->id);
    fs_dis_word(d, ", \"kind\": ", fs_words_axis[a->kind]);
    if (fs_axis_has_members(a->kind)) {
      fs_dis_put(d, ", \"members\": [");
      for (uint32_t k = 0; k < a->n_members; k++) {
        fs_dis_name(d, fs_dis_comma(k), d->s->queues[d->s->axis_members[a->member0 + k]].name);
      }
      fs_dis_put(d, "]");
    }
    fs_dis_put(d, "}");
  }
  fs_dis_end(d, d->s->n_axes);
}

static void put_memories(fs_dis *d) {
  fs_dis_put(d, ",\n \"memories\": [");
  for (uint32_t i = 0; i < d->s->n_memories; i++) {
    const fs_stream_memory *m = &d->s->memories[i];
    fs_dis_line(d, i);
    fs_dis_name(d, "\"name\": ", m->name);
    if (m->capacity != FS_UNBOUNDED) {
      fs_dis_u64(d, ", \"capacity\": ", m->capacity);
    }
    fs_dis_u64(d, ", \"align\": ", m->align);
    fs_dis_word(d, ", \"placement\": ", fs_words_placement[m->stack ? FSCHED_STACK : m->placement]);
    fs_dis_optional(
        d, ", \"backing\": ", m->backing == FS_NONE ? FS_NONE : d->s->memories[m->backing].name);
    fs_dis_u64(d, ", \"extent\": ", m->extent);
    fs_dis_put(d, m->host ? ", \"host\": true}" : "}");
  }
  fs_dis_end(d, d->s->n_memories);
  fs_dis_put(d, ",\n \"resources\": [");
  for (uint32_t i = 0; i < d->s->n_resources; i++) {
    fs_dis_line(d, i);
    fs_dis_name(d, "\"name\": ", d->s->resources[i].name);
    fs_dis_u64(d, ", \"capacity\": ", d->s->resources[i].capacity);
    fs_dis_put(d, "}");
  }
  fs_dis_end(d, d->s->n_resources);
}

static void put_spot(fs_dis *d, const char *key, uint32_t memory, uint64_t address) {
  fs_dis_put(d, key);
  fs_dis_name(d, "{\"memory\": ", d->s->memories[memory].name);
  fs_dis_u64(d, ", \"address\": ", address);
  fs_dis_put(d, "}");
}

static void put_version(fs_dis *d, const fs_stream_version *v) {
  fs_dis_put(d, "{");
  if (v->given_memory != FS_NONE) {
    put_spot(d, "\"given\": ", v->given_memory, v->given_address);
  }
  if (v->kept_memory != FS_NONE) {
    fs_dis_put(d, fs_dis_comma(v->given_memory != FS_NONE));
    put_spot(d, "\"kept\": ", v->kept_memory, v->kept_address);
  }
  fs_dis_put(d, "}");
}

static void put_buffers(fs_dis *d) {
  fs_dis_put(d, ",\n \"buffers\": [");
  for (uint32_t i = 0; i < d->s->n_buffers; i++) {
    const fs_stream_buffer *b = &d->s->buffers[i];
    fs_dis_line(d, i);
    fs_dis_name(d, "\"name\": ", b->name);
    fs_dis_u64(d, ", \"size\": ", b->size);
    fs_dis_name(d, ", \"memory\": ", d->s->memories[b->memory].name);
    if (fs_io_said(b->io)) {
      fs_dis_word(d, ", \"io\": ", fs_words_io[b->io]);
    }
    if (b->io_size != b->size) {
      fs_dis_u64(d, ", \"slot\": {\"size\": ", b->io_size);
      fs_dis_u64(d, ", \"given\": ", b->given);
      fs_dis_u64(d, ", \"kept\": ", b->kept);
      fs_dis_put(d, "}");
    }
    fs_dis_put(d, ", \"versions\": [");
    for (uint32_t k = 0; k < b->n_versions; k++) {
      fs_dis_put(d, fs_dis_comma(k));
      put_version(d, &d->s->versions[b->version0 + k]);
    }
    fs_dis_put(d, "]}");
  }
  fs_dis_end(d, d->s->n_buffers);
}

static void put_index(fs_dis *d, uint32_t version) {
  if (version != FS_NONE) {
    fs_dis_u64(d, ", \"version\": ", d->s->versions[version].index);
  }
}

void fs_dis_tag(fs_dis *d, uint32_t tag, uint32_t buffer, int64_t value) {
  fs_dis_word(d, "{", fs_words_tag[tag]);
  if (fs_tag_names_buffer(tag)) {
    fs_dis_name(d, ": ", d->s->buffers[buffer].name);
  } else {
    fs_text_printf(&d->t, ": %lld", (long long)value);
  }
}

void fs_dis_range(fs_dis *d, uint64_t offset, uint64_t length) {
  fs_dis_u64(d, ", \"at\": [", offset);
  fs_dis_u64(d, ", ", length);
  fs_dis_put(d, "]");
}

static void put_dims(fs_dis *d, const char *key, const uint64_t *dim, uint32_t n) {
  fs_dis_put(d, key);
  for (uint32_t i = 0; i < n; i++) {
    fs_dis_u64(d, i == 0 ? "[" : ", ", dim[i]);
  }
  fs_dis_put(d, "]");
}

void fs_dis_view(fs_dis *d, uint64_t offset, const fs_stream_view *view) {
  fs_dis_u64(d, ", \"at\": {\"offset\": ", offset);
  put_dims(d, ", \"shape\": ", view->shape, view->n_dims);
  put_dims(d, ", \"strides\": ", view->stride, view->n_dims);
  fs_dis_u64(d, ", \"element\": ", view->element);
  fs_dis_put(d, "}");
}

static void put_arg(fs_dis *d, const fs_stream_arg *a) {
  fs_dis_tag(d, a->tag, a->buffer, a->value);
  put_index(d, a->version);
  const fs_stream_view *view = fs_stream_view_of(d->s, (uint32_t)(a - d->s->args));
  if (view != NULL) {
    fs_dis_view(d, a->offset, view);
  } else if (a->has_at) {
    fs_dis_range(d, a->offset, a->length);
  }
  fs_dis_put(d, a->begins ? ", \"begins\": true}" : "}");
}

/* Whether a name is short enough for a key.  Readers of YAML take keys of up to 1,024 characters,
 * and one character of a name may be written with 6. */
static bool is_key(const fs_dis *d, uint32_t name) {
  enum { MOST_OF_A_KEY = 160 };
  return strlen(fs_stream_string(d->s, name)) <= MOST_OF_A_KEY;
}

/* Writes entry i of an object, or of a list where one of its names is too long for a key. */
static void put_amount(fs_dis *d, uint32_t i, bool keys, uint32_t name, uint64_t amount) {
  fs_dis_put(d, fs_dis_comma(i));
  fs_dis_name(d, keys ? "" : "{\"name\": ", name);
  fs_dis_u64(d, keys ? ": " : ", \"amount\": ", amount);
  fs_dis_put(d, keys ? "" : "}");
}

static void put_uses(fs_dis *d, const fs_stream_op *o) {
  const fs_stream_use *u = d->s->uses + o->use0;
  bool keys = true;
  for (uint32_t i = 0; i < o->n_uses && keys; i++) {
    keys = is_key(d, d->s->resources[u[i].resource].name);
  }
  fs_dis_put(d, keys ? ", \"uses\": {" : ", \"uses\": [");
  for (uint32_t i = 0; i < o->n_uses; i++) {
    put_amount(d, i, keys, d->s->resources[u[i].resource].name, u[i].amount);
  }
  fs_dis_put(d, keys ? "}" : "]");
}

static void put_scratch(fs_dis *d, const fs_stream_op *o) {
  const fs_stream_scratch *s = d->s->scratches + o->scratch0;
  bool keys = true;
  for (uint32_t i = 0; i < o->n_scratches && keys; i++) {
    keys = is_key(d, d->s->memories[s[i].memory].name);
  }
  fs_dis_put(d, keys ? ", \"scratch\": {" : ", \"scratch\": [");
  for (uint32_t i = 0; i < o->n_scratches; i++) {
    put_amount(d, i, keys, d->s->memories[s[i].memory].name, s[i].size);
  }
  fs_dis_put(d, keys ? "}" : "]");
}

static void put_needs(fs_dis *d, const fs_stream_op *o) {
  if (o->n_uses > 0) {
    put_uses(d, o);
  }
  if (o->n_scratches > 0) {
    put_scratch(d, o);
  }
  for (uint32_t i = 0; i < o->n_afters; i++) {
    fs_dis_name(d, i == 0 ? ", \"after\": [" : ", ", d->s->ops[d->s->afters[o->after0 + i]].name);
  }
  fs_dis_put(d, o->n_afters == 0 ? "" : "]");
}

static void put_ops(fs_dis *d) {
  fs_dis_put(d, ",\n \"ops\": [");
  for (uint32_t i = 0; i < d->s->n_ops; i++) {
    const fs_stream_op *o = &d->s->ops[i];
    fs_dis_line(d, i);
    fs_dis_name(d, "\"name\": ", o->name);
    fs_dis_u64(d, ", \"time\": ", o->time);
    if (o->kernel != FS_NONE) {
      fs_dis_u64(d, ", \"kernel\": ", o->kernel);
    }
    fs_dis_put(d, ", \"args\": [");
    for (uint32_t a = 0; a < o->n_args; a++) {
      fs_dis_put(d, fs_dis_comma(a));
      put_arg(d, &d->s->args[o->arg0 + a]);
    }
    fs_dis_put(d, "]");
    for (uint32_t m = 0; m < o->n_members; m++) {
      fs_dis_u64(d, m == 0 ? ", \"members\": [" : ", ", d->s->members[o->member0 + m].n_args);
    }
    fs_dis_put(d, o->n_members == 0 ? "" : "]");
    put_needs(d, o);
    if (o->slots != 1) {
      fs_dis_u64(d, ", \"slots\": ", o->slots);
    }
    fs_dis_put(d, o->by_class ? ", \"by_class\": true}" : "}");
  }
  fs_dis_end(d, d->s->n_ops);
}

static void put_triple(fs_dis *d, const char *key, const uint32_t *value) {
  fs_dis_put(d, key);
  for (uint32_t i = 0; i < 3; i++) {
    fs_dis_u64(d, fs_dis_comma(i), value[i]);
  }
  fs_dis_put(d, "]");
}

static void put_kernels(fs_dis *d) {
  fs_dis_put(d, ",\n \"kernels\": [");
  for (uint32_t i = 0; i < d->s->n_kernels; i++) {
    const fs_stream_kernel *k = &d->s->kernels[i];
    fs_dis_line(d, i);
    fs_dis_u64(d, "\"shared\": ", k->shared_bytes);
    fs_dis_optional(d, ", \"builtin\": ", k->builtin);
    fs_dis_optional(d, ", \"module\": ", k->module);
    fs_dis_optional(d, ", \"function\": ", k->function);
    fs_dis_optional(d, ", \"params\": ", k->params);
    put_triple(d, ", \"grid\": [", k->grid);
    put_triple(d, ", \"block\": [", k->block);
    fs_dis_put(d, "}");
  }
  fs_dis_end(d, d->s->n_kernels);
}

static void put_races(fs_dis *d) {
  fs_dis_put(d, ",\n \"races\": [");
  for (uint32_t i = 0; i < d->s->n_races; i++) {
    const fs_stream_race *r = &d->s->races[i];
    fs_dis_line(d, i);
    fs_dis_name(d, "\"ops\": [", d->s->ops[r->op_a].name);
    fs_dis_name(d, ", ", d->s->ops[r->op_b].name);
    fs_dis_name(d, "], \"buffer\": ", d->s->buffers[d->s->versions[r->version].buffer].name);
    put_index(d, r->version);
    fs_dis_put(d, "}");
  }
  for (uint32_t i = 0; i < d->s->n_loop_races; i++) {
    const fs_stream_loop_race *r = &d->s->loop_races[i];
    fs_dis_line(d, d->s->n_races + i);
    fs_dis_name(d, "\"ops\": [", r->op_a);
    fs_dis_name(d, ", ", r->op_b);
    fs_dis_name(d, "], \"buffer\": ", r->buffer);
    if (r->distance != FS_NO_DISTANCE) {
      fs_dis_u64(d, ", \"distance\": ", r->distance);
    }
    fs_dis_put(d, "}");
  }
  fs_dis_end(d, d->s->n_races + d->s->n_loop_races);
}

/* ---- commands */

static void put_buffer_of(fs_dis *d, uint32_t version) {
  fs_dis_name(d, "\"buffer\": ", d->s->buffers[d->s->versions[version].buffer].name);
  put_index(d, version);
}

/* Writes the content of a place: a version, the buffer of an arg without a version (no_dep),
 * scratch, or an amount. */
static void put_place_owner(fs_dis *d, const fs_stream_place *p, uint32_t buffer, uint32_t op) {
  if (p->version != FS_NONE) {
    put_buffer_of(d, p->version);
    fs_dis_put(d, ", ");
  } else if (buffer != FS_NONE) {
    fs_dis_name(d, "\"buffer\": ", d->s->buffers[buffer].name);
    fs_dis_put(d, ", ");
  } else if (fs_space_in_memory(p->space)) {
    fs_dis_name(d, "\"scratch\": ", op);
    fs_dis_put(d, ", ");
  }
}

void fs_dis_place(fs_dis *d, const fs_stream_place *p, uint32_t buffer, uint32_t op) {
  fs_dis_put(d, "{");
  put_place_owner(d, p, buffer, op);
  switch (fs_place_space(p)) {
    case FS_SPACE_MEMORY:
      fs_dis_name(d, "\"memory\": ", d->s->memories[p->index].name);
      break;
    case FS_SPACE_COUNTED:
      fs_dis_name(d, "\"counted\": ", d->s->memories[p->index].name);
      break;
    case FS_SPACE_RESOURCE:
      fs_dis_name(d, "\"resource\": ", d->s->resources[p->index].name);
      break;
    case FS_SPACE_CONCURRENCY:
      fs_dis_put(d, "\"concurrency\": true");
      break;
  }
  fs_dis_u64(d, ", \"address\": ", p->address);
  fs_dis_u64(d, ", \"size\": ", p->size);
  fs_dis_word(d, ", \"mode\": ", fs_words_mode[p->mode]);
  fs_dis_put(d, "}");
}

/* The number of places at the beginning of a RUN that belong to its buffer args. */
static uint32_t arg_places(const fs_stream *s, const fs_stream_command *c) {
  uint32_t n = 0;
  for (uint32_t a = 0; fs_command_has_op(c) && a < s->ops[c->target].n_args; a++) {
    n += fs_tag_names_buffer(s->args[s->ops[c->target].arg0 + a].tag);
  }
  return n;
}

static void put_places(fs_dis *d, const fs_stream_command *c) {
  uint32_t n_args = arg_places(d->s, c);
  uint32_t op = fs_command_has_op(c) ? d->s->ops[c->target].name : FS_NONE;
  fs_dis_put(d, ", \"places\": [");
  for (uint32_t i = 0; i < c->n_places; i++) {
    const fs_stream_place *p = &d->s->places[c->place0 + i];
    fs_dis_put(d, fs_dis_comma(i));
    fs_dis_place(d, p, i < n_args ? d->s->args[p->arg].buffer : FS_NONE, op);
  }
  fs_dis_put(d, "]");
}

static void put_wait(fs_dis *d, const char *key, uint32_t axis, uint32_t epoch) {
  fs_dis_put(d, key);
  fs_dis_name(d, "{\"axis\": ", d->s->axes[axis].name);
  fs_dis_u64(d, ", \"epoch\": ", epoch);
  fs_dis_put(d, "}");
}

static void put_frontier(fs_dis *d, const fs_stream_command *c) {
  bool keys = true;
  for (uint32_t i = 0; i < c->n_frontier && keys; i++) {
    keys = is_key(d, d->s->axes[d->s->frontiers[c->frontier0 + i].axis].name);
  }
  fs_dis_put(d, keys ? ", \"frontier\": {" : ", \"frontier\": [");
  for (uint32_t i = 0; i < c->n_frontier; i++) {
    const fs_stream_wait *w = &d->s->frontiers[c->frontier0 + i];
    if (keys) {
      fs_dis_name(d, fs_dis_comma(i), d->s->axes[w->axis].name);
      fs_dis_u64(d, ": ", w->epoch);
    } else {
      put_wait(d, fs_dis_comma(i), w->axis, w->epoch);
    }
  }
  fs_dis_put(d, keys ? "}" : "]");
}

static void put_clocks(fs_dis *d, const fs_stream_command *c) {
  fs_dis_put(d, ", \"waits\": [");
  for (uint32_t i = 0; i < c->n_waits; i++) {
    const fs_stream_wait *w = &d->s->waits[c->wait0 + i];
    put_wait(d, fs_dis_comma(i), w->axis, w->epoch);
  }
  fs_dis_put(d, "]");
  if (c->gang_axis != FS_NONE) {
    put_wait(d, ", \"gang\": ", c->gang_axis, c->gang_epoch);
  }
  fs_dis_put(d, c->signal ? ", \"signal\": true" : ", \"signal\": false");
  fs_dis_word(d, ", \"scope\": ", fs_words_scope[c->scope]);
  put_frontier(d, c);
  fs_dis_put(d, c->tainted ? ", \"tainted\": true" : ", \"tainted\": false");
}

static void put_command(fs_dis *d, const fs_stream_command *c) {
  fs_dis_word(d, "{\"kind\": ", fs_words_entry[c->kind]);
  switch (fs_command_kind_of(c)) {
    case FS_COMMAND_RUN:
      fs_dis_name(d, ", \"op\": ", d->s->ops[c->target].name);
      break;
    case FS_COMMAND_COPY:
      fs_dis_put(d, ", ");
      put_buffer_of(d, c->target);
      fs_dis_word(d, ", \"direction\": ", fs_words_copy[c->direction]);
      break;
  }
  fs_dis_u64(d, ", \"epoch\": ", c->epoch);
  fs_dis_u64(d, ", \"start\": ", c->start);
  fs_dis_u64(d, ", \"end\": ", c->end);
  if (fs_command_slow(d->s, c)) {
    fs_dis_u64(d, ", \"free\": ", fs_command_free(d->s, c));
  }
  if (fs_sync_has_stops(d->s->meta->sync)) {
    fs_dis_u64(d, ", \"issue\": ", c->issue);
  }
  put_clocks(d, c);
  put_places(d, c);
  fs_dis_put(d, "}");
}

static void put_barrier(fs_dis *d, const char *kind, uint32_t barrier) {
  const fs_stream_barrier *b = &d->s->barriers[barrier];
  fs_dis_word(d, "{\"kind\": ", kind);
  fs_dis_u64(d, ", \"barrier\": ", barrier);
  fs_dis_u64(d, ", \"physical\": ", b->physical);
  fs_dis_u64(d, ", \"use\": ", b->use);
}

/* Writes a command, after its barrier waits and before its barrier updates, each on a line of its
 * own. */
static void put_command_lines(fs_dis *d, const fs_stream_command *c) {
  for (uint32_t i = 0; i < c->n_barrier_waits; i++) {
    put_barrier(d, "barrier_wait", d->s->barrier_waits[c->barrier_wait0 + i]);
    fs_dis_put(d, "},\n   ");
  }
  put_command(d, c);
  for (uint32_t i = 0; i < c->n_barrier_updates; i++) {
    const fs_stream_update *u = &d->s->barrier_updates[c->barrier_update0 + i];
    fs_dis_put(d, ",\n   ");
    put_barrier(d, "barrier_update", u->barrier);
    fs_dis_u64(d, ", \"slots\": ", u->slots);
    fs_dis_put(d, "}");
  }
}

static void put_queues(fs_dis *d) {
  fs_dis_put(d, ",\n \"queues\": [");
  for (uint32_t q = 0; q < d->s->n_queues; q++) {
    const fs_stream_queue *queue = &d->s->queues[q];
    fs_dis_line(d, q);
    fs_dis_name(d, "\"name\": ", queue->name);
    fs_dis_name(d, ", \"class\": ", queue->class_name);
    fs_dis_u64(d, ", \"device\": ", queue->device);
    fs_dis_u64(d, ", \"machine\": ", queue->machine);
    fs_dis_put(d, queue->counting ? ", \"counting\": true" : "");
    fs_dis_put(d, queue->host ? ", \"host\": true" : "");
    fs_dis_put(d, ", \"commands\": [");
    for (uint32_t i = 0; i < queue->n_commands; i++) {
      fs_dis_put(d, i == 0 ? "\n   " : ",\n   ");
      put_command_lines(d, &d->s->commands[queue->command0 + i]);
    }
    fs_dis_put(d, queue->n_commands == 0 ? "]}" : "\n  ]}");
  }
  fs_dis_end(d, d->s->n_queues);
}

void fs_dis_stop(fs_dis *d, const fs_stream_stop *s) {
  assert(s->queue == FS_NONE || s->queue < d->s->n_queues);
  fs_dis_u64(d, "{\"at\": ", s->at);
  fs_dis_word(d, ", \"kind\": ", fs_words_stop[s->queue != FS_NONE]);
  if (s->queue != FS_NONE) {
    fs_dis_name(d, ", \"queue\": ", d->s->queues[s->queue].name);
    fs_dis_u64(d, ", \"keep\": ", s->keep);
  }
  fs_dis_put(d, "}");
}

static void put_stops(fs_dis *d) {
  if (!fs_sync_has_stops(d->s->meta->sync)) {
    return;
  }
  fs_dis_put(d, ",\n \"stops\": [");
  for (uint32_t i = 0; i < d->s->n_stops; i++) {
    fs_dis_put(d, i == 0 ? "\n  " : ",\n  ");
    fs_dis_stop(d, &d->s->stops[i]);
  }
  fs_dis_end(d, d->s->n_stops);
}

fs_status fsched_program_json(fsched_context *ctx, const fsched_program *p, char **text,
                              size_t *length) {
  const fs_stream *s = &p->view;
  fs_dis d = {.s = s};
  uint64_t physicals;
  FS_TRY(fs_stream_physicals(ctx, s->barriers, s->n_barriers, s->guards, s->n_guards, &physicals));
  fs_text_init(&d.t, ctx);
  put_meta(&d, physicals);
  put_axes(&d);
  put_memories(&d);
  put_buffers(&d);
  put_ops(&d);
  put_kernels(&d);
  put_races(&d);
  put_queues(&d);
  put_stops(&d);
  fs_dis_params(&d);
  fs_dis_loops(&d);
  fs_dis_put(&d, "\n}\n");
  return fs_text_take(&d.t, text, length);
}
