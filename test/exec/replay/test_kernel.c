/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in kernels and the pieces of the sequential evaluation. */
#include <stdlib.h>

#include "exec/host/byteset.h"
#include "exec/host/kernel.h"
#include "kit/gen.h"
#include "kit/turn.h"

#include "kit/context.h"

START_TEST(hash_sees_every_byte_and_its_place)
{
  uint8_t bytes[100];
  for (uint32_t n = 1; n <= sizeof bytes; n += 3) {
    fs_fill_given("x", bytes, n);
    uint64_t h = fs_hash_bytes(1, bytes, n);
    ck_assert_uint_eq(h, fs_hash_bytes(1, bytes, n));
    ck_assert_uint_ne(h, fs_hash_bytes(2, bytes, n));
    for (uint32_t i = 0; i < n; i++) {
      bytes[i] ^= 1;
      ck_assert_uint_ne(h, fs_hash_bytes(1, bytes, n));
      bytes[i] ^= 1;
      uint8_t other = bytes[(i + 8) % n];
      bytes[(i + 8) % n] = bytes[i];
      bytes[i] = other;
      ck_assert(bytes[i] == bytes[(i + 8) % n] || h != fs_hash_bytes(1, bytes, n));
      bytes[i] = bytes[(i + 8) % n];
      bytes[(i + 8) % n] = other;
    }
  }
}
END_TEST

/* No word occurs twice in some megabytes of content, wherever two ranges begin. */
static int compare_words(const void *a, const void *b) {
  uint64_t x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return x < y ? -1 : x > y;
}

START_TEST(content_does_not_repeat)
{
  enum { WORDS = 1 << 16, HALF = WORDS / 2 };
  uint64_t *words = malloc(WORDS * sizeof *words);
  ck_assert_ptr_nonnull(words);
  fs_fill_bytes(1, words, HALF * sizeof *words);
  fs_fill_bytes(2, words + HALF, HALF * sizeof *words);
  qsort(words, WORDS, sizeof *words, compare_words);
  for (uint32_t i = 1; i < WORDS; i++) {
    ck_assert_uint_ne(words[i - 1], words[i]);
  }
  free(words);
}
END_TEST

/* Where the bytes of the elements of a view are, in their order, by nested loops of its own. */
static uint32_t places_of(const fsched_kernel_view *v, uint32_t *place) {
  uint32_t n = 0;
  uint64_t last[3] = {v->n_dims > 0 ? v->shape[0] : 1, v->n_dims > 1 ? v->shape[1] : 1,
                      v->n_dims > 2 ? v->shape[2] : 1};
  for (uint64_t i = 0; i < last[0]; i++) {
    for (uint64_t j = 0; j < last[1]; j++) {
      for (uint64_t k = 0; k < last[2]; k++) {
        for (uint64_t b = 0; b < v->element; b++) {
          place[n++] = (uint32_t)(i * v->strides[0] + j * v->strides[1] + k * v->strides[2] + b);
        }
      }
    }
  }
  return n;
}

/* A view without elements that meet, of up to 3 dimensions in any order. */
static fsched_kernel_view draw_view(fs_rng *rng, uint64_t *length) {
  fsched_kernel_view v = {.n_dims = 1 + fs_rng_below(rng, 3), .element = 1 + fs_rng_below(rng, 9)};
  uint64_t span = v.element;
  uint32_t first = fs_rng_below(rng, v.n_dims);
  for (uint32_t i = 0; i < v.n_dims; i++) {
    uint32_t d = (first + i) % v.n_dims;
    v.shape[d] = 1 + fs_rng_below(rng, 5);
    v.strides[d] = span + (fs_rng_one_in(rng, 2) ? 0 : fs_rng_below(rng, 5));
    span = v.strides[d] * (v.shape[d] - 1) + span;
  }
  *length = span;
  return v;
}

/* Built-in kernels do to views what they do to the same bytes side by side. */
START_TEST(views_as_their_bytes)
{
  enum { BYTES = 4096 };
  static uint8_t in[BYTES], out[BYTES], near_in[BYTES], near_out[BYTES], before[BYTES];
  static uint32_t from[BYTES], to[BYTES];
  fs_rng rng = {fs_turn() * 4 + (uint64_t)_i};
  for (uint32_t round = 0; round < 2000; round++) {
    uint64_t length[2];
    fsched_kernel_view view[2] = {draw_view(&rng, &length[0]), draw_view(&rng, &length[1])};
    uint32_t n = places_of(&view[0], from), m = places_of(&view[1], to);
    ck_assert_uint_le(length[0], BYTES);
    ck_assert_uint_le(length[1], BYTES);
    fs_fill_bytes(round, in, BYTES);
    fs_fill_bytes(round + 1000000, out, BYTES);
    memcpy(before, out, BYTES);
    for (uint32_t i = 0; i < n; i++) {
      near_in[i] = in[from[i]];
    }
    for (uint32_t i = 0; i < m; i++) {
      near_out[i] = out[to[i]];
    }
    unsigned tag = fs_rng_one_in(&rng, 2) ? FSCHED_INOUT : FSCHED_OUT_EXISTING;
    fs_builtin kernel = _i % 2 == 0 ? FS_BUILTIN_MIX : FS_BUILTIN_COPY;
    fs_kernel_arg strided[2] = {{in, length[0], 0, FSCHED_IN}, {out, length[1], 0, tag}};
    fs_kernel_arg dense[2] = {{near_in, n, 0, FSCHED_IN}, {near_out, m, 0, tag}};
    fs_kernel_call a = {.op = "op", .args = strided, .n_args = 2, .views = view};
    fs_kernel_call b = {.op = "op", .args = dense, .n_args = 2};
    fs_builtin_run(kernel, &a);
    fs_builtin_run(kernel, &b);
    ck_assert_uint_eq(fs_builtin_digest(kernel, &a), fs_builtin_digest(kernel, &b));
    for (uint32_t i = 0; i < m; i++) {
      ck_assert_uint_eq(out[to[i]], near_out[i]);
      before[to[i]] = near_out[i];
    }
    ck_assert_mem_eq(out, before, BYTES); /* and nothing between the elements */
  }
}
END_TEST

START_TEST(byteset_against_bits)
{
  enum { N = 40 };
  fs_byteset set = {0};
  uint64_t bits = 0, seed = 12345;
  for (uint32_t step = 0; step < 5000; step++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    uint64_t a = (seed >> 33) % N, b = (seed >> 43) % N;
    uint64_t begin = fs_min(a, b), end = fs_max(a, b);
    uint64_t mask = ((UINT64_C(1) << end) - 1) & ~((UINT64_C(1) << begin) - 1);
    if (seed >> 63 != 0) {
      ck_assert_int_eq(fs_byteset_add(ctx, &set, begin, end), FSCHED_OK);
      bits |= mask;
    } else {
      ck_assert_int_eq(fs_byteset_remove(ctx, &set, begin, end), FSCHED_OK);
      bits &= ~mask;
    }
    uint64_t held = 0;
    for (size_t i = 0; i < set.n; i++) {
      ck_assert(set.at[i].begin < set.at[i].end && (i == 0 || set.at[i - 1].end < set.at[i].begin));
      held |= ((UINT64_C(1) << set.at[i].end) - 1) & ~((UINT64_C(1) << set.at[i].begin) - 1);
    }
    ck_assert_uint_eq(held, bits);
    ck_assert_int_eq(fs_byteset_cover(&set, begin, end), (bits & mask) == mask);
  }
  fs_vec_free(ctx, &set);
}
END_TEST

/* One op has args of every tag; everything that its result must depend on is changed in turn. */
typedef struct mix_case {
  uint8_t in[37], sum[19], out[41], part[5], table[8], scratch[11];
  int64_t value;
  const char *name;
} mix_case;

static uint64_t run_mix(mix_case *c) {
  fs_kernel_arg args[] = {{c->in, sizeof c->in, 0, FSCHED_IN},
                          {c->sum, sizeof c->sum, 0, FSCHED_INOUT},
                          {c->out, sizeof c->out, 0, FSCHED_OUT},
                          {c->part, sizeof c->part, 0, FSCHED_OUT_EXISTING},
                          {c->table, sizeof c->table, 0, FSCHED_NO_DEP},
                          {NULL, 0, c->value, FSCHED_VALUE}};
  fs_kernel_arg scratch = {c->scratch, sizeof c->scratch, 0, 0};
  fs_kernel_call call = {
      .op = c->name, .args = args, .n_args = 6, .scratch = &scratch, .n_scratch = 1};
  fs_builtin_run(FS_BUILTIN_MIX, &call);
  return fs_builtin_digest(FS_BUILTIN_MIX, &call);
}

static mix_case fresh_case(void) {
  mix_case c = {.value = 3, .name = "op"};
  fs_fill_given("in", c.in, sizeof c.in);
  fs_fill_given("sum", c.sum, sizeof c.sum);
  return c;
}

START_TEST(mix_depends_on_what_it_should)
{
  mix_case c = fresh_case();
  const uint64_t digest = run_mix(&c);
  mix_case same = fresh_case();
  /* Old content of outputs, no_dep and scratch does not matter. */
  memset(same.out, 7, sizeof same.out);
  memset(same.part, 7, sizeof same.part);
  memset(same.table, 7, sizeof same.table);
  memset(same.scratch, 7, sizeof same.scratch);
  ck_assert_uint_eq(run_mix(&same), digest);
  ck_assert_mem_eq(same.out, c.out, sizeof c.out);
  for (uint32_t i = 0; i < sizeof c.table; i++) {
    ck_assert_uint_eq(same.table[i], 7);
  }
  mix_case other = fresh_case();
  other.in[36] ^= 1;
  ck_assert_uint_ne(run_mix(&other), digest);
  other = fresh_case();
  other.sum[0] ^= 0x80;
  ck_assert_uint_ne(run_mix(&other), digest);
  other = fresh_case();
  other.value = -3;
  ck_assert_uint_ne(run_mix(&other), digest);
  other = fresh_case();
  other.name = "Op";
  ck_assert_uint_ne(run_mix(&other), digest);
}
END_TEST

/* Every output byte is written, also of scratch, and outputs differ from each other. */
START_TEST(mix_writes_all)
{
  uint8_t seen[sizeof(mix_case)] = {0};
  mix_case first = fresh_case();
  (void)run_mix(&first);
  for (int64_t round = 0; round < 64; round++) {
    mix_case c = fresh_case();
    c.value = round;
    (void)run_mix(&c);
    for (size_t i = 0; i < offsetof(mix_case, value); i++) {
      seen[i] |= ((uint8_t *)&c)[i] ^ ((uint8_t *)&first)[i];
    }
  }
  for (size_t i = 0; i < sizeof first.sum + sizeof first.out + sizeof first.part; i++) {
    ck_assert_uint_ne(seen[sizeof first.in + i], 0);
  }
  static const uint8_t zero[sizeof first.scratch];
  ck_assert_mem_ne(first.scratch, zero, sizeof zero);
  ck_assert_mem_ne(first.sum, first.out, 8);
}
END_TEST

START_TEST(names_of_builtins)
{
  ck_assert_int_eq(fs_builtin_find("mix"), FS_BUILTIN_MIX);
  ck_assert_int_eq(fs_builtin_find("nop"), FS_BUILTIN_NOP);
  ck_assert_int_eq(fs_builtin_find("copy"), FS_BUILTIN_COPY);
  ck_assert_int_eq(fs_builtin_find("mi"), FS_BUILTINS);
}
END_TEST

FS_SUITE(kernel, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, hash_sees_every_byte_and_its_place, content_does_not_repeat, byteset_against_bits,
           mix_depends_on_what_it_should, mix_writes_all, names_of_builtins);
  FS_LOOPS(t, 0, 4, views_as_their_bytes);
}
