/* SPDX-License-Identifier: Apache-2.0 */
/* Streams hold what was put into them until a caller makes them move.  Then, again and again, one
 * of the streams whose first command can go on is drawn.  Some seeds prefer the last streams, some
 * the first, and some stay with one as long as it can go on. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda/fake_call.h"
#include "fake_cuda/ptx_private.h"

enum { AS_TEXT = 64 }; /* one in so many built-in kernels is run as text */

/* The seed in the call of a built-in mix. */
static uint64_t seed_of(const command *c) {
  bool mix = c->kind == RUN_KERNEL && strcmp(c->function->entry->name, "fsched_mix") == 0;
  const uint8_t *call = mix ? memory_bytes(c->launch.params[0], sizeof(uint64_t)) : NULL;
  uint64_t seed = 0;
  if (call != NULL) {
    memcpy(&seed, call, sizeof seed);
  }
  return seed;
}

/* Notes the command in the log; returns its number there, from 1, or 0. */
static uint64_t log_command(const stream *s, const command *c) {
  bool noted =
      c->kind == RUN_KERNEL || c->kind == RUN_HOST || c->kind == RUN_RECORD || c->kind == RUN_WAIT;
  if (!fake.controls.log || !noted) {
    return 0;
  }
  if (fake.n_log == fake.log_cap) {
    fake.log_cap = fake.log_cap == 0 ? 1024 : 2 * fake.log_cap;
    fake.log = realloc(fake.log, fake.log_cap * sizeof *fake.log);
  }
  fake.log[fake.n_log++] = (fake_cuda_entry){.kind = c->kind == RUN_KERNEL   ? FAKE_CUDA_LAUNCH
                                                     : c->kind == RUN_HOST   ? FAKE_CUDA_HOST
                                                     : c->kind == RUN_RECORD ? FAKE_CUDA_RECORD
                                                                             : FAKE_CUDA_WAIT,
                                             .stream = s,
                                             .event = c->event,
                                             .seed = seed_of(c),
                                             .before = fake.steps};
  return fake.n_log;
}

void stream_push(stream *s, const command *c) {
  if (s->n == s->cap) {
    s->cap = s->cap == 0 ? 64 : 2 * s->cap;
    s->at = realloc(s->at, s->cap * sizeof *s->at);
  }
  s->at[s->n] = *c;
  s->at[s->n].number = fake.n_pushed++;
  s->at[s->n++].entry = log_command(s, c);
}

static bool may_hang(const command *c) { return c->kind == RUN_KERNEL || c->kind == RUN_HOST; }

/* Whether it has begun and does not end, or now begins to hang. */
static bool hangs(const command *c, bool begun) {
  return !fake.let_go && fake.hang[0] != '\0' && may_hang(c) &&
         strcmp(c->kind == RUN_HOST ? "host" : c->function->entry->name, fake.hang) == 0 &&
         (begun || ++fake.hang_calls >= fake.controls.hang_at);
}

/* Whether a stream with the same channel has something to do that came first. */
static bool is_behind(const stream *s) {
  bool behind = false;
  for (const object *o = fake.objects; fake.controls.channels > 0 && o != NULL; o = o->next) {
    const stream *other = (const stream *)o;
    behind =
        behind || (o->kind == KIND_STREAM && other->done < other->n &&
                   other->number % fake.controls.channels == s->number % fake.controls.channels &&
                   other->at[other->done].number < s->at[s->done].number);
  }
  return behind;
}

static bool runnable(const stream *s) {
  if (s->done == s->n || (s->hangs && !fake.let_go) || is_behind(s)) {
    return false;
  }
  const command *c = &s->at[s->done];
  if (c->kind == RUN_AWAIT_WORD) {
    return __atomic_load_n(c->word, __ATOMIC_ACQUIRE) >= c->value;
  }
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

static void run_host(const command *c) {
  in_host_function(1);
  c->host(c->user);
  in_host_function(-1);
}

static void run_command(const command *c);

static bool ready(const executable *x, const uint8_t *nodes, uint32_t i) {
  bool ready = nodes[i] == NODE_TODO || (nodes[i] == NODE_HANGS && fake.let_go);
  for (uint32_t j = 0; ready && j < x->n_after[i]; j++) {
    ready = nodes[x->after[i][j]] == NODE_DONE;
  }
  return ready;
}

/* A node that is ready, at random; x->n: none is. */
static uint32_t choose_node(const executable *x, const uint8_t *nodes) {
  uint32_t n = 0, found = x->n;
  for (uint32_t i = 0; i < x->n; i++) {
    if (ready(x, nodes, i) && draw(++n) == 0) {
      found = i;
    }
  }
  return found;
}

/* Runs nodes in any order that the edges allow, as far as nothing hangs; returns whether all are
 * done. */
static bool run_graph(command *c) {
  const executable *x = c->executable;
  c->nodes = c->nodes == NULL ? calloc(x->n + 1, 1) : c->nodes;
  for (uint32_t i; (i = choose_node(x, c->nodes)) < x->n;) {
    const command *own = &x->command[i];
    if (!x->empty[i] && hangs(own, c->nodes[i] == NODE_HANGS)) {
      c->nodes[i] = NODE_HANGS;
      continue;
    }
    c->nodes[i] = NODE_DONE;
    if (!x->empty[i]) {
      run_command(own);
    }
  }
  for (uint32_t i = 0; i < x->n; i++) {
    if (c->nodes[i] != NODE_DONE) {
      return false;
    }
  }
  free(c->nodes);
  c->nodes = NULL;
  return true;
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
    case RUN_HOST:
      run_host(c);
      break;
    case RUN_RECORD:
      c->event->completed = c->ticket == 0 ? c->event->recorded : c->ticket;
      c->event->time = fake.now;
      return;
    case RUN_WRITE_WORD:
      __atomic_store_n(c->word, c->value, __ATOMIC_RELEASE);
      return;
    case RUN_AWAIT_WORD:
    case RUN_WAIT:
    case RUN_GRAPH:
      return;
  }
  fake.executed++;
  if (fake.executed == fake.controls.execution_at) {
    fake.sticky = fake.controls.execution_with;
  }
}

/* Chooses the stream whose command is next; NULL: none can go on. */
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

/* Returns whether it is done. */
static bool begin_command(command *c) {
  if (c->kind == RUN_GRAPH) {
    return run_graph(c);
  }
  c->hangs = hangs(c, c->hangs);
  return !c->hangs;
}

static bool step(void) {
  stream *s = fake.sticky != OK ? NULL : choose();
  if (s == NULL) {
    return false;
  }
  s->hangs = !begin_command(&s->at[s->done]);
  if (s->hangs) {
    return true;
  }
  fake.steps++;
  if (s->at[s->done].entry > 0) {
    fake.log[s->at[s->done].entry - 1].executed = fake.steps;
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

uint64_t hanging(void) {
  uint64_t n = 0;
  for (const object *o = fake.objects; o != NULL && !fake.let_go; o = o->next) {
    const stream *s = (const stream *)o;
    if (o->kind != KIND_STREAM || !s->hangs) {
      continue;
    }
    const command *c = &s->at[s->done];
    n += may_hang(c);
    for (uint32_t i = 0; c->kind == RUN_GRAPH && i < c->executable->n; i++) {
      n += c->nodes[i] == NODE_HANGS;
    }
  }
  return n;
}

void wait_for_hanging(const char *call) {
  if (hanging() > 0 && call != NULL) {
    note_fault("%s: waits for a kernel that hangs", call);
  }
  while (hanging() > 0) {
    pthread_cond_wait(&fake_let_go_now, &fake_lock);
  }
}

/* Whether a stream waits for a word. */
static bool awaits_word(void) {
  bool some = false;
  for (const object *o = fake.objects; fake.sticky == OK && o != NULL; o = o->next) {
    const stream *s = (const stream *)o;
    some =
        some || (o->kind == KIND_STREAM && s->done < s->n && s->at[s->done].kind == RUN_AWAIT_WORD);
  }
  return some;
}

void await_room(const stream *s) {
  while (fake.controls.depth > 0 && s->n - s->done >= fake.controls.depth) {
    if (step()) {
      continue;
    }
    if (hanging() > 0) {
      wait_for_hanging(NULL);
    } else if (awaits_word()) {
      fake.n_blocked++;
      pthread_mutex_unlock(&fake_lock); /* for the tests; whoever writes it makes no call */
      (void)sched_yield();
      pthread_mutex_lock(&fake_lock);
      fake.n_blocked--;
    } else {
      return;
    }
  }
}

result run_until(const event *e, uint64_t ticket, const stream *s) {
  while (!reached(e, ticket, s)) {
    if (!step()) {
      if (fake.sticky == OK && hanging() > 0) {
        wait_for_hanging("a call");
        continue;
      }
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
