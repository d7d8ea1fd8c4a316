/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs of graphs whose memories are short: how many show that the schedule is optimal, and what
 * they cost to write and to check.
 *
 *      bench_proofs [NODES [GRAPHS [FIRST]]]
 *
 * The graphs are those of bench_spills; each is compiled without and with a proof, of so many nodes
 * at most, and the proof is checked.  Only graphs that are proven optimal without one count, and of
 * seconds and bytes only those whose proofs have open copies.  With FIRST, each graph has a line of
 * its own, from that seed on. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "fsched/verify.h"
#include "model/handle.h"
#include "spill_graphs.h"

static void fail(const char *what) {
  fprintf(stderr, "bench_proofs: %s\n", what);
  exit(EXIT_FAILURE);
}

static void need(fsched_context *ctx, fsched_status status) {
  if (status != FSCHED_OK) {
    fail(fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "a call failed");
  }
}

static double seconds_since(uint64_t begin) { return 1e-9 * (double)(fs_now_ns() - begin); }

typedef struct proof_set {
  uint32_t least, most; /* ops */
  bool store;
  uint32_t graphs, shown, open;          /* proven without a proof; with one; by open copies */
  double plain, written, checked, bytes; /* seconds; sums, of those with open copies */
} proof_set;

static void measure_proof(proof_set *sum, uint64_t seed, uint64_t nodes, int tells) {
  fsched_context *ctx;
  fsched_graph *g;
  fs_gen_params p = fs_spill_graph(seed, sum->least, sum->most, sum->store);
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    fail("no context");
  }
  fsched_status status = fs_gen_graph(ctx, &p, &g);
  if (status == FSCHED_INFEASIBLE) {
    fsched_context_destroy(ctx);
    return;
  }
  need(ctx, status);
  char *text = NULL;
  size_t n = 0;
  fsched_schedule *plain = NULL, *found = NULL;
  fsched_compile_options o = {
      .size = sizeof o, .refine = FSCHED_REFINE_SEARCH, .node_limit = nodes};
  uint64_t begin = fs_now_ns(), bound;
  status = fsched_compile(ctx, g, &o, &plain, NULL);
  double took = seconds_since(begin);
  if (status != FSCHED_OK || plain->schedule->makespan > plain->schedule->lower_bound) {
    fsched_schedule_destroy(plain);
    fsched_graph_destroy(g);
    fsched_context_destroy(ctx);
    return;
  }
  o.proof = &text;
  o.proof_length = &n;
  begin = fs_now_ns();
  need(ctx, fsched_compile(ctx, g, &o, &found, NULL));
  double written = seconds_since(begin);
  begin = fs_now_ns();
  status = fsched_verify_proof(ctx, g, text, n, "proof", &bound);
  double checked = seconds_since(begin);
  if (status != FSCHED_OK) {
    const fsched_diag *d = fsched_diag_get(ctx, fsched_diag_count(ctx) - 1);
    printf("seed %llu: refused at line %u: %s\n", (unsigned long long)seed, d->line, d->message);
  }
  bool open = n > 40 && strstr(text, "\nopen\n") != NULL;
  bool shown = status == FSCHED_OK && bound == plain->schedule->makespan;
  sum->graphs++;
  sum->shown += shown;
  sum->open += open;
  sum->plain += open ? took : 0;
  sum->written += open ? written : 0;
  sum->checked += open ? checked : 0;
  sum->bytes += open ? (double)n : 0;
  if (tells) {
    printf(
        "seed %llu: %u ops, optimum %llu, found %llu, shown %llu%s, %.3f s, %.3f s, %.3f s, %zu "
        "bytes\n",
        (unsigned long long)seed, p.n_ops, (unsigned long long)plain->schedule->makespan,
        (unsigned long long)found->schedule->makespan, (unsigned long long)bound,
        open ? ", open" : "", took, written, checked, n);
    fflush(stdout);
  }
  fsched_text_free(ctx, text, n);
  fsched_schedule_destroy(plain);
  fsched_schedule_destroy(found);
  fsched_graph_destroy(g);
  fsched_context_destroy(ctx);
}

int main(int argc, char **argv) {
  uint64_t nodes = argc > 1 ? (uint64_t)atoll(argv[1]) : 20000;
  uint32_t graphs = argc > 2 ? (uint32_t)atoi(argv[2]) : 30;
  uint64_t first = argc > 3 ? (uint64_t)atoll(argv[3]) : 0;
  proof_set sums[] = {{.least = 8, .most = 12, .store = true},
                      {.least = 13, .most = 20, .store = true},
                      {.least = 8, .most = 12},
                      {.least = 13, .most = 20}};
  printf("%-14s %7s %7s %7s %10s %10s %10s %10s\n", "ops, store", "optimal", "shown", "open",
         "plain s", "written s", "checked s", "MB");
  for (size_t k = 0; k < sizeof sums / sizeof sums[0]; k++) {
    proof_set *s = &sums[k];
    for (uint64_t seed = first; s->graphs < graphs && seed < first + 4 * graphs; seed++) {
      measure_proof(s, seed, nodes, argc > 3);
    }
    char name[32];
    (void)snprintf(name, sizeof name, "%u to %u%s", s->least, s->most, s->store ? "" : ", -");
    printf("%-14s %7u %7u %7u %10.3f %10.3f %10.3f %10.3f\n", name, s->graphs, s->shown, s->open,
           s->plain, s->written, s->checked, 1e-6 * s->bytes);
  }
  return 0;
}
