# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Strided views: compiled, proven, run, taken apart and put together, and what is wrong with some.
tiles() { # tiles WIDTH
  cat <<EOF
fsched: 1
name: tiles
target:
  queues: [{name: q0}, {name: q1}, {name: dma, class: copy}]
  memories:
    - {name: sram, capacity: 768, backing: ddr, spill: {on: copy, write: {rate: 64}, read: {rate: 64}}}
    - {name: ddr}
buffers:
  - {name: x, size: 256, memory: sram, io: input}
  - {name: m, size: 256, memory: sram}
  - {name: y, size: 256, memory: sram, io: output}
ops:
  - name: left
    time: 3
    args:
      - {in: x, at: {shape: [16, 8], strides: [16, 1]}}
      - {out_existing: m, at: {shape: [16, $1], strides: [16, 1]}}
  - name: right
    time: 3
    args:
      - {in: x, at: {offset: 8, shape: [16, 8], strides: [16, 1]}}
      - {out_existing: m, at: {offset: 8, shape: [16, 2], strides: [16, 4], element: 4}}
  - {name: turn, kernel: {builtin: copy}, args: [{in: m, at: {shape: [16, 16], strides: [1, 16]}}, {out: y}]}
EOF
}
tiles 8 >g.yaml
run 0 "$FSCHED" compile g.yaml --verify -o g.fsb --emit schedule=g.json --emit trace=trace --emit svg=g.svg --emit c=g.c --emit stats=st
expect "both halves at once" holds err 'makespan 12'
expect "statistics" holds st '"views": {"args": 5, "coarse": 0}'
run 0 "$FSCHED" verify g.fsb -g g.yaml
run 0 "$FSCHED" verify g.json -g g.yaml
run 0 "$FSCHED" run g.fsb -q --check
run 0 "$FSCHED" run g.fsb -q --check --invocations 3 --in-flight 2
run 0 "$FSCHED" run g.fsb -q --check --on sim --durations adversarial --seed 3
if [ -e "$BUILD/test/fake_cuda/libcuda.so.1" ]; then
  for on in cuda cuda-graph; do
    FSCHED_CUDA_DRIVER=$BUILD/test/fake_cuda/libcuda.so.1 FAKE_CUDA=seed=3 \
      run 0 "$FSCHED" run g.fsb -q --check --on $on --invocations 3 --output y=on-$on
  done
  run 0 "$FSCHED" run g.fsb -q --invocations 3 --output y=on-cpu
  expect "the same on a device" same on-cpu on-cuda
  expect "the same in a graph there" same on-cpu on-cuda-graph
fi
run 0 "$FSCHED" explain g.fsb turn
expect "views, explained" holds out '^  in m as 16x16 by 1x16$'
run 0 "$FSCHED" explain g.fsb turn --format json
expect "the same as JSON" holds out '"parts": "in m as 16x16 by 1x16"'
right='in x as 16x8 by 16x1; out_existing m as 16x2 of 4 by 16x4'
expect "views in the trace" holds trace '"name":"right".*"parts":"'"$right"'"'
expect "views in the picture" holds g.svg "^$right</title>"
run 0 "$FSCHED" compile -q g.yaml --emit dot=s.dot
expect "views in one of the schedule" holds s.dot "tooltip=\"right.*n$right\""
run 0 "$FSCHED" dot g.fsb
expect "views in one of the program" holds out "tooltip=\"right.*n$right\""
run 0 "$FSCHED" dot g.yaml
expect "views in one of the graph" holds out "tooltip=\"right.*n$right\""
expect "data from both halves" [ "$(grep -c -- '->' out)" -ge 2 ]
awk 'BEGIN { print "fsched: 1\nbuffers: [{name: x, size: 256, io: input}]\nops:\n  - name: many\n    kernel: {builtin: mix, params: \"0a\"}\n    args:"
  for (i = 0; i < 10; i++) print "      - {in: x, at: {offset: " i ", shape: [4], strides: [32]}}" }' >many.yaml
run 0 "$FSCHED" dot many.yaml
expect "the first views and a number" holds out '1 byte of parameters; .*in x as 4 by 32 and 2 views more"'
expect "eight of them" [ "$(grep -o 'in x as 4 by 32' out | wc -l)" -eq 8 ]

# A copy from a view to a range turns the matrix.
sed 's/, kernel: {builtin: copy}//; s/{name: turn, args/{name: turn, kernel: {builtin: copy}, args/
  s/shape: \[16, 16\], strides: \[1, 16\]/shape: [16, 16]/' g.yaml >straight.yaml
run 0 "$FSCHED" compile -q straight.yaml -o s.fsb
run 0 "$FSCHED" run g.fsb -q --output y=turned
run 0 "$FSCHED" run s.fsb -q --output y=straight
od -An -v -tx1 -w16 straight >rows
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
  awk -v i=$i '{ printf " %s", $i } END { print "" }' rows
done >columns
od -An -v -tx1 -w16 turned >wanted
expect "the matrix is turned" same columns wanted

# As text and back.
run 0 "$FSCHED" dis g.fsb --format json
cp out g.dis
expect "views in the text" holds g.dis '"out_existing": "m", "version": 0, "at": {"offset": 8, "shape": \[16, 2\], "strides": \[16, 4\], "element": 4}'
run 0 "$FSCHED" asm g.dis -o h.fsb
expect "the same program" cmp g.fsb h.fsb

# A view that is not the graph's, and one that covers the other half, too.
sed '/"name": "left"/s/"shape": \[16, 8\], "strides": \[16, 1\]\(.*out_existing\)/"shape": [248], "strides": [1]\1/' g.dis >read.dis
run 0 "$FSCHED" asm read.dis -o read.fsb
run 0 "$FSCHED" verify read.fsb
run 4 "$FSCHED" verify read.fsb -g g.yaml
expect "another view" holds err "not the graph's: .* 'left'"
sed '/"name": "left"/s/\(out_existing.*\)"shape": \[16, 8\], "strides": \[16, 1\]/\1"shape": [248], "strides": [1]/' g.dis >wide.dis
run 0 "$FSCHED" asm wide.dis -o wide.fsb
run 4 "$FSCHED" verify wide.fsb
expect "not ordered" holds err 'are not ordered'
sed '/"name": "left"/s/"shape": \[16, 8\], "strides": \[16, 1\]/"shape": [16, 8], "strides": [16, 2]/' g.dis >long.dis
run 1 "$FSCHED" asm long.dis -o long.fsb
expect "longer than its place" holds err 'stream-place'
sed '/"name": "left"/s/\(out_existing.*\)"strides": \[16, 1\]/\1"strides": [16, 0]/' g.dis >zero.dis
run 1 "$FSCHED" asm zero.dis -o zero.fsb
expect "elements that meet" holds err 'is written, and elements of it overlap'
sed '/"name": "left"/s/"strides": \[16, 1\]/"strides": [16]/' g.dis >short.dis
run 1 "$FSCHED" asm short.dis -o short.fsb
expect "unlike lengths" holds err "'shape' and 'strides' have unlike lengths"

# Columns that both write are ordered.
tiles 9 >wide.yaml
run 0 "$FSCHED" compile wide.yaml --verify -o w.fsb
expect "one after the other" holds err 'makespan 15'
run 0 "$FSCHED" run w.fsb -q --check

# Where a loop stays one, what it touches has no views; unrolled it may.
cat >loop.yaml <<'EOF'
fsched: 1
name: rows
target: {queues: [{name: q0}, {name: q1}]}
buffers: [{name: x, size: 256, io: state}]
ops:
  - {name: first, args: [{in: x}, {out: s, size: 8}]}
  - {loop: rows, trip: 4, ops: [{name: row, args: [{inout: x, at: {length: 64, step: 64}}]}]}
EOF
run 0 "$FSCHED" compile -q loop.yaml -o l.fsb
run 0 "$FSCHED" dis l.fsb --format json
sed '/"name": "first"/s/{"in": "x", "version": 0}/{"in": "x", "version": 0, "at": {"offset": 0, "shape": [256], "strides": [1], "element": 1}}/' out >l.dis
run 0 "$FSCHED" asm l.dis -o l.fsb
run 0 "$FSCHED" verify l.fsb
sed 's/at: {length: 64, step: 64}/at: {shape: [16, 4], strides: [16, 1], step: 4}/' loop.yaml >l.yaml
run 0 "$FSCHED" compile l.yaml --unroll --verify -o l.fsb
expect "columns are independent" holds err ' makespan 3'
run 0 "$FSCHED" run l.fsb -q --check
