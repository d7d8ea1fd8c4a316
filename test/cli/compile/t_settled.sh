# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Graphs whose starts are all given: where the list scheduler, op by op, finds no addresses, they are
# found for all ops at once, with a refinement and without; exit 3 follows where none are found.
extent() { sed -n 's/.*"extent": \([0-9]*\).*/\1/p' "$1" | head -n 1; }

# ---- the list scheduler alone fails on it: a dump shows that, its schedule comes from elsewhere
cat >five.csv <<'END'
id,lower,upper,size
a,3,8,2
b,5,10,4
c,1,6,1
d,7,10,2
e,3,9,4
END
run 0 "$FSCHED" import memory five.csv --capacity 12 -o five.yaml
for how in "" "--refine search" "--refine search --time-limit 5" "--refine search --node-limit 1" "--refine pack"; do
  [ -x "$BUILD/fsched-glpk" ] || [ "$how" != "--refine pack" ] || continue
  # shellcheck disable=SC2086
  run 0 "$FSCHED" compile five.yaml -q -o five.fsb --verify --emit stats=five.json $how
  expect "'$how': no warning" empty err
  expect "'$how': within the capacity" [ "$(extent five.json)" -eq 12 ]
done
run 0 "$FSCHED" compile five.yaml -q -o again.fsb --emit stats=again.json
run 0 "$FSCHED" compile five.yaml -q -o more.fsb --emit stats=more.json
expect "the same each time" cmp -s again.fsb more.fsb

# ---- they fit in no way, although the sums at each time do
cat >none.csv <<'END'
id,lower,upper,size
a,0,1,4
b,0,4,2
c,1,2,3
d,1,5,1
e,2,4,1
f,2,6,2
g,4,5,3
h,5,6,4
END
run 0 "$FSCHED" import memory none.csv --capacity 6 -o none.yaml
run 3 "$FSCHED" compile none.yaml -q -o none.fsb
expect "an error" grep -q "^none.yaml.*error" err
expect "no output" [ ! -e none.fsb ]

# ---- public instances: all within the capacity that is known to do, and the lowest peaks
data=$TOP/../shared/data/memory
if [ ! -d "$data/minimalloc" ]; then
  echo "SKIP t_settled: no shared data"
  return
fi
for name in A B C D E F; do
  run 0 "$FSCHED" import memory "$data/minimalloc/$name.1048576.csv" --capacity 1048576 -o g.yaml
  run 0 "$FSCHED" compile g.yaml -q -o g.fsb --verify --emit stats=g.json
  expect "$name: within the capacity" [ "$(extent g.json)" -le 1048576 ]
done
for name in G_1 resnet50; do
  run 0 "$FSCHED" import memory "$data/large/$name.csv" -o g.yaml
  run 0 "$FSCHED" compile g.yaml -o g.fsb --verify --refine search
  expect "$name: the lowest peak" grep -q "extent of [^,]*, lower bound [0-9]* (optimal)" err
done
