/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays: headers of .npy files, and files that are read from standard input in either form. */
#include <sys/mman.h>
#include <unistd.h>

#include "base/text/array_file.h"
#include "fuzz/kit.h"

/* A header that was read stays the same when it is written and read again. */
static void meet_header(const uint8_t *data, size_t size) {
  char why[FS_NPY_WHY], shape[64], written[FS_NPY_WRITTEN];
  fs_npy npy, again;
  uint64_t n;
  if (!fs_npy_is(data, size) || fs_npy_header_size(data, size, &n) != NULL || n > size ||
      !fs_npy_parse(data, (size_t)n, &npy, why)) {
    return;
  }
  fs_npy_shape_text(&npy.type, shape, sizeof shape);
  size_t m = fs_npy_header(&npy.type, written);
  fs_fuzz_must(m <= sizeof written && m % 64 == 0 && fs_npy_parse(written, m, &again, why),
               "a header that was written is not read");
  fs_fuzz_must(again.size == npy.size && again.type.n_dimensions == npy.type.n_dimensions &&
                   strcmp(again.type.dtype, npy.type.dtype) == 0,
               "a header changes by being written");
}

static void meet_file(int fd, uint64_t size) {
  fs_fuzz f;
  fs_fuzz_begin(&f);
  char *out = malloc(size + (size == 0));
  fs_fuzz_must(out != NULL && lseek(fd, 0, SEEK_SET) == 0 && dup2(fd, STDIN_FILENO) >= 0,
               "no standard input");
  (void)fs_fuzz_met(&f, fs_array_file_read(f.ctx, "-", size, out),
                    FS_FUZZ_MAY(FSCHED_OK) | FS_FUZZ_MAY(FSCHED_BAD_INPUT), "array");
  free(out);
  fs_fuzz_end(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  meet_header(data, size);
  int fd = memfd_create("array", 0);
  fs_fuzz_must(fd >= 0 && (size == 0 || write(fd, data, size) == (ssize_t)size), "no memory file");
  meet_file(fd, size);
  meet_file(fd, size % 128 == 0 ? 64 : size % 128);
  meet_file(fd, 24);
  (void)close(fd);
  return 0;
}
