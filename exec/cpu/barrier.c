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
 * A hand-over from one producer to one consumer costs what a wait on a timeline costs: a count of
 * one is not counted, and no thread needs to see "mapped" that knows of it.  A producer knows that
 * the only consumer of the use before has started where that is an earlier command of its own
 * queue, or where a barrier that it waits for has a producer at or behind that consumer on the
 * consumer's queue; and of the first use, as invocations follow each other.  Where all producers of
 * a use know, "mapped" is not published: the phase goes from "complete" to "complete", and the
 * counts, set when that consumer starts, reach the producers by the way on which they know.  The
 * last use is followed by the first of the next invocation, which is always published, so that
 * invocations begin with the same phases.
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
  for (uint32_t i = x->start0[command]; i < x->start0[command + 1] && !off(x); i++) {
    const fs_turn *t = &x->turn[x->start[i]];
    if (t->sole_consumer || atomic_fetch_sub(&t->physical->consumers, 1) == 1) {
      set_counts(x, t->next);
      if (!fs_cpu_next_is_known(x, t)) {
        fs_timeline_publish(t->physical->phase, k * t->physical->period + t->value + 2);
      }
    }
  }
}

void fs_cpu_barrier_end(fs_instance *x, uint32_t command, uint64_t k) {
  FS_ASSERT_SLOW(command < x->stream->n_commands);
  for (uint32_t i = x->update0[command]; i < x->update0[command + 1] && !off(x); i++) {
    const fs_cpu_update *u = &x->update[i];
    if (u->counted == NULL || atomic_fetch_sub(&u->counted->producers, 1) == 1) {
      fs_timeline_publish(u->phase, k * u->period + u->value);
    }
  }
}

void fs_cpu_barrier_set(fs_instance *x, uint64_t k) {
  for (uint32_t i = 0; i < x->physicals.n; i++) {
    set_counts(x, fs_physical_barrier(&x->physicals, i, 0));
    fs_timeline_publish(x->physical[i].phase, k * x->physical[i].period + 1);
  }
}
