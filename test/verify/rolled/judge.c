/* SPDX-License-Identifier: Apache-2.0 */
/* Every byte of a memory says which content it has, and who wrote that.  The loop is walked in one
 * order in which it may run, and what its instances find is compared with what they should.  Which
 * instances run after which in every run tells whether all runs do the same: accesses to one
 * content come in program order, and those to versions of a ring in order of these. */
#include "verify/rolled/judge.h"

#include <stdlib.h>

#include "kit/issue_judge.h"
#include "verify/loop/brute.h"

enum {
  BYTES = 1 << 17,
  MEMORIES = 2,
  CONTENTS = 128,
  LENGTH = 1 << 12,
  ACCESSES = 4096,
  INSTANCES = 120
};
enum { NOTHING, ON_ENTRY, FIRST_STAMP };

typedef struct judged_access {
  uint32_t instance; /* in program order: trip * ops + op */
  uint32_t memory, version;
  uint64_t address, length, offset;
  uint32_t content, ring;
  uint8_t mode;
  bool begins, ringed;
} judged_access;

typedef struct byte_content {
  uint32_t content, stamp;
  uint64_t offset;
} byte_content;

typedef struct body_judge {
  const fs_stream *s;
  const fs_stream_loop *l;
  const fs_stream_command *command; /* one of the loop's */
  uint32_t command0, n_commands, n; /* n: trips */
  bool *before;
  bool not_kept; /* a wait by the syncs */
  byte_content byte[MEMORIES][BYTES];
  uint32_t truth[CONTENTS][LENGTH];
  judged_access access[ACCESSES];
  uint32_t n_accesses, first[INSTANCES + 1]; /* per instance */
  judged_access shared[ACCESSES];            /* scratch and, with version 0, units */
  uint32_t n_shared;
} body_judge;

/* --- the loop --- */

enum { COMMANDS = 1 << 10, WAITS = 1 << 14, STOPS = 1 << 10 }; /* many copies take many commands */

typedef struct loop_records {
  fs_rolled_loop r;
  fs_rolled_stop stop[STOPS];
  fs_rolled_command command[COMMANDS];
  fs_rolled_wait wait[WAITS];
  uint32_t queue[8], command0[9];
} loop_records;

static void read_command(const fs_stream *s, const fs_stream_loop *l, uint32_t command,
                         loop_records *x) {
  const fs_stream_loop_command *m = &s->loop_commands[command];
  const fs_stream_loop_op *o = &s->loop_ops[m->op];
  assert(x->r.n_commands < COMMANDS && x->r.n_waits + m->n_waits <= WAITS);
  x->command[x->r.n_commands++] = (fs_rolled_command){.member = m->op - l->op0,
                                                      .copy = m->copy,
                                                      .shift = m->shift,
                                                      .wait0 = x->r.n_waits,
                                                      .n_waits = m->n_waits,
                                                      .issue = m->issue,
                                                      .slow = o->latency > o->time};
  for (uint32_t w = 0; w < m->n_waits; w++) {
    const fs_stream_loop_wait *from = &s->loop_waits[m->wait0 + w];
    x->wait[x->r.n_waits++] =
        (fs_rolled_wait){from->command - s->loop_queues[l->queue0].command0, from->distance};
  }
}

/* Reads a loop, with commands counted from 0. */
static void read_loop(const fs_stream *s, const fs_stream_loop *l, loop_records *x) {
  x->r = (fs_rolled_loop){.copies = l->copies,
                          .guarded = s->meta->sync == FS_SYNC_BARRIER,
                          .queue = x->queue,
                          .command0 = x->command0,
                          .command = x->command,
                          .wait = x->wait,
                          .stop = x->stop};
  x->command0[0] = 0;
  assert(l->n_queues <= 8 && l->n_stops <= STOPS);
  for (; x->r.n_queues < l->n_queues; x->r.n_queues++) {
    const fs_stream_loop_queue *from = &s->loop_queues[l->queue0 + x->r.n_queues];
    x->queue[x->r.n_queues] = from->queue;
    for (uint32_t c = from->command0; c < from->command0 + from->n_commands; c++) {
      read_command(s, l, c, x);
    }
    x->command0[x->r.n_queues + 1] = x->r.n_commands;
  }
  for (; x->r.n_stops < l->n_stops; x->r.n_stops++) {
    const fs_stream_stop *from = &s->loop_stops[l->stop0 + x->r.n_stops];
    x->stop[x->r.n_stops] = (fs_rolled_stop){from->at, from->queue, from->keep};
  }
}

bool *fs_judge_before(const fs_stream *s, const fs_stream_loop *l) {
  static loop_records x;
  read_loop(s, l, &x);
  return fs_loop_brute_before(&x.r, l->n_ops, (uint32_t)l->trip);
}

static bool *find_before(body_judge *j) {
  static loop_records x;
  read_loop(j->s, j->l, &x);
  j->not_kept = fs_sync_has_stops(j->s->meta->sync) && !fs_issue_is_right(&x.r, j->n);
  return fs_judge_before(j->s, j->l);
}

/* Is the one over before the other starts, in every run? */
static bool is_over(const body_judge *j, uint32_t x, uint32_t y) {
  uint32_t ops = j->l->n_ops;
  size_t first = (size_t)(x % ops) * j->n + x / ops, then = (size_t)(y % ops) * j->n + y / ops;
  return j->before[first * ops * j->n + then];
}

/* --- accesses --- */

static const fs_stream_loop_command *command_of(const body_judge *j, uint32_t op, uint32_t trip) {
  const fs_stream_loop_command *m = &j->s->loop_commands[j->command0];
  while (m->op != j->l->op0 + op || m->copy != trip % j->l->copies) {
    m++;
  }
  return m;
}

static uint32_t content_of(const body_judge *j, uint32_t ring, int64_t version) {
  uint32_t content = j->s->n_buffers + (ring - j->l->ring0) * (j->n + 1) + (uint32_t)(version + 1);
  assert(content < CONTENTS);
  return content;
}

static judged_access access_of(const body_judge *j, uint32_t instance, const fs_stream_loop_arg *a,
                               const fs_stream_place *p) {
  uint32_t trip = instance / j->l->n_ops;
  judged_access x = {.instance = instance,
                     .memory = p->index,
                     .version = p->version,
                     .address = p->address,
                     .length = p->size,
                     .offset = a->offset,
                     .content = a->buffer,
                     .ring = a->ring,
                     .mode = fs_tag_mode(a->tag),
                     .begins = fs_tag_begins(a->tag),
                     .ringed = a->ring != FS_NONE};
  if (x.ringed) {
    const fs_stream_ring *r = &j->s->rings[a->ring];
    int64_t version = trip < a->back ? -1 : (int64_t)trip - a->back;
    x.address += r->slot * (uint64_t)((version + r->depth) % r->depth);
    x.content = content_of(j, a->ring, version);
  } else {
    uint64_t way = (uint64_t)(a->step * (int64_t)trip), size = j->s->buffers[a->buffer].size;
    x.address += way;
    x.offset += way;
    x.length = x.offset >= size ? 0 : fs_min(x.length, size - x.offset);
  }
  return x;
}

static const char *list_instance(body_judge *j, uint32_t instance) {
  uint32_t op = instance % j->l->n_ops;
  const fs_stream_loop_command *m = command_of(j, op, instance / j->l->n_ops);
  const fs_stream_loop_op *o = &j->s->loop_ops[m->op];
  uint32_t at = m->place0, end = m->place0 + m->n_places;
  for (uint32_t i = o->arg0; i < o->arg0 + o->n_args; i++) {
    const fs_stream_loop_arg *a = &j->s->loop_args[i];
    if (a->buffer == FS_NONE) {
      continue;
    }
    if (at == end || j->s->loop_places[at].arg != i) {
      return "an arg without a place";
    }
    judged_access x = access_of(j, instance, a, &j->s->loop_places[at++]);
    if (!fs_tag_accesses(a->tag)) {
      continue;
    }
    if (x.memory >= MEMORIES || x.address > BYTES || x.length > BYTES - x.address ||
        x.length > LENGTH || x.offset > LENGTH - x.length) {
      return "a place that is nowhere";
    }
    j->access[j->n_accesses++] = x;
  }
  for (; at < end; at++) {
    const fs_stream_place *p = &j->s->loop_places[at];
    j->shared[j->n_shared++] = (judged_access){.instance = instance,
                                               .memory = p->index,
                                               .version = p->space == FS_SPACE_MEMORY,
                                               .address = p->address,
                                               .length = p->size};
  }
  return NULL;
}

/* --- the loop's own places --- */

static bool is_inside(uint64_t address, uint64_t length, uint64_t from, uint64_t size) {
  return address >= from && address - from <= size && length <= size - (address - from);
}

/* Whether a write lies where the loop's own op writes that buffer. */
static bool is_held(const body_judge *j, const judged_access *x) {
  for (uint32_t i = 0; i < j->command->n_places; i++) {
    const fs_stream_place *p = &j->s->places[j->command->place0 + i];
    if (p->space == FS_SPACE_MEMORY && p->version != FS_NONE && p->version == x->version &&
        p->index == x->memory && (p->mode & FS_MODE_W) &&
        is_inside(x->address, x->length, p->address, p->size)) {
      return true;
    }
  }
  return x->length == 0;
}

static bool is_held_share(const body_judge *j, const judged_access *x) {
  bool bytes = x->version == 1;
  for (uint32_t i = 0; i < j->command->n_places && bytes; i++) {
    const fs_stream_place *p = &j->s->places[j->command->place0 + i];
    if (p->space == FS_SPACE_MEMORY && p->version == FS_NONE && p->index == x->memory &&
        is_inside(x->address, x->length, p->address, p->size)) {
      return true;
    }
  }
  const fs_stream_op *o = &j->s->ops[j->l->op];
  for (uint32_t i = 0; i < o->n_uses && !bytes; i++) {
    const fs_stream_use *u = &j->s->uses[o->use0 + i];
    if (u->resource == x->memory && is_inside(x->address, x->length, 0, u->amount)) {
      return true;
    }
  }
  return false;
}

static bool own_overlap(const body_judge *j) {
  const fs_stream_place *p = &j->s->places[j->command->place0];
  for (uint32_t i = 0; i < j->command->n_places; i++) {
    for (uint32_t k = 0; k < i; k++) {
      bool bytes = p[i].space == FS_SPACE_MEMORY && p[k].space == FS_SPACE_MEMORY &&
                   p[i].index == p[k].index && (p[i].mode | p[k].mode) & FS_MODE_W;
      bool apart = p[i].version == FS_NONE || p[i].version != p[k].version;
      if (bytes && apart && p[i].address < p[k].address + p[k].size &&
          p[k].address < p[i].address + p[i].size) {
        return true;
      }
    }
  }
  return false;
}

/* The ring of a buffer, or FS_NONE. */
static uint32_t ring_of(const body_judge *j, uint32_t buffer) {
  for (uint32_t k = j->l->ring0; k < j->l->ring0 + j->l->n_rings; k++) {
    if (j->s->args[j->s->rings[k].arg].buffer == buffer) {
      return k;
    }
  }
  return FS_NONE;
}

/* What the loop's own arg reads is there on entry: of a ring, in the last slot. */
static void enter_arg(body_judge *j, const fs_stream_place *p) {
  const fs_stream_arg *a = &j->s->args[p->arg];
  uint32_t k = ring_of(j, a->buffer);
  for (uint64_t b = 0; b < p->size; b++) {
    byte_content c = {a->buffer, ON_ENTRY, a->offset + b};
    if (k != FS_NONE) {
      const fs_stream_ring *r = &j->s->rings[k];
      uint64_t last = j->s->args[r->arg].offset + (r->depth - 1) * r->slot;
      bool in = r->entry != 0 && c.offset >= last && c.offset - last < r->size;
      c.content = in ? content_of(j, k, -1) : CONTENTS;
      c.offset -= in ? last : 0;
    }
    if (p->address + b < BYTES && c.content < CONTENTS && c.offset < LENGTH) {
      j->byte[p->index][p->address + b] = c;
      j->truth[c.content][c.offset] = ON_ENTRY;
    }
  }
}

/* --- the run --- */

static bool finds(const body_judge *j, const judged_access *x) {
  for (uint64_t b = 0; b < x->length; b++) {
    const byte_content *c = &j->byte[x->memory][x->address + b];
    uint32_t truth = j->truth[x->content][x->offset + b];
    if (truth == NOTHING || c->stamp != truth || c->content != x->content ||
        c->offset != x->offset + b) {
      return false;
    }
  }
  return true;
}

static void put(body_judge *j, const judged_access *x) {
  uint32_t stamp = FIRST_STAMP + x->instance;
  for (uint64_t b = 0; b < x->length; b++) {
    j->byte[x->memory][x->address + b] = (byte_content){x->content, stamp, x->offset + b};
    j->truth[x->content][x->offset + b] = stamp;
  }
}

static const char *run_instance(body_judge *j, uint32_t instance) {
  for (uint32_t k = j->first[instance]; k < j->first[instance + 1]; k++) {
    if ((j->access[k].mode & FS_MODE_R) && !finds(j, &j->access[k])) {
      return "a value";
    }
  }
  for (uint32_t k = j->first[instance]; k < j->first[instance + 1]; k++) {
    if ((j->access[k].mode & FS_MODE_W) && !is_held(j, &j->access[k])) {
      return "a place that is not the loop's";
    }
    if (j->access[k].mode & FS_MODE_W) {
      put(j, &j->access[k]);
    }
  }
  return NULL;
}

/* Whether all that is over before the instance starts has run. */
static bool can_run(const body_judge *j, const bool *done, uint32_t instance) {
  for (uint32_t x = 0; x < j->n * j->l->n_ops; x++) {
    if (!done[x] && is_over(j, x, instance)) {
      return false;
    }
  }
  return true;
}

static const char *run(body_judge *j) {
  bool done[INSTANCES] = {false};
  const char *what = NULL;
  uint32_t all = j->n * j->l->n_ops;
  for (uint32_t k = 0; k < all && what == NULL; k++) {
    uint32_t next = 0;
    while (done[next] || !can_run(j, done, next)) {
      next++;
    }
    assert(next < all);
    done[next] = true;
    what = run_instance(j, next);
  }
  return what;
}

static bool meet(const judged_access *x, const judged_access *y) {
  return x->memory == y->memory && x->length > 0 && y->length > 0 &&
         x->address < y->address + y->length && y->address < x->address + x->length;
}

/* Whether the order of two accesses of one place is right. */
static bool in_order(const body_judge *j, const judged_access *x, const judged_access *y) {
  if (x->content != y->content && (!x->ringed || !y->ringed || x->ring != y->ring)) {
    return false;
  }
  bool turned = x->content == y->content ? x->instance > y->instance : x->content > y->content;
  return turned ? is_over(j, y->instance, x->instance) : is_over(j, x->instance, y->instance);
}

/* Whether one instance may begin a value where it reads another. */
static bool in_place(const judged_access *in, const judged_access *out) {
  return in->mode == FS_MODE_R && in->ringed && out->ringed && out->begins &&
         in->address == out->address && in->length == out->length && in->offset == 0;
}

static const char *compare_accesses(const body_judge *j) {
  for (uint32_t i = 0; i < j->n_accesses; i++) {
    for (uint32_t k = 0; k < i; k++) {
      const judged_access *x = &j->access[k], *y = &j->access[i];
      if (!meet(x, y) || !((x->mode | y->mode) & FS_MODE_W)) {
        continue;
      }
      bool one = x->instance == y->instance;
      if (one ? x->content != y->content && !in_place(x, y) && !in_place(y, x)
              : !in_order(j, x, y)) {
        return "an order";
      }
    }
  }
  return NULL;
}

static const char *compare_shares(const body_judge *j) {
  for (uint32_t i = 0; i < j->n_shared; i++) {
    const judged_access *x = &j->shared[i];
    if (!is_held_share(j, x)) {
      return "scratch or units that are not the loop's";
    }
    for (uint32_t k = 0; k < i; k++) {
      const judged_access *y = &j->shared[k];
      if (x->version == y->version && meet(x, y) && !is_over(j, x->instance, y->instance) &&
          !is_over(j, y->instance, x->instance)) {
        return "scratch or units at once";
      }
    }
  }
  return NULL;
}

static const char *compare_afters(const body_judge *j) {
  for (uint32_t op = 0; op < j->l->n_ops; op++) {
    const fs_stream_loop_op *o = &j->s->loop_ops[j->l->op0 + op];
    for (uint32_t i = o->after0; i < o->after0 + o->n_afters; i++) {
      const fs_stream_loop_after *a = &j->s->loop_afters[i];
      for (uint32_t trip = a->distance; trip < j->n; trip++) {
        uint32_t first = (trip - a->distance) * j->l->n_ops + a->op - j->l->op0;
        if (!is_over(j, first, trip * j->l->n_ops + op)) {
          return "an 'after'";
        }
      }
    }
  }
  return NULL;
}

/* The last values are there behind the loop. */
static const char *compare_ends(const body_judge *j) {
  for (uint32_t k = j->l->ring0; k < j->l->ring0 + j->l->n_rings; k++) {
    const fs_stream_ring *r = &j->s->rings[k];
    const fs_stream_place *p = &j->s->places[j->command->place0];
    while (p->arg != r->arg || p->version == FS_NONE) {
      p++;
    }
    judged_access x = {.memory = p->index,
                       .address = p->address + r->slot * ((j->n - 1) % r->depth),
                       .length = r->size,
                       .content = content_of(j, k, (int64_t)j->n - 1)};
    if (x.address > BYTES || x.length > BYTES - x.address || !finds(j, &x)) {
      return "a value behind the loop";
    }
  }
  return NULL;
}

static const char *judge(body_judge *j) {
  const char *what = j->before == NULL ? "a deadlock" : own_overlap(j) ? "places of its op" : NULL;
  for (uint32_t i = 0; i < j->command->n_places && what == NULL; i++) {
    const fs_stream_place *p = &j->s->places[j->command->place0 + i];
    if (p->space == FS_SPACE_MEMORY && p->version != FS_NONE && (p->mode & FS_MODE_R)) {
      enter_arg(j, p);
    }
  }
  for (uint32_t i = 0; i < j->n * j->l->n_ops && what == NULL; i++) {
    what = list_instance(j, i);
    j->first[i + 1] = j->n_accesses;
  }
  what = what != NULL ? what : run(j);
  what = what != NULL ? what : compare_accesses(j);
  what = what != NULL ? what : compare_shares(j);
  what = what != NULL ? what : compare_afters(j);
  return what != NULL ? what : compare_ends(j);
}

static const fs_stream_command *first_command(const fs_stream *s, uint32_t op) {
  const fs_stream_command *c = s->commands;
  while (fs_command_op(c) != op) {
    c++;
  }
  return c;
}

const char *fs_judge_loop(const fs_stream *s, const fs_stream_loop *l) {
  assert(l->trip <= 20 && l->n_ops <= FS_BRUTE_MEMBERS && s->n_memories <= MEMORIES);
  const fs_stream_loop_queue *q = &s->loop_queues[l->queue0], *last = &q[l->n_queues - 1];
  body_judge *j = calloc(1, sizeof *j);
  assert(j != NULL);
  j->s = s;
  j->l = l;
  j->n = (uint32_t)l->trip;
  j->command = first_command(s, l->op);
  j->command0 = q->command0;
  j->n_commands = last->command0 + last->n_commands - q->command0;
  j->before = find_before(j);
  const char *what = j->not_kept ? "a wait that no sync keeps" : judge(j);
  free(j->before);
  free(j);
  return what;
}
