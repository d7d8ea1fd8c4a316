/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/proof/axioms.h"

#include <stdio.h>

#include "fsched/verify.h"

#include "kit/context.h"

/* Does the rule give the clause?  What follows in the text is wrong in a line of its own. */
static bool axiom_passes(const fsched_graph *g, const char *head, const char *line,
                         const char *end) {
  char text[1024];
  uint64_t bound = 7;
  int n = snprintf(text, sizeof text, "%s%s\nl :\n%s", head, line, end);
  ck_assert_int_eq(fsched_verify_proof(ctx, g, text, (size_t)n, "p", &bound), FSCHED_WRONG);
  ck_assert_uint_eq(bound, 0);
  const fsched_diag *d = fsched_diag_get(ctx, 0);
  ck_assert_str_eq(d->code, "verify-proof");
  uint32_t lines = 1;
  for (const char *c = head; *c != '\0'; c++) {
    lines += *c == '\n';
  }
  bool passes = d->line == lines + 1;
  ck_assert_msg(passes || d->line == lines, "%s: %s in line %u", line, d->message, d->line);
  fsched_diag_clear(ctx);
  return passes;
}

void fs_check_axioms(const char *graph, const char *head, const char *end, const fs_proof_axiom *at,
                     size_t n) {
  fsched_graph *g = fs_parse(graph);
  for (size_t i = 0; i < n; i++) {
    ck_assert_msg(axiom_passes(g, head, at[i].line, end) == at[i].passes, "%s should %s",
                  at[i].line, at[i].passes ? "pass" : "not pass");
  }
  fsched_graph_destroy(g);
}
