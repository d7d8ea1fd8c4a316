# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# --emit c: what compilers report for the source and the header, and what a program made with them does.
cp "$TOP/examples/figure-10.yaml" g.yaml
run 0 "$FSCHED" compile g.yaml -o g.fsb --emit c=net.c -v
expect "both files are named" [ "$(grep -c '  wrote net\.[ch]$' err)" -eq 2 ]
for compiler in "${CC:-cc}" gcc clang; do
  command -v "${compiler%% *}" >/dev/null || continue
  # shellcheck disable=SC2086 # a compiler may be several words
  for flags in '-std=c99' '-std=c11 -O2' '-std=c99 -fexec-charset=IBM1047 -DEBCDIC'; do
    case $compiler-$flags in clang*EBCDIC) continue ;; esac
    run 0 $compiler $flags -pedantic -Wall -Wextra -Wwrite-strings -Werror -c -o net.o net.c
    expect "$compiler $flags says nothing" empty err
  done
done
for compiler in "${CXX:-c++}" g++ clang++; do
  command -v "${compiler%% *}" >/dev/null || continue
  # shellcheck disable=SC2086
  run 0 $compiler -std=c++11 -pedantic -Wall -Wextra -Werror -x c++ -c -o net-cpp.o net.c
  printf '%s\n' '#include "net.h"' '#include "net.h"' 'const void *at() { return &net_program; }' \
    'size_t size() { return net_program_size; }' >use.cc
  # shellcheck disable=SC2086
  run 0 $compiler -std=c++11 -pedantic -Wall -Wextra -Werror -c -o use.o use.cc
done

# Loaded in place, through the library, it is the same program.
cat >main.c <<'C'
#include <stdio.h>
#include "net.h"
#include "fsched/replay.h"
#include "fsched/verify.h"
int main(void) {
  fsched_context *ctx;
  fsched_program *p;
  fsched_replay_options check = {.size = sizeof check, .check = 1};
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK ||
      fsched_program_borrow(ctx, "net", &net_program, net_program_size, &p) != FSCHED_OK ||
      fsched_verify_program(ctx, p, NULL) != FSCHED_OK ||
      fsched_replay_cpu(ctx, p, &check, NULL) != FSCHED_OK) {
    return 1;
  }
  fsched_program_destroy(p);
  fsched_context_destroy(ctx);
  return fwrite(&net_program, 1, net_program_size, stdout) != net_program_size;
}
C
if ! grep -q -e __asan -e __tsan "$BUILD/libfsched.so"; then
  # shellcheck disable=SC2086
  run 0 ${CC:-cc} -std=c99 -pedantic -Wall -Wextra -Werror -I"$TOP/include" -o use main.c net.c \
    -L"$BUILD" -lfsched -Wl,-rpath,"$BUILD"
  run 0 ./use
  expect "the bytes are the stream's" same out g.fsb
fi

# Names.
run 0 "$FSCHED" compile g.yaml -q --emit c=3d-net.v2.c
expect "made an identifier" holds 3d-net.v2.h 'struct graph_3d_net_v2_program_bytes graph_3d_net_v2_program;'
mkdir -p d.x
run 0 "$FSCHED" compile g.yaml -q --emit c=d.x/int
expect "no suffix, and a keyword" holds d.x/int.h '\bint_program_size;'
run 0 "$FSCHED" compile g.yaml -q --emit c=own.c --symbol own_name
expect "a name of one's own" holds own.h 'extern const size_t own_name_size;'
for name in 9a _a int class a-b 'a b' main ''; do
  run 2 "$FSCHED" compile g.yaml -q --emit c=bad.c --symbol "$name"
done
run 2 "$FSCHED" compile g.yaml -q --symbol x
expect "nothing to name" holds err 'symbol needs --emit c=FILE'
expect "nothing was written" [ ! -e bad.c ]

# Standard output and devices have no header; their name is the graph's.
run 0 "$FSCHED" compile g.yaml -q --emit c=-
expect "named after the graph" holds out '^const size_t figure_10_program_size = '
cp out std.c
run 0 "$FSCHED" compile g.yaml -q --emit c=/dev/null
expect "a device has no header" [ ! -e /dev/null.h ]
run 0 "$FSCHED" compile g.yaml -q --emit c=/dev/stdout # a plain file behind it
expect "nor has what /dev names" same std.c out
run 0 "$FSCHED" compile g.yaml -q --emit c=figure-10.c
expect "the source needs no header" same std.c figure-10.c
mkfifo pipe
cat pipe >piped.c &
run 0 "$FSCHED" compile g.yaml -q --emit c=pipe
wait
expect "nor has a pipe" [ ! -e pipe.h ]
expect "but it has the source" same std.c piped.c

# No result over another or over the input.
run 2 "$FSCHED" compile g.yaml -q --emit c=same.h
expect "source and header" holds err 'two results would be written to same.h'
run 2 "$FSCHED" compile g.yaml -q --emit c=a.c --emit table=a.h
run 2 "$FSCHED" compile g.yaml -q --emit c=a.c -o a.h
cp g.yaml in.h
run 2 "$FSCHED" compile in.h -q -o in.fsb --emit c=in.c
expect "the header over the input" holds err 'over the input in.h'
expect "the input stays" same in.h g.yaml
expect "nothing else was written" [ ! -e a.c -a ! -e in.c -a ! -e same.h ]
run 5 "$FSCHED" compile g.yaml -q -o none.fsb --emit c=no/such/place.c
expect "the stream comes last" [ ! -e none.fsb ]
mkdir block.h
run 5 "$FSCHED" compile g.yaml -q -o none.fsb --emit c=block.c
expect "no source without its header" [ ! -e block.c -a ! -e none.fsb ]
:
