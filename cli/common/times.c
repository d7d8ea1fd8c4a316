/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/common/times.h"

void fs_times_add(fs_times *times, const char *name, const char *what, uint64_t ns) {
  assert(times->n < FS_TIMES_MOST && name != NULL);
  times->row[times->n].name = name;
  times->row[times->n].what = what;
  times->row[times->n++].ns = ns;
}

static void put_row(fs_text *t, const char *name, const char *what, uint64_t ns, uint64_t total) {
  uint64_t us = (ns + 500) / 1000;
  /* The share is in thousandths; both times are below 2^54 ns, which is half a year. */
  uint64_t share = total == 0 ? 0 : (ns * 1000 + total / 2) / total;
  fs_text_printf(t, "  %-10s %8llu.%03llu ms %5llu.%llu %%", name, (unsigned long long)(us / 1000),
                 (unsigned long long)(us % 1000), (unsigned long long)(share / 10),
                 (unsigned long long)(share % 10));
  fs_text_printf(t, "%s%s\n", what == NULL ? "" : "  ", what == NULL ? "" : what);
}

static void put_json(const fs_times *times, uint64_t total, fs_text *t) {
  fs_text_puts(t, "{\"times\": [");
  for (uint32_t i = 0; i < times->n; i++) {
    fs_text_puts(t, i == 0 ? "{\"name\": " : ", {\"name\": ");
    fs_text_json_string(t, times->row[i].name);
    fs_text_printf(t, ", \"ns\": %llu}", (unsigned long long)times->row[i].ns);
  }
  fs_text_printf(t, "], \"total_ns\": %llu}\n", (unsigned long long)total);
}

void fs_times_put(const fs_times *times, bool json, fs_text *t) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < times->n; i++) {
    total += times->row[i].ns;
  }
  if (json) {
    put_json(times, total, t);
    return;
  }
  for (uint32_t i = 0; i < times->n; i++) {
    put_row(t, times->row[i].name, times->row[i].what, times->row[i].ns, total);
  }
  put_row(t, "total", NULL, total, total);
}
