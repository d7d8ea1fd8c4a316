# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Refinement of public instances under a limit of nodes, so that every run is the same: results are
# never worse than the list schedule, most are proven, and what is called optimal is known to be.
# bench/bench_ilp tries all instances under a limit of time.
data=$TOP/../shared/data
if [ ! -x "$BUILD/fsched-glpk" ] || [ ! -d "$data/rcpsp/j30" ]; then
  echo "SKIP t_proven: no fsched-glpk, or no shared data"
  return
fi
value() { sed -n "s/.*\"$1\": \"*\([a-z0-9]*\)\"*,*.*/\1/p" "$2" | head -n 1; }

# refine KIND NODES compiles g.yaml without refinement and with it, and writes ./list.json and
# ./best.json.
refine() {
  run 0 "$FSCHED" compile g.yaml -q -o list.fsb --emit schedule=list.json
  run 0 "$FSCHED" compile g.yaml -q -o best.fsb --emit schedule=best.json --verify \
    --refine "$1" --node-limit "$2"
  expect "no warning" empty err
  expect "$name: never worse" [ "$(value makespan best.json)" -le "$(value makespan list.json)" ]
}

# ---- projects: every twelfth of those with 30 jobs
n=0
proven=0
for file in "$data"/rcpsp/j30/*.rcp; do
  name=${file##*/}
  n=$((n + 1))
  [ $((n % 12)) -eq 1 ] || continue
  best=$(sed -n "s/^$name,[0-9]*,//p" "$data/rcpsp/j30/best_known.csv")
  run 0 "$FSCHED" import patterson "$file" -o g.yaml
  refine ilp 300
  if [ "$(value status best.json)" = optimal ]; then
    proven=$((proven + 1))
    expect "$name: an optimum" [ "$(value makespan best.json)" -eq "$best" ]
  fi
  expect "$name: a bound" [ "$(value lower_bound best.json)" -le "$best" ]
done
expect "most are proven: $proven of 8" [ "$proven" -ge 6 ]

# ---- strips
name=burke_N1
run 0 "$FSCHED" import strip "$data/strip/burke_N1.txt" -o g.yaml
refine pack 1000
expect "its height" [ "$(value makespan best.json)" -eq 40 ]
expect "proven" [ "$(value status best.json)" = optimal ]
for name in beng_1 hopper_C3_1; do
  run 0 "$FSCHED" import strip "$data/strip/$name.txt" -o g.yaml
  refine pack 5
  expect "$name: a bound" [ "$(value lower_bound best.json)" -ge 15 ]
done

# ---- memory: addresses that the list scheduler does not find
run 0 "$FSCHED" import memory "$data/memory/minimalloc/F.1048576.csv" --capacity 1048576 -o g.yaml
run 0 "$FSCHED" compile g.yaml -q -o best.fsb --refine pack --verify --emit stats=best.json
expect "within the capacity" [ "$(sed -n 's/.*"extent": \([0-9]*\).*/\1/p' best.json)" -le 1048576 ]
