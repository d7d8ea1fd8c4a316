# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# scripts/deps on machines that lack something, played with a PATH of its own, and the completion.
run 0 "$TOP/scripts/deps"
expect "quiet when nothing is missing" empty err
expect "quiet when nothing is missing" empty out
mkdir bin
for tool in sh tr cat; do ln -s "$(command -v $tool)" "bin/$tool"; done
run 1 env PATH="$PWD/bin" sh "$TOP/scripts/deps"
for package in gcc libc6-dev make pkg-config libyaml-dev check; do
  expect "without apt-get it names $package" holds err "[ :]$package\\( \\|\$\\)"
done
# A machine with apt-get and sudo, whose lists of packages are empty at first.
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

if command -v bash >/dev/null; then
  "$TOP/scripts/gen-completion" "$FSCHED" >completion
  cat >try.sh <<'END'
. ./completion
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
compopt() { :; }
_fsched
echo "${COMPREPLY[*]}"
END
  run 0 bash try.sh fsched ver
  expect "completes commands" [ "$(cat out)" = "verify" ]
  run 0 bash try.sh fsched compile --ev
  expect "completes options" [ "$(cat out)" = "--evict" ]
  run 0 bash try.sh fsched compile --evict ""
  expect "completes choices" [ "$(cat out)" = "farthest lru" ]
  run 0 bash try.sh fsched help d
  expect "commands after help" [ "$(cat out)" = "dis" ]
  : >some.fsb
  run 0 bash try.sh fsched run som
  expect "completes files" [ "$(cat out)" = "some.fsb" ]
fi
:
