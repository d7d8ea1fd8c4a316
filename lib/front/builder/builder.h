/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the builder that the graph file's reader needs beyond the public interface. */
#ifndef FS_BUILDER_H
#define FS_BUILDER_H

#include "base/context.h"
#include "base/names.h"
#include "base/view.h"
#include "fsched/graph.h"

/* Sets the position of what the following calls describe, for diagnostics, including those of
 * finish. */
void fs_builder_locate(fsched_builder *b, fs_pos pos);
/* Another token of the call that follows next: an op's `on`, a memory's `backing`, `spill.on` and
 * `placement`, a queue's `counting`. */
typedef enum fs_builder_part {
  FS_PART_ON,
  FS_PART_BACKING,
  FS_PART_SPILL,
  FS_PART_PLACEMENT,
  FS_PART_COUNTING,
  FS_PART_MEMBERS,
  FS_PARTS
} fs_builder_part;
/* Requires a part of the list. */
void fs_builder_locate_part(fsched_builder *b, fs_builder_part part, fs_pos pos);
/* Notes that some part of the input could not be handed to the builder, and was reported: finish
 * shall fail, and not report errors that may only follow from the missing part. */
void fs_builder_incomplete(fsched_builder *b);
/* fsched_builder_memory and fsched_builder_buffer for the reader: a capacity of 0 counts as a given
 * capacity, `spill_default` tells that `spill_on` is a default and not the user's word, and a
 * buffer's memory is an id, FS_NONE for the default (desc->memory is ignored). */
fs_status fs_builder_add_memory(fsched_builder *b, const fsched_memory_desc *desc,
                                bool spill_default, uint32_t *id) FS_MUST_USE;
fs_status fs_builder_add_buffer(fsched_builder *b, const fsched_buffer_desc *desc, uint32_t memory,
                                uint32_t *id) FS_MUST_USE;
/* Adds a file that was read, for fsched_graph_file.  Requires a path. */
fs_status fs_builder_add_file(fsched_builder *b, const char *path) FS_MUST_USE;
/* Marks a file as the caller's options: for errors in it finish answers FSCHED_USAGE. */
void fs_builder_options_file(fsched_builder *b, uint32_t file);
/* The kinds of entities that are described to the builder; their ids are the builder's. */
typedef enum fs_builder_kind {
  FS_KIND_QUEUE,
  FS_KIND_CLASS,
  FS_KIND_MEMORY,
  FS_KIND_RESOURCE,
  FS_KIND_BUFFER,
  FS_KIND_OP,
  FS_KIND_LOOP,
  FS_KIND_SYNC, /* the target's kind of sync; this kind has no names */
  FS_KINDS
} fs_builder_kind;
/* Notes that some of the user's entities of this kind were lost by an error that was reported.  A
 * name that seems unknown may be one of them, so references that fail are not reported.  Requires a
 * kind of the list. */
void fs_builder_lose(fsched_builder *b, fs_builder_kind kind);
/* Requires a kind of the list. */
bool fs_builder_lost(const fsched_builder *b, fs_builder_kind kind);
/* Requires a kind that has names. */
const fs_names *fs_builder_names(const fsched_builder *b, fs_builder_kind kind);
/* The id of a queue's class.  Requires a queue. */
uint32_t fs_builder_class_of(const fsched_builder *b, uint32_t queue);
/* Whether a queue is a thread of the host on every back end.  Requires a queue. */
bool fs_builder_queue_of_host(const fsched_builder *b, uint32_t queue);
/* The context that the builder was made with. */
fsched_context *fs_builder_context(const fsched_builder *b);
/* The name of the graph, as long as the builder. */
const char *fs_builder_name(const fsched_builder *b);
/* Whether there is no buffer, op or loop yet. */
bool fs_builder_has_only_target(const fsched_builder *b);
/* The memory of buffers that name none: the first bounded one, else the first; FS_NONE without
 * memories. */
uint32_t fs_builder_default_memory(const fsched_builder *b);
/* Leaves only what a run without a plan asks for (fsched_read_options.unplanned).  The capacities
 * become fs_memory.described; most_at_once is that of the options.  Requires a builder that is not
 * finished. */
void fs_builder_unplan(fsched_builder *b, uint32_t most_at_once);
/* Whether only data orders ops so far (hazards: raw). */
bool fs_builder_data_only(const fsched_builder *b);
/* Requires a memory. */
bool fs_builder_memory_bounded(const fsched_builder *b, uint32_t memory);
/* The bytes of a memory, FSCHED_UNBOUNDED without a limit, and what it is aligned to.  Requires a
 * memory. */
uint64_t fs_builder_memory_capacity(const fsched_builder *b, uint32_t memory);
uint64_t fs_builder_memory_align(const fsched_builder *b, uint32_t memory);
/* The amount of a resource.  Requires a resource. */
uint64_t fs_builder_resource_capacity(const fsched_builder *b, uint32_t resource);
/* The most ops that may run at one time; 0: no limit. */
uint64_t fs_builder_limit_of_ops(const fsched_builder *b);
/* Reports what is wrong with the description of an op, apart from what it refers to. */
fs_status fs_builder_check_op(fsched_builder *b, const fsched_op_desc *d) FS_MUST_USE;
/* Makes the strided view that an arg describes, from offset 0 on, and says what is wrong with it;
 * NULL: nothing.  Requires dimensions. */
const char *fs_builder_view_fault(const fsched_arg_desc *d, fs_view *v);
/* fsched_builder_kernel for several ops: adds a kernel. */
fs_status fs_builder_add_kernel(fsched_builder *b, const fsched_kernel_desc *desc,
                                uint32_t *kernel) FS_MUST_USE;
/* Says what is wrong with a block of parameters. */
fs_status fs_builder_check_params(fsched_builder *b, const void *params, size_t n) FS_MUST_USE;
/* Adds a kernel like another one, or like `mix` (FS_NONE), with other parameters.  Requires a
 * kernel that was added, or none. */
fs_status fs_builder_vary_kernel(fsched_builder *b, uint32_t like, const void *params, size_t n,
                                 uint32_t *kernel) FS_MUST_USE;
/* Lets an op run a kernel that was added.  Requires an op and a kernel. */
void fs_builder_set_kernel(fsched_builder *b, uint32_t op, uint32_t kernel);
/* That faults were reported, for callers whose user may go on without the call that had one.
 * Rewinding requires (unchecked: the builder keeps no trace of it) that nothing was added to the
 * builder since the mark. */
typedef struct fs_builder_faults {
  bool bad, incomplete;
} fs_builder_faults;
fs_builder_faults fs_builder_mark_faults(const fsched_builder *b);
void fs_builder_rewind_faults(fsched_builder *b, fs_builder_faults mark);
/* Reports a diagnostic of the input, remembers that finish must fail, and returns
 * FSCHED_BAD_INPUT. */
fs_status fs_builder_fail(fsched_builder *b, fs_diag_code code, fs_pos pos, const char *hint,
                          const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
