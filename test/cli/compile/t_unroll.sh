# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Loops are compiled as their unrolling.
cat >l.yaml <<'END'
fsched: 1
name: tiles
target:
  queues: [{name: dma, class: copy}, {name: dpu, class: compute}]
  memories:
    - {name: cmx, capacity: 4KiB, backing: ddr, spill: {on: copy, write: {fixed: 1}, read: {fixed: 1}}}
    - {name: ddr}
buffers:
  - {name: x, size: 4000, memory: ddr, io: input}
  - {name: y, size: 740, memory: ddr, io: output}
ops:
  - {name: zero, on: dpu, args: [{out: acc, size: 64}]}
  - loop: rows
    trip: 3
    ops:
      - loop: tiles
        trip: {param: n, max: 4}
        buffers: {tile: {depth: 2, prefetch: -1}}
        ops:
          - {name: load, on: dma, time: 4, args: [{in: x, at: {length: 1024, step: [1024, 300]}}, {out: tile, size: 1KiB}]}
          - {name: add, on: dpu, time: 2, args: [{in: tile}, {in: acc, distance: 2}, {out: acc}]}
          - name: put
            on: dpu
            args: [{in: acc, distance: 1}, {in: acc, distance: 3}, {out_existing: y, at: {length: 64, step: [256, 64]}}]
            after: [{op: load, distance: 1}, zero]
  - {name: store, on: dma, args: [{in: acc}, {out_existing: y}], after: [rows, put]}
END
run 0 "$FSCHED" compile l.yaml --set-param n=4 -o nest.fsb
expect "loops in loops stay loops" holds err "loop tiles: 4 iterations"
run 2 "$FSCHED" compile l.yaml --unroll
expect "the parameter is missing" holds err "and 'n' has no value"
run 2 "$FSCHED" compile l.yaml --unroll --set-param n=5
expect "its limits" holds err "'n' is 5, and loop 'tiles' takes 0 to 4"
run 2 "$FSCHED" compile l.yaml --unroll --set-param n=2 --set-param m=1
expect "one that no loop has" holds err "no loop takes its trips from 'm'"
for wrong in n n= =1 "$(printf '\377=1')" n=-1 n=x n=1.5 n=1099511627777 n=99999999999999999999; do
  run 2 "$FSCHED" compile l.yaml --unroll --set-param "$wrong"
done
run 2 "$FSCHED" compile "$TOP/examples/figure-10.yaml" --set-param n=1 -o x.fsb
for n in 0 1 2 4; do
  for memory in 4KiB 1300; do
    run 0 "$FSCHED" compile l.yaml -q --unroll --set-param n=$n --memory cmx=$memory --verify -o l.fsb \
      --emit schedule=l.json
    run 0 "$FSCHED" run l.fsb -q --check
    run 0 "$FSCHED" run l.fsb -q --check --on sim
    run 0 "$FSCHED" verify l.fsb -g l.yaml --unroll --set-param n=$n --memory cmx=$memory
    run 0 "$FSCHED" verify l.json -g l.yaml --unroll --set-param n=$n --memory cmx=$memory
    [ $n -eq 4 ] || run 1 "$FSCHED" verify l.json -g l.yaml --unroll --set-param n=4 --memory cmx=$memory
  done
done
run 2 "$FSCHED" verify l.fsb --unroll
expect "a stream has no loops" holds err -- '--unroll needs --graph'
for sync in barrier block; do
  run 0 "$FSCHED" compile l.yaml -q --unroll --set-param n=3 --set sync=$sync --set barriers.count=auto --verify \
    -o s.fsb
  run 0 "$FSCHED" run s.fsb -q --check
done
run 0 "$FSCHED" compile l.yaml -q --unroll --set-param n=2 -o l.fsb --emit table=table
golden table unroll.txt
run 0 "$FSCHED" dot l.yaml --unroll --set-param n=1 -o l.dot
expect "instances have names" holds l.dot 'add\[2\]\[0\]'
run 0 "$FSCHED" explain l.fsb -g l.yaml --unroll --set-param n=2 'put[1][1]'
expect "and can be asked for" holds out 'put\[1\]\[1\]'

# The manual's example, and what it says the names are.
cat >m.yaml <<'END'
fsched: 1
target: {queues: [{name: dma}, {name: q, class: compute}]}
buffers: [{name: x, size: 4KiB, io: input}, {name: y, size: 8, io: output}]
ops:
  - {name: zero, args: [{out: sum, size: 8}]}
loops:
  - loop: tiles
    trip: 4
    buffers: {tile: {depth: 2}}
    ops:
      - {name: load, on: dma, args: [{in: x, at: {length: 1KiB, step: 1KiB}}, {out: tile, size: 1KiB}]}
      - {name: add, args: [{in: tile}, {in: sum, distance: 1}, {out: sum}]}
  - {name: put, args: [{in: sum}, {out: y}]}
END
run 0 "$FSCHED" compile m.yaml -q --unroll -o m.fsb --emit table=-
expect "ten ops" [ "$(grep -c ' op ' out)" -eq 10 ]
expect "add[3]" holds out '^add\[3\]'
run 0 "$FSCHED" run -q --check m.fsb

# How often iterations can begin is in the summary, the statistics and a dump.
run 0 "$FSCHED" compile m.yaml --unroll -o m.fsb --emit stats=st
expect "summary" holds err '^  loop tiles: 4 iterations in 5; one every 1 at best (queue dma)$'
expect "statistics" holds st '"loops": \[{"name": "tiles", "trip": 4, "runs": 1, "span": 5, "ii": \[1, 1\],'
expect "slots" holds st '{"name": "tile", "depth": 2, "prefetch": 1, "slots": 2, "given": true, "bytes": 1024}'
run 0 "$FSCHED" compile m.yaml --unroll -o m.fsb --diagnostics json
expect "summary in JSON" holds err '"loops": \[{"name": "tiles".*"proven": true.*"limited_by": "queue", "limit": "dma"'
run 0 "$FSCHED" compile m.yaml -q --unroll -o m.fsb --dump-after loops
expect "dump" holds err '^  loop tiles: 4 iterations; one every 1 at best (queue dma)$'
run 2 "$FSCHED" compile "$TOP/examples/figure-10.yaml" -o m.fsb --dump-after loops
expect "no loops" holds err "the pass 'loops' does not run for this target"

# Bodies of many ops take little stack, and little time where amounts leave much to be tried.
large() {
  echo 'fsched: 1'
  echo 'target: {queues: [{name: dma}, {name: dpu}], resources: [{name: lanes, capacity: 16}]}'
  echo 'loops:'
  echo '  - {loop: all, trip: 2, ops: ['
  awk -v n="$1" -v amounts="$2" 'BEGIN {
    for (i = 0; i < n; i++) {
      printf "    {name: o%d, on: %s, time: %d%s},\n", i, i % 2 ? "dma" : "dpu", 1 + i % 5,
        amounts ? sprintf(", uses: {lanes: %d}", i % 3 ? 15 : 1) : ""
    }
  }'
  echo '  ]}'
}
large 500 0 >large.yaml
large 400 1 >amounts.yaml
for graph in large amounts; do
  run 0 sh -c 'ulimit -s 256 && exec "$@"' sh "$FSCHED" compile $graph.yaml -q --unroll --effort 5 \
    -o large.fsb --emit stats=st
  expect "and its interval is told" holds st '"loops": \[{"name": "all", "trip": 2'
done
