# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# fsched dot and --emit dot: what is drawn, from which files, the options, and what Graphviz makes of
# it.
cp "$TOP/examples/figure-10.yaml" g.yaml
run 0 "$FSCHED" compile g.yaml -q -o g.fsb --emit dot=s.dot --emit schedule=s.json
run 0 "$FSCHED" dot g.yaml
golden out dot-graph.dot
cp out g.dot
run 0 "$FSCHED" dot g.yaml --schedule s.json
golden out dot-schedule.dot
expect "--emit dot is the picture of the schedule" same out s.dot
run 0 "$FSCHED" dot g.fsb -o p.dot
golden p.dot dot-program.dot
expect "nothing on standard output" empty out
expect "and nothing on standard error" empty err

# Input comes from standard input, and from files that are not plain ones.
"$FSCHED" dot - <g.yaml >out
expect "a graph from standard input" same out g.dot
"$FSCHED" dot - <g.fsb >out
expect "a program from standard input" same out p.dot
"$FSCHED" dot g.yaml --schedule - <s.json >out
expect "a schedule from standard input" same out s.dot
mkfifo pipe && { cat g.yaml >pipe & }
run 0 "$FSCHED" dot pipe
expect "a graph from a pipe" same out g.dot

# Options.
run 0 "$FSCHED" dot g.yaml --set concurrency=2 --names full --collapse never -q -v
cat >long.yaml <<'END'
fsched: 1
ops:
  - {name: a-name-that-is-much-too-long-for-a-node}
  - {name: b, size: 1, after: [a-name-that-is-much-too-long-for-a-node]}
END
run 0 "$FSCHED" dot long.yaml --names short
expect "a short name" holds out 'label="a-name-that-…-for-a-node'
expect "is whole in its tooltip" holds out 'tooltip="a-name-that-is-much-too-long-for-a-node'
run 0 "$FSCHED" dot long.yaml --names full
expect "a full name" holds out 'label="a-name-that-is-much-too-long-for-a-node'
run 0 "$FSCHED" dot long.yaml --collapse always
expect "a chain is one node" holds out '(2 ops)'
run 0 "$FSCHED" dot long.yaml --collapse never
expect "and without collapse two" holds out 'label="b'
run 0 "$FSCHED" dot g.yaml --memory cmx=20 --set time_unit=ms
expect "--set changes the target" holds out '1 ms'
run 0 "$FSCHED" dot "$TOP/examples/unet/graph.yaml" --buffers
expect "--buffers shows what is given" holds out 'tooltip="mid.w: given"'
expect "units with every time" holds p.dot 'lower bound 6 us'
expect "the copies by what they are for" holds p.dot '5 ops, 0 loads, 1 store, 2 spills'

# Barriers.
run 0 "$FSCHED" compile "$TOP/test/fuzz/barrier.yaml" -q -o barrier.fsb
run 0 "$FSCHED" dot barrier.fsb
expect "barriers are no nodes" [ "$(grep -c diamond out)" -eq 0 ]
run 0 "$FSCHED" dot barrier.fsb --barrier-nodes -o b.dot
expect "unless they are asked for" holds b.dot 'shape=diamond'
expect "with their physical ones" holds b.dot 'tooltip="barrier 0: physical barrier 0, use 0'
run 2 "$FSCHED" dot g.yaml --barrier-nodes
expect "--barrier-nodes is for programs" holds err 'compile the graph'
run 2 "$FSCHED" dot g.fsb --barrier-nodes
expect "with barriers" holds err 'g.fsb has waits'
run 0 "$FSCHED" compile "$TOP/examples/block-sync/graph.yaml" -q -o block.fsb
run 2 "$FSCHED" dot block.fsb --barrier-nodes
expect "and not with syncs" holds err 'block.fsb has syncs'

