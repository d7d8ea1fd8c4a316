/* SPDX-License-Identifier: Apache-2.0 */
/* How many slots rings have: what is given of them, what is needed, and what is of use. */
#include "base/saturate.h"
#include "front/builder/roll/roll.h"

uint32_t fs_roller_buffer_of(const fs_roller *r, const fs_body_value *v) {
  return fs_names_find(&r->b->buffers, v->name, v->n_name);
}

uint64_t fs_roller_slots_read(const fs_loop_body *body, const fs_body_value *value, bool in_place) {
  uint64_t need = 1;
  for (uint32_t i = value->reader0; i < value->reader0 + value->n_readers; i++) {
    const fs_body_reader *reader = &body->reader[i];
    bool behind = reader->member > value->writer || (reader->member == value->writer && !in_place);
    need = fs_max(need, reader->back + behind);
  }
  return need;
}

/* Whether an op uses a buffer that a loop in a loop begins, and is not in it. */
static bool is_used_outside(const fs_roller *r, uint32_t loop, uint32_t buffer) {
  const fs_loop_draft *l = &r->b->loop.at[loop];
  return l->parent != FS_NONE && (r->first_op[buffer] < l->op0 || r->last_op[buffer] >= l->op_end);
}

/* Whether a loop around it may run 0 times, behind which a buffer is used or kept: what it finds
 * there on entry is found there behind it, too. */
static bool may_be_passed(const fs_roller *r, uint32_t loop, uint32_t buffer) {
  bool may = false, kept = fs_io_kept(r->b->buffer_io.at[buffer]);
  for (loop = fs_loop_at(r->b, loop)->parent; loop != FS_NONE && !may;
       loop = fs_loop_at(r->b, loop)->parent) {
    may = r->in.least[loop] == 0 && (kept || fs_roller_is_read_behind(r, loop, buffer, true));
  }
  return may;
}

bool fs_roller_closes(const fs_roller *r, uint32_t loop, uint32_t buffer, bool entry) {
  return fs_roller_flows_around(r, loop, buffer, entry) || may_be_passed(r, loop, buffer);
}

uint64_t fs_roller_farthest_back(const fs_loop_body *body, const fs_body_value *value) {
  uint64_t back = 0;
  for (uint32_t i = value->reader0; i < value->reader0 + value->n_readers; i++) {
    back = fs_max(back, body->reader[i].back);
  }
  return back;
}

/* Whether slots of the loop are given back several at a time: such groups are those of a run. */
static bool has_groups(const fs_roller *r, uint32_t loop) {
  bool any = false;
  for (size_t i = 0; i < r->b->ring.n && !any; i++) {
    any = r->b->ring.at[i].loop == loop && r->b->ring.at[i].every > 1;
  }
  return any;
}

uint64_t fs_roller_versions(const fs_roller *r, uint32_t loop) {
  const fsched_builder *b = r->b;
  uint32_t parent = fs_loop_at(b, loop)->parent;
  bool apart = b->one_run || b->unjoined || parent == FS_NONE || fs_sync_has_stops(b->sync) ||
               has_groups(r, loop);
  for (size_t i = 0; i < b->apart.n && !apart; i++) {
    apart = b->apart.at[i] == loop;
  }
  return apart ? r->in.trip[loop] : fs_multiply_most(r->in.trip[loop], r->in.trip[parent]);
}

uint64_t fs_roller_most_slots(uint64_t versions, const fs_loop_body *body,
                              const fs_body_value *value) {
  uint64_t back = fs_roller_farthest_back(body, value);
  return fs_max(fs_add_most(versions, back > 0), back + 1);
}

static const fs_ring_draft *find_ring(const fs_roller *r, uint32_t loop, uint32_t buffer) {
  const fs_ring_draft *found = NULL;
  for (size_t i = 0; i < r->b->ring.n && found == NULL; i++) {
    const fs_ring_draft *x = &r->b->ring.at[i];
    found = x->loop == loop && x->buffer == buffer ? x : NULL;
  }
  return found;
}

/* Takes over what is given of a ring besides its depth, as far as there are slots to be given back,
 * or to be filled ahead; where syncs stop everything, nothing is given back.  Requires the depth
 * that it will have, at least the slots that it needs. */
static void set_keys(const fs_roller *r, uint32_t loop, uint32_t buffer, uint64_t need,
                     fs_body_value *value) {
  const fs_ring_draft *given = find_ring(r, loop, buffer);
  uint64_t all = fs_roller_versions(r, loop), depth = value->depth;
  if (given == NULL) {
    return;
  }
  uint64_t most = depth == 0 ? fs_max(all, 1) : depth;
  value->ahead = (uint32_t)fs_min(fs_min(given->ahead, most), UINT32_MAX / 2);
  if (given->every == 1 || fs_sync_has_stops(r->b->sync)) {
    return;
  }
  if (depth == 0 && fs_add_most(given->every, need - 1) >= all) {
    value->depth = fs_max(all, need); /* then no slot is taken twice */
  } else if (depth == 0) {
    value->every = (uint32_t)given->every;
  } else if (depth < all) {
    value->every = (uint32_t)fs_min(given->every, depth - need + 1);
  }
}

/* Where as few slots are asked for as are needed, given depths become that. */
static void take_least(const fs_roller *r, uint64_t need, fs_body_value *value) {
  if (r->b->depths == FS_DEPTHS_LEAST && value->depth > need) {
    value->depth = need;
  }
}

/* The most slots that a ring may have, if its depth was not given; 0: any number. */
static uint32_t limit_of(const fs_roller *r, uint32_t loop, uint32_t buffer, uint64_t need,
                         const fs_body_value *value) {
  if (r->b->depths != FS_DEPTHS_AS_PLANNED) {
    return (uint32_t)fs_min(need + fs_max(value->every, 1) - 1, UINT32_MAX / 2);
  }
  uint32_t most = 0;
  for (size_t i = 0; i < r->b->depth_limit.n && most == 0; i++) {
    const fs_depth_limit *x = &r->b->depth_limit.at[i];
    most = x->loop == loop && x->buffer == buffer ? x->most : 0;
  }
  return most;
}

/* Whether the writer of a value may begin it in the place of an older one, which it reads as a
 * whole, and which lies in the same slot if there are as few as are given. */
static bool works_in_place(const fs_roller *r, uint32_t loop, uint32_t buffer,
                           const fs_body_value *value) {
  const fsched_builder *b = r->b;
  const fs_ring_draft *given = find_ring(r, loop, buffer);
  uint32_t op = fs_loop_at(b, loop)->op0 + value->writer, n = 0;
  bool whole = given != NULL && given->in_place && given->depth > 0 && given->every <= 1;
  for (uint32_t i = b->op.at[op].arg0; i < fs_builder_args_end(b, op) && whole; i++) {
    const fs_arg_draft *a = &b->arg.at[i];
    const fs_moving_draft *m = fs_roller_moving(r, op, i);
    if (fs_tag_accesses(a->tag) && a->buffer == buffer && !fs_tag_begins(a->tag)) {
      whole = fs_tag_only_reads(a->tag) && a->view == FS_NONE && a->offset == 0 &&
              a->u.length >= b->buffer_size.at[buffer] && m != NULL && m->distance == given->depth;
      n++;
    }
  }
  return whole && n == 1;
}

/* Notes that a pair is kept. */
static void keep_pair(const fs_roller *r, uint32_t op, uint32_t buffer) {
  for (uint32_t i = r->in.inplace0[op]; i < r->in.inplace0[op + 1]; i++) {
    fs_item_draft *x = &r->b->inplaces.item.at[i];
    if (x->a == buffer && x->b == buffer) {
      fs_roller_keep_pair(x);
    }
  }
}

/* Whether something of a buffer is given or kept in a backing store: then all slots are copied. */
static bool is_stored(const fs_roller *r, uint32_t buffer) {
  const fsched_builder *b = r->b;
  uint32_t memory = b->buffer_memory.at[buffer];
  memory = memory == FS_NONE ? fs_builder_default_memory(b) : memory;
  return fs_io_said(b->buffer_io.at[buffer]) && memory < b->memory.n &&
         b->memory.at[memory].backing_word != FS_NONE;
}

fs_status fs_roller_set_depths(fs_roller *r, uint32_t loop, fs_loop_body *body) {
  uint64_t all = fs_roller_versions(r, loop);
  for (uint32_t v = 0; v < body->n_values; v++) {
    fs_body_value *value = &body->value[v];
    uint32_t buffer = fs_roller_buffer_of(r, value);
    bool in_place = works_in_place(r, loop, buffer, value);
    uint64_t back = fs_roller_farthest_back(body, value),
             need = fs_roller_slots_read(body, value, in_place);
    value->depth = fs_min(value->depth, fs_roller_most_slots(all, body, value));
    take_least(r, need, value);
    if (r->ring[buffer].single) {
      assert(need == 1); /* else values of earlier iterations are read */
      value->depth = 1;
    }
    bool varies = fs_roller_varies(r, loop); /* then the slot of the last one does, too */
    bool loose = varies && back == 0 && r->ring[buffer].chained;
    bool one = r->b->one_outside && value->depth == 0 && need == 1;
    if (loose || (one && (is_used_outside(r, loop, buffer) || is_stored(r, buffer)))) {
      value->depth = 1;
    } else if (!varies && !r->ring[buffer].shared && fs_roller_closes(r, loop, buffer, back > 0)) {
      value->closes = r->in.trip[loop]; /* else values are moved */
    }
    if (in_place && value->depth == back) {
      keep_pair(r, fs_loop_at(r->b, loop)->op0 + value->writer, buffer);
    }
    set_keys(r, loop, buffer, need, value);
    value->most = limit_of(r, loop, buffer, need, value);
  }
  return FSCHED_OK;
}
