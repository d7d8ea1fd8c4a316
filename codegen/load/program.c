/* SPDX-License-Identifier: Apache-2.0 */
/* Programs from bytes and files. */
#include "fsched/program.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"
#include "base/files/file.h"
#include "base/mem.h"
#include "codegen/draft.h"
#include "codegen/load/load.h"

void fsched_program_destroy(fsched_program *p) {
  if (p == NULL) {
    return;
  }
  if (p->borrowed) { /* the caller owns the bytes */
  } else if (p->mapped) {
    (void)munmap(p->bytes, p->size);
  } else {
    (void)fs_realloc(p->ctx, p->bytes, p->size, 0);
  }
  (void)fs_realloc(p->ctx, p, sizeof *p, 0);
}

const void *fsched_program_bytes(const fsched_program *p, size_t *size) {
  *size = p->size;
  return p->bytes;
}

uint32_t fsched_program_params(const fsched_program *p) { return p->view.n_params; }

fsched_param_range fsched_program_param(const fsched_program *p, uint32_t index) {
  if (index >= p->view.n_params) {
    return (fsched_param_range){0};
  }
  const fs_stream_param *param = &p->view.params[index];
  return (fsched_param_range){
      .name = fs_stream_string(&p->view, param->name), .min = param->least, .max = param->most};
}

fs_status fsched_program_load(fsched_context *ctx, const char *name, const void *bytes, size_t size,
                              fsched_program **out) {
  *out = NULL;
  void *copy = fs_realloc(ctx, NULL, 0, size == 0 ? 1 : size);
  if (copy == NULL) {
    return FSCHED_SYSTEM;
  }
  if (size != 0) {
    memcpy(copy, bytes, size);
  }
  fs_stream view;
  fs_status status = fs_stream_check(ctx, name, copy, size, &view);
  if (status == FSCHED_OK) {
    status = fs_program_make(ctx, copy, size, false, out);
  }
  if (status != FSCHED_OK) {
    (void)fs_realloc(ctx, copy, size == 0 ? 1 : size, 0);
    return status;
  }
  (*out)->view = view;
  return FSCHED_OK;
}

fs_status fsched_program_borrow(fsched_context *ctx, const char *name, const void *bytes,
                                size_t size, fsched_program **out) {
  *out = NULL;
  if ((uintptr_t)bytes % sizeof(uint64_t) != 0) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE,
                   "fsched_program_load takes bytes at any address",
                   "the bytes of program '%s' are not aligned to 8", name);
  }
  static const uint64_t nothing = 0;
  fs_stream view;
  FS_TRY(fs_stream_check(ctx, name, size == 0 ? &nothing : bytes, size, &view));
  FS_TRY(fs_program_make(ctx, (void *)bytes, size, false, out));
  (*out)->borrowed = true;
  (*out)->view = view;
  return FSCHED_OK;
}

/* The name of the file in diagnostics. */
static const char *shown(const char *path) { return strcmp(path, "-") == 0 ? "<stdin>" : path; }

/* Checks the bytes and makes a program of them, which then owns them; after an error the caller
 * still does. */
static fs_status adopt(fsched_context *ctx, const char *path, void *bytes, size_t size, bool mapped,
                       fsched_program **out) {
  fs_stream view;
  FS_TRY(fs_stream_check(ctx, shown(path), bytes, size, &view));
  FS_TRY(fs_program_make(ctx, bytes, size, mapped, out));
  (*out)->view = view;
  return FSCHED_OK;
}

fs_status fsched_program_open(fsched_context *ctx, const char *path, fsched_program **out) {
  char *bytes;
  size_t size;
  *out = NULL;
  FS_TRY(fs_file_read(ctx, path, &bytes, &size));
  size_t kept = fs_max(size, 1); /* without the NUL at the end, unless that is all there is */
  char *exact = fs_realloc(ctx, bytes, size + 1, kept);
  if (exact == NULL) {
    (void)fs_realloc(ctx, bytes, size + 1, 0);
    return FSCHED_SYSTEM;
  }
  fs_status status = adopt(ctx, path, exact, size, false, out);
  if (status != FSCHED_OK) {
    (void)fs_realloc(ctx, exact, kept, 0);
  }
  return status;
}

/* Maps a regular file that has content; *bytes stays NULL for anything else. */
static void map_file(const char *path, void **bytes, size_t *size) {
  *bytes = NULL;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return;
  }
  struct stat info;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
    void *at = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at != MAP_FAILED) {
      *bytes = at;
      *size = (size_t)info.st_size;
    }
  }
  (void)close(fd);
}

fs_status fsched_program_map(fsched_context *ctx, const char *path, fsched_program **out) {
  *out = NULL;
  void *bytes = NULL;
  size_t size = 0;
  if (strcmp(path, "-") != 0) {
    map_file(path, &bytes, &size);
  }
  if (bytes == NULL) { /* a pipe, an empty file, or an error, which reading reports */
    return fsched_program_open(ctx, path, out);
  }
  fs_status status = adopt(ctx, path, bytes, size, true, out);
  if (status != FSCHED_OK) {
    (void)munmap(bytes, size);
  }
  return status;
}