# These are refused.
run 2 "$FSCHED" dot g.fsb --buffers
run 2 "$FSCHED" dot g.yaml --schedule s.json --buffers
expect "--buffers is for graphs" holds err 'without --schedule'
run 2 "$FSCHED" dot
run 2 "$FSCHED" dot g.yaml g.fsb
run 2 "$FSCHED" dot g.yaml --collapse sometimes
run 2 "$FSCHED" dot g.fsb --schedule s.json
expect "a program has its schedule" holds err '--schedule is for graphs'
run 2 "$FSCHED" dot g.fsb --memory cmx=10
run 2 "$FSCHED" dot - --schedule -
run 2 "$FSCHED" dot g.yaml -o g.yaml
expect "the graph stays" same g.yaml "$TOP/examples/figure-10.yaml"
run 2 "$FSCHED" dot g.yaml --schedule s.json -o s.json
run 2 "$FSCHED" compile g.yaml -q -o s.dot --emit dot=s.dot
sed -n '/^target:/,/^buffers:/p' g.yaml | sed -e '1d' -e '$d' -e 's/^  //' >target.yaml
{ sed '/^target:/,$d' g.yaml && echo 'target: target.yaml' && sed -n '/^buffers:/,$p' g.yaml; } >t.yaml
run 0 "$FSCHED" dot t.yaml
expect "a target of its own" same out g.dot
run 2 "$FSCHED" dot t.yaml -o target.yaml
run 5 "$FSCHED" dot nowhere.yaml
run 5 "$FSCHED" dot g.yaml -o nowhere/g.dot
run 5 "$FSCHED" dot g.yaml --schedule nowhere.json
run 1 "$FSCHED" dot s.json
expect "a schedule is known" holds err 'this is a schedule'
"$FSCHED" dis g.fsb --format json >d.json
run 1 "$FSCHED" dot d.json
expect "a program's text is known" holds err 'fsched asm makes'
head -c 300 g.fsb >cut.fsb
run 1 "$FSCHED" dot cut.fsb
printf 'x\0y' >rubbish
run 1 "$FSCHED" dot rubbish
echo 'fsched: 1' >bad.yaml
run 1 "$FSCHED" dot bad.yaml
sed 's/"start": 5, "end": 6/"start": 4, "end": 5/' s.json >wrong.json
run 4 "$FSCHED" dot g.yaml --schedule wrong.json -o wrong.dot
expect "a wrong schedule is not drawn" [ ! -e wrong.dot ]
run 1 "$FSCHED" dot g.yaml --schedule g.yaml
run 3 "$FSCHED" dot g.yaml --memory cmx=9
if [ -w /dev/full ]; then
  "$FSCHED" dot g.yaml >/dev/full 2>err
  expect "a full disk" [ $? -eq 5 ]
fi

# Graphviz reports nothing.
if command -v dot >/dev/null; then
  "$FSCHED" compile "$TOP/examples/resnet50.yaml" -q -o r.fsb --emit dot=r.dot
  "$FSCHED" dot "$TOP/examples/resnet50.yaml" -o rg.dot
  cat >names.yaml <<'END'
fsched: 1
name: "a\\\"b&<c>"
ops:
  - {name: "a \"quoted\" name"}
  - {name: "back\\"}
  - {name: "<b>&amp;\\N</b>"}
  - {name: "new\nline"}
  - {name: "größe→"}
END
  "$FSCHED" dot names.yaml -o names.dot
  for f in g s p r rg names; do
    dot -Tsvg $f.dot >$f.svg 2>err
    expect "dot accepts $f.dot" [ $? -eq 0 ]
    expect "dot says nothing about $f.dot" empty err
    expect "dot draws $f.dot" holds $f.svg '</svg>'
  done
  for name in 'a &quot;quoted&quot; name' "back\\\\" '&lt;b&gt;&amp;amp;\\N&lt;/b&gt;' 'new\\x0aline' \
    'größe→'; do
    expect "$name is shown" holds names.svg ">$name</text>"
  done
  for f in s r; do
    expect "each queue of $f.dot has its label" holds $f.svg '>queue dma<'
  done
else
  echo "skip: dot is not there, its pictures are not rendered"
fi
:
