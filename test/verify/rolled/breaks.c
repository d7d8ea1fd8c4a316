/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/rolled/breaks.h"

#include "kit/mutate/mutate_private.h"

#define LOOP(m) REC(m, loops, fs_stream_loop)
#define LOOP_OP(m) REC(m, loop_ops, fs_stream_loop_op)
#define LOOP_ARG(m) REC(m, loop_args, fs_stream_loop_arg)
#define LOOP_COMMAND(m) REC(m, loop_commands, fs_stream_loop_command)
#define LOOP_WAIT(m) REC(m, loop_waits, fs_stream_loop_wait)
#define LOOP_PLACE(m) REC(m, loop_places, fs_stream_place)
#define LOOP_AFTER(m) REC(m, loop_afters, fs_stream_loop_after)
#define LOOP_STOP(m) REC(m, loop_stops, fs_stream_stop)
#define RING(m) REC(m, rings, fs_stream_ring)

const char *fs_break_name(fs_loop_break b) {
  static const char *const name[] = {
#define FS_BREAK_NAME_(id, text) text,
      FS_LOOP_BREAKS(FS_BREAK_NAME_)
#undef FS_BREAK_NAME_
  };
  return name[b];
}

/* One of the loops. */
static fs_stream_loop *any_loop(mutant *m) { return &LOOP(m)[pick(m, m->s->n_loops)]; }

static bool either(mutant *m) { return fs_rng_one_in(m->rng, 2); }

/* Moves a number by one; false where that would leave the numbers. */
static bool nudge(mutant *m, uint32_t *value) {
  bool up = *value == 0 || either(m);
  *value += up ? 1u : UINT32_MAX;
  return true;
}

static bool move(mutant *m, uint64_t *value) {
  static const uint64_t way[] = {1, 4, 8, 16, 64, 100};
  uint64_t by = way[pick(m, sizeof way / sizeof *way)];
  *value = *value >= by && either(m) ? *value - by : *value + by;
  return true;
}

void fs_break_wait(fsched_program *copy, uint32_t wait) {
  mutant m = {&copy->view, NULL};
  assert(wait < copy->view.n_loop_waits);
  memmove(LOOP_WAIT(&m) + wait, LOOP_WAIT(&m) + wait + 1,
          (copy->view.n_loop_waits - wait - 1) * sizeof *copy->view.loop_waits);
  copy->view.n_loop_waits--;
  for (uint32_t c = 0; c < copy->view.n_loop_commands; c++) {
    fs_stream_loop_command *k = &LOOP_COMMAND(&m)[c];
    bool has = k->wait0 <= wait && wait - k->wait0 < k->n_waits;
    k->n_waits -= has;
    k->wait0 -= k->wait0 > wait;
  }
}

/* --- commands --- */

static bool break_wait(mutant *m, fs_loop_break b) {
  if (m->s->n_loop_waits == 0) {
    return false;
  }
  fs_stream_loop_wait *w = &LOOP_WAIT(m)[pick(m, m->s->n_loop_waits)];
  if (b == FS_BREAK_TARGET) {
    w->command = pick(m, m->s->n_loop_commands);
    return true;
  }
  uint32_t by = either(m) ? 1 : any_loop(m)->copies;
  w->distance = w->distance >= by && either(m) ? w->distance - by : w->distance + by;
  return true;
}

static bool swap_commands(mutant *m) {
  const fs_stream_loop_queue *q = &m->s->loop_queues[pick(m, m->s->n_loop_queues)];
  if (q->n_commands < 2) {
    return false;
  }
  fs_stream_loop_command *a = &LOOP_COMMAND(m)[q->command0 + pick(m, q->n_commands - 1)];
  fs_stream_loop_command swap = a[0];
  a[0] = a[1];
  a[1] = swap;
  return true;
}

static bool break_command(mutant *m, fs_loop_break b) {
  fs_stream_loop_command *c = &LOOP_COMMAND(m)[pick(m, m->s->n_loop_commands)];
  switch (b) {
    case FS_BREAK_SHIFT:
      return nudge(m, &c->shift);
    case FS_BREAK_COPY:
      c->copy = pick(m, any_loop(m)->copies + 1);
      return true;
    case FS_BREAK_SIGNAL:
      c->signal ^= 1;
      return true;
    default:
      return swap_commands(m);
  }
}

static bool break_place(mutant *m, fs_loop_break b) {
  fs_stream_place *p = &LOOP_PLACE(m)[pick(m, m->s->n_loop_places)];
  return move(m, b == FS_BREAK_ADDRESS ? &p->address : &p->size);
}

/* --- what is described --- */

static bool break_trip(mutant *m) {
  fs_stream_loop *l = any_loop(m);
  l->trip = l->trip > 1 && either(m) ? l->trip - 1 : l->trip + 1;
  l->least = l->most = l->trip;
  return true;
}

static bool break_ring(mutant *m, fs_loop_break b) {
  if (m->s->n_rings == 0) {
    return false;
  }
  const fs_stream_loop *l = any_loop(m);
  fs_stream_ring *r = &RING(m)[pick(m, m->s->n_rings)];
  uint32_t arg0 = l->within == FS_NONE ? m->s->ops[l->op].arg0 : m->s->loop_ops[l->op].arg0;
  uint32_t n = l->within == FS_NONE ? m->s->ops[l->op].n_args : m->s->loop_ops[l->op].n_args;
  switch (b) {
    case FS_BREAK_DEPTH:
      return nudge(m, &r->depth);
    case FS_BREAK_SLOT:
      return move(m, &r->slot);
    case FS_BREAK_RING_SIZE:
      return move(m, &r->size);
    case FS_BREAK_ENTRY:
      r->entry ^= 1;
      return true;
    case FS_BREAK_WRITER:
      r->writer = pick(m, m->s->n_loop_ops);
      return true;
    default:
      r->arg = arg0 + pick(m, n);
      return true;
  }
}

static bool break_arg(mutant *m, fs_loop_break b) {
  static const int64_t step[] = {0, 8, 16, 100, 200, -50, -16};
  fs_stream_loop_arg *a = &LOOP_ARG(m)[pick(m, m->s->n_loop_args)];
  if (a->buffer == FS_NONE) {
    return false;
  }
  switch (b) {
    case FS_BREAK_OFFSET:
      return move(m, &a->offset);
    case FS_BREAK_LENGTH:
      return move(m, &a->length);
    case FS_BREAK_STEP:
      a->step = step[pick(m, sizeof step / sizeof *step)];
      return a->ring == FS_NONE;
    case FS_BREAK_BACK:
      return a->ring != FS_NONE && nudge(m, &a->back);
    case FS_BREAK_TAG:
      a->tag = pick(m, FSCHED_OUT_EXISTING + 2u);
      return true;
    default:
      a->ring = pick(m, m->s->n_rings + 1) - 1;
      return m->s->n_rings > 0;
  }
}

static bool break_after(mutant *m) {
  if (m->s->n_loop_afters == 0) {
    return false;
  }
  fs_stream_loop_after *a = &LOOP_AFTER(m)[pick(m, m->s->n_loop_afters)];
  if (either(m)) {
    a->op = pick(m, m->s->n_loop_ops);
    return true;
  }
  return nudge(m, &a->distance);
}

static bool break_op(mutant *m, fs_loop_break b) {
  fs_stream_loop_op *o = &LOOP_OP(m)[pick(m, m->s->n_loop_ops)];
  if (b == FS_BREAK_LATENCY) {
    o->latency = o->latency > o->time ? o->time : o->time + 3;
    return true;
  }
  if (m->s->n_loop_ops < 2) {
    return false;
  }
  const fs_stream_loop *l = any_loop(m);
  if (l->n_ops < 2) {
    return false;
  }
  uint32_t op = l->op0 + pick(m, l->n_ops - 1);
  o = &LOOP_OP(m)[op];
  fs_stream_loop_op swap = o[0];
  o[0] = o[1];
  o[1] = swap;
  for (uint32_t c = 0; c < m->s->n_loop_commands; c++) {
    uint32_t *of = &LOOP_COMMAND(m)[c].op;
    *of = *of == op ? op + 1 : *of == op + 1 ? op : *of;
  }
  for (uint32_t k = 0; k < m->s->n_rings; k++) {
    uint32_t *of = &RING(m)[k].writer;
    *of = *of == op ? op + 1 : *of == op + 1 ? op : *of;
  }
  for (uint32_t k = 0; k < m->s->n_loops; k++) {
    uint32_t *of = &LOOP(m)[k].op;
    bool inner = m->s->loops[k].within != FS_NONE;
    *of = inner && *of == op ? op + 1 : inner && *of == op + 1 ? op : *of;
  }
  return true;
}

/* --- the loop's own op --- */

/* Changes the places of the loop's arg, too. */
static void follow_own(mutant *m, uint32_t arg, uint64_t forth) {
  fs_stream_place *p = REC(m, places, fs_stream_place);
  for (uint32_t i = 0; i < m->s->n_places; i++) {
    if (p[i].arg == arg && p[i].space == FS_SPACE_MEMORY && p[i].version != FS_NONE) {
      p[i].size = m->s->args[arg].length;
      p[i].address += forth;
      p[i].mode = fs_tag_mode(m->s->args[arg].tag);
    }
  }
}

static bool break_own(mutant *m, fs_loop_break b) {
  const fs_stream_loop *l = any_loop(m);
  while (l->within != FS_NONE) {
    l = &m->s->loops[l->within];
  }
  const fs_stream_op *own = &m->s->ops[l->op];
  if (b == FS_BREAK_OWN_UNITS) {
    return own->n_uses > 0 &&
           move(m, &REC(m, uses, fs_stream_use)[own->use0 + pick(m, own->n_uses)].amount);
  }
  uint32_t arg = own->arg0 + pick(m, own->n_args);
  fs_stream_arg *a = &REC(m, args, fs_stream_arg)[arg];
  uint64_t forth = 0;
  if (b == FS_BREAK_OWN_TAG) {
    a->tag = pick(m, FSCHED_OUT_EXISTING + 2u);
  } else if (a->length > 16) {
    forth = either(m) ? 8 : 0;
    a->offset += forth;
    a->length -= 8;
  }
  follow_own(m, arg, forth);
  return true;
}

/* --- syncs --- */

static bool break_stop(mutant *m, fs_loop_break b) {
  uint32_t n = m->s->n_loop_stops;
  if (n == 0) {
    return false;
  }
  uint32_t which = pick(m, n);
  fs_stream_stop *stop = &LOOP_STOP(m)[which];
  switch (b) {
    case FS_BREAK_DROP_STOP:
      memmove(stop, stop + 1, (n - which - 1) * sizeof *stop);
      m->s->n_loop_stops--;
      for (uint32_t k = 0; k < m->s->n_loops; k++) {
        fs_stream_loop *l = &LOOP(m)[k];
        l->n_stops -= which >= l->stop0 && which - l->stop0 < l->n_stops;
        l->stop0 -= l->stop0 > which;
      }
      return true;
    case FS_BREAK_STOP_PLACE:
      stop->at = pick(m, m->s->n_loop_commands);
      return true;
    case FS_BREAK_STOP_QUEUE:
      stop->queue = pick(m, m->s->n_queues);
      return true;
    default:
      return stop->queue != FS_NONE && nudge(m, &stop->keep);
  }
}

static bool swap_places(mutant *m) {
  uint32_t a = pick(m, m->s->n_loop_commands), b = pick(m, m->s->n_loop_commands);
  uint32_t issue = LOOP_COMMAND(m)[a].issue;
  LOOP_COMMAND(m)[a].issue = LOOP_COMMAND(m)[b].issue;
  LOOP_COMMAND(m)[b].issue = issue;
  return a != b && fs_sync_has_stops(m->s->meta->sync);
}

bool fs_break_loop(fsched_program *copy, fs_loop_break b, fs_rng *rng) {
  mutant m = {&copy->view, rng};
  assert(copy->view.n_loops > 0);
  switch (b) {
    case FS_BREAK_DROP_WAIT:
      if (m.s->n_loop_waits > 0) {
        fs_break_wait(copy, pick(&m, m.s->n_loop_waits));
        return true;
      }
      return false;
    case FS_BREAK_DISTANCE:
    case FS_BREAK_TARGET:
      return break_wait(&m, b);
    case FS_BREAK_SHIFT:
    case FS_BREAK_COPY:
    case FS_BREAK_COMMANDS:
    case FS_BREAK_SIGNAL:
      return break_command(&m, b);
    case FS_BREAK_COPIES:
      return nudge(&m, &any_loop(&m)->copies);
    case FS_BREAK_TRIP:
      return break_trip(&m);
    case FS_BREAK_DEPTH:
    case FS_BREAK_SLOT:
    case FS_BREAK_RING_SIZE:
    case FS_BREAK_ENTRY:
    case FS_BREAK_WRITER:
    case FS_BREAK_RING_ARG:
      return break_ring(&m, b);
    case FS_BREAK_OFFSET:
    case FS_BREAK_LENGTH:
    case FS_BREAK_STEP:
    case FS_BREAK_BACK:
    case FS_BREAK_TAG:
    case FS_BREAK_ARG_RING:
      return break_arg(&m, b);
    case FS_BREAK_ADDRESS:
    case FS_BREAK_SIZE:
      return break_place(&m, b);
    case FS_BREAK_AFTER:
      return break_after(&m);
    case FS_BREAK_LATENCY:
    case FS_BREAK_OPS:
      return break_op(&m, b);
    case FS_BREAK_OWN_TAG:
    case FS_BREAK_OWN_RANGE:
    case FS_BREAK_OWN_UNITS:
      return break_own(&m, b);
    case FS_BREAK_DROP_STOP:
    case FS_BREAK_STOP_PLACE:
    case FS_BREAK_STOP_QUEUE:
    case FS_BREAK_KEEP:
      return break_stop(&m, b);
    case FS_BREAK_ISSUE:
      return swap_places(&m);
    case FS_BREAK_COUNT:
      break;
  }
  return false;
}

/* --- repair --- */

/* The place of the arg that a body's arg lies in, and where its bytes are behind that one's. */
static const fs_stream_place *own_place(const fs_stream *s, const fs_stream_loop_arg *a,
                                        uint64_t *behind) {
  bool inner = false;
  for (uint32_t k = 0; k < s->n_loops; k++) {
    const fs_stream_loop_op *o = &s->loop_ops[s->loops[k].op0];
    uint32_t arg = (uint32_t)(a - s->loop_args), n = s->loops[k].n_ops;
    bool has = arg >= o->arg0 && arg < o[n - 1].arg0 + o[n - 1].n_args;
    inner = inner || (has && s->loops[k].within != FS_NONE);
  }
  uint32_t own = a->ring < s->n_rings ? s->rings[a->ring].arg : a->own;
  const fs_stream_place *p = inner ? s->loop_places : s->places;
  const fs_stream_place *end = p + (inner ? s->n_loop_places : s->n_places);
  while (p < end && (p->arg != own || p->space != FS_SPACE_MEMORY || p->version == FS_NONE)) {
    p++;
  }
  if (p == end || own >= (inner ? s->n_loop_args : s->n_args)) {
    return NULL;
  }
  uint64_t at = inner ? s->loop_args[own].offset : s->args[own].offset;
  *behind = a->offset - (a->ring < s->n_rings ? 0 : at);
  return p;
}

void fs_break_repair(fsched_program *copy) {
  mutant m = {&copy->view, NULL};
  const fs_stream *s = &copy->view;
  for (uint32_t i = 0; i < s->n_loop_places; i++) { /* those of loops around come first */
    fs_stream_place *p = &LOOP_PLACE(&m)[i];
    uint64_t behind;
    if (p->arg >= s->n_loop_args) {
      continue;
    }
    const fs_stream_loop_arg *a = &s->loop_args[p->arg];
    const fs_stream_place *own = own_place(s, a, &behind);
    if (own != NULL) {
      *p = (fs_stream_place){own->address + behind, a->length, own->index,
                             own->version,          p->arg,    FS_SPACE_MEMORY,
                             fs_tag_mode(a->tag),   {0, 0}};
    }
  }
  for (uint32_t c = 0; c < s->n_loop_commands; c++) {
    LOOP_COMMAND(&m)[c].signal = 0;
  }
  for (uint32_t w = 0; w < s->n_loop_waits; w++) {
    LOOP_COMMAND(&m)[s->loop_waits[w].command].signal = 1;
  }
}
