# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Where results go: default names, standard input and output, devices, and places that cannot be
# written.
cp "$TOP/examples/figure-10.yaml" g.yaml
run 0 "$FSCHED" compile g.yaml
expect "the default name" [ -s g.fsb ]
expect "nothing on standard output" empty out
golden err summary.txt
run 0 "$FSCHED" compile g.yaml -o -
expect "-o - is the stream" same out g.fsb
"$FSCHED" compile - -q <g.yaml >piped.fsb
expect "a graph from standard input" same piped.fsb g.fsb
"$FSCHED" dis --format json - <g.fsb >g.json
run 0 "$FSCHED" dis g.fsb --format json
expect "a stream from standard input" same g.json out
run 0 "$FSCHED" asm g.json -o again.fsb
expect "asm is the inverse of dis" same again.fsb g.fsb
"$FSCHED" asm - <g.json >again2.fsb
expect "asm in a pipe" same again2.fsb g.fsb
mkdir d && cp g.json d/named.json
run 0 "$FSCHED" asm d/named.json
expect "asm's default name" same d/named.fsb g.fsb
run 0 "$FSCHED" dis g.fsb
golden out dis.txt
golden g.json dis.json
run 0 "$FSCHED" compile g.yaml -q -o /dev/null --emit table=- 
golden out table.txt
run 0 "$FSCHED" compile g.yaml -q -o /dev/null --emit schedule=-
golden out schedule.json
run 0 "$FSCHED" compile g.yaml -q -o /dev/null --emit stats=-
golden out stats.json
run 0 "$FSCHED" run g.fsb -q --trace t.json
expect "a trace is JSON" holds t.json '^[[{]'
run 0 "$FSCHED" run g.fsb --format json --check
expect "run in JSON" holds out '"checked_ops": 5'
"$FSCHED" verify - <g.fsb >out
expect "verify in a pipe" holds out verified

run 0 "$FSCHED" compile g.yaml -o slow.fsb --set memories.cmx.spill.read.fixed=5
expect "--set changes the target" holds err 'makespan 11 us'
run 0 "$FSCHED" verify slow.fsb --graph g.yaml --set memories.cmx.spill.read.fixed=5

# Where nothing can be written the status is 5, with a message, and nothing is left behind.
before=$(ls -A)
run 5 "$FSCHED" compile g.yaml -o nowhere/g.fsb
expect "the file is named" holds err nowhere/g.fsb
run 5 "$FSCHED" compile g.yaml -o d
run 5 "$FSCHED" compile g.yaml -q -o new.fsb --emit table=nowhere/t
expect "the stream is written last" [ "$(ls -A)" = "$before" ]
if [ -w /dev/full ]; then
  for c in 'compile g.yaml -o' 'dis g.fsb -o' 'compile g.yaml -o /dev/null --emit stats='; do
    # shellcheck disable=SC2086 # words
    case $c in *=) run 5 "$FSCHED" $c/dev/full ;; *) run 5 "$FSCHED" $c /dev/full ;; esac
    expect "a full disk is named" holds err /dev/full
  done
  "$FSCHED" dis g.fsb >/dev/full 2>err
  expect "a full standard output" [ $? -eq 5 ]
  "$FSCHED" --help >/dev/full 2>err
  expect "help to a full disk" [ $? -eq 5 ]
fi
# A reader that goes away is a failed write, not a signal; the graph is larger than a pipe holds.
{ "$FSCHED" compile "$TOP/examples/resnet50.yaml" -q -o - --evict lru 2>err; echo $? >status; } | :
expect "a closed pipe" [ "$(cat status)" -eq 5 ]
if [ "$(id -u)" -ne 0 ]; then
  mkdir closed && cp g.fsb closed/ && chmod a-w closed
  run 5 "$FSCHED" compile g.yaml -o closed/g.fsb
  expect "the old content stays" same closed/g.fsb g.fsb
  chmod u+w closed
fi
"$FSCHED" compile - <d >out 2>err
expect "a directory cannot be read" [ $? -eq 5 ]
expect "standard input is named" holds err 'cannot read standard input: '
if [ -w /dev/full ]; then
  "$FSCHED" dis g.fsb 2>err >/dev/full
  expect "standard output is named" holds err 'cannot write standard output: '
fi
# A link stays a link, and a mode stays the same.
cp g.fsb target.fsb && chmod 640 target.fsb && ln -s target.fsb link.fsb
run 0 "$FSCHED" compile g.yaml -q -o link.fsb --evict lru
expect "the link stays" [ -L link.fsb ]
expect "the mode stays" [ -n "$(find target.fsb -perm 640)" ]
ln -s d/new.fsb dangling.fsb
run 0 "$FSCHED" compile g.yaml -q -o dangling.fsb
expect "the link stays" [ -L dangling.fsb ]
expect "the file behind is new" same d/new.fsb g.fsb
expect "no temporary file" [ -z "$(find . -name "*.fsb.*" -o -name ".fsched*")" ]

# Names and paths are as long as the system allows, for new files and for existing ones.
long() { printf "%${1}s" '' | tr ' ' "$2"; }
for n in 246 247 254 255; do
  name=$(long "$n" n)
  run 0 "$FSCHED" compile g.yaml -q -o "$name"
  run 0 "$FSCHED" compile g.yaml -q -o "$name"
  expect "a name of $n bytes" same "$name" g.fsb
  rm -f "$name"
done
run 5 "$FSCHED" compile g.yaml -q -o "$(long 256 n)"
expect "one byte more is too long" holds err 'File name too long'
path=$(long 2046 x | sed 's,x,./,g')
for name in p pp ppp; do # 4093 to 4095 bytes
  run 0 "$FSCHED" compile g.yaml -q -o "$path$name"
  run 0 "$FSCHED" compile g.yaml -q -o "$path$name"
  expect "a path of $((4092 + ${#name})) bytes" same $name g.fsb
done
run 5 "$FSCHED" compile g.yaml -q -o "${path}pppp"
expect "one byte more is too long" holds err 'File name too long'
run 5 "$FSCHED" compile g.yaml -q -o nowhere/
# A link's directory and text are together too long for one path.
mkdir deep && ln -s "$(long 1000 x | sed 's,x,./,g')end.fsb" deep/link
run 0 "$FSCHED" compile g.yaml -q -o "$(long 1500 x | sed 's,x,./,g')deep/link"
expect "the file behind the long link" same deep/end.fsb g.fsb

# Pipes are written to in place.  A file without write permission is replaced like any other, as only
# the directory changes; its mode stays.
mkfifo pipe
cat pipe >through &
run 0 "$FSCHED" compile g.yaml -q -o pipe
wait $!
expect "through a pipe" same through g.fsb
expect "the pipe stays" [ -p pipe ]
echo old >locked
chmod 444 locked
run 0 "$FSCHED" compile g.yaml -q -o locked
expect "a file without write permission is replaced" same locked g.fsb
expect "and keeps its mode" [ -n "$(find locked -perm 444)" ]
# The directory may be written to but not listed.
if [ "$(id -u)" -ne 0 ]; then
  mkdir dark && chmod 300 dark
  run 0 "$FSCHED" compile g.yaml -q -o dark/p.fsb
  run 0 "$FSCHED" compile g.yaml -q -o dark/p.fsb
  chmod 700 dark
  expect "in a directory that cannot be listed" same dark/p.fsb g.fsb
  expect "and nothing else" [ "$(ls -A dark)" = p.fsb ]
fi
:
