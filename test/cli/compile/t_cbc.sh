# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# With examples/cbc/fsched-cbc, cbc speaks the protocol of solvers.
command -v cbc >/dev/null || { echo "skip: no cbc" && return; }
solver=$TOP/examples/cbc/fsched-cbc

# The model is: minimise 3 x + 2 y where 2 x + y >= 5, x + 3 y >= 7, x <= 4, y <= 9; model [MORE
# BOUNDS].
model() {
  cat <<END
NAME m FREE
ROWS
 N cost
 G one
 G two
COLUMNS
 MARKER 'MARKER' 'INTORG'
 x cost 3
 x one 2
 x two 1
 y cost 2
 y one 1
 y two 3
 MARKER 'MARKER' 'INTEND'
RHS
 RHS one 5
 RHS two 7
BOUNDS
 UP BOUND x 4
 UP BOUND y ${1-9}
ENDATA
END
}
objective() { awk '/^x / { sum += 3 * $2 } /^y / { sum += 2 * $2 } END { print sum + 0 }' "$1"; }

model >model.mps
run 0 "$solver" model.mps
expect "the best is found" [ "$(objective out)" -eq 9 ]
expect "and said" [ "$(sed -n 's/^incumbent \([0-9]*\).*/\1/p' out)" -eq 9 ]
expect "it ends as it should" [ "$(tail -n 2 out | tr '\n' ' ')" = 'end status optimal ' ]
expect "with a bound before" holds out '^bound [0-9]'
expect "no bound is above" [ -z "$(awk '$1 == "bound" && $2 > 9' out)" ]
expect "and nothing else" [ -z "$(grep -v -e '^bound ' -e '^nodes ' -e '^incumbent ' -e '^[xy] ' -e '^end$' -e '^status ' out)" ]

printf 'x 4\ny 5\n' >start
run 0 "$solver" --start start --time-limit 20.5 --node-limit 100 model.mps
expect "with a start and limits, too" [ "$(objective out)" -eq 9 ]
expect "the start is read" holds model.mps.start '^2 y 5 0$'

model 1 | sed 's/two 7/two 8/' >model.mps
run 0 "$solver" model.mps
expect "there is no solution" [ "$(tail -n 1 out)" = 'status infeasible' ]
expect "and none is told" [ -z "$(grep -e incumbent -e end out)" ]
run 2 "$solver" nowhere.mps
:
