# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# fsched run --on dynamic --workers processes, and spawned: the bytes of threads; kernels that crash fail
# their op alone; and when the program is killed, no worker is left.
for workers in processes spawned; do
dyn() {
  wanted="$1"
  shift
  run "$wanted" "$FSCHED" run --on dynamic --workers $workers "$@"
}

for g in attention/graph block-sync/graph build-step/graph figure-10 gemm-tiles/graph npu/graph pipeline/graph \
  scenarios/collective scenarios/fork-join scenarios/paging tiles/graph training/graph unet/graph; do
  dyn 0 "$TOP/examples/$g.yaml" --heap 64MiB --check --invocations 2
  expect "$g is compared" holds out 'checked: [1-9][0-9]* ops*'
done

cat >loop.yaml <<'EOF'
fsched: 1
target:
  queues: [{name: copy, class: copy}, {name: p}, {name: q}]
  memories: [{name: m, capacity: 4KiB}]
buffers: [{name: x, size: 1024, io: input}, {name: y, size: 64, io: output}]
ops:
  - {name: first, on: [p, q], args: [{out: acc, size: 64}]}
  - loop: body
    trip: 16
    ops:
      - {name: load, on: copy, args: [{in: x, at: {offset: 0, length: 64, step: 64}}, {out: t, size: 64}]}
      - {name: add, scratch: {m: 100}, args: [{in: t}, {value: 3}, {inout: acc}]}
  - {name: end, kernel: {builtin: mix, params: "0102"}, args: [{in: acc}, {out: y}]}
EOF
run 0 "$FSCHED" run --on dynamic loop.yaml --check --output y=threads -q
dyn 0 loop.yaml --check --invocations 3 --output y=processes -q
expect "the bytes of threads" cmp -s threads processes
dyn 0 loop.yaml --pace=1000 --trace trace.json
expect "a trace" holds trace.json '"first"'

cat >k.c <<'EOF'
#include <fsched/kernel.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int zero;
int segv(const fsched_kernel_call *c) { (void)c; *(volatile int *)(long)zero = 1; return 0; }
int five(const fsched_kernel_call *c) { (void)c; return 5; }
int quit(const fsched_kernel_call *c) { (void)c; _exit(zero); }
int endless(const fsched_kernel_call *c) { (void)c; for (;;) { (void)pause(); } }
int fork_it(const fsched_kernel_call *c) {
  (void)fork();
  ((unsigned char *)c->args[0].data)[0] = 1;
  return 0;
}
int fork_wait(const fsched_kernel_call *c) {
  int status = 0;
  pid_t child = fork();
  if (child > 0) { (void)waitpid(child, &status, 0); }
  return status != 6 << 8 && child != 0;
}
EOF
env -u CFLAGS -u LDFLAGS "${CC:-cc}" -w -shared -fPIC -I"$TOP/include" -o k.so k.c || fail "k.so"
# graph NAME ON: an op with that function.
graph() {
  printf '%s\n' 'fsched: 1' 'target: {queues: [{name: a}, {name: b}]}' 'ops:' \
    "  - {name: bad, on: $2, args: [{out: o, size: 8}], kernel: {module: k, function: $1}}" \
    "  - {name: next, args: [{in: o}, {out: p, size: 8}]}" >"$1.yaml"
}
for f in segv five quit fork_it fork_wait endless; do
  graph $f a
done
dyn 6 segv.yaml --modules . -q
expect "its signal" holds err "task 'bad': its worker has been killed by signal 11"
dyn 6 quit.yaml --modules . -q
expect "its status" holds err "task 'bad': its worker has exited with status 0"
dyn 6 five.yaml --modules . -q
expect "its answer" holds err "task 'bad' has returned 5"
dyn 0 fork_it.yaml --modules . -q
dyn 0 fork_wait.yaml --modules . -q
expect "a child that returns" holds err "op 'bad' on queue 'a'.*'fork_wait'.* returned in a child process made by fork"
graph segv '[a, b]'
dyn 6 segv.yaml --modules . -q
expect "the signal of a gang's" holds err "task 'bad': its worker has been killed by signal 11"

