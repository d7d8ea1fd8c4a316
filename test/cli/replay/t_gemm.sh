# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# The product of matrices that do not fit: its generator, its kernels on the CPU and on a CUDA driver
# that runs on the processor, files of inputs and outputs, how module files are found, and the commands
# of its README.

# shellcheck disable=SC1091 # no need to look
. "$TOP/test/cli/readme.sh"
example=$TOP/examples/gemm-out-of-core
built=$BUILD/examples/gemm-out-of-core
value() { sed -n "s/.*\"$2\": \([0-9]*\).*/\1/p" "$1" | head -n 1; }
# is WHAT HAVE WANTED checks that both are equal.
is() { expect "$1: $2, not $3" [ "$2" = "$3" ]; }

mkdir bin
ln -s "$FSCHED" bin/fsched
PATH=$PWD/bin:$PATH
cp -R "$example" gemm
cp "$built/gemm.so" "$built/gen_gemm" "$built/check_gemm" gemm
cd gemm || return 1

# The generator writes these, and refuses those.
# shellcheck disable=SC2046
run 0 ./gen_gemm $(sed -n 's/^# Written by: gen_gemm //p' graph.yaml)
expect "graph.yaml is what its generator writes" same out graph.yaml
for words in "" "1 1 1 1" "1 1 1 1 1KiB 5" "0 1 1 1 1KiB" "1 x 1 1 1KiB" "1 1 1048577 1 1KiB" \
  "1 1 1 16385 1GiB" "1 1 1 1 0" "1 1 1 1 1TiB" "1 1 1 1 1kib" "1 1 1 1 99999999999999999999" \
  "1 1 1 1 1KiB 0 5" "1 1 1 1 1KiB 5 0" "1 1 1 1 1KiB 5 5 5" "-1 1 1 1 1KiB"; do
  # shellcheck disable=SC2086
  run 2 ./gen_gemm $words
  expect "usage of '$words'" holds err '^usage: gen_gemm'
done
run 2 ./gen_gemm 512 512 512 128 191KiB
expect "no room for three tiles" holds err '196608 bytes, more than 191KiB'
run 2 ./gen_gemm 1048576 1048576 1048576 1024 1GiB
expect "too many products" holds err 'more than 1048576 products'
run 0 ./gen_gemm 512 512 512 128 192KiB
expect "room for just three" holds out 'Blocks of 1 by 1 tiles'
if [ -w /dev/full ]; then
  ./gen_gemm 1 1 1 1 1KiB >/dev/full 2>err
  expect "a full disk" [ $? -eq 5 ]
fi

# The checker gets fewer arguments than it needs.
for words in "" "inputs . 1 1 1" "inputs . 1 1 1 1 1" "inputs . 1 1 1 0" "compare . 1 1 1 1 0" \
  "multiply . 1 1 1 1" "options . 1 1 -1 1"; do
  # shellcheck disable=SC2086
  run 2 ./check_gemm $words
  expect "usage of '$words'" holds err '^usage: check_gemm'
done
run 1 ./check_gemm inputs nowhere 1 1 1 1
expect "no such directory" holds err '^nowhere/A.0.0.npy: No such file'

# multiply NAME M N K TILE BUDGET [ARG...] generates, compiles, proves, runs with these args, and
# compares.
multiply() {
  name=$1 items=$(($2 * $3)) sizes="$2 $3 $4 $5" budget=$6
  shift 6
  # shellcheck disable=SC2086
  ./gen_gemm $sizes "$budget" >"$name.yaml"
  run 0 fsched compile "$name.yaml" -Wextra --verify -o "$name.fsb" --emit stats="$name.json"
  expect "$name: no warning" [ "$(grep -c warning err)" -eq 0 ]
  run 0 fsched verify "$name.fsb" --graph "$name.yaml"
  rm -rf "$name"
  mkdir "$name"
  # shellcheck disable=SC2086
  ./check_gemm inputs "$name" $sizes && ./check_gemm options "$name" $sizes >words
  # shellcheck disable=SC2046
  run 0 fsched run "$name.fsb" --modules . "$@" $(cat words)
  # shellcheck disable=SC2086
  run 0 ./check_gemm compare "$name" $sizes
  expect "$name: all items" holds out "^$items items compared: "
}

# Edges are even or ragged, there is one tile or many, and budgets are from three tiles to enough for
# all.
multiply even 96 96 96 32 40KiB
expect "tiles are read again" [ "$(value even.json spill_reads)" -gt 18 ]
multiply ragged 100 70 85 32 48KiB
multiply least 70 100 65 32 12KiB
multiply flat 1 200 3 64 80KiB
multiply single 5 6 7 8 1KiB
multiply roomy 64 64 64 16 1MiB
is "all fits: copies" "$(value roomy.json spill_reads)" 32
run 0 fsched run ragged.fsb --modules . --check --repeat 3 -q
# Partial sums are spilled and come back in the first plan; further plans avoid that here.
./gen_gemm 96 96 96 32 40KiB | sed '/name: sums/s/capacity: [0-9]*/capacity: 8192/' >even.yaml
run 0 fsched compile even.yaml --verify --effort 0 -o even.fsb --emit table=even.txt
expect "partial sums come back" [ "$(grep -c '^C.*spill_read' even.txt)" -gt 0 ]
./check_gemm options even 96 96 96 32 >words
rm even/C.*
# shellcheck disable=SC2046
run 0 fsched run even.fsb --modules . $(cat words)
run 0 ./check_gemm compare even 96 96 96 32
run 0 ./check_gemm compare even 96 96 96 32 7
expect "some of each tile" holds out "^63 items compared: "

# The checker notices tiles that were exchanged or lost, and an item that is wrong.
cp even/C.0.1.npy kept
cp even/C.1.0.npy even/C.0.1.npy
run 1 ./check_gemm compare even 96 96 96 32
expect "what is wrong" holds err '^C\[0\]\[32\] is .*, not '
run 1 ./check_gemm compare even 96 96 96 32 3
cp kept even/C.0.1.npy
run 0 ./check_gemm compare even 96 96 96 32
printf '\376' | dd of=even/C.0.1.npy bs=1 seek=4222 conv=notrunc 2>err
run 1 ./check_gemm compare even 96 96 96 32
expect "one item" holds out '^9216 items compared, 1 wrong$'
printf '\000\000\300\177' | dd of=even/C.0.1.npy bs=1 seek=4220 conv=notrunc 2>err
run 1 ./check_gemm compare even 96 96 96 32
expect "an item that is no number" holds err ' is -*nan, not '
head -c 4000 kept >even/C.0.1.npy
run 1 ./check_gemm compare even 96 96 96 32
expect "a file that ends early" holds err 'even/C.0.1.npy: no .npy file of 1024 floats'
rm even/C.0.1.npy
run 1 ./check_gemm compare even 96 96 96 32
expect "a file that is not there" holds err '^even/C.0.1.npy: No such file'

# Module files: a name without a suffix gets .so here, and is looked for where --modules says, or beside
# the stream if its modules are trusted; a name with a suffix is used as it is.
mkdir -p else/where modules.d
mv gemm.so modules.d/gemm.so
run 6 fsched run single.fsb --trust-modules
expect "what was looked for" holds err "cannot open module 'gemm' in '.' with .so: "
run 0 fsched run single.fsb --modules modules.d -q
(cd else && run 0 fsched run ../single.fsb --modules ../modules.d -q)
run 6 fsched run single.fsb --modules nowhere
for name in gemm.so where/../gemm "$PWD/else/gemm" "$PWD/else/gemm.so" ./gemm; do
  sed "s|module: gemm,|module: $name,|" single.yaml >else/named.yaml
  run 0 fsched compile else/named.yaml -q -o else/named.fsb
  run 6 fsched run else/named.fsb --trust-modules
  cp modules.d/gemm.so else/gemm.so
  run 0 fsched run else/named.fsb --trust-modules --check -q
  rm else/gemm.so
done
cp modules.d/gemm.so else/gemm.v2
sed "s|module: gemm,|module: gemm.v2,|" single.yaml >else/named.yaml
run 0 fsched compile else/named.yaml -q -o else/v2.fsb
run 0 fsched run else/v2.fsb --modules else -q
sed "s|function: gemm_tile|function: gemm|" single.yaml >else/named.yaml
run 0 fsched compile else/named.yaml -q -o else/named.fsb
run 6 fsched run else/named.fsb --modules modules.d
expect "no such function" holds err "module 'gemm' has no function 'gemm'"
# The args are not those that the kernel needs.
sed 's/{value: 7}/{value: 8}/' single.yaml >else/named.yaml
run 0 fsched compile else/named.yaml -q -o else/named.fsb
run 6 fsched run else/named.fsb --modules modules.d
mv modules.d/gemm.so .

# The committed kernel for devices is what its source gives, and it can be compiled for real devices.
: "${CLANG:=clang}"
cp gemm.ptx kept.ptx
if "$CLANG" -print-targets 2>/dev/null | grep -q nvptx64; then
  run 0 make ptx CLANG="$CLANG"
  # Another version of the compiler writes the same kernels in another form.
  if [ "$(sed -n 2p gemm.ptx)" = "$(sed -n 2p kept.ptx)" ]; then
    expect "gemm.ptx is not what gemm.cu gives; make ptx makes it" same gemm.ptx kept.ptx
  fi
  cp kept.ptx gemm.ptx
else
  echo "skip: no clang for nvptx64 here"
fi
ptxas=$(command -v ptxas) || ptxas=/usr/local/cuda/bin/ptxas
if [ -x "$ptxas" ]; then
  run 0 "$ptxas" -arch=sm_90 -v -o gemm.cubin gemm.ptx
  expect "everything is in registers" holds err ' 0 bytes spill stores, 0 bytes spill loads'
  rm -f gemm.cubin
else
  echo "skip: no ptxas here"
fi

# This is the same graph on a CUDA driver that runs on the processor.  A module without a suffix is the
# first that exists of .cubin, .fatbin and .ptx; this driver takes PTX by any of these names.
if [ -e "$BUILD/test/fake_cuda/libcuda.so.1" ]; then
  LD_LIBRARY_PATH=$BUILD/test/fake_cuda
  export LD_LIBRARY_PATH
  for on in cuda cuda-graph; do
    multiply "$on" 96 70 65 32 40KiB --on "$on"
    multiply "$on" 5 6 7 8 1KiB --on "$on"
  done
  mkdir device
  run 6 fsched run single.fsb --on cuda --modules device
  expect "what was looked for" holds err "cannot open module 'gemm' in '.*' with .cubin, .fatbin or .ptx: "
  for suffix in ptx fatbin cubin; do
    echo nothing >"device/gemm.$suffix"
    run 6 fsched run single.fsb --on cuda --modules device
    expect "no code in .$suffix" holds err "module 'gemm' cannot be loaded"
    cp gemm.ptx "device/gemm.$suffix"
    run 0 fsched run single.fsb --on cuda --modules device -q
  done
  cp gemm.ptx device/gemm.v2
  run 0 fsched run else/v2.fsb --on cuda --modules device -q
  unset LD_LIBRARY_PATH
else
  echo "skip: no driver to stand in"
fi

cd .. || return 1
follow "$example/README.md" gemm

# With an installation, kernels and tools are built as a user builds them.
# shellcheck disable=SC1091 # no need to look
. "$TOP/test/cli/installed.sh" || return 0
begin_consumers
cp -R "$example" consumer
# shellcheck disable=SC2154 # of installed.sh
run 0 make -C consumer check CFLAGS='-O2 -Wall -Wextra -Werror' FSCHED="$usr/bin/fsched" \
  M=100 N=70 K=85 TILE=32 BUDGET=48KiB
expect "a user's build" holds out '^7000 items compared: '
run 0 make -C consumer clean
expect "nothing is left" [ -z "$(diff -r "$example" consumer)" ]
:
