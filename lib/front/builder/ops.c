/* SPDX-License-Identifier: Apache-2.0 */
/* The builder's calls about buffers and ops.  Each call checks at once everything that does not
 * depend on the whole graph; the rest is left to finish.  Room in an entity's arrays is made before
 * its name is entered, so that running out of memory leaves no name without its entity. */
#include <stdio.h>

#include "base/saturate.h"
#include "base/text/hex.h"
#include "base/text/plural.h"
#include "base/text/size_text.h"
#include "front/builder/private.h"
#include "model/builtins.h"

enum { MAX_IDS = INT32_MAX };

static fs_status bad_id(fsched_builder *b, const char *kind, uint32_t id) {
  b->incomplete = true;
  return fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, b->pos, NULL, "there is no %s %u", kind, id);
}

static fs_status check_count(fsched_builder *b, const char *kind, size_t n) {
  if (n < MAX_IDS) {
    return FSCHED_OK;
  }
  return fs_builder_fail(b, FS_DIAG_OUT_OF_RANGE, b->pos, NULL, "more than %d %s", MAX_IDS, kind);
}

static fs_status find_memory(fsched_builder *b, const char *buffer, const char *name,
                             uint32_t *memory) {
  *memory = name == NULL ? FS_NONE : fs_names_find(&b->memories, name, strlen(name));
  if (name == NULL || *memory != FS_NONE) {
    return FSCHED_OK;
  }
  const char *near = fs_nearest(name, b->memories.text.at, b->memories.text.n);
  char hint[120];
  if (near != NULL) {
    (void)snprintf(hint, sizeof hint, "did you mean '%.100s'?", near);
  }
  b->incomplete = true;
  return fs_builder_fail(b, FS_DIAG_UNKNOWN_NAME, b->pos, near == NULL ? NULL : hint,
                         "buffer '%.80s': there is no memory '%.80s'", buffer, name);
}

fsched_status fsched_builder_buffer(fsched_builder *b, const fsched_buffer_desc *desc,
                                    uint32_t *id) {
  FS_TAKE_DESC(fsched_buffer_desc, bytes, d, desc);
  uint32_t memory;
  FS_TRY(fs_builder_check_name(b, "buffer", d.name));
  FS_TRY(find_memory(b, d.name, d.memory, &memory));
  return fs_builder_add_buffer(b, &d, memory, id);
}

fs_status fs_builder_add_buffer(fsched_builder *b, const fsched_buffer_desc *d, uint32_t memory,
                                uint32_t *id) {
  FS_TRY(fs_builder_check_name(b, "buffer", d->name));
  FS_TRY(check_count(b, "buffers", b->buffer_size.n));
  FS_TRY(fs_builder_check_enum(b, "io", (int)d->io, FS_N_IOS - 1));
  FS_TRY(fs_builder_limit(b, "the size", d->bytes, FSCHED_MAX_SIZE));
  bool repeated;
  uint32_t at;
  FS_TRY(fs_vec_reserve(b->ctx, &b->buffer_size, b->buffer_size.n + 1));
  FS_TRY(fs_vec_reserve(b->ctx, &b->buffer_memory, b->buffer_memory.n + 1));
  FS_TRY(fs_vec_reserve(b->ctx, &b->buffer_io, b->buffer_io.n + 1));
  FS_TRY(fs_names_add(&b->buffers, d->name, strlen(d->name), &at, &repeated));
  FS_TRY(fs_vec_push(b->ctx, &b->buffer_size, d->bytes));
  FS_TRY(fs_vec_push(b->ctx, &b->buffer_memory, memory));
  FS_TRY(fs_vec_push(b->ctx, &b->buffer_io, (uint8_t)d->io));
  FS_TRY(fs_builder_place(b, &b->buffer_at, at, b->pos));
  if (id != NULL) {
    *id = at;
  }
  return repeated ? fs_builder_repeated(b, "buffer", d->name) : FSCHED_OK;
}

/* Sorts a gang's words (ids, distinct unless the user repeats one); gangs are small. */
static void sort_words(uint32_t *word, size_t n) {
  for (size_t i = 1; i < n; i++) {
    uint32_t w = word[i];
    size_t at = i;
    for (; at > 0 && word[at - 1] > w; at--) {
      word[at] = word[at - 1];
    }
    word[at] = w;
  }
}

/* Equal sets of queues are one gang; the key is the text of the count and of the sorted ids. */
fs_status fs_builder_gang(fsched_builder *b, const uint32_t *word, uint32_t n, uint32_t count,
                          uint32_t *gang) {
  assert(n > 0);
  FS_TRY(fs_vec_reserve(b->ctx, &b->gang_count, b->gang_count.n + 1));
  FS_TRY(fs_vec_reserve(b->ctx, &b->gang0, b->gang0.n + 1));
  FS_TRY(fs_vec_reserve(b->ctx, &b->gang_word, b->gang_word.n + n));
  fs_text key;
  fs_text_init(&key, b->ctx);
  fs_text_u64(&key, count);
  fs_text_add(&key, ":", 1);
  for (uint32_t i = 0; i < n; i++) {
    fs_text_u64(&key, word[i]);
    fs_text_add(&key, ",", 1);
  }
  bool added = false;
  fs_status status =
      key.failed ? FSCHED_SYSTEM : fs_names_intern(&b->gang_keys, key.at, key.n, gang, &added);
  fs_text_drop(&key);
  FS_TRY(status);
  if (!added) {
    return FSCHED_OK;
  }
  FS_TRY(fs_vec_push(b->ctx, &b->gang0, (uint32_t)b->gang_word.n));
  FS_TRY(fs_vec_push(b->ctx, &b->gang_count, count));
  for (uint32_t i = 0; i < n; i++) {
    FS_TRY(fs_vec_push(b->ctx, &b->gang_word, word[i]));
  }
  return fs_builder_place(b, &b->gang_at, *gang, b->part[FS_PART_ON]);
}

static fs_status take_gang(fsched_builder *b, const fsched_op_desc *d, uint32_t *gang) {
  size_t bytes = d->n_gang * sizeof(uint32_t);
  uint32_t *word = fs_realloc(b->ctx, NULL, 0, bytes);
  if (word == NULL) {
    return FSCHED_SYSTEM;
  }
  fs_status status = FSCHED_OK;
  uint32_t n = 0;
  for (uint32_t i = 0; i < d->n_gang && status == FSCHED_OK; i++) {
    status = fs_builder_word(b, d->gang[i], &word[n++]);
  }
  for (uint32_t i = 0; i < d->members && status == FSCHED_OK; i++) {
    status = fs_vec_push(b->ctx, &b->member_word, word[i]);
  }
  if (status == FSCHED_OK) {
    sort_words(word, n);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < n; i++) {
      if (word[i] == word[i - 1]) {
        status =
            fs_builder_fail(b, FS_DIAG_REPEATED_QUEUE, b->part[FS_PART_ON], NULL,
                            "op '%s' names queue '%s' twice", d->name, b->words.text.at[word[i]]);
      } else {
        word[kept++] = word[i];
      }
    }
    fs_status made = fs_builder_gang(b, word, kept, 0, gang);
    status = made != FSCHED_OK ? made : status;
  }
  (void)fs_realloc(b->ctx, word, bytes, 0);
  return status;
}

static uint64_t op_time(const fsched_op_desc *d) {
  return d->time == 0 && !d->has_time ? 1 : d->time;
}

/* How many queues the gang has; 0: the op is on one queue alone. */
static uint32_t gang_queues(const fsched_op_desc *d) {
  return d->gang != NULL ? d->n_gang : d->gang_class != NULL ? d->gang_count : 0;
}

static const char latency_hint[] =
    "'time' says how long the op keeps its queue, 'latency' when its result is there";

fs_status fs_builder_check_op(fsched_builder *b, const fsched_op_desc *d) {
  FS_TRY(fs_builder_check_name(b, "op", d->name));
  FS_TRY(check_count(b, "ops", b->op.n));
  FS_TRY(fs_builder_limit(b, "the time", d->time, FSCHED_MAX_TIME));
  FS_TRY(fs_builder_limit(b, "the latency", d->latency, FSCHED_MAX_TIME));
  if (d->latency != 0 && d->latency < op_time(d)) {
    return fs_builder_fail(b, FS_DIAG_OUT_OF_RANGE, b->pos, latency_hint,
                           "the latency of op '%s' is %llu, less than its time of %llu", d->name,
                           (unsigned long long)d->latency, (unsigned long long)op_time(d));
  }
  if (d->has_start) {
    FS_TRY(fs_builder_limit(b, "the start", d->start, FSCHED_MAX_TIME));
  }
  if (d->has_start && b->open_loop != FS_NONE) {
    return fs_builder_fail(b, FS_DIAG_BAD_LOOP, b->pos, NULL,
                           "op '%s' in a loop cannot have its start given", d->name);
  }
  FS_TRY(fs_builder_limit(b, "the number of slots", d->slots, INT32_MAX));
  if (d->gang != NULL && d->n_gang == 0) {
    return fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, b->part[FS_PART_ON], NULL,
                           "the gang of op '%s' is empty", d->name);
  }
  if (d->gang != NULL && d->gang_class != NULL) {
    return fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, b->part[FS_PART_ON], NULL,
                           "op '%s' has both a gang's queues and a gang's class", d->name);
  }
  if ((d->gang_class != NULL) != (d->gang_count > 0)) {
    return fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, b->part[FS_PART_ON], NULL,
                           "the gang of op '%s' needs a class and a count of 1 or more", d->name);
  }
  if (d->members > 0 && (d->members != gang_queues(d))) {
    return fs_builder_fail(b, FS_DIAG_BAD_MEMBERS, b->part[FS_PART_MEMBERS],
                           "each queue of a gang has one member", "op '%s' has %u %s, and %u %s",
                           d->name, d->members, fs_plural(d->members, "member", "members"),
                           gang_queues(d),
                           fs_plural(gang_queues(d), "queue of a gang", "queues of a gang"));
  }
  return FSCHED_OK;
}

fsched_status fsched_builder_op(fsched_builder *b, const fsched_op_desc *desc, uint32_t *id) {
  FS_TAKE_DESC(fsched_op_desc, name, d, desc);
  fs_status checked = fs_builder_check_op(b, &d);
  if (checked != FSCHED_OK) {
    b->incomplete = true;
    return checked;
  }
  fs_op_draft op = {.time = op_time(&d),
                    .latency = fs_max(d.latency, op_time(&d)),
                    .start = d.has_start ? d.start : FS_TICK_NONE,
                    .on_word = FS_NONE,
                    .on_default = d.on == NULL,
                    .gang = FS_NONE,
                    .kernel = FS_NONE,
                    .arg0 = (uint32_t)b->arg.n,
                    .slots = d.slots == 0 ? 1 : d.slots,
                    .members = d.members,
                    .member0 = d.gang == NULL ? FS_NONE : (uint32_t)b->member_word.n};
  fs_status status = FSCHED_OK;
  if (d.gang != NULL) {
    status = take_gang(b, &d, &op.gang);
    if (status == FSCHED_SYSTEM) {
      return status;
    }
  } else if (d.gang_class != NULL) {
    uint32_t word;
    FS_TRY(fs_builder_word(b, d.gang_class, &word));
    FS_TRY(fs_builder_gang(b, &word, 1, d.gang_count, &op.gang));
  } else {
    FS_TRY(fs_builder_word(b, d.on == NULL ? "compute" : d.on, &op.on_word));
  }
  bool repeated;
  uint32_t at;
  FS_TRY(fs_vec_reserve(b->ctx, &b->op, b->op.n + 1));
  FS_TRY(fs_names_add(&b->ops, d.name, strlen(d.name), &at, &repeated));
  FS_TRY(fs_vec_push(b->ctx, &b->op, op));
  b->last_loop = b->open_loop;
  FS_TRY(fs_builder_place(b, &b->op_at, at, b->pos));
  FS_TRY(fs_builder_place(b, &b->op_on_at, at, b->part[FS_PART_ON]));
  if (id != NULL) {
    *id = at;
  }
  return repeated ? fs_builder_repeated(b, "op", d.name) : status;
}

static fs_status at_outside(fsched_builder *b, const fsched_arg_desc *d, const char *name,
                            uint64_t size) {
  assert(b->op.n > 0);
  char text[FS_SIZE_TEXT];
  const char *op = b->ops.text.at[b->op.n - 1];
  const char *hint = d->n_dims == 0 ? "'at' is [offset, length]" : NULL;
  if (d->length == 0) {
    return fs_builder_fail(b, FS_DIAG_AT_OUTSIDE, b->pos, hint,
                           "op '%s': a range of no bytes of '%s'", op, name);
  }
  if (d->length > UINT64_MAX - d->offset) {
    return fs_builder_fail(b, FS_DIAG_AT_OUTSIDE, b->pos, hint,
                           "op '%s': %llu bytes from %llu on leave '%s' of size %s", op,
                           (unsigned long long)d->length, (unsigned long long)d->offset, name,
                           fs_size_text(text, size));
  }
  return fs_builder_fail(b, FS_DIAG_AT_OUTSIDE, b->pos, hint,
                         "op '%s': bytes [%llu, %llu) leave '%s' of size %s", op,
                         (unsigned long long)d->offset, (unsigned long long)(d->offset + d->length),
                         name, fs_size_text(text, size));
}

/* What only args in loops have. */
static fs_status check_moving(fsched_builder *b, const fsched_arg_desc *d) {
  const char *op = b->ops.text.at[b->op.n - 1];
  FS_TRY(fs_builder_limit(b, "the distance", d->distance, FSCHED_MAX_TIME));
  if (d->distance > 0 && !fs_tag_only_reads(d->tag)) {
    return fs_builder_fail(b, FS_DIAG_BAD_LOOP, b->pos, NULL,
                           "op '%s': only an 'in' has a distance", op);
  }
  if (!fs_tag_names_buffer(d->tag) || fs_tag_begins(d->tag)) {
    return fs_builder_fail(b, FS_DIAG_BAD_LOOP, b->pos, NULL,
                           "op '%s': an arg without a range has no steps", op);
  }
  if (b->last_loop == FS_NONE) {
    return fs_builder_fail(b, FS_DIAG_BAD_LOOP, b->pos, NULL,
                           "op '%s' has an arg with a %s, but is in no loop", op,
                           d->distance > 0 ? "distance" : "step");
  }
  uint32_t depth = b->loop.at[b->last_loop].depth;
  if (d->n_steps > 0 && !d->has_at) {
    return fs_builder_fail(b, FS_DIAG_BAD_LOOP, b->pos, NULL,
                           "op '%s': an arg without a range has no steps", op);
  }
  if (d->n_steps > 0 && d->n_steps != depth) {
    return fs_builder_fail(
        b, FS_DIAG_BAD_LOOP, b->pos, "'step' has one number for each of them, outermost first",
        "op '%s' has %u %s, and %u %s around it", op, d->n_steps,
        fs_plural(d->n_steps, "step", "steps"), depth, fs_plural(depth, "loop", "loops"));
  }
  for (uint32_t i = 0; i < d->n_steps; i++) {
    if (d->step[i] > (int64_t)FSCHED_MAX_SIZE || d->step[i] < -(int64_t)FSCHED_MAX_SIZE) {
      return fs_builder_fail(b, FS_DIAG_OUT_OF_RANGE, b->pos, NULL,
                             "op '%s': the step %lld is above 2^48", op, (long long)d->step[i]);
    }
  }
  return FSCHED_OK;
}

/* Notes the steps and the distance of the arg that comes next. */
static fs_status add_moving(fsched_builder *b, const fsched_arg_desc *d) {
  fs_moving_draft m = {.distance = d->distance,
                       .arg = (uint32_t)b->arg.n,
                       .step0 = (uint32_t)b->step.n,
                       .n_steps = d->n_steps};
  for (uint32_t i = 0; i < d->n_steps; i++) {
    FS_TRY(fs_vec_push(b->ctx, &b->step, d->step[i]));
  }
  return fs_vec_push(b->ctx, &b->moving, m);
}

static fs_status bad_view(fsched_builder *b, const fsched_arg_desc *d, const char *what) {
  return fs_builder_fail(b, FS_DIAG_BAD_VIEW, b->pos, NULL, "op '%s': a view of '%s' %s",
                         b->ops.text.at[b->op.n - 1], b->buffers.text.at[d->buffer], what);
}

const char *fs_builder_view_fault(const fsched_arg_desc *d, fs_view *v) {
  assert(d->n_dims > 0);
  *v = (fs_view){.element = d->element == 0 ? 1 : d->element, .n_dims = d->n_dims};
  if (d->n_dims > FSCHED_MAX_DIMS || d->shape == NULL) {
    return d->shape == NULL ? "has no shape" : "has more than 5 dimensions";
  }
  uint64_t dense = v->element;
  for (uint32_t i = d->n_dims; i-- > 0;) {
    v->shape[i] = d->shape[i];
    v->stride[i] = d->strides == NULL ? dense : d->strides[i];
    dense = fs_multiply_most(dense, d->shape[i]);
    if (d->shape[i] == 0) {
      return "has a dimension of 0";
    }
  }
  if (!fs_view_valid(v) || fs_view_end(v) > FSCHED_MAX_SIZE || dense > FSCHED_MAX_SIZE) {
    return "has more than 2^48 bytes";
  }
  bool written_twice = fs_tag_writes(d->tag) && fs_view_overlaps_itself(v);
  return written_twice ? "is written, and elements of it overlap" : NULL;
}

static bool is_moving(const fsched_arg_desc *d) { return d->distance > 0 || d->n_steps > 0; }

/* Args of members come in the order of the members. */
static fs_status check_member(fsched_builder *b, const fsched_arg_desc *d) {
  const fs_op_draft *op = &b->op.at[b->op.n - 1];
  const char *name = b->ops.text.at[b->op.n - 1];
  if (d->member > 0 && d->member >= op->members) {
    return fs_builder_fail(b, FS_DIAG_BAD_MEMBERS, b->pos, NULL, "op '%s' has no member %u", name,
                           d->member);
  }
  if (b->arg.n > op->arg0 && b->arg.at[b->arg.n - 1].member > d->member) {
    return fs_builder_fail(b, FS_DIAG_BAD_MEMBERS, b->pos, NULL,
                           "op '%s': an arg of member %u behind one of member %u", name, d->member,
                           b->arg.at[b->arg.n - 1].member);
  }
  return FSCHED_OK;
}

/* Checks an arg, and completes what a view says. */
static fs_status check_arg(fsched_builder *b, fsched_arg_desc *d, fs_view *view) {
  FS_TRY(fs_builder_check_enum(b, "tag", (int)d->tag, FS_N_TAGS - 1));
  FS_TRY(check_member(b, d));
  if (is_moving(d)) {
    FS_TRY(check_moving(b, d));
  }
  if (!fs_tag_names_buffer(d->tag)) {
    return FSCHED_OK;
  }
  if (d->buffer >= b->buffer_size.n) {
    return bad_id(b, "buffer", d->buffer);
  }
  const char *name = b->buffers.text.at[d->buffer];
  if (fs_tag_begins(d->tag) && d->has_at) {
    return fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, b->pos, NULL,
                           "'out' writes all of buffer '%s': it takes no range", name);
  }
  if (d->n_dims > 0) {
    const char *fault = fs_builder_view_fault(d, view);
    FS_TRY(fault == NULL ? FSCHED_OK : bad_view(b, d, fault));
    d->length = fs_view_end(view);
  }
  uint64_t size = b->buffer_size.at[d->buffer];
  bool moves = d->n_steps > 0; /* then the unrolling checks where it begins */
  if (d->has_at &&
      (d->length == 0 || (!moves && (d->offset > size || d->length > size - d->offset)))) {
    return at_outside(b, d, name, size);
  }
  if (fs_tag_writes(d->tag) && fs_io_fixed(b->buffer_io.at[d->buffer])) {
    return fs_builder_fail(b, FS_DIAG_CONSTANT_WRITTEN, b->pos, NULL,
                           "op '%s' writes the constant '%s'", b->ops.text.at[b->op.n - 1], name);
  }
  return FSCHED_OK;
}

fsched_status fsched_builder_arg(fsched_builder *b, uint32_t op, const fsched_arg_desc *desc) {
  FS_TAKE_DESC(fsched_arg_desc, buffer, d, desc);
  d.n_steps = d.step == NULL ? 0 : d.n_steps;
  if (op >= b->op.n) {
    return bad_id(b, "op", op);
  }
  if (op != b->op.n - 1) {
    b->incomplete = true;
    return fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, b->pos, NULL,
                           "the args of op '%s' come before the next op", b->ops.text.at[op]);
  }
  d.n_dims = d.has_at ? d.n_dims : 0;
  fs_view view = {0};
  fs_status checked = check_arg(b, &d, &view);
  if (checked == FSCHED_OK) {
    checked = check_count(b, "args", b->arg.n);
  }
  if (checked != FSCHED_OK) {
    b->incomplete = true;
    return checked;
  }
  fs_arg_draft a = {.tag = (uint8_t)d.tag,
                    .buffer = FS_NONE,
                    .has_at = d.has_at != 0,
                    .view = FS_NONE,
                    .member = d.member};
  if (!fs_tag_names_buffer(d.tag)) {
    a.u.value = d.value;
  } else {
    a.buffer = d.buffer;
    a.offset = d.has_at ? d.offset : 0;
    a.u.length = d.has_at ? d.length : b->buffer_size.at[d.buffer];
  }
  if (is_moving(&d)) {
    FS_TRY(add_moving(b, &d));
  }
  if (d.n_dims > 0 && fs_tag_names_buffer(d.tag)) {
    a.view = (uint32_t)b->view.n;
    FS_TRY(fs_vec_push(b->ctx, &b->view, view));
  }
  FS_TRY(fs_vec_push(b->ctx, &b->arg, a));
  return fs_builder_place(b, &b->arg_at, b->arg.n - 1, b->pos);
}

static fs_status add_item(fsched_builder *b, fs_item_list *list, fs_item_draft item) {
  FS_ASSERT_SLOW(item.op < b->op.n);
  FS_TRY(check_count(b, "entries", list->item.n));
  FS_TRY(fs_vec_push(b->ctx, &list->item, item));
  return fs_builder_place(b, &list->at, list->item.n - 1, b->pos);
}

/* Whether `a` is in one of the op's entries at the end of the list, which are all of its entries if
 * the calls come op by op. */
static bool has_item(const fs_item_list *list, uint32_t op, uint32_t a) {
  for (size_t i = list->item.n; i-- > 0 && list->item.at[i].op == op;) {
    if (list->item.at[i].a == a) {
      return true;
    }
  }
  return false;
}

fsched_status fsched_builder_after(fsched_builder *b, uint32_t op, uint32_t before) {
  return fsched_builder_after_at(b, op, before, 0);
}

fsched_status fsched_builder_after_at(fsched_builder *b, uint32_t op, uint32_t before,
                                      uint64_t distance) {
  if (op >= b->op.n) {
    return bad_id(b, "op", op);
  }
  FS_TRY(fs_builder_limit(b, "the distance", distance, FSCHED_MAX_TIME));
  return add_item(b, &b->afters, (fs_item_draft){.op = op, .a = before, .amount = distance});
}

fsched_status fsched_builder_after_loop(fsched_builder *b, uint32_t op, uint32_t loop,
                                        uint64_t distance) {
  if (op >= b->op.n) {
    return bad_id(b, "op", op);
  }
  FS_TRY(fs_builder_limit(b, "the distance", distance, FSCHED_MAX_TIME));
  return add_item(b, &b->afters, (fs_item_draft){.op = op, .a = loop, .b = 1, .amount = distance});
}

fsched_status fsched_builder_use(fsched_builder *b, uint32_t op, uint32_t resource,
                                 uint64_t amount) {
  if (op >= b->op.n) {
    return bad_id(b, "op", op);
  }
  if (resource >= b->resource_capacity.n) {
    return bad_id(b, "resource", resource);
  }
  FS_TRY(fs_builder_limit(b, "the amount", amount, FSCHED_MAX_TIME));
  if (has_item(&b->uses, op, resource)) {
    return fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, b->pos, NULL,
                           "op '%s' uses resource '%s' twice", b->ops.text.at[op],
                           b->resources.text.at[resource]);
  }
  return amount == 0
             ? FSCHED_OK
             : add_item(b, &b->uses, (fs_item_draft){.op = op, .a = resource, .amount = amount});
}

fsched_status fsched_builder_scratch(fsched_builder *b, uint32_t op, uint32_t memory,
                                     uint64_t bytes) {
  if (op >= b->op.n) {
    return bad_id(b, "op", op);
  }
  if (memory >= b->memory.n) {
    return bad_id(b, "memory", memory);
  }
  FS_TRY(fs_builder_limit(b, "the size", bytes, FSCHED_MAX_SIZE));
  if (has_item(&b->scratches, op, memory)) {
    return fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, b->pos, NULL,
                           "op '%s' has scratch in memory '%s' twice", b->ops.text.at[op],
                           b->memories.text.at[memory]);
  }
  return bytes == 0
             ? FSCHED_OK
             : add_item(b, &b->scratches, (fs_item_draft){.op = op, .a = memory, .amount = bytes});
}

fsched_status fsched_builder_inplace(fsched_builder *b, uint32_t op, uint32_t out, uint32_t in) {
  if (op >= b->op.n) {
    return bad_id(b, "op", op);
  }
  if (out >= b->buffer_size.n || in >= b->buffer_size.n) {
    return bad_id(b, "buffer", out >= b->buffer_size.n ? out : in);
  }
  return add_item(b, &b->inplaces, (fs_item_draft){.op = op, .a = out, .b = in});
}

/* Copies a string; NULL stays NULL. */
static fs_status copy_string(fsched_builder *b, const char *s, const char **out) {
  FS_TRY(fs_builder_check_text(b, "a part of a kernel", s));
  *out = s == NULL ? NULL : fs_arena_strndup(&b->arena, s, strlen(s));
  return s != NULL && *out == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

fs_status fs_builder_check_params(fsched_builder *b, const void *params, size_t n) {
  FS_TRY(fs_builder_limit(b, "the number of bytes of parameters", n, FSCHED_MAX_PARAMS));
  return n == 0 || params != NULL ? FSCHED_OK
                                  : fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, b->pos, NULL,
                                                    "a kernel's 'params' is NULL");
}

/* Writes a block of parameters as text. */
static fs_status copy_params(fsched_builder *b, const void *params, size_t n, const char **out) {
  FS_TRY(fs_builder_check_params(b, params, n));
  if (n == 0) {
    return FSCHED_OK;
  }
  char *text = fs_arena_alloc(&b->arena, 2 * n + 1);
  if (text == NULL) {
    return FSCHED_SYSTEM;
  }
  fs_hex_encode(params, n, text);
  *out = text;
  return FSCHED_OK;
}

static fs_status check_builtin(fsched_builder *b, const char *name) {
  enum { BUILTINS = sizeof fs_builtin_names / sizeof fs_builtin_names[0] };
  for (size_t i = 0; i < BUILTINS; i++) {
    if (strcmp(name, fs_builtin_names[i]) == 0) {
      return FSCHED_OK;
    }
  }
  const char *near = fs_nearest(name, fs_builtin_names, BUILTINS);
  char hint[80] = "the built-in kernels are mix, nop and copy";
  if (near != NULL) {
    (void)snprintf(hint, sizeof hint, "did you mean '%s'?", near);
  }
  return fs_builder_fail(b, FS_DIAG_UNKNOWN_VALUE, b->pos, hint,
                         "there is no built-in kernel '%.80s'", name);
}

fs_status fs_builder_add_kernel(fsched_builder *b, const fsched_kernel_desc *desc,
                                uint32_t *kernel) {
  FS_TAKE_DESC(fsched_kernel_desc, function, d, desc);
  bool whole = d.module != NULL && d.function != NULL;
  if ((d.builtin != NULL) == (d.module != NULL || d.function != NULL) ||
      (d.builtin == NULL && !whole)) {
    return fs_builder_fail(b, FS_DIAG_BAD_ARGUMENT, b->pos, NULL,
                           "a kernel is either a builtin, or a module and a function");
  }
  if (d.builtin != NULL) {
    FS_TRY(check_builtin(b, d.builtin));
  }
  FS_TRY(fs_builder_limit(b, "the shared memory", d.shared_bytes, FSCHED_MAX_SIZE));
  fs_kernel k = {.shared_bytes = d.shared_bytes};
  for (int i = 0; i < 3; i++) {
    k.grid[i] = d.grid[i] == 0 ? 1 : d.grid[i];
    k.block[i] = d.block[i] == 0 ? 1 : d.block[i];
  }
  FS_TRY(copy_string(b, d.builtin, &k.builtin));
  FS_TRY(copy_string(b, d.module, &k.module));
  FS_TRY(copy_string(b, d.function, &k.function));
  FS_TRY(copy_params(b, d.params, d.n_params, &k.params));
  FS_TRY(fs_vec_push(b->ctx, &b->kernel, k));
  *kernel = (uint32_t)b->kernel.n - 1;
  return FSCHED_OK;
}

fs_status fs_builder_vary_kernel(fsched_builder *b, uint32_t like, const void *params, size_t n,
                                 uint32_t *kernel) {
  static const fsched_kernel_desc mix = {.size = sizeof mix, .builtin = "mix"};
  assert(like == FS_NONE || like < b->kernel.n);
  if (like == FS_NONE) {
    FS_TRY(fs_builder_add_kernel(b, &mix, &like));
  }
  fs_kernel k = b->kernel.at[like];
  FS_TRY(copy_params(b, params, n, &k.params));
  FS_TRY(fs_vec_push(b->ctx, &b->kernel, k));
  *kernel = (uint32_t)b->kernel.n - 1;
  return FSCHED_OK;
}

void fs_builder_set_kernel(fsched_builder *b, uint32_t op, uint32_t kernel) {
  assert(op < b->op.n && kernel < b->kernel.n);
  b->op.at[op].kernel = kernel;
}

fsched_status fsched_builder_kernel(fsched_builder *b, uint32_t op,
                                    const fsched_kernel_desc *desc) {
  uint32_t kernel = FS_NONE;
  if (op >= b->op.n) {
    return bad_id(b, "op", op);
  }
  FS_TRY(fs_builder_add_kernel(b, desc, &kernel));
  fs_builder_set_kernel(b, op, kernel);
  return FSCHED_OK;
}
