/* SPDX-License-Identifier: Apache-2.0 */
/* PTX on the processor: enough of it for what compilers make of integer kernels and of plain
 * floating-point ones.
 *
 * A text is read once; a launch runs block by block.  The threads of a block run one after the
 * other up to the next barrier, in an order that the seed gives, so that a missing barrier shows.
 * Every access to memory outside of a block goes through `translate`. */
#ifndef FAKE_CUDA_PTX_H
#define FAKE_CUDA_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTX_NAME = 64, PTX_PARAMS = 32, PTX_OPERANDS = 6 };

typedef struct ptx_module ptx_module;
typedef struct ptx_entry ptx_entry;

/* Returns NULL, with the reason in `why`, when the text is not understood. */
ptx_module *ptx_read(const char *text, char *why, size_t size);
void ptx_drop(ptx_module *module);

/* Returns NULL if there is no entry of that name. */
const ptx_entry *ptx_find(const ptx_module *module, const char *name);
/* Returns the size of the i-th parameter, 0 past the last one. */
uint32_t ptx_param_bytes(const ptx_entry *entry, uint32_t i);

typedef struct ptx_machine {
  /* Returns where the host has bytes [address, address + size); NULL: they do not exist. */
  uint8_t *(*translate)(uint64_t address, uint64_t size);
  uint64_t (*clock)(void); /* ns */
  uint64_t seed;
} ptx_machine;

typedef struct ptx_launch {
  uint32_t grid[3], block[3];
  uint32_t shared_bytes; /* dynamic */
  uint64_t params[PTX_PARAMS];
} ptx_launch;

/* Returns false, with the reason, when the kernel does what it may not. */
bool ptx_run(const ptx_machine *machine, const ptx_entry *entry, const ptx_launch *launch,
             char *why, size_t size);

#endif
