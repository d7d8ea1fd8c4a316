/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/dynamic/worker/told.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST_PARTS = 12 };

/* A line in parts, which is written at once. */
typedef struct told_line {
  struct iovec part[MOST_PARTS];
  int n;
} told_line;

static void add_part(told_line *l, const char *text) {
  union {
    const char *text;
    void *base;
  } both = {.text = text == NULL ? "" : text};
  if (l->n < MOST_PARTS) {
    l->part[l->n++] = (struct iovec){both.base, strlen(both.text)};
  }
}

static void end_told(told_line *l) {
  add_part(l, " returned in a child process made by fork, which ends here [replay-failed]\n");
  (void)!writev(STDERR_FILENO, l->part, l->n);
}

void fs_told_kernel_runs(void *user, const fsched_kernel_run *run) {
  fs_told_kernel *k = user;
  if (run == NULL && k->runs != NULL && getpid() != k->process) {
    const char *const parts[] = {"fsched-worker: error: op '",
                                 k->runs->op,
                                 "' on queue '",
                                 k->runs->queue,
                                 "': its kernel, function '",
                                 k->runs->function,
                                 "' of module '",
                                 k->runs->module,
                                 "',"};
    told_line l = {.n = 0};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
      add_part(&l, parts[i]);
    }
    end_told(&l);
  }
  *k = (fs_told_kernel){run, getpid()};
}

void fs_told_task_returns(const fsched_kernel_call *call) {
  told_line l = {.n = 0};
  add_part(&l, "fsched-worker: error: task '");
  add_part(&l, call->op);
  add_part(&l, "': its kernel");
  end_told(&l);
}
