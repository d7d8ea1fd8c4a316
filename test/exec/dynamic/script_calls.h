/* SPDX-License-Identifier: Apache-2.0 */
/* What the drivers of the public calls share: the target, and descriptors made from a script's. */
#ifndef FS_TEST_SCRIPT_CALLS_H
#define FS_TEST_SCRIPT_CALLS_H

#include <stdio.h>
#include <string.h>

#include "exec/dynamic/script_driver.h"
#include "fsched/submit.h"

#include "kit/status.h"

/* The queues are w0 to w3, and s0 and s1 of class "sub". */
static inline fsched_builder *script_target(fsched_context *c, fsched_hazards hazards) {
  fsched_builder *b;
  fsched_memory_desc ddr = {.size = sizeof ddr, .name = "ddr"};
  ck_fs(c, fsched_builder_create(c, "script", &b));
  ck_fs(c, fsched_builder_hazards(b, hazards));
  for (uint32_t q = 0; q < SCRIPT_QUEUES; q++) {
    bool sub = q >= SCRIPT_WORKERS;
    char name[] = {sub ? 's' : 'w', (char)('0' + (sub ? q - SCRIPT_WORKERS : q)), '\0'};
    fsched_queue_desc d = {.size = sizeof d, .name = name, .queue_class = sub ? "sub" : "next"};
    ck_fs(c, fsched_builder_queue(b, &d, NULL));
  }
  ck_fs(c, fsched_builder_memory(b, &ddr, NULL));
  return b;
}

/* Memory of the user, by the addresses of the script; nobody writes it. */
static inline fsched_submit_import_desc script_import(const char *name, const fs_dynamic_import *d,
                                                      const uint8_t *memory) {
  unsigned access =
      (d->readable ? FSCHED_ACCESS_READ : 0) | (d->writable ? FSCHED_ACCESS_WRITE : 0);
  return (fsched_submit_import_desc){.size = sizeof(fsched_submit_import_desc),
                                     .name = name,
                                     .bytes = d->size,
                                     .memory = "ddr",
                                     .io = !d->readable  ? FSCHED_IO_NONE
                                           : d->writable ? FSCHED_IO_STATE
                                                         : FSCHED_IO_INPUT,
                                     .access = access,
                                     .address = memory + d->address};
}

/* A task or group as the public calls want it. */
typedef struct script_descs {
  char queue[SCRIPT_MEMBERS][12];
  const char *queues[SCRIPT_MEMBERS];
  fsched_submit_view view[SCRIPT_MEMBERS][SCRIPT_ARGS];
  fsched_submit_arg arg[SCRIPT_MEMBERS][SCRIPT_ARGS];
  fsched_submit_member member[SCRIPT_MEMBERS];
  fsched_submit_task_desc task;
  fsched_submit_group_desc group;
} script_descs;

static inline fsched_submit_arg script_arg(const fs_dynamic_arg *a, fsched_submit_view *view) {
  fsched_submit_arg out = {.size = sizeof out, .tag = a->tag, .buffer = (uint32_t)a->buffer};
  if (a->has_view) {
    bool range = a->view.n_dims == 1;
    *view = (fsched_submit_view){.size = sizeof *view,
                                 .offset = a->view.offset,
                                 .length = range ? a->view.shape[0] : 0,
                                 .n_dims = range ? 0 : a->view.n_dims,
                                 .shape = a->view.shape,
                                 .strides = a->view.stride,
                                 .element = a->view.element};
    out.view = view;
  }
  return out;
}

static inline void describe_script_task(const fs_script_task *t, script_descs *d) {
  for (uint32_t m = 0; m < SCRIPT_MEMBERS; m++) {
    uint32_t queue = m < t->n_queues ? t->queue[m] : UINT32_MAX; /* which is none */
    (void)snprintf(d->queue[m], sizeof d->queue[m], "w%u", (unsigned)queue);
    d->queues[m] = d->queue[m];
    for (uint32_t i = 0; m < t->n_members && i < t->member[m].n_args; i++) {
      d->arg[m][i] = script_arg(&t->member[m].arg[i], &d->view[m][i]);
    }
    d->member[m] = (fsched_submit_member){d->arg[m], m < t->n_members ? t->member[m].n_args : 0};
  }
  d->task = (fsched_submit_task_desc){.size = sizeof d->task,
                                      .name = t->name,
                                      .args = d->arg[0],
                                      .n_args = d->member[0].n_args,
                                      .on = t->sub ? "sub" : d->queue[0]};
  d->group = (fsched_submit_group_desc){.size = sizeof d->group,
                                        .name = t->name,
                                        .queues = d->queues,
                                        .members = d->member,
                                        .n_members = t->n_members};
}

#endif
