# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# --refine: options, a solver that is missing or does not do what it should, limits, interrupts, models
# that other programs solve, and what is reported of the result.
cat >g.yaml <<'END'
fsched: 1
name: g
target:
  queues: [{name: p}, {name: q}, {name: r}]
  resources: [{name: power, capacity: 4}]
ops:
  - {name: a, time: 2, uses: {power: 2}}
  - {name: b, time: 2, uses: {power: 1}}
  - {name: c, time: 6, uses: {power: 2}}
  - {name: d, time: 1, uses: {power: 2}}
  - {name: e, time: 3, uses: {power: 2}, after: [d]}
  - {name: f, time: 1, uses: {power: 2}, after: [b]}
  - {name: g, time: 5, uses: {power: 3}}
  - {name: h, time: 4, uses: {power: 1}}
  - {name: i, time: 4, uses: {power: 3}, after: [b]}
  - {name: j, time: 6, uses: {power: 2}, after: [e]}
END

usage() {
  text=$1
  shift
  run 2 "$FSCHED" "$@"
  expect "$text" holds err "$text"
}
value() { sed -n "s/.*\"$1\": \"*\([a-z0-9]*\)\"*,*.*/\1/p" "$2" | head -n 1; }

# ---- options
usage "is one of none|ilp|pack|search|auto, not 'best'" compile g.yaml --refine best
for o in '--solver-cmd x' '--solution s'; do
  # shellcheck disable=SC2086 # an option and its value
  usage 'is for models, which --refine search does not make' compile g.yaml --refine search $o
done
for o in '--time-limit 1' '--node-limit 5' '--solver-cmd x' '--solution s' '-j 2'; do
  # shellcheck disable=SC2086 # an option and its value
  usage 'is for a refinement, and none is asked for' compile g.yaml $o
  # shellcheck disable=SC2086
  usage 'is for a refinement, and none is asked for' compile g.yaml --refine none $o
done
for t in 0 -1 x 1e3 0.0001; do
  usage "time-limit wants seconds above 0, like 10 or 0.5, not '$t'" compile g.yaml \
    --refine ilp --time-limit "$t"
done
usage "node-limit wants a number above 0, not '0'" compile g.yaml --refine ilp --node-limit 0
for n in 0 65 1000; do
  usage "jobs wants a number from 1 to 64, not '$n'" compile g.yaml --refine search -j "$n"
done
usage "j wants a decimal number, not 'x'" compile g.yaml --refine search -j x
usage 'jobs is for --refine search' compile g.yaml --refine pack --jobs 2
usage 'names no command' compile g.yaml --refine ilp --solver-cmd ' '
usage 'standard input can be read only once' compile - --refine ilp --solution -
usage "pass 'refine' does not run" compile g.yaml --dump-after refine
run 5 "$FSCHED" compile g.yaml --effort 0 --refine ilp --solution none.sol
expect "nothing was written" [ ! -e g.fsb ]

# ---- whatever a solver does wrong: the heuristic's schedule, and a warning
run 0 "$FSCHED" compile g.yaml --effort 0 -o list.fsb --emit schedule=list.json
expect "there is something to gain" [ "$(value status list.json)" = feasible ]
# Only the bound may differ, which needs no solver.
commands() { "$FSCHED" dis "$1" | sed 's/lower bound [0-9]*//'; }
heuristic_is() {
  commands "$1" >one.txt
  commands list.fsb >two.txt
  same one.txt two.txt
}
heuristic() {
  expect "$1: a warning" holds err 'warning: the refinement ended early: .*\[-Wrefine\]'
  expect "$1: the heuristic's schedule" heuristic_is g.fsb
  expect "$1: nothing is left" [ -z "$(ls tmp)" ]
  rm -f g.fsb
}
mkdir tmp
TMPDIR=$PWD/tmp
export TMPDIR
for refine in ilp pack; do
  run 0 "$FSCHED" compile g.yaml --effort 0 --refine $refine --solver-cmd ./no-such-solver
  heuristic "missing for $refine"
  run 0 "$FSCHED" compile g.yaml --effort 0 --refine $refine --solver-cmd ./no-such-solver
  expect "it is named" holds err 'no-such-solver'
  rm -f g.fsb
  for mode in abort segv killed exit binary endless word silent half error infeasible objective \
    bound unknown; do
    run 0 "$FSCHED" compile g.yaml --effort 0 --verify --refine $refine \
      --solver-cmd "$TOP/test/ilp/solver_fault.sh $mode"
    heuristic "$refine, $mode"
  done
done
for mode in hang close child; do # a limit ends them; that alone is no fault
  SOLVER_FAULT_PIDS=$PWD/pids "$FSCHED" compile g.yaml --effort 0 --refine ilp --time-limit 0.1 \
    --solver-cmd "$TOP/test/ilp/solver_fault.sh $mode" 2>err </dev/null
  expect "$mode: done" [ $? -eq 0 ]
  expect "$mode: the heuristic's schedule" heuristic_is g.fsb
  expect "$mode: nothing is left" [ -z "$(ls tmp)" ]
done
while read -r pid; do
  expect "process $pid is gone" [ -z "$(tr -d '\0' 2>/dev/null <"/proc/$pid/cmdline")" ]
done <pids
run 1 "$FSCHED" compile g.yaml --effort 0 --refine ilp --solver-cmd ./no-such-solver -Werror=refine -o x.fsb
expect "an error if asked for" [ ! -e x.fsb ]
run 0 "$FSCHED" compile g.yaml --effort 0 --refine ilp --solver-cmd ./no-such-solver -Wno-refine
expect "no warning if asked for" [ -z "$(sed -n '/warning/p' err)" ]

# ---- the relaxation is the first bound, though the reader may see a later one with it
cat >bounds <<'END'
#!/bin/sh
printf 'bound 3\nbound 5\nstatus limit\n'
END
chmod +x bounds
run 0 "$FSCHED" compile g.yaml --effort 0 --refine ilp --solver-cmd ./bounds -o bounds.fsb --emit stats=stats.json
expect "the first bound" [ "$(sed -n 's/.*"relaxation": \([0-9]*\).*/\1/p' stats.json)" = 3 ]

# ---- an interrupt keeps the best so far
cat >slow <<'END'
#!/bin/sh
echo >begun
exec sleep 600
END
chmod +x slow
mkfifo begun
env --default-signal=INT "$FSCHED" compile g.yaml --effort 0 --refine ilp --solver-cmd ./slow -o stopped.fsb \
  --emit schedule=stopped.json 2>err </dev/null &
pid=$!
read -r _ <begun
kill -s INT $pid
wait $pid
expect "an interrupt is no error" [ $? -eq 0 ]
expect "the best so far" heuristic_is stopped.fsb
expect "it is feasible" [ "$(value status stopped.json)" = feasible ]

for signal in TERM HUP; do # these end it, and nothing is left
  env --default-signal=$signal "$FSCHED" compile g.yaml --effort 0 --refine ilp --solver-cmd ./slow \
    -o ended.fsb 2>err </dev/null &
  pid=$!
  read -r _ <begun
  kill -s $signal $pid
  wait $pid
  expect "$signal ends it" [ $? -gt 128 ]
  expect "$signal: no result" [ ! -e ended.fsb ]
  expect "$signal: nothing is left" [ -z "$(ls tmp)" ]
done

# ---- without libgcc_s, which the C library would load to cancel a thread
mkdir broken
echo "no library" >broken/libgcc_s.so.1
if command -v ldd >/dev/null && ! ldd "$FSCHED" | grep -q libgcc_s; then
  run 0 env LD_LIBRARY_PATH="$PWD/broken" "$FSCHED" compile g.yaml --effort 0 --refine ilp -o without.fsb \
    --solver-cmd ./bounds
  expect "nothing is said about libraries" [ -z "$(grep libgcc err)" ]
else
  echo "SKIP t_refine: this build is linked with libgcc_s"
fi

# ---- models for others
run 0 "$FSCHED" compile g.yaml --effort 0 --emit lp=g.lp --emit mps=g.mps
expect "a model" holds g.lp '^Minimize'
run 0 "$FSCHED" compile g.yaml --effort 0 --refine pack --emit lp=pack.lp --solver-cmd ./no-such-solver -q
expect "another model" [ "$(cmp -s g.lp pack.lp; echo $?)" -eq 1 ]
echo 'x_0_0 1' >bad.sol
run 4 "$FSCHED" compile g.yaml --effort 0 --refine ilp --solution bad.sol -o x.fsb
expect "why" holds err "error: 'bad.sol' is no solution of the model: .*\[solution-wrong\]"
echo 'no_such_variable 1' >bad.sol
run 1 "$FSCHED" compile g.yaml --effort 0 --refine ilp --solution bad.sol -o x.fsb
expect "where" holds err '^bad.sol:1:1: error: .*\[solution-variable\]'
expect "nothing was written" [ ! -e x.fsb ]
if command -v glpsol >which; then
  glpsol --freemps g.mps -w g.sol >log 2>&1
  run 0 "$FSCHED" compile g.yaml --effort 0 --refine ilp --solution g.sol --verify -o sol.fsb \
    --emit schedule=sol.json -MD
  expect "its solution is taken" [ "$(value makespan sol.json)" = 19 ]
  expect "a file that was read" holds sol.d 'g\.sol'
  "$FSCHED" compile g.yaml --effort 0 --refine ilp --solution - -q -o - <g.sol >piped.fsb
  expect "through pipes" same piped.fsb sol.fsb
  run 0 "$FSCHED" compile g.yaml --effort 0 --refine ilp --solution g.sol -q -o rules.fsb -MD -MP
  expect "a rule for the solution" holds rules.d '^g\.sol:$'
  "$FSCHED" compile g.yaml --effort 0 --refine ilp --solution - -q -o rules.fsb -MD -MP <g.sol
  expect "none for standard input" [ "$(cat rules.d)" = 'rules.fsb: g.yaml' ]
  # The heuristic's schedule is proven, and leaves a model without variables, which is an LP.
  cat >one.yaml <<'END'
fsched: 1
target:
  resources: [{name: r, capacity: 3}]
  concurrency: 2
ops:
  - {name: a, time: 2, uses: {r: 3}}
  - {name: b, time: 1, uses: {r: 1}, after: [a]}
  - {name: c, time: 1, uses: {r: 2}, after: [b]}
END
  run 0 "$FSCHED" compile one.yaml --refine ilp --emit lp=one.lp -o one.fsb
  glpsol --lp one.lp -w one.sol >log 2>&1
  expect "not of the usual kind" holds one.sol '^s bas '
  run 0 "$FSCHED" compile one.yaml --refine ilp --solution one.sol --verify -o sol.fsb
  expect "no solution is needed" same sol.fsb one.fsb
else
  echo "SKIP t_refine: no glpsol, whose solution could be taken"
fi

# ---- the helper
if [ ! -x "$BUILD/fsched-glpk" ]; then
  echo "SKIP t_refine: no fsched-glpk"
  return
fi
run 0 "$FSCHED" --version
expect "its version" holds out '^helpers: fsched-glpk .*, GLPK '
for refine in ilp pack; do
  run 0 "$FSCHED" compile g.yaml --effort 0 --refine $refine --node-limit 300 --verify -o one.fsb \
    --emit schedule=one.json --emit stats=one.stats
  expect "$refine: no warning" [ -z "$(sed -n '/warning/p' err)" ]
  expect "$refine: better" [ "$(value makespan one.json)" -le 20 ]
  run 0 "$FSCHED" compile g.yaml --effort 0 --refine $refine --node-limit 300 -o two.fsb
  expect "$refine: the same each time" same one.fsb two.fsb
done
run 0 "$FSCHED" compile g.yaml --effort 0 --refine ilp --verify -o best.fsb --emit schedule=best.json \
  --emit stats=best.stats
expect "optimal" [ "$(value status best.json)" = optimal ]
expect "the optimum" [ "$(value makespan best.json)" = 19 ]
expect "the bound says so" [ "$(value lower_bound best.json)" = 19 ]
expect "the summary says so" holds err 'makespan 19 (21 before --refine), lower bound 19 (optimal)'
expect "nothing ended it early" [ "$(grep -c "ended by" err)" -eq 0 ]
run 0 "$FSCHED" compile g.yaml --effort 0 --refine ilp --node-limit 1 -o short.fsb
expect "the limit that ended it" holds err '^  refinement ended by the node limit ('
run 0 "$FSCHED" compile g.yaml --effort 0 --refine ilp --node-limit 1 --diagnostics json -o short.fsb
expect "told to programs" holds err '^{"summary": .*, "refinement_ended_by": "the node limit (.*", "waits": '
run 0 "$FSCHED" compile "$TOP/examples/unet/graph.yaml" --set wait=3 --effort 0 --refine ilp --node-limit 10 -o short.fsb
expect "a wait that ended it" holds err "^  refinement ended by the target's wait: "
expect "and what does not know it" holds err "hint: windows and the model of spills do not know"
run 0 "$FSCHED" compile g.yaml --effort 0 --refine ilp --solver-cmd false --diagnostics json -o short.fsb
expect "a fault that ended it" holds err '^{"summary": .*, "refinement_ended_by": "a failure of the solver", "waits": '
run 0 "$FSCHED" compile g.yaml --effort 0 --refine ilp --progress -o best.fsb
expect "lines of progress" holds err \
  '^refine makespan [0-9]*, bound [0-9]*, gap [0-9.]* %, [0-9]* nodes, [0-9.]* s$'
expect "no line is drawn over" [ -z "$(tr -cd '\r' <err)" ]
run 0 "$FSCHED" compile g.yaml --effort 0 --refine ilp --progress --diagnostics json -o best.fsb
expect "JSON" holds err '^{"progress": "refine", "makespan": [0-9]*, "bound": [0-9]*, "gap_percent": [0-9.]*, "nodes": [0-9]*, "seconds": [0-9.]*}$'
run 0 "$FSCHED" compile g.yaml --effort 0 --refine ilp --dump-after refine -o best.fsb

# ---- the wait of a target: all ops on one queue are better than what the list schedule has
cat >wait.yaml <<'END'
fsched: 1
target: {wait: 3, queues: [{name: x}, {name: y}]}
ops:
  - {name: a, time: 2}
  - {name: b, time: 2}
  - {name: c, time: 2, after: [a, b]}
END
run 0 "$FSCHED" compile wait.yaml -o wait.fsb --effort 0 --refine ilp --verify
expect "the wait counts" holds err 'makespan 6 (7 before --refine), lower bound 6 (optimal)'
run 0 "$FSCHED" compile wait.yaml -q --effort 0 -o wait.fsb --emit lp=wait.lp
expect "rows of the wait" holds wait.lp 'wait_0_2_0_'
run 2 "$FSCHED" compile wait.yaml -o wait.fsb --refine pack
expect "strips do not know it" holds err "strip packing model does not know the target's 'wait' of 3"
