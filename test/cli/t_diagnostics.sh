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

# Errors beyond the limit are counted.
{
  printf 'fsched: 1\nops:\n'
  for i in $(seq 23); do echo "  - {name: o$i, nme: 1}"; done
} >many.yaml
run 1 "$FSCHED" compile many.yaml
expect "twenty errors" [ "$(grep -c 'unknown-key' err)" -eq 20 ]
expect "and the number of the others" [ "$(tail -n 1 err)" = \
  'fsched: note: 3 more errors are not shown [more-errors]' ]
run 1 "$FSCHED" compile many.yaml -q --diagnostics json
expect "in JSON too" [ "$(tail -n 1 err)" = \
  '{"severity": "note", "code": "more-errors", "message": "3 more errors are not shown"}' ]
sed '$d' many.yaml | sed '$d' | sed '$d' >twenty.yaml
run 1 "$FSCHED" compile twenty.yaml
expect "nothing when all are shown" [ -z "$(sed -n /more/p err)" ]
cp "$TOP/examples/resnet50.yaml" big.yaml
run 0 "$FSCHED" compile big.yaml -q -o big.fsb --emit schedule=big.json
sed 's/"end": \([0-9]\)/"end": 7\1/' big.json >moved.json
run 4 "$FSCHED" verify moved.json --graph big.yaml --format json
expect "in the result of verify" holds out '^\], "not_shown": [1-9][0-9]*}$'
expect "as many as the note says" [ "$(sed -n 's/^\], "not_shown": \(.*\)}/\1/p' out)" = \
  "$(sed -n 's/.*note: \([0-9]*\) more errors.*/\1/p' err)" ]

# Names with control characters do not reach a terminal.
cat >raw-names.yaml <<'END'
fsched: 1
name: "n\e[31m"
target:
  time_unit: "u\e"
  queues: [{name: "q\e", class: "c\x07"}, {name: dma, class: copy}]
  memories: [{name: "m\u009b", capacity: 1, backing: "s\t", spill: {on: copy}}, {name: "s\t"}]
ops:
  - {name: "a\b", on: "c\x07", args: [{out: "x\x7f", size: 1, memory: "m\u009b"}]}
END
escape='[[:cntrl:]]\|\xc2\x9b'
run 0 "$FSCHED" compile raw-names.yaml -v --emit table=-
expect "the summary has the name" holds err 'n\\x1b\[31m'
expect "the summary has no control character" [ -z "$(grep -a "$escape" err)" ]
expect "the table has the name" holds out 'a\\x08'
expect "the table has no control character" [ -z "$(grep -a "$escape" out)" ]
run 0 "$FSCHED" dis raw-names.fsb
expect "the listing has the names" holds out 'm\\u009b.*s\\x09'
expect "the listing has no control character" [ -z "$(grep -a "$escape" out)" ]

# -q, -v and the times of passes.
run 0 "$FSCHED" compile figure-10.yaml --time-report
expect "verify did not run" [ -z "$(sed -n '/^  verify/p' err)" ]
run 0 "$FSCHED" compile figure-10.yaml --time-report --verify
expect "verify did run" holds err '^  verify  *[0-9]'
run 0 "$FSCHED" compile figure-10.yaml -v -q
expect "the last of -v and -q counts" empty err
run 0 "$FSCHED" compile figure-10.yaml -q -v
expect "the last of -q and -v counts" holds err 'wrote figure-10.fsb'
:
