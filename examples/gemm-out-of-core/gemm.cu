/* SPDX-License-Identifier: Apache-2.0 */
/* C (m by n) = A (m by k) * B (k by n), or C += that; float32, row by row, without gaps.
 *
 * A block of 64 threads makes 64 by 64 items of C: grid [up(n / 64), up(m / 64)], block [64].  It
 * brings 16 columns of A and 16 rows of B at a time to shared memory, A turned over, so that a
 * thread reads what it needs of both as vectors of four, without two threads of a quarter of a warp
 * in one bank.  A thread keeps 8 by 8 items in registers, in four parts:
 *
 *            4 tx   32 + 4 tx
 *     4 ty   4 x 4    4 x 4         tx, ty = 0 to 7
 *   32 + 4 ty  4 x 4    4 x 4
 *
 * so that 16 items read from shared memory feed 64 multiplications.  What lies outside of a matrix
 * counts as 0.  Shared memory: 16 * 68 + 16 * 64 items, 8448 bytes, given at the launch.
 *
 * `make ptx` makes gemm.ptx of this with clang, without CUDA headers; nvcc -ptx does it, too. */
#ifdef __CUDACC__
#define THREAD threadIdx.x
#define BLOCK_X blockIdx.x
#define BLOCK_Y blockIdx.y
#else
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(n) __attribute__((launch_bounds(n)))
#define THREAD __nvvm_read_ptx_sreg_tid_x()
#define BLOCK_X __nvvm_read_ptx_sreg_ctaid_x()
#define BLOCK_Y __nvvm_read_ptx_sreg_ctaid_y()
#endif

typedef long long i64;
struct alignas(16) four {
  float at[4];
};

enum { EDGE = 64, DEPTH = 16, THREADS = 64, PART = 4, HALF = 32, PITCH_A = EDGE + 4 };
/* Rows of A that the block loads at once, DEPTH threads each; of B it is one. */
enum { ROWS_A = THREADS / DEPTH };

extern __shared__ four staged[];

/* Columns k0 to k0 + 15 of rows i0 to i0 + 63 of A, turned over. */
static __device__ __forceinline__ void stage_a(float *to, const float *a, int i0, int k0, int m,
                                               int k) {
  int row = i0 + (int)THREAD / DEPTH, column = (int)THREAD % DEPTH;
  const float *from = a + (i64)row * k + k0 + column;
  to += column * PITCH_A + (int)THREAD / DEPTH;
  int rows = k0 + column < k ? m - row : 0;
#pragma unroll
  for (int s = 0; s < EDGE; s += ROWS_A, from += ROWS_A * k) {
    to[s] = s < rows ? *from : 0.0f;
  }
}

/* Columns j0 to j0 + 63 of rows k0 to k0 + 15 of B. */
static __device__ __forceinline__ void stage_b(float *to, const float *b, int k0, int j0, int k,
                                               int n) {
  int column = j0 + (int)THREAD;
  const float *from = b + (i64)k0 * n + column;
  to += (int)THREAD;
  int rows = column < n ? k - k0 : 0;
#pragma unroll
  for (int s = 0; s < DEPTH; s++, from += n) {
    to[s * EDGE] = s < rows ? *from : 0.0f;
  }
}

/* Two parts of a row of what is staged. */
static __device__ __forceinline__ void take(float *to, const float *row, int at) {
  four low = *(const four *)(row + at), high = *(const four *)(row + HALF + at);
#pragma unroll
  for (int i = 0; i < PART; i++) {
    to[i] = low.at[i];
    to[PART + i] = high.at[i];
  }
}

static __device__ __forceinline__ int of_part(int i, int at) {
  return i < PART ? at + i : HALF + at + i - PART;
}

extern "C" __global__ __launch_bounds__(THREADS) void gemm_tile(const float *a, const float *b,
                                                                float *c, i64 rows, i64 columns,
                                                                i64 inner, i64 accumulate) {
  int m = (int)rows, n = (int)columns, k = (int)inner;
  float *of_a = staged[0].at, *of_b = of_a + DEPTH * PITCH_A;
  int tx = (int)THREAD % 8 * PART, ty = (int)THREAD / 8 * PART;
  int i0 = (int)BLOCK_Y * EDGE, j0 = (int)BLOCK_X * EDGE;
  float sum[2 * PART][2 * PART] = {};
#pragma unroll 1
  for (int k0 = 0; k0 < k; k0 += DEPTH) {
    stage_a(of_a, a, i0, k0, m, k);
    stage_b(of_b, b, k0, j0, k, n);
    __syncthreads();
#pragma unroll 4
    for (int l = 0; l < DEPTH; l++) {
      float x[2 * PART], y[2 * PART];
      take(x, of_a + l * PITCH_A, ty);
      take(y, of_b + l * EDGE, tx);
#pragma unroll
      for (int i = 0; i < 2 * PART; i++) {
#pragma unroll
        for (int j = 0; j < 2 * PART; j++) {
          sum[i][j] += x[i] * y[j];
        }
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2 * PART; i++) {
    int row = i0 + of_part(i, ty);
    float *at = c + (i64)row * n;
#pragma unroll
    for (int j = 0; j < 2 * PART; j++) {
      int column = j0 + of_part(j, tx);
      if (row < m && column < n) {
        at[column] = (accumulate != 0 ? at[column] : 0.0f) + sum[i][j];
      }
    }
  }
}
