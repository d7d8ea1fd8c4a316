# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Help and version texts go to standard output.
commands=$("$FSCHED" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
run 0 "$FSCHED" --help
golden out help.txt
expect "help says nothing else" empty err
cp out whole
run 0 "$FSCHED" help
expect "help and --help are equal" same out whole
run 0 "$FSCHED" -h
expect "help and -h are equal" same out whole
for c in $commands; do
  run 0 "$FSCHED" help "$c"
  golden out "help-$c.txt"
  cp out whole
  run 0 "$FSCHED" "$c" --help
  expect "$c --help is help $c" same out whole
  awk 'length($0) > 80' out >wide
  expect "help $c fits 80 columns" empty wide
  # Texts of options are paragraphs of indented lines, in sentences.
  awk '/^    / { if (!on) first = $1; last = $NF; on = 1; next }
    on { if (first !~ /^[A-Z]/ || last !~ /[.]$/) print first, last; on = 0 }
    END { if (on && (first !~ /^[A-Z]/ || last !~ /[.]$/)) print first, last }' out >unlike
  expect "in help $c sentences begin and end" empty unlike
  cat unlike
done
run 0 "$FSCHED" --version
expect "version names fsched" holds out '^fsched [0-9]*\.[0-9]*\.[0-9]*$'
expect "version names libyaml" holds out '^libyaml [0-9]'
expect "version names back ends" holds out '^back ends: .*cpu'
:
