/* SPDX-License-Identifier: Apache-2.0 */
/* What the slots of a program share: the plan, the modules, and the writers of kept items.  A
 * machine finds the programs that have slots by their streams, which outlive the slots. */
#include "base/group.h"
#include "exec/cuda/cuda.h"

/* Lists the items that write each kept item: its copy has to wait for them. */
static fs_status list_writers(fs_cuda_program *p, const fs_io *io) {
  fs_cuda_plan *plan = &p->plan;
  FS_TRY(fs_new_zero(&p->arena, &p->kept0, (size_t)io->n_kept + 2));
  for (uint32_t i = 0; i < plan->n_items; i++) {
    uint32_t c = plan->item[i].command;
    for (uint32_t j = io->kept0[c]; j < io->kept0[c + 1]; j++) {
      p->kept0[io->command_kept[j] + 2]++;
    }
  }
  fs_group_sum(p->kept0, io->n_kept);
  FS_TRY(fs_new(&p->arena, &p->kept_writer, p->kept0[io->n_kept + 1]));
  for (uint32_t i = 0; i < plan->n_items; i++) {
    uint32_t c = plan->item[i].command;
    for (uint32_t j = io->kept0[c]; j < io->kept0[c + 1]; j++) {
      p->kept_writer[p->kept0[io->command_kept[j] + 1]++] = i;
      fs_cuda_plan_add_event(plan, i);
    }
  }
  return FSCHED_OK;
}

/* Whether the item runs a kernel of a module. */
static bool is_foreign(const fs_cuda_program *p, const fs_cuda_item *item) {
  const fs_stream_command *c = &p->s->commands[item->command];
  bool host = p->s->queues[item->queue].host != 0;
  return fs_command_has_op(c) && fs_cuda_is_foreign_on(p, p->s->ops[c->target].kernel, host);
}

/* Whether an op of a loop does, on some queue. */
static bool loop_op_foreign(const fs_cuda_program *p, uint32_t op) {
  uint32_t kernel = p->s->loop_ops[op].kernel;
  uint8_t where = p->hosts.loop_op[op];
  return (where != 0 && fs_cuda_is_foreign_on(p, kernel, true)) ||
         (where != 1 && fs_cuda_is_foreign_on(p, kernel, false));
}

/* Makes the watchdog's tables: the kernels of modules, and the lanes as lists. */
static fs_status find_foreign(fs_cuda_program *p) {
  fs_cuda_plan *plan = &p->plan;
  uint32_t *last;
  FS_TRY(fs_new_zero(&p->arena, &p->foreign, plan->n_items));
  FS_TRY(fs_new_none(&p->arena, &p->lane_first, plan->n_lanes));
  FS_TRY(fs_new_none(&p->arena, &p->lane_next, plan->n_items));
  FS_TRY(fs_new_none(&p->arena, &last, plan->n_lanes));
  for (uint32_t i = 0; i < plan->n_items; i++) {
    uint32_t lane = plan->item[i].lane;
    *(last[lane] == FS_NONE ? &p->lane_first[lane] : &p->lane_next[last[lane]]) = i;
    last[lane] = i;
    p->foreign[i] = is_foreign(p, &plan->item[i]);
    p->watched = p->watched || p->foreign[i];
  }
  for (uint32_t i = 0; i < p->s->n_loop_ops; i++) {
    p->watched = p->watched || loop_op_foreign(p, i);
  }
  for (uint32_t i = 0; i < plan->n_items && p->watched; i++) {
    fs_cuda_plan_add_event(plan, i);
  }
  return FSCHED_OK;
}

static void drop_program(fs_cuda_program *p) {
  fs_machine *m = p->machine;
  if (atomic_load(&m->lost) == 0) {
    fs_cuda_modules_release(&p->modules);
    fs_kernels_release(&p->hosts.kernels);
  }
  fs_arena_release(&p->arena);
  fsched_context_destroy(p->ctx);
  fs_allocator_free(m->allocator, p, sizeof *p);
}

/* The program's context gets the diagnostics of its memory; ctx gets all others. */
static fs_status fill_program(fsched_context *ctx, fs_cuda_program *p, const fs_io *io) {
  FS_TRY(fs_cuda_host_find(&p->arena, p->s, &p->hosts));
  FS_TRY(fs_cuda_host_check(ctx, p->s, io, &p->hosts));
  FS_TRY(fs_cuda_plan_make(ctx, &p->arena, p->s, p->threads, &p->plan));
  FS_TRY(list_writers(p, io));
  if (!p->empty) {
    FS_TRY(fs_cuda_modules_load(ctx, &p->arena, &p->machine->device, p->s, &p->machine->rule,
                                &p->hosts, &p->modules));
    FS_TRY(fs_kernels_find_some(ctx, &p->arena, p->s, &p->machine->options, p->hosts.op,
                                p->hosts.loop_op, &p->hosts.kernels));
  }
  return find_foreign(p);
}

static fs_status make_program(fsched_context *ctx, fs_machine *m, const fs_stream *s,
                              const fs_io *io, fs_cuda_kind kind, fs_cuda_program **out) {
  fs_cuda_program *p = fs_allocator_new(m->allocator, sizeof *p);
  if (p == NULL) {
    return fs_no_memory(ctx, sizeof *p);
  }
  *p = (fs_cuda_program){
      .machine = m, .s = s, .empty = kind.empty, .threads = !kind.graph, .references = 1};
  fs_status status = fs_context_own(ctx, &p->ctx);
  if (status != FSCHED_OK) {
    fs_allocator_free(m->allocator, p, sizeof *p);
    return status;
  }
  fs_arena_init(&p->arena, p->ctx);
  status = fill_program(ctx, p, io);
  if (status != FSCHED_OK) {
    status = fs_context_out_of_memory(p->ctx) ? fs_no_memory(ctx, 0) : status;
    drop_program(p);
    return status;
  }
  p->next = m->programs;
  m->programs = p;
  *out = p;
  return FSCHED_OK;
}

fs_status fs_cuda_program_get(fsched_context *ctx, fs_machine *machine, const fs_stream *s,
                              const fs_io *io, fs_cuda_kind kind, fs_cuda_program **out) {
  pthread_mutex_lock(&machine->lock);
  fs_cuda_program *p = machine->programs;
  while (p != NULL && (p->s != s || p->empty != kind.empty || p->threads == kind.graph)) {
    p = p->next;
  }
  fs_status status = FSCHED_OK;
  if (p != NULL) {
    p->references++;
    *out = p;
  } else {
    status = make_program(ctx, machine, s, io, kind, out);
  }
  pthread_mutex_unlock(&machine->lock);
  return status;
}

void fs_cuda_program_lose(fs_cuda_program *p) {
  pthread_mutex_lock(&p->machine->lock);
  p->s = NULL;
  pthread_mutex_unlock(&p->machine->lock);
}

void fs_cuda_program_give(fs_cuda_program *p) {
  assert(p->references > 0);
  if (p == NULL) {
    return;
  }
  fs_machine *m = p->machine;
  pthread_mutex_lock(&m->lock);
  if (--p->references == 0) {
    fs_cuda_program **link = &m->programs;
    while (*link != p) {
      link = &(*link)->next;
    }
    *link = p->next;
    drop_program(p);
  }
  pthread_mutex_unlock(&m->lock);
}
