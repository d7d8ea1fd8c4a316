/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of fs_stream_check.  check.c walks the file and its graph half; load/rules.c checks
 * the graph half against the rules that the builder has for graphs; load/commands.c walks the
 * commands; load/sync.c walks the records that order them on targets without timelines;
 * load/loops.c walks the loops, and load/loop_places.c what their ops touch.  Every check is one
 * FS_NEED; the first one that fails is reported and ends the walk. */
#ifndef FS_CHECK_H
#define FS_CHECK_H

#include "base/context.h"
#include "base/mem.h"
#include "codegen/draft.h"
#include "model/stream/stream.h"

typedef struct fs_checker {
  fsched_context *ctx;
  fs_arena arena; /* scratch */
  const char *name;
  const unsigned char *bytes;
  size_t size;
  uint32_t string_at; /* where the next text must begin */
  fs_stream v;
} fs_checker;

/* Sums of two values up to this limit do not overflow. */
#define FS_STREAM_MOST ((uint64_t)1 << 62)

/* The position "in this file", which is registered at the first report.  Requires a name. */
fs_pos fs_checker_pos(const fs_checker *c);

#define FS_NEED(c, condition, code, ...)                                                         \
  do {                                                                                           \
    if (__builtin_expect(!(condition), 0)) {                                                     \
      return fs_fail((c)->ctx, FSCHED_BAD_INPUT, FS_DIAG_STREAM_##code, fs_checker_pos(c), NULL, \
                     __VA_ARGS__);                                                               \
    }                                                                                            \
  } while (0)

/* Checks the views of args, or of loop_args, which ascend.  Which tag, length and `has_at` the arg
 * has that one is of, is checked with the args. */
fs_status fs_check_views(fs_checker *c, bool loops) FS_MUST_USE;

/* Checks the text of a field: it follows the text of the field before. */
fs_status fs_check_string(fs_checker *c, uint32_t offset, const char *what,
                          uint32_t index) FS_MUST_USE;
/* Checks that a range [first, first + n) begins where the one before ended, and moves *at to its
 * end. */
fs_status fs_check_tile(fs_checker *c, uint32_t first, uint32_t n, uint32_t limit, const char *what,
                        uint32_t *at) FS_MUST_USE;
/* Checks that the ranges have come to the end, n. */
fs_status fs_check_tiled(fs_checker *c, uint32_t at, uint32_t n, const char *what) FS_MUST_USE;
/* Checks that n names which text refers to are distinct.  `stride` words lie between the name
 * fields of two records. */
fs_status fs_check_distinct(fs_checker *c, const uint32_t *name, size_t stride, uint32_t n,
                            const char *what) FS_MUST_USE;
#define FS_CHECK_DISTINCT(c, section, what)                                                  \
  fs_check_distinct((c), &(c)->v.section[0].name, sizeof *(c)->v.section / sizeof(uint32_t), \
                    (c)->v.n_##section, (what))
/* Checks whether an arg of this tag may begin a value in a slot.  what: for messages. */
fs_status fs_check_begins(fs_checker *c, uint32_t begins, uint32_t tag, const char *what,
                          uint32_t arg) FS_MUST_USE;

/* Checks that two commands of an op that could have other queues are on queues of one class, by the
 * names of theirs.  what: for messages. */
fs_status fs_check_class(fs_checker *c, uint32_t one, uint32_t other, const char *what,
                         uint32_t op) FS_MUST_USE;

/* Command `number` of a queue or loop, for messages. */
typedef struct fs_command_name {
  uint32_t number;
  const char *of, *name;
} fs_command_name;
/* Checks the properties that every place of a space has. */
fs_status fs_check_place(fs_checker *c, const fs_command_name *command,
                         const fs_stream_place *p) FS_MUST_USE;

/* Requires a checked graph half. */
fs_status fs_check_rules(fs_checker *c) FS_MUST_USE;
/* Requires a checked graph half. */
fs_status fs_check_commands(fs_checker *c) FS_MUST_USE;
/* Requires checked commands. */
fs_status fs_check_sync(fs_checker *c) FS_MUST_USE;
/* Requires checked commands, and that only texts of loops are left. */
fs_status fs_check_loops(fs_checker *c) FS_MUST_USE;
/* Checks the order of issue of a loop's n commands from `first` on, and its syncs.  Requires that
 * the loop's queues and commands are in range. */
fs_status fs_check_loop_issue(fs_checker *c, const fs_stream_loop *l, uint32_t first,
                              uint32_t n) FS_MUST_USE;
/* The name of a loop, for messages.  Requires that what it is has been checked. */
const char *fs_check_loop_name(const fs_checker *c, const fs_stream_loop *l);
/* Checks the args of a loop's ops, of which [arg0, arg0 + n_args) are in range, and its rings.
 * Requires that the loop's own fields are checked. */
fs_status fs_check_loop_args(fs_checker *c, const fs_stream_loop *l) FS_MUST_USE;
/* Requires checked args, and a command of the loop whose range of places is checked. */
fs_status fs_check_loop_places(fs_checker *c, const fs_stream_loop *l,
                               uint32_t command) FS_MUST_USE;

#endif
