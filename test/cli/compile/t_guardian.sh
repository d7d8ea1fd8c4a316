# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Whatever happens to fsched, SIGKILL included, its solver ends, with everything that the solver has
# started in groups and sessions of their own, and the directory is removed.
if ! command -v setsid >/dev/null || [ ! -r "/proc/$$/task/$$/children" ]; then
  echo "SKIP t_guardian: no setsid, or a system that does not list children"
  return
fi
cat >g.yaml <<'YAML'
fsched: 1
name: g
target: {resources: [{name: r, capacity: 4}]}
ops:
  - {name: a, time: 3, uses: {r: 2}}
  - {name: b, time: 4, uses: {r: 3}}
  - {name: c, time: 5, uses: {r: 1}}
  - {name: d, time: 6, uses: {r: 2}}
  - {name: e, time: 2, uses: {r: 3}, after: [a]}
  - {name: f, time: 7, uses: {r: 1}, after: [b]}
YAML
mkdir tmp kept
echo kept >kept/file
mkfifo alive
TMPDIR=$PWD/tmp
SOLVER_FAULT_ALIVE=$PWD/alive
SOLVER_FAULT_KEPT=$PWD/kept
export TMPDIR SOLVER_FAULT_ALIVE SOLVER_FAULT_KEPT
# The directory is removed by a process for which this script cannot wait.
# shellcheck disable=SC2016 # the inner shell expands
gone() { timeout 60 sh -c 'while [ -n "$(ls "$0")" ]; do :; done' "$TMPDIR"; }

signals="KILL TERM SEGV"
# A sanitizer handles that signal itself.
if nm "$FSCHED" 2>/dev/null | grep -qE '__(asan|tsan)_init'; then signals="KILL TERM"; fi
for signal in $signals; do
  env --default-signal=TERM,SEGV sh -c 'ulimit -c 0; exec "$@"' sh "$FSCHED" compile g.yaml --refine ilp \
    --solver-cmd "$TOP/test/ilp/solver_fault.sh leave" 2>err </dev/null &
  pid=$!
  exec 8<alive
  read -r word <&8
  expect "$signal: the solver runs" [ "$word" = ready ]
  expect "$signal: in a directory" [ -n "$(find tmp -name x)" ]
  kill -s "$signal" $pid
  expect "$signal: all that was started ends" timeout 60 cat <&8
  exec 8<&-
  wait $pid
  expect "$signal ends fsched" [ $? -gt 128 ]
  expect "$signal: the directory goes" gone
  expect "$signal: what a link in it names stays" [ -s kept/file ]
done

# The same happens at a limit: nothing is left when fsched ends.
"$FSCHED" compile g.yaml --refine ilp --time-limit 0.5 -o g.fsb \
  --solver-cmd "$TOP/test/ilp/solver_fault.sh leave" 2>err </dev/null &
pid=$!
exec 8<alive
read -r word <&8
wait $pid
expect "a limit is no fault" [ $? -eq 0 ]
expect "the limit: all that was started has ended" timeout 60 cat <&8 >rest
exec 8<&-
expect "the limit: the directory is gone" [ -z "$(ls tmp)" ]
expect "the limit: what a link in it names stays" [ -s kept/file ]
