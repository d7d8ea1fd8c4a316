/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of program text (lib/model/stream/stream.h, fs_stream_loop).
 *
 * The names of a body's ops are known within their loop alone, and declared before anything of the
 * loop is read; those of loops in which there may be others stay known to the end.  A wait names an
 * op and a distance; which command that is, is known when all commands of the loop have been read:
 * the first one of that op and copy, if several queues have one and the queue is not told. */
#include "codegen/asm/asm.h"
#include "fsched/graph.h"
#include "model/kinds.h"

/* The loop that is being read. */
typedef struct loop_reader {
  fs_stream_loop r;
  fs_names *names;      /* per loop so far: of its ops */
  uint32_t number;      /* of the loop */
  uint32_t own0, n_own; /* the args of the op that it is: of args, or of loop_args */
  uint32_t command0;    /* its first command */
} loop_reader;

static fs_status member(fs_asm *a, const loop_reader *l, uint32_t node, uint32_t *op) {
  FS_TRY(fs_fields_name(&a->f, node, &l->names[l->number], "op of the loop", op));
  *op += l->r.op0;
  return FSCHED_OK;
}

/* Reads the number of one of n things from `first` on; *id is the thing. */
static fs_status numbered(fs_asm *a, uint32_t node, uint32_t first, uint32_t n, const char *what,
                          uint32_t *id) {
  FS_TRY(fs_fields_u32(&a->f, node, id));
  if (*id >= n) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_REFERENCE, node, "the loop has no %s %u, but %u",
                          what, *id, n);
  }
  *id += first;
  return FSCHED_OK;
}

static fs_status flag(fs_asm *a, uint32_t node, uint32_t *out) {
  bool value;
  FS_TRY(fs_fields_bool(&a->f, node, &value));
  *out = value;
  return FSCHED_OK;
}

/* A race of what loops mean. */
static fs_status loop_race(fs_asm *a, const uint32_t *op, uint32_t buffer, uint32_t distance) {
  fs_stream_loop_race r = {.distance = FS_NO_DISTANCE};
  FS_TRY(fs_asm_string(a, op[0], &r.op_a));
  FS_TRY(fs_asm_string(a, op[1], &r.op_b));
  FS_TRY(fs_asm_string(a, buffer, &r.buffer));
  FS_TRY(distance == FS_NONE ? FSCHED_OK : fs_fields_u64(&a->f, distance, &r.distance));
  return fs_asm_push(a, loop_races, r);
}

fs_status fs_asm_race(fs_asm *a, uint32_t node) {
  enum { OPS, BUFFER, VERSION, DISTANCE, FIELDS };
  static const fs_field fields[FIELDS] = {
      {"ops", true}, {"buffer", true}, {"version", false}, {"distance", false}};
  uint32_t value[FIELDS], child, n, buffer_id;
  fs_stream_race r = {0};
  assert(node < a->f.doc->n_nodes);
  FS_TRY(fs_fields_mapping(&a->f, node, fields, FIELDS, value));
  FS_TRY(fs_fields_sequence(&a->f, value[OPS], &child, &n));
  if (n != 2) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_TYPE, value[OPS], "expected two ops");
  }
  uint32_t op[] = {child, fs_fields_next(&a->f, child)};
  if (value[VERSION] == FS_NONE) {
    return loop_race(a, op, value[BUFFER], value[DISTANCE]);
  }
  if (value[DISTANCE] != FS_NONE) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_TYPE, value[DISTANCE],
                          "a race on a version has no distance");
  }
  FS_TRY(fs_fields_name(&a->f, child, &a->op_names, "op", &r.op_a));
  FS_TRY(fs_fields_name(&a->f, fs_fields_next(&a->f, child), &a->op_names, "op", &r.op_b));
  FS_TRY(fs_fields_name(&a->f, value[BUFFER], &a->buffer_names, "buffer", &buffer_id));
  FS_TRY(fs_asm_version(a, buffer_id, value[VERSION], &r.version));
  return fs_asm_push(a, races, r);
}

fs_status fs_asm_param(fs_asm *a, uint32_t node) {
  enum { NAME, MIN, MAX, FIELDS };
  static const fs_field fields[FIELDS] = {{"name", true}, {"min", true}, {"max", true}};
  uint32_t value[FIELDS];
  fs_stream_param r = {0};
  assert(node < a->f.doc->n_nodes);
  FS_TRY(fs_fields_mapping(&a->f, node, fields, FIELDS, value));
  FS_TRY(fs_asm_string(a, value[NAME], &r.name));
  FS_TRY(fs_fields_u64(&a->f, value[MIN], &r.least));
  FS_TRY(fs_fields_u64(&a->f, value[MAX], &r.most));
  return fs_asm_push(a, params, r);
}

/* ---- rings */

/* Whether the last value is moved to the last slot; FS_NONE: not said. */
static fs_status returns(fs_asm *a, uint32_t node, fs_stream_ring *r) {
  uint32_t yes = 0;
  if (node != FS_NONE) {
    FS_TRY(flag(a, node, &yes));
  }
  if (yes != 0) {
    r->entry = r->entry == FS_RING_EMPTY ? FS_RING_LEAVES : FS_RING_RETURNS;
  }
  return FSCHED_OK;
}

static fs_status ring(fs_asm *a, const loop_reader *l, uint32_t node) {
  enum { ARG, WRITER, SIZE, SLOT, DEPTH, ENTRY, RETURNS, FIELDS };
  static const fs_field fields[FIELDS] = {{"arg", true},     {"writer", true}, {"size", true},
                                          {"slot", true},    {"depth", true},  {"entry", true},
                                          {"returns", false}};
  uint32_t value[FIELDS];
  fs_stream_ring r = {0};
  FS_TRY(fs_fields_mapping(&a->f, node, fields, FIELDS, value));
  FS_TRY(numbered(a, value[ARG], l->own0, l->n_own, "arg", &r.arg));
  FS_TRY(member(a, l, value[WRITER], &r.writer));
  FS_TRY(fs_fields_u64(&a->f, value[SIZE], &r.size));
  FS_TRY(fs_fields_u64(&a->f, value[SLOT], &r.slot));
  FS_TRY(fs_fields_u32(&a->f, value[DEPTH], &r.depth));
  FS_TRY(flag(a, value[ENTRY], &r.entry));
  FS_TRY(returns(a, value[RETURNS], &r));
  return fs_asm_push(a, rings, r);
}

static fs_status rings(fs_asm *a, loop_reader *l, uint32_t list) {
  uint32_t node;
  FS_TRY(fs_fields_sequence(&a->f, list, &node, &l->r.n_rings));
  for (; node != FS_NONE; node = fs_fields_next(&a->f, node)) {
    FS_TRY(ring(a, l, node));
  }
  return FSCHED_OK;
}

/* ---- ops */

/* Fields of an arg: the tags, of which it has exactly one, then where it is. */
enum {
  LOOP_ARG_RING = FS_N_TAGS,
  LOOP_ARG_BACK,
  LOOP_ARG_AT,
  LOOP_ARG_STEP,
  LOOP_ARG_OWN,
  LOOP_ARG_BEGINS,
  LOOP_ARG_FIELDS
};
static const fs_field loop_arg_fields[LOOP_ARG_FIELDS] = {FS_TAGS(FS_ASM_FIELD){"ring", false},
                                                          {"back", false},
                                                          {"at", false},
                                                          {"step", false},
                                                          {"own", false},
                                                          {"begins", false}};

static fs_status arg_keys(fs_asm *a, uint32_t node, const uint32_t *value, uint32_t tag) {
  bool ring = value[LOOP_ARG_RING] != FS_NONE, back = value[LOOP_ARG_BACK] != FS_NONE;
  bool own = value[LOOP_ARG_OWN] != FS_NONE;
  bool range = value[LOOP_ARG_AT] != FS_NONE || value[LOOP_ARG_STEP] != FS_NONE;
  if (!fs_tag_names_buffer(tag) && (ring || back || range || own)) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_KEY, node,
                          "a value has no ring and no range, and moves with nothing");
  }
  if (ring != back) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_KEY, node, "'ring' and 'back' go together");
  }
  if (ring && own) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_KEY, node,
                          "what has a ring moves with the arg that the ring is in");
  }
  return FSCHED_OK;
}

/* The last arg of the loop's op of the buffer, which writes if any does; FS_NONE: there is none. */
static uint32_t last_own(const fs_asm *a, const loop_reader *l, uint32_t buffer) {
  bool inner = l->r.within != FS_NONE;
  for (uint32_t i = l->own0 + l->n_own; i-- > l->own0;) {
    if ((inner ? a->loop_args.at[i].buffer : a->args.at[i].buffer) == buffer) {
      return i;
    }
  }
  return FS_NONE;
}

/* Reads what is told of the bytes of an arg, whose buffer is known. */
static fs_status loop_arg_bytes(fs_asm *a, const loop_reader *l, const uint32_t *value,
                                fs_stream_loop_arg *r) {
  r->length = a->buffers.at[r->buffer].size;
  r->own = last_own(a, l, r->buffer);
  if (value[LOOP_ARG_RING] != FS_NONE) {
    FS_TRY(numbered(a, value[LOOP_ARG_RING], l->r.ring0, l->r.n_rings, "ring", &r->ring));
    FS_TRY(fs_fields_u32(&a->f, value[LOOP_ARG_BACK], &r->back));
    r->length = a->rings.at[r->ring].size;
    r->own = a->rings.at[r->ring].arg;
  }
  if (value[LOOP_ARG_OWN] != FS_NONE) {
    FS_TRY(numbered(a, value[LOOP_ARG_OWN], l->own0, l->n_own, "arg", &r->own));
  }
  if (value[LOOP_ARG_AT] != FS_NONE && a->f.doc->node[value[LOOP_ARG_AT]].kind == FS_NODE_MAPPING) {
    fs_stream_view v;
    FS_TRY(
        fs_asm_view(a, value[LOOP_ARG_AT], (uint32_t)a->loop_args.n, &r->offset, &r->length, &v));
    FS_TRY(fs_asm_push(a, loop_views, v));
  } else if (value[LOOP_ARG_AT] != FS_NONE) {
    FS_TRY(fs_asm_range(a, value[LOOP_ARG_AT], &r->offset, &r->length));
  }
  return value[LOOP_ARG_STEP] == FS_NONE ? FSCHED_OK
                                         : fs_fields_i64(&a->f, value[LOOP_ARG_STEP], &r->step);
}

static fs_status loop_arg(fs_asm *a, const loop_reader *l, uint32_t node) {
  uint32_t value[LOOP_ARG_FIELDS];
  bool begins;
  fs_stream_loop_arg r = {.buffer = FS_NONE, .ring = FS_NONE, .own = FS_NONE};
  FS_TRY(fs_fields_mapping(&a->f, node, loop_arg_fields, LOOP_ARG_FIELDS, value));
  FS_TRY(fs_asm_tag(a, node, value, &r.tag));
  FS_TRY(arg_keys(a, node, value, r.tag));
  FS_TRY(fs_asm_begins(a, value[LOOP_ARG_BEGINS], r.tag, &begins));
  r.begins = begins;
  if (!fs_tag_names_buffer(r.tag)) {
    FS_TRY(fs_fields_i64(&a->f, value[r.tag], &r.value));
    return fs_asm_push(a, loop_args, r);
  }
  FS_TRY(fs_fields_name(&a->f, value[r.tag], &a->buffer_names, "buffer", &r.buffer));
  FS_TRY(loop_arg_bytes(a, l, value, &r));
  return fs_asm_push(a, loop_args, r);
}

static fs_status loop_afters(fs_asm *a, const loop_reader *l, uint32_t list, uint32_t *n) {
  enum { OP, DISTANCE, FIELDS };
  static const fs_field fields[FIELDS] = {{"op", true}, {"distance", true}};
  uint32_t node, value[FIELDS];
  FS_TRY(fs_fields_sequence(&a->f, list, &node, n));
  for (; node != FS_NONE; node = fs_fields_next(&a->f, node)) {
    fs_stream_loop_after r;
    FS_TRY(fs_fields_mapping(&a->f, node, fields, FIELDS, value));
    FS_TRY(member(a, l, value[OP], &r.op));
    FS_TRY(fs_fields_u32(&a->f, value[DISTANCE], &r.distance));
    FS_TRY(fs_asm_push(a, loop_afters, r));
  }
  return FSCHED_OK;
}

/* Reads how many args each member of the op has; their sum may still be wrong. */
static fs_status loop_members(fs_asm *a, uint32_t list, fs_stream_loop_op *op) {
  uint32_t node, arg = op->arg0;
  FS_TRY(fs_fields_sequence(&a->f, list, &node, &op->n_members));
  for (; node != FS_NONE; node = fs_fields_next(&a->f, node)) {
    fs_stream_member r = {.arg0 = arg};
    FS_TRY(fs_fields_u32(&a->f, node, &r.n_args));
    if (r.n_args > op->arg0 + op->n_args - arg) {
      return fs_fields_fail(&a->f, FS_DIAG_STREAM_VALUE, node,
                            "the members have more args than the op");
    }
    arg += r.n_args;
    FS_TRY(fs_asm_push(a, loop_members, r));
  }
  return FSCHED_OK;
}

static fs_status loop_op(fs_asm *a, const loop_reader *l, uint32_t node) {
  enum { NAME, TIME, LATENCY, KERNEL, SLOTS, ARGS, MEMBERS, AFTER, BY_CLASS, FIELDS };
  static const fs_field fields[FIELDS] = {
      {"name", true}, {"time", true},     {"latency", false}, {"kernel", false},  {"slots", false},
      {"args", true}, {"members", false}, {"after", false},   {"by_class", false}};
  uint32_t value[FIELDS], child;
  fs_stream_loop_op r = {.arg0 = (uint32_t)a->loop_args.n,
                         .after0 = (uint32_t)a->loop_afters.n,
                         .member0 = (uint32_t)a->loop_members.n,
                         .loop = FS_NONE,
                         .slots = 1};
  FS_TRY(fs_fields_mapping(&a->f, node, fields, FIELDS, value));
  FS_TRY(fs_asm_string(a, value[NAME], &r.name));
  FS_TRY(fs_fields_u64(&a->f, value[TIME], &r.time));
  r.latency = r.time;
  if (value[LATENCY] != FS_NONE) {
    FS_TRY(fs_fields_u64(&a->f, value[LATENCY], &r.latency));
  }
  FS_TRY(fs_asm_kernel(a, value[KERNEL], &r.kernel));
  FS_TRY(value[SLOTS] == FS_NONE ? FSCHED_OK : fs_fields_u32(&a->f, value[SLOTS], &r.slots));
  FS_TRY(fs_fields_sequence(&a->f, value[ARGS], &child, &r.n_args));
  for (; child != FS_NONE; child = fs_fields_next(&a->f, child)) {
    FS_TRY(loop_arg(a, l, child));
  }
  FS_TRY(value[MEMBERS] == FS_NONE ? FSCHED_OK : loop_members(a, value[MEMBERS], &r));
  FS_TRY(value[AFTER] == FS_NONE ? FSCHED_OK : loop_afters(a, l, value[AFTER], &r.n_afters));
  bool by_class;
  FS_TRY(fs_asm_flag(a, value[BY_CLASS], &by_class));
  r.by_class = by_class;
  return fs_asm_push(a, loop_ops, r);
}

static fs_status loop_ops(fs_asm *a, const loop_reader *l, uint32_t list) {
  uint32_t node;
  FS_TRY(fs_fields_sequence(&a->f, list, &node, NULL));
  for (; node != FS_NONE; node = fs_fields_next(&a->f, node)) {
    FS_TRY(loop_op(a, l, node));
  }
  return FSCHED_OK;
}

/* ---- commands */

/* Reads waits.  Their commands are not known yet: for now `command` is the op. */
static fs_status loop_waits(fs_asm *a, const loop_reader *l, uint32_t list,
                            fs_stream_loop_command *r) {
  enum { OP, DISTANCE, QUEUE, FIELDS };
  static const fs_field fields[FIELDS] = {{"op", true}, {"distance", true}, {"queue", false}};
  uint32_t node, value[FIELDS], queue;
  r->wait0 = (uint32_t)a->loop_waits.n;
  FS_TRY(fs_fields_sequence(&a->f, list, &node, &r->n_waits));
  for (; node != FS_NONE; node = fs_fields_next(&a->f, node)) {
    fs_stream_loop_wait w;
    FS_TRY(fs_fields_mapping(&a->f, node, fields, FIELDS, value));
    FS_TRY(member(a, l, value[OP], &w.command));
    FS_TRY(fs_fields_u32(&a->f, value[DISTANCE], &w.distance));
    queue = FS_NONE;
    FS_TRY(value[QUEUE] == FS_NONE
               ? FSCHED_OK
               : fs_fields_name(&a->f, value[QUEUE], &a->axis_names, "queue", &queue));
    FS_TRY(fs_asm_push(a, loop_waits, w));
    FS_TRY(fs_asm_push(a, wait_queue, queue));
  }
  return FSCHED_OK;
}

/* Finds the owner of a place.  *arg is the first arg of the op that has no place yet. */
static fs_status loop_owner(fs_asm *a, const uint32_t *value, const fs_stream_loop_op *op,
                            uint32_t *arg, fs_stream_place *p) {
  uint32_t scratch = value[FS_ASM_PLACE_SCRATCH], node = value[FS_ASM_PLACE_BUFFER], buffer;
  if (scratch != FS_NONE) {
    const char *text = NULL;
    FS_TRY(fs_fields_text(&a->f, scratch, &text));
    return fs_space_in_memory(p->space) && strcmp(text, a->strings.at + op->name) == 0
               ? FSCHED_OK
               : fs_fields_fail(&a->f, FS_DIAG_STREAM_PLACE, scratch,
                                "scratch belongs to the op of its command and lies in a memory");
  }
  if (node == FS_NONE) {
    return FSCHED_OK;
  }
  FS_TRY(fs_fields_name(&a->f, node, &a->buffer_names, "buffer", &buffer));
  FS_TRY(fs_asm_version(a, buffer, value[FS_ASM_PLACE_VERSION], &p->version));
  while (*arg < op->arg0 + op->n_args && a->loop_args.at[*arg].buffer == FS_NONE) {
    ++*arg;
  }
  if (*arg == op->arg0 + op->n_args || a->loop_args.at[*arg].buffer != buffer) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_PLACE, node,
                          "the op's next argument is not buffer '%s'",
                          a->buffer_names.text.at[buffer]);
  }
  p->arg = (*arg)++;
  return FSCHED_OK;
}

static fs_status loop_places(fs_asm *a, uint32_t list, fs_stream_loop_command *r) {
  const fs_stream_loop_op *op = &a->loop_ops.at[r->op];
  uint32_t node, arg = op->arg0, value[FS_ASM_PLACE_FIELDS];
  r->place0 = (uint32_t)a->loop_places.n;
  FS_TRY(fs_fields_sequence(&a->f, list, &node, &r->n_places));
  for (; node != FS_NONE; node = fs_fields_next(&a->f, node)) {
    fs_stream_place p;
    FS_TRY(fs_asm_place(a, node, value, &p));
    FS_TRY(loop_owner(a, value, op, &arg, &p));
    FS_TRY(fs_asm_push(a, loop_places, p));
  }
  return FSCHED_OK;
}

static fs_status loop_checks(fs_asm *a, const loop_reader *l, uint32_t list,
                             fs_stream_loop_command *r) {
  enum { GUARD, DISTANCE, FIELDS };
  static const fs_field fields[FIELDS] = {{"guard", true}, {"distance", true}};
  uint32_t node, value[FIELDS];
  FS_TRY(fs_fields_sequence(&a->f, list, &node, &r->n_checks));
  for (; node != FS_NONE; node = fs_fields_next(&a->f, node)) {
    fs_stream_guard_check x;
    FS_TRY(fs_fields_mapping(&a->f, node, fields, FIELDS, value));
    FS_TRY(numbered(a, value[GUARD], l->r.guard0, l->r.n_guards, "guard", &x.guard));
    FS_TRY(fs_fields_u32(&a->f, value[DISTANCE], &x.distance));
    FS_TRY(fs_asm_push(a, guard_checks, x));
  }
  return FSCHED_OK;
}

static fs_status loop_command(fs_asm *a, const loop_reader *l, uint32_t node) {
  enum { OP, COPY, SHIFT, ISSUE, WAITS, SIGNAL, CHECKS, PLACES, FIELDS };
  static const fs_field fields[FIELDS] = {{"op", true},      {"copy", true},  {"shift", true},
                                          {"issue", false},  {"waits", true}, {"signal", true},
                                          {"checks", false}, {"places", true}};
  uint32_t value[FIELDS];
  fs_stream_loop_command r = {.check0 = (uint32_t)a->guard_checks.n};
  FS_TRY(fs_fields_mapping(&a->f, node, fields, FIELDS, value));
  FS_TRY(member(a, l, value[OP], &r.op));
  FS_TRY(numbered(a, value[COPY], 0, l->r.copies, "copy", &r.copy));
  FS_TRY(fs_fields_u32(&a->f, value[SHIFT], &r.shift));
  FS_TRY(fs_asm_only(a, node, "issue", value[ISSUE], fs_sync_has_stops(a->meta.at[0].sync),
                     FS_SYNC_BLOCK));
  FS_TRY(value[ISSUE] == FS_NONE ? FSCHED_OK : fs_fields_u32(&a->f, value[ISSUE], &r.issue));
  FS_TRY(loop_waits(a, l, value[WAITS], &r));
  FS_TRY(flag(a, value[SIGNAL], &r.signal));
  FS_TRY(fs_asm_only(a, node, "checks", value[CHECKS], fs_sync_has_barriers(a->meta.at[0].sync),
                     FS_SYNC_BARRIER));
  FS_TRY(value[CHECKS] == FS_NONE ? FSCHED_OK : loop_checks(a, l, value[CHECKS], &r));
  FS_TRY(loop_places(a, value[PLACES], &r));
  return fs_asm_push(a, loop_commands, r);
}

static fs_status guard(fs_asm *a, const loop_reader *l, uint32_t node) {
  enum { PHYSICAL, DEPTH, PRODUCERS, QUEUE, FIELDS };
  static const fs_field fields[FIELDS] = {
      {"physical", true}, {"depth", true}, {"producers", true}, {"queue", false}};
  uint32_t value[FIELDS], child, op;
  fs_stream_guard r = {.producer0 = (uint32_t)a->producers.n, .queue = FS_NONE};
  FS_TRY(fs_fields_mapping(&a->f, node, fields, FIELDS, value));
  FS_TRY(fs_fields_u32(&a->f, value[PHYSICAL], &r.physical));
  FS_TRY(fs_fields_u32(&a->f, value[DEPTH], &r.depth));
  FS_TRY(fs_fields_sequence(&a->f, value[PRODUCERS], &child, &r.n_producers));
  for (; child != FS_NONE; child = fs_fields_next(&a->f, child)) {
    FS_TRY(member(a, l, child, &op));
    FS_TRY(fs_asm_push(a, producers, op));
  }
  FS_TRY(value[QUEUE] == FS_NONE
             ? FSCHED_OK
             : fs_fields_name(&a->f, value[QUEUE], &a->axis_names, "queue", &r.queue));
  return fs_asm_push(a, guards, r);
}

static fs_status guards(fs_asm *a, loop_reader *l, uint32_t list) {
  uint32_t node;
  FS_TRY(fs_fields_sequence(&a->f, list, &node, &l->r.n_guards));
  for (; node != FS_NONE; node = fs_fields_next(&a->f, node)) {
    FS_TRY(guard(a, l, node));
  }
  return FSCHED_OK;
}

static fs_status loop_queue(fs_asm *a, const loop_reader *l, uint32_t node) {
  enum { QUEUE, COMMANDS, FIELDS };
  static const fs_field fields[FIELDS] = {{"queue", true}, {"commands", true}};
  uint32_t value[FIELDS], child;
  fs_stream_loop_queue r = {.command0 = (uint32_t)a->loop_commands.n};
  FS_TRY(fs_fields_mapping(&a->f, node, fields, FIELDS, value));
  FS_TRY(fs_fields_name(&a->f, value[QUEUE], &a->axis_names, "queue", &r.queue));
  FS_TRY(fs_fields_sequence(&a->f, value[COMMANDS], &child, &r.n_commands));
  for (; child != FS_NONE; child = fs_fields_next(&a->f, child)) {
    FS_TRY(loop_command(a, l, child));
  }
  return fs_asm_push(a, loop_queues, r);
}

static fs_status loop_queues(fs_asm *a, loop_reader *l, uint32_t list) {
  uint32_t node;
  FS_TRY(fs_fields_sequence(&a->f, list, &node, &l->r.n_queues));
  for (; node != FS_NONE; node = fs_fields_next(&a->f, node)) {
    FS_TRY(loop_queue(a, l, node));
  }
  return FSCHED_OK;
}

/* The command of an op and copy on a queue, FS_NONE if there is none. */
static uint32_t command_on(const fs_asm *a, const loop_reader *l, uint32_t op, uint32_t copy,
                           uint32_t queue) {
  for (uint32_t q = (uint32_t)a->loop_queues.n - l->r.n_queues; q < a->loop_queues.n; q++) {
    const fs_stream_loop_queue *of = &a->loop_queues.at[q];
    for (uint32_t c = of->command0; of->queue == queue && c < of->command0 + of->n_commands; c++) {
      if (a->loop_commands.at[c].op == op && a->loop_commands.at[c].copy == copy) {
        return c;
      }
    }
  }
  return FS_NONE;
}

/* Finds the commands that the loop's waits are for. */
static fs_status find_targets(fs_asm *a, const loop_reader *l, uint32_t node) {
  uint32_t u = l->r.copies, *command; /* per op and copy */
  FS_TRY(fs_new_none(&a->arena, &command, (size_t)l->r.n_ops * u));
  for (uint32_t i = (uint32_t)a->loop_commands.n; i-- > l->command0;) {
    const fs_stream_loop_command *m = &a->loop_commands.at[i];
    command[(size_t)(m->op - l->r.op0) * u + m->copy] = i;
  }
  for (uint32_t i = l->command0; i < a->loop_commands.n; i++) {
    const fs_stream_loop_command *m = &a->loop_commands.at[i];
    for (uint32_t k = m->wait0; k < m->wait0 + m->n_waits; k++) {
      fs_stream_loop_wait *w = &a->loop_waits.at[k];
      uint32_t copy = (m->copy + u - w->distance % u) % u, op = w->command;
      uint32_t queue = a->wait_queue.at[k];
      w->command = queue == FS_NONE ? command[(size_t)(op - l->r.op0) * u + copy]
                                    : command_on(a, l, op, copy, queue);
      if (w->command == FS_NONE) {
        return fs_fields_fail(&a->f, FS_DIAG_STREAM_REFERENCE, node,
                              "a wait is for copy %u of '%s', which has no command", copy,
                              a->strings.at + a->loop_ops.at[op].name);
      }
    }
  }
  return FSCHED_OK;
}

/* ---- the whole */

enum {
  LOOP_OP,
  LOOP_WITHIN,
  LOOP_TRIP,
  LOOP_COPIES,
  LOOP_RINGS,
  LOOP_OPS,
  LOOP_QUEUES,
  LOOP_STOPS,
  LOOP_GUARDS,
  LOOP_JOINED,
  LOOP_FIELDS
};
static const fs_field loop_fields[LOOP_FIELDS] = {
    {"op", true},  {"within", false}, {"trip", true},   {"copies", true},  {"rings", true},
    {"ops", true}, {"queues", true},  {"stops", false}, {"guards", false}, {"joined", false}};

/* Finds the op that the loop is: of the stream, or of the body of a loop before it. */
static fs_status own_op(fs_asm *a, loop_reader *l, const uint32_t *value) {
  if (value[LOOP_WITHIN] == FS_NONE) {
    FS_TRY(fs_fields_name(&a->f, value[LOOP_OP], &a->op_names, "op", &l->r.op));
    l->own0 = a->ops.at[l->r.op].arg0;
    l->n_own = a->ops.at[l->r.op].n_args;
    return FSCHED_OK;
  }
  FS_TRY(fs_fields_u32(&a->f, value[LOOP_WITHIN], &l->r.within));
  if (l->r.within >= l->number) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_REFERENCE, value[LOOP_WITHIN],
                          "loop %u is in loop %u, which does not come before it", l->number,
                          l->r.within);
  }
  FS_TRY(fs_fields_name(&a->f, value[LOOP_OP], &l->names[l->r.within], "op of the loop around",
                        &l->r.op));
  l->r.op += a->loops.at[l->r.within].op0;
  fs_stream_loop_op *op = &a->loop_ops.at[l->r.op];
  op->loop = l->number;
  l->own0 = op->arg0;
  l->n_own = op->n_args;
  return FSCHED_OK;
}

