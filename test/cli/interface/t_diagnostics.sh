# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# The forms of a diagnostic are text with a caret, colours, and JSON.
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

# -q, -v and the times of passes are tested here.
run 0 "$FSCHED" compile figure-10.yaml --time-report
expect "verify did not run" [ -z "$(sed -n '/^  verify/p' err)" ]
run 0 "$FSCHED" compile figure-10.yaml --time-report --verify
expect "verify did run" holds err '^  verify  *[0-9]'
run 0 "$FSCHED" compile figure-10.yaml -v -q
expect "the last of -v and -q counts" empty err
run 0 "$FSCHED" compile figure-10.yaml -q -v
expect "the last of -q and -v counts" holds err 'wrote figure-10.fsb'

# With --diagnostics json every line of standard error is an object, whatever is asked for.
only_json() { # what
  expect "$1: something is said" [ -s err ]
  expect "$1: nothing but objects" [ "$(grep -vc '^{"\(severity\|progress\|summary\|bounds\|effort\|times\|wrote\)": .*}$' err)" -eq 0 ]
  if command -v python3 >/dev/null; then
    expect "$1: they are JSON" python3 -c 'import json,sys; [json.loads(l) for l in sys.stdin]' <err
  fi
}
for e in figure-10 npu/graph block-sync/graph; do
  run 0 "$FSCHED" compile "$TOP/examples/$e.yaml" -o all.fsb -v --progress --time-report --diagnostics json --emit svg=all.svg
  only_json "compile $e"
  for k in progress summary bounds times wrote; do
    expect "compile $e: $k" grep -q "^{\"$k\"" err
  done
done
expect "the summary of syncs" grep -q '"full_syncs": [0-9]*, "counting_syncs": [0-9]*, "makespan_before"' err
run 0 "$FSCHED" compile "$TOP/examples/figure-10.yaml" -o all.fsb --emit schedule=all.json --diagnostics json
only_json "a summary alone"
expect "with the figures" grep -qF '{"summary": "compile", "graph": "figure-10", "ops": 5, "loads": 0, "stores": 1, "spills": 2, "makespan": 7, "time_unit": "us", "lower_bound": 6, "optimal": false, "waits": 6, "memories": {"cmx": {"peak": 10, "extent": 10}}, "output": "all.fsb"}' err
run 0 "$FSCHED" compile "$TOP/examples/figure-10.yaml" -o all.fsb --diagnostics json -q
expect "and nothing with -q" empty err
run 0 "$FSCHED" run all.fsb -v --progress --trace t.trace --save-profile p.json --diagnostics json
only_json run
run 0 "$FSCHED" compile "$TOP/examples/figure-10.yaml" -o all.fsb --profile p.json -v --diagnostics json
only_json "compile --profile"
sed 's/"makespan": 7/"makespan": 6/' all.json >wrong.json
run 4 "$FSCHED" verify wrong.json --graph "$TOP/examples/figure-10.yaml" --time-report --progress --diagnostics json
only_json "a refutation"
expect "the verdict is a summary" grep -q '^{"summary": "verify", "file": "wrong.json", "ok": false, "violations": 1}$' err
run 2 "$FSCHED" compile --nonsense --diagnostics json
only_json "a bad command line"
run 2 "$FSCHED" run all.fsb --pace=0 --diagnostics=json
only_json "a bad value"
run 5 "$FSCHED" calibrate --on cuda --diagnostics json
only_json calibrate
for c in 'dis nowhere' 'asm nowhere' 'dot nowhere' 'explain nowhere' 'import psplib nowhere' 'verify nowhere' 'run nowhere'; do
  # shellcheck disable=SC2086
  run 5 "$FSCHED" $c --diagnostics json
  only_json "$c"
done

:
