/* SPDX-License-Identifier: Apache-2.0 */
/* shape NAME N writes a graph file of that shape whose length is in proportion to N; without
 * arguments it prints the names.  Each shape has something for which an algorithm could take
 * quadratic time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned u;

static u root_of(u n) {
  u r = 1;
  while ((r + 1) * (r + 1) <= n) {
    r++;
  }
  return r;
}

/* Writes queues q0..., one memory without limit, and "ops:". */
static void head(u queues, const char *memories, const char *more) {
  printf("fsched: 1\ntarget:\n  queues:\n");
  for (u i = 0; i < queues; i++) {
    printf("    - {name: q%u}\n", i);
  }
  printf("    - {name: dma, class: copy}\n  memories:\n%s%s", memories, more);
}

static const char unbounded[] = "    - {name: ddr}\n";

static void ops(void) { printf("ops:\n"); }

static void chain(u n) {
  head(3, unbounded, "");
  ops();
  for (u i = 0; i < n; i++) {
    printf("  - {name: o%u, on: q%u, args: [", i, i % 3);
    if (i > 0) {
      printf("{in: b%u}, ", i - 1);
    }
    printf("{out: b%u, size: 4}]}\n", i);
  }
}

static void star(u n) {
  head(3, unbounded, "");
  ops();
  printf("  - {name: o, on: q0, args: [{out: b, size: 4}]}\n");
  for (u i = 0; i < n; i++) {
    printf("  - {name: o%u, on: q%u, args: [{in: b}]}\n", i, i % 3);
  }
  printf("  - {name: end, on: q0, args: [{inout: b}]}\n");
}

/* All consumers read everything that all producers write. */
static void bipartite(u n) {
  u r = root_of(n);
  head(3, unbounded, "");
  ops();
  for (u i = 0; i < r; i++) {
    printf("  - {name: p%u, on: q%u, args: [{out: b%u, size: 4}]}\n", i, i % 3, i);
  }
  for (u i = 0; i < r; i++) {
    printf("  - {name: c%u, on: q%u, args: [", i, (i + 1) % 3);
    for (u k = 0; k < r; k++) {
      printf("%s{in: b%u}", k == 0 ? "" : ", ", k);
    }
    printf("]}\n");
  }
}

static void many_args(u n) {
  head(1, unbounded, "");
  printf("buffers:\n");
  for (u i = 0; i < n; i++) {
    printf("  - {name: b%u, size: 4, io: input}\n", i);
  }
  ops();
  printf("  - name: o\n    on: q0\n    args:\n");
  for (u i = 0; i < n; i++) {
    printf("      - {in: b%u}\n", i);
  }
}

static void versions(u n) {
  head(2, unbounded, "");
  ops();
  printf("  - {name: o, on: q0, args: [{out: b, size: 4}]}\n");
  for (u i = 0; i < n; i++) {
    printf("  - {name: o%u, on: q%u, args: [{inout: b}]}\n", i, i % 2);
  }
}

static void readers(u n) {
  head(3, unbounded, "");
  ops();
  printf("  - {name: o, on: q0, args: [{out: b, size: 4}]}\n");
  for (u i = 0; i < n; i++) {
    printf("  - {name: o%u, on: q%u, args: [{%s: b}]}\n", i, i % 3, i % 5 == 4 ? "inout" : "in");
  }
}

static void queues(u n) {
  head(n, unbounded, "");
  ops();
  printf("  - {name: o, on: q0, args: [{out: b, size: 4}]}\n");
  for (u i = 0; i < n; i++) {
    printf("  - {name: o%u, on: q%u, args: [{in: b}, {out: b%u, size: 4}]}\n", i, i, i);
  }
  printf("  - name: end\n    on: q0\n    args:\n");
  for (u i = 0; i < n; i++) {
    printf("      - {in: b%u}\n", i);
  }
}

static void names(u n) {
  static const char same[] = "a_rather_long_name_of_which_only_the_end_is_another";
  head(1, unbounded, "");
  ops();
  for (u i = 0; i < n; i++) {
    printf("  - {name: %s_%u, on: q0, args: [{out: %s_%u, size: 4}]}\n", same, i, same, i);
  }
}

