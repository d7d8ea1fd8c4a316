/* SPDX-License-Identifier: Apache-2.0 */
/* CPU back end: barriers of loops.
 *
 * A phase is completed by one thread, that of the last arrival.  It has seen the phase before,
 * since some order that the verifier has proven leads from there to here; so the number on the
 * timeline is the last one.  Where a loop is not proven, phases may pass unseen, and a thread that
 * looks for the parity of one of them waits without end, as on a machine.
 *
 * Only the members of a loop look at its barriers.  When these are set, all members have left the
 * run before, and wait until this one is open; so have those of other loops that have some of the
 * barriers.  (Those of a loop that is not proven may wait for one; they look again.) */
#include "exec/cpu/cpu.h"

void fs_cpu_make_guards(fs_instance *x) {
  assert(x->timeline != NULL || x->guards.n == 0);
  for (uint32_t b = 0; b < x->guards.n; b++) {
    x->loop_barrier[b].axis = fs_cpu_phase(x, x->physicals.n) + x->n_loop_axes + b;
    x->loop_barrier[b].phase = &x->timeline[x->loop_barrier[b].axis];
  }
}

void fs_cpu_guards_set(const fs_instance *x, const fs_stream_loop *loop) {
  for (uint32_t g = loop->guard0; g < loop->guard0 + loop->n_guards; g++) {
    for (uint32_t i = 0; i < x->guards.used[g]; i++) {
      fs_loop_barrier *b = &x->loop_barrier[x->guards.first[g] + i];
      uint64_t even = (atomic_load_explicit(&b->phase->epoch, memory_order_relaxed) | 1) + 1;
      atomic_store_explicit(&b->arrived, 0, memory_order_relaxed);
      atomic_store_explicit(&b->base, even, memory_order_relaxed);
      fs_timeline_publish(b->phase, even);
    }
  }
}

fs_loop_barrier *fs_cpu_guard_checked(const fs_instance *x, const fs_stream_guard_check *c,
                                      uint64_t iteration) {
  assert(iteration >= c->distance);
  return &x->loop_barrier[fs_guard_barrier(&x->guards, x->stream, c->guard,
                                           iteration - c->distance)];
}

void fs_cpu_guards_end(const fs_instance *x, uint32_t loop_command, uint64_t iteration) {
  FS_ASSERT_SLOW(loop_command < x->stream->n_loop_commands);
  const fs_guards *of = &x->guards;
  for (uint32_t i = of->update0[loop_command]; i < of->update0[loop_command + 1]; i++) {
    uint32_t g = of->update[i], arrivals = of->arrivals[g];
    fs_loop_barrier *b = &x->loop_barrier[fs_guard_barrier(of, x->stream, g, iteration)];
    if (arrivals > 1) {
      if (atomic_fetch_add(&b->arrived, 1) + 1 != arrivals) {
        continue;
      }
      atomic_store_explicit(&b->arrived, 0, memory_order_relaxed);
    }
    fs_timeline_publish(b->phase, atomic_load_explicit(&b->phase->epoch, memory_order_relaxed) + 1);
  }
}
