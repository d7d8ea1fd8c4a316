# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Exit status 2: the message says what is wrong with the command line, and names the most similar word
# that is right.
cp "$TOP/examples/figure-10.yaml" g.yaml
: >usage.txt
echo '{}' >s.json
bad() {
  run 2 "$FSCHED" "$@"
  expect "nothing on standard output: $*" empty out
  { echo "\$ fsched $*" && cat err; } >>usage.txt
}
bad
bad --compile g.yaml
bad complie g.yaml
bad compile
bad compile g.yaml h.yaml
bad compile g.yaml --evcit lru
bad compile g.yaml --evict=lur
bad --versoin
bad run --graph g.yaml prog.fsb
bad verify prog.fsb g.yaml
bad compile g.yaml --evict
bad compile g.yaml --seed 12x
bad compile g.yaml --seed -1
bad compile g.yaml --verify=yes
bad compile g.yaml --emit tabel=x
bad compile g.yaml --emit table
bad compile g.yaml --emit table=
bad compile g.yaml --memory cmx
bad compile g.yaml --memory cmz=10
bad compile g.yaml --memory cmx=ten
bad compile g.yaml --set concurency=2
bad compile g.yaml --set memories.cmx.align=3
bad compile g.yaml -x
bad compile g.yaml -vx
bad compile g.yaml -evict lru
bad compile g.yaml -o - --emit table=-
bad compile g.yaml --emit stats=a --emit table=a
bad compile g.yaml -MD -o -
bad run prog.fsb --on cup
bad run prog.fsb --repeat 0
bad run prog.fsb --timeout 0
bad run prog.fsb --timeout 1.2345
bad run prog.fsb --pace=0
bad run prog.fsb --trace -
bad verify - --graph -
bad verify s.json
bad verify prog.fsb --memory cmx=5
bad verify prog.fsb --set concurrency=2
bad verify s.json --proof p
bad verify s.json --graph - --proof -
bad run --pace 1000 prog.fsb
bad run prog.fsb --pace 1000
bad dis prog.fsb --format yaml
bad help me
golden usage.txt usage.txt
expect "nothing was written" [ "$(echo ./*)" = "./err ./g.yaml ./out ./s.json ./usage.txt" ]
run 2 "$FSCHED" compile g.yaml --diagnostics json --evict=lur
golden err usage.json
cp err first
for words in '--evict=lur --diagnostics json' '--diagnostics json --evict=lur' \
  '--evict=lur --diagnostics=json' '--diagnostics json --evict lur' '--evict lur --diagnostics json'; do
  # shellcheck disable=SC2086 # words
  run 2 "$FSCHED" compile g.yaml $words
  expect "JSON in any order: $words" same err first
done
for words in 'complie --diagnostics json' '--diagnostics json compile' \
  'compile --bogus --diagnostics json' 'compile --diagnostics json -z'; do
  # shellcheck disable=SC2086 # words
  run 2 "$FSCHED" $words
  expect "JSON whatever is wrong: $words" holds err '^{"severity": "error", "code": "usage"'
done
run 2 "$FSCHED" compile --bogus -- --diagnostics json
expect "an operand is no option" holds err '^fsched: error: '
run 2 "$FSCHED" compile g.yaml --color always --evict=lur
expect "colours when asked" holds err "$(printf '\033')"
run 0 "$FSCHED" compile -qo x.fsb -- g.yaml
expect "joined letters and --" [ -s x.fsb ]
:
