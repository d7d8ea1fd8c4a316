# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Pictures: the committed ones are what the program draws now (UPDATE=1 rewrites them), and other
# programs accept them.
for graph in "$TOP"/examples/figure-10.yaml "$TOP"/examples/resnet50.yaml "$TOP"/examples/*/graph.yaml; do
  case $graph in
    */graph.yaml) committed=${graph%/*}/picture.svg ;;
    *) committed=${graph%.yaml}.svg ;;
  esac
  name=${committed#"$TOP"/}
  run 0 "$FSCHED" compile "$graph" -q --unroll -o g.fsb --emit svg=now.svg
  [ -z "${UPDATE-}" ] || cp now.svg "$committed"
  expect "$name is what is drawn now (make pictures writes it)" same now.svg "$committed"
  expect "$name is below 300,000 bytes" [ "$(wc -c <now.svg)" -lt 300000 ]
  if command -v xmllint >/dev/null; then
    run 0 xmllint --noout --nonet now.svg
  fi
  if command -v rsvg-convert >/dev/null; then
    run 0 rsvg-convert -o now.png now.svg
    expect "$name has pixels" [ -s now.png ]
  fi
done
for committed in "$TOP"/examples/*/loop.svg; do
  name=${committed#"$TOP"/}
  run 0 "$FSCHED" compile "${committed%/*}/graph.yaml" -q -o g.fsb --emit svg=now.svg
  [ -z "${UPDATE-}" ] || cp now.svg "$committed"
  expect "$name is what is drawn now (make pictures writes it)" same now.svg "$committed"
  expect "$name is below 40,000 bytes" [ "$(wc -c <now.svg)" -lt 40000 ]
done
command -v xmllint >/dev/null || echo "skip: xmllint is not here"
command -v rsvg-convert >/dev/null || echo "skip: rsvg-convert is not here"

# Pictures run, load and link nothing.
expect "no scripts, references or handlers" \
  [ -z "$(grep -E '<script|href|<image|@import|url\([^#]| on[a-z]+=' "$TOP/examples/resnet50.svg")" ]

# The picture goes to standard output, and to a place where no file can be.
run 0 "$FSCHED" compile "$TOP/examples/figure-10.yaml" -q -o f.fsb --emit svg=-
expect "the same on standard output" same out "$TOP/examples/figure-10.svg"
run 5 "$FSCHED" compile "$TOP/examples/figure-10.yaml" -q -o not.fsb --emit svg=nowhere/f.svg
expect "a failed result writes no stream" [ ! -e not.fsb ]
:
