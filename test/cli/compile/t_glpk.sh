# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# fsched-glpk as a program: what it prints, for which inputs, and when it ends.
glpk=$BUILD/fsched-glpk
[ -x "$glpk" ] || { echo "skip: fsched-glpk is not built here" && return; }

run 0 "$glpk" --help
expect "help" holds out '^usage: fsched-glpk .*MODEL$'
expect "help fits a terminal" [ -z "$(awk 'length($0) > 80' out)" ]
run 0 "$glpk" --version
expect "its version is that of fsched" [ "$(head -n 1 out)" = "fsched-glpk $("$FSCHED" --version | sed -n '1s/fsched //p')" ]
expect "GLPK has one, too" holds out '^GLPK [0-9]'
expect "and a licence" holds out 'GPL'
for wrong in '' '--fast' 'a.mps b.mps' '--node-limit 0 a.mps' '--node-limit x a.mps' '--start' \
  '--time-limit -1 a.mps' '--time-limit nan a.mps' '--time-limit= a.mps'; do
  # shellcheck disable=SC2086 # words
  run 2 "$glpk" $wrong
  expect "'$wrong' is named on standard error alone" [ "$(wc -l <err)$(wc -c <out)" = 10 ]
done
# It contains nothing of fsched, and fsched nothing of GLPK.
if command -v nm >/dev/null; then
  expect "no function of libfsched's" [ -z "$(nm "$glpk" 2>&1 | grep -i ' fsched_')" ]
fi
if command -v ldd >/dev/null; then
  expect "GLPK is in no other program" [ -z "$(ldd "$FSCHED" "$BUILD/libfsched.so" | grep glpk)" ]
fi

# mps OBJECTIVE-ROWS-AND-COLUMNS writes a file of three binaries, one of which is 1, and a number.
mps() { # the bound that z has at most
  cat <<END
NAME m FREE
ROWS
 N cost
 E one
 G link
 G least
COLUMNS
 MARKER 'MARKER' 'INTORG'
 a cost 1
 a one 1
 a link 4
 b cost 5
 b one 1
 b link 2
 c one 1
 c cost 9
 MARKER 'MARKER' 'INTEND'
 z cost 2
 z link -1
 z least 2
 objective.constant cost 100
RHS
 RHS one 1
 RHS least 3
BOUNDS
 UP BOUND a 1
 UP BOUND b 1
 UP BOUND c 1
 UP BOUND z $1
 FX BOUND objective.constant 1
ENDATA
END
}
mps 9 >model.mps
run 0 "$glpk" model.mps
printf 'nodes 0\nbound 104\nnodes 1\nincumbent 104\na 1\nz 1.5\nobjective.constant 1\nend\nnodes 1\nstatus optimal\n' >want
expect "all of the answer" same out want
printf 'b 1\nz 2\n' >start
run 0 "$glpk" --start start model.mps
expect "the start is used" [ "$(sed -n 1,6p out | tr '\n' ' ')" = 'nodes 0 incumbent 109 b 1 z 2 objective.constant 1 end ' ]
expect "and is not the best" [ "$(tail -n 1 out)" = 'status optimal' ]
printf 'a 1\nz 1.5\n\n' >start
run 0 "$glpk" --start=start model.mps
expect "nothing is better" [ "$(grep -c incumbent out)" -eq 1 ]
expect "so that is proven" [ "$(tail -n 1 out)" = 'status optimal' ]
printf 'a 1\nb 1\nz 2\n' >start
run 0 "$glpk" --start start model.mps
expect "a start that is none is named" holds err 'start is no solution of the model'
expect "and not used" same out want
for wrong in 'a' 'd 1' 'a 1 2' 'a x' 'a inf' '1 a'; do
  echo "$wrong" >start
  run 1 "$glpk" --start start model.mps
  expect "'$wrong' is an error" holds out '^status error start:1: '
done
run 1 "$glpk" --start nowhere model.mps
expect "no start" holds out '^status error nowhere: No such file'

run 1 "$glpk" nowhere.mps
expect "no model" holds out '^status error not a model in free MPS: .*nowhere.mps'
head -n 12 model.mps >bad.mps
run 1 "$glpk" bad.mps
expect "half of a model" holds out '^status error not a model'
expect "a fault is one line" [ "$(wc -l <out)" -eq 1 ]
expect "and is said there alone" empty err
mps 1 >model.mps # 2 z >= 3
run 0 "$glpk" model.mps
expect "no solution" [ "$(tail -n 1 out)" = 'status infeasible' ]
sed 's/^ G least/ G least\n OBJSENSE MAX/' model.mps >bad.mps
run 1 "$glpk" bad.mps
printf 'NAME n FREE\nROWS\n N cost\n G none\nCOLUMNS\n k cost 7\nRHS\nBOUNDS\n FX B k 1\nENDATA\n' >none.mps
run 0 "$glpk" none.mps
expect "nothing to decide" [ "$(tr '\n' ' ' <out)" = 'nodes 0 bound 7 nodes 1 incumbent 7 k 1 end nodes 1 status optimal ' ]

# x is above y and y above x: these rows could move bounds by 1 for ever.
cat >apart.mps <<'MPS'
NAME m FREE
ROWS
 N cost
 G up
 G down
COLUMNS
 MARKER 'MARKER' 'INTORG'
 x cost 1
 x up 1
 x down -1
 y up -1
 y down 1
 MARKER 'MARKER' 'INTEND'
RHS
 RHS up 1
 RHS down 1
BOUNDS
 UP BOUND x 1000000000000
 UP BOUND y 1000000000000
ENDATA
MPS
run 0 timeout 100 "$glpk" --node-limit 10 apart.mps
expect "it ends" [ "$(tail -n 1 out)" = 'status infeasible' ]

# This one is hard: a knapsack of 30 pairs with an equation that a choice meets only after a long
# search.
awk 'BEGIN {
  print "NAME h FREE\nROWS\n N cost\n E sum"
  print "COLUMNS\n MARKER \047MARKER\047 \047INTORG\047"
  for (i = 1; i <= 40; i++) printf " x%d cost %d\n x%d sum %d\n", i, i * i % 17 + 1, i, 2 * (i * i * i % 997 + 300)
  print " MARKER \047MARKER\047 \047INTEND\047\nRHS\n RHS sum 20001\nBOUNDS"
  for (i = 1; i <= 40; i++) printf " UP B x%d 1\n", i
  print "ENDATA" }' >hard.mps
run 0 "$glpk" --node-limit 300 hard.mps
expect "the limit is said" [ "$(tail -n 1 out)" = 'status limit' ]
expect "after so many nodes" [ "$(grep '^nodes' out | tail -n 1)" = 'nodes 300' ]
# A caller that stops at a proof learns how many nodes it took: such a line has the number just before
# it.  All other numbers of nodes depend on the clock.
without_nodes() { awk '/^(bound|incumbent) / && last !~ /^nodes / { print } { last = $0 }' out; }
without_clock() { awk '/^nodes / { n = $0; next } /^(bound|incumbent) / { print n } { print }' out; }
without_clock >first
run 0 "$glpk" --node-limit 300 hard.mps
without_clock >second
expect "the same on every run" same first second
# Of 8 binaries every two contain a 1, and so do 7 of them: the relaxation gives 4.
awk 'BEGIN {
  n = 8
  print "NAME pairs FREE\nROWS\n N cost"
  for (i = 1; i < n; i++) for (j = i + 1; j <= n; j++) printf " G r%d_%d\n", i, j
  print "COLUMNS\n MARKER \047MARKER\047 \047INTORG\047"
  for (k = 1; k <= n; k++) {
    printf " x%d cost 1\n", k
    for (i = 1; i < n; i++) for (j = i + 1; j <= n; j++) if (i == k || j == k) printf " x%d r%d_%d 1\n", k, i, j
  }
  print " MARKER \047MARKER\047 \047INTEND\047\nRHS"
  for (i = 1; i < n; i++) for (j = i + 1; j <= n; j++) printf " RHS r%d_%d 1\n", i, j
  print "BOUNDS"
  for (i = 1; i <= n; i++) printf " UP B x%d 1\n", i
  print "ENDATA" }' >pairs.mps
run 0 "$glpk" pairs.mps
expect "the first bound" holds out '^bound 4$'
expect "the last bound" holds out '^bound 7$'
expect "each behind its nodes, as are solutions" [ -z "$(without_nodes)" ]
run 0 "$glpk" --time-limit 0.05 hard.mps
expect "the limit of time" [ "$(tail -n 1 out)" = 'status limit' ]

# A path of thousands of branches does not become a depth of calls: the stack is small here.
if ! nm "$glpk" 2>/dev/null | grep -qE '__[at]san_init'; then
  awk 'BEGIN {
    n = 4001
    print "NAME deep FREE\nROWS\n N cost\n E r\nCOLUMNS\n MARKER \047MARKER\047 \047INTORG\047"
    for (i = 0; i < n; i++) print " x" i " cost 0 r 2"
    print " MARKER \047MARKER\047 \047INTEND\047\nRHS\n RHS r " n "\nBOUNDS"
    for (i = 0; i < n; i++) print " UP B x" i " 1"
    print "ENDATA" }' >deep.mps
  run 0 sh -c 'ulimit -s 64 && exec env -i "$@"' sh "$glpk" --node-limit 2500 deep.mps
  expect "an even sum cannot be odd, but who knows" [ "$(tail -n 1 out)" = 'status limit' ]
fi

# It ends when nobody reads its output; otherwise it would go on for ages here.
"$glpk" hard.mps 2>err | head -n 1 >out
expect "no reader, no search" holds out '^nodes '
:
