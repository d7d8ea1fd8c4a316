/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in kernels for CUDA devices, bit for bit those of exec/host/kernel.c.
 *
 * Each runs in one block, since mix has to read everything before it writes anything, and many ops
 * run at once anyway.  A hash is four chains, each of which has to go from the front to the back:
 * four threads take an input, 64 inputs at a time, and load ahead of what they work on.  Content
 * depends on the position alone, so all threads write it.  Addresses have any alignment; words are
 * put together from aligned ones, which all hold at least one byte of the range, so nothing outside
 * of the memory is touched.
 *
 * A strided view is the bytes of its elements, one behind the other.  Its words are gathered by all
 * threads, a word each, and four of them hash what was gathered.
 *
 * scripts/gen-kernels makes builtin.ptx of this, without CUDA headers. */
#include "call.h"

#define KERNEL extern "C" __attribute__((global, used))
#define DEVICE __attribute__((device, always_inline)) static inline
#define SHARED __attribute__((shared)) static

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

static const u64 STEP = 0x9E3779B97F4A7C15ull;
static const u64 MUL_A = 0xD6E8FEB86659FD93ull;
static const u64 MUL_B = 0xA0761D6478BD642Full;
static const u64 SALT_SCRATCH = 0x7363726174636800ull;

enum { LANES = 4, WORD = 8, BLOCK = LANES * WORD, GROUPS = FS_CUDA_BLOCK / LANES, AHEAD = 8 };

DEVICE u32 thread_index() { return (u32)__nvvm_read_ptx_sreg_tid_x(); }

DEVICE u64 rotate(u64 x, u32 n) { return x << n | x >> (64 - n); }

DEVICE u64 scramble(u64 x) {
  x ^= x >> 31;
  x *= MUL_A;
  return x ^ x >> 30;
}

DEVICE u64 join(u64 a, u64 b) { return scramble(rotate(a, 23) + b * STEP); }

DEVICE u64 lane_step(u64 lane, u64 word) { return rotate((lane ^ word) * MUL_B, 29); }

/* ---- hash */

/* A word at any address: `low` and `high` are the aligned words that hold it.  Where the address is
 * aligned they are the same one, and the shifts leave nothing of the second. */
struct reader {
  u64 low, high;
  u32 shift;
};

DEVICE reader read_from(u64 address) {
  u32 shift = (u32)(address & 7) * 8;
  u64 low = address & ~7ull;
  reader r = {low, shift == 0 ? low : low + WORD, shift};
  return r;
}

DEVICE u64 read(const reader &r, u64 offset) {
  u64 low = *(const u64 *)(r.low + offset), high = *(const u64 *)(r.high + offset);
  return low >> r.shift | high << 1 << (63 - r.shift);
}

/* One of the four lanes of the hash of [data, data + n). */
DEVICE u64 hash_lane(u64 seed, u32 lane_index, u64 data, u64 n) {
  u64 lane = seed + lane_index * STEP;
  u64 blocks = n / BLOCK, at = 0;
  reader r = read_from(data + lane_index * WORD);
  if (blocks >= AHEAD) {
    u64 next[AHEAD];
    for (u32 i = 0; i < AHEAD; i++) {
      next[i] = read(r, i * BLOCK);
    }
    for (at = AHEAD; at + AHEAD <= blocks; at += AHEAD) {
      u64 now[AHEAD];
      for (u32 i = 0; i < AHEAD; i++) {
        now[i] = next[i];
        next[i] = read(r, (at + i) * BLOCK);
      }
      for (u32 i = 0; i < AHEAD; i++) {
        lane = lane_step(lane, now[i]);
      }
    }
    for (u32 i = 0; i < AHEAD; i++) {
      lane = lane_step(lane, next[i]);
    }
  }
#pragma nounroll
  for (; at < blocks; at++) {
    lane = lane_step(lane, read(r, at * BLOCK));
  }
  u64 from = blocks * BLOCK + lane_index * WORD;
  if (from + WORD <= n) {
    lane = lane_step(lane, read(r, blocks * BLOCK));
  } else if (from < n) {
    u64 word = 0;
#pragma nounroll
    for (u32 i = 0; from + i < n; i++) {
      word |= (u64) * (const u8 *)(data + from + i) << (8 * i);
    }
    lane = lane_step(lane, word);
  }
  return lane;
}

/* Volatile, since clang moves accesses to what only this file knows across barriers. */
SHARED volatile u64 lanes[FS_CUDA_BLOCK];
SHARED volatile u64 joined;

DEVICE u64 place_of(const fs_cuda_arg &a, u64 pool) { return a.pooled ? pool + a.data : a.data; }

/* ---- views */

DEVICE const fs_cuda_view *view_of(const fs_cuda_call *call, const fs_cuda_arg &a) {
  return a.view == 0 ? nullptr : (const fs_cuda_view *)((const u8 *)call + a.view);
}

/* A run of bytes of an arg, from byte i of it on. */
struct piece {
  u64 at, n; /* address, and the bytes that lie there side by side */
};

DEVICE piece piece_at(const fs_cuda_view *v, u64 data, u64 length, u64 i) {
  if (v == nullptr) {
    piece whole = {data + i, length - i};
    return whole;
  }
  u64 index = i / v->element, within = i % v->element;
  piece p = {data + within, v->element - within};
#pragma nounroll
  for (u32 d = v->n_dims; d > 0; d--) {
    p.at += index % v->shape[d - 1] * v->stride[d - 1];
    index /= v->shape[d - 1];
  }
  return p;
}

/* The bytes [i, i + 8) of a view; those behind its end are 0. */
DEVICE u64 gather(const fs_cuda_view *v, u64 data, u64 length, u64 i) {
  u64 word = 0;
  u32 n = length - i < WORD ? (u32)(length - i) : WORD;
#pragma nounroll
  for (u32 done = 0; done < n;) {
    piece p = piece_at(v, data, length, i + done);
#pragma nounroll
    for (u64 k = 0; k < p.n && done < n; k++, done++) {
      word |= (u64) * (const u8 *)(p.at + k) << (8 * done);
    }
  }
  return word;
}

DEVICE void scatter(const fs_cuda_view *v, u64 data, u64 length, u64 i, u64 word) {
  u32 n = length - i < WORD ? (u32)(length - i) : WORD;
#pragma nounroll
  for (u32 done = 0; done < n;) {
    piece p = piece_at(v, data, length, i + done);
#pragma nounroll
    for (u64 k = 0; k < p.n && done < n; k++, done++) {
      *(u8 *)(p.at + k) = (u8)(word >> (8 * done));
    }
  }
}

SHARED volatile u64 gathered[FS_CUDA_BLOCK];

/* Puts the four lanes of the hash of a view at `to`.  All threads call it. */
DEVICE void hash_view(u64 seed, const fs_cuda_view *v, u64 data, u64 length, u32 to) {
  u64 words = length / WORD + (length % WORD != 0);
  u32 t = thread_index();
  u64 lane = seed + t * STEP;
#pragma nounroll
  for (u64 first = 0; first < words; first += FS_CUDA_BLOCK) {
    if (first + t < words) {
      gathered[t] = gather(v, data, length, (first + t) * WORD);
    }
    __syncthreads();
    if (t < LANES) {
#pragma nounroll
      for (u32 k = t; k < FS_CUDA_BLOCK && first + k < words; k += LANES) {
        lane = lane_step(lane, gathered[k]);
      }
    }
    __syncthreads();
  }
  if (t < LANES) {
    lanes[to + t] = lane;
  }
}

DEVICE bool is_hashed(const fs_cuda_arg &a, bool written) { return written ? a.writes : a.reads; }

/* ---- hash of args */

/* Joins to h, in the order of the args, the hashes of those that are read, and the values; or, if
 * `written`, the hashes of those that are written.  All threads call it and get the result. */
DEVICE u64 hash_args(u64 h, const fs_cuda_call *call, u64 pool, bool written) {
  const fs_cuda_arg *args = (const fs_cuda_arg *)(call + 1);
  u32 t = thread_index();
#pragma nounroll
  for (u32 first = 0; first < call->n_args; first += GROUPS) {
    u32 mine = first + t / LANES;
    u32 end = first + GROUPS < call->n_args ? first + GROUPS : call->n_args;
    if (mine < end && is_hashed(args[mine], written) && args[mine].view == 0) {
      lanes[t] = hash_lane(mine, t % LANES, place_of(args[mine], pool), args[mine].length);
    }
#pragma nounroll
    for (u32 i = first; i < end; i++) {
      if (is_hashed(args[i], written) && args[i].view != 0) {
        hash_view(i, view_of(call, args[i]), place_of(args[i], pool), args[i].length,
                  (i - first) * LANES);
      }
    }
    __syncthreads();
#pragma nounroll
    for (u32 i = first; t == 0 && i < end; i++) {
      if (!written && args[i].has_value) {
        h = join(h, join(i, args[i].value));
      } else if (is_hashed(args[i], written)) {
        u64 of_arg = join(i, args[i].length);
        for (u32 j = 0; j < LANES; j++) {
          of_arg = join(of_arg, lanes[(i - first) * LANES + j]);
        }
        h = join(h, of_arg);
      }
    }
    __syncthreads();
  }
  if (t == 0) {
    joined = h;
  }
  __syncthreads();
  return joined;
}

/* ---- content */

DEVICE u64 content_word(u64 counter, u64 i) { return scramble(counter + (i + 1) * STEP); }

DEVICE u8 content_byte(u64 counter, u64 i) {
  return (u8)(content_word(counter, i / WORD) >> (i % WORD * 8));
}

/* Bytes in front of the first aligned word. */
DEVICE u64 head_of(u64 data, u64 n) {
  u64 head = (0 - data) & 7;
  return head < n ? head : n;
}

DEVICE void fill(u64 seed, u64 data, u64 n) {
  u64 counter = scramble(seed);
  u64 head = head_of(data, n), words = (n - head) / WORD, end = head + words * WORD;
  u32 shift = (u32)head * 8, t = thread_index();
  if (t < head) {
    *(u8 *)(data + t) = content_byte(counter, t);
  }
#pragma nounroll
  for (u64 i = t; i < words; i += FS_CUDA_BLOCK) {
    u64 word = content_word(counter, i) >> shift;
    if (shift != 0) {
      word |= content_word(counter, i + 1) << (64 - shift);
    }
    *(u64 *)(data + head + i * WORD) = word;
  }
  if (t < n - end) {
    *(u8 *)(data + end + t) = content_byte(counter, end + t);
  }
}

DEVICE void clear(u64 data, u64 n) {
  u64 head = head_of(data, n), words = (n - head) / WORD, end = head + words * WORD;
  u32 t = thread_index();
  if (t < head) {
    *(u8 *)(data + t) = 0;
  }
#pragma nounroll
  for (u64 i = t; i < words; i += FS_CUDA_BLOCK) {
    *(u64 *)(data + head + i * WORD) = 0;
  }
  if (t < n - end) {
    *(u8 *)(data + end + t) = 0;
  }
}

DEVICE void fill_view(u64 seed, const fs_cuda_view *v, u64 data, u64 n) {
  u64 counter = scramble(seed), words = n / WORD + (n % WORD != 0);
#pragma nounroll
  for (u64 i = thread_index(); i < words; i += FS_CUDA_BLOCK) {
    scatter(v, data, n, i * WORD, content_word(counter, i));
  }
}

/* ---- mix */

DEVICE void spoil_scratch(const fs_cuda_call *call, u64 pool) {
  const fs_cuda_arg *scratch = (const fs_cuda_arg *)(call + 1) + call->n_args;
#pragma nounroll
  for (u32 i = 0; i < call->n_scratch; i++) {
    fill(SALT_SCRATCH + i, place_of(scratch[i], pool), scratch[i].length);
  }
}

KERNEL void fsched_mix(const fs_cuda_call *call, u64 pool) {
  const fs_cuda_arg *args = (const fs_cuda_arg *)(call + 1);
  spoil_scratch(call, pool);
  __syncthreads();
  u64 seed = hash_args(call->seed, call, pool, false);
#pragma nounroll
  for (u32 i = 0; i < call->n_args; i++) {
    if (args[i].writes && args[i].view != 0) {
      fill_view(join(seed, i), view_of(call, args[i]), place_of(args[i], pool), args[i].length);
    } else if (args[i].writes) {
      fill(join(seed, i), place_of(args[i], pool), args[i].length);
    }
  }
  __syncthreads();
  spoil_scratch(call, pool);
}

/* Hashes what is now in the args that the op's kernel has written. */
KERNEL void fsched_digest(const fs_cuda_call *call, u64 pool) {
  u64 h = hash_args(call->kernel, call, pool, true);
  if (thread_index() == 0) {
    *(u64 *)call->digest = h;
  }
}

/* ---- copy */

/* Moves n units of a word or a byte.  The two ranges may overlap: each round reads all of its part
 * before it writes any, and the rounds go away from what is still to be read. */
template <typename unit>
DEVICE void move(u64 to, u64 from, u64 n) {
  u32 t = thread_index();
  u64 rounds = (n + FS_CUDA_BLOCK - 1) / FS_CUDA_BLOCK;
#pragma nounroll
  for (u64 r = 0; r < rounds; r++) {
    u64 i = (to <= from ? r : rounds - 1 - r) * FS_CUDA_BLOCK + t;
    unit value = 0;
    if (i < n) {
      value = *(const unit *)(from + i * sizeof(unit));
    }
    __syncthreads();
    if (i < n) {
      *(unit *)(to + i * sizeof(unit)) = value;
    }
    __syncthreads();
  }
}

DEVICE void move_bytes(u64 to, u64 from, u64 n) {
  if (((to ^ from) & 7) != 0) {
    move<u8>(to, from, n);
    return;
  }
  u64 head = head_of(to, n), words = (n - head) / WORD, end = head + words * WORD;
  bool up = to <= from;
  u64 first = up ? 0 : end, last = up ? end : 0;
  move<u8>(to + first, from + first, up ? head : n - end);
  move<u64>(to + head, from + head, words);
  move<u8>(to + last, from + last, up ? n - end : head);
}

/* Where an arg of a copy lies. */
struct side {
  const fs_cuda_view *view;
  u64 data, length, span;
};

DEVICE side side_of(const fs_cuda_call *call, const fs_cuda_arg &a, u64 pool) {
  const fs_cuda_view *v = view_of(call, a);
  side s = {v, place_of(a, pool), a.length, v == nullptr ? a.length : v->span};
  return s;
}

/* The same where one of them is a view.  Where the bytes between the first and the last one of both
 * are apart, every thread moves its words; else the pieces are moved one after the other, as on the
 * host. */
DEVICE void copy_pieces(const side &to, const side &from) {
  u64 n = from.length < to.length ? from.length : to.length;
  if (to.data + to.span <= from.data || from.data + from.span <= to.data) {
#pragma nounroll
    for (u64 i = (u64)thread_index() * WORD; i < to.length; i += FS_CUDA_BLOCK * WORD) {
      u64 word = i < n ? gather(from.view, from.data, n, i) : 0;
      scatter(to.view, to.data, to.length, i, word);
    }
    return;
  }
#pragma nounroll
  for (u64 i = 0; i < to.length;) {
    piece p = piece_at(to.view, to.data, to.length, i);
    u64 some = p.n;
    if (i < n) {
      piece q = piece_at(from.view, from.data, from.length, i);
      some = q.n < some ? q.n : some;
      move<u8>(p.at, q.at, some);
    } else {
      clear(p.at, some);
      __syncthreads();
    }
    i += some;
  }
}

/* The bytes of the one arg that is read to the one that is written; what is longer there becomes
 * zero. */
KERNEL void fsched_copy(const fs_cuda_call *call, u64 pool) {
  const fs_cuda_arg *args = (const fs_cuda_arg *)(call + 1);
  side from = {nullptr, 0, 0, 0}, to = {nullptr, 0, 0, 0};
#pragma nounroll
  for (u32 i = 0; i < call->n_args; i++) {
    if (args[i].reads) {
      from = side_of(call, args[i], pool);
    }
    if (args[i].writes) {
      to = side_of(call, args[i], pool);
    }
  }
  if (from.view != nullptr || to.view != nullptr) {
    copy_pieces(to, from);
    return;
  }
  u64 n = from.length < to.length ? from.length : to.length;
  move_bytes(to.data, from.data, n);
  clear(to.data + n, to.length - n);
}

/* ---- nop and pace */

KERNEL void fsched_nop() {}

/* Takes at least so long. */
KERNEL void fsched_pace(u64 ns) {
  u64 begin, now;
  __asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    __asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < ns);
}
