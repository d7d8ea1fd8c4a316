/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_NAME FILE-OR-DIRECTORY... runs the target on these files, for builds without libFuzzer.  It
 * ends with "N passed, 0 failed"; a target that finds a fault ends the process before that. */
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz/kit.h"

static unsigned met;

/* Runs the target on a file.  The block is as long as the input, so that a sanitizer notices a read
 * behind it. */
static void meet_file(const char *path, size_t size) {
  FILE *in = fopen(path, "rb");
  uint8_t *bytes = malloc(size + (size == 0));
  fs_fuzz_must(in != NULL && bytes != NULL && fread(bytes, 1, size, in) == size, path);
  (void)fclose(in);
  (void)fprintf(stderr, "%s\n", path);
  (void)LLVMFuzzerTestOneInput(bytes, size);
  free(bytes);
  met++;
}

static void meet(const char *path) {
  struct stat s;
  fs_fuzz_must(stat(path, &s) == 0, path);
  if (!S_ISDIR(s.st_mode)) {
    meet_file(path, (size_t)s.st_size);
    return;
  }
  struct dirent **entry;
  int n = scandir(path, &entry, NULL, alphasort);
  fs_fuzz_must(n >= 0, path);
  for (int i = 0; i < n; i++) {
    char inner[4096];
    (void)snprintf(inner, sizeof inner, "%s/%s", path, entry[i]->d_name);
    if (entry[i]->d_name[0] != '.') {
      meet(inner);
    }
    free(entry[i]);
  }
  free(entry);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    meet(argv[i]);
  }
  printf("%u passed, 0 failed\n", met);
  return EXIT_SUCCESS;
}
