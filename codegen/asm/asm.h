/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of fsched_program_assemble: asm.c reads target, buffers and ops, asm/commands.c the
 * queues' commands, asm/sync.c barriers and syncs. */
#ifndef FS_ASM_H
#define FS_ASM_H

#include "base/text/fields.h"
#include "model/stream/stream.h"
#include "model/sync.h"

typedef struct fs_asm {
  fs_fields f;
  fs_arena arena;
  uint32_t n_kernels;
  uint32_t used_node; /* says how many physical barriers are used; 0: none does */
  uint32_t last_node; /* names the barrier with the highest number */
  fs_names axis_names, memory_names, resource_names, buffer_names, op_names;
#define FS_ASM_SECTION_(id, type) FS_VEC(type) id;
  FS_STREAM_SECTIONS(FS_ASM_SECTION_)
#undef FS_ASM_SECTION_
} fs_asm;

/* Appends a record; the context is the reader's. */
#define fs_asm_push(a, section, ...) fs_vec_push((a)->f.ctx, &(a)->section, (__VA_ARGS__))

/* The version of a buffer that a node numbers; FS_NONE for no node.  Requires a buffer that was
 * read. */
fs_status fs_asm_version(fs_asm *a, uint32_t buffer, uint32_t node, uint32_t *version) FS_MUST_USE;
/* The commands of one queue, a list. */
fs_status fs_asm_commands(fs_asm *a, uint32_t list) FS_MUST_USE;

/* The key that programs have by their kind of sync: missing where it is wanted, or there where it
 * is not, is an error at its place.  `of`: a kind that has it.  Requires a node of the text, and a
 * value of it or none. */
fs_status fs_asm_only(fs_asm *a, uint32_t node, const char *key, uint32_t value, bool wanted,
                      fs_sync_kind of) FS_MUST_USE;
/* The machine's barriers; the syncs. */
fs_status fs_asm_barriers(fs_asm *a, uint32_t node, fs_stream_meta *m) FS_MUST_USE;
fs_status fs_asm_stops(fs_asm *a, uint32_t list) FS_MUST_USE;
/* A wait before, or an update after, the command `r`; `node` has the word for its kind.  Requires a
 * node of the text. */
fs_status fs_asm_barrier_wait(fs_asm *a, uint32_t node, fs_stream_command *r) FS_MUST_USE;
/* Requires a node of the text. */
fs_status fs_asm_barrier_update(fs_asm *a, uint32_t node, fs_stream_command *r) FS_MUST_USE;
/* All barriers up to the last have been named, and take as many physical ones as was said. */
fs_status fs_asm_barriers_end(fs_asm *a) FS_MUST_USE;

#endif
