# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# No result may replace an input or another result, however the file's name is spelled.
cp "$TOP/examples/figure-10.yaml" g.yaml
cp g.yaml self.fsb
cp g.yaml first.yaml
ln -s g.yaml link.yaml
mkdir d
ln -s .. d/up
run 0 "$FSCHED" compile g.yaml -q -o g.fsb
cp g.fsb first.fsb
run 0 "$FSCHED" dis g.fsb --format json -o g.json
cp g.json first.json
sed '/^target:/,/^buffers:/{/^buffers:/!d;}' g.yaml | sed 's/^buffers:/target: t.yaml\n&/' >split.yaml
sed -n '/^target:/,/^buffers:/{/^target:/d;/^buffers:/d;s/^  //;p;}' g.yaml >t.yaml
cp t.yaml first.t
input() { # what the message names, then the command line
  name=$1
  shift
  run 2 "$FSCHED" "$@"
  expect "the input is named: $*" holds err "over the input $name "
}
input g.yaml compile g.yaml -o g.yaml
input g.yaml compile g.yaml -o ./d/../g.yaml
input link.yaml compile link.yaml -o g.yaml
input g.yaml compile g.yaml -o link.yaml
input g.yaml compile g.yaml -o x.fsb --emit table=g.yaml
input g.yaml compile g.yaml -o x.fsb -MF d/up/g.yaml
input self.fsb compile self.fsb
input t.yaml compile split.yaml -o t.yaml
input t.yaml compile split.yaml -o x.fsb --emit stats=./t.yaml
input g.fsb dis g.fsb -o g.fsb
input g.json asm g.json -o d/up/g.json
input g.fsb run g.fsb -q --trace ./g.fsb
# shellcheck disable=SC2094 # that is the point
"$FSCHED" compile - -o g.yaml <g.yaml 2>err
expect "standard input is a file too" [ $? -eq 2 ]
expect "and the file is named" holds err 'over the input g.yaml '
# shellcheck disable=SC2094 # that is the point
"$FSCHED" dis g.fsb >>g.fsb 2>err
expect "so is standard output" [ $? -eq 2 ]
expect "the graph stays" same g.yaml first.yaml
expect "the stream stays" same g.fsb first.fsb
expect "the JSON stays" same g.json first.json
expect "the target stays" same t.yaml first.t

# Results may not replace an unrelated graph or target either, unless that is asked for.
guarded() { # what is named, then the command line
  name=$1
  shift
  run 2 "$FSCHED" "$@"
  expect "it is named: $*" holds err "would replace $name, which is a graph or target"
}
cp g.yaml other.yaml
printf '{"fsched": 1, "ops": []}\n' >other.json
printf '{\n"queues": [{"name": "q"}]\n}\n' >target.json
cp other.yaml kept
guarded other.yaml compile g.yaml -o other.yaml
guarded other.yaml compile g.yaml -o x.fsb --emit stats=other.yaml
guarded other.yaml compile g.yaml -o x.fsb --dump-after all=other.yaml
guarded other.json compile g.yaml -o other.json
guarded target.json compile g.yaml -o target.json
guarded t.yaml compile g.yaml -o x.fsb -MF t.yaml
guarded other.yaml run g.fsb --save-profile other.yaml
guarded other.yaml run g.fsb --trace other.yaml
guarded other.yaml run g.fsb --output C=other.yaml
guarded other.yaml dis g.fsb -o other.yaml
guarded other.yaml asm g.json -o other.yaml
guarded other.yaml dot g.yaml -o other.yaml
guarded other.yaml explain g.fsb -o other.yaml
expect "it is as it was" same other.yaml kept
expect "nothing else was written" [ ! -e x.fsb ]
for what in 'compile g.yaml -q --output=' 'compile g.yaml -q -o x.fsb --emit schedule=' 'dis g.fsb --output=' \
  'run g.fsb -q --save-profile=' 'dot g.yaml --output='; do
  cp kept over.yaml
  # shellcheck disable=SC2086 # words
  run 0 "$FSCHED" ${what}over.yaml --force
  expect "with --force it is replaced: $what" [ "$(cmp -s over.yaml kept; echo $?)" -eq 1 ]
done
printf 'strip 4 4\n2 2\n' >s.txt
cp kept over.yaml
run 0 "$FSCHED" import strip s.txt -o over.yaml
expect "an importer writes graphs" holds over.yaml '^fsched: 1'
: >empty.yaml
run 0 "$FSCHED" compile g.yaml -q -o empty.yaml
run 0 "$FSCHED" compile g.yaml -q -o x.fsb --emit schedule=s.json --emit stats=st.json --emit dot=d.dot --emit table=t.txt \
  --emit svg=p.svg --emit trace=tr.json --emit c=c.c
run 0 "$FSCHED" explain g.fsb --format json -o e.json
run 0 "$FSCHED" explain g.fsb -o e.txt
run 0 "$FSCHED" dis g.fsb -o dis.txt
run 0 "$FSCHED" dis g.fsb --format json -o dis.json
run 0 "$FSCHED" run g.fsb -q --save-profile p.json
for old in e.json e.txt dis.txt dis.json s.json st.json d.dot t.txt p.svg tr.json c.c c.h p.json x.fsb; do # old results are replaced
  run 0 "$FSCHED" compile g.yaml -q -o "$old"
done
run 0 "$FSCHED" run g.fsb -q --save-profile p.json
run 2 "$FSCHED" compile g.yaml -q --profile p.json -o x.fsb --emit stats=./p.json
expect "a profile that is read stays" holds err 'over the input p.json '
run 2 "$FSCHED" run g.fsb --profile p.json
expect "the old name says the new one" holds err '--profile of run is called --save-profile'
rm -f x.fsb

twice() {
  run 2 "$FSCHED" "$@"
  expect "two results: $*" holds err 'two results would be written to '
}
twice compile g.yaml -o ./v.fsb --emit table=v.fsb
twice compile g.yaml -o d/v --emit table=d/../d/v
twice compile g.yaml -o d/up/v --emit table=v
twice compile g.yaml -o v.fsb -MF ./v.fsb
ln -s first.fsb alias
twice compile g.yaml -o first.fsb --emit stats=alias
ln -s d/up/v later
twice compile g.yaml -o later --emit stats=v
twice compile g.yaml -o v --dump-after all=later
twice run g.fsb --trace ./out
expect "nothing was written" [ ! -e v.fsb -a ! -e d/v -a ! -e v -a ! -e x.fsb ]
run 0 "$FSCHED" compile g.yaml -q -o d/same --emit table=same --emit stats=d/other
run 0 "$FSCHED" compile g.yaml -q -o /dev/null --emit table=/dev/null

# However a target begins.
run 0 "$FSCHED" compile "$TOP/examples/figure-10.yaml" -q -o begins.fsb
while IFS= read -r text; do
  printf '%b' "$text" >begins.yaml
  cp begins.yaml kept.yaml
  run 2 "$FSCHED" dis begins.fsb -o begins.yaml
  expect "kept: $text" same begins.yaml kept.yaml
done <<'END'
launch: 2\nqueues: [{name: a}]\n
wait : 2\n
sync: block\n
concurrency: 2\n
%YAML 1.1\n---\ntime_unit: us\n
--- # a target\nmemories: []\n
'queues': []\n
{'queues': []}\n
END
while IFS= read -r text; do
  printf '%b' "$text" >begins.txt
  run 0 "$FSCHED" dis begins.fsb -o begins.txt
done <<'END'
waits: 2\n
{"ops": 5, "queues": 3}
--- a/queues\n+++ b/queues\n
%!PS queues:\n
launches\nqueues: 3\n
END

:
