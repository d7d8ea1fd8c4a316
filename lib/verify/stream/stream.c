/* SPDX-License-Identifier: Apache-2.0 */
/* The check of a program: the promise of the command stream, for every set of actual durations.
 *
 *   shape    records make sense; every op once, on all members of its gang    stream/shape.c
 *   deps     versions and predecessors, again from tags in program order      stream/deps.c
 *   races    the list of pairs that hazards: raw leaves open is right         stream/races.c
 *   places   each command touches what its op needs, within all capacities    stream/places.c
 *   loops    loops that stay loops keep the orders of their args, and lie     loops/loops.c
 *            within what their own ops touch: the rest sees one op
 *   signals  which commands signal, and how far each signal reaches           here
 *   sync     the records of the kind of sync are ones the machine has         stream/sync.c
 *   walk     one order that queues and syncs allow: no deadlock; exact        stream/walk.c
 *            vector clocks; waits, frontiers, predecessors, planned times
 *            on machines with barriers                                        stream/barrier.c
 *            on machines with stops                                           stream/block.c
 *   edges    the order after predecessors; which queues of loops that is of   stream/edges.c
 *   access   conflicts are ordered, every value is the right one              stream/access.c
 *            given and kept content is there as a whole                       stream/hold.c
 *            and has its units of counted memories                            stream/units.c
 *   graph    the program is one of the graph                                  stream/graph.c
 *
 * Findings are reported at the end, causes before their consequences (findings.h).
 *
 * The verifier uses nothing of the passes: not their intervals, not their clocks, not their edges.
 * Data that is stored beside the commands (versions, frontiers, signals) is compared, not believed.
 *
 * Why one walk is enough.  Happens-before is queue order and syncs (members of a gang give each
 * other no order, each starts on its own; progress is proven as if they met, which is harder).  Of
 * slow commands, which let their queue go on before they are complete, queue order tells nothing,
 * and an epoch is reached when all commands up to it are complete.  If each pair of conflicting
 * accesses is ordered by it, every execution sees the same sequence of accesses to each byte, so
 * values found in one execution are found in all.  Amounts: an amount is a set of unit intervals,
 * and two holders of one unit conflict; so each unit has at most one holder at a time.
 *
 * Complexity: O((commands + places + edges) log n) and O(known queues) per wait and frontier;
 * memory: places that are live, and clocks that some command will still wait for. */
#include "verify/stream/stream.h"

#include <stdio.h>

#include "base/context.h"
#include "base/progress.h"
#include "fsched/verify.h"

/* The narrowest scope from queue a to queue b.  For a collective axis all members have to signal
 * that they are complete, a waiting queue's own member too. */
static fs_scope scope_between(const fs_stream *s, uint32_t a, uint32_t b) {
  const fs_stream_queue *x = &s->queues[a], *y = &s->queues[b];
  if (x->machine != y->machine) {
    return FS_SCOPE_SYSTEM;
  }
  return x->device == y->device ? FS_SCOPE_DEVICE : FS_SCOPE_DEVICE_GROUP;
}

static const char *scope_name(uint32_t scope) {
  return scope < FS_N_SCOPES ? fs_words_scope[scope] : "?";
}

static void note_waiter(fs_vs *v, uint32_t command, uint32_t waiter_queue, uint8_t *scope,
                        uint8_t *signal) {
  fs_scope reach = scope_between(v->s, v->command_queue[command], waiter_queue);
  signal[command] = 1;
  scope[command] = (uint8_t)fs_max(scope[command], reach);
}

static fs_status check_signals(fs_vs *v) {
  assert(v->command_queue != NULL || v->s->n_commands == 0);
  const fs_stream *s = v->s;
  uint8_t *signal, *scope;
  FS_TRY(fs_new_zero(&v->arena, &signal, s->n_commands));
  FS_TRY(fs_new_zero(&v->arena, &scope, s->n_commands));
  for (uint32_t i = 0; i < s->n_commands; i++) {
    for (uint32_t k = 0; k < s->commands[i].n_waits; k++) {
      const fs_stream_wait *w = &s->waits[s->commands[i].wait0 + k];
      if (w->axis < s->n_queues) {
        uint32_t awaited = s->queues[w->axis].command0 + w->epoch - 1;
        if (w->axis == v->command_queue[i]) {
          signal[awaited] = 1; /* to its own queue */
        } else {
          note_waiter(v, awaited, v->command_queue[i], scope, signal);
        }
        continue;
      }
      uint32_t occ = v->occ0[w->axis] + w->epoch - 1;
      for (uint32_t m = v->occ_command0[occ]; m < v->occ_command0[occ + 1]; m++) {
        note_waiter(v, v->occ_command[m], v->command_queue[i], scope, signal);
      }
    }
  }
  for (uint32_t i = 0; i < s->n_commands; i++) {
    char name[FS_VNAME];
    if (s->commands[i].signal != signal[i]) {
      FS_WRONG(v, FS_DIAG_VERIFY_SIGNAL, "%s %s", fs_vs_command_name(v, i, name),
               signal[i] ? "does not signal, but is waited for" : "signals, but nobody waits");
    }
    if (s->commands[i].scope != scope[i]) {
      FS_WRONG(v, FS_DIAG_VERIFY_SCOPE, "%s has scope '%s'; who waits for it needs '%s'",
               fs_vs_command_name(v, i, name), scope_name(s->commands[i].scope),
               scope_name(scope[i]));
    }
  }
  return FSCHED_OK;
}

static void check_meta(fs_vs *v) {
  const fs_stream *s = v->s;
  uint64_t last = 0;
  for (uint32_t i = 0; i < s->n_commands; i++) {
    last = fs_max(last, s->commands[i].end);
  }
  if (s->meta[0].makespan != last || s->meta[0].lower_bound > last) {
    FS_WRONG(v, FS_DIAG_VERIFY_STATUS,
             "makespan %llu, lower bound %llu, but the last command ends at %llu",
             (unsigned long long)s->meta[0].makespan, (unsigned long long)s->meta[0].lower_bound,
             (unsigned long long)last);
  }
}

/* Runs all parts, except those that need a property which an earlier part refuted. */
static fs_status verify_all(fs_vs *v, const fsched_graph *g) {
  uint64_t part = fs_vs_part_work(v->s);
  FS_TRY(fs_vs_shape(v));
  check_meta(v);
  fs_progress_at(v->ctx, part);
  FS_TRY(fs_vs_deps(v));
  fs_progress_at(v->ctx, 2 * part);
  FS_TRY(fs_vs_races(v));
  FS_TRY(fs_vs_members(v));
  fs_progress_at(v->ctx, 3 * part);
  fs_status places = fs_vs_places(v);
  if (places == FSCHED_SYSTEM) {
    return places;
  }
  fs_progress_at(v->ctx, 4 * part);
  FS_TRY(check_signals(v));
  if (g != NULL) {
    FS_TRY(fs_vs_graph(v, g));
  }
  FS_TRY(places);
  FS_TRY(fs_vs_loops(v));
  return fs_vs_walk(v);
}

uint64_t fs_verify_program_work(const fsched_program *program) {
  return FS_VS_PARTS * fs_vs_part_work(&program->view) + program->view.n_commands;
}

/* All codes of FS_WRONG: faults first, then those that only follow from others or do no harm. */
static const fs_diag_code report_order[] = {
    FS_DIAG_VERIFY_SHAPE,    FS_DIAG_VERIFY_SYNC,        FS_DIAG_VERIFY_BARRIER,
    FS_DIAG_VERIFY_SLOTS,    FS_DIAG_VERIFY_STOP,        FS_DIAG_VERIFY_ONCE,
    FS_DIAG_VERIFY_GANG,     FS_DIAG_VERIFY_GRAPH,       FS_DIAG_VERIFY_VERSION,
    FS_DIAG_VERIFY_PLACE,    FS_DIAG_VERIFY_LANE,        FS_DIAG_VERIFY_SELF,
    FS_DIAG_VERIFY_CAPACITY, FS_DIAG_VERIFY_WAIT,        FS_DIAG_VERIFY_DEADLOCK,
    FS_DIAG_VERIFY_EDGE,     FS_DIAG_VERIFY_CONFLICT,    FS_DIAG_VERIFY_VALUE,
    FS_DIAG_VERIFY_KEPT,     FS_DIAG_VERIFY_RACE,        FS_DIAG_VERIFY_STATUS,
    FS_DIAG_VERIFY_PLAN,     FS_DIAG_VERIFY_SUPERFLUOUS, FS_DIAG_VERIFY_FRONTIER,
    FS_DIAG_VERIFY_SIGNAL,   FS_DIAG_VERIFY_SCOPE,
};

fsched_status fsched_verify_program(fsched_context *ctx, const fsched_program *program,
                                    const fsched_graph *graph) {
  fs_vs v = {.ctx = ctx, .s = &program->view};
  fs_arena_init(&v.arena, ctx);
  fs_findings_init(&v.found, &v.arena);
  fs_progress_begin(ctx, "verify", fs_verify_program_work(program));
  fs_status status = verify_all(&v, graph);
  fs_vec_free(ctx, &v.pred);
  fs_vec_free(ctx, &v.piece);
  if (v.pool.ctx != NULL) {
    fs_vpool_free(&v.pool);
  }
  bool wrong = v.found.total > 0;
  bool failed = v.found.failed;
  fs_findings_report(&v.found, report_order, sizeof report_order / sizeof report_order[0]);
  fs_arena_release(&v.arena);
  if (failed) {
    status = FSCHED_SYSTEM;
  } else if (status == FSCHED_OK && wrong) {
    status = FSCHED_WRONG;
  }
  fs_progress_end(ctx, status);
  return status;
}
