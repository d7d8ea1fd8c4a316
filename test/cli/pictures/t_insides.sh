# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# What is in a loop is shown by pictures, traces, schedules and explanations.

# A load of 2 ticks and a use of 3, with two slots between them: use i runs from 2 + 3 i on, and load
# i, from the second on, begins with use i - 1.
loop() {
  cat <<EOF
fsched: 1
target:
  queues: [{name: a, class: a}, {name: b, class: b}]
  memories: [{name: m, capacity: 64}]
ops:
  - loop: l
    trip: $1
    buffers: {r: {depth: 2}}
    ops:
      - {name: load, on: a, time: 2, args: [{out: r, size: 8}]}
      - {name: use, on: b, time: 3, args: [{in: r}]}
EOF
}
# The instances in a picture, as "name begin end".
shown() {
  sed -n 's|.*<title>\([a-z]*\[[0-9]*\]\): \([0-9]*\)–\([0-9]*\)</title>.*|\1 \2 \3|p' "$1" |
    tr '[]' '  '
}
right_times() {
  awk '
    $1 == "load" { begin = $2 == 0 ? 0 : 2 + 3 * ($2 - 1); end = begin + 2 }
    $1 == "use" { begin = 2 + 3 * $2; end = begin + 3 }
    $3 != begin || $4 != end { wrong++ }
    END { exit wrong > 0 || NR == 0 }'
}
for trip in 1 4 7 1000 1000000; do
  loop "$trip" >l.yaml
  run 0 "$FSCHED" compile l.yaml -q -o l.fsb --emit svg=l.svg --emit trace=l.trace
  expect "the picture of $trip iterations has their times" eval 'shown l.svg | right_times'
  expect "it has the last one" [ -n "$(shown l.svg | grep "^use $((trip - 1)) ")" ]
  shown l.svg | sort >svg.txt
  sed -n 's|.*"name":"\([a-z]*\)\[\([0-9]*\)\]".*"planned_start":\([0-9]*\),"planned_end":\([0-9]*\).*|\1 \2  \3 \4|p' \
    l.trace | sort >trace.txt
  expect "the trace has the same" [ "$(tr -s ' ' <svg.txt)" = "$(tr -s ' ' <trace.txt)" ]
done
expect "most are counted" [ "$(wc -l <svg.txt)" -lt 40 ]
expect "in words" holds l.svg '[0-9]* instances'
expect "in a panel of its own" holds l.svg 'loop, 1000000 iterations: the first and the last ones'
if command -v xmllint >/dev/null; then
  run 0 xmllint --noout --nonet l.svg
fi

# Schedules have the body, with distances, and slots; they are read again.
run 0 "$FSCHED" compile l.yaml -q -o l.fsb --emit schedule=l.json --emit dot=l.dot
expect "commands of a step" holds l.json \
  '"commands": \[{"op": 0, "queue": "a", "copy": 0, "shift": 0}, {"op": 1, "queue": "b", "copy": 0, "shift": 0}\]'
expect "edges with distances" holds l.json \
  '"edges": \[{"from": 1, "to": 0, "distance": 2}, {"from": 0, "to": 1, "distance": 0}\]'
expect "slots" holds l.json '"size": 16, "slots": 2,'
expect "the period" holds l.json '"ii": \[3, 1\], "period": \[3, 1\]'
expect "slots of the statistics" holds l.json '"depth": 2, "prefetch": [0-9]*, "slots": 2'
run 0 "$FSCHED" verify l.json --graph l.yaml
sed 's/"slots": 2, "begin"/"slots": 3, "begin"/' l.json >wrong.json
run 1 "$FSCHED" verify wrong.json --graph l.yaml
expect "other slots are refused" holds err 'it has 2 slots'

# DOT has a cluster for each loop, in every kind of picture.
run 0 "$FSCHED" dot l.yaml -o graph.dot
run 0 "$FSCHED" dot l.fsb -o program.dot
for f in l graph program; do
  expect "$f.dot has the loop" holds $f.dot 'loop l, step t: 1000000 iterations'
  expect "$f.dot has distances" holds $f.dot 'label="2 before"'
  if command -v dot >/dev/null; then
    run 0 dot -Tsvg $f.dot -o drawn.svg
    expect "$f.dot is drawn" holds drawn.svg 'use\[t\]'
  fi
done

# Explanations: of an iteration, of all, in loops in loops.
run 0 "$FSCHED" explain l.fsb 'load[5]' 'load[1]' use
golden out explain-loop.txt
run 0 "$FSCHED" explain l.fsb 'load[5]' --format json
expect "JSON" holds out '{"op": "use", "distance": 2, "exists": true, "why": "slot", "buffer": "r", "depth": 2}'
run 0 "$FSCHED" compile "$TOP/examples/gemm-tiles/graph.yaml" -q -o g.fsb
run 0 "$FSCHED" explain g.fsb 'load_a[1][3]'
expect "whole iterations" holds out 'multiply\[1\]\[1\]: reuse of a slot, of 2 of a'
run 2 "$FSCHED" explain g.fsb 'load_a[3][0]'
expect "what does not run" holds err 'as OP\[I\]\[J\]'

# Where a parameter gives the trips of runs that are joined, it tells what an iteration waits for.
cat >open.yaml <<'END'
fsched: 1
target: {queues: [{name: dma}, {name: mma}]}
buffers: [{name: x, size: 4096, io: input}, {name: y, size: 4096, io: output}]
ops:
  - {name: init, on: mma, args: [{out: y}]}
  - loop: outer
    trip: 3
    ops:
    - loop: inner
      trip: {param: n, min: 1, max: 4}
      buffers: {tile: {depth: 3}}
      ops:
      - {name: load, on: dma, time: 4, args: [{in: x, at: {length: 64, step: [256, 64]}}, {out: tile, size: 64}]}
      - {name: use, on: mma, time: 4, args: [{in: tile}, {inout: y, at: {length: 64}}]}
END
run 0 "$FSCHED" compile open.yaml -q -o open.fsb
run 0 "$FSCHED" explain open.fsb 'load[1][0]' 'load[0][2]' 'load[2][3]'
expect "a range" holds out '^load\[1\]\[0\]: in loop inner of n (1 to 4) iterations, whose runs are joined$'
expect "of earlier runs" holds out \
  'use, 3 iterations before in all runs (use\[0\]\[1\] if n is 4, none below 3): reuse of a slot'
expect "of no run" holds out 'use from iteration 3 on, not yet: reuse'
expect "of this run" holds out ' use\[2\]\[0\]: reuse'
run 0 "$FSCHED" explain open.fsb 'load[1][0]' 'load[1][2]' 'load[0][2]' 'load[2][3]' --format json
expect "JSON of it" holds out '"trip": {"param": "n", "min": 1, "max": 4}, "joined": true, "iteration": \[1, 0\]'
expect "what trips tell" holds out '"iteration": \[1, 0\].*"distance": 3, "exists_from": 3,'
expect "one run before" holds out '"iteration": \[1, 2\].*"distance": 3, "exists": true,'
expect "none" holds out '"iteration": \[0, 2\].*"distance": 3, "exists": false,'
expect "its own run" holds out '"iteration": \[2, 3\].*"distance": 3, "exists": true,'
sed 's/{param: n, min: 1, max: 4}/4/' open.yaml >closed.yaml
run 0 "$FSCHED" compile closed.yaml -q -o closed.fsb
run 0 "$FSCHED" explain closed.fsb 'load[1][0]'
expect "trips that are known" holds out 'in loop inner of 4 iterations, whose runs are joined'
expect "the iteration" holds out '^ *use\[0\]\[1\]: reuse'
run 2 "$FSCHED" explain g.fsb 'load_a[1]'
:
