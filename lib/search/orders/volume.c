/* SPDX-License-Identifier: Apache-2.0 */
#include "search/orders/volume.h"

enum {
  SCALE = 1 << 20,
  RATE_BITS = 31, /* so that a rate times a distance has 63 */
  SPARE = 8       /* part of a memory that is left to what is written or read beside ops */
};

static uint32_t rate_of(fs_tick time, uint64_t size) {
  return (uint32_t)fs_min(time > UINT64_MAX / SCALE ? UINT64_MAX : time * SCALE / size,
                          ((uint64_t)1 << RATE_BITS) - 1);
}

fs_status fs_volume_init(fs_volume *v, const fs_decoder *d, fs_arena *arena) {
  assert(d->g != NULL);
  const fsched_graph *g = d->g;
  const fs_target *t = &g->target;
  *v = (fs_volume){.d = d};
  FS_TRY(fs_new_zero(arena, &v->memory, t->n_memories));
  FS_TRY(fs_new_zero(arena, &v->scratch, t->n_memories));
  FS_TRY(fs_new(arena, &v->state, g->n_versions));
  FS_TRY(fs_new(arena, &v->rate, g->n_versions));
  FS_TRY(fs_new(arena, &v->use, g->n_args));
  FS_TRY(fs_new(arena, &v->use_end, g->n_versions));
  FS_TRY(fs_new(arena, &v->returned, g->n_args));
  for (uint32_t m = 0; m < t->n_memories; m++) {
    if (fs_memory_bounded(&t->memory[m])) {
      v->memory[m].capacity = t->memory[m].capacity - t->memory[m].capacity / SPARE;
      FS_TRY(fs_new(arena, &v->memory[m].here, g->n_versions));
    }
  }
  for (uint32_t i = 0; i < g->n_versions; i++) {
    const fs_order_version *x = &d->version[i];
    if (x->memory != FS_NONE) {
      v->rate[i] = (fs_volume_rate){rate_of(x->read, x->size), rate_of(x->write, x->size)};
    }
    v->least += (x->load ? x->read : 0) + (x->kept && x->n_writers > 0 ? x->write : 0);
  }
  return FSCHED_OK;
}

static void begin_run(fs_volume *v, const uint32_t *op_at) {
  const fsched_graph *g = v->d->g;
  v->copy_time = 0;
  v->n_returned = 0;
  for (uint32_t i = 0; i < g->n_versions; i++) {
    const fs_order_version *x = &v->d->version[i];
    v->use_end[i] = x->use0;
    v->state[i] = (fs_volume_state){
        .here = FS_NONE, .next = x->use0, .writers_left = x->n_writers, .content = x->load};
  }
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    v->memory[m].used = v->memory[m].n_here = 0;
  }
  for (uint32_t k = 0; k < g->n_ops; k++) {
    for (uint32_t i = v->d->touch0[op_at[k]]; i < v->d->touch0[op_at[k] + 1]; i++) {
      v->use[v->use_end[v->d->touch[i].version]++] = k;
    }
  }
}

/* What the version costs if it leaves, and when it is used next. */
static void list_price(fs_volume *v, uint32_t i) {
  const fs_order_version *x = &v->d->version[i];
  const fs_volume_state *s = &v->state[i];
  fs_volume_entry *e = &v->memory[x->memory].here[s->here];
  bool again = s->next < v->use_end[i], pays = s->dirty && !(x->kept && s->writers_left == 0);
  e->version = i;
  e->next = again ? v->use[s->next] : v->d->g->n_ops;
  e->cost = (again ? (uint64_t)v->rate[i].read : 0) + (pays ? v->rate[i].write : 0) + 1;
}

static void enter_memory(fs_volume *v, uint32_t i) {
  fs_volume_memory *m = &v->memory[v->d->version[i].memory];
  v->state[i].here = m->n_here++;
  m->used += v->d->version[i].size;
}

static void leave_memory(fs_volume *v, uint32_t i) {
  const fs_order_version *x = &v->d->version[i];
  fs_volume_memory *m = &v->memory[x->memory];
  fs_volume_entry last = m->here[--m->n_here];
  m->here[v->state[i].here] = last;
  v->state[last.version].here = v->state[i].here;
  v->state[i].here = FS_NONE;
  m->used -= x->size;
}

static void expel_version(fs_volume *v, uint32_t i) {
  v->copy_time += v->state[i].dirty ? v->d->version[i].write : 0;
  v->state[i].dirty = false;
  leave_memory(v, i);
}

/* The one that may leave at least cost per distance to its next use; FS_NONE: there is none. */
static uint32_t cheapest(const fs_volume *v, const fs_volume_memory *m, uint32_t at) {
  uint64_t cost = 1, distance = 0; /* dearer than all */
  uint32_t victim = FS_NONE;
  for (uint32_t k = 0; k < m->n_here; k++) {
    const fs_volume_entry *e = &m->here[k];
    bool cheaper = e->cost * distance < cost * (e->next - at);
    if (cheaper && v->state[e->version].turn != at + 1) {
      victim = e->version;
      cost = e->cost;
      distance = e->next - at;
    }
  }
  return victim;
}

static void make_room(fs_volume *v, fs_volume_memory *m, uint64_t need, uint32_t at) {
  while (m->used + need > m->capacity) {
    uint32_t victim = cheapest(v, m, at);
    if (victim == FS_NONE) {
      return; /* the op needs more than is looked at here */
    }
    expel_version(v, victim);
  }
}

static bool takes_over(const fs_volume *v, const fs_order_touch *t) {
  return t->from != FS_NONE && !v->state[t->version].content &&
         v->state[t->from].next + 1 == v->use_end[t->from];
}

static void find_room(fs_volume *v, uint32_t op, uint32_t at) {
  const fs_decoder *d = v->d;
  const fsched_graph *g = d->g;
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    uint32_t m = g->scratch_memory[i];
    v->scratch[m] += fs_align_up(g->scratch_size[i], g->target.memory[m].align);
  }
  for (uint32_t i = d->touch0[op]; i < d->touch0[op + 1]; i++) {
    uint32_t x = d->touch[i].version;
    v->scratch[d->version[x].memory] +=
        v->state[x].here != FS_NONE || takes_over(v, &d->touch[i]) ? 0 : d->version[x].size;
  }
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    if (v->scratch[m] > 0 && v->memory[m].capacity > 0) {
      make_room(v, &v->memory[m], v->scratch[m], at);
    }
    v->scratch[m] = 0;
  }
}

static void touch_version(fs_volume *v, const fs_order_touch *t) {
  uint32_t i = t->version;
  fs_volume_state *s = &v->state[i];
  if (s->here == FS_NONE) {
    if (s->content) {
      v->copy_time += v->d->version[i].read;
      if (s->next > v->d->version[i].use0) {
        v->returned[v->n_returned++] = (fs_order_return){v->use[s->next - 1], v->use[s->next]};
      }
    }
    enter_memory(v, i);
  }
  s->content = true;
  s->dirty = s->dirty || t->writes;
  s->writers_left -= t->writes;
  s->next++;
  list_price(v, i);
}

static void run_op(fs_volume *v, uint32_t op, uint32_t at) {
  const fs_decoder *d = v->d;
  for (uint32_t i = d->touch0[op]; i < d->touch0[op + 1]; i++) {
    v->state[d->touch[i].version].turn = at + 1;
  }
  find_room(v, op, at);
  for (uint32_t i = d->touch0[op]; i < d->touch0[op + 1]; i++) {
    touch_version(v, &d->touch[i]);
  }
  for (uint32_t i = d->touch0[op]; i < d->touch0[op + 1]; i++) {
    uint32_t x = d->touch[i].version;
    if (v->state[x].next == v->use_end[x] && v->state[x].here != FS_NONE) {
      v->state[x].dirty = v->state[x].dirty && d->version[x].kept;
      expel_version(v, x);
    }
  }
}

void fs_volume_run(fs_volume *v, const uint32_t *op_at) {
  assert(op_at != NULL);
  begin_run(v, op_at);
  for (uint32_t k = 0; k < v->d->g->n_ops; k++) {
    run_op(v, op_at[k], k);
  }
}
