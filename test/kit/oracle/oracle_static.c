/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of programs that can be judged without running them, each by looking at every command,
 * pair or point.  Frontiers are compared with a closure of queue order and syncs, kept as sets of
 * bits. */
#include "kit/oracle/oracle_private.h"
#include "model/sync.h"

static fs_oracle_verdict check_once(const machine *x) {
  const fs_stream *s = x->s;
  for (uint32_t o = 0; o < s->n_ops; o++) {
    uint32_t n = 0, members = 0, last = 0;
    for (uint32_t c = 0; c < s->n_commands; c++) {
      if (s->commands[c].kind == FS_COMMAND_RUN && s->commands[c].target == o) {
        n++;
        last = c;
      }
    }
    for (uint32_t c = 0; n > 0 && c < s->n_commands; c++) {
      members += c == last || one_gang(x, c, last);
    }
    if (n == 0 || n != members) {
      return FS_ORACLE_ONCE;
    }
  }
  return FS_ORACLE_RIGHT;
}

static uint64_t sum(const machine *x, uint32_t c, fs_space space, uint32_t index, uint32_t version,
                    uint32_t scratch) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < x->s->commands[c].n_places; i++) {
    const fs_stream_place *p = &places(x, c)[i];
    bool mine = p->space == space && p->index == index && p->version == version;
    total += mine && (scratch == FS_NONE || p->arg == scratch) ? p->size : 0;
  }
  return total;
}

static bool holds_amounts(const machine *x, uint32_t c) {
  const fs_stream *s = x->s;
  const fs_stream_op *o = &s->ops[s->commands[c].target];
  bool ok =
      s->meta[0].concurrency == 0 || sum(x, c, FS_SPACE_CONCURRENCY, 0, FS_NONE, FS_NONE) == 1;
  for (uint32_t u = o->use0; u < o->use0 + o->n_uses; u++) {
    ok = ok &&
         sum(x, c, FS_SPACE_RESOURCE, s->uses[u].resource, FS_NONE, FS_NONE) == s->uses[u].amount;
  }
  for (uint32_t a = o->arg0; a < o->arg0 + o->n_args; a++) {
    if (s->args[a].tag == FSCHED_VALUE || s->args[a].tag == FSCHED_NO_DEP) {
      continue;
    }
    const fs_stream_buffer *b = &s->buffers[s->args[a].buffer];
    const fs_stream_memory *m = &s->memories[b->memory];
    ok = ok && (!bounded_counted(m) ||
                sum(x, c, FS_SPACE_COUNTED, b->memory, b->version0 + x->version_of_arg[a],
                    FS_NONE) == (b->size + m->align - 1) / m->align * m->align);
  }
  for (uint32_t i = o->scratch0; i < o->scratch0 + o->n_scratches; i++) {
    const fs_stream_memory *m = &s->memories[s->scratches[i].memory];
    ok = ok &&
         (!bounded_counted(m) || sum(x, c, FS_SPACE_COUNTED, s->scratches[i].memory, FS_NONE, i) ==
                                     (s->scratches[i].size + m->align - 1) / m->align * m->align);
  }
  return ok;
}

static bool in_memory(const machine *x, const fs_stream_place *p) {
  const fs_stream_memory *m = &x->s->memories[p->index];
  uint64_t limit = p->space == FS_SPACE_MEMORY ? m->extent : m->capacity;
  if (p->space == FS_SPACE_MEMORY && m->capacity != FS_UNBOUNDED &&
      m->placement == FSCHED_CONTIGUOUS) {
    limit = fs_min(limit, m->capacity);
  }
  return p->address <= limit && p->size <= limit - p->address;
}

static bool place_aligned(const machine *x, const fs_stream_place *p) {
  const fs_stream_memory *m = &x->s->memories[p->index];
  uint64_t offset = p->version != FS_NONE && p->arg < x->s->n_args ? x->s->args[p->arg].offset : 0;
  return m->capacity == FS_UNBOUNDED || m->placement == FSCHED_COUNTED ||
         (p->address - offset) % m->align == 0;
}

