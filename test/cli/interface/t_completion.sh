# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# The completions of bash, zsh and fish: they offer what the help says, and the shells themselves agree.
bash=$BUILD/completion/fsched.bash
zsh=$BUILD/completion/fsched.zsh
fish=$BUILD/completion/fsched.fish
commands=$("$FSCHED" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')

# Prints the option names of a command, one a line.
of_help() {
  "$FSCHED" help "$1" | sed -n 's/^  \(-\)/\1/p' | tr ' ' '\n' | sed -n 's/^\(-[^][,=]*\).*/\1/p' | sort
}
of_bash() {
  awk -v c="    $1)" '$0 == c { on = 1 } on && /^      options=/ { print; exit }' "$bash" |
    sed "s/.*options='//; s/'.*//" | tr ' ' '\n' | sort
}
of_zsh() { # the names before "[" of each line of _arguments
  awk -v c="    $1)" '$0 == c { on = 1; next } on && /^      ;;/ { exit } on' "$zsh" |
    sed -n "s/^        '1:.*//; s/^        \([^[]*\)\[.*/\1/p" | sed "s/^'([^)]*)'//" |
    tr "{},'*" '\n' | sed -n 's/^\(-[-A-Za-z]*[A-Za-z]\).*/\1/p' | sort
}
of_fish() {
  sed -n "s/^complete -c fsched -n '__fsched_is $1' //p" "$fish" | sed 's/ -d .*//' | awk '{
    for (i = 1; i < NF; i++) {
      if ($i == "-l") print "--" $(i + 1)
      if ($i == "-s" || $i == "-o") print "-" $(i + 1)
    }
  }' | sort
}
for c in $commands; do
  of_help "$c" >help
  expect "$c has options" [ -s help ]
  for shell in bash zsh fish; do
    "of_$shell" "$c" >offered
    expect "$shell offers the options of $c" same help offered
    same help offered || diff help offered
  done
done

mkdir -p work/dir
cd work || return 1
: >some.fsb
: >some.yaml
: >some.txt
printf 'fsched: 1\ntarget:\n  memories:\n    - name: cmx\n      capacity: 9\n    - {name: "ddr.2"}\n  queues: [{name: none}]\nops:\n  - {name: first}\n  - {name: second, after: [first]}\n' >mem.yaml
printf '{"fsched": 1, "target": {"memories": [{"name": "sram", "capacity": 9}, {"name": "dram"}], "queues": [{"name": "none"}]}, "ops": [{"name": "a"}]}' >flow.json
printf '# target\nmemories: [{name: far}]\n' >dir/it.target
printf 'fsched: 1\ntarget: dir/it.target # one\nops: [{name: memories}]\n' >apart.yml
"$FSCHED" compile mem.yaml -q -o ops.fsb
PATH=$(dirname "$FSCHED"):$PATH
export PATH
# Lines and what is offered at their end; directories are as a shell shows them, without "/".
cat >../cases <<'END'
fsched ver|verify
fsched help d|COMMANDS d
fsched compile --ev|--evict
fsched compile -M|HELP compile -M
fsched compile --time-r|--time-report
fsched compile --evict |farthest lru
fsched compile --evict=l|lru
fsched compile --barriers |auto
fsched compile --barriers=a|auto
fsched compile --barrier-method p|published
fsched compile --color=|always auto never
fsched compile --emit s|KINDS s
fsched compile --emit table=some.t|FILE some.txt
fsched compile --emit=table=some.t|FILE some.txt
fsched compile -o some.t|FILE some.txt
fsched compile some.|FILE some.yaml
fsched compile |apart.yml dir flow.json mem.yaml some.yaml
fsched compile some.yaml --seed |
fsched compile -q -- some.|FILE some.yaml
fsched run some|FILE some.fsb some.yaml
fsched verify some.fsb --graph so|FILE some.yaml
fsched compile -W unus|unused
fsched compile -Wunus|unused
fsched compile -Wno-unus|no-unused
fsched compile -Wno-error=unus|unused
fsched compile -Werror=unus|unused
fsched compile -W no-rac|no-race
fsched compile --dump-after cod|codegen
fsched compile --dump-after codegen=some.t|FILE some.txt
fsched run --with-plan=|fit
fsched run --with-plan some.f|FILE some.fsb
fsched import |jobshop memory patterson psplib strip
fsched import st|strip
fsched import strip some.t|FILE some.txt
fsched import -o some.t|FILE some.txt
fsched export memory some.t|FILE some.txt
fsched export memory some.txt --graph so|FILE some.yaml
fsched compile mem.yaml --memory |cmx ddr.2
fsched compile mem.yaml --memory c|cmx
fsched compile mem.yaml --memory=d|ddr.2
fsched compile flow.json --memory |dram sram
fsched compile apart.yml --memory |far
fsched verify ops.fsb --graph mem.yaml --memory |cmx ddr.2
fsched verify some.txt --proof some.t|FILE some.txt
fsched explain ops.fsb |first second
fsched explain ops.fsb s|second
fsched explain ops.fsb first sec|second
fsched explain op|FILE ops.fsb
fsched nothing --|
END
# KINDS s: the kinds of --emit that begin so; COMMANDS d: commands; HELP: options of a command.
wanted() {
  rest=${1#* }
  case $1 in
    KINDS*) sed 's/.*FS_EMIT(\([a-z_0-9]*\),.*/\1/p;d' "$TOP/cli/common/emit.def" | grep "^$rest" ;;
    COMMANDS*) echo "$commands" | grep "^$rest" ;;
    HELP*) of_help "${rest% *}" | grep -e "^${rest#* }" ;;
    FILE*) echo "$rest" ;;
    *) echo "$1" | tr ' ' '\n' ;;
  esac | sort -u | tr '\n' ' ' | sed 's/ $//'
}
check_shell() { # shell, with "LINE: WORD..." per case on standard input
  while IFS='|' read -r line want && IFS= read -r got <&3; do
    want=$(wanted "$want")
    # A "=" at the end of a word, one after a kind of --emit, and a "-W" before what is joined to it are
    # there or not, depending on the shell, so they are removed.
    got=$(echo "${got#"$line:"}" | sed 's/=\( \|$\)/\1/g; s/ -W/ /g; s/ no-error=/ /g; s/ error=/ /g; s/^ //; s/ $//')
    expect "$1: $line offers '$want', not '$got'" [ "$want" = "$got" ]
  done <../cases 3<"$2"
}

if command -v bash >/dev/null; then
  cat >../try.sh <<'END'
. "$1"
compopt() { :; }
while IFS='|' read -r line _; do
  # Words are split as readline splits them, at blanks, with "=" as a word.
  eval "COMP_WORDS=($(echo "${line// -- / '--' }" | sed 's/=/ = /g'))"
  [[ $line == *[\ =] ]] && COMP_WORDS+=('')
  [[ $line == *= ]] && unset 'COMP_WORDS[${#COMP_WORDS[@]}-1]'
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
  _fsched
  echo "$line: $(printf '%s\n' "${COMPREPLY[@]}" | sort -u | tr '\n' ' ')"
done
END
  bash ../try.sh "$bash" <../cases >../offered
  check_shell bash ../offered
  cat >../whole.sh <<'END'
. "$1"
compopt() { :; }
COMP_WORDBREAKS=' ' COMP_WORDS=(fsched compile --emit=table=some.t) COMP_CWORD=2
_fsched
echo "${COMPREPLY[*]}"
complete -p fsched
END
  bash ../whole.sh "$bash" >../offered
  expect "where = breaks no words the reply is the whole word" \
    holds ../offered '^--emit=table=some.txt$'
  expect "it is registered" holds ../offered '^complete -F _fsched fsched$'
else
  echo "skip: no bash"
fi

if command -v zsh >/dev/null; then
  run 0 zsh -f -n "$zsh"
fi
if command -v zsh >/dev/null && zsh -fc 'zmodload zsh/zpty' 2>/dev/null; then
  mkdir -p ../functions
  cp "$zsh" ../functions/_fsched
  sed 's/|.*//' ../cases | tr '\n' '\0' | xargs -0 timeout 120 zsh -f "$TOP/test/cli/complete.zsh" ../functions >../offered
  check_shell zsh ../offered
else
  echo "skip: no zsh with terminals"
fi

if command -v fish >/dev/null; then
  # shellcheck disable=SC2016 # the dollars are those of fish
  of_line='source $argv[1]; complete -C $argv[2]'
  export HOME="$PWD/../home" XDG_CONFIG_HOME="$PWD/../home" XDG_DATA_HOME="$PWD/../home"
  sed 's/|.*//' ../cases | while IFS= read -r line; do
    printf '%s: ' "$line"
    # This prints what is offered, without descriptions, without the part of the word that is already
    # there, and of files only those that begin with it.
    fish --no-config -c "$of_line" "$fish" "$line" 2>&1 </dev/null |
      sed 's/	.*//; s,/$,,; s/^--[a-z-]*=//; s/^[a-z]*=\(.\)/\1/' | sort -u | tr '\n' ' '
    echo
  done >../offered
  check_shell fish ../offered
  expect "fish shows what options do" [ -n \
    "$(fish --no-config -c "$of_line" "$fish" 'fsched compile --see' | grep '	.*random')" ]
  for words in 'compile -Wunus' 'compile -Wno-unus' 'compile --emit sv' 'compile --dump-after cod'; do
    fish --no-config -c "$of_line" "$fish" "fsched $words" 2>/dev/null </dev/null >offered
    expect "fish shows what the value of $words means" \
      [ -n "$(sed 's/.*	//' offered)" -a -z "$(grep -e 'Warn about' -e 'Also write' -e 'Show what' offered)" ]
  done
else
  echo "skip: no fish"
fi
cd ..
:
