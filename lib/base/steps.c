/* SPDX-License-Identifier: Apache-2.0 */
#include "base/steps.h"

/* The innermost level that this thread is in; each thread has its own. */
static _Thread_local fs_steps *innermost;

static void add_step(fs_steps *loop, fs_step *step) {
  assert(loop->kind == FS_STEPS_LOOP);
  step->next = NULL;
  *(loop->first == NULL ? &loop->first : &loop->last->next) = step;
  loop->last = step;
}

static fs_step *take_step(fs_steps *loop) {
  assert(loop->kind == FS_STEPS_LOOP || loop->first == NULL);
  fs_step *step = loop->first;
  if (step != NULL) {
    loop->first = step->next;
  }
  return step;
}

void fs_step_run(fs_step *step) {
  assert(step != NULL && step->run != NULL);
  fs_steps *in = innermost;
  while (in != NULL && in->kind == FS_STEPS_OWN) {
    in = in->outer;
  }
  if (in != NULL && in->kind == FS_STEPS_LOOP) {
    add_step(in, step);
    return;
  }
  fs_steps loop = {.outer = innermost, .kind = FS_STEPS_LOOP};
  innermost = &loop;
  for (; step != NULL; step = take_step(&loop)) {
    step->run(step);
  }
  innermost = loop.outer;
}

void fs_steps_enter(fs_steps *callback) {
  *callback = (fs_steps){.outer = innermost, .kind = FS_STEPS_CALLBACK};
  innermost = callback;
}

void fs_steps_leave(fs_steps *callback) {
  assert(innermost == callback);
  innermost = callback->outer;
}

void fs_steps_own(void) {
  assert(innermost != NULL && innermost->kind == FS_STEPS_CALLBACK);
  innermost->kind = FS_STEPS_OWN;
}

/* Takes the next step of the innermost loop that has one. */
static fs_step *take_any(void) {
  fs_step *step = NULL;
  for (fs_steps *in = innermost; in != NULL && step == NULL; in = in->outer) {
    step = take_step(in);
  }
  return step;
}

void fs_steps_help(void) {
  fs_steps loop = {.outer = innermost, .kind = FS_STEPS_LOOP};
  innermost = &loop;
  for (fs_step *step; (step = take_any()) != NULL;) {
    step->run(step);
  }
  innermost = loop.outer;
}
