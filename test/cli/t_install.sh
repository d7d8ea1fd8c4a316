# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# make install and uninstall, the library as a user meets it, and what it exports.
quiet_make() { make --no-print-directory -s -C "$TOP" BUILD="$BUILD" DESTDIR="$PWD/root" PREFIX=/usr "$@"; }
run 0 quiet_make install
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
  grep -v -e '^fsched_' -e '^fs_' symbols >others
  expect "the archive has no other names" empty others
fi
if command -v readelf >/dev/null; then
  readelf -d "$root/lib/libfsched.so" >dynamic
  expect "SONAME" holds dynamic 'SONAME.*\[libfsched\.so\.0\]'
  expect "libraries it needs" [ -z "$(sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' dynamic |
    grep -v -e '^libyaml-' -e '^libc\.' -e '^lib[a-z]*san\.' -e '^libpthread\.' -e '^ld-')" ]
fi
# A program of a user's; not against a library that needs a sanitizer's run time.
if ! grep -q -e __asan -e __tsan "$root/lib/libfsched.so"; then
  # shellcheck disable=SC2046,SC2086 # flags are words
  run 0 ${CC:-cc} -std=c11 -o user "$TOP/examples/embed/embed.c" \
    $(PKG_CONFIG_PATH=$root/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$PWD/root \
      pkg-config --cflags --libs fsched)
  run 0 env LD_LIBRARY_PATH="$root/lib" ./user
fi
run 0 quiet_make uninstall
expect "uninstall leaves no file" [ -z "$(find root -type f -o -type l)" ]
:
