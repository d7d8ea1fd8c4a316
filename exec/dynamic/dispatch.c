/* SPDX-License-Identifier: Apache-2.0 */
/* Which task runs on which queue.  A ready task stands in the list of its queue, of its class, or
 * of those that need more: groups, and tasks with amounts.  An idle queue takes the older of the
 * first ones of its own list and its class's, and where few tasks may run at once, the oldest of
 * all these comes first.
 *
 * The first task that needs more keeps its amounts, and one of the tasks that may run at once, so
 * that others take only what is beyond that.  Once these are free it keeps queues as well: those
 * that it names, or, of its class, as many idle ones as it needs; on these only what became ready
 * before it may start.  As each task ends, and only finitely many became ready before the first
 * one, that has its amounts, and then its queues, at some time. */
#include <stdio.h>

#include "exec/dynamic/private.h"

static uint32_t more_list(const fs_dynamic *e) { return 2 * e->n_queues; }

void fs_ready_add(fs_dynamic *e, uint32_t slot) {
  fs_dynamic_slot *s = &e->slot.at[slot];
  assert(s->n_waits == 0);
  fs_dynamic_list *l = &e->list[s->list];
  s->state = FS_TASK_READY;
  s->ready_order = e->next_ready++;
  s->ready_previous = l->last;
  s->ready_next = FS_NONE;
  if (l->last == FS_NONE) {
    l->first = slot;
  } else {
    e->slot.at[l->last].ready_next = slot;
  }
  l->last = slot;
  e->n_ready++;
}

void fs_ready_remove(fs_dynamic *e, uint32_t slot) {
  fs_dynamic_slot *s = &e->slot.at[slot];
  assert(s->state == FS_TASK_READY);
  fs_dynamic_list *l = &e->list[s->list];
  if (s->ready_previous == FS_NONE) {
    l->first = s->ready_next;
  } else {
    e->slot.at[s->ready_previous].ready_next = s->ready_next;
  }
  if (s->ready_next == FS_NONE) {
    l->last = s->ready_previous;
  } else {
    e->slot.at[s->ready_next].ready_previous = s->ready_previous;
  }
  e->n_ready--;
}

static bool has_queue(const uint64_t *set, uint32_t queue) {
  return (set[queue / 64] >> queue % 64 & 1) != 0;
}
static void flip_queue(uint64_t *set, uint32_t queue) {
  set[queue / 64] ^= (uint64_t)1 << queue % 64;
}

/* The first idle queue from `from` on, or FS_NONE. */
static uint32_t next_idle(const fs_dynamic *e, uint32_t from) {
  for (uint32_t w = from / 64; w < e->n_words; w++) {
    uint64_t set = e->idle[w] & (w == from / 64 ? UINT64_MAX << from % 64 : UINT64_MAX);
    if (set != 0) {
      return w * 64 + (uint32_t)__builtin_ctzll(set);
    }
  }
  return FS_NONE;
}

/* The queues that a task can have now, in the order of its members; `passes`: kept ones, too. */
static uint32_t find_queues(const fs_dynamic *e, const fs_dynamic_slot *s, bool passes,
                            uint32_t *out) {
  uint32_t n = 0;
  if (s->queues != NULL) {
    for (uint32_t m = 0; m < s->n_members; m++) {
      uint32_t q = s->queues[m];
      out[n] = q;
      n += has_queue(e->idle, q) && (passes || !has_queue(e->kept, q));
    }
    return n;
  }
  for (uint32_t q = next_idle(e, 0); q != FS_NONE && n < s->n_members; q = next_idle(e, q + 1)) {
    if (e->queue[q].class_ == s->class_ && (passes || !has_queue(e->kept, q))) {
      out[n++] = q;
    }
  }
  return n;
}

/* Whether so many tasks may run besides those that do. */
static bool may_run(const fs_dynamic *e, uint32_t n) {
  return e->options.concurrency == 0 || e->n_running + (uint64_t)n <= e->options.concurrency;
}

/* Whether the amounts of a task are free; without `passes`, beyond those that are kept. */
static bool has_amounts(const fs_dynamic *e, const fs_dynamic_slot *s, bool passes) {
  if (!may_run(e, e->keeps_run && !passes ? 2 : 1)) {
    return false;
  }
  for (uint32_t i = 0; i < s->n_amounts; i++) {
    const fs_dynamic_amount *a = &s->amounts[i];
    uint64_t free = e->free_amount[a->resource], kept = passes ? 0 : e->kept_amount[a->resource];
    if (free < kept || free - kept < a->amount) {
      return false;
    }
  }
  return true;
}

/* Marks what the first task that needs more keeps. */
static void mark_kept(fs_dynamic *e) {
  uint32_t first = e->list[more_list(e)].first;
  memset(e->kept, 0, e->n_words * sizeof *e->kept);
  e->keeps_run = first != FS_NONE;
  if (e->n_resources > 0) {
    memset(e->kept_amount, 0, e->n_resources * sizeof *e->kept_amount);
  }
  if (first == FS_NONE) {
    return;
  }
  const fs_dynamic_slot *s = &e->slot.at[first];
  for (uint32_t i = 0; i < s->n_amounts; i++) {
    e->kept_amount[s->amounts[i].resource] = s->amounts[i].amount;
  }
  if (!has_amounts(e, s, true)) {
    return;
  }
  uint32_t n = s->queues == NULL ? find_queues(e, s, true, e->started) : s->n_members;
  const uint32_t *queues = s->queues == NULL ? e->started : s->queues;
  for (uint32_t i = 0; i < n; i++) {
    flip_queue(e->kept, queues[i]);
  }
}

/* Lets a task run on the queues in e->started. */
static void start_task(fs_dynamic *e, uint32_t slot, fs_dynamic_start *start) {
  fs_dynamic_slot *s = &e->slot.at[slot];
  fs_ready_remove(e, slot);
  s->state = FS_TASK_RUNNING;
  s->n_left = s->n_members;
  e->n_running++;
  for (uint32_t i = 0; i < s->n_amounts; i++) {
    assert(e->free_amount[s->amounts[i].resource] >= s->amounts[i].amount);
    e->free_amount[s->amounts[i].resource] -= s->amounts[i].amount;
  }
  for (uint32_t m = 0; m < s->n_members; m++) {
    uint32_t q = e->started[m];
    assert(has_queue(e->idle, q));
    flip_queue(e->idle, q);
    e->queue[q].slot = slot;
    e->queue[q].member = m;
    e->queue[q].next = s->running;
    s->running = q;
  }
  *start = (fs_dynamic_start){fs_slot_handle(e, slot), s->user, s->n_members, e->started};
}

/* The older of the first ready tasks of a queue and of its class, or FS_NONE. */
static uint32_t oldest_for(const fs_dynamic *e, uint32_t queue) {
  uint32_t own = e->list[queue].first;
  uint32_t any = e->list[e->n_queues + e->queue[queue].class_].first;
  if (own == FS_NONE || any == FS_NONE) {
    return own == FS_NONE ? any : own;
  }
  return e->slot.at[own].ready_order < e->slot.at[any].ready_order ? own : any;
}

static bool start_single(fs_dynamic *e, fs_dynamic_start *start) {
  uint32_t more = e->list[more_list(e)].first, best = FS_NONE, on = FS_NONE;
  for (uint32_t q = next_idle(e, 0); q != FS_NONE; q = next_idle(e, q + 1)) {
    uint32_t slot = oldest_for(e, q);
    if (slot == FS_NONE ||
        (best != FS_NONE && e->slot.at[best].ready_order <= e->slot.at[slot].ready_order)) {
      continue;
    }
    bool older = more == FS_NONE || e->slot.at[slot].ready_order < e->slot.at[more].ready_order;
    if ((older || !has_queue(e->kept, q)) && may_run(e, older ? 1 : 2)) {
      best = slot;
      on = q;
      if (e->options.concurrency == 0) {
        break;
      }
    }
  }
  if (best == FS_NONE) {
    return false;
  }
  e->started[0] = on;
  start_task(e, best, start);
  return true;
}

static bool start_more(fs_dynamic *e, fs_dynamic_start *start) {
  uint32_t slot = e->list[more_list(e)].first;
  for (uint32_t i = 0; i < FS_DYNAMIC_MORE && slot != FS_NONE; i++) {
    const fs_dynamic_slot *s = &e->slot.at[slot];
    if (has_amounts(e, s, i == 0) && find_queues(e, s, i == 0, e->started) == s->n_members) {
      start_task(e, slot, start);
      return true;
    }
    slot = s->ready_next;
  }
  return false;
}

fs_dynamic_task fs_dynamic_waiting_group(const fs_dynamic *e, uint64_t *user) {
  uint32_t slot = e->list[2 * e->n_queues].first;
  while (slot != FS_NONE && e->slot.at[slot].n_members == 1) {
    slot = e->slot.at[slot].ready_next;
  }
  if (slot == FS_NONE) {
    return FS_DYNAMIC_NO_TASK;
  }
  *user = e->slot.at[slot].user;
  return fs_slot_handle(e, slot);
}

bool fs_dynamic_next(fs_dynamic *e, fs_dynamic_start *start) {
  if (e->n_ready == 0 || next_idle(e, 0) == FS_NONE) {
    return false;
  }
  mark_kept(e);
  return start_single(e, start) || start_more(e, start);
}

bool fs_dynamic_claim(fs_dynamic *e, fs_dynamic_task task, fs_dynamic_start *start) {
  uint32_t slot = fs_slot_of(e, task);
  if (slot == FS_NONE || e->slot.at[slot].state != FS_TASK_READY ||
      !has_amounts(e, &e->slot.at[slot], true)) {
    return false;
  }
  const fs_dynamic_slot *s = &e->slot.at[slot];
  uint32_t n;
  if (s->list < e->n_queues) {
    e->started[0] = s->list;
    n = has_queue(e->idle, s->list);
  } else {
    n = find_queues(e, s, true, e->started);
  }
  if (n < s->n_members) {
    return false;
  }
  start_task(e, slot, start);
  return true;
}

/* Takes a member off its queue; false: it runs on none. */
static bool stop_member(fs_dynamic *e, fs_dynamic_slot *s, uint32_t member) {
  for (uint32_t *at = &s->running; *at != FS_NONE; at = &e->queue[*at].next) {
    fs_dynamic_queue *q = &e->queue[*at];
    if (q->member == member) {
      if (!q->retired) {
        flip_queue(e->idle, *at);
      }
      *at = q->next;
      q->slot = FS_NONE;
      s->n_left--;
      return true;
    }
  }
  return false;
}

static void fail_task(fs_dynamic *e, fs_dynamic_slot *s, const char *cause) {
  uint32_t id = fs_run_note(e, cause);
  s->cause = s->failing ? s->cause : id;
  s->failing = true;
}

static void give_amounts(fs_dynamic *e, const fs_dynamic_slot *s) {
  e->n_running--;
  for (uint32_t i = 0; i < s->n_amounts; i++) {
    e->free_amount[s->amounts[i].resource] += s->amounts[i].amount;
    assert(e->free_amount[s->amounts[i].resource] <= e->capacity[s->amounts[i].resource]);
  }
}

/* A member has returned, with a cause if it has failed. */
static void return_member(fs_dynamic *e, fs_dynamic_task task, uint32_t member, const char *cause) {
  uint32_t slot = fs_slot_of(e, task);
  if (slot == FS_NONE || e->slot.at[slot].state != FS_TASK_RUNNING) {
    return;
  }
  fs_dynamic_slot *s = &e->slot.at[slot];
  if (member >= s->n_members) {
    char text[FS_DYNAMIC_CAUSE_BYTES];
    (void)snprintf(text, sizeof text, "member %u has returned, and the task has %u", member,
                   s->n_members);
    fail_task(e, s, text);
  } else if (stop_member(e, s, member) && cause != NULL) {
    fail_task(e, s, cause);
  }
  if (s->n_left == 0) {
    give_amounts(e, s);
    fs_slot_end(e, slot);
    fs_run_settle(e);
  }
}

void fs_dynamic_complete(fs_dynamic *e, fs_dynamic_task task, uint32_t member) {
  return_member(e, task, member, NULL);
}

void fs_dynamic_fail(fs_dynamic *e, fs_dynamic_task task, uint32_t member, const char *cause) {
  return_member(e, task, member, cause == NULL ? "unknown" : cause);
}

/* ---- queues without a worker */

/* Whether a task that waits can still run. */
static bool has_workers(const fs_dynamic *e, const fs_dynamic_slot *s) {
  if (s->queues == NULL && s->list < e->n_queues) {
    return !e->queue[s->list].retired;
  }
  bool has = s->queues != NULL || s->n_members <= e->class_size[s->class_];
  for (uint32_t m = 0; m < s->n_members && s->queues != NULL; m++) {
    has = has && !e->queue[s->queues[m]].retired;
  }
  return has;
}

/* Whether a task waits for its turn or for others. */
static bool is_waiting(const fs_dynamic_slot *s) {
  switch (s->state) {
    case FS_TASK_PENDING:
    case FS_TASK_READY:
      return true;
    case FS_TASK_FREE:
    case FS_TASK_BUILDING:
    case FS_TASK_RUNNING:
    case FS_TASK_COMPLETED:
    case FS_TASK_FAILED:
    case FS_TASK_CONSUMED:
      break;
  }
  return false;
}

void fs_dynamic_retire(fs_dynamic *e, uint32_t queue, const char *cause) {
  assert(queue < e->n_queues);
  fs_dynamic_queue *q = &e->queue[queue];
  uint32_t id = FS_NONE;
  if (q->retired) {
    return;
  }
  q->retired = true;
  q->why = fs_realloc(e->ctx, NULL, 0, FS_DYNAMIC_CAUSE_BYTES); /* without it, it is not told */
  if (q->why != NULL) {
    (void)snprintf(q->why, FS_DYNAMIC_CAUSE_BYTES, "%s", cause);
  }
  e->class_size[q->class_]--;
  if (q->slot == FS_NONE) {
    flip_queue(e->idle, queue);
  }
  for (uint32_t i = 0; i < e->slot.n; i++) {
    fs_dynamic_slot *s = &e->slot.at[i];
    if (is_waiting(s) && !has_workers(e, s)) {
      if (s->state == FS_TASK_READY) {
        fs_ready_remove(e, i);
      }
      id = id == FS_NONE ? fs_run_note(e, cause) : id;
      s->cause = id;
      s->failing = true;
      fs_slot_end(e, i);
    }
  }
  fs_run_settle(e);
}

void fs_dynamic_retire_idle(fs_dynamic *e, uint32_t queue, const char *what) {
  char cause[FS_DYNAMIC_CAUSE_BYTES];
  (void)snprintf(cause, sizeof cause, "the worker of queue %s %s", fs_queue_shown(e, queue).text,
                 what);
  fs_dynamic_retire(e, queue, cause);
}
