# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# What a signal leaves behind: at every point at which a command makes, writes, flushes, names or
# removes a file, the directory has each result's whole old or whole new content, and nothing else; and
# the signal has ended the command. test/preload/points.c raises it.
# shellcheck disable=SC3045 # where there is none, a core file may be left in a directory that goes
ulimit -c 0 2>/dev/null
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
if ! ${CC:-cc} -D_GNU_SOURCE -shared -fPIC -o points.so "$TOP/test/preload/points.c" -ldl 2>log; then
  fail "points.so: $(head -n 3 log)"
  return 0
fi
SO=$PWD/points.so
# The caller of the tests may ignore some signals, so they are set to their defaults.
DEFAULT=--default-signal=HUP,INT,QUIT,ALRM,XCPU,TERM
cp "$TOP/examples/figure-10.yaml" g.yaml
cat >io.yaml <<'END'
fsched: 1
name: io
buffers:
  - {name: i, size: 5000, io: input}
  - {name: o, size: 5000, io: output}
ops:
  - {name: a, time: 3, args: [{in: i}, {out: o}]}
END
"$FSCHED" compile g.yaml -q --effort 0
"$FSCHED" compile io.yaml -q
"$FSCHED" dis g.fsb --format json -o g.json
"$FSCHED" compile g.yaml -q -o /dev/null --emit schedule=g.schedule
FROM=$PWD
# A process with a sanitizer takes its time to begin: then every 10th point is tried, by turns.
step=1 from=1
if nm "$FSCHED" 2>/dev/null | grep -qE '__[at]san_init'; then
  step=10
  from=$(($("$TOP/scripts/turn") % step + 1))
fi

# check WHAT: each file of ./now equals the one of that name in ./old or ./new, and has all files of
# ./old.
check() {
  for f in now/* now/.[!.]*; do
    [ -e "$f" ] || continue
    name=${f#now/}
    same "$f" "old/$name" || same "$f" "new/$name" || {
      fail "$1: left $name, $(wc -c <"$f") bytes"
      return 1
    }
  done
  for f in old/*; do
    [ ! -e "$f" ] || [ -e "now/${f#old/}" ] || {
      fail "$1: took away $f"
      return 1
    }
  done
}

# Runs the command line in $@ in ./now, which is made like ./old.
in_now() {
  rm -rf now
  cp -r old now
  (cd now && exec env $DEFAULT LD_PRELOAD="$SO" "$@" >/dev/null 2>../err </dev/null)
}

# Tries every point, or every step-th, before and after the call; $1 is the signal's number, $2 further variables.
every_point() {
  number=$1
  more=$2
  shift 2
  for after in '' POINTS_AFTER=1; do
    at=$from
    while :; do
      # shellcheck disable=SC2086 # words
      in_now POINTS_SIGNAL="$number" POINTS_AT=$at $after $more "$FSCHED" "$@" 2>/dev/null
      got=$?
      check "signal $number at $at $after $more: $*" || return
      [ $got -ne 0 ] || break
      [ $got -eq $((128 + number)) ] || {
        fail "signal $number at $at $after $more: status $got: $*"
        return
      }
      at=$((at + step))
      points=$((points + 1))
    done
    [ $at -gt 3 ] || fail "only $at points: $*"
    pass
  done
}

# all_points COMMAND... tries files that have no name at first, and the case that these do not exist
# (EOPNOTSUPP) or cannot be named (no /proc), for new files and over old ones.
points=0
prepare() {
  rm -rf old new
  mkdir old new
  (cd new && "$FSCHED" "$@" --no-sync >/dev/null 2>&1)
  expect "without signals: $*" [ -n "$(ls -A new)" ]
}
make_old() { for f in new/*; do printf 'the old %s' "${f#new/}" >"old/${f#new/}"; done; }
all_points() {
  prepare "$@"
  for more in '' POINTS_FAIL=tmpfile:95 POINTS_FAIL=link:2; do
    rm -rf old && mkdir old
    every_point 15 "$more" "$@"
    make_old
    every_point 15 "$more" "$@"
  done
}
points_over_old() {
  prepare "$@"
  make_old
  every_point 15 '' "$@"
  every_point 15 POINTS_FAIL=tmpfile:95 "$@"
}

all_points dis "$FROM/g.fsb" -o listing
for signal in 1 2 3 14 24; do # HUP, INT, QUIT, ALRM, XCPU
  every_point $signal POINTS_FAIL=tmpfile:95 dis "$FROM/g.fsb" -o listing
done
points_over_old compile "$FROM/g.yaml" -q --effort 0 -o p.fsb -MD --emit table=t --emit c=c
points_over_old run "$FROM/io.fsb" -q --on sim --trace t --save-profile p --output o=o.npy
points_over_old asm "$FROM/g.json" -o p.fsb
points_over_old compile "$FROM/g.yaml" -q --effort 0 -o p.fsb --dump-after all=dump
# Here are the other commands and kinds of results; lp and mps are written before the solver is run.
points_over_old compile "$FROM/g.yaml" -q --effort 0 -o p.fsb --emit schedule=schedule --emit stats=stats \
  --emit svg=svg --emit trace=trace
points_over_old compile "$FROM/g.yaml" -q --effort 0 -o p.fsb --emit lp=lp --emit mps=mps
printf 'strip 4 10\n2 3\n2 3\n' >"$FROM/strip"
points_over_old import strip "$FROM/strip" -o graph
"$FSCHED" import strip "$FROM/strip" -o "$FROM/i.yaml"
"$FSCHED" compile "$FROM/i.yaml" -q -o /dev/null --emit schedule="$FROM/i.schedule"
points_over_old export strip "$FROM/i.schedule" --graph "$FROM/i.yaml" -o solution
points_over_old explain "$FROM/g.fsb" -o why
# Many commands have fewer than 10 points: then the last turns find few.
expect "points were found" [ "$points" -gt $((step > 1 ? 20 : 400)) ]

# A process that ignores a signal (nohup) gets the result.
rm -rf old new && mkdir old new && cp g.fsb new/p.fsb
for at in 1 2 3 4; do
  (trap '' HUP && DEFAULT='' && in_now POINTS_SIGNAL=1 POINTS_AT=$at "$FSCHED" compile "$FROM/g.yaml" -q --effort 0 -o p.fsb)
  expect "an ignored signal at $at" [ $? -eq 0 ]
  expect "the result is there" same now/p.fsb g.fsb
done

# Content is on the disk before it has the name, and the name is before the command ends.
ordered() { # LOG: of every file that gets a name
  awk '$1 == "write" && $2 == "file" { dirty = 1 }
    $1 == "fsync" && $2 == "file" && $3 == 0 { dirty = 0; named = 0 }
    ($1 == "link" || $1 == "rename") && $3 == 0 { if (dirty) bad = 1; named = 1; n++ }
    END { exit bad || named || dirty || n == 0 }' "$1"
}
for more in A=1 POINTS_FAIL=tmpfile:95 POINTS_FAIL=link:2; do
  for file in new old; do
    rm -rf old log && mkdir old
    [ $file = new ] || echo before >old/p.fsb
    in_now POINTS_LOG="$PWD/log" $more "$FSCHED" compile "$FROM/g.yaml" -q --effort 0 -o p.fsb -MD --emit table=t
    expect "flushed before it is named: $more, $file" ordered log
    expect "three names" [ "$(grep -c -E '^(link|rename) (p\.fsb|p\.d|t) 0' log)" -eq 3 ]
    rm -f log
    in_now POINTS_LOG="$PWD/log" $more "$FSCHED" compile "$FROM/g.yaml" -q --effort 0 -o p.fsb --no-sync
    expect "--no-sync flushes nothing" [ "$(grep -c fsync log)" -eq 0 ]
  done
done
expect "the check of the order sees what is wrong" [ -n "$(printf 'write file 1\nlink x 0\nfsync file 0\n' >log && ordered log || echo wrong)" ]

# A step fails: the status is 5, with the reason, and only the old content is there.
for wrong in write:28 write:122 fsync:5 rename:16 tmpfile:28,open:28 tmpfile:95,write:28 tmpfile:95,fsync:5 \
  tmpfile:95,rename:16 link:2,open:13; do
  for file in new old; do
    case $file$wrong in newrename* | newtmpfile:95,rename*) [ "$wrong" != rename:16 ] || continue ;; esac
    rm -rf old new && mkdir old new
    [ $file = new ] || echo before >old/p.fsb
    in_now POINTS_FAIL=$wrong "$FSCHED" compile "$FROM/g.yaml" -q --effort 0 -o p.fsb
    expect "$wrong, $file: status 5" [ $? -eq 5 ]
    expect "$wrong: the file is named" holds err 'cannot write p.fsb: '
    check "$wrong"
  done
done
# SIGKILL leaves nothing behind while the content is written.
rm -rf old new && mkdir old new
for at in 1 2 3; do
  in_now POINTS_SIGNAL=9 POINTS_AT=$at "$FSCHED" compile "$FROM/g.yaml" -q --effort 0 -o p.fsb 2>/dev/null
  expect "killed at $at: nothing is there" [ -z "$(ls -A now)" ]
done

# Two commands at once leave one of the two contents.
rm -rf old new two && mkdir two
"$FSCHED" dis g.fsb -o a && "$FSCHED" dis io.fsb -o b
for i in 1 2 3 4 5 6 7 8 9 10; do
  "$FSCHED" dis g.fsb -o two/same &
  first=$!
  "$FSCHED" dis io.fsb -o two/same
  expect "the second ends well" [ $? -eq 0 ]
  wait $first
  expect "the first ends well" [ $? -eq 0 ]
  same two/same a || expect "one of the two ($i)" same two/same b
done
expect "nothing else" [ "$(ls -A two)" = same ]

:
