# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# The same bytes, whatever the run, the locale, and the name of the file.
for g in figure-10 figure-10-serial resnet50; do
  run 0 "$FSCHED" compile "$TOP/examples/$g.yaml" -q -o 1.fsb --emit schedule=1.json \
    --emit table=1.txt --emit stats=1.stats
  for locale in C de_DE.UTF-8 tr_TR.UTF-8; do
    cp "$TOP/examples/$g.yaml" other.yaml
    run 0 env LC_ALL="$locale" "$FSCHED" compile other.yaml -q -o 2.fsb --emit schedule=2.json \
      --emit table=2.txt --emit stats=2.stats
    for f in fsb json txt stats; do
      expect "$g: same $f in $locale" same "1.$f" "2.$f"
    done
  done
done
:
