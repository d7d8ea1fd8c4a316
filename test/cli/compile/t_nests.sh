# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Loops in loops stay loops: compiled, counted, taken apart and put together.
nest() { # nest OUTER INNER
  cat <<END
fsched: 1
name: nest
target:
  queues: [{name: dma, class: copy}, {name: mac, class: compute}, {name: vec, class: compute}]
  memories: [{name: dram}, {name: sram, capacity: 64KiB, align: 64}]
buffers:
  - {name: A, size: 4096, memory: dram, io: input}
  - {name: B, size: 4096, memory: dram, io: input}
  - {name: C, size: 1024, memory: dram, io: output}
  - {name: a, size: 256, memory: sram}
  - {name: b, size: 256, memory: sram}
  - {name: acc, size: 256, memory: sram}
ops:
  - loop: tiles
    trip: $1
    ops:
      - {name: zero, on: vec, time: 2, args: [{out: acc}]}
      - loop: k
        trip: $2
        buffers: {a: {depth: 2}}
        ops:
          - {name: la, on: dma, time: 3, args: [{in: A, at: {length: 256, step: [1024, 256]}}, {out: a}]}
          - {name: lb, on: dma, time: 3, args: [{in: B, at: {length: 256, step: [0, 256]}}, {out: b}]}
          - {name: mm, on: mac, time: 5, args: [{in: a}, {in: b}, {inout: acc}]}
      - {name: st, on: dma, time: 4, args: [{in: acc}, {out_existing: C, at: {length: 256, step: 256}}]}
END
}
nest 4 4 >n.yaml
run 0 "$FSCHED" compile n.yaml -o n.fsb --emit stats=st --emit table=table --emit trace=trace
expect "one op" holds err '^nest: 1 op, '
expect "the outer loop" holds err '^  loop tiles: 4 iterations in [0-9]*; one every [0-9]* at best'
expect "the inner one" holds err '^  loop k: 4 iterations in 29; one every 6 at best (queue dma), runs joined$'
expect "its runs" holds st '{"name": "k", "trip": 4, "runs": 4, "span": 29, "ii": \[6, 1\]'
expect "those of the outer one" holds st '{"name": "tiles", "trip": 4, "runs": 1, '
golden table nest-table.txt

# A run takes 24 ticks of loads: the next one begins behind them, as the last product of it does.
expect "a load of the next run" holds trace '"ts":24,"dur":3,"name":"lb\[1\]\[0\]"'
expect "a product of the run before" holds trace '"ts":24,"dur":5,"name":"mm\[0\]\[3\]"'
run 0 "$FSCHED" explain n.fsb 'lb[1][0]' 'lb[0][1]' st
expect "what it waits for is in that run" holds out '^    mm\[0\]\[2\]: reuse of a slot, of 2 of b$'
expect "the first loads wait for nothing" holds out '^    mm from iteration 2 on, not yet: reuse of a slot, of 2 of b$'
expect "a part of a run" holds out '^    k\[i\] on mac: data in acc$'
run 0 "$FSCHED" explain n.fsb --format json 'lb[1][0]' st
expect "that it exists" holds out '{"op": "mm", "distance": 2, "exists": true, "why": "slot", "buffer": "b", "depth": 2}'
expect "the queue of a part" holds out '{"op": "k", "distance": 0, "queue": "mac", "why": "data", "buffer": "acc"}'
run 0 "$FSCHED" dot n.fsb -o n.dot
expect "its op leads to the body" holds n.dot '^[[:space:]]*lhead=cluster_loop0,$'
expect "a command leads to the inner body" holds n.dot '^[[:space:]]*lhead=cluster_loop1,$'

# An inner loop whose op runs in two copies, on queues by turns, and ends after its queue goes on.
cat >turns.yaml <<END
fsched: 1
target:
  queues: [{name: a, class: w}, {name: b, class: w}, {name: c, class: c}]
  memories: [{name: m, capacity: 1KiB}]
buffers: [{name: y, size: 64, memory: m, io: output}]
ops:
  - loop: runs
    trip: 3
    ops:
      - loop: turns
        trip: 9
        ops:
          - {name: x, on: w, time: 4, args: [{out: v, size: 8}]}
          - {name: z, on: c, time: 1, latency: 3, args: [{in: v}, {out_existing: y, at: {length: 4, step: [16, -1], offset: 8}}]}
END
run 0 "$FSCHED" compile turns.yaml -q -o turns.fsb --emit table=table
golden table turns-table.txt

# Further in, with indices and steps of both loops.
run 0 "$FSCHED" dis n.fsb
expect "paths" holds out '^loop tiles/k: iterations 4, copies 1, ops 3, runs joined$'
expect "rings of the inner loop" holds out '^  ring a: 256 bytes in slots of 256, depth 2, from la$'
expect "rings of the outer one" holds out '^  ring a: 512 bytes in slots of 512, depth 1, from k$'
expect "its command" holds out '^                       k\[t\]  *zero\[t\]'
expect "further in" holds out '^                         lb\[t\]\[u\]  *mm\[t\]\[u-2\]'
expect "waits within a run" holds out '^ *mm\[t\]\[u\]  *la\[t\]\[u\]  *loop  '
expect "steps of both" holds out ' r A dram\[0,256)+1024i+256j, '
expect "slots of the outer loop" holds out ' rw acc sram\[0,256) in slot i mod 2$'

run 0 "$FSCHED" dis n.fsb --format json -o n.json
expect "the loop that it is in" holds n.json '{"op": "k", "within": 0, "trip": 4, '
run 0 "$FSCHED" asm n.json -o again.fsb
expect "taken apart and put together" cmp n.fsb again.fsb
sed 's/"within": 0/"within": 1/' n.json >bad.json
run 1 "$FSCHED" asm bad.json -o bad.fsb
expect "a loop in itself" holds err 'loop 1 is in loop 1, which does not come before it'

# It is proven, and does what its iterations do one after the other.
run 0 "$FSCHED" verify n.fsb
run 0 "$FSCHED" verify n.fsb -g n.yaml
for on in cpu sim; do
  run 0 "$FSCHED" run n.fsb -q --check --on $on --output C=$on.bin --force
done
run 0 "$FSCHED" compile n.yaml -q --unroll -o flat.fsb
run 0 "$FSCHED" run flat.fsb -q --check --output C=flat.bin
expect "on threads as unrolled" cmp cpu.bin flat.bin
expect "simulated as unrolled" cmp sim.bin flat.bin
sed 's/{"op": "mm", "distance": 2}/{"op": "mm", "distance": 3}/' n.json >late.json
run 0 "$FSCHED" asm late.json -o late.fsb
run 4 "$FSCHED" verify late.fsb
expect "a wait of the inner loop that is too late" holds err 'loop k: lb\[i\] depends\|loop k: .* share'

# The size of the program does not depend on the number of iterations, of either loop.
nest 4000 7000 | sed 's/step: \[[0-9, ]*\]/step: [0, 0]/; s/step: 256/step: 0/' >long.yaml
run 0 "$FSCHED" compile long.yaml -q -o long.fsb
expect "as large" [ "$(wc -c <long.fsb)" -eq "$(wc -c <n.fsb)" ]

# Two loops in each other begin one buffer, which is read behind both.
cat >both.yaml <<'Y'
fsched: 1
target:
  queues: [{name: q0, class: c}, {name: q1, class: c}]
  memories: [{name: dram}, {name: sram, capacity: 32KiB}]
buffers:
  - {name: y, size: 4000, memory: dram, io: output}
  - {name: z, size: 64, memory: dram, io: output}
  - {name: a, size: 64, memory: sram}
ops:
  - loop: l0
    trip: 3
    ops:
      - loop: l1
        trip: 1
        ops:
          - {name: begin, on: q0, time: 5, args: [{out: a}]}
          - loop: l2
            trip: 1
            ops:
              - {name: again, on: q0, time: 9, args: [{out: a}]}
              - name: before
                on: c
                time: 8
                args:
                  - {in: a, distance: 1}
                  - {out_existing: y, at: {offset: 64, length: 184, step: [48, 0, 100]}}
            buffers: {a: {depth: 4}}
        buffers: {a: {depth: 3}}
      - {name: behind, on: q0, time: 2, args: [{in: a}, {out_existing: z, at: {offset: 48, length: 8}}]}
  - {name: end, on: c, args: [{out_existing: y}, {out_existing: z, at: {offset: 0, length: 8}}]}
Y
run 0 "$FSCHED" compile both.yaml -q --verify -o both.fsb
expect "they stay loops" [ "$("$FSCHED" dis both.fsb | grep -c '^loop ')" -eq 3 ]
run 0 "$FSCHED" compile both.yaml -q --unroll -o flat.fsb
run 0 "$FSCHED" run both.fsb -q --check --output y=y.bin --output z=z.bin --force
run 0 "$FSCHED" run flat.fsb -q --check --output y=fy.bin --output z=fz.bin --force
expect "with the bytes of their iterations" cmp y.bin fy.bin
expect "of both outputs" cmp z.bin fz.bin

# Slots of a buffer that several loops begin, or a loop and the body around it: each loop has those
# that are given to it, or that it needs, and starts over with each run.
shared() { # shared FIRST BETWEEN D1 D2
  cat <<END
fsched: 1
target: {queues: [{name: q, class: a}, {name: r, class: b}], memories: [{name: m, capacity: 4096}]}
buffers: [{name: w, size: 64, io: output, memory: m}]
ops:
  - loop: outer
    trip: 3
    ops:
$1
      - loop: one
        trip: 6
        buffers: {x: {depth: $3}}
        ops:
          - {name: load, on: a, time: 4, args: [{out: x, size: 64}]}
          - {name: use, on: b, time: 3, args: [{in: x}, {out: y, size: 8}]}
$2
      - loop: two
        trip: 6
        buffers: {x: {depth: $4}}
        ops:
          - {name: load2, on: a, time: 4, args: [{out: x, size: 64}]}
          - {name: use2, on: b, time: 3, args: [{in: x}, {out: y2, size: 8}]}
      - {name: end, on: b, args: [{in: x}, {in: v}, {out: w}]}
END
}
first='      - {name: first, on: a, args: [{out: x, size: 64}]}
      - {name: seen, on: b, args: [{in: x}, {out: v0, size: 8}]}'
mid='      - {name: mid, on: b, args: [{in: x}, {out: v, size: 64}]}'
change='      - {name: change, on: a, args: [{inout: x}, {out: u, size: 8}]}'
again='      - {name: again, on: a, args: [{in: x}, {out: x}]}'
slots() { # slots NAME SPAN SPAN: of the loops one and two; with the bytes of the unrolled graph
  run 0 "$FSCHED" compile "$1.yaml" --verify -o "$1.fsb"
  expect "$1: the first loop" holds err "loop one: 6 iterations in $2; "
  expect "$1: the second loop" holds err "loop two: 6 iterations in $3; "
  run 0 "$FSCHED" run "$1.fsb" -q --check --on sim --durations adversarial --seed 3 --output w=w.bin --force
  run 0 "$FSCHED" compile "$1.yaml" -q --unroll -o flat.fsb
  run 0 "$FSCHED" run flat.fsb -q --check --output w=flat.bin --force
  expect "$1: the bytes of its iterations" cmp w.bin flat.bin
}
shared "" "$mid" 3 2 >two.yaml
slots two 27 27
shared "" "$mid" 1 5 >uneven.yaml
slots uneven 42 27
shared "$first" "$mid
$change" 4 auto >outer.yaml
slots outer 27 27
shared "" "$mid
$again" 3 3 >between.yaml
slots between 27 27

# A schedule tells the bodies of its loops; they are compared with the plan of the graph.
run 0 "$FSCHED" compile two.yaml -q -o two.fsb --force --emit schedule=two.json
run 0 "$FSCHED" verify two.json --graph two.yaml
wrong() { # wrong STATUS SED MESSAGE
  sed "$2" two.json >wrong.json
  run "$1" "$FSCHED" verify wrong.json --graph two.yaml
  expect "$3" holds err "$3"
}
wrong 4 's/"trip": 6/"trip": 7/' "loop 'one': 'trip' is 6 in the plan of the graph \[verify-plan\]"
wrong 4 's/"copies": 1, "ops": \[{"name": "load"/"copies": 2, "ops": [{"name": "load"/' "loop 'one': 'copies' is 1 in"
wrong 4 's/"time": 27/"time": 26/' "loop 'outer': the time of an op is 27 in"
wrong 4 's/"name": "use2", "time": 3/&, "latency": 5/' "loop 'two': the latency of an op is 3 in"
wrong 4 's/"name": "load2"/"name": "load"/' "loop 'two': an op is 'load2' in"
wrong 4 's/"queue": "q", "copy"/"queue": "r", "copy"/' "loop 'one': the queue of a command is 'q' in"
wrong 4 's/"queue": "q", "begin"/"queue": "r", "begin"/' "loop 'outer': a queue is 'q' in"
wrong 4 's/"queue": "q", "begin": 0/"queue": "q", "begin": 1/' "loop 'outer': the begin on a queue is 0 in"
wrong 4 's/"op": 0/"op": 1/' "loop 'one': the op of a command is 0 in"
wrong 4 's/"copy": 0/"copy": 1/' "loop 'one': the copy of a command is 0 in"
wrong 4 's/"shift": 0/"shift": 1/' "loop 'one': the shift of a command is 0 in"
wrong 4 's/"distance": 3/"distance": 4/' "loop 'one': the distance of an edge is 3 in"
wrong 4 's/, {"from": 0, "to": 1, "distance": 0}//' "loop 'one': the number of its edges is 2 in"
wrong 4 's/"copies": 1,/& "joined": true,/' "loop 'outer': 'joined' is 0 in"
wrong 1 's/{"trip"/{"tip"/' "unknown key 'tip' \[schedule-key\]"
wrong 1 's/"name": "mid", "time": 1/&, "loop": {}/' "the op is no loop \[schedule-reference\]"

# Addresses in bodies: of what is there before the loop, in each iteration the same.
cat >address.yaml <<'END'
fsched: 1
target: {queues: [{name: q, class: a}, {name: r, class: b}]}
buffers: [{name: w, size: 64, io: output}, {name: t, size: 640, io: input}, {name: u, size: 64}]
ops:
  - {name: init, on: a, args: [{out: w}, {out: u}]}
  - loop: o
    trip: 3
    ops:
      - loop: l
        trip: 8
        ops:
          - {name: load, on: a, time: 4, args: [{no_dep: t}, {out: x, size: 64}]}
          - name: put
            on: b
            time: 4
            args:
              - {in: x}
              - {no_dep: t, at: [64, 64]}
              - {no_dep: u}
              - {out_existing: w, at: {length: 8, step: [0, 8]}}
      - {name: z, on: a, args: [{no_dep: u}, {inout: w}]}
  - {name: end, on: b, after: [o], args: [{in: u}, {inout: w}]}
END
run 0 "$FSCHED" compile address.yaml --verify -o address.fsb
expect "loops with addresses" holds err 'loop l: 8 iterations in 36; one every 4 at best'
run 0 "$FSCHED" verify address.fsb --graph address.yaml
run 0 "$FSCHED" dis address.fsb --format json -o address.json
run 0 "$FSCHED" asm address.json -o again.fsb
expect "the same from its listing" cmp address.fsb again.fsb
run 0 "$FSCHED" run address.fsb -q --check --on sim --durations adversarial --seed 3 --output w=w.bin --force
run 0 "$FSCHED" compile address.yaml -q --unroll -o flat.fsb --force
run 0 "$FSCHED" run flat.fsb -q --check --output w=flat.bin --force
expect "the bytes of their iterations" cmp w.bin flat.bin

# Slots of an inner loop, of a buffer that the outer body begins too, take the slots away that this
# has: where no depth is given, they stay if the outer loop is quicker with them.
open() { # open OUTER INNER A TIME B TIME C TIME
  cat <<END
fsched: 1
target:
  queues: [{name: q, class: a}, {name: r, class: b}, {name: s, class: c}]
  memories: [{name: m, capacity: 64KiB}]
buffers: [{name: w, size: 64, io: output, memory: m}, {name: x, size: 64, memory: m}]
ops:
  - loop: outer
    trip: $1
    ops:
      - {name: first, on: $3, time: $4, args: [{out: x}]}
      - {name: seen, on: b, time: 3, args: [{in: x}, {out: u, size: 8, memory: m}]}
      - loop: inner
        trip: $2
        ops:
          - {name: load, on: c, time: $5, args: [{out: x}]}
          - {name: use, on: b, time: $6, args: [{in: x}, {out: y, size: 8, memory: m}]}
      - {name: z, on: $7, time: $8, args: [{in: x}, {in: u}, {out: w}]}
END
}
open 2 6 a 2 5 4 c 1 >more.yaml
run 0 "$FSCHED" compile more.yaml --verify -o more.fsb
expect "more slots are quicker" holds err '^  loop outer: 2 iterations in 80; '
run 0 "$FSCHED" run more.fsb -q --check --on sim --durations adversarial --seed 3
open 9 2 c 6 1 9 b 2 >one.yaml
run 0 "$FSCHED" compile one.yaml --verify -o one.fsb
expect "more slots are slower" holds err '^  loop outer: 9 iterations in 241; '

# Runs are joined beside a value that goes on from run to run, if a run is whole turns of its slots
# and no more than the last value is read: then loads run ahead through the end of a run.  One queue
# alone uses it, so ops of the outer body may read it, too.
total() { # total TRIP DISTANCE OTHER
  cat <<END
fsched: 1
target: {queues: [{name: q, class: a}, {name: r, class: b}], memories: [{name: m, capacity: 4096}]}
buffers: [{name: w, size: 64, io: output, memory: m}]
ops:
  - {name: init, on: a, args: [{out: acc, size: 64}]}
  - loop: outer
    trip: 6
    ops:
      - loop: inner
        trip: $1
        buffers: {x: {depth: 6}}
        ops:
          - {name: load, on: a, time: 5, args: [{out: x, size: 64}]}
          - {name: sum, on: b, time: 5, args: [{in: x}, {in: acc, distance: $2}, {out: acc}]}
$3
  - {name: end, on: b, args: [{in: acc}, {out: w}]}
END
}
goes_on() { # goes_on NAME SPAN: of the outer loop; with the bytes of the unrolled graph
  run 0 "$FSCHED" compile "$1.yaml" --verify -o "$1.fsb"
  expect "$1" holds err "^  loop outer: 6 iterations in $2; "
  run 0 "$FSCHED" dis "$1.fsb" --format json -o "$1.json"
  run 0 "$FSCHED" asm "$1.json" -o again.fsb --force
  expect "$1: the same from its listing" cmp "$1.fsb" again.fsb
  run 0 "$FSCHED" run "$1.fsb" -q --check --output w=w.bin --force
  run 0 "$FSCHED" run "$1.fsb" -q --check --on sim --durations adversarial --seed 3
  run 0 "$FSCHED" run "$1.fsb" -q --check --on dynamic
  run 0 "$FSCHED" compile "$1.yaml" -q --unroll -o flat.fsb --force
  run 0 "$FSCHED" run flat.fsb -q --check --output w=flat.bin --force
  expect "$1: the bytes of its iterations" cmp w.bin flat.bin
}
total 4 1 "" >last.yaml
goes_on last 125
total 6 2 "" >older.yaml
goes_on older 210
total 4 1 "      - {name: see, on: b, args: [{in: acc}, {out: v, size: 8}]}" >seen.yaml
goes_on seen 131

# What is read behind a loop lies in a slot that it must have come to.
cat >slot.yaml <<'END'
fsched: 1
target: {queues: [{name: q}]}
buffers: [{name: z, size: 8, io: output}]
ops:
  - loop: k
    trip: 3
    ops:
      - loop: l
        trip: 2
        ops:
          - {name: w, args: [{out: r, size: 8}]}
        buffers: {r: {depth: 2}}
      - {name: u, args: [{in: r}, {out_existing: z}]}
