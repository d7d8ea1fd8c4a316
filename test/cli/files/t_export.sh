# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Schedules are exported as solutions: an instance is imported, compiled and exported, and a checker of
# the format accepts the result.
instances=$TOP/test/import
cp "$instances"/project.rcp "$instances"/project.sm "$instances"/crlf.strip "$instances"/buffers.csv .

# The checkers read the instance and then the solution, and print what is wrong.
check_patterson() {
  awk -v solution="$2" '
    { for (i = 1; i <= NF; i++) word[total++] = $i }
    END {
      jobs = word[0]; resources = word[1]; at = 2
      for (k = 0; k < resources; k++) capacity[k] = word[at++]
      getline line <solution; split(line, f, " "); makespan = f[2]
      for (j = 1; j <= jobs; j++) {
        getline line <solution; split(line, f, " ")
        if (f[1] != j) print "job " j " is not in its place"
        start[j] = f[2]
      }
      if ((getline line <solution) > 0) print "more follows"
      for (j = 1; j <= jobs; j++) {
        finish[j] = start[j] + word[at++]
        if (finish[j] > last) last = finish[j]
        for (k = 0; k < resources; k++) use[j, k] = word[at++]
        n = word[at++]
        for (i = 0; i < n; i++) { first[edges] = j; second[edges++] = word[at++] }
      }
      for (e = 0; e < edges; e++)
        if (start[second[e]] < finish[first[e]]) print second[e] " starts before " first[e] " ends"
      for (t = 0; t < last; t++)
        for (k = 0; k < resources; k++) {
          sum = 0
          for (j = 1; j <= jobs; j++) if (start[j] <= t && t < finish[j]) sum += use[j, k]
          if (sum > capacity[k]) print "r" k + 1 " is short at " t
        }
      if (last != makespan) print "the makespan is " last
    }' "$1"
}
check_strip() {
  tr -d '\r' <"$1" | awk -v solution="$2" '
    /^strip/ { width = $2; getline line <solution; split(line, f, " "); height = f[3]
               if (f[1] != "strip" || f[2] != width) print "the strip is another"; next }
    NF == 2 { getline line <solution; split(line, f, " "); n++
              x[n] = f[1]; y[n] = f[2]; w[n] = $1; h[n] = $2
              if (f[3] != $1 || f[4] != $2) print "the sides of " n " are others"
              if (x[n] + w[n] > width) print n " leaves the strip"
              if (y[n] + h[n] > top) top = y[n] + h[n]
              for (i = 1; i < n; i++)
                if (x[i] < x[n] + w[n] && x[n] < x[i] + w[i] && y[i] < y[n] + h[n] && y[n] < y[i] + h[i])
                  print i " and " n " overlap" }
    END { if (top != height) print "the height is " top }'
}
check_memory() {
  awk -F, -v solution="$2" '
    NR == 1 { getline line <solution; if (line != $0 ",offset") print "the head is " line; next }
    { getline line <solution
      if (index(line, $0 ",") != 1) print "the row of " $1 " is " line
      split(line, f, ","); n++
      lower[n] = $2; upper[n] = $3; size[n] = $4; offset[n] = f[5]
      for (i = 1; i < n; i++)
        if (lower[i] < upper[n] && lower[n] < upper[i] && offset[i] < offset[n] + size[n] &&
            offset[n] < offset[i] + size[i]) print f[1] " overlaps another" }' "$1"
}
solve() { # kind, instance
  run 0 "$FSCHED" import "$1" "$2" -o i.yaml
  run 0 "$FSCHED" compile i.yaml -q --verify -o i.fsb --emit schedule=i.json
  run 0 "$FSCHED" export "$1" i.json --graph i.yaml -o solution.txt
  expect "export $1 says nothing" empty err
}
: >export.txt
shown() { { echo "\$ fsched export $1" && cat solution.txt; } >>export.txt; }

solve patterson project.rcp
check_patterson project.rcp solution.txt >wrong
expect "the project's solution is right: $(cat wrong)" empty wrong
shown patterson
sed 's/^2 .*/2 100/' solution.txt >broken
check_patterson project.rcp broken >wrong
expect "the checker checks" [ -s wrong ]
solve psplib project.sm
shown psplib
# This is the same project as numbers, to check that solution, too.
printf '6 2\n5 2\n0 0 0 2 2 3\n4 3 0 1 4\n3 2 1 2 4 5\n5 1 2 1 6\n2 4 0 1 6\n0 0 0 0\n' >sm.rcp
check_patterson sm.rcp solution.txt >wrong
expect "the other form's too: $(cat wrong)" empty wrong
solve strip crlf.strip
check_strip crlf.strip solution.txt >wrong
expect "the strip's solution is right: $(cat wrong)" empty wrong
shown strip
sed '2s/^[0-9]* [0-9]*/9 0/' solution.txt >broken
check_strip crlf.strip broken >wrong
expect "the checker checks" [ -s wrong ]
solve memory buffers.csv
check_memory buffers.csv solution.txt >wrong
expect "the memory's solution is right: $(cat wrong)" empty wrong
shown memory
sed '2,$s/[0-9]*$/0/' solution.txt >broken
check_memory buffers.csv broken >wrong
expect "the checker checks" [ -s wrong ]
golden export.txt export.txt

# This uses standard input and output, and another capacity than the graph's.
"$FSCHED" export memory - --graph i.yaml <i.json >out
expect "from standard input" same out solution.txt
"$FSCHED" export memory i.json -g - <i.yaml >out
expect "the graph too" same out solution.txt
run 0 "$FSCHED" import memory buffers.csv --capacity 12 -o i.yaml
run 0 "$FSCHED" compile i.yaml -q --memory memory=64 --verify -o i.fsb --emit schedule=wide.json
run 0 "$FSCHED" export memory wide.json --graph i.yaml --memory memory=64
run 0 "$FSCHED" export memory wide.json --graph i.yaml --set memories.memory.capacity=64

# These inputs are wrong, refuted, or of another form.
: >refused.txt
bad() {
  want=$1
  shift
  run "$want" "$FSCHED" export "$@"
  expect "nothing on standard output: $*" empty out
  { echo "\$ fsched export $*" && cat err; } >>refused.txt
}
sed 's/"address": [0-9]*/"address": 0/' i.json >low.json
cp "$TOP/examples/figure-10.yaml" g.yaml
run 0 "$FSCHED" compile g.yaml -q -o g.fsb --emit schedule=g.json
bad 4 memory low.json --graph i.yaml -o none.txt
bad 1 strip i.json --graph i.yaml -o none.txt
bad 1 patterson g.json --graph g.yaml
bad 1 memory g.yaml --graph g.yaml
bad 1 memory i.yaml --graph i.yaml
bad 1 memory g.fsb --graph i.yaml
bad 1 memory g.json --graph i.yaml
bad 1 memory i.json --graph g.fsb
bad 2 memory i.json
bad 2 memory --graph i.yaml
bad 2 memori i.json --graph i.yaml
bad 2 memory - --graph -
bad 2 memory i.json --graph i.yaml -o i.json
bad 2 memory i.json --graph i.yaml -o i.yaml
bad 5 memory nowhere.json --graph i.yaml
golden refused.txt export-refused.txt
expect "nothing was written" [ ! -e none.txt ]

# A graph's target counts as one of its files.
printf 'memories: [{name: m, capacity: 8}]\n' >t.yaml
printf 'fsched: 1\nname: s\ntarget: t.yaml\nops: [{name: a, scratch: {m: 2}}]\n' >s.yaml
run 0 "$FSCHED" compile s.yaml -q -o s.fsb --emit schedule=s.json
run 2 "$FSCHED" export strip s.json --graph s.yaml -o t.yaml
run 0 "$FSCHED" export strip s.json --graph s.yaml
expect "a strip" [ "$(tr '\n' ' ' <out)" = 'strip 8 1 0 0 2 1 ' ]
:
