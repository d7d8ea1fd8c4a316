/* SPDX-License-Identifier: Apache-2.0 */
/* Conformance of instances of a back end when something fails. */
#include "base/futex.h"
#include "exec/conformance/conformance_kit.h"

/* Makes a program in which a and b give A and B, which give x, y and z, on two queues; C waits for
 * both. */
static void make_join(maker *m) {
  static const char *const names[] = {"a", "b"}, *const outs[] = {"x", "y", "z"};
  uint32_t mem = mk_memory(m, "ddr", 600), in[2], out[3];
  uint32_t p = mk_queue(m, "p"), q = mk_queue(m, "q");
  for (uint32_t i = 0; i < 2; i++) {
    in[i] = (mk_buffer(m, names[i], 40, FSCHED_IO_INPUT), mk_version(m, mem, 100 * i));
    mk_given(m, in[i], mem, 100 * i);
  }
  for (uint32_t i = 0; i < 3; i++) {
    uint64_t at = 200 + 100 * (uint64_t)i;
    out[i] = (mk_buffer(m, outs[i], 30, FSCHED_IO_OUTPUT), mk_version(m, mem, at));
    mk_kept(m, out[i], mem, at);
  }
  (void)mk_op(m, "A"), mk_arg(m, FSCHED_IN, in[0]), mk_arg(m, FSCHED_OUT, out[0]);
  (void)mk_op(m, "B"), mk_arg(m, FSCHED_IN, in[1]), mk_arg(m, FSCHED_OUT, out[1]);
  (void)mk_op(m, "C"), mk_arg(m, FSCHED_IN, out[0]), mk_arg(m, FSCHED_IN, out[1]);
  mk_arg(m, FSCHED_OUT, out[2]);
  (void)mk_run(m, p, 0);
  (void)mk_run(m, p, 2), mk_wait(m, q, 1);
  (void)mk_run(m, q, 1);
}
enum { ITEM_A, ITEM_B };
enum { ITEM_X, ITEM_Y, ITEM_Z };

/* The invocation is poisoned in the middle: x is there, but b will never be. */
CONFORMS(poisoned_in_the_middle) {
  rig r;
  make_join(c->m);
  rig_open(&r, c, &c->m->program.view, (rig_options){.timed = true});
  for (int k = 1; k <= 30; k++) {
    rig_fill(&r, (uint64_t)k);
    r.late[ITEM_B] = true;
    rig_start(&r);
    if (!c->what->begins_at_once) {
      rig_await_kept(&r, ITEM_X);
    }
    rig_poison(&r, k);
    rig_poison(&r, 1000 + k); /* the first cause counts */
    ck_assert_int_eq(rig_await(&r), k);
    ck_assert_uint_eq(r.there[ITEM_Y] + r.there[ITEM_Z], 0);
    rig_run(&r, (uint64_t)k);
  }
  rig_close(&r);
}

/* An invocation of any program is poisoned at any moment: it ends, with that cause or without, and
 * the next one is right. */
CONFORMS(poisoned_at_any_moment) {
  for (uint64_t seed = 1; seed <= CONF_GRAPHS / 4; seed++) {
    fsched_program *p = conf_compile(c, seed);
    rig r;
    rig_open(&r, c, &p->view, (rig_options){0});
    for (int k = 1; k <= 10; k++) {
      rig_fill(&r, (uint64_t)k);
      rig_start(&r);
      for (int i = 0; i < k * k * 20; i++) {
        fs_pause();
      }
      rig_poison(&r, k);
      fsched_cause cause = rig_await(&r);
      ck_assert(cause == FSCHED_CAUSE_NONE || cause == k);
      if (cause == FSCHED_CAUSE_NONE) {
        rig_check(&r);
      }
      rig_run(&r, 1000 + (uint64_t)k);
    }
    rig_close(&r);
    fsched_program_destroy(p);
  }
}

