# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# -MD, -MF, -MT, -MQ and -MP write what make and ninja need to know.
unset MAKEFLAGS MAKELEVEL MFLAGS
sed '/^target:/,/^buffers:/{/^buffers:/!d;}' "$TOP/examples/figure-10.yaml" |
  sed 's/^buffers:/target: t.yaml\n&/' >split.yaml
sed -n '/^target:/,/^buffers:/{/^target:/d;/^buffers:/d;s/^  //;p;}' \
  "$TOP/examples/figure-10.yaml" >t.yaml
deps() { # the depfile of a compilation is $1
  printf '%b\n' "$1" >want
  shift
  run 0 "$FSCHED" compile -q "$@"
  expect "depfile of $*" same deps want
  diff want deps
}
deps 'split.fsb: split.yaml t.yaml' split.yaml -MF deps
run 0 "$FSCHED" compile "$TOP/examples/figure-10.yaml" -q -o whole.fsb
expect "a target file is as good as an inline one" same split.fsb whole.fsb
run 0 "$FSCHED" compile split.yaml -q -MD -o out.v1.fsb
expect "beside the output" [ "$(cat out.v1.d)" = "out.v1.fsb: split.yaml t.yaml" ]
"$FSCHED" compile - -q -MF deps -o in.fsb <split.yaml
expect "standard input is no file" [ "$(cat deps)" = "in.fsb: t.yaml" ]

# Targets of the rule are all results that are files, the stream first, or those that are given.
deps 'o.fsb n.c n.h s.json: split.yaml t.yaml' split.yaml -MF deps -o o.fsb --emit c=n.c \
  --emit table=/dev/null --emit schedule=s.json --emit stats=-
deps 'n.c n.h: split.yaml t.yaml' split.yaml -MF deps -o /dev/null --emit c=n.c
# shellcheck disable=SC2016 # as it is
deps 'a $(b) c$ d a\\ b e$$: split.yaml t.yaml' split.yaml -MF deps -o o.fsb -MT 'a $(b)' \
  -MT 'c$ d' -MQ 'a b' -MQ 'e$'
deps 'x: split.yaml t.yaml\nt.yaml:' split.yaml -MF deps -o - -MT x -MP
deps 'a: split.yaml t.yaml' split.yaml -o o.fsb -MD -MF deps -MT a
expect "-MF says where -MD goes" [ ! -e o.d ]
mv out fsb
deps 'whole.fsb: '"$TOP"'/examples/figure-10.yaml' "$TOP/examples/figure-10.yaml" -MP -MF deps \
  -o whole.fsb

# These command lines make no sense.
run 2 "$FSCHED" compile split.yaml -q -MD -o -
run 2 "$FSCHED" compile split.yaml -q -MD -o /dev/null
expect "no name to go by" holds err 'has no name to go by when the output is /dev/null'
run 2 "$FSCHED" compile split.yaml -q -MF deps -o -
expect "no target" holds err 'the depfile has no target'
for option in '-MT x' '-MQ x' -MP; do
  # shellcheck disable=SC2086 # words
  run 2 "$FSCHED" compile split.yaml -q $option
  expect "$option alone" holds err 'needs -MD or -MF'
done
run 2 "$FSCHED" compile split.yaml -q -o 'a
b' -MF deps
expect "a line break" holds err 'a line break cannot stand in a depfile'
# When the depfile cannot be written nothing else is: results without it would count as up to date for
# ever.
run 5 "$FSCHED" compile split.yaml -q -o none.fsb --emit c=none.c -MF no/such/place.d
expect "the depfile comes first" [ ! -e none.fsb -a ! -e none.c -a ! -e none.h ]

# The names have characters that are special to make and ninja, and both read them.
touch_old() { touch -d '2000-01-01' "$@"; }
odd() { # name of a directory
  mkdir -p "$1"
  sed 's/^target: .*/target: "t$#:.yaml"/' split.yaml >"$1/g.yaml"
  cp t.yaml "$1/t\$#:.yaml"
  touch_old "$1"/*
}
log_of() { wc -l <ran; }
for dir in 'a b' 'c$#d' 'e\ f' 'g\#h' "i(j)" 'l:m' 'n\o' 'p\\ q'; do
  : >ran
  odd "$dir"
  "$FSCHED" compile "$dir/g.yaml" -q -o made.fsb -MF made.d
  touch -d '2001-01-01' made.fsb
  cat >Makefile <<'M'
made.fsb:
	echo ran >>ran
	touch $@
-include made.d
M
  make >out 2>err
  expect "make: $dir/g.yaml is older" [ "$(log_of)" -eq 0 ]
  touch "$dir/t\$#:.yaml"
  make >out 2>err
  expect "make: the target in $dir is newer" [ "$(log_of)" -eq 1 ]
  case $dir in *\\#*) continue ;; esac # that, ninja reads in another way than make
  if command -v ninja >/dev/null; then
    for form in '' 'deps = gcc'; do
      rm -rf .ninja*
      cat >build.ninja <<N
rule fsched
  command = echo ran >>ran && cp made.d now.d && touch made.fsb
  depfile = now.d
  $form
build made.fsb: fsched
N
      : >ran
      touch_old "$dir"/*
      ninja >out 2>err
      expect "ninja $form: $dir first" [ "$(log_of)" -eq 1 ]
      ninja >out 2>err
      expect "ninja $form: $dir again" holds out 'no work to do'
      touch -d '+1 second' "$dir/t\$#:.yaml"
      ninja >out 2>err
      expect "ninja $form: the target in $dir" [ "$(log_of)" -eq 2 ]
    done
  fi
done
command -v ninja >/dev/null || echo "skip: no ninja"

# A target file is gone: this is an error, but with -MP only until the graph no longer needs it.
"$FSCHED" compile split.yaml -q -o made.fsb -MF made.d
mv t.yaml away.yaml
make >out 2>err
expect "make knows no rule for it" [ $? -ne 0 ]
mv away.yaml t.yaml
"$FSCHED" compile split.yaml -q -o made.fsb -MF made.d -MP
mv t.yaml away.yaml
: >ran
make >out 2>err
expect "-MP has one" [ $? -eq 0 -a "$(log_of)" -eq 1 ]
:
