/* SPDX-License-Identifier: Apache-2.0 */
/* The version, defined in one place: the build reads it from here too. */
#include "fsched/fsched.h"

#define FS_VERSION "0.1.0"

const char *fsched_version(void) { return FS_VERSION; }