/* A gang is poisoned while its other members wait for content: all of them end. */
CONFORMS(poisoned_gang) {
  rig r;
  (void)make_gang(c->m);
  uint32_t late = (mk_buffer(c->m, "late", 9, FSCHED_IO_INPUT), mk_version(c->m, 0, 700));
  mk_given(c->m, late, 0, 700);
  fs_stream *s = &c->m->program.view;
  c->m->places[s->n_places] = (fs_stream_place){
      .address = 700, .size = 9, .version = late, .arg = FS_NONE, .mode = FS_MODE_R};
  c->m->commands[s->n_commands - 1].n_places++; /* a place of `end`, on the third queue */
  s->n_places++;
  rig_open(&r, c, s, (rig_options){0});
  for (int k = 1; k <= 10; k++) {
    rig_fill(&r, (uint64_t)k);
    r.late[0] = true;
    rig_start(&r);
    rig_poison(&r, k);
    ck_assert_int_eq(rig_await(&r), k);
    rig_run(&r, (uint64_t)k);
  }
  rig_close(&r);
}

/* ---- kernels that fail */

CONFORMS(kernel_fails) {
  rig r;
  if (!c->on_host) {
    return;
  }
  make_join(c->m);
  mk_kernel(c->m, NULL); /* the kernel of C */
  rig_open(&r, c, &c->m->program.view, (rig_options){0});
  static const int answers[] = {42, -7, 1};
  for (uint32_t k = 0; k < 9; k++) {
    conf_failure = answers[k % 3];
    rig_fill(&r, k);
    rig_start(&r);
    fsched_cause wanted = answers[k % 3] < 0 ? FSCHED_CAUSE_SYSTEM : answers[k % 3];
    ck_assert_int_eq(rig_await(&r), wanted);
    ck_assert_uint_eq(r.n_failed, 1);
    ck_assert_int_eq(r.failed_cause, wanted);
    ck_assert_str_eq(r.failed, "op 'C': its kernel failed");
    ck_assert_uint_eq(r.there[ITEM_Z], 0);
    conf_failure = 0;
    rig_run(&r, k);
  }
  rig_close(&r);
}

/* ---- what is stuck */

/* The first diagnostic. */
static const char *report(rig *r) {
  fsched_diag_clear(r->c->ctx);
  pthread_mutex_lock(&r->lock);
  r->c->backend->report(r->instance, r->c->ctx);
  pthread_mutex_unlock(&r->lock);
  ck_assert_uint_eq(fsched_diag_errors(r->c->ctx), 1);
  ck_assert_str_eq(fsched_diag_get(r->c->ctx, 0)->code, "replay-stuck");
  return fsched_diag_get(r->c->ctx, 0)->message;
}

static void contains(const char *text, const char *part) {
  ck_assert_msg(strstr(text, part) != NULL, "'%s' lacks '%s'", text, part);
}

CONFORMS(stuck_for_content) {
  rig r;
  make_join(c->m);
  rig_open(&r, c, &c->m->program.view, (rig_options){0});
  for (uint64_t k = 1; k <= 3; k++) {
    rig_fill(&r, k);
    r.late[ITEM_B] = true;
    rig_start(&r);
    rig_await_stuck(&r);
    const char *text = report(&r);
    contains(text, "'b'");
    if (c->on_host) {
      ck_assert_str_eq(text,
                       "queue 'q' is stuck at command 1 (op 'B'): it waits for the content of "
                       "'b', whose fence has not been signalled");
      ck_assert_uint_eq(fsched_diag_count(c->ctx), c->what->without_plan ? 1 : 2);
    }
    if (c->on_host && !c->what->without_plan) {
      ck_assert_str_eq(fsched_diag_get(c->ctx, 1)->message,
                       "queue 'p' is stuck at command 2 (op 'C'): it waits for epoch 1 of 'q', "
                       "which has reached 0");
    }
    rig_poison(&r, FSCHED_CAUSE_TIMEOUT);
    ck_assert_int_eq(rig_await(&r), FSCHED_CAUSE_TIMEOUT);
    rig_run(&r, k);
  }
  rig_close(&r);
}

/* A signal is missing.  This is tested only where the instance waits for what is signalled at run
 * time. */
CONFORMS(stuck_for_an_epoch) {
  if (c->what->without_plan) {
    return;
  }
  rig r;
  if (!c->on_host) {
    return;
  }
  make_ping_pong(c->m, 6, 2);
  c->m->commands[1].signal = 0; /* q0, command 2, op2 */
  rig_open(&r, c, &c->m->program.view, (rig_options){0});
  for (uint64_t k = 1; k <= 3; k++) { /* epochs count from the beginning of the invocation */
    rig_fill(&r, k);
    rig_start(&r);
    rig_await_stuck(&r);
    ck_assert_str_eq(report(&r),
                     "queue 'q1' is stuck at command 2 (op 'op3'): it waits for epoch 2 "
                     "of 'q0', which has reached 1");
    ck_assert_uint_eq(fsched_diag_count(c->ctx), 2);
    rig_poison(&r, FSCHED_CAUSE_TIMEOUT);
    ck_assert_int_eq(rig_await(&r), FSCHED_CAUSE_TIMEOUT);
  }
  rig_close(&r);
}

/* Two gangs meet in opposite orders on two queues. */
CONFORMS(stuck_at_a_gang) {
  if (c->what->without_plan) {
    return;
  }
  rig r;
  if (!c->on_host) {
    return;
  }
  (void)make_gang(c->m);
  c->m->commands[1].gang_epoch = 2;
  c->m->commands[2].gang_epoch = 1;
  rig_open(&r, c, &c->m->program.view, (rig_options){0});
  rig_fill(&r, 1);
  rig_start(&r);
  rig_await_stuck(&r);
  contains(report(&r), "of 'tp', which has reached 0");
  ck_assert_uint_eq(fsched_diag_count(c->ctx), 3);
  rig_poison(&r, 5);
  ck_assert_int_eq(rig_await(&r), 5);
  rig_close(&r);
}

/* Nothing is reported while nothing is stuck. */
CONFORMS(nothing_stuck) {
  rig r;
  make_join(c->m);
  rig_open(&r, c, &c->m->program.view, (rig_options){0});
  rig_run(&r, 1);
  fsched_diag_clear(c->ctx);
  c->backend->report(r.instance, c->ctx);
  ck_assert_uint_eq(fsched_diag_count(c->ctx), 0);
  rig_close(&r);
}

/* ---- preparation */

CONFORMS(nth_allocation_fails) {
  for (int kind = 0; kind < 3; kind++) {
    conf_fresh(c);
    if (kind == 0) {
      make_join(c->m);
    } else if (kind == 1) {
      make_spill(c->m);
      c->m->memories[0].backing = 1;
    } else {
      (void)make_gang(c->m);
    }
    conf_fail_allocations(c, &c->m->program.view);
  }
}

CONFORMS(kernels_that_are_not_there) {
  fs_arena arena;
  fs_io io;
  fs_instance *x = NULL;
  fs_backend_config config = {.memory_limit = UINT64_C(1) << 36, .slots = 1};
  make_join(c->m);
  mk_kernel(c->m, "conv2d");
  fs_arena_init(&arena, c->ctx);
  conf_ok(c, fs_io_make(&arena, &c->m->program.view, &io), "io");
  fsched_diag_clear(c->ctx);
  ck_assert_int_eq(c->backend->prepare(c->ctx, c->ctx, c->device->machine, &c->m->program.view, &io,
                                       &config, &x),
                   FSCHED_REPLAY);
  ck_assert_str_eq(fsched_diag_get(c->ctx, 0)->code, "replay-kernel");
  contains(fsched_diag_get(c->ctx, 0)->message, "op 'C': there is no built-in kernel 'conv2d'");
  fs_arena_release(&arena);
}

CONFORMS(more_memory_than_the_limit) {
  if (c->what->without_plan) {
    return;
  }
  fs_arena arena;
  fs_io io;
  fs_instance *x = NULL;
  fs_backend_config config = {.memory_limit = 600, .slots = 1};
  make_join(c->m);
  fs_arena_init(&arena, c->ctx);
  conf_ok(c, fs_io_make(&arena, &c->m->program.view, &io), "io");
  fsched_diag_clear(c->ctx);
  ck_assert_int_eq(c->backend->prepare(c->ctx, c->ctx, c->device->machine, &c->m->program.view, &io,
                                       &config, &x),
                   FSCHED_SYSTEM);
  ck_assert_str_eq(fsched_diag_get(c->ctx, 0)->code, "replay-memory");
  fs_arena_release(&arena);
}

void fs_conformance_failures(TCase *t, int i) {
  FS_LOOPS(t, i, i + 1, poisoned_in_the_middle, poisoned_at_any_moment, poisoned_gang, kernel_fails,
           stuck_for_content, stuck_for_an_epoch, stuck_at_a_gang, nothing_stuck,
           nth_allocation_fails, kernels_that_are_not_there, more_memory_than_the_limit);
}
