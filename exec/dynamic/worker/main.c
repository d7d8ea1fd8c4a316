/* SPDX-License-Identifier: Apache-2.0 */
/* fsched-worker WORKER HOST: a worker of a dynamic run (process.h).  It gets the shared memory and
 * the bell by their descriptors (serve.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "exec/dynamic/process/serve.h"
#include "exec/dynamic/program/program.h"
#include "exec/dynamic/worker/told.h"

static _Noreturn void wrong_use(void) {
  static const char text[] = "fsched-worker: this program is only started by dynamic runs\n";
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
  _exit(2);
}

static bool read_number(const char *text, long long *out) {
  char *end;
  errno = 0;
  *out = strtoll(text, &end, 10);
  return errno == 0 && *text >= '0' && *text <= '9' && *end == '\0';
}

static _Noreturn void lack_kernel(const fs_worker_post *post, const fsched_context *ctx) {
  uint32_t n = fsched_diag_count(ctx);
  fs_worker_lack_kernel(post, n == 0 ? "out of memory" : fsched_diag_get(ctx, n - 1)->message);
}

static _Noreturn void give_up(const fs_worker_post *post, fsched_context *ctx) {
  uint32_t n = fsched_diag_count(ctx);
  fs_worker_give_up(post, n == 0 ? "out of memory" : fsched_diag_get(ctx, n - 1)->message);
}

/* In place of a function of the application, which never is asked for. */
static int lack_function(const fs_started_member *member, void *user) {
  (void)member;
  (void)user;
  return 1;
}

/* Ops of programs are run by this one; functions without a name are those of the application. */
static void find_functions(fs_task_kernel *table, uint32_t n, fs_program_attached *program) {
  for (uint32_t k = 0; k < n; k++) {
    if (table[k].module == NULL && strcmp(table[k].name, FS_PROGRAM_KERNEL) == 0) {
      table[k] = (fs_task_kernel){.function = fs_program_serve, .user = program};
    } else if (table[k].module == NULL && table[k].name[0] == '\0') {
      table[k] = (fs_task_kernel){.function = lack_function};
    }
  }
}

int main(int argc, char **argv) {
  long long worker, host;
  if (argc == 2 && strcmp(argv[1], "--version") == 0) {
    (void)printf("fsched-worker %s\n", fsched_version());
    return 0;
  }
  fs_worker_post post = {.bell = FS_WORKER_BELL_FD};
  if (argc != 3 || !read_number(argv[1], &worker) || !read_number(argv[2], &host) ||
      !fs_mapping_attach(FS_WORKER_MAPPING_FD, &post.mapping) ||
      worker >= (long long)post.mapping.at.n_workers) {
    wrong_use();
  }
  post.worker = (uint32_t)worker;
  post.host = host;
  fsched_context *ctx;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    fs_worker_give_up(&post, "out of memory");
  }
  fs_task_kernel *table =
      fs_realloc(ctx, NULL, 0, (post.mapping.at.n_kernels + (size_t)1) * sizeof *table);
  if (table == NULL) {
    give_up(&post, ctx);
  }
  if (!fs_mapping_kernels(&post.mapping, table)) {
    fs_worker_give_up(&post, "its kernels are damaged");
  }
  if (!fs_worker_settle(&post)) {
    _exit(FS_WORKER_UNREADY);
  }
  static fs_program_attached program;
  static fs_told_kernel told;
  program.ctx = ctx;
  program.kernel_runs = fs_told_kernel_runs;
  program.runs_user = &told;
  program.shared = post.mapping.base + post.mapping.at.shared;
  find_functions(table, post.mapping.at.n_kernels, &program);
  fs_opened_kernels kernels;
  fs_status opened = fs_opened_kernels_open(ctx, post.mapping.at.n_kernels, table, true, &kernels);
  if (opened == FSCHED_REPLAY) {
    lack_kernel(&post, ctx);
  }
  if (opened != FSCHED_OK) {
    give_up(&post, ctx);
  }
  kernels.returns_in_child = fs_told_task_returns;
  fs_worker_serve(ctx, &post, &kernels);
}
