/* SPDX-License-Identifier: Apache-2.0 */
/* Callables: what is the same for many tasks is checked and copied once. */
#include <stdio.h>

#include "front/submit/private.h"

static fs_status copy_text(fsched_submitter *s, const char *text, const char **copy) {
  *copy = fs_arena_strndup(&s->arena, text, strlen(text));
  return *copy == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

/* Checks a list of amounts: ids below n, each once, amounts up to `most`. */
static fs_status check_amounts(fsched_submitter *s, const char *who, const char *kind,
                               const fsched_submit_amount *list, uint32_t n_list, uint32_t n,
                               uint64_t most) {
  for (uint32_t i = 0; i < n_list; i++) {
    if (list[i].id >= n) {
      return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                     "%.100s: there is no %s %u", who, kind, list[i].id);
    }
    if (list[i].amount > most) {
      return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_OUT_OF_RANGE, FS_NOWHERE, NULL,
                     "%.100s: the amount of %s %u is %llu, at most %llu is possible", who, kind,
                     list[i].id, (unsigned long long)list[i].amount, (unsigned long long)most);
    }
    for (uint32_t k = 0; k < i; k++) {
      if (list[k].id == list[i].id) {
        return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                       "%.100s names %s %u twice", who, kind, list[i].id);
      }
    }
  }
  return FSCHED_OK;
}

/* The builder's own checks; their fault is forgotten, as nothing was added. */
static fs_status check_op(fsched_submitter *s, const fsched_submit_callable_desc *d,
                          fs_submit_callable *c) {
  fs_builder_faults mark = fs_builder_mark_faults(s->b);
  fs_status status = fs_builder_check_op(s->b, &c->op);
  if (status == FSCHED_OK && d->kernel != NULL) {
    status = fs_builder_add_kernel(s->b, d->kernel, &c->kernel);
  }
  fs_builder_rewind_faults(s->b, mark);
  return status;
}

/* Whether the class of a gang has the queues that it takes. */
static fs_status check_gang(fsched_submitter *s, const char *who,
                            const fsched_submit_callable_desc *d) {
  const fs_names *classes = fs_builder_names(s->b, FS_KIND_CLASS);
  uint32_t n_queues = fs_names_count(fs_builder_names(s->b, FS_KIND_QUEUE)), n = 0;
  if (d->on != NULL || d->gang_count == 0) {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   d->on != NULL ? "%.100s has both 'on' and a gang"
                                 : "the gang of %.100s needs a count of 1 or more",
                   who);
  }
  uint32_t class_ = fs_names_find(classes, d->gang_class, strlen(d->gang_class));
  for (uint32_t q = 0; q < n_queues; q++) {
    n += class_ != FS_NONE && fs_builder_class_of(s->b, q) == class_;
  }
  if (n_queues == 0 || d->gang_count <= n) {
    return FSCHED_OK;
  }
  return n == 0 ? fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_NO_QUEUE, FS_NOWHERE, NULL,
                          "%.100s cannot run anywhere: no queue is of class '%.80s'", who,
                          d->gang_class)
                : fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_OUT_OF_RANGE, FS_NOWHERE, NULL,
                          "the gang of %.100s takes %u queues of class '%.80s', which has %u", who,
                          d->gang_count, d->gang_class, n);
}

/* Finds what its tasks run on. */
static fs_status check_place(fsched_submitter *s, const char *who,
                             const fsched_submit_callable_desc *d, fs_submit_callable *c) {
  c->queue = FS_NONE;
  if (d->gang_class != NULL) {
    return check_gang(s, who, d);
  }
  if (d->gang_count > 0) {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "the gang of %.100s needs a class", who);
  }
  return fs_submit_find_queue(s, who, d->on == NULL ? "compute" : d->on, &c->queue);
}

static fs_status check_callable(fsched_submitter *s, const fsched_submit_callable_desc *d,
                                fs_submit_callable *c) {
  char who[100];
  FS_TRY(fs_submit_check_name(s, "a callable", d->name, &s->callables));
  (void)snprintf(who, sizeof who, "callable '%.80s'", d->name);
  FS_TRY(check_place(s, who, d, c));
  uint32_t n_resources = fs_names_count(fs_builder_names(s->b, FS_KIND_RESOURCE));
  uint32_t n_memories = fs_names_count(fs_builder_names(s->b, FS_KIND_MEMORY));
  FS_TRY(check_amounts(s, who, "resource", d->uses, d->n_uses, n_resources, FSCHED_MAX_TIME));
  FS_TRY(check_amounts(s, who, "memory", d->scratch, d->n_scratch, n_memories, FSCHED_MAX_SIZE));
  return check_op(s, d, c);
}

static fs_status add_amounts(fsched_submitter *s, const fsched_submit_amount *list, uint32_t n,
                             uint32_t *first) {
  *first = (uint32_t)s->amount.n;
  FS_TRY(fs_vec_reserve(s->ctx, &s->amount, s->amount.n + n));
  for (uint32_t i = 0; i < n; i++) {
    FS_TRY(fs_vec_push(s->ctx, &s->amount, list[i]));
  }
  return FSCHED_OK;
}

void fs_submit_first_label(fs_submit_callable *c) {
  size_t length = strlen(c->op.name);
  memcpy(c->label + length, "#0", 3);
  c->label_length = length + 2;
}

/* Adds one to the number, digit by digit. */
void fs_submit_next_label(fs_submit_callable *c) {
  char *digit = c->label + c->label_length - 1;
  while (*digit == '9') {
    *digit-- = '0';
  }
  if (*digit != '#') {
    ++*digit;
    return;
  }
  assert(c->label_length < strlen(c->op.name) + FS_SUBMIT_LABEL - 1);
  digit[1] = '1';
  c->label[c->label_length++] = '0';
  c->label[c->label_length] = '\0';
}

static fs_status record_callable(fsched_submitter *s, const fsched_submit_callable_desc *d,
                                 fs_submit_callable *c, uint32_t *id) {
  FS_TRY(copy_text(s, d->name, &c->op.name));
  const char *on = d->gang_class != NULL ? d->gang_class : d->on == NULL ? "compute" : d->on;
  FS_TRY(copy_text(s, on, &c->op.on));
  c->op.gang_class = d->gang_class == NULL ? NULL : c->op.on;
  size_t length = strlen(c->op.name);
  FS_TRY(fs_new(&s->arena, &c->label, length + FS_SUBMIT_LABEL));
  memcpy(c->label, c->op.name, length);
  fs_submit_first_label(c);
  FS_TRY(add_amounts(s, d->uses, d->n_uses, &c->use0));
  FS_TRY(add_amounts(s, d->scratch, d->n_scratch, &c->scratch0));
  c->n_uses = d->n_uses;
  c->n_scratch = d->n_scratch;
  FS_TRY(fs_vec_push(s->ctx, &s->callable, *c));
  return fs_names_add_kept(&s->callables, c->op.name, id);
}

static fs_status add_callable(fsched_submitter *s, const fsched_submit_callable_desc *desc,
                              uint32_t *id) {
  FS_SUBMIT_TAKE(fsched_submit_callable_desc, name, d, desc);
  d.n_uses = d.uses == NULL ? 0 : d.n_uses;
  d.n_scratch = d.scratch == NULL ? 0 : d.n_scratch;
  uint32_t at;
  fs_submit_callable c = {.op = {.size = sizeof c.op,
                                 .name = d.name,
                                 .on = d.on,
                                 .has_time = d.has_time,
                                 .time = d.time,
                                 .latency = d.latency,
                                 .gang_class = d.gang_class,
                                 .gang_count = d.gang_count},
                          .kernel = FS_NONE};
  FS_TRY(check_callable(s, &d, &c));
  FS_TRY(s->sink == NULL ? FSCHED_OK : s->sink->callable(s->sink->user, &d));
  FS_TRY(fs_submit_recorded(s, record_callable(s, &d, &c, &at)));
  if (id != NULL) {
    *id = at;
  }
  return FSCHED_OK;
}

fsched_status fsched_submit_callable(fsched_submitter *s, const fsched_submit_callable_desc *desc,
                                     uint32_t *id) {
  FS_TRY(fs_submit_check_open(s));
  return fs_submit_ended(s, add_callable(s, desc, id));
}
