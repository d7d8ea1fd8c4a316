# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# The pages of the manual: OPTIONS are what `fsched help` prints, tables and names are those of the
# headers, examples are true, and nothing is wider than a terminal.
#
# In a page, comments before .EX say what the lines up to .EE are for:
#   FILE name      they are a file
#   RUN [n|tool]   commands are behind "$ " (further lines of one behind "> "), between them is what
#                  they print; the status of the last one is n; skipped where there is no tool
# and CHECK command is one that is not shown.  All run in order, in a directory with examples/.
pages=$BUILD/man
[ -d "$pages" ] || { fail "the pages have not been built" && return; }
commands=$("$FSCHED" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')

plain() {
  sed -e 's/\\f[BIRP]//g' -e 's/\\-/-/g' -e 's/\\(aq/'"'"'/g' -e 's/\\(dq/"/g' -e 's/\\(ha/^/g' \
    -e 's/\\(ti/~/g' -e 's/\\[|&]//g' -e 's/\\%//g' -e 's/\\e/\\/g' "$1"
}
# Prints "tag: text" lines; a list within an option is part of its text.
options_of_page() {
  plain "$1" | awk '
    function flush() { if (tag != "") print tag ": " text; tag = ""; text = "" }
    /^\.SH/ { flush(); on = ($2 == "OPTIONS"); next }
    !on { next }
    /^\.RS/ { depth++; next }
    /^\.RE/ { depth--; next }
    /^\.TP/ { if (depth == 0) { flush(); tag_next = 1 } next }
    tag_next { tag = $0; tag_next = 0; next }
    tag != "" { text = text (text == "" ? "" : " ") $0 }
    END { flush() }' | sort
}
options_of_help() {
  "$FSCHED" help "$1" | awk '
    function flush() { if (tag != "") print tag ": " text; tag = ""; text = "" }
    /^  -/ { flush(); tag = substr($0, 3); next }
    /^    / { gsub(/ +/, " "); sub(/^ /, ""); text = text (text == "" ? "" : " ") $0 }
    END { flush() }' | sort
}
for c in $commands; do
  page=$pages/fsched-$c.1
  expect "$c has a page" [ -s "$page" ]
  options_of_help "$c" >help
  options_of_page "$page" >from_page
  expect "$c has options" [ -s help ]
  expect "OPTIONS of fsched-$c(1) are what the help says" same help from_page
  same help from_page || diff help from_page
  expect "fsched(1) names fsched-$c(1)" holds "$pages/fsched.1" "fsched.-$c (1)"
done
options_of_page "$pages/fsched.1" | grep -v '^--version: ' >from_page
options_of_help run | grep -F -e --color -e --quiet -e --diagnostics >common
expect "fsched(1) has the common options" [ "$(grep -cxFf common from_page)" -eq 3 ]

for page in "$pages"/*.[1357]; do
  name=$(basename "$page")
  for part in NAME SYNOPSIS DESCRIPTION EXAMPLES '"SEE ALSO"'; do
    expect "$name has $part" holds "$page" "^\\.SH $part\$"
  done
  case $name in
    *.1)
      expect "$name has OPTIONS" holds "$page" '^\.SH OPTIONS$'
      expect "$name has EXIT STATUS" holds "$page" '^\.SH "EXIT STATUS"$'
      ;;
  esac
  expect "$name has no marker left" [ -z "$(grep -e '^\.." @' -e '@[A-Z]*@' "$page")" ]
  expect "$name has date and version" grep -q \
    "^\\.TH [A-Z-]* [1357] 20[0-9-]* \"fsched $("$FSCHED" --version | sed -n '1s/fsched //p')\"" "$page"
  # Every page to which it refers exists.
  sed -n 's/.*\\f[BI]\(fsched[a-z\\-]*\)\\fP(\([1357]\)).*/\1 \2/p
    s/^\.BR \(l*i*b*fsched[a-z\\-]*\) (\([1357]\)).*/\1 \2/p' "$page" | sed 's/\\//g' | sort -u >refs
  while read -r ref section; do
    expect "$name: $ref($section) is a page" [ -s "$pages/$ref.$section" ]
  done <refs
done
# The program that makes pages knows its markers.
gen=$BUILD/cli/gen/gen
for marker in 'OPTIONS nothing' 'API nothing.h' 'OPTION run' 'STATUS 7' 'SYNOPSIS' 'STATUS x'; do
  printf '.TH X 1\n.\\" @%s@\n' "$marker" >bad.1
  run 1 "$gen" page bad.1 2026-01-01
  expect "it names the line" holds err '^bad.1:2: no such marker: .*@$'
done
run 1 "$gen" page nothing.1 2026-01-01
run 1 "$gen"
for word in 'w slot' units tainted gang0 device_group; do
  expect "fsched-dis(1) explains $word" holds "$pages/fsched-dis.1" "$word"
done
for word in mix copy nop; do
  expect "fsched-run(1) explains $word" holds "$pages/fsched-run.1" "$word"
done

# libfsched(3) names all functions of the headers, and no others.
cat "$TOP"/include/fsched/*.h | tr '\n' ' ' | sed 's/FSCHED_API/\n&/g' |
  sed -n 's/^FSCHED_API[^(]*[ *]\(fsched_[a-z0-9_]*\)(.*/\1/p' | sort -u >declared
plain "$pages/libfsched.3" | grep -o 'fsched_[a-z0-9_]* ()' | sed 's/ ()//' | sort -u >named
expect "libfsched(3) names the functions of the headers" same declared named
same declared named || diff declared named

# Each function has a page, which is a link to that one.
while read -r function; do
  expect "$function(3) is libfsched(3)" holds "$pages/links/$function.3" '^\.so man3/libfsched\.3$'
done <declared
expect "no other links" [ "$(find "$pages/links" -type f | wc -l)" -eq "$(grep -c . declared)" ]
# Its reference contains all code of the headers, and all words of their members' comments.
bare() { tr '\n' ' ' | sed 's,/\*,\n&,g; s,\*/,&\n,g' | sed '/^\/\*/d' | tr -d ' \n' | sed 's/[;{},]/&\n/g'; }
for h in fsched graph submit dynamic compile program verify replay exec kernel calibrate profile import frontier; do
  sed '1,/^extern "C" {/d' "$TOP/include/fsched/$h.h" | awk '
    /^#endif/ && !on { on = 1; next } /^#ifdef __cplusplus/ { exit } /^#if/ { skip = 1 }
    on && !skip; /^#endif/ { skip = 0 }' |
    sed 's/FSCHED_API//; s/FSCHED_MUST_USE//' | bare >code
  plain "$pages/libfsched.3" | awk -v h="$h.h" '
    /^\.S[SH]/ { on = $1 == ".SS" && $2 == h } !on { next }
    /^\.EX/ { code = 1; next } /^\.EE/ { code = 0 } code' | bare >shown
  expect "$h.h has code" [ "$(grep -c . code)" -ge 5 ]
  expect "libfsched(3) shows all of $h.h" same code shown
  same code shown || diff code shown
done
expect "with the remarks on members" holds "$pages/libfsched.3" 'uint64_t capacity; /\* .*FSCHED_UNBOUNDED'

# The tables of fsched-stream(5) are the records of lib/model/stream/stream.h.
awk '
  BEGIN { print "#include \"model/stream/stream.h\""; split("1 2 4 8 8", bytes); split("u8 u16 u32 u64 i64", types) }
  BEGIN { for (i in types) size[types[i]] = bytes[i] }
  /^\.\\" RECORD/ { record = $3; printf "_Static_assert(sizeof(%s) == %d, \"size\");\n", $3, $4 }
  /^\.EE/ { record = "" }
  record != "" && $1 ~ /^[0-9]+$/ && $2 ~ /^[ui][0-9]/ {
    n = 1; type = $2
    if (split($2, part, "*") == 2) { type = part[1]; n = part[2] }
    printf "_Static_assert(offsetof(%s, %s) == %d && sizeof(((%s *)0)->%s) == %d, \"%s\");\n",
      record, $3, $1, record, $3, n * size[type], $3
  }' "$pages/fsched-stream.5" >layout.c
expect "fsched-stream(5) has tables" [ "$(grep -c offsetof layout.c)" -gt 90 ]
# shellcheck disable=SC2086 # CC may be several words
run 0 ${CC:-cc} -std=c11 -D_GNU_SOURCE -fsyntax-only -I"$TOP/lib" -I"$TOP/include" layout.c
sed -n 's/^  X(\([a-z_]*\), .*/\1/p' "$TOP/lib/model/stream/stream.h" >sections
grep '^\.SS' "$pages/fsched-stream.5" | grep -o '[0-9][0-9]*\. [a-z_]*' | sed 's/.*\. //' >named
expect "fsched-stream(5) has the sections in order" same sections named

# The keys of graph files and of the JSON forms are in their pages.
# row_words TABLE: the words of a table in lib/model/kinds.h.
row_words() {
  sed -n "/^#define $1(X)/,/[^\\\\]\$/s/^  X([A-Z_]*, \"\([a-z_]*\)\".*/\1/p" "$TOP/lib/model/kinds.h"
}
{
  grep -h -o '{"[a-z_]*", \(false\|true\)}' "$TOP"/lib/front/graph_file/*.c | sed 's/{"//; s/".*//'
  row_words FS_TAGS
} | sort -u >keys
expect "graph files have keys" [ "$(grep -c . keys)" -gt 50 ]
while read -r key; do
  expect "fsched-graph(5) explains $key" grep -qw -e "$key" "$pages/fsched-graph.5"
done <keys
"$FSCHED" compile "$TOP/examples/figure-10.yaml" -q -o f.fsb --emit schedule=schedule.json
"$FSCHED" dis f.fsb --format json >stream.json
cp "$TOP/test/golden/figure-10.profile.json" profile.json
for form in stream schedule profile; do
  grep -o '"[a-z_]*":' "$form.json" | tr -d '":' | sort -u >keys
  while read -r key; do
    case $key in cmx | ddr | dma | dpu) continue ;; esac
    expect "fsched-$form(5) explains $key" grep -qw -e "$key" "$pages/fsched-$form.5"
  done <keys
done

# Examples.
installed=$PWD/root/usr
run 0 make_here DESTDIR="$PWD/root" PREFIX=/usr install
export PATH="$installed/bin:$PATH" PKG_CONFIG_PATH="$installed/lib/pkgconfig" \
  PKG_CONFIG_SYSROOT_DIR="$PWD/root" LD_LIBRARY_PATH="$installed/lib"
# A user's call of the compiler cannot use a library that needs a sanitizer's run time.
plain_library=yes
grep -q -e __asan -e __tsan "$installed/lib/libfsched.so" && plain_library=

runs() { # page: a line "# RUN ..." or "# FILE ..." or "# CHECK ...", then the text
  plain "$1" | awk '
    /^\.\\?"/ { if ($2 == "RUN" || $2 == "FILE" || $2 == "CHECK") { sub(/^\.\\?" /, "# "); print; wanted = 1 } next }
    /^\.EX/ { on = wanted; next }
    /^\.EE/ { on = 0; wanted = 0; next }
    on'
}
do_check() {
  sh -c "$1" >../out 2>&1 </dev/null
  expect "$name: $1" [ $? -eq 0 ]
}
joined() { sed -e :a -e '$!N; s/,\n    \([a-z]\)/, \1/; ta' -e 'P; D'; }
without_end() { sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' "$1"; } # empty lines at the end
# Writes what the block shows, with what its commands print now.  The test's own files are one directory
# up.
do_run() { # "n or tool"; the block is in ../block
  want=0 tool=
  case $1 in
    [0-9]) want=$1 ;;
    *) tool=$1 ;;
  esac
  if [ -n "$tool" ] && { ! command -v "$tool" >/dev/null || { [ "$tool" = pkg-config ] && [ -z "$plain_library" ]; }; }; then
    echo "skip: $name: no $tool"
    return
  fi
  status=0
  : >../now
  # Finds each command and its further lines, and prints it again before its output.
  sed -n '/^[$>] /p' ../block | awk '/^\$ / && NR > 1 { print "" } { print }' >../commands
  awk 'BEGIN { RS = ""; n = 0 } { f = "../cmd" ++n; print > f; close(f) } END { print n }' ../commands >../count
  n=1
  while [ "$n" -le "$(cat ../count)" ]; do
    cat "../cmd$n" >>../now
    sed 's/^[$>] //' "../cmd$n" >../cmd
    sh ../cmd >>../now 2>&1 </dev/null
    status=$?
    [ "$n" -eq "$(cat ../count)" ] || [ "$status" -eq 0 ] || fail "$name: status $status: $(cat ../cmd)"
    n=$((n + 1))
  done
  expect "$name: status $status, not $want: $(cat ../cmd)" [ "$status" -eq "$want" ]
  # A block that shows no output promises nothing about it.
  if grep -qv '^[$>] ' ../block; then
    # A line too wide for a page is continued in the next one, indented by four.
    without_end ../block | joined >../shown
    without_end ../now | joined >../printed
    expect "$name: the example shows what is printed" same ../shown ../printed
    same ../shown ../printed || diff ../shown ../printed
  fi
}
flush() {
  [ -n "$kind" ] || return
  case $kind in
    FILE) cp ../block "$what" ;;
    RUN) do_run "${what:-0}" ;;
  esac
  kind=
}
for page in "$pages"/*.[1357]; do
  name=$(basename "$page")
  mkdir -p "run-$name"
  runs "$page" >all
  cd "run-$name" || return
  ln -s "$TOP/examples" examples
  kind=
  : >../block
  while IFS= read -r line; do
    case $line in
      '# RUN'* | '# FILE'* | '# CHECK'*)
        flush
        kind=${line#\# } kind=${kind%% *}
        what=${line#"# $kind"} what=${what# }
        : >../block
        if [ "$kind" = CHECK ]; then
          do_check "$what"
          kind=
        fi
        ;;
      *) printf '%s\n' "$line" >>../block ;;
    esac
  done <../all
  flush
  cd ..
  expect "$name has an example that is run" [ -s all ]
done

# This is the text as a terminal shows it.
if command -v groff >/dev/null; then
  for page in "$pages"/*.[1357]; do
    name=$(basename "$page")
    groff -man -ww -Tascii -rLL=80n -P-cbuo "$page" >text 2>warnings
    expect "$name has no warnings" empty warnings
    cat warnings
    awk -v p="$name" 'length($0) > 80 { print p ": " $0 }' text >wide
    expect "$name fits 80 columns" empty wide
    cat wide
  done
fi
:
