/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/dynamic/kernels.h"

#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/dynamic/process/mapping.h"

void compute_plain(const plain_task *t, uint32_t member, uint8_t *const *at) {
  uint64_t sum = t->seed * 31 + member;
  for (uint32_t i = 0; i < t->n_args[member]; i++) {
    const plain_arg *a = &t->arg[member][i];
    for (uint32_t k = a->begin; k < a->end && (a->tag == FSCHED_IN || a->tag == FSCHED_INOUT);
         k++) {
      sum = (sum ^ at[i][k - a->begin]) * 0x100000001b3u;
    }
  }
  for (uint32_t i = 0; i < t->n_args[member]; i++) {
    const plain_arg *a = &t->arg[member][i];
    for (uint32_t k = a->begin; k < a->end && a->tag != FSCHED_IN; k++) {
      sum = sum * 0x9e3779b97f4a7c15u + k;
      at[i][k - a->begin] = (uint8_t)(sum >> 56);
    }
  }
}

int run_task(const fsched_kernel_call *call) {
  plain_task t;
  uint8_t *at[MOST_ARGS];
  if (call->n_params != sizeof t || call->n_args == 0) {
    return 2;
  }
  memcpy(&t, call->params, sizeof t);
  uint32_t member = (uint32_t)call->args[call->n_args - 1].value;
  for (uint32_t i = 0; i + 1 < call->n_args; i++) {
    at[i] = call->args[i].data;
    if (call->args[i].length != t.arg[member][i].end - t.arg[member][i].begin ||
        call->args[i].tag != (uint32_t)t.arg[member][i].tag) {
      return 1;
    }
  }
  compute_plain(&t, member, at);
  return 0;
}

int count_call(const fsched_kernel_call *call) {
  atomic_fetch_add((_Atomic uint32_t *)call->args[0].data, 1);
  for (uint32_t i = 1; i < call->n_args; i++) {
    if (call->args[i].length > 0) { /* a number has no bytes */
      memset(call->args[i].data, 1, call->args[i].length);
    }
  }
  return 0;
}

int fail_call(const fsched_kernel_call *call) {
  (void)call;
  return 7;
}

/* Compares what it is told with what the test has submitted. */
int check_told(const fsched_kernel_call *call) {
  uint32_t member = call->n_args == 4 ? 0 : 1;
  const fsched_kernel_arg *a = call->args;
  const fsched_kernel_view *v = call->views;
  bool right = strcmp(call->op, "told") == 0;
  right = right && call->size == sizeof *call && call->n_scratch == 0 && call->shared_bytes == 77;
  for (uint32_t i = 0; i < 3; i++) {
    right = right && call->grid[i] == 2 + i && call->block[i] == 5 + i;
  }
  right = right && call->n_params == 4 && memcmp(call->params, "args", 4) == 0;
  if (!right || call->n_args != 4 - member) {
    return 1;
  }
  if (member == 1) { /* inout, value, value */
    return a[0].tag == FSCHED_INOUT && a[0].length == 6 && a[1].tag == FSCHED_VALUE &&
                   a[1].value == INT64_MIN && a[2].value == 3 && a[1].data == NULL &&
                   v[0].n_dims == 0 && v[1].n_dims == 0
               ? 0
               : 2;
  }
  /* value, in, value, out */
  return a[0].value == -1 && a[0].tag == FSCHED_VALUE && a[1].tag == FSCHED_IN &&
                 a[1].length == 11 && a[2].value == 2 && a[3].length == 4 && v[0].n_dims == 0 &&
                 v[1].n_dims == 2 && v[1].element == 1 && v[1].shape[0] == 2 &&
                 v[1].shape[1] == 3 && v[1].strides[0] == 8 && v[1].strides[1] == 1 &&
                 v[1].shape[2] == 0 && ((uint8_t *)a[1].data)[8] == 9
             ? 0
             : 3;
}

/* Writes its out arg, and spoils all of its scratch. */
int spoil_scratch(const fsched_kernel_call *call) {
  memset(call->args[0].data, (int)call->args[1].value, call->args[0].length);
  for (uint32_t i = 0; i < call->n_scratch; i++) {
    memset(call->scratch[i].data, 0xee, call->scratch[i].length);
  }
  return call->n_scratch == 2 && call->scratch[0].length == 5 && call->scratch[1].length == 64 ? 0
                                                                                               : 1;
}

int die(const fsched_kernel_call *call) {
  int how = (int)call->args[call->n_args - 1].value;
  memset(call->args[0].data, 0xdd, call->args[0].length);
  if (how >= DIES_BY_EXIT) {
    _exit(how - DIES_BY_EXIT);
  }
  (void)kill(getpid(), how);
  return 0;
}

int fork_child(const fsched_kernel_call *call) {
  int status = -1;
  pid_t child = fork();
  if (child > 0) {
    (void)waitpid(child, &status, 0);
    memcpy(call->args[0].data, &status, sizeof status);
  }
  return child < 0;
}

static uint32_t count_files(void) {
  DIR *d = opendir("/proc/self/fd");
  uint32_t n = 0;
  for (const struct dirent *e = d == NULL ? NULL : readdir(d); e != NULL; e = readdir(d)) {
    char path[300], target[300] = "";
    int fd = atoi(e->d_name);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    n += fd > STDERR_FILENO && fd != dirfd(d) && readlink(path, target, sizeof target - 1) > 0 &&
         strstr(target, "[eventfd]") == NULL && strstr(target, "[pidfd]") == NULL;
  }
  (void)closedir(d);
  return n;
}

int look_around(const fsched_kernel_call *call) {
  surroundings s = {.pid = getpid(), .parent = getppid(), .n_files = count_files()};
  sigset_t mask;
  (void)sigprocmask(SIG_SETMASK, NULL, &mask);
  for (int number = 1; number < SIGRTMIN; number++) {
    struct sigaction a;
    s.n_handlers += (sigaction(number, NULL, &a) == 0 && a.sa_handler != SIG_DFL) ||
                    sigismember(&mask, number) == 1;
  }
  const char *omp = getenv("OMP_NUM_THREADS"), *blas = getenv("OPENBLAS_NUM_THREADS");
  (void)snprintf(s.omp, sizeof s.omp, "%s", omp == NULL ? "" : omp);
  (void)snprintf(s.openblas, sizeof s.openblas, "%s", blas == NULL ? "" : blas);
  memcpy(call->args[0].data, &s, sizeof s);
  return 0;
}

/* Where the shared memory is mapped with these rights, `size` bytes long (0: any); or NULL. */
static unsigned char *find_mapped(const char *rights, unsigned long size) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[500], has[8];
  unsigned long from, to, found = 0;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    if (sscanf(line, "%lx-%lx %7s", &from, &to, has) == 3 && strstr(line, "memfd:fsched") != NULL &&
        strcmp(has, rights) == 0 && (size == 0 || to - from == size)) {
      found = from;
    }
  }
  if (maps != NULL) {
    (void)fclose(maps);
  }
  return (unsigned char *)found;
}

static void ring_all_bells(void) {
  const uint64_t one = 1;
  for (int fd = STDERR_FILENO + 1; fd < 64; fd++) {
    char path[64], target[64] = "";
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (readlink(path, target, sizeof target - 1) > 0 && strstr(target, "[eventfd]") != NULL &&
        write(fd, &one, sizeof one) < 0) {
      return;
    }
  }
}

int scribble(const fsched_kernel_call *call) {
  int how = (int)call->args[call->n_args - 1].value;
  unsigned char *at = find_mapped(how == SCRIBBLES_OTHER ? "---s" : "rw-s",
                                  how == SCRIBBLES_OTHER ? 0 : FS_MAILBOX_ALIGN);
  if (at == NULL) {
    return 1;
  }
  fs_mailbox_out *out = (fs_mailbox_out *)(void *)at;
  if (how == SCRIBBLES_END) {
    atomic_store(&out->end, 99);
    atomic_fetch_add(&out->serial, 1);
  } else {
    atomic_fetch_add(&out->serial, 0x01010101);
  }
  ring_all_bells();
  for (;;) {
    (void)pause();
  }
}

int wait_for_word(const fsched_kernel_call *call) {
  while (atomic_load((_Atomic uint32_t *)call->args[0].data) == 0) {
  }
  return 0;
}
