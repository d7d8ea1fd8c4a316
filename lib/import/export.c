/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules as solutions.  First the graph is checked: the format must be able to express it, or
 * else the solution would belong to another instance.  Then a line is written per op, in the order
 * of the graph.
 *
 *   project   makespan M, then NUMBER START for each job
 *   strip     strip WIDTH HEIGHT, then x y w h for each rectangle
 *   memory    the table of the instance, with a column offset
 *   jobshop   makespan M, then for each job the starts of its operations */
#include <stdio.h>

#include "import/csv.h"
#include "model/graph.h"
#include "model/handle.h"

typedef struct exporter {
  fsched_context *ctx;
  const fs_schedule *s;
  const fsched_graph *g;
  const char *kind; /* "a project" */
  fs_text out;
} exporter;

#define refuse(x, pos, ...)                                                                    \
  fs_fail((x)->ctx, FSCHED_BAD_INPUT, FS_DIAG_EXPORT_SHAPE, (pos),                             \
          "export takes the schedules of graphs that import has made, or others of that form", \
          __VA_ARGS__)

static fs_pos op_pos(const exporter *x, uint32_t op) { return fs_op_pos(x->ctx, x->g, op); }

/* ---- features that a format lacks */

enum { HAS_ORDER = 1, HAS_USES = 2, HAS_STARTS = 4, HAS_PLACES = 8, HAS_QUEUES = 16 };

static fs_status check_target(const exporter *x, unsigned has) {
  const fs_target *t = &x->g->target;
  bool queues = !t->implicit_queues && !(has & HAS_QUEUES);
  const char *what = queues ? "queues" : t->concurrency != 0 ? "a limit of ops" : NULL;
  if (what != NULL) {
    return refuse(x, FS_NOWHERE, "the target of '%.80s' has %s, and %s has none", x->g->name, what,
                  x->kind);
  }
  return FSCHED_OK;
}

/* A feature of this op that the format lacks. */
static const char *stranger(const fsched_graph *g, uint32_t op, unsigned has) {
  return g->op_arg0[op + 1] > g->op_arg0[op]                                  ? "args"
         : !(has & HAS_ORDER) && g->pred0[op + 1] > g->pred0[op]              ? "predecessors"
         : !(has & HAS_USES) && g->op_use0[op + 1] > g->op_use0[op]           ? "uses"
         : !(has & HAS_PLACES) && g->op_scratch0[op + 1] > g->op_scratch0[op] ? "scratch"
         : !(has & HAS_STARTS) && g->op_start != NULL && g->op_start[op] != FS_TICK_NONE
             ? "a given start"
             : NULL;
}

static fs_status check_ops(const exporter *x, unsigned has) {
  for (uint32_t op = 0; op < x->g->n_ops; op++) {
    const char *what = stranger(x->g, op, has);
    if (what != NULL) {
      return refuse(x, op_pos(x, op), "op '%.80s' has %s, and %s has none", x->g->op_name[op], what,
                    x->kind);
    }
  }
  return FSCHED_OK;
}

/* Reports a target that has not just one memory, with a capacity and addresses, aligned to at most
 * `most_align`. */
static fs_status check_memory(const exporter *x, uint64_t most_align) {
  const fs_target *t = &x->g->target;
  if (t->n_memories != 1) {
    return refuse(x, FS_NOWHERE, "the target of '%.80s' has %u memories, and %s has one",
                  x->g->name, t->n_memories, x->kind);
  }
  const fs_memory *m = &t->memory[0];
  const char *what = !fs_memory_bounded(m)                       ? "no capacity"
                     : !fs_placement_has_addresses(m->placement) ? "no addresses"
                     : m->align > most_align                     ? "an alignment"
                                                                 : NULL;
  if (what != NULL) {
    return refuse(x, FS_NOWHERE, "memory '%.80s' has %s, and that of %s is of another kind",
                  m->name, what, x->kind);
  }
  return FSCHED_OK;
}

static fs_status check_format(const exporter *x, unsigned has) {
  FS_TRY(check_target(x, has));
  return check_ops(x, has);
}

/* ---- projects */

static fs_status export_project(exporter *x) {
  x->kind = "a project";
  FS_TRY(check_format(x, HAS_ORDER | HAS_USES));
  fs_text_puts(&x->out, "makespan ");
  fs_text_u64(&x->out, x->s->makespan);
  fs_text_puts(&x->out, "\n");
  for (uint32_t op = 0; op < x->g->n_ops; op++) {
    char name[16];
    (void)snprintf(name, sizeof name, "j%u", op + 1);
    if (strcmp(name, x->g->op_name[op]) != 0) {
      return refuse(x, op_pos(x, op), "op '%.80s' should be named %s: jobs are numbered",
                    x->g->op_name[op], name);
    }
    fs_text_u64(&x->out, (uint64_t)op + 1);
    fs_text_puts(&x->out, " ");
    fs_text_u64(&x->out, x->s->start[op]);
    fs_text_puts(&x->out, "\n");
  }
  return FSCHED_OK;
}

/* ---- strips and memories */

typedef struct parcel_place {
  uint64_t address, size;
} parcel_place;

/* Finds the place of the op's scratch; an op without scratch is at 0 and takes nothing. */
static fs_status find_place(const exporter *x, uint32_t op, parcel_place *out) {
  uint32_t k = x->g->op_scratch0[op];
  *out = (parcel_place){0, 0};
  if (k == x->g->op_scratch0[op + 1]) {
    return FSCHED_OK;
  }
  uint32_t r = x->s->scratch_residency[k];
  if (r == FS_NONE) {
    return refuse(x, op_pos(x, op), "the schedule has no place for op '%.80s'", x->g->op_name[op]);
  }
  *out = (parcel_place){x->s->res_address[r], x->g->scratch_size[k]};
  return FSCHED_OK;
}

static void put_numbers(fs_text *t, const uint64_t *number, size_t n, const char *between) {
  for (size_t i = 0; i < n; i++) {
    fs_text_puts(t, i == 0 ? "" : between);
    fs_text_u64(t, number[i]);
  }
  fs_text_puts(t, "\n");
}

static fs_status export_strip(exporter *x) {
  x->kind = "a strip";
  FS_TRY(check_format(x, HAS_PLACES));
  FS_TRY(check_memory(x, 1));
  fs_text_puts(&x->out, "strip ");
  put_numbers(&x->out, (uint64_t[]){x->g->target.memory[0].capacity, x->s->makespan}, 2, " ");
  for (uint32_t op = 0; op < x->g->n_ops; op++) {
    parcel_place p;
    FS_TRY(find_place(x, op, &p));
    if (p.size == 0 || x->g->op_time[op] == 0) {
      return refuse(x, op_pos(x, op), "op '%.80s' has no area, and a rectangle has one",
                    x->g->op_name[op]);
    }
    put_numbers(&x->out, (uint64_t[]){p.address, x->s->start[op], p.size, x->g->op_time[op]}, 4,
                " ");
  }
  return FSCHED_OK;
}

static fs_status export_memory(exporter *x) {
  x->kind = "a memory allocation";
  FS_TRY(check_format(x, HAS_PLACES | HAS_STARTS));
  FS_TRY(check_memory(x, FSCHED_MAX_SIZE));
  uint64_t align = x->g->target.memory[0].align;
  fs_text_puts(&x->out, align > 1 ? "id,lower,upper,size,alignment,offset\n"
                                  : "id,lower,upper,size,offset\n");
  for (uint32_t op = 0; op < x->g->n_ops; op++) {
    parcel_place p;
    FS_TRY(find_place(x, op, &p));
    if (x->g->op_start == NULL || x->g->op_start[op] == FS_TICK_NONE) {
      return refuse(x, op_pos(x, op), "op '%.80s' has no given start, and a buffer has one",
                    x->g->op_name[op]);
    }
    uint64_t number[] = {x->s->start[op], x->s->end[op], p.size, align, p.address};
    number[3] = align > 1 ? align : p.address;
    fs_csv_put(&x->out, x->g->op_name[op]);
    fs_text_puts(&x->out, ",");
    put_numbers(&x->out, number, align > 1 ? 5 : 4, ",");
  }
  return FSCHED_OK;
}

/* ---- job shops */

/* An op that begins a job has no predecessor; the others come after the op before them alone. */
static fs_status check_chain(const exporter *x, uint32_t op, bool *begins) {
  const fsched_graph *g = x->g;
  uint32_t n = g->pred0[op + 1] - g->pred0[op];
  *begins = n == 0;
  if (g->op_gang[op] != FS_NONE) {
    return refuse(x, op_pos(x, op), "op '%.80s' is on several queues, and %s is on one machine",
                  g->op_name[op], "an operation");
  }
  if (n > 1 || (n == 1 && g->pred[g->pred0[op]] + 1 != op)) {
    return refuse(x, op_pos(x, op), "op '%.80s' does not come after the op before it alone",
                  g->op_name[op]);
  }
  return FSCHED_OK;
}

static fs_status export_jobshop(exporter *x) {
  x->kind = "a job shop";
  FS_TRY(check_format(x, HAS_ORDER | HAS_QUEUES));
  fs_text_puts(&x->out, "makespan ");
  fs_text_u64(&x->out, x->s->makespan);
  for (uint32_t op = 0; op < x->g->n_ops; op++) {
    bool begins;
    FS_TRY(check_chain(x, op, &begins));
    fs_text_puts(&x->out, begins ? "\n" : " ");
    fs_text_u64(&x->out, x->s->start[op]);
  }
  fs_text_puts(&x->out, "\n");
  return FSCHED_OK;
}

fsched_status fsched_export(fsched_context *ctx, fsched_format format,
                            const fsched_schedule *schedule, char **text, size_t *length) {
  static fs_status (*const writers[])(exporter *) = {
#define FS_FORMAT(id, name, reader, writer, ...) [FSCHED_FORMAT_##id] = export_##writer,
#include "import/formats.def"
#undef FS_FORMAT
  };
  exporter x = {.ctx = ctx, .s = schedule->schedule, .g = schedule->schedule->graph};
  if ((uint32_t)format >= sizeof writers / sizeof writers[0]) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "there is no format %u", (unsigned)format);
  }
  fs_text_init(&x.out, ctx);
  fs_status status = writers[format](&x);
  if (status != FSCHED_OK) {
    fs_text_drop(&x.out);
    return status;
  }
  return fs_text_take(&x.out, text, length);
}
