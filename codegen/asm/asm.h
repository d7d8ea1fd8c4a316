/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of fsched_program_assemble: asm.c reads the target, the buffers and the ops,
 * asm/commands.c the queues' commands, asm/sync.c barriers and syncs, asm/views.c strided views,
 * asm/loops.c the loops. */
#ifndef FS_ASM_H
#define FS_ASM_H

#include "base/text/fields.h"
#include "model/stream/views.h"
#include "model/sync.h"

typedef struct fs_asm {
  fs_fields f;
  fs_arena arena;
  uint32_t n_kernels;
  uint32_t used_node; /* node with the number of physical barriers in use; 0: no such node */
  uint32_t last_node; /* node that names the barrier with the highest number */
  FS_VEC(uint32_t) wait_queue; /* per wait of a loop: the queue of its command, or FS_NONE */
  fs_names axis_names, memory_names, resource_names, buffer_names, op_names, param_names;
#define FS_ASM_SECTION_(id, type) FS_VEC(type) id;
  FS_STREAM_SECTIONS(FS_ASM_SECTION_)
#undef FS_ASM_SECTION_
} fs_asm;

/* Appends a record to a section; errors are reported in the reader's context. */
#define fs_asm_push(a, section, ...) fs_vec_push((a)->f.ctx, &(a)->section, (__VA_ARGS__))

/* The field of a table's row in a mapping that has one key for each row. */
#define FS_ASM_FIELD(id, word, ...) {word, false},

/* Appends a text to the strings; without a node, *offset is FS_NONE. */
fs_status fs_asm_string(fs_asm *a, uint32_t node, uint32_t *offset) FS_MUST_USE;
/* Declares the names of a list's mappings before any of them is read. */
fs_status fs_asm_declare(fs_asm *a, fs_names *names, uint32_t list, const char *what) FS_MUST_USE;
fs_status fs_asm_each(fs_asm *a, uint32_t list,
                      fs_status (*read)(fs_asm *a, uint32_t node)) FS_MUST_USE;
/* Finds the tag of an arg among the values of its mapping, of which the tags are the first. */
fs_status fs_asm_tag(fs_asm *a, uint32_t node, const uint32_t *value, uint32_t *tag) FS_MUST_USE;
/* Reads true or false; node FS_NONE: false. */
fs_status fs_asm_flag(fs_asm *a, uint32_t node, bool *out) FS_MUST_USE;
/* Reads whether an arg of this tag begins a value in a slot.  node: FS_NONE if it is not said. */
fs_status fs_asm_begins(fs_asm *a, uint32_t node, uint32_t tag, bool *begins) FS_MUST_USE;
/* Reads [offset, length].  Requires a node of the text. */
fs_status fs_asm_range(fs_asm *a, uint32_t node, uint64_t *offset, uint64_t *length) FS_MUST_USE;
/* Reads the view of an arg, whose range goes up to its last byte.  Requires a node of the text. */
fs_status fs_asm_view(fs_asm *a, uint32_t node, uint32_t arg, uint64_t *offset, uint64_t *length,
                      fs_stream_view *out) FS_MUST_USE;
/* Reads the number of a kernel; without a node, *out is FS_NONE. */
fs_status fs_asm_kernel(fs_asm *a, uint32_t node, uint32_t *out) FS_MUST_USE;
/* Sets *version to the version of the buffer whose number the node holds, FS_NONE without a node.
 * Requires a buffer that was read. */
fs_status fs_asm_version(fs_asm *a, uint32_t buffer, uint32_t node, uint32_t *version) FS_MUST_USE;
/* Reads the list of one queue's commands. */
fs_status fs_asm_commands(fs_asm *a, uint32_t list) FS_MUST_USE;

/* The keys of a place. */
enum {
  FS_ASM_PLACE_BUFFER,
  FS_ASM_PLACE_VERSION,
  FS_ASM_PLACE_SCRATCH,
  FS_ASM_PLACE_SPACE, /* first of one key per space */
  FS_ASM_PLACE_ADDRESS = FS_ASM_PLACE_SPACE + FS_N_SPACES,
  FS_ASM_PLACE_SIZE,
  FS_ASM_PLACE_MODE,
  FS_ASM_PLACE_FIELDS
};
/* Reads a place but for its owner: neither version nor arg is set.  `value` gets the values of its
 * FS_ASM_PLACE_FIELDS keys. */
fs_status fs_asm_place(fs_asm *a, uint32_t node, uint32_t *value, fs_stream_place *p) FS_MUST_USE;
/* Reads a race: one that names a version, or of what loops mean. */
fs_status fs_asm_race(fs_asm *a, uint32_t node) FS_MUST_USE;
/* Reads a parameter. */
fs_status fs_asm_param(fs_asm *a, uint32_t node) FS_MUST_USE;
/* Reads the list of loops.  Requires that the parameters were read. */
fs_status fs_asm_loops(fs_asm *a, uint32_t list) FS_MUST_USE;

/* Checks the presence of a key that depends on the program's kind of sync.  A key that is missing
 * although it is wanted, or present although it is not, is an error at its place.  `of` is a kind
 * that has the key.  Requires a node of the text, and a value of it or none. */
fs_status fs_asm_only(fs_asm *a, uint32_t node, const char *key, uint32_t value, bool wanted,
                      fs_sync_kind of) FS_MUST_USE;
/* Reads the machine's barriers.  fs_asm_stops reads the list of syncs. */
fs_status fs_asm_barriers(fs_asm *a, uint32_t node, fs_stream_meta *m) FS_MUST_USE;
fs_status fs_asm_stops(fs_asm *a, uint32_t list) FS_MUST_USE;
/* Reads the list of syncs of a loop of n commands, into loop_stops.  Requires a node of the text.
 */
fs_status fs_asm_loop_stops(fs_asm *a, uint32_t list, uint32_t n, uint32_t *n_stops) FS_MUST_USE;
/* Reads an entry of the list of commands that waits for a barrier before the command `r`.  Requires
 * a node of the text. */
fs_status fs_asm_barrier_wait(fs_asm *a, uint32_t node, fs_stream_command *r) FS_MUST_USE;
/* Reads an entry that updates a barrier after the command `r`.  Requires a node of the text. */
fs_status fs_asm_barrier_update(fs_asm *a, uint32_t node, fs_stream_command *r) FS_MUST_USE;
/* Checks that every barrier up to the last one was named, and that together they take as many
 * physical barriers as the text says. */
fs_status fs_asm_barriers_end(fs_asm *a) FS_MUST_USE;

#endif
