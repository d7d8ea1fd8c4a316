/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a loop, further in and below its own: one for each op of the body, or for each of the
 * copies that it has, in program order.  They are named as in the text of a stream: load[t],
 * load[2t+1], add[t-1] run in step t.  Their times are those of the first iteration that they run,
 * in the first run of the loop. */
#include <stdlib.h>

#include "draw/loops.h"
#include "draw/table.h"

/* Letters of steps and of iterations, by the number of loops around. */
static const char step_of[] = "tuvwxyzs";
static const char iteration_of[] = "ijklmnop";

/* A loop, and the loop that it is in. */
typedef struct table_nest {
  const fs_rolled *loop;
  const struct table_nest *around; /* NULL: the loop is an op of the graph */
  uint32_t depth;                  /* loops around it */
} table_nest;

/* The bytes that an arg of a body has in the first iterations, or those of the graph. */
typedef struct table_bytes {
  uint32_t residency; /* FS_NONE: it has none */
  uint64_t begin;
} table_bytes;

/* A command of a loop; those of one op and copy have a row. */
typedef struct table_command {
  uint64_t row;
  uint32_t command, place, queue; /* place: of the queue, among those of the loop */
} table_command;

/* No two entries are equal. */
static int by_row(const void *a, const void *b) {
  const table_command *x = a, *y = b;
  return x->row != y->row ? (x->row > y->row) - (x->row < y->row)
                          : (x->command > y->command) - (x->command < y->command);
}

static void put_indent(fs_text *t, uint32_t depth) {
  for (uint32_t i = 0; i <= depth; i++) {
    fs_text_puts(t, "  ");
  }
}

static void put_name(fs_text *t, const table_nest *n, const fs_rolled_command *k) {
  const fs_rolled *x = n->loop;
  int64_t constant = (int64_t)k->copy - (int64_t)k->shift * x->loop.copies;
  put_indent(t, n->depth);
  fs_text_visible(t, x->body[k->member].name);
  fs_text_puts(t, "[");
  if (x->loop.copies != 1) {
    fs_text_u64(t, x->loop.copies);
  }
  fs_text_printf(t, "%c", step_of[n->depth]);
  if (constant != 0) {
    fs_text_printf(t, "%+lld", (long long)constant);
  }
  fs_text_puts(t, "]");
}

/* The queues of a row's commands. */
static void put_queues(fs_text *t, const fs_schedule *s, const table_command *first, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    fs_text_puts(t, i == 0 ? "" : "+");
    fs_text_visible(t, s->queue_name[first[i].queue]);
  }
}

/* Where an arg of the loop lies in the first iterations. */
static table_bytes bytes_of(const fs_table *x, const table_nest *n, const fs_body_arg *a) {
  table_bytes at;
  uint64_t offset; /* of the arg of the loop's own op */
  if (n->around == NULL) {
    uint32_t own = x->s->graph->op_arg0[n->loop->op] + a->own;
    uint32_t residency = x->s->arg_residency[own];
    offset = x->s->graph->arg_offset[own];
    at = (table_bytes){residency, residency == FS_NONE ? 0 : x->s->res_address[residency] + offset};
  } else {
    const fs_rolled *outer = n->around->loop;
    const fs_body_arg *own = &outer->arg[outer->body[n->loop->op].arg0 + a->own];
    offset = own->offset;
    at = bytes_of(x, n->around, own); /* as deep as loops nest */
  }
  at.begin += a->offset - (a->ring == FS_NONE ? offset : 0);
  return at;
}

/* By how many bytes the arg moves with each iteration of the loops around, the outermost first. */
static void put_steps(fs_text *t, const table_nest *n, const fs_body_arg *a) {
  if (n->around != NULL) {
    const fs_rolled *outer = n->around->loop;
    put_steps(t, n->around, &outer->arg[outer->body[n->loop->op].arg0 + a->own]);
  }
  if (a->step != 0) {
    fs_text_printf(t, "%+lld%c", (long long)a->step, iteration_of[n->depth]);
  }
}

/* How often a loop runs, as a factor. */
static void put_trip(fs_text *t, const fs_rolled *x) {
  if (x->param != NULL) {
    fs_text_visible(t, x->param);
    fs_text_puts(t, "*");
  } else {
    fs_text_u64(t, x->trip);
  }
}

/* The slots of the ring that it is in, and those of loops around. */
static void put_slots(fs_text *t, const table_nest *n, const fs_body_arg *a) {
  if (a->ring != FS_NONE && n->loop->loop.ring[a->ring].depth > 1) {
    fs_text_puts(t, " in slot ");
    if (n->loop->joined) { /* of all runs */
      put_trip(t, n->loop);
      fs_text_printf(t, "%c+", iteration_of[n->depth - 1]);
    }
    fs_text_printf(t, "%c", iteration_of[n->depth]);
    if (a->back != 0) {
      fs_text_printf(t, "-%u", a->back);
    }
    fs_text_printf(t, " mod %u", n->loop->loop.ring[a->ring].depth);
  }
  if (n->around != NULL) {
    const fs_rolled *outer = n->around->loop;
    put_slots(t, n->around, &outer->arg[outer->body[n->loop->op].arg0 + a->own]);
  }
}

static void put_writes(const fs_table *x, fs_text *t, const table_nest *n, const fs_body_op *op) {
  const fs_target *target = &x->s->graph->target;
  const char *before = "";
  for (uint32_t i = op->arg0; i < op->arg0 + op->n_args; i++) {
    const fs_body_arg *a = &n->loop->arg[i];
    if (a->buffer == FS_NONE || !fs_tag_writes((fsched_tag)a->tag)) {
      continue;
    }
    const fs_memory *m = &target->memory[x->s->graph->buffer_memory[a->buffer]];
    table_bytes at = bytes_of(x, n, a);
    fs_text_puts(t, before);
    before = ", ";
    fs_text_visible(t, m->name);
    if (at.residency != FS_NONE && !fs_placement_has_addresses(m->placement)) {
      fs_text_printf(t, "(%llu)", (unsigned long long)a->length);
    } else if (at.residency != FS_NONE) {
      fs_text_printf(t, "[%llu,%llu)", (unsigned long long)at.begin,
                     (unsigned long long)(at.begin + a->length));
      put_steps(t, n, a);
      put_slots(t, n, a);
    }
  }
  fs_text_puts(t, before[0] == '\0' ? "-" : "");
}

/* What is shown of the first iteration that a command of this queue of the loop runs; NULL: it has
 * none, or nothing is shown of the loop. */
static const fs_shown_part *first_part(const fs_shown *shown, uint32_t q, uint32_t command) {
  for (uint32_t i = shown->part0[q]; i < shown->part0[q + 1]; i++) {
    if (shown->part[i].command == command) {
      return &shown->part[i];
    }
  }
  return NULL;
}

static void put_tick(fs_columns *c, bool known, fs_tick tick) {
  if (known) {
    fs_text_u64(&c->text, tick);
  } else {
    fs_text_puts(&c->text, "-");
  }
  fs_columns_cell(c, FS_RIGHT);
}

/* Writes every how many ticks the command begins. */
static void put_every(fs_columns *c, const fs_rolled *x) {
  const fs_loop_report *r = x->report;
  if (r == NULL || r->why_not != NULL || r->ii.den == 0) {
    fs_text_puts(&c->text, "-");
  } else {
    fs_loops_put_ticks(&c->text, fs_loops_period(r));
  }
  fs_columns_cell(c, FS_RIGHT);
}

static fs_status put_rows(fs_table *x, const table_nest *n, const fs_tick *base);

/* Writes the row of the first `members` commands, and those of the loop that it may be. */
static fs_status put_row(fs_table *x, const table_nest *n, const fs_tick *base,
                         const table_command *first, uint32_t members) {
  const fs_rolled_command *k = &n->loop->loop.command[first->command];
  const fs_body_op *op = &n->loop->body[k->member];
  const fs_shown *shown = &x->shown[n->loop - x->s->graph->rolled].shown;
  const fs_shown_part *part = first_part(shown, first->place, first->command);
  fs_columns *c = &x->columns;
  bool known = base != NULL && part != NULL;
  fs_tick begin = known ? *base + part->run : 0, end = known ? *base + part->end : 0;
  for (uint32_t i = 1; i < members && known; i++) { /* those of a joined run end one by one */
    const fs_shown_part *other = first_part(shown, first[i].place, first[i].command);
    end = other == NULL ? end : fs_max(end, *base + other->end);
  }
  put_name(&c->text, n, k);
  fs_columns_cell(c, FS_LEFT);
  fs_text_puts(&c->text, op->loop == FS_NONE ? "op" : "loop");
  fs_columns_cell(c, FS_LEFT);
  put_tick(c, known, begin);
  put_tick(c, known, end);
  if (x->free) {
    put_tick(c, known, known ? *base + part->free : 0);
  }
  put_every(c, n->loop);
  put_queues(&c->text, x->s, first, members);
  fs_columns_cell(c, FS_LEFT);
  put_writes(x, &c->text, n, op);
  fs_columns_cell(c, FS_LEFT);
  if (op->loop != FS_NONE && k->copy == 0) {
    table_nest inner = {&x->s->graph->rolled[op->loop], n, n->depth + 1};
    return put_rows(x, &inner, known ? &begin : NULL);
  }
  return FSCHED_OK;
}

/* As deep as loops nest. */
static fs_status put_rows(fs_table *x, const table_nest *n, const fs_tick *base) {
  const fs_rolled_loop *r = &n->loop->loop;
  table_command *list;
  FS_SCRATCH(scratch, x->columns.text.ctx);
  FS_TRY(fs_new(&scratch, &list, r->n_commands));
  for (uint32_t q = 0; q < r->n_queues; q++) {
    for (uint32_t c = r->command0[q]; c < r->command0[q + 1]; c++) {
      uint64_t row = (uint64_t)r->command[c].member << 32 | r->command[c].copy;
      list[c] = (table_command){row, c, q, r->queue[q]};
    }
  }
  qsort(list, r->n_commands, sizeof *list, by_row);
  for (uint32_t i = 0, end; i < r->n_commands; i = end) {
    for (end = i + 1; end < r->n_commands && list[end].row == list[i].row; end++) {
    }
    FS_TRY(put_row(x, n, base, &list[i], end - i));
  }
  return FSCHED_OK;
}

fs_status fs_table_put_loop(fs_table *x, uint32_t loop, fs_tick start) {
  assert(loop < x->s->graph->n_rolled && x->shown != NULL);
  return put_rows(x, &(table_nest){&x->s->graph->rolled[loop], NULL, 0}, &start);
}