# ended PID: whether the process is gone, or waits to be collected.
ended() { ! [ -e "/proc/$1/stat" ] || grep -q '^[0-9]* ([^)]*) [ZX]' "/proc/$1/stat" 2>/dev/null || ! [ -e "/proc/$1/stat" ]; }
# soon COMMAND...: repeats it until it succeeds.
soon() {
  tries=0
  until "$@"; do
    tries=$((tries + 1))
    [ $tries -lt 20000 ] || return 1
  done
}
has_children() {
  children=$(cat "/proc/$1/task/$1/children" 2>/dev/null)
  # shellcheck disable=SC2086 # words
  set -- $children
  [ $# -ge 2 ]
}
n=0
[ $workers = processes ] || n=15
while [ $n -lt 20 ]; do
  "$FSCHED" run --on dynamic --workers $workers endless.yaml --modules . -q --timeout 1000 >out 2>err </dev/null &
  host=$!
  expect "workers have begun" soon has_children $host
  kill -9 $host
  wait $host 2>/dev/null
  for pid in $children; do
    expect "worker $pid ends" soon ended "$pid"
  done
  n=$((n + 1))
done
# Queues of the host are threads of this process: their kernels share its memory; others have their own.
cat >host.c <<'EOF'
#include <fsched/kernel.h>
#include <string.h>
#include <unistd.h>
static int calls;
int who(const fsched_kernel_call *c) {
  int said[2] = {(int)getpid(), ++calls};
  (void)memcpy(c->args[c->n_args - 1].data, said, sizeof said);
  return 0;
}
EOF
env -u CFLAGS -u LDFLAGS "${CC:-cc}" -w -shared -fPIC -I"$TOP/include" -o host.so host.c || fail "host.so"
cat >host.yaml <<'EOF'
fsched: 1
target:
  queues: [{name: a}, {name: h, class: host, host: true}, {name: b}, {name: i, class: host, host: true}]
buffers:
  - {name: w, size: 8, io: output}
  - {name: x, size: 8, io: output}
  - {name: y, size: 8, io: output}
  - {name: z, size: 8, io: output}
ops:
  - {name: p, on: h, kernel: {module: host, function: who}, args: [{out: w}]}
  - {name: q, on: a, kernel: {module: host, function: who}, args: [{in: w}, {out: x}]}
  - {name: r, on: i, kernel: {module: host, function: who}, args: [{in: x}, {out: y}]}
  - {name: s, on: b, kernel: {module: host, function: who}, args: [{in: y}, {out: z}]}
EOF
word() { od -An -td4 -j "$2" -N 4 "$1" | tr -d ' \n'; }
"$FSCHED" run --on dynamic --workers $workers host.yaml --modules . -q --output w=w --output x=x --output y=y --output z=z 2>err &
host=$!
wait $host
expect "it runs" [ $? -eq 0 ]
expect "a host queue" [ "$(word w 0)" = $host ]
expect "the other one" [ "$(word y 0)" = $host ]
expect "in the same memory" [ "$(word w 4) $(word y 4)" = "1 2" ]
expect "a queue in its process" [ "$(word x 0)" != $host ]
expect "another one in another" [ "$(word z 0)" != "$(word x 0)" ]
expect "with its own memory" [ "$(word x 4) $(word z 4)" = "1 1" ]

# What is given or kept, what ops pass on, and scratch are aligned as their memory is.
for align in 4096 2097152; do
cat >al.c <<EOF
#include <fsched/kernel.h>
int al(const fsched_kernel_call *c) {
  unsigned bad = 0;
  for (unsigned i = 0; i < c->n_args; i++) { bad |= (unsigned)((unsigned long)c->args[i].data % ${align}u); }
  for (unsigned i = 0; i < c->n_scratch; i++) { bad |= (unsigned)((unsigned long)c->scratch[i].data % ${align}u); }
  return bad != 0;
}
EOF
env -u CFLAGS -u LDFLAGS "${CC:-cc}" -w -shared -fPIC -I"$TOP/include" -o al.so al.c || fail "al.so"
cat >al.yaml <<EOF
fsched: 1
target: {queues: [{name: q}], memories: [{name: m, capacity: 16MiB, align: $align}]}
buffers: [{name: i, size: 8, io: input}, {name: o, size: 8, io: output}]
ops:
  - {name: a, kernel: {module: al, function: al}, scratch: {m: 8}, args: [{in: i}, {out: t, size: 8}]}
  - {name: b, kernel: {module: al, function: al}, args: [{in: t}, {out: o}]}
EOF
dyn 0 al.yaml --modules .
done
done

run 2 "$FSCHED" run --on dynamic loop.yaml --workers ponies
expect "threads or processes" holds err 'is one of threads|processes|spawned'
