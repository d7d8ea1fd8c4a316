/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of random programs of submits, made to dynamic runs as well, and what the tasks leave
 * when they are evaluated one after the other, on one piece of memory for each buffer. */
#ifndef FS_TEST_SUBMIT_MIRROR_H
#define FS_TEST_SUBMIT_MIRROR_H

#include <stdio.h>

#include "exec/dynamic/forks.h"
#include "exec/host/kernel.h"
#include "front/submit_program.h"
#include "fsched/compile.h"
#include "fsched/dynamic.h"
#include "fsched/exec.h"
#include "fsched/replay.h"

#include "kit/context.h"

static inline uint8_t *imported_memory(const model_mirror *m, uint32_t buffer) {
  return m->memory + (size_t)buffer * ROW;
}

/* Starts dynamic run times, each with an open run: forked processes where there are such, processes
 * of a program, threads.  Returns how many. */
static inline uint32_t start_mirrors(model_mirror *mirror, char program[4096], bool raw) {
  uint32_t n = 0;
  (void)beside_runner("../fsched-worker", program);
  for (int kind = workers_fork() ? 0 : 1; kind < MIRRORS; kind++) {
    fsched_dynamic_options o = {.size = sizeof o,
                                .processes = kind < 2,
                                .spawn = kind == 1,
                                .worker = program,
                                .heap_bytes = 1 << 20,
                                .memory_bytes = (uint64_t)BUFFERS * ROW};
    model_mirror *m = &mirror[n++];
    void *memory;
    ck_fs(ctx, fsched_dynamic_create(submit_target(raw), &o, &m->d));
    for (int i = 0; i < CALLABLES; i++) {
      ck_fs(ctx, fsched_dynamic_callable(m->d, &submit_callable[i], NULL));
    }
    ck_fs(ctx, fsched_dynamic_open(m->d));
    ck_fs(ctx, fsched_dynamic_memory(m->d, (uint64_t)BUFFERS * ROW, &memory));
    m->memory = memory;
  }
  return n;
}

/* Gives an import its content, the same everywhere; that of state is there already. */
static inline void fill_import(model_program *p, uint32_t buffer) {
  if (p->n_mirrors == 0) {
    return;
  }
  for (uint32_t i = 0; i < ROW && p->buffer[buffer].io != FSCHED_IO_STATE; i++) {
    p->left[buffer][i] = (uint8_t)fs_rng_below(&p->rng, 256);
  }
  memcpy(p->plain[buffer], p->left[buffer], ROW);
  memcpy(p->given[buffer], p->left[buffer], ROW);
  for (uint32_t k = 0; k < p->n_mirrors && p->buffer[buffer].io != FSCHED_IO_STATE; k++) {
    memcpy(imported_memory(&p->mirror[k], buffer), p->given[buffer], ROW);
  }
}

static inline void mirror_import(model_program *p, const fsched_submit_import_desc *d,
                                 uint32_t buffer) {
  fill_import(p, buffer);
  for (uint32_t k = 0; k < p->n_mirrors; k++) {
    fsched_submit_import_desc own = *d;
    uint32_t id = FS_NONE;
    own.address = imported_memory(&p->mirror[k], buffer);
    ck_assert_int_eq(fsched_dynamic_import(p->mirror[k].d, &own, &id), FSCHED_OK);
    ck_assert_uint_eq(id, buffer);
  }
}

static inline void mirror_alloc(model_program *p, const fsched_submit_alloc_desc *d,
                                uint32_t buffer) {
  for (uint32_t k = 0; k < p->n_mirrors; k++) {
    uint32_t id = FS_NONE;
    ck_assert_int_eq(fsched_dynamic_alloc(p->mirror[k].d, d, &id), FSCHED_OK);
    ck_assert_uint_eq(id, buffer);
  }
}

/* The same answer to a task, or to a group. */
static inline void mirror_task(model_program *p, const fsched_submit_task_desc *d,
                               const fsched_submit_group_desc *g, fs_status status, uint32_t task) {
  for (uint32_t k = 0; k < p->n_mirrors; k++) {
    uint32_t id = FS_NONE;
    fs_status own = g != NULL ? fsched_dynamic_group(p->mirror[k].d, g, &id)
                              : fsched_dynamic_task(p->mirror[k].d, d, &id);
    ck_assert_int_eq(own, status);
    ck_assert_uint_eq(id, task);
  }
}

static inline void mirror_scope(model_program *p, const fsched_submit_scope_desc *begin,
                                fs_status status) {
  for (uint32_t k = 0; k < p->n_mirrors; k++) {
    ck_assert_int_eq(begin != NULL ? fsched_dynamic_begin_scope(p->mirror[k].d, begin)
                                   : fsched_dynamic_end_scope(p->mirror[k].d),
                     status);
  }
}

static inline void mirror_hold(model_program *p, bool hold, uint32_t buffer, fs_status status) {
  for (uint32_t k = 0; k < p->n_mirrors; k++) {
    ck_assert_int_eq(hold ? fsched_dynamic_hold(p->mirror[k].d, buffer)
                          : fsched_dynamic_release(p->mirror[k].d, buffer),
                     status);
  }
}

/* Runs a member's `mix` on memory that is as before the task, and takes over what it writes. */
static inline void evaluate_member(model_program *p, const char *name, const model_arg *a,
                                   uint32_t n, uint32_t member, bool group, const void *params,
                                   size_t n_params, uint8_t (*memory)[ROW]) {
  fsched_kernel_arg arg[ARGS];
  fsched_kernel_view view[ARGS];
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (a[i].member != member) {
      continue;
    }
    arg[count] = (fsched_kernel_arg){.tag = a[i].tag, .value = (int64_t)i};
    view[count] = (fsched_kernel_view){0};
    if (a[i].tag != FSCHED_VALUE) {
      uint64_t last = (a[i].shape[0] - 1) * a[i].stride[0] + (a[i].shape[1] - 1) * a[i].stride[1];
      arg[count].value = 0;
      arg[count].data = memory[a[i].buffer] + (a[i].view ? a[i].offset : 0);
      arg[count].length = !a[i].view  ? p->buffer[a[i].buffer].size
                          : a[i].tile ? last + a[i].element
                                      : a[i].length;
    }
    if (a[i].tile) {
      view[count] = (fsched_kernel_view){
          2, a[i].element, {a[i].shape[0], a[i].shape[1]}, {a[i].stride[0], a[i].stride[1]}};
    }
    count++;
  }
  fsched_kernel_call call = {.size = sizeof call,
                             .op = name,
                             .args = arg,
                             .n_args = count,
                             .params = params,
                             .n_params = n_params,
                             .views = view,
                             .member = member,
                             .n_members = group ? 2 : 0};
  fs_builtin_run(FS_BUILTIN_MIX, &call);
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t at = 0; at < BYTES && a[i].member == member && writes(a[i].tag); at++) {
      if (has_byte(&a[i], at)) {
        p->plain[a[i].buffer][at] = memory[a[i].buffer][at];
      }
    }
  }
}

static inline void evaluate_record(model_program *p, const model_record *r) {
  static uint8_t memory[BUFFERS][ROW];
  static uint8_t before[BUFFERS][ROW];
  memcpy(before, p->plain, sizeof before);
  for (uint32_t m = 0; m < (r->group ? 2 : 1); m++) {
    memcpy(memory, before, sizeof memory);
    evaluate_member(p, r->name, r->arg, r->n, m, r->group, r->block, r->n_params, memory);
  }
}

static inline void evaluate_task(model_program *p, const char *name, const model_arg *a, uint32_t n,
                                 bool group, const void *params, size_t n_params) {
  model_record *r = &p->record[p->n_tasks];
  *r = (model_record){.n = n, .group = group, .n_params = n_params};
  (void)snprintf(r->name, sizeof r->name, "%s", name);
  memcpy(r->arg, a, n * sizeof *a);
  memcpy(r->block, params, n_params);
  for (uint32_t i = 0; i < n; i++) {
    p->counts.states += !a[i].alloc && writes(a[i].tag) && a[i].tag != FSCHED_VALUE &&
                        p->buffer[a[i].buffer].io == FSCHED_IO_STATE;
  }
  evaluate_record(p, r);
}

/* Evaluates the tasks once more, with the same inputs, and state as it is. */
static inline void evaluate_again(model_program *p) {
  for (uint32_t i = 0; i < p->n_buffers; i++) {
    if (p->buffer[i].io != FSCHED_IO_STATE) {
      memcpy(p->plain[i], p->given[i], ROW);
    }
  }
  for (uint32_t i = 0; i < p->n_tasks; i++) {
    evaluate_record(p, &p->record[i]);
  }
}

/* Binds all that is given or kept, beside state, to memory with its first content. */
static inline uint32_t bind_all(const model_program *p, uint8_t (*data)[ROW],
                                fsched_binding *binding) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->n_buffers; i++) {
    const model_buffer *x = &p->buffer[i];
    memcpy(data[i], p->given[i], ROW);
    if (x->imported && x->io != FSCHED_IO_NONE && x->io != FSCHED_IO_STATE && x->size > 0) {
      binding[n++] = (fsched_binding){.buffer = x->name, .data = data[i], .bytes = x->size};
    }
  }
  return n;
}

static inline void ck_outputs(const model_program *p, uint8_t (*data)[ROW], const char *when) {
  for (uint32_t i = 0; i < p->n_buffers; i++) {
    ck_assert_msg(!p->buffer[i].output || memcmp(data[i], p->plain[i], p->buffer[i].size) == 0,
                  "'%s' is another one %s", p->buffer[i].name, when);
  }
}

/* One invocation of an entry, which ends. */
static inline void invoke_once(fsched_entry *entry, const fsched_binding *binding, uint32_t n) {
  fsched_semaphore *s;
  fsched_fence *f;
  ck_fs(ctx, fsched_semaphore_create(NULL, &s));
  ck_fs(ctx, fsched_fence_create(ctx, &(fsched_fence_point){s, 1}, 1, &f));
  fsched_invocation v = {.size = sizeof v, .signal = f, .bindings = binding, .n_bindings = n};
  ck_fs(ctx, fsched_invoke(ctx, entry, &v));
  ck_assert_int_eq(fsched_fence_wait(f, FSCHED_FOREVER), 0);
  fsched_fence_release(f);
  fsched_semaphore_release(s);
}

/* State before all invocations, or as it is after one. */
static inline void ck_states(const model_program *p, fsched_exec *x, bool gives) {
  for (uint32_t i = 0; i < p->n_buffers; i++) {
    const model_buffer *b = &p->buffer[i];
    uint8_t now[ROW];
    if (b->io != FSCHED_IO_STATE || b->size == 0) {
      continue;
    }
    if (gives) {
      ck_fs(ctx, fsched_exec_write_state(ctx, x, b->name, p->given[i], b->size));
      continue;
    }
    ck_fs(ctx, fsched_exec_read_state(ctx, x, b->name, now, b->size));
    ck_assert_msg(memcmp(now, p->plain[i], b->size) == 0, "state '%s' is another one", b->name);
  }
}

/* Three invocations, of which each leaves its state to the next, are as the plain evaluation. */
static inline void ck_invoked(model_program *p, const fsched_program *program) {
  static uint8_t data[BUFFERS][ROW];
  fsched_binding binding[BUFFERS];
  fsched_device *device;
  ck_fs(ctx, fsched_device_create(ctx, NULL, &device));
  fsched_exec_options o = {.size = sizeof o, .device = device};
  fsched_exec *x;
  fsched_entry *entry;
  ck_fs(ctx, fsched_exec_create(ctx, &o, &x));
  ck_fs(ctx, fsched_exec_load(ctx, x, program, &entry));
  ck_states(p, x, true);
  for (int run = 0; run < 3; run++) {
    if (run > 0) {
      evaluate_again(p);
    }
    invoke_once(entry, binding, bind_all(p, data, binding));
    ck_states(p, x, false);
    ck_outputs(p, data, "when it is invoked");
  }
  fsched_exec_destroy(x);
  fsched_device_release(device);
}

/* The outputs of a replay of the compiled graph are those of the plain evaluation. */
static inline void ck_replayed(model_program *p, const fsched_graph *g) {
  static uint8_t data[BUFFERS][ROW];
  fsched_binding binding[BUFFERS];
  bool has_state = false;
  for (uint32_t i = 0; i < p->n_buffers; i++) {
    has_state = has_state || p->buffer[i].io == FSCHED_IO_STATE;
  }
  fsched_program *program;
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &program));
  if (has_state) {
    ck_invoked(p, program);
  } else {
    uint32_t n = bind_all(p, data, binding);
    fsched_replay_options r = {.size = sizeof r, .check = 1, .bindings = binding, .n_bindings = n};
    fsched_replay_result result = {.size = sizeof result};
    ck_fs(ctx, fsched_replay(ctx, program, &r, &result));
    ck_outputs(p, data, "when it is replayed");
  }
  fsched_program_destroy(program);
}

/* Ends the runs, in which memory of the user is as the plain evaluation leaves it. */
static inline void ck_mirrors(model_program *p) {
  for (uint32_t k = 0; k < p->n_mirrors; k++) {
    fsched_dynamic *d = p->mirror[k].d;
    ck_fs(ctx, fsched_dynamic_close(d));
    ck_fs(ctx, fsched_dynamic_drain(d));
    ck_assert_int_eq(fsched_dynamic_run_state(d), FSCHED_DYNAMIC_DONE);
    for (uint32_t i = 0; i < p->n_buffers; i++) {
      const model_buffer *x = &p->buffer[i];
      ck_assert_msg(
          !x->imported || memcmp(imported_memory(&p->mirror[k], i), p->plain[i], x->size) == 0,
          "'%s' is another one in dynamic run %u", x->name, k);
    }
    ck_fs(ctx, fsched_dynamic_open(d));
  }
  for (uint32_t i = 0; i < p->n_buffers; i++) {
    if (p->buffer[i].imported) {
      memcpy(p->left[i], p->plain[i], ROW);
    }
  }
}

#endif
