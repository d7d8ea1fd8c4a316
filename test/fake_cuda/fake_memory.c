/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the device is memory of the host between guards, under addresses that the host cannot
 * use.  New memory has arbitrary content. */
#include <stdlib.h>
#include <string.h>

#include "fake_cuda/fake_private.h"

enum { GUARD = 256, GUARD_BYTE = 0xC5 };
#define DEVICE_BIT UINT64_C(0x0100000000000000)

memory *memory_new(object_kind kind, uint64_t size) {
  if (kind == KIND_MEMORY) {
    if (size > fake.controls.memory - fake.used) {
      return NULL;
    }
    fake.used += size;
  }
  memory *m = new_object(kind, sizeof *m);
  void *block = NULL;
  uint64_t whole = (size + 2 * GUARD + GUARD - 1) / GUARD * GUARD;
  if (posix_memalign(&block, GUARD, whole) != 0) {
    abort();
  }
  m->block = block;
  m->size = size;
  memset(m->block, GUARD_BYTE, whole);
  memset(m->block + GUARD, (int)draw(256), size);
  m->address = (uint64_t)(uintptr_t)(m->block + GUARD);
  if (kind == KIND_MEMORY) {
    m->address |= DEVICE_BIT;
  }
  m->next = fake.memories;
  fake.memories = m;
  return m;
}

bool memory_drop(memory *m) {
  bool whole = true;
  for (uint32_t i = 0; i < GUARD; i++) {
    whole = whole && m->block[i] == GUARD_BYTE && m->block[GUARD + m->size + i] == GUARD_BYTE;
  }
  fake.used -= m->base.kind == KIND_MEMORY ? m->size : 0;
  m->base.live = false;
  memory **link = &fake.memories;
  while (*link != m) {
    link = &(*link)->next;
  }
  *link = m->next;
  free(m->block);
  m->block = NULL;
  return whole;
}

memory *memory_at(object_kind kind, uint64_t address) {
  memory *m = fake.memories;
  while (m != NULL && (m->base.kind != kind || m->address != address)) {
    m = m->next;
  }
  return m;
}

uint8_t *memory_bytes(uint64_t address, uint64_t size) {
  for (memory *m = fake.memories; m != NULL; m = m->next) {
    if (address >= m->address && address - m->address <= m->size &&
        size <= m->size - (address - m->address)) {
      return m->block + GUARD + (address - m->address);
    }
  }
  return NULL;
}