static void gangs(u n) {
  head(4, unbounded, "");
  ops();
  for (u i = 0; i < n; i++) {
    printf("  - {name: o%u, on: [q%u, q%u], args: [", i, i % 4, (i + 1 + i / 4 % 3) % 4);
    if (i > 0) {
      printf("{in: b%u}, ", i - 1);
    }
    printf("{out: b%u, size: 4}]}\n", i);
  }
}

static void tiny(u n) {
  char memories[128];
  (void)snprintf(memories, sizeof memories, "    - {name: sram, capacity: %u}\n", n);
  head(2, memories, "");
  ops();
  for (u i = 0; i < n; i++) {
    printf("  - {name: o%u, on: q%u, args: [{out: b%u, size: 1}]}\n", i, i % 2, i);
  }
  for (u i = 0; i < n; i++) {
    printf("  - {name: r%u, on: q%u, args: [{in: b%u}]}\n", i, i % 2, i);
  }
}

/* The memory is half of what is live: every second buffer is spilled and comes back. */
static void spills(u n) {
  char memories[256];
  (void)snprintf(memories, sizeof memories,
                 "    - {name: sram, capacity: %u, backing: ddr, spill: {on: copy}}\n"
                 "    - {name: ddr}\n",
                 n / 2 + 2);
  head(2, memories, "");
  ops();
  for (u i = 0; i < n; i++) {
    printf("  - {name: o%u, on: q%u, args: [{out: b%u, size: 1}]}\n", i, i % 2, i);
  }
  for (u i = 0; i < n; i++) {
    printf("  - {name: r%u, on: q%u, args: [{in: b%u}]}\n", i, i % 2, i);
  }
}

static void three_queues(u n) {
  ops();
  for (u i = 0; i < n; i++) {
    printf("  - {name: o%u, on: q%u, args: [", i, i % 3);
    if (i > 4) {
      printf("{in: b%u}, {in: b%u}, ", i - 1, i - 5);
    }
    printf("{out: b%u, size: 4}]}\n", i);
  }
}

static void barriers(u n) {
  head(3, unbounded, "  sync: barrier\n  barriers: {count: 16}\n");
  three_queues(n);
}

/* In each group all ops of one queue wait for the same op of another. */
static void many_barriers(u n) {
  char more[96];
  (void)snprintf(more, sizeof more, "  sync: barrier\n  barriers: {count: %u}\n", n);
  head(3, unbounded, more);
  ops();
  for (u i = 0; i < n; i++) {
    printf("  - {name: o%u, on: q0, args: [{out: b%u, size: 4}]}\n", i, i);
  }
  for (u i = 0; i < n; i++) {
    printf("  - {name: r%u, on: q1, args: [{in: b%u}]}\n", i, n - 1 - i);
  }
}

static void blocks(u n) {
  head(3, "    - {name: sram, capacity: 64, placement: stack}\n", "  sync: block\n");
  three_queues(n);
}

/* Every queue waits for all the others. */
static void waits(u n) {
  u r = root_of(n);
  head(r, unbounded, "");
  ops();
  for (u round = 0; round < 2; round++) {
    for (u i = 0; i < r; i++) {
      printf("  - {name: o%u_%u, on: q%u, args: [{out: b%u_%u, size: 4}", round, i, i, round, i);
      for (u k = 0; round > 0 && k < r; k++) {
        printf(", {in: b%u_%u}", round - 1, k);
      }
      printf("]}\n");
    }
  }
}

static void in_place(u n) {
  head(2, "    - {name: sram, capacity: 8}\n", "");
  ops();
  printf("  - {name: o, on: q0, args: [{out: b, size: 4}]}\n");
  for (u i = 0; i < n; i++) {
    printf("  - {name: o%u, on: q%u, args: [{inout: b}]}\n", i, i % 2);
  }
}

static void zero(u n) {
  head(2, "    - {name: sram, capacity: 64}\n", "");
  ops();
  for (u i = 0; i < n; i++) {
    printf("  - {name: o%u, on: q%u, time: 0, args: [{out: b%u, size: 4}]}\n", i, i % 2, i);
  }
}

/* Each op comes after as many others as there are such rows. */
static void control(u n) {
  u r = root_of(n);
  head(3, unbounded, "");
  ops();
  for (u i = 0; i < 2 * r; i++) {
    printf("  - {name: o%u, on: q%u, after: [", i, i % 3);
    for (u k = 0; i >= r && k < r; k++) {
      printf("%so%u", k == 0 ? "" : ", ", k);
    }
    printf("]}\n");
  }
}

/* Ops write parts of one buffer, which then is read as a whole, and parts of it again. */
static void parts(u n) {
  head(3, unbounded, "");
  printf("buffers:\n  - {name: b, size: %u, io: output}\n", 4 * n);
  ops();
  printf("  - {name: o, on: q0, args: [{out: b}]}\n");
  for (u i = 0; i < n; i++) {
    printf("  - {name: o%u, on: q%u, args: [{inout: b, at: [%u, 4]}]}\n", i, i % 3, 4 * i);
  }
  for (u i = 0; i < n; i++) {
    printf("  - {name: r%u, on: q%u, args: [{in: b, at: [%u, 4]}]}\n", i, i % 3, 4 * (n - 1 - i));
  }
}

static void counted(u n) {
  head(3, "    - {name: ddr}\n    - {name: tokens, capacity: 7, placement: counted}\n",
       "  resources:\n    - {name: power, capacity: 9}\n");
  printf("buffers:\n");
  for (u i = 0; i < n; i++) {
    printf("  - {name: t%u, size: %u, memory: tokens}\n", i, 1 + i % 3);
  }
  ops();
  for (u i = 0; i < n; i++) {
    printf("  - {name: o%u, on: q%u, time: %u, uses: {power: %u}, args: [{out: t%u}]}\n", i, i % 3,
           1 + i % 7, 1 + i % 4, i);
  }
}

/* Independent ops follow one another, on any queue of a class. */
static void classes(u n) {
  head(64, unbounded, "");
  ops();
  for (u i = 0; i < n; i++) {
    printf("  - {name: o%u, on: compute, time: %u, args: [{out: b%u, size: 4}]}\n", i, 1 + i % 13,
           i);
  }
}

/* An op has many args, each of which takes the place of another. */
static void in_place_args(u n) {
  char memories[64];
  (void)snprintf(memories, sizeof memories, "    - {name: sram, capacity: %u}\n", 8 * n);
  head(1, memories, "");
  printf("buffers:\n");
  for (u i = 0; i < n; i++) {
    printf("  - {name: a%u, size: 4, io: input}\n", i);
  }
  ops();
  printf("  - name: o\n    on: q0\n    args:\n");
  for (u i = 0; i < n; i++) {
    printf("      - {in: a%u}\n      - {out: b%u, size: 4}\n", i, i);
  }
  printf("    inplace:\n");
  for (u i = 0; i < n; i++) {
    printf("      b%u: a%u\n", i, i);
  }
}

/* All args of an op are the same. */
static void same_args(u n) {
  static const char *const tag[] = {"in", "inout", "in"};
  head(2, unbounded, "");
  ops();
  printf("  - {name: o, on: q0, args: [{out: b, size: 4}]}\n");
  for (u i = 0; i < 3; i++) {
    printf("  - name: o%u\n    on: q%u\n    args:\n", i, i % 2);
    for (u k = 0; k < n; k++) {
      printf("      - {%s: b}\n", tag[i]);
    }
  }
}

static void counted_args(u n) {
  char memories[96];
  (void)snprintf(memories, sizeof memories,
                 "    - {name: tokens, capacity: %u, placement: counted}\n", n);
  head(2, memories, "");
  ops();
  for (u i = 0; i < 2; i++) {
    printf("  - name: o%u\n    on: q%u\n    args:\n", i, i);
    for (u k = 0; k < n; k++) {
      printf(i == 0 ? "      - {out: b%u, size: 1}\n" : "      - {in: b%u}\n", k);
    }
  }
}

/* There are as many slots as ops that run at once. */
static void slots(u n) {
  char more[48];
  (void)snprintf(more, sizeof more, "  concurrency: %u\n", n);
  head(n, unbounded, more);
  ops();
  for (u i = 0; i < 2 * n; i++) {
    printf("  - {name: o%u, on: q%u, time: %u, args: [{out: b%u, size: 4}]}\n", i, i % n, 1 + i % 7,
           i);
  }
}

/* A class has as many queues as there are ops. */
static void one_class(u n) {
  head(n, unbounded, "");
  ops();
  for (u i = 0; i < 2 * n; i++) {
    printf("  - {name: o%u, time: %u, args: [{out: b%u, size: 4}]}\n", i, 1 + i % 13, i);
  }
}

/* There are as many stars as each has points, and the points of one queue come after those of
 * another. */
static void stars(u n) {
  u r = root_of(n);
  head(3, unbounded, "");
  ops();
  for (u i = 0; i < r; i++) {
    printf("  - {name: o%u, on: q%u, args: [{out: b%u, size: 4}]}\n", i, i % 3, i);
    for (u k = 0; k < r; k++) {
      printf("  - {name: o%u_%u, on: q%u, args: [{in: b%u}]}\n", i, k, (i + k) % 3, i);
    }
  }
}

static void states(u n) {
  head(2, unbounded, "");
  printf("buffers:\n");
  for (u i = 0; i < n; i++) {
    printf("  - {name: b%u, size: 4, io: state}\n", i);
  }
  ops();
  for (u i = 0; i < n; i++) {
    printf("  - {name: o%u, on: q%u, args: [{inout: b%u}]}\n", i, i % 2, i);
  }
}

static void values(u n) {
  head(1, unbounded, "");
  ops();
  printf("  - name: o\n    args:\n      - {out: b, size: 4}\n");
  for (u i = 0; i < n; i++) {
    printf("      - {value: %u}\n", i);
  }
}

/* Every op has a kernel of its own. */
static void kernels(u n) {
  head(1, unbounded, "");
  ops();
  for (u i = 0; i < n; i++) {
    printf("  - {name: o%u, kernel: {builtin: nop, grid: [%u]}, args: [{out: b%u, size: 4}]}\n", i,
           1 + i, i);
  }
}

static void long_name(u n) {
  head(1, unbounded, "");
  ops();
  for (u i = 0; i < 2; i++) {
    printf("  - {name: o%u", i);
    for (u k = 0; k < n; k++) {
      printf("_%07u", k);
    }
    printf(", args: [{out: b%u, size: 4}]}\n", i);
  }
}

/* A tree, in which every op reads what two before it wrote. */
static void tree(u n) {
  head(3, unbounded, "");
  ops();
  for (u i = 0; i + 1 < n; i++) {
    printf("  - {name: o%u, on: q%u, args: [{out: b%u, size: 4}", i, i % 3, i);
    if (i >= n / 2) {
      printf(", {in: b%u}, {in: b%u}", 2 * (i - n / 2), 2 * (i - n / 2) + 1);
    }
    printf("]}\n");
  }
}

/* There are as many resources as ops. */
static void resources(u n) {
  head(2, unbounded, "  resources:\n");
  for (u i = 0; i < n; i++) {
    printf("    - {name: r%u, capacity: 2}\n", i);
  }
  ops();
  for (u i = 0; i < n; i++) {
    printf("  - {name: o%u, on: q%u, uses: {r%u: 1, r%u: 1}}\n", i, i % 2, i, (i + 1) % n);
  }
}

/* There are as many memories as ops. */
static void memories(u n) {
  head(2, unbounded, "");
  for (u i = 0; i < n; i++) {
    printf("    - {name: m%u, capacity: 64}\n", i);
  }
  ops();
  for (u i = 0; i < n; i++) {
    printf("  - {name: o%u, on: q%u, args: [{out: b%u, size: 8, memory: m%u}", i, i % 2, i, i);
    printf(i > 0 ? ", {in: b%u}]}\n" : "]}\n", i - 1);
  }
}

/* There are as many queues as there are pairs of ops that look at each other's. */
static void pairs(u n) {
  n = n / 2 * 2;
  head(n, unbounded, "");
  ops();
  for (u i = 0; i < n; i++) {
    printf("  - {name: a%u, on: q%u, args: [{out: b%u, size: 4}]}\n", i, i, i);
  }
  for (u i = 0; i < n; i++) {
    printf("  - {name: c%u, on: q%u, args: [{in: b%u}]}\n", i, i, i ^ 1);
  }
}

/* There are parts in series, each in a memory of its own. */
static void many_parts(u n) {
  head(2, unbounded, "");
  for (u i = 0; i < n; i++) {
    printf("    - {name: m%u, capacity: 64}\n", i);
  }
  ops();
  for (u i = 0; i < n; i++) {
    printf("  - {name: o%u, on: q0, args: [{out: a%u, size: 8, memory: m%u}", i, i, i);
    if (i > 0) {
      printf(", {in: b%u}, {in: c%u}", i - 1, i - 1);
    }
    printf("]}\n");
    printf("  - {name: p%u, on: q0, args: [{in: a%u}, {out: b%u, size: 8, memory: m%u}]}\n", i, i,
           i, i);
    printf("  - {name: r%u, on: q1, args: [{in: a%u}, {out: c%u, size: 8, memory: m%u}]}\n", i, i,
           i, i);
  }
}

/* Each memory spills, and one queue copies for all of them. */
static void spilling_memories(u n) {
  enum { ROUNDS = 3 };
  n = n / 3 + 1;
  head(2, unbounded, "");
  for (u i = 0; i < n; i++) {
    printf("    - {name: m%u, capacity: 16, backing: ddr, spill: {on: copy}}\n", i);
  }
  ops();
  for (u i = 0; i < ROUNDS * n; i++) {
    printf("  - {name: w%u, on: q0, args: [{out: b%u, size: 8, memory: m%u}]}\n", i, i, i % n);
  }
  printf("  - {name: z, on: q0, args: [{in: b%u}, {out: z, size: 8, memory: ddr}]}\n",
         ROUNDS * n - 1);
  for (u i = 0; i < ROUNDS * n; i++) {
    printf("  - {name: r%u, on: q1, args: [{in: b%u}, {in: z}]}\n", i, i);
  }
}

static const struct {
  const char *name;
  void (*write)(u n);
} shapes[] = {{"chain", chain},
              {"star", star},
              {"bipartite", bipartite},
              {"many_args", many_args},
              {"versions", versions},
              {"readers", readers},
              {"queues", queues},
              {"names", names},
              {"gangs", gangs},
              {"tiny", tiny},
              {"spills", spills},
              {"barriers", barriers},
              {"many_barriers", many_barriers},
              {"blocks", blocks},
              {"waits", waits},
              {"in_place", in_place},
              {"zero", zero},
              {"control", control},
              {"parts", parts},
              {"counted", counted},
              {"classes", classes},
              {"in_place_args", in_place_args},
              {"same_args", same_args},
              {"counted_args", counted_args},
              {"slots", slots},
              {"one_class", one_class},
              {"stars", stars},
              {"states", states},
              {"values", values},
              {"kernels", kernels},
              {"long_name", long_name},
              {"tree", tree},
              {"resources", resources},
              {"memories", memories},
              {"pairs", pairs},
              {"many_parts", many_parts},
              {"spilling_memories", spilling_memories}};

int main(int argc, char **argv) {
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    if (argc < 3) {
      printf("%s\n", shapes[i].name);
    } else if (strcmp(shapes[i].name, argv[1]) == 0) {
      shapes[i].write((u)strtoul(argv[2], NULL, 10));
      return EXIT_SUCCESS;
    }
  }
  return argc < 3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
