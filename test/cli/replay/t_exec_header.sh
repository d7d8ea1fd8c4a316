# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# The example in fsched/exec.h is compiled as it is written there, and does what the header says; and
# the header also works in C++.
header=$TOP/include/fsched/exec.h
{
  printf '#include "fsched/exec.h"\nfsched_status repeat(fsched_context *, const fsched_program *,\n'
  printf '                     double (*)[64], uint64_t);\n'
  sed -n '/^ \*   fsched_status repeat(/,/^ \*   }$/s/^ \*   //p' "$header"
  cat <<'EOF'
#include <stdio.h>
int main(void) {
  static double rows[11][64];
  fsched_context *ctx;
  fsched_program *program;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK ||
      fsched_program_open(ctx, "copy.fsb", &program) != FSCHED_OK) {
    return 1;
  }
  for (int i = 0; i < 64; i++) {
    rows[0][i] = i;
  }
  fsched_status status = repeat(ctx, program, rows, 10);
  printf("%d %g %g\n", (int)status, rows[1][63], rows[10][63]);
  fsched_program_destroy(program);
  fsched_context_destroy(ctx);
  return 0;
}
EOF
} >example.c
cat >copy.yaml <<'EOF'
fsched: 1
buffers: [{name: x, size: 512, io: input}, {name: y, size: 512, io: output}]
ops: [{name: f, args: [{in: x}, {out: y}], kernel: {builtin: copy}}]
EOF
expect "the example is there" holds example.c 'fsched_invoke(ctx, entry, &invocation)'
run 0 "$FSCHED" compile copy.yaml -q -o copy.fsb
# shellcheck disable=SC2086 # several words
if run 0 ${CC-cc} ${CFLAGS-} -std=c11 -Wall -Wextra -Werror -I"$TOP/include" -c example.c &&
  [ -f example.o ]; then
  # shellcheck disable=SC2086
  run 0 ${CC-cc} ${CFLAGS-} ${LDFLAGS-} -pthread -o example example.o -L"$BUILD" -lfsched \
    -Wl,-rpath,"$BUILD"
  run 0 ./example
  expect "ten times" holds out '^0 63 63$'
fi
if command -v c++ >/dev/null; then
  printf '#include "fsched/exec.h"\nint main() { return 0; }\n' >header.cc
  run 0 c++ -std=c++17 -Wall -Wextra -Werror -I"$TOP/include" -c header.cc
fi
:
