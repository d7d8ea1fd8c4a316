/* SPDX-License-Identifier: Apache-2.0 */
/* What ops find of what a loop has left: those behind it, and those of later iterations of the
 * loops around it. */
#include "front/builder/roll/roll.h"

/* Whether an op may not run, since a loop around it may run 0 times, of those that begin at op0 or
 * behind; but for one, or FS_NONE. */
static bool may_pass(const fs_roller *r, uint32_t op, uint32_t op0, uint32_t but) {
  uint32_t loop = r->in.loop_of[op];
  bool may = false;
  for (; loop != FS_NONE && !may; loop = fs_loop_at(r->b, loop)->parent) {
    may = loop != but && r->in.least[loop] == 0 && fs_loop_at(r->b, loop)->op0 >= op0;
  }
  return may;
}

/* Whether an op of a loop around it, of those that begin at op0 or behind, reads the value that the
 * buffer has on entry, before or behind this op. */
static bool reads_entry(const fs_roller *r, uint32_t op, uint32_t op0, uint32_t buffer) {
  uint32_t loop = r->in.loop_of[op];
  bool reads = false;
  for (; loop != FS_NONE && !reads; loop = fs_loop_at(r->b, loop)->parent) {
    reads = fs_loop_at(r->b, loop)->op0 >= op0 && fs_roller_is_carried(r, loop, buffer);
  }
  return reads;
}

/* How the first op of those from op0 on that accesses a buffer does so. */
typedef enum first_access { ACCESS_NONE, ACCESS_BEGINS, ACCESS_OTHER } first_access;

static first_access find_access_but(const fs_roller *r, uint32_t op0, uint32_t op_end,
                                    uint32_t buffer, uint32_t but) {
  const fsched_builder *b = r->b;
  for (uint32_t op = op0; op < op_end; op++) {
    bool begins = false, other = false;
    if (!fs_roller_op_runs(r, op)) {
      continue;
    }
    for (uint32_t arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op); arg++) {
      const fs_arg_draft *a = &b->arg.at[arg];
      bool here = fs_tag_accesses(a->tag) && a->buffer == buffer;
      begins = begins || (here && fs_tag_begins(a->tag));
      other = other || (here && !fs_tag_begins(a->tag));
    }
    if (begins || other) {
      other = other || may_pass(r, op, op0, but) || reads_entry(r, op, op0, buffer);
      return other ? ACCESS_OTHER : ACCESS_BEGINS;
    }
  }
  return ACCESS_NONE;
}

static first_access find_access(const fs_roller *r, uint32_t op0, uint32_t op_end,
                                uint32_t buffer) {
  return find_access_but(r, op0, op_end, buffer, FS_NONE);
}

bool fs_roller_flows_around(const fs_roller *r, uint32_t loop, uint32_t buffer, bool entry) {
  uint32_t inner = loop, outer = r->b->loop.at[loop].parent;
  for (; outer != FS_NONE; inner = outer, outer = r->b->loop.at[outer].parent) {
    first_access first = find_access(r, r->b->loop.at[outer].op0, r->b->loop.at[inner].op0, buffer);
    if (r->in.trip[outer] > 1 && (first == ACCESS_OTHER || (first == ACCESS_NONE && entry))) {
      return true;
    }
    entry = first == ACCESS_NONE ? entry : first == ACCESS_OTHER;
  }
  return false;
}

bool fs_roller_is_read_behind(const fs_roller *r, uint32_t loop, uint32_t buffer, bool entry) {
  uint32_t end = fs_loop_at(r->b, loop)->op_end;
  return find_access(r, end, r->in.n_ops, buffer) == ACCESS_OTHER ||
         fs_roller_flows_around(r, loop, buffer, entry);
}

bool fs_roller_finds_first(const fs_roller *r, uint32_t loop, uint32_t buffer) {
  const fs_loop_draft *l = fs_loop_at(r->b, loop);
  return find_access(r, l->op0, l->op_end, buffer) == ACCESS_OTHER;
}

bool fs_roller_is_left(const fs_roller *r, uint32_t loop, uint32_t buffer) {
  return fs_io_kept(r->b->buffer_io.at[buffer]) || fs_roller_is_read_behind(r, loop, buffer, false);
}

/* Whether a loop begins the buffer before its ops use it, however it is run, and nothing around it
 * finds what it leaves before it runs again.  If nothing uses that at all, it does not matter how
 * often it runs. */
static bool begins_first(const fs_roller *r, uint32_t loop, uint32_t buffer) {
  const fs_loop_draft *l = fs_loop_at(r->b, loop);
  uint32_t around = l->parent;
  bool left = fs_roller_is_left(r, loop, buffer);
  while (around != FS_NONE && r->in.least[around] > 0) {
    around = fs_loop_at(r->b, around)->parent;
  }
  return around == FS_NONE && (!left || !fs_roller_varies(r, loop)) &&
         find_access_but(r, l->op0, l->op_end, buffer, left ? FS_NONE : loop) == ACCESS_BEGINS &&
         !fs_roller_is_carried(r, loop, buffer) && !fs_roller_flows_around(r, loop, buffer, false);
}

bool fs_roller_slots_apart(const fs_roller *r, uint32_t buffer) {
  assert(buffer < r->b->buffer_size.n);
  bool apart = true;
  for (uint32_t l = 0; l < r->b->loop.n && apart; l++) {
    bool begins = fs_roller_stays(r, l) && fs_bodies_begin(&r->in, l, buffer);
    apart = !begins || begins_first(r, l, buffer);
  }
  return apart;
}

static bool reads_buffer(const fs_roller *r, uint32_t op, uint32_t buffer) {
  const fsched_builder *b = r->b;
  bool found = false;
  for (uint32_t arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op) && !found; arg++) {
    const fs_arg_draft *a = &b->arg.at[arg];
    found = fs_tag_accesses(a->tag) && fs_tag_reads(a->tag) && a->buffer == buffer;
  }
  return found;
}

bool fs_roller_is_read_later(const fs_roller *r, uint32_t loop, uint32_t buffer) {
  const fs_loop_draft *l = fs_loop_at(r->b, loop);
  bool found = false;
  for (uint32_t op = 0; op < r->in.n_ops && !found; op++) {
    bool around =
        l->parent != FS_NONE && fs_loop_around_both(r->b, r->in.loop_of[op], l->parent) != FS_NONE;
    found = (op >= l->op_end || around) && fs_roller_op_runs(r, op) && reads_buffer(r, op, buffer);
  }
  return found;
}

bool fs_roller_writes_all(const fs_roller *r, uint32_t loop, uint32_t op, uint32_t arg,
                          uint64_t low, uint64_t high) {
  const fsched_builder *b = r->b;
  const fs_loop_draft *l = fs_loop_at(b, loop);
  const fs_moving_draft *way = fs_roller_moving(r, op, arg);
  uint32_t buffer = b->arg.at[arg].buffer;
  uint64_t first = UINT64_MAX, end = 0;
  for (op = l->op0; op < l->op_end && r->in.least[loop] > 0; op++) {
    for (arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op); arg++) {
      const fs_arg_draft *a = &b->arg.at[arg];
      uint64_t from, until;
      if (fs_tag_accesses(a->tag) && fs_tag_writes(a->tag) && a->buffer == buffer &&
          fs_roller_moves_alike(r, fs_roller_moving(r, op, arg), way)) {
        fs_roller_hull(r, op, arg, r->in.least[loop], &from, &until);
        first = first < from ? first : from;
        end = fs_max(end, until);
      }
    }
  }
  return first <= low && end >= high;
}

fs_status fs_roller_begins_nothing(fs_roller *r, uint32_t loop, uint32_t buffer) {
  assert(loop < r->b->loop.n && buffer < r->b->buffer_size.n);
  return fs_builder_fail(r->b, FS_DIAG_BAD_LOOP, fs_pos_at(&r->b->loop_at, loop),
                         "begin it before the loop, or let that run once at least",
                         "loop '%.80s' may run 0 times, and then nothing has begun '%.80s', which "
                         "is used behind it",
                         r->b->loops.text.at[loop], r->b->buffers.text.at[buffer]);
}
