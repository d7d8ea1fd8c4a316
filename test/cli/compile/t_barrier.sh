# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Targets with barriers, and with nothing but full syncs: the options, what is reported of the result,
# and that the verifier agrees.
cat >g.yaml <<'END'
fsched: 1
name: g
target:
  time_unit: us
  queues: [{name: dpu}, {name: dma, class: copy}, {name: act, class: post}]
  memories: [{name: cmx, capacity: 64}]
ops:
  - {name: x, on: dma, size: 4}
  - {name: y, on: dma, size: 4}
  - {name: z, on: dma, size: 4}
  - {name: a, time: 3, args: [{in: x}, {in: y}, {out: a, size: 4}]}
  - {name: b, time: 2, args: [{in: z}, {out: b, size: 4}], slots: 2}
  - {name: c, on: post, args: [{in: a}, {out: c, size: 4}]}
  - {name: d, on: post, args: [{in: b}, {in: c}, {out: d, size: 4}]}
  - {name: e, on: dma, args: [{in: d}]}
END
sed 's/^target:/&\n  sync: barrier/' g.yaml >barrier.yaml
sed 's/^target:/&\n  sync: block/' g.yaml >block.yaml

usage() {
  text=$1
  shift
  run 2 "$FSCHED" "$@"
  expect "$text" holds err "$text"
}

# Prints the value of a key of one of the objects that have a line each.
stat() { sed -n "s/.*\"$1\": {.*\"$2\": \([^,}]*\)[,}].*/\1/p" stats; }

# ---- options
for n in 0 00 2147483648 18446744073709551615 18446744073709551616; do
  usage "barriers wants a number from 1 to 2147483647, or auto, not '$n'" compile g.yaml --barriers $n
done
expect "no hint on zero" [ -z "$(sed -n '/hint/p' err)" ]
usage "seed wants a decimal number below 2^64, not '18446744073709551616'" compile g.yaml \
  --seed 18446744073709551616
usage 'without --barriers the target' compile g.yaml --barriers 0
for n in -1 x 1x Auto ''; do
  usage "barriers wants a decimal number or auto, not '$n'" compile g.yaml --barriers "$n"
done
usage "did you mean 'auto'" compile g.yaml --barriers=aut
usage 'barriers wants N|auto' compile g.yaml --barriers
usage "is one of best|published, not 'worst'" compile g.yaml --barriers 4 --barrier-method worst
usage 'barrier-method is for targets with barriers' compile g.yaml --barrier-method published
expect "what to add" holds err 'add --barriers N'
usage 'needs to know how many' compile g.yaml --barriers auto --barrier-method published
usage 'needs to know how many' compile barrier.yaml --set barriers.count=auto \
  --barrier-method published
usage 'barrier-method is for targets with barriers' compile block.yaml --barrier-method best
usage '--barriers is an option of compile' verify g.fsb --barriers 4
usage "pass 'barrier' does not run for this target" compile g.yaml --dump-after barrier
usage "pass 'block' does not run for this target" compile g.yaml --dump-after block --barriers 4
expect "nothing was written" [ ! -e g.fsb ]

# ---- no number of barriers
run 1 "$FSCHED" compile barrier.yaml
expect "where" holds err '^barrier.yaml:4:9: error: .sync: barrier. needs a number of barriers'
expect "what to do" holds err 'hint: give the target .barriers: {count: N}., or use --barriers N'
run 2 "$FSCHED" compile g.yaml --set sync=barrier
expect "the option's place" holds err '^command line:1:6: error: .sync: barrier. needs'
expect "nothing was written" [ ! -e g.fsb -a ! -e barrier.fsb ]
run 0 "$FSCHED" dot barrier.yaml

# ---- barriers
run 0 "$FSCHED" compile barrier.yaml --set barriers.count=4 --verify --emit stats=stats
expect "the summary" holds err '^  barriers: [1-4] of 4 used, [0-9]* uses, [0-9]* orders\? added'
expect "and no waits" [ -z "$(sed -n '/waits/p' err)" ]
expect "bound" [ "$(stat barriers bound)" = 4 ]
expect "used" [ "$(stat barriers used)" -ge 1 -a "$(stat barriers used)" -le 4 ]
expect "width" [ "$(stat barriers width)" = 3 ]
expect "slots" [ "$(stat barriers slots)" = null ]
expect "virtual" [ "$(stat barriers virtual)" -ge "$(stat barriers used)" ]
expect "no syncs" holds stats '^ "syncs": null,$'
for key in least added_edges gates added_makespan wait_list; do
  expect "$key" [ -n "$(stat barriers $key)" ]
done
run 0 "$FSCHED" verify barrier.fsb
for graph in barrier.yaml g.yaml block.yaml; do # the number of barriers is compile's to choose
  run 0 "$FSCHED" verify barrier.fsb --graph $graph
done
run 4 "$FSCHED" verify barrier.fsb --graph barrier.yaml --set barriers.slots=9
run 0 "$FSCHED" run barrier.fsb --check
cp barrier.fsb first.fsb
for how in "g.yaml --barriers 4" "barrier.yaml --barriers=4" \
  "g.yaml --set sync=barrier --set barriers.count=4" "block.yaml --barriers 9 --barriers 4"; do
  # shellcheck disable=SC2086 # a list of words
  run 0 "$FSCHED" compile $how -q -o second.fsb
  expect "the same stream with $how" same second.fsb first.fsb
done
run 0 "$FSCHED" compile g.yaml -q --barriers 4 --set barriers.slots=1 --barrier-method best --verify \
  --emit stats=stats --emit schedule=s.json
