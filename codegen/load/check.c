/* SPDX-License-Identifier: Apache-2.0 */
/* The check of a whole file before any part of it is used.
 *
 * The header comes first (magic, version, size, checksum), then the sections' limits, then the
 * records in file order.  The form is canonical: sections follow each other without gaps, padding
 * is zero, ranges tile their section in the order of their owners, and the string fields, in file
 * order, have their texts one after the other.  An accepted file therefore has exactly one form,
 * and disassembly and assembly give back the same bytes.
 *
 * Whether a well-formed program is also right is for the verifier to find out. */
#include "codegen/load/check.h"

#include "base/crc32c.h"
#include "base/names.h"
#include "base/text/hex.h"
#include "codegen/draft.h"
#include "codegen/load/load.h"
#include "fsched/graph.h"
#include "model/stream/views.h"
#include "model/sync.h"

fs_pos fs_checker_pos(const fs_checker *c) {
  assert(c->name != NULL);
  fs_pos pos = FS_NOWHERE;
  if (fs_context_add_file(c->ctx, c->name, "", 0, &pos.file) != FSCHED_OK) {
    return FS_NOWHERE;
  }
  return pos;
}

/* ---- header and sections */

static fs_status check_header(fs_checker *c) {
  const fs_stream_header *h = (const fs_stream_header *)(const void *)c->bytes;
  size_t magic = fs_min(c->size, sizeof h->magic);
  FS_NEED(c, memcmp(c->bytes, FS_STREAM_MAGIC, magic) == 0, MAGIC, "this is not an fsched program");
  /* A file of another version may have a shorter header. */
  bool versioned = c->size >= offsetof(fs_stream_header, version) + sizeof h->version;
  FS_NEED(c, !versioned || h->version >= FS_STREAM_VERSION, VERSION,
          "the program has format version %u, of an older fsched; this one reads version %u, so "
          "compile the graph again",
          h->version, FS_STREAM_VERSION);
  FS_NEED(c, !versioned || h->version == FS_STREAM_VERSION, VERSION,
          "the program has format version %u; this fsched reads version %u", h->version,
          FS_STREAM_VERSION);
  FS_NEED(c, c->size >= sizeof *h, SIZE,
          "the program is cut off: it has %zu bytes, its header alone takes %zu", c->size,
          sizeof *h);
  FS_NEED(c, h->file_size == c->size, SIZE, "the program says it has %llu bytes, but has %zu",
          (unsigned long long)h->file_size, c->size);
  const unsigned char zero[sizeof h->checksum] = {0};
  size_t at = offsetof(fs_stream_header, checksum), after = at + sizeof zero;
  uint32_t crc = fs_crc32c(0, c->bytes, at);
  crc = fs_crc32c(crc, zero, sizeof zero);
  crc = fs_crc32c(crc, c->bytes + after, c->size - after);
  FS_NEED(c, crc == h->checksum, CHECKSUM,
          "the program is damaged: its checksum is %08x, its bytes give %08x", h->checksum, crc);
  FS_NEED(c, h->header_size == sizeof *h, SECTION, "the header says it has %u bytes instead of %zu",
          h->header_size, sizeof *h);
  FS_NEED(c, h->n_sections == sizeof h->section / sizeof h->section[0], SECTION,
          "the program has %u sections instead of %zu", h->n_sections,
          sizeof h->section / sizeof h->section[0]);
  return FSCHED_OK;
}

static fs_status check_section(fs_checker *c, uint32_t index, const char *name, size_t record,
                               uint64_t *at) {
  const fs_stream_header *h = (const fs_stream_header *)(const void *)c->bytes;
  uint64_t offset = h->section[index].offset, count = h->section[index].count;
  FS_NEED(c, offset == *at, SECTION, "section '%s' begins at %llu instead of %llu", name,
          (unsigned long long)offset, (unsigned long long)*at);
  FS_NEED(c, count <= INT32_MAX && count * record <= c->size - offset, SECTION,
          "section '%s' with %llu records does not fit the file", name, (unsigned long long)count);
  uint64_t end = offset + count * record;
  *at = fs_section_end(offset, count * record);
  FS_NEED(c, *at <= c->size, SECTION, "section '%s' is not padded to 8 bytes", name);
  for (uint64_t i = end; i < *at; i++) {
    FS_NEED(c, c->bytes[i] == 0, SECTION, "the padding after section '%s' is not zero", name);
  }
  return FSCHED_OK;
}

