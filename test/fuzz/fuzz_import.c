/* SPDX-License-Identifier: Apache-2.0 */
/* Instances of other tools; each text is read in every format.  What is written must be a graph
 * file, and its schedule can be exported again. */
#include "fsched/import.h"
#include "fuzz/kit.h"

static void compile(fs_fuzz *f, fsched_format format, const fsched_graph *graph) {
  fsched_schedule *s = NULL;
  char *text = NULL;
  size_t n = 0;
  fsched_status status = fsched_compile(f->ctx, graph, NULL, &s, NULL);
  if (fs_fuzz_met(f, status, FS_FUZZ_MAY(FSCHED_OK) | FS_FUZZ_MAY(FSCHED_INFEASIBLE), "compile")) {
    (void)fs_fuzz_met(f, fsched_export(f->ctx, format, s, &text, &n),
                      FS_FUZZ_MAY(FSCHED_OK) | FS_FUZZ_MAY(FSCHED_BAD_INPUT), "export");
    fsched_text_free(f->ctx, text, n);
  }
  fsched_schedule_destroy(s);
}

static void meet(fsched_format format, const uint8_t *data, size_t size) {
  fs_fuzz f;
  fs_fuzz_begin(&f);
  char *yaml = NULL;
  size_t n = 0;
  fsched_graph *graph = NULL;
  fsched_status status =
      fsched_import(f.ctx, format, "fuzz", (const char *)data, size, NULL, &yaml, &n);
  unsigned may = FS_FUZZ_MAY(FSCHED_OK) | FS_FUZZ_MAY(FSCHED_INFEASIBLE);
  if (fs_fuzz_met(&f, status, may | FS_FUZZ_MAY(FSCHED_BAD_INPUT), "import") &&
      fs_fuzz_met(&f, fsched_graph_parse(f.ctx, "made.yaml", yaml, n, NULL, &graph), may,
                  "reading what was imported") &&
      fsched_graph_ops(graph) <= FS_FUZZ_OPS) {
    compile(&f, format, graph);
  }
  fsched_graph_destroy(graph);
  fsched_text_free(f.ctx, yaml, n);
  fs_fuzz_end(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  for (uint32_t format = 0; format < fsched_format_count(); format++) {
    meet((fsched_format)format, data, size);
  }
  return 0;
}
