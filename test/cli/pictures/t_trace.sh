# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Traces show the plan, a run, or both.
cp "$TOP/examples/figure-10.yaml" g.yaml
run 0 "$FSCHED" compile g.yaml -q -o g.fsb --emit trace=plan.json
golden plan.json figure-10.trace.json
run 0 "$FSCHED" compile g.yaml -q -o g.fsb --emit trace=-
expect "- is standard output" same out plan.json
slices() { grep -c "\"ph\":\"X\",\"pid\":$2," "$1"; }
named() { grep -q "\"process_name\",\"args\":{\"name\":\"figure-10 ($2)\"}" "$1"; }

run 0 "$FSCHED" run g.fsb -q --trace run.json
expect "a run alone" named run.json measured
expect "all its commands" [ "$(slices run.json 1)" -eq 8 ]
expect "nothing else" [ "$(slices run.json 2)" -eq 0 ]

run 0 "$FSCHED" run g.fsb -q --trace both.json --with-plan
expect "the plan" named both.json planned
expect "beside the run" named both.json measured
expect "all planned" [ "$(slices both.json 1)" -eq 8 ]
expect "all measured" [ "$(slices both.json 2)" -eq 8 ]
grep '"pid":1,' plan.json | grep '"ph":"C"' | sed 's/,$//' >wanted
grep '"pid":1,' both.json | grep '"ph":"C"' | sed 's/,$//' >found
expect "the plan's counters are those of the compiler" same wanted found

run 0 "$FSCHED" run g.fsb -q --trace paced.json --with-plan --pace=2500
expect "a tick as long as the pace" named paced.json 'planned, 1 tick = 2500 ns'
run 0 "$FSCHED" run g.fsb -q --trace fit.json --with-plan=fit
expect "as long as the run" named fit.json 'planned, drawn over [0-9.]* us'
run 0 "$FSCHED" run g.fsb -q --trace - --with-plan
expect "to standard output" named out planned

run 2 "$FSCHED" run g.fsb --with-plan
expect "a plan is a part of a trace" holds err 'add --trace FILE'
run 2 "$FSCHED" run g.fsb --trace t.json --with-plan=fi
expect "fit or nothing" holds err "takes fit or no value, not 'fi'"
expect "nothing was written" [ ! -e t.json ]
run 2 "$FSCHED" compile g.yaml --emit trace=
run 5 "$FSCHED" compile g.yaml -q -o h.fsb --emit trace=none/t.json
expect "the stream is written last" [ ! -e h.fsb ]

# An independent reader accepts all results as JSON, and finds whole nanoseconds.
if command -v python3 >/dev/null; then
  for f in plan run both paced fit; do
    expect "$f.json is JSON" python3 -c '
import json, sys
from decimal import Decimal
for e in json.load(open(sys.argv[1]), parse_float=Decimal)["traceEvents"]:
    ns = [Decimal(e.get(k, 0)) * 1000 for k in ("ts", "dur")]
    assert e["ph"] in "MXsfC" and all(n == int(n) and n >= 0 for n in ns), e
' "$f.json"
  done
else
  echo "skip: no python3"
fi
