# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# man/fsched.1 has, word for word, what `fsched help COMMAND` prints, and nothing more.
# The page's OPTIONS have one .SS per command, one .TP per option: the tag line, then the text.
page=$TOP/man/fsched.1
plain() { sed -e 's/\\f[BIRP]//g' -e 's/\\-/-/g' -e 's/\\e/\\/g' -e 's/\\(aq/'"'"'/g' "$1"; }
options_of() { # command: "tag: text" lines out of the page
  plain "$page" | awk -v want="$1" '
    function flush() { if (tag != "") print tag ": " text; tag = ""; text = "" }
    /^\.SH/ { flush(); options = ($2 == "OPTIONS"); on = 0; next }
    options && /^\.SS/ { flush(); on = ($2 == want); next }
    !on { next }
    /^\.TP/ { flush(); next_is_tag = 1; next }
    /^\./ { sub(/^\.[A-Z]+ /, "") }
    next_is_tag { tag = $0; next_is_tag = 0; next }
    tag != "" { text = text (text == "" ? "" : " ") $0 }
    END { flush() }' | sort
}
help_of() { # the same out of the help
  "$FSCHED" help "$1" | awk '
    function flush() { if (tag != "") print tag ": " text; tag = ""; text = "" }
    /^  -/ { flush(); tag = substr($0, 3); next }
    /^    / { sub(/^ +/, ""); text = text (text == "" ? "" : " ") $0 }
    END { flush() }' | sort
}
for word in 'w slot' units tainted gang0 device_group mix copy nop; do
  expect "the page explains $word" holds "$page" "$word"
done
for c in compile run verify dis asm help; do
  help_of "$c" >help
  options_of "$c" >page
  expect "$c has options" [ -s help ]
  expect "the page has all options of $c, as the help says them" same help page
  same help page || diff help page
  expect "the page names $c" holds "$page" "\\.SS $c\$"
done
:
