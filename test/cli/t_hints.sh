# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# What the program says beside the result: warnings before it, and hints that lead to what is meant.
graph() { printf 'fsched: 1\ntarget: {%s}\nops:\n%s\n' "$1" "$2" >g.yaml; }

# Warnings, then the summary, which ends with the file of the stream.
graph 'queues: [{name: core}, {name: idle, class: copy}]' '  - {name: a}'
run 0 "$FSCHED" compile g.yaml -Wunused
expect "the summary is the last line" grep -q '^g: 1 op.*, 0 waits -> g.fsb$' err
expect "after the warning" [ "$(head -n 1 err | grep -c warning)" -eq 1 ]
run 0 "$FSCHED" compile g.yaml -q -Wall
expect "quiet has no warnings" empty err
run 0 "$FSCHED" compile g.yaml -Wunused -o -
expect "standard output is not named" grep -q '^g: 1 op.*, 0 waits$' err

hint() { # what, target, ops
  graph "$2" "$3"
  run 1 "$FSCHED" compile g.yaml
  expect "hint: $1" grep -qF "hint: $1" err
}
mem='memories: [{name: m, capacity: 64}]'
hint "did you mean 'in'?" "$mem" '  - {name: a, args: [{input: b}]}'
hint "did you mean 'out'?" "$mem" '  - {name: a, args: [{output: b, size: 4}]}'
hint 'write {builtin: softmax}, or {module: FILE, function: NAME}' "$mem" '  - {name: a, kernel: softmax}'
hint 'numbers stand without quotes' "$mem" '  - {name: a, time: "900"}'
expect "and the text is called one" holds err "not the text '900'"
hint 'that is a class; its queues are x, y' \
  'queues: [{name: x, class: mxu}, {name: z}, {name: y, class: mxu}]' '  - {name: a, on: [mxu, z]}'
graph 'memories: [{name: sram, capacity: 64, backing: dram, spill: {on: copy}}]' '  - {name: a}'
run 1 "$FSCHED" compile g.yaml
expect "a memory is not what backs itself" [ "$(grep -c "mean 'sram'" err)" -eq 0 ]
graph 'memories: [{name: sram, capacity: 64, backing: dram, spill: {on: copy}}, {name: drum}]' '  - {name: a}'
run 1 "$FSCHED" compile g.yaml
expect "another is" holds err "mean 'drum'"

# Verified against the graph without what compile was given.
run 0 "$FSCHED" compile "$TOP/examples/figure-10.yaml" -q -o f.fsb --memory cmx=12
run 4 "$FSCHED" verify f.fsb --graph "$TOP/examples/figure-10.yaml"
expect "verify names the options" holds err 'hint: .*--memory or --set'

# A plan beside a run that took very much longer, and not.
graph 'time_unit: ns' '  - {name: a}'
run 0 "$FSCHED" compile g.yaml -q -o f.fsb
run 0 "$FSCHED" run f.fsb --trace t.json --with-plan
expect "a plan of one nanosecond is too short" grep -q 'the plan [0-9]* times shorter .*--with-plan=fit' out
run 0 "$FSCHED" run f.fsb --trace t.json --with-plan=fit
expect "a fitted one is not" [ "$(grep -c 'times shorter' out)" -eq 0 ]
run 2 "$FSCHED"
expect "alone it shows how it is called" holds err '^usage: fsched COMMAND'
