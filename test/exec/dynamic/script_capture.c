/* SPDX-License-Identifier: Apache-2.0 */
/* The scripts as submits that are captured.  Nothing ends while a graph is captured, so a task has
 * the predecessors that the script says, and of those that had ended any besides. */
#include "exec/dynamic/script_calls.h"
#include "model/graph.h"

enum { DEVICE = 100 }; /* numbers of imports of devices, of which there is one per queue */

typedef struct wanted_predecessors {
  uint64_t task;
  char names[64];
} wanted_predecessors;

typedef struct script_capture {
  fsched_context *ctx;
  fsched_submitter *s;
  uint32_t n_tasks, n_wanted, n_devices, depth;
  bool done[SCRIPT_TASKS], done_before[SCRIPT_TASKS][SCRIPT_TASKS];
  wanted_predecessors wanted[SCRIPT_TASKS];
  fsched_submit_import_desc device[SCRIPT_TASKS];
  uint32_t of_queue[SCRIPT_TASKS]
                   [SCRIPT_WORKERS]; /* of a device's import; FS_NONE: not there yet */
  uint8_t memory[1 << 16];
} script_capture;

static void *make(const fs_script_settings *s) {
  static script_capture capture;
  capture = (script_capture){.ctx = s->ctx};
  fsched_submit_callable_desc c = {.size = sizeof c, .name = "c", .on = "next"};
  ck_fs(s->ctx, fsched_submit_create(script_target(s->ctx, s->hazards), &capture.s));
  ck_fs(s->ctx, fsched_submit_callable(capture.s, &c, NULL));
  return &capture;
}

static fs_status import(void *of, const char *name, const fs_dynamic_import *d, uint64_t *buffer) {
  script_capture *c = of;
  uint32_t id = FS_NONE;
  ck_assert_uint_le(d->address + d->size, sizeof c->memory);
  fsched_submit_import_desc i = script_import(name, d, c->memory);
  if (d->device) {
    for (uint32_t q = 0; q < SCRIPT_WORKERS; q++) {
      c->of_queue[c->n_devices][q] = FS_NONE;
    }
    c->device[c->n_devices] = i;
    *buffer = DEVICE + c->n_devices++;
    return FSCHED_OK;
  }
  fs_status status = fsched_submit_import(c->s, &i, &id);
  *buffer = id;
  return status;
}

/* The import of a device's memory for a queue. */
static uint32_t import_for(script_capture *c, uint32_t device, uint32_t queue) {
  static const char *const names[] = {"w0", "w1", "w2", "w3"};
  uint32_t *id = &c->of_queue[device][queue];
  if (*id == FS_NONE) {
    fsched_submit_import_desc i = c->device[device];
    i.queue = i.name = names[queue];
    ck_fs(c->ctx, fsched_submit_import(c->s, &i, id));
  }
  return *id;
}

static fs_status alloc(void *of, uint32_t n_dims, uint64_t bytes, uint64_t *buffer,
                       uint64_t *task) {
  script_capture *c = of;
  fsched_submit_alloc_desc a = {
      .size = sizeof a, .element = 1, .n_dims = n_dims, .shape = &bytes, .memory = "ddr"};
  uint32_t id = FS_NONE;
  fs_status status = fsched_submit_alloc(c->s, &a, &id);
  *buffer = id;
  *task = FS_DYNAMIC_NO_TASK;
  return status;
}

static fs_status scope(void *of, bool begins) {
  script_capture *c = of;
  fs_status status = begins ? fsched_submit_begin_scope(c->s, NULL) : fsched_submit_end_scope(c->s);
  if (status == FSCHED_OK) {
    c->depth = begins ? c->depth + 1 : c->depth - 1;
  }
  return status;
}

static fs_status submit(void *of, const fs_script_task *t, uint64_t *task) {
  script_capture *c = of;
  script_descs d;
  uint32_t id = FS_NONE;
  describe_script_task(t, &d);
  for (uint32_t m = 0; m < t->n_members; m++) {
    for (uint32_t i = 0; i < t->member[m].n_args; i++) {
      if (d.arg[m][i].buffer >= DEVICE) {
        d.arg[m][i].buffer = import_for(c, d.arg[m][i].buffer - DEVICE, t->queue[m]);
      }
    }
  }
  fs_status status =
      t->group ? fsched_submit_group(c->s, &d.group, &id) : fsched_submit_task(c->s, &d.task, &id);
  *task = id;
  if (status == FSCHED_OK) {
    ck_assert_uint_lt(id, SCRIPT_TASKS);
    memcpy(c->done_before[id], c->done, sizeof c->done);
    c->n_tasks++;
  }
  return status;
}

static bool run(void *of, uint64_t task) {
  (void)of;
  (void)task;
  return true;
}

static void end(void *of, uint64_t task, uint32_t member, const char *cause) {
  (void)member;
  ck_assert_ptr_null(cause);
  ((script_capture *)of)->done[task] = true;
}

static void expect_predecessors(void *of, uint64_t task, const char *names) {
  script_capture *c = of;
  wanted_predecessors *w = &c->wanted[c->n_wanted++];
  ck_assert_uint_le(c->n_wanted, SCRIPT_TASKS);
  w->task = task;
  (void)snprintf(w->names, sizeof w->names, ",%s,", names);
}

static void check_predecessors(const script_capture *c, const fsched_graph *g,
                               const wanted_predecessors *w) {
  uint32_t found = 0, named = 0;
  for (const char *p = w->names + 1; *p != '\0' && strcmp(p, "-,") != 0; p++) {
    named += *p == ',';
  }
  for (uint32_t e = g->pred0[w->task]; e < g->pred0[w->task + 1]; e++) {
    char name[24];
    (void)snprintf(name, sizeof name, ",%s,", g->op_name[g->pred[e]]);
    bool wanted = strstr(w->names, name) != NULL;
    found += wanted;
    ck_assert_msg(wanted || c->done_before[w->task][g->pred[e]], "'%s' is behind '%s', and not %s",
                  g->op_name[w->task], g->op_name[g->pred[e]], w->names);
  }
  ck_assert_msg(found == named, "'%s' is not behind all of %s", g->op_name[w->task], w->names);
}

static void drop(void *of) {
  script_capture *c = of;
  fsched_graph *g;
  for (; c->depth > 0; c->depth--) {
    ck_fs(c->ctx, fsched_submit_end_scope(c->s));
  }
  if (c->n_tasks > 0) {
    ck_fs(c->ctx, fsched_submit_finish(c->s, &g));
    for (uint32_t i = 0; i < c->n_wanted; i++) {
      check_predecessors(c, g, &c->wanted[i]);
    }
    fsched_graph_destroy(g);
  }
  fsched_submit_destroy(c->s);
}

const fs_script_driver fs_script_capture = {.make = make,
                                            .drop = drop,
                                            .import = import,
                                            .alloc = alloc,
                                            .scope = scope,
                                            .submit = submit,
                                            .run = run,
                                            .end = end,
                                            .expect_predecessors = expect_predecessors};
