/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in kernels and the pieces of the sequential evaluation. */
#include <stdlib.h>

#include "exec/host/byteset.h"
#include "exec/host/kernel.h"

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
}
