/* SPDX-License-Identifier: Apache-2.0 */
/* Items are read straight to their destination; only a header is read into a block of its own. */
#include "base/text/array_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"

typedef struct source {
  fsched_context *ctx;
  const char *path;
  int fd;
  unsigned char head[FS_NPY_PREFIX]; /* read ahead, to recognize a .npy file */
  size_t n_head, at_head;
} source;

static const char *shown(const source *s) {
  return s->fd == STDIN_FILENO && strcmp(s->path, "-") == 0 ? "<stdin>" : s->path;
}

static bool has_suffix(const char *path) {
  static const char suffix[] = ".npy";
  size_t n = strlen(path);
  return n >= sizeof suffix - 1 && strcmp(path + n - (sizeof suffix - 1), suffix) == 0;
}

static fs_status failed(const source *s, const char *action) {
  return fs_fail(s->ctx, FSCHED_SYSTEM, FS_DIAG_FILE, FS_NOWHERE, NULL, "cannot %s %s: %s", action,
                 shown(s), strerror(errno));
}

/* A position in the file without a line. */
static fs_pos in_file(const source *s) {
  fs_pos pos = FS_NOWHERE;
  return fs_context_add_file(s->ctx, shown(s), "", 0, &pos.file) == FSCHED_OK ? pos : FS_NOWHERE;
}

#define bad(s, code, ...) fs_fail((s)->ctx, FSCHED_BAD_INPUT, (code), in_file(s), NULL, __VA_ARGS__)

/* Reads up to `n` bytes; *got is less only at the end of the file. */
static fs_status take_bytes(source *s, void *out, uint64_t n, uint64_t *got) {
  char *at = out;
  *got = fs_min(n, s->n_head - s->at_head);
  if (n == 0) {
    return FSCHED_OK; /* `out` may be NULL */
  }
  memcpy(at, s->head + s->at_head, (size_t)*got);
  s->at_head += (size_t)*got;
  while (*got < n) {
    enum { MOST = 1 << 30 }; /* bytes that one call of the system reads at most */
    ssize_t part = read(s->fd, at + *got, (size_t)fs_min(n - *got, MOST));
    if (part < 0 && errno != EINTR) {
      return failed(s, "read");
    }
    if (part == 0) {
      break;
    }
    *got += part > 0 ? (uint64_t)part : 0;
  }
  return FSCHED_OK;
}

static fs_status look_ahead(source *s) {
  uint64_t got;
  FS_TRY(take_bytes(s, s->head, sizeof s->head, &got));
  s->n_head = (size_t)got;
  return FSCHED_OK;
}

static fs_status take_items(source *s, uint64_t size, void *out, const char *what) {
  uint64_t got, more;
  char extra;
  FS_TRY(take_bytes(s, out, size, &got));
  if (got < size) {
    return bad(s, FS_DIAG_ARRAY_SIZE, "%s ends after %llu bytes; %llu are expected", what,
               (unsigned long long)got, (unsigned long long)size);
  }
  FS_TRY(take_bytes(s, &extra, 1, &more));
  return more == 0 ? FSCHED_OK
                   : bad(s, FS_DIAG_ARRAY_SIZE, "%s goes on after the %llu bytes that are expected",
                         what, (unsigned long long)size);
}

static fs_status read_raw(source *s, uint64_t size, void *out) {
  struct stat st;
  bool regular = strcmp(s->path, "-") != 0 && fstat(s->fd, &st) == 0 && S_ISREG(st.st_mode);
  if (regular && (uint64_t)st.st_size != size) { /* before anything is read */
    return bad(s, FS_DIAG_ARRAY_SIZE, "the file has %llu bytes; %llu are expected",
               (unsigned long long)st.st_size, (unsigned long long)size);
  }
  return take_items(s, size, out, "the file");
}

static fs_status check_array(const source *s, const fs_npy *npy, uint64_t size) {
  char shape[160];
  if (npy->size == size) {
    return FSCHED_OK;
  }
  fs_npy_shape_text(&npy->type, shape, sizeof shape);
  return bad(s, FS_DIAG_ARRAY_SIZE,
             "the array has %llu bytes (dtype %s, shape %s); %llu are expected",
             (unsigned long long)npy->size, npy->type.dtype, shape, (unsigned long long)size);
}

static fs_status parse_header(source *s, char *header, uint64_t header_size, uint64_t size) {
  uint64_t got;
  fs_npy npy;
  char why[FS_NPY_WHY];
  FS_TRY(take_bytes(s, header, header_size, &got));
  if (!fs_npy_parse(header, (size_t)got, &npy, why)) {
    return bad(s, FS_DIAG_ARRAY_FORMAT, "not an array that can be read: %s", why);
  }
  return check_array(s, &npy, size);
}

static fs_status read_npy(source *s, uint64_t size, void *out) {
  uint64_t header_size = 0;
  const char *wrong = fs_npy_header_size(s->head, s->n_head, &header_size);
  if (wrong != NULL) {
    return bad(s, FS_DIAG_ARRAY_FORMAT, "not an array that can be read: %s", wrong);
  }
  char *header = fs_realloc(s->ctx, NULL, 0, (size_t)header_size);
  if (header == NULL) {
    return FSCHED_SYSTEM;
  }
  fs_status status = parse_header(s, header, header_size, size);
  (void)fs_realloc(s->ctx, header, (size_t)header_size, 0);
  return status == FSCHED_OK ? take_items(s, size, out, "the array") : status;
}

static fs_status read_source(source *s, uint64_t size, void *out) {
  bool npy = has_suffix(s->path);
  if (npy || strcmp(s->path, "-") == 0) {
    FS_TRY(look_ahead(s));
  }
  return npy || fs_npy_is(s->head, s->n_head) ? read_npy(s, size, out) : read_raw(s, size, out);
}

fs_status fs_array_file_read(fsched_context *ctx, const char *path, uint64_t size, void *out) {
  source s = {.ctx = ctx, .path = path};
  if (strcmp(path, "-") == 0) {
    s.fd = STDIN_FILENO;
    return read_source(&s, size, out);
  }
  s.fd = open(path, O_RDONLY | O_CLOEXEC);
  if (s.fd < 0) {
    return failed(&s, "open");
  }
  fs_status status = read_source(&s, size, out);
  (void)close(s.fd);
  return status;
}

fs_status fs_array_file_write(fsched_context *ctx, const char *path, const void *bytes,
                              uint64_t size, const fs_npy_type *type) {
  if (!has_suffix(path)) {
    return fs_file_write(ctx, path, bytes, (size_t)size);
  }
  fs_npy_type plain = {.dtype = "|u1", .item_size = 1, .n_dimensions = 1, .shape = {size}};
  char header[FS_NPY_WRITTEN];
  uint64_t said;
  type = type == NULL ? &plain : type;
  if (!fs_npy_bytes(type, &said) || said != size) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "the dtype and shape for %s are not those of %llu bytes", path,
                   (unsigned long long)size);
  }
  return fs_file_write_two(ctx, path, header, fs_npy_header(type, header), bytes, (size_t)size);
}
