/* SPDX-License-Identifier: Apache-2.0 */
/* CPU back end: what a thread does.
 *
 *   for every invocation:  wait for `go`
 *     for every step:      wait for its epochs, run or copy, publish the own epoch if it signals
 *     the last worker to get here puts content in place and opens the next invocation
 *
 * A step of an axis with n epochs in invocation k has the value k * n + epoch on its timeline. */
#include "cpu.h"

/* Below this a paced command spins, since a sleep may overshoot by that much. */
enum { PACE_SPIN_NS = 100000 };

/* Waits where spinning has not helped; leaves word of it for the watchdog.  False: stopped. */
__attribute__((noinline)) static bool block(fs_worker *w, fs_timeline *t, uint64_t value,
                                            uint32_t at, uint32_t axis) {
  fs_instance *x = w->instance;
  if (fs_timeline_spin(t, value, x->spins)) {
    return true;
  }
  atomic_store_explicit(&w->at, at, memory_order_relaxed);
  atomic_store_explicit(&w->axis, axis, memory_order_relaxed);
  atomic_store_explicit(&w->value, value, memory_order_relaxed);
  atomic_fetch_add(&w->blocked, 1);
  bool reached = fs_timeline_sleep(t, value, &x->stop, UINT64_MAX);
  atomic_fetch_add(&w->blocked, 1);
  return reached;
}

static inline bool await(fs_worker *w, const fs_step_wait *wait, uint64_t k, uint32_t at) {
  uint64_t value = k * wait->period + wait->epoch;
  return fs_timeline_reached(wait->timeline, value) ||
         block(w, wait->timeline, value, at, wait->axis);
}

/* Sleeps, then spins, until the clock shows `until`, or everything stops. */
static void pace(const fs_instance *x, uint64_t until) {
  for (;;) {
    uint64_t now = fs_now_ns();
    if (now >= until || atomic_load_explicit(&x->stop, memory_order_relaxed) != 0) {
      return;
    }
    if (until - now > 2 * PACE_SPIN_NS) {
      fs_futex_wait(&x->stop, 0, until - now - PACE_SPIN_NS);
    } else {
      fs_pause();
    }
  }
}

static uint64_t paced_end(const fs_instance *x, const fs_stream_command *c, uint64_t begin) {
  uint64_t ticks = c->end > c->start ? c->end - c->start : 0;
  uint64_t limit = UINT64_MAX / 2;
  bool over = x->config.pace_ns != 0 && ticks > limit / x->config.pace_ns;
  return begin + (over ? limit : ticks * x->config.pace_ns);
}

/* The call of an op, at the places of this command. */
static fs_kernel_call make_call(const fs_worker *w, const fs_stream_command *c) {
  const fs_instance *x = w->instance;
  const fs_stream *s = x->stream;
  const fs_stream_op *op = &s->ops[c->target];
  uint32_t n_scratch = 0;
  for (uint32_t i = 0; i < op->n_args; i++) {
    const fs_stream_arg *a = &s->args[op->arg0 + i];
    w->args[i] = (fs_kernel_arg){.value = a->value, .tag = a->tag};
  }
  for (uint32_t i = c->place0; i < c->place0 + c->n_places; i++) {
    const fs_stream_place *p = &s->places[i];
    if (p->space != FS_SPACE_MEMORY) {
      continue;
    }
    uint8_t *data = fs_memories_at(&x->memories, p->index, p->address);
    if (p->version == FS_NONE) {
      w->scratch[n_scratch++] = (fs_kernel_arg){.data = data, .length = p->size};
    } else if (p->arg - op->arg0 < op->n_args) {
      w->args[p->arg - op->arg0].data = data;
      w->args[p->arg - op->arg0].length = p->size;
    }
  }
  return (fs_kernel_call){fs_stream_string(s, op->name), w->args, op->n_args, w->scratch,
                          n_scratch};
}

static void run_op(const fs_worker *w, const fs_stream_command *c, bool last) {
  const fs_instance *x = w->instance;
  uint32_t kernel = x->stream->ops[c->target].kernel;
  fs_builtin builtin = kernel == FS_NONE ? FS_BUILTIN_MIX : (fs_builtin)x->kernel[kernel];
  fs_kernel_call call = make_call(w, c);
  fs_builtin_run(builtin, &call);
  if (last && x->config.record.digest != NULL) {
    x->config.record.digest[c->target] = fs_builtin_digest(builtin, &call);
  }
}

static void run_copy(const fs_worker *w, const fs_stream_command *c) {
  const fs_memories *m = &w->instance->memories;
  const fs_stream_place *p = &w->instance->stream->places[c->place0];
  memmove(fs_memories_at(m, p[1].index, p[1].address), fs_memories_at(m, p[0].index, p[0].address),
          p[1].size);
}

/* Does what the command says; begin and end are set where someone wants to know them. */
static void execute(const fs_worker *w, uint32_t command, uint64_t k, uint64_t *begin,
                    uint64_t *end) {
  const fs_instance *x = w->instance;
  const fs_stream_command *c = &x->stream->commands[command];
  bool timed = x->config.pace_ns != 0 || x->config.record.begin != NULL;
  *begin = timed ? fs_now_ns() : 0;
  if (!x->config.empty) {
    if (c->kind == FS_COMMAND_RUN) {
      run_op(w, c, k == x->last);
    } else {
      run_copy(w, c);
    }
  }
  if (x->config.pace_ns != 0) {
    pace(x, paced_end(x, c, *begin));
  }
  *end = timed ? fs_now_ns() : 0;
}

static void record(const fs_instance *x, uint32_t command, uint64_t k, uint64_t begin,
                   uint64_t end) {
  if (x->config.record.begin != NULL && k == x->last) {
    x->config.record.begin[command] = begin - x->begin_ns;
    x->config.record.end[command] = end - x->begin_ns;
  }
}

/* The last member to arrive has seen what all members have seen: their arrivals are one chain of
 * read-modify-writes.  It runs the op alone, the others wait until it is over. */
static bool meet(fs_worker *w, const fs_step *s, uint64_t k, uint32_t at) {
  fs_instance *x = w->instance;
  fs_meeting *m = &x->meeting[s->meeting];
  if (atomic_fetch_add(&m->arrived, 1) + 1 == (k + 1) * m->members) {
    execute(w, s->command, k, &m->begin, &m->end);
    fs_timeline_publish(m->over.timeline, k * m->over.period + m->over.epoch);
  } else if (!await(w, &m->over, k, at)) {
    return false;
  }
  record(x, s->command, k, m->begin, m->end);
  return true;
}

static bool walk(fs_worker *w, uint64_t k) {
  fs_instance *x = w->instance;
  const uint64_t base = k * w->n_steps;
  const bool busy = !x->config.empty || x->config.pace_ns != 0 || x->config.record.begin != NULL;
  for (uint32_t i = 0; i < w->n_steps; i++) {
    const fs_step *s = &w->steps[i];
    for (uint32_t j = 0; j < s->n_waits; j++) {
      if (!await(w, &x->wait[s->wait0 + j], k, i)) {
        return false;
      }
    }
    if (s->meeting != FS_NONE) {
      if (!meet(w, s, k, i)) {
        return false;
      }
    } else if (busy) {
      uint64_t begin, end;
      execute(w, s->command, k, &begin, &end);
      record(x, s->command, k, begin, end);
    }
    if (s->signal) {
      fs_timeline_publish(w->timeline, base + i + 1);
    }
  }
  return true;
}

void fs_cpu_give(fs_instance *x, bool first) {
  const fs_stream *s = x->stream;
  for (uint32_t v = 0; v < s->n_versions; v++) {
    const fs_stream_version *version = &s->versions[v];
    const fs_stream_buffer *b = &s->buffers[version->buffer];
    if (version->given_memory != FS_NONE && (first || b->io != FSCHED_IO_STATE)) {
      fs_fill_given(fs_stream_string(s, b->name),
                    fs_memories_at(&x->memories, version->given_memory, version->given_address),
                    b->size);
    }
  }
}

/* All state is read before any is written: one's kept place may be another's given place. */
void fs_cpu_carry(fs_instance *x) {
  const fs_stream *s = x->stream;
  for (uint32_t i = 0; i < x->n_carries; i++) {
    const fs_carry *c = &x->carry[i];
    const fs_stream_version *from = &s->versions[c->from];
    memcpy(c->bytes, fs_memories_at(&x->memories, from->kept_memory, from->kept_address), c->size);
  }
  for (uint32_t i = 0; i < x->n_carries; i++) {
    const fs_carry *c = &x->carry[i];
    const fs_stream_version *to = &s->versions[c->to];
    memcpy(fs_memories_at(&x->memories, to->given_memory, to->given_address), c->bytes, c->size);
  }
}

/* By the last worker of invocation k, while all others wait for `go`. */
static void between(fs_instance *x, uint64_t k) {
  uint64_t took = fs_now_ns() - x->begin_ns;
  x->times.total_ns += took;
  x->times.minimum_ns = fs_min(x->times.minimum_ns, took);
  if (k == x->last) {
    fs_timeline_publish(x->complete, k + 1);
    return;
  }
  if (!x->config.empty) {
    fs_cpu_carry(x);
    fs_cpu_give(x, false);
  }
  x->begin_ns = fs_now_ns();
  fs_timeline_publish(x->go, k + 2);
}

void *fs_cpu_worker(void *worker) {
  fs_worker *w = worker;
  fs_instance *x = w->instance;
  for (uint64_t k = 0;; k++) {
    if (!fs_timeline_reached(x->go, k + 1) && !block(w, x->go, k + 1, FS_NONE, x->stream->n_axes)) {
      return NULL;
    }
    if (!walk(w, k)) {
      return NULL;
    }
    if (atomic_fetch_add(&x->arrived, 1) + 1 == (k + 1) * x->n_workers) {
      between(x, k);
    }
  }
}
