# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Kernels that never return, or crash, are named with the queue whose thread or process runs them: in
# loops, in groups, and where a dynamic run has taken another queue of the class than the plan.

cat >k.c <<'END'
#include <fsched/kernel.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
int hang(const fsched_kernel_call *c) { (void)c; for (;;) { (void)pause(); } }
int hang_3(const fsched_kernel_call *c) { return strstr(c->op, "[3]") != NULL ? hang(c) : 0; }
int hang_right(const fsched_kernel_call *c) { return c->member == 1 ? hang_3(c) : 0; }
int crash_3(const fsched_kernel_call *c) { return strstr(c->op, "[3]") != NULL ? raise(SIGSEGV) : 0; }
END
env -u CFLAGS -u LDFLAGS "${CC:-cc}" -O0 -w -shared -fPIC -I"$TOP/include" -o k.so k.c || fail "k.so"

body() { # body NAME ON ARGS FUNCTION
  cat >"$1.yaml" <<END
fsched: 1
target: {queues: [{name: left, class: l}, {name: right, class: r}], memories: [{name: m}]}
ops:
  - loop: steps
    trip: 6
    ops:
      - {name: a, on: left, args: [{out: x, size: 8}]}
      - {name: boom, on: $2, $3, kernel: {module: k, function: $4}}
END
  run 0 "$FSCHED" compile "$1.yaml" -q -o "$1.fsb"
}
body loop right 'args: [{in: x}, {out: y, size: 8}]' hang_3
body crash right 'args: [{in: x}, {out: y, size: 8}]' crash_3
body group '[left, right]' 'members: [{args: [{in: x}]}, {args: [{in: x}]}]' hang_right
# In the plan boom comes before busy, on the queue that busy names; in a dynamic run busy comes first.
cat >any.yaml <<'END'
fsched: 1
target: {queues: [{name: left, class: c}, {name: right, class: c}], memories: [{name: m}]}
ops:
  - {name: busy, on: right, kernel: {module: k, function: hang}}
  - {name: long, on: left, time: 100}
  - {name: boom, on: c, time: 100, kernel: {module: k, function: hang}}
END
run 0 "$FSCHED" compile any.yaml -q -o any.fsb --emit table=-
expect "boom is planned there" holds out '^boom  op  *0  100  right'

# stuck FILE QUEUE COMMAND OP ON... checks the only message on a kernel, or the one of that queue.
stuck() {
  file=$1 queue=$2 command=$3 op=$4
  shift 4
  run 6 "$FSCHED" run "$file.fsb" --modules . --timeout 0.1 --on "$@"
  expect "$file --on $*: the queue is named" \
    holds err "^$file.fsb: error: queue '$queue' is stuck$command (op $op): its kernel, function 'hang"
}
in_loop="'steps', iteration 3 of 'boom'"
for on in cpu 'cpu --threads 1' sim dynamic 'dynamic --workers processes' 'dynamic --workers spawned'; do
  # shellcheck disable=SC2086 # words
  stuck loop right ' at command 1' "$in_loop" $on
  expect "and nobody else" [ "$(grep -c 'is stuck' err)" -eq 1 ]
done
for on in dynamic 'dynamic --workers processes' 'dynamic --workers spawned'; do
  # shellcheck disable=SC2086
  stuck group right ' at command 1' "$in_loop" $on
  expect "and nobody else" [ "$(grep -c 'is stuck' err)" -eq 1 ]
  # shellcheck disable=SC2086
  stuck any left '' "'boom'" $on
  expect "so is the other one" holds err "queue 'right' is stuck at command 2 (op 'busy'): its kernel"
done
for on in cpu sim dynamic; do
  run 139 "$FSCHED" run crash.fsb --modules . --on $on
  expect "$on: the queue of the crash is named" \
    holds err "^fsched: error: op 'boom\[3\]' on queue 'right': its kernel, function 'crash_3' of module 'k', ended"
done
