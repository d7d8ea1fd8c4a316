# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Groups whose members have args of their own: compiled, proven, run, taken apart and put together,
# and what is wrong with some.
cat >g.yaml <<'END'
fsched: 1
name: members
target:
  queues: [{name: q0}, {name: q1}, {name: dma, class: copy}]
  memories:
    - {name: sram, capacity: 768, backing: ddr, spill: {on: copy, write: {rate: 64}, read: {rate: 64}}}
    - {name: ddr}
buffers:
  - {name: x, size: 128, memory: sram, io: input}
  - {name: m, size: 128, memory: sram, io: output}
  - {name: y, size: 64, memory: sram, io: output}
ops:
  - {name: split, on: [q0, q1], time: 3, scratch: {sram: 64},
     members: [{args: [{in: x, at: [0, 64]}, {out_existing: m, at: [0, 64]}]},
               {args: [{value: 7}, {in: x, at: [64, 64]}, {out_existing: m, at: [64, 64]}, {out: t, size: 32}]}]}
  - {name: join, on: q0, args: [{in: m}, {in: t}, {out: y}]}
END
run 0 "$FSCHED" compile g.yaml --verify -o g.fsb --emit schedule=g.json --emit trace=trace --emit svg=g.svg --emit c=g.c --emit stats=st
expect "statistics" holds st '"groups": {"ops": 1, "members": 2}'
expect "members in the trace" [ "$(grep -c '"gang":"gang0:1","member":[01]' trace)" -eq 2 ]
expect "members in the picture" holds g.svg '<title>split: group of members, op, .* on q0, q1<'
run 0 "$FSCHED" explain g.fsb split
expect "members, explained" holds out ' member q1:1 (number 1, with args of its own)'
run 0 "$FSCHED" explain g.fsb split --format json
expect "their numbers" holds out '{"axis": "q1", "epoch": 1, "member": 1'
for of in g.yaml g.fsb; do
  run 0 "$FSCHED" dot $of
  expect "members in a picture of $of" holds out 'label="split.nmembers on q0, q1'
done
run 0 "$FSCHED" compile -q g.yaml --emit dot=s.dot
expect "members in one of the schedule" holds s.dot 'label="split.nmembers on q0, q1'
sed 's/{in: x, at: .64, 64.}/{in: x, at: {offset: 64, shape: [8], strides: [8], element: 4}}/' g.yaml >v.yaml
run 0 "$FSCHED" compile -q v.yaml -o v.fsb
run 0 "$FSCHED" explain v.fsb split
expect "whose view it is" holds out '^  member 1 in x as 8 of 4 by 8$'
run 0 "$FSCHED" dot v.yaml
expect "the same in a picture" holds out 'member 1 in x as 8 of 4 by 8"'
run 0 "$FSCHED" verify g.fsb -g g.yaml
run 0 "$FSCHED" verify g.json -g g.yaml
for on in cpu sim; do
  run 0 "$FSCHED" run g.fsb -q --check --on $on --output m=m.$on --output y=y.$on
done
expect "the same bytes" same m.cpu m.sim
expect "the same bytes behind" same y.cpu y.sim
run 0 "$FSCHED" run g.fsb -q --check --invocations 3 --in-flight 2 --threads 1
run 0 "$FSCHED" run g.fsb -q --check --on sim --durations adversarial --seed 3
run 0 "$FSCHED" compile g.yaml -q --barriers auto --verify -o b.fsb
run 0 "$FSCHED" run b.fsb -q --check
differ() { ! same "$1" "$2"; }
for i in 0 1; do
  dd if=m.cpu of=half.$i bs=64 skip=$i count=1 2>/dev/null
done
expect "members write different bytes" differ half.0 half.1

# As text and back.
run 0 "$FSCHED" dis g.fsb
expect "members in the text" holds out 'run split member 0 with gang0:1'
expect "their places alone" holds out 'member 1 with .*sram\[[0-9]*,[0-9]*).*sram'
run 0 "$FSCHED" dis g.fsb --format json
cp out g.dis
expect "members in JSON" holds g.dis '"members": \[2, 4\]'
run 0 "$FSCHED" asm g.dis -o h.fsb
expect "the same program" cmp g.fsb h.fsb

# Members that are not the graph's: an arg of another member, args exchanged, dropped and given twice.
sed 's/"members": \[2, 4\]/"members": [3, 3]/' g.dis >moved.dis
run 0 "$FSCHED" asm moved.dis -o moved.fsb
run 4 "$FSCHED" verify moved.fsb -g g.yaml
expect "an arg of the other member" holds err "members of op.* 'split'"
sed 's/"members": \[2, 4\]/"members": [4, 2]/' g.dis >moved.dis
run 0 "$FSCHED" asm moved.dis -o moved.fsb
run 4 "$FSCHED" verify moved.fsb -g g.yaml
sed 's/, "members": \[2, 4\]//' g.dis >none.dis
run 0 "$FSCHED" asm none.dis -o none.fsb
run 4 "$FSCHED" verify none.fsb -g g.yaml
expect "no members" holds err "graph 'members': members 0 in the program, 2"
sed 's/"members": \[2, 4\]/"members": [2, 3]/' g.dis >less.dis
run 1 "$FSCHED" asm less.dis -o less.fsb
expect "args of no member" holds err 'args of members'
sed 's/"members": \[2, 4\]/"members": [2, 5]/' g.dis >more.dis
run 1 "$FSCHED" asm more.dis -o more.fsb
expect "too many" holds err 'the members have more args than the op'
sed 's/"members": \[2, 4\]/"members": [2, 3, 1]/' g.dis >three.dis
run 1 "$FSCHED" asm three.dis -o three.fsb
expect "three members of two queues" holds err 'has 3 members, and axis .gang0. has 2 queues'

# What one member writes another may not touch; with raw hazards that is a race.
sed 's/out_existing: m, at: \[64, 64\]/out_existing: m, at: [60, 64]/' g.yaml >clash.yaml
run 1 "$FSCHED" compile -q clash.yaml -o c.fsb
expect "a conflict" holds err "one member writes bytes of 'm' that another one accesses"
sed 's/fsched: 1/fsched: 1\nhazards: raw/; s/{in: m}, //; s/at: \[64, 64\]}, {out: t/at: [60, 68]}, {out: t/' g.yaml >raw.yaml
run 0 "$FSCHED" compile raw.yaml --verify -o r.fsb
run 0 "$FSCHED" dis r.fsb --format json
expect "a race with itself" holds out '"ops": \["split", "split"\]'
sed 's/"hazards": "raw"/"hazards": "sequential"/; /"ops": \["split", "split"\]/d' out >r.dis
run 0 "$FSCHED" asm r.dis -o s.fsb
run 4 "$FSCHED" verify s.fsb
expect "a conflict in a program" holds err 'op split: a member writes what another one accesses'

# A member reads what was there before the group, also where another one begins the buffer anew.
sed 's/{out_existing: m, at: \[0, 64\]}/{out: m}/; s/{value: 7}, {in: x, at: \[64, 64\]}, {out_existing: m, at: \[64, 64\]}/{in: m}/
  s/^ops:/ops:\n  - {name: first, on: q1, args: [{out: m}]}/' g.yaml >before.yaml
run 0 "$FSCHED" compile before.yaml --verify -o before.fsb
run 0 "$FSCHED" run before.fsb -q --check
run 0 "$FSCHED" run before.fsb -q --check --on sim --durations adversarial --seed 2

# In place of what the same member reads, not of what another one reads.
sed 's/{in: x, at: \[0, 64\]}, {out_existing: m, at: \[0, 64\]}/{in: a}, {out: c, size: 64}/
  s/{value: 7}, {in: x, at: \[64, 64\]}, {out_existing: m, at: \[64, 64\]}/{in: b}/
  s/{in: m}, {in: t}/{in: c}, {in: t}/; s/{name: m, size: 128/{name: w, size: 128/
  s/scratch: {sram: 64}/inplace: {c: b}/
  s/^ops:/ops:\n  - {name: first, on: q1, args: [{out: a, size: 64}, {out: b, size: 64}]}/
  s/^  - {name: w.*//' g.yaml >place.yaml
run 0 "$FSCHED" compile place.yaml --verify -o place.fsb
expect "of another member" holds err "cannot write 'c' in place of 'b': another member reads the input"
sed 's/inplace: {c: b}/inplace: {c: a}/' place.yaml >same.yaml
run 0 "$FSCHED" compile -q same.yaml --verify -o same.fsb
run 0 "$FSCHED" run same.fsb -q --check
run 0 "$FSCHED" dis same.fsb --format json

# In a loop that stays one, and unrolled.
cat >loop.yaml <<'END'
fsched: 1
name: rows
target: {queues: [{name: q0}, {name: q1}]}
buffers: [{name: x, size: 256, io: state}]
ops:
  - {loop: rows, trip: 4, ops: [{name: row, on: [q0, q1], members: [
      {args: [{inout: x, at: {length: 32, step: 64}}]},
      {args: [{inout: x, at: {offset: 32, length: 32, step: 64}}]}]}]}
END
run 0 "$FSCHED" compile -q loop.yaml --verify -o l.fsb
run 0 "$FSCHED" run l.fsb -q --check
run 0 "$FSCHED" compile -q loop.yaml --unroll --verify -o l.fsb
run 0 "$FSCHED" run l.fsb -q --check

# A kernel knows its member, and has that member's args alone.
cat >k.c <<'END'
#include <fsched/kernel.h>
#include <string.h>
int put(const fsched_kernel_call *call) {
  if (call->n_members != 2 || call->n_args != call->member + 1) return 7;
  memset(call->args[call->member].data, 'a' + (int)call->member, call->args[call->member].length);
  return 0;
}
int all(const fsched_kernel_call *call) {
  if (call->n_members != 0 || call->member != 0 || call->n_args != 2) return 8;
  memcpy(call->args[1].data, call->args[0].data, call->args[1].length);
  return 0;
}
END
env -u CFLAGS -u LDFLAGS "${CC:-cc}" -w -shared -fPIC -I"$TOP/include" -o k.so k.c || fail "k.so"
cat >k.yaml <<'END'
fsched: 1
name: kernels
target: {queues: [{name: q0}, {name: q1}]}
buffers: [{name: x, size: 8, io: output}, {name: y, size: 8, io: output}]
ops:
  - {name: put, on: [q0, q1], kernel: {module: k.so, function: put},
     members: [{args: [{out_existing: x, at: [0, 4]}]}, {args: [{value: 5}, {out_existing: x, at: [4, 4]}]}]}
  - {name: all, on: [q0, q1], kernel: {module: k.so, function: all}, args: [{in: x}, {out: y}]}
END
run 0 "$FSCHED" compile -q k.yaml --verify -o k.fsb
for on in cpu sim; do
  run 0 "$FSCHED" run k.fsb -q --modules . --check --on $on --output y=y.k --invocations 2
  expect "each member its own args on $on" [ "$(cat y.k)" = aaaabbbb ]
done
run 0 "$FSCHED" run k.fsb -q --modules . --check --threads 1
# Each member has to fit the kernel.
sed 's/kernel: {module: k.so, function: put}/kernel: {builtin: copy}/; s/out_existing: x, at: \[0, 4\]}/&, {in: w}/
  s/{value: 5}, /{in: w}, /; s/x, size: 8/w, size: 4, io: input}, {name: x, size: 8/' k.yaml >copy.yaml
run 0 "$FSCHED" compile -q copy.yaml --verify -o copy.fsb
run 0 "$FSCHED" run copy.fsb -q --modules . --check
sed 's/{in: w}, {out_existing/{in: w}, &/' copy.yaml >none.yaml
run 0 "$FSCHED" compile -q none.yaml -o none.fsb
run 6 "$FSCHED" run none.fsb -q --modules .
expect "a member with two inputs" holds err "op 'put': the built-in kernel 'copy' wants"
