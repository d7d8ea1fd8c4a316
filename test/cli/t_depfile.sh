# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# -MD and -MF: what make and ninja need to know.
mkdir 'a b'
cp "$TOP/examples/figure-10.yaml" 'a b/g$#.yaml'
run 0 "$FSCHED" compile 'a b/g$#.yaml' -q -MD -o out.fsb
printf 'out.fsb: a\\ b/g$$\\#.yaml\n' >want
expect "names are escaped for make" same out.d want
sed '/^target:/,/^buffers:/{/^buffers:/!d;}' "$TOP/examples/figure-10.yaml" |
  sed 's/^buffers:/target: t.yaml\n&/' >split.yaml
sed -n '/^target:/,/^buffers:/{/^target:/d;/^buffers:/d;s/^  //;p;}' \
  "$TOP/examples/figure-10.yaml" >t.yaml
run 0 "$FSCHED" compile split.yaml -q -MF deps
expect "a target file is named" [ "$(cat deps)" = "split.fsb: split.yaml t.yaml" ]
run 0 "$FSCHED" compile "$TOP/examples/figure-10.yaml" -q -o whole.fsb
expect "a target file is as good as an inline one" same split.fsb whole.fsb
"$FSCHED" compile - -q -MF deps -o in.fsb <split.yaml
expect "standard input is no file" [ "$(cat deps)" = "in.fsb: t.yaml" ]
:
