/* SPDX-License-Identifier: Apache-2.0 */
/* An item that may run on some queues of a set alone takes one of the set; a gang takes as many as
 * it has there, and one that may choose as many as it cannot find elsewhere.  No more than all of
 * the set can be taken at one time.
 *
 *      on {q0 q1}, on {q1 q2}, on q2   ->   classes {q0 q1}, {q1 q2}, {q2}
 *                                           amounts {q1 q2}: of the last two; {q0 q1 q2}: of all
 *
 * Of its class a gang that chooses takes one queue, like an op; what it takes beside that only the
 * amounts tell. */
#include "problem/private.h"
#include "problem/stated/stated.h"

enum { MOST_CLASSES = 256 };

typedef struct set_finder {
  fs_problem *p;
  const fsched_graph *g;
  fs_arena scratch;
  uint32_t *class_of; /* per item */
  uint32_t *members;  /* per class: how many of its queues an item takes */
  uint32_t n_classes;
  uint8_t *mark; /* per queue: it is in the set */
  FS_VEC(uint32_t) queue0, queue;
  FS_VEC(uint64_t) capacity;
  FS_VEC(uint32_t) take; /* per set and class: how much */
} set_finder;

/* ---- classes */

static const uint32_t *queues_of(const set_finder *s, uint32_t class, uint32_t *n) {
  const fs_target *t = &s->g->target;
  bool gang = class >= t->n_domains;
  uint32_t k = gang ? class - t->n_domains : class;
  const uint32_t *first = gang ? s->g->gang_queue0 : t->domain_queue0;
  *n = first[k + 1] - first[k];
  return (gang ? s->g->gang_queue : t->domain_queue) + first[k];
}

/* The domain of an item, or behind the domains its gang. */
static uint32_t owner_of(const set_finder *s, uint32_t item) {
  const fsched_graph *g = s->g;
  if (item >= g->n_ops) {
    return fs_version_home(g, s->p->copy_version[item - g->n_ops])->spill_domain;
  }
  bool gang = g->op_gang[item] != FS_NONE;
  return gang ? g->target.n_domains + g->op_gang[item] : g->op_domain[item];
}

/* Numbers the domains and gangs that items have. */
static fs_status find_classes(set_finder *s) {
  const fsched_graph *g = s->g;
  fs_problem *p = s->p;
  uint32_t most = g->target.n_domains + g->n_gangs, *number, *old, n_queues = 0;
  FS_TRY(fs_new_none(&s->scratch, &number, most));
  FS_TRY(fs_new(&s->scratch, &old, most));
  FS_TRY(fs_new(&s->scratch, &s->class_of, p->n_items));
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint32_t k = owner_of(s, i), n;
    if (number[k] == FS_NONE) {
      number[k] = s->n_classes;
      old[s->n_classes++] = k;
      (void)queues_of(s, k, &n);
      n_queues += n;
    }
    s->class_of[i] = number[k];
  }
  FS_TRY(fs_new_zero(&p->arena, &p->class_size, s->n_classes));
  FS_TRY(fs_new_zero(&p->arena, &p->class_queue0, (size_t)s->n_classes + 1));
  FS_TRY(fs_new(&p->arena, &p->class_queue, n_queues));
  FS_TRY(fs_new(&s->scratch, &s->members, s->n_classes));
  for (uint32_t k = 0; k < s->n_classes; k++) {
    const uint32_t *queue = queues_of(s, old[k], &p->class_size[k]);
    bool gang = old[k] >= g->target.n_domains;
    s->members[k] = gang ? g->gang_members[old[k] - g->target.n_domains] : 1;
    p->class_queue0[k + 1] = p->class_queue0[k] + p->class_size[k];
    memcpy(p->class_queue + p->class_queue0[k], queue, p->class_size[k] * sizeof *queue);
  }
  return FSCHED_OK;
}

/* Does a gang of the class take more than one of its queues, and not all of them? */
static bool chooses(const set_finder *s, uint32_t class) {
  return s->members[class] > 1 && s->members[class] < s->p->class_size[class];
}

