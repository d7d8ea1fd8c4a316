/* SPDX-License-Identifier: Apache-2.0 */
/* A hash with a secret key, for tables of names that users choose.  Whoever does not know the key
 * cannot make names that collide.  Every context draws a key of its own, so no result may depend on
 * a hash: ids follow the order of addition, and no code iterates over a table.
 *
 * Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012; one round for each word
 * and three at the end. */
#ifndef FS_KEYED_H
#define FS_KEYED_H

#include "base/base.h"

typedef struct fs_hash_key {
  uint64_t word[2];
} fs_hash_key;

/* O(n). */
uint64_t fs_keyed_hash(fs_hash_key key, const void *data, size_t n);
/* Draws a key from the system's random generator or, where there is none, from the random bytes
 * that the kernel gives each process. */
fs_hash_key fs_key_random(void);

fs_hash_key fs_context_key(const fsched_context *ctx);
/* For tests, which show that results are the same under every key.  Call it before any table is
 * made. */
void fs_context_set_key(fsched_context *ctx, fs_hash_key key);

#endif
