/* SPDX-License-Identifier: Apache-2.0 */
/* Slices and arrows.  All slices come before all arrows: at equal times, readers follow the order
 * in the file, and an arrow's end belongs to the slice that has begun last. */
#include "draw/parts.h"
#include "draw/trace/private.h"
#include "fsched/graph.h"
#include "model/schedule.h"
#include "model/stream/members.h"
#include "model/sync.h"

static const char *version_name(const fs_tracer *r, uint32_t version) {
  return fs_stream_string(r->s, r->s->buffers[r->s->versions[version].buffer].name);
}

/* Adds "x", or "x#2" for version 2. */
static void add_version(fs_tracer *r, uint32_t version) {
  fs_text_puts(&r->word, version_name(r, version));
  if (r->s->versions[version].index > 0) {
    fs_text_puts(&r->word, "#");
    fs_text_u64(&r->word, r->s->versions[version].index);
  }
}

/* Adds "cmx[0,5)". */
static void add_place(fs_tracer *r, const fs_stream_place *p) {
  fs_text *t = &r->word;
  fs_text_puts(t, fs_stream_string(r->s, r->s->memories[p->index].name));
  fs_text_puts(t, "[");
  fs_text_u64(t, p->address);
  fs_text_puts(t, ",");
  fs_text_u64(t, p->address + p->size);
  fs_text_puts(t, ")");
}

static const char *category(const fs_stream_command *c) {
  const char *text = NULL;
  switch (fs_command_kind_of(c)) {
    case FS_COMMAND_RUN:
      text = c->gang_axis == FS_NONE ? "op" : "gang";
      break;
    case FS_COMMAND_COPY:
      text = fs_words_spill[c->direction];
      break;
  }
  return text;
}

/* Writes the name of a slice: "conv1", "spill_read w", "spill_write x#2". */
static void put_name(fs_tracer *r, const fs_stream_command *c) {
  fs_text_puts(&r->text, ",\"name\":");
  switch (fs_command_kind_of(c)) {
    case FS_COMMAND_RUN:
      fs_text_puts(&r->word, fs_command_target_name(r->s, c));
      break;
    case FS_COMMAND_COPY:
      fs_text_puts(&r->word, category(c));
      fs_text_puts(&r->word, " ");
      add_version(r, c->target);
      break;
  }
  fs_trace_word(r);
}

static void put_waits(fs_tracer *r, uint32_t command) {
  const fs_points *p = &r->order.points;
  if (p->point0[command] == p->point0[command + 1]) {
    return;
  }
  fs_text_puts(&r->text, ",\"waits\":");
  for (uint32_t i = p->point0[command]; i < p->point0[command + 1]; i++) {
    const fs_stream_wait *w = &p->point[i];
    fs_text_puts(&r->word, i == p->point0[command] ? "" : " ");
    fs_text_puts(&r->word, fs_stream_string(r->s, r->s->axes[w->axis].name));
    fs_text_puts(&r->word, ":");
    fs_text_u64(&r->word, w->epoch);
  }
  fs_trace_word(r);
}

/* Adds a barrier: "5 (1:2)" is barrier 5, the third use of physical barrier 1. */
static void add_barrier(fs_tracer *r, uint32_t barrier) {
  const fs_stream_barrier *b = &r->s->barriers[barrier];
  fs_text_u64(&r->word, barrier);
  fs_text_puts(&r->word, " (");
  fs_text_u64(&r->word, b->physical);
  fs_text_puts(&r->word, ":");
  fs_text_u64(&r->word, b->use);
  fs_text_puts(&r->word, ")");
}

static void put_barriers(fs_tracer *r, const fs_stream_command *c) {
  for (uint32_t i = 0; i < c->n_barrier_waits; i++) {
    fs_text_puts(&r->text, i == 0 ? ",\"barrier_waits\":[" : ",");
    add_barrier(r, r->s->barrier_waits[c->barrier_wait0 + i]);
    fs_trace_word(r);
  }
  fs_text_puts(&r->text, c->n_barrier_waits == 0 ? "" : "]");
  for (uint32_t i = 0; i < c->n_barrier_updates; i++) {
    fs_text_puts(&r->text, i == 0 ? ",\"barrier_updates\":[" : ",");
    add_barrier(r, r->s->barrier_updates[c->barrier_update0 + i].barrier);
    fs_trace_word(r);
  }
  fs_text_puts(&r->text, c->n_barrier_updates == 0 ? "" : "]");
}

static void put_gang(fs_tracer *r, const fs_stream_command *c) {
  if (c->gang_axis == FS_NONE) {
    return;
  }
  fs_text_puts(&r->text, ",\"gang\":");
  fs_text_puts(&r->word, fs_stream_string(r->s, r->s->axes[c->gang_axis].name));
  fs_text_puts(&r->word, ":");
  fs_text_u64(&r->word, c->gang_epoch);
  fs_trace_word(r);
}

/* The number of a group's member, if these have args of their own. */
static void put_member(fs_tracer *r, uint32_t command) {
  if (fs_command_members(r->s, &r->s->commands[command]) > 0) {
    fs_trace_number(r, "member", fs_stream_member_of(r->s, command));
  }
}

static void put_copy(fs_tracer *r, const fs_stream_command *c) {
  const fs_stream_place *p = &r->s->places[c->place0];
  fs_text_puts(&r->text, ",\"buffer\":");
  fs_text_puts(&r->word, version_name(r, c->target));
  fs_trace_word(r);
  fs_trace_number(r, "version", r->s->versions[c->target].index);
  fs_trace_number(r, "bytes", p[0].size);
  fs_text_puts(&r->text, ",\"from\":");
  add_place(r, &p[0]);
  fs_trace_word(r);
  fs_text_puts(&r->text, ",\"to\":");
  add_place(r, &p[1]);
  fs_trace_word(r);
}

/* Writes places: "r A_in cmx[0,5)"; scratch appears as "w scratch cmx[5,8)". */
static void put_places(fs_tracer *r, const fs_stream_command *c) {
  const char *before = ",\"places\":[";
  for (uint32_t i = c->place0; i < c->place0 + c->n_places; i++) {
    const fs_stream_place *p = &r->s->places[i];
    if (!fs_space_has_bytes(p->space)) {
      continue;
    }
    fs_text_puts(&r->text, before);
    before = ",";
    fs_text_puts(&r->word, fs_words_mode[p->mode]);
    fs_text_puts(&r->word, " ");
    if (p->version == FS_NONE) {
      fs_text_puts(&r->word, "scratch");
    } else {
      add_version(r, p->version);
    }
    fs_text_puts(&r->word, " ");
    add_place(r, p);
    fs_trace_word(r);
  }
  fs_text_puts(&r->text, before[1] == '\0' ? "]" : "");
}

void fs_trace_parts(fs_tracer *r, uint32_t op, uint32_t loop_op) {
  assert((op == FS_NONE) != (loop_op == FS_NONE));
  FS_SCRATCH(scratch, r->text.ctx);
  const char *parts = NULL;
  fs_status status = op == FS_NONE ? fs_parts_of_loop_op(&scratch, r->s, loop_op, &parts)
                                   : fs_parts_of_stream(&scratch, r->s, op, &parts);
  r->text.failed |= status != FSCHED_OK;
  if (parts != NULL) {
    fs_text_puts(&r->text, ",\"parts\":");
    fs_text_puts(&r->word, parts);
    fs_trace_word(r);
  }
}

static void put_slice(fs_tracer *r, uint32_t command) {
  const fs_stream_command *c = &r->s->commands[command];
  fs_trace_begin(r, "X");
  fs_trace_number(r, "tid", r->tid0 + r->order.queue[command]);
  fs_trace_time(r, "ts", r->begin[command]);
  fs_trace_time(r, "dur", r->end[command] - r->begin[command]);
  put_name(r, c);
  fs_text_puts(&r->text, ",\"cat\":\"");
  fs_text_puts(&r->text, category(c));
  fs_text_puts(&r->text, "\",\"args\":{\"epoch\":");
  fs_text_u64(&r->text, c->epoch);
  fs_trace_number(r, "planned_start", c->start);
  fs_trace_number(r, "planned_end", c->end);
  if (fs_command_slow(r->s, c)) {
    fs_trace_number(r, "planned_free", fs_command_free(r->s, c));
  }
  put_waits(r, command);
  put_barriers(r, c);
  if (fs_sync_has_stops(r->s->meta->sync)) {
    fs_trace_number(r, "issue", c->issue);
  }
  if (c->signal) {
    fs_text_puts(&r->text, ",\"signal\":\"");
    fs_text_puts(&r->text, fs_words_scope[c->scope]);
    fs_text_puts(&r->text, "\"");
  }
  put_gang(r, c);
  put_member(r, command);
  switch (fs_command_kind_of(c)) {
    case FS_COMMAND_RUN:
      put_places(r, c);
      fs_trace_parts(r, c->target, FS_NONE);
      break;
    case FS_COMMAND_COPY:
      put_copy(r, c);
      break;
  }
  fs_text_puts(&r->text, "}}");
}

static void put_arrow_end(fs_tracer *r, const char *phase, uint32_t command, uint64_t ns) {
  fs_trace_begin(r, phase);
  fs_text_puts(&r->text, *phase == 'f' ? ",\"bp\":\"e\"" : ""); /* binds to the enclosing slice */
  fs_trace_number(r, "tid", r->tid0 + r->order.queue[command]);
  fs_trace_time(r, "ts", ns);
  fs_trace_number(r, "id", r->n_flows);
  fs_text_puts(&r->text, ",\"cat\":\"wait\",\"name\":\"wait\"}");
}

/* Writes an arrow, unless it would arrive before it leaves, as in a stream that deadlocks. */
static void put_arrow(fs_tracer *r, uint32_t from, uint32_t to) {
  if (r->end[from] > r->begin[to]) {
    return;
  }
  r->n_flows++;
  put_arrow_end(r, "s", from, r->end[from] - 1);
  put_arrow_end(r, "f", to, r->begin[to]);
}

void fs_trace_slices(fs_tracer *r) {
  for (uint32_t c = 0; c < r->s->n_commands; c++) {
    put_slice(r, c);
    fs_trace_instances(r, c);
  }
  for (uint32_t c = 0; c < r->s->n_commands; c++) {
    for (uint32_t a = r->arrows.arrow0[c]; a < r->arrows.arrow0[c + 1]; a++) {
      put_arrow(r, r->arrows.from[a], c);
    }
  }
}
