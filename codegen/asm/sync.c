/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers and syncs of program text.
 *
 * The text has no list of barriers: every wait and update that names a barrier gives its physical
 * barrier and which use of that one it is, and all of them must agree. */
#include "codegen/asm/asm.h"
#include "model/kinds.h"
#include "model/stream/physicals.h"

fs_status fs_asm_only(fs_asm *a, uint32_t node, const char *key, uint32_t value, bool wanted,
                      fs_sync_kind of) {
  assert(node < a->f.doc->n_nodes && (value == FS_NONE || value < a->f.doc->n_nodes));
  bool given = value != FS_NONE;
  if (wanted == given) {
    return FSCHED_OK;
  }
  return wanted ? fs_fields_fail(&a->f, FS_DIAG_STREAM_KEY, node, "key '%s' is missing", key)
                : fs_fields_fail(&a->f, FS_DIAG_STREAM_KEY, value,
                                 "'%s' belongs to programs with sync '%s', this one has '%s'", key,
                                 fs_words_sync[of], fs_words_sync[a->meta.at[0].sync]);
}

/* Reads a count or a number of slots; without a node *out keeps its value. */
static fs_status count(fs_asm *a, uint32_t node, uint32_t *out) {
  if (node == FS_NONE) {
    return FSCHED_OK;
  }
  FS_TRY(fs_fields_u32(&a->f, node, out));
  if (*out == 0 || *out > INT32_MAX) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_VALUE, node,
                          "expected a number from 1 to %d, found %u", INT32_MAX, *out);
  }
  return FSCHED_OK;
}

fs_status fs_asm_barriers(fs_asm *a, uint32_t node, fs_stream_meta *m) {
  enum { COUNT, SLOTS, USED, FIELDS };
  static const fs_field fields[FIELDS] = {{"count", false}, {"slots", false}, {"used", false}};
  uint32_t value[FIELDS];
  FS_TRY(fs_fields_mapping(&a->f, node, fields, FIELDS, value));
  FS_TRY(count(a, value[COUNT], &m->barrier_count));
  a->used_node = value[USED] == FS_NONE ? 0 : value[USED];
  return count(a, value[SLOTS], &m->barrier_slots);
}

/* ---- waits and updates */

enum {
  BARRIER_KIND,
  BARRIER_BARRIER,
  BARRIER_PHYSICAL,
  BARRIER_USE,
  BARRIER_SLOTS,
  BARRIER_FIELDS
};
static const fs_field barrier_fields[BARRIER_FIELDS] = {
    {"kind", true}, {"barrier", true}, {"physical", true}, {"use", true}, {"slots", true}};

/* Finds a barrier's record by its number.  Every barrier is named by some node, so there are fewer
 * barriers than nodes. */
static fs_status find_barrier(fs_asm *a, uint32_t node, uint32_t *barrier) {
  FS_TRY(fs_fields_u32(&a->f, node, barrier));
  if (*barrier >= a->f.doc->n_nodes) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_REFERENCE, node,
                          "barriers are numbered from 0 without gaps, and there are fewer than %u",
                          *barrier);
  }
  a->last_node = a->barriers.n <= *barrier ? node : a->last_node;
  while (a->barriers.n <= *barrier) {
    FS_TRY(fs_asm_push(a, barriers, (fs_stream_barrier){.physical = FS_NONE, .use = FS_NONE}));
  }
  return FSCHED_OK;
}

/* Checks that a number given for the barrier equals the one that was given for it before. */
static fs_status agree(fs_asm *a, uint32_t node, uint32_t barrier, const char *what,
                       uint32_t *known) {
  uint32_t found;
  FS_TRY(fs_fields_u32(&a->f, node, &found));
  if (found == FS_NONE) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_VALUE, node, "expected a smaller number");
  }
  if (*known != FS_NONE && *known != found) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_VALUE, node,
                          "barrier %u had %s %u where it was named before", barrier, what, *known);
  }
  *known = found;
  return FSCHED_OK;
}

/* Reads the barrier of a wait or update, all but its slots.  `value` has the order of
 * barrier_fields. */
static fs_status barrier(fs_asm *a, const uint32_t *value, const char *kind, uint32_t *out) {
  FS_TRY(fs_asm_only(a, value[BARRIER_KIND], kind, value[BARRIER_KIND],
                     fs_sync_has_barriers(a->meta.at[0].sync), FS_SYNC_BARRIER));
  FS_TRY(find_barrier(a, value[BARRIER_BARRIER], out));
  fs_stream_barrier *b = &a->barriers.at[*out];
  FS_TRY(agree(a, value[BARRIER_PHYSICAL], *out, "physical", &b->physical));
  return agree(a, value[BARRIER_USE], *out, "use", &b->use);
}

static fs_status ascend(fs_asm *a, uint32_t node, bool first, uint32_t before, uint32_t now) {
  if (first || before < now) {
    return FSCHED_OK;
  }
  return fs_fields_fail(&a->f, FS_DIAG_STREAM_WAIT, node,
                        before == now ? "barrier %u is named twice for one command"
                                      : "the barriers of a command ascend, and %u does not",
                        now);
}

fs_status fs_asm_barrier_wait(fs_asm *a, uint32_t node, fs_stream_command *r) {
  assert(node < a->f.doc->n_nodes);
  uint32_t value[BARRIER_FIELDS], id;
  FS_TRY(fs_fields_mapping(&a->f, node, barrier_fields, BARRIER_SLOTS, value));
  FS_TRY(barrier(a, value, "barrier_wait", &id));
  uint32_t before = r->n_barrier_waits == 0 ? 0 : a->barrier_waits.at[a->barrier_waits.n - 1];
  FS_TRY(ascend(a, value[BARRIER_BARRIER], r->n_barrier_waits == 0, before, id));
  r->n_barrier_waits++;
  a->barriers.at[id].n_consumers++;
  return fs_asm_push(a, barrier_waits, id);
}

fs_status fs_asm_barrier_update(fs_asm *a, uint32_t node, fs_stream_command *r) {
  assert(node < a->f.doc->n_nodes);
  uint32_t value[BARRIER_FIELDS], before = 0;
  fs_stream_update u;
  FS_TRY(fs_fields_mapping(&a->f, node, barrier_fields, BARRIER_FIELDS, value));
  FS_TRY(barrier(a, value, "barrier_update", &u.barrier));
  FS_TRY(count(a, value[BARRIER_SLOTS], &u.slots));
  if (r->n_barrier_updates != 0) {
    before = a->barrier_updates.at[a->barrier_updates.n - 1].barrier;
  }
  FS_TRY(ascend(a, value[BARRIER_BARRIER], r->n_barrier_updates == 0, before, u.barrier));
  r->n_barrier_updates++;
  a->barriers.at[u.barrier].n_producers++;
  return fs_asm_push(a, barrier_updates, u);
}

fs_status fs_asm_barriers_end(fs_asm *a) {
  uint64_t used, said;
  for (uint32_t b = 0; b < a->barriers.n; b++) {
    if (a->barriers.at[b].physical == FS_NONE) {
      return fs_fields_fail(&a->f, FS_DIAG_STREAM_REFERENCE, a->last_node,
                            "barrier %u is named nowhere, but barrier %u is", b,
                            (uint32_t)a->barriers.n - 1);
    }
  }
  if (a->used_node == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_stream_physicals(a->arena.ctx, a->barriers.at, (uint32_t)a->barriers.n, a->guards.at,
                             (uint32_t)a->guards.n, &used));
  FS_TRY(fs_fields_u64(&a->f, a->used_node, &said));
  return said == used ? FSCHED_OK
                      : fs_fields_fail(&a->f, FS_DIAG_STREAM_VALUE, a->used_node,
                                       "the barriers take %llu physical ones, not %llu",
                                       (unsigned long long)used, (unsigned long long)said);
}

/* ---- syncs */

/* The number of the queue's commands that are issued before `at`. */
static uint32_t issued_before(const fs_asm *a, uint32_t queue, uint32_t at) {
  const fs_stream_queue *q = &a->queues.at[queue];
  uint32_t low = 0, high = q->n_commands;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    bool before = a->commands.at[q->command0 + middle].issue < at;
    *(before ? &low : &high) = before ? middle + 1 : middle;
  }
  return low;
}

/* Reads the queue of a counting sync, and how many commands the sync keeps. */
static fs_status counted(fs_asm *a, uint32_t queue, uint32_t keep, fs_stream_stop *r) {
  FS_TRY(fs_fields_name(&a->f, queue, &a->axis_names, "queue", &r->queue));
  FS_TRY(fs_fields_u32(&a->f, keep, &r->keep));
  if (r->queue >= a->queues.n || a->queues.at[r->queue].counting == 0) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_REFERENCE, queue,
                          "a sync cannot count '%s', which is not a queue with 'counting'",
                          a->f.doc->node[queue].text);
  }
  return FSCHED_OK;
}

/* A sync in the order of issue of n commands, in which it stands before command `least` or later.
 * What it keeps is checked here as fs_stream_check could not give its place in the text. */
static fs_status stop(fs_asm *a, uint32_t node, uint32_t least, uint32_t n, fs_stream_stop *r) {
  enum { AT, KIND, QUEUE, KEEP, FIELDS };
  static const fs_field fields[FIELDS] = {
      {"at", true}, {"kind", true}, {"queue", false}, {"keep", false}};
  uint32_t value[FIELDS], counts;
  *r = (fs_stream_stop){.queue = FS_NONE};
  FS_TRY(fs_fields_mapping(&a->f, node, fields, FIELDS, value));
  FS_TRY(fs_fields_u32(&a->f, value[AT], &r->at));
  if (r->at < least || r->at >= n) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_VALUE, value[AT],
                          "a sync is before command %u of the order of issue, of %u%s", r->at, n,
                          least == 0 ? "" : ", or the first");
  }
  FS_TRY(fs_fields_word(&a->f, value[KIND], FS_WORDS(fs_words_stop), &counts));
  if ((value[QUEUE] != FS_NONE) != counts || (value[KEEP] != FS_NONE) != counts) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_KEY, node,
                          counts ? "a sync that counts has a queue and what it keeps"
                                 : "a full sync has no queue and keeps nothing");
  }
  FS_TRY(counts ? counted(a, value[QUEUE], value[KEEP], r) : FSCHED_OK);
  if (counts && least > 0 && r->keep >= issued_before(a, r->queue, r->at)) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_VALUE, value[KEEP],
                          "a sync keeps %u commands of its queue, where %u are issued before it",
                          r->keep, issued_before(a, r->queue, r->at));
  }
  return FSCHED_OK;
}

fs_status fs_asm_loop_stops(fs_asm *a, uint32_t list, uint32_t n, uint32_t *n_stops) {
  assert(list < a->f.doc->n_nodes);
  uint32_t node;
  fs_stream_stop r;
  FS_TRY(fs_fields_sequence(&a->f, list, &node, n_stops));
  for (; node != FS_NONE; node = fs_fields_next(&a->f, node)) {
    FS_TRY(stop(a, node, 0, n, &r));
    FS_TRY(fs_asm_push(a, loop_stops, r));
  }
  return FSCHED_OK;
}

fs_status fs_asm_stops(fs_asm *a, uint32_t list) {
  uint32_t node;
  fs_stream_stop r;
  FS_TRY(fs_fields_sequence(&a->f, list, &node, NULL));
  for (; node != FS_NONE; node = fs_fields_next(&a->f, node)) {
    FS_TRY(stop(a, node, 1, (uint32_t)a->commands.n, &r));
    FS_TRY(fs_asm_push(a, stops, r));
  }
  return FSCHED_OK;
}