END
run 0 "$FSCHED" compile slot.yaml -q -o slot.fsb
run 0 "$FSCHED" verify slot.fsb
run 0 "$FSCHED" dis slot.fsb --format json -o slot.json
sed '/"op": "l"/s/"trip": 2/"trip": 1/' slot.json >few.json
run 0 "$FSCHED" asm few.json -o few.fsb
run 4 "$FSCHED" verify few.fsb
expect "a slot that nothing has written" holds err 'loop k: op u\[0\] reads r where nothing was written yet'

# Loops that hand a value on to each other, and to their own next run, with slots that their iterations do not divide.
cat >chain.yaml <<'END'
fsched: 1
target:
  queues: [{name: dma, class: copy}, {name: dpu}]
  memories: [{name: cmx, capacity: 16KiB}, {name: ddr}]
buffers:
  - {name: x, size: 64KiB, io: input, memory: ddr}
  - {name: y, size: 256, io: output, memory: ddr}
ops:
  - {name: zero, args: [{out: acc, size: 64, memory: cmx}]}
  - loop: rows
    trip: 3
    ops:
    - loop: full
      trip: 23
      ops:
      - {name: load, on: dma, time: 3, args: [{in: x, at: {length: 1024, step: [256, 1024]}}, {out: tile, size: 1024, memory: cmx}]}
      - {name: add, time: 2, args: [{in: tile}, {in: acc, distance: 1}, {out: acc}]}
    - loop: masked
      trip: 5
      ops:
      - {name: loadm, on: dma, time: 3, args: [{in: x, at: {offset: 8KiB, length: 1024, step: [512, 1024]}}, {out: tilem, size: 1024, memory: cmx}]}
      - {name: addm, time: 2, args: [{in: tilem}, {in: acc, distance: 2}, {out: acc}]}
    - {name: show, args: [{in: acc}, {out_existing: y, at: {length: 64, step: 64}}]}
  - {name: end, args: [{in: acc}, {out_existing: y, at: [192, 64]}]}
END
run 0 "$FSCHED" compile chain.yaml -Werror --verify -o chain.fsb
run 0 "$FSCHED" compile chain.yaml -q --unroll -o flat.fsb --force
run 0 "$FSCHED" run flat.fsb -q --check --output y=want --force
for on in cpu sim; do
  run 0 "$FSCHED" run chain.fsb -q --on $on --check --output y=got --force
  expect "the bytes of the iterations, on $on" cmp want got
done
run 0 "$FSCHED" dis chain.fsb --format json -o chain.json
expect "three slots, to which 23 iterations and 5 come back" [ "$(grep -c '"depth": [23], "entry": true, "returns": true' chain.json)" = 2 ]
run 0 "$FSCHED" asm chain.json -o again.fsb
expect "the same from its listing" cmp chain.fsb again.fsb
sed 's/, "returns": true//' chain.json >lost.json
run 0 "$FSCHED" asm lost.json -o lost.fsb
run 4 "$FSCHED" verify lost.fsb --graph chain.yaml

# Of two loops whose loads are slow, the parts of runs would pass each other on two queues, where each
# run is one op to what is around it: they are joined in an order that both queues keep.
cat >passing.yaml <<'END'
fsched: 1
target:
  queues: [{name: q0, class: c0}, {name: q2, class: c2}]
  memories: [{name: ddr}, {name: cmx, capacity: 1KiB}]
buffers:
  - {name: x, size: 4000, memory: ddr, io: input}
  - {name: y, size: 4000, memory: ddr, io: output}
  - {name: z, size: 64, memory: ddr, io: output}
  - {name: r0, size: 64, memory: cmx}
  - {name: r2, size: 64, memory: cmx}
ops:
  - {name: init, on: q0, args: [{out: y}]}
  - loop: outer
    trip: 2
    ops:
    - loop: l1
      trip: 2
      ops:
      - {name: slow, on: q2, time: 1, latency: 8, args: [{in: x}, {out: r0}]}
      - {name: use, on: q0, args: [{in: r0}, {inout: y, at: {offset: 32, length: 16}}]}
    - loop: l2
      trip: 2
      ops:
      - {name: load, on: q0, args: [{in: x}, {out: r2}]}
      - {name: store, on: q2, args: [{in: r2}, {out_existing: y, at: {offset: 48, length: 16}}]}
  - {name: end, on: q0, args: [{inout: y}, {out: z}]}
END
run 0 "$FSCHED" compile passing.yaml -Werror --verify -o passing.fsb --force
expect "quicker than apart, which takes 28" holds err 'makespan 22,'
expect "the first ones are joined" holds err '^  loop l1: .*, runs joined$'
expect "and the others" holds err '^  loop l2: .*, runs joined$'
run 0 "$FSCHED" compile passing.yaml -q --unroll -o flat.fsb --force
run 0 "$FSCHED" run flat.fsb -q --check --output y=want --force
for durations in planned random adversarial; do
  run 0 "$FSCHED" run passing.fsb -q --on sim --durations $durations --check --output y=got --force
  expect "the bytes of the iterations" cmp want got
done
run 0 "$FSCHED" run passing.fsb -q --check --output y=got --force
expect "on threads" cmp want got

# Runs are joined also where the outer body begins the value that they find, on one queue.
cat >anew.yaml <<END
fsched: 1
name: anew
target: {queues: [{name: q0}, {name: q1}, {name: q2}]}
buffers:
  - {name: x, size: 1024, io: input}
  - {name: y, size: 64, io: output}
ops:
  - loop: rows
    trip: 4
    ops:
      - {name: zero, on: q1, args: [{out: acc, size: 16}]}
      - loop: cols
        trip: 4
        ops:
          - {name: load, on: q0, time: 4, args: [{in: x, at: {length: 16, step: [64, 16]}}, {out: tile, size: 16}]}
          - {name: add, on: q1, time: 3, args: [{in: tile}, {in: acc, distance: 1}, {out: acc}]}
      - {name: store, on: q2, time: 2, args: [{in: acc}, {out_existing: y, at: {length: 16, step: [16]}}]}
END
run 0 "$FSCHED" compile anew.yaml --verify -o anew.fsb
expect "loads run ahead through the end of a run" holds err '^  loop rows: 4 iterations in 75;'
expect "the inner one is joined" holds err '^  loop cols: 4 iterations in 19; .*, runs joined$'
run 0 "$FSCHED" compile anew.yaml -q --unroll -o u.fsb
run 0 "$FSCHED" run u.fsb -q --check --output y=flat.y
run 0 "$FSCHED" run anew.fsb -q --check --output y=loop.y
expect "the same bytes" cmp loop.y flat.y
for seed in 1 2 3 4; do
  run 0 "$FSCHED" run anew.fsb -q --check --on sim --durations adversarial --seed $seed --output y=sim.y
  expect "the same bytes, simulated" cmp sim.y flat.y
done
run 0 "$FSCHED" dis anew.fsb --format json -o anew.json
for edit in 's/"op": "store", "distance": 1/"op": "store", "distance": 2/' \
  's/"op": "cols", "distance": 0, "queue": "q1"/"op": "cols", "distance": 1, "queue": "q1"/'; do
  sed "$edit" anew.json >wrong.json
  run 0 "$FSCHED" asm wrong.json -o wrong.fsb --force
  run 4 "$FSCHED" verify wrong.fsb
done
# On several queues, or of runs that are no whole turns of the slots, they are not.
sed 's/on: q1, time: 3/on: [q1, q2], time: 3/' anew.yaml >two.yaml
run 0 "$FSCHED" compile two.yaml --verify -o two.fsb
expect "on two queues" holds err '^  loop cols: [^,]*$'
sed '/loop: cols/,/trip/s/trip: 4/trip: 5/' anew.yaml >five.yaml
run 0 "$FSCHED" compile five.yaml --verify -o five.fsb
expect "no whole turns" holds err '^  loop cols: [^,]*$'

# A loop begins a value for those around it by its last iteration alone: with fewer ones, the slot that
# is read behind them all is not written, by none of the loops.
cat >slots.yaml <<'END'
fsched: 1
target: {queues: [{name: p}], memories: [{name: m, capacity: 4096}]}
buffers: [{name: o, size: 8, io: output}]
ops:
  - loop: all
    trip: 2
    ops:
      - loop: body
        trip: 2
        ops:
          - loop: first
            trip: 2
            buffers: {r: {depth: 2}}
            ops: [{name: a, on: p, args: [{out: r, size: 8}]}]
          - loop: second
            trip: 3
            buffers: {r: {depth: 3}}
            ops: [{name: b, on: p, args: [{out: r}]}]
      - {name: c, on: p, args: [{in: r}]}
  - {name: h, on: p, args: [{out: o}]}
END
run 0 "$FSCHED" compile slots.yaml -q --verify -o slots.fsb
run 0 "$FSCHED" dis slots.fsb --format json -o slots.json
sed 's/\("op": "second", "within": [0-9]*, "trip": \)3/\12/' slots.json >fewer.json
run 0 "$FSCHED" asm fewer.json -o fewer.fsb
run 4 "$FSCHED" verify fewer.fsb
expect "a slot that nothing wrote" holds err 'op c\[0\] reads r where nothing was written yet \[verify-value\]'

# Groups of slots make copies of the outer body, in which the inner loop has three of seven units: those
# that are left over belong to neither.
cat >units.yaml <<'EOF'
fsched: 1
target: {queues: [{name: q}, {name: p}], resources: [{name: L, capacity: 7}]}
buffers: [{name: y, size: 64, io: output}, {name: z, size: 64, io: output}]
ops:
  - loop: outer
    trip: 6
    buffers: {r: {depth: 4, every: 2}}
    ops:
      - {loop: inner, trip: 1, ops: [{name: o, on: q, time: 2, uses: {L: 3}, args: [{out_existing: y}]}]}
      - {name: load, on: p, args: [{out: r, size: 8}]}
      - {name: use, on: p, args: [{in: r}, {out_existing: z}]}
  - {name: last, on: q, args: [{inout: y}, {inout: z}]}
EOF
run 0 "$FSCHED" compile units.yaml -q --verify -o units.fsb
run 0 "$FSCHED" run --check units.fsb
run 0 "$FSCHED" dis units.fsb
expect "units of the loop" holds out 'L\[0,6)'

# A loop that reads the value of the iteration before, and one of the same buffer that does not.
cat >two.yaml <<'EOF'
fsched: 1
target: {queues: [{name: c0}]}
buffers: [{name: o, size: 16, io: output}]
ops:
  - {name: z, args: [{out: w, size: 16}]}
  - {loop: l0, trip: 3, ops: [{name: a, args: [{in: w}, {out: w}]}]}
  - {loop: l1, trip: 4, ops: [{name: b, args: [{out: w}]}]}
  - {name: y, args: [{in: w}, {out: o}]}
EOF
# The last value of a loop whose trips vary is found in one place, also in a loop around it.
cat >varies.yaml <<'EOF'
fsched: 1
target: {queues: [{name: c0}, {name: d0, class: copy}]}
buffers: [{name: y, size: 8, io: output}]
ops:
  - loop: outer
    trip: 4
    ops:
      - loop: inner
        trip: {param: n, min: 1, max: 4}
        ops:
          - {name: o, on: copy, time: 3, args: [{out: v, size: 8}]}
          - {name: p, on: compute, time: 3, args: [{in: v}]}
      - {name: m, on: compute, args: [{in: v}, {out: y}]}
EOF
# Tiles of two loops whose trips vary, in slots of each.
cat >tiles.yaml <<'EOF'
fsched: 1
target: {queues: [{name: c0}, {name: d0, class: copy}]}
buffers: [{name: x, size: 4096, io: input}, {name: y, size: 4096, io: output}]
ops:
  - {name: zero, on: c0, args: [{out: y}]}
  - loop: l1
    trip: {param: n, min: 0, max: 20}
    buffers: {t: {depth: 3}}
    ops:
      - {name: load, on: d0, time: 3, args: [{in: x, at: {length: 8, step: [8]}}, {out: t, size: 8}]}
      - {name: use, on: c0, time: 3, args: [{in: t}, {inout: y, at: {length: 8, step: [8]}}]}
  - loop: l2
    trip: {param: k, min: 1, max: 20}
    buffers: {t: {depth: 3}}
    ops:
      - {name: load2, on: d0, time: 3, args: [{in: x, at: {length: 8, step: [16]}}, {out: t}]}
      - {name: use2, on: c0, time: 3, args: [{in: t}, {inout: y, at: {length: 8, step: [8]}}]}
EOF
same_as_unrolled() { # same_as_unrolled GRAPH OUTPUT [--set-param NAME=N]...
  graph=$1 output=$2
  shift 2
  run 0 "$FSCHED" run "$graph.fsb" -q --check "$@" --output "$output=got.bin" --force
  run 0 "$FSCHED" compile "$graph.yaml" -q --unroll "$@" -o flat.fsb --force
  run 0 "$FSCHED" run flat.fsb -q --output "$output=want.bin" --force
  expect "$graph as unrolled: $*" cmp got.bin want.bin
}
for graph in two varies tiles; do
  run 0 "$FSCHED" compile $graph.yaml --verify -o $graph.fsb
done
expect "tiles in slots" holds err 'makespan 123, lower bound 123 (optimal)'
same_as_unrolled two o
for n in 1 2 3 4; do same_as_unrolled varies y --set-param n=$n; done
for n in 0 1 3 20; do
  for k in 1 2 20; do same_as_unrolled tiles y --set-param n=$n --set-param k=$k; done
done

# A depth that is given stays, though values are moved then; one that is chosen is as deep as a plan
# needs, so that runs are whole turns of it.
cat >given.yaml <<'EOF'
fsched: 1
target: {queues: [{name: c0}], memories: [{name: m, capacity: 1000}]}
ops:
  - {name: z, args: [{out: y, size: 300}]}
  - loop: outer
    trip: 2
    ops:
      - loop: inner
        trip: 7
        buffers: {y: {depth: 2}}
        ops:
          - {name: w, args: [{in: y, distance: 1}, {out: y}]}
EOF
run 0 "$FSCHED" compile given.yaml -q --verify -o given.fsb --emit stats=st --force
expect "the depth that was given" holds st '"depth": 2, "prefetch": 0, "slots": 2, "given": true'
cat >turns.yaml <<'EOF'
fsched: 1
target: {queues: [{name: c0}, {name: d0, class: copy}]}
ops:
  - {name: z, args: [{out: y, size: 8}]}
  - loop: outer
    trip: 2
    ops:
      - loop: inner
        trip: 4
        ops:
          - {name: r, on: copy, time: 5, latency: 7, args: [{in: y, distance: 1}, {out: yy, size: 8}]}
          - {name: w, on: compute, time: 4, args: [{out: y}]}
EOF
run 0 "$FSCHED" compile turns.yaml --verify -o turns.fsb
expect "slots of which runs are whole turns" holds err 'makespan 45, lower bound 43'

# What is `after` a later op of its iteration is compiled as iterations.
cat >after.yaml <<'EOF'
fsched: 1
target: {queues: [{name: c0}, {name: d0, class: copy}]}
ops:
  - loop: l
    trip: 4
    ops:
      - {name: a, on: c0, args: [{out: t, size: 8}], after: [b]}
      - {name: b, on: d0, args: [{out: w, size: 8}]}
EOF
run 0 "$FSCHED" compile after.yaml --verify -o after.fsb
expect "after a later op" holds err "op 'a' is 'after' a later one of its iteration"

# The same runs are joined on barriers, which count the iterations of all of them, if there are enough.
on_barriers() { # on_barriers COUNT OUTER INNER
  nest "$2" "$3" | sed "s/^target:\$/&\n  sync: barrier\n  barriers: {count: $1}/"
}
for n in auto 10; do
  on_barriers "$n" 4 4 >b.yaml
  run 0 "$FSCHED" compile b.yaml -o b.fsb --verify --emit stats=bst
  expect "as long as with waits, of $n" holds err '^  loop tiles: 4 iterations in 113; one every 28 at best'
  expect "joined, of $n" holds err '^  loop k: 4 iterations in 29; one every 6 at best (queue dma), runs joined$'
  expect "its barriers, of $n" holds err '^  barriers: 10[ ,]'
  expect "joined in statistics, of $n" holds bst '"joined": true'
done
run 0 "$FSCHED" dis b.fsb
expect "barriers of a part" holds out '^  barriers [0-9]*\.\.[0-9]*: k@mac$'
expect "an iteration of all runs" holds out 'barrier_wait [0-9]*\.\.[0-9]* by \[4t+u-2\] mod 2$'
run 0 "$FSCHED" dis b.fsb --format json
cp out b.json
expect "the queue of a part" holds out '"producers": \["k"\], "queue": "mac"}'
run 0 "$FSCHED" asm b.json -o again.fsb
expect "the same again" cmp -s b.fsb again.fsb
for on in cpu sim; do
  run 0 "$FSCHED" run b.fsb --check --on $on
done
run 0 "$FSCHED" verify b.fsb --graph b.yaml
run 0 "$FSCHED" explain b.fsb 'lb[1][0]'
expect "an iteration of the run before" holds out '^    mm\[0\]\[2\]: reuse of a slot, of 2 of b$'
sed 's/"producers": \["k"\], "queue": "mac"}/"producers": ["k"], "queue": "dma"}/' b.json >other.json
run 0 "$FSCHED" asm other.json -o other.fsb
run 4 "$FSCHED" verify other.fsb
expect "another part" holds err "the barriers that st\[i\] waits for do not say that k\[i\] is over"
sed 's/"producers": \["k"\], "queue": "mac"}/"producers": ["k"]}/' b.json >none.json
run 1 "$FSCHED" asm none.json -o none.fsb
expect "no part" holds err "has producers of joined runs, and no queue"
on_barriers 9 4 4 >b.yaml
run 0 "$FSCHED" compile b.yaml -o b.fsb --verify
expect "too few for that" holds err '^  loop k: 4 iterations in 29; one every 6 at best (queue dma)$'
expect "as many as it takes" holds err '^  barriers: 8 of 9 used'
on_barriers 7 4 4 >b.yaml
run 3 "$FSCHED" compile b.yaml -o b.fsb
expect "too few" holds err 'the loops need 8 barriers, 7 given \[too-few-barriers\]'

# Where memory is short, too, runs stay apart if barriers are too few for those that are joined.
cat >short.yaml <<'END'
fsched: 1
target:
  sync: barrier
  barriers: {count: 9}
  queues: [{name: dma}, {name: mac}, {name: vec}]
  memories: [{name: dram}, {name: sram, capacity: 2048}]
buffers:
  - {name: A, size: 64KiB, memory: dram, io: input}
ops:
  - {name: begin, on: mac, args: [{out: sum, size: 128}]}
  - loop: tiles
    trip: 5
    ops:
      - loop: k
        trip: 4
        ops:
          - {name: la, on: dma, time: 1, args: [{in: A, at: {length: 64, step: [0, 64]}}, {out: a, size: 256}]}
          - {name: lb, on: vec, time: 6, args: [{in: A, at: {length: 64, step: [0, 64]}}, {out: b, size: 128}]}
          - {name: mm, on: mac, time: 9, latency: 10, args: [{in: a}, {in: b}, {inout: sum}]}
      - {name: zero, on: dma, args: [{out: acc, size: 256}]}
      - loop: l
        trip: 2
        buffers: {c: {depth: 8}, d: {depth: 10, every: 2}}
        ops:
          - {name: lc, on: dma, time: 5, args: [{in: A, at: {length: 64, step: [256, 64]}}, {out: c, size: 256}]}
          - {name: ld, on: dma, time: 5, args: [{in: A, at: {length: 64, step: [0, 64]}}, {out: d, size: 256}]}
          - {name: use, on: mac, time: 4, args: [{in: c}, {in: d}, {inout: acc}]}
      - {name: end, on: vec, time: 6, args: [{in: acc}]}
END
for n in auto 9; do
  sed "s/count: 9/count: $n/" short.yaml >s.yaml
  run 0 "$FSCHED" compile s.yaml -o s.fsb --verify
  cp err "s.$n"
done
expect "joined without a limit" holds s.auto 'runs joined$'
expect "apart with few barriers" holds s.9 '^  loop k: 4 iterations in [0-9]*; one every 16 planned, at least 0 (memory sram)$'
expect "as many as that takes" holds s.9 '^  barriers: [0-9]* of 9 used'
run 0 "$FSCHED" run s.fsb --check
