/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of a check, kept until its end: causes are then reported before their consequences,
 * and no single code takes all the room that the context has for errors. */
#ifndef FS_FINDINGS_H
#define FS_FINDINGS_H

#include "base/context.h"
#include "base/mem.h"

typedef struct fs_finding {
  fs_diag_code code;
  const char *text;
  const char *hint; /* or NULL */
} fs_finding;

typedef struct fs_findings {
  fs_arena *arena;
  uint32_t room; /* errors that the context still stores: the most that are kept of each code */
  FS_VEC(fs_finding) kept;
  uint32_t count[FS_DIAG_COUNT]; /* findings of each code, kept or not */
  uint32_t total;
  bool failed; /* memory ran out, which is reported */
} fs_findings;

/* Requires an arena with a context. */
void fs_findings_init(fs_findings *f, fs_arena *arena);
/* `hint` is NULL or lives until the report.  Requires a code of diag.def. */
void fs_findings_add(fs_findings *f, fs_diag_code code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Reports errors by the order of the codes, those of one code in the order in which they were
 * found, and counts those for which there is no room: every code gets one place, then every code
 * with more findings a second, and so on.  Frees the findings.  Requires in `order` the codes of
 * all findings, at least one.  O(found + kept * n_order). */
void fs_findings_report(fs_findings *f, const fs_diag_code *order, size_t n_order);

#endif
