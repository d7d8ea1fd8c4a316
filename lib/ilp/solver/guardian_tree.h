/* SPDX-License-Identifier: Apache-2.0 */
/* Removes a directory with system calls alone, as a guardian has to. */
#ifndef FS_ILP_GUARDIAN_TREE_H
#define FS_ILP_GUARDIAN_TREE_H

/* Removes the directory and all that is in it, except what lies on other file systems.  Follows no
 * links.  Requires a path. */
void fs_tree_remove(const char *path);

#endif
