# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# A state whose given content is read when its last version has begun: loops and their unrolling keep both, and have the
# same bytes in each of several invocations.
graph() { # graph TRIP DISTANCE HAZARDS MEMORY PAIR
  cat <<END
fsched: 1
hazards: $3
target:
  queues: [{name: q0}, {name: q1}, {name: dma, class: copy}]
  memories: [{name: m, $4align: 16}, {name: far}]
buffers: [{name: s, size: 24, io: state}, {name: y, size: 80, memory: far, io: output}]
ops:
  - {name: zero, args: [{out: y}]}
  - loop: l
    trip: $1
    ops:
      - {name: next, args: [{out: s}, {in: s}]$5}
      - {name: late, args: [{in: s, distance: $2}, {in: s}, {inout: y}]}
  - {name: end, args: [{inout: s, at: [8, 8]}, {inout: y}]}
END
}
same_bytes() { # same_bytes NAME [PARAM]: of the graph NAME.yaml
  run 0 "$FSCHED" compile "$1.yaml" -q --verify -o "$1.fsb" --force
  # shellcheck disable=SC2086 # none or one
  run 0 "$FSCHED" compile "$1.yaml" -q --verify --unroll ${2:+--set-param $2} -o "$1.flat.fsb" --force
  for n in 1 2 4; do
    # shellcheck disable=SC2086 # none or one
    run 0 "$FSCHED" run "$1.fsb" -q --check --invocations $n ${2:+--set-param $2} --output y="$1.bin" --force
    run 0 "$FSCHED" run "$1.flat.fsb" -q --check --invocations $n --output y="$1.flat" --force
    expect "$1, $n invocations" cmp "$1.bin" "$1.flat"
  done
  run 0 "$FSCHED" run "$1.flat.fsb" -q --check --on sim --durations adversarial --seed 3
  run 0 "$FSCHED" run "$1.flat.fsb" -q --check --on dynamic
  run 0 "$FSCHED" dis "$1.flat.fsb" --format json
  cp out "$1.json"
  run 0 "$FSCHED" asm "$1.json" -o "$1.again.fsb"
  expect "$1 as text and back" cmp "$1.flat.fsb" "$1.again.fsb"
}
for trip in 1 2 3; do
  for distance in 1 2 3; do
    graph $trip $distance sequential "" "" >"state-$trip-$distance.yaml"
    same_bytes "state-$trip-$distance"
  done
done
graph 2 2 raw "" "" >raw.yaml
sed 's/, {inout: y}\]}$/]}/; s/{name: end.*/{name: end, args: [{in: s}]}/' raw.yaml >state-raw.yaml
same_bytes state-raw
graph 2 2 sequential "capacity: 320, backing: far, spill: {on: copy}, " "" >state-spilled.yaml
same_bytes state-spilled
graph 2 2 sequential "" ", inplace: {s: s}" >state-pair.yaml
same_bytes state-pair
graph "{param: n, min: 1, max: 5}" 3 sequential "" "" >state-param.yaml
for n in 1 3 5; do
  same_bytes state-param n=$n
done

# Only such a state has slots in the unrolled graph, and the last version has the op's tag.
expect "two slots" holds state-2-2.json '"slot": {"size": 24, "given": 32, "kept": 0}'
expect "and none" holds state-3-2.json '"name": "s", "size": 24, "memory": "m", "io": "state", "versions"'
expect "what is begun in one" holds state-2-2.json '"name": "next\[1\]".*"out_existing": "s", "version": 0, "at": \[0, 24\], "begins": true'
