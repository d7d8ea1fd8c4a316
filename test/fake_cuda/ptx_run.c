/* SPDX-License-Identifier: Apache-2.0 */
/* Runs PTX: registers are 64 bits wide, results are cut to their type when they are written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda/ptx_private.h"

typedef struct ptx_run_thread {
  uint64_t *reg;
  uint32_t pc, tid[3];
  bool over;
} ptx_run_thread;

typedef struct block {
  const ptx_machine *machine;
  const ptx_entry *entry;
  const ptx_launch *launch;
  uint32_t ctaid[3];
  uint8_t *shared;
  uint64_t shared_bytes;
  char *why;
  size_t why_size;
} block;

enum { STEPS_AT_MOST = 100000000 };

static uint64_t cut(uint64_t value, ptx_type type) {
  return type.bits >= 64 ? value : value & ((UINT64_C(1) << type.bits) - 1);
}

static int64_t as_signed(uint64_t value, ptx_type type) {
  unsigned gone = 64u - type.bits;
  return (int64_t)(value << gone) >> gone;
}

static double as_double(uint64_t value, ptx_type type) {
  if (type.bits == 32) {
    uint32_t word = (uint32_t)value;
    float f;
    memcpy(&f, &word, sizeof f);
    return (double)f;
  }
  double d;
  memcpy(&d, &value, sizeof d);
  return d;
}

static uint64_t from_double(double d, ptx_type type) {
  if (type.bits == 32) {
    float f = (float)d;
    uint32_t word;
    memcpy(&word, &f, sizeof word);
    return word;
  }
  uint64_t value;
  memcpy(&value, &d, sizeof value);
  return value;
}

static uint64_t special(const block *b, const ptx_run_thread *t, uint32_t index) {
  uint32_t i = index % 3;
  switch (index - i) {
    case PTX_TID:
      return t->tid[i];
    case PTX_NTID:
      return b->launch->block[i];
    case PTX_CTAID:
      return b->ctaid[i];
    case PTX_NCTAID:
      return b->launch->grid[i];
    default:
      return b->machine->clock();
  }
}

static uint64_t value_of(const block *b, const ptx_run_thread *t, const ptx_operand *o) {
  switch (o->kind) {
    case PTX_REG:
      return t->reg[o->index];
    case PTX_SPECIAL:
      return special(b, t, o->index);
    default:
      return o->value;
  }
}

static bool compare(const ptx_instruction *x, uint64_t a, uint64_t b) {
  int order; /* 2: not comparable */
  if (x->type.kind == 'f') {
    double p = as_double(a, x->type), q = as_double(b, x->type);
    order = p < q ? -1 : p > q ? 1 : p == q ? 0 : 2;
  } else if (x->type.kind == 's') {
    int64_t p = as_signed(a, x->type), q = as_signed(b, x->type);
    order = p < q ? -1 : p > q;
  } else {
    uint64_t p = cut(a, x->type), q = cut(b, x->type);
    order = p < q ? -1 : p > q;
  }
  switch (x->cmp) {
    case PTX_EQ:
      return order == 0;
    case PTX_NE:
      return order != 0 && order != 2;
    case PTX_LT:
      return order == -1;
    case PTX_LE:
      return order == -1 || order == 0;
    case PTX_GT:
      return order == 1;
    default:
      return order == 0 || order == 1;
  }
}

static uint64_t float_result(const ptx_instruction *x, const uint64_t *v) {
  double a = as_double(v[0], x->type), b = as_double(v[1], x->type);
  if (x->type.bits == 32 && x->op == PTX_FMA) {
    return from_double((double)__builtin_fmaf((float)a, (float)b, (float)as_double(v[2], x->type)),
                       x->type);
  }
  switch (x->op) {
    case PTX_ADD:
      return from_double(a + b, x->type);
    case PTX_SUB:
      return from_double(a - b, x->type);
    case PTX_MUL_LO:
      return from_double(a * b, x->type);
    case PTX_DIV:
      return from_double(a / b, x->type);
    case PTX_FMA:
      return from_double(__builtin_fma(a, b, as_double(v[2], x->type)), x->type);
    case PTX_NEG:
      return from_double(-a, x->type);
    case PTX_MIN:
      return from_double(a < b ? a : b, x->type);
    default:
      return from_double(a > b ? a : b, x->type);
  }
}

static uint64_t wide(const ptx_instruction *x, const uint64_t *v) {
  if (x->type.kind == 's') {
    return (uint64_t)(as_signed(v[0], x->type) * as_signed(v[1], x->type));
  }
  return cut(v[0], x->type) * cut(v[1], x->type);
}

static uint64_t high(const ptx_instruction *x, uint64_t a, uint64_t b) {
  __extension__ typedef unsigned __int128 u128;
  __extension__ typedef __int128 s128;
  if (x->type.kind == 's') {
    s128 product = (s128)as_signed(a, x->type) * as_signed(b, x->type);
    return (uint64_t)(product >> x->type.bits);
  }
  return (uint64_t)((u128)cut(a, x->type) * cut(b, x->type) >> x->type.bits);
}

static uint64_t quotient(const ptx_instruction *x, uint64_t a, uint64_t b) {
  bool div = x->op == PTX_DIV;
  if (cut(b, x->type) == 0) {
    return UINT64_MAX;
  }
  if (x->type.kind == 's') {
    int64_t p = as_signed(a, x->type), q = as_signed(b, x->type);
    if (q == -1) {
      return div ? 0 - a : 0;
    }
    return (uint64_t)(div ? p / q : p % q);
  }
  return div ? cut(a, x->type) / cut(b, x->type) : cut(a, x->type) % cut(b, x->type);
}

static uint64_t integer_result(const ptx_instruction *x, const uint64_t *v) {
  bool is_signed = x->type.kind == 's';
  bool less = is_signed ? as_signed(v[0], x->type) < as_signed(v[1], x->type)
                        : cut(v[0], x->type) < cut(v[1], x->type);
  uint32_t shift = (uint32_t)v[1];
  switch (x->op) {
    case PTX_ADD:
      return v[0] + v[1];
    case PTX_SUB:
      return v[0] - v[1];
    case PTX_MUL_LO:
      return v[0] * v[1];
    case PTX_MUL_HI:
      return high(x, v[0], v[1]);
    case PTX_MUL_WIDE:
      return wide(x, v);
    case PTX_MAD_LO:
      return v[0] * v[1] + v[2];
    case PTX_MAD_WIDE:
      return wide(x, v) + v[2];
    case PTX_DIV:
    case PTX_REM:
      return quotient(x, v[0], v[1]);
    case PTX_AND:
      return v[0] & v[1];
    case PTX_OR:
      return v[0] | v[1];
    case PTX_XOR:
      return v[0] ^ v[1];
    case PTX_NOT:
      return ~v[0];
    case PTX_NEG:
      return 0 - v[0];
    case PTX_SHL:
      return shift >= x->type.bits ? 0 : v[0] << shift;
    case PTX_SHR:
      if (is_signed) {
        return (uint64_t)(as_signed(v[0], x->type) >>
                          (shift >= x->type.bits ? x->type.bits - 1u : shift));
      }
      return shift >= x->type.bits ? 0 : cut(v[0], x->type) >> shift;
    case PTX_MIN:
      return less ? v[0] : v[1];
    case PTX_MAX:
      return less ? v[1] : v[0];
    default:
      return v[0]; /* mov */
  }
}

static uint64_t convert(const ptx_instruction *x, uint64_t value) {
  bool to_float = x->type.kind == 'f', from_float = x->from.kind == 'f';
  if (from_float) {
    double d = as_double(value, x->from);
    return to_float              ? from_double(d, x->type)
           : x->type.kind == 's' ? (uint64_t)(int64_t)d
                                 : (uint64_t)d;
  }
  uint64_t wider = x->from.kind == 's' ? (uint64_t)as_signed(value, x->from) : cut(value, x->from);
  if (to_float) {
    return from_double(x->from.kind == 's' ? (double)(int64_t)wider : (double)wider, x->type);
  }
  return wider;
}

/* Returns the host's address of an access, or NULL with a reason. */
static uint8_t *locate(const block *b, const ptx_instruction *x, uint64_t address, bool write) {
  uint64_t size = x->type.bits / 8u;
  uint8_t *bytes = NULL;
  if (address % size != 0) {
    (void)snprintf(b->why, b->why_size, "line %u: address 0x%llx is not aligned to %u", x->line,
                   (unsigned long long)address, (unsigned)size);
    return NULL;
  }
  if (x->space == PTX_GENERIC && address >= PTX_SHARED_WINDOW) {
    address -= PTX_SHARED_WINDOW;
    bytes = address + size <= b->shared_bytes ? b->shared + address : NULL;
  } else if (x->space == PTX_SHARED) {
    bytes = address <= b->shared_bytes && size <= b->shared_bytes - address ? b->shared + address
                                                                            : NULL;
  } else {
    bytes = b->machine->translate(address, size);
  }
  if (bytes == NULL) {
    (void)snprintf(b->why, b->why_size, "'%s' line %u: %s of %u bytes at 0x%llx", b->entry->name,
                   x->line, write ? "write" : "read", (unsigned)size, (unsigned long long)address);
  }
  return bytes;
}

/* The operand with the address is the last one of a load, the first one of a store. */
static bool access(block *b, ptx_run_thread *t, const ptx_instruction *x) {
  bool store = x->op == PTX_ST;
  const ptx_operand *at = &x->operand[store ? 0 : x->n - 1];
  uint64_t address = (at->based ? t->reg[at->index] : 0) + at->value;
  uint32_t size = x->type.bits / 8u;
  for (uint32_t i = 0; i < x->width; i++, address += size) {
    const ptx_operand *value = &x->operand[store ? i + 1 : i];
    uint64_t word = 0;
    if (x->space == PTX_PARAM) {
      uint64_t param = b->launch->params[address / 8] >> (address % 8 * 8);
      t->reg[value->index] = cut(param, x->type);
      continue;
    }
    uint8_t *bytes = locate(b, x, address, store);
    if (bytes == NULL) {
      return false;
    }
    if (store) {
      word = value_of(b, t, value);
      memcpy(bytes, &word, size); /* little-endian */
    } else {
      memcpy(&word, bytes, size);
      bool sign = x->type.kind == 's';
      t->reg[value->index] = sign ? (uint64_t)as_signed(word, x->type) : word;
    }
  }
  return true;
}

static uint64_t calculate(const block *b, const ptx_run_thread *t, const ptx_instruction *x) {
  uint64_t v[PTX_OPERANDS] = {0};
  for (uint32_t i = 1; i < x->n; i++) {
    v[i - 1] = value_of(b, t, &x->operand[i]);
  }
  switch (x->op) {
    case PTX_SETP:
      return compare(x, v[0], v[1]);
    case PTX_SELP:
      return cut(v[2] != 0 ? v[0] : v[1], x->type);
    case PTX_CVT:
      return cut(convert(x, v[0]), x->type);
    case PTX_CVTA:
      return x->space == PTX_SHARED
                 ? v[0] + (x->to_space ? 0 - PTX_SHARED_WINDOW : PTX_SHARED_WINDOW)
                 : v[0];
    case PTX_MUL_WIDE:
    case PTX_MAD_WIDE:
      return cut(integer_result(x, v), (ptx_type){x->type.kind, (uint8_t)(2 * x->type.bits)});
    default:
      if (x->type.kind == 'f' && x->op != PTX_MOV) {
        return float_result(x, v);
      }
      return cut(integer_result(x, v), x->type);
  }
}

/* Runs a thread up to a barrier or to its end. */
static bool run_thread(block *b, ptx_run_thread *t) {
  for (uint32_t steps = 0; steps < STEPS_AT_MOST; steps++) {
    const ptx_instruction *x = &b->entry->instruction[t->pc++];
    if (x->guarded && (t->reg[x->guard] != 0) == x->guard_not) {
      continue;
    }
    switch (x->op) {
      case PTX_BRA:
        t->pc = x->operand[0].index;
        break;
      case PTX_BAR:
        return true;
      case PTX_RET:
        t->over = true;
        return true;
      case PTX_LD:
      case PTX_ST:
        if (!access(b, t, x)) {
          return false;
        }
        break;
      default:
        t->reg[x->operand[0].index] = calculate(b, t, x);
    }
  }
  (void)snprintf(b->why, b->why_size, "'%s' does not come to an end", b->entry->name);
  return false;
}

static bool run_block(block *b, ptx_run_thread *threads, uint32_t n, uint64_t *seed) {
  for (uint32_t left = n; left > 0;) {
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    uint32_t first = (uint32_t)(*seed >> 33) % n;
    bool down = (*seed >> 62 & 1) != 0;
    left = 0;
    for (uint32_t i = 0; i < n; i++) {
      ptx_run_thread *t = &threads[(first + (down ? n - 1 - i : i)) % n];
      if (!t->over && !run_thread(b, t)) {
        return false;
      }
      left += !t->over;
    }
  }
  return true;
}

static void set_thread(ptx_run_thread *t, const ptx_launch *l, uint32_t index, uint64_t *reg) {
  *t = (ptx_run_thread){.reg = reg,
                        .tid = {index % l->block[0], index / l->block[0] % l->block[1],
                                index / l->block[0] / l->block[1]}};
}

bool ptx_run(const ptx_machine *machine, const ptx_entry *entry, const ptx_launch *l, char *why,
             size_t size) {
  uint32_t n = l->block[0] * l->block[1] * l->block[2];
  uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
  block b = {.machine = machine, .entry = entry, .launch = l, .why = why, .why_size = size};
  b.shared_bytes = (uint64_t)entry->shared_bytes + l->shared_bytes;
  ptx_run_thread *threads = malloc(n * sizeof *threads);
  uint64_t *regs = malloc(((size_t)n * entry->n_registers + 1) * sizeof *regs);
  uint64_t seed = machine->seed;
  b.shared = malloc(b.shared_bytes + 1);
  bool done = true;
  for (uint64_t i = 0; i < blocks && done; i++) {
    b.ctaid[0] = (uint32_t)(i % l->grid[0]);
    b.ctaid[1] = (uint32_t)(i / l->grid[0] % l->grid[1]);
    b.ctaid[2] = (uint32_t)(i / l->grid[0] / l->grid[1]);
    memset(regs, 0xA5, (size_t)n * entry->n_registers * sizeof *regs);
    memset(b.shared, 0x5A, b.shared_bytes);
    for (uint32_t t = 0; t < n; t++) {
      set_thread(&threads[t], l, t, regs + (size_t)t * entry->n_registers);
    }
    done = run_block(&b, threads, n, &seed);
  }
  free(b.shared);
  free(regs);
  free(threads);
  return done;
}
