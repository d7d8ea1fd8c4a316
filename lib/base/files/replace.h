/* SPDX-License-Identifier: Apache-2.0 */
/* How the content of a plain file is replaced, or a new one made: either completely or not at all,
 * whatever ends the process meanwhile, and (but for SIGKILL at a bad moment) leaving no other file
 * behind.
 *
 * The new content goes to a file without a name (O_TMPFILE) and is flushed.  Only then does it get
 * a name: the target's, if no such file exists yet; else a temporary name beside the target, from
 * which it is renamed to replace it atomically.  Between these two steps, the only time at which
 * the directory has an extra name, the signals that would end the process are blocked (SIGKILL
 * cannot be).  Finally the directory is flushed, so that the name is on the disk too.
 *
 * On file systems without unnamed files the new file has a temporary name from the start.  Signals
 * are then blocked throughout, and between blocks the writer looks for a pending one: it removes
 * the unfinished file, and the signal ends the process as it would have done. */
#ifndef FS_FILE_REPLACE_H
#define FS_FILE_REPLACE_H

#include <sys/stat.h>

#include "base/base.h"

/* The content of a file: two blocks, the first of which may be empty. */
typedef struct fs_file_content {
  const void *head, *bytes;
  size_t head_length, length;
} fs_file_content;

/* Writes all bytes, continuing after interruptions.  False: errno says why. */
bool fs_file_put(int fd, const void *bytes, size_t length) FS_MUST_USE;
/* `old` describes the file behind `target`, whose mode is kept; NULL when there is none.  Symbolic
 * links in the last part are followed, even to a file that does not exist.  `durable`: flushes to
 * the disk.  False: errno says why, and the target is unchanged (unless it was the flush of the
 * directory that failed). */
bool fs_file_replace(const char *target, const struct stat *old, const fs_file_content *c,
                     bool durable) FS_MUST_USE;

#endif
