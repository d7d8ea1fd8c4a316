/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules in JSON, each read for every graph in test/fuzz.  A schedule that is verified can be
 * drawn. */
#include "fsched/import.h"
#include "fsched/verify.h"
#include "fuzz/kit.h"

static const char *const graphs[] = {"test/fuzz/barrier.yaml", "test/fuzz/block.yaml",
                                     "test/fuzz/spill.yaml"};

static void show(fs_fuzz *f, const fsched_schedule *s) {
  char *text = NULL;
  size_t n = 0;
  (void)fs_fuzz_met(f, fsched_schedule_svg(f->ctx, s, NULL, &text, &n), FS_FUZZ_MAY(FSCHED_OK),
                    "svg");
  fsched_text_free(f->ctx, text, n);
  for (uint32_t format = 0; format < fsched_format_count(); format++) {
    text = NULL;
    n = 0;
    (void)fs_fuzz_met(f, fsched_export(f->ctx, (fsched_format)format, s, &text, &n),
                      FS_FUZZ_MAY(FSCHED_OK) | FS_FUZZ_MAY(FSCHED_BAD_INPUT), "export");
    fsched_text_free(f->ctx, text, n);
  }
}

static void meet(const char *path, const uint8_t *data, size_t size) {
  fs_fuzz f;
  fs_fuzz_begin(&f);
  fsched_graph *graph = fs_fuzz_graph(f.ctx, path);
  fsched_schedule *s = NULL;
  fsched_status status =
      fsched_schedule_parse(f.ctx, graph, "fuzz.json", (const char *)data, size, &s);
  if (fs_fuzz_met(&f, status, FS_FUZZ_MAY(FSCHED_OK) | FS_FUZZ_MAY(FSCHED_BAD_INPUT), "schedule") &&
      fs_fuzz_met(&f, fsched_verify_schedule(f.ctx, graph, s),
                  FS_FUZZ_MAY(FSCHED_OK) | FS_FUZZ_MAY(FSCHED_WRONG), "verify")) {
    show(&f, s);
  }
  fsched_schedule_destroy(s);
  fsched_graph_destroy(graph);
  fs_fuzz_end(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
    meet(graphs[i], data, size);
  }
  return 0;
}
