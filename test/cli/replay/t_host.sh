# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Queues and memories of the host: from the graph through every form to every back end.
FSCHED_CUDA_DRIVER=$BUILD/test/fake_cuda/libcuda.so.1
FAKE_CUDA_REPORT=$PWD/report
FAKE_CUDA=seed=3
export FSCHED_CUDA_DRIVER FAKE_CUDA_REPORT FAKE_CUDA
cat >g.yaml <<'EOF'
fsched: 1
name: hosts
target:
  queues: [{name: dev, class: dev}, {name: post, class: cpu, host: true}]
  memories: [{name: dm, capacity: 1KiB}, {name: hm, capacity: 1KiB, host: true}]
buffers: [{name: in, size: 64, io: input, memory: dm}, {name: out, size: 64, io: output, memory: hm}]
ops:
  - {name: a, on: dev, args: [{in: in}, {out: x, size: 64, memory: hm}]}
  - {name: b, on: cpu, args: [{in: x}, {out: out}]}
EOF
run 0 "$FSCHED" compile -q g.yaml --verify -o g.fsb
run 0 "$FSCHED" dis g.fsb
expect "a queue of the host" holds out '^queue post (class cpu, device 0, machine 0, host): commands 1$'
expect "the other one" holds out '^queue dev (class dev, device 0, machine 0): commands 1$'
expect "a memory of the host" holds out '^hm .* contiguous, host'
run 0 "$FSCHED" dis g.fsb --format json
cp out g.dis
expect "its queue in JSON" holds g.dis '"name": "post", "class": "cpu", "device": 0, "machine": 0, "host": true,'
expect "its memory in JSON" holds g.dis '"name": "hm", .*"extent": [0-9]*, "host": true}'
run 0 "$FSCHED" asm g.dis -o h.fsb
expect "the same program" cmp g.fsb h.fsb

# The flags are the graph's.
for what in queues.post.host=false memories.hm.host=false queues.dev.host=true memories.dm.host=true; do
  run 0 "$FSCHED" verify g.fsb -g g.yaml
  run 0 "$FSCHED" compile -q g.yaml --set $what -o other.fsb
  expect "$what makes another program" sh -c '! cmp -s g.fsb other.fsb'
  run 4 "$FSCHED" verify other.fsb -g g.yaml
  expect "$what is refuted" holds err "host [01] in the program, [01] in the graph"
done
sed 's/host: true/host: maybe/' g.yaml >bad.yaml
run 1 "$FSCHED" compile -q bad.yaml -o bad.fsb
expect "no flag" holds err "'host' cannot be 'maybe'"

for kind in svg dot; do
  run 0 "$FSCHED" compile -q g.yaml --emit $kind=p.$kind
  expect "$kind knows it" holds p.$kind 'post (host)'
  expect "$kind knows the other" sh -c "! grep -q 'dev (host)' p.$kind"
done
run 0 "$FSCHED" dot g.fsb
expect "so does the program's picture" holds out 'post (host)'

for on in cpu sim cuda cuda-graph; do
  run 0 "$FSCHED" run g.fsb -q --on $on --check --invocations 3 --in-flight 2 --output out=$on.bytes
  expect "$on: the same bytes" cmp cpu.bytes $on.bytes
done
expect "the driver was misused: $(cat report 2>/dev/null)" [ ! -s report ]

# What a device cannot do is said when the program is loaded; threads do it.
run 0 "$FSCHED" compile -q g.yaml --set memories.hm.host=false -o d.fsb
for on in cuda cuda-graph; do
  run 2 "$FSCHED" run d.fsb -q --on $on
  expect "$on says why" holds err "op 'b' runs on 'post', a queue of the host, and touches memory 'hm', which is the device's"
  expect "$on says what helps" holds err "give the memory 'host: true'"
done
run 0 "$FSCHED" run d.fsb -q --on cpu --check
