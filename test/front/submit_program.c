/* SPDX-License-Identifier: Apache-2.0 */
#include "front/submit_program.h"

#include <stdio.h>

#include "front/same_graph.h"
#include "front/submit_mirror.h"
#include "fsched/submit.h"

#include "kit/context.h"

static bool one_in(model_program *p, uint32_t n) { return fs_rng_one_in(&p->rng, n); }
static uint32_t below(model_program *p, uint32_t n) { return fs_rng_below(&p->rng, n); }

static model_buffer *new_buffer(model_program *p, const char *name, uint32_t size, bool bounded) {
  model_buffer *x = &p->buffer[p->n_buffers++];
  ck_assert_uint_lt(p->n_buffers, BUFFERS);
  memset(x, 0, sizeof *x);
  (void)snprintf(x->name, sizeof x->name, "%s", name);
  x->size = size;
  x->bytes = size == 0 ? 1 : size;
  x->readable = x->writable = true;
  x->bounded = bounded;
  x->scope = x->content_scope = innermost(p);
  for (uint32_t i = 0; i < BYTES; i++) {
    x->writer[i] = UNWRITTEN;
  }
  return x;
}

static void describe(model_program *p, const model_buffer *x) {
  static const char *const io[] = {"", ", io: input", ", io: constant", ", io: output",
                                   ", io: state"};
  fs_text_printf(&p->buffers, "  - {name: '%s', size: %u, memory: %s%s}\n", x->name, x->size,
                 x->bounded ? "fast" : "ddr", io[x->io]);
}

static void import_one(model_program *p) {
  char name[20];
  uint32_t id = FS_NONE, n = p->n_buffers;
  bool bounded = one_in(p, 2);
  (void)snprintf(name, sizeof name, "user%u", n);
  model_buffer *x = new_buffer(p, name, below(p, BYTES), bounded);
  unsigned access = one_in(p, 2) ? 0 : 1 + below(p, 3);
  x->imported = true;
  x->scope = x->content_scope = -1;
  x->readable = access != 2;
  x->writable = access != 1;
  do {
    x->io = (fsched_io)below(p, 5);
    x->output = x->io == FSCHED_IO_OUTPUT;
    x->constant = x->io == FSCHED_IO_CONSTANT;
  } while ((!x->readable && x->io != FSCHED_IO_OUTPUT && x->io != FSCHED_IO_NONE) ||
           (!x->writable && (x->output || x->io == FSCHED_IO_STATE)));
  for (uint32_t i = 0; i < x->bytes && x->io != FSCHED_IO_NONE && !x->output; i++) {
    x->writer[i] = GIVEN;
  }
  fsched_submit_import_desc d = {.size = sizeof d,
                                 .name = name,
                                 .bytes = x->size,
                                 .memory = bounded ? (one_in(p, 2) ? NULL : "fast") : "ddr",
                                 .io = x->io,
                                 .access = access};
  ck_fs(ctx, fsched_submit_import(p->s, &d, &id));
  ck_assert_uint_eq(id, n);
  mirror_import(p, &d, id);
  describe(p, x);
}

static uint32_t draw_shape(model_program *p, uint64_t shape[2], uint64_t *element) {
  *element = 1 + below(p, 2);
  shape[0] = below(p, 4);
  shape[1] = 1 + below(p, 3);
  return (uint32_t)(*element * shape[0] * shape[1]);
}

static void alloc_one(model_program *p) {
  uint64_t shape[2], element;
  uint32_t size = draw_shape(p, shape, &element), id = FS_NONE, n = p->n_buffers;
  char name[20];
  bool named = one_in(p, 2), bounded = one_in(p, 2);
  (void)snprintf(name, sizeof name, named ? "own%u" : "alloc#%u", named ? n : p->n_allocs);
  p->n_allocs += !named;
  describe(p, new_buffer(p, name, size, bounded));
  fsched_submit_alloc_desc d = {.size = sizeof d,
                                .element = element,
                                .n_dims = 2,
                                .shape = shape,
                                .name = named ? name : NULL,
                                .memory = bounded ? "fast" : "ddr"};
  ck_fs(ctx, fsched_submit_alloc(p->s, &d, &id));
  ck_assert_uint_eq(id, n);
  mirror_alloc(p, &d, id);
}

/* The edges of the args, then what they leave. */
static void look_up(model_program *p, const model_arg *a) {
  const model_buffer *x = &p->buffer[a->buffer];
  for (uint32_t i = 0; i < BYTES; i++) {
    if (!has_byte(a, i)) {
      continue;
    }
    if (x->writer[i] >= 0 && (reads(a->tag) || !p->raw)) {
      p->edge[p->n_tasks][x->writer[i]] = true;
    }
    for (uint32_t t = 0; t < p->n_tasks && writes(a->tag) && !p->raw; t++) {
      p->edge[p->n_tasks][t] |= x->reader[i][t];
    }
  }
}

static void enter(model_program *p, const model_arg *a) {
  model_buffer *x = &p->buffer[a->buffer];
  p->access[p->n_accesses++] =
      (model_access){p->n_tasks, a->buffer, x->versions, a->mask, a->member, writes(a->tag)};
  for (uint32_t i = 0; i < BYTES; i++) {
    if (!has_byte(a, i)) {
      continue;
    }
    if (a->tag == FSCHED_IN) {
      x->reader[i][p->n_tasks] = true;
    } else {
      x->writer[i] = (int)p->n_tasks;
      memset(x->reader[i], 0, sizeof x->reader[i]);
    }
  }
}

static void apply(model_program *p, const model_arg *a, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (a[i].tag != FSCHED_OUT && a[i].tag <= FSCHED_OUT_EXISTING) {
      enter(p, &a[i]);
    }
  }
  for (uint32_t i = 0; i < n; i++) {
    if (a[i].tag == FSCHED_OUT) {
      memset(p->buffer[a[i].buffer].reader, 0, sizeof p->buffer[a[i].buffer].reader);
      p->buffer[a[i].buffer].versions++;
      enter(p, &a[i]);
      p->buffer[a[i].buffer].content_scope = innermost(p);
    }
  }
}

/* What a task or a group is on, as a graph file has it; `named`: a group's queues are. */
static const char *describe_place(const fsched_submit_task_desc *d, bool group, bool named) {
  if (group && named) {
    return "[q0, q1]";
  }
  return d->on != NULL ? d->on : d->callable == GANG ? "{class: compute, count: 2}" : "compute";
}

static void describe_task(model_program *p, const char *name, const char *on, bool group,
                          const model_arg *a, uint32_t n) {
  static const char *const tag[] = {"in", "out", "inout", "out_existing", "no_dep", "value"};
  fs_text_printf(&p->ops, "  - name: '%s'\n    on: %s\n    %s", name, on,
                 group ? "members: [{args: [" : "args: [");
  uint32_t member = 0;
  for (uint32_t i = 0; i < n; i++) {
    bool first = i == 0 || a[i].member != a[i - 1].member;
    fs_text_puts(&p->ops, a[i].member > member ? "]}, {args: [" : first ? "" : ", ");
    member = a[i].member;
    if (a[i].tag == FSCHED_VALUE) {
      fs_text_printf(&p->ops, "{value: %u}", i);
      continue;
    }
    fs_text_printf(&p->ops, "{%s: '%s'", tag[a[i].tag], p->buffer[a[i].buffer].name);
    if (a[i].tile) {
      fs_text_printf(&p->ops, ", at: {offset: %u, shape: [%u, %u], strides: [%u, %u], element: %u}",
                     a[i].offset, (unsigned)a[i].shape[0], (unsigned)a[i].shape[1],
                     (unsigned)a[i].stride[0], (unsigned)a[i].stride[1], (unsigned)a[i].element);
    } else if (a[i].view) {
      fs_text_printf(&p->ops, ", at: [%u, %u]", a[i].offset, a[i].length);
    }
    fs_text_puts(&p->ops, "}");
  }
  fs_text_puts(&p->ops, !group ? "]\n" : member == 0 ? "]}, {}]\n" : "]}]\n");
}

static model_arg draw_arg(model_program *p) {
  model_arg a = {.tag = (fsched_tag)below(p, 6), .buffer = below(p, p->n_buffers + 1)};
  a.buffer = a.buffer == p->n_buffers && !one_in(p, 8) ? 0 : a.buffer;
  if (a.tag == FSCHED_OUT && one_in(p, 2)) {
    a.alloc = true;
  } else if (a.tag != FSCHED_VALUE && one_in(p, 2)) {
    a.view = true;
    a.tile = one_in(p, 2);
    a.offset = below(p, a.tile ? 4 : 10);
    a.length = below(p, 8);
    a.element = 1 + below(p, 2);
    for (int i = 0; i < 2; i++) {
      a.shape[i] = one_in(p, 20) ? 0 : 1 + below(p, 3);
      a.stride[i] = below(p, i == 0 ? 9 : 4);
    }
  }
  return a;
}

/* Hands over a task, or a group of two members, of which the first one has `split` args, on two
 * queues that are named, or any. */
static fs_status hand_over(model_program *p, const fsched_submit_task_desc *d, bool group,
                           bool names, uint32_t split, uint32_t *id) {
  static const char *const queues[] = {"q0", "q1"};
  const fsched_submit_member members[] = {{d->args, split}, {d->args + split, d->n_args - split}};
  fsched_submit_group_desc g = {.size = sizeof g,
                                .callable = d->callable,
                                .queues = names ? queues : NULL,
                                .members = members,
                                .n_members = 2,
                                .name = d->name,
                                .predecessors = d->predecessors,
                                .n_predecessors = d->n_predecessors,
                                .params = d->params,
                                .n_params = d->n_params};
  fs_status status = group ? fsched_submit_group(p->s, &g, id) : fsched_submit_task(p->s, d, id);
  mirror_task(p, d, group ? &g : NULL, status, *id);
  return status;
}

static bool is_manual(const model_program *p) {
  return p->depth > 0 && p->scope_manual[innermost(p)];
}

/* Puts the task in hand behind another one, and all that this one is behind. */
static void put_behind(model_program *p, uint32_t before) {
  bool *row = p->order[p->n_tasks];
  row[before] = true;
  for (uint32_t t = 0; t < before; t++) {
    row[t] |= p->order[before][t];
  }
}

static bool meets(const model_program *p, const model_arg *a, const model_access *other) {
  return a->tag <= FSCHED_OUT_EXISTING && a->tag != FSCHED_OUT && a->buffer == other->buffer &&
         p->buffer[a->buffer].versions == other->version && (writes(a->tag) || other->write) &&
         (a->mask & other->mask) != 0;
}

/* Whether one of the args conflicts with an earlier task. */
static bool conflicts(const model_program *p, const model_arg *a, uint32_t n, uint32_t with) {
  for (uint32_t i = 0; i < p->n_accesses; i++) {
    for (uint32_t k = 0; k < n && p->access[i].task == with; k++) {
      if (!a[k].alloc && meets(p, &a[k], &p->access[i])) {
        return true;
      }
    }
  }
  return false;
}

/* Whether members of the task, which run at once, conflict. */
static bool members_race(const model_arg *a, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t k = 0; k < i; k++) {
      if (a[i].tag <= FSCHED_OUT_EXISTING && a[k].tag <= FSCHED_OUT_EXISTING && !a[i].alloc &&
          !a[k].alloc && a[i].buffer == a[k].buffer && side_by_side(&a[i], &a[k]) &&
          (writes(a[i].tag) || writes(a[k].tag)) && (a[i].mask & a[k].mask) != 0) {
        return true;
      }
    }
  }
  return false;
}

/* Finds what orders the task in hand: its tags, unless it is in a manual scope, and predecessors
 * that it waits for.  In a program that must be free of races a predecessor is added for each
 * conflict that is left; false: the task races all the same, or is not to be. */
