# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# compile --proof: what is written, for proven and for other bounds, and what has no proof.
cat > shop.yaml <<'END'
fsched: 1
name: shop
target:
  queues: [{name: m0}, {name: m1}, {name: m2}]
ops:
  - {name: a0, on: m0, time: 6}
  - {name: a1, on: m1, time: 4, after: [a0]}
  - {name: a2, on: m2, time: 8, after: [a1]}
  - {name: b0, on: m1, time: 6}
  - {name: b1, on: m0, time: 8, after: [b0]}
  - {name: b2, on: m2, time: 2, after: [b1]}
  - {name: c0, on: m0, time: 4}
  - {name: c1, on: m2, time: 6, after: [c0]}
  - {name: c2, on: m1, time: 4, after: [c1]}
END
value() { sed -n "s/.*\"$1\": \"*\([a-z0-9]*\)\"*,*.*/\1/p" "$2" | head -n 1; }
end() { sed -n 's/^end //p' "$1"; }

run 0 "$FSCHED" compile shop.yaml --refine search --proof shop.proof -o shop.fsb --emit schedule=shop.json
expect 'it is proven' holds err '(optimal)'
expect 'the form is told' [ "$(head -n 1 shop.proof)" = 'fsched-proof 1' ]
expect 'times have a common divisor' holds shop.proof 'unit 2'
expect 'it ends with the bound' [ "$(end shop.proof)" = "$(value lower_bound shop.json)" ]
expect 'nothing is left before' [ "$(grep '^l' shop.proof | tail -n 1 | cut -d ' ' -f 2)" = ':' ]
cp shop.proof first.proof
run 0 "$FSCHED" verify shop.json --graph shop.yaml --proof shop.proof
run 0 "$FSCHED" compile shop.yaml --refine search --proof shop.proof -o shop.fsb -MD
expect 'the same each time' same first.proof shop.proof
expect 'the depfile names it' holds shop.d 'shop.proof'

# ---- a bound without a search
run 0 "$FSCHED" compile shop.yaml --refine search --node-limit 1 --proof short.proof -o short.fsb \
  --emit schedule=short.json
expect 'it ends with the bound' [ "$(end short.proof)" = "$(value lower_bound short.json)" ]
run 0 "$FSCHED" verify short.json --graph shop.yaml --proof short.proof

# ---- more ops than are searched: what edges, tables and energy show
{
  printf 'fsched: 1\nname: long\ntarget: {queues: [{name: q, class: c}, {name: r, class: c}]}\nops:\n'
  printf '  - {name: o0, on: c, time: 5}\n  - {name: o1, on: c, time: 5}\n  - {name: o2, on: c, time: 5}\n'
  i=3
  while [ $i -lt 1500 ]; do
    printf '  - {name: o%d, on: c, time: %d, after: [o%d]}\n' $i $((i % 7 + 1)) $((i - 3))
    i=$((i + 1))
  done
} > long.yaml
run 0 "$FSCHED" compile long.yaml --refine search --node-limit 1 --proof long.proof -o long.fsb \
  --emit schedule=long.json
work=$(awk '/name: o/ { sub(/.*time: /, ""); n += $0 } END { print int((n + 1) / 2) }' long.yaml)
expect 'two queues do no more' [ "$(end long.proof)" = "$work" ]
expect 'its steps are few' [ "$(wc -l < long.proof)" -lt 6100 ]
run 0 "$FSCHED" verify long.json --graph long.yaml --proof long.proof
sed "s/^end .*/end $((work + 1))/" long.proof > more.proof
run 4 "$FSCHED" verify long.json --graph long.yaml --proof more.proof

# ---- memories that are short, queues that are not alike, starts that are given, waits
for graph in resnet50.yaml figure-10.yaml build-step/graph.yaml; do
  run 0 "$FSCHED" compile "$TOP/examples/$graph" --refine search --node-limit 200 --proof m.proof -o m.fsb \
    --emit schedule=m.json
  expect "$graph: it ends with the bound" [ "$(end m.proof)" = "$(value lower_bound m.json)" ]
  run 0 "$FSCHED" verify m.json --graph "$TOP/examples/$graph" --proof m.proof
done
cat > unlike.yaml <<'END'
fsched: 1
name: unlike
target: {queues: [{name: p, class: c}, {name: q, class: c}, {name: r, class: d}], wait: 1}
ops:
  - {name: a, on: p, time: 7}
  - {name: b, on: c, time: 5}
  - {name: c, on: c, time: 6}
  - {name: d, on: r, time: 3, start: 2}
  - {name: e, on: c, time: 4}
END
run 0 "$FSCHED" compile unlike.yaml --refine search --proof u.proof -o u.fsb --emit schedule=u.json
expect 'two queues do 22 ticks of work' [ "$(end u.proof)" = 11 ]
expect 'that is a set' holds u.proof '^set queues 0 1$'
run 0 "$FSCHED" verify u.json --graph unlike.yaml --proof u.proof

# ---- what has none
run 2 "$FSCHED" compile shop.yaml --proof no.proof -o no.fsb
expect 'a refinement is needed' holds err 'add --refine auto or search'
run 2 "$FSCHED" compile shop.yaml --refine ilp --proof no.proof -o no.fsb
expect 'models have none' holds err 'models leave no proof'
run 2 "$FSCHED" compile "$TOP/examples/attention/graph.yaml" --refine search --proof no.proof -o no.fsb
expect 'loops stay loops' holds err "no proof can be written of graph 'attention', which has loops"
printf 'fsched: 1\nname: z\nops:\n  - {name: a, time: 0}\n' > z.yaml
run 2 "$FSCHED" compile z.yaml --refine search --proof no.proof -o no.fsb
expect 'nothing is shorter than nothing' holds err 'which has no op that takes time'
expect 'nothing is written' [ ! -e no.proof ] && [ ! -e no.fsb ]
run 2 "$FSCHED" compile shop.yaml --refine search --proof same.fsb -o same.fsb
