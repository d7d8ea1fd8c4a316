/* SPDX-License-Identifier: Apache-2.0 */
/* Execution of a small program in every interleaving.
 *
 * State: per queue the commands that have begun, and which of them are over; a byte holds
 * (buffer, version, offset, op that wrote it) as one number; a counted unit holds its version.  A
 * command checks what it reads when it begins, spoils what it writes, and writes when it ends.
 * States are remembered by a hash of all that.  Members of a gang run as commands of their own;
 * only the search for deadlocks lets them start together.  A command that updates several barriers
 * ends with the last of its parts.  After a slow command the next one may begin before it is over;
 * an epoch is reached when all commands up to it are over. */
#include <stdlib.h>

#include "kit/oracle/oracle_private.h"

enum { SPOILT = 1, MAX_BYTES = 1 << 16 };

static uint64_t mix(uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static cell make_cell(uint32_t buffer, uint32_t version, uint64_t offset, uint32_t op) {
  return mix(mix(mix(mix(buffer + 11) + version + 1) + offset + 3) + op + 7) | 2;
}

/* --- views --- */

/* Whether the k-th byte from the arg's begin is one of its elements', by trying all of these. */
static bool has_byte(const fs_stream *s, uint32_t arg, uint64_t k) {
  const fs_stream_view *v = NULL;
  for (uint32_t i = 0; i < s->n_views; i++) {
    v = s->views[i].arg == arg ? &s->views[i] : v;
  }
  if (v == NULL) {
    return true;
  }
  uint64_t n = 1;
  for (uint32_t d = 0; d < v->n_dims; d++) {
    n *= v->shape[d];
  }
  bool has = false;
  for (uint64_t i = 0; i < n && !has; i++) {
    uint64_t at = 0, rest = i;
    for (uint32_t d = 0; d < v->n_dims; d++) {
      at += rest % v->shape[d] * v->stride[d];
      rest /= v->shape[d];
    }
    has = k >= at && k < at + v->element;
  }
  return has;
}

/* The same for a place, of which a command touches all unless it is of an op's arg. */
static bool has_place_byte(const machine *x, uint32_t c, const fs_stream_place *p, uint64_t k) {
  bool arg = x->s->commands[c].kind == FS_COMMAND_RUN && p->space == FS_SPACE_MEMORY &&
             p->version != FS_NONE && p->arg < x->s->n_args;
  return !arg || has_byte(x->s, p->arg, k);
}

/* --- the sequential evaluation --- */

static void evaluate(machine *x) {
  const fs_stream *s = x->s;
  for (uint32_t b = 0; b < s->n_buffers; b++) {
    const fs_stream_buffer *f = &s->buffers[b];
    bool given =
        f->io == FSCHED_IO_INPUT || f->io == FSCHED_IO_CONSTANT || f->io == FSCHED_IO_STATE;
    x->final[b] = calloc(f->size + 1, sizeof(cell));
    x->last_version[b] = given ? 0 : FS_NONE;
    for (uint64_t i = 0; given && i < f->size; i++) {
      x->final[b][i] = make_cell(b, 0, i, FS_NONE);
    }
  }
  for (uint32_t o = 0; o < s->n_ops; o++) {
    const fs_stream_op *op = &s->ops[o];
    for (uint32_t a = op->arg0; a < op->arg0 + op->n_args; a++) {
      const fs_stream_arg *g = &s->args[a];
      if (g->tag == FSCHED_VALUE) {
        continue;
      }
      uint32_t now = x->last_version[g->buffer];
      x->version_of_arg[a] = now == FS_NONE ? 0 : now + (g->tag == FSCHED_OUT);
      x->want[a] = calloc(g->length + 1, sizeof(cell));
      memcpy(x->want[a], x->final[g->buffer] + g->offset, g->length * sizeof(cell));
    }
    /* The first pass is for what is written in place, the second for new versions. */
    for (uint32_t pass = 0; pass < 2; pass++) {
      for (uint32_t a = op->arg0; a < op->arg0 + op->n_args; a++) {
        const fs_stream_arg *g = &s->args[a];
        if (!fs_tag_writes(g->tag) || (g->tag == FSCHED_OUT) != (pass == 1)) {
          continue;
        }
        x->last_version[g->buffer] = x->version_of_arg[a];
        if (g->tag == FSCHED_OUT) {
          memset(x->final[g->buffer], 0, s->buffers[g->buffer].size * sizeof(cell));
        }
        for (uint64_t i = g->offset; i < g->offset + g->length; i++) {
          if (has_byte(s, a, i - g->offset)) {
            x->final[g->buffer][i] = make_cell(g->buffer, x->version_of_arg[a], i, o);
          }
        }
      }
    }
  }
}

/* --- memory --- */

static void set(machine *x, bool unit, uint32_t memory, uint64_t address, cell value) {
  cell *c = &(unit ? x->unit : x->byte)[memory][address];
  uint64_t key = mix(memory * 2 + unit + mix(address));
  x->hash ^= mix(key + *c) ^ mix(key + value);
  *c = value;
}

static bool is_no_dep(const machine *x, const fs_stream_place *p) {
  return p->space == FS_SPACE_MEMORY && p->version != FS_NONE && p->arg < x->s->n_args &&
         x->s->args[p->arg].tag == FSCHED_NO_DEP;
}

static bool touch(const machine *x, uint32_t a, uint32_t b) {
  const fs_stream_command *c = &x->s->commands[a], *d = &x->s->commands[b];
  for (uint32_t i = 0; i < c->n_places; i++) {
    for (uint32_t k = 0; k < d->n_places; k++) {
      const fs_stream_place *p = &places(x, a)[i], *q = &places(x, b)[k];
      if (p->space == q->space && p->index == q->index && ((p->mode | q->mode) & FS_MODE_W) &&
          p->address < q->address + q->size && q->address < p->address + p->size && p->size > 0 &&
          q->size > 0 && !is_no_dep(x, p) && !is_no_dep(x, q)) {
        return true;
      }
    }
  }
  return false;
}

/* --- one command --- */

static fs_oracle_verdict reads_right(const machine *x, uint32_t c) {
  const fs_stream_command *m = &x->s->commands[c];
  for (uint32_t i = 0; i < m->n_places; i++) {
    const fs_stream_place *p = &places(x, c)[i];
    if (p->space == FS_SPACE_COUNTED && (p->mode & FS_MODE_R)) {
      for (uint64_t k = 0; k < p->size; k++) {
        cell have = x->unit[p->index][p->address + k];
        bool given = p->version != FS_NONE && x->s->versions[p->version].given_memory == p->index;
        if (p->version != FS_NONE && have != p->version + 2u && !(have == 0 && given)) {
          return FS_ORACLE_VALUE;
        }
      }
    }
    if (m->kind != FS_COMMAND_RUN || p->space != FS_SPACE_MEMORY || p->version == FS_NONE ||
        is_no_dep(x, p) || !fs_tag_reads(x->s->args[p->arg].tag)) {
      continue;
    }
    for (uint64_t k = 0; k < p->size && k < x->s->args[p->arg].length; k++) {
      if (has_place_byte(x, c, p, k) && x->byte[p->index][p->address + k] != x->want[p->arg][k]) {
        return FS_ORACLE_VALUE;
      }
    }
  }
  return FS_ORACLE_RIGHT;
}

static void spoil(machine *x, uint32_t c) {
  for (uint32_t i = 0; i < x->s->commands[c].n_places; i++) {
    const fs_stream_place *p = &places(x, c)[i];
    for (uint64_t k = 0; k < p->size && (p->mode & FS_MODE_W); k++) {
      if (p->space == FS_SPACE_MEMORY && !is_no_dep(x, p) && has_place_byte(x, c, p, k)) {
        set(x, false, p->index, p->address + k, SPOILT);
      } else if (p->space == FS_SPACE_COUNTED) {
        set(x, true, p->index, p->address + k, p->version == FS_NONE ? SPOILT : p->version + 2u);
      }
    }
  }
}

static void finish(machine *x, uint32_t c) {
  const fs_stream_command *m = &x->s->commands[c];
  for (uint32_t i = 0; i < m->n_places; i++) {
    const fs_stream_place *p = &places(x, c)[i];
    if (p->space != FS_SPACE_MEMORY || !(p->mode & FS_MODE_W) || p->version == FS_NONE) {
      continue;
    }
    for (uint64_t k = 0; k < p->size; k++) {
      if (!has_place_byte(x, c, p, k)) {
        continue;
      }
      cell value = SPOILT;
      if (m->kind == FS_COMMAND_COPY) {
        const fs_stream_place *from = &places(x, c)[0];
        value = x->byte[from->index][from->address + k];
      } else if (fs_tag_writes(x->s->args[p->arg].tag)) {
        const fs_stream_arg *a = &x->s->args[p->arg];
        value = make_cell(a->buffer, x->version_of_arg[p->arg], a->offset + k, m->target);
      }
      set(x, false, p->index, p->address + k, value);
    }
  }
}

/* --- waits --- */

/* What other queues see of a queue: its last epoch that signalled. */
static uint32_t published(const machine *x, uint32_t q) {
  uint32_t e = x->done[q];
  while (e > 0 && !x->s->commands[x->s->queues[q].command0 + e - 1].signal) {
    e--;
  }
  return e;
}

static bool point_reached(const machine *x, const fs_stream_wait *w) {
  const fs_stream *s = x->s;
  if (w->axis < s->n_queues) {
    return published(x, w->axis) >= w->epoch;
  }
  uint32_t found = 0, done = 0;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *m = &s->commands[c];
    if (m->gang_axis == w->axis && m->gang_epoch == w->epoch) {
      found++;
      done += m->signal && x->done[x->queue_of[c]] >= x->epoch[c];
    }
  }
  return found > 0 && done == found;
}

static bool is_over(const machine *x, uint32_t d) { return x->over >> d & 1; }

static bool has_begun(const machine *x, uint32_t d) {
  return x->started[x->queue_of[d]] >= x->epoch[d];
}

static bool is_running(const machine *x, uint32_t d) { return has_begun(x, d) && !is_over(x, d); }

/* Finds up to which command all of the queue are over. */
static void set_done(machine *x, uint32_t q) {
  const fs_stream_queue *u = &x->s->queues[q];
  x->done[q] = 0;
  while (x->done[q] < u->n_commands && is_over(x, u->command0 + x->done[q])) {
    x->done[q]++;
  }
}

/* Whether each barrier that c waits for is complete: the parts of commands that count in it are
 * over. */
static bool barriers_complete(const machine *x, uint32_t c) {
  const fs_stream *s = x->s;
  const fs_stream_command *m = &s->commands[c];
  bool complete = true;
  for (uint32_t i = 0; i < m->n_barrier_waits; i++) {
    for (uint32_t d = 0; d < s->n_commands; d++) {
      const fs_stream_update *u = s->barrier_updates + s->commands[d].barrier_update0;
      for (uint32_t k = 0; k < s->commands[d].n_barrier_updates; k++) {
        complete = complete && (u[k].barrier != s->barrier_waits[m->barrier_wait0 + i] ||
                                is_over(x, d) || (has_begun(x, d) && x->parts[d] >> k & 1));
      }
    }
  }
  return complete;
}

