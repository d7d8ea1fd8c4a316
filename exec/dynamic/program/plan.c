/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the stream before it runs.  The walk is rehearsed with an engine alone.  Where
 * pieces of a heap lie depends on the order of submission alone, and a task that finds no room
 * waits only for what is not held, so a rehearsal finds room exactly where a run does, and tells
 * how many bytes of each heap are used. */
#include <stdlib.h>
#include <sys/mman.h>

#include "base/group.h"
#include "base/radix.h"
#include "base/saturate.h"
#include "exec/dynamic/program/program.h"
#include "exec/host/timeline.h"

fsched_hazards fs_program_hazards(const fs_stream *s) {
  return s->n_loops > 0 ? FSCHED_HAZARDS_SEQUENTIAL : (fsched_hazards)s->meta->hazards;
}

static fs_status find_commands(fs_instance *x) {
  const fs_stream *s = x->stream;
  uint32_t *op_of, *queue_of, n = s->n_commands;
  FS_TRY(fs_new(&x->arena, &op_of, n));
  FS_TRY(fs_new(&x->arena, &queue_of, n));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    const fs_stream_queue *k = &s->queues[q];
    for (uint32_t c = k->command0; c < k->command0 + k->n_commands; c++) {
      op_of[c] = fs_command_op(&s->commands[c]);
      queue_of[c] = q;
    }
  }
  FS_TRY(fs_group(&x->arena, op_of, n, s->n_ops, &x->op_queue0, &x->op_command));
  FS_TRY(fs_new(&x->arena, &x->op_queue, n));
  FS_TRY(fs_new_none(&x->arena, &x->command, s->n_ops));
  for (uint32_t op = 0; op < s->n_ops; op++) {
    x->any_after = x->any_after || s->ops[op].n_afters > 0;
    for (uint32_t i = x->op_queue0[op]; i < x->op_queue0[op + 1]; i++) {
      x->command[op] = fs_min(x->command[op], x->op_command[i]);
      x->op_queue[i] = queue_of[x->op_command[i]];
    }
  }
  return FSCHED_OK;
}

static fs_status find_body(fs_instance *x) {
  const fs_stream *s = x->stream;
  uint32_t *op_of, *queue_of, *command;
  FS_TRY(fs_new(&x->arena, &op_of, s->n_loop_commands));
  FS_TRY(fs_new(&x->arena, &queue_of, s->n_loop_commands));
  for (uint32_t i = 0; i < s->n_loop_queues; i++) {
    const fs_stream_loop_queue *q = &s->loop_queues[i];
    for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
      op_of[c] = s->loop_commands[c].op;
      queue_of[c] = q->queue;
    }
  }
  FS_TRY(fs_group(&x->arena, op_of, s->n_loop_commands, s->n_loop_ops, &x->body0, &command));
  FS_TRY(fs_new(&x->arena, &x->body, s->n_loop_commands));
  for (uint32_t i = 0; i < s->n_loop_commands; i++) {
    uint32_t c = command[i];
    x->body[i] = (fs_body_command){s->loop_commands[c].copy, queue_of[c], c};
  }
  return FSCHED_OK;
}

/* Queues of one name of a class are of one class; classes are numbered by their first queue. */
static fs_status find_classes(fs_instance *x) {
  const fs_stream *s = x->stream;
  x->n_queues = fs_max(s->n_queues, 1);
  FS_TRY(fs_new_zero(&x->arena, &x->class_of, x->n_queues));
  FS_TRY(fs_new_zero(&x->arena, &x->host, x->n_queues));
  if (s->n_queues > 0) {
    FS_TRY(fs_new(&x->arena, &x->queue_name, s->n_queues));
  }
  for (uint32_t q = 0; q < s->n_queues; q++) {
    x->host[q] = s->queues[q].host != 0;
    x->queue_name[q] = fs_stream_string(s, s->queues[q].name);
    uint32_t first = 0;
    while (strcmp(fs_stream_string(s, s->queues[first].class_name),
                  fs_stream_string(s, s->queues[q].class_name)) != 0) {
      first++;
    }
    x->class_of[q] = first;
  }
  return FSCHED_OK;
}

/* Whether a command of a queue may run in a process: it does, or another one of its class may. */
static bool may_leave(const fs_instance *x, uint32_t queue, bool by_class) {
  bool leaves = !x->host[queue];
  for (uint32_t q = 0; q < x->n_queues && by_class; q++) {
    leaves = leaves || (x->class_of[q] == x->class_of[queue] && !x->host[q]);
  }
  return leaves;
}

fs_status fs_program_find_away(fs_instance *x, uint8_t **op, uint8_t **loop_op) {
  const fs_stream *s = x->stream;
  FS_TRY(fs_new_zero(&x->arena, op, s->n_ops));
  FS_TRY(fs_new_zero(&x->arena, loop_op, s->n_loop_ops));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    const fs_stream_queue *of = &s->queues[q];
    for (uint32_t c = of->command0; c < of->command0 + of->n_commands; c++) {
      if (fs_kind_has_op(s->commands[c].kind)) {
        uint32_t id = s->commands[c].target;
        (*op)[id] |= may_leave(x, q, s->ops[id].by_class != 0);
      }
    }
  }
  for (uint32_t i = 0; i < s->n_loop_queues; i++) {
    const fs_stream_loop_queue *of = &s->loop_queues[i];
    for (uint32_t c = of->command0; c < of->command0 + of->n_commands; c++) {
      uint32_t id = s->loop_commands[c].op;
      (*loop_op)[id] |= may_leave(x, of->queue, s->loop_ops[id].by_class != 0);
    }
  }
  return FSCHED_OK;
}

/* Places an op after those that its `after` names.  As these are planned before it, only ops that
 * take no time ever have to be looked for. */
static void place_op(const fs_instance *x, uint32_t op, bool *placed, uint32_t *stack,
                     uint32_t *n) {
  const fs_stream *s = x->stream;
  uint32_t depth = 1;
  stack[0] = op;
  while (depth > 0) {
    uint32_t top = stack[depth - 1], next = FS_NONE;
    const fs_stream_op *o = &s->ops[top];
    for (uint32_t i = o->after0; i < o->after0 + o->n_afters && next == FS_NONE; i++) {
      next = placed[s->afters[i]] ? FS_NONE : s->afters[i];
    }
    if (next != FS_NONE && depth < s->n_ops) {
      stack[depth++] = next;
    } else {
      if (!placed[top]) {
        placed[top] = true;
        x->order[(*n)++] = top;
      }
      depth--;
    }
  }
}

typedef struct planned_op {
  uint64_t start;
  uint32_t op;
} planned_op;

static int compare_plans(const void *a, const void *b) {
  const planned_op *p = a, *q = b;
  if (p->start != q->start) {
    return p->start < q->start ? -1 : 1;
  }
  return fs_compare_u32(&p->op, &q->op);
}

/* Program order, or where `after` names a later op, that of the planned starts. */
static fs_status find_order(fs_instance *x) {
  const fs_stream *s = x->stream;
  bool forward = false;
  for (uint32_t op = 0; op < s->n_ops; op++) {
    const fs_stream_op *o = &s->ops[op];
    for (uint32_t i = o->after0; i < o->after0 + o->n_afters; i++) {
      forward = forward || s->afters[i] > op;
    }
  }
  if (!forward) {
    return FSCHED_OK;
  }
  planned_op *plan;
  bool *placed;
  uint32_t *stack, n = 0;
  FS_TRY(fs_new(&x->arena, &x->order, s->n_ops));
  FS_TRY(fs_new_zero(&x->arena, &placed, s->n_ops));
  FS_TRY(fs_new(&x->arena, &stack, (size_t)s->n_ops + 1));
  FS_TRY(fs_new(&x->arena, &plan, s->n_ops));
  for (uint32_t op = 0; op < s->n_ops; op++) {
    plan[op] = (planned_op){x->command[op] == FS_NONE ? 0 : s->commands[x->command[op]].start, op};
  }
  qsort(plan, s->n_ops, sizeof *plan, compare_plans);
  for (uint32_t i = 0; i < s->n_ops; i++) {
    place_op(x, plan[i].op, placed, stack, &n);
  }
  assert(n == s->n_ops);
  return FSCHED_OK;
}

/* ---- memory */

enum { OWN_ALIGN = 64 };

/* The first place of own memory in a block. */
static uint8_t *align_own(const fs_instance *x, uint8_t *block) {
  return block + (x->own_align - (uintptr_t)block % x->own_align) % x->own_align;
}

/* Memory for what is given or kept, each version aligned as its memory is. */
static fs_status take_own(fsched_context *ctx, fs_instance *x) {
  const fs_stream *s = x->stream;
  uint64_t *offset, bytes = 0;
  bool *own;
  x->own_align = OWN_ALIGN;
  FS_TRY(fs_new(&x->arena, &offset, s->n_versions));
  FS_TRY(fs_new_zero(&x->arena, &own, s->n_versions));
  FS_TRY(fs_new_zero(&x->arena, &x->own, s->n_versions));
  for (uint32_t v = 0; v < s->n_versions; v++) {
    const fs_stream_buffer *b = &s->buffers[s->versions[v].buffer];
    own[v] = s->versions[v].given_memory != FS_NONE || s->versions[v].kept_memory != FS_NONE;
    if (own[v]) {
      uint64_t align = fs_max(s->memories[b->memory].align, OWN_ALIGN);
      x->own_align = fs_max(x->own_align, align);
      offset[v] = fs_heap_rounded(bytes, align);
      bytes = fs_add_most(offset[v], fs_max(b->size, 1));
    }
  }
  if (bytes > x->config.memory_limit) {
    return fs_refuse_memory(ctx, "a dynamic run", bytes, x->config.memory_limit);
  }
  x->block_bytes = fs_add_most(bytes, x->own_align); /* it may begin anywhere */
  FS_TRY(fs_host_take(ctx, x->block_bytes, &x->block));
  uint8_t *base = align_own(x, x->block);
  for (uint32_t v = 0; v < s->n_versions; v++) {
    x->own[v] = own[v] ? base + offset[v] : NULL;
  }
  return FSCHED_OK;
}

static fs_status find_lives(fs_instance *x) {
  const fs_stream *s = x->stream;
  FS_TRY(fs_new_none(&x->arena, &x->last_use, s->n_versions));
  for (uint32_t i = 0; i < s->n_ops; i++) {
    uint32_t op = x->order == NULL ? i : x->order[i];
    const fs_stream_op *o = &s->ops[op];
    for (uint32_t a = o->arg0; a < o->arg0 + o->n_args; a++) {
      if (s->args[a].version != FS_NONE) {
        x->last_use[s->args[a].version] = op;
      }
    }
  }
  return FSCHED_OK;
}

/* Each memory has a heap, whose size options give, or the memory. */
static fs_status find_heaps(fsched_context *ctx, fs_instance *x) {
  const fs_stream *s = x->stream;
  const fsched_device_options *o = x->options;
  x->n_heaps = fs_max(s->n_memories, 1);
  FS_TRY(fs_new(&x->arena, &x->room, x->n_heaps));
  x->room[0] = (fs_heap_room){0, 1, NULL};
  for (uint32_t m = 0; m < s->n_memories; m++) {
    uint64_t size = o->heap_bytes != 0 ? o->heap_bytes : s->memories[m].capacity;
    x->room[m] = (fs_heap_room){fs_min(size, FSCHED_MAX_SIZE), s->memories[m].align,
                                fs_stream_string(s, s->memories[m].name)};
  }
  for (uint32_t i = 0; i < o->n_heaps; i++) {
    uint32_t m = 0;
    while (m < s->n_memories && strcmp(x->room[m].name, o->heaps[i].memory) != 0) {
      m++;
    }
    if (m == s->n_memories) {
      return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_REPLAY_OPTIONS, FS_NOWHERE, NULL,
                     "a heap has the size of memory '%s', which the program has not",
                     o->heaps[i].memory);
    }
    x->room[m].size = fs_min(o->heaps[i].bytes, FSCHED_MAX_SIZE);
  }
  return FSCHED_OK;
}

/* The bytes of a run whose heaps have such extents. */
static uint64_t count_bytes(const fs_instance *x, const uint64_t *extent) {
  uint64_t bytes = x->block_bytes;
  for (uint32_t m = 0; m < x->n_heaps; m++) {
    bytes = fs_add_most(bytes, fs_heap_rounded(extent[m], x->room[m].align));
  }
  return bytes;
}

/* Gives the largest heap without a limit what the others leave of the memory; false: there is none.
 * Before, nothing comes back in it. */
static bool limit_heap(fs_instance *x, const uint64_t *extent) {
  uint32_t most = FS_NONE;
  for (uint32_t m = 0; m < x->n_heaps; m++) {
    if (x->room[m].size == FSCHED_MAX_SIZE && (most == FS_NONE || extent[m] > extent[most])) {
      most = m;
    }
  }
  if (most == FS_NONE) {
    return false;
  }
  uint64_t align = x->room[most].align;
  uint64_t others = count_bytes(x, extent) - fs_heap_rounded(extent[most], align);
  uint64_t left = others < x->config.memory_limit ? x->config.memory_limit - others : 0;
  x->room[most].size = left / align * align;
  return true;
}

/* Finds how much of each heap is used; that is all that a run takes. */
static fs_status rehearse(fsched_context *ctx, fs_instance *x) {
  uint64_t *extent, bytes;
  FS_TRY(fs_new(&x->arena, &extent, x->n_heaps));
  do {
    memset(extent, 0, x->n_heaps * sizeof *extent);
    FS_TRY(fs_program_walk(ctx, x, NULL, extent));
    bytes = count_bytes(x, extent);
  } while (bytes > x->config.memory_limit && limit_heap(x, extent));
  for (uint32_t m = 0; m < x->n_heaps; m++) {
    x->room[m].size = fs_heap_rounded(extent[m], x->room[m].align);
  }
  return bytes <= x->config.memory_limit
             ? FSCHED_OK
             : fs_refuse_memory(ctx, "a dynamic run", bytes, x->config.memory_limit);
}

/* Takes `n` elements of `size` bytes from the shared block, on lines of their own. */
static uint64_t take_shared(uint64_t *bytes, uint64_t n, uint64_t size) {
  uint64_t at = fs_heap_rounded(*bytes, FS_LINE);
  *bytes = fs_add_most(at, fs_multiply_most(n, size));
  return at;
}

void fs_program_place_shared(fs_instance *x) {
  const fs_stream *s = x->stream;
  uint64_t bytes = 0;
  uint64_t shared = take_shared(&bytes, 1, sizeof *x->shared);
  uint64_t hand = take_shared(&bytes, x->n_hands, sizeof *x->hand);
  uint64_t gang = take_shared(&bytes, x->n_gangs, sizeof *x->gang);
  uint64_t digest = take_shared(&bytes, s->n_ops, sizeof *x->digest);
  uint64_t begin = take_shared(&bytes, s->n_commands, sizeof *x->begin);
  uint64_t end = take_shared(&bytes, s->n_commands, sizeof *x->end);
  unsigned char *base = x->shared_at;
  x->shared_bytes = (size_t)bytes;
  if (base == NULL) { /* only the size is asked for */
    return;
  }
  x->shared = (fs_program_shared *)(void *)(base + shared);
  x->hand = (fs_hand *)(void *)(base + hand);
  x->gang = (fs_program_gang *)(void *)(base + gang);
  x->digest = (_Atomic uint64_t *)(void *)(base + digest);
  x->begin = (_Atomic uint64_t *)(void *)(base + begin);
  x->end = (_Atomic uint64_t *)(void *)(base + end);
}

static fs_status make_shared(fsched_context *ctx, fs_instance *x) {
  x->n_hands = x->n_queues;
  fs_program_place_shared(x);
  void *at = x->shared_bytes > SIZE_MAX / 2 ? MAP_FAILED
                                            : mmap(NULL, x->shared_bytes, PROT_READ | PROT_WRITE,
                                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) {
    return fs_no_memory(ctx, x->shared_bytes);
  }
  x->shared_at = at;
  fs_program_place_shared(x);
  return FSCHED_OK;
}

static fs_status make_hands(fs_instance *x) {
  fs_effect_size size = fs_effect_measure(x->stream);
  FS_TRY(fs_new(&x->arena, &x->hand_room, x->n_hands));
  for (uint32_t i = 0; i < x->n_hands; i++) {
    FS_TRY(fs_effect_room_make(&x->arena, size, &x->hand[i], &x->hand_room[i]));
  }
  return FSCHED_OK;
}

fs_status fs_program_learn(fsched_context *ctx, fs_instance *x) {
  assert(x->shared != NULL && x->stream->n_meta == 1);
  uint8_t *op, *loop_op;
  FS_TRY(find_classes(x));
  FS_TRY(fs_program_find_away(x, &op, &loop_op));
  if (!x->config.empty) {
    FS_TRY(fs_kernels_find_some(ctx, &x->arena, x->stream, x->options, op, loop_op, &x->kernels));
  }
  x->effects = (fs_effects){.s = x->stream, .io = x->io, .kernels = &x->kernels};
  FS_TRY(find_commands(x));
  return make_hands(x);
}

static fs_status find_capacities(fs_instance *x) {
  const fs_stream *s = x->stream;
  FS_TRY(fs_new(&x->arena, &x->capacity, s->n_resources));
  for (uint32_t r = 0; r < s->n_resources; r++) {
    x->capacity[r] = s->resources[r].capacity;
  }
  return FSCHED_OK;
}

fs_status fs_program_plan(fsched_context *ctx, fs_instance *x) {
  const fs_stream *s = x->stream;
  assert(s->n_meta == 1);
  if (!x->config.empty) {
    FS_TRY(fs_kernels_find(ctx, &x->arena, s, x->options, &x->kernels));
  }
  x->effects = (fs_effects){.s = s, .io = x->io, .kernels = &x->kernels};
  FS_TRY(fs_loops_make(&x->arena, s, &x->loops));
  FS_TRY(find_commands(x));
  FS_TRY(find_body(x));
  FS_TRY(find_classes(x));
  FS_TRY(find_order(x));
  FS_TRY(find_capacities(x));
  FS_TRY(take_own(ctx, x));
  FS_TRY(find_lives(x));
  FS_TRY(find_heaps(ctx, x));
  FS_TRY(fs_new(&x->arena, &x->ready, x->io->n_given));
  FS_TRY(rehearse(ctx, x));
  FS_TRY(make_shared(ctx, x));
  return make_hands(x);
}

fs_status fs_program_move_own(fs_instance *x) {
  const uint8_t *old = align_own(x, x->block);
  uint8_t *at;
  FS_TRY(fs_workers_memory(x->workers, x->block_bytes, &at));
  at = align_own(x, at);
  for (uint32_t v = 0; v < x->stream->n_versions; v++) {
    x->own[v] = x->own[v] == NULL ? NULL : at + (x->own[v] - old);
  }
  fs_host_give(x->block, x->block_bytes);
  x->block = NULL;
  return FSCHED_OK;
}

void fs_program_unplan(fs_instance *x) {
  if (x->block != NULL) {
    fs_host_give(x->block, x->block_bytes);
  }
  if (x->shared_at != NULL && !x->shares) {
    (void)munmap(x->shared_at, x->shared_bytes);
  }
}
