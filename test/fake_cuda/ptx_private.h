/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions in the form in which they are run. */
#ifndef FAKE_CUDA_PTX_PRIVATE_H
#define FAKE_CUDA_PTX_PRIVATE_H

#include "fake_cuda/ptx.h"

typedef enum ptx_op {
  PTX_ADD,
  PTX_SUB,
  PTX_MUL_LO,
  PTX_MUL_HI,
  PTX_MUL_WIDE,
  PTX_MAD_LO,
  PTX_MAD_WIDE,
  PTX_DIV,
  PTX_REM,
  PTX_AND,
  PTX_OR,
  PTX_XOR,
  PTX_NOT,
  PTX_NEG,
  PTX_SHL,
  PTX_SHR,
  PTX_MIN,
  PTX_MAX,
  PTX_FMA,
  PTX_SETP,
  PTX_SELP,
  PTX_MOV,
  PTX_CVT,
  PTX_CVTA,
  PTX_LD,
  PTX_ST,
  PTX_BRA,
  PTX_BAR,
  PTX_RET
} ptx_op;

typedef enum ptx_space { PTX_GENERIC, PTX_GLOBAL, PTX_SHARED, PTX_PARAM } ptx_space;
typedef enum ptx_cmp { PTX_EQ, PTX_NE, PTX_LT, PTX_LE, PTX_GT, PTX_GE } ptx_cmp;

typedef enum ptx_special {
  PTX_TID,
  PTX_NTID = 3,
  PTX_CTAID = 6,
  PTX_NCTAID = 9,
  PTX_CLOCK = 12,
  PTX_SPECIALS
} ptx_special; /* the first four have x, y and z */

typedef enum ptx_kind { PTX_NONE, PTX_REG, PTX_IMM, PTX_SPECIAL, PTX_LABEL, PTX_AT } ptx_kind;

typedef struct ptx_operand {
  ptx_kind kind;
  uint32_t index; /* register, special, instruction */
  uint64_t value; /* immediate; for an address, what is added to the register, if there is one */
  bool based;
} ptx_operand;

typedef struct ptx_type {
  char kind; /* one of u s b f p */
  uint8_t bits;
} ptx_type;

typedef struct ptx_instruction {
  ptx_op op;
  ptx_cmp cmp;
  ptx_space space;
  ptx_type type, from; /* `from` is the type of a conversion's source */
  uint8_t width;       /* words of a vector access, or 1 */
  bool to_space;       /* cvta.to */
  bool guarded, guard_not;
  uint32_t guard;
  uint32_t n; /* operands */
  ptx_operand operand[PTX_OPERANDS];
  uint32_t line;
} ptx_instruction;

struct ptx_entry {
  char name[PTX_NAME];
  ptx_entry *next;
  uint32_t n_params;
  uint32_t param_bytes[PTX_PARAMS];
  char param_name[PTX_PARAMS][PTX_NAME];
  uint32_t n_registers, n_instructions;
  ptx_instruction *instruction;
  uint32_t shared_bytes; /* static, of the module */
};

/* Shared memory has generic addresses from here on. */
#define PTX_SHARED_WINDOW UINT64_C(0x0200000000000000)

#endif
