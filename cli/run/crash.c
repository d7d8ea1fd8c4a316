/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread runs is a variable of the thread, and in a slot of a table that all can read, for a
 * thread that a kernel has started has no such variable.  Each thread that runs kernels gets a
 * stack for signals with its first one, so that the end of its own stack can be told.
 *
 * Who speaks does so while other threads run on.  It says first that it does (speaking), and looks
 * at the slots then; a kernel's thread gives its slot back first, and looks then whether somebody
 * speaks, in which case it sleeps until the process ends.  So what a slot that is taken points to
 * stays, without a lock:
 *
 *   speaker   speaking = true    reads the slot: taken, so its thread has yet to look
 *   kernel    slot = NULL        reads speaking: true, and sleeps
 *
 * Handlers call nothing but getpid, write, pause, signal, raise and _exit.  A signal's restores the
 * default action, by which the process ends when it returns; in a child by fork it does no more. */
#include "cli/run/crash.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/plural.h"
#include "fsched/graph.h"

enum {
  STACK_BYTES = 32 << 10,
  LINE_BYTES = 4096,
  NAME_BYTES = 400,  /* shown of a name */
  LIST_BYTES = 2048, /* beyond that ops are counted, not named */
  SLOTS = 1 << 16,   /* as many threads as run kernels at once; more are not in the table */
  APART = 8          /* slots of two threads, for they share no cache line then */
};

/* Of the program alone, which is one process with one set of signal handlers. */
static _Atomic(const fsched_kernel_run *) slots[SLOTS];
static _Atomic uint32_t threads; /* that have run a kernel */
static atomic_bool speaking;
static pid_t process; /* children by fork have another number */
static bool as_json;
static _Thread_local const fsched_kernel_run *running;
static _Thread_local struct {
  _Alignas(16) char stack[STACK_BYTES];
  uint32_t slot; /* its own, when nobody else has taken it */
  bool known;    /* not a thread that a kernel has started */
  bool has_stack;
} own;

typedef struct line {
  char text[LINE_BYTES];
  size_t n;
} line;

static void put_text(line *l, const char *text) {
  for (; *text != '\0' && l->n < sizeof l->text; text++) {
    l->text[l->n++] = *text;
  }
}

static void put_count(line *l, uint32_t n) {
  char digit[11], *at = digit + sizeof digit;
  *--at = '\0';
  do {
    *--at = (char)('0' + n % 10);
    n /= 10;
  } while (n > 0);
  put_text(l, at);
}

/* At most so much of a text as can be shown, in whole characters. */
static size_t shown_bytes(const char *name) {
  size_t n = 0;
  while (n < NAME_BYTES && name[n] != '\0') {
    n++;
  }
  while (n > 0 && ((unsigned char)name[n] & 0xC0) == 0x80) { /* never so at the text's end */
    n--;
  }
  return n;
}

/* A name within a JSON string: a byte that would end or break it becomes a question mark. */
static void put_name(line *l, const char *before, const char *name, const char *after) {
  put_text(l, before);
  for (size_t i = 0, n = shown_bytes(name); i < n && l->n < sizeof l->text; i++) {
    bool plain = (unsigned char)name[i] >= ' ' && name[i] != 0x7F &&
                 (!as_json || (name[i] != '"' && name[i] != '\\'));
    l->text[l->n++] = plain ? name[i] : '?';
  }
  put_text(l, after);
}

static void begin_line(line *l) {
  l->n = 0;
  put_text(l, as_json ? "{\"severity\": \"error\", \"code\": \"replay-failed\", \"message\": \""
                      : "fsched: error: ");
}

static void put_op(line *l, const fsched_kernel_run *run) {
  put_name(l, "op '", run->op, "'");
  if (run->queue != NULL) {
    put_name(l, " on queue '", run->queue, "'");
  }
}

static void put_kernel(line *l, const fsched_kernel_run *run) {
  put_name(l, "its kernel, function '", run->function, "'");
  put_name(l, " of module '", run->module, "',");
}

static void end_line(line *l, const char *why) {
  put_text(l, why);
  put_text(l, as_json ? "\"}\n" : " [replay-failed]\n");
  (void)!write(STDERR_FILENO, l->text, l->n);
}

static void say(const fsched_kernel_run *run, const char *what, const char *why) {
  line l;
  begin_line(&l);
  put_op(&l, run);
  put_text(&l, ": ");
  put_kernel(&l, run);
  put_text(&l, what);
  end_line(&l, why);
}

/* Names of the ops whose kernels run, up to a length.  Their number; *last: one of them. */
static uint32_t put_running(line *l, const fsched_kernel_run **last) {
  uint32_t n = 0, more = 0;
  for (uint32_t i = 0; i < SLOTS; i++) {
    const fsched_kernel_run *run = atomic_load(&slots[i]);
    if (run == NULL) {
      continue;
    }
    *last = run;
    if (l->n < LIST_BYTES) {
      put_text(l, n++ > 0 ? ", " : "");
      put_op(l, run);
    } else {
      more++;
    }
  }
  if (more > 0) {
    put_text(l, " and ");
    put_count(l, more);
    put_text(l, fs_plural(more, " other", " others"));
  }
  return n + more;
}

/* The thread runs no op: who has started it is among those that do. */
static void say_other(const char *why) {
  line l;
  const fsched_kernel_run *one = NULL;
  begin_line(&l);
  uint32_t n = put_running(&l, &one);
  if (n == 0) {
    put_text(&l, "a thread that runs no op");
  } else if (n == 1) {
    put_text(&l, ": while ");
    put_kernel(&l, one);
    put_text(&l, " ran, another thread");
  } else {
    put_text(&l, ": while their kernels ran, another thread");
  }
  put_text(&l, " ended the program: ");
  end_line(&l, why);
}

/* Says who ends the program, or nothing: of the threads of fsched that run no op. */
static bool blame(bool any_thread, const char *why) {
  if (running == NULL && own.known && !any_thread) {
    return false;
  }
  while (atomic_exchange(&speaking, true)) {
    (void)pause(); /* another thread speaks, and ends the process */
  }
  if (running != NULL) {
    say(running, " ended the program: ", why);
  } else {
    say_other(why);
  }
  return true;
}

static bool in_child(void) { return getpid() != process; }

/* With one stack page of the kernel left or none, the address that faults is near the stack's end;
 * what is known for sure is the signal. */
static const char *signal_text(int number) {
  switch (number) {
    case SIGSEGV:
      return "SIGSEGV, an access outside of its memory or beyond the end of its stack";
    case SIGBUS:
      return "SIGBUS, an access to memory that is not there";
    case SIGFPE:
      return "SIGFPE, a division by zero or the like";
    case SIGILL:
      return "SIGILL, an instruction that this processor does not have";
    case SIGTRAP:
      return "SIGTRAP";
    case SIGSYS:
      return "SIGSYS, a call of the system that is not allowed";
    default:
      return "SIGABRT, abort or a failed assertion";
  }
}

/* By kill and the like: whatever thread gets it has not done it. */
static bool was_sent(const siginfo_t *info) {
  return info->si_code == SI_USER || info->si_code == SI_QUEUE;
}

static void handle(int number, siginfo_t *info, void *context) {
  (void)context;
  bool from_here = info->si_pid == process;
  if (!in_child() && (!was_sent(info) || from_here)) {
    (void)blame(was_sent(info), signal_text(number));
  }
  (void)signal(number, SIG_DFL);
  (void)raise(number); /* blocked until the handler returns */
}

static void leave_process(const char *why) {
  if (!in_child() && blame(false, why)) {
    _exit(FSCHED_REPLAY);
  }
}

static void at_exit(void) { leave_process("it called exit"); }

static void at_quick_exit_too(void) { leave_process("it called quick_exit"); }

void fs_crash_watch(bool json) {
  static const int number[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  enum { N = sizeof number / sizeof number[0] };
  struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_ONSTACK | SA_SIGINFO};
  as_json = json;
  process = getpid();
  own.known = true;
  (void)sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < N; i++) {
    (void)sigaddset(&action.sa_mask, number[i]); /* one within a handler ends the process */
  }
  for (size_t i = 0; i < N; i++) {
    (void)sigaction(number[i], &action, NULL);
  }
  (void)atexit(at_exit);
  (void)at_quick_exit(at_quick_exit_too);
}

static void make_known(void) {
  if (!own.has_stack) {
    stack_t stack = {.ss_sp = own.stack, .ss_size = sizeof own.stack};
    (void)sigaltstack(&stack, NULL); /* refused: the default action is all there is */
    own.slot = atomic_fetch_add(&threads, 1) * APART % SLOTS;
    own.has_stack = own.known = true;
  }
}

static void take_slot(const fsched_kernel_run *run) {
  for (uint32_t i = 0; i < SLOTS; i++) {
    const fsched_kernel_run *none = NULL;
    if (atomic_compare_exchange_strong(&slots[own.slot], &none, run)) {
      return;
    }
    own.slot = (own.slot + 1) % SLOTS;
  }
}

static void give_slot(void) {
  const fsched_kernel_run *mine = running;
  (void)atomic_compare_exchange_strong(&slots[own.slot], &mine, NULL);
  while (atomic_load(&speaking)) {
    (void)pause();
  }
}

void fs_crash_kernel(void *user, const fsched_kernel_run *run) {
  (void)user;
  if (run != NULL) {
    make_known();
    take_slot(run);
  } else if (in_child()) {
    say(running, " returned in a child process made by fork, ", "which ends here");
    _exit(FSCHED_REPLAY);
  } else {
    give_slot();
  }
  running = run;
}
