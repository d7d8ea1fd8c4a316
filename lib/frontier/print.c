/* SPDX-License-Identifier: Apache-2.0 */
/* Axes and frontiers as text.  Text that does not fit is cut, but counted all the same. */
#include <inttypes.h>
#include <stdio.h>

#include "base/base.h"
#include "fsched/frontier.h"

/* The room that is left for text. */
typedef struct rest {
  char *text;
  size_t size;
} rest;

static rest after(char *text, size_t size, size_t used) {
  return used < size ? (rest){text + used, size - used} : (rest){NULL, 0};
}

static const char *domain_name(uint32_t domain) {
  static const char *const name[] = {[FSCHED_AXIS_QUEUE] = "queue",
                                     [FSCHED_AXIS_COLLECTIVE] = "collective",
                                     [FSCHED_AXIS_EPILOGUE] = "epilogue",
                                     [FSCHED_AXIS_HOST] = "host"};
  return domain < sizeof name / sizeof *name ? name[domain] : NULL;
}

size_t fsched_axis_print(fsched_axis axis, char *text, size_t size) {
  fsched_axis_parts p = fsched_axis_split(axis);
  const char *name = domain_name(p.domain);
  char number[16];
  (void)snprintf(number, sizeof number, "%" PRIu32, p.domain);
  int n = snprintf(text, size, "%" PRIu32 ".%" PRIu32 ".%s.%" PRIu64, p.session, p.machine,
                   name == NULL ? number : name, p.ordinal);
  return (size_t)n;
}

static size_t put_rest(rest r, const char *text) {
  return (size_t)snprintf(r.text, r.size, "%s", text);
}

size_t fsched_frontier_print(const fsched_frontier *f, char *text, size_t size) {
  size_t n = put_rest(after(text, size, 0), f->n == 0 ? "-" : "");
  for (uint32_t i = 0; i < f->n; i++) {
    n += put_rest(after(text, size, n), i == 0 ? "" : " ");
    rest r = after(text, size, n);
    n += fsched_axis_print(f->entry[i].axis, r.text, r.size);
    r = after(text, size, n);
    n += (size_t)snprintf(r.text, r.size, ":%" PRIu64, f->entry[i].epoch);
  }
  return n + put_rest(after(text, size, n), f->tainted ? " tainted" : "");
}
