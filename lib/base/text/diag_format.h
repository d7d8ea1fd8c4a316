/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics as text for people and as JSON for tools.  Pure: the text is added to `out`.
 *
 *   net.yaml:12:15: error: there is no buffer 'imge' [unknown-name]
 *     12 |       - {in: imge}
 *        |              ^~~~
 *     hint: did you mean 'image'?
 *
 * The code of a warning is shown as the option that switches its class, [-Wrace], and as
 * [-Werror=race] where it counts as an error.
 */
#ifndef FS_DIAG_FORMAT_H
#define FS_DIAG_FORMAT_H

#include "base/mem.h"

void fs_diag_format(const fsched_diag *d, bool color, fs_text *out);
/* One object and a newline: severity, code, message, and file, line, column, length, hint where
 * there are any. */
void fs_diag_format_json(const fsched_diag *d, fs_text *out);

#endif
