/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: a profile that is read is written and read again, reported, and applied to a graph. */
#include "fsched/profile.h"
#include "fuzz/kit.h"

enum { OK_ONLY = FS_FUZZ_MAY(FSCHED_OK) };

static void there_and_back(fs_fuzz *f, const fsched_profile *p) {
  char *text = NULL, *twice = NULL;
  size_t n = 0, m = 0;
  fsched_profile *again = NULL;
  if (fs_fuzz_met(f, fsched_profile_json(f->ctx, p, &text, &n), OK_ONLY, "JSON") &&
      fs_fuzz_met(f, fsched_profile_parse(f->ctx, "json", text, n, &again), OK_ONLY,
                  "reading a profile that was written") &&
      fs_fuzz_met(f, fsched_profile_json(f->ctx, again, &twice, &m), OK_ONLY, "JSON again")) {
    fs_fuzz_must(n == m && memcmp(text, twice, n) == 0, "a profile changes by being written");
  }
  fsched_profile_destroy(again);
  fsched_text_free(f->ctx, text, n);
  fsched_text_free(f->ctx, twice, m);
}

static void report(fs_fuzz *f, const fsched_profile *p, fsched_report_format format) {
  fsched_report_options o = {.size = sizeof o, .format = format, .all = 1};
  char *text = NULL;
  size_t n = 0;
  (void)fs_fuzz_met(f, fsched_profile_report(f->ctx, p, &o, &text, &n), OK_ONLY, "report");
  fsched_text_free(f->ctx, text, n);
}

static void apply(fs_fuzz *f, const fsched_profile *p) {
  fsched_graph *graph = fs_fuzz_graph(f->ctx, "test/fuzz/spill.yaml");
  fsched_profile_use use = {.size = sizeof use};
  if (fs_fuzz_met(f, fsched_graph_apply_profile(f->ctx, graph, p, &use),
                  OK_ONLY | FS_FUZZ_MAY(FSCHED_BAD_INPUT), "apply")) {
    fsched_schedule *s = NULL;
    (void)fs_fuzz_met(f, fsched_compile(f->ctx, graph, NULL, &s, NULL), OK_ONLY, "compile");
    fsched_schedule_destroy(s);
  }
  fsched_graph_destroy(graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fs_fuzz f;
  fs_fuzz_begin(&f);
  fsched_profile *p = NULL;
  if (fs_fuzz_met(&f, fsched_profile_parse(f.ctx, "fuzz.json", (const char *)data, size, &p),
                  OK_ONLY | FS_FUZZ_MAY(FSCHED_BAD_INPUT), "profile")) {
    there_and_back(&f, p);
    report(&f, p, FSCHED_REPORT_TEXT);
    report(&f, p, FSCHED_REPORT_JSON);
    apply(&f, p);
  }
  fsched_profile_destroy(p);
  fs_fuzz_end(&f);
  return 0;
}
