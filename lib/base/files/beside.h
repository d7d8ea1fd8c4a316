/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are installed together. */
#ifndef FS_BESIDE_H
#define FS_BESIDE_H

#include "base/base.h"

enum { FS_BESIDE_PATH = 4096 };

/* Writes the path of the program of that name in the directory of the program that runs.  False:
 * there is none that can be executed.  Requires a name of fewer than 256 bytes. */
bool fs_file_beside(const char *name, char path[FS_BESIDE_PATH]);

#endif
