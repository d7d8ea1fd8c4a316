/* SPDX-License-Identifier: Apache-2.0 */
/* What runs is a variable of the thread, and each thread that runs kernels gets a stack for signals
 * with its first one, so that the end of its own stack can be told.  The handler calls nothing but
 * write, and restores the default action first, by which the process ends when it returns. */
#include "cli/run/crash.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fsched/graph.h"

enum { STACK_BYTES = 32 << 10, LINE_BYTES = 2048 };

/* Of the program alone, which is one process with one set of signal handlers. */
static _Thread_local const fsched_kernel_run *running;
static _Thread_local struct {
  _Alignas(16) char stack[STACK_BYTES];
  bool has_stack;
} own;
static bool as_json;

typedef struct line {
  char text[LINE_BYTES];
  size_t n;
} line;

static void put(line *l, const char *text) {
  for (; *text != '\0' && l->n < sizeof l->text - 8; text++) {
    l->text[l->n++] = *text;
  }
}

/* A name within a JSON string: a byte that would end or break it becomes a question mark. */
static void put_name(line *l, const char *name) {
  for (; *name != '\0' && l->n < sizeof l->text - 8; name++) {
    bool plain = (unsigned char)*name >= ' ' && *name != 0x7F &&
                 (!as_json || (*name != '"' && *name != '\\'));
    l->text[l->n++] = plain ? *name : '?';
  }
}

static void say(const fsched_kernel_run *run, const char *why) {
  line l = {.n = 0};
  put(&l, as_json ? "{\"severity\": \"error\", \"code\": \"replay-failed\", \"message\": \""
                  : "fsched: error: ");
  put(&l, "op '");
  put_name(&l, run->op);
  if (run->queue != NULL) {
    put(&l, "' on queue '");
    put_name(&l, run->queue);
  }
  put(&l, "': its kernel, function '");
  put_name(&l, run->function);
  put(&l, "' of module '");
  put_name(&l, run->module);
  put(&l, "', ended the program: ");
  put(&l, why);
  put(&l, as_json ? "\"}\n" : " [replay-failed]\n");
  (void)!write(STDERR_FILENO, l.text, l.n);
}

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
    default:
      return "SIGABRT, abort or a failed assertion";
  }
}

static void handle(int number) {
  if (running != NULL) {
    say(running, signal_text(number));
  }
  (void)raise(number); /* blocked until the handler returns; the action is the default */
}

static void at_exit(void) {
  if (running != NULL) {
    say(running, "it called exit");
    _exit(FSCHED_REPLAY);
  }
}

void fs_crash_watch(bool json) {
  static const int number[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK | (int)SA_RESETHAND};
  as_json = json;
  (void)sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof number / sizeof number[0]; i++) {
    (void)sigaction(number[i], &action, NULL);
  }
  (void)atexit(at_exit);
}

void fs_crash_kernel(void *user, const fsched_kernel_run *run) {
  (void)user;
  if (!own.has_stack) {
    stack_t stack = {.ss_sp = own.stack, .ss_size = sizeof own.stack};
    own.has_stack = true;
    (void)sigaltstack(&stack, NULL); /* refused: the default action is all there is */
  }
  running = run;
}
