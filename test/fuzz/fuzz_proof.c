/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs (fsched-proof(5)) about a graph whose shortest schedule takes 12 ticks, one whose shortest
 * takes 10 and 8 bytes of m, and one whose copies are open, of 10: none that is accepted shows
 * more. */
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

/* c waits until x has left, and d until it has come back. */
static const char open_copies[] =
    "fsched: 1\nname: g\ntarget:\n"
    "  queues: [{name: m}, {name: d, class: copy}]\n"
    "  memories:\n"
    "    - {name: s, capacity: 5, backing: far, spill: {on: copy, write: {fixed: 2}, "
    "read: {fixed: 2}}}\n"
    "    - {name: far}\n"
    "buffers: [{name: x, size: 3}, {name: y, size: 2}, {name: z, size: 3}]\n"
    "ops:\n"
    "  - {name: a, on: m, time: 2, args: [{out: x}]}\n"
    "  - {name: b, on: m, time: 2, args: [{out: y}], after: [a]}\n"
    "  - {name: c, on: m, time: 2, args: [{in: y}, {out: z}], after: [b]}\n"
    "  - {name: d, on: m, time: 2, args: [{in: x}], after: [c]}\n";
enum { OPEN_OPTIMUM = 10, OPEN_PEAK = 5 };

/* The same of a graph with one memory that is bounded, the first. */
static void check_memory(fs_fuzz *f, const uint8_t *data, size_t size, const char *of,
                         uint64_t optimum, uint64_t most) {
  fsched_graph *graph = NULL;
  if (fs_fuzz_met(f, fsched_graph_parse(f->ctx, "g.yaml", of, strlen(of), NULL, &graph),
                  FS_FUZZ_MAY(FSCHED_OK), "graph")) {
    uint64_t bound = 0, peak[2] = {0};
    fsched_status status =
        fsched_verify_proofs(f->ctx, graph, (const char *)data, size, "fuzz.proof", &bound, peak);
    bool shown = fs_fuzz_met(
        f, status,
        FS_FUZZ_MAY(FSCHED_OK) | FS_FUZZ_MAY(FSCHED_BAD_INPUT) | FS_FUZZ_MAY(FSCHED_WRONG),
        "proof");
    fs_fuzz_must(shown || (bound == 0 && peak[0] == 0), "a bound without a proof");
    fs_fuzz_must(bound <= optimum && peak[0] <= most && peak[1] == 0, "a proof of what is false");
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
  check_memory(&f, data, size, given, GIVEN_OPTIMUM, GIVEN_PEAK);
  check_memory(&f, data, size, open_copies, OPEN_OPTIMUM, OPEN_PEAK);
  fs_fuzz_end(&f);
  return 0;
}
