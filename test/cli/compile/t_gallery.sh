# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# The examples with a README: each compiles without a warning to the makespan that its README states, is
# proven right and replayed, and shows what it is meant to show.
examples=$TOP/examples
value() { sed -n "s/.*\"$2\": \([0-9]*\).*/\1/p" "$1" | head -n 1; }
count() { grep -c -e "$2" "$1"; }
# is WHAT HAVE WANTED checks that both are equal.
is() { expect "$1: $2, not $3" [ "$2" = "$3" ]; }

# good NAME MAKESPAN LOWER_BOUND checks an example.
good() {
  graph=$examples/$1/graph.yaml
  for evict in lru farthest; do
    run 0 "$FSCHED" compile "$graph" --unroll -Wextra -o g.fsb --verify --evict $evict --emit schedule=s.json \
      --emit table=t.txt --emit stats=st.json
    expect "$1: no warning" [ "$(count err warning)" -eq 0 ]
    run 0 "$FSCHED" verify g.fsb --unroll --graph "$graph"
    run 0 "$FSCHED" verify s.json --unroll --graph "$graph"
    run 0 "$FSCHED" run g.fsb --check -q --modules .
    run 0 "$FSCHED" dis g.fsb --format json -o g.json
    run 0 "$FSCHED" asm g.json -o again.fsb
    expect "$1: dis and asm give the same bytes" same g.fsb again.fsb
    run 0 "$FSCHED" dis g.fsb -o dis.txt
  done
  is "$1: makespan" "$(value s.json makespan)" "$2"
  is "$1: lower bound" "$(value s.json lower_bound)" "$3"
}

# Both ends of the link run the all-reduces, and ops that need one wait for the collective axis; weights
# come in once each; only what the other device waits for is signalled beyond the device.
good transformer 1588 1527
is "all-reduces at each end" "$(count dis.txt 'run allreduce.* with gang0:')" 12
is "waits for the collective axis" "$(count dis.txt 'run d[01].* gang0:[26]  *dev')" 4
is "copies in" "$(value st.json spill_reads)" 28
is "commands that the other device waits for" \
  "$(count dis.txt 'run d[01].*  device_group  ')" 12
holds dis.txt 'dma0 (class copy, device 0' && holds dis.txt 'dma1 (class copy, device 1'
expect "two devices" [ $? -eq 0 ]

# The makespan is (m + s - 1) t; a stage that is m micro-batches ahead waits for room.
good pipeline 30000 30000
is "orderings by room in an inbox" "$(count s.json '"why": "reuse"')" 12
run 0 "$FSCHED" compile "$examples/pipeline/graph.yaml" -q -o g.fsb --verify \
  --memory inbox1=2MiB --memory inbox2=2MiB --emit schedule=s.json
is "one slot: makespan" "$(value s.json makespan)" 51000

# Two barriers are enough, and nine add no orders; timelines and syncs need only another option.
good npu 391 337
is "physical barriers" "$(value st.json used)" 6
for barriers in 2 auto; do
  run 0 "$FSCHED" compile "$examples/npu/graph.yaml" -q -o g.fsb --verify --barriers $barriers \
    --emit stats=st.json
  run 0 "$FSCHED" run g.fsb --check -q
  run 0 "$FSCHED" run g.fsb --check -q --on sim --durations adversarial --invocations 20
done
is "least barriers" "$(value st.json least)" 9
run 3 "$FSCHED" compile "$examples/npu/graph.yaml" -o g.fsb --barriers 1
run 3 "$FSCHED" compile "$examples/npu/graph.yaml" -o g.fsb --barrier-method published
expect "it says what deadlocks" holds err "would deadlock: op 'fetch5'"

# More syncs than the fewest pay where they cost little.  The stack needs no syncs of its own.
good block-sync 2100 2100
is "full syncs" "$(value st.json full)" 8
is "makespan and syncs" "$(value st.json total)" 2108
run 0 "$FSCHED" compile "$examples/block-sync/graph.yaml" -q -o g.fsb --verify \
  --set sync_cost=1000000 --emit stats=st.json
is "the fewest" "$(value st.json full)" 3
run 0 "$FSCHED" compile "$examples/block-sync/graph.yaml" -q -o g.fsb --verify \
  --set sync_cost=1000000 --set memories.shared.placement=contiguous --emit stats=st.json
is "the fewest without the stack" "$(value st.json full)" 7

# Forward and backward passes alternate: the first stage goes ahead by at most three micro-batches.
good training 120000 120000
is "the first stage's order" "$(awk '$5 == "acc0" { printf "%s ", $1 }' t.txt)" \
  "f0.0 f1.0 f2.0 b0.0 f3.0 b1.0 f4.0 b2.0 f5.0 b3.0 f6.0 b4.0 f7.0 b5.0 b6.0 b7.0 "

# The first skips are spilled and come back in reverse order; with room for all none is.
good unet 8929 8468
is "what leaves and comes back" "$(sed -n 's/^\(skip[0-9]\)  *spill_\([a-z]*\).*/\1 \2/p' t.txt |
  tr '\n' ' ')" "skip1 write skip2 write skip2 read skip1 read "
