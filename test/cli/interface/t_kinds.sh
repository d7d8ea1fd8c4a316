# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Files are of the wrong kind, standard input has a name, and a stream would go to a terminal.
cp "$TOP/examples/figure-10.yaml" g.yaml
run 0 "$FSCHED" compile g.yaml -q -o g.fsb
"$FSCHED" dis g.fsb >g.txt
"$FSCHED" dis g.fsb --format json >g.json
: >kinds.txt
wrong() {
  run 1 "$FSCHED" "$@"
  { echo "\$ fsched $*" && cat err; } >>kinds.txt
}
wrong run g.yaml
wrong verify g.yaml
wrong dis g.yaml
wrong dis g.json
wrong verify g.json
wrong run g.txt
wrong asm g.txt
wrong asm g.yaml
wrong asm g.fsb
wrong compile g.fsb
wrong compile g.json
wrong compile g.txt
wrong verify g.fsb --graph g.json
for c in run verify dis asm; do
  echo "\$ fsched $c - <g.yaml" >>kinds.txt
  "$FSCHED" $c - <g.yaml >out 2>>kinds.txt
  expect "$c refuses a graph" [ $? -eq 1 ]
done
echo '{' >bad.json
for c in asm 'verify --graph g.yaml' 'compile -o x'; do
  # shellcheck disable=SC2086 # words
  "$FSCHED" $c - <bad.json >out 2>err
  expect "$c says <stdin>" holds err '^<stdin>:'
done
golden kinds.txt kinds.txt
"$FSCHED" verify - --format json <g.fsb >out
expect "and so does JSON" holds out '"file": "<stdin>"'
"$FSCHED" run - --format json <g.fsb >out
expect "and so does JSON" holds out '"file": "<stdin>"'

# script(1) plays a terminal.
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1; then
  for c in 'compile - <g.yaml' 'compile g.yaml -o -' 'asm - <g.json'; do
    script -qec "$FSCHED $c 2>err" /dev/null </dev/null >out
    expect "no stream to a terminal: $c" holds err 'standard output is a terminal'
    expect "nothing is printed: $c" empty out
  done
fi
:
