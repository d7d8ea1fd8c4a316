# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Every output of every example (scripts/outputs) has the same bytes, whatever the machine's settings.
"$TOP/scripts/outputs" "$FSCHED" want >log 2>&1 || fail "outputs: $(tail -n 3 log)"
expect "there are outputs" [ "$(find want -type f | wc -l)" -ge 20 ]
# shellcheck disable=SC2013 # words
for kind in $(sed -n 's/^ *FS_EMIT(\([a-z_0-9]*\),.*/\1/p' "$TOP/cli/common/emit.def"); do
  expect "--emit $kind is there" [ -s "want/figure-10.$kind" ]
done
expect "none is empty" [ -z "$(find want -type f -empty)" ]

# again WHAT COMMAND...: the command, which starts scripts/outputs, must write the same into ./got.
again() {
  what=$1
  shift
  rm -rf got
  if "$@" >log 2>&1 && diff -rq want got >>log; then
    pass
  else
    fail "$what: $(tail -n 5 log)"
  fi
}
all() { "$TOP/scripts/outputs" "$FSCHED" got; }
all_with() { env "$@" "$TOP/scripts/outputs" "$FSCHED" got; }
all_under() { "$@" "$TOP/scripts/outputs" "$FSCHED" got; }

again "once more" all
# Several settings at once: where they do not matter, one run tells it of all.
with_umask() {
  (umask 077 && all_with -i PATH="$PATH" TERM=xterm COLUMNS=40 COLORTERM=1 TZ=Asia/Kathmandu \
    MALLOC_PERTURB_=165 ${ASAN_OPTIONS:+ASAN_OPTIONS="$ASAN_OPTIONS"})
}
again "no home, another time zone, environment and umask, memory that is not zero at first" with_umask
fixed=''
if command -v setarch >/dev/null && setarch "$(uname -m)" -R true 2>/dev/null; then
  fixed="setarch $(uname -m) -R"
else
  echo "skip: addresses cannot be fixed here (setarch -R)"
fi
if command -v taskset >/dev/null && taskset -c 0 true 2>/dev/null; then
  fixed="$fixed taskset -c 0"
else
  echo "skip: no taskset here"
fi
# shellcheck disable=SC2086 # words
[ -z "$fixed" ] || again "addresses that are not random, one processor" all_under $fixed

# Tables of names have a random key, another one in each of the runs before; here the key is given, or
# is made where the system has no generator.
if ${CC:-cc} -D_GNU_SOURCE -shared -fPIC -o points.so "$TOP/test/preload/points.c" -ldl 2>log; then
  options=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
  again "every key is 0" all_with LD_PRELOAD="$PWD/points.so" POINTS_RANDOM=0 ASAN_OPTIONS="$options"
  again "no random numbers" all_with LD_PRELOAD="$PWD/points.so" POINTS_FAIL=getrandom:38 \
    ASAN_OPTIONS="$options"
else
  fail "points.so: $(head -n 3 log)"
fi

# The file is elsewhere and has another name, but the content decides.
mkdir -p "else where" && cp "$TOP/examples/resnet50.yaml" "else where/other.yml"
# shellcheck disable=SC2013 # words
for kind in $(sed -n 's/^ *FS_EMIT(\([a-z_0-9]*\),.*/\1/p' "$TOP/cli/common/emit.def"); do
  case $kind in lp | mps) continue ;; esac # it is too large for a model
  (cd "else where" && "$FSCHED" compile other.yml -q -o here.fsb --emit "$kind=resnet50.$kind")
  expect "the name of a file is not in --emit $kind" same "else where/resnet50.$kind" \
    "want/resnet50.$kind"
done
expect "nor in the stream" same "else where/here.fsb" want/resnet50.fsb
"$FSCHED" compile - -q -o - <"$TOP/examples/resnet50.yaml" >here.fsb
expect "nor that it came through a pipe" same here.fsb want/resnet50.fsb

# In a locale with a decimal comma, also the program of a user of the library may run: FSCHED sets none
# itself, so $BUILD/test/locale/fsched does it before main.
mkdir locale
if command -v localedef >/dev/null &&
  localedef -i de_DE -f UTF-8 "$PWD/locale/de_DE.UTF-8" >log 2>&1; then
  again "in German" all_with LOCPATH="$PWD/locale" LC_ALL=de_DE.UTF-8
  run 99 env LC_ALL=C "$BUILD/test/locale/fsched" --version
  run 0 env LOCPATH="$PWD/locale" LC_ALL=de_DE.UTF-8 "$BUILD/test/locale/fsched" --version
  german_inside() {
    LOCPATH=$PWD/locale LC_ALL=de_DE.UTF-8 "$TOP/scripts/outputs" "$BUILD/test/locale/fsched" got
  }
  again "with the locale set in the process" german_inside
  # Files are read alike, too.
  run 0 env LOCPATH="$PWD/locale" LC_ALL=de_DE.UTF-8 "$BUILD/test/locale/fsched" \
    verify want/resnet50.schedule --graph "$TOP/examples/resnet50.yaml"
  "$FSCHED" asm want/resnet50.dis.json -o here.fsb
  LOCPATH=$PWD/locale LC_ALL=de_DE.UTF-8 "$BUILD/test/locale/fsched" asm want/resnet50.dis.json \
    -o there.fsb
  expect "text becomes the same stream" same here.fsb there.fsb
else
  echo "skip: no locale can be made here (localedef, charmaps)"
fi
:
