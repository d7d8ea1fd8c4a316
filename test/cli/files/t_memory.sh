# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Memory runs out in any call of the C library, in any thread and any library: each command ends with a
# status of its own and a message, and leaves no part of a file.  SHORT=N tries N of the requests of
# each command (0: all); SHORT_TURN shifts the choice.
short=$BUILD/test/memory
graph=$TOP/test/fuzz/spill.yaml
# This is skipped with a sanitizer, which has its own allocator, and with another C library, which has
# other names.
if ! LD_PRELOAD=$short/short.so "$FSCHED" --version >/dev/null 2>&1 ||
  nm "$FSCHED" 2>/dev/null | grep -q __asan_init; then
  echo "skip: memory cannot be made short in this build"
  return 0
fi
most=${SHORT-12}
# short WHAT FILE... -- COMMAND... tests a command.
short() {
  what=$1
  shift
  if "$short/short_of" "$short/short.so" "$most" "$@" >out 2>&1; then
    pass
  else
    fail "short of memory: $what"
    cat out
  fi
}
run 0 "$FSCHED" compile -q "$graph" -o p.fsb --emit schedule=s.json
run 0 "$FSCHED" dis --format json p.fsb -o p.json
run 0 "$FSCHED" run -q --on sim --save-profile pro.json p.fsb --output end=o.npy
run 0 "$FSCHED" compile -q "$TOP/test/fuzz/barrier.yaml" -o b.fsb
run 0 "$FSCHED" compile -q "$TOP/test/fuzz/block.yaml" -o k.fsb
run 0 "$FSCHED" import patterson "$TOP/test/import/project.rcp" -o i.yaml
run 0 "$FSCHED" compile -q i.yaml -o i.fsb --emit schedule=i.json
printf '\001\002\003\004' >in.raw

short compile c.fsb -- "$FSCHED" compile "$graph" -o c.fsb --verify -MD -v -Wall
for kind in schedule table stats dot svg lp mps trace; do
  short "compile --emit $kind" e.fsb e.out -- "$FSCHED" compile -q --effort 0 "$graph" -o e.fsb --emit $kind=e.out
done
short "compile --emit c" e.fsb e.c e.h -- "$FSCHED" compile -q --effort 0 "$graph" -o e.fsb --emit c=e.c
short "compile --barriers" c.fsb -- "$FSCHED" compile -q --effort 0 "$graph" --barriers auto -o c.fsb
short "compile, barriers" c.fsb -- "$FSCHED" compile -q --effort 0 "$TOP/test/fuzz/barrier.yaml" -o c.fsb
short "compile, syncs" c.fsb -- "$FSCHED" compile -q --effort 0 "$TOP/test/fuzz/block.yaml" -o c.fsb
short "compile --profile" c.fsb -- "$FSCHED" compile -q --effort 0 "$graph" --profile pro.json -o c.fsb
short "compile --dump-after" c.fsb d.out -- "$FSCHED" compile -q --effort 0 "$graph" -o c.fsb --dump-after waits=d.out
short "verify" -- "$FSCHED" verify p.fsb -g "$graph" --format json
short "verify a schedule" -- "$FSCHED" verify s.json -g "$graph"
short "dis" d.out -- "$FSCHED" dis p.fsb -o d.out
short "dis --format json" d.out -- "$FSCHED" dis --format json k.fsb -o d.out
short "asm" a.fsb -- "$FSCHED" asm p.json -o a.fsb
short "explain" x.out -- "$FSCHED" explain p.fsb -o x.out
short "explain --format json" x.out -- "$FSCHED" explain b.fsb --format json -o x.out
short "dot of a graph" g.dot -- "$FSCHED" dot "$graph" --buffers -o g.dot
short "dot of a program" g.dot -- "$FSCHED" dot b.fsb --barrier-nodes -o g.dot
short "dot of a schedule" g.dot -- "$FSCHED" dot "$graph" --schedule s.json -o g.dot
short "run" o.npy -- "$FSCHED" run -q --check --input in=in.raw --output end=o.npy p.fsb
short "run, overlapping" -- "$FSCHED" run -q --invocations 4 --in-flight 2 --pool 1MiB b.fsb
short "run --trace" -- "$FSCHED" run -q --trace /dev/null --with-plan p.fsb
short "run --on sim" pro.out -- "$FSCHED" run -q --on sim --check --save-profile pro.out k.fsb
short "import" i.out -- "$FSCHED" import patterson "$TOP/test/import/project.rcp" -o i.out
short "import psplib" i.out -- "$FSCHED" import psplib "$TOP/test/import/project.sm" -o i.out
short "import strip" i.out -- "$FSCHED" import strip "$TOP/test/import/crlf.strip" -o i.out
short "import memory" i.out -- "$FSCHED" import memory "$TOP/test/import/buffers.csv" -o i.out
short "export" x.out -- "$FSCHED" export patterson i.json -g i.yaml -o x.out
short "calibrate" -- "$FSCHED" calibrate -q --on sim -o /dev/null
# These commands measure, which takes time.
most=${SHORT-4}
short "calibrate --on cpu" -- "$FSCHED" calibrate -q --largest 128KiB -o /dev/null
export FSCHED_CUDA_DRIVER="$BUILD/test/fake_cuda/libcuda.so.1"
for on in cuda cuda-graph; do
  short "calibrate --on $on" -- "$FSCHED" calibrate -q --on $on --largest 128KiB -o /dev/null
done
unset FSCHED_CUDA_DRIVER
most=${SHORT-12}
for command in '' compile run verify dis asm dot explain calibrate import export help; do
  # shellcheck disable=SC2086 # nothing is no word
  short "help $command" -- "$FSCHED" help $command
done
short "--help" -- "$FSCHED" compile --help
short "--version" -- "$FSCHED" --version
if [ -x "$BUILD/fsched-glpk" ]; then
  short "compile --refine" c.fsb -- "$FSCHED" compile -q --effort 0 i.yaml --refine ilp --node-limit 1 -o c.fsb
fi