static bool can_begin(const machine *x, uint32_t q) {
  const fs_stream_queue *u = &x->s->queues[q];
  uint32_t c = u->command0 + x->started[q];
  if (x->started[q] == u->n_commands ||
      (x->started[q] > 0 && !is_over(x, c - 1) && !is_slow(x->s, c - 1))) {
    return false;
  }
  const fs_stream_command *m = &x->s->commands[c];
  bool timeline = x->s->meta[0].sync == FS_SYNC_TIMELINE;
  for (uint32_t i = 0; i < m->n_waits && timeline; i++) {
    if (!point_reached(x, &x->s->waits[m->wait0 + i])) {
      return false;
    }
  }
  for (uint32_t d = 0; d < x->s->n_commands && !timeline; d++) {
    bool block = x->s->meta[0].sync == FS_SYNC_BLOCK;
    if ((block && x->held[c] >> d & 1 && !is_over(x, d)) ||
        (x->begun[c] >> d & 1 && !has_begun(x, d))) {
      return false;
    }
  }
  return barriers_complete(x, c);
}

/* --- amounts while commands run --- */

static bool amounts_fit(const machine *x) {
  const fs_stream *s = x->s;
  uint64_t ops = 0;
  uint64_t *used = calloc(s->n_resources + 1, sizeof *used);
  for (uint32_t c = 0; c < s->n_commands; c++) {
    bool counted = is_running(x, c) && s->commands[c].kind == FS_COMMAND_RUN;
    for (uint32_t d = 0; d < c && counted; d++) { /* a gang counts once */
      counted = !(is_running(x, d) && one_gang(x, c, d));
    }
    if (counted) {
      const fs_stream_op *o = &s->ops[s->commands[c].target];
      ops++;
      for (uint32_t u = o->use0; u < o->use0 + o->n_uses; u++) {
        used[s->uses[u].resource] += s->uses[u].amount;
      }
    }
  }
  bool fit = s->meta[0].concurrency == 0 || ops <= s->meta[0].concurrency;
  for (uint32_t r = 0; r < s->n_resources; r++) {
    fit = fit && used[r] <= s->resources[r].capacity;
  }
  free(used);
  return fit;
}

/* --- the search --- */

static uint64_t state_key(const machine *x) {
  uint64_t h = mix(x->hash + x->over);
  for (uint32_t q = 0; q < x->s->n_queues; q++) {
    h = mix(h + x->started[q] + 1);
  }
  for (uint32_t c = 0; c < x->s->n_commands; c++) {
    h = is_running(x, c) ? mix(h + x->parts[c] + c) : h;
  }
  return h | 1;
}

/* Adds a state; true if it is new. */
static bool remember(machine *x, uint64_t key) {
  for (size_t i = key % x->cap_seen;; i = (i + 1) % x->cap_seen) {
    if (x->seen[i] == key) {
      return false;
    }
    if (x->seen[i] == 0) {
      x->seen[i] = key;
      x->n_seen++;
      return true;
    }
  }
}

static fs_oracle_verdict check_end(const machine *x) {
  const fs_stream *s = x->s;
  for (uint32_t b = 0; b < s->n_buffers; b++) {
    const fs_stream_buffer *f = &s->buffers[b];
    if ((f->io != FSCHED_IO_OUTPUT && f->io != FSCHED_IO_STATE) || x->last_version[b] == FS_NONE) {
      continue;
    }
    const fs_stream_version *v = &s->versions[f->version0 + x->last_version[b]];
    if (x->last_version[b] >= f->n_versions || v->kept_memory == FS_NONE) {
      return FS_ORACLE_KEPT;
    }
    for (uint64_t i = 0; i < f->size; i++) {
      if (x->final[b][i] != 0 && (v->kept_address + i >= s->memories[v->kept_memory].extent ||
                                  x->byte[v->kept_memory][v->kept_address + i] != x->final[b][i])) {
        return FS_ORACLE_KEPT;
      }
    }
  }
  return FS_ORACLE_RIGHT;
}

typedef struct oracle_undo {
  bool unit;
  uint32_t memory;
  uint64_t address;
  cell value;
} oracle_undo;

/* Saves what a command may change; restore frees it. */
static oracle_undo *save(machine *x, uint32_t c, size_t *n) {
  size_t room = 0;
  for (uint32_t i = 0; i < x->s->commands[c].n_places; i++) {
    room += places(x, c)[i].space <= FS_SPACE_COUNTED ? places(x, c)[i].size : 0;
  }
  oracle_undo *u = malloc((room + 1) * sizeof *u);
  *n = 0;
  for (uint32_t i = 0; i < x->s->commands[c].n_places; i++) {
    const fs_stream_place *p = &places(x, c)[i];
    for (uint64_t k = 0; p->space <= FS_SPACE_COUNTED && k < p->size; k++) {
      bool unit = p->space == FS_SPACE_COUNTED;
      u[(*n)++] = (oracle_undo){unit, p->index, p->address + k,
                                (unit ? x->unit : x->byte)[p->index][p->address + k]};
    }
  }
  return u;
}

static void restore(machine *x, oracle_undo *u, size_t n) {
  while (n-- > 0) {
    set(x, u[n].unit, u[n].memory, u[n].address, u[n].value);
  }
  free(u);
}

static fs_oracle_verdict explore(machine *x);

/* Whether the ops that the command's op is `after` are complete. */
static bool after_done(const machine *x, uint32_t c) {
  const fs_stream *s = x->s;
  const fs_stream_op *o = &s->ops[s->commands[c].target];
  for (uint32_t i = 0; s->commands[c].kind == FS_COMMAND_RUN && i < o->n_afters; i++) {
    for (uint32_t d = 0; d < s->n_commands; d++) {
      if (s->commands[d].kind == FS_COMMAND_RUN &&
          s->commands[d].target == s->afters[o->after0 + i] && !is_over(x, d)) {
        return false;
      }
    }
  }
  return true;
}

static fs_oracle_verdict begin(machine *x, uint32_t q) {
  uint32_t c = x->s->queues[q].command0 + x->started[q];
  if (!after_done(x, c)) {
    return FS_ORACLE_ORDER;
  }
  bool gang_begun = false;
  for (uint32_t d = 0; d < x->s->n_commands; d++) {
    if (is_running(x, d) && !one_gang(x, c, d) && touch(x, c, d)) {
      return FS_ORACLE_CONFLICT;
    }
  }
  for (uint32_t d = 0; d < x->s->n_commands; d++) {
    gang_begun = gang_begun || (d != c && one_gang(x, c, d) && has_begun(x, d));
  }
  if (!gang_begun) { /* later members of the gang continue what the first one began */
    fs_oracle_verdict verdict = reads_right(x, c);
    if (verdict != FS_ORACLE_RIGHT) {
      return verdict;
    }
  }
  size_t n;
  oracle_undo *u = save(x, c, &n);
  spoil(x, c);
  x->parts[c] = 0;
  x->started[q]++;
  fs_oracle_verdict verdict = amounts_fit(x) ? explore(x) : FS_ORACLE_CAPACITY;
  x->started[q]--;
  restore(x, u, n);
  return verdict;
}

/* Whether everything that the frontier of c claims is over. */
static bool frontier_true(const machine *x, uint32_t c) {
  bool fine = true;
  for (uint32_t d = 0; d < x->s->n_commands; d++) {
    fine = fine && (d == c || !(x->said[c] >> d & 1) || is_over(x, d));
  }
  return fine;
}

/* Whether the frontiers of the commands are true whose epochs are reached now; `before` were
 * already. */
static bool frontiers_true(const machine *x, uint32_t q, uint32_t before) {
  bool fine = true;
  for (uint32_t e = before; e < x->done[q]; e++) {
    fine = fine && frontier_true(x, x->s->queues[q].command0 + e);
  }
  return fine;
}

static fs_oracle_verdict end_all(machine *x, uint32_t c) {
  size_t n;
  uint32_t q = x->queue_of[c], before = x->done[q];
  oracle_undo *u = save(x, c, &n);
  finish(x, c);
  x->over |= (uint64_t)1 << c;
  set_done(x, q);
  fs_oracle_verdict verdict = frontiers_true(x, q, before) ? explore(x) : FS_ORACLE_FRONTIER;
  x->over &= ~((uint64_t)1 << c);
  set_done(x, q);
  restore(x, u, n);
  return verdict;
}

/* Ends one of the parts of a running command; the last part ends the command. */
static fs_oracle_verdict end(machine *x, uint32_t c) {
  uint32_t n = x->s->commands[c].n_barrier_updates;
  fs_oracle_verdict verdict = FS_ORACLE_RIGHT;
  uint64_t before = x->parts[c];
  uint64_t whole = n >= 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
  for (uint32_t k = 0; k < n && verdict == FS_ORACLE_RIGHT; k++) {
    uint64_t after = before | (uint64_t)1 << k;
    if (after != before && after != whole) {
      x->parts[c] = after;
      verdict = explore(x);
    }
  }
  x->parts[c] = before;
  bool last = n <= 1 || (whole & ~before & ((whole & ~before) - 1)) == 0;
  return verdict == FS_ORACLE_RIGHT && last ? end_all(x, c) : verdict;
}

static fs_oracle_verdict explore(machine *x) {
  if (x->n_seen >= x->max_states) {
    return FS_ORACLE_TOO_LARGE;
  }
  if (!remember(x, state_key(x))) {
    return FS_ORACLE_RIGHT;
  }
  bool moved = false, all_done = true;
  for (uint32_t q = 0; q < x->s->n_queues; q++) {
    fs_oracle_verdict verdict = FS_ORACLE_RIGHT;
    all_done = all_done && x->done[q] == x->s->queues[q].n_commands;
    for (uint32_t e = x->done[q]; e < x->started[q] && verdict == FS_ORACLE_RIGHT; e++) {
      uint32_t c = x->s->queues[q].command0 + e;
      moved = moved || !is_over(x, c);
      verdict = is_over(x, c) ? verdict : end(x, c);
    }
    if (verdict == FS_ORACLE_RIGHT && can_begin(x, q)) {
      moved = true;
      verdict = begin(x, q);
    }
    if (verdict != FS_ORACLE_RIGHT) {
      return verdict;
    }
  }
  if (!moved && !all_done) {
    return FS_ORACLE_DEADLOCK;
  }
  return all_done ? check_end(x) : FS_ORACLE_RIGHT;
}

/* --- deadlock with gangs that meet --- */

static bool gang_ready(machine *x, uint32_t c) {
  for (uint32_t d = 0; d < x->s->n_commands; d++) {
    uint32_t q = x->queue_of[d];
    if (one_gang(x, c, d) && (x->started[q] + 1 != x->epoch[d] || !can_begin(x, q))) {
      return false;
    }
  }
  return true;
}

/* The next command of the queue begins, and is over. */
static void pass(machine *x, uint32_t q) {
  x->over |= (uint64_t)1 << (x->s->queues[q].command0 + x->started[q]++);
  set_done(x, q);
}

static bool deadlocks(machine *x) {
  const fs_stream *s = x->s;
  bool moved = true;
  while (moved) {
    moved = false;
    for (uint32_t q = 0; q < s->n_queues; q++) {
      uint32_t c = s->queues[q].command0 + x->started[q];
      if (!can_begin(x, q)) {
        continue;
      }
      if (s->commands[c].gang_axis == FS_NONE) {
        pass(x, q);
        moved = true;
      } else if (gang_ready(x, c)) {
        for (uint32_t d = 0; d < s->n_commands; d++) {
          if (one_gang(x, c, d)) {
            pass(x, x->queue_of[d]);
          }
        }
        moved = true;
      }
    }
  }
  bool stuck = false;
  for (uint32_t q = 0; q < s->n_queues; q++) {
    stuck = stuck || x->done[q] < s->queues[q].n_commands;
    x->done[q] = x->started[q] = 0;
  }
  x->over = 0;
  return stuck;
}

/* --- all --- */

static bool fits(const fs_stream *s) {
  bool ok = s->n_commands <= MAX_COMMANDS && s->n_barriers <= 256 && s->n_queues <= 64 &&
            s->n_args <= MAX_ARGS && s->meta[0].hazards == FSCHED_HAZARDS_SEQUENTIAL;
  for (uint32_t m = 0; m < s->n_memories; m++) {
    ok = ok && s->memories[m].extent <= MAX_BYTES &&
         (!bounded_counted(&s->memories[m]) || s->memories[m].capacity <= MAX_BYTES);
  }
  return ok;
}

static bool given_places(machine *x) {
  const fs_stream *s = x->s;
  for (uint32_t v = 0; v < s->n_versions; v++) {
    const fs_stream_version *p = &s->versions[v];
    uint64_t size = s->buffers[p->buffer].size;
    if (p->given_memory == FS_NONE) {
      continue;
    }
    if (p->given_address > s->memories[p->given_memory].extent ||
        size > s->memories[p->given_memory].extent - p->given_address) {
      return false;
    }
    for (uint64_t i = 0; i < size; i++) {
      set(x, false, p->given_memory, p->given_address + i, make_cell(p->buffer, 0, i, FS_NONE));
    }
  }
  return true;
}

static fs_oracle_verdict judge(machine *x) {
  const fs_stream *s = x->s;
  for (uint32_t q = 0; q < s->n_queues; q++) {
    for (uint32_t k = 0; k < s->queues[q].n_commands; k++) {
      x->queue_of[s->queues[q].command0 + k] = q;
      x->epoch[s->queues[q].command0 + k] = k + 1;
    }
  }
  for (uint32_t c = 0; c < s->n_commands; c++) {
    for (uint32_t d = 0; d < s->n_commands; d++) {
      x->held[c] |= (uint64_t)fs_oracle_held(s, d, c) << d;
      x->begun[c] |= (uint64_t)fs_oracle_begun(s, d, c) << d;
    }
  }
  evaluate(x);
  if (!given_places(x)) {
    return FS_ORACLE_ADDRESS;
  }
  fs_oracle_verdict verdict = fs_oracle_check_static(x);
  if (verdict != FS_ORACLE_RIGHT) {
    return verdict;
  }
  bool stuck = s->meta[0].sync == FS_SYNC_TIMELINE ? deadlocks(x) : fs_oracle_circle(s);
  return stuck ? FS_ORACLE_DEADLOCK : explore(x);
}

fs_oracle_verdict fs_oracle_program(const fs_stream *s, uint32_t max_states) {
  if (!fits(s)) {
    return FS_ORACLE_TOO_LARGE;
  }
  machine *x = calloc(1, sizeof *x);
  x->s = s;
  x->max_states = max_states;
  x->cap_seen = (size_t)max_states * 2 + 8;
  x->seen = calloc(x->cap_seen, sizeof *x->seen);
  x->want = calloc(s->n_args + 1, sizeof *x->want);
  x->final = calloc(s->n_buffers + 1, sizeof *x->final);
  x->last_version = calloc(s->n_buffers + 1, sizeof *x->last_version);
  x->byte = calloc(s->n_memories + 1, sizeof *x->byte);
  x->unit = calloc(s->n_memories + 1, sizeof *x->unit);
  for (uint32_t m = 0; m < s->n_memories; m++) {
    x->byte[m] = calloc(s->memories[m].extent + 1, sizeof(cell));
    bool units = bounded_counted(&s->memories[m]);
    x->unit[m] = calloc((units ? s->memories[m].capacity : 0) + 1, sizeof(cell));
  }
  fs_oracle_verdict verdict = judge(x);
  for (uint32_t i = 0; i < s->n_args; i++) {
    free(x->want[i]);
  }
  for (uint32_t i = 0; i < s->n_buffers; i++) {
    free(x->final[i]);
  }
  for (uint32_t i = 0; i < s->n_memories; i++) {
    free(x->byte[i]);
    free(x->unit[i]);
  }
  free(x->seen);
  free(x->want);
  free(x->final);
  free(x->last_version);
  free(x->byte);
  free(x->unit);
  free(x);
  return verdict;
}

const char *fs_oracle_name(fs_oracle_verdict verdict) {
  static const char *const name[] = {"right",    "deadlock", "conflict", "value",    "kept",
                                     "order",    "capacity", "address",  "once",     "signal",
                                     "frontier", "sync",     "schedule", "too large"};
  return name[verdict];
}
