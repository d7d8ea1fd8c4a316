/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_smoke [--quick|--all] GRAPH...: damaged input never causes a crash, a hang, a leak, or a
 * failure without a message.
 *
 * The inputs are made from each graph file, and from the stream, the stream's JSON and the schedule
 * JSON made of it: every prefix (of texts beyond 10,000 bytes some 5,000 prefixes, equally far
 * apart) and 5,000 texts with replaced bytes, so that two files make 10,000 of each kind; --all:
 * every prefix of everything and 10,000 with replaced bytes; --quick: some hundred of each.
 * Streams are also tried with the checksum made right again, so that the checks behind it are
 * reached; what verify then accepts is replayed.
 *
 * Batches run in child processes; a child writes to shared memory where it is, so that the input
 * that killed it is known and kept as fuzz-fault.bin.  All choices come from a fixed seed. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "fsched/replay.h"
#include "fsched/verify.h"
#include "model/stream/stream.h"

enum {
  FLIPS = 5000,       /* per class */
  FLIPS_ALL = 10000,  /* with --all */
  SHORT_TEXT = 10000, /* bytes of texts whose every prefix is tried */
  PREFIXES = 5000,    /* per class, about, of longer ones unless --all */
  QUICK = 300,        /* inputs per class with --quick */
  BATCH = 1000,       /* inputs per child */
  LIMIT_SECONDS = 20, /* per input; far more than any of them needs */
  SMALL_OPS = 50,     /* graphs that are compiled every time; larger ones now and then */
  SOMETIMES = 100,
  MAX_JOBS = 16,
  SHORT_COPY = 1 << 16, /* prefixes up to here get a block of their own, for the sanitizer */
};

typedef struct fuzz_smoke_bytes {
  char *at;
  size_t n;
} fuzz_smoke_bytes;

/* The allocator of the contexts: counts what is out. */
/* It is called from any thread, as a replay has several. */
static void *counting(void *user, void *block, size_t old_size, size_t new_size) {
  size_t *out = user;
  if (new_size == 0) {
    free(block);
    (void)__atomic_sub_fetch(out, block == NULL ? 0 : old_size, __ATOMIC_RELAXED);
    return NULL;
  }
  void *grown = realloc(block, new_size);
  if (grown != NULL) {
    (void)__atomic_add_fetch(out, new_size - (block == NULL ? 0 : old_size), __ATOMIC_RELAXED);
  }
  return grown;
}

typedef struct fuzz_smoke_subject {
  const char *name;
  const fsched_graph *graph; /* the undamaged one */
  size_t index;
} fuzz_smoke_subject;

/* One way to use an input.  Returns the status, and in *allowed a bit for each status that is
 * right. */
typedef fsched_status (*consumer)(fsched_context *ctx, const fuzz_smoke_subject *s,
                                  fuzz_smoke_bytes input, unsigned *allowed);
#define MAY(status) (1u << (status))

static const fsched_read_options unrolled = {.size = sizeof unrolled, .unroll = 1};

static fsched_status use_graph(fsched_context *ctx, const fuzz_smoke_subject *s,
                               fuzz_smoke_bytes input, unsigned *allowed) {
  *allowed = MAY(FSCHED_OK) | MAY(FSCHED_BAD_INPUT) | MAY(FSCHED_INFEASIBLE) |
             MAY(FSCHED_SYSTEM) | /* the target is no file */
             MAY(FSCHED_USAGE);   /* a parameter without a value */
  fsched_graph *graph = NULL;
  fsched_status status = fsched_graph_parse(ctx, "-", input.at, input.n, &unrolled, &graph);
  if (status == FSCHED_OK && (fsched_graph_ops(graph) <= SMALL_OPS || s->index % SOMETIMES == 0)) {
    fsched_compile_options o = {.size = sizeof o, .verify = 1};
    fsched_schedule *schedule = NULL;
    fsched_program *program = NULL;
    status = fsched_compile(ctx, graph, &o, &schedule, &program);
    fsched_program_destroy(program);
    fsched_schedule_destroy(schedule);
  }
  fsched_graph_destroy(graph);
  return status;
}

static fsched_status use_stream(fsched_context *ctx, const fuzz_smoke_subject *s,
                                fuzz_smoke_bytes input, unsigned *allowed) {
  (void)s;
  *allowed = MAY(FSCHED_BAD_INPUT); /* no damage passes the checksum */
  fsched_program *program = NULL;
  fsched_status status = fsched_program_borrow(ctx, "-", input.at, input.n, &program);
  fsched_program_destroy(program);
  if (status == FSCHED_BAD_INPUT) { /* a copy is refused, too */
    status = fsched_program_load(ctx, "-", input.at, input.n, &program);
    fsched_program_destroy(program);
  }
  return status;
}

static fsched_status show_program(fsched_context *ctx, const fsched_program *program) {
  char *text = NULL;
  size_t length = 0;
  fsched_status status = fsched_program_text(ctx, program, &text, &length);
  if (status == FSCHED_OK) {
    fsched_text_free(ctx, text, length);
    status = fsched_program_json(ctx, program, &text, &length);
  }
  if (status == FSCHED_OK) {
    fsched_text_free(ctx, text, length);
  }
  return status;
}

/* A stream that verify accepts runs to its end and computes what the sequential evaluation does. */
static fsched_status replay_program(fsched_context *ctx, const fsched_program *program) {
  fsched_replay_options o = {.size = sizeof o, .check = 1, .memory_limit_log2 = 24};
  fsched_replay_result result = {.size = sizeof result};
  return fsched_replay_cpu(ctx, program, &o, &result);
}

static fsched_status use_fixed_stream(fsched_context *ctx, const fuzz_smoke_subject *s,
                                      fuzz_smoke_bytes input, unsigned *allowed) {
  *allowed = MAY(FSCHED_OK) | MAY(FSCHED_BAD_INPUT) | MAY(FSCHED_WRONG);
  if (input.n >= sizeof(fs_stream_header)) {
    fs_stream_header *header = (fs_stream_header *)(void *)input.at;
    header->checksum = 0;
    header->checksum = fs_crc32c(0, input.at, input.n);
  }
  fsched_program *program = NULL;
  fsched_status status = fsched_program_load(ctx, "-", input.at, input.n, &program);
  if (status == FSCHED_OK) {
    status = show_program(ctx, program);
  }
  if (status == FSCHED_OK) {
    status = fsched_verify_program(ctx, program, NULL);
  }
  if (status == FSCHED_OK && fsched_graph_ops(s->graph) <= SMALL_OPS) {
    /* A changed size may exceed the limit, and a changed kernel may be unknown: both are
     * reported. */
    *allowed |= MAY(FSCHED_SYSTEM) | MAY(FSCHED_REPLAY);
    status = replay_program(ctx, program);
  }
  fsched_program_destroy(program);
  return status;
}

static fsched_status use_schedule(fsched_context *ctx, const fuzz_smoke_subject *s,
                                  fuzz_smoke_bytes input, unsigned *allowed) {
  *allowed = MAY(FSCHED_OK) | MAY(FSCHED_BAD_INPUT) | MAY(FSCHED_WRONG);
  fsched_schedule *schedule = NULL;
  fsched_status status = fsched_schedule_parse(ctx, s->graph, "-", input.at, input.n, &schedule);
  if (status == FSCHED_OK) {
    status = fsched_verify_schedule(ctx, s->graph, schedule);
  }
  fsched_schedule_destroy(schedule);
  return status;
}

static fsched_status use_assembly(fsched_context *ctx, const fuzz_smoke_subject *s,
                                  fuzz_smoke_bytes input, unsigned *allowed) {
  (void)s;
  *allowed = MAY(FSCHED_OK) | MAY(FSCHED_BAD_INPUT);
  fsched_program *program = NULL;
  fsched_status status = fsched_program_assemble(ctx, "-", input.at, input.n, &program);
  fsched_program_destroy(program);
  return status;
}

/* What was wrong with the use of an input, or NULL. */
static const char *fault_of(consumer use, const fuzz_smoke_subject *s, fuzz_smoke_bytes input) {
  static const char *const wrong[] = {"status 0", "status 1", "status 2", "status 3",
                                      "status 4", "status 5", "status 6"};
  size_t out = 0;
  unsigned allowed = 0;
  const char *fault = NULL;
  fsched_context_options o = {.size = sizeof o, .reallocate = counting, .user = &out};
  fsched_context *ctx;
  if (fsched_context_create(&o, &ctx) != FSCHED_OK) {
    return "no context";
  }
  fsched_status status = use(ctx, s, input, &allowed);
  if ((allowed >> status & 1) == 0) {
    fault = wrong[status];
  } else if (status != FSCHED_OK && fsched_diag_count(ctx) == 0) {
    fault = "failed without a diagnostic";
  } else if (status == FSCHED_OK && fsched_diag_errors(ctx) > 0) {
    fault = "done in spite of an error";
  }
  fsched_context_destroy(ctx);
  return fault == NULL && out != 0 ? "leak" : fault;
}

/* A set of inputs made of one valid text. */
typedef struct class {
  const char *file, *what;
  consumer use;
  const fsched_graph *graph;
  fuzz_smoke_bytes valid;
  bool prefixes; /* otherwise with replaced bytes */
  size_t count, step;
} class;

static uint64_t mix(uint64_t x) { /* splitmix64 */
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* The index-th input; *owned is to be freed when not NULL. */
static fuzz_smoke_bytes make_input(const class *c, size_t index, char **owned) {
  fuzz_smoke_bytes input = {c->valid.at, c->valid.n};
  *owned = NULL;
  if (c->prefixes) {
    input.n = index * c->step;
    if (input.n > SHORT_COPY) {
      return input;
    }
  }
  *owned = malloc(input.n + (input.n == 0));
  if (*owned == NULL) {
    exit(EXIT_FAILURE);
  }
  memcpy(*owned, input.at, input.n);
  input.at = *owned;
  if (!c->prefixes) {
    uint64_t r = mix(index);
    input.at[r % input.n] ^= (char)(1 + (r >> 40) % 255);
  }
  return input;
}

static void keep_fault(fuzz_smoke_bytes input) {
  FILE *f = fopen("fuzz-fault.bin", "wb");
  if (f != NULL) {
    (void)!fwrite(input.at, 1, input.n, f);
    (void)fclose(f);
  }
}

static void report(const class *c, size_t index, const char *fault) {
  char *owned;
  keep_fault(make_input(c, index, &owned));
  free(owned);
  printf("FAIL %s: %s %zu: %s (input kept in fuzz-fault.bin)\n", c->file, c->what, index, fault);
}

/* Runs in the child, which exits with 0 when all inputs [begin, end) passed; *at is the current
 * one. */
static void run_batch(const class *c, size_t begin, size_t end, volatile size_t *at) {
  for (size_t i = begin; i < end; i++) {
    *at = i;
    (void)alarm(LIMIT_SECONDS);
    char *owned;
    fuzz_smoke_bytes input = make_input(c, i, &owned);
    const char *fault = fault_of(c->use, &(fuzz_smoke_subject){c->file, c->graph, i}, input);
    free(owned);
    if (fault != NULL) {
      report(c, i, fault);
      exit(EXIT_FAILURE);
    }
  }
  exit(EXIT_SUCCESS); /* by way of exit handlers, one of which is the leak checker */
}

typedef struct fuzz_smoke_pool {
  pid_t pid[MAX_JOBS];
  size_t *at; /* shared with the children */
  unsigned jobs, busy;
} fuzz_smoke_pool;

/* Waits for one child; false when it failed. */
static bool reap(fuzz_smoke_pool *p, const class *c) {
  int status;
  pid_t pid = wait(&status);
  unsigned slot = 0;
  while (slot < p->jobs && p->pid[slot] != pid) {
    slot++;
  }
  if (pid < 0 || slot == p->jobs) {
    return false;
  }
  p->pid[slot] = 0;
  p->busy--;
  if (WIFSIGNALED(status)) {
    report(c, p->at[slot], WTERMSIG(status) == SIGALRM ? "hang" : strsignal(WTERMSIG(status)));
  } else if (WEXITSTATUS(status) > EXIT_FAILURE) {
    report(c, p->at[slot], "sanitizer (the input may be an earlier one of the batch)");
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

static bool start(fuzz_smoke_pool *p, const class *c, size_t begin, size_t end) {
  unsigned slot = 0;
  while (p->pid[slot] != 0) {
    slot++;
  }
  (void)fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    run_batch(c, begin, end, &p->at[slot]);
  }
  p->pid[slot] = pid < 0 ? 0 : pid;
  p->busy += pid > 0;
  return pid > 0;
}

static bool run_class(fuzz_smoke_pool *p, const class *c) {
  bool good = true;
  for (size_t begin = 0; begin < c->count && good; begin += BATCH) {
    if (p->busy == p->jobs) {
      good = reap(p, c);
    }
    good = good && start(p, c, begin, begin + BATCH < c->count ? begin + BATCH : c->count);
  }
  while (p->busy > 0) {
    good = reap(p, c) && good;
  }
  return good;
}

typedef struct fuzz_smoke_totals {
  unsigned passed, failed;
} fuzz_smoke_totals;

typedef enum effort { USUAL, SHORT, ALL } effort;

/* Bytes from one prefix to the next. */
static size_t prefix_step(size_t length, effort how) {
  if (how == ALL || (how == USUAL && length <= SHORT_TEXT)) {
    return 1;
  }
  return length / (how == USUAL ? PREFIXES : QUICK) + 1;
}

/* Both kinds of damage to one valid text. */
static void damage(fuzz_smoke_pool *p, class c, effort how, fuzz_smoke_totals *sum) {
  static const size_t flips[] = {[USUAL] = FLIPS, [SHORT] = QUICK, [ALL] = FLIPS_ALL};
  const char *what = c.what;
  for (int kind = 0; kind < 2; kind++) {
    char name[64];
    (void)snprintf(name, sizeof name, "%s %s", what, kind == 0 ? "prefix" : "flip");
    c.what = name;
    c.prefixes = kind == 0;
    c.step = prefix_step(c.valid.n, how);
    c.count = kind == 0 ? (c.valid.n + c.step - 1) / c.step : flips[how];
    bool good = run_class(p, &c);
    *(good ? &sum->passed : &sum->failed) += 1;
    if (how != SHORT) {
      printf("%s: %zu x %s\n", c.file, c.count, name);
    }
  }
}

static fuzz_smoke_bytes read_whole(const char *path) {
  fuzz_smoke_bytes b = {NULL, 0};
  FILE *f = fopen(path, "rb");
  if (f == NULL) {
    return b;
  }
  char block[4096];
  size_t n;
  while ((n = fread(block, 1, sizeof block, f)) > 0) {
    char *grown = realloc(b.at, b.n + n);
    if (grown == NULL) {
      break;
    }
    memcpy(grown + b.n, block, n);
    b = (fuzz_smoke_bytes){grown, b.n + n};
  }
  (void)fclose(f);
  return b;
}

static bool fuzz_file(fsched_context *ctx, fuzz_smoke_pool *p, const char *file, effort how,
                      fuzz_smoke_totals *sum) {
  fuzz_smoke_bytes text = read_whole(file), json = {NULL, 0}, plan = {NULL, 0};
  fsched_graph *graph = NULL;
  fsched_schedule *schedule = NULL;
  fsched_program *program = NULL;
  bool good = text.at != NULL &&
              fsched_graph_parse(ctx, file, text.at, text.n, &unrolled, &graph) == FSCHED_OK &&
              fsched_compile(ctx, graph, NULL, &schedule, &program) == FSCHED_OK &&
              fsched_program_json(ctx, program, &json.at, &json.n) == FSCHED_OK &&
              fsched_schedule_json(ctx, schedule, &plan.at, &plan.n) == FSCHED_OK;
  if (good) {
    fuzz_smoke_bytes stream;
    /* It is only copied from. */
    stream.at = (char *)(uintptr_t)fsched_program_bytes(program, &stream.n);
    bool small = fsched_graph_ops(graph) <= SMALL_OPS;
    const class classes[] = {
        {.what = "graph", .use = use_graph, .valid = text},
        {.what = "stream", .use = use_stream, .valid = stream},
        {.what = "stream with checksum", .use = use_fixed_stream, .valid = stream},
        {.what = "stream in JSON", .use = use_assembly, .valid = json},
        {.what = "schedule in JSON", .use = use_schedule, .valid = plan},
    };
    for (size_t i = 0; i < (small ? sizeof classes / sizeof classes[0] : 2); i++) {
      class c = classes[i];
      c.file = file;
      c.graph = graph;
      damage(p, c, how, sum);
    }
  }
  fsched_text_free(ctx, plan.at, plan.n);
  fsched_text_free(ctx, json.at, json.n);
  fsched_program_destroy(program);
  fsched_schedule_destroy(schedule);
  fsched_graph_destroy(graph);
  free(text.at);
  return good;
}

int main(int argc, char **argv) {
  effort how = USUAL;
  if (argc > 1 && argv[1][0] == '-') {
    how = strcmp(argv[1], "--all") == 0 ? ALL : SHORT;
  }
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  fuzz_smoke_pool p = {.jobs = processors < 1          ? 1
                               : processors > MAX_JOBS ? MAX_JOBS
                                                       : (unsigned)processors};
  p.at = mmap(NULL, MAX_JOBS * sizeof *p.at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
              0);
  fsched_context *ctx;
  if (p.at == MAP_FAILED || fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    return EXIT_FAILURE;
  }
  fuzz_smoke_totals sum = {0, 0};
  for (int i = how == USUAL ? 1 : 2; i < argc; i++) {
    if (!fuzz_file(ctx, &p, argv[i], how, &sum)) {
      printf("FAIL %s does not compile undamaged\n", argv[i]);
      sum.failed++;
    }
  }
  fsched_context_destroy(ctx);
  printf("%u passed, %u failed\n", sum.passed, sum.failed);
  return sum.failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
