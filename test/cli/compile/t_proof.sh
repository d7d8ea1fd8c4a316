# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# verify --proof: of a right schedule, of what it claims, and of a proof that is not one.
lines() { printf '%s\n' "$@"; }
lines 'fsched: 1' 'name: three' 'target: {queues: [{name: q}, {name: r}]}' \
  'ops: [{name: a, on: q, time: 3}, {name: b, on: q, time: 3}, {name: c, on: r, time: 2}]' >g.yaml
lines 'fsched-proof 1' 'ops 3' 'unit 1' 'set queues 0' begin 's 0 0>=3 1>=3' 'l : @1' 'end 6' >p
run 0 "$FSCHED" compile g.yaml -q --emit schedule=s.json -o g.fsb
run 0 "$FSCHED" verify s.json --graph g.yaml --proof p
expect "it is optimal" [ "$(cat out)" = "s.json: verified
p: no schedule ends before 6: the schedule is optimal" ]
expect "nothing on standard error" empty err
run 0 "$FSCHED" verify s.json --graph g.yaml --proof p -q
expect "-q says nothing" empty out
run 0 "$FSCHED" verify s.json --graph g.yaml --proof p --format json
expect "JSON says it" holds out '"ok": true, "violations": \[\], "proof": {"file": "p", "bound": 6, "optimal": true}}$'
"$FSCHED" verify s.json --graph g.yaml --proof - <p >out 2>err
expect "of standard input" holds out '^<stdin>: no schedule ends before 6: '
run 0 "$FSCHED" verify s.json --graph g.yaml --proof p --time-report
expect "times" [ "$(sed -n 's/^  \([a-z]*\) .*/\1/p' err | tr '\n' ' ')" = "read graph load verify proof total " ]
run 0 "$FSCHED" verify s.json --graph g.yaml --proof p --progress
expect "progress" holds err '^verify 100 %$'

# What the schedule claims, and what it is.
sed 's/end 6/end 5/' p >less
run 4 "$FSCHED" verify s.json --graph g.yaml --proof less
expect "less than is claimed" holds err \
  '^less: error: it shows that no schedule ends before 5, and s.json claims that of 6 \[verify-bound\]$'
expect "the verdict" [ "$(tail -n 1 err)" = 'less: refuted, 1 violation' ]
sed 's/"status": "optimal"/"status": "feasible"/; s/"lower_bound": 6/"lower_bound": 4/' s.json >modest.json
run 0 "$FSCHED" verify modest.json --graph g.yaml --proof less
expect "a bound" holds out '^less: no schedule ends before 5; the schedule ends at 6$'
run 0 "$FSCHED" verify modest.json --graph g.yaml --proof less --format json
expect "in JSON" holds out '"bound": 5, "optimal": false}}$'
run 0 "$FSCHED" verify modest.json --graph g.yaml --proof p
expect "more than is claimed" holds out ': the schedule is optimal$'

# Proofs that are none.
sed 's/end 6/end 7/' p >high
run 4 "$FSCHED" verify s.json --graph g.yaml --proof high
expect "what does not follow" holds err '^high:7:5: error: more than one literal of this hint is open \[verify-proof\]$'
expect "its line" holds err '^    7 | l : @1$'
expect "its verdict" [ "$(tail -n 1 err)" = 'high: refuted, 1 violation' ]
run 4 "$FSCHED" verify s.json --graph g.yaml --proof high --format json
expect "no bound in JSON" holds out '^{"fsched_verify": 1, .* "ok": false, '
expect "nor a proof" [ -z "$(grep '"proof"' out)" ]
sed 's/ops 3/ops 2/' p >other
run 4 "$FSCHED" verify s.json --graph g.yaml --proof other
expect "of another graph" holds err '^other:2:5: error: the graph has 3 ops, not 2 \[verify-proof\]$'
sed 's/ops 3/ops x/' p >form
run 1 "$FSCHED" verify s.json --graph g.yaml --proof form
expect "of another form" holds err '^form:2:5: error: .*\[proof-syntax\]$'
: >none
run 1 "$FSCHED" verify s.json --graph g.yaml --proof none
run 1 "$FSCHED" verify s.json --graph g.yaml --proof g.fsb
run 5 "$FSCHED" verify s.json --graph g.yaml --proof nowhere
expect "no file" holds err 'nowhere'
sed 's/"makespan": 6/"makespan": 8/' s.json >wrong.json
run 4 "$FSCHED" verify wrong.json --graph g.yaml --proof high
expect "the schedule comes first" [ "$(tail -n 1 err)" = 'wrong.json: refuted, 1 violation' ]

# What it does not go with.
run 2 "$FSCHED" verify g.fsb --graph g.yaml --proof p
expect "a stream has none" holds err "needs a schedule, and g.fsb is a stream"
run 2 "$FSCHED" verify s.json --proof p
expect "it needs the graph" holds err 'proof needs --graph'
run 2 "$FSCHED" verify - --graph g.yaml --proof -
expect "standard input is read once" holds err 'only once'
