/* SPDX-License-Identifier: Apache-2.0 */
/* The host as a machine, and the effects of commands there. */
#include "exec/host/host.h"

#include "base/clock.h"
#include "exec/host/loops.h"
#include "exec/host/machine.h"
#include "exec/host/stuck.h"

#include <stdio.h>
#include <unistd.h>

/* The machine */

fs_status fs_host_open(fsched_context *ctx, const fsched_device_options *options,
                       fs_machine **out) {
  fs_machine *m = fs_realloc(ctx, NULL, 0, sizeof *m);
  if (m == NULL) {
    return FSCHED_SYSTEM;
  }
  *m = (fs_machine){.ctx = ctx, .options = *options};
  if (options->modules != NULL) {
    int n = snprintf(m->modules, sizeof m->modules, "%s", options->modules);
    if (n < 0 || (size_t)n >= sizeof m->modules) {
      (void)fs_realloc(ctx, m, sizeof *m, 0);
      return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_REPLAY_OPTIONS, FS_NOWHERE, NULL,
                     "the path of the modules' directory is too long");
    }
    m->options.modules = m->modules;
  }
  (void)snprintf(m->note, sizeof m->note, "the processors of this machine");
  *out = m;
  return FSCHED_OK;
}

void fs_host_close(fs_machine *machine) {
  (void)fs_realloc(machine->ctx, machine, sizeof *machine, 0);
}

const fsched_device_options *fs_host_options(const fs_machine *machine) {
  return &machine->options;
}

const char *fs_host_describe(const fs_machine *machine) { return machine->note; }

fs_status fs_host_take_pool(fsched_context *ctx, fs_machine *machine, uint64_t bytes, void **out) {
  (void)machine;
  return fs_host_take(ctx, bytes, out);
}

void fs_host_give_pool(fs_machine *machine, void *memory, uint64_t bytes) {
  (void)machine;
  fs_host_give(memory, bytes);
}

/* Effects */

static void measure_loops(const fs_stream *s, fs_effect_size *most) {
  for (uint32_t i = 0; i < s->n_loop_ops; i++) {
    const fs_stream_loop_op *op = &s->loop_ops[i];
    size_t bytes = fs_loop_name_bytes(fs_stream_string(s, op->name), FS_LOOP_NEST);
    most->args = op->n_args > most->args ? op->n_args : most->args;
    most->name_bytes = bytes > most->name_bytes ? bytes : most->name_bytes;
  }
  for (uint32_t i = 0; i < s->n_loop_commands; i++) {
    uint32_t places = s->loop_commands[i].n_places;
    most->places = places > most->places ? places : most->places;
  }
}

fs_effect_size fs_effect_measure(const fs_stream *s) {
  assert(s->n_meta == 1);
  fs_effect_size most = {0, 0, 0};
  measure_loops(s, &most);
  for (uint32_t i = 0; i < s->n_ops; i++) {
    most.args = s->ops[i].n_args > most.args ? s->ops[i].n_args : most.args;
  }
  for (uint32_t i = 0; i < s->n_commands; i++) {
    most.places = s->commands[i].n_places > most.places ? s->commands[i].n_places : most.places;
  }
  return most;
}

fs_status fs_effect_room_make(fs_arena *arena, fs_effect_size size, fs_hand *hand,
                              fs_effect_room *room) {
  room->hand = hand;
  FS_TRY(fs_new(arena, &room->args, size.args));
  FS_TRY(fs_new(arena, &room->views, size.args));
  FS_TRY(fs_new(arena, &room->name, size.name_bytes));
  return fs_new(arena, &room->scratch, size.places);
}

static void take_in_hand(fs_hand *hand, const fs_running *what) {
  uint64_t count = atomic_load_explicit(&hand->count, memory_order_relaxed);
  atomic_store_explicit(&hand->command, what->command, memory_order_relaxed);
  atomic_store_explicit(&hand->loop_op, what->loop_op, memory_order_relaxed);
  atomic_store_explicit(&hand->queue, what->queue, memory_order_relaxed);
  atomic_store_explicit(&hand->depth, what->depth, memory_order_relaxed);
  for (uint32_t i = 0; i < what->depth; i++) {
    atomic_store_explicit(&hand->iteration[i], what->iteration[i], memory_order_relaxed);
  }
  atomic_store_explicit(&hand->count, count + 1, memory_order_release);
}

/* Ends the call, unless it was given up meanwhile: then the thread sleeps for ever. */
static void let_go(fs_hand *hand) {
  uint64_t count = atomic_load_explicit(&hand->count, memory_order_relaxed);
  if (count == FS_HAND_LOST || !atomic_compare_exchange_strong(&hand->count, &count, count + 1)) {
    for (;;) {
      (void)pause();
    }
  }
}

uint64_t fs_hand_look(fs_hand *hand) {
  uint64_t count = atomic_load(&hand->count);
  if (hand->seen != count || hand->seen_ns == 0) {
    hand->seen = count;
    hand->seen_ns = fs_now_ns();
  }
  return count;
}

bool fs_hand_report(fsched_context *ctx, const fs_stream *s, const fs_hand *hand,
                    uint64_t begin_ns) {
  assert(s->n_meta == 1);
  if (!fs_hand_busy(atomic_load(&hand->count))) {
    return false;
  }
  fs_running what = {.command = atomic_load(&hand->command),
                     .loop_op = atomic_load(&hand->loop_op),
                     .queue = atomic_load(&hand->queue),
                     .depth = atomic_load(&hand->depth)};
  for (uint32_t i = 0; i < what.depth; i++) {
    what.iteration[i] = atomic_load(&hand->iteration[i]);
  }
  fs_stuck_report_kernel(ctx, s, &what, hand->seen_ns, begin_ns);
  return true;
}

bool fs_hand_give_up(fs_hand *hand, uint64_t count) {
  return fs_hand_busy(count) && count != FS_HAND_LOST &&
         atomic_compare_exchange_strong(&hand->count, &count, FS_HAND_LOST);
}

/* Makes the call of an op, or of its member that the command is, with the places of this
 * command. */
static fs_kernel_call make_call(const fs_effects *e, const fs_effect_room *room,
                                const int64_t *values, const fs_stream_command *c) {
  const fs_stream *s = e->s;
  const fs_stream_op *op = &s->ops[c->target];
  uint32_t n_scratch = 0, command = (uint32_t)(c - s->commands);
  fs_stream_member own = fs_stream_args_of(s, command);
  for (uint32_t i = 0; i < own.n_args; i++) {
    const fs_stream_arg *a = &s->args[own.arg0 + i];
    int64_t value = values == NULL ? a->value : values[own.arg0 + i];
    room->args[i] = (fs_kernel_arg){.value = value, .tag = fs_tag_seen(a->tag, a->begins)};
  }
  for (uint32_t i = c->place0; i < c->place0 + c->n_places; i++) {
    const fs_stream_place *p = &s->places[i];
    bool content = p->version != FS_NONE, scratch = !content && (p->mode & FS_MODE_W) != 0;
    if (!fs_space_has_bytes(p->space) || (!content && !scratch)) {
      continue; /* the place may be of a no_dep arg that names no content */
    }
    uint8_t *data = fs_memories_at(e->memories, p->index, p->address);
    if (scratch) {
      room->scratch[n_scratch++] = (fs_kernel_arg){.data = data, .length = p->size};
    } else if (p->arg - own.arg0 < own.n_args) {
      room->args[p->arg - own.arg0].data = data;
      room->args[p->arg - own.arg0].length = p->size;
    }
  }
  fs_kernel_call call = {.op = fs_stream_string(s, op->name),
                         .args = room->args,
                         .scratch = room->scratch,
                         .n_args = own.n_args,
                         .n_scratch = n_scratch,
                         .views = fs_kernel_views(s, own, room->views),
                         .member = op->n_members == 0 ? 0 : fs_stream_member_of(s, command),
                         .n_members = op->n_members};
  fs_kernels_shape(e->kernels, op->kernel, &call);
  return call;
}

/* A kernel in hand can be given up, and then its instance may be gone.  So everything is looked up
 * before the kernel is taken in hand, and reports are made after it is let go. */
static fsched_cause run_foreign(const fs_effects *e, const fs_effect_room *room,
                                const fs_running *what, uint32_t kernel,
                                const fs_kernel_call *call) {
  fsched_kernel_run run;
  fsched_kernel_fn function =
      fs_kernels_announce(e->kernels, kernel, call, fs_running_queue(e->s, what), &run);
  take_in_hand(room->hand, what);
  int answer = function(call);
  let_go(room->hand);
  return fs_kernels_answer(e->kernels, answer);
}

fsched_cause fs_effect_call(const fs_effects *e, const fs_effect_room *room, const fs_work *work,
                            const fs_running *what, uint32_t kernel, const fs_kernel_call *call) {
  FS_ASSERT_SLOW(kernel == FS_NONE || kernel < e->kernels->n);
  fsched_cause cause = fs_kernels_foreign(e->kernels, kernel)
                           ? run_foreign(e, room, what, kernel, call)
                           : fs_kernels_run(e->kernels, kernel, call); /* does return */
  if (cause != FSCHED_CAUSE_NONE && work->failed != NULL) {
    char text[512];
    (void)snprintf(text, sizeof text, "op '%.400s': its kernel failed", call->op);
    work->failed(work->user, cause, text);
  }
  return cause;
}

static fsched_cause run_op(const fs_effects *e, const fs_effect_room *room, const fs_work *work,
                           const fs_stream_command *c) {
  uint32_t kernel = e->s->ops[c->target].kernel;
  fs_running what = {
      .command = (uint32_t)(c - e->s->commands), .loop_op = FS_NONE, .queue = FS_NONE};
  fs_kernel_call call = make_call(e, room, work->values, c);
  fsched_cause cause = fs_effect_call(e, room, work, &what, kernel, &call);
  bool whole = call.n_members == 0; /* of members, the digests are summed up when all are over */
  if (cause == FSCHED_CAUSE_NONE && work->record.digest != NULL && whole) {
    work->record.digest[c->target] = fs_kernels_digest(e->kernels, kernel, &call);
  }
  return cause;
}

uint64_t fs_effect_member_digest(const fs_effects *e, const fs_effect_room *room,
                                 const fs_work *work, uint32_t command) {
  FS_ASSERT_SLOW(command < e->s->n_commands);
  const fs_stream_command *c = &e->s->commands[command];
  fs_kernel_call call = make_call(e, room, work->values, c);
  return fs_kernels_digest(e->kernels, e->s->ops[c->target].kernel, &call);
}

fsched_cause fs_effect_run(const fs_effects *e, const fs_effect_room *room, const fs_work *work,
                           uint32_t command) {
  FS_ASSERT_SLOW(command < e->s->n_commands);
  const fs_stream_command *c = &e->s->commands[command];
  const fs_stream_place *p = &e->s->places[c->place0];
  switch (fs_command_kind_of(c)) {
    case FS_COMMAND_RUN:
      return run_op(e, room, work, c);
    case FS_COMMAND_COPY:
      memmove(fs_memories_at(e->memories, p[1].index, p[1].address),
              fs_memories_at(e->memories, p[0].index, p[0].address), p[1].size);
      break;
  }
  return FSCHED_CAUSE_NONE;
}

void fs_effect_give(const fs_effects *e, const fs_work *work, uint32_t item) {
  assert(item < e->io->n_given);
  const fs_io_item *g = &e->io->given[item];
  uint8_t *place = fs_memories_at(e->memories, g->memory, g->address);
  const uint8_t *from = work->given == NULL ? NULL : work->given[item];
  for (uint32_t i = 0; i < g->n_ranges; i++) {
    fs_byte_range r = e->io->range[g->range0 + i];
    if (from == NULL) {
      fs_fill_given_range(fs_stream_string(e->s, e->s->buffers[g->buffer].name), place, r.begin,
                          r.end);
    } else {
      memcpy(place + r.begin, from + r.begin, r.end - r.begin);
    }
  }
  if (work->given_taken != NULL) {
    work->given_taken(work->user, item);
  }
}

void fs_effect_keep(const fs_effects *e, const fs_work *work, uint32_t item) {
  assert(item < e->io->n_kept);
  const fs_io_item *k = &e->io->kept[item];
  if (work->kept == NULL || work->kept[item] == NULL) {
    return;
  }
  const uint8_t *place = fs_memories_at(e->memories, k->memory, k->address);
  for (uint32_t i = 0; i < k->n_ranges; i++) {
    fs_byte_range r = e->io->range[k->range0 + i];
    memcpy((uint8_t *)work->kept[item] + r.begin, place + r.begin, r.end - r.begin);
  }
  if (work->kept_there != NULL) {
    work->kept_there(work->user, item);
  }
}
