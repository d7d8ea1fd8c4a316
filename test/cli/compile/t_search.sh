# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# --refine search: its summary and JSON, limits, interrupts, the same bytes each time, and that what
# it calls optimal is what a solver calls so.
cat > g.yaml <<'END'
fsched: 1
name: g
target:
  resources: [{name: r, capacity: 5}]
ops:
  - {name: a, time: 4, uses: {r: 2}}
  - {name: b, time: 3, uses: {r: 3}}
  - {name: c, time: 2, uses: {r: 3}, after: [a]}
  - {name: d, time: 6, uses: {r: 2}}
  - {name: e, time: 5, uses: {r: 2}, after: [b]}
  - {name: f, time: 1, uses: {r: 5}}
  - {name: h, time: 4, uses: {r: 4}, after: [f]}
END
value() { sed -n "s/.*\"$1\": \"*\([a-z0-9]*\)\"*,*.*/\1/p" "$2" | head -n 1; }

run 0 "$FSCHED" compile g.yaml --refine search --verify -o one.fsb --emit schedule=one.json
expect 'it is proven' holds err '(optimal)'
run 0 "$FSCHED" compile g.yaml --refine search -o two.fsb
expect 'the same each time' same one.fsb two.fsb
run 0 "$FSCHED" compile g.yaml --refine auto -o auto.fsb
expect 'auto is the search' same one.fsb auto.fsb
run 0 "$FSCHED" compile g.yaml --refine auto --proof auto.proof -o auto.fsb --emit schedule=auto.json
run 0 "$FSCHED" verify auto.json -g g.yaml --proof auto.proof
run 0 "$FSCHED" verify one.fsb -g g.yaml
run 0 "$FSCHED" verify one.json -g g.yaml
if [ -x "$BUILD/fsched-glpk" ]; then
  run 0 "$FSCHED" compile g.yaml --refine ilp -o ilp.fsb --emit schedule=ilp.json
  expect 'a solver finds the same' [ "$(value makespan one.json)" = "$(value makespan ilp.json)" ]
fi

# ---- threads
run 0 "$FSCHED" compile g.yaml --refine search -j 1 -o first.fsb
expect 'one is the default' same one.fsb first.fsb
for n in 2 4; do
  run 0 "$FSCHED" compile "$TOP/examples/resnet50.yaml" --refine search --node-limit 40 -j $n --verify -o r.fsb
  "$FSCHED" compile "$TOP/examples/resnet50.yaml" --refine search --node-limit 40 -j $n -o beside.fsb 2>/dev/null &
  run 0 "$FSCHED" compile "$TOP/examples/resnet50.yaml" --refine search --node-limit 40 --jobs $n -o again.fsb
  wait $!
  expect "the same each time, -j $n" same r.fsb again.fsb
  expect "the same beside others, -j $n" same r.fsb beside.fsb
done
run 0 "$FSCHED" compile g.yaml --refine auto -j 3 --proof jobs.proof -o jobs.fsb --emit schedule=jobs.json
run 0 "$FSCHED" verify jobs.json -g g.yaml --proof jobs.proof

# ---- limits
run 0 "$FSCHED" compile "$TOP/examples/resnet50.yaml" --refine search --node-limit 3 -o r.fsb
expect 'the limit is told' holds err 'refinement ended by the node limit'
run 0 "$FSCHED" compile "$TOP/examples/resnet50.yaml" --refine search --time-limit 0.05 -o r.fsb
expect 'the limit is told' holds err 'refinement ended by the time limit'

# ---- no schedule: sizes that fill the memory at all times, and fit in no way as they may not move
eight() {
  cat <<END
fsched: 1
name: eight
target:
  queues: [{name: q}]
  memories: [{name: m, capacity: 6, placement: $1}]
buffers: [{name: a, size: 4}, {name: b, size: 2}, {name: c, size: 3}, {name: d, size: 1},
  {name: e, size: 1}, {name: f, size: 2}, {name: g, size: 3}, {name: h, size: 4}]
ops:
  - {name: t0, on: q, time: 1, args: [{out: a}, {out: b}]}
  - {name: t1, on: q, time: 1, after: [t0], args: [{out: c}, {out: d}]}
  - {name: t2, on: q, time: 1, after: [t1], args: [{out: e}, {out: f}]}
  - {name: t3, on: q, time: 1, after: [t2], args: [{in: b}, {in: e}]}
  - {name: t4, on: q, time: 1, after: [t3], args: [{in: d}, {out: g}]}
  - {name: t5, on: q, time: 1, after: [t4], args: [{in: f}, {out: h}]}
END
}
eight contiguous >none.yaml
eight counted >some.yaml
for n in 1 2; do
  run 3 "$FSCHED" compile none.yaml --refine search -j $n -o none.fsb
  expect 'that there is none is proven' holds err 'the search has proven that there is no schedule'
done
run 3 "$FSCHED" compile none.yaml --refine search --node-limit 1 -o none.fsb
expect 'limits prove nothing' holds err 'the search found no schedule within its limits'
run 0 "$FSCHED" compile some.yaml --refine search --verify -o some.fsb
expect 'amounts alone fit' holds err '(optimal)'

# ---- public instances
data=$TOP/../shared/data/rcpsp/j30
if [ -d "$data" ]; then
  for name in j30_10_1 j30_21_1 j30_25_1 j30_29_1; do
    run 0 "$FSCHED" import patterson "$data/$name.rcp" -o $name.yaml
    run 0 "$FSCHED" compile $name.yaml --refine search -o j.fsb --emit schedule=j.json
    best=$(sed -n "s/^$name.rcp,[0-9]*,\([0-9]*\).*/\1/p" "$data/best_known.csv")
    expect "$name is the best known" [ "$(value makespan j.json)" = "$best" ]
    expect "$name is proven" holds err '(optimal)'
  done
else
  echo 'SKIP t_search: no shared data'
fi
