/* SPDX-License-Identifier: Apache-2.0 */
#include "search/tiny_spills.h"

#include <stdarg.h>
#include <stdio.h>

#include "kit/context.h"

static void put(tiny_script *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(tiny_script *s, const char *format, ...) {
  va_list args;
  va_start(args, format);
  s->n += (size_t)vsnprintf(s->text + s->n, TINY_TEXT - s->n, format, args);
  va_end(args);
  ck_assert_uint_lt(s->n, TINY_TEXT);
}

/* Draws what ops access; the capacity is what the largest of them needs, and now and then more. */
static void draw_accesses(tiny_script *s, bool scratch) {
  s->n_in = fs_rng_below(&s->rng, 3);
  s->n_ops = (uint32_t)fs_min(3 + fs_rng_below(&s->rng, 3), TINY_BUFFERS - s->n_in);
  s->n_ops = (uint32_t)fs_min(s->n_ops, TINY_OPS);
  for (uint32_t i = 0; i < s->n_in + s->n_ops; i++) {
    s->size[i] = 1 + fs_rng_below(&s->rng, 4);
  }
  for (uint32_t k = 0; k < s->n_ops; k++) {
    uint32_t need = s->size[s->n_in + k];
    for (uint32_t b = 0; b < s->n_in + k && s->n_args[k] < 3; b++) {
      if (fs_rng_one_in(&s->rng, 2)) {
        need += s->size[b];
        s->tag[k][s->n_args[k]] = fs_rng_below(&s->rng, 8);
        s->arg[k][s->n_args[k]++] = b;
      }
    }
    s->scratch[k] = scratch && fs_rng_one_in(&s->rng, 2) ? 1 + fs_rng_below(&s->rng, 2) : 0;
    s->capacity = (uint32_t)fs_max(s->capacity, need + s->scratch[k]);
  }
  s->capacity += fs_rng_one_in(&s->rng, 2) ? 0 : 1 + fs_rng_below(&s->rng, 2);
}

static void put_target(tiny_script *s, bool counted) {
  put(s, "fsched: 1\nname: tiny\ntarget:\n  queues: [{name: q}%s, {name: d, class: copy}]\n",
      fs_rng_one_in(&s->rng, 2) ? ", {name: r}" : "");
  put(s, "  memories:\n    - {name: m, capacity: %u, placement: %s, backing: far, spill: {on: %s, ",
      s->capacity, counted ? "counted" : "contiguous",
      fs_rng_one_in(&s->rng, 4) ? "compute" : "copy");
  put(s, "write: {fixed: %u}, ", 1 + fs_rng_below(&s->rng, 3));
  put(s, "read: {fixed: %u}}}\n    - {name: far}\n", 1 + fs_rng_below(&s->rng, 3));
}

static void put_ops(tiny_script *s) {
  static const char *const tag[] = {"in", "in", "in", "in", "in", "in", "inout", "out_existing"};
  put(s, "ops:\n");
  for (uint32_t k = 0; k < s->n_ops; k++) {
    put(s, "  - {name: o%u, on: %s, time: %u", k, fs_rng_one_in(&s->rng, 6) ? "copy" : "compute",
        1 + fs_rng_below(&s->rng, 4));
    if (s->scratch[k] > 0) {
      put(s, ", scratch: {m: %u}", s->scratch[k]);
    }
    if (k > 0 && fs_rng_one_in(&s->rng, 3)) {
      put(s, ", after: [o%u]", fs_rng_below(&s->rng, k));
    }
    put(s, ", args: [");
    for (uint32_t i = 0; i < s->n_args[k]; i++) {
      put(s, "{%s: b%u}, ", tag[s->tag[k][i]], s->arg[k][i]);
    }
    put(s, "{out: b%u}]}\n", s->n_in + k);
  }
}

fsched_graph *fs_tiny_graph(tiny_script *s, uint64_t seed) {
  static const char *const io[] = {"", "", "", ", io: output"};
  fsched_graph *g;
  *s = (tiny_script){.rng = {seed}};
  bool counted = fs_rng_one_in(&s->rng, 2);
  draw_accesses(s, counted); /* the search through states gives scratch no addresses */
  if (s->capacity > 14) {
    return NULL;
  }
  put_target(s, counted);
  put(s, "buffers:\n");
  for (uint32_t b = 0; b < s->n_in + s->n_ops; b++) {
    put(s, "  - {name: b%u, size: %u%s}\n", b, s->size[b],
        b >= s->n_in                ? io[fs_rng_below(&s->rng, 4)]
        : fs_rng_one_in(&s->rng, 3) ? ", io: state"
                                    : ", io: input");
  }
  put_ops(s);
  fs_status status = fsched_graph_parse(ctx, "t", s->text, s->n, NULL, &g);
  ck_assert_msg(status == FSCHED_OK, "%s\n%s", fs_test_diags(ctx), s->text);
  return g;
}
