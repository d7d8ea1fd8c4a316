# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# --progress goes to a file, in JSON and on a terminal; and diagnostics have colours in some cases.
cp "$TOP/examples/figure-10.yaml" g.yaml
run 0 "$FSCHED" compile g.yaml -o plain.fsb -q
run 0 "$FSCHED" compile g.yaml --progress --verify
expect "nothing on standard output" empty out
expect "the result is the same" same g.fsb plain.fsb
expect "no line is drawn over" [ -z "$(tr -cd '\r' <err)" ]
{ echo read && sed -n 's/^FS_PASS([A-Z_]*, "\([a-z]*\)".*/\1/p' "$TOP/lib/compile/passes.def"; } |
  grep -vx 'barrier\|block\|refine\|loops' >works # those are for other targets and graphs
sed -n 's/^\([a-z]*\) 100 %$/\1/p' err >complete
expect "each work ends once" same complete works
expect "tenths of the list scheduler" holds err '^listsched 60 %$'
expect "then the summary" [ -n "$(sed -n '$s/.*makespan.*/&/p' err)" ]
cp err first
run 0 "$FSCHED" compile g.yaml --progress --verify
expect "the same lines each time" same err first
sed 's/ [0-9]* %$//' first | sed '$d' | uniq >order
expect "one after the other" same order works
while read -r work; do
  sed -n "s/^$work \([0-9]*\) %\$/\1/p" first >percents
  sort -nu percents >sorted
  expect "$work: rising tenths" same percents sorted
  expect "$work: tenths" [ -z "$(sed -n '/0$/!p' percents)" ]
done <works
run 0 "$FSCHED" compile g.yaml --progress -q
expect "nothing with -q" empty err
run 0 "$FSCHED" compile g.yaml --progress -q -v
expect "the last of -q and -v counts" holds err '^codegen 100 %$'
run 0 "$FSCHED" compile g.yaml --progress --diagnostics json
expect "JSON" holds err '^{"progress": "listsched", "percent": 60}$'
expect "and no text" [ "$(grep -vc '^{.*}$' err)" -eq 0 ]
run 0 "$FSCHED" run g.fsb --repeat 1000 --progress
expect "ten parts of a replay" [ "$(grep -c '^replay [0-9]*0 %$' err)" -eq 10 ]
expect "and its result" holds out '1000 runs'
run 0 "$FSCHED" verify g.fsb --progress --graph g.yaml
expect "progress of verify" holds err '^verify 100 %$'
run 1 "$FSCHED" compile --progress - -o x.fsb
expect "what fails has no end" [ -z "$(sed -n '/100 %/p' err)" ]

echo 'fsched: 2' >bad.yaml
# On the pseudo-terminal of `script` progress is one line, which is erased at the end.
if ! script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
  echo "skip: t_progress: no script(1) for a terminal"
else
  terminal() { # the command's standard error and output, as a terminal gets them
    script -qec "$1" /dev/null </dev/null >typescript 2>&1
    tr '\r' '\n' <typescript >lines
  }
  escape=$(printf '\033')
  terminal "stty cols 60; TERM=xterm $FSCHED compile g.yaml --progress -o t.fsb 2>&1"
  expect "a bar" holds lines '^read  *[0-9]* % \[#* *\]$'
  expect "59 columns of 60" [ "$(sed -n '/^read/p' lines | head -n 1 | tr -d '\n' | wc -c)" -eq 59 ]
  expect "no line of its own" [ -z "$(sed -n 's/.*%.*/&/p' typescript | grep -v "$(printf '\r')")" ]
  expect "blanks go over it, then comes the summary" holds typescript \
    "$(printf '\r')  *$(printf '\r')figure-10: 5 ops"
  terminal "stty cols 16; TERM=xterm $FSCHED compile g.yaml --progress -o t.fsb 2>&1"
  expect "a narrow one" [ "$(sed -n '/^read/p' lines | head -n 1)" = "$(printf 'read         0 %%' | cut -c 1-15)" ]
  terminal "TERM=xterm $FSCHED compile bad.yaml --progress 2>&1"
  expect "a diagnostic has its line for itself" holds typescript \
    "$(printf '\r')  *$(printf '\r')${escape}\[1mbad.yaml:1:"
  terminal "TERM=dumb $FSCHED compile g.yaml --progress -o t.fsb 2>&1"
  expect "lines where nothing can be erased" holds lines '^codegen 100 %$'
  terminal "TERM=xterm $FSCHED compile g.yaml --progress -q -o t.fsb 2>&1"
  expect "nothing with -q" [ -z "$(tr -d '\r\n' <typescript)" ]

  # Colours: on a terminal, unless TERM, NO_COLOR or --color says otherwise.
  colour() { # yes or no, then the command line
    terminal "$2"
    if grep -q "$escape" typescript; then got=yes; else got=no; fi
    expect "colours: $2" [ "$got" = "$1" ]
  }
  colour yes "TERM=xterm $FSCHED compile bad.yaml"
  colour no "TERM=xterm NO_COLOR=1 $FSCHED compile bad.yaml"
  colour yes "TERM=xterm NO_COLOR= $FSCHED compile bad.yaml"
  colour no "TERM=dumb $FSCHED compile bad.yaml"
  colour no "env -u TERM $FSCHED compile bad.yaml"
  colour no "TERM=xterm $FSCHED compile bad.yaml --color never"
  colour yes "TERM=xterm NO_COLOR=1 $FSCHED compile bad.yaml --color always"
  colour no "TERM=xterm $FSCHED compile bad.yaml 2>err; cat err"
fi
TERM=xterm run 1 "$FSCHED" compile bad.yaml
expect "no colours in a file" [ -z "$(tr -cd '\033' <err)" ]
:
