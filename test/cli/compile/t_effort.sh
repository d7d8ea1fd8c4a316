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
