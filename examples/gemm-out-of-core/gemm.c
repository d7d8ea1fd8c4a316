/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of gemm.cu for the CPU: a shared object, gemm.so.
 *
 * gemm_tile(A, B, C, m, n, k, accumulate): C (m by n) = A (m by k) * B (k by n), or C += that; all
 * float32, row by row, without gaps.  Four rows of B at a time pass over a row of C. */
#include <fsched/kernel.h>
#include <stddef.h>

enum { ARG_A, ARG_B, ARG_C, ARG_M, ARG_N, ARG_K, ARG_ACCUMULATE, ARGS };

/* The positive number that a failed op answers, and that `fsched run` shows. */
enum { CAUSE_ARGS = 1 };

__attribute__((visibility("default"))) int gemm_tile(const fsched_kernel_call *call);

static void add_four(float *restrict c, const float *a, const float *restrict b, size_t n) {
  float a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
  for (size_t j = 0; j < n; j++) {
    c[j] += a0 * b[j] + a1 * b[n + j] + a2 * b[2 * n + j] + a3 * b[3 * n + j];
  }
}

static void add_one(float *restrict c, float a, const float *restrict b, size_t n) {
  for (size_t j = 0; j < n; j++) {
    c[j] += a * b[j];
  }
}

static void multiply(const float *a, const float *b, float *c, size_t m, size_t n, size_t k,
                     int accumulate) {
  for (size_t i = 0; i < m; i++, a += k, c += n) {
    size_t l = 0;
    for (size_t j = 0; j < n && !accumulate; j++) {
      c[j] = 0;
    }
    for (; l + 4 <= k; l += 4) {
      add_four(c, a + l, b + l * n, n);
    }
    for (; l < k; l++) {
      add_one(c, a[l], b + l * n, n);
    }
  }
}

static int fits(const fsched_kernel_arg *matrix, uint64_t rows, uint64_t columns) {
  return matrix->data != NULL && matrix->length == rows * columns * sizeof(float);
}

int gemm_tile(const fsched_kernel_call *call) {
  const fsched_kernel_arg *arg = call->args;
  if (call->n_args != ARGS) {
    return CAUSE_ARGS;
  }
  size_t m = (size_t)arg[ARG_M].value, n = (size_t)arg[ARG_N].value, k = (size_t)arg[ARG_K].value;
  if (!fits(&arg[ARG_A], m, k) || !fits(&arg[ARG_B], k, n) || !fits(&arg[ARG_C], m, n)) {
    return CAUSE_ARGS;
  }
  multiply(arg[ARG_A].data, arg[ARG_B].data, arg[ARG_C].data, m, n, k,
           arg[ARG_ACCUMULATE].value != 0);
  return 0;
}
