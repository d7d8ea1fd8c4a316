/* SPDX-License-Identifier: Apache-2.0 */
/* Disassembly as JSON: everything that the binary form holds, by name, with a line per record, so
 * that assembly gives back the same bytes and changes show line by line.  A property that a record
 * lacks (no backing store, no limit, no kernel) has no key. */
#include "base/text/fields.h"
#include "codegen/codegen.h"
#include "fsched/graph.h"
#include "model/kinds.h"
#include "model/sync.h"

typedef struct fs_dis {
  fs_text t;
  const fs_stream *s;
} fs_dis;

static void put(fs_dis *d, const char *text) { fs_text_puts(&d->t, text); }

/* Writes a prefix and a number; the prefix is punctuation and a key, e.g. ", \"size\": ". */
static void put_u64(fs_dis *d, const char *prefix, uint64_t value) {
  put(d, prefix);
  fs_text_u64(&d->t, value);
}

static void put_name(fs_dis *d, const char *prefix, uint32_t string) {
  put(d, prefix);
  fs_text_quoted(&d->t, fs_stream_string(d->s, string));
}

static void put_word(fs_dis *d, const char *prefix, const char *word) {
  put(d, prefix);
  fs_text_json_string(&d->t, word);
}

static void put_optional(fs_dis *d, const char *prefix, uint32_t string) {
  if (string != FS_NONE) {
    put_name(d, prefix, string);
  }
}

/* The separator before a member of a list or object: ", " for all but the first. */
static const char *comma(uint32_t index) { return index == 0 ? "" : ", "; }
/* Begins a record on a line of its own. */
static void put_line(fs_dis *d, uint32_t index) { put(d, index == 0 ? "\n  {" : ",\n  {"); }
static void put_end(fs_dis *d, uint32_t n) { put(d, n == 0 ? "]" : "\n ]"); }

static uint32_t physical_used(const fs_dis *d) {
  uint32_t n = 0;
  for (uint32_t b = 0; b < d->s->n_barriers; b++) {
    n += d->s->barriers[b].use == 0;
  }
  return n;
}

static void put_meta(fs_dis *d) {
  const fs_stream_meta *m = d->s->meta;
  put_u64(d, "{\n \"fsched_program\": ", FS_STREAM_VERSION);
  put_name(d, ",\n \"name\": ", m->name);
  put_optional(d, ",\n \"time_unit\": ", m->time_unit);
  put_word(d, ",\n \"hazards\": ", fs_words_hazards[m->hazards]);
  put_word(d, ",\n \"sync\": ", fs_words_sync[m->sync]);
  put_u64(d, ",\n \"makespan\": ", m->makespan);
  put_u64(d, ",\n \"lower_bound\": ", m->lower_bound);
  put_u64(d, ",\n \"concurrency\": ", m->concurrency);
  put_u64(d, ",\n \"frontier_capacity\": ", m->frontier_capacity);
  if (fs_sync_has_barriers(m->sync)) {
    bool count = m->barrier_count != FS_NONE;
    put(d, ",\n \"barriers\": {");
    if (count) {
      put_u64(d, "\"count\": ", m->barrier_count);
    }
    if (m->barrier_slots != FS_NONE) {
      put(d, comma(count));
      put_u64(d, "\"slots\": ", m->barrier_slots);
    }
    put(d, comma(count || m->barrier_slots != FS_NONE));
    put_u64(d, "\"used\": ", physical_used(d));
    put(d, "}");
  }
}

static void put_axes(fs_dis *d) {
  put(d, ",\n \"axes\": [");
  for (uint32_t i = 0; i < d->s->n_axes; i++) {
    const fs_stream_axis *a = &d->s->axes[i];
    put_line(d, i);
    put_name(d, "\"name\": ", a->name);
    fs_text_printf(&d->t, ", \"id\": \"0x%016llx\"", (unsigned long long)a->id);
    put_word(d, ", \"kind\": ", fs_words_axis[a->kind]);
    if (fs_axis_has_members(a->kind)) {
      put(d, ", \"members\": [");
      for (uint32_t k = 0; k < a->n_members; k++) {
        put_name(d, comma(k), d->s->queues[d->s->axis_members[a->member0 + k]].name);
      }
      put(d, "]");
    }
    put(d, "}");
  }
  put_end(d, d->s->n_axes);
}

static void put_memories(fs_dis *d) {
  put(d, ",\n \"memories\": [");
  for (uint32_t i = 0; i < d->s->n_memories; i++) {
    const fs_stream_memory *m = &d->s->memories[i];
    put_line(d, i);
    put_name(d, "\"name\": ", m->name);
    if (m->capacity != FS_UNBOUNDED) {
      put_u64(d, ", \"capacity\": ", m->capacity);
    }
    put_u64(d, ", \"align\": ", m->align);
    put_word(d, ", \"placement\": ", fs_words_placement[m->stack ? FSCHED_STACK : m->placement]);
    put_optional(
        d, ", \"backing\": ", m->backing == FS_NONE ? FS_NONE : d->s->memories[m->backing].name);
    put_u64(d, ", \"extent\": ", m->extent);
    put(d, "}");
  }
  put_end(d, d->s->n_memories);
  put(d, ",\n \"resources\": [");
  for (uint32_t i = 0; i < d->s->n_resources; i++) {
    put_line(d, i);
    put_name(d, "\"name\": ", d->s->resources[i].name);
    put_u64(d, ", \"capacity\": ", d->s->resources[i].capacity);
    put(d, "}");
  }
  put_end(d, d->s->n_resources);
}

static void put_spot(fs_dis *d, const char *key, uint32_t memory, uint64_t address) {
  put(d, key);
  put_name(d, "{\"memory\": ", d->s->memories[memory].name);
  put_u64(d, ", \"address\": ", address);
  put(d, "}");
}

static void put_version(fs_dis *d, const fs_stream_version *v) {
  put(d, "{");
  if (v->given_memory != FS_NONE) {
    put_spot(d, "\"given\": ", v->given_memory, v->given_address);
  }
  if (v->kept_memory != FS_NONE) {
    put(d, comma(v->given_memory != FS_NONE));
    put_spot(d, "\"kept\": ", v->kept_memory, v->kept_address);
  }
  put(d, "}");
}

static void put_buffers(fs_dis *d) {
  put(d, ",\n \"buffers\": [");
  for (uint32_t i = 0; i < d->s->n_buffers; i++) {
    const fs_stream_buffer *b = &d->s->buffers[i];
    put_line(d, i);
    put_name(d, "\"name\": ", b->name);
    put_u64(d, ", \"size\": ", b->size);
    put_name(d, ", \"memory\": ", d->s->memories[b->memory].name);
    if (fs_io_said(b->io)) {
      put_word(d, ", \"io\": ", fs_words_io[b->io]);
    }
    put(d, ", \"versions\": [");
    for (uint32_t k = 0; k < b->n_versions; k++) {
      put(d, comma(k));
      put_version(d, &d->s->versions[b->version0 + k]);
    }
    put(d, "]}");
  }
  put_end(d, d->s->n_buffers);
}

static void put_index(fs_dis *d, uint32_t version) {
  if (version != FS_NONE) {
    put_u64(d, ", \"version\": ", d->s->versions[version].index);
  }
}

static void put_arg(fs_dis *d, const fs_stream_arg *a) {
  put_word(d, "{", fs_words_tag[a->tag]);
  if (!fs_tag_names_buffer(a->tag)) {
    fs_text_printf(&d->t, ": %lld}", (long long)a->value);
    return;
  }
  put_name(d, ": ", d->s->buffers[a->buffer].name);
  put_index(d, a->version);
  if (a->has_at) {
    put_u64(d, ", \"at\": [", a->offset);
    put_u64(d, ", ", a->length);
    put(d, "]");
  }
  put(d, "}");
}

/* Whether a name is short enough for a key.  Readers of YAML take keys of up to 1,024 characters,
 * and one character of a name may be written with 6. */
static bool is_key(const fs_dis *d, uint32_t name) {
  enum { MOST_OF_A_KEY = 160 };
  return strlen(fs_stream_string(d->s, name)) <= MOST_OF_A_KEY;
}

/* Writes entry i of an object, or of a list where one of its names is too long for a key. */
static void put_amount(fs_dis *d, uint32_t i, bool keys, uint32_t name, uint64_t amount) {
  put(d, comma(i));
  put_name(d, keys ? "" : "{\"name\": ", name);
  put_u64(d, keys ? ": " : ", \"amount\": ", amount);
  put(d, keys ? "" : "}");
}

static void put_uses(fs_dis *d, const fs_stream_op *o) {
  const fs_stream_use *u = d->s->uses + o->use0;
  bool keys = true;
  for (uint32_t i = 0; i < o->n_uses && keys; i++) {
    keys = is_key(d, d->s->resources[u[i].resource].name);
  }
  put(d, keys ? ", \"uses\": {" : ", \"uses\": [");
  for (uint32_t i = 0; i < o->n_uses; i++) {
    put_amount(d, i, keys, d->s->resources[u[i].resource].name, u[i].amount);
  }
  put(d, keys ? "}" : "]");
}

static void put_scratch(fs_dis *d, const fs_stream_op *o) {
  const fs_stream_scratch *s = d->s->scratches + o->scratch0;
  bool keys = true;
  for (uint32_t i = 0; i < o->n_scratches && keys; i++) {
    keys = is_key(d, d->s->memories[s[i].memory].name);
  }
  put(d, keys ? ", \"scratch\": {" : ", \"scratch\": [");
  for (uint32_t i = 0; i < o->n_scratches; i++) {
    put_amount(d, i, keys, d->s->memories[s[i].memory].name, s[i].size);
  }
  put(d, keys ? "}" : "]");
}

static void put_needs(fs_dis *d, const fs_stream_op *o) {
  if (o->n_uses > 0) {
    put_uses(d, o);
  }
  if (o->n_scratches > 0) {
    put_scratch(d, o);
  }
  for (uint32_t i = 0; i < o->n_afters; i++) {
    put_name(d, i == 0 ? ", \"after\": [" : ", ", d->s->ops[d->s->afters[o->after0 + i]].name);
  }
  put(d, o->n_afters == 0 ? "" : "]");
}

static void put_ops(fs_dis *d) {
  put(d, ",\n \"ops\": [");
  for (uint32_t i = 0; i < d->s->n_ops; i++) {
    const fs_stream_op *o = &d->s->ops[i];
    put_line(d, i);
    put_name(d, "\"name\": ", o->name);
    put_u64(d, ", \"time\": ", o->time);
    if (o->kernel != FS_NONE) {
      put_u64(d, ", \"kernel\": ", o->kernel);
    }
    put(d, ", \"args\": [");
    for (uint32_t a = 0; a < o->n_args; a++) {
      put(d, comma(a));
      put_arg(d, &d->s->args[o->arg0 + a]);
    }
    put(d, "]");
    put_needs(d, o);
    if (o->slots != 1) {
      put_u64(d, ", \"slots\": ", o->slots);
    }
    put(d, "}");
  }
  put_end(d, d->s->n_ops);
}

static void put_triple(fs_dis *d, const char *key, const uint32_t *value) {
  put(d, key);
  for (uint32_t i = 0; i < 3; i++) {
    put_u64(d, comma(i), value[i]);
  }
  put(d, "]");
}

static void put_kernels(fs_dis *d) {
  put(d, ",\n \"kernels\": [");
  for (uint32_t i = 0; i < d->s->n_kernels; i++) {
    const fs_stream_kernel *k = &d->s->kernels[i];
    put_line(d, i);
    put_u64(d, "\"shared\": ", k->shared_bytes);
    put_optional(d, ", \"builtin\": ", k->builtin);
    put_optional(d, ", \"module\": ", k->module);
    put_optional(d, ", \"function\": ", k->function);
    put_triple(d, ", \"grid\": [", k->grid);
    put_triple(d, ", \"block\": [", k->block);
    put(d, "}");
  }
  put_end(d, d->s->n_kernels);
}

static void put_races(fs_dis *d) {
  put(d, ",\n \"races\": [");
  for (uint32_t i = 0; i < d->s->n_races; i++) {
    const fs_stream_race *r = &d->s->races[i];
    put_line(d, i);
    put_name(d, "\"ops\": [", d->s->ops[r->op_a].name);
    put_name(d, ", ", d->s->ops[r->op_b].name);
    put_name(d, "], \"buffer\": ", d->s->buffers[d->s->versions[r->version].buffer].name);
    put_index(d, r->version);
    put(d, "}");
  }
  put_end(d, d->s->n_races);
}

/* ---- commands */

static void put_buffer_of(fs_dis *d, uint32_t version) {
  put_name(d, "\"buffer\": ", d->s->buffers[d->s->versions[version].buffer].name);
  put_index(d, version);
}

/* Writes the content of a place: a version, the buffer of an arg without a version (no_dep),
 * scratch, or an amount. */
static void put_place_owner(fs_dis *d, const fs_stream_command *c, const fs_stream_place *p,
                            bool arg) {
  if (p->version != FS_NONE) {
    put_buffer_of(d, p->version);
    put(d, ", ");
  } else if (arg) {
    put_name(d, "\"buffer\": ", d->s->buffers[d->s->args[p->arg].buffer].name);
    put(d, ", ");
  } else if (fs_space_in_memory(p->space)) {
    put_name(d, "\"scratch\": ", d->s->ops[c->target].name);
    put(d, ", ");
  }
}

static void put_place(fs_dis *d, const fs_stream_command *c, const fs_stream_place *p, bool arg) {
  put(d, "{");
  put_place_owner(d, c, p, arg);
  switch (fs_place_space(p)) {
    case FS_SPACE_MEMORY:
      put_name(d, "\"memory\": ", d->s->memories[p->index].name);
      break;
    case FS_SPACE_COUNTED:
      put_name(d, "\"counted\": ", d->s->memories[p->index].name);
      break;
    case FS_SPACE_RESOURCE:
      put_name(d, "\"resource\": ", d->s->resources[p->index].name);
      break;
    case FS_SPACE_CONCURRENCY:
      put(d, "\"concurrency\": true");
      break;
  }
  put_u64(d, ", \"address\": ", p->address);
  put_u64(d, ", \"size\": ", p->size);
  put_word(d, ", \"mode\": ", fs_words_mode[p->mode]);
  put(d, "}");
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
  put(d, ", \"places\": [");
  for (uint32_t i = 0; i < c->n_places; i++) {
    put(d, comma(i));
    put_place(d, c, &d->s->places[c->place0 + i], i < n_args);
  }
  put(d, "]");
}

static void put_wait(fs_dis *d, const char *key, uint32_t axis, uint32_t epoch) {
  put(d, key);
  put_name(d, "{\"axis\": ", d->s->axes[axis].name);
  put_u64(d, ", \"epoch\": ", epoch);
  put(d, "}");
}

static void put_frontier(fs_dis *d, const fs_stream_command *c) {
  bool keys = true;
  for (uint32_t i = 0; i < c->n_frontier && keys; i++) {
    keys = is_key(d, d->s->axes[d->s->frontiers[c->frontier0 + i].axis].name);
  }
  put(d, keys ? ", \"frontier\": {" : ", \"frontier\": [");
  for (uint32_t i = 0; i < c->n_frontier; i++) {
    const fs_stream_wait *w = &d->s->frontiers[c->frontier0 + i];
    if (keys) {
      put_name(d, comma(i), d->s->axes[w->axis].name);
      put_u64(d, ": ", w->epoch);
    } else {
      put_wait(d, comma(i), w->axis, w->epoch);
    }
  }
  put(d, keys ? "}" : "]");
}

static void put_clocks(fs_dis *d, const fs_stream_command *c) {
  put(d, ", \"waits\": [");
  for (uint32_t i = 0; i < c->n_waits; i++) {
    const fs_stream_wait *w = &d->s->waits[c->wait0 + i];
    put_wait(d, comma(i), w->axis, w->epoch);
  }
  put(d, "]");
  if (c->gang_axis != FS_NONE) {
    put_wait(d, ", \"gang\": ", c->gang_axis, c->gang_epoch);
  }
  put(d, c->signal ? ", \"signal\": true" : ", \"signal\": false");
  put_word(d, ", \"scope\": ", fs_words_scope[c->scope]);
  put_frontier(d, c);
  put(d, c->tainted ? ", \"tainted\": true" : ", \"tainted\": false");
}

static void put_command(fs_dis *d, const fs_stream_command *c) {
  put_word(d, "{\"kind\": ", fs_words_entry[c->kind]);
  switch (fs_command_kind_of(c)) {
    case FS_COMMAND_RUN:
      put_name(d, ", \"op\": ", d->s->ops[c->target].name);
      break;
    case FS_COMMAND_COPY:
      put(d, ", ");
      put_buffer_of(d, c->target);
      put_word(d, ", \"direction\": ", fs_words_copy[c->direction]);
      break;
  }
  put_u64(d, ", \"epoch\": ", c->epoch);
  put_u64(d, ", \"start\": ", c->start);
  put_u64(d, ", \"end\": ", c->end);
  if (fs_command_slow(d->s, c)) {
    put_u64(d, ", \"free\": ", fs_command_free(d->s, c));
  }
  if (fs_sync_has_stops(d->s->meta->sync)) {
    put_u64(d, ", \"issue\": ", c->issue);
  }
  put_clocks(d, c);
  put_places(d, c);
  put(d, "}");
}

static void put_barrier(fs_dis *d, const char *kind, uint32_t barrier) {
  const fs_stream_barrier *b = &d->s->barriers[barrier];
  put_word(d, "{\"kind\": ", kind);
  put_u64(d, ", \"barrier\": ", barrier);
  put_u64(d, ", \"physical\": ", b->physical);
  put_u64(d, ", \"use\": ", b->use);
}

/* Writes a command, after its barrier waits and before its barrier updates, each on a line of its
 * own. */
static void put_command_lines(fs_dis *d, const fs_stream_command *c) {
  for (uint32_t i = 0; i < c->n_barrier_waits; i++) {
    put_barrier(d, "barrier_wait", d->s->barrier_waits[c->barrier_wait0 + i]);
    put(d, "},\n   ");
  }
  put_command(d, c);
  for (uint32_t i = 0; i < c->n_barrier_updates; i++) {
    const fs_stream_update *u = &d->s->barrier_updates[c->barrier_update0 + i];
    put(d, ",\n   ");
    put_barrier(d, "barrier_update", u->barrier);
    put_u64(d, ", \"slots\": ", u->slots);
    put(d, "}");
  }
}

static void put_queues(fs_dis *d) {
  put(d, ",\n \"queues\": [");
  for (uint32_t q = 0; q < d->s->n_queues; q++) {
    const fs_stream_queue *queue = &d->s->queues[q];
    put_line(d, q);
    put_name(d, "\"name\": ", queue->name);
    put_name(d, ", \"class\": ", queue->class_name);
    put_u64(d, ", \"device\": ", queue->device);
    put_u64(d, ", \"machine\": ", queue->machine);
    put(d, queue->counting ? ", \"counting\": true" : "");
    put(d, ", \"commands\": [");
    for (uint32_t i = 0; i < queue->n_commands; i++) {
      put(d, i == 0 ? "\n   " : ",\n   ");
      put_command_lines(d, &d->s->commands[queue->command0 + i]);
    }
    put(d, queue->n_commands == 0 ? "]}" : "\n  ]}");
  }
  put_end(d, d->s->n_queues);
}

static void put_stops(fs_dis *d) {
  if (!fs_sync_has_stops(d->s->meta->sync)) {
    return;
  }
  put(d, ",\n \"stops\": [");
  for (uint32_t i = 0; i < d->s->n_stops; i++) {
    const fs_stream_stop *s = &d->s->stops[i];
    put_line(d, i);
    put_u64(d, "\"at\": ", s->at);
    put_word(d, ", \"kind\": ", fs_words_stop[s->queue != FS_NONE]);
    if (s->queue != FS_NONE) {
      put_name(d, ", \"queue\": ", d->s->queues[s->queue].name);
      put_u64(d, ", \"keep\": ", s->keep);
    }
    put(d, "}");
  }
  put_end(d, d->s->n_stops);
}

fs_status fsched_program_json(fsched_context *ctx, const fsched_program *p, char **text,
                              size_t *length) {
  fs_dis d = {.s = &p->view};
  fs_text_init(&d.t, ctx);
  put_meta(&d);
  put_axes(&d);
  put_memories(&d);
  put_buffers(&d);
  put_ops(&d);
  put_kernels(&d);
  put_races(&d);
  put_queues(&d);
  put_stops(&d);
  put(&d, "\n}\n");
  return fs_text_take(&d.t, text, length);
}
