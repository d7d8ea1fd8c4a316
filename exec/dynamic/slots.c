/* SPDX-License-Identifier: Apache-2.0 */
/* Slots of tasks: references and releases, edges, and what follows from the end of a task.  A task
 * that fails puts those that wait for it in a list, from which each fails in its turn; so a chain
 * of any length needs no stack. */
#include "exec/dynamic/private.h"

fs_status fs_slot_make(fs_dynamic *e) {
  FS_TRY(fs_vec_ensure(e->ctx, &e->slot, e->slot.n + 1));
  e->slot.at[e->slot.n++] = (fs_dynamic_slot){.state = FS_TASK_FREE, .next = FS_NONE};
  e->unused_slot = (uint32_t)e->slot.n - 1;
  return FSCHED_OK;
}

uint32_t fs_slot_take(fs_dynamic *e, uint32_t piece) {
  uint32_t id = e->unused_slot;
  assert(id != FS_NONE);
  fs_dynamic_slot *s = &e->slot.at[id];
  e->unused_slot = s->next;
  *s = (fs_dynamic_slot){.generation = s->generation + 1,
                         .state = FS_TASK_BUILDING,
                         .piece = piece,
                         .in_first = FS_NONE,
                         .in_last = FS_NONE,
                         .out_first = FS_NONE,
                         .out_last = FS_NONE,
                         .next = FS_NONE,
                         .next_work = FS_NONE,
                         .running = FS_NONE,
                         .cause = FS_NONE};
  if (e->n_scopes > 0) {
    s->references++;
    s->in_scope = true;
    s->next = e->scope[e->n_scopes - 1];
    e->scope[e->n_scopes - 1] = id;
  }
  e->heaps.piece.at[piece].owner = id;
  e->n_live++;
  return id;
}

bool fs_slot_ended(const fs_dynamic_slot *s) {
  switch (s->state) {
    case FS_TASK_FREE:
    case FS_TASK_BUILDING:
    case FS_TASK_PENDING:
    case FS_TASK_READY:
    case FS_TASK_RUNNING:
      return false;
    case FS_TASK_COMPLETED:
    case FS_TASK_FAILED:
    case FS_TASK_CONSUMED:
      return true;
  }
  return false;
}

bool fs_slot_lives(const fs_dynamic *e, fs_dynamic_task task) {
  uint32_t slot = fs_slot_of(e, task);
  return slot != FS_NONE && e->slot.at[slot].state != FS_TASK_CONSUMED;
}

static uint32_t new_edge(fs_dynamic *e) {
  uint32_t id = e->unused_edge;
  if (id == FS_NONE) {
    assert(e->edge.n < e->edge.cap);
    id = (uint32_t)e->edge.n++;
  } else {
    e->unused_edge = e->edge.at[id].next;
  }
  e->n_edges++;
  return id;
}

/* Puts an edge at the end of its producer's list. */
static void link_edge(fs_dynamic *e, fs_dynamic_slot *producer, uint32_t id) {
  fs_dynamic_edge *edge = &e->edge.at[id];
  edge->previous_out = producer->out_last;
  edge->next_out = FS_NONE;
  if (producer->out_last == FS_NONE) {
    producer->out_first = id;
  } else {
    e->edge.at[producer->out_last].next_out = id;
  }
  producer->out_last = id;
}

static void unlink_edge(fs_dynamic *e, fs_dynamic_slot *producer, uint32_t id) {
  const fs_dynamic_edge *edge = &e->edge.at[id];
  if (edge->previous_out == FS_NONE) {
    producer->out_first = edge->next_out;
  } else {
    e->edge.at[edge->previous_out].next_out = edge->next_out;
  }
  if (edge->next_out == FS_NONE) {
    producer->out_last = edge->previous_out;
  } else {
    e->edge.at[edge->next_out].previous_out = edge->previous_out;
  }
  e->edge.at[id].waits = false;
}

void fs_slot_follow(fs_dynamic *e, uint32_t slot, const fs_dynamic_found *producer) {
  assert(e->unused_edge != FS_NONE || e->edge.n < e->edge.cap);
  fs_dynamic_slot *s = &e->slot.at[slot], *p = &e->slot.at[producer->slot];
  uint32_t id = new_edge(e);
  bool waits = producer->waits && !fs_slot_ended(p);
  e->edge.at[id] = (fs_dynamic_edge){.producer = fs_slot_handle(e, producer->slot),
                                     .consumer = slot,
                                     .next = FS_NONE,
                                     .waits = waits,
                                     .retains = producer->retains};
  if (s->in_last == FS_NONE) {
    s->in_first = id;
  } else {
    e->edge.at[s->in_last].next = id;
  }
  s->in_last = id;
  p->references += producer->retains;
  s->n_waits += waits;
  if (waits) {
    link_edge(e, p, id);
  }
}

void fs_slot_consume(fs_dynamic *e, uint32_t slot) {
  fs_dynamic_slot *s = &e->slot.at[slot];
  if (s->state == FS_TASK_CONSUMED) {
    return;
  }
  assert(fs_slot_ended(s) && s->in_first == FS_NONE && s->out_first == FS_NONE);
  s->state = FS_TASK_CONSUMED;
  fs_accesses_drop_task(&e->accesses, slot);
  fs_heap_give(&e->heaps, s->piece);
  s->next = e->unused_slot;
  e->unused_slot = slot;
  e->n_live--;
}

void fs_slot_release(fs_dynamic *e, uint32_t slot) {
  fs_dynamic_slot *s = &e->slot.at[slot];
  assert(s->releases <= s->references);
  s->releases++;
  if (s->releases >= s->references + 1) {
    fs_slot_consume(e, slot);
  }
}

static void add_work(fs_dynamic *e, uint32_t slot) {
  e->slot.at[slot].next_work = FS_NONE;
  if (e->work_first == FS_NONE) {
    e->work_first = slot;
  } else {
    e->slot.at[e->work_last].next_work = slot;
  }
  e->work_last = slot;
}

/* Tells those that wait for a task that it has ended. */
static void notify_consumers(fs_dynamic *e, uint32_t slot) {
  fs_dynamic_slot *s = &e->slot.at[slot];
  while (s->out_first != FS_NONE) {
    uint32_t id = s->out_first, to = e->edge.at[id].consumer;
    unlink_edge(e, s, id);
    fs_dynamic_slot *c = &e->slot.at[to];
    c->n_waits--;
    if (c->failing) {
      continue;
    }
    if (s->failing) {
      c->failing = true;
      c->cause = s->cause;
      add_work(e, to);
    } else if (c->n_waits == 0) {
      fs_ready_add(e, to);
    }
  }
}

/* Releases the producers that a task has retained. */
static void drop_edges(fs_dynamic *e, uint32_t slot) {
  fs_dynamic_slot *s = &e->slot.at[slot];
  while (s->in_first != FS_NONE) {
    uint32_t id = s->in_first;
    fs_dynamic_edge edge = e->edge.at[id];
    uint32_t producer = (uint32_t)edge.producer;
    s->in_first = edge.next;
    if (edge.waits) {
      unlink_edge(e, &e->slot.at[producer], id);
    }
    if (edge.retains) {
      fs_slot_release(e, producer);
    }
    e->edge.at[id].next = e->unused_edge;
    e->unused_edge = id;
    e->n_edges--;
  }
  s->in_last = FS_NONE;
}

void fs_slot_end(fs_dynamic *e, uint32_t slot) {
  assert(!fs_slot_ended(&e->slot.at[slot]));
  assert(e->work_first == FS_NONE);
  add_work(e, slot);
  while (e->work_first != FS_NONE) {
    uint32_t id = e->work_first;
    fs_dynamic_slot *s = &e->slot.at[id];
    e->work_first = s->next_work;
    s->state = s->failing ? FS_TASK_FAILED : FS_TASK_COMPLETED;
    (void)fs_realloc(e->ctx, s->queues, s->n_members * sizeof *s->queues, 0);
    s->queues = NULL;
    (void)fs_realloc(e->ctx, s->amounts, s->n_amounts * sizeof *s->amounts, 0);
    s->amounts = NULL;
    e->n_unfinished--;
    notify_consumers(e, id);
    drop_edges(e, id);
    fs_slot_release(e, id);
  }
}
