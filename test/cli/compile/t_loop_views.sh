# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Strided views, members and gangs on any queues of a class, in loops that stay loops: the bytes of their unrolling, and
# what is refused.
both() { # both NAME: compiled as loops and unrolled, the outputs are the same
  run 0 "$FSCHED" compile "$1.yaml" --verify -o "$1.fsb" --emit c="$1.c" --emit svg="$1.svg" --emit trace="$1.trace" --emit stats="$1.stats"
  cp err "$1.err"
  run 0 "$FSCHED" compile -q "$1.yaml" --unroll -o "$1.flat.fsb"
  run 0 "$FSCHED" verify "$1.fsb" -g "$1.yaml"
  run 0 "$FSCHED" run "$1.flat.fsb" -q --check --output y="$1.want"
  run 0 "$FSCHED" run "$1.fsb" -q --check --output y="$1.cpu"
  run 0 "$FSCHED" run "$1.fsb" -q --check --invocations 3 --in-flight 2
  run 0 "$FSCHED" run "$1.fsb" -q --check --on sim --durations adversarial --seed 7 --output y="$1.sim"
  run 0 "$FSCHED" run "$1.fsb" -q --check --on dynamic --output y="$1.dynamic"
  for on in cpu sim dynamic; do
    expect "$1 on $on" same "$1.want" "$1.$on"
  done
  if [ -e "$BUILD/test/fake_cuda/libcuda.so.1" ]; then
    for on in cuda cuda-graph; do
      FSCHED_CUDA_DRIVER=$BUILD/test/fake_cuda/libcuda.so.1 FAKE_CUDA=seed=3 \
        run 0 "$FSCHED" run "$1.fsb" -q --check --on $on --invocations 2 --output y="$1.$on"
      expect "$1 on $on" same "$1.want" "$1.$on"
    done
  fi
  run 0 "$FSCHED" dis "$1.fsb" --format json
  cp out "$1.dis"
  run 0 "$FSCHED" asm "$1.dis" -o "$1.again.fsb"
  expect "$1 as text and back" cmp "$1.fsb" "$1.again.fsb"
}

# Tiles of columns go through a ring, are turned, and then are worked on in place.
tiles() { # tiles WIDTH STEP
  cat <<END
fsched: 1
name: tiles
target:
  queues: [{name: q0}, {name: q1}, {name: dma, class: copy}]
  memories:
    - {name: sram, capacity: 2KiB, backing: ddr, spill: {on: copy}}
    - {name: ddr}
buffers:
  - {name: x, size: 1024, memory: ddr, io: input}
  - {name: y, size: 1024, memory: ddr, io: output}
  - {name: z, size: 64, memory: ddr, io: output}
ops:
  - loop: cols
    trip: 8
    buffers: {t: {depth: 2}}
    ops:
      - name: load
        on: copy
        args: [{in: x, at: {shape: [32, 4], strides: [32, 1], step: [4]}}, {out: t, size: 128, memory: sram}]
      - name: turn
        kernel: {builtin: copy}
        args:
          - {in: t, at: {shape: [4, 32], strides: [1, 4]}}
          - {out_existing: y, at: {shape: [4, 32], strides: [32, 1], step: [128]}}
  - loop: rows
    trip: 8
    ops:
      - {name: work, args: [{inout: y, at: {shape: [32, $1], strides: [32, 1], step: $2}}]}
  - {name: last, args: [{in: y, at: {shape: [32, 32]}}, {out: z}]}
END
}
tiles 4 4 >tiles.yaml
both tiles
expect "iterations beside each other" holds tiles.err "one every 0.50 at best (queue q0), by turns of 2"
expect "statistics" holds tiles.stats '"views": {"args": 5, "coarse": 0}'
run 0 "$FSCHED" dis tiles.fsb
expect "views in the listing" holds out 'r t sram\[0,128) as 4x32 by 1x4 slot 0 of 2'

# parts NAME OP TEXT: what there is to say of an op of a loop, in explanations, pictures and traces.
parts() {
  run 0 "$FSCHED" explain "$1.fsb" "$2[3]"
  expect "$2, explained" holds out "^  $3$"
  run 0 "$FSCHED" explain "$1.fsb" "$2" --format json
  expect "$2 as JSON" holds out "\"parts\": \"$3\""
  expect "$2 in the trace" holds "$1.trace" "\"name\":\"$2\[3\]\".*\"parts\":\"$3\""
  expect "$2 in the picture" holds "$1.svg" "^$3</title>"
  run 0 "$FSCHED" compile -q "$1.yaml" --emit dot="$1.dot"
  expect "$2 in that of the schedule" holds "$1.dot" "tooltip=\"$2\[.*n$3\""
  run 0 "$FSCHED" dot "$1.fsb"
  expect "$2 in that of the program" holds out "tooltip=\"$2\[.*n$3\""
  run 0 "$FSCHED" dot "$1.yaml"
  expect "$2 in that of the graph" holds out "tooltip=\"$2\[.*n$3\""
}
parts tiles turn 'in t as 4x32 by 1x4; out_existing y as 4x32 by 32x1 + 128i'

# Tiles that overlap the next ones are in their order.
tiles 6 3 >over.yaml
both over
expect "iterations in order" holds over.err "one every 1 at best"

# What leaves the buffer in some iteration is refused.
tiles 5 4 >wide.yaml
run 1 "$FSCHED" compile wide.yaml
expect "outside" holds err "in some iteration the view of 'y' has bytes outside of its 1024 bytes \[at-outside\]"

# Given content between what a loop writes stays: of views, and of ranges that leave gaps.
for at in 'shape: [8, 4], strides: [16, 1], step: [128]' 'length: 8, step: [16]'; do
  cat >gaps.yaml <<END
fsched: 1
target:
  queues: [{name: q}, {name: dma, class: copy}]
  memories:
    - {name: m, capacity: 8KiB, backing: d, spill: {on: copy}}
    - {name: d}
buffers:
  - {name: x, size: 1600, memory: m, io: input}
  - {name: y, size: 100, memory: m, io: output}
ops:
  - loop: L
    trip: 10
    ops:
      - {name: w, args: [{out_existing: x, at: {offset: 0, $at}}]}
  - {name: r, args: [{in: x, at: [0, 152]}, {out: y}]}
END
  both gaps
done

# The verifier of its own finds tiles that meet, that read what nothing has written, and that are not the graph's.
sed 's/"name": "work"\(.*\)"shape": \[32, 4\], "strides": \[32, 1\]/"name": "work"\1"shape": [31, 5], "strides": [33, 1]/
  s/"address": 1024, "size": 996/"address": 1024, "size": 995/' tiles.dis >meet.dis
run 0 "$FSCHED" asm meet.dis -o meet.fsb
run 4 "$FSCHED" verify meet.fsb
expect "tiles that meet" holds err "depends on work\[i - 1\] by y and is not ordered after it"
run 0 "$FSCHED" asm tiles.dis -o same.fsb
tiles 2 4 >thin.yaml
run 4 "$FSCHED" verify same.fsb -g thin.yaml
expect "another view" holds err "not the graph's: args of 'work' in loop 'rows'"

# Members with args of their own, of named queues and of any two of a class.
members() { # members OFFSET STEP: where the second member of `two` begins, and how it moves
  cat <<END
fsched: 1
name: members
target:
  queues: [{name: q0}, {name: q1}, {name: q2}, {name: dma, class: copy}]
  memories:
    - {name: sram, capacity: 2KiB, backing: ddr, spill: {on: copy}}
    - {name: ddr}
buffers:
  - {name: x, size: 1024, memory: ddr, io: input}
  - {name: y, size: 1024, memory: ddr, io: output}
ops:
  - {name: init, args: [{out: y}]}
  - loop: l
    trip: 8
    ops:
      - name: load
        on: copy
        args: [{in: x, at: {length: 128, step: 128}}, {out: t, size: 128, memory: sram}]
      - name: pair
        on: [q0, q1]
        members:
          - args: [{in: t, at: {shape: [4, 16], strides: [32, 1]}}, {inout: y, at: {offset: 0, length: 64, step: 128}}]
          - args: [{in: t, at: {offset: 16, length: 16}}, {value: 3}, {inout: y, at: {offset: 64, length: 64, step: 128}}]
  - loop: m
    trip: 7
    ops:
      - {name: any, on: {class: compute, count: 2}, time: 3, args: [{inout: y, at: {length: 128, step: 128}}]}
      - {name: one, on: {class: compute, count: 1}, time: 2, args: [{inout: y, at: {length: 64, step: 128}}]}
      - name: two
        on: {class: compute, count: 2}
        members:
          - {args: [{inout: y, at: {shape: [2, 8], strides: [64, 1], step: 128}}]}
          - {args: [{inout: y, at: {offset: $1, shape: [2, 8], strides: [64, 1], step: $2}}]}
END
}
members 8 128 >members.yaml
both members
parts members pair 'args for each of 2 members; member 0 in t as 4x16 by 32x1'
parts members two 'args for each of 2 members; member 0 inout y as 2x8 by 64x1 + 128i; member 1 inout y as 2x8 by 64x1 + 128i'
expect "what no choice of queues is below" holds members.err "loop m: 7 iterations in .*; one every 4 planned, at least 3.33"
members 7 128 >meet.yaml
run 1 "$FSCHED" compile meet.yaml
expect "members that meet" holds err "op 'two': one member writes bytes of 'y' that another one accesses \[member-conflict\]"
members 8 8 >unlike.yaml
run 0 "$FSCHED" compile unlike.yaml -o unlike.fsb
expect "members that move unlike each other" holds err "'m' cannot stay a loop in this version: members of op 'two'"
sed '/"name": "two"/s/"offset": 8,/"offset": 7,/; s/"address": 1032, "size": 72/"address": 1031, "size": 72/' members.dis >meet.dis
run 0 "$FSCHED" asm meet.dis -o meet.fsb
run 4 "$FSCHED" verify meet.fsb
expect "the verifier of its own" holds err "loop m: op two: a member writes what another one accesses"
sed '/"name": "pair"/s/"members": \[2, 3\]/"members": [3, 2]/' members.dis >border.dis
run 0 "$FSCHED" asm border.dis -o border.fsb
run 4 "$FSCHED" verify border.fsb -g members.yaml
expect "not the graph's members" holds err "not the graph's: members of 'pair' in loop 'l'"
