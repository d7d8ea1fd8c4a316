# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# run --threads with fewer threads than queues, and how the instructions for preparing grow with queues.

# Writes a chain of $1 ops, each on a queue of its own.
chain() {
  awk -v n="$1" 'BEGIN {
    print "fsched: 1\nhazards: raw\ntarget:\n  queues:"
    for (i = 1; i <= n; i++)
      printf "    - {name: q%d, class: c%d}\n", i, i
    print "  memories: [{name: m}]\nops:"
    for (i = 1; i <= n; i++)
      printf "  - {name: o%d, on: q%d%s}\n", i, i, (i > 1 ? sprintf(", after: [o%d]", i - 1) : "")
  }' >chain.yaml
  run 0 "$FSCHED" compile chain.yaml -q -o "chain$1.fsb"
}

chain 50000
run 0 "$FSCHED" run chain50000.fsb --threads 3
expect "all commands" holds out '50000 commands on cpu'
run 0 "$FSCHED" run chain50000.fsb
for n in 0 65537; do
  run 2 "$FSCHED" run chain50000.fsb --threads $n
  expect "--threads $n" holds err '\-\-threads wants a number from 1 to 65536, not'
done
run 2 "$FSCHED" run chain50000.fsb --threads 1 --on sim
expect "--threads of a simulation" holds err '\-\-threads is for processors, not for --on sim'

chain 60
for n in 1 2 59 60 61; do
  run 0 "$FSCHED" run chain60.fsb --check --invocations 20 --in-flight 2 --threads $n
done

# Twice the queues and commands take about twice the instructions to prepare and run.  A chain over all
# queues has clocks of as many entries, so its verification is left out here.
count() {
  chain "$1"
  run 0 valgrind --tool=callgrind --callgrind-out-file=/dev/null "$FSCHED" run "chain$1.fsb" --no-verify \
    --threads 1
  instructions=$(sed -n 's/.*Collected : \([0-9]*\).*/\1/p' err)
}
if command -v valgrind >/dev/null && ! grep -q __asan_init "$FSCHED" &&
  ! grep -q __tsan_init "$FSCHED"; then
  count 2000
  once=$instructions
  count 4000
  expect "4000 queues took $instructions instructions, 2000 took $once" \
    [ "$((instructions * 2))" -le "$((once * 5))" ]
else
  echo "skip: no valgrind, or a sanitizer"
fi
