# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# The README's tour shows what the program really prints (times of replays aside); UPDATE=1 writes
# it anew.
ln -s "$TOP/examples" examples
mkdir bin && ln -s "$FSCHED" bin/fsched
PATH=$PWD/bin:$PATH
# shellcheck disable=SC2016 # backquotes of Markdown
tour() { sed -n '/^```console$/,/^```$/p' "$TOP/README.md" | sed '1d;$d'; }
tour | sed -n 's/^\$ //p' | while IFS= read -r command; do
  printf '$ %s\n' "$command"
  sh -c "$command" 2>&1 </dev/null
done >now
timeless() { sed 's/[0-9.]* ms/T ms/g' "$1"; }
tour >was
expect "the README has a tour" holds was '^\$ fsched run'
timeless was >was.text
timeless now >now.text
if [ -n "${UPDATE-}" ]; then
  awk -v new=now '
    /^```console$/ { print; while ((getline line < new) > 0) print line; skip = 1; next }
    /^```$/ { skip = 0 }
    !skip { print }' "$TOP/README.md" >readme
  same was.text now.text || cat readme >"$TOP/README.md"
  pass
else
  expect "the tour is what is printed now" same was.text now.text
  same was.text now.text || diff was.text now.text | head -n 20
fi
:
