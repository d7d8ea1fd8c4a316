# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Kernels of modules that crash, leave or never return: the last message names the op, and the
# status is that of the signal, or 6.

cat >k.c <<'END'
#include <fsched/kernel.h>
#include <signal.h>
#include <stdlib.h>
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
END
# Without what the tests' own build may be instrumented with.
env -u CFLAGS -u LDFLAGS "${CC:-cc}" -O0 -w -shared -fPIC -I"$TOP/include" -o k.so k.c || fail "k.so"

for f in segv fpe bus ill abrt quit hang deep fine; do
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

# named SIGNAL TEXT: the last message
named() {
  grep '^fsched: ' err | tail -n 1 >last # not what the shell says
  expect "$1 is named" holds last "^fsched: error: op 'boom' on queue 'right': its kernel, function '$1' of module 'k', ended the program: $2.* \[replay-failed\]$"
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
  run 6 "$FSCHED" run hang.fsb --modules . --on $on --timeout 0.1
  expect "the kernel that hangs is named" holds err "^hang.fsb: error: queue 'right' is stuck at command 1 (op 'boom'): its kernel, function 'hang' of module 'k', has not returned for [0-9]* ms, since [0-9]* ms after the begin"
  expect "and nobody who waits for it" [ "$(grep -c 'is stuck' err)" -eq 1 ]
done
run 139 "$FSCHED" run deep.fsb --modules . --threads 1 --diagnostics json
expect "as JSON" holds err '^{"severity": "error", "code": "replay-failed", "message": "op .boom. on queue .right.: its kernel, function .deep. of module .k., ended the program: SIGSEGV, .*"}$'
