# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# The forms of a diagnostic: text with a caret, colours, JSON.
cat >bad.yaml <<'END'
fsched: 1
name: bad
target:
  queues:
    - {name: dpu, clas: compute}
ops:
  - {name: load, time: 2}
  - {name: add, time: x, after: [laod]}
END
run 1 "$FSCHED" compile bad.yaml
golden err bad.txt
run 1 "$FSCHED" compile bad.yaml --diagnostics json
golden err bad.json
run 1 "$FSCHED" compile bad.yaml --color=always
golden err bad-color.txt
run 1 "$FSCHED" compile bad.yaml -q
expect "-q keeps errors" [ -s err ]
cp "$TOP/examples/figure-10.yaml" .
run 3 "$FSCHED" compile figure-10.yaml --memory cmx=4
golden err precondition.txt

cat >raw.yaml <<'END'
fsched: 1
name: raw
hazards: raw
target:
  queues: [{name: a}, {name: b}]
buffers: [{name: x, size: 64}]
ops:
  - {name: p, args: [{out: x}]}
  - {name: r, args: [{in: x}]}
  - {name: w, args: [{inout: x}]}
END
run 0 "$FSCHED" compile raw.yaml
golden err races.txt
run 0 "$FSCHED" run raw.fsb -q
run 2 "$FSCHED" run raw.fsb --check
run 0 "$FSCHED" compile raw.yaml -q
expect "-q leaves warnings out" empty err
:
