/* SPDX-License-Identifier: Apache-2.0 */
/* The sequential evaluation of a program.
 *
 * A version's bytes are allocated at its first access and freed after its last one; kept versions
 * stay until they are compared.  `defined` says which bytes the graph determines: given content is
 * defined, and the bytes that an op writes are defined if all bytes that it reads are.
 *
 * A loop is evaluated by what it means, iteration after iteration: its rings are values (rings.h),
 * of which the last one is put into its slot at the end; all else in a ring's place is undefined
 * then. */
#include "exec/replay/reference.h"

#include "exec/host/byteset.h"
#include "exec/host/kernel.h"
#include "exec/host/loops.h"
#include "exec/replay/reference_order.h"
#include "exec/replay/rings.h"

typedef struct value {
  uint8_t *bytes; /* NULL: not in use */
  fs_byteset defined;
  fs_byteset there; /* bytes that have been made or written; the others hold no content */
} value;

typedef struct reference {
  fsched_context *ctx;
  const fs_stream *s;
  fs_arena *arena;
  value *value;      /* per version */
  uint32_t *order;   /* order of the ops; NULL: program order */
  uint32_t *last_op; /* per version: its last op; FS_NONE: never accessed */
  value *state;      /* per buffer: state that the invocation before has kept */
  fs_kernel_arg *args;
  int64_t *other; /* per arg of the stream: its value; NULL: the stream's values */
  const fs_reference_run *run;
  fs_kernels kernels;
  fs_loops loops;
  const uint64_t *digest; /* NULL: this is not the last invocation */
  fs_reference_counts counts;
  bool differs;
} reference;

static uint64_t version_size(const fs_stream *s, uint32_t version) {
  return s->buffers[s->versions[version].buffer].size;
}

static void drop_value(const reference *r, value *v, uint64_t size) {
  (void)fs_realloc(r->ctx, v->bytes, size + 1, 0);
  v->bytes = NULL;
  fs_vec_free(r->ctx, &v->defined);
  fs_vec_free(r->ctx, &v->there);
}

/* Allocates a version at its first access, with one extra byte, so that the size is never 0.  Its
 * content is not made yet: of a large version, ops may touch only a few bytes. */
static fs_status take_version(reference *r, uint32_t version) {
  value *v = &r->value[version];
  if (v->bytes != NULL) {
    return FSCHED_OK;
  }
  uint64_t size = version_size(r->s, version);
  uint32_t buffer = r->s->versions[version].buffer;
  bool given = r->s->versions[version].given_memory != FS_NONE;
  if (given && r->state[buffer].bytes != NULL) {
    *v = r->state[buffer];
    r->state[buffer] = (value){0};
    return FSCHED_OK;
  }
  v->bytes = fs_realloc(r->ctx, NULL, 0, (size_t)size + 1);
  return v->bytes == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

/* Makes the content that bytes [begin, end) have before the first op touches them. */
static fs_status make_bytes(reference *r, uint32_t version, uint64_t begin, uint64_t end) {
  const fs_stream_version *k = &r->s->versions[version];
  value *v = &r->value[version];
  const uint8_t *bound = r->run->given == NULL ? NULL : r->run->given[version];
  if (begin >= end) {
    return FSCHED_OK;
  }
  if (k->given_memory == FS_NONE) {
    memset(v->bytes + begin, 0xA5, (size_t)(end - begin));
    return FSCHED_OK;
  }
  if (bound != NULL) {
    memcpy(v->bytes + begin, bound + begin, (size_t)(end - begin));
  } else {
    fs_fill_given_range(fs_stream_string(r->s, r->s->buffers[k->buffer].name), v->bytes, begin,
                        end);
  }
  return fs_byteset_add(r->ctx, &v->defined, begin, end);
}

/* The same for those bytes of [begin, end) that are not there yet. */
static fs_status make_missing(reference *r, uint32_t version, uint64_t begin, uint64_t end) {
  fs_byteset *there = &r->value[version].there;
  uint64_t at = begin;
  for (size_t i = 0; i < there->n && at < end; i++) {
    if (there->at[i].end > at) {
      FS_TRY(make_bytes(r, version, at, fs_min(there->at[i].begin, end)));
      at = fs_max(at, there->at[i].end);
    }
  }
  FS_TRY(make_bytes(r, version, at, end));
  return fs_byteset_add(r->ctx, there, begin, end);
}

static uint32_t op_at(const reference *r, uint32_t i) { return r->order == NULL ? i : r->order[i]; }

static bool accesses(const fs_stream_arg *a) {
  return fs_tag_reads(a->tag) || fs_tag_writes(a->tag);
}

/* Makes the op's call, and allocates the versions that it accesses; *known: all bytes that it reads
 * are defined. */
static fs_status make_call(reference *r, uint32_t op, fs_kernel_call *call, bool *known) {
  const fs_stream *s = r->s;
  const fs_stream_op *o = &s->ops[op];
  *known = true;
  for (uint32_t i = 0; i < o->n_args; i++) {
    const fs_stream_arg *a = &s->args[o->arg0 + i];
    int64_t number = r->other == NULL ? a->value : r->other[o->arg0 + i];
    r->args[i] = (fs_kernel_arg){.value = number, .tag = a->tag, .length = a->length};
    if (!accesses(a)) {
      continue;
    }
    FS_TRY(take_version(r, a->version));
    FS_TRY(make_missing(r, a->version, a->offset, a->offset + a->length));
    r->args[i].data = r->value[a->version].bytes + a->offset;
    *known = *known &&
             (!fs_tag_reads(a->tag) ||
              fs_byteset_cover(&r->value[a->version].defined, a->offset, a->offset + a->length));
  }
  *call =
      (fs_kernel_call){.op = fs_stream_string(s, o->name), .args = r->args, .n_args = o->n_args};
  fs_kernels_shape(s, o->kernel, call);
  return FSCHED_OK;
}

static fs_status define(reference *r, uint32_t op, bool known) {
  const fs_stream_op *o = &r->s->ops[op];
  for (uint32_t i = o->arg0; i < o->arg0 + o->n_args; i++) {
    const fs_stream_arg *a = &r->s->args[i];
    if (fs_tag_writes(a->tag)) {
      fs_byteset *d = &r->value[a->version].defined;
      uint64_t end = a->offset + a->length;
      FS_TRY(known ? fs_byteset_add(r->ctx, d, a->offset, end)
                   : fs_byteset_remove(r->ctx, d, a->offset, end));
    }
  }
  return FSCHED_OK;
}

static void drop_dead(reference *r, uint32_t op) {
  const fs_stream_op *o = &r->s->ops[op];
  for (uint32_t i = o->arg0; i < o->arg0 + o->n_args; i++) {
    const fs_stream_arg *a = &r->s->args[i];
    if (accesses(a) && r->last_op[a->version] == op && r->value[a->version].bytes != NULL &&
        r->s->versions[a->version].kept_memory == FS_NONE) {
      drop_value(r, &r->value[a->version], version_size(r->s, a->version));
    }
  }
}

static void compare_digest(reference *r, uint32_t op, uint64_t expected) {
  r->counts.ops++;
  if (r->digest[op] != expected) {
    r->differs = true;
    fs_report(r->ctx, FSCHED_ERROR, FS_DIAG_REPLAY_DIFFERS, FS_NOWHERE, NULL,
              "op '%s' wrote something else than in a sequential evaluation",
              fs_stream_string(r->s, r->s->ops[op].name));
  }
}

static bool writes_nothing(const reference *r, uint32_t kernel) {
  return kernel != FS_NONE && r->kernels.at[kernel].builtin == FS_BUILTIN_NOP;
}

static fs_status evaluate_op(reference *r, uint32_t op) {
  const fs_stream_op *o = &r->s->ops[op];
  fs_kernel_call call;
  bool known;
  FS_TRY(make_call(r, op, &call, &known));
  if (fs_kernels_run(&r->kernels, o->kernel, &call) != FSCHED_CAUSE_NONE) {
    return fs_fail(r->ctx, FSCHED_REPLAY, FS_DIAG_REPLAY_FAILED, FS_NOWHERE, NULL,
                   "op '%s': its kernel failed in a sequential evaluation", call.op);
  }
  if (!writes_nothing(r, o->kernel)) {
    FS_TRY(define(r, op, known));
    if (known && r->digest != NULL) {
      compare_digest(r, op, fs_kernels_digest(&r->kernels, o->kernel, &call));
    }
  }
  drop_dead(r, op);
  return FSCHED_OK;
}

/* ---- loops */

typedef struct loop_run {
  reference *r;
  const fs_stream_loop *loop;
  fs_ring_values *rings;
  uint32_t *version; /* per arg of the loop's ops: that of the stream that it is of; FS_NONE */
  uint32_t arg0;     /* the first of these args */
  char *name;
  uint64_t digest;
  bool known; /* every instance so far has read defined bytes alone */
} loop_run;

/* The version that an arg of a loop without a ring is of, among those that the loop accesses. */
static uint32_t version_of(const fs_stream *s, const fs_stream_op *op, uint32_t buffer) {
  for (uint32_t i = op->arg0; i < op->arg0 + op->n_args; i++) {
    if (accesses(&s->args[i]) && s->args[i].buffer == buffer) {
      return s->args[i].version;
    }
  }
  return FS_NONE;
}

/* Finds the versions of all args of the loop, and room for the longest name. */
static fs_status prepare_loop(loop_run *l, fs_arena *arena) {
  const fs_stream *s = l->r->s;
  const fs_stream_loop_op *ops = s->loop_ops + l->loop->op0, *last = ops + l->loop->n_ops - 1;
  uint32_t n = last->arg0 + last->n_args - ops->arg0;
  size_t bytes = 0;
  l->arg0 = ops->arg0;
  FS_TRY(fs_rings_make(arena, s, l->loop, &l->rings));
  FS_TRY(fs_new(arena, &l->version, n));
  for (uint32_t i = 0; i < n; i++) {
    const fs_stream_loop_arg *a = &s->loop_args[l->arg0 + i];
    l->version[i] = a->buffer == FS_NONE || a->ring != FS_NONE
                        ? FS_NONE
                        : version_of(s, &s->ops[l->loop->op], a->buffer);
  }
  for (uint32_t i = 0; i < l->loop->n_ops; i++) {
    bytes = fs_max(bytes, fs_loop_name_bytes(fs_stream_string(s, ops[i].name)));
  }
  return fs_new(arena, &l->name, bytes);
}

/* Makes the bytes that the loop has on entry, and puts those of rings into their values. */
static fs_status enter_loop(loop_run *l) {
  reference *r = l->r;
  const fs_stream_op *op = &r->s->ops[l->loop->op];
  for (uint32_t i = op->arg0; i < op->arg0 + op->n_args; i++) {
    const fs_stream_arg *a = &r->s->args[i];
    if (accesses(a)) {
      FS_TRY(take_version(r, a->version));
      FS_TRY(make_missing(r, a->version, a->offset, a->offset + a->length));
    }
  }
  for (uint32_t k = 0; k < l->loop->n_rings; k++) {
    const fs_stream_ring *ring = &r->s->rings[l->loop->ring0 + k];
    const fs_stream_arg *a = &r->s->args[ring->arg];
    uint64_t begin = a->offset + ring->slot * (ring->depth - 1), end = begin + ring->size;
    const value *v = &r->value[a->version];
    fs_ring_value *entry = &l->rings[k].at[l->rings[k].kept];
    if (ring->entry == 0) {
      continue;
    }
    memcpy(entry->bytes, v->bytes + begin, ring->size);
    for (size_t i = 0; i < v->defined.n; i++) {
      uint64_t from = fs_max(v->defined.at[i].begin, begin);
      uint64_t until = fs_min(v->defined.at[i].end, end);
      if (from < until) {
        FS_TRY(fs_byteset_add(r->ctx, &entry->defined, from - begin, until - begin));
      }
    }
  }
  return FSCHED_OK;
}

/* Where an arg of an instance lies: its bytes, and which of them are in which set of defined
 * ones. */
typedef struct loop_bytes {
  uint8_t *bytes;
  fs_byteset *defined;
  fs_byte_range range;
} loop_bytes;

static loop_bytes find_bytes(loop_run *l, uint32_t arg, uint64_t iteration) {
  const fs_stream_loop_arg *a = &l->r->s->loop_args[arg];
  if (a->ring != FS_NONE) {
    fs_ring_value *v = fs_ring_look(&l->rings[a->ring - l->loop->ring0], iteration, a->back);
    return (loop_bytes){v->bytes, &v->defined, {a->offset, a->offset + a->length}};
  }
  value *v = &l->r->value[l->version[arg - l->arg0]];
  return (loop_bytes){v->bytes, &v->defined, fs_loop_arg_range(l->r->s, a, iteration)};
}

static fs_kernel_call make_loop_call(loop_run *l, const fs_stream_loop_op *op, uint64_t iteration,
                                     bool *known) {
  const fs_stream *s = l->r->s;
  *known = true;
  for (uint32_t i = 0; i < op->n_args; i++) {
    const fs_stream_loop_arg *a = &s->loop_args[op->arg0 + i];
    fs_kernel_arg *out = &l->r->args[i];
    *out = (fs_kernel_arg){.value = a->value, .tag = a->tag, .length = a->length};
    if (!fs_tag_accesses(a->tag)) {
      continue;
    }
    if (a->ring != FS_NONE && fs_tag_begins(a->tag)) {
      (void)fs_ring_begin(&l->rings[a->ring - l->loop->ring0], iteration);
    }
    loop_bytes b = find_bytes(l, op->arg0 + i, iteration);
    out->data = b.bytes + b.range.begin;
    out->length = b.range.end - b.range.begin;
    *known = *known &&
             (!fs_tag_reads(a->tag) || fs_byteset_cover(b.defined, b.range.begin, b.range.end));
  }
  fs_loop_name(l->name, fs_stream_string(s, op->name), iteration);
  fs_kernel_call call = {.op = l->name, .args = l->r->args, .n_args = op->n_args};
  fs_kernels_shape(s, op->kernel, &call);
  return call;
}

static fs_status define_in_loop(loop_run *l, const fs_stream_loop_op *op, uint64_t iteration,
                                bool known) {
  for (uint32_t i = op->arg0; i < op->arg0 + op->n_args; i++) {
    if (fs_tag_writes(l->r->s->loop_args[i].tag)) {
      loop_bytes b = find_bytes(l, i, iteration);
      FS_TRY(known ? fs_byteset_add(l->r->ctx, b.defined, b.range.begin, b.range.end)
                   : fs_byteset_remove(l->r->ctx, b.defined, b.range.begin, b.range.end));
    }
  }
  return FSCHED_OK;
}

static fs_status evaluate_instance(loop_run *l, uint32_t index, uint64_t iteration) {
  reference *r = l->r;
  const fs_stream_loop_op *op = &r->s->loop_ops[l->loop->op0 + index];
  bool known, nothing = writes_nothing(r, op->kernel);
  fs_kernel_call call = make_loop_call(l, op, iteration, &known);
  if (fs_kernels_run(&r->kernels, op->kernel, &call) != FSCHED_CAUSE_NONE) {
    return fs_fail(r->ctx, FSCHED_REPLAY, FS_DIAG_REPLAY_FAILED, FS_NOWHERE, NULL,
                   "op '%s': its kernel failed in a sequential evaluation", call.op);
  }
  l->known = l->known && (known || nothing);
  if (r->digest != NULL) {
    l->digest +=
        fs_loop_digest(index, iteration, fs_kernels_digest(&r->kernels, op->kernel, &call));
  }
  return nothing ? FSCHED_OK : define_in_loop(l, op, iteration, known);
}

/* Puts the last value of a ring into its slot; the rest of the ring's place is undefined. */
static fs_status leave_ring(loop_run *l, uint32_t index) {
  reference *r = l->r;
  const fs_stream_ring *ring = &r->s->rings[l->loop->ring0 + index];
  const fs_stream_arg *a = &r->s->args[ring->arg];
  uint64_t last = l->loop->trip - 1, at = a->offset + ring->slot * (last % ring->depth);
  const fs_ring_value *from = fs_ring_look(&l->rings[index], last, 0);
  value *v = &r->value[a->version];
  memset(v->bytes + a->offset, 0xA5, (size_t)a->length);
  FS_TRY(fs_byteset_remove(r->ctx, &v->defined, a->offset, a->offset + a->length));
  memcpy(v->bytes + at, from->bytes, (size_t)ring->size);
  for (size_t i = 0; i < from->defined.n; i++) {
    fs_byte_range d = from->defined.at[i];
    FS_TRY(fs_byteset_add(r->ctx, &v->defined, at + d.begin, at + d.end));
  }
  return FSCHED_OK;
}

static fs_status run_loop(loop_run *l) {
  FS_TRY(enter_loop(l));
  for (uint64_t i = 0; i < l->loop->trip; i++) {
    for (uint32_t k = 0; k < l->loop->n_ops; k++) {
      FS_TRY(evaluate_instance(l, k, i));
    }
  }
  for (uint32_t k = 0; l->loop->trip > 0 && k < l->loop->n_rings; k++) {
    FS_TRY(leave_ring(l, k));
  }
  return FSCHED_OK;
}

static fs_status evaluate_loop(reference *r, const fs_stream_loop *loop) {
  FS_SCRATCH(arena, r->ctx);
  loop_run l = {.r = r, .loop = loop, .known = true};
  fs_status status = prepare_loop(&l, &arena);
  status = status == FSCHED_OK ? run_loop(&l) : status;
  fs_rings_release(r->ctx, loop, l.rings);
  FS_TRY(status);
  if (l.known && r->digest != NULL) {
    compare_digest(r, loop->op, l.digest);
  }
  drop_dead(r, loop->op);
  return FSCHED_OK;
}

static fs_status evaluate(reference *r) {
  for (uint32_t i = 0; i < r->s->n_ops; i++) {
    uint32_t op = op_at(r, i), loop = r->loops.of == NULL ? FS_NONE : r->loops.of[op];
    FS_TRY(loop == FS_NONE ? evaluate_op(r, op) : evaluate_loop(r, &r->s->loops[loop]));
  }
  return FSCHED_OK;
}

static void compare_bytes(reference *r, uint32_t version, const uint8_t *got) {
  const value *v = &r->value[version];
  uint64_t wrong = 0, first = 0;
  for (size_t i = 0; i < v->defined.n; i++) {
    fs_byte_range d = v->defined.at[i];
    r->counts.bytes += d.end - d.begin;
    if (memcmp(got + d.begin, v->bytes + d.begin, d.end - d.begin) == 0) {
      continue;
    }
    for (uint64_t b = d.begin; b < d.end; b++) {
      first = wrong == 0 && got[b] != v->bytes[b] ? b : first;
      wrong += got[b] != v->bytes[b];
    }
  }
  if (wrong > 0) {
    r->differs = true;
    fs_report(r->ctx, FSCHED_ERROR, FS_DIAG_REPLAY_DIFFERS, FS_NOWHERE, NULL,
              "%llu bytes of buffer '%s' differ from a sequential evaluation, the first is byte "
              "%llu: 0x%02x instead of 0x%02x",
              (unsigned long long)wrong,
              fs_stream_string(r->s, r->s->buffers[r->s->versions[version].buffer].name),
              (unsigned long long)first, got[first], v->bytes[first]);
  }
}

static fs_status compare_kept(reference *r) {
  for (uint32_t v = 0; v < r->s->n_versions; v++) {
    if (r->s->versions[v].kept_memory != FS_NONE && r->run->kept[v] != NULL) {
      FS_TRY(take_version(r, v));
      compare_bytes(r, v, r->run->kept[v]);
    }
  }
  return FSCHED_OK;
}

/* Kept state becomes the content that the next invocation is given; other versions are dropped. */
static fs_status carry_state(reference *r) {
  for (uint32_t v = 0; v < r->s->n_versions; v++) {
    const fs_stream_version *version = &r->s->versions[v];
    if (version->kept_memory != FS_NONE && fs_io_carried(r->s->buffers[version->buffer].io)) {
      FS_TRY(take_version(r, v));
      if (version->given_memory ==
          FS_NONE) { /* bytes never written do not keep the content of the begin */
        FS_TRY(make_missing(r, v, 0, version_size(r->s, v)));
      }
      drop_value(r, &r->state[version->buffer], version_size(r->s, v)); /* no op has read it */
      r->state[version->buffer] = r->value[v];
      r->value[v] = (value){0};
    }
  }
  for (uint32_t v = 0; v < r->s->n_versions; v++) {
    drop_value(r, &r->value[v], version_size(r->s, v));
  }
  return FSCHED_OK;
}

/* Sets the values of parameters.  The invocations have used these parameters, so all exist. */
static fs_status set_values(reference *r) {
  const fs_stream *s = r->s;
  if (r->run->n_parameters == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(r->arena, &r->other, s->n_args));
  for (uint32_t i = 0; i < s->n_args; i++) {
    r->other[i] = s->args[i].value;
  }
  for (uint32_t i = 0; i < r->run->n_parameters; i++) {
    const fsched_parameter *p = &r->run->parameters[i];
    for (uint32_t op = 0; op < s->n_ops; op++) {
      if (strcmp(fs_stream_string(s, s->ops[op].name), p->op) == 0) {
        r->other[s->ops[op].arg0 + p->arg] = p->value;
        break;
      }
    }
  }
  return FSCHED_OK;
}

static fs_status set_up(reference *r) {
  const fs_stream *s = r->s;
  uint32_t most_args = 0;
  FS_TRY(fs_new_zero(r->arena, &r->value, s->n_versions));
  FS_TRY(fs_new_none(r->arena, &r->last_op, s->n_versions));
  FS_TRY(fs_new_zero(r->arena, &r->state, s->n_buffers));
  FS_TRY(fs_reference_order(r->ctx, r->arena, s, &r->order));
  for (uint32_t k = 0; k < s->n_ops; k++) {
    uint32_t op = op_at(r, k);
    const fs_stream_op *o = &s->ops[op];
    most_args = o->n_args > most_args ? o->n_args : most_args;
    for (uint32_t i = o->arg0; i < o->arg0 + o->n_args; i++) {
      if (accesses(&s->args[i])) {
        r->last_op[s->args[i].version] = op;
      }
    }
  }
  for (uint32_t op = 0; op < s->n_loop_ops; op++) {
    most_args = s->loop_ops[op].n_args > most_args ? s->loop_ops[op].n_args : most_args;
  }
  FS_TRY(fs_loops_make(r->arena, s, &r->loops));
  return fs_new(r->arena, &r->args, most_args);
}

static bool has_state(const fs_stream *s) {
  for (uint32_t b = 0; b < s->n_buffers; b++) {
    if (fs_io_carried(s->buffers[b].io)) {
      return true;
    }
  }
  return false;
}

static fs_status run_reference(reference *r) {
  uint64_t invocations = r->run->invocations;
  FS_TRY(fs_kernels_find(r->ctx, r->arena, r->s, r->run->options, &r->kernels));
  FS_TRY(set_up(r));
  FS_TRY(set_values(r));
  for (uint64_t k = has_state(r->s) ? 1 : invocations; k < invocations; k++) {
    FS_TRY(evaluate(r));
    FS_TRY(carry_state(r));
  }
  r->digest = r->run->digest;
  FS_TRY(evaluate(r));
  FS_TRY(compare_kept(r));
  return r->differs ? FSCHED_REPLAY : FSCHED_OK;
}

fs_status fs_reference_compare(fsched_context *ctx, const fs_stream *s,
                               const fs_reference_run *what, fs_reference_counts *counts) {
  assert(s->n_meta == 1 && s->n_races == 0);
  assert(what->invocations > 0);
  FS_SCRATCH(arena, ctx);
  reference r = {.ctx = ctx, .s = s, .run = what, .arena = &arena};
  fs_status status = run_reference(&r);
  for (uint32_t v = 0; r.value != NULL && v < s->n_versions; v++) {
    drop_value(&r, &r.value[v], version_size(s, v));
  }
  for (uint32_t b = 0; r.state != NULL && b < s->n_buffers; b++) {
    drop_value(&r, &r.state[b], s->buffers[b].size);
  }
  fs_kernels_release(&r.kernels);
  *counts = r.counts;
  return status;
}
