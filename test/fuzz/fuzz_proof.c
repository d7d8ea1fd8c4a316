/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs (fsched-proof(5)) about a graph whose shortest schedule takes 12 ticks: none that is
 * accepted shows more. */
#include "fsched/verify.h"
#include "fuzz/kit.h"

enum { OPTIMUM = 12 };

/* The ops on q0, and the gang, take 8 ticks; c is behind a, beside neither a nor the gang. */
static const char text[] =
    "fsched: 1\nname: g\ntarget:\n"
    "  queues: [{name: q0, class: c}, {name: q1, class: c}]\n"
    "  resources: [{name: r, capacity: 5}]\n"
    "  concurrency: 2\n"
    "ops:\n"
    "  - {name: a, on: q0, time: 3, uses: {r: 3}}\n"
    "  - {name: b, on: q0, time: 2, uses: {r: 3}}\n"
    "  - {name: c, on: q1, time: 4, uses: {r: 3}, after: [a]}\n"
    "  - {name: d, on: c, time: 2, uses: {r: 1}, after: [b]}\n"
    "  - {name: e, on: [q0, q1], time: 3}\n"
    "  - {name: z, on: q0, time: 0}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fs_fuzz f;
  fs_fuzz_begin(&f);
  fsched_graph *graph = NULL;
  if (fs_fuzz_met(&f, fsched_graph_parse(f.ctx, "g.yaml", text, strlen(text), NULL, &graph),
                  FS_FUZZ_MAY(FSCHED_OK), "graph")) {
    uint64_t bound = 0;
    fsched_status status =
        fsched_verify_proof(f.ctx, graph, (const char *)data, size, "fuzz.proof", &bound);
    bool shown = fs_fuzz_met(
        &f, status,
        FS_FUZZ_MAY(FSCHED_OK) | FS_FUZZ_MAY(FSCHED_BAD_INPUT) | FS_FUZZ_MAY(FSCHED_WRONG),
        "proof");
    fs_fuzz_must(shown || bound == 0, "a bound without a proof");
    fs_fuzz_must(bound <= OPTIMUM, "a proof of what is false");
  }
  fsched_graph_destroy(graph);
  fs_fuzz_end(&f);
  return 0;
}
