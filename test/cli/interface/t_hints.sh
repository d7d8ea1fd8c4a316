# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# What the program prints beside the result: warnings before it, and hints that lead to what was meant.
graph() { printf 'fsched: 1\ntarget: {%s}\nops:\n%s\n' "$1" "$2" >g.yaml; }

# Warnings come first, then the summary, which ends with the file of the stream.
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
hint 'write {power: AMOUNT}' 'resources: [{name: power, capacity: 2}]' '  - {name: a, uses: power}'
hint 'write {power: AMOUNT}' 'resources: [{name: power, capacity: 2}]' '  - {name: a, uses: [power]}'
hint "did you mean 'power'?" 'resources: [{name: power, capacity: 2}]' '  - {name: a, uses: {pwoer: 1}}'
hint 'decimal digits only' 'resources: [{name: power, capacity: 2}]' '  - {name: a, uses: {power: 1W}}'
expect "and the resource is named" holds err "the amount of 'power'"

# Defaults are called so.
graph 'queues: [{name: dma, class: copy}]' '  - {name: a}
  - {name: b}'
run 1 "$FSCHED" compile g.yaml
expect "the default of on" holds err "op 'a' cannot run .* named 'compute', the default of 'on'"
expect "one mistake, one error" [ "$(grep -c error: err)" -eq 1 ]
graph 'queues: [{name: dma, class: copy}], memories: [{name: m, capacity: 9, backing: d, spill: {}}, {name: d}]' \
  '  - {name: a, on: copy}'
run 1 "$FSCHED" compile g.yaml
expect "the default of spill.on" holds err "memory 'm' .* named 'compute', the default of 'spill.on'"
graph 'queues: [{name: dma, class: copy}]' '  - {name: a, on: compute}'
run 1 "$FSCHED" compile g.yaml
expect "what the graph says is no default" [ "$(grep -c default err)" -eq 0 ]
graph 'memories: [{name: m, capacity: 9}, {name: n, capacity: 99}]' '  - {name: a, size: 10}'
run 3 "$FSCHED" compile g.yaml
expect "the default of memory" holds err "'m' is the default of 'memory'"
graph 'memories: [{name: m, capacity: 9}, {name: d}]' '  - {name: a, size: 10}'
run 3 "$FSCHED" compile g.yaml
expect "is not said where there is no choice" [ "$(grep -c default err)" -eq 0 ]

# A quote that is not closed: where it begins, even if another one ends it.
quote() { # text, place, what is said
  printf '%b' "$1" >q.yaml
  run 1 "$FSCHED" compile q.yaml
  expect "quote: $2" grep -q "^q.yaml:$2: error: not YAML" err
  expect "quote: $3" grep -qF "$3" err
}
quote 'fsched: 1\nname: "g\nops: [{name: a}]\n' 2:7 'the quote that begins here is not closed: no " follows'
quote "fsched: 1\nops: [{name: 'a}]\n" 2:14 "the quote that begins here is not closed: no ' follows"
quote 'fsched: 1\nname: "g\nops: [{name: "a"}]\n' 3:15 'a text that begins in line 2, column 7'
quote '{"fsched": 1, "name": "g, "ops": [{"name": "a"}]}' 1:28 'a text that begins in line 1, column 23'

# What can be set, however it is misspelt.
graph 'queues: [{name: x}], memories: [{name: m.2, capacity: 64}], resources: [{name: power, capacity: 2}]' \
  '  - {name: a}'
setting() { # key, hint
  run 2 "$FSCHED" compile g.yaml --set "$1=1"
  expect "--set $1" grep -qF "hint: did you mean '$2'?" err
}
setting concurency concurrency
setting memories.m.2.algin memories.m.2.align
setting memories.m.2.spill.read.rat memories.m.2.spill.read.rate
setting memorys.m.2.align memories.m.2.align
setting m.2.align memories.m.2.align
setting power.capacity resources.power.capacity
setting queues.x.count queues.x.counting
setting align memories.NAME.align
setting resources.pwoer.capacity power
run 2 "$FSCHED" compile g.yaml --set nothing=1
expect "what is near nothing gets no hint" [ "$(grep -c hint err)" -eq 0 ]

# A given start that cannot be kept, and what is in its way.
late() { # target, ops, reason
  graph "$1" "$2"
  run 3 "$FSCHED" compile g.yaml
  expect "late: $3" grep -qF "cannot start at its given time 1: $3" err
}
late '' '  - {name: a, time: 3, size: 5}
  - {name: b, start: 1, args: [{in: a}]}' "op 'a', which comes before it, ends at 3"
late '' '  - {name: a, start: 2}
  - {name: b, start: 1, after: [a]}' "op 'a', which comes before it, has not started"
late 'queues: [{name: x}]' '  - {name: a, time: 2, start: 1}
  - {name: b, start: 1}' "queue 'x' is busy until 3"
graph 'queues: [{name: x}]' '  - {name: a, time: 3}
  - {name: b, start: 1, after: [c]}
  - {name: c, time: 0}'
run 0 "$FSCHED" compile g.yaml --verify
late 'queues: [{name: x}, {name: y}]' '  - {name: a, time: 3, start: 0, on: [x, y]}
  - {name: b, start: 1}' 'none of the 2 queues that it can run on is free'
late 'concurrency: 1, queues: [{name: x}, {name: y}]' '  - {name: a, time: 3, start: 0}
  - {name: b, start: 1}' "as many ops run as 'concurrency' allows, 1"
late 'resources: [{name: power, capacity: 3}]' '  - {name: a, time: 3, start: 0, uses: {power: 2}}
  - {name: b, start: 1, uses: {power: 2}}' "it uses 2 of 'power', and 1 of 3 is free"
late 'memories: [{name: m, capacity: 9}]' '  - {name: a, time: 3, start: 0, scratch: {m: 6}}
  - {name: b, start: 1, scratch: {m: 5}}' 'what it reads, or the room that it needs, is not there yet'
graph 'queues: [{name: x}]' '  - {name: a, time: 3, start: 0}
  - {name: b, start: 1}'
run 3 "$FSCHED" compile g.yaml
expect "late: kept for another" holds err "time 0: queue 'x' is kept for op 'b', which is to start at 1"

# The stream is verified against the graph, but without the options that compile was given.
run 0 "$FSCHED" compile "$TOP/examples/figure-10.yaml" -q -o f.fsb --memory cmx=12
run 4 "$FSCHED" verify f.fsb --graph "$TOP/examples/figure-10.yaml"
expect "verify names the options" holds err 'hint: .*--memory or --set'

# A plan is compared with a run that took very much longer, and with one that did not.
graph 'time_unit: ns' '  - {name: a}'
run 0 "$FSCHED" compile g.yaml -q -o f.fsb
run 0 "$FSCHED" run f.fsb --trace t.json --with-plan
expect "a plan of one nanosecond is too short" grep -q 'the plan [0-9]* times shorter .*--with-plan=fit' out
run 0 "$FSCHED" run f.fsb --trace t.json --with-plan=fit
expect "a fitted one is not" [ "$(grep -c 'times shorter' out)" -eq 0 ]
run 2 "$FSCHED"
expect "alone it shows how it is called" holds err '^usage: fsched COMMAND'
