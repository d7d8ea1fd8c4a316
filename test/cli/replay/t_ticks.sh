# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# The length of a tick: --tick, else the graph's time unit; where neither says it, simulated times
# are ticks, and what needs a length says so.
graph() { # name, time_unit
  printf 'fsched: 1\nname: %s\ntarget: {%squeues: [{name: a}, {name: b}]}\nops:\n' "$1" "$2" >"$1.yaml"
  printf '  - {name: x, time: 3, on: a}\n  - {name: y, time: 5, after: [x], on: b}\n' >>"$1.yaml"
  run 0 "$FSCHED" compile "$1.yaml" -q
}
graph us 'time_unit: us, '
graph cycles 'time_unit: cycles, '
graph none ''

takes() { # stream, options, what the text says, what the JSON says
  # shellcheck disable=SC2086
  run 0 "$FSCHED" run "$1.fsb" --on sim $2
  expect "$1 $2: $3" grep -qF " 1 run in $3 simulated, fastest $3" out
  # shellcheck disable=SC2086
  run 0 "$FSCHED" run "$1.fsb" --on sim --format json $2
  expect "$1 $2: $4" grep -qF "\"simulated\": true, \"commands\": 2, \"runs\": 1, $4" out
}
takes us '' '8000 ns' '"elapsed_ns": 8000, "minimum_ns": 8000'
takes cycles '' '8 ticks' '"elapsed_ticks": 8, "minimum_ticks": 8'
takes none '' '8 ticks' '"elapsed_ticks": 8, "minimum_ticks": 8'
takes us '--tick 2.5ns' '20 ns' '"elapsed_ns": 20,'
takes cycles '--tick 714ps' '5 ns' '"elapsed_ns": 5,'
takes none '--tick 1ms' '8.000 ms' '"elapsed_ns": 8000000,'
takes none '--pace=100' '800 ns' '"elapsed_ns": 800,'
takes cycles '--pace --tick 0.1us' '800 ns' '"elapsed_ns": 800,'
takes us '--pace' '8000 ns' '"elapsed_ns": 8000,'
run 0 "$FSCHED" run cycles.fsb --on sim --durations random --seed 1
expect "parts of ticks are shown" grep -qE 'in [0-9]+\.[0-9]{3} ticks simulated' out
run 0 "$FSCHED" run us.fsb
expect "the processors simulate nothing" [ "$(grep -c simulated out)" -eq 0 ]
run 0 "$FSCHED" run us.fsb --on sim --invocations 3 --in-flight 2
expect "what is real is called so" holds out 'ms of real time from the first begin'

for p in cycles none; do
  run 2 "$FSCHED" run $p.fsb --pace
  expect "--pace says what it lacks" holds err '--pace needs to know how long a tick is'
  expect "and who gives it" holds err 'hint: add --tick LENGTH'
done
run 0 "$FSCHED" run cycles.fsb --pace --tick 1us
run 0 "$FSCHED" run us.fsb --pace
run 2 "$FSCHED" run us.fsb --pace=10 --tick 1us
expect "one length" holds err 'both say how long a tick is'
for l in 1 us .5us 0us 0.0ns 1.5ps 1e3us 1us2 1.5.5us -1us 1099511627777ns 99999999999999999999s; do
  run 2 "$FSCHED" run us.fsb --on sim --tick "$l"
  expect "$l is no length" holds err "--tick wants a length, not '$l'"
done
for l in 1ps 0.001ns 1.000us 1099511627776ns 0.000000000001s; do
  run 0 "$FSCHED" run us.fsb --on sim --tick "$l"
done
run 2 "$FSCHED" compile us.yaml --tick 5
run 2 "$FSCHED" compile us.yaml --tick

# Traces draw by it, profiles keep it, and compile takes it for a profile that does not say it.
named() { grep -o '"process_name","args":{"name":"[^"]*"' "$1" | sed 's/.*{"name":"//; s/"$//' >names; }
run 0 "$FSCHED" run cycles.fsb --on sim --trace t.json --with-plan
named t.json
expect "a tick is drawn as a microsecond" [ "$(cat names)" = "cycles (planned, 1 tick = 1 us)
cycles (simulated, 1 tick = 1 us)" ]
run 0 "$FSCHED" run cycles.fsb --on sim --trace t.json --with-plan --tick 2.5ns
named t.json
expect "or as --tick says" [ "$(cat names)" = "cycles (planned, 1 tick = 2.5 ns)
cycles (simulated)" ]
run 0 "$FSCHED" run us.fsb --trace t.json
named t.json
expect "what was measured is called so" [ "$(cat names)" = "us (measured)" ]
run 0 "$FSCHED" compile cycles.yaml --emit trace=t.json --tick 0.5ns -q
named t.json
expect "in plans too" [ "$(cat names)" = "cycles (planned, 1 tick = 0.5 ns)" ]

run 0 "$FSCHED" run cycles.fsb --on sim --save-profile p.json
expect "the report is in ticks" holds out 'cycles on sim: makespan planned 8 ticks, simulated 8 ticks (100.0 %) in 1 run'
expect "and has no advice from a simulation" [ "$(grep -c 'Nothing says' out)" -eq 0 ]
expect "the profile is called simulated" holds p.json '^ "simulated": true,'
run 0 "$FSCHED" compile cycles.yaml --profile p.json -o again.fsb
expect "and its times come back as they were" holds err 'makespan 8 cycles'
run 0 "$FSCHED" run cycles.fsb --on sim --tick 2.5ns --save-profile p.json
expect "a length that is no whole nanosecond" holds p.json '^ "tick_ps": 2500,'
run 0 "$FSCHED" run cycles.fsb --save-profile p.json
expect "the report names the option" holds out 'Nothing says how long a tick is: --tick LENGTH does'
for c in compile dot; do
  run 1 "$FSCHED" $c cycles.yaml --profile p.json -o out.$c
  expect "$c says what it lacks" holds err 'hint: add --tick LENGTH'
  run 0 "$FSCHED" $c cycles.yaml --profile p.json -o out.$c --tick 1ms
done
run 0 "$FSCHED" verify out.compile --graph cycles.yaml --profile p.json --tick 1ms
