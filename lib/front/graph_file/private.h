/* SPDX-License-Identifier: Apache-2.0 */
/* The graph file's reader, for the files of this room: typed access to nodes.  A function that
 * finds a fault reports it at its token and returns false; reading goes on, so that all faults of a
 * file are found in one run.  An fs_status is only for errors that end the reading: no memory, no
 * file. */
#ifndef FS_GRAPH_YAML_PRIVATE_H
#define FS_GRAPH_YAML_PRIVATE_H

#include "base/text/node.h"
#include "front/builder/builder.h"
#include "model/graph.h"

enum { FS_MAX_KEYS = 16 };

typedef struct fs_reader {
  fsched_context *ctx;
  fs_arena *arena; /* documents, until the graph is read */
  fsched_builder *b;
  const fs_doc *doc;
  const char *path; /* of the graph file */
  const fsched_read_options *options;
  bool lacks_file; /* the graph names a file that cannot be read */
} fs_reader;

/* The keys that a mapping may have; `later` marks keys of features that do not exist yet. */
typedef struct fs_key {
  const char *name;
  bool later;
} fs_key;

/* Reports a fault at a node.  Requires a node of the document. */
void fs_read_fail(fs_reader *r, fs_diag_code code, uint32_t node, const char *hint,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Gets the values of a mapping's keys (FS_NONE where absent), and reports other keys that it has.
 * False if the node is not a mapping.  Requires at most FS_MAX_KEYS keys. */
bool fs_read_keys(fs_reader *r, uint32_t node, const char *what, const fs_key *keys, size_t n_keys,
                  uint32_t *value);
/* Reads a list; an empty value is an empty list.  *first is its first item.  Requires a node of the
 * document. */
bool fs_read_list(fs_reader *r, uint32_t node, const char *what, uint32_t *first);
/* Requires a node of the document. */
bool fs_read_name(fs_reader *r, uint32_t node, const char *what, const char **name);
/* Requires a node of the document, and least <= most. */
bool fs_read_number(fs_reader *r, uint32_t node, const char *what, uint64_t least, uint64_t most,
                    uint64_t *value);
/* Reads a number of bytes, with units: 4096, 64KiB, 2MiB, 1GiB.  Requires a node of the
 * document. */
bool fs_read_size(fs_reader *r, uint32_t node, const char *what, uint64_t *value);
/* Reads one of some words; *index is its index among them.  Requires a node of the document, and a
 * word at least. */
bool fs_read_choice(fs_reader *r, uint32_t node, const char *what, const char *const *word,
                    size_t n_words, uint32_t *index);
/* Reads true or false.  Requires a node of the document. */
bool fs_read_flag(fs_reader *r, uint32_t node, const char *what, int *value);
/* Reads a name and finds the id of the entity that it refers to.  Requires a node of the document,
 * and a kind that has names. */
bool fs_read_reference(fs_reader *r, uint32_t node, const char *what, fs_builder_kind kind,
                       uint32_t *id);
/* Requires a node of the document, and a kind that has names. */
void fs_read_unknown(fs_reader *r, uint32_t node, const char *what, fs_builder_kind kind,
                     const char *name);
/* Requires a node of the document. */
void fs_read_locate(fs_reader *r, uint32_t node);
/* Passes on only errors that end the reading; the builder has reported and remembered the
 * others. */
static inline fs_status fs_read_go_on(fs_status status) {
  return status == FSCHED_BAD_INPUT ? FSCHED_OK : status;
}

/* Notes that queues, memories and resources are lost by an error that was reported. */
void fs_read_lose_target(fs_reader *r);

/* Read the sections of the file. */
fs_status fs_read_target(fs_reader *r, uint32_t node) FS_MUST_USE;
fs_status fs_read_overrides(fs_reader *r, fs_doc *doc, uint32_t target) FS_MUST_USE;
fs_status fs_read_buffers(fs_reader *r, uint32_t buffers, uint32_t ops, uint32_t loops) FS_MUST_USE;
fs_status fs_read_ops(fs_reader *r, uint32_t ops, uint32_t loops) FS_MUST_USE;

/* Reading ops. */
typedef struct fs_pending_after {
  uint32_t op, node;
} fs_pending_after;
typedef struct fs_op_reader {
  fs_reader *r;
  FS_VEC(fs_pending_after) after;
  FS_VEC(const char *) gang;
} fs_op_reader;
/* Reads a list of ops and loops. */
fs_status fs_read_items(fs_op_reader *o, uint32_t node, const char *what) FS_MUST_USE;
/* Requires a node of the document. */
bool fs_read_is_loop(const fs_reader *r, uint32_t node);
/* Requires a loop. */
fs_status fs_read_loop(fs_op_reader *o, uint32_t node) FS_MUST_USE;
/* Hands over what ops and loops come after what. */
fs_status fs_read_after(fs_op_reader *o) FS_MUST_USE;
/* Reads an op's args; its own size declares a buffer of its name. */
fs_status fs_read_args(fs_reader *r, uint32_t op, uint32_t args, uint32_t size,
                       uint32_t name) FS_MUST_USE;
/* Reads the args of a member of an op; `args` may be FS_NONE. */
fs_status fs_read_member_args(fs_reader *r, uint32_t op, uint32_t member,
                              uint32_t args) FS_MUST_USE;

/* Requires a node of the document. */
static inline const fs_node *fs_read_node(const fs_reader *r, uint32_t node) {
  FS_ASSERT_SLOW(node < r->doc->n_nodes);
  return &r->doc->node[node];
}

#endif
