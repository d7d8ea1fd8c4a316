# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# What the program tests have in common.  A test script is run in an empty directory of its own, with
# FSCHED (the program), TOP (the source tree), BUILD and COUNTS (one letter per test: p or f) set.
#
#   run STATUS COMMAND...   runs it; output goes to ./out and ./err; the status must be STATUS
#   golden FILE NAME        FILE must be equal to test/cli/golden/NAME (UPDATE=1: becomes it)
#   expect WHAT COMMAND...  the command must succeed
#   make_here ARGUMENTS...  make in the source tree; one at a time, as others may run beside this test

pass() { printf p >>"$COUNTS"; }
fail() {
  printf f >>"$COUNTS"
  echo "FAIL $SCRIPT: $*"
}

run() {
  want=$1
  shift
  "$@" >out 2>err </dev/null
  got=$?
  if [ "$got" -eq "$want" ]; then
    pass
  else
    fail "exit status $got, not $want: $*"
    head -n 5 err
  fi
}

golden() {
  if [ -n "${UPDATE-}" ]; then
    cp "$1" "$TOP/test/cli/golden/$2"
    pass
  elif cmp -s "$1" "$TOP/test/cli/golden/$2"; then
    pass
  else
    fail "$1 differs from golden/$2"
    diff -u "$TOP/test/cli/golden/$2" "$1" | head -n 20
  fi
}

expect() {
  what=$1
  shift
  if "$@"; then pass; else fail "$what"; fi
}

make_here() { flock "$BUILD/make.lock" make --no-print-directory -s -C "$TOP" BUILD="$BUILD" "$@"; }

same() { cmp -s "$1" "$2"; }
empty() { [ ! -s "$1" ]; }
holds() { grep -q -e "$2" "$1"; }
