# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# The examples: their generator, their known answers, and the whole way through.
"$BUILD/examples/gen_resnet50" >gen.yaml
expect "resnet50.yaml is what its generator writes" same gen.yaml "$TOP/examples/resnet50.yaml"
run 0 "$BUILD/examples/embed/embed"
expect "the library's example" [ "$(cat out)" = "blend: 7 ops, makespan 159, lower bound 142
verified
replayed: 17 commands, 7 ops and 4096 output bytes checked" ]
makespan() { sed -n 's/.*"makespan": \([0-9]*\).*/\1/p' "$1" | head -n 1; }
for g in figure-10 figure-10-serial resnet50; do
  for evict in farthest lru; do
    run 0 "$FSCHED" compile "$TOP/examples/$g.yaml" -q -o g.fsb --emit schedule=s.json \
      --verify --evict $evict
    case $g-$evict in
      figure-10-farthest) expect "7 ticks" [ "$(makespan s.json)" -eq 7 ] ;;
      figure-10-serial-farthest) expect "8 ticks" [ "$(makespan s.json)" -eq 8 ] ;;
    esac
    run 0 "$FSCHED" verify g.fsb --graph "$TOP/examples/$g.yaml"
    run 0 "$FSCHED" verify s.json --graph "$TOP/examples/$g.yaml"
    run 0 "$FSCHED" run g.fsb --check -q
    run 0 "$FSCHED" dis g.fsb --format json -o g.json
    run 0 "$FSCHED" asm g.json -o again.fsb
    expect "$g: dis and asm give the same bytes" same g.fsb again.fsb
  done
done
:
