# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# The archive of `make dist` builds, works, and makes itself again; Debian's list of symbols is right.
if [ ! -f "$TOP/MANIFEST" ] && { [ ! -e "$TOP/.git" ] || ! command -v git >/dev/null; }; then
  echo "skip: neither a clone nor an unpacked archive"
else
  run 0 "$TOP/scripts/dist" --all "$PWD/fsched-0.tar.gz"
  tar -xzf fsched-0.tar.gz
  expect "all is in one directory" [ "$(ls)" = "err
fsched-0
fsched-0.tar.gz
out" ]
  (cd fsched-0 && find . -type f | sed 's|^\./||' | LC_ALL=C sort) >have
  expect "MANIFEST names what is there" same have fsched-0/MANIFEST
  expect "nothing that was built is there" [ -z "$(grep -E '^build|\.o$|\.fsb$' have)" ]
  (umask 077 && mkdir else && tar -xzf fsched-0.tar.gz --no-same-permissions -C else)
  run 0 env TZ=Asia/Kathmandu LC_ALL=C.UTF-8 else/fsched-0/scripts/dist "$PWD/again/fsched-0.tar.gz"
  expect "it makes itself again" same fsched-0.tar.gz again/fsched-0.tar.gz
  run 0 env SOURCE_DATE_EPOCH=1000000000 fsched-0/scripts/dist dated/fsched-0.tar.gz
  mv fsched-0/dated .
  expect "the date can be set" [ "$(tar -tvzf dated/fsched-0.tar.gz | grep -c ' 2001-09-09 ')" -gt 100 ]

  # The archive has everything that a build needs; one build is made, with the same compiler and without
  # optimisation.
  if grep -q -e __asan -e __tsan "$FSCHED"; then
    echo "skip: the archive is built without sanitizers only"
  else
    make_there() { env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS BUILD=build CFLAGS=-O0 make -s -C fsched-0 "$@"; }
    run 0 make_there -j"$(nproc 2>/dev/null || echo 1)"
    expect "it is the same version" [ "$(fsched-0/build/fsched --version)" = \
      "$("$FSCHED" --version)" ]
    g=examples/resnet50.yaml
    run 0 fsched-0/build/fsched compile fsched-0/$g -q -o here.fsb --verify
    "$FSCHED" compile "$TOP/$g" -q -o there.fsb
    expect "and compiles alike, without optimisation too" same here.fsb there.fsb
    run 0 make_there demo
  fi
fi

# Every example goes into a package, and every file that is named exists.
if [ -e /usr/share/dpkg/architecture.mk ] && [ -f "$TOP/debian/rules" ]; then
  # shellcheck disable=SC2016 # make expands it
  printf 'include debian/rules\nlist:\n\t@printf "%%s\\n" $(LIBRARY) $(PROGRAM)\n' |
    env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -C "$TOP" -f - list | LC_ALL=C sort >packaged
  for e in "$TOP"/examples/*/ "$TOP"/examples/*.yaml "$TOP"/examples/*.svg; do
    e=${e#"$TOP/"}
    expect "$e is in a package once" [ "$(grep -cxF "${e%/}" packaged)" -eq 1 ]
  done
  while read -r e; do
    expect "$e, of debian/rules, exists" [ -e "$TOP/$e" ]
  done <packaged
fi

# Debian's package of the library promises these symbols to the packages that use it.
symbols=$TOP/debian/libfsched0.symbols
if command -v nm >/dev/null && [ -f "$symbols" ]; then
  {
    echo 'libfsched.so.0 libfsched0 #MINVER#'
    echo '* Build-Depends-Package: libfsched-dev'
    echo ' FSCHED_0@FSCHED_0 0.1.0'
    nm -D --defined-only "$BUILD/libfsched.so" | sed 's/.* //; s/@.*//' | grep '^fsched_' |
      LC_ALL=C sort | while read -r s; do
      # A symbol keeps the version in which it was added; a new one has this version.
      grep "^ $s@" "$symbols" || echo " $s@FSCHED_0 $(sed -n \
        's/^#define FS_VERSION "\(.*\)"/\1/p' "$TOP/lib/base/version.c")"
    done
  } >have.symbols
  if [ -n "${UPDATE-}" ]; then cp have.symbols "$symbols"; fi
  expect "debian/libfsched0.symbols has all (make check UPDATE=1 adds them)" \
    same have.symbols "$symbols"
  diff "$symbols" have.symbols | head -n 20
fi
:
