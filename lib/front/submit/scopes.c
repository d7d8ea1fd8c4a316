/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes and holds.  A buffer belongs to the scope in which it was allocated, and the version in it
 * to that of the task which began it.  When a scope ends nothing is walked: whether a buffer has
 * gone is seen from its scope and its holds, when it is used.  A version that has gone cannot be
 * held, so what is held is there.
 *
 * In manual scopes stand only manual ones, so the tasks of an outermost one are a range of ids. */
#include <stdio.h>

#include "base/text/utf8.h"
#include "front/submit/private.h"

static bool has_ended(const fsched_submitter *s, uint32_t scope) {
  return scope != FS_NONE && !s->scope.at[scope].open;
}

bool fs_submit_gone(const fsched_submitter *s, uint32_t buffer) {
  FS_ASSERT_SLOW(buffer < s->buffer.n);
  const fs_submit_buffer *x = &s->buffer.at[buffer];
  return x->holds == 0 && has_ended(s, x->scope);
}

bool fs_submit_content_gone(const fsched_submitter *s, uint32_t buffer) {
  FS_ASSERT_SLOW(buffer < s->buffer.n);
  const fs_submit_buffer *x = &s->buffer.at[buffer];
  return x->holds == 0 && has_ended(s, x->content_scope);
}

bool fs_submit_will_last(const fsched_submitter *s, uint32_t buffer) {
  return s->current == FS_NONE || (buffer != FS_NONE && s->buffer.at[buffer].holds > 0);
}

bool fs_submit_lasts(const fsched_submitter *s, uint32_t buffer) {
  assert(buffer < s->buffer.n);
  const fs_submit_buffer *x = &s->buffer.at[buffer];
  return x->holds > 0 || (x->content_scope == FS_NONE && !fs_submit_gone(s, buffer));
}

static fs_status name_scope(fsched_submitter *s, const char *given, const char **name) {
  char number[24];
  (void)snprintf(number, sizeof number, "#%zu", s->scope.n);
  const char *text = given == NULL ? number : given;
  *name = fs_arena_strndup(&s->run, text, strlen(text));
  return *name == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

fsched_status fsched_submit_begin_scope(fsched_submitter *s, const fsched_submit_scope_desc *desc) {
  FS_TRY(fs_submit_check_open(s));
  fsched_submit_scope_desc none = {.size = sizeof none};
  FS_SUBMIT_TAKE(fsched_submit_scope_desc, size, d, desc == NULL ? &none : desc);
  if (d.name != NULL && !fs_utf8_valid(d.name, strlen(d.name))) {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "the name of a scope is not UTF-8");
  }
  if (s->depth == FSCHED_SUBMIT_SCOPES) {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_SCOPE, FS_NOWHERE, NULL,
                   "scopes nest %d deep at most", FSCHED_SUBMIT_SCOPES);
  }
  bool inside = s->current != FS_NONE && s->scope.at[s->current].manual;
  if (inside && !d.manual) {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_SCOPE, FS_NOWHERE, "set 'manual'",
                   "a scope in the manual scope '%.80s' is manual, too",
                   s->scope.at[s->current].name);
  }
  fs_submit_scope scope = {.parent = s->current, .open = true, .manual = d.manual != 0};
  FS_TRY(fs_submit_ended(s, name_scope(s, d.name, &scope.name)));
  FS_TRY(fs_submit_ended(s, fs_vec_push(s->ctx, &s->scope, scope)));
  if (scope.manual && !inside) {
    fs_submit_manual tasks = {s->n_tasks, FS_NONE};
    FS_TRY(fs_submit_ended(s, fs_vec_push(s->ctx, &s->manual, tasks)));
  }
  s->current = (uint32_t)s->scope.n - 1;
  s->depth++;
  return FSCHED_OK;
}

fsched_status fsched_submit_end_scope(fsched_submitter *s) {
  FS_TRY(fs_submit_check_open(s));
  if (s->depth == 0) {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_SCOPE, FS_NOWHERE, NULL,
                   "there is no scope to end");
  }
  fs_submit_scope *scope = &s->scope.at[s->current];
  assert(scope->open);
  scope->open = false;
  bool inside = scope->parent != FS_NONE && s->scope.at[scope->parent].manual;
  if (scope->manual && !inside) {
    s->manual.at[s->manual.n - 1].end = s->n_tasks;
  }
  s->current = scope->parent;
  s->depth--;
  return FSCHED_OK;
}

/* The buffer that a hold or release is about. */
static fs_status check_held(fsched_submitter *s, uint32_t buffer) {
  if (buffer < s->buffer.n) {
    return FSCHED_OK;
  }
  return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                 "there is no buffer %u", buffer);
}

fsched_status fsched_submit_hold(fsched_submitter *s, uint32_t buffer) {
  FS_TRY(fs_submit_check_open(s));
  FS_TRY(check_held(s, buffer));
  bool gone = fs_submit_gone(s, buffer);
  fs_submit_buffer *x = &s->buffer.at[buffer];
  if (gone || fs_submit_content_gone(s, buffer)) {
    const char *name = fs_submit_buffer_names(s)->text.at[buffer];
    return fs_fail(
        s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BUFFER_GONE, FS_NOWHERE, "hold it before the scope ends",
        "hold: %sbuffer '%.80s' has gone with scope '%.80s'", gone ? "" : "the content of ", name,
        s->scope.at[gone ? x->scope : x->content_scope].name);
  }
  x->holds++;
  return FSCHED_OK;
}

fsched_status fsched_submit_release(fsched_submitter *s, uint32_t buffer) {
  FS_TRY(fs_submit_check_open(s));
  FS_TRY(check_held(s, buffer));
  if (s->buffer.at[buffer].holds == 0) {
    return fs_fail(s->ctx, FSCHED_BAD_INPUT, FS_DIAG_BAD_SCOPE, FS_NOWHERE, NULL,
                   "buffer '%.80s' is released, and is not held",
                   fs_submit_buffer_names(s)->text.at[buffer]);
  }
  s->buffer.at[buffer].holds--;
  return FSCHED_OK;
}
