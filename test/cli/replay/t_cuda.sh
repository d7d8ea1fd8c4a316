# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# fsched run --on cuda and cuda-graph are run with a driver that runs on the processor.
FSCHED_CUDA_DRIVER=$BUILD/test/fake_cuda/libcuda.so.1
FAKE_CUDA_REPORT=$PWD/report
FAKE_CUDA=
export FSCHED_CUDA_DRIVER FAKE_CUDA_REPORT FAKE_CUDA

# Bytes and digests are those of the sequential evaluation, in whatever order the driver executes, and
# the driver notes no fault.
for graph in figure-10 transformer/graph tiles/graph; do
  run 0 "$FSCHED" compile -q "$TOP/examples/$graph.yaml" -o p.fsb --verify
  for kind in cuda cuda-graph; do
    for seed in 0 2; do
      FAKE_CUDA=seed=$seed
      run 0 "$FSCHED" run --on $kind --check --invocations 3 --in-flight 2 p.fsb
      expect "$graph on $kind: not checked" holds out "are equal"
    done
  done
done
# So are those of loops, which a graph has unrolled.
for graph in attention gemm-tiles; do
  run 0 "$FSCHED" compile -q "$TOP/examples/$graph/graph.yaml" -o l.fsb --verify
  for kind in cuda cuda-graph; do
    for seed in 0 2; do
      FAKE_CUDA=seed=$seed
      run 0 "$FSCHED" run --on $kind --check --invocations 3 --in-flight 2 l.fsb
      expect "$graph with loops on $kind: not checked" holds out "are equal"
    done
  done
done
expect "the driver was misused: $(cat report 2>/dev/null)" [ ! -s report ]
FAKE_CUDA=

cat >in-loop.yaml <<'EOF'
fsched: 1
target: {queues: [{name: q, class: compute}], memories: [{name: m, capacity: 64}]}
buffers: [{name: out, size: 8, io: output}]
ops:
  - {loop: L, trip: 3, ops: [{name: f, args: [{out_existing: out}], kernel: {module: kernels.ptx, function: none}}]}
EOF
run 0 "$FSCHED" compile -q in-loop.yaml -o l.fsb
run 0 "$FSCHED" run --on cuda --modules "$TOP/test/cuda_modules" l.fsb
run 0 "$FSCHED" run --on cuda-graph --modules "$TOP/test/cuda_modules" l.fsb
sed 's/trip: 3/trip: 16385/' in-loop.yaml >long.yaml
run 0 "$FSCHED" compile -q long.yaml -o l.fsb
run 2 "$FSCHED" run --on cuda-graph --modules "$TOP/test/cuda_modules" l.fsb
expect "no reason: $(cat err)" holds err "in a loop, here 16385, and at most 16384"
expect "no advice: $(cat err)" holds err "streams (cuda) run any loop"

# Module files are looked for from the directory of the program's file, or where --modules says.
cat >module.yaml <<'EOF'
fsched: 1
buffers: [{name: out, size: 8, io: output}]
ops:
  - {name: f, args: [{out: out}], kernel: {module: kernels.ptx, function: none}}
EOF
run 0 "$FSCHED" compile -q module.yaml -o m.fsb
run 0 "$FSCHED" run --on cuda --modules "$TOP/test/cuda_modules" m.fsb
run 0 "$FSCHED" run --on cuda-graph --modules "$TOP/test/cuda_modules" m.fsb
run 6 "$FSCHED" run --on cuda --modules "$TOP/test" m.fsb
expect "the module is not named" holds err "kernels.ptx"

# Without a device there is one line, and exit status 5; auto uses the processors instead.
none() { # TEXT, the driver's settings or path being set
  for kind in cuda cuda-graph; do
    run 5 "$FSCHED" run --on $kind p.fsb
    expect "not one line about '$1': $(cat err)" [ "$(wc -l <err)" -eq 1 ]
    expect "no reason '$1': $(cat err)" holds err "$1"
  done
  run 0 "$FSCHED" run --on auto --check p.fsb
  expect "auto does not say '$1': $(cat out)" holds out "on cpu: .*$1"
}
FAKE_CUDA=devices=0
none "the CUDA driver finds no device"
FAKE_CUDA=stub=1
none "stub library"
FAKE_CUDA=version=11040
none "of CUDA 12.0"
FAKE_CUDA=
FSCHED_CUDA_DRIVER=/nowhere/libcuda.so.1
none "no CUDA driver: /nowhere/libcuda.so.1"
FSCHED_CUDA_DRIVER=$BUILD/test/fake_cuda/libcuda.so.1
run 0 "$FSCHED" run --on auto p.fsb
expect "auto does not name the device" holds out "on cuda: Fake device 0"
run 5 "$FSCHED" run --on cuda --device 1 p.fsb
expect "no other device" holds err "there is no CUDA device 1"

# When the driver fails, a lack of memory or devices is exit status 5, a failure during the run is exit
# status 6.
FAKE_CUDA=memory=4
run 5 "$FSCHED" run --on cuda p.fsb
expect "no word about memory" holds err "Fake device 0 refuses"
FAKE_CUDA=execution=3:719
run 6 "$FSCHED" run --on cuda p.fsb
expect "no word about the failure" holds err "CUDA_ERROR_LAUNCH_FAILED (719)"
run 6 "$FSCHED" run --on cuda-graph p.fsb
expect "what is left: $(cat report 2>/dev/null)" [ ! -s report ]

# A kernel that never returns is named, in a row of runs or beside others, and the program ends with
# status 6, in no way that would wait for the driver.
cat >hang.yaml <<'EOF2'
fsched: 1
target: {queues: [{name: p, class: a}, {name: q, class: b}]}
buffers: [{name: o1, size: 8, io: output}, {name: o2, size: 8, io: output}]
ops:
  - {name: f, on: a, args: [{out: o1}], kernel: {module: kernels.ptx, function: slow}}
  - {name: g, on: b, args: [{out: o2}], kernel: {module: kernels.ptx, function: none}}
EOF2
run 0 "$FSCHED" compile -q hang.yaml -o hang.fsb
named="queue 'p' is stuck at command 1 (op 'f'): its kernel, function 'slow' of module 'kernels.ptx', has not returned for [0-9]* ms, since [0-9]* ms after the begin of the invocation"
rm -f report
for kind in cuda cuda-graph; do
  for with in "" "--invocations 6" "--invocations 6 --in-flight 2" "--trace t.json"; do
    for at in 1 4; do
      FAKE_CUDA=hang=slow:$at
      want=6
      case $with:$at in :4 | --trace*:4) want=0 ;; esac
      # shellcheck disable=SC2086
      run $want timeout 60 "$FSCHED" run --on $kind --timeout 0.1 $with \
        --modules "$TOP/test/cuda_modules" hang.fsb
      [ $want -eq 0 ] || expect "$kind $with: not named: $(cat err)" holds err "$named"
    done
  done
done
# In a loop, so is its iteration.
cat >hang-loop.yaml <<'EOF2'
fsched: 1
target: {queues: [{name: p, class: a}, {name: q, class: b}], memories: [{name: m, capacity: 64}]}
buffers: [{name: o1, size: 8, io: output}]
ops:
  - loop: L
    trip: 9
    buffers: {t: {depth: 2}}
    ops:
      - {name: f, on: a, args: [{out: t, size: 8}]}
      - {name: g, on: b, args: [{inout: t}], kernel: {module: kernels.ptx, function: slow}}
  - {name: h, on: b, args: [{out: o1}]}
EOF2
run 0 "$FSCHED" compile -q hang-loop.yaml -o hang-loop.fsb
FAKE_CUDA=hang=slow:6
for kind in cuda cuda-graph; do
  run 6 timeout 60 "$FSCHED" run --on $kind --timeout 0.1 --modules "$TOP/test/cuda_modules" hang-loop.fsb
  expect "$kind: the iteration is not named: $(cat err)" \
    holds err "queue 'q' is stuck at command 2 (op 'L', iteration 5 of 'g'): its kernel, function 'slow'"
done
FAKE_CUDA=hang=slow:1
run 6 "$FSCHED" run --on cuda --timeout 0.1 --diagnostics json --format json \
  --modules "$TOP/test/cuda_modules" hang.fsb
expect "as JSON: $(cat err)" holds err '^{"severity": "error", "code": "replay-stuck", .*queue .p. is stuck'
expect "the driver was waited for: $(cat report 2>/dev/null)" [ ! -e report ]
