# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# For tests that follow a README: the commands of its console blocks are run, and their output is
# compared with the README's.

print_of() { sh -c "$1" 2>&1 </dev/null | sed 's/ *$//'; }

# Prints the text with the output of each command replaced by its present output.
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

# follow README DIRECTORY runs the commands there; UPDATE=1 writes the README anew.
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
