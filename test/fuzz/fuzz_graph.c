/* SPDX-License-Identifier: Apache-2.0 */
/* Graph files: a graph that is read is compiled, shown, verified and replayed. */
#include "fuzz/kit.h"
#include "model/kinds.h"

/* Whether loops run for less than 100 trips each: their unrolling takes time. */
static bool has_few_trips(const uint8_t *data, size_t size) {
  size_t digits = 0;
  for (size_t i = 0; i < size && digits < 3; i++) {
    digits = data[i] >= '0' && data[i] <= '9' ? digits + 1 : 0;
  }
  return digits < 3;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fs_fuzz f;
  fs_fuzz_begin(&f);
  fsched_graph *graph = NULL;
  /* The input is untrusted: `target: FILE` could read any file, and some files have no end. */
  static const char *const params[] = {"n=3"};
  const fsched_read_options read = {.size = sizeof read,
                                    .untrusted = 1,
                                    .unroll = has_few_trips(data, size),
                                    .params = params,
                                    .n_params = size % 7 == 0};
  fsched_status status =
      fsched_graph_parse(f.ctx, "fuzz.yaml", (const char *)data, size, &read, &graph);
  /* A short text takes little memory; a file that it names may take more. */
  fs_fuzz_must(size > 128 || read.unroll || !f.short_of_memory,
               "reading a graph took the memory of something else");
  if (fs_fuzz_met(&f, status,
                  FS_FUZZ_MAY(FSCHED_OK) | FS_FUZZ_MAY(FSCHED_BAD_INPUT) |
                      FS_FUZZ_MAY(FSCHED_INFEASIBLE) | FS_FUZZ_MAY(FSCHED_USAGE) |
                      FS_FUZZ_MAY(FSCHED_SYSTEM), /* the target is no file */
                  "graph") &&
      fsched_graph_ops(graph) <= FS_FUZZ_OPS) {
    /* The length of the input selects options, so that a file alone determines the run. */
    fsched_compile_options o = {.size = sizeof o,
                                .evict = (fsched_evict)(size % FS_N_EVICTS),
                                .seed = size % 3,
                                .barriers = size % 5 == 0 ? FSCHED_BARRIERS_AUTO : 0};
    fs_fuzz_compile(&f, graph, &o);
  }
  fsched_graph_destroy(graph);
  fs_fuzz_end(&f);
  return 0;
}
