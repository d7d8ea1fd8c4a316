# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# scripts/deps runs as if on machines that lack something, with a PATH made by the test.
run 0 "$TOP/scripts/deps"
expect "quiet when nothing is missing" empty err
expect "quiet when nothing is missing" empty out
mkdir bin
for tool in sh tr cat awk; do ln -s "$(command -v $tool)" "bin/$tool"; done
run 1 env PATH="$PWD/bin" sh "$TOP/scripts/deps" --test
for package in gcc libc6-dev make pkg-config libyaml-dev check; do
  expect "without apt-get it names $package" holds err "[ :]$package\\( \\|\$\\)"
done
# This machine has apt-get and sudo, and its lists of packages are empty at first.
cat >bin/apt-get <<'END'
#!/bin/sh
echo "apt-get $*" >>"$APT_LOG"
case $1 in
  update) : >"$APT_LOG.updated" ;;
  install) [ -e "$APT_LOG.updated" ] ;;
esac
END
printf '#!/bin/sh\nexec "$@"\n' >bin/sudo
printf '#!/bin/sh\necho 1000\n' >bin/id
printf '#!/bin/sh\nshift\nexec "$@"\n' >bin/env
chmod +x bin/apt-get bin/sudo bin/id bin/env
run 1 env PATH="$PWD/bin" APT_LOG="$PWD/log" sh "$TOP/scripts/deps"
expect "install, update, install" [ "$(sed 's/ .*\(install\|update\).*/ \1/' log | tr '\n' ' ')" = \
  "apt-get install apt-get update apt-get install " ]
expect "all packages in one call" holds log 'install .*gcc .*make .*libyaml-dev'
expect "what is still missing is said" holds err 'still missing'
rm bin/sudo
run 1 env PATH="$PWD/bin" APT_LOG="$PWD/log" sh "$TOP/scripts/deps"
expect "neither root nor sudo" holds err sudo
run 2 "$TOP/scripts/deps" --everything

# Everything that is needed is there (a compiler that finds every header), but no tool that only single
# tests use; apt-get does not know the package of one of them.
for tool in cc make pkg-config true; do printf '#!/bin/sh\n' >bin/$tool; done
cat >bin/sudo <<'END'
#!/bin/sh
[ "$1" = -n ] && shift
[ -z "${PASSWORD-}" ] || exit 1
exec "$@"
END
cat >bin/apt-get <<'END'
#!/bin/sh
echo "apt-get $*" >>"$APT_LOG"
case " $* " in *" fish "*) exit 100 ;; esac
[ "$1" != install ] || echo "Setting up zsh (5.9-4) ..."
case " $* " in *" zsh "*) printf '#!/bin/sh\n' >"$BIN/zsh" && chmod +x "$BIN/zsh" ;; esac
END
printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v chmod)" >bin/chmod
chmod +x bin/*
deps() { env CC=cc PATH="$PWD/bin" BIN="$PWD/bin" APT_LOG="$PWD/log" "$@"; }
rm -f log
run 0 deps sh "$TOP/scripts/deps"
expect "the build wants none of them" empty err
run 0 deps PASSWORD=asked sh "$TOP/scripts/deps" --test
expect "they are not worth a password" [ ! -e log ]
expect "but it is said" holds err 'not built or tested.* zsh fish '
run 0 deps sh "$TOP/scripts/deps" --test
expect "first all in one call" holds log ' g++ .* zsh fish '
expect "then each" holds log ' fish$'
expect "a package that does not exist is no fault" holds err 'not built or tested.* fish '
expect "what apt-get does is said" holds err '^  set up zsh$'
expect "nor in the way of the others" [ "$(grep -c ' zsh ' err)" -eq 1 ]
expect "no second compiler" [ "$(grep -c clang log)" -eq 0 ]
run 0 deps sh "$TOP/scripts/deps" --ci
expect "a second compiler" holds err 'not built or tested.* clang '
:
