/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs (fsched-proof(5)) about a graph whose shortest schedule takes 12 ticks, and one whose
 * shortest takes 10 and 8 bytes of m: none that is accepted shows more. */
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

/* v takes 4 bytes up to 3 and, as d begins it again, from 6 on; s takes 1, and b 3 from 4 to 9. */
static const char given[] =
    "fsched: 1\nname: g\ntarget:\n"
    "  queues: [{name: q}, {name: p}, {name: o}]\n"
    "  memories: [{name: m, capacity: 12}]\n"
    "buffers: [{name: v, size: 4, memory: m}, {name: s, size: 1, memory: m, io: state}]\n"
    "ops:\n"
    "  - {name: a, on: q, time: 1, latency: 2, start: 0, args: [{out: v}]}\n"
    "  - {name: b, on: p, time: 2, latency: 5, start: 4, scratch: {m: 3}}\n"
    "  - {name: c, on: q, time: 1, start: 2, args: [{in: v}]}\n"
    "  - {name: d, on: q, time: 2, start: 6, args: [{out_existing: v}]}\n"
    "  - {name: e, on: q, time: 2, args: [{in: v}]}\n"
    "  - {name: f, on: o, time: 3}\n";
enum { GIVEN_OPTIMUM = 10, GIVEN_PEAK = 8 };

/* The same of the graph with given starts. */
static void check_given(fs_fuzz *f, const uint8_t *data, size_t size) {
  fsched_graph *graph = NULL;
  if (fs_fuzz_met(f, fsched_graph_parse(f->ctx, "g.yaml", given, strlen(given), NULL, &graph),
                  FS_FUZZ_MAY(FSCHED_OK), "graph")) {
    uint64_t bound = 0, peak[1] = {0};
    fsched_status status =
        fsched_verify_proofs(f->ctx, graph, (const char *)data, size, "fuzz.proof", &bound, peak);
    bool shown = fs_fuzz_met(
        f, status,
        FS_FUZZ_MAY(FSCHED_OK) | FS_FUZZ_MAY(FSCHED_BAD_INPUT) | FS_FUZZ_MAY(FSCHED_WRONG),
        "proof");
    fs_fuzz_must(shown || (bound == 0 && peak[0] == 0), "a bound without a proof");
    fs_fuzz_must(bound <= GIVEN_OPTIMUM && peak[0] <= GIVEN_PEAK, "a proof of what is false");
  }
  fsched_graph_destroy(graph);
}

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
  check_given(&f, data, size);
  fs_fuzz_end(&f);
  return 0;
}
