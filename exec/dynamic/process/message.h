/* SPDX-License-Identifier: Apache-2.0 */
/* Messages: a member's call, in a form without pointers.
 *
 * Who reads one copies it first, so that what is checked does not change afterwards. */
#ifndef FS_DYNAMIC_MESSAGE_H
#define FS_DYNAMIC_MESSAGE_H

#include "exec/dynamic/process/mapping.h"

/* How large the message of a call is; saturating. */
uint64_t fs_message_bytes(const fsched_kernel_call *call);
/* Requires room for the message, and args in the mapping's heap or shared memory.  Returns the
 * bytes of the message. */
uint32_t fs_message_put(const fs_shared_mapping *m, const fs_started_member *member,
                        unsigned char *to);

/* A message that was read, with room for the largest one. */
typedef struct fs_message_room {
  unsigned char *copy; /* FS_MAILBOX_MESSAGE bytes, aligned to 16 */
  fsched_kernel_arg *arg;
  fsched_kernel_call call;
} fs_message_room;

/* Errors: FSCHED_SYSTEM, reported. */
fs_status fs_message_room_make(fsched_context *ctx, fs_message_room *out) FS_MUST_USE;
void fs_message_room_release(fsched_context *ctx, fs_message_room *r);
/* Reads a message of so many bytes.  NULL: it is in `out`, which points into the room; else what is
 * wrong with it.  O(bytes). */
const char *fs_message_get(const fs_shared_mapping *m, const unsigned char *from, uint32_t bytes,
                           fs_message_room *r, fs_started_member *out);

#endif
