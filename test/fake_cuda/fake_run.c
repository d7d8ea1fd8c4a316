/* SPDX-License-Identifier: Apache-2.0 */
/* Streams hold what was put into them until someone makes them move.  Then one of the streams whose
 * first command can go on is drawn again and again.  Some seeds prefer the last streams, some the
 * first, some stay with one as long as it can go on. */
#include <stdlib.h>
#include <string.h>

#include "fake_private.h"
#include "ptx_private.h"

enum { AS_TEXT = 64 }; /* one in so many built-in kernels is run as text */

void stream_push(stream *s, const command *c) {
  if (s->n == s->cap) {
    s->cap = s->cap == 0 ? 64 : 2 * s->cap;
    s->at = realloc(s->at, s->cap * sizeof *s->at);
  }
  s->at[s->n++] = *c;
}

static bool runnable(const stream *s) {
  if (s->done == s->n) {
    return false;
  }
  const command *c = &s->at[s->done];
  return c->kind != RUN_WAIT || c->event->completed >= c->ticket;
}

static uint64_t clock_now(void) { return fake.now += 1000; }

static void failed(result error, const char *what) {
  note_fault("%s", what);
  fake.sticky = error;
}

static void run_kernel(const command *c) {
  bool text = fake.controls.text || fake.executed % AS_TEXT == 0;
  if (!text && c->function->module->builtin && run_builtin(c->function->entry->name, &c->launch)) {
    return;
  }
  static const ptx_machine none;
  ptx_machine machine = none;
  char why[200] = "";
  machine.translate = memory_bytes;
  machine.clock = clock_now;
  machine.seed = draw(UINT64_MAX);
  if (!ptx_run(&machine, c->function->entry, &c->launch, why, sizeof why)) {
    failed(ILLEGAL_ADDRESS, why);
  }
}

static void run_copy(const command *c) {
  uint8_t *to = memory_bytes(c->to, c->size), *from = memory_bytes(c->from, c->size);
  if (to == NULL || from == NULL) {
    failed(ILLEGAL_ADDRESS, "a copy goes beyond the memory");
    return;
  }
  memmove(to, from, c->size);
}

static void run_command(const command *c);

/* In any order that the edges allow. */
static void run_graph(const executable *x) {
  bool *done = calloc(x->n + 1, 1);
  for (uint32_t left = x->n; left > 0;) {
    uint32_t i = (uint32_t)draw(x->n);
    bool ready = !done[i];
    for (uint32_t j = 0; ready && j < x->n_after[i]; j++) {
      ready = done[x->after[i][j]];
    }
    if (ready) {
      done[i] = true;
      left--;
      if (!x->empty[i]) {
        run_command(&x->command[i]);
      }
    }
  }
  free(done);
}

static void run_command(const command *c) {
  fake.now += 1 + draw(5000);
  switch (c->kind) {
    case RUN_KERNEL:
      run_kernel(c);
      break;
    case RUN_COPY:
      run_copy(c);
      break;
    case RUN_RECORD:
      c->event->completed = c->ticket == 0 ? c->event->recorded : c->ticket;
      c->event->time = fake.now;
      return;
    case RUN_WAIT:
      return;
    case RUN_GRAPH:
      run_graph(c->executable);
      return;
  }
  fake.executed++;
  if (fake.executed == fake.controls.execution_at) {
    fake.sticky = fake.controls.execution_with;
  }
}

/* The stream with the command that is next, NULL: nothing can go on. */
static stream *choose(void) {
  static stream *last;
  uint32_t n = 0;
  stream *found = NULL;
  for (object *o = fake.objects; o != NULL; o = o->next) {
    stream *s = (stream *)o;
    if (o->kind != KIND_STREAM || !runnable(s)) {
      continue;
    }
    n++;
    switch (fake.controls.seed % 4) {
      case 0:
        found = draw(n) == 0 ? s : found;
        break;
      case 1:
        found = found == NULL ? s : found;
        break;
      case 2:
        found = s;
        break;
      default:
        found = found == NULL || s == last ? s : found;
    }
  }
  last = found;
  return found;
}

static bool step(void) {
  stream *s = fake.sticky != OK ? NULL : choose();
  if (s == NULL) {
    return false;
  }
  run_command(&s->at[s->done++]);
  if (s->done == s->n) {
    s->n = s->done = 0;
  }
  return true;
}

bool all_done(void) {
  for (const object *o = fake.objects; o != NULL; o = o->next) {
    if (o->kind == KIND_STREAM && ((const stream *)o)->done < ((const stream *)o)->n) {
      return false;
    }
  }
  return true;
}

static bool reached(const event *e, uint64_t ticket, const stream *s) {
  if (e != NULL || s != NULL) {
    return (e == NULL || e->completed >= ticket) && (s == NULL || s->done == s->n);
  }
  return all_done();
}

result run_until(const event *e, uint64_t ticket, const stream *s) {
  while (!reached(e, ticket, s)) {
    if (!step()) {
      if (fake.sticky == OK) {
        note_fault("the streams wait for each other");
        return UNKNOWN;
      }
      return fake.sticky;
    }
  }
  return fake.sticky;
}

void run_some(void) {
  for (uint64_t n = draw(4); n > 0 && step(); n--) {
  }
}

void executable_drop(executable *x) {
  for (uint32_t i = 0; i < x->n; i++) {
    free(x->after[i]);
  }
  free(x->command);
  free(x->empty);
  free(x->after);
  free(x->n_after);
}
