# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Each exit status occurs once, and its message goes to the right place.
cp "$TOP/examples/figure-10.yaml" g.yaml
run 0 "$FSCHED" compile g.yaml -o g.fsb --emit schedule=s.json -q
expect "-q says nothing" empty err
run 0 "$FSCHED" verify g.fsb --graph g.yaml
run 0 "$FSCHED" verify s.json --graph g.yaml
run 0 "$FSCHED" run g.fsb --check

echo 'fsched: [' >bad.yaml
run 1 "$FSCHED" compile bad.yaml
expect "a bad graph leaves no output" [ ! -e bad.fsb ]
head -c 100 g.fsb >cut.fsb
for c in run verify dis; do
  run 1 "$FSCHED" "$c" cut.fsb
  expect "$c reports a cut stream" [ -s err ]
done
echo '{}' >empty.json
run 1 "$FSCHED" asm empty.json
run 1 "$FSCHED" verify empty.json --graph g.yaml

run 3 "$FSCHED" compile g.yaml --memory cmx=9
expect "the precondition names the memory" holds err cmx
expect "infeasible leaves no output" [ ! -e g2.fsb ]

# One op is one tick later than scheduled: it overlaps what follows, or breaks an edge.
sed 's/"makespan": 7/"makespan": 6/' s.json >wrong.json
run 4 "$FSCHED" verify wrong.json --graph g.yaml
expect "the text form prints nothing on standard output" empty out
run 4 "$FSCHED" verify wrong.json --graph g.yaml --format json
expect "the JSON form lists violations" holds out '"ok": false'
run 0 "$FSCHED" verify g.fsb --format json
expect "and the good case" holds out '"ok": true, "violations": \[\]'
run 0 "$FSCHED" compile "$TOP/examples/figure-10-serial.yaml" -o serial.fsb -q
run 4 "$FSCHED" verify serial.fsb --graph g.yaml

run 5 "$FSCHED" compile nowhere.yaml
expect "a missing file is named" holds err nowhere.yaml
printf 'fsched: 1\ntarget: nowhere.yaml\nops: [{name: a, tme: 1}]\n' >lacks.yaml
run 5 "$FSCHED" compile lacks.yaml
expect "so is one that a graph names, with the place" holds err '^lacks.yaml:2:9: error: cannot read the target nowhere.yaml'
expect "and the graph's own faults" holds err "^lacks.yaml:3:17: error: .*'tme'"
run 5 "$FSCHED" run nowhere.fsb

cat >k.yaml <<'END'
fsched: 1
name: k
ops:
  - {name: a, kernel: {module: ./nowhere.so, function: f}}
END
run 0 "$FSCHED" compile k.yaml -q
run 6 "$FSCHED" run k.fsb
expect "the op is named" holds err "'a'"
:
