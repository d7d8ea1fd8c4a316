/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of program text.  The keys of a place give its kind; the arg or scratch that it belongs
 * to follows from its position and its memory (lib/model/stream/stream.h, fs_stream_place). */
#include "codegen/asm/asm.h"
#include "fsched/graph.h"

enum {
  COMMAND_KIND,
  COMMAND_OP,
  COMMAND_BUFFER,
  COMMAND_VERSION,
  COMMAND_DIRECTION,
  COMMAND_EPOCH,
  COMMAND_START,
  COMMAND_END,
  COMMAND_FREE,
  COMMAND_ISSUE,
  COMMAND_WAITS,
  COMMAND_GANG,
  COMMAND_SIGNAL,
  COMMAND_SCOPE,
  COMMAND_FRONTIER,
  COMMAND_TAINTED,
  COMMAND_PLACES,
  COMMAND_FIELDS
};
static const fs_field command_fields[COMMAND_FIELDS] = {
    {"kind", true},    {"op", false},   {"buffer", false}, {"version", false}, {"direction", false},
    {"epoch", true},   {"start", true}, {"end", true},     {"free", false},    {"issue", false},
    {"waits", true},   {"gang", false}, {"signal", true},  {"scope", true},    {"frontier", true},
    {"tainted", true}, {"places", true}};

/* Reads {"axis": name, "epoch": n}. */
static fs_status wait(fs_asm *a, uint32_t node, uint32_t *axis, uint32_t *epoch) {
  enum { AXIS, EPOCH, FIELDS };
  static const fs_field fields[FIELDS] = {{"axis", true}, {"epoch", true}};
  uint32_t value[FIELDS];
  FS_TRY(fs_fields_mapping(&a->f, node, fields, FIELDS, value));
  FS_TRY(fs_fields_name(&a->f, value[AXIS], &a->axis_names, "axis", axis));
  return fs_fields_u32(&a->f, value[EPOCH], epoch);
}

static fs_status waits(fs_asm *a, uint32_t list, fs_stream_command *r) {
  uint32_t node;
  r->wait0 = (uint32_t)a->waits.n;
  FS_TRY(fs_fields_sequence(&a->f, list, &node, &r->n_waits));
  for (; node != FS_NONE; node = fs_fields_next(&a->f, node)) {
    fs_stream_wait w = {0};
    FS_TRY(wait(a, node, &w.axis, &w.epoch));
    FS_TRY(fs_asm_push(a, waits, w));
  }
  return FSCHED_OK;
}

/* Reads a frontier as a list in the form of the waits, where a name is too long for a key. */
static fs_status frontier_list(fs_asm *a, uint32_t list, fs_stream_command *r) {
  uint32_t node;
  FS_TRY(fs_fields_sequence(&a->f, list, &node, &r->n_frontier));
  for (; node != FS_NONE; node = fs_fields_next(&a->f, node)) {
    fs_stream_wait w = {0};
    FS_TRY(wait(a, node, &w.axis, &w.epoch));
    FS_TRY(fs_asm_push(a, frontiers, w));
  }
  return FSCHED_OK;
}

static fs_status frontier(fs_asm *a, uint32_t mapping, fs_stream_command *r) {
  uint32_t key;
  r->frontier0 = (uint32_t)a->frontiers.n;
  if (a->f.doc->node[mapping].kind == FS_NODE_SEQUENCE) {
    return frontier_list(a, mapping, r);
  }
  FS_TRY(fs_fields_pairs(&a->f, mapping, &key, &r->n_frontier));
  while (key != FS_NONE) {
    fs_stream_wait w = {0};
    uint32_t value = fs_fields_next(&a->f, key);
    FS_TRY(fs_fields_name(&a->f, key, &a->axis_names, "axis", &w.axis));
    FS_TRY(fs_fields_u32(&a->f, value, &w.epoch));
    FS_TRY(fs_asm_push(a, frontiers, w));
    key = fs_fields_next(&a->f, value);
  }
  return FSCHED_OK;
}

/* ---- places */

static const fs_field place_fields[FS_ASM_PLACE_FIELDS] = {
    {"buffer", false},  {"version", false},
    {"scratch", false}, FS_SPACES(FS_ASM_FIELD){"address", true},
    {"size", true},     {"mode", true}};

static fs_status place_space(fs_asm *a, uint32_t node, const uint32_t *value, fs_stream_place *p) {
  uint32_t found = FS_NONE;
  for (uint32_t i = 0; i < FS_N_SPACES; i++) {
    if (value[FS_ASM_PLACE_SPACE + i] != FS_NONE && found != FS_NONE) {
      return fs_fields_fail(&a->f, FS_DIAG_STREAM_KEY, value[FS_ASM_PLACE_SPACE + i],
                            "a place has one of memory, counted, resource, concurrency");
    }
    found = value[FS_ASM_PLACE_SPACE + i] != FS_NONE ? i : found;
  }
  uint32_t of = found == FS_NONE ? FS_NONE : value[FS_ASM_PLACE_SPACE + found];
  bool yes = found != FS_NONE;
  if (fs_space_in_memory(found)) {
    FS_TRY(fs_fields_name(&a->f, of, &a->memory_names, "memory", &p->index));
  } else if (fs_space_of_resource(found)) {
    FS_TRY(fs_fields_name(&a->f, of, &a->resource_names, "resource", &p->index));
  } else if (yes) {
    FS_TRY(fs_fields_bool(&a->f, of, &yes));
  }
  if (!yes) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_KEY, node,
                          "the place has no memory, counted, resource or concurrency");
  }
  p->space = (uint8_t)found;
  return FSCHED_OK;
}

fs_status fs_asm_place(fs_asm *a, uint32_t node, uint32_t *value, fs_stream_place *p) {
  assert(node < a->f.doc->n_nodes);
  uint32_t mode;
  *p = (fs_stream_place){.version = FS_NONE, .arg = FS_NONE};
  FS_TRY(fs_fields_mapping(&a->f, node, place_fields, FS_ASM_PLACE_FIELDS, value));
  if ((value[FS_ASM_PLACE_VERSION] != FS_NONE && value[FS_ASM_PLACE_BUFFER] == FS_NONE) ||
      (value[FS_ASM_PLACE_SCRATCH] != FS_NONE && value[FS_ASM_PLACE_BUFFER] != FS_NONE)) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_KEY, node,
                          "a place has a buffer and its version, or scratch, or neither");
  }
  FS_TRY(place_space(a, node, value, p));
  FS_TRY(fs_fields_u64(&a->f, value[FS_ASM_PLACE_ADDRESS], &p->address));
  FS_TRY(fs_fields_u64(&a->f, value[FS_ASM_PLACE_SIZE], &p->size));
  FS_TRY(fs_fields_word(&a->f, value[FS_ASM_PLACE_MODE], FS_WORDS(fs_words_mode), &mode));
  p->mode = (uint8_t)mode;
  return FSCHED_OK;
}

/* The next arg of the op that is a buffer, from *arg on; FS_NONE after the last one. */
static uint32_t next_arg(const fs_asm *a, const fs_stream_op *op, uint32_t *arg) {
  while (*arg < op->arg0 + op->n_args) {
    uint32_t found = (*arg)++;
    if (fs_tag_names_buffer(a->args.at[found].tag)) {
      return found;
    }
  }
  return FS_NONE;
}

static fs_status place_scratch(fs_asm *a, uint32_t node, const fs_stream_command *r,
                               fs_stream_place *p) {
  uint32_t op_id;
  FS_TRY(fs_fields_name(&a->f, node, &a->op_names, "op", &op_id));
  if (!fs_command_has_op(r) || op_id != r->target || !fs_space_in_memory(p->space)) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_PLACE, node,
                          "scratch belongs to the op of its command and lies in a memory");
  }
  const fs_stream_op *op = &a->ops.at[op_id];
  for (uint32_t i = op->scratch0; i < op->scratch0 + op->n_scratches; i++) {
    if (a->scratches.at[i].memory == p->index) {
      p->arg = i;
      return FSCHED_OK;
    }
  }
  return fs_fields_fail(&a->f, FS_DIAG_STREAM_PLACE, node, "op '%s' has no scratch in that memory",
                        a->op_names.text.at[op_id]);
}

/* Finds the owner of a place.  *arg is the first arg of the op that has no place yet. */
static fs_status place_owner(fs_asm *a, const uint32_t *value, const fs_stream_command *r,
                             uint32_t *arg, fs_stream_place *p) {
  if (value[FS_ASM_PLACE_SCRATCH] != FS_NONE) {
    return place_scratch(a, value[FS_ASM_PLACE_SCRATCH], r, p);
  }
  if (value[FS_ASM_PLACE_BUFFER] == FS_NONE) {
    return FSCHED_OK;
  }
  uint32_t buffer;
  FS_TRY(fs_fields_name(&a->f, value[FS_ASM_PLACE_BUFFER], &a->buffer_names, "buffer", &buffer));
  FS_TRY(fs_asm_version(a, buffer, value[FS_ASM_PLACE_VERSION], &p->version));
  if (fs_command_has_op(r) && fs_space_has_bytes(p->space)) {
    p->arg = next_arg(a, &a->ops.at[r->target], arg);
    if (p->arg == FS_NONE || a->args.at[p->arg].buffer != buffer) {
      return fs_fields_fail(&a->f, FS_DIAG_STREAM_PLACE, value[FS_ASM_PLACE_BUFFER],
                            "the op's next argument is not buffer '%s'",
                            a->buffer_names.text.at[buffer]);
    }
  }
  return FSCHED_OK;
}

static fs_status read_place(fs_asm *a, uint32_t node, const fs_stream_command *r, uint32_t *arg) {
  uint32_t value[FS_ASM_PLACE_FIELDS];
  fs_stream_place p;
  FS_TRY(fs_asm_place(a, node, value, &p));
  FS_TRY(place_owner(a, value, r, arg, &p));
  return fs_asm_push(a, places, p);
}

static fs_status places(fs_asm *a, uint32_t list, fs_stream_command *r) {
  uint32_t node, arg = fs_command_has_op(r) ? a->ops.at[r->target].arg0 : 0;
  r->place0 = (uint32_t)a->places.n;
  FS_TRY(fs_fields_sequence(&a->f, list, &node, &r->n_places));
  for (; node != FS_NONE; node = fs_fields_next(&a->f, node)) {
    FS_TRY(read_place(a, node, r, &arg));
  }
  return FSCHED_OK;
}

/* ---- commands */

static const char *wanted_keys(fs_command_kind kind) {
  const char *text = NULL;
  switch (kind) {
    case FS_COMMAND_RUN:
      text = "a command that runs has an op, and no buffer, version or direction";
      break;
    case FS_COMMAND_COPY:
      text = "a copy has a buffer, a version and a direction, and no op";
      break;
  }
  return text;
}

static bool has_target_keys(const uint32_t *value, uint32_t kind) {
  bool version = fs_kind_has_version(kind);
  return (value[COMMAND_OP] != FS_NONE) == fs_kind_has_op(kind) &&
         (value[COMMAND_BUFFER] != FS_NONE) == version &&
         (value[COMMAND_VERSION] != FS_NONE) == version &&
         (value[COMMAND_DIRECTION] != FS_NONE) == fs_kind_has_direction(kind);
}

static fs_status target(fs_asm *a, uint32_t node, const uint32_t *value, fs_stream_command *r) {
  uint32_t kind, direction, buffer;
  FS_TRY(fs_fields_word(&a->f, value[COMMAND_KIND], fs_words_entry, FS_N_COMMAND_KINDS, &kind));
  r->kind = (uint8_t)kind;
  if (!has_target_keys(value, kind)) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_KEY, node, "%s",
                          wanted_keys(fs_command_kind_of(r)));
  }
  if (fs_kind_has_op(kind)) {
    FS_TRY(fs_fields_name(&a->f, value[COMMAND_OP], &a->op_names, "op", &r->target));
  }
  if (fs_kind_has_version(kind)) {
    FS_TRY(fs_fields_name(&a->f, value[COMMAND_BUFFER], &a->buffer_names, "buffer", &buffer));
    FS_TRY(fs_asm_version(a, buffer, value[COMMAND_VERSION], &r->target));
  }
  if (fs_kind_has_direction(kind)) {
    FS_TRY(fs_fields_word(&a->f, value[COMMAND_DIRECTION], FS_WORDS(fs_words_copy), &direction));
    r->direction = (uint8_t)direction;
  }
  return FSCHED_OK;
}

/* Reads when the queue goes on: after the time of the op, which is slow. */
static fs_status read_free(fs_asm *a, uint32_t node, const fs_stream_command *r) {
  uint64_t free;
  if (node == FS_NONE) {
    return FSCHED_OK;
  }
  if (!fs_command_has_op(r)) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_KEY, node, "a copy has no 'free'");
  }
  FS_TRY(fs_fields_u64(&a->f, node, &free));
  fs_stream_op *op = &a->ops.at[r->target];
  if (free < r->start || free - r->start != op->time) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_VALUE, node,
                          "the queue is free after the time of the op, %llu ticks after the start",
                          (unsigned long long)op->time);
  }
  op->slow = 1;
  return FSCHED_OK;
}

/* Reads a command.  `r` already has the barrier waits that stood before it. */
static fs_status command(fs_asm *a, uint32_t node, fs_stream_command r) {
  uint32_t value[COMMAND_FIELDS], scope;
  bool signal, tainted;
  FS_TRY(fs_fields_mapping(&a->f, node, command_fields, COMMAND_FIELDS, value));
  FS_TRY(target(a, node, value, &r));
  FS_TRY(fs_fields_u32(&a->f, value[COMMAND_EPOCH], &r.epoch));
  FS_TRY(fs_fields_u64(&a->f, value[COMMAND_START], &r.start));
  FS_TRY(fs_fields_u64(&a->f, value[COMMAND_END], &r.end));
  FS_TRY(read_free(a, value[COMMAND_FREE], &r));
  FS_TRY(fs_asm_only(a, node, "issue", value[COMMAND_ISSUE], fs_sync_has_stops(a->meta.at[0].sync),
                     FS_SYNC_BLOCK));
  FS_TRY(value[COMMAND_ISSUE] == FS_NONE ? FSCHED_OK
                                         : fs_fields_u32(&a->f, value[COMMAND_ISSUE], &r.issue));
  FS_TRY(waits(a, value[COMMAND_WAITS], &r));
  if (value[COMMAND_GANG] != FS_NONE) {
    FS_TRY(wait(a, value[COMMAND_GANG], &r.gang_axis, &r.gang_epoch));
  }
  FS_TRY(fs_fields_bool(&a->f, value[COMMAND_SIGNAL], &signal));
  FS_TRY(fs_fields_word(&a->f, value[COMMAND_SCOPE], FS_WORDS(fs_words_scope), &scope));
  FS_TRY(frontier(a, value[COMMAND_FRONTIER], &r));
  FS_TRY(fs_fields_bool(&a->f, value[COMMAND_TAINTED], &tainted));
  FS_TRY(places(a, value[COMMAND_PLACES], &r));
  r.signal = signal;
  r.scope = (uint8_t)scope;
  r.tainted = tainted;
  return fs_asm_push(a, commands, r);
}

/* A command whose lists begin where those of the commands so far end. */
static fs_stream_command fresh(const fs_asm *a) {
  return (fs_stream_command){.gang_axis = FS_NONE,
                             .barrier_wait0 = (uint32_t)a->barrier_waits.n,
                             .barrier_update0 = (uint32_t)a->barrier_updates.n};
}

/* Reads the kind of an entry.  An entry without one counts as a barrier's wait: reading it as a
 * wait then reports the fault. */
static fs_status kind_of(fs_asm *a, uint32_t node, fs_entry_kind *kind) {
  uint32_t pair, found = FS_ENTRY_BARRIER_WAIT;
  FS_TRY(fs_fields_pairs(&a->f, node, &pair, NULL));
  uint32_t value = fs_node_get(a->f.doc, node, "kind");
  if (value != FS_NONE) {
    FS_TRY(fs_fields_word(&a->f, value, FS_WORDS(fs_words_entry), &found));
  }
  *kind = (fs_entry_kind)found;
  return FSCHED_OK;
}

#define ENTRY_CASE(id, ...) case FS_ENTRY_##id:
fs_status fs_asm_commands(fs_asm *a, uint32_t list) {
  size_t first = a->commands.n;
  uint32_t node, waiting = FS_NONE; /* the first wait that has no command yet */
  fs_stream_command next = fresh(a);
  FS_TRY(fs_fields_sequence(&a->f, list, &node, NULL));
  for (; node != FS_NONE; node = fs_fields_next(&a->f, node)) {
    fs_entry_kind kind;
    FS_TRY(kind_of(a, node, &kind));
    switch (kind) {
      FS_COMMAND_KINDS(ENTRY_CASE)
      FS_TRY(command(a, node, next));
      next = fresh(a);
      waiting = FS_NONE;
      break;
      case FS_ENTRY_BARRIER_WAIT:
        waiting = waiting == FS_NONE ? node : waiting;
        FS_TRY(fs_asm_barrier_wait(a, node, &next));
        break;
      case FS_ENTRY_BARRIER_UPDATE:
        if (waiting != FS_NONE || a->commands.n == first) {
          return fs_fields_fail(&a->f, FS_DIAG_STREAM_KEY, node,
                                "a barrier_update stands after the run or copy that it belongs to");
        }
        FS_TRY(fs_asm_barrier_update(a, node, &a->commands.at[a->commands.n - 1]));
        next = fresh(a);
        break;
    }
  }
  if (waiting != FS_NONE) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_KEY, waiting,
                          "no run or copy follows this barrier_wait");
  }
  return FSCHED_OK;
}
