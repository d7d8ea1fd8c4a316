# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# For tests that build against an installation: an installation below ./root, and what is needed to
# build against it.  Returns 1 where the library needs a sanitizer's run time, which no user's program
# has.

install_to() { # a directory, and variables of make
  to=$1
  shift
  make_here DESTDIR="$to" PREFIX=/usr "$@" install
}
# From here on the flags and variables of the make that runs the tests are unset, as they are not meant
# for users' builds.
begin_consumers() {
  unset MAKEFLAGS MAKELEVEL MFLAGS CFLAGS CPPFLAGS LDFLAGS CMAKE_GENERATOR DESTDIR
  export PKG_CONFIG_PATH="$usr/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$PWD/root"
  export LD_LIBRARY_PATH="$usr/lib" CC="${CC:-cc}"
}
have() { command -v "$1" >/dev/null 2>&1; }

run 0 install_to "$PWD/root"
usr=$PWD/root/usr
! grep -q -e __asan -e __tsan "$usr/lib/libfsched.so"
