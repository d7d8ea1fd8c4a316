/* SPDX-License-Identifier: Apache-2.0 */
/* A hash with a secret key, for tables of what users name.  Whoever does not know the key cannot
 * make names that collide.  Every context draws a key of its own, so no result may depend on a
 * hash: ids go by order of addition, and nothing walks a table.
 *
 * Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012; one round for each word
 * and three in the end. */
#ifndef FS_KEYED_H
#define FS_KEYED_H

#include "base/base.h"

typedef struct fs_hash_key {
  uint64_t word[2];
} fs_hash_key;

/* O(n). */
uint64_t fs_keyed_hash(fs_hash_key key, const void *data, size_t n);
/* From the system's generator; where there is none, from what the kernel has given the process. */
fs_hash_key fs_key_random(void);

fs_hash_key fs_context_key(const fsched_context *ctx);
/* Tests show with it that results are the same under every key.  Before any table is made. */
void fs_context_set_key(fsched_context *ctx, fs_hash_key key);

#endif
