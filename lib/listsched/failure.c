/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a run that found no schedule. */
#include "listsched/engine.h"

/* Bytes that the op still lacks in a memory. */
static uint64_t own_need(const fs_engine *e, uint32_t op, uint32_t memory) {
  const fsched_graph *g = e->g;
  uint64_t align = g->target.memory[memory].align;
  uint64_t sum = 0;
  FS_ENGINE_EACH_VERSION(e, op, a, v) {
    bool here = e->v_memory[v] == memory && e->v_state[v] != FS_V_IN;
    sum += here ? e->v_size[v] : 0;
  }
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    sum += g->scratch_memory[i] == memory ? fs_align_up(g->scratch_size[i], align) : 0;
  }
  return sum;
}

/* Names the memory that the first unissued op cannot get into: one that has too little room, else
 * one whose room is in pieces. */
void fs_engine_explain_memory(const fs_engine *e) {
  assert(e->unissued_next[e->g->n_ops] != e->g->n_ops);
  const fsched_graph *g = e->g;
  uint32_t op = e->op_at[e->unissued_next[g->n_ops]];
  uint32_t found = FS_NONE;
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    uint64_t need = fs_memory_bounded(&g->target.memory[m]) ? own_need(e, op, m) : 0;
    if (need > e->places[m].free || (need > 0 && found == FS_NONE)) {
      found = m;
    }
  }
  if (found == FS_NONE) {
    fs_report(e->ctx, FSCHED_ERROR, FS_DIAG_NO_SCHEDULE, fs_op_pos(e->ctx, g, op), NULL,
              "no schedule was found: op '%s' cannot start", g->op_name[op]);
    return;
  }
  const fs_memory *m = &g->target.memory[found];
  const char *hint = g->depths_hint != NULL ? g->depths_hint
                     : !fs_memory_spills(m)
                         ? "a `backing` store and `spill` would let other buffers leave"
                         : "its backing store is full";
  fs_report(e->ctx, FSCHED_ERROR, FS_DIAG_NO_SCHEDULE, fs_op_pos(e->ctx, g, op), hint,
            "no schedule was found: memory '%s' has no room for op '%s': %llu more bytes needed, "
            "%llu of %llu free",
            m->name, g->op_name[op], (unsigned long long)own_need(e, op, found),
            (unsigned long long)e->places[found].free, (unsigned long long)m->capacity);
}

/* Names a predecessor that is not over, if there is one: the one that ends last, or has not
 * started. */
static bool say_before(const fs_engine *e, uint32_t op, fs_text *t) {
  const fsched_graph *g = e->g;
  uint32_t late = FS_NONE;
  for (uint32_t i = g->pred0[op]; i < g->pred0[op + 1]; i++) {
    uint32_t p = g->pred[i];
    bool waits = e->op_phase[p] < FS_OP_RUNNING;
    if (e->op_phase[p] != FS_OP_DONE &&
        (late == FS_NONE || (e->op_phase[late] >= FS_OP_RUNNING &&
                             (waits || e->op_reached[p] > e->op_reached[late])))) {
      late = p;
    }
  }
  if (late == FS_NONE) {
    return false;
  }
  if (e->op_phase[late] < FS_OP_RUNNING) {
    fs_text_printf(t, "op '%.80s', which comes before it, has not started", g->op_name[late]);
  } else {
    fs_text_printf(t, "op '%.80s', which comes before it, ends at %llu", g->op_name[late],
                   (unsigned long long)e->op_reached[late]);
  }
  return true;
}

/* Names a resource, or the concurrency, of which too little is free, if there is one. */
static bool say_amount(const fs_engine *e, uint32_t op, fs_text *t) {
  const fsched_graph *g = e->g;
  if (g->target.concurrency != 0 && e->concurrency_free == 0) {
    fs_text_printf(t, "as many ops run as 'concurrency' allows, %llu",
                   (unsigned long long)g->target.concurrency);
    return true;
  }
  for (uint32_t i = g->op_use0[op]; i < g->op_use0[op + 1]; i++) {
    uint32_t r = g->use_resource[i];
    if (g->use_amount[i] > e->resource_free[r]) {
      fs_text_printf(t, "it uses %llu of '%.80s', and %llu of %llu is free",
                     (unsigned long long)g->use_amount[i], g->target.resource_name[r],
                     (unsigned long long)e->resource_free[r],
                     (unsigned long long)g->target.resource_capacity[r]);
      return true;
    }
  }
  return false;
}

