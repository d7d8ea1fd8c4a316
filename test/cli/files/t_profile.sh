# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# --profile puts measured times into the plan.
cp "$TOP/examples/figure-10.yaml" g.yaml
cat >p.json <<'END'
{"fsched_profile": 1, "graph": "figure-10", "ops": [
  {"name": "A_in", "median_ns": 2500}, {"name": "B", "median_ns": 1900},
  {"kind": "spill_read", "buffer": "A_in", "version": 0, "median_ns": 3100}]}
END
run 0 "$FSCHED" compile g.yaml -o plain.fsb -q
run 0 "$FSCHED" compile g.yaml -o f.fsb --profile p.json --verify --emit table=t.txt -MD -MP
expect "the summary counts" holds err ', times of 2 of 5 ops and 1 copy from the profile -> f.fsb$'
expect "an op has its time, rounded up" holds t.txt '^A_in  op  *0  *3 '
expect "a copy has its cost" [ "$(awk '$2 == "spill_read" { print $4 - $3 }' t.txt)" -eq 4 ]
expect "what was not measured is as planned" \
  [ "$(awk '$1 == "A" || $2 == "spill_write" { print $4 - $3 }' t.txt | sort -u)" = 1 ]
printf 'f.fsb t.txt: g.yaml p.json\np.json:\n' >want
expect "the depfile names the profile" same f.d want
expect "it is another stream" [ "$(cmp -s plain.fsb f.fsb && echo same)" = "" ]
run 0 "$FSCHED" compile g.yaml -o again.fsb --profile p.json -q
expect "and always the same one" same f.fsb again.fsb
"$FSCHED" compile g.yaml -o again.fsb --profile - -q <p.json
expect "from standard input" same f.fsb again.fsb
run 0 "$FSCHED" compile g.yaml -o f.fsb --profile p.json -v
expect "-v shows the costs" holds err "reads of memory 'cmx': fixed 4, rate 0 by 1 measured copy; planned 1 and 0"
run 0 "$FSCHED" run f.fsb --check -q

# Other commands that use graphs need the profile as well.
run 4 "$FSCHED" verify f.fsb --graph g.yaml
run 0 "$FSCHED" verify f.fsb --graph g.yaml --profile p.json
run 2 "$FSCHED" verify f.fsb --profile p.json
expect "verify wants the graph" holds err '.--profile needs --graph'
run 0 "$FSCHED" compile g.yaml -o f.fsb --profile p.json -q --emit schedule=s.json
run 4 "$FSCHED" verify s.json --graph g.yaml
run 0 "$FSCHED" verify s.json --graph g.yaml --profile p.json
run 0 "$FSCHED" dot g.yaml --schedule s.json --profile p.json
run 4 "$FSCHED" dot g.yaml --schedule s.json
run 2 "$FSCHED" dot f.fsb --profile p.json

# Files.
for c in 'compile - --profile -' 'verify f.fsb --graph - --profile -' 'verify - --graph g.yaml --profile -' \
  'dot g.yaml --schedule - --profile -'; do
  # shellcheck disable=SC2086 # words
  run 2 "$FSCHED" $c
  expect "$c: once" holds err 'standard input can be read only once'
done
cp p.json kept.json
run 2 "$FSCHED" compile g.yaml -o p.json --profile p.json
run 2 "$FSCHED" compile g.yaml -o f.fsb --profile p.json --emit stats=p.json
run 2 "$FSCHED" dot g.yaml -o p.json --profile p.json
expect "a profile is not overwritten" same p.json kept.json
rm -f none.fsb
run 5 "$FSCHED" compile g.yaml -o none.fsb --profile none.json
run 1 "$FSCHED" compile g.yaml -o none.fsb --profile f.fsb
expect "a stream is no profile" holds err '^f.fsb: error: this is not a profile'
run 1 "$FSCHED" compile g.yaml -o none.fsb --profile s.json
run 1 "$FSCHED" compile g.yaml -o none.fsb --profile g.yaml
run 1 "$FSCHED" compile p.json -o none.fsb
expect "nor is a profile a graph" holds err 'hint: this is a profile: compile takes it with --profile'
run 1 "$FSCHED" run p.json
expect "nor a program" holds err 'hint: this is a profile'
sed 's/"median_ns": 1900/"median_ns": -1/' p.json >bad.json
run 1 "$FSCHED" compile g.yaml -o none.fsb --profile bad.json
expect "where it is wrong" holds err '^bad.json:2:[0-9]*: error: expected a number'
run 1 "$FSCHED" compile g.yaml -o none.fsb --profile bad.json --diagnostics json
expect "in JSON too" holds err '"code": "profile-type".*"line": 2'

# Warnings.
sed 's/"B"/"BB"/; s/figure-10/figure-11/' p.json >other.json
run 0 "$FSCHED" compile g.yaml -o f.fsb --profile other.json
expect "another graph" holds err "^other.json:1:[0-9]*: warning: the profile is of graph 'figure-11', not of 'figure-10' \[-Wprofile\]"
expect "another op" holds err "^other.json:2:[0-9]*: warning: the graph has no op 'BB' of the profile \[-Wprofile\]"
expect "and the rest is used" holds err 'times of 1 of 5 ops and 1 copy'
run 0 "$FSCHED" compile g.yaml -o f.fsb --profile other.json -Wno-profile
expect "no warning" [ "$(wc -l <err)" -eq 1 ]
run 1 "$FSCHED" compile g.yaml -o none.fsb --profile other.json -Werror=profile
expect "nothing is written" [ ! -e none.fsb ]

# These set how long a tick is.
sed 's/time_unit: us/time_unit: cycles/' g.yaml >cycles.yaml
run 1 "$FSCHED" compile cycles.yaml -o none.fsb --profile p.json -Wno-profile
expect "nobody knows" holds err '\[profile-graph\]'
expect "but one could say it" holds err 'hint: add --tick LENGTH, or give the target a time_unit'
run 0 "$FSCHED" compile cycles.yaml -o f.fsb --profile p.json --set time_unit=us -Wno-profile
sed 's/"graph"/"tick_ns": 500, &/' p.json >ticks.json
run 0 "$FSCHED" compile cycles.yaml -o f.fsb --profile ticks.json -Wno-profile --emit table=t.txt
expect "the profile says it" holds t.txt '^A_in  op  *0  *5 '
[ ! -e none.fsb ] || fail "a stream without its profile"

# What a run has measured is in the next plan.
if "$FSCHED" help run | grep -q -e '--save-profile'; then
  run 0 "$FSCHED" run plain.fsb --save-profile run.json
  run 0 "$FSCHED" compile g.yaml -o f.fsb --profile run.json --verify
  expect "all ops were measured" holds err 'times of 5 of 5 ops and 3 copies from the profile'
  run 0 "$FSCHED" verify f.fsb --graph g.yaml --profile run.json
else
  echo "skip: run has no --save-profile"
fi
:
