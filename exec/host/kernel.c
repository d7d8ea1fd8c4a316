/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in kernels.
 *
 * The hash runs four lanes of xor, multiply, rotate over 32-byte blocks: each step is a bijection
 * of the lane for a given word and of the word for a given lane, so one changed word always changes
 * its lane, and the multiply-rotate chain makes the order count.  Four lanes hide the latency of
 * the multiplication.  Content is a scrambled counter: word i of a range is a function of seed + i
 * steps of an odd constant, so equal words at different places are as likely as chance. */
#include "exec/host/kernel.h"

#include "model/builtins.h"

#define STEP UINT64_C(0x9E3779B97F4A7C15) /* 2^64 / golden ratio, odd */
#define MUL_A UINT64_C(0xD6E8FEB86659FD93)
#define MUL_B UINT64_C(0xA0761D6478BD642F)
#define SALT_OUTPUT UINT64_C(0x6F75747075740000)
#define SALT_SCRATCH UINT64_C(0x7363726174636800)
#define SALT_GIVEN UINT64_C(0x676976656E000000)

enum { LANES = 4, WORD = 8, BLOCK = LANES * WORD };

static inline uint64_t rotate(uint64_t x, unsigned n) { return x << n | x >> (64 - n); }

static inline uint64_t scramble(uint64_t x) {
  x ^= x >> 31;
  x *= MUL_A;
  return x ^ x >> 30;
}

static inline uint64_t join_hashes(uint64_t a, uint64_t b) {
  return scramble(rotate(a, 23) + b * STEP);
}

static inline uint64_t load(const uint8_t *p) {
  uint64_t word;
  memcpy(&word, p, WORD);
  return word;
}

static inline uint64_t lane_step(uint64_t lane, uint64_t word) {
  return rotate((lane ^ word) * MUL_B, 29);
}

uint64_t fs_hash_bytes(uint64_t seed, const void *data, uint64_t n) {
  const uint8_t *p = data;
  uint64_t lane[LANES] = {seed, seed + STEP, seed + 2 * STEP, seed + 3 * STEP};
  uint64_t left = n;
  for (; left >= BLOCK; left -= BLOCK, p += BLOCK) {
    for (unsigned j = 0; j < LANES; j++) {
      lane[j] = lane_step(lane[j], load(p + j * WORD));
    }
  }
  unsigned j = 0;
  for (; left >= WORD; left -= WORD, p += WORD, j++) {
    lane[j] = lane_step(lane[j], load(p));
  }
  if (left > 0) {
    uint64_t word = 0;
    memcpy(&word, p, left);
    lane[j] = lane_step(lane[j], word);
  }
  uint64_t h = join_hashes(seed, n);
  for (j = 0; j < LANES; j++) {
    h = join_hashes(h, lane[j]);
  }
  return h;
}

void fs_fill_bytes(uint64_t seed, void *data, uint64_t n) {
  uint8_t *p = data;
  uint64_t counter = scramble(seed);
  for (; n >= WORD; n -= WORD, p += WORD) {
    uint64_t word = scramble(counter += STEP);
    memcpy(p, &word, WORD);
  }
  if (n > 0) {
    uint64_t word = scramble(counter + STEP);
    memcpy(p, &word, n);
  }
}

static uint64_t name_seed(uint64_t salt, const char *name) {
  return fs_hash_bytes(salt, name, strlen(name));
}

uint64_t fs_kernel_seed(const char *op) { return name_seed(SALT_OUTPUT, op); }

void fs_fill_given(const char *buffer, void *data, uint64_t n) {
  fs_fill_bytes(name_seed(SALT_GIVEN, buffer), data, n);
}

void fs_fill_given_range(const char *buffer, void *data, uint64_t begin, uint64_t end) {
  assert(begin <= end);
  uint64_t start = scramble(name_seed(SALT_GIVEN, buffer));
  uint8_t *p = data;
  while (begin < end) {
    uint64_t index = begin / WORD, skip = begin % WORD;
    uint64_t word = scramble(start + (index + 1) * STEP);
    uint64_t n = fs_min(WORD - skip, end - begin);
    memcpy(p + begin, (const uint8_t *)&word + skip, n);
    begin += n;
  }
}

/* Scratch is filled before the inputs are read and again after the outputs are written, so that an
 * overlap with either shows, and so does an overlap with a version that is still needed. */
static void spoil_scratch(const fs_kernel_call *call) {
  for (uint32_t i = 0; i < call->n_scratch; i++) {
    fs_fill_bytes(SALT_SCRATCH + i, call->scratch[i].data, call->scratch[i].length);
  }
}

static uint64_t hash_inputs(const fs_kernel_call *call) {
  uint64_t h = fs_kernel_seed(call->op);
  for (uint32_t i = 0; i < call->n_args; i++) {
    const fs_kernel_arg *a = &call->args[i];
    if (!fs_tag_names_buffer(a->tag)) {
      h = join_hashes(h, join_hashes(i, (uint64_t)a->value));
    } else if (fs_tag_reads(a->tag)) {
      h = join_hashes(h, fs_hash_bytes(i, a->data, a->length));
    }
  }
  return h;
}

static void mix(const fs_kernel_call *call) {
  spoil_scratch(call);
  uint64_t seed = hash_inputs(call);
  for (uint32_t i = 0; i < call->n_args; i++) {
    const fs_kernel_arg *a = &call->args[i];
    if (fs_tag_writes(a->tag)) {
      fs_fill_bytes(join_hashes(seed, i), a->data, a->length);
    }
  }
  spoil_scratch(call);
}

static void nop(const fs_kernel_call *call) { (void)call; }

/* Copies the bytes of the one `in` arg to the one written arg, and fills the rest of that with
 * zeros. */
static void copy(const fs_kernel_call *call) {
  const fs_kernel_arg *from = NULL, *to = NULL;
  for (uint32_t i = 0; i < call->n_args; i++) {
    const fs_kernel_arg *a = &call->args[i];
    from = fs_tag_only_reads(a->tag) ? a : from;
    to = fs_tag_writes(a->tag) ? a : to;
  }
  assert(from != NULL && to != NULL);
  uint64_t n = fs_min(from->length, to->length);
  memmove(to->data, from->data, n);
  memset(to->data + n, 0, to->length - n);
}

static void (*const builtins[FS_BUILTINS])(const fs_kernel_call *call) = {
    [FS_BUILTIN_MIX] = mix, [FS_BUILTIN_NOP] = nop, [FS_BUILTIN_COPY] = copy};
_Static_assert(sizeof fs_builtin_names / sizeof fs_builtin_names[0] == FS_BUILTINS, "a name each");

fs_builtin fs_builtin_find(const char *name) {
  assert(name != NULL);
  unsigned k = 0;
  while (k < FS_BUILTINS && strcmp(fs_builtin_names[k], name) != 0) {
    k++;
  }
  return (fs_builtin)k;
}

void fs_count_tag(fs_tag_counts *counts, unsigned tag) {
  counts->ins += fs_tag_only_reads(tag);
  counts->written += fs_tag_writes(tag);
  counts->read_too += fs_tag_reads(tag) && fs_tag_writes(tag);
}

fs_tag_counts fs_count_op_tags(const fs_stream *s, const fs_stream_op *op) {
  fs_tag_counts counts = {0};
  for (uint32_t i = 0; i < op->n_args; i++) {
    fs_count_tag(&counts, s->args[op->arg0 + i].tag);
  }
  return counts;
}

const char *fs_builtin_refusal(fs_builtin kernel, const fs_tag_counts *args) {
  assert(kernel < FS_BUILTINS);
  if (kernel != FS_BUILTIN_COPY) {
    return NULL;
  }
  return args->ins == 1 && args->written == 1 && args->read_too == 0 ? NULL
                                                                     : "one `in` and one `out` arg";
}

void fs_builtin_run(fs_builtin kernel, const fs_kernel_call *call) {
  assert(kernel < FS_BUILTINS);
  builtins[kernel](call);
}

uint64_t fs_builtin_digest(fs_builtin kernel, const fs_kernel_call *call) {
  assert(kernel <= FS_BUILTINS);
  uint64_t h = kernel;
  for (uint32_t i = 0; i < call->n_args && kernel != FS_BUILTIN_NOP; i++) {
    const fs_kernel_arg *a = &call->args[i];
    if (fs_tag_writes(a->tag)) {
      h = join_hashes(h, fs_hash_bytes(i, a->data, a->length));
    }
  }
  return h;
}
