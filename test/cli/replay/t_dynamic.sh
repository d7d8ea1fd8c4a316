# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# fsched run --on dynamic: ops that are submitted one by one, of graphs and of programs.
dyn() {
  wanted="$1"
  shift
  run "$wanted" "$FSCHED" run --on dynamic "$@"
}

# The results are those of a sequential evaluation, and of a replay.
for g in attention/graph block-sync/graph build-step/graph figure-10 figure-10-serial gemm-tiles/graph \
  npu/graph pipeline/graph project/graph scenarios/collective scenarios/cross-queue scenarios/fork-join \
  scenarios/multi-domain scenarios/multi-model scenarios/paging scenarios/sequential tiles/graph \
  training/graph transformer/graph unet/graph; do
  dyn 0 "$TOP/examples/$g.yaml" --heap 64MiB --check -q --invocations 2
  run 0 "$FSCHED" compile "$TOP/examples/$g.yaml" -q -o p.fsb
  dyn 0 p.fsb --heap 64MiB --check
  expect "$g is compared" holds out 'checked: [1-9][0-9]* ops*'
done

# A graph with all that a dispatch looks at.
cat >all.yaml <<'END'
fsched: 1
target:
  concurrency: 3
  queues: [{name: a, class: compute}, {name: b, class: compute}, {name: c, class: copy}]
  memories: [{name: m, capacity: 12KiB, align: 64}, {name: far}]
  resources: [{name: power, capacity: 5}]
buffers:
  - {name: x, size: 4096, io: input}
  - {name: y, size: 4096, io: output}
  - {name: s, size: 512, io: state}
ops:
  - {name: load, on: copy, args: [{in: x}, {out: t, size: 4096}]}
  - {name: late, after: [wide], uses: {power: 2}, args: [{in: t, at: [0, 128]}, {out: u, size: 64}, {value: 7}]}
  - {name: wide, on: [a, b], uses: {power: 3}, args: [{in: t}, {inout: s}]}
  - {name: own, scratch: {m: 1000}, args: [{in: u}, {out: v, size: 256, memory: far}]}
  - name: tile
    kernel: {builtin: copy}
    args:
      - {in: t, at: {offset: 0, shape: [16, 4], strides: [256, 4], element: 4}}
      - {out: w, size: 256}
  - {name: last, uses: {power: 5}, args: [{in: v}, {in: w}, {out_existing: y, at: [0, 2048]}]}
  - {name: rest, args: [{in: w}, {in: s}, {out_existing: y, at: [2048, 2048]}]}
END
for i in 1 2 3 4 5; do
  dyn 0 all.yaml --check --invocations 3 --output y=dynamic.$i -q
done
run 0 "$FSCHED" compile all.yaml -q -o all.fsb
run 0 "$FSCHED" run all.fsb --invocations 3 --output y=replayed -q
for i in 1 2 3 4 5; do
  expect "the bytes of a replay ($i)" cmp -s dynamic.$i replayed
done
dyn 0 all.fsb --check --pace=1000 --trace trace.json --value late:2=9
# Each op has a slice, and so has each member of a gang; copies are not made.
expect "members by their numbers" holds trace.json '"name":"wide","cat":"gang","args":{"epoch":[0-9]*,"member":1}'
for op in load:1 late:1 wide:2 own:1 tile:1 last:1 rest:1; do
  n=$(grep -c "^{\"ph\":\"X\".*\"name\":\"${op%:*}\"" trace.json)
  expect "slices of ${op%:*}" [ "$n" -eq "${op#*:}" ]
done
# It shows the queue that an op ran on: the one that it names, or of a class the first that is idle,
# which need not be the planned one.
cat >moved.yaml <<'END'
fsched: 1
target: {queues: [{name: a}, {name: b}]}
ops:
  - {name: named, on: b, args: [{out: z, size: 4}]}
  - {name: first, args: [{out: x, size: 4}], after: [named]}
  - {name: second, args: [{out: y, size: 4}], after: [first]}
END
run 0 "$FSCHED" compile moved.yaml -q -o moved.fsb
dyn 0 moved.fsb --trace moved.json -q
a=$(sed -n 's/.*"tid":\([0-9]*\).*"name":"a".*/\1/p' moved.json | head -n 1)
b=$(sed -n 's/.*"tid":\([0-9]*\).*"name":"b".*/\1/p' moved.json | head -n 1)
expect "a named queue" holds moved.json "\"ph\":\"X\".*\"tid\":$b,.*\"name\":\"named\""
expect "the first of a class" holds moved.json "\"ph\":\"X\".*\"tid\":$a,.*\"name\":\"second\""
run 0 "$FSCHED" dis moved.fsb
expect "the listing says so" holds out '^by class: first, second$'
dyn 0 all.fsb --workers threads --format json
expect "as an object" holds out '"on": "dynamic"'

# Nothing is spilled: what does not fit is an error, with need and have, before anything runs.
dyn 3 all.yaml --heap 4KiB
expect "need and have" holds err 'heap m of 4096 bytes: [0-9]* are needed, [0-9]* are free in a row'
expect "no result" empty out
cat >spill.yaml <<'END'
fsched: 1
target:
  queues: [{name: p}, {name: q, class: copy}]
  memories: [{name: m, capacity: 100, backing: far, spill: {on: copy}}, {name: far}]
ops:
  - {name: a, args: [{out: a, size: 60}]}
  - {name: b, args: [{out: b, size: 60}]}
  - {name: c, args: [{in: b}, {out: c, size: 20}]}
  - {name: d, args: [{in: a}, {in: c}, {out: d, size: 10}]}
END
run 0 "$FSCHED" compile spill.yaml -q -o spill.fsb
run 0 "$FSCHED" run spill.fsb --check
dyn 3 spill.fsb
expect "need and have of a program" holds err 'heap m of 100 bytes: 60 are needed, 40 are free'
expect "why it cannot come back" holds err 'what lies there is used by ops that come later'
expect "what helps" holds err 'run --heap NAME=SIZE'
dyn 0 spill.yaml --memory m=160 --check
dyn 0 spill.yaml --set memories.m.capacity=160 --check
dyn 3 spill.yaml --memory m=149 --check

# The heap of a memory without a size holds all that is ever in it, unless there is less memory.
cat >unbounded.yaml <<'END'
fsched: 1
target: {queues: [{name: p}]}
buffers: [{name: o, size: 8, io: output}]
ops:
  - loop: l
    trip: 60
    ops:
      - {name: a, args: [{out: t, size: 1MiB}]}
      - {name: b, args: [{in: t, at: [0, 8]}, {out: u, size: 8}]}
  - {name: e, args: [{out: o}]}
END
dyn 0 unbounded.yaml -q
dyn 0 unbounded.yaml --memory-limit 8MiB --check
dyn 3 unbounded.yaml --memory-limit 1MiB
expect "what one needs" holds err 'heap .*: 1048576 are needed'

# Loops are unrolled, with trips of their own.
cat >loop.yaml <<'END'
fsched: 1
target:
  queues: [{name: copy, class: copy}, {name: p}]
  memories: [{name: m, capacity: 4KiB}]
buffers: [{name: x, size: 1024, io: input}, {name: y, size: 64, io: output}]
ops:
  - {name: first, args: [{out: acc, size: 64}]}
  - loop: body
    trip: {param: n, min: 0, max: 16}
    ops:
      - {name: load, on: copy, args: [{in: x, at: {offset: 0, length: 64, step: 64}}, {out: t, size: 64}]}
      - {name: add, args: [{in: t}, {inout: acc}]}
  - {name: end, args: [{in: acc}, {out: y}]}
END
run 0 "$FSCHED" compile loop.yaml -q -o loop.fsb
for n in 0 1 5 16; do
  dyn 0 loop.fsb --set-param n=$n --check --output y=d -q
  run 0 "$FSCHED" run loop.fsb --set-param n=$n --output y=r -q
  expect "$n times" cmp -s d r
  dyn 0 loop.yaml --set-param n=$n --check --output y=d -q
  expect "$n times, of the graph" cmp -s d r
done
dyn 2 loop.fsb --set-param n=17

# What is refused.
run 2 "$FSCHED" run all.fsb --heap 1MiB
expect "for dynamic runs" holds err 'are for dynamic runs'
run 1 "$FSCHED" run all.yaml
dyn 2 all.fsb --pool 1MiB
dyn 2 all.fsb --pin
dyn 2 all.fsb --trace t.json --with-plan
dyn 2 all.fsb --memory m=1MiB
expect "of graphs" holds err 'are for graphs'
dyn 6 "$TOP/examples/gemm-out-of-core/graph.yaml" --heap 64MiB
expect "modules are code" holds err "module 'gemm' is not opened"

