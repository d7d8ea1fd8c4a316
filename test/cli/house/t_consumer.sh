# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Users of the installed library: its headers in C and C++, examples/embed with make and CMake, and the
# CMake package wherever it is installed.

# shellcheck disable=SC1091 # no need to look
. "$TOP/test/cli/installed.sh" || return 0
run 0 install_to "$PWD/first" LIBDIR=/usr/lib/some-arch
run 0 install_to "$PWD/outside" LIBDIR="$PWD/outside-lib"
where=$PWD/opt/fsched
run 0 make --no-print-directory -s -C "$TOP" BUILD="$BUILD" PREFIX="$where" install
begin_consumers

# Every header is compiled alone, and in each order of two, and all are compiled together.
headers=$(cd "$usr/include" && ls fsched/*.h)
for h in $headers; do
  printf '#include "%s"\nint nothing;\n' "$h" >alone.c
  for std in c99 c11; do
    # shellcheck disable=SC2086 # a compiler may be several words
    run 0 $CC -std=$std -pedantic -Wall -Wextra -Werror -I"$usr/include" -fsyntax-only alone.c
  done
  echo "#include \"$h\"" >>all.c
  echo "#include \"$h\"" | cat - all.c >turned && mv turned all.c
done
echo 'int nothing;' >>all.c
# shellcheck disable=SC2086
run 0 $CC -std=c99 -pedantic -Wall -Wextra -Werror -I"$usr/include" -fsyntax-only all.c
n=0
for compiler in "${CXX:-c++}" g++ clang++; do
  have "${compiler%% *}" || continue
  n=$((n + 1))
  for h in $headers; do
    printf '#include "%s"\nint nothing;\n' "$h" >alone.cc
    # shellcheck disable=SC2086
    run 0 $compiler -std=c++11 -pedantic -Wall -Wextra -Werror -I"$usr/include" -fsyntax-only \
      alone.cc
  done
  cp all.c all.cc
  # shellcheck disable=SC2086
  run 0 $compiler -std=c++11 -pedantic -Wall -Wextra -Werror -I"$usr/include" -fsyntax-only all.cc
done
[ $n -gt 0 ] || echo "skip: no C++ compiler"

# examples/embed is built with make, shared and static.
says='blend: 7 ops, makespan 159, lower bound 142
verified
replayed: 17 commands, 7 ops and 4096 output bytes checked'
cp -r "$TOP/examples/embed" embed
run 0 make -C embed CFLAGS='-Wall -Wextra -Werror'
run 0 embed/embed
expect "embed" [ "$(cat out)" = "$says" ]
run 0 make -C embed
expect "embed is made once" holds out 'is up to date'
run 0 make -C embed clean
run 0 make -C embed STATIC=1
run 0 env -u LD_LIBRARY_PATH embed/embed
expect "embed, static" [ "$(cat out)" = "$says" ]

# The library is installed where the loader does not search, as the READMEs say; make prints what they
# show.
for example in embed build-step; do
  cp -r "$TOP/examples/$example" "at-$example"
  run 0 env -u LD_LIBRARY_PATH -u PKG_CONFIG_SYSROOT_DIR -u CC -u CXX -u FSCHED PKG_CONFIG_PATH="$where/lib/pkgconfig" \
    make --no-print-directory -s -C "at-$example" check
  run 0 env -u LD_LIBRARY_PATH -u PKG_CONFIG_SYSROOT_DIR -u CC -u CXX -u FSCHED PKG_CONFIG_PATH="$where/lib/pkgconfig" \
    make --no-print-directory -C "at-$example" -B check
  sed "s|$where|/opt/fsched|g; s/  */ /g; s/ $//" out >printed
  sed -n '/^\$ make check$/,/^```$/p' "$TOP/examples/$example/README.md" | sed '1d; $d' >shown
  expect "$example/README.md shows what make prints" same shown printed
  same shown printed || diff shown printed
done

if ! have cmake; then
  echo "skip: no cmake"
  return 0
fi
configure() { # source build options
  s=$1 b=$2
  shift 2
  cmake -S "$s" -B "$b" -DCMAKE_C_FLAGS='-Wall -Wextra -Werror' "$@"
}
for static in OFF ON; do
  run 0 configure embed b$static -DEMBED_STATIC=$static -DCMAKE_PREFIX_PATH="$usr"
  run 0 cmake --build b$static
  run 0 env -u LD_LIBRARY_PATH b$static/embed # CMake sets an rpath
  expect "embed, CMake, static $static" [ "$(cat out)" = "$says" ]
done

# The installation is elsewhere: libraries are in a directory per architecture, everything is moved, or
# is found by a link.
mkdir moved
mv first moved/here
ln -s usr/lib moved/here/lib
run 0 configure embed bmoved -Dfsched_DIR="$PWD/moved/here/lib/some-arch/cmake/fsched"
run 0 cmake --build bmoved
run 0 env -u LD_LIBRARY_PATH bmoved/embed
expect "the library of the place it was moved to" \
  grep -q "$PWD/moved/here/usr/lib/some-arch/libfsched.so" bmoved/CMakeFiles/embed.dir/link.txt \
  bmoved/build.ninja 2>/dev/null
# A directory that is not below the prefix is named as it is.
expect "libraries elsewhere" holds "$PWD/outside$PWD/outside-lib/cmake/fsched/fsched-config.cmake" \
  "_fsched_libdir \"$PWD/outside-lib\""
expect "and the prefix" holds "$PWD/outside$PWD/outside-lib/cmake/fsched/fsched-config.cmake" \
  'set(_fsched_prefix "/usr")'

# These ask for versions and components, and for a package without the program.
mkdir query
cat >query/CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.20)
project(query C)
foreach(wanted 0 0.1 0.1.0 0.1...0.9 0.0...<0.2)
  find_package(fsched ${wanted} QUIET)
  if(NOT fsched_FOUND)
    message(FATAL_ERROR "${wanted} should be found")
  endif()
endforeach()
foreach(wanted 0.0 0.0.9 0.1.1 0.2 1 1.0 0.2...0.3 0.0...<0.1)
  find_package(fsched ${wanted} QUIET)
  if(fsched_FOUND)
    message(FATAL_ERROR "${wanted} should not be found")
  endif()
endforeach()
find_package(fsched QUIET COMPONENTS fsched fsched_static compiler OPTIONAL_COMPONENTS other)
if(NOT fsched_FOUND OR NOT fsched_compiler_FOUND OR fsched_other_FOUND)
  message(FATAL_ERROR "components")
endif()
find_package(fsched QUIET COMPONENTS other)
if(fsched_FOUND)
  message(FATAL_ERROR "a component that is not there")
endif()
find_package(fsched REQUIRED)
C
run 0 configure query bquery -DCMAKE_PREFIX_PATH="$usr"
rm "$usr/bin/fsched"
echo 'fsched_add_program(net GRAPH net.yaml)' >>query/CMakeLists.txt
sed -i '/COMPONENTS/,/^endif/d' query/CMakeLists.txt
run 1 configure query bquery2 -DCMAKE_PREFIX_PATH="$usr"
expect "the library alone is a package, too" holds err 'the program fsched is not installed'
:
