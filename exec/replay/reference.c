/* SPDX-License-Identifier: Apache-2.0 */
/* The sequential evaluation of a program.
 *
 * A version's bytes are allocated at its first access and freed after its last one; kept versions
 * stay until they are compared.  `defined` says which bytes the graph determines: given content is
 * defined, and the bytes that an op writes are defined if all bytes that it reads are.
 */
#include "exec/replay/evaluate.h"
#include "exec/replay/reference_order.h"
#include "model/stream/views.h"

static uint64_t version_size(const fs_stream *s, uint32_t version) {
  return s->buffers[s->versions[version].buffer].size;
}

static void drop_value(const fs_reference *r, fs_value *v, uint64_t size) {
  (void)fs_realloc(r->ctx, v->bytes, size + 1, 0);
  v->bytes = NULL;
  fs_vec_free(r->ctx, &v->defined);
  fs_vec_free(r->ctx, &v->there);
}

fs_status fs_evaluate_take(fs_reference *r, uint32_t version) {
  fs_value *v = &r->value[version];
  if (v->bytes != NULL) {
    return FSCHED_OK;
  }
  uint64_t size = version_size(r->s, version);
  uint32_t buffer = r->s->versions[version].buffer;
  bool given = r->s->versions[version].given_memory != FS_NONE;
  if (given && r->state[buffer].bytes != NULL) {
    *v = r->state[buffer];
    r->state[buffer] = (fs_value){0};
    return FSCHED_OK;
  }
  v->bytes = fs_realloc(r->ctx, NULL, 0, (size_t)size + 1);
  return v->bytes == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

/* Makes the content that bytes [begin, end) have before the first op touches them.  Those that are
 * not given are not defined. */
static fs_status make_bytes(fs_reference *r, uint32_t version, uint64_t begin, uint64_t end) {
  const fs_stream_version *k = &r->s->versions[version];
  const fs_stream_buffer *b = &r->s->buffers[k->buffer];
  fs_value *v = &r->value[version];
  const uint8_t *bound = r->run->given == NULL ? NULL : r->run->given[version];
  if (begin >= end) {
    return FSCHED_OK;
  }
  uint64_t from = fs_max(begin, b->given), until = fs_min(end, b->given + b->io_size);
  if (k->given_memory == FS_NONE || from >= until || from > begin || until < end) {
    memset(v->bytes + begin, 0xA5, (size_t)(end - begin));
  }
  if (k->given_memory == FS_NONE || from >= until) {
    return FSCHED_OK;
  }
  if (bound != NULL) {
    memcpy(v->bytes + from, bound + (from - b->given), (size_t)(until - from));
  } else {
    fs_fill_given_range(fs_stream_string(r->s, b->name), v->bytes + b->given, from - b->given,
                        until - b->given);
  }
  return fs_byteset_add(r->ctx, &v->defined, from, until);
}

fs_status fs_evaluate_make(fs_reference *r, uint32_t version, uint64_t begin, uint64_t end) {
  assert(r->value[version].bytes != NULL);
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

static uint32_t op_at(const fs_reference *r, uint32_t i) {
  return r->order == NULL ? i : r->order[i];
}

static bool accesses(const fs_stream_arg *a) {
  return fs_tag_reads(a->tag) || fs_tag_writes(a->tag);
}

fs_element_walk fs_evaluate_elements(const fs_stream_view *view, uint64_t begin, uint64_t end) {
  fs_element_walk w = {.view = view, .base = begin, .begin = begin, .end = end, .count = 1};
  for (uint32_t d = 0; view != NULL && d < view->n_dims; d++) {
    w.count *= view->shape[d];
  }
  return w;
}

static fs_element_walk elements_of(const fs_stream *s, uint32_t arg) {
  const fs_stream_arg *a = &s->args[arg];
  return fs_evaluate_elements(fs_stream_view_of(s, arg), a->offset, a->offset + a->length);
}

bool fs_evaluate_element(fs_element_walk *w) {
  uint64_t rest = w->number;
  if (w->number++ == w->count) {
    return false;
  }
  if (w->view != NULL) {
    w->begin = w->base;
    for (uint32_t d = w->view->n_dims; d-- > 0; rest /= w->view->shape[d]) {
      w->begin += rest % w->view->shape[d] * w->view->stride[d];
    }
    w->end = w->begin + w->view->element;
  }
  return true;
}

/* Makes a call of the op, and allocates the versions that it accesses; *known: all bytes that it
 * reads are defined. */
static fs_status make_call(fs_reference *r, uint32_t op, uint32_t member, fs_kernel_call *call,
                           bool *known) {
  const fs_stream *s = r->s;
  const fs_stream_op *o = &s->ops[op];
  fs_stream_member own = fs_op_call_args(s, o, member);
  *known = true;
  for (uint32_t i = 0; i < own.n_args; i++) {
    const fs_stream_arg *a = &s->args[own.arg0 + i];
    int64_t number = r->other == NULL ? a->value : r->other[own.arg0 + i];
    r->args[i] = (fs_kernel_arg){
        .value = number, .tag = fs_tag_seen(a->tag, a->begins), .length = a->length};
    if (!accesses(a)) {
      continue;
    }
    FS_TRY(fs_evaluate_take(r, a->version));
    r->args[i].data = r->value[a->version].bytes + a->offset;
    for (fs_element_walk w = elements_of(s, own.arg0 + i); fs_evaluate_element(&w);) {
      FS_TRY(fs_evaluate_make(r, a->version, w.begin, w.end));
      *known = *known && (!fs_tag_reads(a->tag) ||
                          fs_byteset_cover(&r->value[a->version].defined, w.begin, w.end));
    }
  }
  *call = (fs_kernel_call){.op = fs_stream_string(s, o->name),
                           .args = r->args,
                           .n_args = own.n_args,
                           .views = fs_kernel_views(s, own, r->views),
                           .member = member,
                           .n_members = o->n_members};
  fs_kernels_shape(&r->kernels, o->kernel, call);
  return FSCHED_OK;
}

/* The bytes that a call with these args has written are defined, or are not. */
static fs_status define(fs_reference *r, fs_stream_member args, bool known) {
  for (uint32_t i = args.arg0; i < args.arg0 + args.n_args; i++) {
    const fs_stream_arg *a = &r->s->args[i];
    if (fs_tag_writes(a->tag)) {
      fs_byteset *d = &r->value[a->version].defined;
      for (fs_element_walk w = elements_of(r->s, i); fs_evaluate_element(&w);) {
        FS_TRY(known ? fs_byteset_add(r->ctx, d, w.begin, w.end)
                     : fs_byteset_remove(r->ctx, d, w.begin, w.end));
      }
    }
  }
  return FSCHED_OK;
}

void fs_evaluate_drop_dead(fs_reference *r, uint32_t op) {
  const fs_stream_op *o = &r->s->ops[op];
  for (uint32_t i = o->arg0; i < o->arg0 + o->n_args; i++) {
    const fs_stream_arg *a = &r->s->args[i];
    if (accesses(a) && r->last_op[a->version] == op && r->value[a->version].bytes != NULL &&
        r->s->versions[a->version].kept_memory == FS_NONE) {
      drop_value(r, &r->value[a->version], version_size(r->s, a->version));
    }
  }
}

void fs_evaluate_digest(fs_reference *r, uint32_t op, uint64_t expected) {
  r->counts.ops++;
  if (r->digest[op] != expected) {
    r->differs = true;
    fs_report(r->ctx, FSCHED_ERROR, FS_DIAG_REPLAY_DIFFERS, FS_NOWHERE, NULL,
              "op '%s' wrote something else than in a sequential evaluation",
              fs_stream_string(r->s, r->s->ops[op].name));
  }
}

bool fs_evaluate_idle(const fs_reference *r, uint32_t kernel) {
  return kernel != FS_NONE && r->kernels.at[kernel].builtin == FS_BUILTIN_NOP;
}

/* Evaluates one call; *known: all bytes that it reads are defined.  Adds its digest to the sum. */
static fs_status evaluate_call(fs_reference *r, uint32_t op, uint32_t member, bool *known,
                               uint64_t *digest) {
  const fs_stream_op *o = &r->s->ops[op];
  fs_kernel_call call;
  FS_TRY(make_call(r, op, member, &call, known));
  if (fs_kernels_run(&r->kernels, o->kernel, &call) != FSCHED_CAUSE_NONE) {
    return fs_fail(r->ctx, FSCHED_REPLAY, FS_DIAG_REPLAY_FAILED, FS_NOWHERE, NULL,
                   "op '%s': its kernel failed in a sequential evaluation", call.op);
  }
  if (!fs_evaluate_idle(r, o->kernel)) {
    FS_TRY(define(r, fs_op_call_args(r->s, o, member), *known));
  }
  if (r->digest != NULL) {
    *digest += fs_kernels_digest(&r->kernels, o->kernel, &call);
  }
  return FSCHED_OK;
}

static fs_status evaluate_op(fs_reference *r, uint32_t op) {
  const fs_stream_op *o = &r->s->ops[op];
  uint64_t digest = 0;
  bool all_known = true;
  for (uint32_t m = 0; m < fs_op_calls(o); m++) { /* members do not read each other's bytes */
    bool known;
    FS_TRY(evaluate_call(r, op, m, &known, &digest));
    all_known = all_known && known;
  }
  if (all_known && r->digest != NULL && !fs_evaluate_idle(r, o->kernel)) {
    fs_evaluate_digest(r, op, digest);
  }
  fs_evaluate_drop_dead(r, op);
  return FSCHED_OK;
}

static fs_status evaluate(fs_reference *r) {
  for (uint32_t i = 0; i < r->s->n_ops; i++) {
    uint32_t op = op_at(r, i), loop = r->loops.of == NULL ? FS_NONE : r->loops.of[op];
    FS_TRY(loop == FS_NONE ? evaluate_op(r, op) : fs_evaluate_loop(r, &r->s->loops[loop]));
  }
  return FSCHED_OK;
}

/* Which bytes of what is kept lie in a range of the version. */
static fs_byte_range kept_part(const fs_stream_buffer *b, fs_byte_range r) {
  uint64_t begin = fs_max(r.begin, b->kept), end = fs_min(r.end, b->kept + b->io_size);
  return begin < end ? (fs_byte_range){begin - b->kept, end - b->kept} : (fs_byte_range){0, 0};
}

/* Compares what is kept of a version. */
static void compare_bytes(fs_reference *r, uint32_t version, const uint8_t *got) {
  const fs_value *v = &r->value[version];
  const fs_stream_buffer *buffer = &r->s->buffers[r->s->versions[version].buffer];
  const uint8_t *bytes = v->bytes + buffer->kept;
  uint64_t wrong = 0, first = 0;
  for (size_t i = 0; i < v->defined.n; i++) {
    fs_byte_range d = kept_part(buffer, v->defined.at[i]);
    r->counts.bytes += d.end - d.begin;
    if (memcmp(got + d.begin, bytes + d.begin, d.end - d.begin) == 0) {
      continue;
    }
    for (uint64_t b = d.begin; b < d.end; b++) {
      first = wrong == 0 && got[b] != bytes[b] ? b : first;
      wrong += got[b] != bytes[b];
    }
  }
  if (wrong > 0) {
    r->differs = true;
    fs_report(r->ctx, FSCHED_ERROR, FS_DIAG_REPLAY_DIFFERS, FS_NOWHERE, NULL,
              "%llu bytes of buffer '%s' differ from a sequential evaluation, the first is byte "
              "%llu: 0x%02x instead of 0x%02x",
              (unsigned long long)wrong, fs_stream_string(r->s, buffer->name),
              (unsigned long long)first, got[first], bytes[first]);
  }
}

static fs_status compare_kept(fs_reference *r) {
  for (uint32_t v = 0; v < r->s->n_versions; v++) {
    if (r->s->versions[v].kept_memory != FS_NONE && r->run->kept[v] != NULL) {
      FS_TRY(fs_evaluate_take(r, v));
      compare_bytes(r, v, r->run->kept[v]);
    }
  }
  return FSCHED_OK;
}

/* What is kept of a value becomes what is given; the rest is not there. */
static fs_status move_kept(fs_reference *r, const fs_stream_buffer *b, fs_value *v) {
  fs_byteset defined = v->defined;
  fs_status status = FSCHED_OK;
  memmove(v->bytes + b->given, v->bytes + b->kept, (size_t)b->io_size);
  v->defined = (fs_byteset){0};
  for (size_t i = 0; i < defined.n && status == FSCHED_OK; i++) {
    fs_byte_range d = kept_part(b, defined.at[i]);
    if (d.begin < d.end) {
      status = fs_byteset_add(r->ctx, &v->defined, b->given + d.begin, b->given + d.end);
    }
  }
  fs_vec_free(r->ctx, &defined);
  fs_vec_free(r->ctx, &v->there);
  FS_TRY(status);
  return fs_byteset_add(r->ctx, &v->there, b->given, b->given + b->io_size);
}

/* Kept state becomes the content that the next invocation is given; other versions are dropped. */
static fs_status carry_state(fs_reference *r) {
  for (uint32_t v = 0; v < r->s->n_versions; v++) {
    const fs_stream_version *version = &r->s->versions[v];
    if (version->kept_memory != FS_NONE && fs_io_carried(r->s->buffers[version->buffer].io)) {
      FS_TRY(fs_evaluate_take(r, v));
      if (version->given_memory ==
          FS_NONE) { /* bytes never written do not keep the content of the begin */
        FS_TRY(fs_evaluate_make(r, v, 0, version_size(r->s, v)));
      }
      const fs_stream_buffer *b = &r->s->buffers[version->buffer];
      if (b->io_size < b->size) {
        FS_TRY(fs_evaluate_make(r, v, b->kept, b->kept + b->io_size));
        FS_TRY(move_kept(r, b, &r->value[v]));
      }
      drop_value(r, &r->state[version->buffer], version_size(r->s, v)); /* no op has read it */
      r->state[version->buffer] = r->value[v];
      r->value[v] = (fs_value){0};
    }
  }
  for (uint32_t v = 0; v < r->s->n_versions; v++) {
    drop_value(r, &r->value[v], version_size(r->s, v));
  }
  return FSCHED_OK;
}

/* Sets the values of parameters.  The invocations have used these parameters, so all exist. */
static fs_status set_values(fs_reference *r) {
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

static fs_status set_up(fs_reference *r) {
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
  FS_TRY(fs_new(r->arena, &r->views, most_args));
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

static fs_status run_reference(fs_reference *r) {
  uint64_t invocations = r->run->invocations;
  FS_TRY(fs_kernels_find(r->ctx, r->arena, r->s, r->run->options, &r->kernels));
  FS_TRY(set_up(r));
  FS_TRY(set_values(r));
  if (r->run->n_trips > 0) {
    FS_TRY(fs_new(r->arena, &r->trips, r->s->n_loops));
    FS_TRY(fs_loops_trips(r->ctx, r->s, r->run->trips, r->run->n_trips, r->trips));
  }
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
  fs_reference r = {.ctx = ctx, .s = s, .run = what, .arena = &arena};
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
