/* SPDX-License-Identifier: Apache-2.0 */
/* CPU back end: physical barriers.
 *
 *   mapped    the counts are those of the use; its producers may run   phase 2 * use + 1
 *   complete  the last producer is over; its consumers may start       phase 2 * use + 2
 *   mapped    the last consumer has started: the counts of the next use are set, then it is
 *             published                                                phase 2 * use + 3
 *
 * Producers have seen "mapped" before they count, consumers "complete", and each publishes only if
 * it was the last, so a phase has one writer at a time.  The thread that sets the counts is alone:
 * others look at the counts only after they have seen the value that it publishes afterwards.
 *
 * Here all parts of a command that updates several barriers end with the command; no code relies on
 * that.
 *
 * In a poisoned invocation waits end too early, so the counts do not change any more.  A thread
 * that has left a wait too early has seen that the invocation is poisoned; so has the last member
 * of a gang, if any other member has. */
#include "exec/cpu/cpu.h"

static bool off(const fs_instance *x) {
  return atomic_load_explicit(&x->poisoned, memory_order_relaxed) != 0;
}

static void set_counts(fs_instance *x, uint32_t barrier) {
  const fs_stream_barrier *b = &x->stream->barriers[barrier];
  fs_physical *p = x->turn[barrier].physical;
  atomic_store_explicit(&p->producers, b->n_producers, memory_order_relaxed);
  atomic_store_explicit(&p->consumers, b->n_consumers, memory_order_relaxed);
}

void fs_cpu_barrier_start(fs_instance *x, uint32_t command, uint64_t k) {
  FS_ASSERT_SLOW(command < x->stream->n_commands);
  const fs_stream_command *c = &x->stream->commands[command];
  const uint32_t *wait = x->stream->barrier_waits + c->barrier_wait0;
  for (uint32_t i = 0; i < c->n_barrier_waits && !off(x); i++) {
    const fs_turn *t = &x->turn[wait[i]];
    if (atomic_fetch_sub(&t->physical->consumers, 1) == 1) {
      set_counts(x, t->next);
      fs_timeline_publish(t->physical->phase, k * t->physical->period + t->value + 2);
    }
  }
}

void fs_cpu_barrier_end(fs_instance *x, uint32_t command, uint64_t k) {
  FS_ASSERT_SLOW(command < x->stream->n_commands);
  const fs_stream_command *c = &x->stream->commands[command];
  const fs_stream_update *update = x->stream->barrier_updates + c->barrier_update0;
  for (uint32_t i = 0; i < c->n_barrier_updates && !off(x); i++) {
    const fs_turn *t = &x->turn[update[i].barrier];
    if (atomic_fetch_sub(&t->physical->producers, 1) == 1) {
      fs_timeline_publish(t->physical->phase, k * t->physical->period + t->value + 1);
    }
  }
}

void fs_cpu_barrier_set(fs_instance *x, uint64_t k) {
  for (uint32_t i = 0; i < x->physicals.n; i++) {
    set_counts(x, fs_physical_barrier(&x->physicals, i, 0));
    fs_timeline_publish(x->physical[i].phase, k * x->physical[i].period + 1);
  }
}
