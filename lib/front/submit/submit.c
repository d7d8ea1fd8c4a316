/* SPDX-License-Identifier: Apache-2.0 */
/* A submitter's creation, release and finish, and what its calls share: the checks of descriptors
 * and names. */
#include <stdio.h>

#include "base/text/utf8.h"
#include "front/submit/private.h"

static fs_status prepare(fsched_submitter *s) {
  uint32_t n_queues = fs_names_count(fs_builder_names(s->b, FS_KIND_QUEUE));
  FS_TRY(fs_new_none(&s->arena, &s->import_set, (size_t)n_queues + 1));
  if (!fs_builder_has_only_target(s->b)) {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE,
                   "import and allocate buffers with the calls of the submitter",
                   "the builder has buffers, ops or loops; a submitter takes the target alone");
  }
  return FSCHED_OK;
}

fsched_status fsched_submit_create(fsched_builder *target, fsched_submitter **out) {
  *out = NULL;
  fsched_context *ctx = fs_builder_context(target);
  fsched_submitter *s = fs_realloc(ctx, NULL, 0, sizeof *s);
  if (s == NULL) {
    fsched_builder_destroy(target);
    return FSCHED_SYSTEM;
  }
  *s = (fsched_submitter){.ctx = ctx, .b = target, .current = FS_NONE};
  fs_arena_init(&s->arena, ctx);
  fs_arena_init(&s->run, ctx);
  fs_names_init(&s->callables, &s->arena);
  fs_names_init(&s->buffer_names, &s->run);
  fs_ranges_init(&s->ranges, ctx);
  fs_status status = prepare(s);
  if (status != FSCHED_OK) {
    fsched_submit_destroy(s);
    return status;
  }
  *out = s;
  return FSCHED_OK;
}

void fsched_submit_destroy(fsched_submitter *s) {
  if (s == NULL) {
    return;
  }
  fsched_context *ctx = s->ctx;
  fsched_builder_destroy(s->b);
  fs_ranges_release(&s->ranges);
  fs_names_free(&s->callables);
  fs_names_free(&s->buffer_names);
  fs_vec_free(ctx, &s->buffer);
  fs_vec_free(ctx, &s->callable);
  fs_vec_free(ctx, &s->amount);
  fs_vec_free(ctx, &s->scope);
  fs_vec_free(ctx, &s->manual);
  fs_vec_free(ctx, &s->pair);
  fs_vec_free(ctx, &s->access);
  fs_vec_free(ctx, &s->tile);
  fs_vec_free(ctx, &s->alloc);
  fs_vec_free(ctx, &s->found);
  fs_vec_free(ctx, &s->member_queue);
  fs_arena_release(&s->run);
  fs_arena_release(&s->arena);
  (void)fs_realloc(ctx, s, sizeof *s, 0);
}

void fs_submit_set_sink(fsched_submitter *s, const fs_submit_sink *sink) {
  assert(s->n_tasks == 0 && s->buffer.n == 0 && s->callable.n == 0);
  s->sink = sink;
}

void fs_submit_renew(fsched_submitter *s) {
  assert(s->sink != NULL);
  uint32_t n_queues = fs_names_count(fs_builder_names(s->b, FS_KIND_QUEUE));
  memset(s->import_set, 0xff, ((size_t)n_queues + 1) * sizeof *s->import_set);
  fs_ranges_release(&s->ranges);
  fs_ranges_init(&s->ranges, s->ctx);
  fs_names_free(&s->buffer_names);
  fs_arena_release(&s->run);
  fs_arena_init(&s->run, s->ctx);
  fs_names_init(&s->buffer_names, &s->run);
  for (size_t i = 0; i < s->callable.n; i++) {
    fs_submit_first_label(&s->callable.at[i]);
  }
  s->buffer.n = s->scope.n = s->manual.n = 0;
  s->current = FS_NONE;
  s->depth = s->n_unnamed = s->n_tasks = 0;
}

const fsched_builder *fs_submit_target(const fsched_submitter *s) { return s->b; }

fs_status fs_submit_check_open(fsched_submitter *s) {
  if (s->broken) {
    return fs_fail(s->ctx, FSCHED_SYSTEM, FS_DIAG_OUT_OF_MEMORY, FS_NOWHERE, NULL,
                   "memory ran out in an earlier call of the submitter");
  }
  if (s->finished) {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "the submitter is already finished");
  }
  return FSCHED_OK;
}

fs_status fs_submit_recorded(fsched_submitter *s, fs_status status) {
  s->broken |= status != FSCHED_OK;
  return status;
}

fs_status fs_submit_ended(fsched_submitter *s, fs_status status) {
  s->broken |= status == FSCHED_SYSTEM;
  return status;
}

fs_status fs_submit_check_size(fsched_submitter *s, const char *type, size_t size, size_t least) {
  FS_ASSERT_SLOW(least > 0);
  if (size >= least) {
    return FSCHED_OK;
  }
  return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE,
                 "set it to the sizeof of the struct",
                 "'size' of %s is %zu, at least %zu is needed", type, size, least);
}

fs_status fs_submit_check_name(fsched_submitter *s, const char *what, const char *name,
                               const fs_names *taken) {
  FS_ASSERT_SLOW(what != NULL);
  if (name == NULL || name[0] == '\0') {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "the name of %s is missing", what);
  }
  if (!fs_utf8_valid(name, strlen(name))) {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "the name of %s is not UTF-8", what);
  }
  if (fs_names_find(taken, name, strlen(name)) != FS_NONE) {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_REPEATED_NAME, FS_NOWHERE, NULL,
                   "the name '%.80s' of %s is taken", name, what);
  }
  return FSCHED_OK;
}

/* What was probably meant by a name that is not known, as a hint. */
static const char *meant(char hint[160], const char *near) {
  if (near == NULL) {
    return NULL;
  }
  (void)snprintf(hint, 160, "did you mean '%.100s'?", near);
  return hint;
}

fs_status fs_submit_find_memory(fsched_submitter *s, const char *who, const char *name,
                                uint32_t *memory) {
  assert(who != NULL);
  const fs_names *names = fs_builder_names(s->b, FS_KIND_MEMORY);
  *memory = name == NULL ? FS_NONE : fs_names_find(names, name, strlen(name));
  if (name == NULL || *memory != FS_NONE) {
    return FSCHED_OK;
  }
  char hint[160];
  return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_UNKNOWN_NAME, FS_NOWHERE,
                 meant(hint, fs_nearest(name, names->text.at, names->text.n)),
                 "%.160s: there is no memory '%.80s'", who, name);
}

fs_status fs_submit_find_queue(fsched_submitter *s, const char *who, const char *on,
                               uint32_t *queue) {
  assert(who != NULL && on != NULL);
  const fs_names *queues = fs_builder_names(s->b, FS_KIND_QUEUE);
  const fs_names *classes = fs_builder_names(s->b, FS_KIND_CLASS);
  *queue = fs_names_find(queues, on, strlen(on));
  if (*queue != FS_NONE || fs_names_count(queues) == 0 ||
      fs_names_find(classes, on, strlen(on)) != FS_NONE) {
    return FSCHED_OK;
  }
  char hint[160];
  const char *near = fs_nearest(on, queues->text.at, queues->text.n);
  near = near != NULL ? near : fs_nearest(on, classes->text.at, classes->text.n);
  return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_NO_QUEUE, FS_NOWHERE, meant(hint, near),
                 "%.160s cannot run anywhere: no queue or class is named '%.80s'", who, on);
}

const char *fsched_submit_task_name(const fsched_submitter *s, uint32_t task) {
  const fs_names *names = fs_builder_names(s->b, FS_KIND_OP);
  return task < names->text.n ? names->text.at[task] : NULL;
}

fsched_status fsched_submit_finish(fsched_submitter *s, fsched_graph **out) {
  *out = NULL;
  assert(s->sink == NULL);
  FS_TRY(fs_submit_check_open(s));
  if (s->depth > 0) {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_SCOPE, FS_NOWHERE, NULL,
                   "scope '%.80s' is open", s->scope.at[s->current].name);
  }
  s->finished = true;
  FS_TRY(fsched_builder_finish(s->b, out));
  s->graph = *out;
  return FSCHED_OK;
}
