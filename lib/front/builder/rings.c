/* SPDX-License-Identifier: Apache-2.0 */
/* Slots of rings, in an unrolled graph.
 *
 * A ring counts the versions that its op has begun, through all runs of its loop.  Version k takes
 * the slot of version k - D, so the op that begins it comes after all that use that one:
 *
 *     D = 2     load[2] after use[0], load[3] after use[1], ...
 *
 * Where uses give slots back g at a time, one op waits for g of them, and the g - 1 that follow
 * come after it:
 *
 *     D = 4, g = 2     load[4] after use[0], use[1];  load[5] after load[4];  load[6] after ...
 *
 * Uses of earlier iterations' values keep their slots, so that fewer can be given back at once:
 * with S slots in use from a version's begin to its last use, at most D - S + 1.  Where syncs stop
 * everything, none are given back together.
 *
 * So no more than D versions are in use at once.  The value that the loop finds when it first runs,
 * if it is used there, counts as version -1.  Where the buffer is begun outside of the loop between
 * two of its runs, the ring starts over, maybe elsewhere.  Where versions lie, placement decides.
 */
#include "base/group.h"
#include "front/builder/carried.h"

enum { MOST_PAIRS = 1 << 26 };

typedef struct ring_orders {
  fsched_builder *b;
  const fs_carried_version *version;
  uint32_t *use0, *use;             /* CSR per version: the ops of the args on it, ascending */
  uint32_t *begun0, *begun;         /* CSR per ring: its versions, ascending */
  uint32_t *of_buffer0, *of_buffer; /* CSR per buffer: its versions, ascending by number */
  uint64_t every;                   /* slots of the ring at hand that are given back at once */
} ring_orders;

static fs_status add_order(ring_orders *o, uint32_t op, uint32_t before, fs_pos at) {
  fsched_builder *b = o->b;
  if (b->afters.item.n >= MOST_PAIRS) {
    return fs_builder_fail(b, FS_DIAG_OUT_OF_RANGE, at, NULL,
                           "unrolled, the graph has more than %d entries of 'after', with those of "
                           "slots",
                           MOST_PAIRS);
  }
  FS_TRY(fs_vec_push(b->ctx, &b->afters.item, ((fs_item_draft){.op = op, .a = before})));
  return fs_builder_place(b, &b->afters.at, b->afters.item.n - 1, at);
}

/* Orders an op, which begins a version, after those that use an older one.  `slot`: it takes the
 * slot of that one, and may work in place. */
static fs_status order_after_uses(ring_orders *o, const fs_ring_draft *ring, uint32_t op,
                                  uint32_t older, bool slot) {
  fsched_builder *b = o->b;
  for (uint32_t i = o->use0[older]; i < o->use0[older + 1]; i++) {
    uint32_t user = o->use[i];
    bool outside = b->loop_of.at[b->origin.at[user]] != ring->loop;
    if (b->sample && outside && user > op) {
      continue; /* a sample may have more iterations than its loop */
    }
    if (user > op || (user == op && !(slot && ring->in_place))) {
      (void)fs_builder_fail(b, FS_DIAG_BAD_LOOP, ring->at, NULL,
                            "the depth of '%.80s' is %llu, and op '%.80s' uses a version when its "
                            "slot is taken again",
                            b->buffers.text.at[ring->buffer], (unsigned long long)ring->depth,
                            b->ops.text.at[user]);
      return FSCHED_OK;
    }
    if (user != op && (i == o->use0[older] || user != o->use[i - 1])) {
      FS_TRY(add_order(o, op, user, ring->at));
    }
  }
  return FSCHED_OK;
}

static bool is_in_loop(const fsched_builder *b, uint32_t op, uint32_t loop) {
  uint32_t l = b->loop_of.at[b->origin.at[op]];
  while (l != FS_NONE && l != loop) {
    l = b->loop.at[l].parent;
  }
  return l == loop;
}

/* The version that the ring's loop finds when it runs, if an op in it uses that; or FS_NONE. */
static uint32_t entry_version(const ring_orders *o, const fs_ring_draft *ring, uint32_t first) {
  const fs_carried_version *version = &o->version[first];
  if (version->number == 0) {
    return FS_NONE;
  }
  uint32_t v = o->of_buffer[o->of_buffer0[ring->buffer] + version->number - 1];
  for (uint32_t i = o->use0[v]; i < o->use0[v + 1]; i++) {
    if (is_in_loop(o->b, o->use[i], ring->loop)) {
      return v;
    }
  }
  return FS_NONE;
}

/* Version k takes the slot of version k - D; the one that was there before, that of version -1. */
static fs_status order_versions(ring_orders *o, const fs_ring_draft *ring, const uint32_t *begun,
                                uint32_t n) {
  if (n < ring->depth) {
    return FSCHED_OK;
  }
  uint32_t entry = entry_version(o, ring, begun[0]);
  if (entry != FS_NONE) {
    uint32_t op = o->version[begun[ring->depth - 1]].begun;
    FS_TRY(order_after_uses(o, ring, op, entry, true));
  }
  for (uint64_t k = ring->depth; k < n; k++) {
    uint32_t op = o->version[begun[k]].begun;
    uint64_t back = (k - ring->depth) % o->every;
    if (back > 0) {
      FS_TRY(add_order(o, op, o->version[begun[k - back]].begun, ring->at));
      continue;
    }
    for (uint64_t i = 0; i < o->every; i++) {
      FS_TRY(order_after_uses(o, ring, op, begun[k - ring->depth + i], i == 0));
    }
  }
  return FSCHED_OK;
}

/* Whether the ring starts over after version `last`: one of its buffer, before version `next`, is
 * begun outside of its loop. */
static bool starts_over(const ring_orders *o, const fs_ring_draft *ring, uint32_t last,
                        uint32_t next) {
  const uint32_t *of_buffer = o->of_buffer + o->of_buffer0[ring->buffer];
  for (uint32_t n = o->version[last].number + 1; n < o->version[next].number; n++) {
    if (!is_in_loop(o->b, o->version[of_buffer[n]].begun, ring->loop)) {
      return true;
    }
  }
  return false;
}

/* The end of the versions from `first` on that have turns with the same slots. */
static uint32_t end_of_turns(const ring_orders *o, uint32_t r, uint32_t first) {
  const uint32_t *begun = o->begun + o->begun0[r];
  uint32_t n = o->begun0[r + 1] - o->begun0[r], end = first + 1;
  while (end < n && !starts_over(o, &o->b->ring.at[r], begun[end - 1], begun[end])) {
    end++;
  }
  return end;
}

/* How many of n versions are begun when an op uses version k: by ops before it, or by itself, but
 * not in the place of that version. */
static uint32_t count_begun(const ring_orders *o, const fs_ring_draft *ring, const uint32_t *begun,
                            uint32_t n, uint32_t k, uint32_t user) {
  uint32_t low = k + 1, high = n;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (o->version[begun[middle]].begun <= user) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  bool in_place =
      ring->in_place && low - 1 == k + ring->depth && o->version[begun[low - 1]].begun == user;
  return low - in_place;
}

/* The slots that may be given back at once, of as many as are given. */
static uint64_t find_every(const ring_orders *o, uint32_t r) {
  const fs_ring_draft *ring = &o->b->ring.at[r];
  uint32_t n = o->begun0[r + 1] - o->begun0[r];
  uint64_t used = 1;
  if (ring->every == 1 || fs_sync_has_stops(o->b->sync)) {
    return 1;
  }
  for (uint32_t first = 0, end; first < n; first = end) {
    const uint32_t *begun = o->begun + o->begun0[r] + first;
    end = end_of_turns(o, r, first);
    for (uint32_t k = 0; k < end - first; k++) {
      for (uint32_t i = o->use0[begun[k]]; i < o->use0[begun[k] + 1]; i++) {
        used = fs_max(used, count_begun(o, ring, begun, end - first, k, o->use[i]) - k);
      }
    }
  }
  return fs_min(ring->every, ring->depth - fs_min(used, ring->depth) + 1);
}

static fs_status order_ring(ring_orders *o, uint32_t r) {
  const fs_ring_draft *ring = &o->b->ring.at[r];
  const uint32_t *begun = o->begun + o->begun0[r];
  uint32_t n = o->begun0[r + 1] - o->begun0[r];
  o->every = ring->depth > 0 ? find_every(o, r) : 1;
  for (uint32_t k = 0, end; ring->depth > 0 && k < n; k = end) {
    end = end_of_turns(o, r, k);
    FS_TRY(order_versions(o, ring, begun + k, end - k));
  }
  return FSCHED_OK;
}

/* Lists the ops that use each version. */
static fs_status list_uses(ring_orders *o, fs_arena *scratch, uint32_t n,
                           const uint32_t *arg_version) {
  fsched_builder *b = o->b;
  uint32_t *arg, *row0;
  FS_TRY(fs_group(scratch, arg_version, (uint32_t)b->arg.n, n, &row0, &arg));
  uint32_t *op_of;
  FS_TRY(fs_new(scratch, &op_of, b->arg.n));
  for (uint32_t op = 0; op < b->op.n; op++) {
    for (uint32_t a = b->op.at[op].arg0; a < fs_builder_args_end(b, op); a++) {
      op_of[a] = op;
    }
  }
  for (uint32_t i = 0; i < row0[n]; i++) {
    arg[i] = op_of[arg[i]];
  }
  o->use0 = row0;
  o->use = arg;
  return FSCHED_OK;
}

/* Lists the versions of each ring. */
static fs_status list_versions(ring_orders *o, fs_arena *scratch, uint32_t n) {
  const fsched_builder *b = o->b;
  uint32_t n_rings = (uint32_t)b->ring.n;
  uint32_t *first, *next, *ring_of;
  FS_TRY(fs_new_none(scratch, &first, b->loop_of.n)); /* per op as described: a ring */
  FS_TRY(fs_new_none(scratch, &next, n_rings));       /* per ring: another one of its op */
  FS_TRY(fs_new_none(scratch, &ring_of, n));
  for (uint32_t r = 0; r < n_rings; r++) {
    uint32_t op = b->ring.at[r].op;
    assert(op < b->loop_of.n);
    next[r] = first[op];
    first[op] = r;
  }
  for (uint32_t v = 0; v < n; v++) {
    uint32_t r =
        o->version[v].begun == FS_NONE ? FS_NONE : first[b->origin.at[o->version[v].begun]];
    while (r != FS_NONE && b->ring.at[r].buffer != o->version[v].buffer) {
      r = next[r];
    }
    ring_of[v] = r;
  }
  return fs_group(scratch, ring_of, n, n_rings, &o->begun0, &o->begun);
}

/* Lists the versions of each buffer. */
static fs_status list_buffers(ring_orders *o, fs_arena *scratch, uint32_t n) {
  uint32_t *buffer_of;
  FS_TRY(fs_new(scratch, &buffer_of, n));
  for (uint32_t v = 0; v < n; v++) {
    buffer_of[v] = o->version[v].buffer;
  }
  return fs_group(scratch, buffer_of, n, (uint32_t)o->b->buffer_size.n, &o->of_buffer0,
                  &o->of_buffer);
}

fs_status fs_builder_ring_orders(fsched_builder *b, const fs_carried_version *version, uint32_t n,
                                 const uint32_t *arg_version) {
  assert(b->unrolled && (version != NULL || n == 0));
  ring_orders o = {.b = b, .version = version};
  FS_SCRATCH(scratch, b->ctx);
  FS_TRY(list_uses(&o, &scratch, n, arg_version));
  FS_TRY(list_versions(&o, &scratch, n));
  FS_TRY(list_buffers(&o, &scratch, n));
  for (uint32_t r = 0; r < b->ring.n; r++) {
    FS_TRY(order_ring(&o, r));
  }
  return FSCHED_OK;
}
