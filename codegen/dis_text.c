/* SPDX-License-Identifier: Apache-2.0 */
/* Disassembly for people: the target, then the commands queue by queue, a line each. */
#include "codegen.h"
#include "columns.h"
#include "fsched/graph.h"
#include "words.h"

typedef struct fs_listing {
  fs_text *t; /* where cells are written */
  const fs_stream *s;
} fs_listing;

static void put(fs_listing *l, const char *text) { fs_text_puts(l->t, text); }

static void put_name(fs_listing *l, uint32_t string) {
  fs_text_visible(l->t, fs_stream_string(l->s, string));
}

static void put_u64(fs_listing *l, const char *before, uint64_t value) {
  put(l, before);
  fs_text_u64(l->t, value);
}

static void put_size(fs_listing *l, const char *before, uint64_t value) {
  put(l, before);
  if (value == FS_UNBOUNDED) {
    put(l, "unbounded");
  } else {
    fs_text_u64(l->t, value);
  }
}

/* "x", or "x.2" for a later version. */
static void put_version(fs_listing *l, uint32_t version) {
  const fs_stream_version *v = &l->s->versions[version];
  put_name(l, l->s->buffers[v->buffer].name);
  if (v->index != 0) {
    put_u64(l, ".", v->index);
  }
}

static void put_header(fs_listing *l) {
  const fs_stream *s = l->s;
  put(l, "program ");
  put_name(l, s->meta->name);
  put_u64(l, ", format ", FS_STREAM_VERSION);
  put_u64(l, "\nmakespan ", s->meta->makespan);
  if (s->meta->time_unit != FS_NONE) {
    put(l, " ");
    put_name(l, s->meta->time_unit);
  }
  put_u64(l, ", lower bound ", s->meta->lower_bound);
  put_u64(l, "\nops ", s->n_ops);
  put_u64(l, ", commands ", s->n_commands);
  put_u64(l, ", waits ", s->n_waits);
  put_u64(l, ", buffers ", s->n_buffers);
  put(l, ", hazards ");
  put(l, fs_words_hazards[s->meta->hazards]);
  if (s->meta->concurrency != 0) {
    put_u64(l, ", concurrency ", s->meta->concurrency);
  }
  put(l, "\n");
}

static fs_status put_memories(fs_listing *l, fs_text *out) {
  static const char *const head[] = {"memory", "capacity",  "align",
                                     "extent", "placement", "backing"};
  fs_columns c;
  fs_columns_init(&c, out->ctx, 6);
  l->t = &c.text;
  for (uint32_t i = 0; i < 6; i++) {
    put(l, head[i]);
    fs_columns_cell(&c, i >= 1 && i <= 3 ? FS_RIGHT : FS_LEFT);
  }
  for (uint32_t i = 0; i < l->s->n_memories; i++) {
    const fs_stream_memory *m = &l->s->memories[i];
    put_name(l, m->name);
    fs_columns_cell(&c, FS_LEFT);
    put_size(l, "", m->capacity);
    fs_columns_cell(&c, FS_RIGHT);
    put_u64(l, "", m->align);
    fs_columns_cell(&c, FS_RIGHT);
    put_u64(l, "", m->extent);
    fs_columns_cell(&c, FS_RIGHT);
    put(l, fs_words_placement[m->placement]);
    fs_columns_cell(&c, FS_LEFT);
    if (m->backing == FS_NONE) {
      put(l, "-");
    } else {
      put_name(l, l->s->memories[m->backing].name);
    }
    fs_columns_cell(&c, FS_LEFT);
  }
  fs_text_puts(out, "\n");
  return fs_columns_finish(&c, "", out);
}

static void put_collectives(fs_listing *l) {
  for (uint32_t i = l->s->n_queues; i < l->s->n_axes; i++) {
    const fs_stream_axis *a = &l->s->axes[i];
    put(l, i == l->s->n_queues ? "\ncollective " : "collective ");
    put_name(l, a->name);
    put(l, ": ");
    for (uint32_t k = 0; k < a->n_members; k++) {
      put(l, k == 0 ? "" : ", ");
      put_name(l, l->s->queues[l->s->axis_members[a->member0 + k]].name);
    }
    put(l, "\n");
  }
}

static void put_clock(fs_listing *l, const fs_stream_wait *w, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    put(l, i == 0 ? "" : " ");
    put_name(l, l->s->axes[w[i].axis].name);
    put_u64(l, ":", w[i].epoch);
  }
  put(l, n == 0 ? "-" : "");
}

static void put_what(fs_listing *l, const fs_stream_command *c) {
  if (c->kind == FS_COMMAND_RUN) {
    put(l, "run ");
    put_name(l, l->s->ops[c->target].name);
    if (c->gang_axis != FS_NONE) {
      put(l, " with ");
      put_name(l, l->s->axes[c->gang_axis].name);
      put_u64(l, ":", c->gang_epoch);
    }
    return;
  }
  put(l, fs_words_direction[c->direction]);
  put(l, " ");
  put_version(l, c->target);
}

static void put_place(fs_listing *l, const fs_stream_place *p) {
  put(l, fs_words_mode[p->mode]);
  put(l, " ");
  if (p->version != FS_NONE) {
    put_version(l, p->version);
    put(l, " ");
  }
  switch ((fs_space)p->space) {
    case FS_SPACE_MEMORY:
    case FS_SPACE_COUNTED:
      put_name(l, l->s->memories[p->index].name);
      put(l, p->space == FS_SPACE_COUNTED ? " units" : "");
      break;
    case FS_SPACE_RESOURCE:
      put_name(l, l->s->resources[p->index].name);
      break;
    case FS_SPACE_CONCURRENCY:
      put(l, "slot");
      break;
  }
  put_u64(l, "[", p->address);
  put_u64(l, ",", p->address + p->size);
  put(l, ")");
}

static void put_command(fs_listing *l, fs_columns *c, const fs_stream_command *m) {
  put_u64(l, "", m->epoch);
  fs_columns_cell(c, FS_RIGHT);
  put_u64(l, "", m->start);
  fs_columns_cell(c, FS_RIGHT);
  put_u64(l, "", m->end);
  fs_columns_cell(c, FS_RIGHT);
  put_what(l, m);
  fs_columns_cell(c, FS_LEFT);
  put_clock(l, l->s->waits + m->wait0, m->n_waits);
  fs_columns_cell(c, FS_LEFT);
  put(l, m->signal ? fs_words_scope[m->scope] : "-");
  fs_columns_cell(c, FS_LEFT);
  put_clock(l, l->s->frontiers + m->frontier0, m->n_frontier);
  put(l, m->tainted ? " tainted" : "");
  fs_columns_cell(c, FS_LEFT);
  for (uint32_t i = 0; i < m->n_places; i++) {
    put(l, i == 0 ? "" : ", ");
    put_place(l, &l->s->places[m->place0 + i]);
  }
  fs_columns_cell(c, FS_LEFT);
}

static fs_status put_queue(fs_listing *l, uint32_t queue, fs_text *out) {
  static const char *const head[] = {"epoch", "start",  "end",      "command",
                                     "waits", "signal", "frontier", "places"};
  const fs_stream_queue *q = &l->s->queues[queue];
  l->t = out;
  put(l, "\nqueue ");
  put_name(l, q->name);
  put(l, " (class ");
  put_name(l, q->class_name);
  put_u64(l, ", device ", q->device);
  put_u64(l, ", machine ", q->machine);
  put_u64(l, "): commands ", q->n_commands);
  put(l, "\n");
  fs_columns c;
  fs_columns_init(&c, out->ctx, 8);
  l->t = &c.text;
  for (uint32_t i = 0; i < 8 && q->n_commands != 0; i++) {
    put(l, head[i]);
    fs_columns_cell(&c, i < 3 ? FS_RIGHT : FS_LEFT);
  }
  for (uint32_t i = 0; i < q->n_commands; i++) {
    put_command(l, &c, &l->s->commands[q->command0 + i]);
  }
  return fs_columns_finish(&c, "  ", out);
}

static fs_status put_all(fs_listing *l, fs_text *out) {
  l->t = out;
  put_header(l);
  FS_TRY(put_memories(l, out));
  l->t = out;
  put_collectives(l);
  for (uint32_t q = 0; q < l->s->n_queues; q++) {
    FS_TRY(put_queue(l, q, out));
  }
  return FSCHED_OK;
}

fs_status fsched_program_text(fsched_context *ctx, const fsched_program *p, char **text,
                              size_t *length) {
  fs_text out;
  fs_text_init(&out, ctx);
  fs_listing l = {.s = &p->view};
  fs_status status = put_all(&l, &out);
  if (status != FSCHED_OK) {
    fs_text_drop(&out);
    return status;
  }
  return fs_text_take(&out, text, length);
}
