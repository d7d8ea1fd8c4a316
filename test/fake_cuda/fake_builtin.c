/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in kernels without their text, as running the text takes long: most calls of them are
 * done here, and a few by the text. */
#include <stdlib.h>
#include <string.h>

#include "exec/cuda/kernels/call.h"
#include "exec/host/kernel.h"
#include "fake_cuda/fake_private.h"

enum { MOST_ARGS = 512 };

static uint64_t scramble(uint64_t x) {
  x ^= x >> 31;
  x *= UINT64_C(0xD6E8FEB86659FD93);
  return x ^ x >> 30;
}

static uint64_t join(uint64_t a, uint64_t b) {
  return scramble((a << 23 | a >> 41) + b * UINT64_C(0x9E3779B97F4A7C15));
}

typedef struct fake_builtin_call {
  const fs_cuda_call *head;
  const fs_cuda_arg *arg;
  uint8_t *data[MOST_ARGS]; /* the host's address */
  const fs_cuda_view *view[MOST_ARGS];
} fake_builtin_call;

/* Finds the record of an arg's view; false: it is missing. */
static bool find_view(uint64_t call, uint32_t i, fake_builtin_call *c) {
  uint64_t at = c->arg[i].view;
  c->view[i] =
      at == 0 ? NULL
              : (const fs_cuda_view *)(const void *)memory_bytes(call + at, sizeof(fs_cuda_view));
  return at == 0 || c->view[i] != NULL;
}

/* Where byte i of an arg is. */
static uint8_t *byte_at(const fake_builtin_call *c, uint32_t arg, uint64_t i) {
  const fs_cuda_view *v = c->view[arg];
  if (v == NULL) {
    return c->data[arg] + i;
  }
  uint64_t at = i % v->element, rest = i / v->element;
  for (uint32_t d = v->n_dims; d > 0; d--) {
    at += rest % v->shape[d - 1] * v->stride[d - 1];
    rest /= v->shape[d - 1];
  }
  return c->data[arg] + at;
}

/* The bytes of an arg one behind the other, to be freed. */
static uint8_t *flat_of(const fake_builtin_call *c, uint32_t arg, bool read) {
  uint8_t *flat = malloc(c->arg[arg].length + 1);
  for (uint64_t i = 0; read && i < c->arg[arg].length; i++) {
    flat[i] = *byte_at(c, arg, i);
  }
  return flat;
}

static uint64_t hash_arg(const fake_builtin_call *c, uint32_t arg) {
  if (c->view[arg] == NULL) {
    return fs_hash_bytes(arg, c->data[arg], c->arg[arg].length);
  }
  uint8_t *flat = flat_of(c, arg, true);
  uint64_t h = fs_hash_bytes(arg, flat, c->arg[arg].length);
  free(flat);
  return h;
}

static void fill_arg(const fake_builtin_call *c, uint32_t arg, uint64_t seed) {
  if (c->view[arg] == NULL) {
    fs_fill_bytes(seed, c->data[arg], c->arg[arg].length);
    return;
  }
  uint8_t *flat = flat_of(c, arg, false);
  fs_fill_bytes(seed, flat, c->arg[arg].length);
  for (uint64_t i = 0; i < c->arg[arg].length; i++) {
    *byte_at(c, arg, i) = flat[i];
  }
  free(flat);
}

/* Returns false when something is missing; then the text is run, and reports what. */
static bool find_call(uint64_t address, uint64_t pool, fake_builtin_call *c) {
  c->head = (const fs_cuda_call *)(const void *)memory_bytes(address, sizeof *c->head);
  if (c->head == NULL || c->head->n_args + c->head->n_scratch > MOST_ARGS) {
    return false;
  }
  uint32_t n = c->head->n_args + c->head->n_scratch;
  c->arg = (const fs_cuda_arg *)(const void *)memory_bytes(address + sizeof *c->head,
                                                           n * sizeof(fs_cuda_arg));
  for (uint32_t i = 0; c->arg != NULL && i < n; i++) {
    const fs_cuda_arg *a = &c->arg[i];
    bool used = i >= c->head->n_args || a->reads || a->writes;
    uint64_t data = a->data + (a->pooled ? pool : 0);
    if (used && !find_view(address, i, c)) {
      return false;
    }
    uint64_t span = used && c->view[i] != NULL ? c->view[i]->span : a->length;
    c->data[i] = used && a->length > 0 ? memory_bytes(data, span) : NULL;
    if (used && a->length > 0 && c->data[i] == NULL) {
      return false;
    }
  }
  return c->arg != NULL;
}

static void spoil(const fake_builtin_call *c) {
  for (uint32_t i = 0; i < c->head->n_scratch; i++) {
    uint32_t at = c->head->n_args + i;
    fs_fill_bytes(UINT64_C(0x7363726174636800) + i, c->data[at], c->arg[at].length);
  }
}

static void mix(const fake_builtin_call *c) {
  uint64_t h = c->head->seed;
  spoil(c);
  for (uint32_t i = 0; i < c->head->n_args; i++) {
    if (c->arg[i].has_value) {
      h = join(h, join(i, c->arg[i].value));
    } else if (c->arg[i].reads) {
      h = join(h, hash_arg(c, i));
    }
  }
  for (uint32_t i = 0; i < c->head->n_args; i++) {
    if (c->arg[i].writes) {
      fill_arg(c, i, join(h, i));
    }
  }
  spoil(c);
}

static bool digest(const fake_builtin_call *c) {
  uint64_t h = c->head->kernel;
  uint8_t *to = memory_bytes(c->head->digest, sizeof h);
  for (uint32_t i = 0; i < c->head->n_args; i++) {
    if (c->arg[i].writes) {
      h = join(h, hash_arg(c, i));
    }
  }
  if (to != NULL) {
    memcpy(to, &h, sizeof h);
  }
  return to != NULL;
}

bool run_builtin(const char *name, const ptx_launch *launch) {
  static fake_builtin_call c;
  if (strcmp(name, "fsched_nop") == 0) {
    return true;
  }
  if (strcmp(name, "fsched_pace") == 0) {
    fake.now += launch->params[0];
    return true;
  }
  bool is_mix = strcmp(name, "fsched_mix") == 0;
  if ((!is_mix && strcmp(name, "fsched_digest") != 0) ||
      !find_call(launch->params[0], launch->params[1], &c)) {
    return false;
  }
  if (!is_mix) {
    return digest(&c);
  }
  mix(&c);
  return true;
}
