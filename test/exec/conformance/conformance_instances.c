/* SPDX-License-Identifier: Apache-2.0 */
/* Conformance of instances of a back end when nothing fails. */
#include "exec/conformance/conformance_kit.h"

/* ---- streams by hand */

/* Two states change places: each is kept at the address where the other is given. */
static void make_states(maker *m) {
  uint32_t mem = mk_memory(m, "ddr", 100), q = mk_queue(m, "q");
  (void)mk_buffer(m, "s", 8, FSCHED_IO_STATE);
  uint32_t s0 = mk_version(m, mem, 0), s1 = mk_version(m, mem, 8);
  (void)mk_buffer(m, "t", 8, FSCHED_IO_STATE);
  uint32_t t0 = mk_version(m, mem, 8), t1 = mk_version(m, mem, 0);
  mk_given(m, s0, mem, 0), mk_given(m, t0, mem, 8);
  mk_kept(m, s1, mem, 8), mk_kept(m, t1, mem, 0);
  uint32_t x = (mk_buffer(m, "x", 8, FSCHED_IO_NONE), mk_version(m, mem, 16));
  (void)mk_op(m, "read"), mk_arg(m, FSCHED_IN, s0), mk_arg(m, FSCHED_IN, t0);
  mk_arg(m, FSCHED_OUT, x);
  (void)mk_op(m, "write"), mk_arg(m, FSCHED_IN, x), mk_arg(m, FSCHED_OUT, s1);
  mk_arg(m, FSCHED_OUT, t1);
  (void)mk_run(m, q, 0), (void)mk_run(m, q, 1);
}

/* Makes ops with scratch, parts of a buffer, an output in the place of an input, copies, values,
 * and no args. */
static void make_parts(maker *m) {
  uint32_t mem = mk_memory(m, "ddr", 400);
  uint32_t a = mk_queue(m, "a"), b = mk_queue(m, "b");
  uint32_t in = (mk_buffer(m, "in", 50, FSCHED_IO_INPUT), mk_version(m, mem, 0));
  uint32_t parts = (mk_buffer(m, "parts", 60, FSCHED_IO_NONE), mk_version(m, mem, 64));
  uint32_t moved = (mk_buffer(m, "moved", 70, FSCHED_IO_OUTPUT), mk_version(m, mem, 128));
  uint32_t over = (mk_buffer(m, "over", 50, FSCHED_IO_OUTPUT), mk_version(m, mem, 0));
  mk_given(m, in, mem, 0), mk_kept(m, moved, mem, 128), mk_kept(m, over, mem, 0);
  (void)mk_op(m, "left"), mk_arg(m, FSCHED_IN, in), mk_value(m, -5);
  mk_range(m, FSCHED_OUT_EXISTING, parts, 0, 31), mk_scratch(m, mem, 256, 20);
  (void)mk_op(m, "right"), mk_range(m, FSCHED_IN, in, 7, 11);
  mk_range(m, FSCHED_OUT_EXISTING, parts, 31, 29), mk_scratch(m, mem, 300, 33);
  (void)mk_op(m, "move"), mk_arg(m, FSCHED_IN, parts), mk_arg(m, FSCHED_OUT, moved);
  mk_kernel(m, "copy");
  (void)mk_op(m, "nothing"), mk_arg(m, FSCHED_IN, parts), mk_kernel(m, "nop");
  (void)mk_op(m, "over"), mk_arg(m, FSCHED_IN, in), mk_value(m, 7), mk_arg(m, FSCHED_OUT, over);
  (void)mk_run(m, a, 0);
  (void)mk_run(m, a, 2), mk_wait(m, b, 1);
  (void)mk_run(m, a, 3);
  (void)mk_run(m, b, 1);
  (void)mk_run(m, b, 4), mk_wait(m, a, 1);
}

/* Makes buffers of no size, which are given, copied, computed and kept. */
static void make_empty_buffers(maker *m) {
  uint32_t cmx = mk_memory(m, "cmx", 10), ddr = mk_memory(m, "ddr", 0);
  m->memories[cmx].backing = ddr;
  uint32_t q = mk_queue(m, "q"), dma = mk_queue(m, "dma");
  uint32_t in = (mk_buffer(m, "in", 0, FSCHED_IO_INPUT), mk_version(m, cmx, 10));
  uint32_t out = (mk_buffer(m, "out", 0, FSCHED_IO_OUTPUT), mk_version(m, cmx, 5));
  mk_given(m, in, ddr, 0), mk_kept(m, out, ddr, 0);
  (void)mk_op(m, "f"), mk_arg(m, FSCHED_IN, in), mk_arg(m, FSCHED_OUT, out);
  (void)mk_run(m, q, 0), mk_wait(m, dma, 1);
  (void)mk_copy(m, dma, in, FS_SPILL_READ, ddr, 0, cmx, 10);
  (void)mk_copy(m, dma, out, FS_SPILL_WRITE, cmx, 5, ddr, 0), mk_wait(m, q, 1);
}

/* An arg that an op may look at without depending on it is not touched: here it names a buffer
 * without content, in the place of a buffer that has content. */
static void make_looked_at(maker *m) {
  uint32_t mem = mk_memory(m, "ddr", 100), q = mk_queue(m, "q");
  uint32_t x = (mk_buffer(m, "x", 20, FSCHED_IO_NONE), mk_version(m, mem, 0));
  uint32_t y = (mk_buffer(m, "y", 20, FSCHED_IO_OUTPUT), mk_version(m, mem, 40));
  mk_kept(m, y, mem, 40);
  (void)mk_op(m, "write"), mk_arg(m, FSCHED_OUT, x);
  (void)mk_op(m, "look"), mk_arg(m, FSCHED_NO_DEP, x);
  (void)mk_op(m, "read"), mk_arg(m, FSCHED_IN, x), mk_arg(m, FSCHED_OUT, y);
  (void)mk_run(m, q, 0), (void)mk_run(m, q, 1);
  fs_stream_place *look = &m->places[m->program.view.n_places - 1];
  look->version = m->args[look->arg].version = FS_NONE;
  look->mode = FS_MODE_R;
  (void)mk_run(m, q, 2);
}

static void make_chain(maker *m) { make_ping_pong(m, 40, 1); }
static void make_two_queues(maker *m) { make_ping_pong(m, 40, 2); }
static void make_many_queues(maker *m) { make_ping_pong(m, 48, MK_SMALL); }
static void make_spills(maker *m) {
  make_spill(m);
  m->memories[0].backing = 1;
}
static void make_gangs(maker *m) { (void)make_gang(m); }
static void make_nothing(maker *m) { (void)mk_queue(m, "q"); }
static void make_no_queue(maker *m) { (void)m; }

static void (*const makes[])(maker *m) = {
    make_chain, make_two_queues, make_many_queues,   make_spills,  make_gangs,   make_states,
    make_parts, make_looked_at,  make_empty_buffers, make_nothing, make_no_queue};
enum { MAKES = sizeof makes / sizeof *makes };

/* Calls f with an instance of each of the streams made by hand. */
static void with_all(conf *c, rig_options o, void (*f)(rig *r)) {
  for (uint32_t i = 0; i < MAKES; i++) {
    rig r;
    conf_fresh(c);
    makes[i](c->m);
    rig_open(&r, c, &c->m->program.view, o);
    f(&r);
    rig_close(&r);
  }
}

/* Calls f with instances of random graphs, too. */
static void with_random(conf *c, rig_options o, uint32_t n, void (*f)(rig *r)) {
  for (uint64_t seed = 1; seed <= n; seed++) {
    rig r;
    fsched_program *p = conf_compile(c, seed);
    rig_open(&r, c, &p->view, o);
    f(&r);
    rig_close(&r);
    fsched_program_destroy(p);
  }
}

static void run_some(rig *r) {
  for (uint64_t k = 1; k <= 5; k++) {
    rig_run(r, k);
  }
}

CONFORMS(streams_by_hand) {
  with_all(c, (rig_options){0}, run_some);
  with_all(c, (rig_options){.timed = true}, run_some);
}

CONFORMS(random_graphs) {
  with_random(c, (rig_options){0}, CONF_GRAPHS, run_some);
  with_random(c, (rig_options){.timed = true}, CONF_GRAPHS / 4, run_some);
}

/* One instance runs many invocations, without any reset. */
CONFORMS(many_invocations) {
  fsched_program *p = conf_compile(c, 7);
  rig r;
  rig_open(&r, c, &p->view, (rig_options){.timed = true});
  for (uint64_t k = 1; k <= 200; k++) {
    rig_run(&r, k);
  }
  rig_close(&r);
  fsched_program_destroy(p);
}

/* Starts the next invocation from within done, before the end of the one before has been told. */
static void chain(rig *r) {
  rig_fill(r, 3);
  r->again = 30;
  rig_start(r);
  ck_assert_int_eq(rig_await(r), FSCHED_CAUSE_NONE);
  ck_assert_uint_eq(r->n_runs, 31);
  rig_check(r);
}

CONFORMS(started_from_within_done) {
  with_all(c, (rig_options){.timed = true}, chain);
  with_random(c, (rig_options){0}, 3, chain);
}

/* Leaves some inputs to content made from their names, and keeps only some results. */
static void leave_some_out(rig *r) {
  for (uint32_t k = 0; k < 4; k++) {
    rig_fill(r, k);
    void *given[MK_MANY], *kept[MK_MANY];
    for (uint32_t i = 0; i < r->io.n_given && i < MK_MANY; i++) {
      given[i] = r->given[i];
      r->given[i] = (i + k) % 2 == 0 ? NULL : given[i];
    }
    for (uint32_t i = 0; i < r->io.n_kept && i < MK_MANY; i++) {
      kept[i] = r->kept[i];
      r->kept[i] = (i + k / 2) % 2 == 0 ? NULL : kept[i];
    }
    rig_start(r);
    ck_assert_int_eq(rig_await(r), FSCHED_CAUSE_NONE);
    rig_check(r);
    memcpy(r->given, given, fs_min(r->io.n_given, MK_MANY) * sizeof *given);
    memcpy(r->kept, kept, fs_min(r->io.n_kept, MK_MANY) * sizeof *kept);
  }
}

CONFORMS(content_from_names) {
  with_all(c, (rig_options){0}, leave_some_out);
  with_random(c, (rig_options){0}, CONF_GRAPHS / 4, leave_some_out);
}

/* Checks that given content is only read. */
static void keep_given(rig *r) {
  rig_run(r, 11);
  uint64_t sum[2] = {0};
  for (uint32_t k = 0; k < 2; k++) {
    for (uint32_t i = 0; i < r->io.n_given; i++) {
      sum[k] ^= fs_hash_bytes(i, r->given[i], r->io.given[i].size);
    }
    rig_fill(r, 11);
  }
  ck_assert_uint_eq(sum[0], sum[1]);
}

CONFORMS(inputs_are_not_changed) { with_all(c, (rig_options){0}, keep_given); }

/* Makes content ready late and in any order; before that the memory holds something else. */
static void ready_all(rig *r, fs_rng *rng, uint32_t n, uint32_t *item, uint64_t seed) {
  for (; n > 0; n--) {
    uint32_t i = fs_rng_below(rng, n), one = item[i];
    item[i] = item[n - 1];
    pthread_mutex_lock(&r->lock);
    if (r->n_done == 0) {
      rig_fill_item(r, one, seed);
      r->c->backend->ready(r->instance, one);
    }
    pthread_mutex_unlock(&r->lock);
  }
}

static void late_inputs(rig *r) {
  fs_rng rng = {r->s->n_commands};
  for (uint64_t k = 1; k <= 8; k++) {
    uint32_t n = 0, item[MK_MANY];
    rig_fill(r, k);
    for (uint32_t i = 0; i < r->io.n_given && n < MK_MANY; i++) {
      r->late[i] = fs_rng_one_in(&rng, 2);
      if (r->late[i]) {
        item[n++] = i;
        memset(r->given[i], 0xEE, r->io.given[i].size);
      }
    }
    rig_start(r);
    ready_all(r, &rng, n, item, k);
    ck_assert_int_eq(rig_await(r), FSCHED_CAUSE_NONE);
    rig_fill_given(r, k); /* also what nobody has waited for */
    rig_check(r);
  }
}

CONFORMS(late_content) {
  with_all(c, (rig_options){0}, late_inputs);
  with_random(c, (rig_options){.timed = true}, CONF_GRAPHS / 2, late_inputs);
}

/* Makes two independent chains: a -> x on one queue, and b -> y on another. */
static void make_two_chains(maker *m) {
  uint32_t mem = mk_memory(m, "ddr", 400);
  for (uint32_t i = 0; i < 2; i++) {
    (void)mk_queue(m, i == 0 ? "p" : "q");
  }
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t in =
        (mk_buffer(m, i == 0 ? "a" : "b", 40, FSCHED_IO_INPUT), mk_version(m, mem, 200 * i));
    uint32_t out =
        (mk_buffer(m, i == 0 ? "x" : "y", 30, FSCHED_IO_OUTPUT), mk_version(m, mem, 200 * i + 100));
    mk_given(m, in, mem, 200 * i), mk_kept(m, out, mem, 200 * i + 100);
    (void)mk_op(m, i == 0 ? "A" : "B"), mk_arg(m, FSCHED_IN, in), mk_arg(m, FSCHED_OUT, out);
    (void)mk_run(m, i, i);
  }
}

/* Output x is kept while input b has not come. */
CONFORMS(outputs_before_the_end) {
  rig r;
  make_two_chains(c->m);
  rig_open(&r, c, &c->m->program.view, (rig_options){0});
  for (uint64_t k = 1; k <= 20 && !c->what->begins_at_once; k++) {
    uint32_t late = (uint32_t)(k % 2);
    rig_fill(&r, k);
    r.late[late] = true;
    memset(r.given[late], 0xEE, r.io.given[late].size);
    rig_start(&r);
    rig_await_kept(&r, 1 - late);
    ck_assert_uint_eq(r.n_done, 0);
    pthread_mutex_lock(&r.lock);
    rig_fill_item(&r, late, k);
    c->backend->ready(r.instance, late);
    pthread_mutex_unlock(&r.lock);
    ck_assert_int_eq(rig_await(&r), FSCHED_CAUSE_NONE);
    rig_check(&r);
  }
  rig_close(&r);
}

/* Gives each invocation values of its own. */
static void change_values(rig *r) {
  int64_t *values;
  conf_ok(r->c, fs_new(&r->arena, &values, r->s->n_args), "values");
  for (int64_t k = 0; k < 4; k++) {
    for (uint32_t i = 0; i < r->s->n_args; i++) {
      values[i] = r->s->args[i].tag == FSCHED_VALUE ? r->s->args[i].value + k * 1000003 : 0;
    }
    r->values = k % 2 == 0 ? values : NULL;
    rig_run(r, 5);
  }
}

CONFORMS(values_by_parameter) {
  with_all(c, (rig_options){0}, change_values);
  with_random(c, (rig_options){0}, CONF_GRAPHS / 4, change_values);
}

/* Moves pooled memory to another address for each invocation. */
static void move_memory(rig *r) {
  const fs_backend *backend = r->c->backend;
  fs_machine *machine = r->c->device->machine;
  uint64_t one = fs_align_up(r->io.pooled_bytes, FS_IO_ALIGN), bytes = 3 * one + FS_IO_ALIGN;
  void *memory;
  conf_ok(r->c, backend->take(r->c->ctx, machine, bytes, &memory), "take");
  ck_assert_uint_eq((uintptr_t)memory % FS_IO_ALIGN, 0);
  for (uint64_t k = 1; k <= 6; k++) {
    uint64_t at = k % 3 * one + k / 3 % 2 * FS_IO_ALIGN;
    uint8_t *block = memory;
    if (r->c->on_host) {
      memset(block, 0xCD, bytes);
    }
    r->work.memory = block + at;
    rig_run(r, k);
    for (uint64_t i = 0; r->c->on_host && i < bytes; i++) {
      if (block[i] != 0xCD && (i < at || i >= at + one)) {
        ck_abort_msg("byte %llu was changed, outside of %llu .. %llu", (unsigned long long)i,
                     (unsigned long long)at, (unsigned long long)(at + one));
      }
    }
  }
  backend->give(machine, memory, bytes);
}

CONFORMS(pooled_memory_moves) {
  with_all(c, (rig_options){.pooled = true}, move_memory);
  with_random(c, (rig_options){.pooled = true, .timed = true}, CONF_GRAPHS / 2, move_memory);
}

/* Instances of one program run at the same time without disturbing each other. */
CONFORMS(instances_at_once) {
  enum { N = 3 };
  for (uint64_t seed = 1; seed <= 4; seed++) {
    fsched_program *p = conf_compile(c, seed);
    rig r[N];
    for (uint32_t i = 0; i < N; i++) {
      rig_open(&r[i], c, &p->view, (rig_options){.timed = i == 1});
    }
    for (uint64_t k = 0; k < 10; k++) {
      for (uint32_t i = 0; i < N; i++) {
        rig_fill(&r[i], k * N + i);
        rig_start(&r[i]);
      }
      for (uint32_t i = N; i-- > 0;) {
        ck_assert_int_eq(rig_await(&r[i]), FSCHED_CAUSE_NONE);
        rig_check(&r[i]);
      }
    }
    for (uint32_t i = 0; i < N; i++) {
      rig_close(&r[i]);
    }
    fsched_program_destroy(p);
  }
}

/* Runs the commands alone: nothing is taken and nothing kept, but the order holds. */
static void run_empty(rig *r) {
  for (uint64_t k = 1; k <= 5; k++) {
    rig_fill(r, k);
    r->work.memory = NULL;
    rig_start(r);
    ck_assert_int_eq(rig_await(r), FSCHED_CAUSE_NONE);
    rig_check_times(r);
    for (uint32_t i = 0; i < r->io.n_kept; i++) {
      ck_assert_uint_eq(r->there[i], 0);
    }
  }
}

CONFORMS(empty_commands) {
  with_all(c, (rig_options){.empty = true, .timed = true}, run_empty);
  with_random(c, (rig_options){.empty = true, .timed = true}, CONF_GRAPHS / 4, run_empty);
  /* Preparation fails for more memory than there is, and for kernels that do not exist. */
  rig r;
  conf_fresh(c);
  make_ping_pong(c->m, 4, 2);
  c->m->memories[0].extent = UINT64_C(1) << 62;
  mk_kernel(c->m, "no such kernel");
  rig_open(&r, c, &c->m->program.view, (rig_options){.empty = true, .timed = true});
  run_empty(&r);
  rig_close(&r);
}

static void nothing(rig *r) { (void)r; }

CONFORMS(destroyed_unused) {
  with_all(c, (rig_options){0}, nothing);
  with_all(c, (rig_options){.empty = true}, nothing);
  with_all(c, (rig_options){.pooled = true}, nothing);
  c->backend->destroy(NULL);
}

void fs_conformance_instances(TCase *t, int i) {
  FS_LOOPS(t, i, i + 1, streams_by_hand, random_graphs, many_invocations, started_from_within_done,
           content_from_names, inputs_are_not_changed, late_content, outputs_before_the_end,
           values_by_parameter, pooled_memory_moves, instances_at_once, empty_commands,
           destroyed_unused);
}