static fs_status check_sections(fs_checker *c) {
  const fs_stream_header *h = (const fs_stream_header *)(const void *)c->bytes;
  uint64_t at = sizeof *h;
  uint32_t i = 0;
#define FS_CHECK_SECTION_(id, type)                                        \
  FS_TRY(check_section(c, i, #id, sizeof(type), &at));                     \
  c->v.id = (const type *)(const void *)(c->bytes + h->section[i].offset); \
  c->v.n_##id = (uint32_t)h->section[i].count;                             \
  i++;
  FS_STREAM_SECTIONS(FS_CHECK_SECTION_)
#undef FS_CHECK_SECTION_
  FS_NEED(c, at == c->size, SECTION, "%llu bytes follow the last section",
          (unsigned long long)(c->size - at));
  return FSCHED_OK;
}

/* ---- strings and names */

static fs_status check_utf8(fs_checker *c, const char *text, size_t n) {
  FS_NEED(c, fs_utf8_valid(text, n), STRING, "the text at %zu of the strings is not UTF-8",
          (size_t)(text - c->v.strings));
  return FSCHED_OK;
}

fs_status fs_check_string(fs_checker *c, uint32_t offset, const char *what, uint32_t index) {
  const char *text = c->v.strings + c->string_at;
  size_t left = c->v.n_strings - c->string_at;
  FS_NEED(c, offset == c->string_at && left != 0, STRING,
          "the text of %s %u is at %u of the strings instead of %u", what, index, offset,
          c->string_at);
  const char *end = memchr(text, '\0', left);
  FS_NEED(c, end != NULL, STRING, "the text of %s %u does not end", what, index);
  c->string_at += (uint32_t)(end - text) + 1;
  return check_utf8(c, text, (size_t)(end - text));
}

static fs_status check_optional_string(fs_checker *c, uint32_t offset, const char *what,
                                       uint32_t index) {
  return offset == FS_NONE ? FSCHED_OK : fs_check_string(c, offset, what, index);
}

/* Finds the first record with the name of an earlier one, which becomes *twin; n when there is
 * none.  `stride` words lie between the name fields of two records. */
static fs_status find_twin(fs_checker *c, const uint32_t *name, size_t stride, uint32_t n,
                           uint32_t *twin, uint32_t *record) {
  fs_names names;
  fs_status status = FSCHED_OK;
  fs_names_init(&names, &c->arena);
  *record = *twin = n;
  for (uint32_t i = 0; i < n && *record == n && status == FSCHED_OK; i++) {
    uint32_t first = i;
    status = fs_names_add_kept(&names, c->v.strings + name[i * stride], &first);
    if (first != i) {
      *twin = first;
      *record = i;
    }
  }
  fs_names_free(&names);
  return status;
}

fs_status fs_check_distinct(fs_checker *c, const uint32_t *name, size_t stride, uint32_t n,
                            const char *what) {
  uint32_t twin, record;
  FS_TRY(find_twin(c, name, stride, n, &twin, &record));
  FS_NEED(c, record == n, NAME, "%s %u and %u are both named '%s'", what, twin, record,
          c->v.strings + name[record * stride]);
  return FSCHED_OK;
}

fs_status fs_check_tile(fs_checker *c, uint32_t first, uint32_t n, uint32_t limit, const char *what,
                        uint32_t *at) {
  FS_NEED(c, first == *at && n <= limit - *at, TILING,
          "the %s from %u, %u of them, should begin at %u", what, first, n, *at);
  *at += n;
  return FSCHED_OK;
}

fs_status fs_check_tiled(fs_checker *c, uint32_t at, uint32_t n, const char *what) {
  FS_NEED(c, at == n, TILING, "%u %s belong to nothing", n - at, what);
  return FSCHED_OK;
}

/* ---- target */

static fs_status check_machine(fs_checker *c, const fs_stream_meta *m) {
  bool barrier = fs_sync_has_barriers(m->sync);
  const uint32_t number[] = {m->barrier_count, m->barrier_slots};
  for (uint32_t i = 0; i < 2; i++) {
    bool given = number[i] != 0 && (number[i] <= INT32_MAX || number[i] == FS_NONE);
    FS_NEED(c, barrier ? given : number[i] == 0, VALUE, "with sync %u the program has %u %s",
            m->sync, number[i], i == 0 ? "barriers" : "slots of a barrier");
  }
  return FSCHED_OK;
}

static fs_status check_meta(fs_checker *c) {
  FS_NEED(c, c->v.n_meta == 1, SECTION, "section 'meta' has %u records instead of 1", c->v.n_meta);
  const fs_stream_meta *m = c->v.meta;
  FS_TRY(fs_check_string(c, m->name, "meta", 0));
  FS_TRY(check_optional_string(c, m->time_unit, "meta", 0));
  FS_NEED(c, fs_hazards_known(m->hazards), VALUE, "hazards %u are not known", m->hazards);
  FS_NEED(c, fs_sync_known(m->sync), VALUE, "sync %u is not known", m->sync);
  FS_TRY(check_machine(c, m));
  FS_NEED(c,
          m->makespan <= FS_STREAM_MOST && m->lower_bound <= FS_STREAM_MOST &&
              m->concurrency <= FS_STREAM_MOST && m->frontier_capacity <= FS_STREAM_MOST,
          VALUE, "makespan, lower bound, concurrency or frontier capacity is above 2^62");
  FS_NEED(c, m->frontier_capacity != 0, VALUE, "the frontier capacity is 0");
  return FSCHED_OK;
}

static fs_status check_members(fs_checker *c, uint32_t axis, uint32_t *at) {
  const fs_stream_axis *a = &c->v.axes[axis];
  FS_TRY(fs_check_tile(c, a->member0, a->n_members, c->v.n_axis_members, "axis members", at));
  FS_NEED(c, a->n_members != 0, VALUE, "collective axis %u has no members", axis);
  for (uint32_t i = a->member0; i < a->member0 + a->n_members; i++) {
    uint32_t q = c->v.axis_members[i];
    FS_NEED(c, q < c->v.n_queues, REFERENCE, "axis %u has member queue %u of %u", axis, q,
            c->v.n_queues);
    FS_NEED(c, i == a->member0 || q > c->v.axis_members[i - 1], VALUE,
            "the members of axis %u do not ascend", axis);
  }
  return FSCHED_OK;
}

static fs_status check_axes(fs_checker *c) {
  const fs_stream *v = &c->v;
  FS_NEED(c, v->n_axes >= v->n_queues, REFERENCE, "%u queues have %u axes", v->n_queues, v->n_axes);
  uint32_t members = 0;
  for (uint32_t i = 0; i < v->n_axes; i++) {
    const fs_stream_axis *a = &v->axes[i];
    bool queue = i < v->n_queues;
    FS_TRY(fs_check_string(c, a->name, "axis", i));
    FS_NEED(c, a->kind == (queue ? FS_AXIS_QUEUE : FS_AXIS_COLLECTIVE), VALUE,
            "axis %u is of kind %u instead of %d", i, a->kind, !queue);
    if (queue) {
      FS_NEED(c, a->member0 == 0 && a->n_members == 0, VALUE, "queue axis %u has members", i);
    } else {
      FS_TRY(check_members(c, i, &members));
    }
    /* An axis id: session of axis 0, machine of the queue, domain by kind, ordinal by position. */
    uint64_t machine = v->queues[queue ? i : v->axis_members[a->member0]].machine;
    uint64_t id = (v->axes[0].id & 0xFFull << 56) | machine << 48 | (uint64_t)a->kind << 40 |
                  (queue ? i : i - v->n_queues);
    FS_NEED(c, machine < 256 && a->id == id && a->id >> 56 != 0, VALUE,
            "axis %u has id 0x%016llx instead of 0x%016llx", i, (unsigned long long)a->id,
            (unsigned long long)id);
  }
  return fs_check_tiled(c, members, v->n_axis_members, "axis members");
}

static fs_status check_queues(fs_checker *c) {
  const fs_stream *v = &c->v;
  uint32_t commands = 0;
  for (uint32_t i = 0; i < v->n_queues; i++) {
    const fs_stream_queue *q = &v->queues[i];
    FS_TRY(fs_check_string(c, q->name, "queue", i));
    FS_TRY(fs_check_string(c, q->class_name, "queue", i));
    FS_NEED(c, strcmp(v->strings + q->name, v->strings + v->axes[i].name) == 0, NAME,
            "the axis of queue '%s' is named '%s'", v->strings + q->name,
            v->strings + v->axes[i].name);
    FS_NEED(c, q->counting <= (fs_sync_has_stops(v->meta->sync)) && q->host <= 1, VALUE,
            "queue %u has counting %u, host %u", i, q->counting, q->host);
    FS_TRY(fs_check_tile(c, q->command0, q->n_commands, v->n_commands, "commands", &commands));
  }
  FS_TRY(fs_check_tiled(c, commands, v->n_commands, "commands"));
  return FS_CHECK_DISTINCT(c, axes, "axes");
}

static fs_status check_memories(fs_checker *c) {
  const fs_stream *v = &c->v;
  for (uint32_t i = 0; i < v->n_memories; i++) {
    const fs_stream_memory *m = &v->memories[i];
    FS_TRY(fs_check_string(c, m->name, "memory", i));
    FS_NEED(c, m->capacity <= FSCHED_MAX_SIZE || m->capacity == FS_UNBOUNDED, VALUE,
            "memory %u has capacity %llu", i, (unsigned long long)m->capacity);
    FS_NEED(c, m->align != 0 && (m->align & (m->align - 1)) == 0, VALUE,
            "memory %u has alignment %llu, not a power of two", i, (unsigned long long)m->align);
    FS_NEED(c, m->extent <= FS_STREAM_MOST, VALUE, "the extent of memory %u is above 2^62", i);
    FS_NEED(c,
            fs_placement_known(m->placement) && !fs_placement_is_stack(m->placement) &&
                m->stack <= fs_placement_has_addresses(m->placement),
            VALUE, "memory %u has placement %u, stack %u", i, m->placement, m->stack);
    FS_NEED(c, m->host <= 1 && m->reserved == 0, VALUE, "memory %u has host %u, reserved %u", i,
            m->host, m->reserved);
    FS_NEED(c, m->backing == FS_NONE || (m->backing < v->n_memories && m->backing != i), REFERENCE,
            "memory %u has backing memory %u of %u", i, m->backing, v->n_memories);
  }
  for (uint32_t i = 0; i < v->n_resources; i++) {
    const fs_stream_resource *r = &v->resources[i];
    FS_TRY(fs_check_string(c, r->name, "resource", i));
    FS_NEED(c, r->capacity <= FS_STREAM_MOST && r->reserved == 0, VALUE,
            "resource %u has capacity %llu, reserved %u", i, (unsigned long long)r->capacity,
            r->reserved);
  }
  FS_TRY(FS_CHECK_DISTINCT(c, memories, "memories"));
  return FS_CHECK_DISTINCT(c, resources, "resources");
}

/* ---- buffers and ops */

static fs_status check_spot(fs_checker *c, uint32_t version, uint32_t memory, uint64_t address,
                            uint64_t size) {
  if (memory == FS_NONE) {
    FS_NEED(c, address == 0, VALUE, "version %u is nowhere, at address %llu", version,
            (unsigned long long)address);
    return FSCHED_OK;
  }
  FS_NEED(c, memory < c->v.n_memories, REFERENCE, "version %u is in memory %u of %u", version,
          memory, c->v.n_memories);
  uint64_t extent = c->v.memories[memory].extent;
  FS_NEED(c, address <= extent && size <= extent - address, PLACE,
          "version %u at %llu does not fit the extent %llu of memory '%s'", version,
          (unsigned long long)address, (unsigned long long)extent,
          c->v.strings + c->v.memories[memory].name);
  return FSCHED_OK;
}

static fs_status check_versions(fs_checker *c, uint32_t buffer) {
  const fs_stream_buffer *b = &c->v.buffers[buffer];
  for (uint32_t k = 0; k < b->n_versions; k++) {
    const fs_stream_version *r = &c->v.versions[b->version0 + k];
    FS_NEED(c, r->buffer == buffer && r->index == k, TILING,
            "version %u says it is version %u of buffer %u", b->version0 + k, r->index, r->buffer);
    FS_TRY(check_spot(c, b->version0 + k, r->given_memory, r->given_address, b->size));
    FS_TRY(check_spot(c, b->version0 + k, r->kept_memory, r->kept_address, b->size));
  }
  return FSCHED_OK;
}

static fs_status check_buffers(fs_checker *c) {
  const fs_stream *v = &c->v;
  uint32_t versions = 0;
  for (uint32_t i = 0; i < v->n_buffers; i++) {
    const fs_stream_buffer *b = &v->buffers[i];
    FS_TRY(fs_check_string(c, b->name, "buffer", i));
    FS_NEED(c, b->memory < v->n_memories, REFERENCE, "buffer %u is in memory %u of %u", i,
            b->memory, v->n_memories);
    FS_NEED(c, b->size <= FSCHED_MAX_SIZE && fs_io_known(b->io) && b->reserved == 0, VALUE,
            "buffer %u has size %llu, io %u, reserved %u", i, (unsigned long long)b->size, b->io,
            b->reserved);
    FS_NEED(c,
            b->io_size <= b->size && b->given <= b->size - b->io_size &&
                b->kept <= b->size - b->io_size,
            PLACE, "of buffer %u %llu bytes are given from %llu on, and kept from %llu on, of %llu",
            i, (unsigned long long)b->io_size, (unsigned long long)b->given,
            (unsigned long long)b->kept, (unsigned long long)b->size);
    FS_NEED(c, fs_io_said(b->io) || b->io_size == b->size, VALUE,
            "of buffer %u, of which nothing is given or kept, that is %llu of %llu bytes", i,
            (unsigned long long)b->io_size, (unsigned long long)b->size);
    FS_TRY(fs_check_tile(c, b->version0, b->n_versions, v->n_versions, "versions", &versions));
    FS_TRY(check_versions(c, i));
  }
  FS_TRY(fs_check_tiled(c, versions, v->n_versions, "versions"));
  return FS_CHECK_DISTINCT(c, buffers, "buffers");
}

fs_status fs_check_begins(fs_checker *c, uint32_t begins, uint32_t tag, const char *what,
                          uint32_t arg) {
  FS_NEED(c, begins == 0 || (begins == 1 && fs_tag_writes_over(tag)), VALUE,
          "%s %u has tag %u, begins %u", what, arg, tag, begins);
  return FSCHED_OK;
}

fs_status fs_check_class(fs_checker *c, uint32_t one, uint32_t other, const char *what,
                         uint32_t op) {
  const char *a = c->v.strings + one, *b = c->v.strings + other;
  FS_NEED(c, one == other || strcmp(a, b) == 0, VALUE,
          "%s %u could have any queues of a class, and has some of '%s' and of '%s'", what, op, a,
          b);
  return FSCHED_OK;
}

static fs_status check_arg(fs_checker *c, uint32_t arg) {
  const fs_stream *v = &c->v;
  const fs_stream_arg *a = &v->args[arg];
  FS_NEED(c, fs_tag_known(a->tag), VALUE, "arg %u has tag %u", arg, a->tag);
  if (!fs_tag_names_buffer(a->tag)) {
    FS_NEED(c,
            a->buffer == FS_NONE && a->version == FS_NONE && a->offset == 0 && a->length == 0 &&
                a->has_at == 0 && a->begins == 0,
            VALUE, "arg %u is a value and names a buffer or a range", arg);
    return FSCHED_OK;
  }
  FS_NEED(c, a->buffer < v->n_buffers, REFERENCE, "arg %u is buffer %u of %u", arg, a->buffer,
          v->n_buffers);
  const fs_stream_buffer *b = &v->buffers[a->buffer];
  bool none = !fs_tag_accesses(a->tag) && a->version == FS_NONE;
  FS_NEED(c, none || (a->version >= b->version0 && a->version - b->version0 < b->n_versions),
          REFERENCE, "arg %u is version %u, not one of its buffer '%s'", arg, a->version,
          v->strings + b->name);
  FS_NEED(c, a->offset <= b->size && a->length <= b->size - a->offset, VALUE,
          "arg %u is the range [%llu, +%llu) of %llu bytes", arg, (unsigned long long)a->offset,
          (unsigned long long)a->length, (unsigned long long)b->size);
  bool view = fs_stream_view_of(v, arg) != NULL; /* then has_at is 1 */
  FS_NEED(c, a->value == 0 && a->has_at == (view || a->offset != 0 || a->length != b->size), VALUE,
          "arg %u has value %lld, has_at %u", arg, (long long)a->value, a->has_at);
  return fs_check_begins(c, a->begins, a->tag, "arg", arg);
}

/* What a view is of. */
typedef struct viewed_arg {
  uint64_t length;
  uint32_t tag;
  bool has_at;
} viewed_arg;

static viewed_arg viewed_arg_of(const fs_stream *v, bool loops, uint32_t arg) {
  if (loops) {
    return (viewed_arg){v->loop_args[arg].length, v->loop_args[arg].tag, true};
  }
  return (viewed_arg){v->args[arg].length, v->args[arg].tag, v->args[arg].has_at == 1};
}

/* Checks a view by itself, and that it is as long as its arg. */
static fs_status check_view(fs_checker *c, bool loops, uint32_t i) {
  const fs_stream_view *all = loops ? c->v.loop_views : c->v.views, *w = &all[i];
  const char *of = loops ? "loop " : "";
  FS_NEED(c,
          w->arg < (loops ? c->v.n_loop_args : c->v.n_args) && (i == 0 || all[i - 1].arg < w->arg),
          REFERENCE, "%sview %u is of arg %u", of, i, w->arg);
  viewed_arg a = viewed_arg_of(&c->v, loops, w->arg);
  FS_NEED(c, fs_tag_known(a.tag) && fs_tag_names_buffer(a.tag) && !fs_tag_begins(a.tag), VALUE,
          "%sview %u is of arg %u, of tag %u", of, i, w->arg, a.tag);
  FS_NEED(c, w->n_dims >= 1 && w->n_dims <= FSCHED_MAX_DIMS && w->element <= FSCHED_MAX_SIZE, VALUE,
          "%sview %u has %u dimensions of elements of %llu bytes", of, i, w->n_dims,
          (unsigned long long)w->element);
  for (uint32_t d = 0; d < FSCHED_MAX_DIMS; d++) {
    bool used = d < w->n_dims;
    FS_NEED(
        c,
        used ? w->shape[d] > 0 && w->shape[d] <= FSCHED_MAX_SIZE && w->stride[d] <= FSCHED_MAX_SIZE
             : w->shape[d] == 0 && w->stride[d] == 0,
        VALUE, "dimension %u of %sview %u has %llu points, %llu bytes apart", d, of, i,
        (unsigned long long)w->shape[d], (unsigned long long)w->stride[d]);
  }
  fs_view placed = fs_stream_placed(w, 0);
  FS_NEED(c,
          fs_view_valid(&placed) && fs_view_end(&placed) == a.length && a.has_at &&
              fs_view_elements(&placed) <= FSCHED_MAX_SIZE / placed.element,
          VALUE, "%sview %u is not as long as arg %u, or has too many bytes", of, i, w->arg);
  FS_NEED(c, !fs_tag_writes(a.tag) || !fs_view_overlaps_itself(&placed), VALUE,
          "%sview %u is written, and elements of it overlap", of, i);
  return FSCHED_OK;
}

fs_status fs_check_views(fs_checker *c, bool loops) {
  assert(c->v.n_meta == 1);
  for (uint32_t i = 0; i < (loops ? c->v.n_loop_views : c->v.n_views); i++) {
    FS_TRY(check_view(c, loops, i));
  }
  return FSCHED_OK;
}

/* Per resource or memory: 1 + the last op that named it; 0: none has. */
typedef struct fs_seen {
  uint32_t *resource, *memory;
} fs_seen;

static fs_status check_needs(fs_checker *c, uint32_t op, fs_seen *seen) {
  const fs_stream *v = &c->v;
  const fs_stream_op *o = &v->ops[op];
  for (uint32_t i = o->use0; i < o->use0 + o->n_uses; i++) {
    const fs_stream_use *u = &v->uses[i];
    FS_NEED(c, u->resource < v->n_resources && seen->resource[u->resource] != op + 1, REFERENCE,
            "op %u uses resource %u of %u, or twice", op, u->resource, v->n_resources);
    seen->resource[u->resource] = op + 1;
    FS_NEED(c, u->amount <= FS_STREAM_MOST && u->reserved == 0, VALUE,
            "op %u uses amount %llu, reserved %u", op, (unsigned long long)u->amount, u->reserved);
  }
  for (uint32_t i = o->scratch0; i < o->scratch0 + o->n_scratches; i++) {
    const fs_stream_scratch *s = &v->scratches[i];
    FS_NEED(c, s->memory < v->n_memories && seen->memory[s->memory] != op + 1, REFERENCE,
            "op %u has scratch in memory %u of %u, or twice", op, s->memory, v->n_memories);
    seen->memory[s->memory] = op + 1;
    FS_NEED(c, s->size <= FSCHED_MAX_SIZE && s->reserved == 0, VALUE,
            "op %u has scratch of %llu bytes, reserved %u", op, (unsigned long long)s->size,
            s->reserved);
  }
  for (uint32_t i = o->after0; i < o->after0 + o->n_afters; i++) {
    FS_NEED(c, v->afters[i] < v->n_ops, REFERENCE, "op %u is after op %u of %u", op, v->afters[i],
            v->n_ops);
  }
  return FSCHED_OK;
}

/* Checks that the args of an op's members are its own, one member's behind the other's. */
static fs_status check_op_members(fs_checker *c, uint32_t op, uint32_t *at) {
  const fs_stream *v = &c->v;
  const fs_stream_op *o = &v->ops[op];
  uint32_t arg = o->arg0;
  FS_TRY(fs_check_tile(c, o->member0, o->n_members, v->n_members, "members", at));
  for (uint32_t i = o->member0; i < o->member0 + o->n_members; i++) {
    FS_TRY(fs_check_tile(c, v->members[i].arg0, v->members[i].n_args, o->arg0 + o->n_args,
                         "args of members", &arg));
  }
  return o->n_members == 0 ? FSCHED_OK
                           : fs_check_tiled(c, arg, o->arg0 + o->n_args, "args of members");
}

static fs_status check_op(fs_checker *c, uint32_t op, fs_seen *seen, uint32_t at[5]) {
  const fs_stream *v = &c->v;
  const fs_stream_op *o = &v->ops[op];
  FS_TRY(fs_check_string(c, o->name, "op", op));
  FS_NEED(c, o->time <= FSCHED_MAX_TIME, VALUE, "op %u takes %llu ticks", op,
          (unsigned long long)o->time);
  FS_NEED(c, o->slots != 0 && o->slots <= INT32_MAX, VALUE, "op %u takes %u slots", op, o->slots);
  FS_NEED(c, o->slow <= 1, VALUE, "op %u has slow %u", op, o->slow);
  FS_NEED(c, o->by_class <= 1, VALUE, "op %u has by_class %u", op, o->by_class);
  FS_NEED(c, o->kernel == FS_NONE || o->kernel < v->n_kernels, REFERENCE,
          "op %u has kernel %u of %u", op, o->kernel, v->n_kernels);
  FS_TRY(fs_check_tile(c, o->arg0, o->n_args, v->n_args, "args", &at[0]));
  FS_TRY(fs_check_tile(c, o->use0, o->n_uses, v->n_uses, "uses", &at[1]));
  FS_TRY(fs_check_tile(c, o->scratch0, o->n_scratches, v->n_scratches, "scratches", &at[2]));
  FS_TRY(fs_check_tile(c, o->after0, o->n_afters, v->n_afters, "afters", &at[3]));
  FS_TRY(check_op_members(c, op, &at[4]));
  for (uint32_t a = o->arg0; a < o->arg0 + o->n_args; a++) {
    FS_TRY(check_arg(c, a));
  }
  return check_needs(c, op, seen);
}

static fs_status check_ops(fs_checker *c) {
  const fs_stream *v = &c->v;
  fs_seen seen;
  uint32_t at[5] = {0};
  FS_TRY(fs_new_zero(&c->arena, &seen.resource, v->n_resources));
  FS_TRY(fs_new_zero(&c->arena, &seen.memory, v->n_memories));
  FS_TRY(fs_check_views(c, false));
  for (uint32_t i = 0; i < v->n_ops; i++) {
    FS_TRY(check_op(c, i, &seen, at));
  }
  FS_TRY(fs_check_tiled(c, at[0], v->n_args, "args"));
  FS_TRY(fs_check_tiled(c, at[1], v->n_uses, "uses"));
  FS_TRY(fs_check_tiled(c, at[2], v->n_scratches, "scratches"));
  FS_TRY(fs_check_tiled(c, at[3], v->n_afters, "afters"));
  FS_TRY(fs_check_tiled(c, at[4], v->n_members, "members"));
  return FS_CHECK_DISTINCT(c, ops, "ops");
}

static fs_status check_kernels(fs_checker *c) {
  const fs_stream *v = &c->v;
  for (uint32_t i = 0; i < v->n_kernels; i++) {
    const fs_stream_kernel *k = &v->kernels[i];
    FS_TRY(check_optional_string(c, k->builtin, "kernel", i));
    FS_TRY(check_optional_string(c, k->module, "kernel", i));
    FS_TRY(check_optional_string(c, k->function, "kernel", i));
    FS_TRY(check_optional_string(c, k->params, "kernel", i));
    const char *params = k->params == FS_NONE ? "00" : v->strings + k->params;
    FS_NEED(c, params[0] != '\0' && fs_hex_valid(params, FSCHED_MAX_PARAMS, false), VALUE,
            "the parameters of kernel %u are not bytes in hexadecimal digits", i);
    FS_NEED(c, k->shared_bytes <= FS_STREAM_MOST, VALUE, "kernel %u has %llu shared bytes", i,
            (unsigned long long)k->shared_bytes);
  }
  for (uint32_t i = 0; i < v->n_races; i++) {
    const fs_stream_race *r = &v->races[i];
    FS_NEED(c, r->op_a < v->n_ops && r->op_b < v->n_ops && r->version < v->n_versions, REFERENCE,
            "race %u is of ops %u and %u on version %u", i, r->op_a, r->op_b, r->version);
    FS_NEED(c, r->reserved == 0, VALUE, "race %u has reserved %u", i, r->reserved);
  }
  return FSCHED_OK;
}

static fs_status check_all(fs_checker *c) {
  FS_TRY(check_header(c));
  FS_TRY(check_sections(c));
  FS_TRY(check_meta(c));
  FS_TRY(check_axes(c));
  FS_TRY(check_queues(c));
  FS_TRY(check_memories(c));
  FS_TRY(check_buffers(c));
  FS_TRY(check_ops(c));
  FS_TRY(check_kernels(c));
  FS_TRY(fs_check_rules(c));
  FS_TRY(fs_check_commands(c));
  FS_TRY(fs_check_sync(c));
  FS_TRY(fs_check_loops(c));
  FS_NEED(c, c->string_at == c->v.n_strings, STRING, "%u bytes of the strings belong to nothing",
          c->v.n_strings - c->string_at);
  return FSCHED_OK;
}

fs_status fs_stream_check(fsched_context *ctx, const char *name, const void *bytes, size_t size,
                          fs_stream *view) {
  assert(bytes != NULL || size == 0);
  if (!fs_host_little_endian()) {
    return fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_STREAM_HOST, FS_NOWHERE, NULL,
                   "programs are little-endian and cannot be used on a big-endian machine");
  }
  assert((uintptr_t)bytes % 8 == 0);
  fs_checker c = {.ctx = ctx, .name = name, .bytes = bytes, .size = size};
  fs_arena_init(&c.arena, ctx);
  fs_status status = check_all(&c);
  fs_arena_release(&c.arena);
  if (status == FSCHED_OK) {
    *view = c.v;
  }
  return status;
}
