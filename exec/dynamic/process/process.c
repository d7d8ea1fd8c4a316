/* SPDX-License-Identifier: Apache-2.0 */
/* The courier is the thread that brings ends back.  It takes no worker's word for more than what a
 * worker can say: the serial of its outbox must be that of the member that it had, or of the one
 * before; who writes anything else is killed. */
#include "exec/dynamic/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/context.h"
#include "base/files/beside.h"
#include "base/futex.h"
#include "base/mem.h"
#include "exec/dynamic/process/children.h"
#include "exec/dynamic/process/message.h"

typedef struct process_worker {
  fs_worker_child child;
  fs_started_member member; /* while it is busy */
  uint32_t serial, before;  /* of the member that it got last, and of the one before */
  bool busy, began, damaged;
} process_worker;

typedef struct process_carrier {
  fs_carrier carrier;
  fsched_context *ctx;
  fs_carrier_options options;
  fs_opened_kernels kernels;
  fs_shared_mapping mapping;
  int bell;
  process_worker *worker;
  struct pollfd *look; /* the bell, and the process of each worker */
  bool forks, courier_runs, stops;
  pthread_t courier;
  char program[FS_BESIDE_PATH];
} process_carrier;

/* LOOK_MS: how often the courier looks though nothing tells it to; a worker may be silent. */
enum { LOOK_MS = 1000, END_MS = 1000, BEGIN_S = 60, LOWEST_FD = 10 };

static process_carrier *of_carrier(fs_carrier *c) { return (process_carrier *)c; }

/* ---- members */

static fs_status accept_call(fs_carrier *carrier, uint32_t kernel, const fsched_kernel_call *call) {
  process_carrier *c = of_carrier(carrier);
  FS_TRY(fs_opened_kernel_accepts(c->ctx, &c->kernels, kernel, call));
  uint64_t need = fs_message_bytes(call);
  return need <= FS_MAILBOX_MESSAGE
             ? FSCHED_OK
             : fs_fail(c->ctx, FSCHED_INFEASIBLE, FS_DIAG_DYNAMIC_HEAP, FS_NOWHERE, NULL,
                       "task '%.64s': its description has %llu bytes, and a mailbox %d", call->op,
                       (unsigned long long)need, (int)FS_MAILBOX_MESSAGE);
}

static void start_member(fs_carrier *carrier, uint32_t worker, const fs_started_member *member) {
  process_carrier *c = of_carrier(carrier);
  assert(worker < c->options.n_workers && !c->worker[worker].busy);
  process_worker *w = &c->worker[worker];
  fs_mailbox_in *in = fs_mapping_inbox(&c->mapping, worker);
  w->member = *member;
  w->busy = true;
  w->before = w->serial;
  w->serial = fs_mailbox_next(w->serial);
  in->bytes = fs_message_put(&c->mapping, member, in->message);
  atomic_store_explicit(&in->serial, w->serial, memory_order_release);
  fs_futex_wake_all_shared(&in->serial);
}

/* The courier tells nothing by news. */
static void hear_nothing(fs_carrier *carrier, fs_news *news) {
  (void)carrier;
  assert(news == NULL);
  (void)news;
}

static void end_member(process_carrier *c, uint32_t worker, const char *cause) {
  c->worker[worker].busy = false;
  c->options.returned(c->options.user, worker, cause);
}

/* What an outbox says of a member that has ended.  False: nonsense.  Otherwise `cause` is empty
 * where the member has succeeded. */
static bool read_end(const fs_mailbox_out *out, const char *op, char cause[FS_CARRIER_CAUSE]) {
  char text[FS_MAILBOX_TEXT];
  int answer = atomic_load_explicit(&out->answer, memory_order_relaxed);
  cause[0] = '\0';
  switch (atomic_load_explicit(&out->end, memory_order_relaxed)) {
    case FS_MEMBER_ANSWERED:
      if (answer != 0) {
        (void)snprintf(cause, FS_CARRIER_CAUSE, "task '%.128s' has returned %d", op, answer);
      }
      return true;
    case FS_MEMBER_REFUSED:
      fs_mailbox_read(out, text);
      (void)snprintf(cause, FS_CARRIER_CAUSE,
                     "task '%.64s': its worker refuses the message: %.128s", op, text);
      return true;
    default:
      return false;
  }
}

/* Looks whether a worker has told anything. */
static void look_into(process_carrier *c, uint32_t worker) {
  process_worker *w = &c->worker[worker];
  const fs_mailbox_out *out = fs_mapping_outbox(&c->mapping, worker);
  uint32_t serial = atomic_load_explicit(&out->serial, memory_order_acquire);
  char cause[FS_CARRIER_CAUSE];
  if (w->child.pidfd < 0 || w->damaged) {
    return;
  }
  w->began = w->began || atomic_load_explicit(&out->ready, memory_order_acquire) == 1;
  bool ended = w->busy && serial == w->serial;
  if (ended ? !read_end(out, w->member.call->op, cause)
            : serial != (w->busy ? w->before : w->serial)) {
    w->damaged = true;
    fs_child_kill(&w->child); /* what follows from that is found when it is dead */
  } else if (ended) {
    end_member(c, worker, cause[0] == '\0' ? NULL : cause);
  }
}

/* ---- processes */

/* Starts the process of a worker, with an empty mailbox.  0, or an errno. */
static int start_worker(process_carrier *c, uint32_t worker) {
  process_worker *w = &c->worker[worker];
  fs_mailbox_out *out = fs_mapping_outbox(&c->mapping, worker);
  fs_worker_post post = {c->mapping, worker, c->bell, getpid()};
  *w = (process_worker){.child.pidfd = -1, .busy = w->busy, .member = w->member};
  atomic_store_explicit(&fs_mapping_inbox(&c->mapping, worker)->serial, 0, memory_order_release);
  atomic_store_explicit(&out->ready, 0, memory_order_relaxed);
  atomic_store_explicit(&out->serial, 0, memory_order_relaxed);
  fs_mailbox_say(out, "");
  return c->forks ? fs_child_fork(c->ctx, &post, &c->kernels, &w->child)
                  : fs_child_spawn(&post, c->program, &w->child);
}

/* A worker has died. */
static void bury_worker(process_carrier *c, uint32_t worker) {
  process_worker *w = &c->worker[worker];
  char text[64], cause[FS_CARRIER_CAUSE];
  bool damaged = w->damaged, began = w->began, busy = w->busy;
  fs_child_reap(&w->child, text, sizeof text);
  if (damaged) {
    (void)snprintf(text, sizeof text, "has damaged its mailbox");
  }
  if (busy) {
    (void)snprintf(cause, sizeof cause, "task '%.128s': its worker %s", w->member.call->op, text);
  } else {
    (void)snprintf(cause, sizeof cause, "%s", text);
  }
  if (c->forks || !began || start_worker(c, worker) != 0) {
    c->options.lost(c->options.user, worker, cause);
  }
  if (busy) {
    end_member(c, worker, cause);
  }
}

static void silence_bell(const process_carrier *c) {
  uint64_t rings;
  while (read(c->bell, &rings, sizeof rings) < 0 && errno == EINTR) {
  }
}

/* Sleeps until there may be something to do, or for so many milliseconds. */
static void listen_to_workers(process_carrier *c, int timeout_ms) {
  uint32_t n = c->options.n_workers;
  c->look[0] = (struct pollfd){c->bell, POLLIN, 0};
  for (uint32_t i = 0; i < n; i++) {
    c->look[1 + i] = (struct pollfd){c->worker[i].child.pidfd, POLLIN, 0};
  }
  if (poll(c->look, n + 1, timeout_ms) < 0) {
    for (uint32_t i = 0; i <= n; i++) {
      c->look[i].revents = 0;
    }
  }
  silence_bell(c);
}

static void *run_courier(void *user) {
  process_carrier *c = user;
  fs_baton_take(c->options.baton);
  while (!c->stops) {
    c->options.leave(c->options.user);
    listen_to_workers(c, LOOK_MS);
    fs_baton_take(c->options.baton);
    for (uint32_t i = 0; i < c->options.n_workers; i++) {
      look_into(c, i);
      if (c->look[1 + i].revents != 0) {
        bury_worker(c, i);
      }
    }
  }
  c->options.leave(c->options.user);
  return NULL;
}

/* ---- beginning */

static fs_status fail_worker(process_carrier *c, const char *text) {
  return fs_fail(c->ctx, FSCHED_SYSTEM, FS_DIAG_THREAD, FS_NOWHERE, NULL,
                 "no process for a worker could be started: %s", text);
}

/* A worker has died before it was ready. */
static fs_status fail_begin(process_carrier *c, uint32_t worker) {
  char said[FS_MAILBOX_TEXT], text[64], why[FS_MAILBOX_TEXT + 80];
  const fs_mailbox_out *out = fs_mapping_outbox(&c->mapping, worker);
  fs_child_reap(&c->worker[worker].child, text, sizeof text);
  fs_mailbox_read(out, said);
  if (atomic_load_explicit(&out->ready, memory_order_acquire) == 2) {
    return fs_fail(c->ctx, FSCHED_REPLAY, FS_DIAG_REPLAY_KERNEL, FS_NOWHERE, NULL, "a worker: %s",
                   said);
  }
  (void)snprintf(why, sizeof why, "%s%sit %s", said, said[0] == '\0' ? "" : "; ", text);
  return fail_worker(c, why);
}

static fs_status await_workers(process_carrier *c) {
  uint64_t until = fs_now_ns() + (uint64_t)BEGIN_S * FS_NS_PER_S;
  for (uint32_t n_ready = 0; n_ready < c->options.n_workers;) {
    if (fs_now_ns() > until) {
      return fail_worker(c, "it does not begin");
    }
    listen_to_workers(c, LOOK_MS);
    n_ready = 0;
    for (uint32_t i = 0; i < c->options.n_workers; i++) {
      look_into(c, i);
      n_ready += c->worker[i].began;
      if (c->look[1 + i].revents != 0) {
        return fail_begin(c, i);
      }
    }
  }
  return FSCHED_OK;
}

static fs_status start_workers(process_carrier *c) {
  for (uint32_t i = 0; i < c->options.n_workers; i++) {
    int error = start_worker(c, i);
    if (error != 0) {
      char why[FS_BESIDE_PATH + 80];
      (void)snprintf(why, sizeof why, "%s%s%s", c->forks ? "" : c->program, c->forks ? "" : ": ",
                     strerror(error));
      return fail_worker(c, why);
    }
  }
  return await_workers(c);
}

static fs_status start_courier(process_carrier *c) {
  sigset_t all, old;
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &old);
  c->courier_runs = pthread_create(&c->courier, NULL, run_courier, c) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
  return c->courier_runs ? FSCHED_OK
                         : fs_fail(c->ctx, FSCHED_SYSTEM, FS_DIAG_THREAD, FS_NOWHERE, NULL,
                                   "no thread for workers could be started");
}

static fs_status make_bell(process_carrier *c) {
  int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  c->bell = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, LOWEST_FD);
  int error = errno;
  if (fd >= 0) {
    (void)close(fd);
  }
  return c->bell >= 0 ? FSCHED_OK : fail_worker(c, strerror(error));
}

/* Decides how workers start, and opens what they need for that. */
static fs_status choose_way(process_carrier *c, const fs_process_options *process) {
  const fs_carrier_options *o = &c->options;
  static const char name[] = "fsched-worker";
  c->forks = !process->spawns && fs_child_can_fork();
  for (uint32_t k = 0; k < o->n_kernels && !c->forks; k++) {
    if (o->kernel[k].function != NULL && o->kernel[k].name == NULL && !o->kernel[k].here) {
      return fs_fail(c->ctx, FSCHED_USAGE, FS_DIAG_DYNAMIC_CALL, FS_NOWHERE,
                     "workers are forked while the process has one thread",
                     "kernel %u is a function of the application, which only forked workers have",
                     k);
    }
  }
  if (process->program != NULL) {
    (void)snprintf(c->program, sizeof c->program, "%s", process->program);
  } else if (!fs_file_beside(name, c->program)) {
    memcpy(c->program, name, sizeof name);
  }
  return fs_opened_kernels_open(c->ctx, o->n_kernels, o->kernel, c->forks, &c->kernels);
}

static fs_status make_processes(process_carrier *c, const fs_process_options *process) {
  uint32_t n = c->options.n_workers;
  c->worker = fs_realloc(c->ctx, NULL, 0, n * sizeof *c->worker);
  for (uint32_t i = 0; i < n && c->worker != NULL; i++) {
    c->worker[i] = (process_worker){.child.pidfd = -1};
  }
  c->look = fs_realloc(c->ctx, NULL, 0, (n + (size_t)1) * sizeof *c->look);
  if (c->worker == NULL || c->look == NULL) {
    return FSCHED_SYSTEM;
  }
  FS_TRY(choose_way(c, process));
  FS_TRY(fs_mapping_make(c->ctx, &c->options, &c->mapping));
  c->carrier.spawned = !c->forks;
  c->carrier.heap = c->mapping.base + c->mapping.at.heap;
  c->carrier.shared = c->mapping.base + c->mapping.at.shared;
  FS_TRY(make_bell(c));
  FS_TRY(start_workers(c));
  return start_courier(c);
}

/* ---- end */

static void stop_courier(process_carrier *c) {
  const uint64_t one = 1;
  fs_baton_take(c->options.baton);
  c->stops = true;
  c->options.leave(c->options.user);
  while (write(c->bell, &one, sizeof one) < 0 && errno == EINTR) {
  }
  (void)pthread_join(c->courier, NULL);
}

static void stop_workers(process_carrier *c) {
  char text[64];
  for (uint32_t i = 0; i < c->options.n_workers; i++) {
    if (c->worker[i].child.pidfd >= 0) {
      fs_mailbox_in *in = fs_mapping_inbox(&c->mapping, i);
      atomic_store_explicit(&in->serial, FS_MAILBOX_END, memory_order_release);
      fs_futex_wake_all_shared(&in->serial);
    }
  }
  for (uint32_t i = 0; i < c->options.n_workers; i++) {
    struct pollfd ends = {c->worker[i].child.pidfd, POLLIN, 0};
    if (ends.fd < 0) {
      continue;
    }
    if (poll(&ends, 1, END_MS) <= 0) {
      fs_child_kill(&c->worker[i].child);
    }
    fs_child_reap(&c->worker[i].child, text, sizeof text);
  }
}

static void destroy_processes(fs_carrier *carrier) {
  process_carrier *c = of_carrier(carrier);
  if (c->courier_runs) {
    stop_courier(c);
  }
  if (c->worker != NULL) {
    stop_workers(c);
  }
  if (c->bell >= 0) {
    (void)close(c->bell);
  }
  fs_mapping_release(&c->mapping);
  fs_opened_kernels_close(c->ctx, &c->kernels);
  (void)fs_realloc(c->ctx, c->look, (c->options.n_workers + (size_t)1) * sizeof *c->look, 0);
  (void)fs_realloc(c->ctx, c->worker, c->options.n_workers * sizeof *c->worker, 0);
  (void)fs_realloc(c->ctx, c, sizeof *c, 0);
}

fs_status fs_carrier_processes(fsched_context *ctx, const fs_carrier_options *options,
                               const fs_process_options *process, fs_carrier **out) {
  static const fs_carrier_functions functions = {accept_call, start_member, hear_nothing,
                                                 destroy_processes};
  process_carrier *c = fs_realloc(ctx, NULL, 0, sizeof *c);
  *out = NULL;
  if (c == NULL) {
    return FSCHED_SYSTEM;
  }
  *c = (process_carrier){.carrier = {.functions = &functions},
                         .ctx = ctx,
                         .options = *options,
                         .mapping.fd = -1,
                         .bell = -1};
  fs_status status = make_processes(c, process);
  if (status != FSCHED_OK) {
    destroy_processes(&c->carrier);
    return status;
  }
  *out = &c->carrier;
  return FSCHED_OK;
}
