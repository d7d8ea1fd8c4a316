/* SPDX-License-Identifier: Apache-2.0 */
#include "search/damaged_proof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fsched/verify.h"

#include "kit/context.h"

enum { MOST_TOKENS = 4 };

typedef struct damaged_text {
  char *at;
  size_t n;
} damaged_text;

/* Where the k-th number of the text begins. */
static size_t find_number(const damaged_text *t, size_t from) {
  size_t i = from;
  while (i < t->n && !(t->at[i] >= '0' && t->at[i] <= '9')) {
    i++;
  }
  return i;
}

static void splice(damaged_text *t, size_t from, size_t to, const char *by) {
  size_t n = strlen(by);
  memmove(t->at + from + n, t->at + to, t->n - to + 1);
  memcpy(t->at + from, by, n);
  t->n = t->n - (to - from) + n;
}

/* Changes a number a little, drops or adds a mark, turns a sign, swaps a rule, or leaves a word or
 * a line out; of the last line nothing. */
static void damage_token(damaged_text *t, fs_rng *r, size_t last) {
  size_t at = fs_rng_below(r, (uint32_t)last);
  char number[32];
  if (fs_rng_one_in(r, 3)) { /* the header is short, and matters */
    const char *begin = strstr(t->at, "\nbegin\n");
    at = begin == NULL ? at : fs_rng_below(r, (uint32_t)(begin - t->at));
  }
  if (fs_rng_one_in(r, 2)) {
    size_t from = find_number(t, at), to = from;
    while (to < t->n && t->at[to] >= '0' && t->at[to] <= '9') {
      to++;
    }
    if (to < last) {
      unsigned long long value = strtoull(t->at + from, NULL, 10);
      unsigned by = 1 + fs_rng_below(r, 3);
      (void)snprintf(number, sizeof number, "%llu",
                     fs_rng_one_in(r, 2) ? value + by : value - (value < by ? value : by));
      splice(t, from, to, number);
    }
    return;
  }
  size_t from = at;
  while (from > 0 && t->at[from] != ' ' && t->at[from] != '\n') {
    from--;
  }
  size_t to = from + 1;
  while (to < last && t->at[to] != ' ' && t->at[to] != '\n') {
    to++;
  }
  switch (fs_rng_below(r, 5)) {
    case 0:
      splice(t, from, to, ""); /* a word */
      break;
    case 1:
      if (t->at[from + 1] == '?') {
        splice(t, from + 1, from + 2, "");
      } else {
        splice(t, from + 1, from + 1, "?");
      }
      break;
    case 2: { /* a line */
      const char *begin = t->at + at, *end = strchr(t->at + at, '\n');
      while (begin > t->at && begin[-1] != '\n') {
        begin--;
      }
      if (end != NULL && (size_t)(end - t->at) < last) {
        splice(t, (size_t)(begin - t->at), (size_t)(end + 1 - t->at), "");
      }
      break;
    }
    case 3: {
      char *sign = strpbrk(t->at + at, "<>");
      if (sign != NULL && (size_t)(sign - t->at) < last) {
        *sign = *sign == '<' ? '>' : '<';
      }
      break;
    }
    default: {
      static const char rules[] = "pcoxtzsefbaln";
      char *line = strchr(t->at + at, '\n');
      if (line != NULL && (size_t)(line - t->at) + 1 < last) {
        line[1] = rules[fs_rng_below(r, sizeof rules - 1)];
      }
    }
  }
}

unsigned fs_claim_more(const fsched_graph *g, const fs_written_proof *p, fs_rng *r,
                       unsigned damages) {
  unsigned steps = 0;
  damaged_text t = {malloc(2 * p->n + 4096), 0};
  for (unsigned k = 0; k < damages; k++) {
    uint64_t shown;
    char end[32];
    memcpy(t.at, p->text, p->n);
    t.at[t.n = p->n] = '\0';
    for (unsigned i = 1 + fs_rng_below(r, MOST_TOKENS); i-- > 0;) {
      size_t last = t.n - 1;
      while (last > 0 && t.at[last - 1] != '\n') {
        last--;
      }
      damage_token(&t, r, last);
    }
    size_t last = t.n - 1;
    while (last > 0 && t.at[last - 1] != '\n') {
      last--;
    }
    (void)snprintf(end, sizeof end, "end %llu\n", (unsigned long long)p->bound + 1);
    splice(&t, last, t.n, end);
    fsched_status status = fsched_verify_proof(ctx, g, t.at, t.n, "p", &shown);
    ck_assert_msg(status != FSCHED_OK, "%.*s", (int)t.n, t.at);
    steps += status == FSCHED_WRONG;
    fsched_diag_clear(ctx);
  }
  free(t.at);
  return steps;
}
