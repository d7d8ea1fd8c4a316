# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Names stand for one thing each, and the check of that finds names that do not, in a small tree.
run 0 "$TOP/scripts/lint-names" "$TOP"
expect "types were seen" holds out ' [1-9][0-9][0-9]* types$'

mkdir -p tree/lib/first tree/lib/second tree/test && cd tree || return 1
# Makes a tree without faults.
tree() {
  printf 'typedef struct fs_graph fs_graph;\nstruct fs_graph {\n  int n;\n};\n' >lib/first/graph.h
  printf 'typedef struct fs_graph fs_graph;\ntypedef struct walker {\n  int at;\n} walker;\n' >lib/first/a.c
  printf 'typedef int (*visit_fn)(int);\ntypedef unsigned word;\nstatic struct {\n  int n;\n} held;\n' >lib/second/b.c
  printf 'typedef enum kind { ONE } kind;\n' >test/c.c
  for i in 1 2 3 4 5; do
    [ "$i" -eq 5 ] || printf 'static int run(int n) { return n; }\n' >"lib/second/run$i.c"
    printf 'static int run_pass(int n) { return run(n); }\n' >"lib/first/pass$i.c"
    printf 'static int run(void) { return 1; }\n' >"test/run$i.c"
  done
  rm -f lib/second/run5.c
}
# faulty WHAT PATTERN checks that one fault is found, and named so.
faulty() {
  run 1 "$TOP/scripts/lint-names" "$PWD"
  expect "$1" holds out "$2"
  expect "$1, and nothing else" [ "$(grep -c '^lint: ' out)" -eq 1 ]
  tree
}
tree
run 0 "$TOP/scripts/lint-names" "$PWD"
expect "a tree in order" holds out '^lint-names: 0 faults, 5 types$'
printf 'typedef struct walker {\n  int n;\n} walker;\n' >>lib/second/b.c
faulty "a structure in two files" '^lint: type walker is in several files: lib/first/a.c lib/second/b.c$'
printf 'typedef struct {\n#ifdef X\n  int n;\n#endif\n} walker;\n' >>test/c.c
faulty "one without a tag" '^lint: type walker is in several files: lib/first/a.c test/c.c$'
printf 'struct walker {\n  int n;\n};\n' >>lib/second/b.c
faulty "one without a typedef" '^lint: type walker is in several files:'
printf 'typedef long visit_fn;\n' >>lib/first/a.c
faulty "a pointer to functions and a number" '^lint: type visit_fn is in several files:'
printf 'enum kind { TWO };\n' >>lib/first/a.c
faulty "an enumeration" '^lint: type kind is in several files: lib/first/a.c test/c.c$'
printf 'static inline const char *run(const char *s) { return s; }\n' >lib/second/run5.c
faulty "a fifth function that says no object" '^lint: static function run() says no object, in lib/second/run1.c '
