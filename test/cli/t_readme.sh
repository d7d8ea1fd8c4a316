# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# The console blocks of the README and of the examples' READMEs show what the program really prints
# (times of replays and blanks at the ends of lines aside); UPDATE=1 writes them anew.  All are
# followed in a copy: the README in a directory that has the examples, the others where they are.
# What needs an installed fsched is shown by t_consumer.sh and t_build_step.sh.
mkdir bin && ln -s "$FSCHED" bin/fsched
PATH=$PWD/bin:$PATH

print_of() { sh -c "$1" 2>&1 </dev/null | sed 's/ *$//'; }

# The text with the output of each command replaced by what it prints now.
renew() {
  inside=
  while IFS= read -r line; do
    if [ "$line" = '```console' ]; then
      inside=1
    elif [ "$line" = '```' ]; then
      inside=
    elif [ -n "$inside" ]; then
      case $line in
        '$ '*) printf '%s\n' "$line" && print_of "${line#??}" ;;
      esac
      continue
    fi
    printf '%s\n' "$line"
  done <"$1"
}

timeless() { sed 's/[0-9.]* ms/T ms/g' "$1"; }

# follow README DIRECTORY
follow() {
  (cd "$2" && renew "$1") >now
  timeless "$1" >was.text
  timeless now >now.text
  if same was.text now.text; then
    pass
  elif [ -n "${UPDATE-}" ]; then
    cat now >"$1"
    pass
  else
    fail "the tour in ${1#"$TOP"/} is not what is printed now"
    diff was.text now.text | head -n 20
  fi
}

cp -R "$TOP/examples" .
expect "the README replays something" holds "$TOP/README.md" '^\$ fsched run'
follow "$TOP/README.md" .
for readme in "$TOP"/examples/*/README.md; do
  directory=${readme%/README.md}
  if [ -n "$(ls "$directory"/*.yaml 2>/dev/null)" ] && [ ! -f "$directory/Makefile" ]; then
    expect "$readme has a tour" holds "$readme" '^\$ fsched'
    follow "$readme" "examples/${directory##*/}"
  fi
done
:
