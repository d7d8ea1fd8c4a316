/* SPDX-License-Identifier: Apache-2.0 */
/* The builder's creation and release, and its calls about the target.  References by name (backing
 * stores, queues) may come before the entity that they name, so they are only stored here and
 * resolved by finish. */
#include <stdarg.h>
#include <stdio.h>

#include "base/text/utf8.h"
#include "base/warnings.h"
#include "front/builder/private.h"

enum { DEFAULT_FRONTIER = 16, DEFAULT_SYNC_COST = 1 };

fsched_status fsched_builder_create(fsched_context *ctx, const char *name, fsched_builder **out) {
  *out = NULL;
  fsched_builder *b = fs_realloc(ctx, NULL, 0, sizeof *b);
  if (b == NULL) {
    return FSCHED_SYSTEM;
  }
  *b = (fsched_builder){.ctx = ctx,
                        .frontier_capacity = DEFAULT_FRONTIER,
                        .sync_cost = DEFAULT_SYNC_COST,
                        .options_file = FS_NONE,
                        .open_loop = FS_NONE,
                        .last_loop = FS_NONE,
                        .warning_errors = fs_warn_errors(ctx),
                        .sync_at = FS_NOWHERE,
                        .barriers_at = FS_NOWHERE,
                        .pos = FS_NOWHERE};
  fs_arena_init(&b->arena, ctx);
#define INIT_(t) fs_names_init(&b->t, &b->arena);
  FS_BUILDER_NAMES(INIT_)
#undef INIT_
  fs_builder_locate(b, FS_NOWHERE);
  const char *label = name == NULL ? "graph" : name;
  b->name = fs_arena_strndup(&b->arena, label, strlen(label));
  if (b->name == NULL) {
    fsched_builder_destroy(b);
    return FSCHED_SYSTEM;
  }
  fs_status valid = fs_builder_check_text(b, "the graph's name", label);
  if (valid != FSCHED_OK) {
    fsched_builder_destroy(b);
    return valid;
  }
  *out = b;
  return FSCHED_OK;
}

void fsched_builder_destroy(fsched_builder *b) {
  if (b == NULL) {
    return;
  }
  fsched_context *ctx = b->ctx;
#define FREE_NAMES_(t) fs_names_free(&b->t);
#define FREE_VECTOR_(v) fs_vec_free(ctx, &b->v);
  FS_BUILDER_NAMES(FREE_NAMES_)
  FS_BUILDER_VECTORS(FREE_VECTOR_)
#undef FREE_NAMES_
#undef FREE_VECTOR_
  fs_arena_release(&b->arena);
  (void)fs_realloc(ctx, b, sizeof *b, 0);
}

void fs_builder_locate(fsched_builder *b, fs_pos pos) {
  b->pos = pos;
  for (int i = 0; i < FS_PARTS; i++) {
    b->part[i] = pos;
  }
}

void fs_builder_locate_part(fsched_builder *b, fs_builder_part part, fs_pos pos) {
  assert(part < FS_PARTS);
  b->part[part] = pos;
}

uint32_t fs_builder_class_of(const fsched_builder *b, uint32_t queue) {
  assert(queue < b->queue.n);
  return b->queue.at[queue].class_id;
}

const char *fs_builder_name(const fsched_builder *b) { return b->name; }
fsched_context *fs_builder_context(const fsched_builder *b) { return b->ctx; }

bool fs_builder_has_only_target(const fsched_builder *b) {
  return b->buffer_size.n == 0 && b->op.n == 0 && b->loop.n == 0;
}

bool fs_builder_data_only(const fsched_builder *b) { return fs_hazards_data_only(b->hazards); }

bool fs_builder_memory_bounded(const fsched_builder *b, uint32_t memory) {
  assert(memory < b->memory.n);
  return fs_memory_bounded(&b->memory.at[memory].m);
}

bool fs_builder_queue_of_host(const fsched_builder *b, uint32_t queue) {
  assert(queue < b->queue.n);
  return b->queue.at[queue].host;
}

uint64_t fs_builder_memory_capacity(const fsched_builder *b, uint32_t memory) {
  assert(memory < b->memory.n);
  return b->memory.at[memory].m.capacity;
}

uint64_t fs_builder_memory_align(const fsched_builder *b, uint32_t memory) {
  assert(memory < b->memory.n);
  return b->memory.at[memory].m.align;
}

void fs_builder_unplan(fsched_builder *b, uint32_t most_at_once) {
  assert(!b->finished);
  uint32_t fallback = fs_builder_default_memory(b);
  b->unroll = b->unplanned = true;
  b->sync = FS_SYNC_TIMELINE;
  if (b->queue.n == 0 && b->concurrency == 0) {
    b->concurrency = most_at_once;
  }
  for (size_t i = 0; i < b->buffer_memory.n; i++) {
    b->buffer_memory.at[i] = b->buffer_memory.at[i] == FS_NONE ? fallback : b->buffer_memory.at[i];
  }
  for (size_t m = 0; m < b->memory.n; m++) {
    fs_memory_draft *d = &b->memory.at[m];
    d->m.described = d->m.capacity;
    d->m.capacity = FSCHED_UNBOUNDED;
    d->m.placement = FSCHED_CONTIGUOUS;
    d->m.stack = false;
    d->backing_word = d->spill_word = FS_NONE;
  }
  for (size_t q = 0; q < b->queue.n; q++) {
    b->queue.at[q].counting = false;
  }
  for (size_t op = 0; op < b->op.n; op++) {
    b->op.at[op].start = FS_TICK_NONE;
  }
}

uint64_t fs_builder_resource_capacity(const fsched_builder *b, uint32_t resource) {
  assert(resource < b->resource_capacity.n);
  return b->resource_capacity.at[resource];
}

uint64_t fs_builder_limit_of_ops(const fsched_builder *b) { return b->concurrency; }

uint32_t fs_builder_default_memory(const fsched_builder *b) {
  for (uint32_t i = 0; i < b->memory.n; i++) {
    if (fs_builder_memory_bounded(b, i)) {
      return i;
    }
  }
  return b->memory.n == 0 ? FS_NONE : 0;
}

fs_builder_faults fs_builder_mark_faults(const fsched_builder *b) {
  return (fs_builder_faults){b->bad, b->incomplete};
}

void fs_builder_rewind_faults(fsched_builder *b, fs_builder_faults mark) {
  b->bad = mark.bad;
  b->incomplete = mark.incomplete;
}

const fs_names *fs_builder_names(const fsched_builder *b, fs_builder_kind kind) {
  assert(kind < FS_KIND_SYNC);
  const fs_names *table[] = {
      [FS_KIND_QUEUE] = &b->queues,    [FS_KIND_CLASS] = &b->classes,
      [FS_KIND_MEMORY] = &b->memories, [FS_KIND_RESOURCE] = &b->resources,
      [FS_KIND_BUFFER] = &b->buffers,  [FS_KIND_OP] = &b->ops,
      [FS_KIND_LOOP] = &b->loops,
  };
  return table[kind];
}

void fs_builder_incomplete(fsched_builder *b) { b->bad = b->incomplete = true; }

void fs_builder_lose(fsched_builder *b, fs_builder_kind kind) {
  assert(kind < FS_KINDS);
  b->lost[kind] = true;
  fs_builder_incomplete(b);
}

bool fs_builder_lost(const fsched_builder *b, fs_builder_kind kind) {
  assert(kind < FS_KINDS);
  return b->lost[kind];
}

fs_status fs_builder_add_file(fsched_builder *b, const char *path) {
  assert(path != NULL);
  const char *copy = fs_arena_strndup(&b->arena, path, strlen(path));
  return copy == NULL ? FSCHED_SYSTEM : fs_vec_push(b->ctx, &b->file, copy);
}

void fs_builder_options_file(fsched_builder *b, uint32_t file) { b->options_file = file; }

bool fs_builder_tells(fsched_builder *b, fs_diag_code code, fs_pos pos) {
  if (!b->unrolled || pos.file == FS_NONE) {
    return true;
  }
  char key[80];
  bool added = true;
  uint32_t id;
  int n = snprintf(key, sizeof key, "%d:%u:%u:%u", (int)code, pos.file, pos.line, pos.column);
  fs_status status = fs_names_intern(&b->said, key, (size_t)n, &id, &added);
  return status != FSCHED_OK || added;
}

static void report(fsched_builder *b, fs_diag_code code, fs_pos pos, const char *hint,
                   const char *format, va_list args) {
  b->usage |= pos.file != FS_NONE && pos.file == b->options_file;
  if (!fs_builder_tells(b, code, pos)) {
    return;
  }
  char text[512]; /* a longer message ends in "..." */
  int n = vsnprintf(text, sizeof text, format, args);
  if (n >= (int)sizeof text) {
    memcpy(text + sizeof text - 4, "...", 4);
  }
  fs_utf8_repair(text); /* a name may be cut in a character */
  fs_report(b->ctx, FSCHED_ERROR, code, pos, hint, "%s", text);
}

/* Notes the first fault of loops that are ops. */
static void note_refusal(fsched_builder *b, const char *format, va_list args) {
  fs_refusal *r = b->refusal;
  if (!b->bad) {
    r->refused = true;
    r->loop = FS_NONE;
    (void)vsnprintf(r->message, sizeof r->message, format, args);
  }
}

fs_status fs_builder_fail(fsched_builder *b, fs_diag_code code, fs_pos pos, const char *hint,
                          const char *format, ...) {
  va_list args;
  if (b->contracted && (code == FS_DIAG_NOT_PRODUCED || code == FS_DIAG_VALUE_LOST)) {
    code = FS_DIAG_UNSUPPORTED; /* as described it is, or the first sample would have shown it */
    hint = b->refusal->hint;
    va_start(args, format);
    note_refusal(b, format, args);
    va_end(args);
  }
  va_start(args, format);
  report(b, code, pos, hint, format, args);
  va_end(args);
  b->bad = true;
  return FSCHED_BAD_INPUT;
}

void fs_builder_infeasible(fsched_builder *b, fs_diag_code code, fs_pos pos, const char *hint,
                           const char *format, ...) {
  va_list args;
  va_start(args, format);
  report(b, code, pos, hint, format, args);
  va_end(args);
  b->infeasible = true;
}

fs_status fs_builder_place(fsched_builder *b, fs_pos_list *places, size_t id, fs_pos pos) {
  FS_ASSERT_SLOW(pos.file == FS_NONE || id >= places->n);
  if (pos.file == FS_NONE) {
    return FSCHED_OK; /* a missing entry reads as FS_NOWHERE, and so does a gap filled below */
  }
  while (places->n < id) {
    FS_TRY(fs_vec_push(b->ctx, places, FS_NOWHERE));
  }
  return fs_vec_push(b->ctx, places, pos);
}

fs_status fs_builder_word(fsched_builder *b, const char *word, uint32_t *id) {
  FS_ASSERT_SLOW(word != NULL);
  return fs_names_intern(&b->words, word, strlen(word), id, NULL);
}

fs_status fs_builder_check_name(fsched_builder *b, const char *kind, const char *name) {
  if (name == NULL || name[0] == '\0') {
    return fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, b->pos, NULL, "%s %s needs a name",
                           strcmp(kind, "op") == 0 ? "an" : "a", kind);
  }
  return fs_builder_check_text(b, "a name", name);
}

fs_status fs_builder_check_text(fsched_builder *b, const char *what, const char *text) {
  if (text == NULL || fs_utf8_valid(text, strlen(text))) {
    return FSCHED_OK;
  }
  return fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, b->pos, NULL, "%s is not UTF-8", what);
}

fs_status fs_builder_check_enum(fsched_builder *b, const char *what, int value, int last) {
  FS_ASSERT_SLOW(last >= 0);
  if (value >= 0 && value <= last) {
    return FSCHED_OK;
  }
  return fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, b->pos, NULL, "'%s' is %d, outside 0 .. %d", what,
                         value, last);
}

fs_status fs_builder_check_size(fsched_builder *b, const char *type, size_t size, size_t least) {
  FS_ASSERT_SLOW(least > 0);
  if (size >= least) {
    return FSCHED_OK;
  }
  fs_builder_incomplete(b); /* the described entity is lost */
  return fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, b->pos, "set it to the sizeof of the struct",
                         "'size' of %s is %zu, at least %zu is needed", type, size, least);
}

fs_status fs_builder_repeated(fsched_builder *b, const char *kind, const char *name) {
  assert(name != NULL && kind != NULL);
  return fs_builder_fail(b, FS_DIAG_REPEATED_NAME, b->pos, NULL, "there is already %s %s '%s'",
                         strcmp(kind, "op") == 0 ? "an" : "a", kind, name);
}

fs_status fs_builder_limit(fsched_builder *b, const char *what, uint64_t value, uint64_t limit) {
  if (value <= limit) {
    return FSCHED_OK;
  }
  return fs_builder_fail(b, FS_DIAG_OUT_OF_RANGE, b->pos, NULL,
                         "%s is %llu, at most %llu is possible", what, (unsigned long long)value,
                         (unsigned long long)limit);
}

fsched_status fsched_builder_hazards(fsched_builder *b, fsched_hazards hazards) {
  FS_TRY(fs_builder_check_enum(b, "hazards", (int)hazards, FS_N_HAZARDS - 1));
  b->hazards = hazards;
  return FSCHED_OK;
}

fsched_status fsched_builder_time_unit(fsched_builder *b, const char *unit) {
  b->time_unit = NULL;
  FS_TRY(fs_builder_check_text(b, "the time unit", unit));
  if (unit != NULL) {
    b->time_unit = fs_arena_strndup(&b->arena, unit, strlen(unit));
    return b->time_unit == NULL ? FSCHED_SYSTEM : FSCHED_OK;
  }
  return FSCHED_OK;
}

fsched_status fsched_builder_sync(fsched_builder *b, fsched_sync sync) {
  FS_TRY(fs_builder_check_enum(b, "sync", (int)sync, FS_N_SYNC_KINDS - 1));
  b->sync = (fs_sync_kind)sync;
  b->sync_at = b->pos;
  return FSCHED_OK;
}

fsched_status fsched_builder_sync_cost(fsched_builder *b, uint64_t ticks) {
  FS_TRY(fs_builder_limit(b, "the cost of a sync", ticks, FSCHED_MAX_TIME));
  b->sync_cost = ticks;
  return FSCHED_OK;
}

fsched_status fsched_builder_barriers(fsched_builder *b, uint64_t count, uint64_t slots) {
  if (count != FSCHED_BARRIERS_AUTO) {
    FS_TRY(fs_builder_limit(b, "the number of barriers", count, INT32_MAX));
  }
  FS_TRY(fs_builder_limit(b, "a barrier's number of slots", slots, INT32_MAX));
  b->barriers_at = b->pos;
  b->barrier_count = (uint32_t)count;
  b->barrier_slots = (uint32_t)slots;
  return FSCHED_OK;
}

fsched_status fsched_builder_concurrency(fsched_builder *b, uint64_t ops) {
  FS_TRY(fs_builder_limit(b, "concurrency", ops, FSCHED_MAX_TIME));
  b->concurrency = ops;
  return FSCHED_OK;
}

fsched_status fsched_builder_launch(fsched_builder *b, const char *queue_class, uint64_t ticks) {
  FS_TRY(fs_builder_limit(b, "launch", ticks, FSCHED_MAX_TIME));
  if (queue_class == NULL) {
    b->launch = ticks;
    return FSCHED_OK;
  }
  fs_launch_draft d = {.ticks = ticks, .at = b->pos};
  FS_TRY(fs_builder_check_name(b, "class", queue_class));
  FS_TRY(fs_builder_word(b, queue_class, &d.word));
  return fs_vec_push(b->ctx, &b->launches, d);
}

fsched_status fsched_builder_wait(fsched_builder *b, uint64_t ticks) {
  FS_TRY(fs_builder_limit(b, "wait", ticks, FSCHED_MAX_TIME));
  b->wait = ticks;
  return FSCHED_OK;
}

fsched_status fsched_builder_frontier(fsched_builder *b, uint64_t capacity) {
  if (capacity == 0) {
    return fs_builder_fail(b, FS_DIAG_OUT_OF_RANGE, b->pos, NULL,
                           "the frontier's capacity is 0, at least 1 is needed");
  }
  FS_TRY(fs_builder_limit(b, "the frontier's capacity", capacity, FSCHED_MAX_TIME));
  b->frontier_capacity = capacity;
  return FSCHED_OK;
}

fsched_status fsched_builder_queue(fsched_builder *b, const fsched_queue_desc *desc, uint32_t *id) {
  FS_TAKE_DESC(fsched_queue_desc, name, d, desc);
  FS_TRY(fs_builder_check_name(b, "queue", d.name));
  FS_TRY(fs_builder_check_text(b, "a queue's class", d.queue_class));
  FS_TRY(fs_builder_limit(b, "the device", d.device, FSCHED_MAX_DEVICE));
  FS_TRY(fs_builder_limit(b, "the machine", d.machine, FSCHED_MAX_MACHINE));
  const char *class_name = d.queue_class == NULL ? "compute" : d.queue_class;
  fs_queue q = {
      .device = d.device, .machine = d.machine, .counting = d.counting != 0, .host = d.host != 0};
  bool repeated;
  uint32_t at;
  FS_TRY(fs_vec_reserve(b->ctx, &b->queue, b->queue.n + 1));
  FS_TRY(fs_names_intern(&b->classes, class_name, strlen(class_name), &q.class_id, NULL));
  FS_TRY(fs_names_add(&b->queues, d.name, strlen(d.name), &at, &repeated));
  q.name = b->queues.text.at[at];
  FS_TRY(fs_vec_push(b->ctx, &b->queue, q));
  FS_TRY(fs_builder_place(b, &b->queue_at, at, b->pos));
  if (q.counting) {
    FS_TRY(fs_builder_place(b, &b->counting_at, at, b->part[FS_PART_COUNTING]));
  }
  if (id != NULL) {
    *id = at;
  }
  return repeated ? fs_builder_repeated(b, "queue", d.name) : FSCHED_OK;
}

