/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the files, starts the solver, and then looks in a loop, at least every 50 ms, at the
 * solver's pipes, at the clock and at `stop`:
 *
 *   an error, the limit, `stop`, a proof       the solver is killed, with all that it has started
 *   it said its status, or closed its output   it has 0.2 s left to end by itself
 *   it has ended                               what is left in the pipe is read
 *
 * The loop does not wait for children of the solver that still hold the pipe. */
#include "ilp/solver/solver.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "fsched/compile.h"
#include "ilp/solver/process.h"
#include "ilp/solver/talk.h"

enum {
  TICK_MS = 50,
  ENDING_MS = 2, /* the same while the solver is about to end */
  CHUNK = 1 << 16,
  AFTER_ALL = 1 << 20, /* at most so many bytes are read after the solver was killed */
  MORE_WORDS = 8
};
#define MILLISECOND ((uint64_t)1000000)
static const uint64_t GRACE = 200 * MILLISECOND, NEWS = 500 * MILLISECOND;

typedef struct solver {
  const fs_model *m;
  const fs_solver_options *o;
  fs_solver_result *result;
  fs_arena *arena;
  fs_work_dir dir;
  char **words;
  size_t n_words;
  fs_process process;
  fs_talk talk;
  char *chunk;
  char complaint[120]; /* the first line of its standard error */
  size_t n_complaint;
  bool complained; /* `complaint` has the whole line */
  bool stopped;    /* by the limit or the user */
  bool hangs;      /* has not ended, although it has nothing more to say */
  uint64_t told;   /* when the user last heard news; fs_now_ns */
  uint64_t grace;  /* when it must have ended; 0: not set yet */
} solver;

static bool limit_reached(const fs_solver_options *o) {
  return (o->stop != NULL && *o->stop != 0) ||
         (o->deadline_ns != 0 && fs_now_ns() >= o->deadline_ns);
}

/* Notes that the solver failed; of a long command the end is shown. */
static void failed(solver *s, const char *what, const char *detail) {
  enum { SHOWN = 60 };
  size_t n = strlen(s->words[0]);
  s->result->status = FS_SOLVER_FAILED;
  (void)snprintf(s->result->reason, sizeof s->result->reason, "%.60s %.60s%s%.70s",
                 s->words[0] + (n > SHOWN ? n - SHOWN : 0), what, *detail == '\0' ? "" : ": ",
                 detail);
}

/* ---- before the run */

static void add_word(solver *s, const char *word) { s->words[s->n_words++] = (char *)word; }

/* Adds the options of limits.  The solver gets a little less time than is left, so that it can
 * still report its best solution. */
static fs_status add_limits(solver *s) {
  char *text = fs_arena_alloc(s->arena, 64);
  if (text == NULL) {
    return FSCHED_SYSTEM;
  }
  if (s->o->deadline_ns != 0) {
    uint64_t at = fs_now_ns(), left = s->o->deadline_ns > at ? s->o->deadline_ns - at : 0;
    left = (left - fs_min(left / 10, 100 * MILLISECOND)) / MILLISECOND;
    (void)snprintf(text, 32, "%llu.%03u", (unsigned long long)(left / 1000),
                   (unsigned)(left % 1000));
    add_word(s, "--time-limit");
    add_word(s, text);
  }
  if (s->o->node_limit != 0) {
    (void)snprintf(text + 32, 32, "%llu", (unsigned long long)s->o->node_limit);
    add_word(s, "--node-limit");
    add_word(s, text + 32);
  }
  return FSCHED_OK;
}

static fs_status write_model(solver *s, char **path, int *error) {
  char *text;
  size_t length;
  FS_TRY(fs_model_mps(s->m, &text, &length));
  fs_status status = fs_work_dir_write(&s->dir, "model.mps", text, length, path, error);
  fsched_text_free(s->arena->ctx, text, length);
  return status;
}

static fs_status write_start(solver *s, const int64_t *value, char **path, int *error) {
  fs_text t;
  fs_text_init(&t, s->arena->ctx);
  for (size_t i = 0; i < s->m->var.n; i++) {
    if (value[i] != 0) {
      fs_text_printf(&t, "%s %lld\n", s->m->var.at[i].name, (long long)value[i]);
    }
  }
  char *text;
  size_t length;
  FS_TRY(fs_text_take(&t, &text, &length));
  fs_status status = fs_work_dir_write(&s->dir, "start", text, length, path, error);
  fsched_text_free(s->arena->ctx, text, length);
  return status;
}

/* Notes that the files could not be made in a place. */
static void no_files(solver *s, const char *place, int error) {
  char what[80];
  size_t n = strlen(place);
  (void)snprintf(what, sizeof what, "does not get its files in %s", place + (n > 30 ? n - 30 : 0));
  failed(s, what, strerror(error));
}

static fs_status make_files(solver *s, const char *place, const int64_t *value, char **model,
                            char **start, int *error) {
  *start = NULL;
  FS_TRY(fs_work_dir_make(s->arena, place, &s->dir, error));
  if (*error == 0) {
    FS_TRY(write_model(s, model, error));
  }
  if (*error == 0 && s->result->found) {
    FS_TRY(write_start(s, value, start, error));
  }
  return FSCHED_OK;
}

/* Makes the files in the first place that has room: a disk or the user's quota may be full. */
static fs_status find_room(solver *s, const int64_t *value, char **model, char **start) {
  int first = 0, error = 0;
  for (uint32_t k = 0; fs_work_dir_place(k) != NULL; k++) {
    FS_TRY(make_files(s, fs_work_dir_place(k), value, model, start, &error));
    if (error == 0) {
      return FSCHED_OK;
    }
    fs_work_dir_remove(&s->dir);
    first = k == 0 ? error : first;
    if (first != ENOSPC && first != EDQUOT) {
      break;
    }
  }
  no_files(s, fs_work_dir_place(0), first);
  return FSCHED_OK;
}

/* Makes the directory, its files, and the whole command. */
static fs_status prepare_solver(solver *s, const int64_t *value) {
  char *model, *start;
  FS_TRY(fs_solver_words(s->arena, s->o->command, MORE_WORDS, &s->words, &s->n_words));
  if (s->n_words == 0) {
    s->words[0] = (char *)"the solver's command";
    failed(s, "is not a command", "");
    return FSCHED_OK;
  }
  FS_TRY(find_room(s, value, &model, &start));
  if (s->result->status == FS_SOLVER_FAILED) {
    return FSCHED_OK;
  }
  if (start != NULL) {
    add_word(s, "--start");
    add_word(s, start);
  }
  FS_TRY(add_limits(s));
  add_word(s, model);
  return FSCHED_OK;
}

static void not_started(solver *s, int error) {
  const char *slash = strrchr(s->words[0], '/');
  const char *name = slash == NULL ? s->words[0] : slash + 1;
  if (error != ENOENT) {
    failed(s, "cannot be run", strerror(error));
  } else if (slash != NULL && access(s->words[0], F_OK) == 0) {
    failed(s, "cannot be run", "its interpreter is not found");
  } else {
    bool ours = strcmp(name, "fsched-glpk") == 0;
    failed(s, "is not found",
           ours ? "install the package fsched-glpk, or build with libglpk-dev" : "");
  }
}

/* ---- during the run */

static void hear_complaint(solver *s, const char *bytes, size_t n) {
  for (size_t i = 0; i < n && !s->complained; i++) {
    if (bytes[i] == '\n') {
      s->complained = s->n_complaint > 0;
    } else if (s->n_complaint < sizeof s->complaint) {
      s->complaint[s->n_complaint++] = bytes[i];
    }
  }
}

/* Reads once; false: there is nothing to read, now or any more. */
static bool hear(solver *s, int *fd) {
  if (*fd < 0) {
    return false;
  }
  ssize_t n = read(*fd, s->chunk, CHUNK);
  if (n > 0 && fd == &s->process.out) {
    fs_talk_hear(&s->talk, s->chunk, (size_t)n);
  } else if (n > 0) {
    hear_complaint(s, s->chunk, (size_t)n);
  } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
    (void)close(*fd);
    *fd = -1;
  }
  return n > 0;
}

static void tell_news(solver *s) {
  uint64_t at = fs_now_ns();
  if (s->o->news != NULL && (s->talk.news || at - s->told >= NEWS)) {
    s->talk.news = false;
    s->told = at;
    s->o->news(s->o->user, s->result);
  }
}

static bool about_to_end(const solver *s) { return fs_talk_ended(&s->talk) || s->process.out < 0; }

/* May the solver go on? */
static bool goes_on(solver *s) {
  if (s->talk.state == FS_TALK_FAULT || fs_talk_proven(&s->talk)) {
    return false;
  }
  s->stopped = limit_reached(s->o);
  if (about_to_end(s)) {
    s->grace = s->grace == 0 ? fs_now_ns() + GRACE : s->grace;
    s->hangs = fs_now_ns() >= s->grace;
  }
  return !s->stopped && !s->hangs;
}

static int tick(const solver *s) {
  if (about_to_end(s)) {
    return ENDING_MS;
  }
  if (s->o->deadline_ns == 0) {
    return TICK_MS;
  }
  uint64_t at = fs_now_ns(), left = s->o->deadline_ns > at ? s->o->deadline_ns - at : 0;
  return (int)fs_min(TICK_MS, left / MILLISECOND + 1);
}

static void converse(solver *s) {
  while (goes_on(s)) {
    struct pollfd pipes[] = {{s->process.out, POLLIN, 0}, {s->process.err, POLLIN, 0}};
    (void)poll(pipes, 2, tick(s));
    bool ended = fs_process_ended(&s->process);
    bool heard = hear(s, &s->process.out);
    heard = hear(s, &s->process.err) || heard;
    tell_news(s);
    if (ended && !heard) {
      break;
    }
  }
}

/* ---- after the run */

static void say_signal(int number, char *out, size_t size) {
  static const struct {
    int number;
    const char *name;
  } known[] = {{SIGABRT, "SIGABRT"}, {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},
               {SIGFPE, "SIGFPE"},   {SIGILL, "SIGILL"},   {SIGKILL, "SIGKILL"},
               {SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"},   {SIGHUP, "SIGHUP"},
               {SIGPIPE, "SIGPIPE"}, {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}};
  (void)snprintf(out, size, "was killed by signal %d", number);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (known[i].number == number) {
      (void)snprintf(out, size, "was killed by %s", known[i].name);
    }
  }
}

/* Is the way in which the solver ended by itself a fault?  Then it is reported in the result. */
static bool judge_end(solver *s) {
  char complaint[100], what[64];
  fs_talk_shown(s->complaint, s->n_complaint, complaint, sizeof complaint);
  int status = s->process.status;
  if (s->process.known && WIFSIGNALED(status)) {
    say_signal(WTERMSIG(status), what, sizeof what);
  } else if (s->process.known && WEXITSTATUS(status) != 0) {
    (void)snprintf(what, sizeof what, "ended with exit status %d", WEXITSTATUS(status));
  } else if (!fs_talk_ended(&s->talk)) {
    (void)snprintf(what, sizeof what, "ended without a status");
  } else {
    return false;
  }
  failed(s, what, complaint);
  return true;
}

static void judge(solver *s) {
  fs_solver_result *r = s->result;
  r->status = FS_SOLVER_LIMIT;
  if (s->talk.state == FS_TALK_FAULT) {
    r->status = FS_SOLVER_FAILED;
    r->bounded = false; /* the bound cannot be trusted either */
  } else if (fs_talk_proven(&s->talk)) {
    r->status = FS_SOLVER_OPTIMAL;
  } else if (s->hangs && !fs_talk_ended(&s->talk)) {
    failed(s, "closed its output without a status, and went on", "");
  } else if (s->stopped || s->hangs || !judge_end(s)) {
    r->status = s->talk.state == FS_TALK_INFEASIBLE ? FS_SOLVER_INFEASIBLE : FS_SOLVER_LIMIT;
  }
}

static void end(solver *s) {
  bool killed = s->stopped || s->hangs;
  fs_process_end(&s->process);
  for (size_t n = 0; n < AFTER_ALL && hear(s, &s->process.out); n += CHUNK) {
  }
  if (!killed) {
    fs_talk_close(&s->talk);
  }
  fs_process_release(&s->process);
  judge(s);
}

static fs_status run_solver(solver *s, int64_t *value) {
  FS_TRY(prepare_solver(s, value));
  if (s->result->status == FS_SOLVER_FAILED) {
    return FSCHED_OK;
  }
  s->chunk = fs_arena_alloc(s->arena, CHUNK);
  if (s->chunk == NULL) {
    return FSCHED_SYSTEM;
  }
  FS_TRY(fs_talk_begin(s->arena->ctx, s->m, value, s->result, &s->talk));
  int error = fs_process_start(&s->process, &s->dir, s->words);
  if (error == 0) {
    s->told = fs_now_ns();
    converse(s);
    end(s);
    tell_news(s);
  } else {
    not_started(s, error);
  }
  fs_talk_release(&s->talk);
  return FSCHED_OK;
}

fs_status fs_solver_run(fsched_context *ctx, const fs_model *m, const fs_solver_options *o,
                        bool start, int64_t *value, fs_solver_result *result) {
  assert(!m->open);
  *result = (fs_solver_result){.status = FS_SOLVER_LIMIT};
  if (m->contradiction) {
    result->status = FS_SOLVER_INFEASIBLE;
    return FSCHED_OK;
  }
  if (start && fs_model_broken(m, value) == FS_NONE) {
    result->found = true;
    result->objective = fs_model_objective(m, value);
  }
  if (limit_reached(o)) {
    return FSCHED_OK;
  }
  FS_SCRATCH(arena, ctx);
  solver s = {.m = m, .o = o, .result = result, .arena = &arena};
  fs_status status = run_solver(&s, value);
  fs_work_dir_remove(&s.dir);
  return status;
}
