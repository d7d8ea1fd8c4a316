# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Graphs of others: which files a target may be, and that no message shows text of them.

mkdir -p theirs/below mine
printf 'queues: [{name: q}]\nmemories: [{name: m}]\n' >theirs/good.yaml
cp theirs/good.yaml theirs/below/good.yaml
printf 'secret: [hush, {a: b}]\nqueues: 5\nsecret: again\n' >mine/private
cp mine/private theirs/broken
printf 'hush: "not closed\n' >theirs/unparsed
ln -s ../mine/private theirs/link
ln -s ../mine theirs/directory
ln -s good.yaml theirs/known
ln -s /etc/passwd theirs/passwd
mkfifo theirs/fifo

graph() {
  printf 'fsched: 1\ntarget: %s\nops: [{name: a}]\n' "$1" >theirs/g.yaml
}
silent() {
  expect "text of $1 is shown" [ "$(grep -c -e hush -e secret -e root: err)" -eq 0 ]
}
for target in good.yaml below/good.yaml ./good.yaml known; do
  graph $target
  for command in 'compile -o g.fsb' 'dot -o g.dot'; do
    # shellcheck disable=SC2086
    run 0 "$FSCHED" $command theirs/g.yaml --untrusted -q
    # shellcheck disable=SC2086
    (cd theirs && run 0 "$FSCHED" $command g.yaml --untrusted -q)
  done
done
for target in ../mine/private /etc/passwd link directory/private passwd below/../good.yaml .. . below fifo \
  nowhere /nowhere; do
  graph $target
  run 1 "$FSCHED" compile theirs/g.yaml --untrusted -o g.fsb
  expect "$target is refused" holds err "the target $target is no file in the graph's directory or below"
  silent $target
done
# Without the option the hidden text is shown, so the test can fail.
graph link
run 1 "$FSCHED" compile theirs/g.yaml -o g.fsb
expect "a trusted graph's target is shown" holds err secret
graph good.yaml
run 0 "$FSCHED" compile theirs/g.yaml -q -o of_graph.fsb
for target in broken unparsed; do
  graph $target
  run 1 "$FSCHED" explain of_graph.fsb --graph theirs/g.yaml --untrusted
  silent $target
  expect "explain tells the place in $target" holds err "theirs/$target:[0-9]*:[0-9]*: error: "
  run 1 "$FSCHED" compile theirs/g.yaml --untrusted -o g.fsb
  silent $target
  expect "the place in $target is told" holds err "theirs/$target:[0-9]*:[0-9]*: error: "
  run 1 "$FSCHED" compile theirs/g.yaml --untrusted -o g.fsb --diagnostics json
  silent $target
done

# A target without fault: the graph may use its names, but messages do not show them.
cat >theirs/named <<'END'
time_unit: tocks # secret
queues: [{name: fast_queue}]
memories: [{name: tiny, capacity: 4}] # secret
END
told() {
  expect "'$1' is told" holds err "$1"
  expect "nothing of the target is shown" [ "$(grep -c -e secret -e fast_queue -e tiny -e tocks -e long_name err)" -eq 0 ]
}
small() {
  printf 'fsched: 1\ntarget: named\nops: [{name: a%s}]\n' "$1" >theirs/g.yaml
}
small ', on: fast_quee'
run 1 "$FSCHED" compile theirs/g.yaml --untrusted -o g.fsb
told "no queue or class is named 'fast_quee'"
small ', args: [{out: x, size: 8}]'
run 3 "$FSCHED" compile theirs/g.yaml --untrusted -o g.fsb
told "does not fit memory '\*': needed 8, available 4"
run 3 "$FSCHED" compile theirs/g.yaml --untrusted -o g.fsb --diagnostics json
told "does not fit memory '\*': needed 8, available 4"
run 2 "$FSCHED" compile theirs/g.yaml --untrusted -o g.fsb --set memories.tin.capacity=8
told "the target has no memory 'tin'"
expect "no name is offered for it" [ "$(grep -c tiny err)" -eq 0 ]
# Also where the graph has the name, too, and where a message is cut within it.
printf 'fsched: 1\ntarget: named\nbuffers: [{name: x, size: 8, memory: tiny}]\nops: [{name: a, args: [{out: x}]}]\n' \
  >theirs/g.yaml
run 3 "$FSCHED" compile theirs/g.yaml --untrusted -o g.fsb
expect "only the graph's own line has the name" [ "$(grep -v '^ *3 | ' err | grep -c tiny)" -eq 0 ]
long=$(printf '%0900d' 0 | sed 's/0/_long_name/g')
printf 'memories: [{name: m%s, capacity: 4}]\n' "$long" >theirs/named
small ', args: [{out: x, size: 8}]'
run 3 "$FSCHED" compile theirs/g.yaml --untrusted -o g.fsb
told "does not fit memory '\*"
printf 'time_unit: tocks\nqueues: [{name: fast_queue}, {name: fast_queue_2}, {name: other, class: fast}]\nmemories: [{name: tiny}]\n' >theirs/named
small ''
run 0 "$FSCHED" compile theirs/g.yaml --untrusted -o g.fsb
expect "the summary is a result" holds err 'makespan 1 tocks'
# Targets of one's own, which strangers' graphs may use.
mkdir -p own/below
printf 'queues: [{name: hush}]\n' >own/below/target.yaml
cp mine/private own/private
ln -s ../mine/private own/link
for target in ../own/below/target.yaml "$PWD/own/below/target.yaml" good.yaml; do
  graph "$target"
  run 0 "$FSCHED" compile theirs/g.yaml --untrusted --targets own -o g.fsb -q
  run 0 "$FSCHED" verify g.fsb --graph theirs/g.yaml --untrusted --targets own
done
for target in ../own/link ../mine/private /etc/passwd ../own .. ../own/../mine/private ../own/nowhere; do
  graph $target
  run 1 "$FSCHED" compile theirs/g.yaml --untrusted --targets own -o g.fsb
  expect "$target is refused" holds err "the target $target is no file in the graph's directory or below"
  silent $target
done
graph ../own/private
run 1 "$FSCHED" compile theirs/g.yaml --untrusted --targets own -o g.fsb
silent private
graph ../own/below/target.yaml
run 1 "$FSCHED" compile theirs/g.yaml --untrusted --targets nowhere -o g.fsb
run 1 "$FSCHED" compile theirs/g.yaml --untrusted -o g.fsb
expect "the option is offered" holds err '--targets'
# Of a file with a fault nothing is told, even where the graph asks for it.
for fault in 'queues: [{name: hush}]
bad: 5'  'queues: [{name: hush}, {name: hush}]' 'queues: [{name: hush, clas: 5}]' '[hush]' 'hush' \
  'memories: [{name: m, capacity: hush}]' 'queues: [{name: q}]
hush: secret'; do
  printf '%s\n' "$fault" >theirs/faulty
  printf 'fsched: 1\ntarget: faulty\nops: [{name: a, on: hus}]\n' >theirs/g.yaml
  run 1 "$FSCHED" compile theirs/g.yaml --untrusted -o g.fsb
  silent faulty
  expect "the place in the faulty target is told" holds err "theirs/faulty:[0-9]*:[0-9]*: error: "
  run 1 "$FSCHED" compile theirs/g.yaml --untrusted -o g.fsb --memory hus=4
  silent faulty
done
run 0 "$FSCHED" compile "$TOP/examples/figure-10.yaml" --untrusted -q -o f.fsb
run 0 "$FSCHED" verify f.fsb --graph "$TOP/examples/figure-10.yaml" --untrusted

# Both are for a graph, which these commands read only when it is named.
for command in verify explain; do
  run 2 "$FSCHED" $command f.fsb --untrusted
  expect "$command says what lacks" holds err '\-\-untrusted needs --graph'
  run 2 "$FSCHED" $command f.fsb --targets own
  expect "$command says what lacks" holds err '\-\-targets needs --graph'
done
