# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# make install and uninstall, the library as a user meets it, and what it exports.
quiet_make() { make --no-print-directory -s -C "$TOP" BUILD="$BUILD" DESTDIR="$PWD/root" PREFIX=/usr "$@"; }
run 0 quiet_make install
root=$PWD/root/usr
expect "the program runs" [ "$("$root/bin/fsched" --version | head -n 1)" = \
  "$("$FSCHED" --version | head -n 1)" ]
for f in lib/libfsched.a lib/libfsched.so.0 include/fsched/graph.h share/man/man1/fsched.1 \
  share/bash-completion/completions/fsched lib/pkgconfig/fsched.pc; do
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
fi
# A program of a user's; not against a library that needs a sanitizer's run time.
if ! grep -q -e __asan -e __tsan "$root/lib/libfsched.so"; then
  # shellcheck disable=SC2046,SC2086 # flags are words
  run 0 ${CC:-cc} -std=c11 -o user "$TOP/examples/library.c" \
    $(PKG_CONFIG_PATH=$root/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$PWD/root \
      pkg-config --cflags --libs fsched)
  run 0 env LD_LIBRARY_PATH="$root/lib" ./user
fi
run 0 quiet_make uninstall
expect "uninstall leaves no file" [ -z "$(find root -type f -o -type l)" ]
:
