/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that processes share: a file without a name, whose size is sealed.
 *
 *     | header, names of kernels | inbox 0 | outbox 0 | inbox 1 | ... | heap | shared |
 *
 * Places in it are offsets, as processes map it at different addresses.  An inbox is written by the
 * scheduler alone, and an outbox by its worker; workers cannot write, or see, more of them. Nothing
 * is locked.  Units: bytes. */
#ifndef FS_DYNAMIC_MAPPING_H
#define FS_DYNAMIC_MAPPING_H

#include <stdatomic.h>

#include "exec/dynamic/carrier/carrier.h"

/* FS_MAILBOX_MESSAGE: what a message may have; memory is only taken for what is used. */
enum { FS_MAILBOX_ALIGN = 1 << 16, FS_MAILBOX_MESSAGE = 3 << 16, FS_MAILBOX_TEXT = 256 };

/* Serials count the members that a worker gets, and skip the word that ends it. */
#define FS_MAILBOX_END UINT32_MAX

static inline uint32_t fs_mailbox_next(uint32_t serial) {
  return serial + 1 == FS_MAILBOX_END ? 0 : serial + 1;
}

typedef struct fs_mailbox_in {
  _Atomic uint32_t serial; /* of the member that is to be run: the worker sleeps on it */
  uint32_t bytes;          /* of the message behind */
  unsigned char message[FS_MAILBOX_MESSAGE];
} fs_mailbox_in;

typedef enum fs_mailbox_end { FS_MEMBER_ANSWERED, FS_MEMBER_REFUSED } fs_mailbox_end;

typedef struct fs_mailbox_out {
  _Atomic uint32_t ready;  /* 1: the worker has begun; 2: it gives up, as a kernel is missing */
  _Atomic uint32_t serial; /* of the last member that has ended */
  _Atomic int32_t answer;
  _Atomic uint32_t end;               /* fs_mailbox_end */
  _Atomic char text[FS_MAILBOX_TEXT]; /* why it was refused, or the worker could not begin */
} fs_mailbox_out;

typedef struct fs_shared_header {
  uint64_t magic, bytes; /* of all */
  uint64_t align;        /* of its place in each process: what is aligned in one is so in all */
  uint64_t names, heap, shared, heap_bytes, shared_bytes;
  uint32_t n_workers, n_kernels;
} fs_shared_header;

typedef struct fs_shared_mapping {
  int fd; /* -1: closed */
  unsigned char *base;
  fs_shared_header at; /* a copy of the header, checked */
} fs_shared_mapping;

/* Makes the memory, with content 0.  Errors: FSCHED_SYSTEM, reported. */
fs_status fs_mapping_make(fsched_context *ctx, const fs_carrier_options *options,
                          fs_shared_mapping *out) FS_MUST_USE;
/* Maps the memory of a descriptor, which is taken over.  False: it is none such. */
bool fs_mapping_attach(int fd, fs_shared_mapping *out);
void fs_mapping_release(fs_shared_mapping *m);

fs_mailbox_in *fs_mapping_inbox(const fs_shared_mapping *m, uint32_t worker);
fs_mailbox_out *fs_mapping_outbox(const fs_shared_mapping *m, uint32_t worker);
/* Takes from this process what only others need: it can write its outbox, the heap and what is
 * shared, read its inbox and the header, and do nothing with the rest.  Requires a worker. */
bool fs_mapping_confine(const fs_shared_mapping *m, uint32_t worker);

/* Reads the table of kernels.  The strings are in the mapping.  False: it is damaged.  `out` has
 * room for all. */
bool fs_mapping_kernels(const fs_shared_mapping *m, fs_task_kernel *out);

/* Writes a text that others read while it may change. */
void fs_mailbox_say(fs_mailbox_out *out, const char *text);
/* Copies it; what does not print becomes '?'. */
void fs_mailbox_read(const fs_mailbox_out *out, char text[FS_MAILBOX_TEXT]);

#endif
