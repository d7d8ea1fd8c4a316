# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Includes and calls go down (ROOMS), and the check of that finds those that do not, in a small house.
# Recipes name files that exist, and decisions are where the compiler finds them.
run 0 "$TOP/scripts/lint-rooms" "$BUILD" "$TOP"
expect "calls were seen" holds out ' [1-9][0-9][0-9][0-9]* calls'
grep '^[0-9]' "$TOP/ROOMS" >rooms
sed -n '/^<!-- rooms -->$/,/^<!-- rooms -->$/p' "$TOP/CONTRIBUTING.md" | grep '^[0-9]' >map
expect "CONTRIBUTING.md has the list of rooms" same map rooms

# Each recipe has a title of its own, and the files that it names exist.  Words that stand for a name to
# be chosen are in capitals.
sed -n '/^## How to add$/,/^## Commits/p' "$TOP/CONTRIBUTING.md" >recipes
grep '^### ' recipes | sort | uniq -d >twice
expect "no two recipes have one title" empty twice
# shellcheck disable=SC2016 # quotes of Markdown
grep -o '`[^` ]*/[^` ]*`' recipes | tr -d '`' | grep -v '[A-Z][A-Z]\|\*' | sort -u >named
expect "recipes name files" [ "$(wc -l <named)" -ge 40 ]
while read -r name; do
  [ -e "$TOP/$name" ] || [ -e "$TOP/include/$name" ] || echo "$name"
done <named >missing
expect "which there are" empty missing

# This finds comparisons with one member of an enumeration.
# shellcheck disable=SC2046 # names without blanks
run 0 "$TOP/scripts/lint-decisions" $(find "$TOP/lib" "$TOP/codegen" "$TOP/draw" "$TOP/exec" "$TOP/cli" -name '*.[ch]')
for decision in 'k == FS_COMMAND_COPY' 'x != FS_SYNC_BLOCK' 'p->evict == FSCHED_EVICT_LRU)' 'm <= FSCHED_COUNTED'; do
  echo "if ($decision) {}" >decides.c
  run 1 "$TOP/scripts/lint-decisions" decides.c
  expect "'$decision' is a fault" holds out decides.c:1:
done
cat >tells.c <<'END'
case FS_COMMAND_COPY: x = FS_SYNC_BLOCK; p->evict = FSCHED_EVICT_LRU; [FSCHED_OUT] = 1
END
run 0 "$TOP/scripts/lint-decisions" tells.c
expect "what is made of a kind is none" empty out

: "${CC:=cc}"
mkdir -p house && cd house || return 1
cat >ROOMS <<'EOF'
0.0 lib/base      Called by all
1.0 lib/verify    Proves
1.1 lib/verify/deep
2.0 lib/first     A stage
2.0 lib/second    Another
3.0 lib/compile   The pipeline

only lib/verify lib/base
EOF
# unit FILE SYMBOL [CALLED] makes a source that defines one function and calls another.
unit() {
  mkdir -p "$(dirname "$1")" "$(dirname "build/$1")"
  if [ $# -gt 2 ]; then
    echo "void $3(void); void $2(void); void $2(void) { $3(); }"
  else
    echo "void $2(void); void $2(void) {}"
  fi >"$1"
  $CC -c -o "build/${1%.c}.o" "$1"
}
# Makes a house without faults.
house() {
  rm -rf lib build
  unit lib/base/a.c base
  unit lib/verify/v.c verify base
  unit lib/verify/deep/w.c deep verify
  unit lib/first/f.c first base
  unit lib/second/s.c second base
  unit lib/compile/p.c compile first
}
# faulty WHAT PATTERN checks that one fault is found, and named so.
faulty() {
  run 1 "$TOP/scripts/lint-rooms" build "$PWD"
  expect "$1" holds out "$2"
  expect "$1, and nothing else" [ "$(grep -c '^lint: ' out)" -eq 1 ]
}
house
run 0 "$TOP/scripts/lint-rooms" build "$PWD"
expect "a house in order" holds out '^lint-rooms: 0 faults, 5 calls$'
unit lib/first/f.c first compile
faulty "a stage to the pipeline" '^lint: lib/first/f.c: calls compile in lib/compile/p.c, '
house
unit lib/first/f.c first second
faulty "a stage to another" '^lint: lib/first/f.c: calls second in lib/second/s.c, '
house
unit lib/verify/v.c verify deep
faulty "the top of a room to its inside" '^lint: lib/verify/v.c: calls deep in '
echo '4.0 lib/late' >>ROOMS
house
unit lib/late/l.c late verify
run 0 "$TOP/scripts/lint-rooms" build "$PWD"
sed -i 's/^1.0 lib\/verify/4.0 lib\/verify/; s/^1.1 lib\/verify/4.1 lib\/verify/; /late/d' ROOMS
house
unit lib/verify/v.c verify first
faulty "the verifier to a stage below it" '^lint: lib/verify/v.c: calls first in lib/first/f.c, '
house
unit lib/verify/deep/w.c deep second
faulty "the verifier's inside to a stage" '^lint: lib/verify/deep/w.c: calls second in '
house
unit lib/lost/l.c lost
faulty "a file without a room" '^lint: lib/lost/l.c: has no room$'
house
touch lib/second/s.h
echo '#include "second/s.h"' >>lib/first/f.c
faulty "an include from beside" '^lint: lib/first/f.c: includes lib/second/s.h, '
house
for i in $(seq 44); do touch "lib/first/h$i.h"; done
faulty "a full directory" '^lint: lib/first: more than 44 sources$'
house
mkdir -p test/kit
for i in $(seq 45); do touch "test/kit/h$i.h"; done
faulty "a full directory of tests" '^lint: test/kit: more than 44 sources$'
rm -r test
house
unit lib/first/ask_all.c ask_all
unit lib/first/ask_one.c ask_one
unit lib/first/answer.c answer
run 0 "$TOP/scripts/lint-rooms" build "$PWD"
unit lib/first/ask.c ask
faulty "a third file whose name begins like others" '^lint: lib/first: a third file begins with ask$'
house
unit lib/first/g.c late compile
rm build/lib/first/g.o
faulty "a call that was not built" '^lint: lib/first/g.c: has no object, '
cd ..
