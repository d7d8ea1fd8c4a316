/* SPDX-License-Identifier: Apache-2.0 */
/* A directory for one test, which is removed with everything in it. */
#ifndef FS_TEST_TEMP_DIR_H
#define FS_TEST_TEMP_DIR_H

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

typedef char fs_temp_dir[64];

static inline void fs_temp_dir_make(fs_temp_dir dir) {
  (void)snprintf(dir, sizeof(fs_temp_dir), "/tmp/fsched-test-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
}

static inline int fs_temp_dir_entry_(const char *path, const struct stat *st, int type,
                                     struct FTW *at) {
  (void)st, (void)type, (void)at;
  return remove(path);
}

static inline void fs_temp_dir_drop(const fs_temp_dir dir) {
  ck_assert_int_eq(nftw(dir, fs_temp_dir_entry_, 8, FTW_DEPTH | FTW_PHYS), 0);
}

#endif
