# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# --effort: how much the heuristic tries, and what -v says of it.
graph=$TOP/examples/npu/graph.yaml
makespan() { sed -n 's/.*, makespan \([0-9]*\).*/\1/p' "$1"; }
runs() { sed -n 's/^  effort [0-9]: \([0-9]*\) runs*, [0-9]* steps$/\1/p' "$1"; }

for bad in 10 99999999999; do
  run 2 "$FSCHED" compile "$graph" -o a.fsb --effort $bad
  expect "the levels are named" holds err "error: --effort wants a number from 0 to 9, not '$bad'"
done
run 2 "$FSCHED" compile "$graph" -o a.fsb --effort much
expect "a level is a number" holds err "effort wants a decimal number, not 'much'"

run 0 "$FSCHED" compile "$graph" -o zero.fsb --effort 0 -v --verify
expect "one run" [ "$(runs err)" = 1 ]
expect "the level is shown" holds err '^  effort 0: 1 run, [0-9]* steps$'
before=$(makespan err)
last=1
for level in 1 3 5; do
  run 0 "$FSCHED" compile "$graph" -o $level.fsb --effort $level -v --verify
  expect "level $level is no worse" [ "$(makespan err)" -le "$before" ]
  expect "level $level tries more" [ "$(runs err)" -gt "$last" ]
  before=$(makespan err)
  last=$(runs err)
done
run 0 "$FSCHED" compile "$graph" -o default.fsb -v
expect "3 is the default" holds err '^  effort 3: '
runs err >default.runs
expect "the default gives the same bytes" same 3.fsb default.fsb

# The lower bound ends the trials, whatever the effort.
run 0 "$FSCHED" compile "$TOP/examples/project/graph.yaml" -o p.fsb --effort 9 -v
expect "at the bound" holds err '(optimal)'
expect "no trial is left to do" [ "$(runs err)" = 1 ]

# The same for programs.
run 0 "$FSCHED" compile "$graph" -o json.fsb -v --diagnostics json
expect "the work is told to programs" [ "$(sed -n \
  's/^{"effort": 3, "runs": \([0-9]*\), "steps": [0-9]*}$/\1/p' err)" = "$(grep . default.runs)" ]

# The plans of loops depend on the effort: a schedule says with which its graph is read.  The plans of
# this one are not the same at levels 0 and 3.
cat >bands.yaml <<'EOF'
fsched: 1
name: bands
target:
  queues: [{name: q0, class: c0}, {name: q1, class: c1}, {name: q2, class: c1}, {name: q3, class: c1}]
  memories: [{name: m, capacity: 64KiB}]
ops:
  - loop: l
    trip: 40
    ops:
      - {name: o0, on: c1, time: 3, args: [{out: b0, size: 128, memory: m}]}
      - {name: o1, on: c0, time: 7, args: [{out: b1, size: 64, memory: m}]}
      - {name: o2, on: c1, time: 5, args: [{in: b0}, {in: b1}, {out: b2, size: 64, memory: m}]}
      - {name: o3, on: c1, time: 4, args: [{out: b3, size: 64, memory: m}]}
      - {name: o4, on: c1, time: 5, args: [{out: b4, size: 192, memory: m}]}
      - {name: o5, on: c1, time: 5, args: [{out: b5, size: 64, memory: m}]}
      - {name: o6, on: c1, time: 7, args: [{in: b2}, {in: b5}, {out: b6, size: 64, memory: m}]}
      - {name: o7, on: c1, time: 5, args: [{in: b1}, {in: b6}, {out: b7, size: 64, memory: m}]}
    buffers: {b0: {depth: 1}, b1: {depth: 3}, b2: {depth: 2}, b3: {depth: 1}, b4: {depth: 2}, b5: {depth: 3}, b6: {depth: 3}, b7: {depth: 2}}
EOF
for level in 0 3; do
  run 0 "$FSCHED" compile bands.yaml -q --effort $level -o bands.fsb --emit schedule=bands$level.json
  expect "the level is in the head" holds bands$level.json "^ \"effort\": $level,$"
  run 0 "$FSCHED" verify bands$level.json -g bands.yaml
  run 0 "$FSCHED" dot bands.yaml --schedule bands$level.json
done
run 4 "$FSCHED" verify bands0.json -g bands.yaml --effort 3
expect "the option counts" holds err "hint: the plans of loops depend on '--effort'"
run 4 "$FSCHED" dot bands.yaml --schedule bands0.json --effort 3
run 0 "$FSCHED" compile bands.yaml -q -o bands.fsb --emit schedule=usual.json
expect "the default is a level" same usual.json bands3.json
sed '/^ "effort"/d' bands3.json >old.json
run 0 "$FSCHED" verify old.json -g bands.yaml
sed '/^ "effort"/d' bands0.json >old.json
run 4 "$FSCHED" verify old.json -g bands.yaml
run 0 "$FSCHED" verify old.json -g bands.yaml --effort 0
sed 's/^ "effort": 0/ "effort": 10/' bands0.json >above.json
run 1 "$FSCHED" verify above.json -g bands.yaml
expect "a level that there is not" holds err 'above.json:7:12: error: the effort is above 9 \[schedule-value\]'
run 0 "$FSCHED" compile bands.yaml -q --unroll --effort 0 -o flat.fsb --emit schedule=flat.json
run 0 "$FSCHED" verify flat.json -g bands.yaml --unroll
# the word is no key where it is a name
sed 's/^name: bands/name: effort/' bands.yaml >named.yaml
run 0 "$FSCHED" compile named.yaml -q --effort 0 -o named.fsb --emit schedule=named.json
run 0 "$FSCHED" verify named.json -g named.yaml
