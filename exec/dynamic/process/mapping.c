/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/dynamic/process/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"
#include "base/saturate.h"

#define MAGIC UINT64_C(0x31666f7772686366)
enum { LOWEST_FD = 10, INBOX = 4 * FS_MAILBOX_ALIGN, OUTBOX = FS_MAILBOX_ALIGN };
_Static_assert(sizeof(fs_mailbox_in) <= INBOX, "an inbox has its place");
_Static_assert(sizeof(fs_mailbox_out) <= OUTBOX, "an outbox has its place");

static uint64_t aligned(uint64_t bytes) {
  return fs_add_most(bytes, FS_MAILBOX_ALIGN - 1) / FS_MAILBOX_ALIGN * FS_MAILBOX_ALIGN;
}

/* Fills in the places, which follow from the sizes; saturating. */
static void lay_out(fs_shared_header *h, uint64_t name_bytes) {
  h->magic = MAGIC;
  h->names = sizeof *h;
  uint64_t boxes = aligned(fs_add_most(sizeof *h, name_bytes));
  h->heap = fs_add_most(boxes, (uint64_t)h->n_workers * (INBOX + OUTBOX));
  h->shared = fs_add_most(h->heap, aligned(h->heap_bytes));
  h->bytes = fs_add_most(h->shared, fs_max(aligned(h->shared_bytes), FS_MAILBOX_ALIGN));
}

static const char *text_of(const char *name) { return name == NULL ? "" : name; }

/* The names of the kernels: module and name, each with its end. */
static uint64_t put_names(const fs_carrier_options *o, char *to) {
  uint64_t n = 0;
  for (uint32_t k = 0; k < o->n_kernels; k++) {
    const char *name[] = {text_of(o->kernel[k].module), text_of(o->kernel[k].name)};
    for (uint32_t i = 0; i < 2; i++) {
      size_t length = strlen(name[i]) + 1;
      if (to != NULL) {
        memcpy(to + n, name[i], length);
      }
      n += length;
    }
  }
  return n;
}

/* Maps the file at a multiple of its alignment, within a larger range that is taken first. */
static bool map_file(fs_shared_mapping *m) {
  uint64_t align = m->at.align, bytes = m->at.bytes, most = fs_add_most(bytes, align);
  unsigned char *range =
      mmap(NULL, most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    return false;
  }
  uint64_t before = align - (uintptr_t)range % align;
  unsigned char *base = range + before;
  if (mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, m->fd, 0) ==
      MAP_FAILED) {
    (void)munmap(range, most);
    return false;
  }
  (void)munmap(range, before);
  if (before < align) {
    (void)munmap(base + bytes, align - before);
  }
  m->base = base;
  return true;
}

static bool make_file(fs_shared_mapping *m) {
  int fd = memfd_create("fsched", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) {
    return false;
  }
  m->fd = fcntl(fd, F_DUPFD_CLOEXEC, LOWEST_FD);
  (void)close(fd);
  return m->fd >= 0 && m->at.bytes <= INT64_MAX && ftruncate(m->fd, (off_t)m->at.bytes) == 0 &&
         fcntl(m->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0 && map_file(m);
}

fs_status fs_mapping_make(fsched_context *ctx, const fs_carrier_options *options,
                          fs_shared_mapping *out) {
  *out = (fs_shared_mapping){.fd = -1,
                             .at = {.align = aligned(fs_max(options->align, 1)),
                                    .n_workers = options->n_workers,
                                    .n_kernels = options->n_kernels,
                                    .heap_bytes = options->heap_bytes,
                                    .shared_bytes = options->shared_bytes}};
  lay_out(&out->at, put_names(options, NULL));
  errno = ENOMEM;
  if (!make_file(out)) {
    int error = errno;
    fs_mapping_release(out);
    return fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_THREAD, FS_NOWHERE, NULL,
                   "no shared memory for workers: %s", strerror(error));
  }
  memcpy(out->base, &out->at, sizeof out->at);
  (void)put_names(options, (char *)out->base + out->at.names);
  return FSCHED_OK;
}

/* Whether the places are those that follow from the sizes. */
static bool is_sound(const fs_shared_header *h, uint64_t bytes) {
  fs_shared_header same = *h;
  if (h->magic != MAGIC || h->names != sizeof *h || h->n_workers == 0 || h->align == 0 ||
      h->align % FS_MAILBOX_ALIGN != 0 || h->bytes != bytes) {
    return false;
  }
  uint64_t boxes = (uint64_t)h->n_workers * (INBOX + OUTBOX);
  if (h->heap < boxes || h->heap - boxes < sizeof *h) {
    return false;
  }
  lay_out(&same, h->heap - boxes - sizeof *h);
  return memcmp(&same, h, sizeof same) == 0;
}

bool fs_mapping_attach(int fd, fs_shared_mapping *out) {
  struct stat s;
  fs_shared_header h;
  *out = (fs_shared_mapping){.fd = fd};
  bool sound = fstat(fd, &s) == 0 && pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h &&
               is_sound(&h, (uint64_t)s.st_size);
  if (sound) {
    out->at = h;
    sound = map_file(out);
  }
  if (!sound) {
    fs_mapping_release(out);
  }
  return sound;
}

void fs_mapping_release(fs_shared_mapping *m) {
  if (m->base != NULL) {
    (void)munmap(m->base, m->at.bytes);
  }
  if (m->fd >= 0) {
    (void)close(m->fd);
  }
  m->base = NULL;
  m->fd = -1;
}

static unsigned char *boxes_of(const fs_shared_mapping *m) {
  return m->base + m->at.heap - (uint64_t)m->at.n_workers * (INBOX + OUTBOX);
}

fs_mailbox_in *fs_mapping_inbox(const fs_shared_mapping *m, uint32_t worker) {
  assert(worker < m->at.n_workers);
  return (fs_mailbox_in *)(void *)(boxes_of(m) + (uint64_t)worker * (INBOX + OUTBOX));
}

fs_mailbox_out *fs_mapping_outbox(const fs_shared_mapping *m, uint32_t worker) {
  assert(worker < m->at.n_workers);
  return (fs_mailbox_out *)(void *)(boxes_of(m) + (uint64_t)worker * (INBOX + OUTBOX) + INBOX);
}

bool fs_mapping_confine(const fs_shared_mapping *m, uint32_t worker) {
  assert(worker < m->at.n_workers);
  unsigned char *boxes = boxes_of(m);
  size_t all = (size_t)(m->base + m->at.heap - boxes);
  return mprotect(m->base, (size_t)(boxes - m->base), PROT_READ) == 0 &&
         mprotect(boxes, all, PROT_NONE) == 0 &&
         mprotect(fs_mapping_inbox(m, worker), INBOX, PROT_READ) == 0 &&
         mprotect(fs_mapping_outbox(m, worker), OUTBOX, PROT_READ | PROT_WRITE) == 0;
}

/* The string at *at, which ends before `end`; NULL: it does not. */
static const char *take_string(const char **at, const char *end) {
  const char *from = *at, *zero = memchr(from, '\0', (size_t)(end - from));
  *at = zero == NULL ? end : zero + 1;
  return zero == NULL ? NULL : from;
}

bool fs_mapping_kernels(const fs_shared_mapping *m, fs_task_kernel *out) {
  const char *at = (const char *)m->base + m->at.names, *end = (const char *)boxes_of(m);
  for (uint32_t k = 0; k < m->at.n_kernels; k++) {
    const char *module = take_string(&at, end), *name = take_string(&at, end);
    if (module == NULL || name == NULL) {
      return false;
    }
    out[k] = (fs_task_kernel){.module = module[0] == '\0' ? NULL : module, .name = name};
  }
  return true;
}

void fs_mailbox_say(fs_mailbox_out *out, const char *text) {
  for (uint32_t i = 0; i < FS_MAILBOX_TEXT; i++) {
    atomic_store_explicit(&out->text[i], *text, memory_order_relaxed);
    text += *text != '\0';
  }
}

void fs_mailbox_read(const fs_mailbox_out *out, char text[FS_MAILBOX_TEXT]) {
  uint32_t i = 0;
  for (char c = 1; i < FS_MAILBOX_TEXT - 1 && c != '\0'; i += c != '\0') {
    c = atomic_load_explicit(&out->text[i], memory_order_relaxed);
    text[i] = c == '\0' || (c >= ' ' && c <= '~') ? c : '?';
  }
  text[i] = '\0';
}
