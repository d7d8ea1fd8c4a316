/* SPDX-License-Identifier: Apache-2.0 */
#include "search/generation/form.h"

#include "base/saturate.h"

enum { WORD = 64, MOST_BITS = 40 };

/* A class of queues or an amount. */
typedef struct form_field {
  uint64_t capacity, divisor; /* what is free at first, in units of the divisor */
  uint32_t word, shift;       /* where it lies; word FS_NONE: it can never be short */
} form_field;

typedef struct form_maker {
  const fs_problem *p;
  fs_arena *arena;
  fs_packed_form *f;
  form_field *field; /* classes, then amounts */
  uint32_t n_fields;
} form_maker;

static uint64_t class_need(const fs_problem *p, uint32_t item, uint32_t class) {
  return p->gang[item] ? p->class_size[class] : 1;
}

/* Adds what all items could take of each field at once, and the divisor of what they take. */
static void sum_needs(form_maker *m, uint64_t *sum) {
  const fs_problem *p = m->p;
  for (uint32_t i = 0; i < p->n_items; i++) {
    for (uint32_t c = p->choice0[i]; c < p->choice0[i + 1]; c++) {
      uint64_t need = class_need(p, i, p->choice[c]);
      sum[p->choice[c]] = fs_add_most(sum[p->choice[c]], need);
      m->field[p->choice[c]].divisor = fs_common_divisor(need, m->field[p->choice[c]].divisor);
    }
    for (uint32_t u = p->use0[i]; u < p->use0[i + 1]; u++) {
      uint32_t k = p->n_classes + p->use[u];
      sum[k] = fs_add_most(sum[k], p->use_amount[u]);
      m->field[k].divisor = fs_common_divisor(p->use_amount[u], m->field[k].divisor);
    }
  }
}

static uint32_t bits_of(uint64_t x) { return x == 0 ? 1 : WORD - (uint32_t)__builtin_clzll(x); }

/* Gives each field that can be short its place: in the first word that has room. */
static fs_status place_fields(form_maker *m) {
  uint64_t *sum;
  uint32_t *used;
  FS_TRY(fs_new_zero(m->arena, &sum, m->n_fields));
  FS_TRY(fs_new_zero(m->arena, &used, m->n_fields));
  sum_needs(m, sum);
  for (uint32_t k = 0; k < m->n_fields; k++) {
    form_field *f = &m->field[k];
    f->word = FS_NONE;
    if (sum[k] <= f->capacity) {
      continue;
    }
    f->divisor = fs_max(f->divisor, 1);
    uint64_t most = f->capacity / f->divisor;
    while (bits_of(most) > MOST_BITS) {
      f->divisor = f->divisor > UINT64_MAX / 2 ? UINT64_MAX : f->divisor * 2;
      most = f->capacity / f->divisor;
    }
    f->capacity = most;
    uint32_t width = bits_of(most) + 1, word = 0;
    while (used[word] + width > WORD) {
      word++;
    }
    f->word = word;
    f->shift = used[word];
    used[word] += width;
    m->f->words = fs_max(m->f->words, word + 1);
  }
  return FSCHED_OK;
}

static fs_status fill_capacity(form_maker *m) {
  fs_packed_form *f = m->f;
  FS_TRY(fs_new_zero(m->arena, &f->capacity, f->words));
  FS_TRY(fs_new_zero(m->arena, &f->guard, f->words));
  for (uint32_t k = 0; k < m->n_fields; k++) {
    const form_field *d = &m->field[k];
    if (d->word != FS_NONE) {
      uint64_t guard = UINT64_C(1) << (d->shift + bits_of(d->capacity));
      f->guard[d->word] |= guard;
      f->capacity[d->word] |= guard | d->capacity << d->shift;
    }
  }
  return FSCHED_OK;
}

static void add_need(const form_maker *m, uint32_t k, uint64_t amount, uint64_t *need) {
  const form_field *d = &m->field[k];
  if (d->word != FS_NONE) {
    uint64_t units = amount / d->divisor + (amount % d->divisor != 0);
    need[d->word] += fs_min(units, d->capacity) << d->shift;
  }
}

static void fill_amounts(const form_maker *m, uint32_t item, uint64_t *need) {
  const fs_problem *p = m->p;
  for (uint32_t u = p->use0[item]; u < p->use0[item + 1]; u++) {
    add_need(m, p->n_classes + p->use[u], p->use_amount[u], need);
  }
}

static fs_status fill_ways(form_maker *m) {
  const fs_problem *p = m->p;
  fs_packed_form *f = m->f;
  uint32_t most = p->choice0[p->n_items] + p->n_items, n = 0;
  FS_TRY(fs_new(m->arena, &f->way0, (size_t)p->n_items + 1));
  FS_TRY(fs_new(m->arena, &f->way_class, most));
  FS_TRY(fs_new_zero(m->arena, &f->need, (size_t)most * f->words));
  for (uint32_t i = 0; i < p->n_items; i++) {
    f->way0[i] = n;
    bool gang = p->gang[i];
    for (uint32_t c = p->choice0[i]; c < p->choice0[i + 1]; c++) {
      bool begins = !gang || c == p->choice0[i];
      n += begins;
      uint64_t *need = f->need + (size_t)(n - 1) * f->words;
      f->way_class[n - 1] = gang ? FS_NONE : p->choice[c];
      add_need(m, p->choice[c], class_need(p, i, p->choice[c]), need);
      if (begins) {
        fill_amounts(m, i, need);
      }
    }
  }
  f->way0[p->n_items] = n;
  return FSCHED_OK;
}

fs_status fs_form_make(const fs_problem *p, fs_arena *arena, fs_packed_form *out) {
  assert(p->topo != NULL || p->n_items == 0);
  *out = (fs_packed_form){.p = p, .n = p->n_items, .words = 1};
  form_maker m = {.p = p, .arena = arena, .f = out, .n_fields = p->n_classes + p->n_amounts};
  FS_TRY(fs_new_zero(arena, &m.field, m.n_fields));
  for (uint32_t k = 0; k < m.n_fields; k++) {
    m.field[k].capacity =
        k < p->n_classes ? p->class_size[k] : p->amount_capacity[k - p->n_classes];
  }
  FS_TRY(place_fields(&m));
  FS_TRY(fill_capacity(&m));
  return fill_ways(&m);
}
