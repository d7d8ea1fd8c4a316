/* SPDX-License-Identifier: Apache-2.0 */
/* Random streams with loops that stay loops, and an interpreter of them that knows versions alone:
 * no addresses, slots, commands and waits. */
#ifndef FS_TEST_LOOP_MAKER_H
#define FS_TEST_LOOP_MAKER_H

#include "kit/gen.h"
#include "kit/replay_maker.h"

enum { LM_LOOPS = 2, LM_OPS = 16, LM_ARGS = 96, LM_COMMANDS = 64, LM_WAITS = 512, LM_PLACES = 512 };

typedef struct lm_maker {
  maker m;
  fs_stream_loop loops[LM_LOOPS];
  fs_stream_loop_queue queues[MK_SMALL];
  fs_stream_loop_op ops[LM_OPS];
  fs_stream_loop_arg args[LM_ARGS];
  fs_stream_ring rings[LM_OPS];
  fs_stream_loop_command commands[LM_COMMANDS];
  fs_stream_loop_wait waits[LM_WAITS];
  fs_stream_place places[LM_PLACES];
  uint64_t top; /* end of the memory in use */
  fs_rng rng;
} lm_maker;

/* How the commands of a loop are made. */
typedef struct lm_shape {
  uint32_t n_queues, copies;
  uint64_t trip;
  bool gangs; /* some ops of the body run on two queues */
} lm_shape;

void lm_init(lm_maker *l, fsched_context *ctx, uint64_t seed);
/* Sets the sections of the stream to what has been made so far. */
void lm_seal(lm_maker *l);

/* Adds a buffer with one version, given and kept in its place; returns the version. */
uint32_t lm_buffer(lm_maker *l, const char *name, uint64_t size, bool given);

/* By hand: begins a loop, whose op has no args yet; adds an op of the body, an arg of it without
 * and with a ring, and a ring, whose buffer holds nothing else. */
uint32_t lm_loop(lm_maker *l, const char *name, uint64_t trip, uint32_t copies);
uint32_t lm_op(lm_maker *l, const char *name, uint32_t kernel);
uint32_t lm_kernel(lm_maker *l); /* for ops of the body: a kernel that is not built in */
void lm_arg(lm_maker *l, fsched_tag tag, uint32_t version, uint64_t offset, uint64_t length,
            int64_t step);
void lm_ring_arg(lm_maker *l, fsched_tag tag, uint32_t ring, uint64_t offset, uint64_t length,
                 uint32_t back);
uint32_t lm_ring(lm_maker *l, const char *name, uint64_t size, uint64_t slot, uint32_t depth,
                 bool entry, uint32_t writer);
/* Makes the commands of the last loop, on queues 0 .. n_queues - 1 by a random plan, with all waits
 * that are needed and some more, and its commands of the stream.  Requires that its args are made.
 */
void lm_plan(lm_maker *l, const lm_shape *shape);

/* The same, but op i of the body is on queue i mod n_queues, and nothing is random. */
void lm_plan_in_turn(lm_maker *l, uint32_t n_queues);

/* A whole random stream: an op, one or two loops, and ops behind them. */
void lm_random(lm_maker *l, fsched_context *ctx, uint64_t seed);

/* What the stream computes. */
typedef struct lm_result {
  uint8_t *bytes[MK_MANY];               /* per version */
  uint64_t begin[MK_MANY], end[MK_MANY]; /* per version: the bytes that are compared */
  uint64_t digest[MK_MANY];              /* per op */
} lm_result;
/* `given` is per version: content, or NULL. */
void lm_interpret(const fs_stream *s, const void *const *given, lm_result *out);
void lm_result_free(const fs_stream *s, lm_result *r);

#endif
