/* SPDX-License-Identifier: Apache-2.0 */
/* The quick reader of plain YAML, which is what programs write graphs and streams in; most JSON is
 * such YAML too.
 *
 * It reads one document of block mappings and lists, flow mappings and lists on one line or
 * several, plain and quoted scalars of one line without escapes, and comments, all in printable
 * ASCII.  It gives up, without a message, on all else: anchors, tags, markers, scalars of several
 * lines, empty values, tabs, carriage returns, repeated keys, what is nested too deep, and all that
 * is not YAML. Whatever it takes, events.h reads as the same nodes at the same places. */
#ifndef FS_PLAIN_H
#define FS_PLAIN_H

#include "base/text/node.h"

/* Reads a text that is registered as out->file.  *taken says whether it was plain; if not, nothing
 * was reported, `out` is as it was and nothing more is in the arena.  O(text), and the keys' cost
 * (node.h).  Errors: FSCHED_SYSTEM, when memory ran out, which was reported. */
fs_status fs_plain_parse(fsched_context *ctx, fs_arena *arena, const char *text, size_t length,
                         fs_doc *out, bool *taken) FS_MUST_USE;

#endif
