/* SPDX-License-Identifier: Apache-2.0 */
/* A schedule looked at pair by pair.  Contents are found backwards: what lies in a residency before
 * an item is what the last item that wrote there left. */
#include "kit/oracle/oracle.h"

typedef struct oracle_schedule_look {
  const fs_schedule *s;
  const fsched_graph *g;
} oracle_schedule_look;

/* Do two half-open intervals meet?  One without length meets what runs over its instant. */
static bool meet(fs_tick a, fs_tick b, fs_tick c, fs_tick d) {
  if (a == b && c == d) {
    return false;
  }
  return a == b ? c < a && a < d : c == d ? a < c && c < b : a < d && c < b;
}
/* Is [c, d) there when [a, b) begins? */
static bool there(fs_tick a, fs_tick b, fs_tick c, fs_tick d) {
  return a == b ? c < a && a < d : c <= a && a < d;
}

static uint32_t place_in_order(const oracle_schedule_look *l, uint32_t item) {
  uint32_t i = 0;
  while (i < l->s->n_items && l->s->order[i] != item) {
    i++;
  }
  return i;
}

static bool bounded(const oracle_schedule_look *l, uint32_t memory) {
  return l->g->target.memory[memory].capacity != FS_UNBOUNDED;
}
static uint32_t home(const oracle_schedule_look *l, uint32_t version) {
  return l->g->buffer_memory[l->g->version_buffer[version]];
}
static bool spills(const oracle_schedule_look *l, uint32_t memory) {
  const fs_memory *m = &l->g->target.memory[memory];
  return m->backing != FS_NONE && m->spill_domain != FS_NONE;
}
static bool given(const oracle_schedule_look *l, uint32_t version) {
  uint32_t b = l->g->version_buffer[version];
  return version == l->g->buffer_version0[b] && l->g->buffer_io[b] != FSCHED_IO_NONE &&
         l->g->buffer_io[b] != FSCHED_IO_OUTPUT;
}

/* --- queues and times --- */

static bool on_queue(const oracle_schedule_look *l, uint32_t item, uint32_t queue) {
  if (item < l->g->n_ops && l->g->op_gang[item] != FS_NONE) {
    uint32_t gang = l->s->op_gang[item];
    for (uint32_t i = l->s->gang_queue0[gang]; i < l->s->gang_queue0[gang + 1]; i++) {
      if (l->s->gang_queue[i] == queue) {
        return true;
      }
    }
    return false;
  }
  return l->s->queue[item] == queue;
}

static bool share_queue(const oracle_schedule_look *l, uint32_t a, uint32_t b) {
  for (uint32_t q = 0; q < l->s->n_queues; q++) {
    if (on_queue(l, a, q) && on_queue(l, b, q)) {
      return true;
    }
  }
  return false;
}

/* Whether the op is on as many of its gang's queues as the gang takes, and on no others. */
static bool may_run_together(const oracle_schedule_look *l, uint32_t op) {
  uint32_t asked = l->g->op_gang[op], gang = l->s->op_gang[op], inside = 0;
  if (gang >= l->s->n_gangs) {
    return false;
  }
  for (uint32_t i = l->g->gang_queue0[asked]; i < l->g->gang_queue0[asked + 1]; i++) {
    inside += on_queue(l, op, l->g->gang_queue[i]);
  }
  uint32_t first = l->s->gang_queue0[gang], n = l->s->gang_queue0[gang + 1] - first;
  return inside == n && n == l->g->gang_members[asked] &&
         l->s->queue[op] == l->s->gang_queue[first];
}

static bool may_run(const oracle_schedule_look *l, uint32_t item) {
  uint32_t domain;
  if (item < l->g->n_ops) {
    domain = l->g->op_domain[item];
    if (l->g->op_gang[item] != FS_NONE) {
      return may_run_together(l, item);
    }
  } else {
    domain = l->g->target.memory[home(l, l->s->copy_version[item - l->g->n_ops])].spill_domain;
  }
  bool found = l->g->target.implicit_queues || domain == FS_NONE;
  for (uint32_t i = 0; !found && i < l->g->target.n_queues; i++) {
    for (uint32_t k = l->g->target.domain_queue0[domain];
         k < l->g->target.domain_queue0[domain + 1]; k++) {
      found = found || (l->g->target.domain_queue[k] == i && l->s->queue[item] == i);
    }
  }
  return found;
}

static fs_tick time_of(const oracle_schedule_look *l, uint32_t item) {
  if (item < l->g->n_ops) {
    return l->g->op_latency == NULL ? l->g->op_time[item] : l->g->op_latency[item];
  }
  uint32_t copy = item - l->g->n_ops, v = l->s->copy_version[copy];
  const fs_memory *m = &l->g->target.memory[home(l, v)];
  uint64_t size = l->g->buffer_size[l->g->version_buffer[v]];
  return l->s->copy_kind[copy] == FS_SPILL_WRITE ? fs_spill_write_time(m, size)
                                                 : fs_spill_read_time(m, size);
}

static fs_tick free_at(const oracle_schedule_look *l, uint32_t item) {
  return item < l->g->n_ops ? l->s->start[item] + l->g->op_time[item] : l->s->end[item];
}

/* Must item `k` be over when op o starts, as its epoch is not after that of op p, before o? */
static bool holds_back(const oracle_schedule_look *l, uint32_t k, uint32_t p, uint32_t o) {
  bool quick = time_of(l, p) == l->g->op_time[p];
  bool plain = l->g->op_gang[p] == FS_NONE && l->g->op_gang[o] == FS_NONE;
  bool order = quick && plain && l->s->queue[p] == l->s->queue[o];
  return !order && share_queue(l, k, p) && place_in_order(l, k) < place_in_order(l, p);
}

static const char *check_items(const oracle_schedule_look *l) {
  const fs_schedule *s = l->s;
  fs_tick last = 0;
  for (uint32_t i = 0; i < s->n_items; i++) {
    last = fs_max(last, s->end[i]);
    if (s->end[i] < s->start[i] || s->end[i] - s->start[i] != time_of(l, i)) {
      return "duration";
    }
    if (!may_run(l, i)) {
      return "queue";
    }
    for (uint32_t k = 0; k < i; k++) {
      if (share_queue(l, i, k) && meet(s->start[i], free_at(l, i), s->start[k], free_at(l, k))) {
        return "overlap on a queue";
      }
      if ((s->start[i] < s->start[k]) != (place_in_order(l, i) < place_in_order(l, k)) &&
          s->start[i] != s->start[k]) {
        return "order";
      }
    }
  }
  for (uint32_t o = 0; o < l->g->n_ops; o++) {
    for (uint32_t e = l->g->pred0[o]; e < l->g->pred0[o + 1]; e++) {
      if (s->end[l->g->pred[e]] > s->start[o] ||
          place_in_order(l, l->g->pred[e]) > place_in_order(l, o)) {
        return "precedence";
      }
      for (uint32_t k = 0; k < s->n_items; k++) {
        if (holds_back(l, k, l->g->pred[e], o) && s->end[k] > s->start[o]) {
          return "held back";
        }
      }
    }
  }
  bool status = s->makespan == last && s->lower_bound <= last &&
                (s->status != FS_SCHEDULE_OPTIMAL || s->lower_bound == last);
  return status ? NULL : "status";
}

static const char *check_amounts(const oracle_schedule_look *l) {
  const fs_schedule *s = l->s;
  for (uint32_t o = 0; o < l->g->n_ops; o++) {
    uint64_t ops = 0;
    uint64_t used[16] = {0};
    for (uint32_t k = 0; k < l->g->n_ops; k++) {
      if (k != o && !there(s->start[o], s->end[o], s->start[k], s->end[k])) {
        continue;
      }
      ops++;
      for (uint32_t u = l->g->op_use0[k]; u < l->g->op_use0[k + 1]; u++) {
        used[l->g->use_resource[u]] += l->g->use_amount[u];
      }
    }
    if (l->g->target.concurrency > 0 && ops > l->g->target.concurrency) {
      return "concurrency";
    }
    for (uint32_t r = 0; r < l->g->target.n_resources; r++) {
      if (used[r] > l->g->target.resource_capacity[r]) {
        return "resource";
      }
    }
  }
  return NULL;
}

/* --- residencies --- */

static bool in_place(const oracle_schedule_look *l, uint32_t a, uint32_t b) {
  const fs_schedule *s = l->s;
  for (uint32_t op = 0; op < l->g->n_ops; op++) {
    for (uint32_t i = l->g->op_inplace0[op]; i < l->g->op_inplace0[op + 1]; i++) {
      uint32_t out = l->g->arg_version[l->g->inplace_out[i]];
      uint32_t in = l->g->arg_version[l->g->inplace_in[i]];
      for (uint32_t turn = 0; turn < 2; turn++) {
        uint32_t x = turn == 0 ? a : b, y = turn == 0 ? b : a;
        if (s->res_version[x] == in && s->res_version[y] == out &&
            s->res_address[x] == s->res_address[y] && s->res_size[x] == s->res_size[y] &&
            s->res_begin[y] >= s->start[op] && s->res_end[x] <= s->end[op]) {
          return true;
        }
      }
    }
  }
  return false;
}

static const char *check_pair(const oracle_schedule_look *l, uint32_t a, uint32_t b) {
  const fs_schedule *s = l->s;
  if (s->res_memory[a] != s->res_memory[b] ||
      !meet(s->res_begin[a], s->res_end[a], s->res_begin[b], s->res_end[b])) {
    return NULL;
  }
  if (s->res_version[a] != FS_NONE && s->res_version[a] == s->res_version[b]) {
    return "two residencies";
  }
  bool apart = s->res_address[a] + s->res_size[a] <= s->res_address[b] ||
               s->res_address[b] + s->res_size[b] <= s->res_address[a];
  if (l->g->target.memory[s->res_memory[a]].placement == FSCHED_CONTIGUOUS && !apart &&
      s->res_size[a] > 0 && s->res_size[b] > 0 && !in_place(l, a, b)) {
    return "overlap of residencies";
  }
  return NULL;
}

static const char *check_residency(const oracle_schedule_look *l, uint32_t r) {
  const fs_schedule *s = l->s;
  const fs_memory *m = &l->g->target.memory[s->res_memory[r]];
  uint64_t size;
  if (s->res_version[r] != FS_NONE) {
    uint32_t h = home(l, s->res_version[r]);
    size = l->g->buffer_size[l->g->version_buffer[s->res_version[r]]];
    if (s->res_memory[r] != h && s->res_memory[r] != l->g->target.memory[h].backing) {
      return "memory";
    }
  } else {
    uint32_t i = l->g->op_scratch0[s->res_op[r]], end = l->g->op_scratch0[s->res_op[r] + 1];
    while (i < end && l->g->scratch_memory[i] != s->res_memory[r]) {
      i++;
    }
    if (i == end || s->res_begin[r] != s->start[s->res_op[r]] ||
        s->res_end[r] != s->end[s->res_op[r]]) {
      return "scratch";
    }
    size = l->g->scratch_size[i];
  }
  if (m->capacity == FS_UNBOUNDED || s->res_address[r] % m->align != 0 ||
      s->res_size[r] != (size + m->align - 1) / m->align * m->align ||
      s->res_address[r] + s->res_size[r] > m->capacity || s->res_begin[r] > s->res_end[r] ||
      (m->placement == FSCHED_COUNTED && s->res_address[r] != 0)) {
    return "place";
  }
  uint64_t sum = s->res_size[r];
  for (uint32_t k = 0; k < s->n_residencies && m->placement == FSCHED_COUNTED; k++) {
    bool with = k != r && s->res_memory[k] == s->res_memory[r] &&
                there(s->res_begin[r], s->res_end[r], s->res_begin[k], s->res_end[k]);
    sum += with ? s->res_size[k] : 0;
  }
  return sum > m->capacity ? "capacity" : NULL;
}

static const char *check_scratch_there(const oracle_schedule_look *l) {
  const fs_schedule *s = l->s;
  for (uint32_t o = 0; o < l->g->n_ops; o++) {
    for (uint32_t i = l->g->op_scratch0[o]; i < l->g->op_scratch0[o + 1]; i++) {
      uint32_t n = 0;
      for (uint32_t r = 0; r < s->n_residencies; r++) {
        n += s->res_version[r] == FS_NONE && s->res_op[r] == o &&
             s->res_memory[r] == l->g->scratch_memory[i];
      }
      if (bounded(l, l->g->scratch_memory[i]) && l->g->scratch_size[i] > 0 && n != 1) {
        return "scratch";
      }
    }
  }
  return NULL;
}

static const char *check_residencies(const oracle_schedule_look *l) {
  for (uint32_t r = 0; r < l->s->n_residencies; r++) {
    const char *fault = check_residency(l, r);
    for (uint32_t k = 0; k < r && fault == NULL; k++) {
      fault = check_pair(l, r, k);
    }
    if (fault != NULL) {
      return fault;
    }
  }
  return check_scratch_there(l);
}

/* --- contents, asked backwards --- */

static bool contains(const oracle_schedule_look *l, uint32_t r, uint32_t memory, uint32_t version,
                     uint32_t item) {
  const fs_schedule *s = l->s;
  return s->res_memory[r] == memory && s->res_version[r] == version &&
         s->res_begin[r] <= s->start[item] && s->end[item] <= s->res_end[r];
}

/* The residency an item uses; FS_NONE if none. */
static uint32_t used(const oracle_schedule_look *l, uint32_t memory, uint32_t version,
                     uint32_t item, uint32_t stored) {
  if (stored != FS_NONE && contains(l, stored, memory, version, item)) {
    return stored;
  }
  for (uint32_t r = l->s->n_residencies; r-- > 0;) {
    if (contains(l, r, memory, version, item)) {
      return r;
    }
  }
  return FS_NONE;
}

static bool op_writes(const oracle_schedule_look *l, uint32_t op, uint32_t version, uint32_t *arg) {
  for (uint32_t a = l->g->op_arg0[op]; a < l->g->op_arg0[op + 1]; a++) {
    if (l->g->arg_version[a] == version && fs_tag_writes(l->g->arg_tag[a])) {
      *arg = a;
      return true;
    }
  }
  return false;
}

/* How many ops before this position in the order write the version. */
static uint32_t writes_before(const oracle_schedule_look *l, uint32_t version, uint32_t position) {
  uint32_t n = given(l, version), arg;
  for (uint32_t i = 0; i < position; i++) {
    uint32_t item = l->s->order[i];
    n += item < l->g->n_ops && op_writes(l, item, version, &arg);
  }
  return n;
}

static uint32_t copy_home(const oracle_schedule_look *l, uint32_t item) {
  uint32_t c = item - l->g->n_ops, v = l->s->copy_version[c];
  return used(l, home(l, v), v, item, l->s->copy_residency[c]);
}
static uint32_t copy_store(const oracle_schedule_look *l, uint32_t item) {
  uint32_t c = item - l->g->n_ops, v = l->s->copy_version[c];
  return used(l, l->g->target.memory[home(l, v)].backing, v, item, l->s->copy_store[c]);
}

/* Finds what lies in a residency (FS_NONE: the unbounded store of a version) before a position in
 * the order; *ready says since when. */
static uint32_t content(const oracle_schedule_look *l, uint32_t r, uint32_t version,
                        uint32_t position, fs_tick *ready) {
  const fs_schedule *s = l->s;
  while (position-- > 0) {
    uint32_t item = s->order[position], arg;
    if (item < l->g->n_ops) {
      if (r != FS_NONE && s->res_memory[r] == home(l, version) &&
          op_writes(l, item, version, &arg) &&
          used(l, home(l, version), version, item,
               s->arg_residency == NULL ? FS_NONE : s->arg_residency[arg]) == r) {
        *ready = s->end[item];
        return writes_before(l, version, position + 1);
      }
      continue;
    }
    if (s->copy_version[item - l->g->n_ops] != version) {
      continue;
    }
    bool write = s->copy_kind[item - l->g->n_ops] == FS_SPILL_WRITE;
    bool store_bounded = bounded(l, l->g->target.memory[home(l, version)].backing);
    uint32_t store = store_bounded ? copy_store(l, item) : FS_NONE;
    if ((write ? store : copy_home(l, item)) == r) {
      fs_tick ignored;
      *ready = s->end[item];
      return content(l, write ? copy_home(l, item) : store, version, position, &ignored);
    }
  }
  *ready = 0;
  bool away = spills(l, home(l, version));
  bool first =
      r == FS_NONE || (s->res_begin[r] == 0 && (s->res_memory[r] != home(l, version)) == away);
  return given(l, version) && first ? 1 : 0;
}

static const char *check_op_values(const oracle_schedule_look *l, uint32_t op) {
  const fs_schedule *s = l->s;
  uint32_t position = place_in_order(l, op);
  for (uint32_t a = l->g->op_arg0[op]; a < l->g->op_arg0[op + 1]; a++) {
    uint32_t v = l->g->arg_version[a];
    if (l->g->arg_tag[a] >= FSCHED_NO_DEP || !bounded(l, home(l, v))) {
      continue;
    }
    uint32_t stored = s->arg_residency == NULL ? FS_NONE : s->arg_residency[a];
    uint32_t r = used(l, home(l, v), v, op, stored);
    if (r == FS_NONE || (stored != FS_NONE && stored != r)) {
      return "access";
    }
    fs_tick ready;
    uint32_t have = content(l, r, v, position, &ready);
    bool part = l->g->arg_offset[a] > 0 || l->g->arg_length[a] < fs_version_size(l->g, v) ||
                (l->g->arg_view != NULL && l->g->arg_view[a] != FS_NONE);
    bool need = fs_tag_reads(l->g->arg_tag[a]) || part;
    if (need && have != writes_before(l, v, position)) {
      return "content";
    }
    if (fs_tag_reads(l->g->arg_tag[a]) && have == 0) {
      return "content";
    }
    if (have == 0 && s->res_begin[r] != s->start[op]) {
      return "begin";
    }
  }
  return NULL;
}

static const char *check_copy_values(const oracle_schedule_look *l, uint32_t item) {
  const fs_schedule *s = l->s;
  uint32_t c = item - l->g->n_ops, v = s->copy_version[c], position = place_in_order(l, item);
  if (!bounded(l, home(l, v)) || !spills(l, home(l, v))) {
    return "copy";
  }
  bool write = s->copy_kind[c] == FS_SPILL_WRITE;
  bool store_bounded = bounded(l, l->g->target.memory[home(l, v)].backing);
  uint32_t r = copy_home(l, item), store = store_bounded ? copy_store(l, item) : FS_NONE;
  if (r == FS_NONE || (store_bounded && store == FS_NONE) ||
      (s->copy_residency[c] != FS_NONE && s->copy_residency[c] != r)) {
    return "copy";
  }
  fs_tick ready, other;
  uint32_t have = content(l, write ? r : store, v, position, &ready);
  uint32_t old = content(l, write ? store : r, v, position, &other);
  if (have == 0 || have != writes_before(l, v, position) || ready > s->start[item]) {
    return "copied content";
  }
  if (!write && (old != 0 || s->res_begin[r] != s->start[item])) {
    return "fill";
  }
  if (write && store != FS_NONE && old == 0 && s->res_begin[store] != s->start[item]) {
    return "fill";
  }
  return NULL;
}

/* A copy may run beside readers, but never beside what changes or fills the same version. */
static const char *check_beside(const oracle_schedule_look *l, uint32_t item) {
  const fs_schedule *s = l->s;
  uint32_t v = s->copy_version[item - l->g->n_ops], arg;
  bool read = s->copy_kind[item - l->g->n_ops] == FS_SPILL_READ;
  for (uint32_t i = 0; i < s->n_items; i++) {
    bool op = i < l->g->n_ops, touches = false;
    for (uint32_t a = op ? l->g->op_arg0[i] : 0; op && a < l->g->op_arg0[i + 1]; a++) {
      touches = touches || (l->g->arg_version[a] == v && l->g->arg_tag[a] != FSCHED_NO_DEP);
    }
    bool against = op ? op_writes(l, i, v, &arg) || (read && touches)
                      : s->copy_version[i - l->g->n_ops] == v && i != item;
    if (against && meet(s->start[i], s->end[i], s->start[item], s->end[item])) {
      return "beside a copy";
    }
  }
  return NULL;
}

static const char *check_kept(const oracle_schedule_look *l) {
  const fs_schedule *s = l->s;
  for (uint32_t b = 0; b < l->g->n_buffers; b++) {
    uint32_t v = l->g->buffer_version0[b + 1] - 1, memory = l->g->buffer_memory[b];
    if ((l->g->buffer_io[b] != FSCHED_IO_OUTPUT && l->g->buffer_io[b] != FSCHED_IO_STATE) ||
        !bounded(l, memory)) {
      continue;
    }
    memory = spills(l, memory) ? l->g->target.memory[memory].backing : memory;
    bool found = false;
    fs_tick ready;
    uint32_t want = writes_before(l, v, s->n_items);
    if (!bounded(l, memory)) {
      found = content(l, FS_NONE, v, s->n_items, &ready) == want;
    }
    for (uint32_t r = 0; r < s->n_residencies && bounded(l, memory); r++) {
      found =
          found || (s->res_memory[r] == memory && s->res_version[r] == v &&
                    s->res_end[r] >= s->makespan && content(l, r, v, s->n_items, &ready) == want);
    }
    if (!found) {
      return "kept";
    }
  }
  return NULL;
}

const char *fs_oracle_schedule(const fs_schedule *s) {
  const oracle_schedule_look l = {s, s->graph};
  const char *(*const check[])(const oracle_schedule_look *) = {check_items, check_amounts,
                                                                check_residencies};
  for (size_t i = 0; i < sizeof check / sizeof check[0]; i++) {
    const char *fault = check[i](&l);
    if (fault != NULL) {
      return fault;
    }
  }
  for (uint32_t i = 0; i < s->n_items; i++) {
    const char *fault = i < s->graph->n_ops ? check_op_values(&l, i) : check_copy_values(&l, i);
    if (fault == NULL && i >= s->graph->n_ops) {
      fault = check_beside(&l, i);
    }
    if (fault != NULL) {
      return fault;
    }
  }
  return check_kept(&l);
}
