/* SPDX-License-Identifier: Apache-2.0 */
/* The reader that knows all YAML: makes a tree of nodes from libyaml's events, and reports what is
 * wrong with a text. */
#ifndef FS_EVENTS_H
#define FS_EVENTS_H

#include "base/text/node.h"

/* Parses a text that is registered as out->file, as fs_doc_parse does (node.h). */
fs_status fs_events_parse(fsched_context *ctx, fs_arena *arena, const char *text, size_t length,
                          fs_doc *out) FS_MUST_USE;

#endif
