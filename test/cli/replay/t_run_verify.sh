# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# fsched run verifies what it loads, on every back end, and reports what fsched verify reports; other
# commands that read a wrong stream do not crash.
run 0 "$FSCHED" compile "$TOP/examples/figure-10.yaml" -q -o f.fsb
"$FSCHED" dis f.fsb --format json >f.json
sed -e 's/"waits": \[[^]]*\]/"waits": []/' -e 's/"signal": true/"signal": false/' \
  -e 's/"scope": "device"/"scope": "queue"/' f.json >lost.json
run 0 "$FSCHED" asm lost.json -o lost.fsb
run 4 "$FSCHED" verify lost.fsb
mv err verified
FSCHED_CUDA_DRIVER="$BUILD/test/fake_cuda/libcuda.so.1"
export FSCHED_CUDA_DRIVER
for on in cpu sim dynamic cuda cuda-graph auto; do
  run 4 "$FSCHED" run lost.fsb --on $on
  expect "on $on: as verify says it" same err verified
  expect "on $on: no result" empty out
  run 4 "$FSCHED" run lost.fsb --on $on --format json
  expect "on $on: no object" empty out
  heap=$([ $on = dynamic ] && echo "--heap 1MiB")
  # shellcheck disable=SC2086 # the option is two words, or none
  run 0 "$FSCHED" run f.fsb --on $on --check $heap
done
unset FSCHED_CUDA_DRIVER
run 4 "$FSCHED" run lost.fsb --diagnostics json
expect "as objects" holds err '"code": "verify-edge"'
sh -c '"$0" run - -q <lost.fsb' "$FSCHED" 2>err
expect "from standard input" holds err '^<stdin>: error: .*\[verify-[a-z]*\]$'
run 4 "$FSCHED" run lost.fsb -q
expect "-q leaves the verdict out" [ -z "$(grep refuted err)" ]

# Before that, nothing is read, written or asked of a device.
run 4 "$FSCHED" run lost.fsb -q --trace trace.json --save-profile profile.json --check
expect "no results" [ ! -e trace.json -a ! -e profile.json ]
run 4 env FSCHED_CUDA_DRIVER=nowhere.so "$FSCHED" run lost.fsb --on cuda

# --no-verify leaves the proof out.
run 0 "$FSCHED" run f.fsb --no-verify --check
run 6 "$FSCHED" run lost.fsb --no-verify --check
run 0 "$FSCHED" run lost.fsb --no-verify -q
expect "without a word" empty err
run 6 "$FSCHED" run lost.fsb --no-verify -q --on sim

# Races that are declared are right; a race that is not declared is wrong.
cat >raw.yaml <<'END'
fsched: 1
hazards: raw
target: {queues: [{name: p}, {name: q}]}
ops:
  - {name: a, on: p, args: [{out: x, size: 8}]}
  - {name: b, on: p, args: [{inout: x}]}
  - {name: c, on: q, args: [{inout: x}]}
  - {name: d, on: p, args: [{in: x}]}
  - {name: e, on: q, args: [{out_existing: x}]}
END
run 0 "$FSCHED" compile raw.yaml -q -o raw.fsb
run 0 "$FSCHED" run raw.fsb
"$FSCHED" dis raw.fsb --format json >raw.json
expect "there is a race" holds raw.json '"races": \[$'
sed '/"races": \[$/,/^ \]/c\ "races": [],' raw.json >silent.json
run 0 "$FSCHED" asm silent.json -o silent.fsb
run 4 "$FSCHED" run silent.fsb
expect "it is said" holds err "race and are not listed"

# Other commands read the stream.
for f in lost f; do
  run 0 "$FSCHED" dis $f.fsb
  run 0 "$FSCHED" explain $f.fsb
  run 0 "$FSCHED" explain $f.fsb C --format json
  run 0 "$FSCHED" dot $f.fsb
done
