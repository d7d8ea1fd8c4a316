# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# -W and -w, and warnings that are errors. test/bad/warn-* test the classes themselves.
cat >g.yaml <<'END'
fsched: 1
hazards: raw
buffers: [{name: x, size: 64}, {name: y, size: 8}]
ops:
  - {name: p, args: [{out: x}]}
  - {name: r, args: [{in: x}], after: [p]}
  - {name: w, args: [{inout: x}]}
  - {name: d, args: [{out: z, size: 1}]}
END
warns() { # the classes of the warnings that the options give, then the options
  classes=$1
  shift
  run 0 "$FSCHED" compile g.yaml -o g.fsb "$@"
  expect "no error: $*" [ -z "$(sed -n '/error/p' err)" ]
  got=$(sed -n 's/^g.yaml:[0-9:]* warning: .* \[-W\(.*\)\]$/\1/p' err | sort | xargs)
  expect "$* gives '$got', not '$classes'" [ "$got" = "$classes" ]
}
warns race
warns 'dead race' -W dead
warns 'dead race' -Wdead
warns '' -Wno-race
warns race -Wno-race -Wrace
warns '' -Wrace -W no-race
warns 'dead race unused' -Wall
warns 'dead race redundant-after unused' -Wall -Wextra
warns 'race redundant-after' -Wextra
warns 'dead unused' -Wall -Wno-race
warns 'race unused' -Wno-dead -Wall
warns 'dead race' -Wall -Wdead -Wno-all
warns '' -w -Wall
warns '' -Wall -Werror -w
warns '' -q -Wall
warns 'dead race' -Wdead -Wno-error
warns 'dead race' -Wdead -Werror -Wno-error
warns 'dead race unused' -Werror -Wall -Wno-error=race -Wno-error=dead -Wno-error=unused

rm -f g.fsb
fails() { # the classes that are errors, then those that stay warnings, then the options
  errors=$1
  warnings=$2
  shift 2
  run 1 "$FSCHED" compile g.yaml -o g.fsb --emit table=t.txt --dump-after all=d.txt "$@"
  got=$(sed -n 's/^g.yaml:[0-9:]* error: .* \[-Werror=\(.*\)\]$/\1/p' err | sort | xargs)
  expect "$*: errors '$got', not '$errors'" [ "$got" = "$errors" ]
  got=$(sed -n 's/^g.yaml:[0-9:]* warning: .* \[-W\(.*\)\]$/\1/p' err | sort | xargs)
  expect "$*: warnings '$got', not '$warnings'" [ "$got" = "$warnings" ]
  expect "nothing is written: $*" [ ! -e g.fsb -a ! -e t.txt -a ! -e d.txt ]
}
fails race '' -Werror
fails race '' -Werror -q
fails 'dead race unused' '' -Wall -Werror
fails dead race -Werror=dead
fails dead race -Werror=dead -Wall -Wno-unused
fails 'race unused' dead -Wall -Werror -Wno-error=dead
fails dead race -Werror=dead -Wno-error
fails dead '' -Werror=dead -Wno-race

bad() {
  text=$1
  shift
  run 2 "$FSCHED" compile g.yaml "$@"
  expect "$text" holds err "$text"
}
bad "there is no class of warnings 'rcae'" -Wrcae
bad "did you mean 'race'" -W no-rcae
bad "did you mean 'unused'" -Werror=unsued
bad "there is no class of warnings 'all'" -Werror=all
bad "fsched help compile lists them" -Wxyzzyxyzzy
bad '-W wants CLASS' -W
run 0 "$FSCHED" help compile
sed -n 's/^FS_WARN([A-Z_]*, "\([^"]*\)".*/\1/p' "$TOP/lib/base/warn.def" >all
expect "there are classes" [ -s all ]
while read -r class; do
  expect "the help has $class" holds out "^ *$class  *[A-Z]"
done <all

# JSON keeps the code; other commands that read graphs have the same options.
"$FSCHED" compile g.yaml -o g.fsb -q
run 1 "$FSCHED" compile g.yaml -o x.fsb --diagnostics json -Werror
expect "an error in JSON" holds err '"severity": "error", "code": "race".*"line": 7'
run 0 "$FSCHED" verify g.fsb --graph g.yaml -Wall
expect "verify warns" holds err '\[-Wdead\]'
run 1 "$FSCHED" verify g.fsb --graph g.yaml -Werror=dead
expect "and fails" empty out
run 0 "$FSCHED" verify g.fsb --graph g.yaml -w
expect "and is silent" empty err

# This is found after reading: what was computed is not written.
cat >fan.yaml <<'END'
fsched: 1
target:
  frontier: {capacity: 1}
  queues: [{name: a}, {name: b, class: last}]
ops: [{name: x, size: 1}, {name: y, on: last, args: [{in: x}]}]
END
run 0 "$FSCHED" compile fan.yaml -Wall -Wno-dead
expect "a cut frontier" holds err '^fan.yaml:5:34: warning: .* \[-Wtainted\]'
rm -f fan.fsb
run 1 "$FSCHED" compile fan.yaml -Werror=tainted
expect "no stream" [ ! -e fan.fsb ]

# A stack that does not fit is a warning by default, too; and with -Wall so are barriers that the target
# does not have.
cat >block.yaml <<'END'
fsched: 1
target:
  sync: block
  queues: [{name: p}, {name: q}]
  memories: [{name: far}, {name: near, capacity: 8, placement: stack}]
ops:
  - {name: a, on: p, args: [{out: a, size: 8, memory: near}]}
  - {name: b, on: q, args: [{in: a}]}
  - {name: c, on: p, args: [{out: c, size: 8, memory: near}]}
  - {name: d, on: q, args: [{in: c}]}
END
run 0 "$FSCHED" compile block.yaml
expect "a stack that does not fit" holds err \
  "^block.yaml:5:64: warning: the stack of memory 'near' takes 16 bytes, and it has 8: .* \[-Wstack\]"
expect "the summary says so too" holds err ', 0 of 1 stack'
run 0 "$FSCHED" compile block.yaml --memory near=16 -Werror=stack
expect "now it fits" holds err ', 1 of 1 stack'
run 0 "$FSCHED" compile block.yaml -Wno-stack
expect "it can be switched off" [ -z "$(sed -n '/warning/p' err)" ]
cat >barriers.yaml <<'END'
fsched: 1
target: {barriers: {count: 4}}
ops: [{name: a, slots: 2}]
END
run 0 "$FSCHED" compile barriers.yaml
expect "not by default" [ -z "$(sed -n '/warning/p' err)" ]
run 0 "$FSCHED" compile barriers.yaml -Wall
expect "barriers of no use" holds err '^barriers.yaml:2:28: warning: .* \[-Wbarriers\]'
run 0 "$FSCHED" compile barriers.yaml -Wall --barriers 2
expect "the option gives them one" [ -z "$(sed -n '/warning/p' err)" ]
rm -f barriers.fsb
run 1 "$FSCHED" compile barriers.yaml -Werror=barriers
expect "no stream" [ ! -e barriers.fsb ]

# Ranges of loops: in l they move unlike each other, in f they meet 100 iterations apart.
cat >steps.yaml <<'END'
fsched: 1
target: {queues: [{name: p}]}
buffers: [{name: x, size: 8, io: input}, {name: y, size: 2000, io: state}]
ops:
  - {loop: l, trip: 2, ops: [
      {name: a, args: [{in: x, at: {length: 2, step: 2}}, {inout: x, at: {length: 1, step: 0}}]}]}
  - {loop: f, trip: 200, ops: [
      {name: b, args: [{inout: y, at: {length: 4, step: 4}}, {inout: y, at: {offset: 400, length: 4, step: 4}}]}]}
END
for command in compile dot; do
  has() { # the line of steps.yaml, "warning" or "error", and the class as the message shows it
    expect "$command: $3 at $1" holds err "^steps.yaml:$1:[0-9]*: $2: .* \\[$3\\]"
  }
  run 0 "$FSCHED" "$command" steps.yaml -o steps.out
  has 6 warning -Wunlike-steps
  has 8 warning -Wfar-steps
  run 0 "$FSCHED" "$command" steps.yaml -w -o steps.out --force
  expect "$command -w" [ -z "$(sed -n '/warning/p' err)" ]
  run 0 "$FSCHED" "$command" steps.yaml -Wno-unlike-steps -Wno-far-steps -o steps.out --force
  expect "$command: each can be switched off" [ -z "$(sed -n '/warning/p' err)" ]
  run 1 "$FSCHED" "$command" steps.yaml -Wno-far-steps -Werror -o steps.none
  has 6 error -Werror=unlike-steps
  run 1 "$FSCHED" "$command" steps.yaml -Werror=far-steps -o steps.none
  has 6 warning -Wunlike-steps
  has 8 error -Werror=far-steps
  expect "$command: nothing is written" [ ! -e steps.none ]
done

for example in "$TOP"/examples/*.yaml; do
  run 0 "$FSCHED" compile "$example" -q -o /dev/null -Wall -Wextra -Werror
done
:
