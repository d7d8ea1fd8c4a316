# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# fsched run: invocations, pools, files, users' kernels, and what is refused.
run 0 "$FSCHED" compile "$TOP/examples/figure-10.yaml" -q -o f.fsb

# Invocations
run 0 "$FSCHED" run f.fsb --invocations 50 --in-flight 3 --pool 1MiB --check
expect "how many at once" holds out 'f.fsb: up to 3 at once: '
expect "what was reserved" holds out 'f.fsb: at most \(256\|512\|768\) bytes of the pool.s 1048576 (1 MiB) were reserved'
expect "checked" holds out 'checked: 5 ops and 4 output bytes are equal'
run 0 "$FSCHED" run f.fsb --invocations 4 --in-flight 2 --pool 300 --format json
expect "one after the other where two do not fit" holds out '"runs": 4, .*"pool_bytes": 300, "pool_peak": 256'
run 3 "$FSCHED" run f.fsb --pool 255
expect "need and have" holds err '256 bytes of memory are needed at once, the pool has 255'
# Buffers placed at both ends of a large memory do not reserve what lies between.
cat >wide.yaml <<'END'
fsched: 1
target: {queues: [{name: p}, {name: q}], memories: [{name: m, capacity: 1GiB, align: 64}]}
buffers: [{name: x, size: 100, io: input}, {name: y, size: 300, io: output}]
ops:
  - {name: a, args: [{in: x}, {out: long, size: 1000}]}
  - {name: b, args: [{in: x}, {out: short, size: 1000}]}
  - {name: c, args: [{in: short}, {out: shorter, size: 100}]}
  - {name: d, args: [{in: shorter}, {in: long}, {out: y}]}
END
run 0 "$FSCHED" compile wide.yaml -q -o wide.fsb
for on in cpu sim; do
  run 0 "$FSCHED" run wide.fsb --on $on --pool 8KiB --check
done
for on in cuda cuda-graph; do
  run 0 env FSCHED_CUDA_DRIVER="$BUILD/test/fake_cuda/libcuda.so.1" \
    "$FSCHED" run wide.fsb --on $on --pool 8KiB --check
done

# These programs have barriers and syncs in place of timelines.
run 0 "$FSCHED" compile "$TOP/examples/figure-10.yaml" --set sync=barrier --set barriers.count=4 \
  -q -o barrier.fsb
run 0 "$FSCHED" compile "$TOP/examples/figure-10.yaml" --set sync=block -q -o block.fsb
for f in barrier block; do
  run 0 "$FSCHED" run $f.fsb --on auto --check --invocations 20 --in-flight 3
  expect "$f: checked" holds out 'checked: 5 ops and 4 output bytes are equal'
  run 0 "$FSCHED" run $f.fsb --on sim --durations adversarial --check --invocations 50
  for on in cuda cuda-graph; do
    run 0 env FSCHED_CUDA_DRIVER="$BUILD/test/fake_cuda/libcuda.so.1" \
      "$FSCHED" run $f.fsb --on $on --check
  done
done

run 2 "$FSCHED" run f.fsb --pool 0
run 2 "$FSCHED" run f.fsb --pool 1KB
run 2 "$FSCHED" run f.fsb --pool 257TiB
expect "the range of pools" holds err 'from 1 byte to 256 TiB'
run 2 "$FSCHED" run f.fsb --in-flight 0
run 2 "$FSCHED" run f.fsb --in-flight 1025
expect "the range" holds err 'from 1 to 1024'
run 2 "$FSCHED" run f.fsb --invocations 0
run 2 "$FSCHED" run f.fsb --repeat 2 --in-flight 2
run 0 "$FSCHED" run f.fsb --repeat 2 --pin

# Back ends
run 0 "$FSCHED" run f.fsb --on auto
expect "auto says what it takes" holds out '^f.fsb: on [a-z]*: '
run 0 "$FSCHED" run f.fsb -v --trace seen.trace --save-profile seen.json
expect "-v says which device" holds out '^f.fsb: on cpu: the processors of this machine$'
expect "-v says what is written" holds err '^  wrote seen.trace$'
expect "all of it" holds err '^  wrote seen.json$'
run 2 "$FSCHED" run f.fsb --on sim --pin
expect "pins without processors" holds err '--pin is for processors, not for --on sim'
run 2 "$FSCHED" run f.fsb --device 0
expect "the number of no device" holds err '--device is for devices with a number, not for --on cpu'
run 2 "$FSCHED" run f.fsb --on sim --device 0
run 2 "$FSCHED" run f.fsb --on tpu
FSCHED_CUDA_DRIVER=nowhere.so
export FSCHED_CUDA_DRIVER
for on in cuda cuda-graph; do
  run 5 "$FSCHED" run f.fsb --on $on
  expect "one line says why ($on)" [ "$(wc -l <err)" -eq 1 ]
done
run 0 "$FSCHED" run f.fsb --on auto --check
expect "auto falls back and says so" holds out '^f.fsb: on cpu: .*nowhere.so'
run 0 "$FSCHED" run f.fsb --on auto --pin --device 3 --format json
expect "and in JSON" holds out '"on": "cpu", "device": ".*nowhere.so'
unset FSCHED_CUDA_DRIVER
run 0 "$FSCHED" run f.fsb --on sim --check
expect "a simulation takes the planned time" holds out 'on sim, 1 run in 7000 ns simulated, fastest 7000 ns'
cp out planned
run 0 "$FSCHED" run f.fsb --on sim --check
expect "and the same each time" same out planned
for seed in 1 2 3; do
  for durations in random adversarial; do
    run 0 "$FSCHED" run f.fsb --on sim --check --durations $durations --seed $seed
  done
done
run 2 "$FSCHED" run f.fsb --durations random
run 2 "$FSCHED" run f.fsb --seed 1
run 2 "$FSCHED" run f.fsb --on sim --durations measured
run 2 "$FSCHED" run f.fsb --on sim --seed 1
expect "a seed of nothing" holds err '--seed is for durations that are drawn'
run 2 "$FSCHED" run f.fsb --on sim --durations planned --seed 1

# Files and values
cat >k.c <<'END'
#include <stdint.h>
#include "fsched/kernel.h"
/* y = x + value, in bytes; fails where the value is 99 */
int add(const fsched_kernel_call *call) {
  const uint8_t *x = call->args[0].data;
  uint8_t *y = call->args[1].data;
  for (uint64_t i = 0; i < call->args[1].length; i++) {
    y[i] = (uint8_t)(x[i] + call->args[2].value);
  }
  return call->args[2].value == 99 ? 7 : 0;
}
END
cat >k.yaml <<'END'
fsched: 1
name: k
target:
  queues: [{name: q}, {name: c, class: copy}]
  memories: [{name: m, capacity: 64, backing: s, spill: {on: copy}}, {name: s}]
buffers:
  - {name: x, size: 4, io: input}
  - {name: z, size: 4, io: output}
ops:
  - {name: one, kernel: {module: k.so, function: add}, args: [{in: x}, {out: y, size: 4}, {value: 1}]}
  - {name: two, kernel: {module: k.so, function: add}, args: [{in: y}, {out: z}, {value: 2}]}
END
${CC:-cc} -std=c11 -I"$TOP/include" -fPIC -shared -o k.so k.c
mkdir apart
run 0 "$FSCHED" compile k.yaml -q -o apart/k.fsb
run 6 "$FSCHED" run apart/k.fsb
expect "modules are closed" holds err "op 'one': module 'k.so' is not opened: modules are code, and none is allowed"
expect "what would open them" holds err 'hint: --modules DIR allows .*--trust-modules any'
run 6 "$FSCHED" run apart/k.fsb --trust-modules
expect "the module is looked for beside the stream" holds err "cannot open module 'k.so' in 'apart'"
printf 'abcd' >x.raw
run 0 "$FSCHED" run apart/k.fsb --modules . --input x=x.raw --output z=z.raw --check
expect "what the kernels made of it" [ "$(cat z.raw)" = defg ]
run 0 "$FSCHED" compile k.yaml -q -o k.fsb
run 0 "$FSCHED" run k.fsb --modules . --input x=x.raw --output z=z.npy --invocations 5 --in-flight 2
expect "an array file" [ "$(tail -c 4 z.npy)" = defg ]
cp z.npy x.npy
run 0 "$FSCHED" run k.fsb --modules . --input x=x.npy --output z=- -q
expect "to standard output" [ "$(cat out)" = ghij ]
"$FSCHED" run k.fsb --modules . --input x=- --output z=z.raw <x.raw >out 2>err
expect "from standard input" [ "$(cat z.raw)" = defg ]
run 0 "$FSCHED" run k.fsb --modules . --input x=x.raw --output z=z.raw --value one:2=-1 --value two:2=0 --check
expect "other values, checked with these too" [ "$(cat z.raw)" = "\`abc" ]
run 6 "$FSCHED" run k.fsb --modules . --value two:2=99 --output z=lost.raw
expect "a failing kernel is named with its cause" holds err "cause 7 .*op 'two': its kernel failed"
expect "and nothing is written" [ ! -e lost.raw ]
run 6 "$FSCHED" run k.fsb --modules . --value one:2=99 --invocations 100 --in-flight 4
run 2 "$FSCHED" run k.fsb --modules . --value two:1=3
expect "no value there" holds err "arg 1 of op 'two' is no value"
run 2 "$FSCHED" run k.fsb --modules . --value three:2=3
run 2 "$FSCHED" run k.fsb --modules . --value two=3
run 2 "$FSCHED" run k.fsb --modules . --value two:2=x
run 2 "$FSCHED" run k.fsb --modules . --value two:2=9223372036854775808
run 2 "$FSCHED" run k.fsb --modules . --input y=x.raw --output x=z.raw
expect "both names" [ "$(grep -c 'the program has no' err)" -eq 2 ]
expect "what they are instead: of ops" holds err "hint: it is neither input nor output of the graph"
expect "what they are instead: an input" holds err "hint: it is an input: --input NAME=FILE"
run 2 "$FSCHED" run k.fsb --modules . --input xx=x.raw --output zz=z.raw --input z=x.raw
expect "what is meant" holds err "hint: did you mean 'x'?"
expect "of outputs" holds err "hint: did you mean 'z'?"
expect "an output" holds err "hint: it is an output: --output NAME=FILE"
sed -e 's/size: 4, io: input/size: 4, io: constant/' -e 's/size: 4, io: output/size: 4, io: state/' \
  -e 's/{out: z}/{inout: z}/' k.yaml >kept.yaml
run 0 "$FSCHED" compile kept.yaml -q -o kept.fsb
run 2 "$FSCHED" run kept.fsb --input z=x.raw --output x=z.raw
expect "state" holds err "hint: it is state, which only a program of your own"
expect "a constant" holds err "hint: it is a constant: --input NAME=FILE"
run 2 "$FSCHED" run k.fsb --modules . --input x
run 2 "$FSCHED" run k.fsb --modules . --input x=x.raw --input x=x.npy
run 2 "$FSCHED" run k.fsb --modules . --input x=x.raw --output z=x.raw
run 2 "$FSCHED" run k.fsb --modules . --output z=k.fsb
run 2 "$FSCHED" run k.fsb --modules . --output z=-
run 1 "$FSCHED" run k.fsb --modules . --input x=k.c
expect "the sizes" holds err 'the file has .* bytes; 4 are expected'
run 5 "$FSCHED" run k.fsb --modules . --input x=nowhere.raw
run 5 "$FSCHED" run k.fsb --modules . --output z=nowhere/z.raw

# Profiles
run 0 "$FSCHED" run f.fsb --invocations 40 --save-profile p.json
expect "the report" holds out '^figure-10 on cpu: makespan planned '
run 0 "$FSCHED" run f.fsb --save-profile p.json --format json
if command -v python3 >/dev/null; then
  cp out j.json
  run 0 python3 -c 'import json; json.load(open("j.json"))'
else
  echo "skip: python3 is not there, JSON is not read"
fi
run 0 "$FSCHED" compile "$TOP/examples/figure-10.yaml" --profile p.json --verify -o g.fsb
run 0 "$FSCHED" run f.fsb --on sim --save-profile s.json
expect "a simulation measures its plan" holds out 'makespan planned 7.000 us, simulated 7.000 us'
run 0 "$FSCHED" run f.fsb --on sim --measured p.json --save-profile m.json --check
expect "a simulation takes the measured times" holds out 'ops and copies alone would take'
run 2 "$FSCHED" run f.fsb --measured p.json
run 2 "$FSCHED" run f.fsb --on sim --measured p.json --durations random
run 1 "$FSCHED" run f.fsb --on sim --measured f.fsb
run 5 "$FSCHED" run f.fsb --on sim --measured nowhere.json
run 2 "$FSCHED" run f.fsb --on sim --measured p.json --save-profile p.json
run 2 "$FSCHED" run f.fsb --save-profile f.fsb
run 2 "$FSCHED" run f.fsb --save-profile -
expect "which of them" holds err 'the profile and the result would both be written'
run 5 "$FSCHED" run f.fsb --save-profile nowhere/p.json

# Calibration
run 0 "$FSCHED" calibrate --largest 256KiB --capacity 64MiB -o t.yaml
printf 'fsched: 1\ntarget: t.yaml\nops: [{name: a, args: [{out: x, size: 1000}]}]\n' >g.yaml
run 0 "$FSCHED" compile g.yaml --verify -q -o g.fsb
run 0 "$FSCHED" run g.fsb --check
expect "of one thing" holds out '^g.fsb: 1 command on cpu, 1 run in '
expect "one op" holds out 'checked: 1 op and 0 output bytes are equal'
expect "the capacity" holds t.yaml 'capacity: 67108864'
expect "what was not measured is not told" [ "$(grep -c ' 0\.000 ns' t.yaml)" -eq 0 ]
expect "rates are of 1000 ns" [ "$(grep -c 'rate: [0-9]*[,}]' t.yaml)" -eq "$(grep -c 'rate: [0-9]*, per: 1000}' t.yaml)" ]
run 0 "$FSCHED" calibrate --largest 128KiB --format json --on sim
expect "as JSON" holds out '"fsched_calibration": 1, "on": "sim"'
expect "what is not measured is null" holds out '"simulated": true, .*"bytes_per_us": null'
expect "a sync" holds out '"sync_ps": \([0-9]*\|null\)}'
run 0 "$FSCHED" calibrate --largest 128KiB --on sim
expect "a simulation is called one" holds out '^# Simulated by fsched calibrate on sim: .*; a tick counts as 1 us$'
expect "and has no launches of its own" [ "$(grep -c '^launch\|^wait\|rate:' out)" -eq 0 ]
expect "copies in simulated time have no rate" holds out '^#   reads at no rate that could be seen, at no rate'
run 2 "$FSCHED" calibrate --largest 127KiB
run 2 "$FSCHED" calibrate --capacity x
expect "the least" holds err 'from 1 byte to 1 TiB'
run 2 "$FSCHED" calibrate --device 0
run 2 "$FSCHED" calibrate --device x
run 2 "$FSCHED" calibrate f.fsb
run 5 "$FSCHED" calibrate --largest 128KiB -o nowhere/t.yaml

# The limit on memory is by default what the machine has; a stream is mapped.
run 5 "$FSCHED" run f.fsb --memory-limit 1
expect "need, limit and what there is" holds err 'bytes of memory, the limit is 1; the machine has [0-9]'
expect "how to set it" holds err 'hint: run --memory-limit, or '
run 0 "$FSCHED" run f.fsb --memory-limit 1MiB --check
run 2 "$FSCHED" run f.fsb --memory-limit 0
expect "a size is wanted" holds err '.--memory-limit wants a size from 1 byte to 256 TiB'
printf 'fsched: 1\nbuffers: [{name: i, size: 60TiB, io: input}]\nops: [{name: a, args: [{in: i, at: [0, 8]}, {out: x, size: 8}]}]\n' >huge.yaml
run 0 "$FSCHED" compile huge.yaml -q -o huge.fsb
run 5 "$FSCHED" run huge.fsb
expect "more than the machine has" holds err 'needs 659[0-9]* bytes of memory, the limit is '
run 0 "$FSCHED" run f.fsb --map --check
run 1 "$FSCHED" run t.yaml --map
