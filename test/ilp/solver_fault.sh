#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# solver_fault.sh MODE [options of a solver] MODEL.mps
# A solver with a fault, for --solver-cmd "test/ilp/solver_fault.sh MODE". fsched-solver(7) says what it
# should do.  SOLVER_FAULT_PIDS names a file to which it adds its process and those that it starts.
mode=${1-}
shift
start=
while [ $# -gt 1 ]; do
  if [ "$1" = --start ]; then start=$2; fi
  shift
done

started() { [ -z "${SOLVER_FAULT_PIDS-}" ] || echo "$1" >>"$SOLVER_FAULT_PIDS"; }
started $$
dies_by() {
  # shellcheck disable=SC3045 # dash has it
  ulimit -c 0
  kill -s "$1" $$
}
# Writes a valid solution, and claims something about it.
claims() {
  echo "incumbent $1"
  [ -z "$start" ] || cat "$start"
  echo end
}

case $mode in
  abort) dies_by ABRT ;;
  segv) dies_by SEGV ;;
  killed) dies_by KILL ;;
  exit)
    echo "out of luck" >&2
    exit 3
    ;;
  exit-late) # after all seemed well
    echo "bound -1e9"
    echo "status limit"
    exit 3
    ;;
  hang) # and does not listen to anything but SIGKILL
    trap '' TERM INT HUP
    sleep 600 &
    started $!
    wait
    ;;
  leave) # a session of its own, children in others, and files in depth; it says when all is there
    # As long as one of these processes exists, the fifo SOLVER_FAULT_ALIVE has a writer.  A link points
    # to the directory SOLVER_FAULT_KEPT and no other, so that whoever follows it removes nothing of
    # value.
    exec 7>"$SOLVER_FAULT_ALIVE"
    dir=$(dirname "$1")
    mkdir -p "$dir/a/b/c" && echo x >"$dir/a/b/c/x" && ln -s "$SOLVER_FAULT_KEPT" "$dir/a/kept"
    setsid sh -c 'setsid sleep 600 & echo ready >&7; wait' &
    exec sleep 600
    ;;
  close) # says nothing more, and goes on
    exec >&- 2>&-
    exec sleep 600
    ;;
  child) # something that it started keeps the pipe open
    sleep 600 &
    started $!
    echo "bound -1e9"
    echo "status limit"
    ;;
  binary) printf '\001\377\033[2J\000x\n' ;;
  endless) tr '\0' x </dev/zero ;;
  flood) yes 'nodes 1' ;;
  chatter)
    yes complaint | head -c 50000000 >&2
    echo "status limit"
    ;;
  word) echo "Solving the model ..." ;;
  silent) ;;
  half) # ends within a solution
    echo "incumbent 0"
    ;;
  late)
    echo "status limit"
    echo "bound 0"
    ;;
  error) echo "status error it is Sunday" ;;
  infeasible) # a solution that is none
    echo "incumbent 0"
    echo end
    echo "status optimal"
    ;;
  objective)
    claims -123456789
    echo "status optimal"
    ;;
  bound) echo "bound 1e15" ;;
  unknown)
    echo "incumbent 0"
    echo "no_such_variable 1"
    echo end
    ;;
  none) echo "status infeasible" ;;
  *)
    echo "solver_fault.sh: no such mode: $mode" >&2
    exit 2
    ;;
esac
