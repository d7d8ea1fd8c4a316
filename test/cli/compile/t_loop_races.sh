# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Races of loops that stay loops: told as of the unrolled graph, listed in programs, and refused by run --check.
graph() { # graph TRIP ROWS: with so many iterations
  cat <<END
fsched: 1
name: raced
hazards: raw
target: {queues: [{name: q0}, {name: q1}]}
buffers:
  - {name: x, size: $(($1 * 8 + 16)), io: input}
  - {name: y, size: $(($1 * 8 + 16)), io: state}
  - {name: s, size: 8, io: state}
ops:
  - {name: before, args: [{in: s}]}
  - loop: walk
    trip: $1
    ops:
      - {name: load, on: q0, args: [{in: x, at: {length: 8, step: 8}}, {out: t, size: 8}]}
      - {name: old, on: q1, args: [{in: t}, {in: y, at: {offset: 16, length: 8, step: 8}}]}
      - {name: put, on: q1, args: [{in: t}, {inout: y, at: {length: 8, step: 8}}]}
  - loop: rows
    trip: $2
    ops: [{loop: row, trip: 4, ops: [{name: mark, on: q0, args: [{out_existing: s}]}]}]
  - {name: behind, on: q1, args: [{in: y}, {inout: s}]}
END
}

# What is told does not depend on whether the graph is unrolled, nor on how long the loops are.
warnings() { # warnings FILE: without the texts of the file
  sed -n 's/^.*: warning: ops //p' "$1"
}
graph 6 3 >short.yaml
graph 1000000 500000 >long.yaml
run 0 "$FSCHED" compile short.yaml -o short.fsb --verify
warnings err >stay.txt
run 0 "$FSCHED" compile short.yaml --unroll -o flat.fsb --verify
warnings err >flat.txt
run 0 "$FSCHED" compile long.yaml -o long.fsb --verify
warnings err >long.txt
cat >want.txt <<'END'
'old' and 'put' at distance 2 are unordered, and one of them writes what both touch of 'y' [-Wrace]
'before' and 'mark' are unordered, and one of them writes what both touch of 's' [-Wrace]
'mark' and 'mark' at distance 0, 1 are unordered, and one of them writes what both touch of 's' [-Wrace]
'before' and 'behind' are unordered, and one of them writes what both touch of 's' [-Wrace]
'mark' and 'behind' are unordered, and one of them writes what both touch of 's' [-Wrace]
END
expect "loops that stay loops" same want.txt stay.txt
expect "an unrolled graph" same want.txt flat.txt
expect "very long loops" same want.txt long.txt

# In programs they stand by name, with the distance where a loop is around both.
run 0 "$FSCHED" dis long.fsb --format json
cp out long.json
sed -n '/^ "races": \[$/,/^ \]/p' long.json >races.txt
cat >want.txt <<'END'
 "races": [
  {"ops": ["old", "put"], "buffer": "y", "distance": 2},
  {"ops": ["before", "mark"], "buffer": "s"},
  {"ops": ["mark", "mark"], "buffer": "s", "distance": 1},
  {"ops": ["before", "behind"], "buffer": "s"},
  {"ops": ["mark", "behind"], "buffer": "s"}
 ],
END
expect "the list of a program" same want.txt races.txt
run 0 "$FSCHED" asm long.json -o again.fsb
expect "the list as text and back" cmp long.fsb again.fsb
run 0 "$FSCHED" verify long.fsb -g long.yaml
for change in 's/"distance": 2/"distance": 3/' 's/{"ops": \["before", "mark"\]/{"ops": ["before", "old"]/' \
  '/"mark", "mark"/d'; do
  sed "$change" long.json >other.json
  run 0 "$FSCHED" asm other.json -o other.fsb
  run 4 "$FSCHED" verify other.fsb -g long.yaml
  expect "another list: $change" holds err "not the graph's: "
done
sed 's/"distance": 2/"version": 0, "distance": 2/' long.json >other.json
run 1 "$FSCHED" asm other.json -o other.fsb
expect "a race on a version" holds err "a race on a version has no distance"

# A run without a comparison is one in program order.
run 0 "$FSCHED" run short.fsb -q
for on in cpu sim dynamic; do
  run 2 "$FSCHED" run short.fsb -v --check --on $on
  expect "a comparison on $on" holds err "the result of a graph with races cannot be checked; it has 5"
  expect "what races, on $on" holds err "ops 'old' and 'put' at distance 2 access buffer 'y' in no order"
  expect "what races elsewhere, on $on" holds err "ops 'mark' and 'behind' access buffer 's' in no order"
done

# With values of earlier iterations, parameters, and orders that leave no race.
cat >clean.yaml <<'END'
fsched: 1
hazards: raw
target: {queues: [{name: q0}, {name: q1}]}
buffers: [{name: x, size: 8000, io: output}, {name: s, size: 8, io: state}]
ops:
  - {name: zero, args: [{out: t, size: 8}, {out: x}]}
  - loop: walk
    trip: {param: n, min: 1, max: 1000}
    ops:
      - {name: sum, on: q0, args: [{in: t, distance: 1}, {out: t}, {inout: s}]}
      - {name: put, on: q1, args: [{in: t}, {inout: x, at: {length: 8, step: 8}}]}
  - {name: end, args: [{inout: s}]}
END
run 0 "$FSCHED" compile clean.yaml -o clean.fsb -Werror
run 0 "$FSCHED" run clean.fsb -q --check --set-param n=7

# Members run at the same time, so ops whose members race are no part of a graph whose loops stay loops.
for body in 'ops: [{name: a, on: [q0, q1], members: [{args: [{inout: y}]}, {args: [{in: y}]}]}]}' \
  'ops: [{name: b}]}
  - {name: a, on: [q0, q1], members: [{args: [{inout: y}]}, {args: [{in: y}]}]}'; do
  for trip in 4 '{param: n, max: 4}'; do
    cat >members.yaml <<END
fsched: 1
hazards: raw
target: {queues: [{name: q0}, {name: q1}]}
buffers: [{name: y, size: 8, io: state}]
ops:
  - {loop: l, trip: $trip, $body
END
    if [ "$trip" = 4 ]; then
      run 0 "$FSCHED" compile members.yaml -o members.fsb --force --verify
      expect "a race of members" holds err "ops 'a' and 'a'.* are unordered"
    else
      run 1 "$FSCHED" compile members.yaml -o members.fsb --force
    fi
    expect "no loop with members that race" holds err "members of op 'a' race for bytes of 'y'"
  done
done

# The names of parameters and races come back in their order.
cat >param.yaml <<'END'
fsched: 1
hazards: raw
target: {queues: [{name: q0}, {name: q1}]}
buffers: [{name: x, size: 4, io: input}]
ops:
  - loop: l
    trip: {param: n, min: 1, max: 9}
    ops:
      - {name: a, on: q0, args: [{out_existing: x}]}
      - {name: b, on: q1, args: [{in: x}]}
END
run 0 "$FSCHED" compile -q param.yaml -o param.fsb
run 0 "$FSCHED" dis --format json param.fsb -o param.json
run 0 "$FSCHED" asm param.json -o again.fsb
expect "races and parameters after asm" cmp param.fsb again.fsb
