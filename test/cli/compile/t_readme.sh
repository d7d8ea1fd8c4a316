# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# The console blocks of the README and of the examples' READMEs show what the program really prints
# (except for times of replays and blanks at the ends of lines); UPDATE=1 writes them anew.  All are
# followed in a copy: the README in a directory that has the examples, the others where they are.
# t_consumer.sh and t_build_step.sh test what needs an installed fsched, t_gemm.sh what needs kernels.
mkdir bin && ln -s "$FSCHED" bin/fsched
PATH=$PWD/bin:$PATH

# shellcheck disable=SC1091 # no need to look
. "$TOP/test/cli/readme.sh"

cp -R "$TOP/examples" .
expect "the README replays something" holds "$TOP/README.md" '^\$ fsched run'
follow "$TOP/README.md" .
for readme in "$TOP"/examples/*/README.md; do
  directory=${readme%/README.md}
  if [ -n "$(ls "$directory"/*.yaml 2>/dev/null)" ] && [ ! -f "$directory/Makefile" ]; then
    expect "$readme has a tour" holds "$readme" '^\$ fsched'
    follow "$readme" "examples/${directory##*/}"
  fi
done
:
