# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Loops that stay loops on targets of block syncs: compiled, taken apart and put together, proven, replayed.
body() { # body COUNTING DEPTH
  cat <<EOF
fsched: 1
name: tiles
target:
  queues: [{name: dma, class: copy, counting: $1}, {name: dpu, class: compute, counting: $1}]
  memories: [{name: ddr}, {name: cmx, capacity: 16KiB}]
  sync: block
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

# One slot takes two syncs a step, two slots one.
for depth in 1 2; do
  body false "$depth" >b.yaml
  run 0 "$FSCHED" compile b.yaml -o b.fsb --verify
  run 0 "$FSCHED" dis b.fsb --format json
  cp out "b$depth.json"
  expect "syncs with depth $depth" [ "$(sed -n '/"loops"/,$p' out | grep -c '"kind": "full"')" -eq $((3 - depth)) ]
  run 0 "$FSCHED" asm "b$depth.json" -o again.fsb
  expect "the same again" cmp -s b.fsb again.fsb
  for on in cpu sim; do
    run 0 "$FSCHED" run b.fsb --check --on $on
    expect "replayed on $on" holds out "checked: 2 ops and 64 output bytes are equal"
  done
done
body false 1 >b.yaml
run 0 "$FSCHED" compile b.yaml -o b.fsb
expect "its time with one slot" holds err '^  loop lp: 8 iterations in 48; one every 6 at best'
body false 2 >b.yaml
run 0 "$FSCHED" compile b.yaml -o b.fsb
expect "its time with two" holds err '^  loop lp: 8 iterations in 34; one every 4 at best'
expect "syncs executed" holds err '^  syncs: 1 full, 0 counting, in loops 8 full, 0 counting; 44 with 1 for each full sync$'
run 0 "$FSCHED" compile b.yaml -q -o b.fsb --emit stats=stats --force
expect "syncs of a step" holds stats '"syncs": {"full": 1, "counting": 0, "steps": 8}}'
expect "syncs of all steps" holds stats '"executed": {"full": 9, "counting": 0}}'

# A million iterations take as much room, and as long for each.
sed 's/trip: 8/trip: 1000000/; s/step: \[64\]/step: [0]/' b.yaml >long.yaml
sed 's/step: \[64\]/step: [0]/' b.yaml >short.yaml
run 0 "$FSCHED" compile short.yaml -q -o short.fsb
run 0 "$FSCHED" compile long.yaml -o long.fsb --verify
expect "as large" [ "$(wc -c <long.fsb)" -eq "$(wc -c <short.fsb)" ]
expect "its time" holds err '^  loop lp: 1000000 iterations in 4000002; one every 4 at best'
expect "its syncs" holds err ', in loops 1000000 full, 0 counting; 5000004 with'

# Queues that can be counted: loads run ahead, and some uses may still go on.
body true 4 >c.yaml
run 0 "$FSCHED" compile c.yaml -o c.fsb --verify
run 0 "$FSCHED" dis c.fsb
expect "what a sync keeps" holds out 'sync dpu but the last [12]$'
run 0 "$FSCHED" run c.fsb --check
run 0 "$FSCHED" dis c.fsb --format json
sed 's/"queue": "dpu", "keep": [12]}/"queue": "dpu", "keep": 9}/' out >much.json
run 0 "$FSCHED" asm much.json -o much.fsb
run 4 "$FSCHED" verify much.fsb
expect "a sync that keeps too much" holds err "loop lp: no sync keeps the wait of op load for op use, 4 iterations back"

# A prefetch that is given stays one, where loads and uses share a queue.
body false 4 | sed 's/depth: 4}/depth: 4, prefetch: 2}/; s/on: dma, time/on: dpu, time/' >ahead.yaml
cat >>ahead.yaml <<'EOF'
      - {name: put, on: dma, args: [{in: t}, {out_existing: z, at: {length: 64, step: [64]}}]}
EOF
sed -i 's/^ops:/  - {name: z, size: 4000, memory: ddr, io: output}\nops:/' ahead.yaml
run 0 "$FSCHED" compile ahead.yaml -q -o ahead.fsb --verify
run 0 "$FSCHED" dis ahead.fsb
expect "loads so far ahead" [ "$(sed -n 's/.*  load\[t\(-*[0-9]*\)\] .*/\1/p' out)" = "" ]
expect "of their uses" holds out ' use\[t-2\] '
run 0 "$FSCHED" run ahead.fsb --check

# Without a sync.
sed 's/^    {"at": [0-9]*, "kind": "full"}\]}$/   ]}/' b2.json >none.json
run 0 "$FSCHED" asm none.json -o none.fsb
run 4 "$FSCHED" verify none.fsb
expect "no sync" holds err "loop lp: no sync keeps the wait of op use for op load, 0 iterations back"

# More slots, with which the loop needs fewer syncs, would take the place of what runs beside it.
cat >beside.yaml <<'EOF'
fsched: 1
target:
  sync: block
  queues: [{name: dma, class: copy}, {name: dpu, class: compute}, {name: e, class: extra}]
  memories: [{name: cmx, capacity: 1000}, {name: ddr}]
buffers:
  - {name: x, size: 64KiB, memory: ddr, io: input}
  - {name: y, size: 4096, memory: ddr, io: output}
  - {name: z, size: 8, memory: ddr, io: output}
ops:
  - loop: l
    trip: 16
    ops:
      - {name: load, on: dma, time: 4, args: [{in: x, at: {length: 64, step: 64}}, {out: t, size: 100, memory: cmx}]}
      - {name: use, on: dpu, time: 4, args: [{in: t}, {out_existing: y, at: {length: 64, step: 64}}]}
  - {name: big, on: e, time: 60, args: [{in: x}, {out: w, size: 700, memory: cmx}]}
  - {name: little, on: e, time: 1, args: [{in: w}, {out: z}]}
EOF
run 0 "$FSCHED" compile beside.yaml --verify -o beside.fsb
expect "side by side" holds err 'makespan 68, lower bound 68 (optimal)'
expect "with a sync in each step" holds err 'in loops 16 full, 0 counting; 84 with 1 for each full sync$'
run 0 "$FSCHED" run beside.fsb -q --check
run 0 "$FSCHED" run beside.fsb -q --check --on sim --durations adversarial
run 0 "$FSCHED" compile beside.yaml --memory cmx=2000 --verify -o beside.fsb --force
expect "with room for both, as few syncs as there can be" holds err 'in loops 9 full, 0 counting; 81 with 1 for each full sync$'
