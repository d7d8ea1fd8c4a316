/* SPDX-License-Identifier: Apache-2.0 */
/* Values that go on from loop to loop, and where others find them.
 *
 * Several loops begin a buffer, and some read values of earlier iterations of it, the first of
 * which others have left.  Each loop has slots of its own number, and they all lie around one
 * place, in which a loop finds a value and leaves its last one, and ops outside of the loops use
 * the buffer:
 *
 *     a: 3 slots      | 0 | 1 | 2 |         finds a value in its last slot, and moves one there
 *     b: 2 slots          | 0 | 1 |         so does b
 *     c: 2 slots              | 0 | 1 |     finds none; its last value, of 5, lies in slot 0
 *                               ^
 *                             the place */
#include "base/saturate.h"
#include "front/builder/roll/roll.h"

/* Where the place lies from the first slot of a loop on. */
static uint64_t place_in(const fs_roller *r, uint32_t loop, uint32_t buffer) {
  const fs_rolled *x = r->rolled[loop];
  uint32_t ring = fs_roller_ring(r, loop, buffer);
  uint64_t depth = x->loop.ring[ring].depth;
  uint64_t slot = x->slots[ring].entry ? depth - 1 : (x->trip - 1) % depth;
  return slot * x->slots[ring].slot;
}

static bool is_link(const fs_roller *r, uint32_t loop, uint32_t buffer) {
  return fs_roller_stays(r, loop) && fs_roller_begins(r, loop, buffer);
}

fs_slots_range fs_roller_chain_slots(const fs_roller *r, uint32_t loop, uint32_t buffer) {
  assert(r->ring[buffer].chained && is_link(r, loop, buffer));
  const fs_rolled *x = r->rolled[loop];
  uint32_t ring = fs_roller_ring(r, loop, buffer);
  return (fs_slots_range){r->ring[buffer].before - place_in(r, loop, buffer),
                          x->loop.ring[ring].depth * x->slots[ring].slot};
}

static void place_chain(fs_roller *r, uint32_t buffer) {
  fs_ring_buffer *ring = &r->ring[buffer];
  for (uint32_t l = 0; l < r->b->loop.n; l++) {
    if (is_link(r, l, buffer)) {
      ring->before = ring->behind = fs_max(ring->before, place_in(r, l, buffer));
    }
  }
  for (uint32_t l = 0; l < r->b->loop.n; l++) {
    if (is_link(r, l, buffer)) {
      fs_slots_range slots = fs_roller_chain_slots(r, l, buffer);
      ring->end = fs_max(ring->end, slots.offset + slots.length);
    }
  }
}

void fs_roller_place_chains(fs_roller *r) {
  assert(r->rolled != NULL && r->ring != NULL);
  for (uint32_t i = 0; i < r->b->buffer_size.n; i++) {
    if (r->ring[i].chained && fs_roller_has_slots(r, i)) {
      place_chain(r, i);
    }
  }
}

/* Of a buffer that several loops begin, the slot of the last value of the last one before an op.
 * What is before all of them is used by none. */
static uint64_t behind_last(const fs_roller *r, uint32_t op, uint32_t buffer) {
  const fsched_builder *b = r->b;
  uint32_t last = FS_NONE;
  for (uint32_t l = 0; l < b->loop.n; l++) {
    bool before =
        fs_roller_stays(r, l) && fs_roller_begins(r, l, buffer) && b->loop.at[l].op_end <= op;
    last = before && (last == FS_NONE || b->loop.at[l].op0 > b->loop.at[last].op0) ? l : last;
  }
  if (last == FS_NONE) {
    return 0;
  }
  uint32_t ring = fs_roller_ring(r, last, buffer);
  const fs_rolled *x = r->rolled[last];
  return (x->trip - 1) % x->loop.ring[ring].depth * x->slots[ring].slot;
}

uint64_t fs_roller_slot_at(const fs_roller *r, uint32_t op, uint32_t buffer) {
  assert(r->rolled != NULL && fs_roller_has_slots(r, buffer));
  const fs_ring_buffer *ring = &r->ring[buffer];
  return ring->chained                        ? ring->before
         : ring->shared                       ? behind_last(r, op, buffer)
         : op < r->b->loop.at[ring->loop].op0 ? ring->before
                                              : ring->behind;
}

fs_status fs_roller_put_io_in_slots(fs_roller *r, uint32_t buffer) {
  fsched_builder *b = r->b;
  assert(r->rolled != NULL && fs_roller_has_slots(r, buffer));
  while (b->buffer_slot.n < b->buffer_size.n) {
    fs_buffer_slot all = {.size = b->buffer_size.at[b->buffer_slot.n]};
    FS_TRY(fs_vec_push(b->ctx, &b->buffer_slot, all));
  }
  const fs_ring_buffer *ring = &r->ring[buffer];
  fs_buffer_slot *slot = &b->buffer_slot.at[buffer];
  bool given = fs_io_given(b->buffer_io.at[buffer]) && (ring->chained || !ring->shared);
  slot->given += given ? ring->before : 0;
  slot->kept += fs_io_kept(b->buffer_io.at[buffer]) ? fs_roller_slot_at(r, r->in.n_ops, buffer) : 0;
  return FSCHED_OK;
}