expect "enough for an op that needs two barriers" [ "$(stat barriers used)" -le 4 ]
expect "slots" [ "$(stat barriers slots)" = 1 ]
run 0 "$FSCHED" verify s.json --graph g.yaml

run 0 "$FSCHED" compile g.yaml --barriers auto --verify --emit stats=stats
expect "how many" holds err '^  barriers: [0-9]*, the least known that add no order or gate; [0-9]* uses$'
expect "no bound" [ "$(stat barriers bound)" = null ]
expect "they are the least" [ "$(stat barriers used)" = "$(stat barriers least)" ]
expect "no order was added" [ "$(stat barriers added_edges)$(stat barriers gates)" = 00 ]
least=$(stat barriers least)
run 0 "$FSCHED" verify g.fsb --graph g.yaml
run 0 "$FSCHED" compile g.yaml --set sync=barrier --set barriers.count=auto -q -o second.fsb
expect "the same from the target" same second.fsb g.fsb
run 0 "$FSCHED" compile g.yaml --barriers "$least" --verify --emit stats=stats
expect "as many need no order" [ "$(stat barriers added_edges)$(stat barriers gates)" = 00 ]

run 0 "$FSCHED" compile g.yaml -q --barriers 4 --dump-after barrier=dump
expect "counts" holds dump '^barriers [0-9]*, physical [1-4] of 4, waits [0-9]*, orders added '
expect "a line for each" holds dump '^ *0  *[0-3]  *0  [a-z]'
run 0 "$FSCHED" compile g.yaml -q --barriers 4 --time-report
expect "the pass's time" holds err '^  barrier  .* ms '
expect "and not the other's" [ -z "$(sed -n '/^  block /p' err)" ]

# ---- orders that cost time
cat >pairs.yaml <<'END'
fsched: 1
target: {queues: [{name: p}, {name: q}, {name: r}]}
ops:
  - {name: a, on: p, size: 4}
  - {name: b, on: q, size: 4}
  - {name: c, on: r, time: 3, args: [{in: a}]}
  - {name: d, on: p, args: [{in: b}]}
  - {name: e, on: q, size: 4}
  - {name: f, on: p, size: 4}
  - {name: g, on: r, args: [{in: e}]}
  - {name: h, on: q, args: [{in: f}]}
END
run 0 "$FSCHED" compile pairs.yaml -q --emit schedule=free.json
run 0 "$FSCHED" compile pairs.yaml --barriers 1 --verify --emit stats=stats --emit schedule=s.json
makespan() { sed -n 's/^ "makespan": \([0-9]*\),$/\1/p' "$1"; }
added=$(($(makespan s.json) - $(makespan free.json)))
expect "there is a cost" [ "$added" -gt 0 ]
expect "it is in the summary" holds err "^  barriers: 1 of 1 used, .* added, makespan +$added\$"
expect "and in the statistics" [ "$(stat barriers added_makespan)" = "$added" ]
expect "no longer the best there is" holds s.json '"status": "feasible"'
expect "the orders are control edges" \
  [ "$(grep -c '"why": "barrier"' s.json)" -eq "$(stat barriers added_edges)" ]
run 0 "$FSCHED" verify s.json --graph pairs.yaml
run 0 "$FSCHED" dot pairs.yaml --schedule s.json
run 0 "$FSCHED" run pairs.fsb --check

# ---- the published method
run 0 "$FSCHED" compile pairs.yaml -o published.fsb --verify --barriers 4 --barrier-method published
run 0 "$FSCHED" verify published.fsb --graph pairs.yaml
cat >chain.yaml <<'END'
fsched: 1
target: {queues: [{name: p}, {name: q}, {name: r}]}
ops:
  - {name: u, on: p}
  - {name: v, on: q, after: [u]}
  - {name: w, on: r, after: [v]}
END
run 3 "$FSCHED" compile chain.yaml --barriers 2 --barrier-method published
expect "the reason" holds err 'the published barrier method would deadlock: op .v. needs'
expect "nothing was written" [ ! -e chain.fsb ]
run 0 "$FSCHED" compile chain.yaml --barriers 2 --verify

# ---- full syncs
run 0 "$FSCHED" compile block.yaml --verify --emit stats=stats
expect "the summary" holds err '^  syncs: [0-9]* full, 0 counting'
expect "full" [ "$(stat syncs full)" -ge 1 ]
expect "counting" [ "$(stat syncs counting)" = 0 ]
expect "no barriers" holds stats '^ "barriers": {"bound": null, "used": null, "width": null},$'
run 0 "$FSCHED" verify block.fsb --graph block.yaml
run 0 "$FSCHED" verify block.fsb --graph g.yaml --set sync=block
run 4 "$FSCHED" verify block.fsb --graph g.yaml
run 0 "$FSCHED" run block.fsb --check
run 0 "$FSCHED" compile block.yaml -q --dump-after block=dump
expect "syncs in the order of issue" holds dump '^  *(all)  sync$'
run 0 "$FSCHED" compile g.yaml --verify --set sync=block --set queues.dma.counting=true \
  --set memories.cmx.placement=stack
run 0 "$FSCHED" verify g.fsb
run 0 "$FSCHED" run g.fsb --check
usage 'is counting, which takes .sync: block.' compile g.yaml --set queues.dma.counting=true
usage 'is a stack, which takes .sync: block.' compile g.yaml --set memories.cmx.placement=stack
usage "is counting, which takes .sync: block., not barriers" compile g.yaml --barriers 4 \
  --set sync=block --set queues.dma.counting=true
