# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Preconditions of headers are asserted (scripts/requires), and the check of that finds those that are
# not, in a small tree.
run 0 "$TOP/scripts/requires" "$TOP"
expect "preconditions were seen" holds out '^requires: 0 faults, [1-9][0-9][0-9]* preconditions, '
expect "with their places and asserts" holds out '^lib/base/ranges\.h:[0-9]*: fs_ranges_add: Requires lo < hi\.$'
expect "each assert on a line" holds out '^    assert(lo < hi);$'

mkdir -p house/lib && cd house || return 1
# header COMMENT makes a header with a function under this comment; `body` makes its definition.
header() {
  printf '/* A head. */\n#ifndef A_H\n#define A_H\n\n/* %s */\nint fs_a(int a,\n         int b);\n\n#endif\n' "$1" >lib/a.h
}
body() { printf 'int fs_a(int a,\n         int b) {\n%s\n  return a + b;\n}\n' "$1" >lib/a.c; }
# faulty WHAT PATTERN checks that one fault is found, and named so.
faulty() {
  run 1 "$TOP/scripts/requires" "$PWD"
  expect "$1" holds out "$2"
  expect "$1, and nothing else" [ "$(grep -c '^lint: ' out)" -eq 1 ]
}
fine() {
  run 0 "$TOP/scripts/requires" "$PWD"
  expect "$1" holds out "$2"
}
header 'Adds.  Requires a < b.  O(1).'
body '  int c = a; /* a declaration */
  assert(a < b);'
fine "one with an assert" '^lib/a.h:5: fs_a: Requires a < b\.$'
fine "the assert is shown" '^    assert(a < b);$'
body '  FS_ASSERT_SLOW(a < b &&
                 b < 9);'
fine "a slow one, on two lines" '^    FS_ASSERT_SLOW(a < b && b < 9);$'
body ''
faulty "neither assert nor reason" '^lint: lib/a.h:5: fs_a has 0 asserts at its entry for 1: Requires a < b\.$'
body '  if (a < b) {
  }
  assert(a < b);'
faulty "an assert that comes too late" '^lint: lib/a.h:5: fs_a has 0 asserts'
body '  // assert(a < b);'
faulty "an assert in a comment" '^lint: lib/a.h:5: fs_a has 0 asserts'
header 'Adds.  Requires a < b.  Requires b < 9.'
body '  assert(a < b);'
run 1 "$TOP/scripts/requires" "$PWD"
expect "one assert for two" [ "$(grep -c '^lint: lib/a.h:5: fs_a has 1 asserts at its entry for 2: ' out)" -eq 2 ]
header 'Adds.  Requires a < b.  Requires (unchecked: O(n)) that all is well.'
fine "a reason why there is none" '^requires: 0 faults, 2 preconditions, 1 with a reason'
header 'Adds.  Requires (unchecked: ) that all is well.'
body ''
faulty "a reason that says nothing" '^lint: lib/a.h:5: fs_a has 0 asserts'
header 'Adds.  Requires a < b.'
rm lib/a.c
faulty "no definition" '^lint: lib/a.h:5: fs_a has no definition: Requires a < b\.$'
body '  assert(a < b);'
sed -i 's/ A head\. / A head.\n * Requires\n * a stream. /' lib/a.h
run 1 "$TOP/scripts/requires" "$PWD"
expect "the head's is the first function's" holds out '^lint: lib/a.h:2: fs_a has 1 asserts at its entry for 2: Requires a stream\.$'
header 'Adds.  Requires a < b.'
sed -i 's/^int fs_a/struct s {\n};\n&/' lib/a.h
faulty "one of a struct" '^lint: lib/a.h:5: is of no function: Requires a < b\.$'
header 'Adds.'
sed -i 's/^int fs_a/struct s {\n  int a; \/* Requires b. *\/\n};\n&/' lib/a.h
faulty "one of a member" '^lint: lib/a.h:7: is of no function: '
cat >lib/a.h <<'END'
/* Requires a < b. */
static inline int fs_a(int a, int b) {
  assert(a < b);
  return a + b;
}
/* Of a caller.  Requires a user. */
typedef int (*fs_fn)(void *user);
END
faulty "of a pointer to a function" '^lint: lib/a.h:6: fs_fn has no definition: Requires a user\.$'
cd ..
