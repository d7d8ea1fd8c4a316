# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# The scenarios: the files are what their generator writes, the figures in their README's table are
# right (UPDATE=1 writes it anew), every size compiles to a right stream whose waits add up, and each
# shape shows what it is meant to show.
scenarios=$TOP/examples/scenarios
gen=$BUILD/examples/scenarios/gen_scenarios
value() { sed -n "s/.*\"$2\": \([0-9]*\).*/\1/p" "$1" | head -n 1; }
waits() { tr -d '\n' <"$1" | sed "s/.*\"waits\": {[^}]*\"$2\": \([0-9]*\).*/\1/"; }
# is WHAT HAVE WANTED checks that both are equal.
is() { expect "$1: $2, not $3" [ "$2" = "$3" ]; }

# The generator writes these, and refuses those.
for graph in "$scenarios"/*.yaml; do
  # shellcheck disable=SC2046
  set -- $(sed -n 's/^# Written by: gen_scenarios //p' "$graph")
  run 0 "$gen" "$@"
  expect "$graph is what its generator writes" same out "$graph"
  run 0 "$FSCHED" compile "$graph" -Wextra -o g.fsb --verify
  expect "$graph: no warning" [ "$(grep -c warning err)" -eq 0 ]
  run 0 "$FSCHED" verify g.fsb --graph "$graph"
  run 0 "$FSCHED" run g.fsb --check -q
done
for words in "" "sequential" "sequential 1 1" "sequential 1 1 1 1" "parallel 1 1 1" \
  "sequential 0 1 1" "sequential 1 x 1" "sequential 1 1 65" "sequential -1 1 1" \
  "sequential 1 1 99999999999999999999"; do
  # shellcheck disable=SC2086
  run 2 "$gen" $words
  expect "usage of '$words'" holds err '^usage: gen_scenarios'
done
if [ -w /dev/full ]; then
  "$gen" sequential 1 1 1 >/dev/full 2>err
  expect "a full disk" [ $? -eq 5 ]
fi

# row SHAPE WIDTH DEPTH HARDWARE prints the row of the table.
row() {
  "$gen" "$1" "$2" "$3" "$4" >r.yaml && "$FSCHED" compile r.yaml -q -o r.fsb --emit stats=r.json &&
    printf '| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n' "$1" "$2" "$3" "$4" \
      "$(value r.json ops)" "$(waits r.json edges)" "$(waits r.json same_queue)" \
      "$(waits r.json dominated_exact)" "$(waits r.json dominated_frontier)" \
      "$(waits r.json emitted)"
}
sed -n 's/^| \([a-z-]*\) | \([0-9]*\) | \([0-9]*\) | \([0-9]*\) |.*/\1 \2 \3 \4/p' \
  "$scenarios/README.md" >rows
is "rows of the table" "$(wc -l <rows)" 33
while read -r shape width depth hardware; do
  row "$shape" "$width" "$depth" "$hardware"
done <rows >now
grep '^| [a-z-]* | [0-9]* |' "$scenarios/README.md" >was
if [ -n "${UPDATE-}" ]; then
  awk 'NR == FNR { now[n++] = $0; next } /^\| [a-z-]* \| [0-9]* \|/ { $0 = now[i++] } 1' now \
    "$scenarios/README.md" >new && cat new >"$scenarios/README.md"
else
  expect "the table of scenarios/README.md is what is so" same now was
fi

# With all widths, depths and hardware everything verifies, and each kind of wait occurs somewhere.
for shape in sequential cross-queue fork-join late-waiter multi-domain paging multi-model collective; do
  for size in "1 1 1" "1 50 8" "3 20 2" "5 7 3" "16 10 1" "64 1 8" "64 50 8"; do
    [ "$shape $size" != "collective 64 50 8" ] || size="8 50 8" # 400 members a layer
    # shellcheck disable=SC2086
    "$gen" $shape $size >g.yaml
    run 0 "$FSCHED" compile g.yaml -q -o g.fsb --verify --emit stats=s.json
    is "$shape $size: edges" "$(($(waits s.json same_queue) + $(waits s.json dominated) + \
      $(waits s.json emitted)))" "$(waits s.json edges)"
    is "$shape $size: tiers" "$(($(waits s.json dominated_exact) + \
      $(waits s.json dominated_frontier)))" "$(waits s.json dominated)"
    run 0 "$FSCHED" explain g.fsb
    expect "$shape $size: a reason for each wait" \
      [ "$(grep -c 'nothing that the stream tells' out)" -eq 0 ]
  done
done

# A command that waits late for an early step learns of no later one.
run 0 "$FSCHED" compile "$scenarios/late-waiter.yaml" -q -o g.fsb
run 0 "$FSCHED" explain g.fsb late0
expect "the wait is for the first step" holds out '^    core0:1  run step0  data of step0$'
expect "and nothing later is known" [ "$(grep -c 'core0:[2-9]' out)" -eq 0 ]
# Knowledge passes through three queues.
run 0 "$FSCHED" compile "$scenarios/multi-domain.yaml" -q -o g.fsb
run 0 "$FSCHED" explain g.fsb sum0.0 --format json
is "waits between the sum and what it knows of the host" \
  "$(grep '"implied_by": "frontier"' out | grep -o waits_for | wc -l)" 3
# Eight members need one wait and one entry.
run 0 "$FSCHED" compile "$scenarios/collective.yaml" -q -o g.fsb
run 0 "$FSCHED" dis g.fsb
expect "a collective is one wait and one entry" holds out 'run log1  gang0:2  -  *host:2 gang0:2 '
# Chains that never meet have disjoint frontiers.
run 0 "$FSCHED" compile "$scenarios/sequential.yaml" -q -o g.fsb
run 0 "$FSCHED" dis g.fsb
is "frontiers with both cores" "$(grep -c 'core0:[0-9]* core1' out)" 0
:
