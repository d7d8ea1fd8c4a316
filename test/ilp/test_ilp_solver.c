/* SPDX-License-Identifier: Apache-2.0 */
/* Solvers that are right, wrong, and worse: whatever they do, what is known stays known, and no
 * process and no file is left. */
#include "ilp/solver/solver.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kit/budget.h"

#include "ilp/model_case.h"

/* The model: minimise 2 x0 + 3 x1 + 4 c + 100 where x0 + x1 >= 4, c - x1 >= 1, 0 <= x0 <= 3.  The
 * best is 115 at (3, 1, 2), and (0, 4, 5) has 132. */
static int64_t value[3];
static fs_solver_result result;
static fs_solver_options options;
static char tmp[64], pids[96];

static void row(int64_t low, uint32_t a, int64_t ca, uint32_t b, int64_t cb) {
  ck_assert_int_eq(
      fs_model_begin_row(&own_model, low, FS_MODEL_INF, "row%u", (unsigned)own_model.row.n), 0);
  ck_assert_int_eq(fs_model_add_term(&own_model, a, ca), 0);
  ck_assert_int_eq(fs_model_add_term(&own_model, b, cb), 0);
  ck_assert_int_eq(fs_model_end_row(&own_model), 0);
}

static void fill_model(void) {
  uint32_t var;
  ck_assert_int_eq(fs_model_add_var(&own_model, FS_VAR_INTEGER, 0, 3, 2, &var, "x0"), 0);
  ck_assert_int_eq(fs_model_add_var(&own_model, FS_VAR_INTEGER, 0, 9, 3, &var, "x1"), 0);
  ck_assert_int_eq(fs_model_add_var(&own_model, FS_VAR_CONTINUOUS, 0, FS_MODEL_INF, 4, &var, "c"),
                   0);
  own_model.constant = 100;
  row(4, 0, 1, 1, 1);
  row(1, 2, 1, 1, -1);
}

static void set_up(void) {
  fill_model();
  (void)strcpy(tmp, "/tmp/fsched-test-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(tmp));
  (void)snprintf(pids, sizeof pids, "%s/../%s.pids", tmp, strrchr(tmp, '/'));
  ck_assert_int_eq(setenv("TMPDIR", tmp, 1), 0);
  ck_assert_int_eq(setenv("SOLVER_FAULT_PIDS", pids, 1), 0);
  options = (fs_solver_options){0};
}

/* A directory in which no file has room, unless it is below `roomy`: writing to such a file
 * fails. */
static char full[64];
static const char *roomy;
ssize_t write(int fd, const void *bytes, size_t n) {
  char link[32], path[512];
  (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = full[0] == '\0' ? -1 : readlink(link, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = '\0';
  bool room = roomy != NULL && strncmp(path, roomy, strlen(roomy)) == 0;
  if (!room && strncmp(path, full, strlen(full)) == 0 && strstr(path, "fsched-solver-") != NULL) {
    errno = ENOSPC;
    return -1;
  }
  return (ssize_t)syscall(SYS_write, fd, bytes, n);
}

static bool alive(long pid) {
  char path[64], state = 'Z';
  (void)snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  FILE *f = fopen(path, "r");
  if (f == NULL) {
    return false;
  }
  (void)fscanf(f, "%*d (%*[^)]) %c", &state);
  (void)fclose(f);
  return state != 'Z' && state != 'X';
}

/* Checks that nothing is left of the solver: no processes, no zombies of this process, and no
 * files. */
static void nothing_left(void) {
  ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
  ck_assert_int_eq(errno, ECHILD);
  FILE *f = fopen(pids, "r");
  for (long pid; f != NULL && fscanf(f, "%ld", &pid) == 1;) {
    for (int tries = 0; alive(pid) && tries < 1000; tries++) { /* the process may be about to end */
      (void)nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    ck_assert_msg(!alive(pid), "process %ld is left", pid);
  }
  if (f != NULL) {
    (void)fclose(f);
    (void)unlink(pids);
  }
  DIR *dir = opendir(tmp);
  ck_assert_ptr_nonnull(dir);
  for (struct dirent *e; (e = readdir(dir)) != NULL;) {
    ck_assert_msg(e->d_name[0] == '.', "%s is left", e->d_name);
  }
  (void)closedir(dir);
}

static void tear_down(void) {
  nothing_left();
  (void)rmdir(tmp);
}

static uint64_t after(uint64_t milliseconds) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec + milliseconds * 1000000;
}

/* Runs a command; the start, if there is one, has the objective 132. */
static void solve(const char *command, bool start) {
  options.command = command;
  value[0] = 0, value[1] = start ? 4 : -7, value[2] = 5;
  ck_assert_int_eq(fs_solver_run(ctx, &own_model, &options, start, value, &result), FSCHED_OK);
}

/* Runs a solver that prints this text. */
static void say(const char *text, bool start) {
  char command[600];
  (void)snprintf(command, sizeof command, "printf '%s'", text);
  solve(command, start);
}

static void is(fs_solver_status status, int64_t objective, int64_t bound, const char *reason) {
  ck_assert_str_eq(result.reason, reason);
  ck_assert_int_eq(result.status, status);
  ck_assert_int_eq(result.found, objective != INT64_MAX);
  if (result.found) {
    ck_assert_int_eq(result.objective, objective);
    ck_assert_int_eq(fs_model_objective(&own_model, value), objective);
    ck_assert_uint_eq(fs_model_broken(&own_model, value), FS_NONE);
  }
  ck_assert_int_eq(result.bounded, bound != INT64_MIN);
  if (result.bounded) {
    ck_assert_int_eq(result.bound, bound);
  }
}
enum { START = 132, BEST = 117 };
#define NOTHING INT64_MAX
#define NO_BOUND INT64_MIN

#define BEST_POINT "incumbent 117\\nx0 3\\nx1 1\\nc 2\\nend\\n"

/* ---- solvers that do as they should */

START_TEST(what_is_said)
{
  say(BEST_POINT "bound 117\\nstatus optimal\\n", false);
  is(FS_SOLVER_OPTIMAL, BEST, BEST, "");
  say("bound 110.2\\nnodes 12\\nincumbent 1.27e+2\\nx0 1\\nx1 3.000001\\nc 4.0\\nend\\n"
      "status limit",
      false);
  is(FS_SOLVER_LIMIT, 127, 111, "");
  ck_assert_uint_eq(result.nodes, 12);
  say("bound 110.0000001\\r\\nbound 109\\r\\nbound -1e300\\r\\nstatus limit\\r\\n", true);
  is(FS_SOLVER_LIMIT, START, 110, "");
  ck_assert_int_eq(value[1], 4);
}
END_TEST

/* All bounds count, however many are read at once. */
START_TEST(the_first_bound)
{
  say("bound 110.2\\nbound 112\\nbound 109\\nbound 113\\nstatus limit\\n", true);
  is(FS_SOLVER_LIMIT, START, 113, "");
  ck_assert_int_eq(result.first_bound, 111);
  say("bound 0\\nbound 5\\nstatus limit\\n", true);
  ck_assert_int_eq(result.first_bound, 0);
  say("status optimal\\n", true);
  ck_assert_int_eq(result.first_bound, START);
}
END_TEST

START_TEST(optimal_and_infeasible)
{
  say("status optimal\\n", true); /* nothing better than the start */
  is(FS_SOLVER_OPTIMAL, START, START, "");
  say(BEST_POINT "status optimal\\n", true);
  is(FS_SOLVER_OPTIMAL, BEST, BEST, "");
  say("nodes 3\\nstatus infeasible\\n", false);
  is(FS_SOLVER_INFEASIBLE, NOTHING, NO_BOUND, "");
  say("bound 120\\nincumbent 150\\nx0 0\\nx1 4\\nc 9.5\\nend\\nstatus limit\\n",
      true); /* worse than the start */
  is(FS_SOLVER_LIMIT, START, 120, "");
}
END_TEST

/* A proof ends the search, whatever else the solver prints or does. */
START_TEST(a_proof_is_the_end)
{
  solve("sh -c 'echo bound 131.3; exec sleep 600'", true);
  is(FS_SOLVER_OPTIMAL, START, START, "");
  say(BEST_POINT "nodes 5\\nbound 116.5\\nnodes 9\\nand so on\\n", false);
  is(FS_SOLVER_OPTIMAL, BEST, BEST, "");
  /* Those at the proof, however much was read together with it. */
  ck_assert_uint_eq(result.nodes, 5);
}
END_TEST

/* Rounding keeps c - x1 >= 1, unless a value within the tolerance has to be rounded, too. */
START_TEST(continuous_variables_are_made_whole)
{
  own_model.var.at[1].kind = FS_VAR_CONTINUOUS;
  say("incumbent 119.8\\nx0 3\\nx1 1.4\\nc 2.4\\nend\\nstatus limit\\n", false);
  is(FS_SOLVER_LIMIT, BEST, NO_BOUND, "");
  say("incumbent 120.5\\nx0 3\\nx1 1.5\\nc 2.4999999\\nend\\nstatus limit\\n", false);
  is(FS_SOLVER_LIMIT, BEST, NO_BOUND, "");
  say("incumbent 120\\nx0 2.4\\nx1 1.6\\nc 2.6\\nend\\nstatus limit\\n", true);
  is(FS_SOLVER_FAILED, START, NO_BOUND, "the solver's solution is none: it says that x0 is 2.4");
  /* No rounding satisfies row1, which is a fault; in this model it can be. */
  own_model.var.at[0].kind = FS_VAR_CONTINUOUS;
  own_model.row.at[1].high = 1;
  say("incumbent 120\\nx0 2.45\\nx1 1.55\\nc 2.45\\nend\\nstatus optimal\\n", true);
  is(FS_SOLVER_FAILED, START, NO_BOUND, "the solver's solution is none: it breaks the row row1");
  own_model.term.at[0].coef = 2;
  own_model.row.at[0].low = own_model.row.at[0].high = 5;
  say("incumbent 110\\nx0 1.75\\nx1 1.5\\nc 2.5\\nend\\nstatus optimal\\n", false);
  is(FS_SOLVER_LIMIT, NOTHING, 110, "");
}
END_TEST

static fs_solver_result heard[8];
static unsigned n_heard;
static volatile int stop;
static void hear(void *user, const fs_solver_result *so_far) {
  ck_assert_ptr_eq(user, &n_heard);
  heard[n_heard++ % 8] = *so_far;
  stop = so_far->found && so_far->objective == 127;
}

/* Each piece of news comes as soon as it is printed, and the user may stop. */
START_TEST(news)
{
  options.news = hear;
  options.user = &n_heard;
  options.stop = &stop;
  solve(
      "sh -c 'echo bound 101; printf \"incumbent 127\\nx0 1\\nx1 3\\nc 4\\nend\\n\";"
      "exec sleep 600'",
      false);
  is(FS_SOLVER_LIMIT, 127, 101, "");
  ck_assert_uint_ge(n_heard, 1);
  ck_assert_uint_le(n_heard, 2);
  ck_assert_int_eq(heard[n_heard - 1].objective, 127);
  n_heard = 0; /* the stop is set already, so nothing is run at all */
  solve("no such solver", true);
  is(FS_SOLVER_LIMIT, START, NO_BOUND, "");
  ck_assert_uint_eq(n_heard, 0);
}
END_TEST

START_TEST(the_limit)
{
  options.deadline_ns = after(0);
  solve("no such solver", true);
  is(FS_SOLVER_LIMIT, START, NO_BOUND, "");
  options.deadline_ns = after(100);
  solve("test/ilp/solver_fault.sh hang", true);
  is(FS_SOLVER_LIMIT, START, NO_BOUND, "");
  ck_assert_uint_le(options.deadline_ns, after(0));
  options.deadline_ns = after(100);
  solve("test/ilp/solver_fault.sh flood", true);
  is(FS_SOLVER_LIMIT, START, NO_BOUND, "");
  ck_assert_uint_eq(result.nodes, 1);
}
END_TEST

/* The solver's arguments are the limits, the start, and the model at the end. */
START_TEST(arguments)
{
  options.node_limit = 77;
  options.deadline_ns = after(1000000);
  solve(
      "sh -c 'test $# = 7 && test \"$1 $3 ${4%??.???} $5 $6\" = "
      "\"--start --time-limit 9 --node-limit 77\" && grep -q ROWS \"$7\" && sort \"$2\" |"
      "tr \"\\n\" / | grep -qx \"c 5/x1 4/\" && echo status limit' solver",
      true);
  is(FS_SOLVER_LIMIT, START, NO_BOUND, "");
  options = (fs_solver_options){0};
  solve(
      "sh -c 'test $# = 1 && test -r \"$1\" && touch \"${1%/*}/mine\" && mkdir \"${1%/*}/d\" &&"
      "test \"$(stat -c %a \"${1%/*}\")\" = 700 && echo status limit' solver",
      false);
  is(FS_SOLVER_LIMIT, NOTHING, NO_BOUND, "");
}
END_TEST

/* A start that is no point is not passed on. */
START_TEST(wrong_start)
{
  value[0] = value[1] = value[2] = 0;
  options.command = "sh -c 'test $# = 1 && echo status limit' solver";
  ck_assert_int_eq(fs_solver_run(ctx, &own_model, &options, true, value, &result), FSCHED_OK);
  is(FS_SOLVER_LIMIT, NOTHING, NO_BOUND, "");
  own_model.contradiction = true;
  solve("no such solver", true);
  is(FS_SOLVER_INFEASIBLE, NOTHING, NO_BOUND, "");
}
END_TEST

/* ---- solvers with faults */

static const struct {
  const char *mode;
  bool start;
  int64_t bound;
  const char *reason;
} fault[] = {
    {"abort", true, NO_BOUND, "test/ilp/solver_fault.sh was killed by SIGABRT"},
    {"segv", false, NO_BOUND, "test/ilp/solver_fault.sh was killed by SIGSEGV"},
    {"killed", true, NO_BOUND, "test/ilp/solver_fault.sh was killed by SIGKILL"},
    {"exit", true, NO_BOUND, "test/ilp/solver_fault.sh ended with exit status 3: out of luck"},
    {"exit-late", true, -1000001000, "test/ilp/solver_fault.sh ended with exit status 3"},
    {"close", true, NO_BOUND,
     "test/ilp/solver_fault.sh closed its output without a status, and went on"},
    {"binary", true, NO_BOUND, "the solver said \"??\?[2J?x\", which is not of the protocol"},
    {"endless", true, NO_BOUND,
     "the solver said \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\", which "
     "is "
     "the begin of a line without an end"},
    {"word", true, NO_BOUND,
     "the solver said \"Solving the model ...\", which is not of the protocol"},
    {"silent", true, NO_BOUND, "test/ilp/solver_fault.sh ended without a status"},
    {"half", true, NO_BOUND, "test/ilp/solver_fault.sh ended without a status"},
    {"error", true, NO_BOUND, "the solver reports an error: it is Sunday"},
    {"infeasible", true, NO_BOUND, "the solver's solution is none: it breaks the row row0"},
    {"infeasible", false, NO_BOUND, "the solver's solution is none: it breaks the row row0"},
    {"objective", true, NO_BOUND,
     "the solver said that its solution has the objective -123456789, but that is 132"},
    {"bound", true, NO_BOUND,
     "the solver said that no solution is below 1000000000000000, but 132 is known"},
    {"unknown", true, NO_BOUND,
     "the solver said \"no_such_variable 1\", which is no variable of the model"},
    {"none", true, NO_BOUND, "the solver said that there is no solution, but 132 is known"},
    {"late", true, NO_BOUND, "the solver said \"bound 0\", which is said after the status"},
};

START_TEST(faults)
{
  char command[64];
  (void)snprintf(command, sizeof command, "test/ilp/solver_fault.sh %s", fault[_i].mode);
  solve(command, fault[_i].start);
  is(FS_SOLVER_FAILED, fault[_i].start ? START : NOTHING, fault[_i].bound, fault[_i].reason);
}
END_TEST

/* What a solver found before its fault stays; but a bound from a solver whose output is nonsense is
 * not believed. */
START_TEST(what_holds_is_kept)
{
  say("bound 105\\nincumbent 127\\nx0 1\\nx1 3\\nc 4\\nend\\nincumbent 100\\nend\\n", true);
  is(FS_SOLVER_FAILED, 127, NO_BOUND, "the solver's solution is none: it breaks the row row0");
  solve("sh -c 'printf \"bound 105\\nincumbent 127\\nx0 1\\nx1 3\\nc 4\\nend\\n\"; kill -9 $$'",
        true);
  is(FS_SOLVER_FAILED, 127, 105, "sh was killed by SIGKILL");
}
END_TEST

static const struct {
  const char *text, *reason;
} rubbish[] = {
    {"bound 1,5\\n", "the solver said \"bound 1,5\", which is no bound"},
    {"bound nan\\n", "the solver said \"bound nan\", which is no bound"},
    {"bound inf\\n", "the solver said \"bound inf\", which is no bound"},
    {"bound 1e\\n", "the solver said \"bound 1e\", which is no bound"},
    {"bound\\n", "the solver said \"bound\", which is no bound"},
    {"bound 1e999\\n", "the solver said \"bound 1e999\", which is no bound"},
    {"nodes -1\\n", "the solver said \"nodes -1\", which is not of the protocol"},
    {"\\n", "the solver said \"\", which is not of the protocol"},
    {"incumbent x\\n", "the solver said \"incumbent x\", which is no objective"},
    {"status done\\n", "the solver said \"status done\", which is no status"},
    {"status error\\n", "the solver reports an error"},
    {"incumbent 1\\nx0 1\\nx0 2\\n",
     "the solver said \"x0 2\", which is said twice of one solution"},
    {"incumbent 1\\nx0\\n", "the solver said \"x0\", which is no number"},
    {"incumbent 1\\nx0 0.4\\nend\\n", "the solver's solution is none: it says that x0 is 0.4"},
    {"incumbent 1\\nc 1e17\\nend\\n", "the solver's solution is none: it says that c is 1e+17"},
    {"incumbent 1\\nx0 4\\nend\\n", "the solver's solution is none: it breaks the bounds of x0"},
    {"bound 118\\n" BEST_POINT, "the solver's solution 117 is below its bound 118"},
    {"incumbent 119\\nx0 3\\nx1 1\\nc 2\\nend\\n",
     "the solver said that its solution has the objective 119, but that is 117"},
    {"status optimal\\n", "the solver said that its solution is optimal, and told none"},
    {"status limit\\nstatus limit\\n",
     "the solver said \"status limit\", which is said after the status"},
};

START_TEST(rubbish_is_refused)
{
  say(rubbish[_i].text, false);
  is(FS_SOLVER_FAILED, NOTHING, NO_BOUND, rubbish[_i].reason);
}
END_TEST

/* The solver knows the start, and calls something worse the best. */
START_TEST(optimal_but_worse)
{
  say("incumbent 134\\nx0 0\\nx1 4\\nc 5.5\\nend\\nstatus optimal\\n", true);
  is(FS_SOLVER_FAILED, START, NO_BOUND, "the solver called 134 optimal, but 132 is known");
}
END_TEST

START_TEST(no_fault)
{
  solve("test/ilp/solver_fault.sh child", true);
  is(FS_SOLVER_LIMIT, START, -1000001000, "");
  solve("test/ilp/solver_fault.sh chatter", true);
  is(FS_SOLVER_LIMIT, START, NO_BOUND, "");
}
END_TEST

/* ---- no solver */

START_TEST(not_started)
{
  char path[160], reason[400];
  solve("/nowhere/fsched-glpk", true);
  is(FS_SOLVER_FAILED, START, NO_BOUND,
     "/nowhere/fsched-glpk is not found: install the package fsched-glpk, or build with "
     "libglpk-dev");
  solve("no-such-solver --fast", true);
  is(FS_SOLVER_FAILED, START, NO_BOUND, "no-such-solver is not found");
  solve("/etc/passwd", true);
  is(FS_SOLVER_FAILED, START, NO_BOUND, "/etc/passwd cannot be run: Permission denied");
  solve("  ", true);
  is(FS_SOLVER_FAILED, START, NO_BOUND, "the solver's command is not a command");
  solve("sh -c 'exit", true);
  is(FS_SOLVER_FAILED, START, NO_BOUND, "the solver's command is not a command");
  (void)snprintf(path, sizeof path, "%s/../%s.pids", tmp, strrchr(tmp, '/'));
  int fd = open(path, O_WRONLY | O_CREAT, 0700);
  ck_assert_int_eq(write(fd, "#!/no/shell\n", 12), 12);
  ck_assert_int_eq(close(fd), 0);
  solve(path, true);
  (void)snprintf(reason, sizeof reason, "%.60s cannot be run: its interpreter is not found",
                 path + (strlen(path) > 60 ? strlen(path) - 60 : 0));
  is(FS_SOLVER_FAILED, START, NO_BOUND, reason);
  ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(no_directory)
{
  ck_assert_int_eq(setenv("TMPDIR", "/nowhere/at/all", 1), 0);
  solve("sh -c 'echo status limit'", true);
  is(FS_SOLVER_FAILED, START, NO_BOUND,
     "sh does not get its files in /nowhere/at/all: No such file or directory");
}
END_TEST

/* First the first directory has no room, and then none has: the files cannot be written. */
START_TEST(no_room)
{
  (void)strcpy(full, tmp);
  solve("sh -c 'case $1 in \"$TMPDIR\"/*) exit 9;; esac; test -s \"$1\" && echo status limit' sh",
        false);
  is(FS_SOLVER_LIMIT, NOTHING, NO_BOUND, "");
  (void)strcpy(full, "/");
  roomy = "/tmp/fsched-solver-"; /* not below TMPDIR */
  solve("sh -c 'echo status limit' sh", false);
  is(FS_SOLVER_LIMIT, NOTHING, NO_BOUND, "");
  roomy = NULL;
  solve("sh -c 'echo status limit'", true);
  char reason[160];
  size_t n = strlen(tmp);
  (void)snprintf(reason, sizeof reason, "sh does not get its files in %s: No space left on device",
                 tmp + (n > 30 ? n - 30 : 0));
  is(FS_SOLVER_FAILED, START, NO_BOUND, reason);
  full[0] = '\0';
}
END_TEST

/* ---- the program that uses the library */

START_TEST(host_ignores_children)
{
  ck_assert_ptr_ne(signal(SIGCHLD, SIG_IGN), SIG_ERR);
  say(BEST_POINT "status limit\\n", false);
  is(FS_SOLVER_LIMIT, BEST, NO_BOUND, "");
  solve("test/ilp/solver_fault.sh silent", true);
  is(FS_SOLVER_FAILED, START, NO_BOUND, "test/ilp/solver_fault.sh ended without a status");
}
END_TEST

/* The solver starts with plain signals, and no open file of the user's program. */
START_TEST(host_blocks_signals)
{
  sigset_t all;
  (void)sigfillset(&all);
  ck_assert_int_eq(sigprocmask(SIG_BLOCK, &all, NULL), 0);
  ck_assert_ptr_ne(signal(SIGTERM, SIG_IGN), SIG_ERR);
  int fd = open("/dev/null", O_RDONLY); /* this is not closed on exec */
  ck_assert_int_ge(dup2(fd, 77), 0);
  solve("sh -c 'test ! -e /proc/self/fd/77 && kill -TERM $$'", true);
  is(FS_SOLVER_FAILED, START, NO_BOUND, "sh was killed by SIGTERM");
}
END_TEST

START_TEST(host_without_standard_files)
{
  int saved[3];
  for (int i = 0; i < 3; i++) {
    saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
    (void)close(i);
  }
  solve("sh -c 'echo noise >&2; cat; echo status limit'", true);
  for (int i = 0; i < 3; i++) {
    ck_assert_int_eq(dup2(saved[i], i), i);
  }
  is(FS_SOLVER_LIMIT, START, NO_BOUND, "");
}
END_TEST

START_TEST(out_of_memory)
{
  fs_budget budget = {0};
  fsched_context_options own = {
      .size = sizeof own, .reallocate = fs_budget_reallocate, .user = &budget};
  fsched_context *good = ctx;
  for (long n = 0;; n++) {
    budget.left = LONG_MAX;
    ck_assert_int_eq(fsched_context_create(&own, &ctx), FSCHED_OK);
    fs_model kept = own_model;
    fs_model_init(&own_model, ctx, "small");
    fill_model();
    budget.left = n;
    options.command = "printf 'status limit\\n'";
    value[0] = 0, value[1] = 4, value[2] = 5;
    fs_status status = fs_solver_run(ctx, &own_model, &options, true, value, &result);
    ck_assert(status == FSCHED_OK || status == FSCHED_SYSTEM);
    ck_assert_int_eq(status == FSCHED_SYSTEM, fsched_diag_count(ctx) == 1);
    ck_assert_int_eq(result.objective, START);
    fs_model_release(&own_model);
    fsched_context_destroy(ctx);
    ck_assert_int_eq(budget.blocks, 0);
    ctx = good;
    own_model = kept;
    nothing_left();
    if (status == FSCHED_OK) {
      ck_assert_int_gt(n, 3);
      break;
    }
  }
}
END_TEST

/* ---- commands */

static const struct {
  const char *command;
  size_t n;
  const char *word[4];
} command[] = {
    {"", 0, {0}},
    {" \t\n", 0, {0}},
    {"a", 1, {"a"}},
    {" a  bc ", 2, {"a", "bc"}},
    {"a 'b  c' \"d 'e\\\" \\\\\" f", 4, {"a", "b  c", "d 'e\" \\", "f"}},
    {"/my\\ place/x'y'\"z\" ''", 2, {"/my place/xyz", ""}},
    {"'a\\'", 1, {"a\\"}},
    {"a\\", 1, {"a\\"}},
    {"a 'b", 0, {0}},
    {"a \"b'", 0, {0}},
};

START_TEST(splitting)
{
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  char **words;
  size_t n;
  ck_assert_int_eq(fs_solver_words(&arena, command[_i].command, 2, &words, &n), FSCHED_OK);
  ck_assert_uint_eq(n, command[_i].n);
  for (size_t i = 0; i < n; i++) {
    ck_assert_str_eq(words[i], command[_i].word[i]);
  }
  ck_assert(n == 0 || words[n] == NULL);
  fs_arena_release(&arena);
}
END_TEST

/* fsched-glpk is looked for beside the running program, which here is not fsched. */
START_TEST(default_command)
{
  char path[PATH_MAX + 16], **words;
  ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);
  ck_assert_int_gt(n, 0);
  path[n] = '\0';
  (void)strcpy(strrchr(path, '/') + 1, "fsched-glpk");
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  ck_assert_str_eq(fs_solver_default(&arena), "fsched-glpk");
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0700);
  ck_assert_int_ge(fd, 0);
  (void)close(fd);
  size_t n_words;
  const char *text = fs_solver_default(&arena);
  (void)unlink(path);
  ck_assert_int_eq(fs_solver_words(&arena, text, 0, &words, &n_words), FSCHED_OK);
  ck_assert_uint_eq(n_words, 1);
  ck_assert_str_eq(words[0], path);
  fs_arena_release(&arena);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

FS_SUITE(ilp_solver, s) {
  TCase *t = fs_case(s, fs_test_silent);
  tcase_set_timeout(t, 20);
  fs_test_model(t);
  tcase_add_checked_fixture(t, set_up, tear_down);
  FS_TESTS(t, what_is_said, the_first_bound, optimal_and_infeasible, a_proof_is_the_end,
           continuous_variables_are_made_whole, news, the_limit, arguments, wrong_start,
           what_holds_is_kept, optimal_but_worse, no_fault, not_started, no_directory, no_room,
           host_ignores_children, host_blocks_signals, host_without_standard_files, out_of_memory,
           default_command);
  FS_LOOPS(t, 0, COUNT(fault), faults);
  FS_LOOPS(t, 0, COUNT(rubbish), rubbish_is_refused);
  FS_LOOPS(t, 0, COUNT(command), splitting);
}
