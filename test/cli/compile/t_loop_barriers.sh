# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Loops that stay loops on targets of barriers: compiled, taken apart and put together, proven, replayed.
body() { # body COUNT DEPTH
  cat <<EOF
fsched: 1
name: tiles
target:
  queues: [{name: dma, class: copy}, {name: dpu, class: compute}]
  memories: [{name: ddr}, {name: cmx, capacity: 16KiB}]
  sync: barrier
  barriers: {count: $1, slots: 2}
buffers:
  - {name: x, size: 4000, memory: ddr, io: input}
  - {name: y, size: 64, memory: ddr, io: output}
  - {name: t, size: 64, memory: cmx}
ops:
  - {name: init, on: dpu, args: [{out: y}]}
  - loop: lp
    trip: 8
    buffers: {t: {depth: $2}}
    ops:
      - {name: load, on: dma, time: 4, args: [{in: x, at: {offset: 0, length: 64, step: [64]}}, {out: t}]}
      - {name: use, on: dpu, time: 2, args: [{in: t}, {inout: y}]}
EOF
}

# A full and an empty barrier for each slot, and one for the op before the loop.
for depth in 1 3; do
  body $((2 * depth + 1)) "$depth" >b.yaml
  run 0 "$FSCHED" compile b.yaml -o b.fsb --verify
  expect "barriers with depth $depth" holds err "^  barriers: $((2 * depth + 1)) of $((2 * depth + 1)) used, 1 use"
  run 0 "$FSCHED" verify b.fsb --graph b.yaml
  run 0 "$FSCHED" dis b.fsb --format json
  cp out b.json
  expect "guards with depth $depth" [ "$(grep -c "\"depth\": $depth, \"producers\": \\[\"\\(load\\|use\\)\"\\]" out)" -eq 2 ]
  run 0 "$FSCHED" asm b.json -o again.fsb
  expect "the same again" cmp -s b.fsb again.fsb
  for on in cpu sim; do
    run 0 "$FSCHED" run b.fsb --check --on $on
    expect "replayed on $on" holds out "checked: 2 ops and 64 output bytes are equal"
  done
  body $((2 * depth)) "$depth" >few.yaml
  run 3 "$FSCHED" compile few.yaml -o few.fsb
  expect "need and have with others" holds err "loop 'lp' needs $((2 * depth)) barriers, and other ops 1, $((2 * depth)) given \[too-few-barriers\]"
  body $((2 * depth - 1)) "$depth" >few.yaml
  run 3 "$FSCHED" compile few.yaml -o few.fsb
  expect "need and have" holds err "loop 'lp' needs $((2 * depth)) barriers, $((2 * depth - 1)) given \[too-few-barriers\]"
done
run 0 "$FSCHED" dis b.fsb
expect "what a load waits for" holds out 'barrier_wait 4\.\.6 by \[t-3\] mod 3'
expect "what a load updates" holds out 'barrier_update 1\.\.3 by \[t\] mod 3'
expect "the list of guards" holds out '^  barriers 1\.\.3: load$'

# As wrong as streams can be: the verifier tells.
broken() { # broken WHAT PATTERN
  run 0 "$FSCHED" asm broken.json -o broken.fsb
  run 4 "$FSCHED" verify broken.fsb
  expect "$1" holds err "$2"
}
sed 's/"physical": 1, "depth": 3/"physical": 1, "depth": 2/; s/"used": 7/"used": 6/' b.json >broken.json
broken "two full barriers for three slots" "load\[i\] may update one of the barriers from 1 on, of which there are 2, before use\[i - 2\] is over"
sed 's/"physical": 4, "depth": 3/"physical": 3, "depth": 3/; s/"used": 7/"used": 6/' b.json >broken.json
broken "a barrier of two guards" "physical barrier 3 of loop lp is that of loop lp, too"
sed 's/"physical": 4, "depth": 3/"physical": 5, "depth": 3/' b.json >broken.json
broken "more than the machine has" "loop lp has physical barrier 7, but these are numbered 0 to 6"
sed 's/"checks": \[{"guard": 0, "distance": 0}\]/"checks": []/' b.json >broken.json
broken "a wait without a check" "the barriers that use\[i\] waits for do not say that load\[i\] is over"

# An op that nothing holds back gets a way back.
cat >free.yaml <<EOF
fsched: 1
target:
  queues: [{name: dma}, {name: dpu}]
  memories: [{name: ddr}]
  sync: barrier
  barriers: {count: 16}
buffers:
  - {name: x, size: 1000, memory: ddr}
  - {name: y, size: 1000, memory: ddr, io: output}
ops:
  - loop: lp
    trip: 100
    ops:
      - {name: make, on: dma, time: 1, args: [{out_existing: x, at: {offset: 0, length: 8, step: [8]}}]}
      - {name: take, on: dpu, time: 5, args: [{in: x, at: {offset: 0, length: 8, step: [8]}}, {out_existing: y, at: {offset: 0, length: 8, step: [8]}}]}
EOF
run 0 "$FSCHED" compile free.yaml -o free.fsb --verify
expect "as often as without it" holds err 'one every 5 at best'
run 0 "$FSCHED" dis free.fsb --format json
expect "a wait for what is behind" holds out '"op": "make".*"waits": \[{"op": "take", "distance": [0-9]*}\]'
run 0 "$FSCHED" run free.fsb --check

# A million iterations take as much room.
sed 's/trip: 8/trip: 1000000/; s/step: \[64\]/step: [0]/' b.yaml >long.yaml
sed 's/step: \[64\]/step: [0]/' b.yaml >short.yaml
run 0 "$FSCHED" compile short.yaml -q -o short.fsb
run 0 "$FSCHED" compile long.yaml -q -o long.fsb --verify
expect "as large" [ "$(wc -c <long.fsb)" -eq "$(wc -c <short.fsb)" ]

# Timelines are what the graph's loops were read for.
sed 's/  sync: barrier//; s/  barriers: .*//' b.yaml >time.yaml
run 2 "$FSCHED" compile time.yaml --barriers 8
expect "another kind of sync" holds err "loop 'lp' stays a loop with the target's own kind of sync alone"
run 0 "$FSCHED" compile time.yaml --barriers 8 --set sync=barrier -o time.fsb --verify

# A loop in a loop has barriers of its own, which begin anew with each of its runs.
cat >nest.yaml <<EOF
fsched: 1
target:
  queues: [{name: dma, class: copy}, {name: dpu, class: compute}]
  memories: [{name: ddr}, {name: cmx, capacity: 16KiB}]
  sync: barrier
  barriers: {count: auto}
buffers:
  - {name: x, size: 4000, memory: ddr, io: input}
  - {name: y, size: 4000, memory: ddr, io: output}
  - {name: t, size: 64, memory: cmx}
ops:
  - loop: tiles
    trip: 3
    ops:
      - loop: lp
        trip: 5
        buffers: {t: {depth: 2}}
        ops:
          - {name: load, on: dma, time: 4, args: [{in: x, at: {offset: 0, length: 64, step: [320, 64]}}, {out: t}]}
          - {name: use, on: dpu, time: 2, args: [{in: t}, {out_existing: y, at: {offset: 0, length: 64, step: [320, 64]}}]}
EOF
run 0 "$FSCHED" compile nest.yaml -o nest.fsb --verify
expect "its barriers" holds err '^  barriers: 4,'
run 0 "$FSCHED" run nest.fsb --check

# Trips may be given with each invocation; fewer than planned leave barriers as they were set.
body auto 3 | sed 's/trip: 8/trip: {param: n, min: 0, max: 8}/' >open.yaml
run 0 "$FSCHED" compile open.yaml -o open.fsb --verify
for n in 0 1 2 3 7 8; do
  for on in cpu sim; do
    run 0 "$FSCHED" run open.fsb --check --on $on --set-param n=$n
    expect "$n trips on $on" holds out "checked: 2 ops and 64 output bytes are equal"
  done
done
run 2 "$FSCHED" run open.fsb --set-param n=9
expect "too many trips" holds err "takes 0 to 8"

# Loops that stand one after another share barriers; those that may run at once do not.
two() { # two COUNT SECOND-INPUT TRIP2
  cat <<EOF
fsched: 1
name: two
target:
  queues: [{name: dma, class: copy}, {name: dpu, class: compute}]
  memories: [{name: ddr}, {name: cmx, capacity: 16KiB}]
  sync: barrier
  barriers: {count: $1, slots: 2}
buffers:
  - {name: x, size: 512, memory: ddr, io: input}
  - {name: y, size: 512, memory: ddr, io: output}
  - {name: z, size: 512, memory: ddr, io: output}
  - {name: t, size: 64, memory: cmx}
  - {name: s, size: 64, memory: cmx}
ops:
  - loop: first
    trip: 8
    buffers: {t: {depth: 3}}
    ops:
      - {name: load, on: dma, time: 4, args: [{in: x, at: {offset: 0, length: 64, step: [64]}}, {out: t}]}
      - {name: use, on: dpu, time: 2, args: [{in: t}, {out_existing: y, at: {offset: 0, length: 64, step: [64]}}]}
  - loop: second
    trip: 8
    buffers: {s: {depth: 3}}
    ops:
      - {name: get, on: dma, time: 4, args: [{in: $2, at: {offset: 0, length: 64, step: [64]}}, {out: s}]}
      - {name: put, on: dpu, time: 2, args: [{in: s}, {out_existing: z, at: {offset: 0, length: 64, step: [64]}}]}
EOF
}

two 7 y >behind.yaml
run 0 "$FSCHED" compile behind.yaml -o behind.fsb --verify
expect "those of the first loop again" holds err '^  barriers: 7 of 7 used, 1 use'
run 0 "$FSCHED" verify behind.fsb --graph behind.yaml
run 0 "$FSCHED" dis behind.fsb --format json
expect "as many as are in use" holds out '"slots": 2, "used": 7}'
cp out behind.json
run 0 "$FSCHED" asm behind.json -o again.fsb
expect "the same again" cmp -s behind.fsb again.fsb
for on in cpu sim; do
  run 0 "$FSCHED" run behind.fsb --check --on $on --repeat 3
  expect "one after another on $on" holds out "checked: 2 ops and 1024 output bytes are equal"
done
two 6 y >few.yaml
run 3 "$FSCHED" compile few.yaml
expect "need and have of both" holds err 'the loops need 6 barriers, and other ops 1, 6 given \[too-few-barriers\]'
# With ops before the loop and behind it, what is said counts the barriers of all.
between() { # between COUNT
  cat <<EOF
fsched: 1
target:
  queues: [{name: dma, class: copy}, {name: dpu, class: compute}]
  memories: [{name: cmx}, {name: ddr}]
  sync: barrier
  barriers: {count: $1}
buffers:
  - {name: x, size: 4096, memory: ddr, io: input}
  - {name: y, size: 64, memory: ddr, io: output}
ops:
  - {name: zero, on: dpu, args: [{out: acc, size: 64}]}
  - loop: tiles
    trip: 8
    buffers: {tile: {depth: 3}}
    ops:
      - {name: load, on: dma, time: 4, args: [{in: x, at: {length: 64, step: 64}}, {out: tile, size: 64}]}
      - {name: add, on: dpu, time: 2, args: [{in: tile}, {in: acc, distance: 1}, {out: acc}]}
  - {name: store, on: dma, args: [{in: acc}, {out: y}]}
EOF
}
for n in 6 7; do
  between $n >few.yaml
  run 3 "$FSCHED" compile few.yaml
  expect "need and have of all, $n" holds err "no way was found with $n barriers, 6 of them for loops: op 'tiles' needs 1 barrier beside 1 that others hold"
  expect "enough for all, $n" holds err 'hint: 8 are enough in any case'
done
between 8 >enough.yaml
run 0 "$FSCHED" compile enough.yaml -q --verify -o enough.fsb
two 12 x >beside.yaml
run 0 "$FSCHED" compile beside.yaml -o beside.fsb --verify
expect "barriers of each" holds err '^  barriers: 12 of 12 used'
run 0 "$FSCHED" run beside.fsb --check
two 11 x >few.yaml
run 3 "$FSCHED" compile few.yaml
expect "too few for both" holds err 'the loops need 12 barriers, 11 given \[too-few-barriers\]'
run 0 "$FSCHED" dis beside.fsb --format json
sed 's/"physical": 6, "depth": 3/"physical": 1, "depth": 3/; s/"used": 12/"used": 9/' out >broken.json
broken "loops that may run at once" "physical barrier 1 of loop second is that of loop first, too, and nothing orders it after command 1 of d"
sed 's/"physical": 1, "depth": 3/"physical": 0, "depth": 3/' behind.json >broken.json
broken "a barrier of commands outside" "physical barrier 0 of loop [a-z]* is that of other commands, too"

# What waits for an op of four iterations ago runs ahead of it, as planned, by more than one iteration: the
# op is held back no more than by that of its own iteration.
cat >ahead.yaml <<'EOF'
fsched: 1
target: {queues: [{name: p}, {name: q}, {name: r}, {name: s}], sync: barrier, barriers: {count: 64}}
buffers: [{name: y, size: 8, io: output}, {name: z, size: 8, io: output}, {name: v, size: 8}, {name: w, size: 8}]
ops:
  - loop: lp
    trip: 8
    ops:
      - {name: first, on: p, time: 10, args: [{out: v}]}
      - {name: second, on: q, time: 10, args: [{in: v}, {out: w}]}
      - {name: third, on: r, time: 10, args: [{in: w}, {out_existing: y}]}
      - {name: free, on: s, after: [{op: third, distance: 4}], args: [{out_existing: z}]}
  - {name: last, on: p, args: [{inout: y}, {inout: z}]}
EOF
run 0 "$FSCHED" compile ahead.yaml -o ahead.fsb --verify
run 0 "$FSCHED" run ahead.fsb --check
run 0 "$FSCHED" dis ahead.fsb
expect "what the op comes behind" holds out 'barrier_wait 9\.\.12 by \[t\] mod 4'