/* Each item has its class as its only choice. */
static fs_status take_classes(set_finder *s) {
  fs_problem *p = s->p;
  p->n_classes = s->n_classes;
  FS_TRY(fs_new(&p->arena, &p->choice, p->n_items));
  for (uint32_t i = 0; i < p->n_items; i++) {
    p->choice0[i] = i;
    p->choice[i] = s->class_of[i];
    p->gang[i] = p->gang[i] && s->members[s->class_of[i]] == p->class_size[s->class_of[i]];
  }
  p->choice0[p->n_items] = p->n_items;
  return FSCHED_OK;
}

/* ---- sets */

static uint32_t marked_of(const set_finder *s, uint32_t class) {
  uint32_t n = 0;
  for (uint32_t i = s->p->class_queue0[class]; i < s->p->class_queue0[class + 1]; i++) {
    n += s->mark[s->p->class_queue[i]];
  }
  return n;
}

/* How many of the marked queues an item of the class takes at least. */
static uint32_t least_taken(const set_finder *s, uint32_t class) {
  uint32_t others = s->p->class_size[class] - marked_of(s, class);
  return s->members[class] > others ? s->members[class] - others : 0;
}

/* Adds the set of the queues that are marked, if its classes do not tell all that is taken of it:
 * more than one class takes some of it, or one of which gangs choose. */
static fs_status add_set(set_finder *s) {
  size_t queues = s->queue.n;
  bool told = true;
  uint32_t takers = 0;
  for (uint32_t k = 0; k < s->n_classes; k++) {
    uint32_t take = least_taken(s, k);
    takers += take > 0;
    told = told && !(take > 0 && chooses(s, k));
    FS_TRY(fs_vec_push(s->p->ctx, &s->take, take));
  }
  if (takers < 2 && told) {
    s->take.n -= s->n_classes;
    return FSCHED_OK;
  }
  FS_TRY(fs_vec_push(s->p->ctx, &s->queue0, (uint32_t)queues));
  for (uint32_t q = 0; q < s->g->target.n_queues; q++) {
    if (s->mark[q]) {
      FS_TRY(fs_vec_push(s->p->ctx, &s->queue, q));
    }
  }
  return fs_vec_push(s->p->ctx, &s->capacity, s->queue.n - queues);
}

static bool mark_class(set_finder *s, uint32_t class) {
  bool more = false;
  for (uint32_t i = s->p->class_queue0[class]; i < s->p->class_queue0[class + 1]; i++) {
    more = more || !s->mark[s->p->class_queue[i]];
    s->mark[s->p->class_queue[i]] = 1;
  }
  return more;
}

/* Marks all queues that hang together with those of a class; returns the least of its classes, and
 * whether no class of it has all of them. */
static uint32_t mark_component(set_finder *s, uint32_t class, bool *larger) {
  uint32_t least = class;
  *larger = false;
  (void)mark_class(s, class);
  for (bool more = true; more;) {
    more = false;
    for (uint32_t k = 0; k < s->n_classes; k++) {
      if (marked_of(s, k) > 0) {
        least = least < k ? least : k;
        more = mark_class(s, k) || more;
      }
    }
  }
  uint32_t n = 0;
  for (uint32_t q = 0; q < s->g->target.n_queues; q++) {
    n += s->mark[q];
  }
  *larger = true;
  for (uint32_t k = 0; k < s->n_classes; k++) {
    *larger = *larger && (marked_of(s, k) == 0 || s->p->class_size[k] < n);
  }
  return least;
}

static void clear_marks(set_finder *s) {
  if (s->g->target.n_queues > 0) {
    memset(s->mark, 0, s->g->target.n_queues * sizeof *s->mark);
  }
}

static fs_status find_sets(set_finder *s) {
  FS_TRY(fs_new_zero(&s->scratch, &s->mark, s->g->target.n_queues));
  for (uint32_t k = 0; k < s->n_classes && s->n_classes <= MOST_CLASSES; k++) {
    bool larger;
    (void)mark_class(s, k);
    FS_TRY(add_set(s));
    uint32_t least = mark_component(s, k, &larger);
    if (least == k && larger) {
      FS_TRY(add_set(s));
    }
    clear_marks(s);
  }
  return fs_vec_push(s->p->ctx, &s->queue0, (uint32_t)s->queue.n);
}

/* ---- the sets as amounts, behind those of the graph */

static fs_status list_amounts(set_finder *s) {
  fs_problem *p = s->p;
  uint32_t before = p->n_amounts, n = (uint32_t)s->capacity.n;
  const uint64_t *capacity = p->amount_capacity;
  const char **name = p->amount_name;
  p->n_amounts += n;
  FS_TRY(fs_new(&p->arena, &p->amount_capacity, p->n_amounts));
  FS_TRY(fs_new(&p->arena, &p->amount_name, p->n_amounts));
  FS_TRY(fs_new_zero(&p->arena, &p->amount_queue0, (size_t)p->n_amounts + 1));
  FS_TRY(fs_new(&p->arena, &p->amount_queue, s->queue.n));
  for (uint32_t i = 0; i < p->n_amounts; i++) {
    p->amount_capacity[i] = i < before ? capacity[i] : s->capacity.at[i - before];
    p->amount_name[i] = i < before ? name[i] : "queues";
    p->amount_queue0[i + 1] = i < before ? 0 : s->queue0.at[i - before + 1];
  }
  if (s->queue.n > 0) {
    memcpy(p->amount_queue, s->queue.at, s->queue.n * sizeof *p->amount_queue);
  }
  return FSCHED_OK;
}

static fs_status take_sets(set_finder *s) {
  fs_problem *p = s->p;
  uint32_t before = p->n_amounts, n_sets = (uint32_t)s->capacity.n, n = 0;
  const uint32_t *use0 = p->use0, *use = p->use;
  const uint64_t *amount = p->use_amount;
  size_t most = p->use0[p->n_items] + (size_t)p->n_items * n_sets;
  FS_TRY(list_amounts(s));
  FS_TRY(fs_new(&p->arena, &p->use0, (size_t)p->n_items + 1));
  FS_TRY(fs_new(&p->arena, &p->use, most));
  FS_TRY(fs_new(&p->arena, &p->use_amount, most));
  for (uint32_t i = 0; i < p->n_items; i++) {
    p->use0[i] = n;
    for (uint32_t u = use0[i]; u < use0[i + 1]; u++) {
      p->use[n] = use[u];
      p->use_amount[n++] = amount[u];
    }
    for (uint32_t k = 0; k < n_sets; k++) {
      uint32_t take = s->take.at[(size_t)k * s->n_classes + s->class_of[i]];
      p->use[n] = before + k;
      p->use_amount[n] = take;
      n += take > 0;
    }
  }
  p->use0[p->n_items] = n;
  return FSCHED_OK;
}

/* Does some item choose among queues that are not alike, or some gang among queues? */
static bool is_unlike(const fs_problem *p) {
  bool unlike = p->graph->gangs_open;
  for (uint32_t i = 0; i < p->n_items; i++) {
    unlike = unlike || (!p->gang[i] && p->choice0[i + 1] - p->choice0[i] != 1);
  }
  return unlike;
}

static fs_status replace_choices(set_finder *s) {
  FS_TRY(find_classes(s));
  FS_TRY(take_classes(s));
  FS_TRY(find_sets(s));
  return take_sets(s);
}

fs_status fs_problem_take_sets(fs_problem *p) {
  assert(p->topo != NULL || p->n_items == 0);
  if (!is_unlike(p)) {
    return FSCHED_OK;
  }
  set_finder s = {.p = p, .g = p->graph};
  fs_arena_init(&s.scratch, p->ctx);
  fs_status status = replace_choices(&s);
  fs_vec_free(p->ctx, &s.queue0);
  fs_vec_free(p->ctx, &s.queue);
  fs_vec_free(p->ctx, &s.capacity);
  fs_vec_free(p->ctx, &s.take);
  fs_arena_release(&s.scratch);
  return status;
}
