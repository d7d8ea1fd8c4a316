/* SPDX-License-Identifier: Apache-2.0 */
#include "search/orders/decoder.h"

#include "base/radix.h"
#include "model/overwritten.h"

enum { NEAR = 8 }; /* ops per queue within which the last use of a short-lived version is */

bool fs_decoder_knows(const fsched_graph *g) {
  const fs_target *t = &g->target;
  bool known = !t->implicit_queues && t->concurrency == 0 && t->wait == 0 && !g->gangs_open &&
               g->op_start == NULL && g->n_rolled == 0 && g->op_latency == NULL && g->n_ops > 1 &&
               g->op_use0[g->n_ops] == 0;
  bool any = false;
  for (uint32_t m = 0; m < t->n_memories && known; m++) {
    const fs_memory *memory = &t->memory[m];
    if (fs_memory_bounded(memory)) {
      any = true;
      known = fs_memory_spills(memory) && !fs_memory_bounded(&t->memory[memory->backing]) &&
              fs_placement_has_addresses(memory->placement) && !memory->stack &&
              memory->capacity >= memory->align;
    }
  }
  for (uint32_t b = 0; b < g->n_buffers && known; b++) {
    known = g->buffer_size[b] > 0 || !fs_memory_bounded(&t->memory[g->buffer_memory[b]]);
  }
  for (uint32_t i = 0; i < g->op_scratch0[g->n_ops] && known; i++) {
    known = g->scratch_size[i] > 0;
  }
  return known && any;
}

/* ---- what does not change */

static uint32_t add_touch(fs_decoder *d, uint32_t op, uint32_t n, uint32_t arg) {
  uint32_t v = d->g->arg_version[arg], i = d->touch0[op];
  if (v == FS_NONE || !fs_tag_accesses(d->g->arg_tag[arg]) || d->version[v].memory == FS_NONE) {
    return n;
  }
  while (i < n && d->touch[i].version != v) {
    i++;
  }
  if (i == n) {
    d->touch[n++] = (fs_order_touch){.version = v, .from = FS_NONE};
  }
  d->touch[i].writes = d->touch[i].writes || fs_tag_writes(d->g->arg_tag[arg]);
  return n;
}

static void add_inplace(fs_decoder *d, uint32_t op, uint32_t n, uint32_t pair) {
  const fsched_graph *g = d->g;
  uint32_t out = g->arg_version[g->inplace_out[pair]], in = g->arg_version[g->inplace_in[pair]];
  if (d->version[in].kept) {
    return;
  }
  bool taken = false;
  for (uint32_t i = d->touch0[op]; i < n; i++) {
    taken = taken || d->touch[i].from == in;
  }
  for (uint32_t i = d->touch0[op]; i < n && !taken; i++) {
    d->touch[i].from =
        d->touch[i].version == out && d->touch[i].from == FS_NONE ? in : d->touch[i].from;
  }
}

static void list_touches(fs_decoder *d) {
  const fsched_graph *g = d->g;
  uint32_t n = 0;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    d->touch0[op] = n;
    for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
      n = add_touch(d, op, n, a);
    }
    for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
      add_inplace(d, op, n, i);
    }
    uint32_t needs = n - d->touch0[op] + g->op_scratch0[op + 1] - g->op_scratch0[op];
    d->most_needs = (uint32_t)fs_max(d->most_needs, needs);
  }
  d->touch0[g->n_ops] = n;
}

static void fill_versions(fs_decoder *d) {
  const fsched_graph *g = d->g;
  for (uint32_t v = 0; v < g->n_versions; v++) {
    const fs_memory *m = fs_version_home(g, v);
    uint64_t size = fs_version_size(g, v);
    d->version[v] = (fs_order_version){.memory = FS_NONE};
    if (fs_memory_bounded(m)) {
      d->version[v] = (fs_order_version){.memory = fs_version_memory(g, v),
                                         .size = fs_align_up(size, m->align),
                                         .read = fs_spill_read_time(m, size),
                                         .write = fs_spill_write_time(m, size),
                                         .load = fs_version_load_needed(g, v),
                                         .kept = fs_version_kept(g, v)};
    }
  }
}

static void count_uses(fs_decoder *d) {
  const fsched_graph *g = d->g;
  for (uint32_t i = 0; i < d->touch0[g->n_ops]; i++) {
    d->use_end[d->touch[i].version]++;
    d->version[d->touch[i].version].n_writers += d->touch[i].writes;
  }
  uint32_t n = 0;
  for (uint32_t v = 0; v < g->n_versions; v++) {
    fs_order_version *x = &d->version[v];
    x->use0 = n;
    n += d->use_end[v];
    d->fresh[v] = (fs_order_state){.segment = FS_NONE,
                                   .next = x->use0,
                                   .writers_left = x->n_writers,
                                   .residency = FS_NONE,
                                   .content = x->load};
  }
}

/* As many as may be in a memory at once: the smallest ones that fit into it. */
static fs_status most_taken(const fs_decoder *d, uint32_t memory, fs_arena *arena, uint32_t *most) {
  uint64_t *size, sum = 0;
  uint32_t n = 0;
  FS_TRY(fs_new(arena, &size, 2 * (size_t)d->g->n_versions));
  for (uint32_t v = 0; v < d->g->n_versions; v++) {
    if (d->version[v].memory == memory) {
      size[n++] = d->version[v].size;
    }
  }
  fs_radix_sort_block(size, n);
  for (*most = 0; *most < n && sum + size[*most] <= d->g->target.memory[memory].capacity;) {
    sum += size[(*most)++];
  }
  return FSCHED_OK;
}

/* All sizes are multiples of the alignment, so the rest of the capacity is of no use. */
static uint64_t aligned_capacity(const fs_memory *m) { return m->capacity & ~(m->align - 1); }

void fs_decoder_use_amounts(fs_decoder *d, uint32_t parts) {
  assert(parts > 0 && parts <= FS_ORDER_PARTS);
  const fs_target *t = &d->g->target;
  for (uint32_t m = 0; m < t->n_memories; m++) {
    if (d->room[m].segment != NULL) {
      uint64_t all = aligned_capacity(&t->memory[m]);
      uint64_t part = all / FS_ORDER_PARTS * parts + all % FS_ORDER_PARTS * parts / FS_ORDER_PARTS;
      d->room[m].all = all;
      d->room[m].capacity = fs_max(part, 1);
      d->room[m].amounts = true;
    }
  }
}

static size_t aligned(size_t size) { return (size + 15) & ~(size_t)15; }

static fs_status init_block(fs_decoder *d, fs_arena *arena) {
  const fsched_graph *g = d->g;
  const fs_target *t = &g->target;
  uint32_t *most;
  FS_SCRATCH(scratch, arena->ctx);
  FS_TRY(fs_new_zero(&scratch, &most, t->n_memories));
  size_t rooms = aligned(t->n_memories * sizeof *d->room), segments = 0;
  for (uint32_t m = 0; m < t->n_memories; m++) {
    if (fs_memory_bounded(&t->memory[m])) {
      FS_TRY(most_taken(d, m, &scratch, &most[m]));
      most[m] = fs_order_room_most(most[m] + d->most_needs, d->most_needs);
      segments += aligned(most[m] * sizeof *d->room->segment);
    }
  }
  size_t queues = aligned(t->n_queues * sizeof *d->timeline);
  size_t states = aligned(g->n_versions * sizeof *d->state);
  d->block_size = aligned(sizeof *d->run) + rooms + segments + queues + states +
                  aligned(g->n_ops * sizeof *d->op_end);
  char *at = fs_arena_zalloc(arena, d->block_size);
  if (at == NULL) {
    return FSCHED_SYSTEM;
  }
  d->run = (fs_order_run *)(void *)at;
  at += aligned(sizeof *d->run);
  d->room = (fs_order_room *)(void *)at;
  at += rooms;
  for (uint32_t m = 0; m < t->n_memories; m++) {
    if (fs_memory_bounded(&t->memory[m])) {
      d->room[m] = (fs_order_room){.capacity = aligned_capacity(&t->memory[m]),
                                   .segment = (fs_order_segment *)(void *)at,
                                   .most = most[m]};
      at += aligned(most[m] * sizeof *d->room->segment);
    }
  }
  d->timeline = (fs_order_queue *)(void *)at;
  d->state = (fs_order_state *)(void *)(at + queues);
  d->op_end = (fs_tick *)(void *)(at + queues + states);
  return FSCHED_OK;
}

fs_status fs_decoder_init(fs_decoder *d, const fsched_graph *g, fs_arena *arena) {
  assert(fs_decoder_knows(g));
  *d = (fs_decoder){.g = g};
  FS_TRY(fs_new_zero(arena, &d->touch0, (size_t)g->n_ops + 1));
  FS_TRY(fs_new(arena, &d->touch, g->n_args));
  FS_TRY(fs_new(arena, &d->version, g->n_versions));
  FS_TRY(fs_new(arena, &d->fresh, g->n_versions));
  FS_TRY(fs_new_zero(arena, &d->use_end, g->n_versions));
  FS_TRY(fs_new_zero(arena, &d->opposite, g->n_versions));
  FS_TRY(fs_new(arena, &d->use, g->n_args));
  FS_TRY(fs_new(arena, &d->returned, g->n_args));
  FS_TRY(fs_new(arena, &d->op_start, g->n_ops));
  fill_versions(d);
  list_touches(d);
  count_uses(d);
  FS_TRY(fs_new(arena, &d->handed, g->n_args));
  FS_TRY(fs_new(arena, &d->need, d->most_needs));
  FS_TRY(fs_new(arena, &d->scratch_residency, g->op_scratch0[g->n_ops]));
  return init_block(d, arena);
}

/* ---- runs */

static void list_uses(fs_decoder *d, const uint32_t *op_at) {
  const fsched_graph *g = d->g;
  d->op_at = op_at;
  for (uint32_t v = 0; v < g->n_versions; v++) {
    d->use_end[v] = d->version[v].use0;
  }
  for (uint32_t k = 0; k < g->n_ops; k++) {
    for (uint32_t i = d->touch0[op_at[k]]; i < d->touch0[op_at[k] + 1]; i++) {
      d->use[d->use_end[d->touch[i].version]++] = k;
    }
  }
}

void fs_decoder_begin(fs_decoder *d, const uint32_t *op_at) {
  assert(op_at != NULL);
  const fsched_graph *g = d->g;
  list_uses(d, op_at);
  *d->run = (fs_order_run){0};
  d->n_listed = d->n_handed = 0;
  memcpy(d->state, d->fresh, g->n_versions * sizeof *d->state);
  memset(d->timeline, 0, g->target.n_queues * sizeof *d->timeline);
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    if (d->room[m].segment != NULL) {
      fs_order_room_reset(&d->room[m]);
    }
  }
}

void fs_decoder_save(const fs_decoder *d, void *to) {
  assert(to != NULL);
  memcpy(to, d->run, d->block_size);
}

void fs_decoder_resume(fs_decoder *d, const uint32_t *op_at, const void *saved) {
  assert(saved != NULL && d->s == NULL);
  list_uses(d, op_at);
  memcpy(d->run, saved, d->block_size);
}

/* ---- queues and copies */

static uint32_t first_queue(const fs_decoder *d, uint32_t domain, fs_tick ready, fs_tick time,
                            fs_tick *start) {
  const fs_target *t = &d->g->target;
  uint32_t best = FS_NONE;
  *start = FS_TICK_NONE;
  for (uint32_t i = t->domain_queue0[domain]; i < t->domain_queue0[domain + 1]; i++) {
    uint32_t queue = t->domain_queue[i];
    fs_tick at = fs_order_queue_earliest(&d->timeline[queue], ready, time);
    /* Of queues that are free in time, the one that was busy last. */
    if (at < *start || (at == *start && d->timeline[queue].free > d->timeline[best].free)) {
      *start = at;
      best = queue;
    }
  }
  return best;
}

static fs_tick add_copy(fs_decoder *d, uint32_t v, fs_copy_kind kind, fs_tick ready) {
  const fs_order_version *x = &d->version[v];
  fs_tick time = kind == FS_SPILL_WRITE ? x->write : x->read, start;
  uint32_t queue = first_queue(d, d->g->target.memory[x->memory].spill_domain, ready, time, &start);
  fs_order_queue_take(&d->timeline[queue], start, time);
  if (kind == FS_SPILL_READ) {
    fs_decoder_note_begin(d, v, FS_NONE, x->memory, d->state[v].segment, start,
                          &d->state[v].residency);
  }
  fs_decoder_note_copy(d, v, kind, queue, start, start + time);
  d->run->copy_time += time;
  d->run->makespan = fs_max(d->run->makespan, start + time);
  return start + time;
}

static void write_version(fs_decoder *d, uint32_t v) {
  fs_order_state *s = &d->state[v];
  s->stored = add_copy(d, v, FS_SPILL_WRITE, s->written);
  s->end = fs_max(s->end, s->stored);
  s->dirty = false;
}

static void leave_place(fs_decoder *d, uint32_t v) {
  fs_order_state *s = &d->state[v];
  assert(s->segment != FS_NONE);
  fs_order_room_give(&d->room[d->version[v].memory], s->segment, s->end);
  fs_decoder_note_end(d, s->residency, s->end);
  s->segment = FS_NONE;
}

void fs_decoder_expel(fs_decoder *d, uint32_t v) {
  assert(d->state[v].segment != FS_NONE);
  if (d->state[v].dirty) {
    write_version(d, v);
  }
  leave_place(d, v);
}

static void read_version(fs_decoder *d, uint32_t v) {
  fs_order_state *s = &d->state[v];
  const fs_order_version *x = &d->version[v];
  fs_tick free = d->room[x->memory].segment[s->segment].since;
  if (s->next > x->use0) {
    d->returned[d->run->n_returns++] = (fs_order_return){d->use[s->next - 1], d->use[s->next]};
  }
  s->ready = add_copy(d, v, FS_SPILL_READ, fs_max(free, fs_max(s->stored, s->end)));
  s->end = s->ready;
}

/* ---- places */

static bool takes_over(const fs_decoder *d, const fs_order_touch *t) {
  return t->from != FS_NONE && !d->state[t->version].content &&
         d->state[t->from].next + 1 == d->use_end[t->from];
}

static void add_need(fs_decoder *d, fs_order_need need) {
  uint32_t i = d->n_needs++; /* largest first */
  for (; i > 0 && d->need[i - 1].size < need.size; i--) {
    d->need[i] = d->need[i - 1];
  }
  d->need[i] = need;
}

static void collect_needs(fs_decoder *d, uint32_t op) {
  const fsched_graph *g = d->g;
  d->n_needs = 0;
  for (uint32_t i = d->touch0[op]; i < d->touch0[op + 1]; i++) {
    const fs_order_version *x = &d->version[d->touch[i].version];
    if (d->state[d->touch[i].version].segment == FS_NONE && !takes_over(d, &d->touch[i])) {
      add_need(d, (fs_order_need){x->size, x->memory, i, FS_NONE, FS_NONE});
    }
  }
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    const fs_memory *m = &g->target.memory[g->scratch_memory[i]];
    if (fs_memory_bounded(m)) {
      uint64_t size = fs_align_up(g->scratch_size[i], m->align);
      add_need(d, (fs_order_need){size, g->scratch_memory[i], FS_NONE, i, FS_NONE});
    }
  }
}

/* Long-lived versions are placed at the high end. */
static bool goes_high(const fs_decoder *d, const fs_order_need *n, uint32_t at) {
  if (n->touch == FS_NONE) {
    return false;
  }
  uint32_t last = d->use[d->use_end[d->touch[n->touch].version] - 1];
  bool high = last > at + NEAR * (d->g->target.n_queues + 1);
  return high != (bool)d->opposite[d->touch[n->touch].version];
}

static uint32_t owner_of(const fs_decoder *d, const fs_order_need *n) {
  return n->touch == FS_NONE ? (uint32_t)FS_SEGMENT_SCRATCH : d->touch[n->touch].version;
}

/* When a read can start at the earliest, whatever room there is. */
static fs_tick read_slot(const fs_decoder *d, const fs_order_version *x) {
  fs_tick start;
  (void)first_queue(d, d->g->target.memory[x->memory].spill_domain, 0, x->read, &start);
  return start;
}

static bool place_needs(fs_decoder *d, uint32_t at, fs_tick inputs) {
  for (uint32_t i = 0; i < d->n_needs; i++) {
    fs_order_need *n = &d->need[i];
    bool read = n->touch != FS_NONE && d->state[d->touch[n->touch].version].content;
    fs_order_room *r = &d->room[n->memory];
    bool high = goes_high(d, n, at);
    fs_tick wanted = read ? read_slot(d, &d->version[d->touch[n->touch].version]) : inputs;
    if (d->reserve > 0) {
      uint64_t reserve = r->capacity / FS_ORDER_PARTS * d->reserve;
      (void)fs_decoder_free_bytes(d, n->memory, n->size + reserve, at);
    }
    n->segment = fs_order_room_take(r, n->size, wanted, high, owner_of(d, n));
    if (n->segment == FS_NONE && fs_decoder_make_room(d, n->memory, n->size, at)) {
      n->segment = fs_order_room_take(r, n->size, wanted, high, owner_of(d, n));
    }
    if (n->segment == FS_NONE && r->amounts) {
      n->segment = fs_order_amounts_borrow(r, n->size, wanted, owner_of(d, n));
    }
    if (n->segment == FS_NONE) {
      return false;
    }
  }
  return true;
}

/* All that is there leaves, the op's own inputs, too, and its needs go to the lowest addresses. */
static bool pack_needs(fs_decoder *d, uint32_t op) {
  for (uint32_t i = 0; i < d->n_needs; i++) {
    fs_order_room *r = &d->room[d->need[i].memory];
    if (d->need[i].segment != FS_NONE) {
      fs_order_room_give(r, d->need[i].segment, r->segment[d->need[i].segment].since);
    }
  }
  for (uint32_t i = 0; i < d->n_needs; i++) {
    const fs_order_room *r = &d->room[d->need[i].memory];
    for (uint32_t k = r->first, next; k != FS_NONE; k = next) {
      next = r->segment[k].after;
      if (r->segment[k].owner != FS_SEGMENT_FREE) {
        fs_decoder_expel(d, r->segment[k].owner);
      }
    }
  }
  collect_needs(d, op);
  for (uint32_t i = 0; i < d->n_needs; i++) {
    fs_order_need *n = &d->need[i];
    n->segment = fs_order_room_take_lowest(&d->room[n->memory], n->size, owner_of(d, n));
    if (n->segment == FS_NONE) {
      return false;
    }
  }
  return true;
}

/* ---- ops */

static fs_tick end_of_preds(const fs_decoder *d, uint32_t op) {
  fs_tick end = 0;
  for (uint32_t i = d->g->pred0[op]; i < d->g->pred0[op + 1]; i++) {
    end = fs_max(end, d->op_end[d->g->pred[i]]);
  }
  return end;
}

/* Reads what has content, and returns when all needs and versions are ready. */
static fs_tick fill_needs(fs_decoder *d, uint32_t op, fs_tick ready) {
  for (uint32_t i = 0; i < d->n_needs; i++) {
    const fs_order_need *n = &d->need[i];
    if (n->touch == FS_NONE || !d->state[d->touch[n->touch].version].content) {
      ready = fs_max(ready, d->room[n->memory].segment[n->segment].since);
    }
    if (n->touch != FS_NONE) {
      uint32_t v = d->touch[n->touch].version;
      d->state[v].segment = n->segment;
      if (d->state[v].content) {
        read_version(d, v);
      }
    }
  }
  for (uint32_t i = d->touch0[op]; i < d->touch0[op + 1]; i++) {
    const fs_order_touch *t = &d->touch[i];
    ready = fs_max(ready, d->state[t->version].ready);
    ready = takes_over(d, t) ? fs_max(ready, d->state[t->from].end) : ready;
  }
  return ready;
}

static fs_tick start_gang(fs_decoder *d, uint32_t op, fs_tick ready) {
  const fsched_graph *g = d->g;
  uint32_t gang = g->op_gang[op], first = g->gang_queue0[gang], end = g->gang_queue0[gang + 1];
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t i = first; i < end; i++) {
      fs_tick start =
          fs_order_queue_earliest(&d->timeline[g->gang_queue[i]], ready, g->op_time[op]);
      moved = moved || start > ready;
      ready = fs_max(ready, start);
    }
  }
  for (uint32_t i = first; i < end; i++) {
    fs_order_queue_take(&d->timeline[g->gang_queue[i]], ready, g->op_time[op]);
  }
  fs_decoder_note_op(d, op, g->gang_queue[first]);
  return ready;
}

static void start_op(fs_decoder *d, uint32_t op, fs_tick ready) {
  const fsched_graph *g = d->g;
  if (g->op_gang[op] != FS_NONE) {
    d->op_start[op] = start_gang(d, op, ready);
  } else {
    uint32_t queue = first_queue(d, g->op_domain[op], ready, g->op_time[op], &d->op_start[op]);
    fs_order_queue_take(&d->timeline[queue], d->op_start[op], g->op_time[op]);
    fs_decoder_note_op(d, op, queue);
  }
  d->op_end[op] = d->op_start[op] + g->op_time[op];
  d->run->makespan = fs_max(d->run->makespan, d->op_end[op]);
}

/* The op begins the residencies of versions without content. */
static void begin_outputs(fs_decoder *d, uint32_t op) {
  for (uint32_t i = d->touch0[op]; i < d->touch0[op + 1]; i++) {
    const fs_order_touch *t = &d->touch[i];
    fs_order_state *s = &d->state[t->version];
    if (s->content) {
      continue;
    }
    uint32_t over = FS_NONE;
    if (takes_over(d, t)) {
      fs_order_state *from = &d->state[t->from];
      over = from->residency;
      s->segment = from->segment;
      d->room[d->version[t->version].memory].segment[s->segment].owner = t->version;
      fs_decoder_note_end(d, from->residency, fs_max(from->end, d->op_end[op]));
      from->segment = FS_NONE;
    }
    s->content = true;
    s->ready = d->op_start[op];
    fs_decoder_note_begin(d, t->version, op, d->version[t->version].memory, s->segment, s->ready,
                          &s->residency);
    if (over != FS_NONE) {
      fs_decoder_note_handing(d, over, s->residency, s->ready, d->op_end[op]);
    }
  }
}

static void end_uses(fs_decoder *d, uint32_t op) {
  for (uint32_t i = d->touch0[op]; i < d->touch0[op + 1]; i++) {
    const fs_order_touch *t = &d->touch[i];
    fs_order_state *s = &d->state[t->version];
    s->end = fs_max(s->end, d->op_end[op]);
    s->next++;
    if (t->writes) {
      s->dirty = true;
      s->writers_left--;
      s->written = fs_max(s->written, d->op_end[op]);
    }
  }
  for (uint32_t i = d->touch0[op]; i < d->touch0[op + 1]; i++) {
    uint32_t v = d->touch[i].version;
    const fs_order_state *s = &d->state[v];
    bool over = s->next == d->use_end[v] && !(d->version[v].kept && s->dirty);
    if (over && s->segment != FS_NONE) {
      leave_place(d, v);
    }
  }
}

static void end_scratch(fs_decoder *d, uint32_t op) {
  for (uint32_t i = 0; i < d->n_needs; i++) {
    const fs_order_need *n = &d->need[i];
    if (n->touch == FS_NONE) {
      uint32_t residency;
      fs_decoder_note_begin(d, FS_NONE, op, n->memory, n->segment, d->op_start[op], &residency);
      fs_decoder_note_end(d, residency, d->op_end[op]);
      d->scratch_residency[n->scratch] = residency;
      fs_order_room_give(&d->room[n->memory], n->segment, d->op_end[op]);
    }
  }
}

bool fs_decoder_step(fs_decoder *d, uint32_t at) {
  assert(at < d->g->n_ops);
  uint32_t op = d->op_at[at];
  for (uint32_t i = d->touch0[op]; i < d->touch0[op + 1]; i++) {
    d->state[d->touch[i].version].turn = at + 1;
  }
  fs_tick inputs = end_of_preds(d, op);
  collect_needs(d, op);
  for (uint32_t i = 0; i < d->n_needs; i++) {
    const fs_memory *m = &d->g->target.memory[d->need[i].memory];
    fs_tick slot;
    (void)first_queue(d, m->spill_domain, 0, 1, &slot);
    fs_order_room_tidy(&d->room[d->need[i].memory], slot);
  }
  if (!place_needs(d, at, inputs) && !pack_needs(d, op)) {
    return false;
  }
  start_op(d, op, fill_needs(d, op, inputs));
  begin_outputs(d, op);
  fs_decoder_note_args(d, op);
  end_scratch(d, op);
  end_uses(d, op);
  return true;
}

void fs_decoder_finish(fs_decoder *d) {
  assert(d->op_at != NULL);
  for (uint32_t v = 0; v < d->g->n_versions; v++) {
    if (d->state[v].segment != FS_NONE) {
      fs_decoder_expel(d, v);
    }
  }
}

bool fs_decoder_run(fs_decoder *d, const uint32_t *op_at) {
  assert(op_at != NULL);
  fs_decoder_begin(d, op_at);
  for (uint32_t k = 0; k < d->g->n_ops; k++) {
    if (!fs_decoder_step(d, k)) {
      return false;
    }
  }
  fs_decoder_finish(d);
  return true;
}
