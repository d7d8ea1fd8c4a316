/* SPDX-License-Identifier: Apache-2.0 */
/* What items occupy: classes of queues, and amounts.
 *
 * All queues start in one class; each set of queues that some item runs on (a domain or a gang)
 * splits the classes into the queues in the set and the others.  A class on whose queues no item
 * runs is left out.  With a wait each queue that some item runs on is a class of its own.
 *
 *      domain {q0 q1 q2}, gang {q2 q3}  ->  {q0 q1} {q2} {q3} */
#include "problem/private.h"

typedef struct split {
  fs_problem_draft *d;
  const fs_target *t;
  uint32_t *class_of; /* per queue */
  uint32_t *renamed;  /* per class: its part that is in the present set, or FS_NONE */
  uint8_t *used;      /* per queue: 1 if some set has it */
  uint8_t *domain;    /* per domain: 1 if some item may run on it */
  uint32_t n_classes;
  FS_VEC(uint32_t) touched; /* classes that have an entry in `renamed` */
} split;

static fs_status split_by(split *s, const uint32_t *queue, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    uint32_t old = s->class_of[queue[i]];
    if (s->renamed[old] == FS_NONE) {
      s->renamed[old] = s->n_classes++;
      FS_TRY(fs_vec_push(s->d->ctx, &s->touched, old));
    }
    s->class_of[queue[i]] = s->renamed[old];
    s->used[queue[i]] = 1;
  }
  for (size_t i = 0; i < s->touched.n; i++) {
    s->renamed[s->touched.at[i]] = FS_NONE;
  }
  s->touched.n = 0;
  return FSCHED_OK;
}

static void find_domains(split *s) {
  const fsched_graph *g = s->d->g;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    if (g->op_domain[op] != FS_NONE) {
      s->domain[g->op_domain[op]] = 1;
    }
  }
  for (uint32_t c = 0; c < s->d->p->n_copies; c++) {
    s->domain[fs_version_home(g, s->d->p->copy_version[c])->spill_domain] = 1;
  }
}

/* Puts each queue that is in some set into a class of its own. */
static fs_status split_single(split *s) {
  for (uint32_t q = 0; q < s->t->n_queues; q++) {
    if (s->used[q]) {
      FS_TRY(split_by(s, &q, 1));
    }
  }
  return FSCHED_OK;
}

static fs_status split_all(split *s) {
  const fsched_graph *g = s->d->g;
  const fs_target *t = s->t;
  for (uint32_t k = 0; k < t->n_domains; k++) {
    if (s->domain[k]) {
      FS_TRY(split_by(s, t->domain_queue + t->domain_queue0[k],
                      t->domain_queue0[k + 1] - t->domain_queue0[k]));
    }
  }
  for (uint32_t k = 0; k < g->n_gangs; k++) {
    FS_TRY(
        split_by(s, g->gang_queue + g->gang_queue0[k], g->gang_queue0[k + 1] - g->gang_queue0[k]));
  }
  return s->d->p->wait == 0 ? FSCHED_OK : split_single(s);
}

/* Numbers the classes by their first queue, and lists their queues. */
static fs_status list_classes(split *s) {
  fs_problem *p = s->d->p;
  uint32_t *fill;
  for (uint32_t q = 0; q < s->t->n_queues; q++) {
    if (s->used[q] && s->renamed[s->class_of[q]] == FS_NONE) {
      s->renamed[s->class_of[q]] = p->n_classes++;
    }
  }
  FS_TRY(fs_new_zero(&p->arena, &p->class_size, p->n_classes));
  FS_TRY(fs_new_zero(&p->arena, &p->class_queue0, (size_t)p->n_classes + 1));
  FS_TRY(fs_new(&p->arena, &p->class_queue, s->t->n_queues));
  FS_TRY(fs_new_zero(&s->d->scratch, &fill, p->n_classes));
  for (uint32_t q = 0; q < s->t->n_queues; q++) {
    s->class_of[q] = s->used[q] ? s->renamed[s->class_of[q]] : FS_NONE;
    if (s->used[q]) {
      p->class_size[s->class_of[q]]++;
    }
  }
  for (uint32_t k = 0; k < p->n_classes; k++) {
    p->class_queue0[k + 1] = p->class_queue0[k] + p->class_size[k];
  }
  for (uint32_t q = 0; q < s->t->n_queues; q++) {
    uint32_t k = s->class_of[q];
    if (k != FS_NONE) {
      p->class_queue[p->class_queue0[k] + fill[k]++] = q;
    }
  }
  return FSCHED_OK;
}

/* The queues that an item may run on, or that its gang takes. */
static const uint32_t *queues_of(const split *s, uint32_t item, uint32_t *n) {
  const fsched_graph *g = s->d->g;
  uint32_t gang = item < g->n_ops ? g->op_gang[item] : FS_NONE, domain;
  if (gang != FS_NONE) {
    *n = g->gang_queue0[gang + 1] - g->gang_queue0[gang];
    return g->gang_queue + g->gang_queue0[gang];
  }
  domain = item < g->n_ops
               ? g->op_domain[item]
               : fs_version_home(g, s->d->p->copy_version[item - g->n_ops])->spill_domain;
  *n = s->t->domain_queue0[domain + 1] - s->t->domain_queue0[domain];
  return s->t->domain_queue + s->t->domain_queue0[domain];
}

static fs_status fill_choices(split *s, fs_ids *list) {
  const fsched_graph *g = s->d->g;
  fs_problem *p = s->d->p;
  uint32_t *seen;
  FS_TRY(fs_new_none(&s->d->scratch, &seen, p->n_classes));
  for (uint32_t i = 0; i < p->n_items; i++) {
    uint32_t n;
    const uint32_t *queue = queues_of(s, i, &n);
    p->choice0[i] = (uint32_t)list->n;
    p->gang[i] = i < g->n_ops && g->op_gang[i] != FS_NONE;
    for (uint32_t k = 0; k < n; k++) {
      uint32_t class = s->class_of[queue[k]];
      if (seen[class] != i) {
        seen[class] = i;
        FS_TRY(fs_vec_push(p->ctx, list, class));
      }
    }
  }
  p->choice0[p->n_items] = (uint32_t)list->n;
  FS_TRY(fs_new(&p->arena, &p->choice, list->n));
  if (list->n > 0) {
    memcpy(p->choice, list->at, list->n * sizeof *p->choice);
  }
  return FSCHED_OK;
}

static fs_status list_choices(split *s) {
  fs_ids list = {0};
  fs_status status = fill_choices(s, &list);
  fs_vec_free(s->d->p->ctx, &list);
  return status;
}

static fs_status implicit_class(fs_problem *p, const fs_target *t) {
  p->n_classes = 1;
  FS_TRY(fs_new(&p->arena, &p->class_size, 1));
  FS_TRY(fs_new_zero(&p->arena, &p->class_queue0, 2));
  FS_TRY(fs_new(&p->arena, &p->class_queue, 0));
  FS_TRY(fs_new_zero(&p->arena, &p->choice, p->n_items));
  uint64_t most = t->concurrency == 0 ? p->n_items : t->concurrency;
  p->class_size[0] = (uint32_t)fs_max(1, fs_min(most, fs_max(1, p->n_items)));
  for (uint32_t i = 0; i <= p->n_items; i++) {
    p->choice0[i] = i;
  }
  return FSCHED_OK;
}

static fs_status find_classes(fs_problem_draft *d) {
  const fs_target *t = &d->g->target;
  fs_problem *p = d->p;
  split s = {.d = d, .t = t, .n_classes = 1};
  FS_TRY(fs_new(&p->arena, &p->choice0, (size_t)p->n_items + 1));
  FS_TRY(fs_new_zero(&p->arena, &p->gang, p->n_items));
  if (t->implicit_queues) {
    return implicit_class(p, t);
  }
  /* Each member adds at most one class, and so does each queue that gets one of its own. */
  uint32_t most = t->domain_queue0[t->n_domains] + 1 + t->n_queues;
  if (d->g->n_gangs > 0) {
    most += d->g->gang_queue0[d->g->n_gangs];
  }
  FS_TRY(fs_new_zero(&d->scratch, &s.class_of, t->n_queues));
  FS_TRY(fs_new_none(&d->scratch, &s.renamed, most));
  FS_TRY(fs_new_zero(&d->scratch, &s.used, t->n_queues));
  FS_TRY(fs_new_zero(&d->scratch, &s.domain, t->n_domains));
  find_domains(&s);
  fs_status status = split_all(&s);
  fs_vec_free(d->ctx, &s.touched);
  FS_TRY(status);
  FS_TRY(list_classes(&s));
  return list_choices(&s);
}

static fs_status find_amounts(fs_problem_draft *d) {
  const fsched_graph *g = d->g;
  const fs_target *t = &g->target;
  fs_problem *p = d->p;
  bool limited = t->concurrency > 0;
  p->n_amounts = t->n_resources + limited;
  FS_TRY(fs_new(&p->arena, &p->amount_capacity, p->n_amounts));
  FS_TRY(fs_new(&p->arena, &p->amount_name, p->n_amounts));
  for (uint32_t r = 0; r < t->n_resources; r++) {
    p->amount_capacity[r] = t->resource_capacity[r];
    p->amount_name[r] = t->resource_name[r];
  }
  if (limited) {
    p->amount_capacity[t->n_resources] = t->concurrency;
    p->amount_name[t->n_resources] = "concurrency";
  }
  size_t most = (size_t)g->op_use0[g->n_ops] + (limited ? g->n_ops : 0);
  uint32_t n = 0;
  FS_TRY(fs_new(&p->arena, &p->use0, (size_t)p->n_items + 1));
  FS_TRY(fs_new(&p->arena, &p->use, most));
  FS_TRY(fs_new(&p->arena, &p->use_amount, most));
  for (uint32_t i = 0; i < p->n_items; i++) {
    p->use0[i] = n;
    for (uint32_t u = i < g->n_ops ? g->op_use0[i] : 0; i < g->n_ops && u < g->op_use0[i + 1];
         u++) {
      p->use[n] = g->use_resource[u];
      p->use_amount[n++] = g->use_amount[u];
    }
    if (limited && i < g->n_ops) {
      p->use[n] = t->n_resources;
      p->use_amount[n++] = 1;
    }
  }
  p->use0[p->n_items] = n;
  return FSCHED_OK;
}

fs_status fs_problem_occupation(fs_problem_draft *d) {
  FS_TRY(find_classes(d));
  return find_amounts(d);
}
