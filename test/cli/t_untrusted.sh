# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Graphs of others: which files a target may be, and that nothing of their text is shown.

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
# What is hidden is shown without the option, so that the test can fail.
graph link
run 1 "$FSCHED" compile theirs/g.yaml -o g.fsb
expect "a trusted graph's target is shown" holds err secret
for target in broken unparsed; do
  graph $target
  run 1 "$FSCHED" compile theirs/g.yaml --untrusted -o g.fsb
  silent $target
  expect "the place in $target is told" holds err "theirs/$target:[0-9]*:[0-9]*: error: "
  run 1 "$FSCHED" compile theirs/g.yaml --untrusted -o g.fsb --diagnostics json
  silent $target
done
run 0 "$FSCHED" compile "$TOP/examples/figure-10.yaml" --untrusted -q -o f.fsb
run 0 "$FSCHED" verify f.fsb --graph "$TOP/examples/figure-10.yaml" --untrusted
