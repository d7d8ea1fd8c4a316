/* SPDX-License-Identifier: Apache-2.0 */
/* How the content of a plain file is replaced, or a new one made: whole or not at all, and nothing
 * else stays behind, whatever ends the process meanwhile.
 *
 * The new content goes to a file without a name (O_TMPFILE) and is flushed.  Only then it gets a
 * name: the target's own where there is none yet; else a name of its own beside it, with which it
 * takes the target's place at once.  Between these two steps, the only time at which the directory
 * has a name too many, the signals that would end the process are held back (SIGKILL cannot be).
 * At last the directory is flushed, so that the name is on the disk too.
 *
 * File systems without files that have no name get a named one from the begin; signals are then
 * held back for all of it, and one that has come is looked for between the blocks: what was begun
 * is removed, and the signal ends the process as it would have done. */
#ifndef FS_FILE_REPLACE_H
#define FS_FILE_REPLACE_H

#include <sys/stat.h>

#include "base/base.h"

/* What a file is made of: two blocks, the first of which may be empty. */
typedef struct fs_file_content {
  const void *head, *bytes;
  size_t head_length, length;
} fs_file_content;

/* false: errno says why.  Goes on after an interruption. */
bool fs_file_put(int fd, const void *bytes, size_t length) FS_MUST_USE;
/* `old`: of the file behind `target`, of which the mode is kept; NULL when there is none.  Symbolic
 * links in the last part are followed, to a file that is not there too.  `durable`: flushes. false:
 * errno says why, and the target is as it was (but when the directory's flush is what failed). */
bool fs_file_replace(const char *target, const struct stat *old, const fs_file_content *c,
                     bool durable) FS_MUST_USE;

#endif
