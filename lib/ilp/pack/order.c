/* SPDX-License-Identifier: Apache-2.0 */
/* Orders of two spans.
 *
 * For spans a and b, the statement "a has ended when b begins" is known from windows or from
 * precedence, or a binary t decides it, which is 0 where the statement has to hold: end(a) <=
 * begin(b) + W t.  Several constraints need the same order: two scratch rectangles in different
 * memories, a resource and a queue.  One binary per pair of moments serves them all, so that the
 * solver decides an order once.
 *
 * The statement is false where an item that begins b precedes an item that ends a, or is one
 * itself: an op that reads a and writes b uses both places, even if it has no length.
 *
 * A hash table with open addressing finds the binaries; nothing depends on its order. */
#include "ilp/pack/private.h"

enum { FIRST_SLOTS = 256 };
/* Kinds of keys, in their upper bits; ids are below 2^31. */
#define APART ((uint64_t)1 << 63)
#define LATE ((uint64_t)1 << 62)
#define EARLIER (APART | LATE)

static size_t probe(const fs_pack_model *t, uint64_t key) {
  assert(t->n_slots > 0 && t->n_used < t->n_slots);
  uint64_t hash = key * 0x9e3779b97f4a7c15u;
  size_t at = (size_t)(hash >> 20) & (t->n_slots - 1);
  while (t->slot[at] != 0 && t->slot[at] != key) {
    at = (at + 1) & (t->n_slots - 1);
  }
  return at;
}

static fs_status grow(fs_pack_model *t) {
  fs_pack_model old = *t;
  t->n_slots = old.n_slots == 0 ? FIRST_SLOTS : 2 * old.n_slots;
  t->slot = fs_realloc(t->ctx, NULL, 0, t->n_slots * sizeof *t->slot);
  t->slot_var = fs_realloc(t->ctx, NULL, 0, t->n_slots * sizeof *t->slot_var);
  fs_status status = t->slot == NULL || t->slot_var == NULL ? FSCHED_SYSTEM : FSCHED_OK;
  if (status == FSCHED_OK) {
    memset(t->slot, 0, t->n_slots * sizeof *t->slot);
  }
  for (size_t i = 0; status == FSCHED_OK && i < old.n_slots; i++) {
    if (old.slot[i] != 0) {
      size_t at = probe(t, old.slot[i]);
      t->slot[at] = old.slot[i];
      t->slot_var[at] = old.slot_var[i];
    }
  }
  fs_pack_order_free(&old);
  return status;
}

void fs_pack_order_free(fs_pack_model *t) {
  (void)fs_realloc(t->ctx, t->slot, t->n_slots * sizeof *t->slot, 0);
  (void)fs_realloc(t->ctx, t->slot_var, t->n_slots * sizeof *t->slot_var, 0);
  t->slot = NULL;
  t->slot_var = NULL;
}

/* Finds the slot *at of a key; *fresh says that the key is not in the table yet. */
static fs_status find_key(fs_pack_model *t, uint64_t key, size_t *at, bool *fresh) {
  if (2 * (t->n_used + 1) > t->n_slots) {
    FS_TRY(grow(t));
  }
  *at = probe(t, key);
  *fresh = t->slot[*at] == 0;
  return FSCHED_OK;
}

static void enter_key(fs_pack_model *t, uint64_t key, size_t at, uint32_t var) {
  t->slot[at] = key;
  t->slot_var[at] = var;
  t->n_used++;
}

/* Does precedence put every end of a before every begin of b? */
static bool precedes(const fs_pack_model *t, uint32_t a, uint32_t b) {
  uint32_t n_ends, n_begins;
  const uint32_t *end = fs_pack_ends(t, a, &n_ends), *begin = fs_pack_begins(t, b, &n_begins);
  if (n_ends == 0 || n_begins == 0 || (a >= t->p->n_items && t->p->res_to_end[a - t->p->n_items])) {
    return false;
  }
  for (uint32_t i = 0; i < n_ends; i++) {
    for (uint32_t k = 0; k < n_begins; k++) {
      if (!fs_pack_reaches(t, end[i], begin[k])) {
        return false;
      }
    }
  }
  return true;
}

/* Does an item that begins b precede an item that ends a, or is it the same item? */
static bool meets(const fs_pack_model *t, uint32_t a, uint32_t b) {
  uint32_t n_ends, n_begins;
  const uint32_t *end = fs_pack_ends(t, a, &n_ends), *begin = fs_pack_begins(t, b, &n_begins);
  for (uint32_t i = 0; i < n_ends; i++) {
    for (uint32_t k = 0; k < n_begins; k++) {
      if (begin[k] == end[i] || fs_pack_reaches(t, begin[k], end[i])) {
        return true;
      }
    }
  }
  return false;
}

static fs_status open_order(fs_pack_model *t, const fs_pack_span *a, const fs_pack_span *b,
                            fs_pack_order *out) {
  uint64_t key = ((uint64_t)(a->end_ref + 1) << 32) | b->begin_ref;
  size_t at;
  bool fresh;
  FS_TRY(find_key(t, key, &at, &fresh));
  if (fresh) {
    fs_pack_def def = {.kind = FS_PACK_AFTER,
                       .x = a->end.var,
                       .y = b->begin.var,
                       .other = FS_NONE,
                       .add = a->end.add - b->begin.add};
    uint32_t var;
    FS_TRY(fs_pack_binary(t, def, &var, "t", a->end_ref, b->begin_ref));
    enter_key(t, key, at, var);
    FS_TRY(fs_pack_row_before(t, a->end, 0, b->begin, var, "before", a->end_ref, b->begin_ref));
  }
  *out = (fs_pack_order){FS_PACK_OPEN, t->slot_var[at]};
  return FSCHED_OK;
}

fs_pack_truth fs_pack_left_truth(const fs_pack_model *t, uint32_t a, uint32_t b) {
  assert(a < t->n_spans && b < t->n_spans);
  const fs_pack_span *x = &t->span[a], *y = &t->span[b];
  if (fs_pack_same_var(x->end, y->begin)) {
    return x->end.add <= y->begin.add && !meets(t, a, b) ? FS_PACK_YES : FS_PACK_NO;
  }
  return x->end.high <= y->begin.low || precedes(t, a, b) ? FS_PACK_YES
         : x->end.low > y->begin.high || meets(t, a, b)   ? FS_PACK_NO
                                                          : FS_PACK_OPEN;
}

fs_status fs_pack_left(fs_pack_model *t, uint32_t a, uint32_t b, fs_pack_order *out) {
  assert(a < t->n_spans && b < t->n_spans);
  *out = (fs_pack_order){fs_pack_left_truth(t, a, b), FS_NONE};
  return out->truth == FS_PACK_OPEN ? open_order(t, &t->span[a], &t->span[b], out) : FSCHED_OK;
}

/* Does precedence put some begin of b at least `gap` ticks before every begin of a? */
static bool begins_before(const fs_pack_model *t, uint32_t b, uint32_t a, int64_t gap) {
  uint32_t n, n_later;
  const uint32_t *first = fs_pack_begins(t, b, &n), *later = fs_pack_begins(t, a, &n_later);
  for (uint32_t i = 0; i < n; i++) {
    bool all = n_later > 0 && (int64_t)t->p->time[first[i]] >= gap;
    for (uint32_t k = 0; k < n_later && all; k++) {
      all = fs_pack_reaches(t, first[i], later[k]);
    }
    if (all) {
      return true;
    }
  }
  return false;
}

fs_pack_truth fs_pack_late_truth(const fs_pack_model *t, uint32_t i, uint32_t j, int64_t gap) {
  assert(i < t->n_spans && j < t->n_spans);
  fs_pack_expr x = t->span[j].begin, y = t->span[i].begin;
  bool same = t->span[i].begin_ref == t->span[j].begin_ref;
  if (!same && fs_pack_same_var(x, y)) {
    return x.add + gap <= y.add ? FS_PACK_YES : FS_PACK_NO;
  }
  return x.high + gap <= y.low || begins_before(t, j, i, gap) || (same && gap == 0) ? FS_PACK_YES
         : x.low + gap > y.high || begins_before(t, i, j, 1 - gap) || same          ? FS_PACK_NO
                                                                                    : FS_PACK_OPEN;
}

fs_status fs_pack_late(fs_pack_model *t, uint32_t i, uint32_t j, int64_t gap, fs_pack_order ended,
                       fs_pack_order *out) {
  assert(i < t->n_spans && j < t->n_spans);
  *out = (fs_pack_order){fs_pack_late_truth(t, i, j, gap), FS_NONE};
  if (out->truth != FS_PACK_OPEN) {
    return FSCHED_OK;
  }
  fs_pack_expr x = t->span[j].begin, y = t->span[i].begin;
  uint64_t key = LATE | (gap == 0 ? EARLIER : 0) | (uint64_t)i << 31 | j;
  size_t at;
  bool fresh;
  FS_TRY(find_key(t, key, &at, &fresh));
  if (fresh) {
    fs_pack_def def = {.kind = FS_PACK_AFTER,
                       .x = x.var,
                       .y = y.var,
                       .other = ended.truth == FS_PACK_OPEN ? ended.var : FS_NONE,
                       .add = x.add + gap - y.add};
    const char *name = gap == 0 ? "later" : "late";
    uint32_t var;
    FS_TRY(fs_pack_binary(t, def, &var, name, i, j));
    enter_key(t, key, at, var);
    FS_TRY(fs_pack_row_before(t, x, gap, y, var, gap == 0 ? "begun" : "began", i, j));
    FS_TRY(fs_model_begin_row(&t->model, 1, FS_MODEL_INF, "%s_once_%u_%u", name, i, j));
    FS_TRY(fs_pack_add_not(t, ended, 1));
    FS_TRY(fs_model_add_term(&t->model, var, 1));
    FS_TRY(fs_model_end_row(&t->model));
  }
  out->var = t->slot_var[at];
  return FSCHED_OK;
}

fs_status fs_pack_add_not(fs_pack_model *t, fs_pack_order o, int64_t coef) {
  assert(t->model.open);
  if (o.truth == FS_PACK_OPEN) {
    return fs_model_add_term(&t->model, o.var, coef);
  }
  fs_model_add_known(&t->model, o.truth == FS_PACK_NO ? coef : 0);
  return FSCHED_OK;
}

fs_status fs_pack_apart(fs_pack_model *t, uint32_t a, uint32_t b) {
  assert(a != b && a < t->n_spans && b < t->n_spans);
  uint64_t key = APART | ((uint64_t)(a < b ? a : b) << 32) | (a < b ? b : a);
  size_t at;
  bool fresh;
  fs_pack_order left, right;
  FS_TRY(find_key(t, key, &at, &fresh));
  if (!fresh) {
    return FSCHED_OK;
  }
  enter_key(t, key, at, FS_NONE);
  FS_TRY(fs_pack_left(t, a, b, &left));
  FS_TRY(fs_pack_left(t, b, a, &right));
  if (left.truth == FS_PACK_YES || right.truth == FS_PACK_YES) {
    return FSCHED_OK;
  }
  FS_TRY(fs_model_begin_row(&t->model, -FS_MODEL_INF, 1, "apart_%u_%u", a, b));
  FS_TRY(fs_pack_add_not(t, left, 1));
  FS_TRY(fs_pack_add_not(t, right, 1));
  return fs_model_end_row(&t->model);
}