run 0 "$FSCHED" compile "$examples/unet/graph.yaml" -q -o g.fsb --verify --memory sram=16MiB \
  --emit table=t.txt
is "spills of skips with 16 MiB" "$(count t.txt '^skip.*spill')" 0

# The tensor unit has no gap: products of the next block come before those that wait for exponentials.
good attention 17472 17216
is "time that the tensor unit is busy" "$(awk '$5 == "tensor" { sum += $4 - $3; if (first == "") first = $3; end = $4 }
  END { print first, end - first, sum }' t.txt)" "768 16384 16384"
is "the next block's products come first" "$(awk '$5 == "tensor" { printf "%s ", $1 }' t.txt | cut -d ' ' -f 1-6)" \
  "qk.a[0] qk.b[0] qk.a[1] qk.b[1] pv.a[0] pv.b[0]"

# Loads run ahead through the ends of the inner loop.
good gemm-tiles 7376 7232
is "loads that end before the sum is converted" "$(awk '/^convert.0/ { at = $3 } /^load_[ab].1.*0./ { n += $4 <= 2560 }
  END { print at, n }' t.txt)" "2560 2"

# Sweeps run side by side, two tiles apart; raw hazards leave the next frame's loads unordered.
good tiles 1452 1452
is "tiles that start together" "$(awk '$3 == 594 { printf "%s ", $1 }' t.txt)" \
  "sweep1.4 sweep2.2 sweep3.0 "
is "core1 waits once a tile" "$(count dis.txt ' run sweep2.[0-4]  core0:[2-6]  ')" 5
sed 's/^hazards: .*/hazards: raw/' "$examples/tiles/graph.yaml" >raw.yaml
run 0 "$FSCHED" compile raw.yaml -o g.fsb
expect "a race with the next frame's load" holds err "'store.0' and 'next.0' are unordered"
expect "no race of sweeps alone" [ "$(count err "'sweep.* and 'sweep")" -eq 0 ]
sed 's/, at: \[[^]]*\]//g' "$examples/tiles/graph.yaml" >whole.yaml
run 0 "$FSCHED" compile whole.yaml -q -o g.fsb --verify --emit schedule=s.json
is "without ranges one after the other" "$(value s.json makespan)" 2970

# Products run without a gap, beside loads and stores; tiles come in again, sums do not.
cp "$BUILD/examples/gemm-out-of-core/gemm.so" .
good gemm-out-of-core 664 656
is "loads again" "$(awk '$2 == "spill_read" && n[$1]++' t.txt | wc -l)" 24
is "time of copies and ops" "$(awk '{ sum += $4 - $3 } END { print sum }' t.txt)" 1216
is "tiles of C that come back" "$(count t.txt '^C.*spill_read')" 0

# A second crane alone, or more carpenters alone, gain nothing, but both together do.
good project 55 55
expect "orderings by people and machines" [ "$(count s.json '"why": "resource"')" -gt 0 ]
for set in crane=2 carpenters=8; do
  run 0 "$FSCHED" compile "$examples/project/graph.yaml" -q -o g.fsb --verify \
    --set "resources.${set%=*}.capacity=${set#*=}" --emit schedule=s.json
  is "$set: makespan" "$(value s.json makespan)" 55
done
run 0 "$FSCHED" compile "$examples/project/graph.yaml" -q -o g.fsb --verify \
  --set resources.crane.capacity=2 --set resources.carpenters.capacity=8 --emit schedule=s.json
is "both: makespan" "$(value s.json makespan)" 52

# The index lists every example, and the figures in its table are right.
for directory in "$examples"/*/; do
  name=$(basename "$directory")
  expect "examples/$name has a README" [ -f "$directory/README.md" ]
  expect "examples/README.md names $name" holds "$examples/README.md" "]($name/README.md)"
done
sed -n 's/^| \[.*\](\([^)]*\)) |.* | \([0-9]*\) | \([0-9]*\) \([a-z]*\) | \([0-9]*\) [a-z]* |$/\1 \2 \3 \4 \5/p' \
  "$examples/README.md" >rows
expect "the index has rows" [ "$(wc -l <rows)" -ge 8 ]
while read -r link ops makespan unit bound; do
  case $link in
    */README.md) graph=$examples/${link%README.md}graph.yaml ;;
    *) graph=$examples/$link ;;
  esac
  run 0 "$FSCHED" compile "$graph" --unroll -o g.fsb
  expect "$link: the table says what is printed" \
    holds err ": $ops ops, .* makespan $makespan $unit, lower bound ${bound}[, ]"
done <rows
for readme in "$TOP/README.md" "$examples"/README.md "$examples"/*/README.md; do
  grep -o ']([^):#]*)' "$readme" | sed 's/^](//; s/)$//' >links
  while IFS= read -r link; do
    expect "$readme: $link is there" [ -e "${readme%/*}/$link" ]
  done <links
done
:
