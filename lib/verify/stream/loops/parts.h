/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the check of loops that stay loops: its parts; see loops/loops.c. */
#ifndef FS_VERIFY_STREAM_LOOPS_H
#define FS_VERIFY_STREAM_LOOPS_H

#include "verify/loop/loop.h"
#include "verify/stream/stream.h"

/* An arg of the body that is an access of bytes. */
typedef struct fs_vbody_access {
  uint32_t member, arg;
  bool writes;
} fs_vbody_access;

/* A loop at hand.  Members are its ops, counted from 0. */
typedef struct fs_vloop {
  fs_vs *v;
  const fs_stream_loop *l;
  const char *name;
  bool inner;                    /* it is in another loop */
  uint32_t own0, n_own;          /* args of the op that it is: of args, or of loop_args if inner */
  const fs_stream_place *place;  /* those of a command of that op, which are those of all */
  uint32_t n_places;             /* how many */
  uint32_t command0, n_commands; /* of loop_commands */
  uint32_t n_accesses;
  fs_vbody_access *access; /* in program order */
  uint32_t wrong;          /* findings so far */
  /* Members with parts (loops/joined.c): the first part of one has its number. */
  uint32_t n_members;   /* all parts counted */
  uint32_t *more_parts; /* per op: where its others are numbered */
  uint32_t *op_of;      /* per member: the op of the body */
} fs_vloop;

#define FS_LOOP_WRONG(x, code, ...) ((x)->wrong++, FS_WRONG((x)->v, (code), __VA_ARGS__))

/* Requires a member. */
static inline const fs_stream_loop_op *fs_vloop_op(const fs_vloop *x, uint32_t member) {
  assert(member < x->l->n_ops);
  return &x->v->s->loop_ops[x->l->op0 + member];
}
static inline const char *fs_vloop_op_name(const fs_vloop *x, uint32_t member) {
  return fs_vs_string(x->v, fs_vloop_op(x, member)->name);
}
/* loops/joined.c: the parts of a member, which are more than one of a loop whose runs are joined:
 * the k-th is on its k-th queue. */
fs_status fs_vloop_find_parts(fs_vloop *x, fs_arena *arena) FS_MUST_USE;
uint32_t fs_vloop_n_parts(const fs_vloop *x, uint32_t member);
uint32_t fs_vloop_part(const fs_vloop *x, uint32_t member, uint32_t k);
uint32_t fs_vloop_part_on(const fs_vloop *x, uint32_t member, uint32_t queue);
/* Whether a part touches the buffer of an arg of its op; FS_NONE: it may be any.  O(args of the
 * loop). */
bool fs_vloop_part_touches(const fs_vloop *x, uint32_t member, uint32_t k, uint32_t arg);
/* The iterations of a run; where runs are joined, of all of them. */
uint64_t fs_vloop_all_trips(const fs_vloop *x);
/* Whether both members have commands on one queue alone, the same. */
bool fs_vloop_on_one_queue(const fs_vloop *x, uint32_t a, uint32_t b);
/* Reports slots that an op outside of a loop uses whose runs are joined. */
void fs_vloop_joined(fs_vloop *x);
/* The member that a command runs.  Requires a command of the loop. */
static inline uint32_t fs_vloop_member(const fs_vloop *x, uint32_t command) {
  assert(command - x->command0 < x->n_commands);
  return x->v->s->loop_commands[command].op - x->l->op0;
}

/* How far iteration `trips` is from iteration 0, in bytes.  Requires a number of iterations of the
 * loop, whose shape is right. */
static inline int64_t fs_vloop_way(const fs_vloop *x, const fs_stream_loop_arg *a, uint64_t trips) {
  assert(trips < x->l->trip);
  (void)x;
  return a->step * (int64_t)trips;
}
/* The bytes [low, high) that an arg without a ring touches in iterations 0 .. trips, of which all
 * have a first one in the buffer. */
typedef struct fs_vbytes {
  uint64_t low, high;
} fs_vbytes;
fs_vbytes fs_vloop_hull(const fs_vloop *x, const fs_stream_loop_arg *a, uint64_t trips);
/* The same of one iteration. */
fs_vbytes fs_vloop_bytes(const fs_vloop *x, const fs_stream_loop_arg *a, uint64_t iteration);
/* The runs of an arg, one of loop_args, whose bytes lie in [low, high): more than one for a view.
 * *coarse: they are too many, and count as one, of which nothing is written for sure. */
fs_view_runs fs_vloop_runs(const fs_stream *s, const fs_stream_loop_arg *a, fs_vbytes bytes,
                           bool *coarse);

/* What an arg of the loop's own op touches. */
typedef struct fs_vown {
  uint64_t offset, length;
  uint32_t tag, buffer;
} fs_vown;
/* Requires an arg of that op. */
fs_vown fs_vloop_own(const fs_vloop *x, uint32_t arg);
/* Whether two args of the own op of a loop move alike with all loops around that. */
bool fs_vloop_alike(const fs_stream *s, const fs_stream_loop *l, uint32_t a, uint32_t b);
/* Whether an arg of the loop's own op has the buffer of another and moves like that one, holds the
 * bytes, and has a right mode. */
bool fs_vloop_own_holds_in(const fs_vloop *x, uint32_t arg, uint32_t own, fs_vbytes bytes,
                           bool (*mode)(unsigned));
/* loops/written.c: whether it is shown of the outermost loop around that what all loops in it read
 * of a buffer was written before. */
fs_status fs_vloop_written(const fs_vloop *x, uint32_t buffer, bool *all) FS_MUST_USE;
/* Where an arg without a ring is cut off: the size of its buffer, or of a version of the ring that
 * it moves with. */
uint64_t fs_vloop_limit(const fs_stream *s, const fs_stream_loop *l, const fs_stream_loop_arg *a);
/* How far the loops around move an arg of their op at most, down and up; false: it is too far. */
bool fs_vloop_moves(const fs_stream *s, const fs_stream_loop *l, uint32_t own, int64_t *down,
                    int64_t *up);
/* The place of an arg of its own, or NULL. */
const fs_stream_place *fs_vloop_own_place(const fs_vloop *x, uint32_t arg);

/* Two commands that may not run at once: they share units of a resource, or scratch. */
typedef struct fs_vlane {
  uint32_t command[2];
  uint32_t place; /* of loop_places: what they share */
} fs_vlane;
typedef FS_VEC(fs_vlane) fs_vlanes;

/* Each part reports its findings.  Requires a loop whose shape is right. */
fs_status fs_vloop_stops(fs_vloop *x) FS_MUST_USE; /* syncs say what the waits do */
fs_status fs_vloop_hulls(fs_vloop *x) FS_MUST_USE; /* it touches what its own op does */
/* Appends the pairs of commands that share something. */
fs_status fs_vloop_places(fs_vloop *x, fs_vlanes *lanes) FS_MUST_USE;

/* The machine has the barriers of all guards, each for one of them alone, with slots enough.
 * Requires loops whose shape is right. */
fs_status fs_vs_guards(fs_vs *v) FS_MUST_USE;

/* An order that the args or an `after` ask for. */
typedef struct fs_vorder {
  fs_loop_order order;
  uint32_t buffer;           /* for which it is; FS_NONE: for an `after` */
  uint32_t from_arg, to_arg; /* of loop_args; FS_NONE: for an `after` */
} fs_vorder;
typedef FS_VEC(fs_vorder) fs_vorders;
/* Reports members of an op of which one writes what another one may access at the same time. */
void fs_vloop_members(fs_vloop *x);
/* Appends the orders that the loop has to keep besides its rings. */
fs_status fs_vloop_orders(fs_vloop *x, fs_vorders *out) FS_MUST_USE;

#endif
