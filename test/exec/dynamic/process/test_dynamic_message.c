/* SPDX-License-Identifier: Apache-2.0 */
/* Messages arrive as they were sent; damaged ones are refused, or what they say lies within the
 * memory that is shared. */
#include <stdlib.h>
#include <unistd.h>

#include "exec/dynamic/process/message.h"
#include "kit/context.h"
#include "kit/gen.h"
#include "kit/turn.h"

enum { ARGS = 6, SCRATCH = 2, HEAP = 5000, SHARED_BYTES = 3000 };

typedef struct random_call {
  fsched_kernel_arg arg[ARGS], scratch[SCRATCH];
  fsched_kernel_view view[ARGS];
  unsigned char params[40];
  char name[20];
  fsched_kernel_call call;
} random_call;

static fs_shared_mapping make_mapping(void) {
  fs_shared_mapping m;
  fs_carrier_options o = {
      .n_workers = 3, .n_kernels = 5, .heap_bytes = HEAP, .shared_bytes = SHARED_BYTES};
  fs_task_kernel none[5] = {{.name = "a"}, {.name = "bc"}, {.module = "/m.so", .name = "d"}};
  o.kernel = none;
  ck_fs(ctx, fs_mapping_make(ctx, &o, &m));
  return m;
}

static fsched_kernel_arg draw_arg(fs_rng *rng, const fs_shared_mapping *m) {
  uint64_t from = fs_rng_below(rng, HEAP - 100);
  unsigned char *base = m->base + (fs_rng_one_in(rng, 2) ? m->at.heap : m->at.shared);
  fsched_kernel_arg a = {.tag = fs_rng_below(rng, 6), .value = (int64_t)fs_rng_next(rng)};
  if (!fs_rng_one_in(rng, 4)) {
    a.data = base + from % (SHARED_BYTES - 100);
    a.length = 100;
  }
  return a;
}

static void draw_call(fs_rng *rng, const fs_shared_mapping *m, random_call *c) {
  *c = (random_call){.name = "name"};
  for (uint32_t i = 0; i < ARGS; i++) {
    c->arg[i] = draw_arg(rng, m);
    if (c->arg[i].data != NULL && fs_rng_one_in(rng, 2)) {
      c->view[i] = (fsched_kernel_view){2, 2, {3, 4}, {30, 10}};
    }
  }
  for (uint32_t i = 0; i < SCRATCH; i++) {
    c->scratch[i] = draw_arg(rng, m);
  }
  for (uint32_t i = 0; i < sizeof c->params; i++) {
    c->params[i] = (unsigned char)fs_rng_next(rng);
  }
  c->name[fs_rng_below(rng, 4)] = 'x';
  c->call = (fsched_kernel_call){.size = sizeof c->call,
                                 .op = c->name,
                                 .args = c->arg,
                                 .scratch = c->scratch,
                                 .n_args = fs_rng_below(rng, ARGS + 1),
                                 .n_scratch = fs_rng_below(rng, SCRATCH + 1),
                                 .grid = {1, fs_rng_below(rng, 9), 3},
                                 .block = {4, 5, fs_rng_below(rng, 9)},
                                 .shared_bytes = fs_rng_next(rng),
                                 .params = c->params,
                                 .n_params = fs_rng_below(rng, sizeof c->params + 1)};
  c->call.params = c->call.n_params == 0 ? NULL : c->params;
  c->call.views = c->call.n_args > 0 && fs_rng_one_in(rng, 2) ? c->view : NULL;
}

static void same_args(const fsched_kernel_arg *a, const fsched_kernel_arg *b, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    ck_assert(a[i].data == b[i].data && a[i].length == b[i].length && a[i].value == b[i].value &&
              a[i].tag == b[i].tag);
  }
}

static void same_call(const fsched_kernel_call *a, const fsched_kernel_call *b) {
  ck_assert_str_eq(a->op, b->op);
  ck_assert(a->n_args == b->n_args && a->n_scratch == b->n_scratch && a->size == b->size &&
            a->shared_bytes == b->shared_bytes && a->n_params == b->n_params);
  ck_assert_mem_eq(a->grid, b->grid, sizeof a->grid);
  ck_assert_mem_eq(a->block, b->block, sizeof a->block);
  same_args(a->args, b->args, a->n_args);
  same_args(a->scratch, b->scratch, a->n_scratch);
  ck_assert((a->views == NULL) == (b->views == NULL) && (a->params == NULL) == (b->params == NULL));
  if (a->views != NULL) {
    ck_assert_mem_eq(a->views, b->views, a->n_args * sizeof *a->views);
  }
  if (a->params != NULL) {
    ck_assert_mem_eq(a->params, b->params, a->n_params);
  }
}

static bool within(const fs_shared_mapping *m, const fsched_kernel_arg *a) {
  unsigned char *data = a->data, *end = m->base + m->at.bytes;
  return a->tag < 6 && (data == NULL || (data >= m->base + m->at.heap && data <= end &&
                                         a->length <= (uint64_t)(end - data)));
}

/* The end of a view, which may be far beyond 64 bits. */
static bool view_within(const fsched_kernel_view *v, const fsched_kernel_arg *a) {
  if (v->n_dims == 0) {
    return true;
  }
  unsigned __int128 last = v->element;
  for (uint32_t d = 0; d < v->n_dims && d < 5; d++) {
    if (v->shape[d] == 0) {
      return a->data != NULL;
    }
    last += (unsigned __int128)(v->shape[d] - 1) * v->strides[d];
  }
  return v->n_dims <= 5 && a->data != NULL && last <= a->length;
}

/* Reads all that a call says, so that a sanitizer sees what lies outside. */
static void is_safe(const fs_shared_mapping *m, const fs_started_member *s,
                    const unsigned char *end) {
  const fsched_kernel_call *c = s->call;
  const volatile unsigned char *params = c->params;
  ck_assert_uint_lt(s->kernel, 5);
  ck_assert_uint_le(c->n_params, 1024);
  for (uint32_t i = 0; i < c->n_args; i++) {
    ck_assert(within(m, &c->args[i]) &&
              (c->views == NULL || view_within(&c->views[i], &c->args[i])));
  }
  for (uint32_t i = 0; i < c->n_scratch; i++) {
    ck_assert(within(m, &c->scratch[i]));
  }
  for (uint64_t i = 0; i < c->n_params; i++) {
    (void)params[i];
  }
  ck_assert_ptr_eq(memchr(c->op, 0, (size_t)(end - (const unsigned char *)c->op)), end - 1);
}

static void damage(fs_rng *rng, unsigned char *message, uint32_t *bytes) {
  static const uint64_t odd[] = {0, 1, UINT64_MAX, UINT32_MAX, 1 << 16, 0x7fffffffffffffff};
  for (uint32_t n = 1 + fs_rng_below(rng, 3); n > 0; n--) {
    uint32_t at = fs_rng_below(rng, *bytes / 4) * 4;
    uint64_t word = fs_rng_one_in(rng, 2) ? odd[fs_rng_below(rng, 6)] : fs_rng_next(rng) % 300;
    memcpy(message + at, &word, fs_rng_one_in(rng, 2) && at + 8 <= *bytes ? 8 : 4);
  }
  if (fs_rng_one_in(rng, 8)) {
    *bytes = fs_rng_below(rng, 2 * *bytes);
  }
}

START_TEST(messages)
{
  fs_rng rng = {fs_turn() * 8 + (uint64_t)_i};
  fs_shared_mapping m = make_mapping();
  unsigned char *message = calloc(1, FS_MAILBOX_MESSAGE);
  fs_message_room room;
  ck_fs(ctx, fs_message_room_make(ctx, &room));
  uint32_t refused = 0, taken = 0;
  for (uint32_t n = 0; n < 4000; n++) {
    random_call c;
    fs_started_member got;
    draw_call(&rng, &m, &c);
    fs_started_member sent = {&c.call, fs_rng_below(&rng, 5), fs_rng_below(&rng, 100),
                              fs_rng_below(&rng, 100)};
    uint32_t bytes = fs_message_put(&m, &sent, message);
    ck_assert_uint_eq(bytes, fs_message_bytes(&c.call));
    ck_assert_ptr_null(fs_message_get(&m, message, bytes, &room, &got));
    ck_assert(got.kernel == sent.kernel && got.member == sent.member && got.queue == sent.queue);
    same_call(got.call, &c.call);
    is_safe(&m, &got, room.copy + bytes);
    for (uint32_t k = 0; k < 10; k++) {
      bytes = fs_message_put(&m, &sent, message);
      damage(&rng, message, &bytes);
      const char *wrong = fs_message_get(&m, message, bytes, &room, &got);
      refused += wrong != NULL;
      taken += wrong == NULL;
      if (wrong == NULL) {
        is_safe(&m, &got, room.copy + bytes);
      }
    }
  }
  fs_assert_seen(refused, 1000);
  fs_assert_seen(taken, 1000);
  fs_message_room_release(ctx, &room);
  fs_mapping_release(&m);
  free(message);
}
END_TEST

/* Who attaches to a memory gets its layout and kernels, or is told that it is none. */
START_TEST(attaching)
{
  fs_shared_mapping m = make_mapping(), same;
  ck_assert_int_ne(ftruncate(m.fd, 1), 0); /* the size is sealed */
  ck_assert_int_ne(ftruncate(m.fd, (off_t)m.at.bytes * 2), 0);
  ck_assert(fs_mapping_attach(dup(m.fd), &same));
  ck_assert_mem_eq(&same.at, &m.at, sizeof m.at);
  fs_task_kernel k[5];
  ck_assert(fs_mapping_kernels(&same, k));
  ck_assert_str_eq(k[1].name, "bc");
  ck_assert_ptr_null(k[1].module);
  ck_assert_str_eq(k[2].module, "/m.so");
  ck_assert_str_eq(k[2].name, "d");
  for (uint32_t w = 0; w < 3; w++) {
    fs_mapping_inbox(&m, w)->bytes = w + 1;
    ck_assert_uint_eq(fs_mapping_inbox(&same, w)->bytes, w + 1);
  }
  fs_mapping_release(&same);
  fs_rng rng = {fs_turn()};
  uint32_t refused = 0;
  for (uint32_t n = 0; n < 2000; n++) {
    fs_shared_header h = m.at;
    uint32_t at = fs_rng_below(&rng, sizeof h / 8) * 8;
    uint64_t word = fs_rng_one_in(&rng, 2) ? fs_rng_next(&rng) : fs_rng_below(&rng, 1 << 20);
    memcpy((unsigned char *)&h + at, &word, 8);
    memcpy(m.base, &h, sizeof h);
    if (!fs_mapping_attach(dup(m.fd), &same)) {
      refused++;
      continue;
    }
    ck_assert(same.at.heap + same.at.heap_bytes <= same.at.shared &&
              same.at.shared + same.at.shared_bytes <= same.at.bytes && same.at.n_workers > 0);
    fs_mapping_inbox(&same, same.at.n_workers - 1)->bytes = 7;
    if (same.at.n_kernels <= 5) {
      (void)fs_mapping_kernels(&same, k);
    }
    fs_mapping_release(&same);
  }
  fs_assert_seen(refused, 1000);
  fs_mapping_release(&m);
}
END_TEST

FS_SUITE(dynamic_message, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 4, messages);
  FS_TESTS(t, attaching);
}
