# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# examples/build-step uses an installation, with make, and with CMake for ninja and for make. fsched
# runs when something that it read has changed, and only then.

# shellcheck disable=SC1091 # no need to look
. "$TOP/test/cli/installed.sh" || return 0
begin_consumers

# This stands for the program and counts its runs.
tally=$PWD/tally
cat >counted <<C
#!/bin/sh
echo run >>'$tally'
exec '$usr/bin/fsched' "\$@"
C
chmod +x counted
counted=$PWD/counted
runs() { wc -l <"$tally"; }

# steps NAME PROGRAM MADE BUILD... follows the steps in a fresh copy of the example, $PWD/NAME.
steps() {
  name=$1 program=$2 made=$3
  shift 3
  : >"$tally"
  touch -d '2001-01-01' "$name"/*.yaml "$name"/main.c
  run 0 "$@"
  expect "$name: fsched runs once" [ "$(runs)" -eq 1 ]
  run 0 "$program"
  expect "$name: it works" [ "$(cat out)" = \
    "$(wc -c <"$made/frame.fsb") bytes: verified; 9 commands replayed, 6 ops checked" ]
  cp -p "$program" kept
  run 0 "$@"
  expect "$name: and is not run again" [ "$(runs)" -eq 1 ]
  expect "$name: nor anything else" [ ! "$program" -nt kept ]
  case $name in
    make*) expect "$name: says so" holds out "'camera' is up to date" ;;
    ninja*) expect "$name: says so" holds out 'no work to do' ;;
  esac
  touch "$name/README.md"
  run 0 "$@"
  expect "$name: an unrelated file is nothing to it" [ "$(runs)" -eq 1 ]
  touch "$name/target.yaml"
  run 0 "$@"
  expect "$name: the target file is" [ "$(runs)" -eq 2 ]
  touch "$name/graph.yaml"
  run 0 "$@"
  expect "$name: the graph is" [ "$(runs)" -eq 3 ]
  run 0 "$@"
  expect "$name: done again" [ "$(runs)" -eq 3 ]
  for f in frame.c frame.h; do
    rm "$made/$f"
    run 0 "$@"
    expect "$name: $f is made again" [ -s "$made/$f" ]
  done
  expect "$name: in one run each" [ "$(runs)" -eq 5 ]

  # Another target gives another program.
  sed -i 's/capacity: 96KiB/capacity: 80KiB/' "$name/target.yaml"
  run 0 "$@"
  run 0 "$program"
  expect "$name: a smaller memory spills" holds out '11 commands replayed'
  # A fault stops the build, leaves no half of a file, and can be put right.
  ls "$made" >before
  cp "$made/frame.c" old.c
  sed -i 's/capacity: 80KiB/capacity: 8KiB/' "$name/target.yaml"
  "$@" >out 2>err
  expect "$name: a bad target fails" [ $? -ne 0 ]
  expect "$name: and says why" grep -q "does not fit memory 'sram'" out err
  ls "$made" >after
  expect "$name: no file is new or gone" same before after
  expect "$name: none is changed" same old.c "$made/frame.c"
  "$@" >out 2>err
  expect "$name: it fails again" [ $? -ne 0 ]
  sed -i 's/capacity: 8KiB/capacity: 96KiB/' "$name/target.yaml"
  run 0 "$@"
  run 0 "$program"
  expect "$name: put right" holds out ' 9 commands replayed'
}

W='-Wall -Wextra -Werror'
cp -r "$TOP/examples/build-step" make
steps make make/camera make make -C make FSCHED="$counted" CFLAGS="$W"
# The target file is removed, and the graph no longer needs it.
sed -i 's/^target: .*/target: {memories: [{name: sram, capacity: 1MiB}]}/' make/graph.yaml
rm make/target.yaml
run 0 make -C make FSCHED="$counted"
expect "a file less" holds make/frame.d '^frame.fsb frame.c frame.h: graph.yaml$'
cp -r "$TOP/examples/build-step" make-static
steps make-static make-static/camera make-static make -C make-static FSCHED="$counted" STATIC=1
run 0 env -u LD_LIBRARY_PATH make-static/camera
expect "the program that pkg-config names" \
  [ "$(pkg-config --variable=fsched fsched | sed "s|^$PWD/root||")" = /usr/bin/fsched ]

if ! have cmake; then
  echo "skip: no cmake"
  return 0
fi
for generator in Ninja 'Unix Makefiles'; do
  if [ "$generator" = Ninja ]; then
    have ninja || {
      echo "skip: no ninja"
      continue
    }
    name=ninja static=OFF
  else
    name=unix static=ON
  fi
  cp -r "$TOP/examples/build-step" $name
  run 0 cmake -G "$generator" -S $name -B $name/b -DCMAKE_PREFIX_PATH="$usr" \
    -DFSCHED_COMPILER="$counted" -DCMAKE_C_FLAGS="$W" -DCAMERA_STATIC=$static
  steps $name $name/b/camera $name/b cmake --build $name/b
  touch counted
  : >"$tally"
  run 0 cmake --build "$name/b"
  expect "$name: another fsched" [ "$(runs)" -eq 1 ]
done

# A library of its own is built, in a project without C, with a symbol and options.
have "${CXX:-c++}" || {
  echo "skip: no C++ compiler"
  return 0
}
mkdir cxx
cp "$TOP"/examples/build-step/*.yaml cxx
cat >cxx/CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.20)
project(cxx CXX)
find_package(fsched REQUIRED)
fsched_add_program(net GRAPH ${CMAKE_CURRENT_SOURCE_DIR}/graph.yaml SYMBOL net
  OPTIONS --memory sram=80KiB --verify)
add_executable(main main.cc)
target_link_libraries(main PRIVATE net fsched::fsched)
C
cat >cxx/main.cc <<'C'
#include "graph.h"
#include <fsched/verify.h>
int main() {
  fsched_context *ctx;
  fsched_program *p;
  if (fsched_context_create(nullptr, &ctx) != FSCHED_OK ||
      fsched_program_borrow(ctx, "net", &net, net_size, &p) != FSCHED_OK ||
      fsched_verify_program(ctx, p, nullptr) != FSCHED_OK) {
    return 1;
  }
  fsched_program_destroy(p);
  fsched_context_destroy(ctx);
}
C
run 0 cmake -S cxx -B cxx/b -DCMAKE_PREFIX_PATH="$usr" -DCMAKE_CXX_FLAGS="$W"
run 0 cmake --build cxx/b
run 0 cxx/b/main
run 0 "$usr/bin/fsched" dis cxx/b/graph.fsb
expect "with its options" holds out '81920'
:
