# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# make install and uninstall, the library as a user sees it, and what it exports.
quiet_make() { make_here DESTDIR="$PWD/root" PREFIX=/usr "$@"; }
# Other tests run the program meanwhile, so it is not made anew: BUILD is a whole path here, where the
# make before may have had a relative one.
touch begun
run 0 quiet_make install
expect "a make finds all made" [ ! "$BUILD/fsched" -nt begun ]
root=$PWD/root/usr
expect "the program runs" [ "$("$root/bin/fsched" --version | head -n 1)" = \
  "$("$FSCHED" --version | head -n 1)" ]
for f in lib/libfsched.a lib/libfsched.so.0 include/fsched/graph.h share/man/man1/fsched.1 \
  share/man/man1/fsched-compile.1 share/man/man3/libfsched.3 share/man/man5/fsched-graph.5 \
  share/bash-completion/completions/fsched share/zsh/site-functions/_fsched \
  share/fish/vendor_completions.d/fsched.fish lib/pkgconfig/fsched.pc \
  lib/cmake/fsched/fsched-config.cmake lib/cmake/fsched/fsched-config-version.cmake \
  lib/cmake/fsched/fsched-add-program.cmake; do
  expect "$f is installed" [ -s "$root/$f" ]
done
pc() { PKG_CONFIG_PATH=$root/lib/pkgconfig pkg-config "$@" fsched; }
expect "the prefix is a variable" [ "$(pc --variable=prefix)" = /usr ]
expect "the other directories follow it" [ \
  "$(pc --define-variable=prefix=/opt/f --cflags --libs | sed 's/ *$//')" = \
  "-I/opt/f/include -L/opt/f/lib -lfsched" ]
if command -v nm >/dev/null; then
  nm -D --defined-only "$root/lib/libfsched.so" | sed 's/.* //; s/@.*//' >symbols
  expect "exports functions" holds symbols '^fsched_compile$'
  grep -v -e '^fsched_' -e '^FSCHED_0$' symbols >others
  expect "exports nothing else" empty others
  nm -D --undefined-only "$root/lib/libfsched.so" | sed 's/.* //; s/@.*//' >symbols
  grep -x 'ag[a-z]*\|gv[A-Z].*' symbols >others
  expect "does without cgraph" empty others
  nm -g --defined-only "$root/lib/libfsched.a" 2>/dev/null |
    sed -n 's/^[0-9a-f]* [A-Z] //p' >symbols
  expect "the archive has functions" holds symbols '^fsched_compile$'
  grep -v -e '^fsched_' -e '^fs_' -e '^__odr_asan' symbols >others # the last: of a sanitizer
  expect "the archive has no other names" empty others
fi
if command -v readelf >/dev/null; then
  readelf -d "$root/lib/libfsched.so" >dynamic
  expect "SONAME" holds dynamic 'SONAME.*\[libfsched\.so\.0\]'
  expect "libraries it needs" [ -z "$(sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' dynamic |
    grep -v -e '^libyaml-' -e '^libc\.' -e '^lib[a-z]*san\.' -e '^libpthread\.' -e '^ld-')" ]
fi
# This is a user's program; it is not built with a library that needs a sanitizer's run time.
if ! grep -q -e __asan -e __tsan "$root/lib/libfsched.so"; then
  # shellcheck disable=SC2046,SC2086 # flags are words
  run 0 ${CC:-cc} -std=c11 -o user "$TOP/examples/embed/embed.c" \
    $(PKG_CONFIG_PATH=$root/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$PWD/root \
      pkg-config --cflags --libs fsched)
  run 0 env LD_LIBRARY_PATH="$root/lib" ./user
fi
# Each function has a page, which is a link that "man" follows.
expect "a page for each function" [ "$(cat "$root"/share/man/man3/fsched_*.3 | sort -u)" = '.so man3/libfsched.3' ]
expect "of which there are many" [ "$(find "$root/share/man/man3" -name 'fsched_*.3' | wc -l)" -ge 70 ]
if command -v man >/dev/null && man --version 2>&1 | grep -q man-db; then
  run 0 env MANPATH="$root/share/man" MANWIDTH=80 man -P cat fsched_compile
  expect "man fsched_compile" holds out 'fsched_status.*fsched_compile.*fsched_context'
fi
run 0 quiet_make uninstall
expect "uninstall leaves no file" [ -z "$(find root -type f -o -type l)" ]

# A plain install after a build with flags installs what was built.  A compiler that only notes that it
# was called stands for the real one; nothing can be compiled with it.
cat >noting <<C
#!/bin/sh
echo "\$*" >>"$PWD/noted"
exec ${CC:-cc} "\$@"
C
chmod +x noting
mkdir tree
cp -R "$TOP/Makefile" "$TOP/include" "$TOP/scripts" "$TOP/cli" "$TOP/lib" "$TOP/codegen" "$TOP/draw" \
  "$TOP/exec" "$TOP/man" "$TOP/cmake" tree
plain_make() { env -u CC -u CFLAGS -u CPPFLAGS -u LDFLAGS make --no-print-directory -C tree BUILD=b "$@"; }
# One object, made as install makes it, is enough to show this.
calls() { grep -c 'lib/base/version\.c' noted; }
run 0 plain_make "CC=$PWD/noting" CFLAGS=-O0 "CPPFLAGS=-DA='\"\$\$#\"'" b/lib/base/version.o
expect "the compiler is called" [ "$(calls)" -eq 1 ]
run 0 plain_make MAKECMDGOALS=install b/lib/base/version.o
expect "a plain install makes it no second time" [ "$(calls)" -eq 1 ]
run 0 plain_make MAKECMDGOALS=install CFLAGS=-O1 b/lib/base/version.o
expect "what is given counts" [ "$(calls)" -eq 2 ]
expect "beside what is remembered" holds noted '-DA=.* -O1 .*lib/base/version\.c'
run 0 plain_make b/lib/base/version.o
expect "a plain make has its own compiler" [ "$(calls)" -eq 2 ]
expect "and calls it" holds out '  CC '
run 0 make --no-print-directory -C "$TOP" help
expect "make help" holds out '^make check  '
expect "and that alone" [ "$(grep -c '^#' out)" -eq 0 ]
:
