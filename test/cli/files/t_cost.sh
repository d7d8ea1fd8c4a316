# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Twice the input takes at most 2.5 times the instructions, counted by valgrind, for the shapes of
# graphs in test/cost/shape.c and every command; what little input takes is taken off both, and what
# takes less than a million in all may be anything.  Of the shapes one is met at a time, by turns:
# COST='NAME...' are those, or COST=all.  What grows slowly with the square is seen in large inputs
# alone: one command of those that paid so meets one, by turns.  COST_LARGE=8000 meets such with the
# shapes of the turn, too, by one command of all.
if ! command -v valgrind >/dev/null || nm "$FSCHED" 2>/dev/null | grep -qE '__[at]san_init'; then
  echo "skip: instructions cannot be counted (no valgrind, or a sanitizer)"
  return 0
fi
shape=$BUILD/test/cost/shape
small=4
size=${COST_SIZE-500}
# The commit chooses one shape.
turn=$("$TOP/scripts/turn")
shapes=${COST-$("$shape" | awk -v turn="$turn" \
  '{ name[NR - 1] = $0 } END { print name[turn % NR] }')}
[ "$shapes" != all ] || shapes=$("$shape")
# cost ARGS... prints the instructions of the program with these arguments, and of its processes.
cost() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$FSCHED" "$@" >valgrind.out 2>&1 \
    </dev/null || echo failed
  awk '/^==[0-9]*== Collected : / { sum += $NF } END { printf "%.0f\n", sum }' valgrind.out
}
# grows WHAT ARGS... checks that the cost grows as it should, where %N in the arguments is the size;
# when one is asked for alone, the others pass.
grows() {
  commands=$((commands + 1))
  [ -z "$one" ] || [ "$commands" -eq "$one" ] || return 0
  what=$1
  shift
  for n in "$small" "$size" "$((2 * size))"; do
    # shellcheck disable=SC2046 # words
    cost $(printf '%s\n' "$@" | sed "s/%N/$n/g")
  done >costs
  if ! grep -q failed costs && awk 'NR == 1 { least = $1 } NR == 2 { once = $1 - least } NR == 3 { twice = $1 - least }
      END { exit !(NR == 3 && ((once > 0 && twice <= 2.5 * once) || $1 < 1000000)) }' costs; then
    pass
  else
    fail "$name, $what: instructions for $small, $size, $((2 * size)): $(tr '\n' ' ' <costs)"
  fi
}
# Makes the files of a shape, for three sizes.
make_files() {
  for n in "$small" "$size" "$((2 * size))"; do
    "$shape" "$name" "$n" >"$n.yaml"
    run 0 "$FSCHED" compile -q "$n.yaml" -o "$n.fsb" --emit schedule="$n.json"
    run 0 "$FSCHED" dis --format json "$n.fsb" -o "$n.asm"
    run 0 "$FSCHED" run -q --on sim "$n.fsb" --save-profile "$n.profile"
  done
}
all_commands() {
  commands=0
  grows compile compile -q %N.yaml -o x.fsb
  grows "all kinds of --emit" compile -q %N.yaml -o x.fsb --emit schedule=s --emit table=t \
    --emit stats=st --emit svg=svg --emit trace=tr --emit c=x.c
  grows "compile --profile" compile -q --profile %N.profile %N.yaml -o x.fsb
  case $name in
    *barriers | blocks) ;; # these have a kind of sync of their own
    *) grows "compile for syncs" compile -q --set sync=block %N.yaml -o x.fsb ;;
  esac
  case $name in
    blocks) ;;
    *) grows "compile --barriers" compile -q --barriers auto %N.yaml -o x.fsb ;;
  esac
  grows verify verify %N.fsb
  grows "verify with a graph" verify %N.fsb -g %N.yaml
  grows "verify a schedule" verify %N.json -g %N.yaml
  grows dis dis %N.fsb -o x
  grows "dis --format json" dis --format json %N.fsb -o x
  grows asm asm %N.asm -o x.fsb
  grows explain explain %N.fsb -o x
  grows "explain --format json" explain --format json %N.fsb -o x
  grows "run --on sim" run -q --on sim %N.fsb
  grows "run --check" run -q --on sim --check %N.fsb
  grows "run on one thread" run -q --threads 1 %N.fsb
  grows "run --save-profile" run -q --on sim %N.fsb --save-profile x --trace y
  grows dot dot %N.yaml -o x
  grows "dot of a program" dot %N.fsb -o x
}
for name in $shapes; do
  one=
  make_files
  all_commands
done
if [ -n "${COST_LARGE-}" ]; then
  size=$COST_LARGE
  one=$((turn / $("$shape" | wc -l) % commands + 1))
  make_files
  all_commands
fi
# large SIZE NAME WHAT ARGS...: the same for one large shape, if it is its turn.
larges=7
large() {
  larges=$((larges - 1))
  [ $((turn % 7)) -eq "$larges" ] || return 0
  size=$1
  name=$2
  what=$3
  shift 3
  one=''
  for n in "$small" "$size" "$((2 * size))"; do
    "$shape" "$name" "$n" >"$n.yaml"
    run 0 "$FSCHED" compile -q "$n.yaml" -o "$n.fsb" --emit schedule="$n.json"
  done
  grows "$what" "$@"
}
large 4000 resources pictures compile -q %N.yaml -o x.fsb --emit svg=svg
large 4000 resources "verify a schedule" verify %N.json -g %N.yaml
large 4000 memories pictures compile -q %N.yaml -o x.fsb --emit svg=svg
large 4000 memories statistics compile -q %N.yaml -o x.fsb --emit stats=st --emit trace=tr
large 4000 many_parts pictures compile -q %N.yaml -o x.fsb --emit svg=svg
large 4000 spilling_memories compile compile -q %N.yaml -o x.fsb
large 8000 one_class compile compile -q %N.yaml -o x.fsb
