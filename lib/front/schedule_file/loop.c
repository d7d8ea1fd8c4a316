/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a loop that stays one.  It follows from the graph, whose plan it is: so what the file
 * says of it is compared, number by number, and what is proven of the one holds for the other. */
#include "base/context.h"
#include "front/schedule_file/parse.h"
#include "model/loop_report.h"

typedef struct body_reader {
  const fs_sparse *p;
  const fs_rolled *x;
} body_reader;

static const char plan_hint[] = "the plans of loops depend on '--effort' and on the target";

static fs_status differs(const body_reader *r, uint32_t node, const char *what, uint64_t right) {
  const fs_fields *f = &r->p->f;
  return fs_fail(f->ctx, FSCHED_WRONG, FS_DIAG_VERIFY_PLAN, fs_node_pos(f->doc, node), plan_hint,
                 "loop '%.80s': %s is %llu in the plan of the graph", r->x->report->name, what,
                 (unsigned long long)right);
}

/* Compares a number; one that is missing is `usual`. */
static fs_status compare(const body_reader *r, uint32_t around, uint32_t node, const char *what,
                         uint64_t usual, uint64_t right) {
  uint64_t value = usual;
  FS_TRY(node == FS_NONE ? FSCHED_OK : fs_fields_u64(&r->p->f, node, &value));
  return value == right ? FSCHED_OK : differs(r, node == FS_NONE ? around : node, what, right);
}

static fs_status compare_name(const body_reader *r, uint32_t node, const char *what,
                              const char *right) {
  const fs_fields *f = &r->p->f;
  const char *name = NULL;
  FS_TRY(fs_fields_text(f, node, &name));
  return strcmp(name, right) == 0
             ? FSCHED_OK
             : fs_fail(f->ctx, FSCHED_WRONG, FS_DIAG_VERIFY_PLAN, fs_node_pos(f->doc, node),
                       plan_hint, "loop '%.80s': %s is '%.80s' in the plan of the graph",
                       r->x->report->name, what, right);
}

/* Begins a list that has as many entries as the plan. */
static fs_status open_list(const body_reader *r, uint32_t list, const char *what, uint32_t right,
                           uint32_t *node) {
  uint32_t n;
  FS_TRY(fs_fields_sequence(&r->p->f, list, node, &n));
  return n == right ? FSCHED_OK : differs(r, list, what, right);
}

/* The recursion is as deep as loops nest. */
static fs_status read_ops(const body_reader *r, uint32_t list) {
  enum { NAME, TIME, LATENCY, LOOP, FIELDS };
  static const fs_field fields[FIELDS] = {
      {"name", true}, {"time", true}, {"latency", false}, {"loop", false}};
  const fs_rolled *x = r->x;
  uint32_t node, value[FIELDS];
  FS_TRY(open_list(r, list, "the number of its ops", x->n_ops, &node));
  for (uint32_t m = 0; m < x->n_ops; m++, node = fs_fields_next(&r->p->f, node)) {
    const fs_body_op *op = &x->body[m];
    FS_TRY(fs_fields_mapping(&r->p->f, node, fields, FIELDS, value));
    FS_TRY(compare_name(r, value[NAME], "an op", op->name));
    FS_TRY(compare(r, node, value[TIME], "the time of an op", 0, op->time));
    FS_TRY(compare(r, node, value[LATENCY], "the latency of an op", op->time, op->latency));
    if (value[LOOP] != FS_NONE) {
      FS_TRY(fs_schedule_compare_loop(r->p, value[LOOP], op->loop));
    }
  }
  return FSCHED_OK;
}

static fs_status read_command(const body_reader *r, uint32_t node, uint32_t queue, uint32_t c) {
  enum { OP, QUEUE, COPY, SHIFT, ISSUE, FIELDS };
  static const fs_field fields[FIELDS] = {
      {"op", true}, {"queue", true}, {"copy", true}, {"shift", true}, {"issue", false}};
  const fs_rolled_command *k = &r->x->loop.command[c];
  uint32_t value[FIELDS];
  FS_TRY(fs_fields_mapping(&r->p->f, node, fields, FIELDS, value));
  FS_TRY(compare(r, node, value[OP], "the op of a command", 0, k->member));
  FS_TRY(compare_name(r, value[QUEUE], "the queue of a command",
                      r->p->g->target.queue[r->x->loop.queue[queue]].name));
  FS_TRY(compare(r, node, value[COPY], "the copy of a command", 0, k->copy));
  FS_TRY(compare(r, node, value[SHIFT], "the shift of a command", 0, k->shift));
  return r->x->loop.issued || value[ISSUE] != FS_NONE
             ? compare(r, node, value[ISSUE], "the issue of a command", FS_NONE, k->issue)
             : FSCHED_OK;
}

static fs_status read_commands(const body_reader *r, uint32_t list) {
  const fs_rolled_loop *l = &r->x->loop;
  uint32_t node;
  FS_TRY(open_list(r, list, "the number of its commands", l->n_commands, &node));
  for (uint32_t q = 0; q < l->n_queues; q++) {
    for (uint32_t c = l->command0[q]; c < l->command0[q + 1]; c++) {
      FS_TRY(read_command(r, node, q, c));
      node = fs_fields_next(&r->p->f, node);
    }
  }
  return FSCHED_OK;
}

static fs_status read_edges(const body_reader *r, uint32_t list) {
  enum { FROM, TO, DISTANCE, FIELDS };
  static const fs_field fields[FIELDS] = {{"from", true}, {"to", true}, {"distance", true}};
  const fs_rolled_loop *l = &r->x->loop;
  uint32_t node, value[FIELDS];
  FS_TRY(open_list(r, list, "the number of its edges", l->n_waits, &node));
  for (uint32_t c = 0; c < l->n_commands; c++) {
    const fs_rolled_command *k = &l->command[c];
    for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits; w++) {
      FS_TRY(fs_fields_mapping(&r->p->f, node, fields, FIELDS, value));
      FS_TRY(compare(r, node, value[FROM], "the begin of an edge", 0, l->wait[w].command));
      FS_TRY(compare(r, node, value[TO], "the end of an edge", 0, c));
      FS_TRY(compare(r, node, value[DISTANCE], "the distance of an edge", 0, l->wait[w].distance));
      node = fs_fields_next(&r->p->f, node);
    }
  }
  return FSCHED_OK;
}

/* What each queue has of a run, if these enter and leave it on their own. */
static fs_status read_queues(const body_reader *r, uint32_t list) {
  enum { QUEUE, BEGIN, END, FIELDS };
  static const fs_field fields[FIELDS] = {{"queue", true}, {"begin", true}, {"end", true}};
  const fs_rolled *x = r->x;
  const fs_rolled_part *part = x->within == FS_NONE ? fs_op_parts(r->p->g, x->op) : NULL;
  uint32_t node, value[FIELDS];
  FS_TRY(open_list(r, list, "the number of its queues with times of their own",
                   part == NULL ? 0 : x->loop.n_queues, &node));
  for (uint32_t q = 0; part != NULL && q < x->loop.n_queues; q++) {
    FS_TRY(fs_fields_mapping(&r->p->f, node, fields, FIELDS, value));
    FS_TRY(compare_name(r, value[QUEUE], "a queue", r->p->g->target.queue[x->loop.queue[q]].name));
    FS_TRY(compare(r, node, value[BEGIN], "the begin on a queue", 0, part[q].begin));
    FS_TRY(compare(r, node, value[END], "the end on a queue", 0, part[q].end));
    node = fs_fields_next(&r->p->f, node);
  }
  return FSCHED_OK;
}

fs_status fs_schedule_compare_loop(const fs_sparse *p, uint32_t node, uint32_t loop) {
  enum { TRIP, COPIES, JOINED, QUEUES, OPS, COMMANDS, EDGES, FIELDS };
  static const fs_field fields[FIELDS] = {{"trip", true},    {"copies", true}, {"joined", false},
                                          {"queues", false}, {"ops", true},    {"commands", true},
                                          {"edges", true}};
  uint32_t value[FIELDS];
  bool joined = false;
  if (loop == FS_NONE) {
    return fs_fields_fail(&p->f, FS_DIAG_SCHEDULE_REFERENCE, node, "the op is no loop");
  }
  assert(loop < p->g->n_rolled);
  const body_reader r = {p, &p->g->rolled[loop]};
  FS_TRY(fs_fields_mapping(&p->f, node, fields, FIELDS, value));
  FS_TRY(compare(&r, node, value[TRIP], "'trip'", 0, r.x->trip));
  FS_TRY(compare(&r, node, value[COPIES], "'copies'", 0, r.x->loop.copies));
  FS_TRY(value[JOINED] == FS_NONE ? FSCHED_OK : fs_fields_bool(&p->f, value[JOINED], &joined));
  if (joined != r.x->joined) {
    return differs(&r, node, "'joined'", r.x->joined);
  }
  FS_TRY(value[QUEUES] == FS_NONE ? FSCHED_OK : read_queues(&r, value[QUEUES]));
  FS_TRY(read_ops(&r, value[OPS]));
  FS_TRY(read_commands(&r, value[COMMANDS]));
  return read_edges(&r, value[EDGES]);
}
