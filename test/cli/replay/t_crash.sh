# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Kernels of modules crash, leave or never return, by themselves, in a thread of theirs or in a child
# process: the last message names the op, and the status is that of the signal, or 6.

cat >k.c <<'END'
#include <fsched/kernel.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

typedef const fsched_kernel_call call;
static volatile int zero;

int segv(call *c) { (void)c; *(volatile int *)(long)zero = 1; return 0; }
int fpe(call *c) { (void)c; (void)raise(SIGFPE); return 0; }
int bus(call *c) { (void)c; (void)raise(SIGBUS); return 0; }
int ill(call *c) { (void)c; __builtin_trap(); return 0; }
int abrt(call *c) { (void)c; abort(); }
int quit(call *c) { (void)c; exit(zero); }
int hang(call *c) { (void)c; for (;;) { (void)pause(); } }
int deep(call *c) {
  volatile char room[1000];
  room[0] = room[999] = (char)zero;
  return deep(c) + room[0] + room[999];
}
int fine(call *c) { (void)c; return 0; }
int sys(call *c) { (void)c; (void)raise(SIGSYS); return 0; }
int quick(call *c) { (void)c; quick_exit(zero); }
int sent(call *c) { (void)c; (void)kill(getpid(), SIGABRT); for (;;) { (void)pause(); } }

/* In a thread of the kernel's own, for which it waits. */
static int start(void *(*work)(void *)) {
  pthread_t thread;
  return pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, NULL) != 0;
}
static void *leave(void *user) { (void)user; exit(zero); }
static void *leave_quickly(void *user) { (void)user; quick_exit(zero); }
static void *write_null(void *user) { *(volatile int *)(long)zero = 1; return user; }
int thread_quit(call *c) { (void)c; return start(leave); }
int thread_quick(call *c) { (void)c; return start(leave_quickly); }
int thread_segv(call *c) { (void)c; return start(write_null); }
static void *go_deep(void *user) { (void)deep(NULL); return user; }
int thread_deep(call *c) { (void)c; return start(go_deep); }
static int task_deep(void *user) { return deep(user); }
int thrd_deep(call *c) {
  thrd_t thread;
  (void)c;
  return thrd_create(&thread, task_deep, NULL) != thrd_success || thrd_join(thread, NULL) != thrd_success;
}
/* Threads of a kernel's own that do what they should, with what they are given and return. */
static void *add_one(void *user) { return (char *)user + 1; }
static int less_one(void *user) { return *(int *)user - 1; }
int thread_fine(call *c) {
  pthread_t thread;
  thrd_t other;
  char two[2];
  void *at = NULL;
  int seven = 7, six = 0;
  (void)c;
  if (pthread_create(&thread, NULL, add_one, two) != 0 || pthread_join(thread, &at) != 0 || at != two + 1) { return 1; }
  if (thrd_create(&other, less_one, &seven) != thrd_success || thrd_join(other, &six) != thrd_success || six != 6) { return 2; }
  return 0;
}

/* Two kernels at once, in a thread of one of which the program ends. */
static atomic_int both;
int both_segv(call *c) {
  if (atomic_fetch_add(&both, 1) == 1) { (void)start(write_null); }
  for (;;) { (void)pause(); }
}

/* A child process; what became of it is the parent's last word. */
static int child(int (*work)(call *c), call *c) {
  int status = 0;
  pid_t pid = fork();
  if (pid == 0) { return work(c); }
  (void)waitpid(pid, &status, 0);
  *(long *)c->args[1].data = 0;
  if (WIFSIGNALED(status)) { (void)fprintf(stderr, "child: signal %d\n", WTERMSIG(status)); }
  else { (void)fprintf(stderr, "child: status %d\n", WEXITSTATUS(status)); }
  return 0;
}
static int leave_3(call *c) { (void)c; exit(3); }
static int leave_quickly_4(call *c) { (void)c; quick_exit(4); }
int child_quit(call *c) { return child(leave_3, c); }
int child_quick(call *c) { return child(leave_quickly_4, c); }
int child_segv(call *c) { return child(segv, c); }
int child_returns(call *c) { return child(fine, c); }
END
# This builds without the flags with which the tests' own build may be instrumented.
env -u CFLAGS -u LDFLAGS "${CC:-cc}" -O0 -w -shared -fPIC -pthread -I"$TOP/include" -o k.so k.c || fail "k.so"

for f in segv fpe bus ill abrt quit hang deep fine sys quick sent thread_quit thread_quick thread_segv thread_deep \
  thrd_deep thread_fine \
  child_quit child_quick child_segv child_returns; do
  cat >$f.yaml <<END
fsched: 1
target: {queues: [{name: left}, {name: right}], memories: [{name: m}]}
ops:
  - {name: first, on: left, args: [{out: a, size: 8}]}
  - {name: boom, on: right, args: [{in: a}, {out: b, size: 8}],
     kernel: {module: k, function: $f, grid: [1, 1, 1], block: [1, 1, 1]}}
  - {name: last, on: left, args: [{in: b}, {out: c, size: 8}]}
END
  run 0 "$FSCHED" compile $f.yaml -q -o $f.fsb
done

cat >both_segv.yaml <<END
fsched: 1
target: {queues: [{name: left}, {name: right}], memories: [{name: m}]}
ops:
  - {name: one, on: left, args: [{out: a, size: 8}],
     kernel: {module: k, function: both_segv, grid: [1, 1, 1], block: [1, 1, 1]}}
  - {name: two, on: right, args: [{out: b, size: 8}],
     kernel: {module: k, function: both_segv, grid: [1, 1, 1], block: [1, 1, 1]}}
END
run 0 "$FSCHED" compile both_segv.yaml -q -o both_segv.fsb

# named SIGNAL TEXT checks the last message.
named() {
  grep '^fsched: ' err | tail -n 1 >last # not what the shell says
  expect "$1 is named" holds last "^fsched: error: op 'boom' on queue 'right': its kernel, function '$1' of module 'k', ended the program: $2.* \[replay-failed\]$"
}
# named_other FUNCTION TEXT checks the last message where another thread did it.
named_other() {
  grep '^fsched: ' err | tail -n 1 >last
  expect "$1 is named" holds last "^fsched: error: op 'boom' on queue 'right': while its kernel, function '$1' of module 'k', ran, another thread ended the program: $2.* \[replay-failed\]$"
}
# alone WHAT checks that nothing is reported except what became of the child.
alone() {
  expect "the child ends with $1" holds err "^child: $1$"
  expect "and nothing else is said" [ "$(wc -l <err)" -eq 1 ]
}
for on in cpu sim; do
  run 0 "$FSCHED" run fine.fsb --modules . --on $on
  run 139 "$FSCHED" run segv.fsb --modules . --on $on
  named segv SIGSEGV
  run 139 "$FSCHED" run deep.fsb --modules . --on $on
  named deep SIGSEGV
  run 136 "$FSCHED" run fpe.fsb --modules . --on $on
  named fpe SIGFPE
  run 135 "$FSCHED" run bus.fsb --modules . --on $on
  named bus SIGBUS
  run 132 "$FSCHED" run ill.fsb --modules . --on $on
  named ill SIGILL
  run 134 "$FSCHED" run abrt.fsb --modules . --on $on
  named abrt SIGABRT
  run 6 "$FSCHED" run quit.fsb --modules . --on $on
  named quit 'it called exit'
  run 159 "$FSCHED" run sys.fsb --modules . --on $on
  named sys SIGSYS
  run 6 "$FSCHED" run quick.fsb --modules . --on $on
  named quick 'it called quick_exit'
  run 134 "$FSCHED" run sent.fsb --modules . --on $on
  expect "sent is named" holds err "^fsched: error: op 'boom' on queue 'right': .*its kernel, function 'sent' of module 'k', .*ended the program: SIGABRT"
  run 6 "$FSCHED" run thread_quit.fsb --modules . --on $on
  named_other thread_quit 'it called exit'
  run 6 "$FSCHED" run thread_quick.fsb --modules . --on $on
  named_other thread_quick 'it called quick_exit'
  run 139 "$FSCHED" run thread_segv.fsb --modules . --on $on
  named_other thread_segv SIGSEGV
  # With a sanitizer, which watches threads itself, a kernel's own get no stack for signals.
  if nm "$FSCHED" 2>/dev/null | grep -qE '__[at]san_init'; then
    echo "skip: thread_deep, thrd_deep (a sanitizer)"
  else
    run 139 "$FSCHED" run thread_deep.fsb --modules . --on $on
    named_other thread_deep SIGSEGV
    run 139 "$FSCHED" run thrd_deep.fsb --modules . --on $on
    named_other thrd_deep SIGSEGV
  fi
  run 0 "$FSCHED" run thread_fine.fsb --modules . --on $on
  # What its parent holds is no leak of the child's, as a sanitizer that looks at its exit might say.
  run 0 env ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS-}" "$FSCHED" run child_quit.fsb --modules . --on $on
  alone 'status 3'
  run 0 "$FSCHED" run child_quick.fsb --modules . --on $on
  alone 'status 4'
  run 0 "$FSCHED" run child_segv.fsb --modules . --on $on
  alone 'signal 11'
  run 0 "$FSCHED" run child_returns.fsb --modules . --on $on --check
  expect "the child ends where its kernel returns" [ "$(grep -c '^child: status 6$' err)" -eq 2 ]
  expect "and is named" holds err "^fsched: error: op 'boom' on queue 'right': its kernel, function 'child_returns' of module 'k', returned in a child process made by fork, which ends here \[replay-failed\]$"
  expect "in the comparison too" holds err "^fsched: error: op 'boom': its kernel, function 'child_returns' of module 'k', returned in a child process"
  expect "and nothing else is said" [ "$(wc -l <err)" -eq 4 ]
  run 6 "$FSCHED" run hang.fsb --modules . --on $on --timeout 0.1
  expect "the kernel that hangs is named" holds err "^hang.fsb: error: queue 'right' is stuck at command 1 (op 'boom'): its kernel, function 'hang' of module 'k', has not returned for [0-9]* ms, since [0-9]* ms after the begin"
  expect "and nobody who waits for it" [ "$(grep -c 'is stuck' err)" -eq 1 ]
done
run 139 "$FSCHED" run both_segv.fsb --modules . --on cpu
grep '^fsched: ' err >last
expect "both kernels are named" holds last "^fsched: error: op 'one' on queue 'left', op 'two' on queue 'right': while their kernels ran, another thread ended the program: SIGSEGV.* \[replay-failed\]$\|^fsched: error: op 'two' on queue 'right', op 'one' on queue 'left': while their kernels ran, another thread ended the program: SIGSEGV.* \[replay-failed\]$"
"$FSCHED" run hang.fsb --modules . --on cpu --timeout 10 >out 2>err </dev/null &
hanging=$!
sleep 0.5
kill -ABRT "$hanging"
wait "$hanging" 2>/dev/null
expect "a signal of another process is not the kernel's" [ "$(grep -c "^fsched: " err)" -eq 0 ]
run 139 "$FSCHED" run deep.fsb --modules . --threads 1 --diagnostics json
expect "as JSON" holds err '^{"severity": "error", "code": "replay-failed", "message": "op .boom. on queue .right.: its kernel, function .deep. of module .k., ended the program: SIGSEGV, .*"}$'
