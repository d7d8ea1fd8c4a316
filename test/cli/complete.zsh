# SPDX-License-Identifier: Apache-2.0
# complete.zsh DIRECTORY LINE...: what zsh offers at the end of each line, with the functions of
# DIRECTORY: a line "LINE: WORD WORD...", sorted.  The line is typed into a shell on a terminal of
# its own, whose compadd prints what it is given.  Typing waits for the prompt: before that the
# terminal would take the keys for itself.
emulate -R zsh
zmodload zsh/zpty || exit 77
export TERM=dumb ZDOTDIR=$1
cat >$ZDOTDIR/.zshrc <<END
PROMPT=READY
fpath=(${(q)1:A} \$fpath)
autoload -Uz compinit
compinit -u -D
setopt no_auto_list no_auto_menu no_beep no_list_beep no_prompt_cr no_prompt_sp
bindkey -e
compadd() {
  local -a hits
  if [[ "\${(j: :)@[1,(i)(-|--)]}" != *-(O|A|D)' '* ]]; then
    builtin compadd -A hits "\$@"
    ((\$#hits)) && print -rl -- "HIT:"\$^hits:END
  fi
  builtin compadd "\$@"
}
END
shift
zpty shell zsh -i
zpty -r -m shell seen '*READY*' || exit 1
for line; do
  zpty -w -n shell "$line"$'\t\C-e\C-u'"print DO''NE"$'\n'
  seen=
  zpty -r -m shell seen '*DONE*READY*' || exit 1
  hits=()
  for part in ${(s:HIT:)seen}; do
    [[ $part == :*:END* ]] && hits+=(${${part#:}%%:END*})
  done
  hits=("${(@ou)hits}")
  print -r -- "$line: $hits"
done
zpty -d shell
