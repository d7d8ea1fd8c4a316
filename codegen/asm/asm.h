/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of fsched_program_assemble: asm.c reads the target, the buffers and the ops,
 * asm/commands.c the queues' commands, asm/sync.c barriers and syncs. */
#ifndef FS_ASM_H
#define FS_ASM_H

#include "base/text/fields.h"
#include "model/stream/stream.h"
#include "model/sync.h"

typedef struct fs_asm {
  fs_fields f;
  fs_arena arena;
  uint32_t n_kernels;
  uint32_t used_node; /* node with the number of physical barriers in use; 0: no such node */
  uint32_t last_node; /* node that names the barrier with the highest number */
  fs_names axis_names, memory_names, resource_names, buffer_names, op_names;
#define FS_ASM_SECTION_(id, type) FS_VEC(type) id;
  FS_STREAM_SECTIONS(FS_ASM_SECTION_)
#undef FS_ASM_SECTION_
} fs_asm;

/* Appends a record to a section; errors are reported in the reader's context. */
#define fs_asm_push(a, section, ...) fs_vec_push((a)->f.ctx, &(a)->section, (__VA_ARGS__))

/* Sets *version to the version of the buffer whose number the node holds, FS_NONE without a node.
 * Requires a buffer that was read. */
fs_status fs_asm_version(fs_asm *a, uint32_t buffer, uint32_t node, uint32_t *version) FS_MUST_USE;
/* Reads the list of one queue's commands. */
fs_status fs_asm_commands(fs_asm *a, uint32_t list) FS_MUST_USE;

/* Checks the presence of a key that depends on the program's kind of sync.  A key that is missing
 * although it is wanted, or present although it is not, is an error at its place.  `of` is a kind
 * that has the key.  Requires a node of the text, and a value of it or none. */
fs_status fs_asm_only(fs_asm *a, uint32_t node, const char *key, uint32_t value, bool wanted,
                      fs_sync_kind of) FS_MUST_USE;
/* Reads the machine's barriers.  fs_asm_stops reads the list of syncs. */
fs_status fs_asm_barriers(fs_asm *a, uint32_t node, fs_stream_meta *m) FS_MUST_USE;
fs_status fs_asm_stops(fs_asm *a, uint32_t list) FS_MUST_USE;
/* Reads an entry of the list of commands that waits for a barrier before the command `r`.  Requires
 * a node of the text. */
fs_status fs_asm_barrier_wait(fs_asm *a, uint32_t node, fs_stream_command *r) FS_MUST_USE;
/* Reads an entry that updates a barrier after the command `r`.  Requires a node of the text. */
fs_status fs_asm_barrier_update(fs_asm *a, uint32_t node, fs_stream_command *r) FS_MUST_USE;
/* Checks that every barrier up to the last one was named, and that together they take as many
 * physical barriers as the text says. */
fs_status fs_asm_barriers_end(fs_asm *a) FS_MUST_USE;

#endif
