/* SPDX-License-Identifier: Apache-2.0 */
/* How a file of tests declares its suite, once, at its end.
 *
 *   FS_SUITE(fence, s) {
 *     TCase *t = fs_case(s, fs_test_context);
 *     FS_TESTS(t, is_released_once, waits_for_all);
 *     FS_LOOPS(t, 0, 8, random_points);
 *   }
 *
 * The runner finds all suites that are linked into it; `test/run --list` prints their names. */
#ifndef FS_TEST_SUITE_H
#define FS_TEST_SUITE_H

#include <check.h>

typedef struct fs_suite {
  const char *name;
  Suite *suite;
} fs_suite;

typedef struct fs_suite_entry {
  const char *name;
  void (*fill)(const fs_suite *s);
} fs_suite_entry;

/* Pointers, as a section of pointers has no gaps. */
#define FS_SUITE(id, s)                                                                       \
  static void fill_suite_##id(const fs_suite *s);                                             \
  static const fs_suite_entry suite_##id = {#id, fill_suite_##id};                            \
  static const fs_suite_entry *const entry_##id __attribute__((used, section("fs_suites"))) = \
      &suite_##id;                                                                            \
  static void fill_suite_##id(const fs_suite *s)

/* Adds a case to the suite, with the suite's name.  The fixture (kit/context.h has some) is around
 * each of its tests; NULL: nothing is.  A test may take a minute; tcase_set_timeout changes
 * that. */
TCase *fs_case(const fs_suite *s, void (*fixture)(TCase *t));

/* Adds tests by their names; each runs for every _i in [from, to). */
#define FS_LOOPS(t, from, to, ...) \
  fs_add_tests(t, from, to, (const TTest *const[]){__VA_ARGS__, NULL})
#define FS_TESTS(t, ...) FS_LOOPS(t, 0, 1, __VA_ARGS__)
void fs_add_tests(TCase *t, int from, int to, const TTest *const *tests);

#endif