static fs_status check_memory(fsched_builder *b, const fsched_memory_desc *d) {
  FS_TRY(fs_builder_check_name(b, "memory", d->name));
  FS_TRY(fs_builder_check_enum(b, "placement", (int)d->placement, FS_N_PLACEMENTS - 1));
  if (d->capacity != FSCHED_UNBOUNDED) {
    FS_TRY(fs_builder_limit(b, "the capacity", d->capacity, FSCHED_MAX_SIZE));
  }
  if ((d->align & (d->align - 1)) != 0) {
    return fs_builder_fail(b, FS_DIAG_OUT_OF_RANGE, b->pos, NULL,
                           "the alignment is %llu, a power of two is needed",
                           (unsigned long long)d->align);
  }
  FS_TRY(fs_builder_limit(b, "the alignment", d->align, FSCHED_MAX_SIZE));
  FS_TRY(fs_builder_limit(b, "a copy's fixed time", fs_max(d->write_fixed, d->read_fixed),
                          FSCHED_MAX_TIME));
  return fs_builder_limit(b, "a copy's rate", fs_max(d->write_rate, d->read_rate), FSCHED_MAX_TIME);
}

fsched_status fsched_builder_memory(fsched_builder *b, const fsched_memory_desc *desc,
                                    uint32_t *id) {
  FS_TAKE_DESC(fsched_memory_desc, name, d, desc);
  d.capacity = d.capacity == 0 ? FSCHED_UNBOUNDED : d.capacity;
  return fs_builder_add_memory(b, &d, false, id);
}

fs_status fs_builder_add_memory(fsched_builder *b, const fsched_memory_desc *d, bool spill_default,
                                uint32_t *id) {
  FS_TRY(check_memory(b, d));
  bool stack = fs_placement_is_stack(d->placement);
  fs_memory_draft m = {.m = {.capacity = d->capacity,
                             .align = d->align == 0 ? 1 : d->align,
                             .placement = stack ? FSCHED_CONTIGUOUS : d->placement,
                             .stack = stack,
                             .backing = FS_NONE,
                             .spill_domain = FS_NONE,
                             .write_fixed = d->write_fixed,
                             .write_rate = d->write_rate,
                             .read_fixed = d->read_fixed,
                             .read_rate = d->read_rate,
                             .write_per = fs_max(d->write_per, 1),
                             .read_per = fs_max(d->read_per, 1),
                             .host = d->host != 0},
                       .backing_word = FS_NONE,
                       .spill_word = FS_NONE,
                       .spill_default = spill_default,
                       .at = b->pos,
                       .backing_at = b->part[FS_PART_BACKING],
                       .spill_at = b->part[FS_PART_SPILL],
                       .placement_at = b->part[FS_PART_PLACEMENT]};
  if (d->backing != NULL) {
    FS_TRY(fs_builder_word(b, d->backing, &m.backing_word));
  }
  if (d->spill_on != NULL) {
    FS_TRY(fs_builder_word(b, d->spill_on, &m.spill_word));
  }
  bool repeated;
  uint32_t at;
  FS_TRY(fs_vec_reserve(b->ctx, &b->memory, b->memory.n + 1));
  FS_TRY(fs_names_add(&b->memories, d->name, strlen(d->name), &at, &repeated));
  m.m.name = b->memories.text.at[at];
  FS_TRY(fs_vec_push(b->ctx, &b->memory, m));
  if (id != NULL) {
    *id = at;
  }
  return repeated ? fs_builder_repeated(b, "memory", d->name) : FSCHED_OK;
}

fsched_status fsched_builder_resource(fsched_builder *b, const char *name, uint64_t capacity,
                                      uint32_t *id) {
  FS_TRY(fs_builder_check_name(b, "resource", name));
  FS_TRY(fs_builder_limit(b, "the capacity", capacity, FSCHED_MAX_TIME));
  bool repeated;
  uint32_t at;
  FS_TRY(fs_vec_reserve(b->ctx, &b->resource_capacity, b->resource_capacity.n + 1));
  FS_TRY(fs_names_add(&b->resources, name, strlen(name), &at, &repeated));
  FS_TRY(fs_vec_push(b->ctx, &b->resource_capacity, capacity));
  FS_TRY(fs_builder_place(b, &b->resource_at, at, b->pos));
  if (id != NULL) {
    *id = at;
  }
  return repeated ? fs_builder_repeated(b, "resource", name) : FSCHED_OK;
}
