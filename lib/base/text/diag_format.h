/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics as text for people and as JSON for tools.  Each function only adds its text to `out`.
 *
 *   net.yaml:12:15: error: there is no buffer 'imge' [unknown-name]
 *     12 |       - {in: imge}
 *        |              ^~~~
 *     hint: did you mean 'image'?
 *
 * The code of a warning is shown as the option that controls its class, [-Wrace], and as
 * [-Werror=race] where it counts as an error. */
#ifndef FS_DIAG_FORMAT_H
#define FS_DIAG_FORMAT_H

#include "base/mem.h"

void fs_diag_format(const fsched_diag *d, bool color, fs_text *out);
/* Adds one object and a newline: severity, code, message, and those of file, line, column, length
 * and hint that the diagnostic has. */
void fs_diag_format_json(const fsched_diag *d, fs_text *out);

#endif
