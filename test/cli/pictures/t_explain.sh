# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# fsched explain: what it prints, what it accepts, and what it refuses.
run 0 "$FSCHED" compile "$TOP/examples/figure-10.yaml" -q -o f.fsb
run 0 "$FSCHED" explain f.fsb
golden out explain-summary.txt
expect "nothing on standard error" empty err
run 0 "$FSCHED" explain f.fsb C
golden out explain-op.txt
cp out c.txt
run 0 "$FSCHED" explain f.fsb dpu:3
expect "an epoch is a name too" same out c.txt
run 0 "$FSCHED" explain f.fsb 'run C' C
expect "an op is explained once" same out c.txt
run 0 "$FSCHED" explain f.fsb 'spill_read A_in'
cp out read.txt
run 0 "$FSCHED" explain f.fsb dma:4
expect "a copy by its buffer or its epoch" same out read.txt
run 0 "$FSCHED" explain f.fsb A -o - B
expect "in the order of the names" [ "$(grep -c '^run [AB]: ' out)" -eq 2 ]
run 0 "$FSCHED" explain f.fsb C -o out.txt
expect "to a file" same out.txt c.txt
"$FSCHED" explain - C <f.fsb >out
expect "from standard input" same out c.txt
run 0 "$FSCHED" explain f.fsb C --format json
golden out explain-op.json
run 0 "$FSCHED" explain f.fsb --format json
expect "JSON of the whole" holds out '"fsched_explain": 1'
if command -v python3 >/dev/null; then
  cp out j.json
  run 0 python3 -c 'import json; json.load(open("j.json"))'
else
  echo "skip: python3 is not there, JSON is not read"
fi

# Lists are cut, but not with -v; every wait has a reason.
run 0 "$FSCHED" compile "$TOP/examples/resnet50.yaml" -o r.fsb
makespan=$(sed -n 's/.*makespan \([0-9]*\) .*/\1/p' err)
run 0 "$FSCHED" explain r.fsb
expect "the chain is cut" holds out '    and [0-9]* more$'
expect "no wait without a reason" [ "$(grep -c 'nothing that the stream tells' out)" -eq 0 ]
expect "the makespan adds up" holds out "    ${makespan:-none} = ops [0-9]* + copies [0-9]* + gaps [0-9]*\$"
run 0 "$FSCHED" explain r.fsb -v
expect "with -v it is not" [ "$(grep -c '    and [0-9]* more$' out)" -eq 0 ]

# A sync lets commands wait that need nothing of it.
run 0 "$FSCHED" compile "$TOP/examples/block-sync/graph.yaml" -q -o b.fsb
run 0 "$FSCHED" explain b.fsb
expect "each wait has a reason" [ "$(grep -c 'nothing that the stream tells' out)" -eq 0 ]
expect "or comes with others" holds out '    nothing else than a sync that others need *[1-9]'
run 0 "$FSCHED" explain b.fsb --format json
expect "JSON counts these too" holds out '"concurrency": 0, "sync": [1-9]'

# Starts that the graph gives are told with the graph.
cat >given.yaml <<'END'
fsched: 1
ops:
  - {name: one, time: 2}
  - {name: two, time: 2, start: 9, after: [one]}
END
run 0 "$FSCHED" compile given.yaml -q -o given.fsb
run 0 "$FSCHED" explain given.fsb two
expect "the stream does not tell them" holds out 'its after, then nothing for 7$'
run 0 "$FSCHED" explain given.fsb two -g given.yaml
expect "the graph does" holds out 'its after, then the start that the graph gives, after 7$'
run 0 "$FSCHED" explain given.fsb two --graph given.yaml --format json
expect "JSON too" holds out '"gap": 7, "given": true}'
expect "and only of those" [ "$(grep -c '"given": true' out)" -eq 1 ]
# The graph is read as other commands read it.
cat >sized.yaml <<'END'
fsched: 1
target: {memories: [{name: pad, capacity: 4}]}
buffers: [{name: x, memory: pad, size: 64}]
ops:
  - {name: one, time: 2, start: 3, args: [{out: x}]}
END
run 3 "$FSCHED" compile sized.yaml -q -o sized.fsb
run 0 "$FSCHED" compile sized.yaml -q -o sized.fsb --memory pad=64
run 0 "$FSCHED" explain sized.fsb one -g sized.yaml --memory pad=64
expect "with another capacity" holds out 'the start that the graph gives$'
run 2 "$FSCHED" explain sized.fsb one --memory pad=64
expect "a stream has its target" holds err '\-\-memory needs --graph'
run 4 "$FSCHED" explain f.fsb --graph given.yaml
expect "another graph" holds err 'the stream has 5 ops, and the graph 2'
run 2 "$FSCHED" explain - --graph -
expect "one standard input" holds err 'can be read only once'
run 2 "$FSCHED" explain given.fsb -g given.yaml -o given.yaml
run 5 "$FSCHED" explain given.fsb --graph nowhere.yaml

# These are refused.
run 2 "$FSCHED" explain
run 2 "$FSCHED" explain f.fsb dmx:3
expect "the nearest queue" holds err "did you mean 'dma:3'?"
run 2 "$FSCHED" explain f.fsb D9 A_im
expect "all unknown names" [ "$(grep -c 'no command' err)" -eq 2 ]
expect "the nearest op" holds err "did you mean 'A_in'?"
expect "and nothing else" empty out
run 2 "$FSCHED" explain f.fsb dma:6
expect "an epoch that is not there" holds err 'its epochs are 1 to 5'
run 2 "$FSCHED" explain f.fsb C -o f.fsb
run 2 "$FSCHED" explain f.fsb C --format yaml
run 5 "$FSCHED" explain nowhere.fsb
run 5 "$FSCHED" explain f.fsb -o nowhere/out.txt
run 1 "$FSCHED" explain "$TOP/examples/figure-10.yaml"
expect "a graph is known" holds err 'fsched compile'
head -c 300 f.fsb >cut.fsb
run 1 "$FSCHED" explain cut.fsb C
if [ -w /dev/full ]; then
  "$FSCHED" explain f.fsb >/dev/full 2>err
  expect "a full disk" [ $? -eq 5 ]
fi

# Two commands wait for each other: A for dma:3, which waits for A.
"$FSCHED" dis f.fsb --format json | sed '/"op": "A",/s/"waits": \[[^]]*\]/"waits": [{"axis": "dma", "epoch": 3}]/' >d.json
run 0 "$FSCHED" asm d.json -o d.fsb
run 4 "$FSCHED" explain d.fsb
expect "a deadlock" holds err 'wait for each other'
:
