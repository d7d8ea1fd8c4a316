/* SPDX-License-Identifier: Apache-2.0 */
/* A run of a loop in a loop is one instance of the outer one's op: what is over before it is over
 * before all that is in it.  So two instances are in the order of those instances of the innermost
 * loop around both that they are, or are in.  Where runs of a loop are joined that is not so, and
 * all that happens is followed (event_judge.h). */
#include "verify/rolled/nest_judge.h"

#include <stdlib.h>

#include "kit/issue_judge.h"
#include "model/stream/views.h"
#include "verify/loop/brute.h"
#include "verify/rolled/event_judge.h"
#include "verify/rolled/judge.h"

enum { LOOPS = 16, INSTANCES = 1 << 14, TOUCHES = 1 << 19, ROOT = 0 };

/* The op of a body in one of its iterations, and those around it that this is in. */
typedef struct nest_instance {
  uint32_t loop[FS_LOOP_NEST], member[FS_LOOP_NEST]; /* the outermost first */
  uint64_t trip[FS_LOOP_NEST];
  uint32_t depth;
} nest_instance;

typedef enum nest_touch_kind { TOUCH_BYTES, TOUCH_SCRATCH, TOUCH_UNITS } nest_touch_kind;

typedef struct nest_touch {
  nest_touch_kind kind;
  uint32_t index; /* of the memory or resource */
  uint64_t low, length;
  uint32_t instance;
  bool writes;
} nest_touch;

typedef struct nest_judge {
  const fs_stream *s;
  bool *before[LOOPS]; /* per loop */
  nest_instance *instance;
  nest_touch *touch;
  uint32_t n_instances, n_touches;
  bool joined; /* runs of a loop are: then there are events in place of `before` */
  fs_event_judge events;
} nest_judge;

static const fs_stream_loop *loop_of(const nest_judge *j, const nest_instance *x, uint32_t d) {
  return &j->s->loops[x->loop[d]];
}

static bool is_over(const nest_judge *j, const nest_instance *x, const nest_instance *y,
                    uint32_t d) {
  const fs_stream_loop *l = loop_of(j, x, d);
  size_t n = l->trip, all = l->n_ops * n;
  return j
      ->before[x->loop[d]][(x->member[d] * n + x->trip[d]) * all + y->member[d] * n + y->trip[d]];
}

/* Whether one of them is over before the other starts, in every run. */
static bool are_ordered(const nest_judge *j, const nest_instance *x, const nest_instance *y) {
  uint32_t d = 0;
  if (j->joined) {
    uint32_t a = (uint32_t)(x - j->instance), b = (uint32_t)(y - j->instance);
    return fs_event_judge_before(&j->events, a, b) || fs_event_judge_before(&j->events, b, a);
  }
  while (d + 1 < x->depth && d + 1 < y->depth && x->member[d] == y->member[d] &&
         x->trip[d] == y->trip[d]) {
    d++;
  }
  return is_over(j, x, y, d) || is_over(j, y, x, d);
}

/* --- what an instance touches --- */

static const fs_stream_loop_command *command_of(const nest_judge *j, const nest_instance *x,
                                                uint32_t d) {
  const fs_stream_loop *l = loop_of(j, x, d);
  const fs_stream_loop_command *m = &j->s->loop_commands[j->s->loop_queues[l->queue0].command0];
  while (m->op != l->op0 + x->member[d] || m->copy != x->trip[d] % l->copies) {
    m++;
  }
  return m;
}

/* How far the bytes of an arg are from where they are in iteration 0 of all loops, and how many
 * there are. */
static uint64_t way_of(const nest_judge *j, const nest_instance *x, uint32_t arg,
                       uint64_t *length) {
  uint64_t way = 0, offset = j->s->loop_args[arg].offset, limit = FS_NONE;
  for (uint32_t d = x->depth; d-- > 0;) {
    const fs_stream_loop_arg *a = &j->s->loop_args[arg];
    if (a->ring == FS_NONE) {
      uint64_t by = (uint64_t)a->step * x->trip[d];
      way += by;
      offset += limit == FS_NONE ? by : 0;
    } else {
      const fs_stream_ring *r = &j->s->rings[a->ring];
      const fs_stream_loop *l = loop_of(j, x, d);
      uint64_t f = x->trip[d] + (l->joined != 0 ? x->trip[d - 1] * l->trip : 0);
      uint64_t version = f < a->back ? r->depth - 1 : f - a->back;
      way += version % r->depth * r->slot;
      limit = limit == FS_NONE ? r->size : limit;
    }
    if (d == 0) {
      limit = limit == FS_NONE ? j->s->buffers[a->buffer].size : limit;
    }
    arg = a->own;
  }
  *length = offset >= limit ? 0 : fs_min(*length, limit - offset);
  return way;
}

/* The unit of a resource that is number `unit` of those in places; NO_UNIT: they have fewer. */
#define NO_UNIT UINT64_MAX
static uint64_t unit_in(const fs_stream_place *p, uint32_t n, uint32_t resource, uint64_t unit) {
  for (uint32_t i = 0; i < n; i++) {
    if (fs_space_of_resource(p[i].space) && p[i].index == resource) {
      if (unit < p[i].size) {
        return p[i].address + unit;
      }
      unit -= p[i].size;
    }
  }
  return NO_UNIT;
}

static const fs_stream_command *root_command(const nest_judge *j, const nest_instance *x) {
  const fs_stream_command *c = j->s->commands;
  while (fs_command_op(c) != loop_of(j, x, ROOT)->op) {
    c++;
  }
  return c;
}

/* The unit of the outermost loop's op that an instance's own unit is: an op in a loop numbers those
 * that the loop's op has. */
static uint64_t outermost_unit(const nest_judge *j, const nest_instance *x, uint32_t resource,
                               uint64_t unit) {
  for (uint32_t d = x->depth - 1; d-- > 0 && unit != NO_UNIT;) {
    const fs_stream_loop_command *m = command_of(j, x, d);
    unit = unit_in(&j->s->loop_places[m->place0], m->n_places, resource, unit);
  }
  const fs_stream_command *c = root_command(j, x);
  bool has = unit_in(&j->s->places[c->place0], c->n_places, resource, unit) != NO_UNIT;
  return has ? unit : NO_UNIT;
}

static bool is_within_own(const nest_judge *j, const nest_instance *x, const nest_touch *t) {
  const fs_stream_command *c = root_command(j, x);
  bool within = t->length == 0;
  for (uint32_t i = c->place0; i < c->place0 + c->n_places; i++) {
    const fs_stream_place *p = &j->s->places[i];
    bool kind = p->space == FS_SPACE_MEMORY && p->index == t->index &&
                (p->version == FS_NONE) == (t->kind == TOUCH_SCRATCH) &&
                (!t->writes || t->kind == TOUCH_SCRATCH || (p->mode & FS_MODE_W) != 0);
    within = within || (kind && p->address <= t->low && t->low - p->address <= p->size &&
                        t->length <= p->size - (t->low - p->address));
  }
  return within;
}

static void add_touch(nest_judge *j, nest_touch t) {
  assert(j->n_touches < TOUCHES);
  j->touch[j->n_touches++] = t;
}

/* Of a strided view, each element is touched by itself. */
static void add_elements(nest_judge *j, const fs_stream_view *v, nest_touch t) {
  uint64_t at[FSCHED_MAX_DIMS] = {0}, low = t.low;
  bool more = true;
  for (uint32_t d = 0; d < v->n_dims; d++) {
    more = more && v->shape[d] > 0;
  }
  while (more) {
    t.low = low;
    t.length = v->element;
    for (uint32_t d = 0; d < v->n_dims; d++) {
      t.low += at[d] * v->stride[d];
    }
    add_touch(j, t);
    uint32_t d = v->n_dims;
    while (d > 0 && ++at[d - 1] == v->shape[d - 1]) {
      at[--d] = 0;
    }
    more = d > 0;
  }
}

static const char *list_units(nest_judge *j, const nest_instance *x, const fs_stream_place *p) {
  for (uint64_t k = 0; k < p->size; k++) {
    uint64_t unit = outermost_unit(j, x, p->index, p->address + k);
    if (unit == NO_UNIT) {
      return "the units that its op has";
    }
    add_touch(j, (nest_touch){TOUCH_UNITS, p->index, unit, 1, (uint32_t)(x - j->instance), true});
  }
  return NULL;
}

static const char *list_place(nest_judge *j, const nest_instance *x, const fs_stream_place *p) {
  nest_touch t = {.kind = TOUCH_SCRATCH, .index = p->index, .low = p->address, .length = p->size};
  t.writes = true;
  if (fs_space_of_resource(p->space)) {
    return list_units(j, x, p);
  }
  if (p->version != FS_NONE) {
    if (!fs_tag_accesses(j->s->loop_args[p->arg].tag)) {
      return NULL;
    }
    t.kind = TOUCH_BYTES;
    t.writes = fs_tag_writes(j->s->loop_args[p->arg].tag);
    t.low += way_of(j, x, p->arg, &t.length);
  }
  t.instance = (uint32_t)(x - j->instance);
  if (!is_within_own(j, x, &t)) {
    return "what its op has";
  }
  const fs_stream_view *v =
      t.kind == TOUCH_BYTES && j->s->n_loop_views > 0 ? fs_stream_loop_view_of(j->s, p->arg) : NULL;
  if (v != NULL) {
    add_elements(j, v, t);
  } else {
    add_touch(j, t);
  }
  return NULL;
}

static const char *list_instance(nest_judge *j, const nest_instance *x) {
  const fs_stream_loop_command *m = command_of(j, x, x->depth - 1);
  const char *what = NULL;
  for (uint32_t i = m->place0; i < m->place0 + m->n_places && what == NULL; i++) {
    what = list_place(j, x, &j->s->loop_places[i]);
  }
  return what;
}

/* Lists the instances of a loop, in program order. */
static const char *list_loop(nest_judge *j, uint32_t loop, nest_instance at) {
  const fs_stream_loop *l = &j->s->loops[loop];
  const char *what = NULL;
  uint32_t d = at.depth++;
  at.loop[d] = loop;
  for (at.trip[d] = 0; at.trip[d] < l->trip && what == NULL; at.trip[d]++) {
    for (uint32_t m = 0; m < l->n_ops && what == NULL; m++) {
      uint32_t inner = j->s->loop_ops[l->op0 + m].loop;
      at.member[d] = m;
      if (inner != FS_NONE) {
        what = list_loop(j, inner, at);
        continue;
      }
      assert(j->n_instances < INSTANCES);
      j->instance[j->n_instances] = at;
      what = list_instance(j, &j->instance[j->n_instances++]);
    }
  }
  return what;
}

/* --- what is wrong --- */

static int by_place(const void *a, const void *b) {
  const nest_touch *x = a, *y = b;
  if (x->kind != y->kind) {
    return x->kind < y->kind ? -1 : 1;
  }
  if (x->index != y->index) {
    return x->index < y->index ? -1 : 1;
  }
  if (x->low != y->low) {
    return x->low < y->low ? -1 : 1;
  }
  return x->instance < y->instance ? -1 : x->instance > y->instance;
}

static const char *compare_touches(const nest_judge *j) {
  static const char *const what[] = {"an order", "scratch at once", "units at once"};
  qsort(j->touch, j->n_touches, sizeof *j->touch, by_place);
  for (uint32_t i = 0; i < j->n_touches; i++) {
    const nest_touch *x = &j->touch[i];
    for (uint32_t k = i + 1; k < j->n_touches; k++) {
      const nest_touch *y = &j->touch[k];
      if (y->kind != x->kind || y->index != x->index || y->low >= x->low + x->length) {
        break;
      }
      if ((x->writes || y->writes) && y->length > 0 && x->instance != y->instance &&
          !are_ordered(j, &j->instance[x->instance], &j->instance[y->instance])) {
        return what[x->kind];
      }
    }
  }
  return NULL;
}

static const char *compare_afters(const nest_judge *j, uint32_t loop) {
  const fs_stream_loop *l = &j->s->loops[loop];
  size_t n = l->trip, all = l->n_ops * n;
  for (uint32_t op = 0; op < l->n_ops; op++) {
    const fs_stream_loop_op *o = &j->s->loop_ops[l->op0 + op];
    for (uint32_t i = o->after0; i < o->after0 + o->n_afters; i++) {
      const fs_stream_loop_after *a = &j->s->loop_afters[i];
      for (size_t trip = a->distance; trip < n; trip++) {
        size_t first = (a->op - l->op0) * n + trip - a->distance;
        if (!j->before[loop][first * all + op * n + trip]) {
          return "an 'after'";
        }
      }
    }
  }
  return NULL;
}

/* Follows all that happens in an outermost loop. */
static const char *judge_events(nest_judge *j, uint32_t loop) {
  fs_event_judge_make(j->s, loop, &j->events);
  const char *what = j->events.stuck ? "a deadlock" : compare_touches(j);
  fs_event_judge_free(&j->events);
  return what;
}

static const char *judge(nest_judge *j) {
  const char *what = NULL;
  for (uint32_t l = 0; l < j->s->n_loops; l++) {
    j->joined = j->joined || j->s->loops[l].joined != 0;
  }
  for (uint32_t l = 0; l < j->s->n_loops && what == NULL && !j->joined; l++) {
    j->before[l] = fs_judge_before(j->s, &j->s->loops[l]);
    what = j->before[l] == NULL ? "a deadlock" : compare_afters(j, l);
  }
  for (uint32_t l = 0; l < j->s->n_loops && what == NULL; l++) {
    if (j->s->loops[l].within == FS_NONE) {
      j->n_instances = j->n_touches = 0;
      what = list_loop(j, l, (nest_instance){.depth = 0});
      what = what != NULL ? what : j->joined ? judge_events(j, l) : compare_touches(j);
    }
  }
  return what;
}

const char *fs_judge_nests(const fs_stream *s) {
  assert(s->n_loops <= LOOPS);
  if (fs_sync_has_stops(s->meta->sync) && !fs_issue_stream_is_right(s)) {
    return "a wait that no sync keeps";
  }
  nest_judge j = {.s = s};
  j.instance = malloc(INSTANCES * sizeof *j.instance);
  j.touch = malloc(TOUCHES * sizeof *j.touch);
  assert(j.instance != NULL && j.touch != NULL);
  const char *what = judge(&j);
  for (uint32_t l = 0; l < s->n_loops; l++) {
    free(j.before[l]);
  }
  free(j.instance);
  free(j.touch);
  return what;
}