# In loops, too, ops run on any queue of a class, if they name that.
cat >classes.yaml <<'EOF'
fsched: 1
target: {queues: [{name: a}, {name: b}, {name: c, class: copy}]}
buffers: [{name: x, size: 64, io: output}]
ops:
  - loop: l
    trip: 8
    ops:
      - {name: any, time: 3, args: [{out: t, size: 8}]}
      - {name: own, on: b, args: [{in: t}, {out: u, size: 8}]}
      - {name: put, on: copy, args: [{in: u}, {out_existing: x, at: {offset: 0, length: 8, step: 8}}]}
EOF
run 0 "$FSCHED" compile classes.yaml -q -o classes.fsb
run 0 "$FSCHED" verify classes.fsb --graph classes.yaml
dyn 0 classes.fsb --check --trace classes.trace
# Instances of loops have slices of their own, on the queues that ran them.
b=$(sed -n 's/.*"tid":\([0-9]*\).*"name":"b".*/\1/p' classes.trace | head -n 1)
for i in 0 1 2 3 4 5 6 7; do
  expect "any[$i]" [ "$(grep -c "\"ph\":\"X\".*\"name\":\"any\[$i\]\"" classes.trace)" -eq 1 ]
  expect "own[$i]" holds classes.trace "\"ph\":\"X\".*\"tid\":$b,.*\"name\":\"own\[$i\]\""
done
run 0 "$FSCHED" dis classes.fsb
expect "any is listed so" holds out '^  by class: any$'
expect "the others are not" [ "$(grep -c 'by class' out)" -eq 1 ]
run 0 "$FSCHED" dis classes.fsb --format json
expect "one op of the loop" [ "$(grep -c '"by_class": true' out)" -eq 1 ]
cp out classes.json
run 0 "$FSCHED" asm classes.json -o again.fsb
expect "it is assembled" cmp -s classes.fsb again.fsb

# Members run at the same time, each on its queue: each waits until the other has begun.
cat >meet.c <<'EOF'
#include <fsched/kernel.h>
#include <stdatomic.h>
int meet(const fsched_kernel_call *c) {
  _Atomic unsigned *both = c->args[0].data; /* memory that all workers reach */
  if (c->n_members != 2 || c->n_args != c->member + 2u) { return 1; }
  atomic_fetch_add(both, 1u);
  while (atomic_load(both) % 2 != 0 || atomic_load(both) == 0) { }
  for (unsigned char *at = c->args[1].data; at < (unsigned char *)c->args[1].data + c->args[1].length; at++) {
    *at = (unsigned char)(c->member + 1);
  }
  return 0;
}
EOF
env -u CFLAGS -u LDFLAGS "${CC:-cc}" -w -shared -fPIC -I"$TOP/include" -o meet.so meet.c || fail "meet.so"
cat >meet.yaml <<'EOF'
fsched: 1
target: {queues: [{name: a}, {name: b}, {name: c}]}
buffers: [{name: both, size: 4, io: input}, {name: x, size: 8, io: output}, {name: y, size: 8, io: output}]
ops:
  - name: pair
    on: {class: compute, count: 2}
    kernel: {module: meet, function: meet}
    members:
      - {args: [{in: both}, {out: x}]}
      - {args: [{in: both}, {out: y}, {value: 5}]}
  - loop: l
    trip: 3
    ops:
      - name: again
        on: [b, c]
        kernel: {module: meet, function: meet}
        members:
          - {args: [{in: both}, {out: p, size: 4}]}
          - {args: [{in: both}, {out: q, size: 4}, {value: 6}]}
EOF
printf '\000\000\000\000' >both
printf '\001\001\001\001\001\001\001\001' >x.wanted
printf '\002\002\002\002\002\002\002\002' >y.wanted
for w in threads processes spawned; do
  dyn 0 meet.yaml --workers $w --modules . --input both=both --output x=x.$w --output y=y.$w --trace meet.json -q
  expect "the first of two members ($w)" cmp -s x.$w x.wanted
  expect "the other ($w)" cmp -s y.$w y.wanted
  expect "a slice each ($w)" [ "$(grep -c '"ph":"X".*"name":"pair"' meet.json)" -eq 2 ]
  expect "and in a loop ($w)" [ "$(grep -c '"ph":"X".*"name":"again\[[012]\]"' meet.json)" -eq 6 ]
done

# Each memory has a heap of its own, however many there are, and each piece is in that of its memory.
{
  echo 'fsched: 1'
  echo 'target:'
  echo '  queues: [{name: a}]'
  echo '  memories:'
  for i in 0 1 2 3 4 5 6; do
    echo "    - {name: m$i, capacity: $((200 + i))}"
  done
  echo 'ops:'
  for i in 0 1 2 3 4 5 6; do
    echo "  - {name: w$i, scratch: {m$(((i + 1) % 7)): 40, m$(((i + 2) % 7)): 30}, args: [{out: b$i, size: $((50 + i)), memory: m$i}]}"
  done
  echo '  - {name: all, args: [{in: b0}, {in: b1}, {in: b2}, {in: b3}, {in: b4}, {in: b5}, {in: b6}, {out: z, size: 4, memory: m6}]}'
} >many.yaml
dyn 0 many.yaml --check
dyn 0 many.yaml --check --workers processes
for i in 0 1 2 3 4 5 6; do
  dyn 3 many.yaml --heap m$i=$((49 + i))
  expect "need and have of m$i" holds err "heap m$i of $((49 + i)) bytes: $((50 + i)) are needed, "
  dyn 3 many.yaml --heap 49 --heap m$i=4KiB
done
dyn 0 many.yaml --heap 1 --heap m0=1KiB --heap m1=1KiB --heap m2=1KiB --heap m3=1KiB --heap m4=1KiB --heap m5=1 --heap m5=1KiB --heap m6=1KiB
dyn 2 many.yaml --heap m7=1KiB
expect "an unknown memory" holds err "memory 'm7'"
for wrong in m0= =1 m0=x 0 m0=0; do
  dyn 2 many.yaml --heap $wrong
done

# A graph is run as it is.  One that fits into no plan runs with larger heaps, or fails with need and
# have; loops that cannot stay loops are unrolled; a kind of sync, starts and placements do not matter.
cat >large.yaml <<'END'
fsched: 1
target:
  queues: [{name: p}, {name: q, class: copy, counting: true}]
  memories: [{name: m, capacity: 64, placement: stack, backing: far, spill: {on: copy}}, {name: far}]
  sync: block
ops:
  - {name: a, start: 7, args: [{out: a, size: 60}]}
  - {name: b, start: 7, scratch: {m: 50}, args: [{in: a}, {out: b, size: 60}]}
END
run 3 "$FSCHED" compile large.yaml -q -o large.fsb
dyn 3 large.yaml
expect "need and have of a graph" holds err 'heap m of 64 bytes: 50 are needed, 4 are free'
dyn 0 large.yaml --heap m=170 --check
dyn 0 large.yaml --heap 170 --check
dyn 3 large.yaml --heap 170 --heap m=169
cat >loops.yaml <<'END'
fsched: 1
target: {queues: [{name: p}, {name: q}], memories: [{name: m, capacity: 1KiB}]}
buffers: [{name: x, size: 64, io: state}, {name: y, size: 64, io: output}]
ops:
  - loop: l
    trip: {param: n, min: 1, max: 4}
    ops:
      - {name: late, after: [next], args: [{inout: x, at: {offset: 0, length: 16, step: 16}}]}
      - {name: next, args: [{out: t, size: 4}]}
  - {name: first, args: [{in: x}, {out: y}]}
END
for n in 1 3 4; do
  dyn 0 loops.yaml --set-param n=$n --check --trace loops.json
  expect "$n times, unrolled" [ "$(grep -c '"ph":"X".*"name":"late' loops.json)" -eq $n ]
done
dyn 0 loops.yaml --check --trace loops.json
expect "as often as it may" [ "$(grep -c '"ph":"X".*"name":"late' loops.json)" -eq 4 ]
dyn 2 loops.yaml --set-param n=5

# Without queues there are as many as ops could run at once: at most those of the processors, or what
# the graph itself says.
queues_of() { grep -c '"thread_name"' "$1"; }
for concurrency in '' 5 1; do
  {
    echo 'fsched: 1'
    [ -z "$concurrency" ] || echo "target: {concurrency: $concurrency}"
    echo 'ops:'
    for i in 0 1 2 3 4 5 6 7 8 9; do
      echo "  - {name: o$i, args: [{out: b$i, size: 8}]}"
    done
  } >free.yaml
  dyn 0 free.yaml --trace free.json --check
  expect "${concurrency:-processors}" [ "$(queues_of free.json)" -eq "${concurrency:-$(nproc | awk '{print $1 < 10 ? $1 : 10}')}" ]
done
