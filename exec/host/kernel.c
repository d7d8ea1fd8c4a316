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
#define SALT_PARAMS UINT64_C(0x706172616D730000)
#define SALT_MEMBER UINT64_C(0x6D656D6265720000)
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

/* ---- views */

/* The bytes of an arg in the order of its elements, in pieces as long as they lie side by side. */
typedef struct piece_walk {
  uint8_t *data, *at; /* at: the piece at hand */
  uint64_t n;         /* bytes of a piece */
  uint64_t shape[FSCHED_MAX_DIMS], stride[FSCHED_MAX_DIMS], index[FSCHED_MAX_DIMS];
  uint32_t n_dims;
  bool over;
} piece_walk;

static const fsched_kernel_view *view_of(const fs_kernel_call *call, uint32_t arg) {
  return call->views == NULL || call->views[arg].n_dims == 0 ? NULL : &call->views[arg];
}

static piece_walk walk_pieces(const fs_kernel_call *call, uint32_t arg) {
  const fs_kernel_arg *a = &call->args[arg];
  const fsched_kernel_view *v = view_of(call, arg);
  piece_walk w = {.data = a->data, .at = a->data, .n = v == NULL ? a->length : v->element};
  if (v == NULL) {
    return w;
  }
  w.n_dims = v->n_dims;
  for (; w.n_dims > 0 && v->strides[w.n_dims - 1] == w.n; w.n_dims--) {
    w.n *= v->shape[w.n_dims - 1];
  }
  memcpy(w.shape, v->shape, sizeof w.shape);
  memcpy(w.stride, v->strides, sizeof w.stride);
  return w;
}

/* The next piece; false: there is none. */
static bool next_piece(piece_walk *w, uint8_t **at, uint64_t *n) {
  *at = w->at;
  *n = w->over ? 0 : w->n;
  if (w->over) {
    return false;
  }
  uint32_t d = w->n_dims;
  for (w->over = true; d > 0 && w->over; d--) {
    w->at += w->stride[d - 1];
    w->over = ++w->index[d - 1] == w->shape[d - 1];
    if (w->over) {
      w->at -= w->stride[d - 1] * w->shape[d - 1];
      w->index[d - 1] = 0;
    }
  }
  return true;
}

static uint64_t bytes_of(const fs_kernel_call *call, uint32_t arg) {
  const fsched_kernel_view *v = view_of(call, arg);
  uint64_t n = v == NULL ? call->args[arg].length : v->element;
  for (uint32_t d = 0; v != NULL && d < v->n_dims; d++) {
    n *= v->shape[d];
  }
  return n;
}

/* The hash of all pieces one after the other. */
static uint64_t hash_arg(uint64_t seed, const fs_kernel_call *call, uint32_t arg) {
  if (view_of(call, arg) == NULL) {
    return fs_hash_bytes(seed, call->args[arg].data, call->args[arg].length);
  }
  uint64_t lane[LANES] = {seed, seed + STEP, seed + 2 * STEP, seed + 3 * STEP};
  uint8_t word[WORD], *at;
  uint64_t total = bytes_of(call, arg), done = 0, n;
  piece_walk w = walk_pieces(call, arg);
  while (next_piece(&w, &at, &n)) {
    for (uint64_t i = 0; i < n;) {
      uint64_t some = fs_min(WORD - done % WORD, n - i);
      memcpy(word + done % WORD, at + i, (size_t)some);
      i += some;
      done += some;
      if (done % WORD == 0 || done == total) {
        memset(word + (done - 1) % WORD + 1, 0, (size_t)(WORD - 1 - (done - 1) % WORD));
        uint64_t k = (done - 1) / WORD % LANES;
        lane[k] = lane_step(lane[k], load(word));
      }
    }
  }
  uint64_t h = join_hashes(seed, total);
  for (unsigned j = 0; j < LANES; j++) {
    h = join_hashes(h, lane[j]);
  }
  return h;
}

/* Fills all pieces as if they lay one behind the other. */
static void fill_arg(uint64_t seed, const fs_kernel_call *call, uint32_t arg) {
  if (view_of(call, arg) == NULL) {
    fs_fill_bytes(seed, call->args[arg].data, call->args[arg].length);
    return;
  }
  uint64_t counter = scramble(seed), word = 0, done = 0, n;
  uint8_t *at;
  piece_walk w = walk_pieces(call, arg);
  while (next_piece(&w, &at, &n)) {
    for (uint64_t i = 0; i < n;) {
      word = done % WORD == 0 ? scramble(counter += STEP) : word;
      uint64_t some = fs_min(WORD - done % WORD, n - i);
      memcpy(at + i, (const uint8_t *)&word + done % WORD, (size_t)some);
      i += some;
      done += some;
    }
  }
}

/* Copies piece by piece, and fills the rest with zeros. */
static void copy_arg(const fs_kernel_call *call, uint32_t from, uint32_t to) {
  piece_walk source = walk_pieces(call, from), target = walk_pieces(call, to);
  uint8_t *in = NULL, *out;
  uint64_t left = 0, n;
  while (next_piece(&target, &out, &n)) {
    while (n > 0) {
      bool more = left > 0 || next_piece(&source, &in, &left);
      uint64_t some = more ? fs_min(left, n) : n;
      if (more) {
        memmove(out, in, (size_t)some);
        in += some;
        left -= some;
      } else {
        memset(out, 0, (size_t)some);
      }
      out += some;
      n -= some;
    }
  }
}

static uint64_t name_seed(uint64_t salt, const char *name) {
  return fs_hash_bytes(salt, name, strlen(name));
}

uint64_t fs_kernel_seed(const char *op, const void *params, uint64_t n_params) {
  uint64_t seed = name_seed(SALT_OUTPUT, op);
  return n_params == 0 ? seed : join_hashes(seed, fs_hash_bytes(SALT_PARAMS, params, n_params));
}

uint64_t fs_member_seed(uint64_t seed, uint32_t member) {
  return join_hashes(seed, SALT_MEMBER + member);
}

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
 * overlap with either shows, and so does an overlap with a version that is still needed.  Members
 * share the scratch, so one of them does it. */
static void spoil_scratch(const fs_kernel_call *call) {
  for (uint32_t i = 0; i < call->n_scratch && call->member == 0; i++) {
    fs_fill_bytes(SALT_SCRATCH + i, call->scratch[i].data, call->scratch[i].length);
  }
}

static uint64_t hash_inputs(const fs_kernel_call *call) {
  uint64_t h = fs_kernel_seed(call->op, call->params, call->n_params);
  h = call->n_members == 0 ? h : fs_member_seed(h, call->member);
  for (uint32_t i = 0; i < call->n_args; i++) {
    const fs_kernel_arg *a = &call->args[i];
    if (!fs_tag_names_buffer(a->tag)) {
      h = join_hashes(h, join_hashes(i, (uint64_t)a->value));
    } else if (fs_tag_reads(a->tag)) {
      h = join_hashes(h, hash_arg(i, call, i));
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
      fill_arg(join_hashes(seed, i), call, i);
    }
  }
  spoil_scratch(call);
}

static void nop(const fs_kernel_call *call) { (void)call; }

/* Copies the bytes of the one `in` arg to the one written arg, and fills the rest of that with
 * zeros. */
static void copy(const fs_kernel_call *call) {
  uint32_t from = FS_NONE, to = FS_NONE;
  for (uint32_t i = 0; i < call->n_args; i++) {
    from = fs_tag_only_reads(call->args[i].tag) ? i : from;
    to = fs_tag_writes(call->args[i].tag) ? i : to;
  }
  assert(from != FS_NONE && to != FS_NONE);
  copy_arg(call, from, to);
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

fs_tag_counts fs_count_tags(const fs_stream *s, fs_stream_member args) {
  fs_tag_counts counts = {0};
  for (uint32_t i = 0; i < args.n_args; i++) {
    fs_count_tag(&counts, s->args[args.arg0 + i].tag);
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
      h = join_hashes(h, hash_arg(i, call, i));
    }
  }
  return h;
}
