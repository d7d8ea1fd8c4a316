# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# What verify and run report of a wrong stream: its file's name, causes first, and a verdict.
cp "$TOP/examples/figure-10.yaml" g.yaml
run 0 "$FSCHED" compile g.yaml -o g.fsb
expect "a summary that calls copies by their names" \
  holds err '^figure-10: 5 ops, 0 loads, 1 store, 2 spills, makespan '
run 0 "$FSCHED" compile "$TOP/examples/transformer/graph.yaml" -q -o t.fsb --emit stats=t.json
expect "stats count them too" [ "$(grep -c '"loads": [1-9]\|"stores": [1-9]' t.json)" -eq 2 ]
run 0 "$FSCHED" verify g.fsb
expect "verified" [ "$(cat out)" = 'g.fsb: verified' ]
"$FSCHED" dis g.fsb --format json >g.json
sed 's/"waits": \[{[^]]*}\]/"waits": []/' g.json >lost.json
run 0 "$FSCHED" asm lost.json -o lost.fsb
run 4 "$FSCHED" verify lost.fsb
expect "each error names the file" [ -z "$(grep 'error:' err | grep -v '^lost.fsb: error: ')" ]
expect "a cause comes first" [ "$(sed -n '1s/.*\[\(.*\)\]$/\1/p' err)" = verify-edge ]
for code in verify-edge verify-conflict verify-value verify-frontier verify-signal verify-scope; do
  expect "$code is among those shown" holds err "\[$code\]\$"
done
all=$(($(grep -c 'error:' err) + $(sed -n 's/.*note: \([0-9]*\) more.*/\1/p' err)))
expect "the verdict" [ "$(tail -n 1 err)" = "lost.fsb: refuted, $all violations" ]
run 4 "$FSCHED" verify lost.fsb -q
expect "-q leaves the verdict out" [ -z "$(grep refuted err)" ]
run 0 "$FSCHED" compile g.yaml -q -o g.fsb --emit schedule=s.json
sed 's/"makespan": 7/"makespan": 9/' s.json >late.json
run 4 "$FSCHED" verify late.json --graph g.yaml
expect "of a schedule too" [ "$(tail -n 1 err)" = 'late.json: refuted, 1 violation' ]
expect "and its file" holds err '^late.json: error: makespan 9'
run 4 "$FSCHED" run --check lost.fsb
expect "run says the same" [ "$(tail -n 1 err)" = "lost.fsb: refuted, $all violations" ]
run 6 "$FSCHED" run --check --no-verify lost.fsb
expect "a replay names its file" holds err '^lost.fsb: error: .*\[replay-differs\]$'
