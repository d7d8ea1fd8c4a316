/* SPDX-License-Identifier: Apache-2.0 */
#include "base/keyed.h"

#include <sys/auxv.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/context_private.h"

typedef struct sip_state {
  uint64_t a, b, c, d;
} sip_state;

static inline uint64_t rotate(uint64_t x, unsigned n) { return x << n | x >> (64 - n); }

static inline void sip_round(sip_state *v) {
  v->a += v->b;
  v->c += v->d;
  v->b = rotate(v->b, 13) ^ v->a;
  v->d = rotate(v->d, 16) ^ v->c;
  v->a = rotate(v->a, 32);
  v->a += v->d;
  v->c += v->b;
  v->d = rotate(v->d, 21) ^ v->a;
  v->b = rotate(v->b, 17) ^ v->c;
  v->c = rotate(v->c, 32);
}

static inline void sip_word(sip_state *v, uint64_t word) {
  v->d ^= word;
  sip_round(v);
  v->a ^= word;
}

uint64_t fs_keyed_hash(fs_hash_key key, const void *data, size_t n) {
  const unsigned char *p = data;
  uint64_t word, last = (uint64_t)n << 56;
  sip_state v = {
      key.word[0] ^ UINT64_C(0x736f6d6570736575), key.word[1] ^ UINT64_C(0x646f72616e646f6d),
      key.word[0] ^ UINT64_C(0x6c7967656e657261), key.word[1] ^ UINT64_C(0x7465646279746573)};
  for (; n >= sizeof word; n -= sizeof word, p += sizeof word) {
    memcpy(&word, p, sizeof word); /* native byte order: hashes never leave the machine */
    sip_word(&v, word);
  }
  word = 0;
  if (n > 0) {
    memcpy(&word, p, n);
  }
  sip_word(&v, last | word);
  v.c ^= 0xff;
  sip_round(&v);
  sip_round(&v);
  sip_round(&v);
  return v.a ^ v.b ^ v.c ^ v.d;
}

/* The kernel gives each process 16 random bytes; the clock and an address on the stack tell the
 * contexts of one process apart. */
static fs_hash_key key_without_generator(void) {
  fs_hash_key key = {{0, 0}};
  unsigned long at = getauxval(AT_RANDOM);
  if (at != 0) {
    memcpy(&key, (const void *)(uintptr_t)at, sizeof key);
  }
  uint64_t more[] = {fs_now_ns(), (uint64_t)(uintptr_t)&key};
  uint64_t first = fs_keyed_hash(key, more, sizeof more);
  more[0] = ~more[0];
  return (fs_hash_key){{first, fs_keyed_hash(key, more, sizeof more)}};
}

fs_hash_key fs_key_random(void) {
  fs_hash_key key;
  if (getrandom(&key, sizeof key, GRND_NONBLOCK) == (ssize_t)sizeof key) {
    return key;
  }
  return key_without_generator();
}

fs_hash_key fs_context_key(const fsched_context *ctx) { return ctx->key; }
void fs_context_set_key(fsched_context *ctx, fs_hash_key key) { ctx->key = key; }
