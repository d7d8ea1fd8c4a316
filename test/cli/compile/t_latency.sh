# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Ops that are complete later than their queues go on, from the graph file to replays.

cat >slow.yaml <<'EOF'
fsched: 1
name: slow
target:
  queues: [{name: dma, class: copy}, {name: dpu}]
  memories: [{name: sram, capacity: 64}]
buffers: [{name: r, io: output}]
ops:
  - {name: load, on: copy, time: 1, latency: 9, args: [{out: a, size: 4}]}
  - {name: quick, on: copy, time: 2, args: [{out: c, size: 4}]}
  - {name: read, on: copy, args: [{in: a}, {out: b, size: 4}]}
  - {name: use, time: 3, args: [{in: c}, {out: d, size: 4}]}
  - {name: last, time: 3, args: [{in: b}, {in: d}, {out: r, size: 4}]}
EOF

run 0 "$FSCHED" compile -q slow.yaml --verify -o slow.fsb --emit schedule=slow.json --emit table=table.txt \
  --emit dot=slow.dot --emit svg=slow.svg --emit trace=slow.trace --emit c=slow.c
golden slow.json latency.json
golden table.txt latency-table.txt
expect 'the trace shows when the queue goes on' holds slow.trace '"planned_free":1'
expect 'the picture shows when the queue goes on' holds slow.svg 'load.*free at 1'
run 0 "$FSCHED" verify slow.json --graph slow.yaml
run 0 "$FSCHED" verify slow.fsb --graph slow.yaml
run 0 "$FSCHED" dis slow.fsb
golden out latency-dis.txt
run 0 "$FSCHED" explain slow.fsb
golden out latency-explain.txt
run 0 "$FSCHED" explain slow.fsb load
expect 'the queue is free before the end' holds out 'planned from 0 to 9, queue free at 1'
run 0 "$FSCHED" dis --format json slow.fsb
cp out slow.text
run 0 "$FSCHED" asm slow.text -o again.fsb
expect 'the text makes the same stream' same slow.fsb again.fsb

# Every replay computes the same, whatever the durations.
for seed in 1 2 3 4 5 6 7 8; do
  run 0 "$FSCHED" run --check --on sim --durations adversarial --seed "$seed" slow.fsb
done
run 0 "$FSCHED" run --check --on sim slow.fsb
expect 'the simulation takes the planned time' holds out 'in 15 ticks simulated'
run 0 "$FSCHED" run --check --on cpu slow.fsb

# A reader that does not wait for its own axis is refuted.
sed 's/"epoch": 3, "start": 9, "end": 10, "waits": \[[^]]*\]/"epoch": 3, "start": 9, "end": 10, "waits": []/' \
  slow.text >broken.text
run 0 "$FSCHED" asm broken.text -o broken.fsb
run 4 "$FSCHED" verify broken.fsb
expect 'the order is missing' holds err 'op read depends on op load and is not ordered after command 1 of dma'

# What the text says of the queue is checked.
sed 's/"free": 1/"free": 2/' slow.text >wrong.text
run 1 "$FSCHED" asm wrong.text -o wrong.fsb
expect 'free is the time after the start' holds err 'free after the time of the op, 1 ticks'
sed 's/"free": 1/"free": 2/' slow.json >wrong.json
run 1 "$FSCHED" verify wrong.json --graph slow.yaml
expect 'free follows from the graph' holds err 'its queues are free at 1'
sed 's/"start": 9, "end": 12/"start": 3, "end": 6/' slow.json >early.json
run 4 "$FSCHED" verify early.json --graph slow.yaml
expect 'an epoch is held back' holds err 'op use at 3 starts before 9, when the epoch of op quick'

# Another latency is another graph.
sed 's/latency: 9/latency: 8/' slow.yaml >other.yaml
run 4 "$FSCHED" verify slow.fsb --graph other.yaml
expect 'the latency differs' holds err "latency of op"
run 4 "$FSCHED" verify slow.json --graph other.yaml

# Measured times are those until the op is complete.
run 0 "$FSCHED" run --on sim --tick 1us --save-profile profile.json slow.fsb
sed 's/latency: 9/latency: 90/' slow.yaml >longer.yaml
run 0 "$FSCHED" compile -q --tick 1us --profile profile.json longer.yaml --emit schedule=measured.json -o measured.fsb
expect 'the profile gives the latency' holds measured.json '"name": "load", .*"start": 0, "end": 9, "free": 1'

# What does not know latencies refuses them.
run 2 "$FSCHED" compile slow.yaml --refine ilp -o none.fsb
expect 'models refuse' holds err "no model knows the latency of op 'load'"
run 2 "$FSCHED" compile slow.yaml --emit lp=none.lp -o none.fsb
expect 'nothing is written' [ ! -e none.fsb ]

# With barriers, and with syncs, too: the reader on the load's queue waits for it.
check_sync() {
  run 0 "$FSCHED" verify sync.fsb --graph "$1"
  run 0 "$FSCHED" dis sync.fsb
  golden out "latency-$2.txt"
  run 0 "$FSCHED" explain sync.fsb read
  expect "$2: why the reader waits" holds out 'dma:1  run load  data of a'
  run 0 "$FSCHED" dis --format json sync.fsb
  cp out sync.text
  run 0 "$FSCHED" asm sync.text -o again.fsb
  expect "$2: the text makes the same stream" same sync.fsb again.fsb
  for seed in 1 2 3 4 5 6 7 8; do
    run 0 "$FSCHED" run --check --on sim --durations adversarial --seed "$seed" sync.fsb
  done
  run 0 "$FSCHED" run --check --on cpu sync.fsb
}
run 0 "$FSCHED" compile -q slow.yaml --verify --barriers 4 -o sync.fsb --emit schedule=sync.json
run 0 "$FSCHED" verify sync.json --graph slow.yaml
check_sync slow.yaml barriers
run 0 "$FSCHED" compile -q slow.yaml --verify --set sync=block -o sync.fsb
sed 's/^target:/target:\n  sync: block/' slow.yaml >blocked.yaml
check_sync blocked.yaml syncs

# Loads in a ring of D slots hide their latency: with N = 8 loads of time 1 and latency 9 and uses of
# 2, the makespan is max(L + C + (N-1)*max(b, C), (q+1)*(L + C) + r*max(b, C)) where q = (N-1) div D
# and r = (N-1) mod D.
for pair in 3:35 4:28 6:25; do
  cat >ring.yaml <<EOF
fsched: 1
target:
  queues: [{name: dma, class: copy}, {name: dpu}]
  memories: [{name: sram, capacity: ${pair%:*}}]
ops:
  - loop: ring
    trip: 8
    ops:
      - {name: load, on: copy, time: 1, latency: 9, args: [{out: a, size: 1}]}
      - {name: use, time: 2, args: [{in: a}]}
EOF
  run 0 "$FSCHED" compile --unroll ring.yaml --verify -o ring.fsb
  expect "with ${pair%:*} slots the makespan is ${pair#*:}" holds err "makespan ${pair#*:},"
  run 0 "$FSCHED" run --check --on sim --durations adversarial ring.fsb
done

# In loops that stay loops a reader on the queue of a slow load waits for that, too, with each kind of
# sync; without that wait the verifier refuses, and the replay goes wrong.
cat >tiles.yaml <<'EOT'
fsched: 1
target:
  queues: [{name: dma, class: copy}, {name: dpu}]
  memories: [{name: sram, capacity: 8192}]
buffers:
  - {name: acc, size: 64, memory: sram, io: output}
  - {name: in, size: 4096, io: input}
ops:
  - {name: init, args: [{out: acc}]}
  - loop: tiles
    trip: 20
    buffers: {x: {depth: 4}}
    ops:
      - {name: load, on: copy, time: 1, latency: 9,
         args: [{in: in, at: {length: 64, step: 64}}, {out: x, size: 64, memory: sram}]}
      - {name: peek, on: copy, args: [{in: x}, {out: y, size: 16, memory: sram}]}
      - {name: use, time: 2, args: [{in: x}, {in: y}, {inout: acc}]}
EOT
for sync in timeline barrier block; do
  case $sync in
    timeline) kind='sync: timeline' ;;
    barrier) kind='sync: barrier\n  barriers: {count: 32}' ;;
    block) kind='sync: block' ;;
  esac
  sed "s/^target:/target:\n  $kind/" tiles.yaml >sync.yaml
  run 0 "$FSCHED" compile -q sync.yaml --verify -o sync.fsb
  run 0 "$FSCHED" verify sync.fsb --graph sync.yaml
  for seed in 1 2 3 4; do
    run 0 "$FSCHED" run --check --on sim --durations adversarial --seed "$seed" sync.fsb
  done
  run 0 "$FSCHED" run --check --on cpu sync.fsb
  run 0 "$FSCHED" dis --format json sync.fsb
  cp out sync.text
  sed '/"op": "load", "copy"/s/"signal": true/"signal": false/
    /"op": "peek", "copy"/{s/{"op": "load", "distance": 0}\(, \)\{0,1\}//;s/{"guard": 0, "distance": 0}\(, \)\{0,1\}//;}' \
    sync.text >broken.text
  run 0 "$FSCHED" asm broken.text -o broken.fsb
  run 4 "$FSCHED" verify broken.fsb --graph sync.yaml
  expect "$sync: the reader's order, or that of the loads, is missing" holds err 'load\[i\]'
done

# The syncs of a loop are what keeps its waits.
sed 's/^    {"at": [0-9]*, "kind": "full"}\]}/    ]}/' sync.text >broken.text
run 0 "$FSCHED" asm broken.text -o broken.fsb
run 4 "$FSCHED" verify broken.fsb
expect 'no sync tells that the load is over' holds err 'no sync'

# A gang of one queue is in order of that queue, as any op is: a slow op ahead of a quick one holds back
# nothing that comes behind it there.
cat >one.yaml <<'END'
fsched: 1
target:
  sync: block
  queues: [{name: q0, class: c0}, {name: q1, class: c1}, {name: q2, class: c0}]
  memories: [{name: ddr}, {name: cmx, capacity: 64KiB}]
buffers:
  - {name: y, size: 4000, memory: ddr, io: output}
  - {name: z, size: 64, memory: ddr, io: output}
  - {name: r0, size: 64, memory: cmx}
  - {name: r1, size: 100, memory: cmx}
  - {name: r3, size: 8, memory: cmx}
ops:
  - {name: pre0, on: {class: c0, count: 1}, args: [{out: r0}]}
  - {name: pre1, on: [q1, q2], args: [{out: r1}]}
  - {name: pre3, on: q0, args: [{out: r3}]}
  - loop: l0
    trip: 2
    ops:
    - {name: o0, on: c0, time: 2, latency: 2, args: [{inout: r1}, {out_existing: y}]}
    - {name: o1, on: q1, time: 5, latency: 5, after: [o0], args: [{in: r0}, {out_existing: z, at: {offset: 8, length: 8}}]}
    - loop: l1
      trip: 2
      ops:
      - loop: l2
        trip: 5
        ops:
        - {name: o2, on: {class: c1, count: 1}, time: 3, after: [o1], args: [{in: r3}, {out_existing: z, at: {offset: 16, length: 8}}]}
    - {name: o8, on: q1, time: 3, latency: 10, scratch: {cmx: 8}, args: [{out: r3}, {inout: y, at: {offset: 600, length: 184, step: [48]}}]}
END
run 0 "$FSCHED" compile one.yaml --unroll --effort 0 --verify -q -o one.fsb
for seed in 1 2 3; do
  run 0 "$FSCHED" run one.fsb -q --on sim --durations adversarial --seed $seed --check
done
