# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Loops stay loops: compiled, proven, run, taken apart and put together.
loop() { # loop TRIPS STEP
  cat <<EOF
fsched: 1
name: tiles
target:
  queues: [{name: dma, class: copy}, {name: dpu, class: compute}]
  memories: [{name: cmx, capacity: 4KiB}, {name: ddr}]
buffers:
  - {name: x, size: 16KiB, memory: ddr, io: input}
  - {name: y, size: 64, memory: ddr, io: output}
ops:
  - {name: zero, on: dpu, args: [{out: acc, size: 64}]}
  - loop: tiles
    trip: $1
    buffers: {tile: {depth: 3}}
    ops:
      - {name: load, on: dma, time: 4, args: [{in: x, at: {length: 1024, step: $2}}, {out: tile, size: 1KiB}]}
      - {name: add, on: dpu, time: 2, args: [{in: tile}, {in: acc, distance: 1}, {out: acc}]}
  - {name: store, on: dma, args: [{in: acc}, {out: y}], after: [tiles]}
EOF
}
loop 8 1024 >l.yaml
run 0 "$FSCHED" compile l.yaml --verify -o l.fsb --emit schedule=l.json --emit stats=st --emit table=table
expect "summary" holds err '^  loop tiles: 8 iterations in 34; one every 4 at best (queue dma)$'
expect "three ops" holds err '^tiles: 3 ops, '
expect "statistics" holds st '"loops": \[{"name": "tiles", "trip": 8, "runs": 1, "span": 34, "ii": \[4, 1\]'
run 0 "$FSCHED" verify l.fsb -g l.yaml
run 0 "$FSCHED" verify l.json -g l.yaml
loop 9 1024 >other.yaml
run 4 "$FSCHED" verify l.fsb -g other.yaml
run 0 "$FSCHED" run l.fsb -q --check --output y=loop.y
run 0 "$FSCHED" run l.fsb -q --check --threads 1 --invocations 3 --in-flight 2 --output y=loop.y
run 0 "$FSCHED" run l.fsb -q --check --on sim --durations adversarial --seed 7 --output y=sim.y
run 0 "$FSCHED" compile l.yaml -q --unroll -o flat.fsb
run 0 "$FSCHED" run flat.fsb -q --check --output y=flat.y
expect "the same bytes" cmp loop.y flat.y
expect "the same bytes, simulated" cmp sim.y flat.y
run 0 "$FSCHED" dis l.fsb
expect "loads wait for uses" holds out '^ *load\[t\]  *add\[t-3\]'
expect "uses wait for loads" holds out '^ *add\[t\]  *load\[t\]'
expect "slots" holds out 'ring tile: 1024 bytes in slots of 1024, depth 3, from load'
expect "entry" holds out 'ring acc: .* with a value on entry'
run 0 "$FSCHED" dis l.fsb --format json -o j.json
run 0 "$FSCHED" asm j.json -o again.fsb
expect "taken apart and put together" cmp l.fsb again.fsb
run 0 "$FSCHED" explain l.fsb -g l.yaml tiles
run 0 "$FSCHED" dot l.yaml -o l.dot
expect "one node" holds l.dot 'label="tiles'

# The size of the program does not depend on the number of iterations.
loop 1000000 0 >long.yaml
run 0 "$FSCHED" compile long.yaml -q --verify -o long.fsb
expect "as large" [ "$(wc -c <long.fsb)" -eq "$(wc -c <l.fsb)" ]
run 0 "$FSCHED" verify long.fsb -g long.yaml

# Parameters get their values when the graph is read, or with each run.
cat >begins.yaml <<'EOF'
fsched: 1
target: {queues: [{name: q}]}
buffers: [{name: b, size: 8, io: output}]
ops:
- loop: k
  trip: {param: n, min: 1, max: 3}
  ops: [{name: w, time: 2, args: [{out: b}]}]
- loop: l
  trip: 2
  ops: [{name: r, args: [{in: b, distance: 1}]}]
EOF
run 0 "$FSCHED" compile begins.yaml --verify -o begins.fsb
expect "the most trips count" holds err 'makespan 8, lower bound 8 (optimal)'
run 0 "$FSCHED" run begins.fsb -q --check --set-param n=1
run 0 "$FSCHED" compile begins.yaml --verify --set-param n=1 -o begins.fsb
expect "given ones count" holds err 'makespan 4, lower bound 4 (optimal)'
sed 's/min: 1, //' begins.yaml >idle.yaml
run 1 "$FSCHED" compile idle.yaml
expect "it may not run" holds err "loop 'k' may run 0 times, and then nothing writes the output 'b'"
loop '{param: n, min: 0, max: 9}' 1024 >param.yaml
run 2 "$FSCHED" compile param.yaml --set-param n=10
run 2 "$FSCHED" compile param.yaml --unroll
expect "no value" holds err "loop 'tiles' is unrolled for a number of trips, and 'n' has no value"
run 0 "$FSCHED" compile param.yaml --verify -o open.fsb --emit stats=st
expect "its range" holds err '^  loop tiles: n (0 to 9) iterations, 9 in 38; one every 4 at best (queue dma)$'
expect "statistics" holds st '"trip": 9, "param": {"name": "n", "min": 0}, "runs": 1'
run 0 "$FSCHED" verify open.fsb -g param.yaml
run 4 "$FSCHED" verify open.fsb -g param.yaml --set-param n=9
run 0 "$FSCHED" dis open.fsb
expect "its parameter" holds out '^param n: 0 to 9$'
expect "the listing" holds out '^loop tiles: iterations n of 0 to 9, copies 1, ops 2$'
run 0 "$FSCHED" dis open.fsb --format json -o open.json
expect "its form" holds open.json '"trip": {"param": "n"}'
run 0 "$FSCHED" asm open.json -o again.fsb
expect "taken apart and put together" cmp open.fsb again.fsb
for n in 0 1 2 3 9; do
  run 0 "$FSCHED" compile param.yaml -q --set-param n=$n --verify -o p.fsb
  run 0 "$FSCHED" run p.fsb -q --check --output y=loop.y
  run 0 "$FSCHED" compile param.yaml -q --set-param n=$n --unroll -o u.fsb
  run 0 "$FSCHED" run u.fsb -q --check --output y=flat.y
  expect "$n iterations" cmp loop.y flat.y
  run 0 "$FSCHED" run open.fsb -q --check --set-param n=$n --invocations 3 --in-flight 2 --output y=open.y
  expect "$n iterations, of a parameter" cmp open.y flat.y
  run 0 "$FSCHED" run open.fsb -q --check --set-param n=$n --on sim --durations adversarial --output y=open.y
  expect "$n iterations, simulated" cmp open.y flat.y
done
run 0 "$FSCHED" run open.fsb -q --output y=open.y
expect "as many as possible" cmp open.y flat.y
run 2 "$FSCHED" run open.fsb --set-param n=10
expect "the range" holds err "'n' is 10, and the program takes 0 to 9"
run 2 "$FSCHED" run open.fsb --set-param m=1
expect "the name" holds err "no loop of the program takes its trips from 'm'"
run 2 "$FSCHED" run open.fsb --set-param n
expect "a number" holds err "set-param"
run 2 "$FSCHED" run p.fsb --set-param n=9

# A parameter is known, and its range, also where none of its loops has iterations.
cat >idle.yaml <<EOF
fsched: 1
name: idle
target: {queues: [{name: q}]}
buffers:
  - {name: x, size: 16, io: input}
  - {name: y, size: 16, io: output}
ops:
  - {loop: empty, trip: {param: k, min: 1, max: 7}, ops: []}
  - loop: off
    trip: 0
    ops:
      - loop: never
        trip: {param: m, min: 2, max: 9}
        ops:
          - {name: f, on: q, args: [{in: x}, {out_existing: y}]}
  - {name: zero, on: q, args: [{in: x}, {out: y}]}
  - loop: L
    trip: {param: n, min: 0, max: 4}
    ops:
      - {name: step, on: q, args: [{in: x}, {inout: y}]}
  - {loop: also, trip: {param: m, min: 0, max: 5}, ops: []}
EOF
run 0 "$FSCHED" compile idle.yaml -q --verify -o idle.fsb
run 0 "$FSCHED" verify idle.fsb -g idle.yaml
run 0 "$FSCHED" run idle.fsb -q --check --set-param k=7 --set-param m=2 --set-param n=3 --output y=open.y
run 0 "$FSCHED" compile idle.yaml -q --set-param k=7 --set-param m=2 --set-param n=3 --unroll -o u.fsb
run 0 "$FSCHED" run u.fsb -q --check --output y=flat.y
expect "the loop that runs" cmp open.y flat.y
for set in k=0 k=8 m=1 m=6 n=5; do
  run 2 "$FSCHED" run idle.fsb --set-param $set
  expect "the range of $set" holds err "'${set%=*}' is ${set#*=}, and the program takes"
  run 2 "$FSCHED" run idle.fsb --on sim --set-param $set
done
run 2 "$FSCHED" run idle.fsb --set-param m=6
expect "what all loops take" holds err "'m' is 6, and the program takes 2 to 5"
run 0 "$FSCHED" dis idle.fsb
expect "the parameters" holds out '^param k: 1 to 7$'
expect "one of two loops" holds out '^param m: 2 to 5$'
run 0 "$FSCHED" dis idle.fsb --format json -o idle.json
expect "their form" holds idle.json '{"name": "k", "min": 1, "max": 7},'
run 0 "$FSCHED" asm idle.json -o again.fsb
expect "taken apart and put together" cmp idle.fsb again.fsb
sed 's/max: 7/max: 8/' idle.yaml >other.yaml
run 4 "$FSCHED" verify idle.fsb -g other.yaml
expect "another range" holds err "not the graph's: name or range of parameter 'k'"
run 4 "$FSCHED" verify idle.fsb -g idle.yaml --set-param k=7
run 0 "$FSCHED" compile idle.yaml -q --set-param k=7 -o set.fsb
run 2 "$FSCHED" run set.fsb --set-param k=7
expect "one that has its value" holds err "no loop of the program takes its trips from 'k'"
sed -e '/name: zero/d' -e 's/{in: acc, distance: 1}, {out: acc}/{out: acc, size: 64}/' param.yaml >none.yaml
run 1 "$FSCHED" compile none.yaml
expect "nothing begun" holds err "loop 'tiles' may run 0 times, and then nothing has begun 'acc'"
# Behind it, the value is read on entry to a loop that then begins the buffer itself.
cat >entry.yaml <<'END'
fsched: 1
target: {queues: [{name: p}, {name: q}]}
buffers: [{name: y, size: 64, io: output}, {name: r, size: 64}]
ops:
  - loop: one
    trip: {param: n, min: 0, max: 3}
    ops: [{name: w, on: p, time: 2, args: [{out: r}]}]
  - {name: init, on: q, time: 1, args: [{out: y}]}
  - loop: two
    trip: 2
    ops:
      - {name: v, on: p, time: 2, args: [{out: r}]}
      - {name: u, on: q, time: 1, args: [{in: r, distance: 1}, {inout: y}]}
END
run 1 "$FSCHED" compile entry.yaml
expect "nothing begun on entry" holds err "loop 'one' may run 0 times, and then nothing has begun 'r'"
sed 's/min: 0/min: 1/' entry.yaml >once.yaml
run 0 "$FSCHED" compile once.yaml -q --verify -o once.fsb
for n in 1 3; do
  run 0 "$FSCHED" run once.fsb -q --check --set-param n=$n --output y=loop.y
  run 0 "$FSCHED" compile once.yaml -q --unroll --set-param n=$n -o flat.fsb
  run 0 "$FSCHED" run flat.fsb -q --check --output y=flat.y
  expect "as unrolled, $n" cmp loop.y flat.y
done
sed 's/min: 0/min: 1/' none.yaml >one.yaml
run 0 "$FSCHED" compile one.yaml -q --verify -o one.fsb
for n in 1 4 9; do
  run 0 "$FSCHED" run one.fsb -q --check --set-param n=$n --output y=open.y
  run 0 "$FSCHED" compile one.yaml -q --set-param n=$n --unroll -o u.fsb
  run 0 "$FSCHED" run u.fsb -q --check --output y=flat.y
  expect "$n iterations, the last value" cmp open.y flat.y
done

# What does not fit, and what cannot stay a loop.
run 3 "$FSCHED" compile l.yaml --memory cmx=2500
expect "need and have" holds err "loop 'tiles' does not fit memory 'cmx': needed 3200 .*, available 2500"
expect "a depth that fits" holds err "a depth of 2 of 'tile' would fit"
run 3 "$FSCHED" compile l.yaml --memory cmx=3136
expect "no less than that" holds err "needed 3200 .*, available 3136"
run 0 "$FSCHED" compile l.yaml --memory cmx=3200 -q -o l32.fsb
cat >tight.yaml <<'EOF'
fsched: 1
target: {queues: [{name: dpu}], memories: [{name: cmx, capacity: 100}, {name: ddr}]}
buffers: [{name: y, size: 256, io: output, memory: ddr}]
ops:
  - {name: z, args: [{out: acc, size: 64, memory: cmx}]}
  - loop: sums
    trip: 4
    ops:
    - {name: add, args: [{in: acc, distance: 1}, {out: acc}]}
  - {name: e, args: [{in: acc}, {out_existing: y}]}
EOF
run 3 "$FSCHED" compile tight.yaml
expect "the slots that values of earlier iterations need" holds err "loop 'sums' does not fit memory 'cmx': needed 128, available 100"
run 0 "$FSCHED" compile tight.yaml --memory cmx=128 -q -o tight.fsb
run 2 "$FSCHED" compile l.yaml --barriers 8
expect "barriers" holds err "loop 'tiles' stays a loop with the target's own kind of sync alone"

# What was wrong once.
cat >self.yaml <<'EOF'
fsched: 1
target: {queues: [{name: q0}, {name: q1, class: copy}, {name: q2}]}
buffers: [{name: fin, size: 8, io: output}]
ops:
- {name: ic0, args: [{out: c0, size: 8}]}
- loop: L
  trip: 14
  ops:
  - {name: o0, on: copy, time: 1, args: [{in: c0, distance: 5}, {out: c0}]}
  - {name: o1, time: 2, args: [{in: c0}, {out: t1, size: 8}]}
  - {name: o2, time: 5, args: [{in: c0}, {out: t2, size: 8}]}
- {name: f, args: [{in: c0}, {in: t1}, {in: t2}, {out: fin}]}
EOF
cat >large.yaml <<'EOF'
fsched: 1
target:
  queues: [{name: q1}, {name: q2}, {name: q3, class: copy}]
  memories: [{name: sram, capacity: 1MiB}, {name: ddr}]
buffers:
- {name: t1, size: 32, memory: ddr}
- {name: fin, size: 16, io: output}
ops:
- loop: L0
  trip: 7
  buffers: {t0: {depth: 3}, t2: {depth: 2}}
  ops:
  - {name: a, args: [{out: t0, size: 32}]}
  - {name: b, on: copy, args: [{out: t1}, {in: t0}]}
  - {name: c, on: copy, args: [{inout: t1}, {out: t2, size: 16}]}
  - {name: d, args: [{in: t1}, {out: t3, size: 8}]}
- {name: final, args: [{out: fin}]}
EOF
cat >lanes.yaml <<'EOF'
fsched: 1
target:
  queues: [{name: q0}, {name: q1}, {name: q2}, {name: q3}, {name: q4}]
  resources: [{name: pw, capacity: 4}]
ops:
- loop: L
  trip: 13
  ops:
  - {name: a, time: 5}
  - {name: b, on: q2}
  - {name: c, on: q0, uses: {pw: 2}}
  - {name: d, on: q1}
EOF
cat >down.yaml <<'EOF'
fsched: 1
target: {queues: [{name: q}]}
buffers:
- {name: x, size: 8, io: input}
- {name: y, size: 8, io: output}
ops:
- loop: L
  trip: 1
  ops:
  - {name: a, on: q, args: [{in: x, at: {offset: 0, length: 8, step: -8}}, {out: t, size: 8}]}
- {name: z, args: [{in: t}, {out: y}]}
EOF
cat >cut.yaml <<'EOF'
fsched: 1
target: {queues: [{name: q}]}
buffers: [{name: y, size: 256, io: output}]
ops:
- {name: i, args: [{out: y}]}
- loop: L
  trip: 1
  ops:
  - {name: a, args: [{inout: y, at: {offset: 248, length: 16, step: 8}}]}
EOF
for graph in self large lanes down cut; do
  run 0 "$FSCHED" compile $graph.yaml -q --verify -o g.fsb
  run 0 "$FSCHED" run g.fsb -q --check
done

# Ranges that move down, and that the end of the buffer cuts off in the first iterations.
sed 's/trip: 1/trip: 4/; s/step: 8/step: -8/; s/length: 16/length: 40/' cut.yaml >falls.yaml
cat >falls2.yaml <<'EOF'
fsched: 1
target: {queues: [{name: q}]}
buffers: [{name: y, size: 256, io: output}]
ops:
- loop: O
  trip: 3
  ops:
  - loop: L
    trip: 4
    ops:
    - {name: a, args: [{out_existing: y, at: {offset: 236, length: 40, step: [-20, -8]}}]}
- {name: i, args: [{inout: y, at: [200, 56]}]}
- {name: k, args: [{out_existing: y, at: [0, 200]}]}
EOF
for graph in falls falls2; do
  run 0 "$FSCHED" compile $graph.yaml -q --verify -o g.fsb
  run 0 "$FSCHED" run g.fsb -q --check --output y=y.bin --force
  run 0 "$FSCHED" dis g.fsb --format json -o g.json --force
  run 0 "$FSCHED" asm g.json -o h.fsb --force
  expect "$graph: the same from its listing" cmp g.fsb h.fsb
  run 0 "$FSCHED" compile $graph.yaml -q --unroll -o flat.fsb --force
  run 0 "$FSCHED" run flat.fsb -q --check --output y=flat.bin --force
  expect "$graph: the bytes of its iterations" cmp y.bin flat.bin
done
sed 's/name: acc, .*/&/; s/{out: acc, size: 64}/{out: y}/; s/in: acc/in: y/g; s/out: acc/out: y/g; s/{out: y}\], after/{inout: y}], after/' \
  l.yaml >io.yaml
# What is kept of a buffer that a loop begins lies in one of its slots.
run 0 "$FSCHED" compile io.yaml -q --verify -o io.fsb --emit schedule=io.json --force
run 0 "$FSCHED" verify io.fsb --graph io.yaml
run 0 "$FSCHED" verify io.json --graph io.yaml -q
run 0 "$FSCHED" dis io.fsb --format json -o g.json --force
expect "an output in slots" holds g.json '"name": "y", "size": 128, .* "io": "output", "slot": {"size": 64, "given": 0, "kept": 64}'
run 0 "$FSCHED" asm g.json -o h.fsb --force
expect "an output in slots, from its listing" cmp io.fsb h.fsb
sed 's/"kept": 64}/"kept": 0}/' g.json >other.json
run 0 "$FSCHED" asm other.json -o h.fsb --force
run 4 "$FSCHED" verify h.fsb --graph io.yaml
expect "another slot" holds err "not the graph's: buffer 'y': offset of what is kept 0 in the program, 64 in the graph"
run 0 "$FSCHED" compile io.yaml -q --unroll -o flat.fsb --force
run 0 "$FSCHED" run flat.fsb -q --check --output y=flat.bin --force
for on in cpu sim dynamic; do
  run 0 "$FSCHED" run io.fsb -q --check --on $on --output y=y.bin --force
  expect "an output in slots, on $on" cmp y.bin flat.bin
done
# What cannot stay a loop is compiled as its iterations, if these are few, and a warning says why.
sed '/queues:/d; /concurrency/d' l.yaml >none.yaml
run 0 "$FSCHED" compile none.yaml -o none.fsb
expect "no queues" holds err '^none.yaml:[0-9]*:.* warning: .*the target names no queues \[-Wunrolled\]'
run 0 "$FSCHED" compile none.yaml -q --unroll -o flat.fsb --force
expect "the program of its iterations" cmp none.fsb flat.fsb
run 0 "$FSCHED" run none.fsb -q --check
run 0 "$FSCHED" verify none.fsb --graph none.yaml -w
run 0 "$FSCHED" compile none.yaml -q --emit schedule=none.json --force
run 0 "$FSCHED" verify none.json --graph none.yaml -q
run 0 "$FSCHED" explain none.fsb 'load[2]'
run 0 "$FSCHED" compile none.yaml --diagnostics json -o none.fsb --force
expect "the warning as JSON" holds err '"severity": "warning", "code": "unrolled"'
run 1 "$FSCHED" compile none.yaml -Werror=unrolled -o no.fsb
expect "the warning as an error" holds err '\[-Werror=unrolled\]'
run 0 "$FSCHED" compile none.yaml -Wno-unrolled -o none.fsb --force
expect "no warning" [ -z "$(sed -n '/unrolled/p' err)" ]
sed 's/trip: [0-9]*/trip: 32769/; s/size: 16KiB/size: 1GiB/' none.yaml >many.yaml
run 1 "$FSCHED" compile many.yaml
expect "too many iterations" holds err 'the target names no queues \[unsupported\]'
expect "what to do" holds err 'hint: --unroll .* makes a graph of its iterations, which is not done without it for more than 65536 ops'
sed 's/trip: [0-9]*/trip: {param: n, max: 9}/' none.yaml >some.yaml
run 1 "$FSCHED" compile some.yaml
expect "a parameter" holds err "hint: --set-param .* gives 'n' a value"
run 0 "$FSCHED" compile some.yaml --set-param n=4 -o some.fsb
expect "its value" holds err 'Wunrolled'
loop 1099511627776 0 >most.yaml
run 1 "$FSCHED" compile most.yaml
expect "too long" holds err "loop 'tiles' takes .* ticks, at most 2^40 are possible \[out-of-range\]"
expect "how long" holds err "takes [0-9]* ticks"
sed 's/time: [0-9]*/time: 1099511627776/' most.yaml >beyond.yaml
run 1 "$FSCHED" compile beyond.yaml
expect "beyond all numbers" holds err "loop 'tiles' takes more than 2^63 ticks, at most 2^40 are possible"
run 0 "$FSCHED" compile l.yaml -q -Wall -Werror -o g.fsb

# Bodies beyond what is searched run one iteration after the other.
{
  sed '/ops:/,$d; /name: y,/d' l.yaml
  echo 'ops:'
  echo '  - loop: many'
  echo '    trip: 3'
  echo '    ops:'
  awk 'BEGIN { for (i = 0; i < 400; i++) printf "      - {name: o%d, on: %s}\n", i, i % 2 ? "dma" : "dpu" }'
} >many.yaml
run 0 "$FSCHED" compile many.yaml -q --verify -o g.fsb
run 0 "$FSCHED" run g.fsb -q --check

# Sizes that no address has.
cat >wide.yaml <<'EOF'
fsched: 1
target: {queues: [{name: q}, {name: c}]}
buffers: [{name: y, size: 64, io: output}, {name: t, size: 281474976710656}]
ops:
  - loop: l
    trip: 9
    buffers: {t: {depth: 4}}
    ops: [{name: a, on: q, args: [{out: t}]}, {name: b, on: c, args: [{in: t}, {out_existing: y}]}]
EOF
run 1 "$FSCHED" compile wide.yaml
expect "slots" holds err "4 slots of 't' take more than 2^48 bytes \[out-of-range\]"

# The plans of loops depend on the effort, which a stream does not tell.
cat >effort.yaml <<'END'
fsched: 1
target: {queues: [{name: q}]}
ops:
  - loop: outer
    trip: 1
    ops:
      - loop: inner
        trip: 5
        buffers: {a: {every: 4}, b: {every: 3}}
        ops:
          - {name: first, args: [{out: a, size: 0}]}
          - {name: then, latency: 2, args: [{out: b, size: 0}]}
END
run 0 "$FSCHED" compile --effort 0 effort.yaml -q -o effort.fsb
run 4 "$FSCHED" verify -g effort.yaml effort.fsb
expect "loops have other plans" holds err "not the graph's: time"
run 0 "$FSCHED" verify --effort 0 -g effort.yaml effort.fsb
run 0 "$FSCHED" explain --effort 0 -g effort.yaml effort.fsb outer
run 2 "$FSCHED" verify --effort 0 effort.fsb
expect "a stream has its plans" holds err '\-\-effort needs --graph'
run 2 "$FSCHED" dot --effort 0 effort.fsb

# Scratch counts: needed and available are told, and a depth that would fit.
room() { # room DEPTH SCRATCH
  cat <<EOF
fsched: 1
target:
  queues: [{name: d, class: copy}, {name: q}]
  memories: [{name: ddr}, {name: m, capacity: 256}]
buffers:
  - {name: x, size: 4096, memory: ddr, io: input}
  - {name: y, size: 64, memory: ddr, io: output}
ops:
  - {name: init, on: q, args: [{out: y}]}
  - loop: l
    trip: 9
    buffers: {t: {depth: $1}}
    ops:
      - {name: ld, on: d, time: 3, args: [{in: x, at: {length: 64, step: 64}}, {out: t, size: 64, memory: m}]}
      - {name: s, on: q, time: 4, scratch: {m: $2}, args: [{in: t}, {inout: y}]}
EOF
}
room 2 100 >room.yaml
run 0 "$FSCHED" compile room.yaml -q --verify -o room.fsb
room 3 100 >room.yaml
run 3 "$FSCHED" compile room.yaml -o no.fsb
expect "scratch and slots" holds err "loop 'l' does not fit memory 'm': needed 292, available 256 \[does-not-fit\]"
expect "what would fit" holds err "hint: a depth of 2 of 't' would fit"
room 1 200 >room.yaml
run 3 "$FSCHED" compile room.yaml -o no.fsb
expect "one slot and scratch" holds err "loop 'l' does not fit memory 'm': needed 264, available 256 \[does-not-fit\]"
run 3 "$FSCHED" compile room.yaml --unroll -o no.fsb
{
  room 1 150 | sed 's/{in: t}, //'
  echo '      - {name: again, on: q, scratch: {m: 150}, args: [{in: t}]}'
} >room.yaml
run 0 "$FSCHED" compile room.yaml --verify -o room.fsb
expect "on one queue they take turns" holds err 'loop l: 9 iterations in .* at best (queue q)'
run 0 "$FSCHED" run room.fsb -q --check --on sim --durations adversarial --seed 6 --output y=y.bin --force
run 0 "$FSCHED" compile room.yaml -q --unroll -o flat.fsb
run 0 "$FSCHED" run flat.fsb -q --check --output y=flat.bin --force
expect "with the bytes of their iterations" cmp y.bin flat.bin
sed -i 's/again, on: q/again, on: d/' room.yaml
run 3 "$FSCHED" compile room.yaml -o no.fsb
expect "scratch alone" holds err "loop 'l' does not fit memory 'm': needed 364, available 256 \[does-not-fit\]"
expect "whose scratch" holds err 'hint: ops of a loop share the bytes of scratch on one queue alone'
run 0 "$FSCHED" compile room.yaml -q --unroll -o flat.fsb --force

# So many iterations that queues could not count their commands.
cat >often.yaml <<'END'
fsched: 1
target: {queues: [{name: q}]}
ops:
  - loop: a
    trip: 4294967296
    ops:
      - loop: b
        trip: TRIPS
        ops: [{name: o, time: 0}]
END
sed 's/TRIPS/1073741824/' often.yaml >most.yaml
run 0 "$FSCHED" compile most.yaml -q --verify -o most.fsb
run 0 "$FSCHED" verify most.fsb -g most.yaml
sed 's/TRIPS/1073741825/' often.yaml >more.yaml
run 1 "$FSCHED" compile more.yaml -o no.fsb
expect "too many" holds err "loop 'b' has too many iterations: .* \[out-of-range\]"

# Accesses that move unlike each other count as overlapping where they might meet, and nowhere else.
apart() { # apart OFFSET
  cat <<EOF
fsched: 1
target: {queues: [{name: c0, class: copy}, {name: c1, class: copy}, {name: q}]}
buffers: [{name: y, size: 4096, io: output}]
ops:
  - {name: init, on: q, args: [{out: y}]}
  - loop: l
    trip: 8
    ops:
      - {name: a, on: copy, time: 4, args: [{inout: y, at: {length: 64, step: 64}}]}
      - {name: b, on: q, time: 2, args: [{inout: y, at: {offset: $1, length: 64, step: 32}}]}
EOF
}
apart 512 >apart.yaml
run 0 "$FSCHED" compile apart.yaml --verify -o apart.fsb
expect "no warning" [ "$(grep -c warning err)" -eq 0 ]
expect "by turns" holds err 'loop l: 8 iterations in 16; one every 2 at best'
run 0 "$FSCHED" run apart.fsb -q --check --on sim --durations adversarial --seed 5
apart 511 >meet.yaml
run 0 "$FSCHED" compile meet.yaml --verify -o meet.fsb
expect "a warning" holds err "accesses of buffer 'y' in loop 'l' move unlike each other: .* \[-Wunlike-steps\]"
run 0 "$FSCHED" run meet.fsb -q --check --on sim --durations adversarial --seed 5

# A given depth that a loop has no use for.
cat >deep.yaml <<'END'
fsched: 1
target: {queues: [{name: q, class: a}, {name: r, class: b}]}
buffers: [{name: w, size: 4, io: output}]
ops:
  - loop: outer
    trip: 4
    ops:
      - loop: inner
        trip: 2
        buffers: {x: {depth: 6}}
        ops:
          - {name: load, on: a, time: 3, args: [{out: x, size: 64}]}
          - {name: use, on: b, time: 3, args: [{in: x}, {out: y, size: 8}]}
      - {name: z, on: a, args: [{in: y}, {out: w}]}
END
run 0 "$FSCHED" compile deep.yaml -Wall -o deep.fsb
expect "fewer slots" holds err "loop 'inner' takes 2 of the 6 slots that are given for 'x' \[-Wdepth\]"
run 0 "$FSCHED" compile deep.yaml -o deep.fsb
expect "not by default" [ "$(grep -c warning err)" -eq 0 ]
run 1 "$FSCHED" compile deep.yaml -Werror=depth -q -o no.fsb

# Where the value on entry is read, one slot more than there are iterations is of use.
cat >entry.yaml <<'END'
fsched: 1
target: {queues: [{name: q, class: a}, {name: r, class: b}]}
buffers: [{name: w, size: 4, io: output}]
ops:
  - {name: begin, on: a, args: [{out: x, size: 64}, {out: w}]}
  - loop: outer
    trip: {param: n, min: 0, max: 1}
    ops:
      - loop: inner
        trip: 4
        buffers: {x: {depth: 9}}
        ops:
          - {name: load, on: a, time: 3, args: [{in: x, distance: 3}, {out: x}]}
          - {name: use, on: b, time: 3, args: [{in: x}, {in: x, distance: 3}, {out: y, size: 8}]}
      - {name: z, on: a, args: [{in: y}, {inout: w}]}
  - {name: last, on: a, args: [{in: x}, {inout: w}]}
END
run 0 "$FSCHED" compile entry.yaml -Wall -Werror -q -o entry.fsb
run 0 "$FSCHED" dis entry.fsb
expect "the value on entry counts" holds out "ring x: 64 bytes in slots of 64, depth 5, from load, with a value on entry"

# A limit of ops at a time is a resource, of which a loop has as much as its plan takes.
limited() { # limited CONCURRENCY
  cat <<END
fsched: 1
target: {queues: [{name: q, class: a}, {name: r, class: b}, {name: s, class: c}], concurrency: $1}
buffers: [{name: w, size: 64, io: output}]
ops:
  - {name: init, on: a, args: [{out: w}]}
  - loop: l
    trip: 8
    ops:
      - {name: load, on: a, time: 4, args: [{out: x, size: 64}]}
      - {name: work, on: b, time: 4, args: [{in: x}, {out: y, size: 64}]}
      - {name: put, on: c, time: 4, args: [{in: y}, {inout: w}]}
  - {name: end, on: b, args: [{inout: w}]}
END
}
for n in 1 2 3; do
  limited $n >limited.yaml
  run 0 "$FSCHED" compile limited.yaml --verify -o limited.fsb --emit schedule=limited.json --force
  case $n in
    1) expect "one by one" holds err 'loop l: 8 iterations in 96; one every 12 at best (resource concurrency)' ;;
    2) expect "two at a time" holds err 'loop l: 8 iterations in .* at least 6 (resource concurrency)' ;;
    3) expect "as many as there are queues" holds err 'loop l: 8 iterations in 40; one every 4 at best (queue q)' ;;
  esac
  run 0 "$FSCHED" verify limited.fsb --graph limited.yaml
  run 0 "$FSCHED" verify limited.json --graph limited.yaml
  run 0 "$FSCHED" run limited.fsb -q --check --on sim --durations adversarial --seed 4 --output w=w.bin --force
  run 0 "$FSCHED" compile limited.yaml -q --unroll -o flat.fsb --force
  run 0 "$FSCHED" run flat.fsb -q --check --output w=flat.bin --force
  expect "$n at a time: the bytes of its iterations" cmp w.bin flat.bin
done

# With as many slots as the iterations that a value is carried, the op works in place.
carried() { # carried DEPTH DISTANCE LATENCY
  cat <<END
fsched: 1
target: {queues: [{name: q, class: a}, {name: p, class: a}, {name: r, class: b}], memories: [{name: m, capacity: 4096}]}
buffers: [{name: w, size: 64, io: output, memory: m}]
ops:
  - {name: init, on: a, args: [{out: x, size: 64}]}
  - loop: l
    trip: 8
    buffers: {x: {depth: $1}}
    ops:
      - {name: step, on: a, time: 4, latency: $3, args: [{in: x, distance: $2}, {out: x}], inplace: {x: x}}
      - {name: use, on: b, time: 3, args: [{in: x}, {out: y, size: 8}]}
  - {name: end, on: b, args: [{in: x}, {out: w}]}
END
}
for graph in "1 1 4 56" "2 2 4 32" "3 3 9 43" "2 1 4 35"; do
  # shellcheck disable=SC2086
  set -- $graph
  carried "$1" "$2" "$3" >carried.yaml
  run 0 "$FSCHED" compile carried.yaml --verify -o carried.fsb --force
  expect "depth $1, distance $2: the plan" holds err "loop l: 8 iterations in $4; "
  expect "depth $1, distance $2: in place" [ "$(grep -c Winplace err)" -eq $(($1 > $2)) ]
  run 0 "$FSCHED" run carried.fsb -q --check --on sim --durations adversarial --seed 2 --output w=w.bin --force
  run 0 "$FSCHED" compile carried.yaml -q --unroll -o flat.fsb --force
  run 0 "$FSCHED" run flat.fsb -q --check --output w=flat.bin --force
  expect "depth $1, distance $2: the bytes of its iterations" cmp w.bin flat.bin
done

# What raw hazards leave open is done in program order in a graph with loops that stay loops.
raw() { # raw AFTER
  cat <<END
fsched: 1
hazards: raw
target: {queues: [{name: q, class: a}, {name: r, class: b}]}
buffers: [{name: w, size: 64, io: output}, {name: s, size: 64}]
ops:
  - {name: init, on: a, args: [{out: w}, {out: s}]}
  - loop: l
    trip: 8
    ops:
      - {name: load, on: a, time: 4, args: [{out: x, size: 64}]}
      - {name: put, on: b, time: 4, after: [$1], args: [{in: x}, {out_existing: w, at: {length: 8, step: 8}}]}
      - {name: sum, on: b, time: 4, args: [{in: x}, {inout: s}]}
  - {name: end, on: b, after: [l], args: [{in: s}, {inout: w}]}
END
}
raw init >raw.yaml
run 0 "$FSCHED" compile raw.yaml --verify -o raw.fsb
expect "a loop" holds err 'loop l: 8 iterations in 68; one every 8 at best (queue r)'
run 0 "$FSCHED" verify raw.fsb --graph raw.yaml
run 0 "$FSCHED" run raw.fsb -q --check --on sim --durations adversarial --seed 8 --output w=w.bin
run 0 "$FSCHED" compile raw.yaml -q --unroll -o flat.fsb --force
run 0 "$FSCHED" run flat.fsb -q --check --output w=flat.bin --force
expect "the bytes of its iterations" cmp w.bin flat.bin
raw "" >raw.yaml
run 0 "$FSCHED" compile raw.yaml --verify -o raced.fsb
expect "a race" holds err "'init' and 'put' are unordered"
run 2 "$FSCHED" run raced.fsb -q --check
run 0 "$FSCHED" run raced.fsb -q --on sim --durations adversarial --seed 9 --output w=w.bin --force
expect "in program order" cmp w.bin flat.bin
run 0 "$FSCHED" compile raw.yaml --unroll -o flat.fsb --force
expect "the same in its iterations" holds err "'init' and 'put' are unordered"

cat >raw.yaml <<'END'
fsched: 1
hazards: raw
target: {queues: [{name: q}, {name: r}]}
buffers: [{name: z, size: 16, io: output}]
ops:
  - {name: first, on: q, args: [{out: z}]}
  - {loop: l, trip: 4, ops: [{name: o, on: r, args: [{out_existing: z, at: [0, 8]}]}]}
  - {name: last, on: q, args: [{out_existing: z, at: [0, 8]}]}
END
run 0 "$FSCHED" compile raw.yaml --verify -o raced.fsb --force
expect "races of loops with ops" holds err "'o' and 'last' are unordered"
expect "they are in program order" holds err 'makespan 6, lower bound 4, 2 waits'
run 0 "$FSCHED" verify raced.fsb --graph raw.yaml
run 0 "$FSCHED" run raced.fsb -q --on sim --durations adversarial --seed 9

# A limit of ops, queues that go on early and a gang: waits of lanes may be held back in a circle.
cat >circle.yaml <<'END'
fsched: 1
target:
  queues: [{name: q0, class: c0}, {name: q1, class: c1}, {name: q2, class: c1}]
  memories: [{name: ddr}, {name: cmx, capacity: 16KiB}]
  resources: [{name: L, capacity: 4}]
  concurrency: 2
buffers:
  - {name: x, size: 4000, memory: ddr, io: input}
  - {name: y, size: 4000, memory: ddr, io: output}
  - {name: z, size: 64, memory: ddr, io: output}
  - {name: r0, size: 64, memory: cmx}
ops:
  - {name: init, on: q2, args: [{out: y}]}
  - loop: lp
    trip: 2
    buffers: {r0: {depth: 5, every: 2}}
    ops:
      - {name: o0, on: c0, time: 1, scratch: {cmx: 40}, args: [{in: y, at: {offset: 0, shape: [2, 50], strides: [300, 1], step: [200]}}, {out_existing: z, at: {offset: 0, length: 8}}]}
      - {name: o1, on: c1, time: 4, args: [{out_existing: y, at: {offset: 0, shape: [8, 4], strides: [100, 4], element: 4, step: [16]}}]}
      - {name: o2, on: q2, time: 5, uses: {L: 3}, after: [{op: o0, distance: 0}], args: [{out: r0}, {in: x, at: {offset: 0, shape: [2, 3], strides: [40, 8], element: 4, step: [0]}}]}
      - {name: o3, on: [q1, q2], time: 7, latency: 15, scratch: {cmx: 8}, after: [{op: o1, distance: 1}], members: [{args: []}, {args: [{out_existing: y, at: {offset: 64, length: 16, step: [200]}}]}]}
      - {name: o4, on: q0, time: 9, uses: {L: 3}, args: [{in: x, at: {offset: 1500, shape: [2, 2, 2], strides: [50, 20, 6], element: 3, step: [0]}}, {out_existing: z, at: {offset: 32, length: 8}}]}
  - {name: post0, on: q2, args: [{in: r0}, {out_existing: z, at: {offset: 40, length: 8}}]}
  - {name: fin, on: c1, args: [{inout: y}]}
END
for how in "" --unroll; do
  # shellcheck disable=SC2086
  run 0 "$FSCHED" compile circle.yaml $how -q --verify -o circle.fsb --force
  run 0 "$FSCHED" run circle.fsb -q --check --on sim --durations adversarial --seed 2
done

# Copies of the body: scratch is that of the queue that each of them keeps.
scratches() { # scratches CAPACITY
  cat <<END
fsched: 1
target:
  queues: [{name: q0, class: c}, {name: q1, class: c}]
  memories: [{name: ddr}, {name: m, capacity: $1}]
buffers:
  - {name: x, size: 512, memory: ddr, io: input}
  - {name: y, size: 512, memory: ddr, io: output}
ops:
  - {name: init, on: c, args: [{out: y}]}
  - loop: l
    trip: 64
    ops:
      - {name: a, on: c, time: 10, scratch: {m: 256}, args: [{in: x, at: {length: 8, step: 8}}, {out_existing: y, at: {length: 8, step: 8}}]}
      - {name: b, on: c, time: 10, scratch: {m: 256}, args: [{in: x, at: {length: 8, step: 8}}]}
      - {name: d, on: c, time: 10, scratch: {m: 256}, args: [{in: x, at: {length: 8, step: 8}}]}
END
}
scratches 512 >scratches.yaml
run 0 "$FSCHED" compile scratches.yaml --verify -o scratches.fsb
expect "copies with scratch" holds err 'one every 15 at best (queue q0), by turns of 2 iterations'
run 0 "$FSCHED" verify scratches.fsb --graph scratches.yaml
run 0 "$FSCHED" run scratches.fsb -q --check --on sim --durations adversarial --seed 3 --output y=y.bin --force
run 0 "$FSCHED" compile scratches.yaml -q --unroll -o flat.fsb --force
run 0 "$FSCHED" run flat.fsb -q --check --output y=flat.bin --force
expect "with the bytes of their iterations" cmp y.bin flat.bin
run 0 "$FSCHED" dis scratches.fsb
expect "the first queue's scratch" [ "$(grep -c 'w m\[0,256)' out)" -ge 3 ]
expect "the other's" [ "$(grep -c 'w m\[256,512)' out)" -ge 3 ]
scratches 511 >scratches.yaml
run 3 "$FSCHED" compile scratches.yaml -o no.fsb
expect "scratch of both queues" holds err "needed 512, available 511"

# So few iterations that more slots are of no use: nobody gave them, and no bound counts them.
cat >few.yaml <<'END'
fsched: 1
target: {queues: [{name: dma}, {name: mma}, {name: e}]}
ops:
  - loop: l
    trip: 2
    ops:
      - {name: load, on: dma, time: 4, args: [{out: x, size: 64}]}
      - {name: use, on: mma, time: 4, args: [{in: x}, {out: y, size: 8}]}
      - {name: more, on: e, time: 4, args: [{in: x}, {in: y}]}
END
run 0 "$FSCHED" compile few.yaml --verify -o few.fsb
expect "a bound without limited slots" holds err 'one every 6 planned, at least 4 (trips x)'

# With more slots the interval would be smaller, but so few trips have no use for them.
cat >few.yaml <<'END'
fsched: 1
target: {queues: [{name: p}, {name: q}], memories: [{name: m, capacity: 4096}]}
buffers: [{name: o, size: 8, io: output}]
ops:
  - loop: L
    trip: 3
    ops:
      - {name: load, on: p, time: 1, latency: 9, args: [{out: t, size: 8}]}
      - {name: use, on: q, time: 1, args: [{in: t}]}
  - {name: h, on: p, args: [{out: o}]}
END
run 0 "$FSCHED" compile few.yaml --verify -o few.fsb --emit schedule=few.json
expect "trips limit the slots" holds err '^  loop L: .* planned, at least 1 (trips t)$'
expect "so says JSON" holds few.json '"limited_by": "trips"'
sed 's/    trip: 3/    trip: 3\n    buffers: {t: {depth: 3}}/' few.yaml >given.yaml
run 0 "$FSCHED" compile given.yaml --verify -o given.fsb
expect "a depth that is given limits them itself" holds err '^  loop L: .*(slots t)$'
sed 's/trip: 3/trip: 30/' few.yaml >many.yaml
run 0 "$FSCHED" compile many.yaml --verify -o many.fsb
expect "many trips do not" holds err '^  loop L: .*; one every 1 at best (queue [pq])$'

# What is read of longer ago than there are iterations is there on entry, and is not written before it was
# read: the op that does so ends behind the queue's next start.
for distance in 1 2 3; do
  cat >ago.yaml <<END
fsched: 1
target: {queues: [{name: q0}], memories: [{name: cmx, capacity: 16KiB}]}
buffers: [{name: z, size: 64, io: output}, {name: r, size: 64}]
ops:
  - {name: pre, on: q0, args: [{out: r}]}
  - loop: lp
    trip: 1
    ops:
      - {name: a, time: 9, latency: 13, on: q0, args: [{in: r, distance: $distance}]}
      - {name: b, time: 8, on: q0, args: [{inout: r}]}
      - {name: c, time: 5, on: q0, args: [{out: r}]}
  - {name: last, on: q0, args: [{out: z}]}
END
  run 0 "$FSCHED" compile ago.yaml -q --verify -o ago.fsb --force
done

# Depths that are chosen take no more barriers than those of the interval.
cat >few.yaml <<'END'
fsched: 1
target:
  sync: barrier
  barriers: {count: auto}
  queues: [{name: q0, class: c}, {name: q1, class: c}, {name: q2, class: c}]
  memories: [{name: ddr}, {name: cmx}]
buffers: [{name: y, size: 8000, memory: ddr, io: output}, {name: b0, size: 128, memory: cmx}]
ops:
  - {name: init, on: q0, time: 3, args: [{out: y}]}
  - loop: lp
    trip: 18
    ops:
      - {name: o0, on: q1, time: 6, args: [{out_existing: y, at: {offset: 0, length: 16, step: [100]}}]}
      - {name: o1, on: c, time: 4, latency: 12, args: [{out: b0}]}
  - {name: fin, on: q0, time: 1, args: [{inout: y}]}
END
run 0 "$FSCHED" compile few.yaml --barriers 4 --verify -o few.fsb
run 0 "$FSCHED" compile few.yaml --verify -o few.fsb --force
