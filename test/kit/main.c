/* SPDX-License-Identifier: Apache-2.0 */
/* The test runner.  `test/run [SUITE...]` runs the named suites, or all; `test/run --list` prints
 * the names.  The pointers that FS_SUITE makes lie in one section, whose ends the linker names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/suite.h"

extern const fs_suite_entry *const __start_fs_suites[], *const __stop_fs_suites[];

TCase *fs_case(const fs_suite *s, void (*fixture)(TCase *t)) {
  TCase *t = tcase_create(s->name);
  tcase_set_timeout(t, 60);
  if (fixture != NULL) {
    fixture(t);
  }
  suite_add_tcase(s->suite, t);
  return t;
}

void fs_add_tests(TCase *t, int from, int to, const TTest *const *tests) {
  for (; *tests != NULL; tests++) {
    tcase_add_loop_test(t, *tests, from, to);
  }
}

static int wanted(const char *name, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], name) == 0) {
      return 1;
    }
  }
  return argc == 1;
}

int main(int argc, char **argv) {
  SRunner *runner = NULL;
  int list = argc == 2 && strcmp(argv[1], "--list") == 0;
  for (const fs_suite_entry *const *e = __start_fs_suites; e < __stop_fs_suites; e++) {
    if (list) {
      puts((*e)->name);
    } else if (wanted((*e)->name, argc, argv)) {
      fs_suite s = {(*e)->name, suite_create((*e)->name)};
      (*e)->fill(&s);
      if (runner == NULL) {
        runner = srunner_create(s.suite);
      } else {
        srunner_add_suite(runner, s.suite);
      }
    }
  }
  if (list) {
    return EXIT_SUCCESS;
  }
  if (runner == NULL) {
    fprintf(stderr, "test/run: no suite of that name\n");
    return EXIT_FAILURE;
  }
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
