/* SPDX-License-Identifier: Apache-2.0 */
/* Each thread stores the op that it runs in a thread-local variable, and in a slot of a table that
 * all threads can read, as the variable is not set in a thread that a kernel has started.  Each
 * thread gets a stack for signals when it begins (threads.c), or else when it runs its first
 * kernel, so that an overflow of its own stack can be reported.
 *
 * The thread that writes the report (the speaker) does so while other threads run.  It first sets
 * `speaking`, and then reads the slots.  When a kernel returns, its thread first gives its slot
 * back, and then reads `speaking`; if that is set, it sleeps until the process ends.  So what a
 * taken slot points to stays valid, without a lock:
 *
 *   speaker   speaking = true    reads the slot: taken, so its thread has yet to read `speaking`
 *   kernel    slot = NULL        reads speaking: true, and sleeps
 *
 * Handlers call nothing but getpid, write, pause, signal, raise and _exit.  The handler of a signal
 * restores the default action, which ends the process when the handler returns; in a child made by
 * fork it does nothing else. */
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
  NAME_BYTES = 400,  /* most bytes shown of a name */
  LIST_BYTES = 2048, /* length of a line after which ops are only counted */
  SLOTS = 1 << 16,   /* most threads that run kernels at once and are in the table */
  APART = 8          /* distance of two threads' slots, which so share no cache line */
};

/* State of the whole program, which is one process with one set of signal handlers. */
static _Atomic(const fsched_kernel_run *) slots[SLOTS];
static _Atomic uint32_t threads; /* number of threads that have run a kernel */
static atomic_bool speaking;
static pid_t process; /* its id, which differs in children made by fork */
static bool as_json;
static _Thread_local const fsched_kernel_run *running;
static _Thread_local struct {
  _Alignas(16) char stack[STACK_BYTES];
  uint32_t slot; /* its slot, unless another thread has taken that */
  pid_t process; /* in which its kernel has begun, which may be a worker */
  bool known;    /* false in threads that kernels have started */
  bool has_stack, has_slot;
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

/* The number of bytes shown of a name, in whole characters. */
static size_t shown_bytes(const char *name) {
  size_t n = 0;
  while (n < NAME_BYTES && name[n] != '\0') {
    n++;
  }
  while (n > 0 && ((unsigned char)name[n] & 0xC0) == 0x80) { /* never true at the end of the name */
    n--;
  }
  return n;
}

/* Writes a name, also within a JSON string: a byte that would end or break that becomes "?". */
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

/* Writes the names of the ops whose kernels run, up to a length.  Returns their number; *last is
 * one of them. */
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

/* Reports a thread that runs no op; it was started by one of the kernels that run. */
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

/* Reports who ends the program, except if it is a thread of fsched that runs no op. */
static bool blame(bool any_thread, const char *why) {
  if (running == NULL && own.known && !any_thread) {
    return false;
  }
  while (atomic_exchange(&speaking, true)) {
    (void)pause(); /* another thread reports, and ends the process */
  }
  if (running != NULL) {
    say(running, " ended the program: ", why);
  } else {
    say_other(why);
  }
  return true;
}

static bool in_child(void) { return getpid() != process; }

/* The text for a signal.  Whether a stack overflow caused it cannot be told for sure, although the
 * address at fault is then near the end of the stack; only the signal is certain. */
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

/* Whether a signal was sent by kill or the like: then the thread that gets it has not caused it. */
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
    (void)sigaddset(&action.sa_mask, number[i]); /* a second one ends the process */
  }
  for (size_t i = 0; i < N; i++) {
    (void)sigaction(number[i], &action, NULL);
  }
  (void)atexit(at_exit);
  (void)at_quick_exit(at_quick_exit_too);
}

void fs_crash_thread(void) {
  stack_t stack = {.ss_sp = own.stack, .ss_size = sizeof own.stack};
  (void)sigaltstack(&stack, NULL); /* if refused, only the default action is left */
  own.has_stack = true;
}

static void make_known(void) {
  if (!own.has_stack) {
    fs_crash_thread();
  }
  if (!own.has_slot) {
    own.slot = atomic_fetch_add(&threads, 1) * APART % SLOTS;
    own.has_slot = own.known = true;
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
    own.process = getpid();
  } else if (getpid() != own.process) {
    say(running, " returned in a child process made by fork, ", "which ends here");
    _exit(FSCHED_REPLAY);
  } else {
    give_slot();
  }
  running = run;
}
