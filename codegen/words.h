/* SPDX-License-Identifier: Apache-2.0 */
/* The words of the text forms, in the order of their enumerations. */
#ifndef FS_WORDS_H
#define FS_WORDS_H

#define FS_WORDS(table) (table), sizeof(table) / sizeof((table)[0])

static const char *const fs_words_hazards[] = {"sequential", "raw"};
static const char *const fs_words_sync[] = {"timeline", "barrier", "block"};
static const char *const fs_words_axis[] = {"queue", "collective"};
static const char *const fs_words_placement[] = {"contiguous", "counted", "stack"};
static const char *const fs_words_io[] = {"none", "input", "constant", "output", "state"};
static const char *const fs_words_tag[] = {"in", "out", "inout", "out_existing", "no_dep", "value"};
static const char *const fs_words_command[] = {"run", "copy", "barrier_wait", "barrier_update"};
static const char *const fs_words_stop[] = {"full", "count"};
static const char *const fs_words_direction[] = {"write", "read"};
static const char *const fs_words_scope[] = {"queue", "device", "device_group", "process",
                                             "system"};
static const char *const fs_words_mode[] = {"none", "r", "w", "rw"};

#endif