static bool order_task(model_program *p, const model_arg *a, uint32_t n,
                       fsched_submit_predecessor *before, uint32_t *n_before) {
  uint32_t id = p->n_tasks, added = 0;
  bool may_add = p->must || !one_in(p, 4);
  memset(p->edge[id], 0, sizeof p->edge[id]);
  memset(p->order[id], 0, sizeof p->order[id]);
  for (uint32_t i = 0; i < n; i++) {
    if (a[i].tag != FSCHED_OUT && a[i].tag <= FSCHED_OUT_EXISTING) {
      look_up(p, &a[i]);
    }
  }
  for (uint32_t t = 0; t < id && !is_manual(p); t++) {
    if (p->edge[id][t]) {
      put_behind(p, t);
    }
  }
  for (uint32_t i = 0; i < *n_before; i++) {
    if (before[i].wait) {
      put_behind(p, before[i].task);
    }
  }
  for (uint32_t t = id; t-- > 0 && p->n_mirrors > 0;) {
    if (!p->order[id][t] && conflicts(p, a, n, t)) {
      added++;
      before[(*n_before)++] = (fsched_submit_predecessor){t, 1, one_in(p, 2)};
      put_behind(p, t);
    }
  }
  if (p->n_mirrors > 0 && ((added > 0 && !may_add) || members_race(a, n))) {
    return false;
  }
  p->counts.added += added;
  return true;
}

/* Submits a task or a group, which must be refused, without any effect, or accepted as the model
 * says. */
static void submit(model_program *p, const model_arg *drawn, uint32_t n, uint32_t n_before) {
  model_arg a[ARGS];
  fsched_submit_arg arg[ARGS];
  fsched_submit_view view[ARGS];
  fsched_submit_alloc_desc alloc[ARGS];
  uint64_t shape[ARGS][2];
  uint32_t size[ARGS], made[ARGS], id = FS_NONE;
  char name[40], full[64];
  bool bounded[ARGS], named = one_in(p, 4), group = one_in(p, 3);
  uint32_t split = group ? below(p, n + 1) : n;
  fsched_submit_task_desc d = {.size = sizeof d, .callable = below(p, 3), .args = arg, .n_args = n};
  bool names_queues = d.callable != GANG || one_in(p, 3);
  if (named) {
    (void)snprintf(name, sizeof name, "task%u", p->n_tasks);
  } else {
    (void)snprintf(name, sizeof name, "%s#%u", submit_callable[d.callable].name,
                   p->n_calls[d.callable]);
  }
  d.name = named ? name : NULL;
  memcpy(a, drawn, sizeof a);
  for (uint32_t i = 0; i < n; i++) {
    a[i].member = i >= split;
    view[i] =
        (fsched_submit_view){.size = sizeof view[i], .offset = a[i].offset, .length = a[i].length};
    if (a[i].tile) {
      view[i].n_dims = 2;
      view[i].shape = drawn[i].shape;
      view[i].strides = drawn[i].stride;
      view[i].element = a[i].element;
    }
    arg[i] = (fsched_submit_arg){.size = sizeof arg[i],
                                 .tag = a[i].tag,
                                 .buffer = a[i].buffer,
                                 .view = a[i].view ? &view[i] : NULL,
                                 .value = (int64_t)i,
                                 .allocated = &made[i]};
    made[i] = FS_NONE;
    if (a[i].alloc) {
      bounded[i] = one_in(p, 2);
      alloc[i] = (fsched_submit_alloc_desc){
          .size = sizeof alloc[i], .n_dims = 2, .memory = bounded[i] ? "fast" : "ddr"};
      alloc[i].shape = shape[i];
      size[i] = draw_shape(p, shape[i], &alloc[i].element);
      arg[i].alloc = &alloc[i];
    }
  }
  static const char *const place[] = {NULL, NULL, NULL, "q1", "compute", "hst", "host"};
  fsched_submit_predecessor before[2 + TASKS];
  for (uint32_t i = 0; i < n_before; i++) {
    uint32_t how = 1 + below(p, 3);
    before[i] = (fsched_submit_predecessor){below(p, p->n_tasks), how & 1, how >> 1};
  }
  d.on = group ? NULL : place[below(p, 7)];
  uint8_t block[4] = {(uint8_t)below(p, 256), (uint8_t)below(p, 256), 0, 7};
  d.params = block;
  d.n_params = one_in(p, 3) ? 1 + below(p, sizeof block) : 0;
  bool right = args_are_right(p, a, n);
  if (right && !order_task(p, a, n, before, &n_before)) {
    return;
  }
  d.predecessors = before;
  d.n_predecessors = n_before;
  fs_status status = hand_over(p, &d, group, names_queues, split, &id);
  uint8_t given[sizeof block];
  memcpy(given, block, sizeof given);
  memset(block, 0xEE, sizeof block); /* it was copied */
  ck_assert_msg(status == (right ? FSCHED_OK : FSCHED_BAD_INPUT), "task '%s' is %s: %s", name,
                right ? "right" : "wrong", fs_test_diags(ctx));
  fsched_diag_clear(ctx);
  for (uint32_t i = 0; i < n && !right; i++) {
    ck_assert_uint_eq(made[i], FS_NONE);
  }
  p->counts.refused += !right;
  if (!right) {
    ck_assert_uint_eq(id, FS_NONE);
    return;
  }
  ck_assert_uint_eq(id, p->n_tasks);
  ck_assert_str_eq(fsched_submit_task_name(p->s, id), name);
  for (uint32_t i = 0; i < n; i++) {
    ck_assert_uint_eq(made[i], a[i].alloc ? p->n_buffers : FS_NONE);
    if (a[i].alloc) {
      (void)snprintf(full, sizeof full, "%s.%u", name, i);
      a[i].buffer = p->n_buffers;
      describe(p, new_buffer(p, full, size[i], bounded[i]));
      ck_assert(mask_bytes(&p->buffer[a[i].buffer], &a[i]));
    }
  }
  apply(p, a, n);
  if (p->n_mirrors > 0) {
    evaluate_task(p, name, a, n, group, given, d.n_params);
  }
  describe_task(p, name, describe_place(&d, group, names_queues), group, a, n);
  p->counts.manual += is_manual(p);
  p->counts.groups += group && split > 0 && split < n;
  p->counts.gangs += d.callable == GANG && (group ? !names_queues : d.on == NULL);
  p->counts.host += d.on != NULL && d.on[0] == 'h';
  for (size_t i = 0; i < d.n_params; i++) {
    fs_text_printf(&p->ops, "%s%02X", i == 0 ? "    kernel: {builtin: mix, params: '" : "",
                   given[i]);
  }
  fs_text_puts(&p->ops, d.n_params > 0 ? "'}\n" : "");
  for (uint32_t i = 0; i < n; i++) {
    p->counts.tiles += a[i].tile && a[i].tag <= FSCHED_OUT_EXISTING;
  }
  p->counts.blocks += d.n_params > 0;
  bool after = false;
  for (uint32_t i = 0; i < n_before; i++) {
    p->counts.waits += before[i].wait && !before[i].retain;
    p->counts.retains += !before[i].wait;
    if (before[i].wait) {
      p->edge[id][before[i].task] = true;
      fs_text_printf(&p->ops, "%s'%s'", after ? ", " : "    after: [",
                     fsched_submit_task_name(p->s, before[i].task));
      after = true;
    }
  }
  fs_text_puts(&p->ops, after ? "]\n" : "");
  p->n_calls[d.callable]++;
  p->n_tasks++;
}

static void submit_any(model_program *p) {
  model_arg a[ARGS];
  uint32_t n = 1 + below(p, ARGS);
  for (uint32_t i = 0; i < ARGS; i++) {
    a[i] = draw_arg(p);
  }
  submit(p, a, n, p->n_tasks == 0 ? 0 : below(p, 3));
}

static void move_scopes(model_program *p) {
  if (one_in(p, 2) && p->depth < 4 && p->n_scopes < SCOPES) {
    fsched_submit_scope_desc d = {.size = sizeof d, .manual = one_in(p, 3)};
    bool right = d.manual || p->depth == 0 || !p->scope_manual[innermost(p)];
    fs_status begun = fsched_submit_begin_scope(p->s, &d);
    ck_assert_int_eq(begun, right ? FSCHED_OK : FSCHED_BAD_INPUT);
    mirror_scope(p, &d, begun);
    fsched_diag_clear(ctx);
    if (right) {
      p->scope_manual[p->n_scopes] = d.manual;
      p->stack[p->depth++] = p->n_scopes++;
    }
    return;
  }
  fs_status status = fsched_submit_end_scope(p->s);
  ck_assert_int_eq(status, p->depth > 0 ? FSCHED_OK : FSCHED_BAD_INPUT);
  mirror_scope(p, NULL, status);
  fsched_diag_clear(ctx);
  if (p->depth > 0) {
    p->ended[p->stack[--p->depth]] = true;
  }
}

static void move_holds(model_program *p) {
  uint32_t id = below(p, p->n_buffers);
  model_buffer *x = &p->buffer[id];
  bool hold = one_in(p, 2);
  bool gone = x->holds == 0 && (has_ended(p, x->scope) || has_ended(p, x->content_scope));
  bool right = hold ? !gone : x->holds > 0;
  fs_status status = hold ? fsched_submit_hold(p->s, id) : fsched_submit_release(p->s, id);
  ck_assert_int_eq(status, right ? FSCHED_OK : FSCHED_BAD_INPUT);
  mirror_hold(p, hold, id, status);
  fsched_diag_clear(ctx);
  x->holds += right ? (hold ? 1 : -1) : 0;
}

/* Outputs that nothing has written yet are. */
static void write_outputs(model_program *p) {
  for (uint32_t i = 0; i < p->n_buffers; i++) {
    if (p->buffer[i].output) {
      model_arg a[ARGS] = {{.tag = FSCHED_OUT_EXISTING, .buffer = i}};
      submit(p, a, 1, 0);
    }
  }
}

const char submit_target_text[] =
    "target:\n"
    "  queues:\n"
    "    - {name: q0}\n"
    "    - {name: q1}\n"
    "    - {name: dma, class: copy}\n"
    "    - {name: hst, class: host, host: true}\n"
    "  memories:\n"
    "    - {name: fast, capacity: 128, backing: ddr, spill: {on: copy}}\n"
    "    - {name: ddr}\n";

const fsched_submit_callable_desc submit_callable[CALLABLES] = {
    {.size = sizeof *submit_callable, .name = "f"},
    {.size = sizeof *submit_callable, .name = "g"},
    {.size = sizeof *submit_callable, .name = "h", .gang_class = "compute", .gang_count = 2}};

fsched_builder *submit_target(bool raw) {
  fsched_builder *b;
  fsched_queue_desc q[] = {{.size = sizeof *q, .name = "q0"},
                           {.size = sizeof *q, .name = "q1"},
                           {.size = sizeof *q, .name = "dma", .queue_class = "copy"},
                           {.size = sizeof *q, .name = "hst", .queue_class = "host", .host = 1}};
  fsched_memory_desc fast = {.size = sizeof fast,
                             .name = "fast",
                             .capacity = 128,
                             .backing = "ddr",
                             .spill_on = "copy",
                             .write_fixed = 1,
                             .read_fixed = 1},
                     ddr = {.size = sizeof ddr, .name = "ddr"};
  ck_fs(ctx, fsched_builder_create(ctx, "random", &b));
  ck_fs(ctx, fsched_builder_hazards(b, raw ? FSCHED_HAZARDS_RAW : FSCHED_HAZARDS_SEQUENTIAL));
  for (int i = 0; i < 4; i++) {
    ck_fs(ctx, fsched_builder_queue(b, &q[i], NULL));
  }
  ck_fs(ctx, fsched_builder_memory(b, &fast, NULL));
  ck_fs(ctx, fsched_builder_memory(b, &ddr, NULL));
  return b;
}

void begin_program(model_program *p, uint64_t seed, bool raw) {
  *p = (model_program){.rng = {seed}, .raw = raw};
  fs_text_init(&p->buffers, ctx);
  fs_text_init(&p->ops, ctx);
  ck_fs(ctx, fsched_submit_create(submit_target(p->raw), &p->s));
  for (int i = 0; i < CALLABLES; i++) {
    ck_fs(ctx, fsched_submit_callable(p->s, &submit_callable[i], NULL));
  }
}

static uint32_t import_seen(model_program *p) {
  uint32_t id = FS_NONE;
  model_buffer *x = new_buffer(p, "seen", BYTES, false);
  x->imported = x->output = true;
  x->io = FSCHED_IO_OUTPUT;
  x->scope = x->content_scope = -1;
  fsched_submit_import_desc d = {
      .size = sizeof d, .name = "seen", .bytes = BYTES, .memory = "ddr", .io = FSCHED_IO_OUTPUT};
  ck_fs(ctx, fsched_submit_import(p->s, &d, &id));
  mirror_import(p, &d, id);
  describe(p, x);
  return id;
}

void add_mirrors(model_program *p, const model_mirror *mirror, uint32_t n, uint8_t (*left)[ROW]) {
  p->left = left;
  ck_assert_uint_le(n, MIRRORS);
  memcpy(p->mirror, mirror, n * sizeof *mirror);
  p->n_mirrors = n;
}

void end_program(model_program *p) {
  fsched_submit_destroy(p->s);
  fs_text_drop(&p->buffers);
  fs_text_drop(&p->ops);
}

/* Shows what is left in the buffers by tasks that read them and mix it into an output. */
static void show_buffers(model_program *p, uint32_t seen) {
  model_arg first[ARGS] = {{.tag = FSCHED_OUT_EXISTING, .buffer = seen}};
  submit(p, first, 1, 0);
  for (uint32_t i = 0; i < p->n_buffers && p->n_tasks < TASKS - 8; i++) {
    model_arg read = {.tag = FSCHED_IN, .buffer = i};
    if (i != seen && arg_is_right(p, &read)) {
      model_arg a[ARGS] = {read, {.tag = FSCHED_INOUT, .buffer = seen}};
      a[0].tag = FSCHED_IN;
      submit(p, a, 2, 0);
    }
  }
}

static fsched_graph *finish_program(model_program *p) {
  fsched_graph *g;
  p->must = true;
  if (p->n_mirrors > 0) {
    show_buffers(p, p->seen);
  }
  write_outputs(p);
  while (p->depth > 0) {
    fsched_graph *none;
    ck_assert_int_eq(fsched_submit_finish(p->s, &none), FSCHED_BAD_INPUT);
    ck_assert(none == NULL && has_diag("bad-scope"));
    fsched_diag_clear(ctx);
    ck_fs(ctx, fsched_submit_end_scope(p->s));
    mirror_scope(p, NULL, FSCHED_OK);
    p->depth--;
  }
  ck_fs(ctx, fsched_submit_finish(p->s, &g));
  return g;
}

fsched_graph *random_program(model_program *p) {
  if (p->n_mirrors > 0) {
    p->seen = import_seen(p);
  }
  for (int i = 0; i < 6; i++) {
    import_one(p);
    alloc_one(p);
  }
  for (int i = 0;
       i < 400 && p->n_tasks < TASKS - (p->n_mirrors == 0 ? 16 : 28) && p->n_buffers < BUFFERS - 16;
       i++) {
    switch (below(p, 12)) {
      case 0:
        move_scopes(p);
        break;
      case 1:
        move_holds(p);
        break;
      case 2:
        alloc_one(p);
        break;
      default:
        submit_any(p);
        break;
    }
  }
  return finish_program(p);
}
