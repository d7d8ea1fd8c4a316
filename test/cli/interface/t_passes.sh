# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# --print-passes, --dump-after and --time-report are tested here.
cp "$TOP/examples/figure-10.yaml" g.yaml

run 0 "$FSCHED" compile --print-passes
expect "nothing on standard error" empty err
expect "a line each" [ "$(wc -l <out)" -eq "$(grep -c '^FS_PASS(' "$TOP/lib/compile/passes.def")" ]
expect "names and what they do" holds out '^ctrledge   *Control edges'
cut -d' ' -f1 out >names
run 0 "$FSCHED" compile --print-passes missing.yaml
expect "nothing is read" empty err
run 2 "$FSCHED" compile --print-passes --evict lur
run 0 "$FSCHED" compile g.yaml --verify --dump-after all -q
expect "standard output is free" empty out
sed -n 's/^== \(.*\) of figure-10$/\1/p' err >dumped
mv names all-names # some are for other targets (t_barrier.sh), asked for (t_refine.sh), or for loops (t_unroll.sh)
grep -vx 'barrier\|block\|refine\|loops' all-names >names
expect "all passes, in their order" same dumped names

# The golden files of the library contain the texts; this tests where they go.
run 0 "$FSCHED" compile g.yaml -q --dump-after waits
cp err waits.txt
expect "one pass" [ "$(grep -c '^== ' err)" -eq 1 ]
expect "the makespan is in the schedule's" [ -z "$(sed -n '/makespan.[0-9]/p' err)" ]
run 0 "$FSCHED" compile g.yaml -q --dump-after waits --dump-after=waits --dump-after all=all.txt
expect "once, although asked for twice" same err waits.txt
expect "verify did not run" [ "$(grep -c '^== ' all.txt)" -eq $(($(wc -l <names) - 1)) ]
run 0 "$FSCHED" compile g.yaml -q --dump-after waits=- -o /dev/null
{ cat out && echo; } >with-line
expect "standard output has the same" same with-line waits.txt
expect "and standard error nothing" empty err
run 0 "$FSCHED" compile g.yaml -q --dump-after listsched
expect "a dump shows what memories hold" holds err '^memory cmx: peak [0-9]*, extent [0-9]* of 10$'
run 0 "$FSCHED" compile g.yaml -v --dump-after bounds=b.txt --dump-after codegen=c.txt
expect "-v shows what memories hold" holds err '^  memory cmx: peak [0-9]*, extent [0-9]* of 10$'
expect "-v names them" holds err '^  wrote b.txt$'
run 0 "$FSCHED" dis g.fsb
sed 1d c.txt >listing
expect "after codegen, the listing" same listing out

usage() {
  text=$1
  shift
  run 2 "$FSCHED" compile "$@"
  expect "$text" holds err "$text"
}
usage "did you mean 'waits'" g.yaml --dump-after wait
usage "print-passes lists them" g.yaml --dump-after xyzzy=f
usage "does not run without --verify" g.yaml --dump-after verify
usage 'names no file' g.yaml --dump-after waits=
usage 'both be written to standard error' g.yaml --dump-after waits --diagnostics json
usage 'two results would be written to w' g.yaml --dump-after waits=w --dump-after bounds=w
usage 'two results would be written to w' g.yaml --dump-after waits=w --emit table=./w
usage 'two results would be written to standard output' g.yaml -o - --dump-after waits=-
usage 'over the input g.yaml' g.yaml --dump-after waits=g.yaml
expect "nothing was written" [ ! -e w -a ! -e f ]
run 0 "$FSCHED" compile g.yaml -q --dump-after waits=w --diagnostics json
run 5 "$FSCHED" compile g.yaml -q -o new.fsb --dump-after waits=nowhere/w
expect "the stream is written last" [ ! -e new.fsb ]

# A pass fails: what the passes before it made is shown, and no file is written.
rm -f w
cat >late.yaml <<'END'
fsched: 1
ops:
  - {name: a, time: 9, size: 1}
  - {name: b, start: 3, args: [{in: a}]}
END
run 3 "$FSCHED" compile late.yaml --dump-after bounds --dump-after all=w
expect "the bounds are there" holds err '^makespan  *10$'
expect "and where it fails" holds err '^late.yaml:4:12: error: no schedule was found'
expect "no file" [ ! -e w ]

# There is a line of times for each pass that ran, between reading and writing, and one for the total.
report() { sed -n 's/^  \([a-z]*\)  *[0-9][0-9]*\.[0-9]\{3\} ms  *[0-9]*\.[0-9] %.*$/\1/p' err | xargs; }
passes=$(sed '$d' names | xargs)
run 0 "$FSCHED" compile g.yaml --time-report
expect "passes that ran" [ "$(report)" = "read $passes write total" ]
expect "the summary too" holds err 'makespan 7 us'
run 0 "$FSCHED" compile g.yaml -q --time-report --verify
expect "verify ran" [ "$(report)" = "read $passes verify write total" ]
expect "-q and no summary" [ -z "$(sed -n '/makespan.[0-9]/p' err)" ]
run 0 "$FSCHED" verify g.fsb --time-report
expect "times of verify" [ "$(report)" = "read load verify total" ]
expect "the result" holds out '^g.fsb: verified$'
run 0 "$FSCHED" verify g.fsb -q --time-report --graph g.yaml
expect "with the graph's" [ "$(report)" = "read graph load verify total" ]
run 0 "$FSCHED" verify g.fsb --graph g.yaml
expect "not unless asked for" empty err
for locale in $(locale -a 2>/dev/null | grep -i '^de_DE' | head -n 1); do
  LC_ALL=$locale run 0 "$FSCHED" compile g.yaml --time-report
  expect "no other decimal point" [ "$(report)" = "read $passes write total" ]
done
:
