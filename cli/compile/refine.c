/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts are taken by a thread that waits for them, so no handler needs a global variable.  At
 * the end, the thread is woken by one of the signals, unless it has taken a signal and waits for
 * `over`.  It is not cancelled, as the C library would have to load another library for that. */
#include "cli/compile/refine.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/text/columns.h"
#include "model/graph.h"

static fs_status check_needs_refine(fs_cli *cli, bool refine) {
  static const struct {
    fs_option option;
    const char *name;
  } others[] = {{FS_OPTION_TIME_LIMIT, "--time-limit"},
                {FS_OPTION_NODE_LIMIT, "--node-limit"},
                {FS_OPTION_JOBS, "--jobs"},
                {FS_OPTION_SOLVER_CMD, "--solver-cmd"},
                {FS_OPTION_SOLUTION, "--solution"},
                {FS_OPTION_PROOF, "--proof"}};
  for (size_t i = 0; i < sizeof others / sizeof *others && !refine; i++) {
    if (fs_args_has(&cli->args, others[i].option)) {
      bool proof = others[i].option == FS_OPTION_PROOF; /* which models do not leave */
      return fs_usage(cli->ctx,
                      proof ? "add --refine auto or search" : "add --refine auto, search, ilp or pack",
                      "%s is for a refinement, and none is asked for", others[i].name);
    }
  }
  return FSCHED_OK;
}

/* The search has no models. */
static fs_status check_needs_models(fs_cli *cli, fsched_refine refine) {
  static const struct {
    fs_option option;
    const char *name;
  } others[] = {{FS_OPTION_SOLVER_CMD, "--solver-cmd"}, {FS_OPTION_SOLUTION, "--solution"}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    if (fs_refine_searches(refine) && fs_args_has(&cli->args, others[i].option)) {
      return fs_usage(cli->ctx, "give --refine ilp or --refine pack",
                      "%s is for models, which --refine search does not make", others[i].name);
    }
  }
  return FSCHED_OK;
}

/* A model's bound is what a solver says. */
static fs_status check_proof(fs_cli *cli, fsched_refine refine) {
  return fs_args_has(&cli->args, FS_OPTION_PROOF) && !fs_refine_searches(refine)
             ? fs_usage(cli->ctx, "give --refine search",
                        "--proof is for --refine search; models leave no proof")
             : FSCHED_OK;
}

static fs_status take_jobs(fs_cli *cli, fsched_compile_options *o) {
  const char *jobs = fs_args_last(&cli->args, FS_OPTION_JOBS);
  uint64_t n;
  if (jobs == NULL) {
    return FSCHED_OK;
  }
  if (!fs_refine_searches(o->refine) && !fs_refine_is_open(o->refine)) {
    return fs_usage(cli->ctx, "give --refine search",
                    "--jobs is for --refine search; a solver has its own threads");
  }
  if (!fs_parse_u64(jobs, &n) || n == 0 || n > FSCHED_MOST_JOBS) {
    return fs_usage(cli->ctx, NULL, "--jobs wants a number from 1 to %d, not '%s'",
                    FSCHED_MOST_JOBS, jobs);
  }
  o->jobs = (uint32_t)n;
  return FSCHED_OK;
}

static fs_status take_limits(fs_cli *cli, fsched_compile_options *o) {
  const char *seconds = fs_args_last(&cli->args, FS_OPTION_TIME_LIMIT);
  const char *nodes = fs_args_last(&cli->args, FS_OPTION_NODE_LIMIT);
  if (seconds != NULL && (!fs_parse_milliseconds(seconds, &o->time_limit_ms) ||
                          o->time_limit_ms > FSCHED_MOST_TIME_LIMIT_MS)) {
    return fs_usage(cli->ctx, NULL, "--time-limit wants seconds above 0, like 10 or 0.5, not '%s'",
                    seconds);
  }
  if (nodes != NULL && (!fs_parse_u64(nodes, &o->node_limit) || o->node_limit == 0)) {
    return fs_usage(cli->ctx, NULL, "--node-limit wants a number above 0, not '%s'", nodes);
  }
  return FSCHED_OK;
}

fs_status fs_cli_refine_options(fs_cli *cli, fsched_compile_options *o) {
  o->refine = (fsched_refine)fs_args_choice(&cli->args, FS_OPTION_REFINE, FSCHED_REFINE_NONE);
  FS_TRY(check_needs_refine(cli, fs_refine_improves(o->refine)));
  FS_TRY(check_needs_models(cli, o->refine));
  FS_TRY(check_proof(cli, o->refine));
  FS_TRY(take_limits(cli, o));
  FS_TRY(take_jobs(cli, o));
  o->solver_cmd = fs_args_last(&cli->args, FS_OPTION_SOLVER_CMD);
  if (o->solver_cmd != NULL && o->solver_cmd[strspn(o->solver_cmd, " \t\n")] == '\0') {
    return fs_usage(cli->ctx, NULL, "--solver-cmd names no command");
  }
  const char *solution = fs_args_last(&cli->args, FS_OPTION_SOLUTION);
  if (solution != NULL && fs_cli_is_std(solution) && fs_cli_is_std(cli->args.operand[0])) {
    return fs_usage(cli->ctx, NULL, "standard input can be read only once");
  }
  return FSCHED_OK;
}

/* Finds the signals to watch: those not set to be ignored (by nohup, or for a shell's background
 * job). */
static bool watched(sigset_t *set) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  bool any = false;
  sigemptyset(set);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    struct sigaction old;
    if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
      sigaddset(set, numbers[i]);
      any = true;
    }
  }
  return any;
}

/* Whether unwatch() sent the signal; the C library may report SI_USER for that. */
static bool from_here(const siginfo_t *info) {
  return (info->si_code == SI_TKILL || info->si_code == SI_USER) && info->si_pid == getpid();
}

static void *wait_for_signal(void *user) {
  fs_cli_refinement *r = user;
  siginfo_t info;
  while (sigwaitinfo(&r->watched, &info) < 0) {
  }
  (void)pthread_mutex_lock(&r->lock);
  if (!from_here(&info)) {
    r->taken = true;
    __atomic_store_n(&r->signal, info.si_signo, __ATOMIC_RELAXED);
    __atomic_store_n(&r->stop, 1, __ATOMIC_RELAXED);
    if (!r->over) {
      (void)pthread_sigmask(SIG_UNBLOCK, &r->watched, NULL); /* the next one ends the program */
    }
  }
  while (!r->over) {
    (void)pthread_cond_wait(&r->ended, &r->lock);
  }
  (void)pthread_mutex_unlock(&r->lock);
  return NULL;
}

/* Ends the thread that waits for signals. */
static void unwatch(fs_cli_refinement *r) {
  int wake = sigismember(&r->watched, SIGINT) == 1    ? SIGINT
             : sigismember(&r->watched, SIGTERM) == 1 ? SIGTERM
                                                      : SIGHUP;
  (void)pthread_mutex_lock(&r->lock);
  r->over = true;
  if (!r->taken) {
    (void)pthread_kill(r->thread, wake);
  }
  (void)pthread_cond_signal(&r->ended);
  (void)pthread_mutex_unlock(&r->lock);
  (void)pthread_join(r->thread, NULL);
  (void)pthread_sigmask(SIG_SETMASK, &r->mask, NULL);
  r->watching = false;
}

static void watch(fs_cli_refinement *r) {
  (void)pthread_mutex_init(&r->lock, NULL);
  (void)pthread_cond_init(&r->ended, NULL);
  if (watched(&r->watched)) {
    (void)pthread_sigmask(SIG_BLOCK, &r->watched, &r->mask);
    r->watching = pthread_create(&r->thread, NULL, wait_for_signal, r) == 0;
    if (!r->watching) {
      (void)pthread_sigmask(SIG_SETMASK, &r->mask, NULL);
    }
  }
}

static void on_news(void *user, const fsched_refine_state *state) {
  fs_cli_progress_refine(user, state);
}

fs_status fs_cli_refine_begin(fs_cli *cli, fsched_compile_options *o, fs_cli_refinement *r) {
  const char *path = fs_args_last(&cli->args, FS_OPTION_SOLUTION);
  if (!fs_refine_improves(o->refine)) {
    return FSCHED_OK;
  }
  if (path != NULL) {
    FS_TRY(fs_file_read(cli->ctx, path, &r->solution, &r->solution_length));
    r->path = path;
    o->solution = r->solution;
    o->solution_length = r->solution_length;
    o->solution_name = fs_cli_shown(path);
  }
  o->stop = &r->stop;
  if (cli->progress != NULL) {
    o->refine_news = on_news;
    o->refine_user = cli->progress;
  }
  watch(r);
  return FSCHED_OK;
}

void fs_cli_refine_end(fs_cli *cli, fs_cli_refinement *r) {
  if (r->watching) {
    unwatch(r);
  }
  if (r->signal == SIGTERM || r->signal == SIGHUP) { /* nothing is left behind now */
    (void)raise(r->signal);
  }
  if (r->solution != NULL) {
    (void)fs_realloc(cli->ctx, r->solution, r->solution_length + 1, 0);
    r->solution = NULL;
  }
}
