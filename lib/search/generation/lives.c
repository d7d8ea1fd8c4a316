/* SPDX-License-Identifier: Apache-2.0 */
#include "search/generation/lives.h"

#include "base/saturate.h"

static uint64_t usable(const fs_problem *p, uint32_t memory) {
  const fs_memory *m = &p->graph->target.memory[memory];
  return m->capacity & ~(m->align - 1);
}

/* Bytes of all residencies in a memory. */
static uint64_t sum_of(const fs_problem *p, uint32_t memory) {
  uint64_t sum = 0;
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    sum = p->res_memory[r] == memory ? fs_add_most(sum, p->res_size[r]) : sum;
  }
  return sum;
}

static bool is_short(const fs_problem *p, uint32_t memory) {
  return fs_memory_bounded(&p->graph->target.memory[memory]) &&
         sum_of(p, memory) > usable(p, memory);
}

bool fs_lives_know(const fs_problem *p) {
  bool any = false, known = p->fixed == NULL && p->wait == 0 && p->n_items > 1;
  for (uint32_t i = 0; i < p->n_items && known; i++) {
    known = p->time[i] > 0; /* where others run, and on bytes of others, is for the heuristic */
  }
  for (uint32_t m = 0; m < p->graph->target.n_memories && known; m++) {
    bool is = is_short(p, m);
    any = any || is;
    known = !is || sum_of(p, m) <= (uint64_t)1 << 62;
  }
  return known && any;
}

/* ---- what does not change */

/* The items that access a residency, each once; marks are of the item. */
static void list_life(fs_lives *l, const fs_problem *p, uint32_t r, uint32_t k, uint32_t *mark,
                      bool fills) {
  const uint32_t *first[] = {p->res_begin + p->res_begin0[r], p->res_end + p->res_end0[r]};
  uint32_t n[] = {p->res_begin0[r + 1] - p->res_begin0[r], p->res_end0[r + 1] - p->res_end0[r]};
  for (uint32_t part = 0; part < 2; part++) {
    for (uint32_t i = 0; i < n[part]; i++) {
      uint32_t item = first[part][i];
      if (mark[item] == k) {
        continue;
      }
      mark[item] = k;
      if (fills) {
        l->touch[l->touch0[item]++] = k;
        l->life[k].n++;
      } else {
        l->touch0[item + 1]++;
      }
    }
  }
}

/* Moves the offsets of a CSR back that filling has moved on. */
static void move_back(uint32_t *at, uint32_t n) {
  memmove(at + 1, at, n * sizeof *at);
  at[0] = 0;
}

static fs_status list_touches(fs_lives *l, const fs_problem *p, const uint32_t *life_of,
                              fs_arena *arena) {
  FS_SCRATCH(scratch, arena->ctx);
  uint32_t *mark;
  FS_TRY(fs_new_zero(arena, &l->touch0, (size_t)p->n_items + 2));
  for (int fills = 0; fills < 2; fills++) {
    FS_TRY(fs_new_none(&scratch, &mark, p->n_items));
    for (uint32_t r = 0; r < p->n_residencies; r++) {
      if (life_of[r] != FS_NONE) {
        list_life(l, p, r, life_of[r], mark, fills != 0);
      }
    }
    if (fills == 0) {
      for (uint32_t i = 0; i < p->n_items; i++) {
        l->touch0[i + 1] += l->touch0[i];
      }
      FS_TRY(fs_new(arena, &l->touch, l->touch0[p->n_items]));
    }
  }
  move_back(l->touch0, p->n_items);
  return FSCHED_OK;
}

static fs_status list_pairs(fs_lives *l, const fs_problem *p, const uint32_t *life_of,
                            fs_arena *arena) {
  FS_TRY(fs_new_zero(arena, &l->pair0, (size_t)p->n_items + 2));
  FS_TRY(fs_new(arena, &l->pair, p->n_coincide));
  for (uint32_t i = 0; i < p->n_coincide; i++) {
    l->pair0[p->coincide_op[i] + 1] += life_of[p->coincide_in[i]] != FS_NONE;
  }
  for (uint32_t i = 0; i < p->n_items; i++) {
    l->pair0[i + 1] += l->pair0[i];
  }
  for (uint32_t i = 0; i < p->n_coincide; i++) {
    uint32_t in = life_of[p->coincide_in[i]], out = life_of[p->coincide_out[i]];
    if (in != FS_NONE) {
      l->pair[l->pair0[p->coincide_op[i]]++] = (fs_life_pair){in, out};
    }
  }
  move_back(l->pair0, p->n_items);
  return FSCHED_OK;
}

static fs_status make_lives(fs_lives *l, const fs_problem *p, uint32_t *life_of, fs_arena *arena) {
  uint32_t n = p->graph->target.n_memories;
  FS_TRY(fs_new(arena, &l->life, p->n_residencies));
  FS_TRY(fs_new(arena, &l->levels, n));
  FS_TRY(fs_new(arena, &l->life0, (size_t)n + 1));
  FS_TRY(fs_new(arena, &l->has_addresses, n));
  for (uint32_t m = 0; m < n; m++) {
    if (!is_short(p, m)) {
      continue;
    }
    l->life0[l->n_memories] = l->n_lives;
    l->has_addresses[l->n_memories] =
        fs_placement_has_addresses(p->graph->target.memory[m].placement);
    for (uint32_t r = 0; r < p->n_residencies; r++) {
      if (p->res_memory[r] == m && p->res_size[r] > 0) {
        life_of[r] = l->n_lives;
        l->life[l->n_lives++] =
            (fs_kept_life){.size = p->res_size[r],
                           .memory = l->n_memories,
                           .residency = r,
                           .from_begin = p->res_begin0[r] == p->res_begin0[r + 1],
                           .to_end = p->res_to_end[r]};
      }
    }
    uint32_t changes = 2 * (l->n_lives - l->life0[l->n_memories]);
    FS_TRY(fs_levels_init(&l->levels[l->n_memories++], usable(p, m), changes, arena));
  }
  l->life0[l->n_memories] = l->n_lives;
  return FSCHED_OK;
}

fs_status fs_lives_init(fs_lives *l, const fs_packed_form *form, fs_arena *arena) {
  const fs_problem *p = form->p;
  assert(fs_lives_know(p));
  *l = (fs_lives){.parts = FS_LIFE_PARTS};
  FS_SCRATCH(scratch, arena->ctx);
  uint32_t *life_of;
  FS_TRY(fs_new_none(&scratch, &life_of, p->n_residencies));
  FS_TRY(fs_passes_init(&l->passes, form, arena));
  FS_TRY(make_lives(l, p, life_of, arena));
  FS_TRY(list_touches(l, p, life_of, arena));
  FS_TRY(list_pairs(l, p, life_of, arena));
  FS_TRY(fs_new(arena, &l->state, l->n_lives));
  FS_TRY(fs_new(arena, &l->base, l->n_memories));
  FS_TRY(fs_new(arena, &l->need, l->n_memories));
  FS_TRY(fs_new_none(arena, &l->from, l->n_lives));
  FS_TRY(fs_new(arena, &l->waiting, form->n));
  return fs_new(arena, &l->placed, form->n);
}

/* ---- needs */

static bool is_there_first(const fs_kept_life *x, bool backward) {
  return backward ? x->to_end : x->from_begin;
}

static bool life_stays(const fs_kept_life *x, bool backward) {
  return backward ? x->from_begin : x->to_end;
}

static bool reset(fs_lives *l, bool backward) {
  memset(l->base, 0, l->n_memories * sizeof *l->base);
  for (uint32_t k = 0; k < l->n_lives; k++) {
    const fs_kept_life *x = &l->life[k];
    bool there = is_there_first(x, backward) && (x->n > 0 || life_stays(x, backward));
    l->state[k] = (fs_life_state){.left = x->n, .there = there};
    l->base[x->memory] += there ? x->size : 0;
  }
  bool fits = true;
  for (uint32_t m = 0; m < l->n_memories; m++) {
    fits = fits && l->base[m] <= l->levels[m].capacity;
    fs_levels_reset(&l->levels[m], fits ? l->base[m] : 0);
  }
  return fits;
}

/* The life of a pair that ends with the item, and the one that begins with it, in a direction. */
static fs_life_pair in_direction(const fs_lives *l, bool backward, uint32_t pair) {
  fs_life_pair p = l->pair[pair];
  return backward ? (fs_life_pair){p.output, p.input} : p;
}

/* Do two pairs, of which the first was made, share a life? */
static bool is_made(const fs_lives *l, fs_life_pair a, fs_life_pair b) {
  bool made = l->from[a.output] == a.input || l->from[a.input] == a.input;
  return made && (a.input == b.input || a.output == b.output);
}

/* Finds which lives take over places of others that end with the item.  One that is there only
 * while the item runs takes no room of its own beside one that begins with it. */
static void find_pairs(fs_lives *l, bool backward, uint32_t item, fs_tick *ready) {
  for (uint32_t i = l->pair0[item]; i < l->pair0[item + 1]; i++) {
    fs_life_pair p = in_direction(l, backward, i);
    const fs_life_state *s = &l->state[p.input];
    bool can =
        s->left == 1 && !life_stays(&l->life[p.input], backward) && !l->state[p.output].there;
    for (uint32_t k = l->pair0[item]; k < i && can; k++) {
      can = !is_made(l, in_direction(l, backward, k), p);
    }
    if (can && s->there) {
      l->from[p.output] = p.input;
      *ready = fs_max(*ready, s->end);
    } else if (can) {
      l->from[p.input] = p.input;
    }
  }
}

static fs_life_need *need_of(fs_lives *l, uint32_t memory) {
  uint32_t k = 0;
  while (k < l->n_needs && l->need[k].memory != memory) {
    k++;
  }
  if (k == l->n_needs) {
    l->need[l->n_needs++] = (fs_life_need){.memory = memory};
  }
  return &l->need[k];
}

/* So many parts of a memory; all of them are all of it. */
static uint64_t parts_of(uint64_t capacity, uint32_t parts) {
  return capacity / FS_LIFE_PARTS * parts + capacity % FS_LIFE_PARTS * parts / FS_LIFE_PARTS;
}

/* Sets how much may be taken; false: the need does not fit beside what is there for ever. */
static bool set_limit(const fs_lives *l, fs_life_need *n) {
  const fs_memory_levels *levels = &l->levels[n->memory];
  uint64_t least = levels->level[levels->n - 1] + n->stays + n->leaves;
  n->limit = l->has_addresses[n->memory] ? parts_of(levels->capacity, l->parts) : levels->capacity;
  n->limit = fs_max(n->limit, least);
  return n->limit <= levels->capacity;
}

/* What the item needs; false: it does not fit, as long as nothing else is placed. */
static bool collect_needs(fs_lives *l, bool backward, uint32_t item, fs_tick *ready) {
  l->n_needs = 0;
  find_pairs(l, backward, item, ready);
  for (uint32_t i = l->touch0[item]; i < l->touch0[item + 1]; i++) {
    uint32_t k = l->touch[i];
    const fs_kept_life *x = &l->life[k];
    const fs_life_state *s = &l->state[k];
    *ready = fs_max(*ready, s->begin);
    if (!s->there && l->from[k] == FS_NONE) {
      fs_life_need *need = need_of(l, x->memory);
      *(s->left == 1 && !life_stays(x, backward) ? &need->leaves : &need->stays) += x->size;
    }
  }
  bool fits = true;
  for (uint32_t i = 0; i < l->n_needs; i++) {
    fits = fits && set_limit(l, &l->need[i]);
  }
  return fits;
}

static void forget_pairs(fs_lives *l, uint32_t item) {
  for (uint32_t i = l->pair0[item]; i < l->pair0[item + 1]; i++) {
    l->from[l->pair[i].input] = l->from[l->pair[i].output] = FS_NONE;
  }
}

/* The first start from t on that the memories allow. */
static fs_tick find_memory(const fs_lives *l, fs_tick t, fs_tick time) {
  for (uint32_t i = 0, same = 0; same < l->n_needs; i = i + 1 == l->n_needs ? 0 : i + 1) {
    const fs_life_need *n = &l->need[i];
    fs_tick from = t;
    const fs_memory_levels *levels = &l->levels[n->memory];
    uint64_t most = n->limit - n->stays;
    t = fs_levels_for_ever(levels, t, most);
    t = n->leaves == 0 ? t : fs_levels_for(levels, t, time, most - n->leaves);
    same = t == from ? same + 1 : 1;
  }
  return t;
}

/* ---- passes */

/* Does something take over the place of a life? */
static bool is_handed(const fs_lives *l, uint32_t item, uint32_t life) {
  bool is = false;
  for (uint32_t i = l->pair0[item]; i < l->pair0[item + 1]; i++) {
    is = is || l->from[l->pair[i].output] == life || l->from[l->pair[i].input] == life;
  }
  return is;
}

static void take_memory(fs_lives *l, bool backward, uint32_t item, fs_tick start, fs_tick end) {
  for (uint32_t i = l->touch0[item]; i < l->touch0[item + 1]; i++) {
    uint32_t k = l->touch[i];
    const fs_kept_life *x = &l->life[k];
    fs_life_state *s = &l->state[k];
    bool begins = !s->there && l->from[k] == FS_NONE;
    bool ends = --s->left == 0 && !life_stays(x, backward) && !is_handed(l, item, k);
    s->begin = s->there ? s->begin : start;
    s->end = fs_max(s->end, end);
    s->there = true;
    if (begins) {
      fs_levels_add(&l->levels[x->memory], start, ends ? end : FS_TICK_NONE, (int64_t)x->size);
    } else if (ends) {
      fs_levels_add(&l->levels[x->memory], s->end, FS_TICK_NONE, -(int64_t)x->size);
    }
  }
}

static bool place_item(fs_lives *l, bool backward, uint32_t item, fs_passed *out) {
  const fs_packed_form *f = l->passes.form;
  fs_tick time = f->p->time[item], best = FS_TICK_NONE;
  fs_tick ready = fs_pass_ready(&l->passes, backward, item, out);
  bool fits = collect_needs(l, backward, item, &ready);
  for (uint32_t way = f->way0[item]; way < f->way0[item + 1] && fits; way++) {
    fs_tick t = ready, from;
    do {
      from = t;
      t = find_memory(l, fs_pass_find(&l->passes, way, t, time), time);
    } while (t != from);
    if (t < best) {
      best = t;
      out->way[item] = way;
    }
  }
  if (fits) {
    out->start[item] = best;
    fs_pass_take(&l->passes, out->way[item], best, time);
    take_memory(l, backward, item, best, best + time);
    out->makespan = fs_max(out->makespan, best + time);
  }
  forget_pairs(l, item);
  return fits;
}

static bool is_ready(const fs_lives *l, bool backward, uint32_t item) {
  const fs_problem *p = l->passes.form->p;
  const uint32_t *before0 = backward ? p->succ0 : p->pred0, *before = backward ? p->succ : p->pred;
  bool is = true;
  for (uint32_t e = before0[item]; e < before0[item + 1] && is; e++) {
    is = l->placed[before[e]] != 0;
  }
  return is;
}

static bool try_item(fs_lives *l, bool backward, uint32_t item, fs_passed *out) {
  if (!is_ready(l, backward, item) || !place_item(l, backward, item, out)) {
    return false;
  }
  l->placed[item] = 1;
  return true;
}

/* Places one of those that wait, the first that can be. */
static bool try_waiting(fs_lives *l, bool backward, fs_passed *out, uint32_t *item) {
  for (uint32_t k = 0; k < l->n_waiting; k++) {
    *item = l->waiting[k];
    if (try_item(l, backward, *item, out)) {
      l->n_waiting--;
      memmove(l->waiting + k, l->waiting + k + 1, (l->n_waiting - k) * sizeof *l->waiting);
      return true;
    }
  }
  return false;
}

bool fs_lives_pass(fs_lives *l, bool backward, uint32_t *order, fs_passed *out) {
  assert(order != NULL);
  uint32_t n = l->passes.form->n, next = 0, done = 0, item;
  fs_pass_begin(&l->passes);
  memset(l->placed, 0, n);
  l->n_waiting = 0;
  out->makespan = 0;
  if (!reset(l, backward)) {
    return false;
  }
  while (done < n) {
    if (try_waiting(l, backward, out, &item)) {
      order[done++] = item;
      continue;
    }
    if (next == n) {
      return false;
    }
    item = order[next++];
    if (try_item(l, backward, item, out)) {
      order[done++] = item;
    } else {
      l->waiting[l->n_waiting++] = item;
    }
  }
  return true;
}

bool fs_lives_fit(fs_lives *l, const uint32_t *order) {
  assert(order != NULL);
  bool fit = reset(l, false);
  for (uint32_t k = 0; k < l->passes.form->n && fit; k++) {
    fs_tick any = 0;
    fit = collect_needs(l, false, order[k], &any);
    if (fit) {
      take_memory(l, false, order[k], 0, 0); /* at one moment: what is there is what stays */
    }
    forget_pairs(l, order[k]);
  }
  return fit;
}
