# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Instances in other formats become graph files; faults of instances, and of the command line, are
# reported.
instances=$TOP/test/import
cp "$instances"/project.rcp "$instances"/project.sm "$instances"/crlf.strip "$instances"/buffers.csv .

# Each kind goes to a file, and from standard input to standard output: the results differ only in the
# name.
while read -r kind file; do
  run 0 "$FSCHED" import "$kind" "$file" -o g.yaml
  expect "$kind says nothing" empty err
  expect "and prints nothing" empty out
  sed 's/  # .*//' "$instances/$file.expect" >want
  expect "$kind gives its graph" same g.yaml want
  "$FSCHED" import "$kind" - <"$file" >std.yaml
  expect "$kind reads standard input" [ $? -eq 0 ]
  expect "whose graph is named like the format" holds std.yaml "^name: $kind\$"
  sed "s/^name: .*/$(grep ^name: g.yaml)/" std.yaml >named
  expect "and is the same" same g.yaml named
  run 0 "$FSCHED" compile g.yaml -q --verify -o g.fsb
  run 0 "$FSCHED" run g.fsb --on sim -q
done <<'END'
patterson project.rcp
psplib project.sm
strip crlf.strip
memory buffers.csv
END

# --capacity
run 0 "$FSCHED" import memory buffers.csv --capacity 1KiB
expect "the memory has the capacity" holds out 'name: memory, capacity: 1024,'
run 3 "$FSCHED" import memory buffers.csv --capacity 8 -o none.yaml
expect "one that is too small is named" holds err '^buffers.csv:3:7: error: .* 9 bytes .* has 8 \[import-value\]'
expect "and nothing is written" [ ! -e none.yaml ]

# Files and ids have names that YAML would read as something else.
cp crlf.strip 'a: b #1.x.strip'
run 0 "$FSCHED" import strip 'a: b #1.x.strip' -o odd.yaml
expect "the name is in quotes" holds odd.yaml '^name: "a: b #1.x"$'
run 0 "$FSCHED" compile odd.yaml -q -o odd.fsb --emit stats=-
printf 'id,lower,upper,size\n"x, ""y""",0,2,1\n- {a: b},0,1,1\n~,1,2,1\n' >ids.csv
run 0 "$FSCHED" import memory ids.csv -o ids.yaml
run 0 "$FSCHED" compile ids.yaml -q -o ids.fsb --emit schedule=-
for id in '"x, \"y\""' '"- {a: b}"' '"~"'; do
  expect "the id $id stays" grep -qF "\"name\": $id," out
done

# These are faults: their exit status, text and JSON; nothing is written.
: >import.txt
bad() {
  want=$1
  shift
  run "$want" "$FSCHED" import "$@"
  expect "nothing on standard output: $*" empty out
  { echo "\$ fsched import $*" && cat err; } >>import.txt
}
cp "$instances"/rows.csv "$instances"/demand.rcp "$instances"/modes.sm .
bad 1 memory rows.csv
bad 3 patterson demand.rcp
bad 1 psplib modes.sm -o none.yaml
bad 1 strip project.sm
bad 1 patterson rows.csv
run 1 "$FSCHED" import psplib modes.sm --diagnostics json
expect "as JSON" holds err '"code": "import-value".*"file": "modes.sm", "line": 21, "column": 13'
echo 'strip 1' | "$FSCHED" import strip - >out 2>err
expect "standard input has a name" holds err '^<stdin>:1:8: error: '
cp "$TOP/examples/figure-10.yaml" g.yaml
bad 1 strip g.yaml
bad 2
bad 2 strip
bad 2 memory a b
bad 2 rcp project.rcp
bad 2 memry buffers.csv
bad 2 strip crlf.strip --capacity 5
bad 2 memory buffers.csv --capacity 0
bad 2 memory buffers.csv --capacity 12x
bad 2 memory buffers.csv -o buffers.csv
bad 2 memory buffers.csv -o ./buffers.csv
bad 5 memory nowhere.csv
golden import.txt import.txt
expect "the instance stays" same buffers.csv "$instances/buffers.csv"
expect "nothing was written" [ ! -e none.yaml ]

# Time is in proportion to the text's size, whatever it contains; large ones are tried, too.
awk 'BEGIN { print "id,lower,upper,size"; for (i = 0; i < 100000; i++)
  print "b" i "," (i * 7919) % 99991 "," (i * 7919) % 99991 + i % 13 + 1 "," i % 4096 }' >large.csv
run 0 "$FSCHED" import memory large.csv -o large.yaml
expect "all are there" [ "$(grep -c '^  - {name: b' large.yaml)" -eq 100000 ]
run 0 "$FSCHED" import memory large.csv -o again.yaml
sed 's/^name: again/name: large/' again.yaml >renamed
expect "and the same again" same large.yaml renamed
:
