# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Proofs that rest on given starts: that there is no schedule, and what memories have to have.
cat > meet.yaml <<'END'
fsched: 1
name: meet
target: {queues: [{name: q}, {name: r}], memories: [{name: m, capacity: 10}]}
ops:
  - {name: a, on: q, time: 3, start: 2}
  - {name: b, on: q, time: 3, start: 4}
  - {name: c, on: r, time: 4}
END
run 3 "$FSCHED" compile meet.yaml --refine search --proof none -o meet.fsb
expect 'it is proven' holds err 'the search has proven that there is no schedule'
expect 'no stream is written' [ ! -e meet.fsb ]
expect 'the proof says so' [ "$(tail -n 1 none)" = 'end none' ]
run 0 "$FSCHED" verify none --graph meet.yaml
expect 'so it is checked' [ "$(cat out)" = 'none: there is no schedule' ]
expect 'nothing on standard error' empty err
run 0 "$FSCHED" verify none --graph meet.yaml --format json
expect 'in JSON' holds out '"kind": "proof", "ok": true, "violations": \[\], "proof": {"file": "none", "none": true}}$'
sed 's/start: 4/start: 5/' meet.yaml > apart.yaml
run 4 "$FSCHED" verify none --graph apart.yaml
expect 'of another graph' [ "$(tail -n 1 err)" = 'none: refuted, 1 violation' ]
run 0 "$FSCHED" compile apart.yaml --refine search --proof some -o apart.fsb --emit schedule=apart.json
expect 'there it is a time' [ "$(tail -n 1 some)" = 'end 8' ]
run 0 "$FSCHED" verify apart.json --graph apart.yaml --proof some
expect 'which is optimal' holds out '^some: no schedule ends before 8: the schedule is optimal$'
run 0 "$FSCHED" verify some --graph apart.yaml
expect 'without a schedule' [ "$(cat out)" = 'some: no schedule ends before 8' ]
printf '%s\n' 'fsched-proof 1' 'ops 3' 'unit 1' 'set queues 0' begin 'x 0>=9 1>=9' 'l : @1' 'end none' > x
run 4 "$FSCHED" verify apart.json --graph apart.yaml --proof x

# ---- jobs, and the same bytes
run 3 "$FSCHED" compile meet.yaml --refine search -j 2 --proof two -o meet.fsb
expect 'by several threads' same none two

# ---- what memories have to have
cat > hold.yaml <<'END'
fsched: 1
name: hold
target: {queues: [{name: q}, {name: r}], memories: [{name: m, capacity: 10}, {name: n, capacity: 9, placement: counted}]}
ops:
  - {name: a, on: q, time: 3, start: 0, args: [{out: x, size: 4, memory: m}]}
  - {name: b, on: r, time: 2, start: 3, scratch: {m: 5, n: 2}}
  - {name: c, on: q, time: 1, start: 6, args: [{in: x}]}
END
run 0 "$FSCHED" compile hold.yaml --refine search --proof p -o hold.fsb --emit schedule=hold.json
run 0 "$FSCHED" verify hold.json --graph hold.yaml --proof p
expect 'both memories' [ "$(cat out)" = "hold.json: verified
p: no schedule ends before 7: the schedule is optimal
p: no schedule takes less than 9 of m: the schedule takes the least
p: no schedule takes less than 2 of n: the schedule takes the least" ]
run 0 "$FSCHED" verify hold.json --graph hold.yaml --proof p --format json
expect 'in JSON' holds out '"bound": 7, "optimal": true, "peaks": \[{"memory": "m", "bytes": 9, "optimal": true}, {"memory": "n", "bytes": 2, "optimal": true}\]}}$'
sed 's/"address": 4/"address": 5/; s/"address": 5, "size": 4/"address": 6, "size": 4/; s/"extent": 9/"extent": 10/' hold.json > high.json
run 0 "$FSCHED" verify high.json --graph hold.yaml --proof p
expect 'more than the least' holds out '^p: no schedule takes less than 9 of m; the schedule takes 10$'
sed 's/^end peak 0 9/end peak 0 10/' p > above
run 4 "$FSCHED" verify hold.json --graph hold.yaml --proof above
run 3 "$FSCHED" compile hold.yaml --memory m=8 --refine search --proof full -o hold.fsb
run 0 "$FSCHED" verify full --graph hold.yaml --memory m=8
expect 'there is no schedule' [ "$(cat out)" = 'full: there is no schedule' ]
run 4 "$FSCHED" verify full --graph hold.yaml

cat > kept.yaml <<'END'
fsched: 1
name: kept
target: {queues: [{name: q}], memories: [{name: m, capacity: 10}]}
buffers: [{name: k, size: 4, memory: m, io: output}, {name: g, size: 1, memory: m, io: input}]
ops:
  - {name: a, on: q, time: 1, start: 0, args: [{out: k}]}
  - {name: b, on: q, time: 1, start: 5, scratch: {m: 3}}
  - {name: c, on: q, time: 1, start: 6, args: [{in: g}]}
END
run 0 "$FSCHED" compile kept.yaml --refine search --proof k -o kept.fsb
expect 'what is kept stays, and what was given was there' [ "$(tail -n 1 k)" = 'end peak 0 8' ]
run 0 "$FSCHED" verify k --graph kept.yaml

# ---- where none is found
cat > places.yaml <<'END'
fsched: 1
name: places
target: {queues: [{name: q}, {name: r}], memories: [{name: m, capacity: 8}]}
ops:
  - {name: a, on: q, time: 1, scratch: {m: 1}}
  - {name: x, on: q, time: 3, args: [{out: b, size: 5, memory: m}]}
  - {name: y, on: q, time: 3, args: [{out: d, size: 5, memory: m}]}
  - {name: z, on: q, time: 1, after: [y], args: [{in: b}]}
  - {name: w, on: q, time: 1, after: [x], args: [{in: d}]}
END
run 3 "$FSCHED" compile places.yaml --refine search --node-limit 100 --proof no -o no.fsb
expect 'nothing is written' [ ! -e no ]

# ---- what a proof does not go with
run 2 "$FSCHED" verify none
expect 'it needs the graph' holds err 'none is a proof, and to verify it needs --graph'
run 2 "$FSCHED" verify none --graph meet.yaml --proof none
expect 'nor two of them' holds err 'needs a schedule, and none is a proof'
