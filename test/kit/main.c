/* SPDX-License-Identifier: Apache-2.0 */
/* The test runner.  `test/run [SUITE...]` runs the named suites, or all. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FS_SUITE(name) Suite *fs_suite_##name(void);
#include "kit/suites.def"
#undef FS_SUITE

static const struct {
  const char *name;
  Suite *(*make)(void);
} suites[] = {
#define FS_SUITE(name) {#name, fs_suite_##name},
#include "kit/suites.def"
#undef FS_SUITE
};

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
  for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++) {
    if (wanted(suites[i].name, argc, argv)) {
      Suite *suite = suites[i].make();
      if (runner == NULL) {
        runner = srunner_create(suite);
      } else {
        srunner_add_suite(runner, suite);
      }
    }
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
