# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Loops stay loops: compiled, proven, run, taken apart and put together.
loop() { # loop TRIPS STEP
  cat <<EOF
fsched: 1
name: tiles
target:
  queues: [{name: dma, class: copy}, {name: dpu, class: compute}]
  memories: [{name: cmx, capacity: 4KiB}, {name: ddr}]
buffers:
  - {name: x, size: 16KiB, memory: ddr, io: input}
  - {name: y, size: 64, memory: ddr, io: output}
ops:
  - {name: zero, on: dpu, args: [{out: acc, size: 64}]}
  - loop: tiles
    trip: $1
    buffers: {tile: {depth: 3}}
    ops:
      - {name: load, on: dma, time: 4, args: [{in: x, at: {length: 1024, step: $2}}, {out: tile, size: 1KiB}]}
      - {name: add, on: dpu, time: 2, args: [{in: tile}, {in: acc, distance: 1}, {out: acc}]}
  - {name: store, on: dma, args: [{in: acc}, {out: y}], after: [tiles]}
EOF
}
loop 8 1024 >l.yaml
run 0 "$FSCHED" compile l.yaml --verify -o l.fsb --emit schedule=l.json --emit stats=st --emit table=table
expect "summary" holds err '^  loop tiles: 8 iterations in 34; one every 4 at best (queue dma)$'
expect "three ops" holds err '^tiles: 3 ops, '
expect "statistics" holds st '"loops": \[{"name": "tiles", "trip": 8, "runs": 1, "span": 34, "ii": \[4, 1\]'
run 0 "$FSCHED" verify l.fsb -g l.yaml
run 0 "$FSCHED" verify l.json -g l.yaml
loop 9 1024 >other.yaml
run 4 "$FSCHED" verify l.fsb -g other.yaml
run 0 "$FSCHED" run l.fsb -q --check --output y=loop.y
run 0 "$FSCHED" run l.fsb -q --check --threads 1 --invocations 3 --in-flight 2 --output y=loop.y
run 0 "$FSCHED" run l.fsb -q --check --on sim --durations adversarial --seed 7 --output y=sim.y
run 0 "$FSCHED" compile l.yaml -q --unroll -o flat.fsb
run 0 "$FSCHED" run flat.fsb -q --check --output y=flat.y
expect "the same bytes" cmp loop.y flat.y
expect "the same bytes, simulated" cmp sim.y flat.y
run 0 "$FSCHED" dis l.fsb
expect "loads wait for uses" holds out '^ *load\[t\]  *add\[t-3\]'
expect "uses wait for loads" holds out '^ *add\[t\]  *load\[t\]'
expect "slots" holds out 'ring tile: 1024 bytes in slots of 1024, depth 3, from load'
expect "entry" holds out 'ring acc: .* with a value on entry'
run 0 "$FSCHED" dis l.fsb --format json -o j.json
run 0 "$FSCHED" asm j.json -o again.fsb
expect "taken apart and put together" cmp l.fsb again.fsb
run 0 "$FSCHED" explain l.fsb -g l.yaml tiles
run 0 "$FSCHED" dot l.yaml -o l.dot
expect "one node" holds l.dot 'label="tiles'

# The size of the program does not depend on the number of iterations.
loop 1000000 0 >long.yaml
run 0 "$FSCHED" compile long.yaml -q --verify -o long.fsb
expect "as large" [ "$(wc -c <long.fsb)" -eq "$(wc -c <l.fsb)" ]
run 0 "$FSCHED" verify long.fsb -g long.yaml

# Parameters get their values when the graph is read.
loop '{param: n, min: 0, max: 9}' 1024 >param.yaml
run 2 "$FSCHED" compile param.yaml
expect "no value" holds err "loop 'tiles' is compiled for a number of trips, and 'n' has no value"
run 2 "$FSCHED" compile param.yaml --set-param n=10
for n in 0 1 2 3 9; do
  run 0 "$FSCHED" compile param.yaml -q --set-param n=$n --verify -o p.fsb
  run 0 "$FSCHED" run p.fsb -q --check --output y=loop.y
  run 0 "$FSCHED" compile param.yaml -q --set-param n=$n --unroll -o u.fsb
  run 0 "$FSCHED" run u.fsb -q --check --output y=flat.y
  expect "$n iterations" cmp loop.y flat.y
done

# What does not fit, and what cannot stay a loop.
run 3 "$FSCHED" compile l.yaml --memory cmx=2500
expect "need and have" holds err "loop 'tiles' does not fit memory 'cmx': needed 3136 .*, available 2500"
expect "a depth that fits" holds err "a depth of 2 of 'tile' would fit"
for set in sync=barrier sync=block concurrency=1; do
  run 1 "$FSCHED" compile l.yaml --set $set --set barriers.count=4
  expect "$set" holds err "loop 'tiles' cannot stay a loop in this version: .* \[unsupported\]"
done