/* Says which queues the op could take, none of which is free. */
static void say_queues(const fs_engine *e, uint32_t op, fs_text *t) {
  const fsched_graph *g = e->g;
  const fs_target *target = &g->target;
  if (g->op_gang[op] != FS_NONE) {
    fs_text_puts(t, fs_gang_open(g, g->op_gang[op]) ? "too few queues of its gang's class are free"
                                                    : "not all queues of its gang are free");
    return;
  }
  uint32_t d = g->op_domain[op], first = 0, n = e->n_queues;
  if (!target->implicit_queues) {
    first = target->domain_queue0[d];
    n = target->domain_queue0[d + 1] - first;
  }
  uint32_t q = target->implicit_queues || n != 1 ? FS_NONE : target->domain_queue[first];
  if (q != FS_NONE && e->queue_busy.at[q]) {
    fs_text_printf(t, "queue '%.80s' is busy until %llu", target->queue[q].name,
                   (unsigned long long)e->queue_until.at[q]);
    return;
  }
  uint32_t other = q == FS_NONE ? FS_NONE : fs_engine_kept_for(e, op, q, e->now + g->op_time[op]);
  if (other != FS_NONE) {
    fs_text_printf(t, "queue '%.80s' is kept for op '%.80s', which is to start at %llu",
                   target->queue[q].name, g->op_name[other],
                   (unsigned long long)g->op_start[other]);
  } else {
    fs_text_printf(t, "none of the %u queue%s that it can run on is free", n, n == 1 ? "" : "s");
  }
}

/* Names a memory that has no room for the op, if there is one. */
static bool say_room(const fs_engine *e, uint32_t op, fs_text *t) {
  for (uint32_t m = 0; m < e->g->target.n_memories; m++) {
    const fs_memory *memory = &e->g->target.memory[m];
    uint64_t need = fs_memory_bounded(memory) ? own_need(e, op, m) : 0;
    if (need > e->places[m].free) {
      fs_text_printf(t,
                     "memory '%.80s' has no room for it: %llu more bytes needed, %llu of %llu free",
                     memory->name, (unsigned long long)need, (unsigned long long)e->places[m].free,
                     (unsigned long long)memory->capacity);
      return true;
    }
  }
  return false;
}

void fs_engine_explain_missed(const fs_engine *e, uint32_t op) {
  assert(e->op_phase[op] < FS_OP_RUNNING);
  fs_text why;
  fs_text_init(&why, e->ctx);
  if (!say_before(e, op, &why)) {
    if (e->op_phase[op] < FS_OP_CLAIMED && !say_room(e, op, &why)) {
      fs_text_puts(&why, "its buffers find no place together");
    } else if (e->op_phase[op] == FS_OP_CLAIMED && e->op_lacks[op] > 0) {
      fs_text_puts(&why, "what it reads, or the room that it needs, is not there yet");
    } else if (e->op_phase[op] == FS_OP_CLAIMED && !say_amount(e, op, &why)) {
      say_queues(e, op, &why);
    }
  }
  fs_report(e->ctx, FSCHED_ERROR, FS_DIAG_NO_SCHEDULE, fs_op_pos(e->ctx, e->g, op), NULL,
            "no schedule was found: op '%s' cannot start at its given time %llu: %.*s",
            e->g->op_name[op], (unsigned long long)e->now, (int)why.n, why.failed ? "" : why.at);
  fs_text_drop(&why);
}

void fs_engine_explain_stored(const fs_engine *e) {
  const fsched_graph *g = e->g;
  uint32_t v = e->no_room_version;
  uint32_t m = e->v_memory[v];
  m = fs_memory_spills(&g->target.memory[m]) ? g->target.memory[m].backing : m;
  bool used = g->version_access0[v] < g->version_access0[v + 1];
  fs_report(e->ctx, FSCHED_ERROR, FS_DIAG_NO_SCHEDULE,
            used ? fs_op_pos(e->ctx, g, g->access_op[g->version_access0[v]]) : FS_NOWHERE, NULL,
            "no schedule was found: memory '%s' has no room for the stored content of buffer '%s': "
            "%llu bytes needed, %llu of %llu free",
            g->target.memory[m].name, g->buffer_name[g->version_buffer[v]],
            (unsigned long long)fs_version_size(g, v), (unsigned long long)e->places[m].free,
            (unsigned long long)g->target.memory[m].capacity);
}
