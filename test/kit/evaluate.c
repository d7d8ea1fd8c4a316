/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/evaluate.h"

#include <stdlib.h>
#include <string.h>

#include "fsched/graph.h"

/* --- the built-in mix: numbers from bytes, and bytes from numbers --- */

static uint64_t turn(uint64_t x, unsigned left) { return (x << left) + (x >> (64 - left)); }

static uint64_t stir(uint64_t x) {
  x = (x ^ (x >> 31)) * UINT64_C(0xD6E8FEB86659FD93);
  return x ^ (x >> 30);
}

static const uint64_t golden = UINT64_C(0x9E3779B97F4A7C15);

static uint64_t pair(uint64_t a, uint64_t b) { return stir(turn(a, 23) + b * golden); }

/* Reads a little-endian number; bytes beyond the end count as 0. */
static uint64_t word_at(const uint8_t *p, uint64_t at, uint64_t n) {
  uint64_t word = 0;
  for (uint64_t i = 8; i-- > 0;) {
    word = word << 8 | (at + i < n ? p[at + i] : 0);
  }
  return word;
}

/* The i-th word of a range goes into the i-th of four lanes, round and round. */
static uint64_t number_of(uint64_t seed, const uint8_t *p, uint64_t n) {
  uint64_t lane[4];
  for (unsigned i = 0; i < 4; i++) {
    lane[i] = seed + i * golden;
  }
  for (uint64_t at = 0; at < n; at += 8) {
    uint64_t *x = &lane[at / 8 % 4];
    *x = turn((*x ^ word_at(p, at, n)) * UINT64_C(0xA0761D6478BD642F), 29);
  }
  uint64_t number = pair(seed, n);
  for (unsigned i = 0; i < 4; i++) {
    number = pair(number, lane[i]);
  }
  return number;
}

static void bytes_of(uint64_t seed, uint8_t *p, uint64_t n) {
  uint64_t start = stir(seed);
  for (uint64_t at = 0; at < n; at++) {
    p[at] = (uint8_t)(stir(start + (at / 8 + 1) * golden) >> at % 8 * 8);
  }
}

static uint64_t number_of_name(const char *kind, const char *name) {
  uint64_t salt = 0;
  for (unsigned i = 0; i < 8; i++) {
    salt = salt << 8 | (i < strlen(kind) ? (uint8_t)kind[i] : 0);
  }
  return number_of(salt, (const uint8_t *)name, strlen(name));
}

/* --- ops --- */

typedef struct operand {
  const fs_stream_arg *arg;
  fs_evaluated at;            /* the version's, from the arg's first byte on */
  const fs_stream_view *view; /* NULL: a range */
  uint64_t n;                 /* bytes of the range, or of all elements */
} operand;

/* Where the i-th byte is, of a view in the order of its elements. */
static uint64_t place(const operand *x, uint64_t i) {
  if (x->view == NULL) {
    return i;
  }
  uint64_t at = i % x->view->element, rest = i / x->view->element;
  for (uint32_t d = x->view->n_dims; d-- > 0;) {
    at += rest % x->view->shape[d] * x->view->stride[d];
    rest /= x->view->shape[d];
  }
  return at;
}

static uint8_t *gather(const operand *x) {
  uint8_t *bytes = malloc(x->n + 1);
  for (uint64_t i = 0; i < x->n; i++) {
    bytes[i] = x->at.data[place(x, i)];
  }
  return bytes;
}

static void scatter(const operand *x, const uint8_t *bytes) {
  for (uint64_t i = 0; i < x->n; i++) {
    x->at.data[place(x, i)] = bytes[i];
  }
}

static bool reads(const fs_stream_arg *a) { return a->tag == FSCHED_IN || a->tag == FSCHED_INOUT; }
static bool writes(const fs_stream_arg *a) {
  return a->tag == FSCHED_OUT || a->tag == FSCHED_INOUT || a->tag == FSCHED_OUT_EXISTING;
}

/* A kernel's block of parameters, of hexadecimal digits; they count like more of the name. */
static uint64_t with_params(uint64_t number, const char *digits) {
  uint8_t bytes[2048];
  uint64_t n = strlen(digits) / 2;
  for (uint64_t i = 0; i < n; i++) {
    char two[3] = {digits[2 * i], digits[2 * i + 1], '\0'};
    bytes[i] = (uint8_t)strtoul(two, NULL, 16);
  }
  return pair(number, number_of(UINT64_C(0x706172616D730000), bytes, n));
}

/* `member`: -1: the op has one list of args. */
static void mix(const char *name, const char *params, int64_t member, const operand *x,
                uint32_t n) {
  uint64_t number = number_of_name("output", name);
  number = params == NULL ? number : with_params(number, params);
  number = member < 0 ? number : pair(number, UINT64_C(0x6D656D6265720000) + (uint64_t)member);
  for (uint32_t i = 0; i < n; i++) {
    if (x[i].arg->tag == FSCHED_VALUE) {
      number = pair(number, pair(i, (uint64_t)x[i].arg->value));
    } else if (reads(x[i].arg)) {
      uint8_t *bytes = gather(&x[i]);
      number = pair(number, number_of(i, bytes, x[i].n));
      free(bytes);
    }
  }
  for (uint32_t i = 0; i < n; i++) {
    if (writes(x[i].arg)) {
      uint8_t *bytes = malloc(x[i].n + 1);
      bytes_of(pair(number, i), bytes, x[i].n);
      scatter(&x[i], bytes);
      free(bytes);
    }
  }
}

static void copy(const operand *x, uint32_t n) {
  const operand *from = NULL, *to = NULL;
  for (uint32_t i = 0; i < n; i++) {
    from = x[i].arg->tag == FSCHED_IN ? &x[i] : from;
    to = writes(x[i].arg) ? &x[i] : to;
  }
  if (from == NULL || to == NULL) {
    return; /* whoever runs it refuses it */
  }
  uint8_t *held = gather(from), *bytes = malloc(to->n + 1);
  for (uint64_t i = 0; i < to->n; i++) {
    bytes[i] = i < from->n ? held[i] : 0;
  }
  scatter(to, bytes);
  free(bytes);
  free(held);
}

static fs_evaluated make(uint64_t size) {
  fs_evaluated e = {calloc(size + 1, 1), calloc(size + 1, 1)};
  return e;
}

static void drop(fs_evaluated *e) {
  free(e->data);
  free(e->defined);
  *e = (fs_evaluated){NULL, NULL};
}

static fs_evaluated from(const fs_evaluated *e, const fs_stream_arg *a) {
  return (fs_evaluated){e->data + a->offset, e->defined + a->offset};
}

/* Finds the op's operands; `next` holds the versions that the op starts. */
static void find_operands(const fs_stream *s, const fs_stream_op *op, fs_evaluated *now,
                          fs_evaluated *next, operand *x) {
  for (uint32_t i = 0; i < op->n_args; i++) {
    const fs_stream_arg *a = &s->args[op->arg0 + i];
    bool starts =
        a->tag == FSCHED_OUT || (a->tag == FSCHED_OUT_EXISTING && now[a->buffer].data == NULL);
    if (starts && next[a->buffer].data == NULL) {
      next[a->buffer] = make(s->buffers[a->buffer].size);
    }
  }
  for (uint32_t i = 0; i < op->n_args; i++) {
    const fs_stream_arg *a = &s->args[op->arg0 + i];
    x[i] = (operand){a, {NULL, NULL}, NULL, a->length};
    for (uint32_t k = 0; k < s->n_views; k++) {
      x[i].view = s->views[k].arg == op->arg0 + i ? &s->views[k] : x[i].view;
    }
    if (x[i].view != NULL) {
      x[i].n = x[i].view->element;
      for (uint32_t d = 0; d < x[i].view->n_dims; d++) {
        x[i].n *= x[i].view->shape[d];
      }
    }
    if (reads(a) || writes(a)) {
      bool starts = a->tag == FSCHED_OUT || now[a->buffer].data == NULL;
      fs_evaluated *of = starts ? &next[a->buffer] : &now[a->buffer];
      if (of->data == NULL) {
        *of = make(s->buffers[a->buffer].size); /* this is read and never written */
      }
      x[i].at = from(of, a);
    }
  }
}

static bool all_defined(const operand *x, uint32_t n) {
  bool all = true;
  for (uint32_t i = 0; i < n; i++) {
    for (uint64_t b = 0; reads(x[i].arg) && b < x[i].n; b++) {
      all = all && x[i].at.defined[place(&x[i], b)] != 0;
    }
  }
  return all;
}

static void run_call(const fs_stream *s, const fs_stream_op *op, int64_t member, const operand *x,
                     uint32_t n) {
  const char *kernel =
      op->kernel == FS_NONE ? "mix" : fs_stream_string(s, s->kernels[op->kernel].builtin);
  bool known = all_defined(x, n);
  if (strcmp(kernel, "nop") == 0) {
    return;
  }
  if (strcmp(kernel, "copy") == 0) {
    copy(x, n);
  } else {
    const char *params =
        op->kernel == FS_NONE ? NULL : fs_stream_string(s, s->kernels[op->kernel].params);
    mix(fs_stream_string(s, op->name), params, member, x, n);
  }
  for (uint32_t i = 0; i < n; i++) {
    for (uint64_t b = 0; writes(x[i].arg) && b < x[i].n; b++) {
      x[i].at.defined[place(&x[i], b)] = known;
    }
  }
}

/* Runs the members in turn, the last one first, as they do not touch what others write. */
static void run_op(const fs_stream *s, const fs_stream_op *op, const operand *x) {
  if (op->n_members == 0) {
    run_call(s, op, -1, x, op->n_args);
  }
  for (uint32_t left = op->n_args, m = op->n_members; m-- > 0;) {
    uint32_t n = s->members[op->member0 + m].n_args;
    left -= n;
    run_call(s, op, m, x + left, n);
  }
}

/* --- the order --- */

typedef struct evaluation {
  const fs_stream *s;
  uint32_t *first; /* per op: of its operands */
  operand *x;
  bool *done;
} evaluation;

static bool writes_byte(const operand *x, uint32_t n, const uint8_t *byte) {
  bool found = false;
  for (uint32_t i = 0; i < n; i++) {
    bool inside = writes(x[i].arg) && byte >= x[i].at.data &&
                  byte - x[i].at.data < (ptrdiff_t)x[i].arg->length;
    for (uint64_t b = 0; inside && !found && b < x[i].n; b++) {
      found = x[i].at.data + place(&x[i], b) == byte;
    }
  }
  return found;
}

/* Whether the op that writes the byte last in program order before `op` has run. */
static bool byte_is_there(const evaluation *e, uint32_t op, const uint8_t *byte) {
  for (uint32_t p = op; p-- > 0;) {
    if (writes_byte(e->x + e->first[p], e->s->ops[p].n_args, byte)) {
      return e->done[p];
    }
  }
  return true;
}

static bool may_run(const evaluation *e, uint32_t op) {
  const fs_stream_op *o = &e->s->ops[op];
  bool may = !e->done[op];
  for (uint32_t i = 0; i < o->n_afters; i++) {
    may = may && e->done[e->s->afters[o->after0 + i]];
  }
  for (uint32_t i = 0; may && i < o->n_args; i++) {
    const operand *x = &e->x[e->first[op] + i];
    for (uint64_t k = 0; may && reads(x->arg) && k < x->n; k++) {
      may = byte_is_there(e, op, x->at.data + place(x, k));
    }
  }
  return may;
}

/* With raw hazards `after` may name a later op, so program order may not do. */
static bool in_program_order(const fs_stream *s) {
  bool in = true;
  for (uint32_t op = 0; op < s->n_ops; op++) {
    for (uint32_t i = 0; i < s->ops[op].n_afters; i++) {
      in = in && s->afters[s->ops[op].after0 + i] < op;
    }
  }
  return in || s->meta[0].hazards == FSCHED_HAZARDS_SEQUENTIAL;
}

static void run_all(evaluation *e) {
  bool in_order = in_program_order(e->s);
  for (uint32_t n = 0, op = 0; n < e->s->n_ops; n++) {
    for (op = in_order ? n : 0; !in_order && op + 1 < e->s->n_ops && !may_run(e, op); op++) {
    }
    run_op(e->s, &e->s->ops[op], e->x + e->first[op]);
    e->done[op] = true;
  }
}

static void run_ops(const fs_stream *s, fs_evaluated *now) {
  fs_evaluated *next = calloc(s->n_buffers + 1, sizeof *next);
  fs_evaluated *old = calloc(s->n_versions + s->n_buffers + 1, sizeof *old);
  evaluation e = {.s = s, .first = calloc(s->n_ops + 1, sizeof *e.first)};
  uint32_t n_old = 0;
  for (uint32_t i = 0; i < s->n_ops; i++) {
    e.first[i + 1] = e.first[i] + s->ops[i].n_args;
  }
  e.x = calloc((size_t)e.first[s->n_ops] + 1, sizeof *e.x);
  e.done = calloc(s->n_ops + 1, sizeof *e.done);
  for (uint32_t i = 0; i < s->n_ops; i++) {
    find_operands(s, &s->ops[i], now, next, e.x + e.first[i]);
    for (uint32_t b = 0; b < s->n_buffers; b++) {
      if (next[b].data != NULL) {
        old[n_old++] = now[b];
        now[b] = next[b];
        next[b] = (fs_evaluated){NULL, NULL};
      }
    }
  }
  run_all(&e);
  while (n_old > 0) {
    drop(&old[--n_old]);
  }
  free(e.done);
  free(e.x);
  free(e.first);
  free(old);
  free(next);
}

/* --- invocations --- */

void fs_evaluate_input(uint32_t buffer, uint8_t *data, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    data[i] = (uint8_t)(stir(buffer * 1000003u + i) >> 7);
  }
}

/* Sets what an invocation begins with; state that exists already stays. */
static void give(const fs_stream *s, fs_evaluated *now) {
  for (uint32_t b = 0; b < s->n_buffers; b++) {
    const fs_stream_buffer *x = &s->buffers[b];
    if (x->io == FSCHED_IO_STATE && now[b].data != NULL) {
      continue;
    }
    drop(&now[b]);
    bool given = x->io == FSCHED_IO_INPUT || x->io == FSCHED_IO_CONSTANT;
    if (given || x->io == FSCHED_IO_STATE) {
      now[b] = make(x->size);
      memset(now[b].defined, 1, x->size);
      if (given) {
        fs_evaluate_input(b, now[b].data, x->size);
      } else {
        bytes_of(number_of_name("given", fs_stream_string(s, x->name)), now[b].data, x->size);
      }
    }
  }
}

fs_evaluated *fs_evaluate(const fs_stream *s, uint32_t invocations) {
  fs_evaluated *now = calloc(s->n_buffers + 1, sizeof *now);
  for (uint32_t k = 0; k < invocations; k++) {
    give(s, now);
    run_ops(s, now);
  }
  return now;
}

void fs_evaluate_free(const fs_stream *s, fs_evaluated *e) {
  for (uint32_t b = 0; b < s->n_buffers; b++) {
    drop(&e[b]);
  }
  free(e);
}
