/* SPDX-License-Identifier: Apache-2.0 */
/* File names from untrusted input, which must stay within a directory. */
#ifndef FS_CONFINE_H
#define FS_CONFINE_H

#include "base/base.h"

typedef enum fs_confined {
  FS_CONFINED,
  FS_CONFINED_NAME,  /* the name is absolute, or has a `..`: nothing was looked at */
  FS_CONFINED_LINK,  /* a link leads out */
  FS_CONFINED_KIND,  /* it is no regular file */
  FS_CONFINED_SYSTEM /* errno says why */
} fs_confined;

/* Whether a file of that name could lie in a directory: FS_CONFINED or FS_CONFINED_NAME. */
fs_confined fs_confine_name(const char *name);
/* Whether the file `path` lies in the directory or below, wherever links lead, and is a regular
 * file.  `real`, of PATH_MAX bytes, gets its path without links.  A process that may write in the
 * directory can still change the file before it is opened. */
fs_confined fs_confine_path(const char *directory, const char *path, char *real);

#endif