/* Reads a number of trips, or the parameter that gives it. */
static fs_status trips(fs_asm *a, loop_reader *l, uint32_t node) {
  static const fs_field field = {"param", true};
  uint32_t value;
  if (a->f.doc->node[node].kind != FS_NODE_MAPPING) {
    FS_TRY(fs_fields_u64(&a->f, node, &l->r.trip));
    l->r.least = l->r.most = l->r.trip;
    return FSCHED_OK;
  }
  FS_TRY(fs_fields_mapping(&a->f, node, &field, 1, &value));
  FS_TRY(fs_fields_name(&a->f, value, &a->param_names, "parameter", &l->r.param));
  l->r.least = a->params.at[l->r.param].least;
  l->r.trip = l->r.most = a->params.at[l->r.param].most;
  return FSCHED_OK;
}

static fs_status read_loop(fs_asm *a, loop_reader *l, uint32_t node) {
  uint32_t value[LOOP_FIELDS];
  FS_TRY(fs_fields_mapping(&a->f, node, loop_fields, LOOP_FIELDS, value));
  FS_TRY(own_op(a, l, value));
  FS_TRY(trips(a, l, value[LOOP_TRIP]));
  FS_TRY(fs_fields_u32(&a->f, value[LOOP_COPIES], &l->r.copies));
  if (l->r.copies == 0 || l->r.copies > FS_LOOP_COPIES) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_VALUE, value[LOOP_COPIES],
                          "a loop has 1 to %u copies", FS_LOOP_COPIES);
  }
  FS_TRY(value[LOOP_JOINED] == FS_NONE ? FSCHED_OK : flag(a, value[LOOP_JOINED], &l->r.joined));
  FS_TRY(fs_asm_declare(a, &l->names[l->number], value[LOOP_OPS], "op of the loop"));
  l->r.n_ops = fs_names_count(&l->names[l->number]);
  FS_TRY(rings(a, l, value[LOOP_RINGS]));
  FS_TRY(loop_ops(a, l, value[LOOP_OPS]));
  FS_TRY(fs_asm_only(a, node, "guards", value[LOOP_GUARDS],
                     fs_sync_has_barriers(a->meta.at[0].sync), FS_SYNC_BARRIER));
  FS_TRY(value[LOOP_GUARDS] == FS_NONE ? FSCHED_OK : guards(a, l, value[LOOP_GUARDS]));
  FS_TRY(loop_queues(a, l, value[LOOP_QUEUES]));
  FS_TRY(find_targets(a, l, node));
  FS_TRY(fs_asm_only(a, node, "stops", value[LOOP_STOPS], fs_sync_has_stops(a->meta.at[0].sync),
                     FS_SYNC_BLOCK));
  if (value[LOOP_STOPS] != FS_NONE) {
    uint32_t n = (uint32_t)a->loop_commands.n - l->command0;
    FS_TRY(fs_asm_loop_stops(a, value[LOOP_STOPS], n, &l->r.n_stops));
  }
  return fs_asm_push(a, loops, l->r);
}

/* Reads the loops of the list into `names`, one for each. */
static fs_status read_loops(fs_asm *a, fs_names *names, uint32_t node) {
  for (uint32_t i = 0; node != FS_NONE; node = fs_fields_next(&a->f, node), i++) {
    loop_reader l = {.r = {.queue0 = (uint32_t)a->loop_queues.n,
                           .op0 = (uint32_t)a->loop_ops.n,
                           .ring0 = (uint32_t)a->rings.n,
                           .stop0 = (uint32_t)a->loop_stops.n,
                           .guard0 = (uint32_t)a->guards.n,
                           .param = FS_NONE,
                           .within = FS_NONE},
                     .names = names,
                     .number = i,
                     .command0 = (uint32_t)a->loop_commands.n};
    FS_TRY(read_loop(a, &l, node));
  }
  return FSCHED_OK;
}

fs_status fs_asm_loops(fs_asm *a, uint32_t list) {
  assert(list < a->f.doc->n_nodes);
  uint32_t node, n;
  fs_names *names;
  FS_TRY(fs_fields_sequence(&a->f, list, &node, &n));
  FS_TRY(fs_new_zero(&a->arena, &names, n));
  for (uint32_t i = 0; i < n; i++) {
    fs_names_init(&names[i], &a->arena);
  }
  fs_status status = read_loops(a, names, node);
  for (uint32_t i = 0; i < n; i++) {
    fs_names_free(&names[i]);
  }
  return status;
}