static fs_oracle_verdict check_places(const machine *x) {
  for (uint32_t c = 0; c < x->s->n_commands; c++) {
    for (uint32_t i = 0; i < x->s->commands[c].n_places; i++) {
      const fs_stream_place *p = &places(x, c)[i];
      if (p->space <= FS_SPACE_COUNTED && !in_memory(x, p)) {
        return FS_ORACLE_ADDRESS;
      }
      if (p->space == FS_SPACE_MEMORY && !place_aligned(x, p)) {
        return FS_ORACLE_ADDRESS;
      }
    }
    if (x->s->commands[c].kind == FS_COMMAND_RUN && !holds_amounts(x, c)) {
      return FS_ORACLE_CAPACITY;
    }
  }
  return FS_ORACLE_RIGHT;
}

static bool reaches(const fs_stream *s, unsigned scope, uint32_t from, uint32_t to, bool own) {
  const fs_stream_queue *a = &s->queues[from], *b = &s->queues[to];
  unsigned need = own                        ? FS_SCOPE_QUEUE
                  : a->machine != b->machine ? FS_SCOPE_SYSTEM
                  : a->device != b->device   ? FS_SCOPE_DEVICE_GROUP
                                             : FS_SCOPE_DEVICE;
  return scope >= need;
}

static bool waits_on(const machine *x, const fs_stream_wait *w, uint32_t d) {
  const fs_stream_command *m = &x->s->commands[d];
  return w->axis < x->s->n_queues ? x->queue_of[d] == w->axis && x->epoch[d] == w->epoch
                                  : m->gang_axis == w->axis && m->gang_epoch == w->epoch;
}

static fs_oracle_verdict check_scopes(const machine *x) {
  const fs_stream *s = x->s;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    for (uint32_t i = 0; i < s->commands[c].n_waits; i++) {
      for (uint32_t d = 0; d < s->n_commands; d++) {
        const fs_stream_wait *w = &s->waits[s->commands[c].wait0 + i];
        if (waits_on(x, w, d) &&
            (!s->commands[d].signal || !reaches(s, s->commands[d].scope, x->queue_of[d],
                                                x->queue_of[c], w->axis == x->queue_of[c]))) {
          return FS_ORACLE_SIGNAL;
        }
      }
    }
  }
  return FS_ORACLE_RIGHT;
}

/* Of what is known to be complete, what epochs can say: the commands of each queue up to the first
 * that is not known. */
static uint64_t as_epochs(const fs_stream *s, uint64_t known) {
  uint64_t said = 0;
  for (uint32_t q = 0; q < s->n_queues; q++) {
    uint32_t c = s->queues[q].command0, end = c + s->queues[q].n_commands;
    for (; c < end && known >> c & 1; c++) {
      said |= (uint64_t)1 << c;
    }
  }
  return said;
}

/* Bit d of known[c] says that d is complete whenever the epoch of c is reached, as epochs say it.
 */
static fs_oracle_verdict check_frontiers(machine *x) {
  const fs_stream *s = x->s;
  uint64_t known[MAX_COMMANDS];
  fs_oracle_reached(s, known);
  for (uint32_t c = 0; c < s->n_commands; c++) {
    known[c] = as_epochs(s, known[c]);
  }
  for (uint32_t c = 0; c < s->n_commands; c++) {
    uint64_t said = 0;
    for (uint32_t i = 0; i < s->commands[c].n_frontier; i++) {
      for (uint32_t d = 0; d < s->n_commands; d++) {
        const fs_stream_wait *f = &s->frontiers[s->commands[c].frontier0 + i];
        bool before = f->axis < s->n_queues && x->queue_of[d] == f->axis && x->epoch[d] <= f->epoch;
        said |= before ? (uint64_t)1 << d : waits_on(x, f, d) ? known[d] : 0;
      }
    }
    x->said[c] = said;
    if ((said & ~known[c]) != 0 || (!s->commands[c].tainted && said != known[c])) {
      return FS_ORACLE_FRONTIER;
    }
  }
  return FS_ORACLE_RIGHT;
}

fs_oracle_verdict fs_oracle_check_static(machine *x) {
  fs_oracle_verdict (*const check[])(const machine *) = {fs_oracle_check_sync, check_once,
                                                         check_places, check_scopes};
  for (size_t i = 0; i < sizeof check / sizeof check[0]; i++) {
    fs_oracle_verdict verdict = check[i](x);
    if (verdict != FS_ORACLE_RIGHT) {
      return verdict;
    }
  }
  return check_frontiers(x);
}
