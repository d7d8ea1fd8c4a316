#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gemm.sh [M N K TILE BUDGET [GFLOPS MBPS]] multiplies matrices that do not fit
# (examples/gemm-out-of-core) on a CUDA device, with streams and as a graph, and compares the results
# with those of a processor.  By default these are a small product, one with ragged edges, and one of
# 4096 by 4096 in 72 MiB; the times that are printed show how much ran beside what.
# Exit status: 0 if all is right, 77 without a CUDA device (the reason is printed), else wrong.
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build}"
: "${FSCHED:=$BUILD/fsched}"
example=examples/gemm-out-of-core
tools=$BUILD/$example
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# multiply M N K TILE BUDGET [GFLOPS MBPS]
multiply() {
  echo "== $*"
  "$tools/gen_gemm" "$@" >"$work/g.yaml" && "$FSCHED" compile "$work/g.yaml" --verify -o "$work/g.fsb" || return 1
  rm -rf "$work/tiles"
  mkdir "$work/tiles"
  "$tools/check_gemm" inputs "$work/tiles" "$1" "$2" "$3" "$4" || return 1
  "$tools/check_gemm" options "$work/tiles" "$1" "$2" "$3" "$4" >"$work/options" || return 1
  items=all
  [ "$1" -le 1024 ] || items=500
  for on in cuda cuda-graph; do
    rm -f "$work/tiles"/C.*
    # shellcheck disable=SC2046
    "$FSCHED" run "$work/g.fsb" --on "$on" --modules "$example" --repeat 5 --timeout 60 \
      $(cat "$work/options") || return 1
    # shellcheck disable=SC2046
    "$tools/check_gemm" compare "$work/tiles" "$1" "$2" "$3" "$4" \
      $([ $items = all ] || echo $items) || return 1
  done
}

# Is there a device at all?
"$tools/gen_gemm" 1 1 1 1 1KiB >"$work/g.yaml" && "$FSCHED" compile -q "$work/g.yaml" -o "$work/g.fsb" || exit 1
"$FSCHED" run -q "$work/g.fsb" --on cuda --modules "$example" 2>"$work/err"
status=$?
if [ $status -eq 5 ] && grep -qE 'no CUDA driver: |finds no device|is a stub library' "$work/err"; then
  echo "skip: $(cat "$work/err")"
  exit 77
fi
if [ $status -ne 0 ]; then
  cat "$work/err"
  exit 1
fi

if [ $# -gt 0 ]; then
  multiply "$@"
else
  multiply 512 512 512 128 640KiB && multiply 1000 700 900 128 1MiB &&
    multiply 4096 4096 4096 1024 72MiB 15000 25000
fi
