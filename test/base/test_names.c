/* SPDX-License-Identifier: Apache-2.0 */
/* Names that are crafted against the tables that hold them.
 *
 * The names collide completely for an attacker who knows the function: `crafted` inverts a public
 * mixing function of words (xor, multiply by an odd number, xor), so that all its names of 16 bytes
 * have the same hash, and other names the same CRC.  The test counts how many slots a table looks
 * at to find each of them again; it does not use a clock. */
#include <stdio.h>
#include <stdlib.h>

#include "base/context.h"
#include "base/keyed.h"
#include "base/names.h"

#include "kit/context.h"

enum { LENGTH = 16 };

static const uint64_t odd = 0xd6e8feb86659fd93u;

static uint64_t mix(uint64_t x) {
  x ^= x >> 32;
  x *= odd;
  return x ^ x >> 32;
}

/* The inverse of an odd number modulo 2^64, by Newton's method: each step doubles the bits. */
static uint64_t inverse(uint64_t a) {
  uint64_t x = a;
  for (int i = 0; i < 6; i++) {
    x *= 2 - a * x;
  }
  return x;
}

static uint64_t unmix(uint64_t x) {
  x ^= x >> 32;
  x *= inverse(odd);
  return x ^ x >> 32;
}

static bool holds_nul(const char *s) { return memchr(s, '\0', LENGTH) != NULL; }

/* The i-th name whose words w1, w2 leave the state at one value: mix(mix(start ^ w1) ^ w2). */
static void crafted(uint64_t *next, char out[LENGTH + 1]) {
  do {
    char first[24];
    uint64_t w1, w2;
    (void)snprintf(first, sizeof first, "%08llx", (unsigned long long)(*next)++);
    memcpy(&w1, first, sizeof w1);
    w2 = mix(0x9e3779b97f4a7c15u ^ LENGTH ^ w1) ^ unmix(0x123456789abcdefu);
    memcpy(out, &w1, sizeof w1);
    memcpy(out + sizeof w1, &w2, sizeof w2);
    out[LENGTH] = '\0';
  } while (holds_nul(out));
}

/* Counts the slots that are looked at when each name is looked up once. */
static uint64_t steps(const fs_names *t) {
  uint64_t n = 0, mask = t->n_slots - 1;
  for (uint64_t at = 0; at < t->n_slots; at++) {
    if (t->slot[at] != UINT64_MAX) {
      n += ((at - (t->slot[at] >> 32)) & mask) + 1;
    }
  }
  return n;
}

static uint64_t steps_of(uint32_t n) {
  fs_arena arena;
  fs_names t;
  uint64_t next = 0, counted;
  char name[LENGTH + 1];
  fs_arena_init(&arena, ctx);
  fs_names_init(&t, &arena);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t id;
    bool added;
    crafted(&next, name);
    ck_assert_int_eq(fs_names_intern(&t, name, LENGTH, &id, &added), FSCHED_OK);
    ck_assert(added && id == i);
  }
  counted = steps(&t);
  next = 0;
  for (uint32_t i = 0; i < n; i++) {
    crafted(&next, name);
    ck_assert_uint_eq(fs_names_find(&t, name, LENGTH), i);
  }
  fs_names_free(&t);
  fs_arena_release(&arena);
  return counted;
}

START_TEST(crafted_names_are_spread)
{
  uint64_t once = steps_of(2048), twice = steps_of(4096);
  ck_assert_msg(2 * twice <= 5 * once, "%llu steps, and %llu for twice the names",
                (unsigned long long)once, (unsigned long long)twice);
  ck_assert_msg(twice <= 4 * 4096, "%llu steps for 4096 names", (unsigned long long)twice);
}
END_TEST

/* The order in the table depends on the key; ids, and what is found, do not. */
START_TEST(keys_change_places_alone)
{
  uint64_t first[3] = {0};
  for (uint64_t k = 0; k < 3; k++) {
    fs_arena arena;
    fs_names t;
    fs_context_set_key(ctx, (fs_hash_key){{k, ~k}});
    fs_arena_init(&arena, ctx);
    fs_names_init(&t, &arena);
    for (uint32_t i = 0; i < 100; i++) {
      char name[24];
      uint32_t id;
      (void)snprintf(name, sizeof name, "name %u", i * 7919);
      ck_assert_int_eq(fs_names_intern(&t, name, strlen(name), &id, NULL), FSCHED_OK);
      ck_assert_uint_eq(id, i);
    }
    for (size_t i = 0; i < t.n_slots; i++) {
      first[k] = first[k] * 31 + (t.slot[i] == UINT64_MAX ? 0 : (uint32_t)t.slot[i] + 1);
    }
    fs_names_free(&t);
    fs_arena_release(&arena);
    fsched_diag_clear(ctx);
  }
  ck_assert(first[0] != first[1] && first[1] != first[2] && first[0] != first[2]);
}
END_TEST

/* Two contexts of one process have two keys. */
START_TEST(every_context_has_its_own_key)
{
  fsched_context *a, *b;
  ck_assert_int_eq(fsched_context_create(NULL, &a), FSCHED_OK);
  ck_assert_int_eq(fsched_context_create(NULL, &b), FSCHED_OK);
  fs_hash_key x = fs_context_key(a), y = fs_context_key(b);
  ck_assert(x.word[0] != y.word[0] && x.word[1] != y.word[1]);
  fsched_context_destroy(a);
  fsched_context_destroy(b);
}
END_TEST

/* SipHash-2-4 has published reference vectors, with key 00 01 .. 0f and data 00 01 ..; for
 * SipHash-1-3 there is no official list, so the function is compared with one written from the
 * definition, byte by byte. */
static uint64_t rotated(uint64_t x, unsigned n) { return (x << n) | (x >> (64 - n)); }

static void naive_round(uint64_t v[4]) {
  v[0] += v[1], v[1] = rotated(v[1], 13), v[1] ^= v[0], v[0] = rotated(v[0], 32);
  v[2] += v[3], v[3] = rotated(v[3], 16), v[3] ^= v[2];
  v[0] += v[3], v[3] = rotated(v[3], 21), v[3] ^= v[0];
  v[2] += v[1], v[1] = rotated(v[1], 17), v[1] ^= v[2], v[2] = rotated(v[2], 32);
}

static uint64_t naive_siphash(int c, int d, const uint64_t k[2], const unsigned char *m, size_t n) {
  uint64_t v[4] = {k[0] ^ 0x736f6d6570736575u, k[1] ^ 0x646f72616e646f6du,
                   k[0] ^ 0x6c7967656e657261u, k[1] ^ 0x7465646279746573u};
  for (size_t block = 0; block <= n / 8; block++) {
    uint64_t word = block == n / 8 ? (uint64_t)n << 56 : 0;
    for (size_t i = 0; i < 8 && block * 8 + i < n; i++) {
      word |= (uint64_t)m[block * 8 + i] << (8 * i);
    }
    v[3] ^= word;
    for (int i = 0; i < c; i++) {
      naive_round(v);
    }
    v[0] ^= word;
  }
  v[2] ^= 0xff;
  for (int i = 0; i < d; i++) {
    naive_round(v);
  }
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

START_TEST(hash_is_siphash)
{
  unsigned char data[64];
  uint64_t key[2] = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
  for (unsigned i = 0; i < sizeof data; i++) {
    data[i] = (unsigned char)i;
  }
  /* The published vectors of SipHash-2-4 show that the naive function is right. */
  ck_assert_uint_eq(naive_siphash(2, 4, key, data, 0), 0x726fdb47dd0e0e31u);
  ck_assert_uint_eq(naive_siphash(2, 4, key, data, 15), 0xa129ca6149be45e5u);
  for (size_t n = 0; n <= sizeof data; n++) {
    ck_assert_uint_eq(fs_keyed_hash((fs_hash_key){{key[0], key[1]}}, data, n),
                      naive_siphash(1, 3, key, data, n));
  }
}
END_TEST

FS_SUITE(names, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, crafted_names_are_spread, keys_change_places_alone, every_context_has_its_own_key,
           hash_is_siphash);
}
