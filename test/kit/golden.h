/* SPDX-License-Identifier: Apache-2.0 */
/* Whole outputs compared with files under test/golden; UPDATE=1 in the environment rewrites them.
 */
#ifndef FS_TEST_GOLDEN_H
#define FS_TEST_GOLDEN_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fsched/compile.h"
#include "kit/budget.h"

/* Returns all of test/golden/NAME; NULL and length 0 if there is no such file. */
static inline char *fs_golden_read(const char *name, size_t *length) {
  *length = 0;
  char path[256];
  (void)snprintf(path, sizeof path, "test/golden/%s", name);
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    return NULL;
  }
  size_t cap = 1 << 16;
  char *text = malloc(cap + 1);
  for (size_t n; (n = fread(text + *length, 1, cap - *length, file)) != 0;) {
    *length += n;
    if (*length == cap) {
      text = realloc(text, 2 * cap + 1);
      cap *= 2;
    }
  }
  text[*length] = '\0';
  (void)fclose(file);
  return text;
}

static inline void fs_golden_write(const char *name, const char *text, size_t length) {
  char path[256];
  (void)snprintf(path, sizeof path, "test/golden/%s", name);
  FILE *file = fopen(path, "wb");
  ck_assert_msg(file != NULL, "cannot write %s", path);
  ck_assert_uint_eq(fwrite(text, 1, length, file), length);
  ck_assert_int_eq(fclose(file), 0);
}

/* Fails the test at the first line that differs. */
static inline void fs_golden_check(const char *name, const char *text, size_t length) {
  const char *update = getenv("UPDATE");
  if (update != NULL && *update != '\0') {
    fs_golden_write(name, text, length);
    return;
  }
  size_t wanted;
  char *golden = fs_golden_read(name, &wanted);
  ck_assert_msg(golden != NULL, "test/golden/%s is not there; make check UPDATE=1 writes it", name);
  unsigned line = 1;
  size_t i = 0;
  for (; i < length && i < wanted && text[i] == golden[i]; i++) {
    line += text[i] == '\n';
  }
  ck_assert_msg(i == length && i == wanted,
                "test/golden/%s differs at line %u: '%.60s' now, '%.60s' there", name, line,
                text + i, golden + i);
  free(golden);
}

#endif
