/* SPDX-License-Identifier: Apache-2.0 */
/* Assembly of the text that dis/json.c writes.  Each list becomes its section, in the order in
 * which the sections lie in the file, so that texts are added in canonical order too.  The result
 * then goes through fs_stream_check like any file. */
#include "codegen/asm/asm.h"

#include <stdlib.h>

#include "codegen/draft.h"
#include "codegen/load/load.h"
#include "fsched/graph.h"
#include "model/kinds.h"

fs_status fs_asm_string(fs_asm *a, uint32_t node, uint32_t *offset) {
  *offset = FS_NONE;
  if (node == FS_NONE) {
    return FSCHED_OK;
  }
  const char *text = NULL;
  FS_TRY(fs_fields_text(&a->f, node, &text));
  size_t n = strlen(text) + 1;
  if (a->strings.n + n > INT32_MAX) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_LIMIT, node, "the texts take more than 2^31 bytes");
  }
  FS_TRY(fs_vec_reserve(a->f.ctx, &a->strings, a->strings.n + n));
  memcpy(a->strings.at + a->strings.n, text, n);
  *offset = (uint32_t)a->strings.n;
  a->strings.n += n;
  return FSCHED_OK;
}

/* Reads a name that other records refer to: adds its text, and an entry to its table. */
static fs_status declare(fs_asm *a, fs_names *names, uint32_t node, const char *what) {
  const char *text = NULL;
  FS_TRY(fs_fields_text(&a->f, node, &text));
  uint32_t id;
  bool added;
  FS_TRY(fs_names_intern(names, text, strlen(text), &id, &added));
  if (!added) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_NAME, node, "there is another %s named '%s'", what,
                          text);
  }
  return FSCHED_OK;
}

fs_status fs_asm_declare(fs_asm *a, fs_names *names, uint32_t list, const char *what) {
  uint32_t node;
  FS_TRY(fs_fields_sequence(&a->f, list, &node, NULL));
  for (; node != FS_NONE; node = fs_fields_next(&a->f, node)) {
    uint32_t pair;
    FS_TRY(fs_fields_pairs(&a->f, node, &pair, NULL));
    uint32_t name = fs_node_get(a->f.doc, node, "name");
    if (name == FS_NONE) {
      return fs_fields_fail(&a->f, FS_DIAG_STREAM_KEY, node, "key 'name' is missing");
    }
    FS_TRY(declare(a, names, name, what));
  }
  return FSCHED_OK;
}

static fs_status optional_u64(fs_asm *a, uint32_t node, uint64_t otherwise, uint64_t *out) {
  *out = otherwise;
  return node == FS_NONE ? FSCHED_OK : fs_fields_u64(&a->f, node, out);
}

static fs_status optional_flag(fs_asm *a, uint32_t node, uint32_t *out) {
  bool flag = false;
  if (node != FS_NONE) {
    FS_TRY(fs_fields_bool(&a->f, node, &flag));
  }
  *out = flag;
  return FSCHED_OK;
}

/* ---- target */

enum { AXIS_NAME, AXIS_ID, AXIS_KIND, AXIS_MEMBERS, AXIS_FIELDS };
static const fs_field axis_fields[AXIS_FIELDS] = {
    {"name", true}, {"id", true}, {"kind", true}, {"members", false}};

static fs_status axis_id(fs_asm *a, uint32_t node, uint64_t *id) {
  const char *text = NULL;
  FS_TRY(fs_fields_text(&a->f, node, &text));
  if (strlen(text) != 18 || strncmp(text, "0x", 2) != 0 ||
      strspn(text + 2, "0123456789abcdef") != 16) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_TYPE, node,
                          "expected \"0x\" and 16 hexadecimal digits, found '%.40s'", text);
  }
  *id = strtoull(text + 2, NULL, 16);
  return FSCHED_OK;
}

static fs_status axis(fs_asm *a, uint32_t node) {
  uint32_t value[AXIS_FIELDS], member = FS_NONE;
  fs_stream_axis r = {.kind = FS_AXIS_QUEUE};
  FS_TRY(fs_fields_mapping(&a->f, node, axis_fields, AXIS_FIELDS, value));
  FS_TRY(fs_asm_string(a, value[AXIS_NAME], &r.name));
  FS_TRY(axis_id(a, value[AXIS_ID], &r.id));
  FS_TRY(fs_fields_word(&a->f, value[AXIS_KIND], FS_WORDS(fs_words_axis), &r.kind));
  if (fs_axis_has_members(r.kind)) {
    r.member0 = (uint32_t)a->axis_members.n;
    if (value[AXIS_MEMBERS] == FS_NONE) {
      return fs_fields_fail(&a->f, FS_DIAG_STREAM_KEY, node, "key 'members' is missing");
    }
    FS_TRY(fs_fields_sequence(&a->f, value[AXIS_MEMBERS], &member, &r.n_members));
  } else if (value[AXIS_MEMBERS] != FS_NONE) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_KEY, value[AXIS_MEMBERS], "a queue has no members");
  }
  for (; member != FS_NONE; member = fs_fields_next(&a->f, member)) {
    uint32_t queue;
    FS_TRY(fs_fields_name(&a->f, member, &a->axis_names, "queue", &queue));
    FS_TRY(fs_asm_push(a, axis_members, queue));
  }
  return fs_asm_push(a, axes, r);
}

enum {
  MEMORY_NAME,
  MEMORY_CAPACITY,
  MEMORY_ALIGN,
  MEMORY_PLACEMENT,
  MEMORY_BACKING,
  MEMORY_EXTENT,
  MEMORY_HOST,
  MEMORY_FIELDS
};
static const fs_field memory_fields[MEMORY_FIELDS] = {
    {"name", true},     {"capacity", false}, {"align", true}, {"placement", true},
    {"backing", false}, {"extent", true},    {"host", false}};

static fs_status memory(fs_asm *a, uint32_t node) {
  uint32_t value[MEMORY_FIELDS];
  fs_stream_memory r = {.backing = FS_NONE};
  FS_TRY(fs_fields_mapping(&a->f, node, memory_fields, MEMORY_FIELDS, value));
  FS_TRY(fs_asm_string(a, value[MEMORY_NAME], &r.name));
  FS_TRY(optional_u64(a, value[MEMORY_CAPACITY], FS_UNBOUNDED, &r.capacity));
  FS_TRY(fs_fields_u64(&a->f, value[MEMORY_ALIGN], &r.align));
  FS_TRY(
      fs_fields_word(&a->f, value[MEMORY_PLACEMENT], FS_WORDS(fs_words_placement), &r.placement));
  if (fs_placement_is_stack(r.placement)) {
    r.placement = FSCHED_CONTIGUOUS;
    r.stack = 1;
  }
  if (value[MEMORY_BACKING] != FS_NONE) {
    FS_TRY(fs_fields_name(&a->f, value[MEMORY_BACKING], &a->memory_names, "memory", &r.backing));
  }
  FS_TRY(fs_fields_u64(&a->f, value[MEMORY_EXTENT], &r.extent));
  FS_TRY(optional_flag(a, value[MEMORY_HOST], &r.host));
  return fs_asm_push(a, memories, r);
}

static fs_status resource(fs_asm *a, uint32_t node) {
  enum { NAME, CAPACITY, FIELDS };
  static const fs_field fields[FIELDS] = {{"name", true}, {"capacity", true}};
  uint32_t value[FIELDS];
  fs_stream_resource r = {0};
  FS_TRY(fs_fields_mapping(&a->f, node, fields, FIELDS, value));
  FS_TRY(fs_asm_string(a, value[NAME], &r.name));
  FS_TRY(fs_fields_u64(&a->f, value[CAPACITY], &r.capacity));
  return fs_asm_push(a, resources, r);
}

/* ---- buffers */

static fs_status spot(fs_asm *a, uint32_t node, uint32_t *memory_id, uint64_t *address) {
  enum { MEMORY, ADDRESS, FIELDS };
  static const fs_field fields[FIELDS] = {{"memory", true}, {"address", true}};
  uint32_t value[FIELDS];
  *memory_id = FS_NONE;
  *address = 0;
  if (node == FS_NONE) {
    return FSCHED_OK;
  }
  FS_TRY(fs_fields_mapping(&a->f, node, fields, FIELDS, value));
  FS_TRY(fs_fields_name(&a->f, value[MEMORY], &a->memory_names, "memory", memory_id));
  return fs_fields_u64(&a->f, value[ADDRESS], address);
}

static fs_status versions(fs_asm *a, uint32_t list, fs_stream_buffer *b) {
  enum { GIVEN, KEPT, FIELDS };
  static const fs_field fields[FIELDS] = {{"given", false}, {"kept", false}};
  uint32_t node;
  b->version0 = (uint32_t)a->versions.n;
  FS_TRY(fs_fields_sequence(&a->f, list, &node, &b->n_versions));
  for (uint32_t k = 0; node != FS_NONE; node = fs_fields_next(&a->f, node), k++) {
    uint32_t value[FIELDS];
    fs_stream_version r = {.buffer = (uint32_t)a->buffers.n, .index = k};
    FS_TRY(fs_fields_mapping(&a->f, node, fields, FIELDS, value));
    FS_TRY(spot(a, value[GIVEN], &r.given_memory, &r.given_address));
    FS_TRY(spot(a, value[KEPT], &r.kept_memory, &r.kept_address));
    FS_TRY(fs_asm_push(a, versions, r));
  }
  return FSCHED_OK;
}

/* What is given and kept of a buffer. */
static fs_status slot(fs_asm *a, uint32_t node, fs_stream_buffer *b) {
  enum { SIZE, GIVEN, KEPT, FIELDS };
  static const fs_field fields[FIELDS] = {{"size", true}, {"given", true}, {"kept", true}};
  uint32_t value[FIELDS];
  b->io_size = b->size;
  if (node == FS_NONE) {
    return FSCHED_OK;
  }
  FS_TRY(fs_fields_mapping(&a->f, node, fields, FIELDS, value));
  FS_TRY(fs_fields_u64(&a->f, value[SIZE], &b->io_size));
  FS_TRY(fs_fields_u64(&a->f, value[GIVEN], &b->given));
  return fs_fields_u64(&a->f, value[KEPT], &b->kept);
}

static fs_status buffer(fs_asm *a, uint32_t node) {
  enum { NAME, SIZE, MEMORY, IO, SLOT, VERSIONS, FIELDS };
  static const fs_field fields[FIELDS] = {{"name", true}, {"size", true},  {"memory", true},
                                          {"io", false},  {"slot", false}, {"versions", true}};
  uint32_t value[FIELDS];
  fs_stream_buffer r = {.io = FSCHED_IO_NONE};
  FS_TRY(fs_fields_mapping(&a->f, node, fields, FIELDS, value));
  FS_TRY(fs_asm_string(a, value[NAME], &r.name));
  FS_TRY(fs_fields_u64(&a->f, value[SIZE], &r.size));
  FS_TRY(fs_fields_name(&a->f, value[MEMORY], &a->memory_names, "memory", &r.memory));
  if (value[IO] != FS_NONE) {
    FS_TRY(fs_fields_word(&a->f, value[IO], FS_WORDS(fs_words_io), &r.io));
  }
  FS_TRY(slot(a, value[SLOT], &r));
  FS_TRY(versions(a, value[VERSIONS], &r));
  return fs_asm_push(a, buffers, r);
}

fs_status fs_asm_version(fs_asm *a, uint32_t buffer_id, uint32_t node, uint32_t *version) {
  assert(buffer_id < fs_names_count(&a->buffer_names));
  uint32_t index;
  *version = FS_NONE;
  if (node == FS_NONE) {
    return FSCHED_OK;
  }
  FS_TRY(fs_fields_u32(&a->f, node, &index));
  const fs_stream_buffer *b = &a->buffers.at[buffer_id];
  if (index >= b->n_versions) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_REFERENCE, node,
                          "buffer '%s' has no version %u, but %u versions", a->strings.at + b->name,
                          index, b->n_versions);
  }
  *version = b->version0 + index;
  return FSCHED_OK;
}

/* ---- ops */

/* Fields of an arg: the tags, of which it has exactly one, then its version and its range. */
enum { ARG_VERSION = FS_N_TAGS, ARG_AT, ARG_BEGINS, ARG_FIELDS };
static const fs_field arg_fields[ARG_FIELDS] = {
    FS_TAGS(FS_ASM_FIELD){"version", false}, {"at", false}, {"begins", false}};

fs_status fs_asm_tag(fs_asm *a, uint32_t node, const uint32_t *value, uint32_t *tag) {
  *tag = FS_NONE;
  for (uint32_t i = 0; i < FS_N_TAGS; i++) {
    if (value[i] != FS_NONE && *tag != FS_NONE) {
      return fs_fields_fail(&a->f, FS_DIAG_STREAM_KEY, value[i], "an arg has one tag");
    }
    *tag = value[i] != FS_NONE ? i : *tag;
  }
  if (*tag == FS_NONE) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_KEY, node,
                          "the arg has no tag (in, out, inout, out_existing, no_dep, value)");
  }
  return FSCHED_OK;
}

fs_status fs_asm_range(fs_asm *a, uint32_t node, uint64_t *offset, uint64_t *length) {
  assert(node < a->f.doc->n_nodes);
  uint32_t at, n;
  FS_TRY(fs_fields_sequence(&a->f, node, &at, &n));
  if (n != 2) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_TYPE, node, "expected [offset, length]");
  }
  FS_TRY(fs_fields_u64(&a->f, at, offset));
  return fs_fields_u64(&a->f, fs_fields_next(&a->f, at), length);
}

fs_status fs_asm_flag(fs_asm *a, uint32_t node, bool *out) {
  *out = false;
  return node == FS_NONE ? FSCHED_OK : fs_fields_bool(&a->f, node, out);
}

fs_status fs_asm_begins(fs_asm *a, uint32_t node, uint32_t tag, bool *begins) {
  *begins = false;
  if (node == FS_NONE) {
    return FSCHED_OK;
  }
  return fs_tag_writes_over(tag)
             ? fs_fields_bool(&a->f, node, begins)
             : fs_fields_fail(&a->f, FS_DIAG_STREAM_KEY, node, "'begins' is of an 'out_existing'");
}

/* Reads the view of the next arg. */
static fs_status view(fs_asm *a, uint32_t node, fs_stream_arg *r) {
  fs_stream_view v;
  FS_TRY(fs_asm_view(a, node, (uint32_t)a->args.n, &r->offset, &r->length, &v));
  return fs_asm_push(a, views, v);
}

static fs_status arg(fs_asm *a, uint32_t node) {
  uint32_t value[ARG_FIELDS];
  bool begins;
  fs_stream_arg r = {.buffer = FS_NONE, .version = FS_NONE};
  FS_TRY(fs_fields_mapping(&a->f, node, arg_fields, ARG_FIELDS, value));
  FS_TRY(fs_asm_tag(a, node, value, &r.tag));
  FS_TRY(fs_asm_begins(a, value[ARG_BEGINS], r.tag, &begins));
  r.begins = begins;
  if (!fs_tag_names_buffer(r.tag)) {
    if (value[ARG_VERSION] != FS_NONE || value[ARG_AT] != FS_NONE) {
      return fs_fields_fail(&a->f, FS_DIAG_STREAM_KEY, node, "a value has no version and no range");
    }
    FS_TRY(fs_fields_i64(&a->f, value[r.tag], &r.value));
    return fs_asm_push(a, args, r);
  }
  FS_TRY(fs_fields_name(&a->f, value[r.tag], &a->buffer_names, "buffer", &r.buffer));
  FS_TRY(fs_asm_version(a, r.buffer, value[ARG_VERSION], &r.version));
  r.length = a->buffers.at[r.buffer].size;
  r.has_at = value[ARG_AT] != FS_NONE;
  if (r.has_at && a->f.doc->node[value[ARG_AT]].kind == FS_NODE_MAPPING) {
    FS_TRY(view(a, value[ARG_AT], &r));
  } else if (r.has_at) {
    FS_TRY(fs_asm_range(a, value[ARG_AT], &r.offset, &r.length));
  }
  return fs_asm_push(a, args, r);
}

/* Walks an object from names to amounts, or a list of names and amounts where a name is too long
 * for a key. */
typedef struct amounts {
  const fs_names *names;
  const char *what; /* what the names stand for, for messages */
  uint32_t at;      /* node of the next amount, FS_NONE after the last */
  bool list;
} amounts;

static fs_status open_amounts(fs_asm *a, uint32_t node, amounts *m, uint32_t *n) {
  m->list = a->f.doc->node[node].kind == FS_NODE_SEQUENCE;
  return m->list ? fs_fields_sequence(&a->f, node, &m->at, n)
                 : fs_fields_pairs(&a->f, node, &m->at, n);
}

static fs_status next_amount(fs_asm *a, amounts *m, uint32_t *id, uint64_t *amount) {
  enum { NAME, AMOUNT, FIELDS };
  static const fs_field fields[FIELDS] = {{"name", true}, {"amount", true}};
  uint32_t value[FIELDS] = {m->at, fs_fields_next(&a->f, m->at)};
  m->at = fs_fields_next(&a->f, value[m->list ? NAME : AMOUNT]);
  if (m->list) {
    FS_TRY(fs_fields_mapping(&a->f, value[NAME], fields, FIELDS, value));
  }
  FS_TRY(fs_fields_name(&a->f, value[NAME], m->names, m->what, id));
  return fs_fields_u64(&a->f, value[AMOUNT], amount);
}

static fs_status uses(fs_asm *a, uint32_t node, uint32_t *n) {
  amounts m = {.names = &a->resource_names, .what = "resource"};
  FS_TRY(open_amounts(a, node, &m, n));
  while (m.at != FS_NONE) {
    fs_stream_use r = {0};
    FS_TRY(next_amount(a, &m, &r.resource, &r.amount));
    FS_TRY(fs_asm_push(a, uses, r));
  }
  return FSCHED_OK;
}

static fs_status scratches(fs_asm *a, uint32_t node, uint32_t *n) {
  amounts m = {.names = &a->memory_names, .what = "memory"};
  FS_TRY(open_amounts(a, node, &m, n));
  while (m.at != FS_NONE) {
    fs_stream_scratch r = {0};
    FS_TRY(next_amount(a, &m, &r.memory, &r.size));
    FS_TRY(fs_asm_push(a, scratches, r));
  }
  return FSCHED_OK;
}

static fs_status afters(fs_asm *a, uint32_t list, uint32_t *n) {
  uint32_t node;
  FS_TRY(fs_fields_sequence(&a->f, list, &node, n));
  for (; node != FS_NONE; node = fs_fields_next(&a->f, node)) {
    uint32_t op_id;
    FS_TRY(fs_fields_name(&a->f, node, &a->op_names, "op", &op_id));
    FS_TRY(fs_asm_push(a, afters, op_id));
  }
  return FSCHED_OK;
}

/* Reads how many args each member of the op has; their sum may still be wrong. */
static fs_status members(fs_asm *a, uint32_t list, fs_stream_op *op) {
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
    FS_TRY(fs_asm_push(a, members, r));
  }
  return FSCHED_OK;
}

fs_status fs_asm_kernel(fs_asm *a, uint32_t node, uint32_t *out) {
  *out = FS_NONE;
  if (node == FS_NONE) {
    return FSCHED_OK;
  }
  FS_TRY(fs_fields_u32(&a->f, node, out));
  if (*out >= a->n_kernels) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_REFERENCE, node,
                          "there is no kernel %u, but %u kernels", *out, a->n_kernels);
  }
  return FSCHED_OK;
}

static fs_status op(fs_asm *a, uint32_t node) {
  enum { NAME, TIME, KERNEL, ARGS, MEMBERS, USES, SCRATCH, AFTER, SLOTS, BY_CLASS, FIELDS };
  static const fs_field fields[FIELDS] = {{"name", true},     {"time", true},     {"kernel", false},
                                          {"args", true},     {"members", false}, {"uses", false},
                                          {"scratch", false}, {"after", false},   {"slots", false},
                                          {"by_class", false}};
  uint32_t value[FIELDS], child;
  fs_stream_op r = {.arg0 = (uint32_t)a->args.n,
                    .use0 = (uint32_t)a->uses.n,
                    .scratch0 = (uint32_t)a->scratches.n,
                    .after0 = (uint32_t)a->afters.n,
                    .member0 = (uint32_t)a->members.n,
                    .slots = 1};
  FS_TRY(fs_fields_mapping(&a->f, node, fields, FIELDS, value));
  FS_TRY(fs_asm_string(a, value[NAME], &r.name));
  FS_TRY(fs_fields_u64(&a->f, value[TIME], &r.time));
  FS_TRY(fs_asm_kernel(a, value[KERNEL], &r.kernel));
  FS_TRY(fs_fields_sequence(&a->f, value[ARGS], &child, &r.n_args));
  for (; child != FS_NONE; child = fs_fields_next(&a->f, child)) {
    FS_TRY(arg(a, child));
  }
  FS_TRY(value[MEMBERS] == FS_NONE ? FSCHED_OK : members(a, value[MEMBERS], &r));
  FS_TRY(value[USES] == FS_NONE ? FSCHED_OK : uses(a, value[USES], &r.n_uses));
  FS_TRY(value[SCRATCH] == FS_NONE ? FSCHED_OK : scratches(a, value[SCRATCH], &r.n_scratches));
  FS_TRY(value[AFTER] == FS_NONE ? FSCHED_OK : afters(a, value[AFTER], &r.n_afters));
  FS_TRY(value[SLOTS] == FS_NONE ? FSCHED_OK : fs_fields_u32(&a->f, value[SLOTS], &r.slots));
  bool by_class;
  FS_TRY(fs_asm_flag(a, value[BY_CLASS], &by_class));
  r.by_class = by_class;
  return fs_asm_push(a, ops, r);
}

static fs_status triple(fs_asm *a, uint32_t list, uint32_t *out) {
  uint32_t node, n;
  FS_TRY(fs_fields_sequence(&a->f, list, &node, &n));
  if (n != 3) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_TYPE, list, "expected [x, y, z]");
  }
  for (uint32_t i = 0; i < 3; i++, node = fs_fields_next(&a->f, node)) {
    FS_TRY(fs_fields_u32(&a->f, node, &out[i]));
  }
  return FSCHED_OK;
}

static fs_status kernel(fs_asm *a, uint32_t node) {
  enum { SHARED, BUILTIN, MODULE, FUNCTION, PARAMS, GRID, BLOCK, FIELDS };
  static const fs_field fields[FIELDS] = {
      {"shared", true},  {"builtin", false}, {"module", false}, {"function", false},
      {"params", false}, {"grid", true},     {"block", true}};
  uint32_t value[FIELDS];
  fs_stream_kernel r = {0};
  FS_TRY(fs_fields_mapping(&a->f, node, fields, FIELDS, value));
  FS_TRY(fs_fields_u64(&a->f, value[SHARED], &r.shared_bytes));
  FS_TRY(fs_asm_string(a, value[BUILTIN], &r.builtin));
  FS_TRY(fs_asm_string(a, value[MODULE], &r.module));
  FS_TRY(fs_asm_string(a, value[FUNCTION], &r.function));
  FS_TRY(fs_asm_string(a, value[PARAMS], &r.params));
  FS_TRY(triple(a, value[GRID], r.grid));
  FS_TRY(triple(a, value[BLOCK], r.block));
  return fs_asm_push(a, kernels, r);
}

/* ---- queues: their records lie before the memories', their commands come last */

enum {
  QUEUE_NAME,
  QUEUE_CLASS,
  QUEUE_DEVICE,
  QUEUE_MACHINE,
  QUEUE_COUNTING,
  QUEUE_HOST,
  QUEUE_COMMANDS,
  QUEUE_FIELDS
};
static const fs_field queue_fields[QUEUE_FIELDS] = {
    {"name", true},      {"class", true}, {"device", true},  {"machine", true},
    {"counting", false}, {"host", false}, {"commands", true}};

static fs_status queue(fs_asm *a, uint32_t node) {
  uint32_t value[QUEUE_FIELDS];
  fs_stream_queue r = {0};
  FS_TRY(fs_fields_mapping(&a->f, node, queue_fields, QUEUE_FIELDS, value));
  FS_TRY(fs_asm_string(a, value[QUEUE_NAME], &r.name));
  FS_TRY(fs_asm_string(a, value[QUEUE_CLASS], &r.class_name));
  FS_TRY(fs_fields_u32(&a->f, value[QUEUE_DEVICE], &r.device));
  FS_TRY(fs_fields_u32(&a->f, value[QUEUE_MACHINE], &r.machine));
  FS_TRY(optional_flag(a, value[QUEUE_COUNTING], &r.counting));
  FS_TRY(optional_flag(a, value[QUEUE_HOST], &r.host));
  return fs_asm_push(a, queues, r);
}

static fs_status queue_commands(fs_asm *a, uint32_t list) {
  uint32_t node;
  FS_TRY(fs_fields_sequence(&a->f, list, &node, NULL));
  for (uint32_t q = 0; node != FS_NONE; node = fs_fields_next(&a->f, node), q++) {
    uint32_t first = (uint32_t)a->commands.n;
    FS_TRY(fs_asm_commands(a, fs_node_get(a->f.doc, node, "commands")));
    a->queues.at[q].command0 = first;
    a->queues.at[q].n_commands = (uint32_t)a->commands.n - first;
  }
  return FSCHED_OK;
}

/* ---- the whole */

fs_status fs_asm_each(fs_asm *a, uint32_t list, fs_status (*read)(fs_asm *a, uint32_t node)) {
  uint32_t node;
  FS_TRY(fs_fields_sequence(&a->f, list, &node, NULL));
  for (; node != FS_NONE; node = fs_fields_next(&a->f, node)) {
    FS_TRY(read(a, node));
  }
  return FSCHED_OK;
}

enum {
  TOP_PROGRAM,
  TOP_NAME,
  TOP_TIME_UNIT,
  TOP_HAZARDS,
  TOP_SYNC,
  TOP_MAKESPAN,
  TOP_LOWER_BOUND,
  TOP_CONCURRENCY,
  TOP_FRONTIER_CAPACITY,
  TOP_BARRIERS,
  TOP_AXES,
  TOP_MEMORIES,
  TOP_RESOURCES,
  TOP_BUFFERS,
  TOP_OPS,
  TOP_KERNELS,
  TOP_RACES,
  TOP_QUEUES,
  TOP_STOPS,
  TOP_PARAMS,
  TOP_LOOPS,
  TOP_FIELDS
};
static const fs_field top_fields[TOP_FIELDS] = {
    {"fsched_program", true}, {"name", true},        {"time_unit", false},
    {"hazards", true},        {"sync", true},        {"makespan", true},
    {"lower_bound", true},    {"concurrency", true}, {"frontier_capacity", true},
    {"barriers", false},      {"axes", true},        {"memories", true},
    {"resources", true},      {"buffers", true},     {"ops", true},
    {"kernels", true},        {"races", true},       {"queues", true},
    {"stops", false},         {"params", false},     {"loops", false}};

static fs_status meta(fs_asm *a, const uint32_t *value) {
  fs_stream_meta r = {0};
  uint64_t version;
  FS_TRY(fs_fields_u64(&a->f, value[TOP_PROGRAM], &version));
  if (version != FS_STREAM_VERSION) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_VERSION, value[TOP_PROGRAM],
                          "the text has format version %llu; this fsched reads version %u",
                          (unsigned long long)version, FS_STREAM_VERSION);
  }
  FS_TRY(fs_asm_string(a, value[TOP_NAME], &r.name));
  FS_TRY(fs_asm_string(a, value[TOP_TIME_UNIT], &r.time_unit));
  FS_TRY(fs_fields_word(&a->f, value[TOP_HAZARDS], FS_WORDS(fs_words_hazards), &r.hazards));
  FS_TRY(fs_fields_word(&a->f, value[TOP_SYNC], FS_WORDS(fs_words_sync), &r.sync));
  FS_TRY(fs_fields_u64(&a->f, value[TOP_MAKESPAN], &r.makespan));
  FS_TRY(fs_fields_u64(&a->f, value[TOP_LOWER_BOUND], &r.lower_bound));
  FS_TRY(fs_fields_u64(&a->f, value[TOP_CONCURRENCY], &r.concurrency));
  FS_TRY(fs_fields_u64(&a->f, value[TOP_FRONTIER_CAPACITY], &r.frontier_capacity));
  r.barrier_count = r.barrier_slots = fs_sync_has_barriers(r.sync) ? FS_NONE : 0;
  FS_TRY(fs_asm_push(a, meta, r));
  FS_TRY(fs_asm_only(a, 0, "barriers", value[TOP_BARRIERS], fs_sync_has_barriers(r.sync),
                     FS_SYNC_BARRIER));
  FS_TRY(fs_asm_only(a, 0, "stops", value[TOP_STOPS], fs_sync_has_stops(r.sync), FS_SYNC_BLOCK));
  return value[TOP_BARRIERS] == FS_NONE ? FSCHED_OK
                                        : fs_asm_barriers(a, value[TOP_BARRIERS], &a->meta.at[0]);
}

static fs_status read_all(fs_asm *a) {
  uint32_t value[TOP_FIELDS];
  FS_TRY(fs_fields_mapping(&a->f, 0, top_fields, TOP_FIELDS, value));
  FS_TRY(fs_asm_declare(a, &a->axis_names, value[TOP_AXES], "axis"));
  FS_TRY(fs_asm_declare(a, &a->memory_names, value[TOP_MEMORIES], "memory"));
  FS_TRY(fs_asm_declare(a, &a->resource_names, value[TOP_RESOURCES], "resource"));
  FS_TRY(fs_asm_declare(a, &a->buffer_names, value[TOP_BUFFERS], "buffer"));
  FS_TRY(fs_asm_declare(a, &a->op_names, value[TOP_OPS], "op"));
  uint32_t kernels;
  FS_TRY(fs_fields_sequence(&a->f, value[TOP_KERNELS], &kernels, &a->n_kernels));
  FS_TRY(meta(a, value));
  FS_TRY(fs_asm_each(a, value[TOP_AXES], axis));
  FS_TRY(fs_asm_each(a, value[TOP_QUEUES], queue));
  FS_TRY(fs_asm_each(a, value[TOP_MEMORIES], memory));
  FS_TRY(fs_asm_each(a, value[TOP_RESOURCES], resource));
  FS_TRY(fs_asm_each(a, value[TOP_BUFFERS], buffer));
  FS_TRY(fs_asm_each(a, value[TOP_OPS], op));
  FS_TRY(fs_asm_each(a, value[TOP_KERNELS], kernel));
  FS_TRY(queue_commands(a, value[TOP_QUEUES]));
  FS_TRY(value[TOP_STOPS] == FS_NONE ? FSCHED_OK : fs_asm_stops(a, value[TOP_STOPS]));
  if (value[TOP_PARAMS] != FS_NONE) {
    FS_TRY(fs_asm_declare(a, &a->param_names, value[TOP_PARAMS], "parameter"));
    FS_TRY(fs_asm_each(a, value[TOP_PARAMS], fs_asm_param));
  }
  FS_TRY(fs_asm_each(a, value[TOP_RACES], fs_asm_race)); /* their names are behind the others */
  FS_TRY(value[TOP_LOOPS] == FS_NONE ? FSCHED_OK : fs_asm_loops(a, value[TOP_LOOPS]));
  return fs_asm_barriers_end(a);
}

static fs_status draft(const fs_asm *a, fs_draft *d) {
#define FS_ASM_COUNT_(id, type) d->n_##id = a->id.n;
  FS_STREAM_SECTIONS(FS_ASM_COUNT_)
#undef FS_ASM_COUNT_
  FS_TRY(fs_draft_alloc(d));
#define FS_ASM_COPY_(id, type)                           \
  if (a->id.n != 0) {                                    \
    memcpy(d->id, a->id.at, a->id.n * sizeof *a->id.at); \
  }
  FS_STREAM_SECTIONS(FS_ASM_COPY_)
#undef FS_ASM_COPY_
  d->string_end = (uint32_t)a->strings.n;
  return FSCHED_OK;
}

static fs_status assemble(fs_asm *a, const char *name, const char *text, size_t length,
                          fsched_program **out) {
  fs_doc doc;
  a->f.doc = &doc;
  FS_TRY(fs_doc_parse(a->f.ctx, &a->arena, name, text, length, &doc));
  FS_TRY(read_all(a));
  fs_draft d = {.ctx = a->f.ctx};
  fsched_program *program = NULL;
  fs_status status = draft(a, &d);
  if (status == FSCHED_OK) {
    status = fs_draft_finish(&d, &program);
  }
  fs_draft_drop(&d);
  if (status == FSCHED_OK) {
    status = fs_stream_check(a->f.ctx, name, program->bytes, program->size, &program->view);
  }
  if (status != FSCHED_OK) {
    fsched_program_destroy(program);
    return status;
  }
  *out = program;
  return FSCHED_OK;
}

fs_status fsched_program_assemble(fsched_context *ctx, const char *name, const char *text,
                                  size_t length, fsched_program **out) {
  fs_asm a = {.f = {.ctx = ctx,
                    .key = FS_DIAG_STREAM_KEY,
                    .type = FS_DIAG_STREAM_TYPE,
                    .reference = FS_DIAG_STREAM_REFERENCE}};
  *out = NULL;
  fs_arena_init(&a.arena, ctx);
  fs_names *names[] = {&a.axis_names,   &a.memory_names, &a.resource_names,
                       &a.buffer_names, &a.op_names,     &a.param_names};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    fs_names_init(names[i], &a.arena);
  }
  fs_status status = assemble(&a, name, text, length, out);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    fs_names_free(names[i]);
  }
  fs_vec_free(ctx, &a.wait_queue);
#define FS_ASM_FREE_(id, type) fs_vec_free(ctx, &a.id);
  FS_STREAM_SECTIONS(FS_ASM_FREE_)
#undef FS_ASM_FREE_
  fs_arena_release(&a.arena);
  return status;
}
