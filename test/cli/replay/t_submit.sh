# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# examples/submit captures a model, and is built as a user builds it, from what is installed.
run 0 "$BUILD/examples/submit/submit"
golden out submit.txt
expect "as its README shows" [ "$(sed -n '/^\$ .*submit$/,/^```/p' "$TOP/examples/submit/README.md" | sed '1d;$d')" = "$(cat out)" ]
cp out shown

# shellcheck disable=SC1091 # no need to look
. "$TOP/test/cli/installed.sh" || return 0
begin_consumers
# shellcheck disable=SC2046,SC2086 # several words
run 0 $CC -std=c99 -Wall -Wextra -Werror -o submit "$TOP/examples/submit/submit.c" $(pkg-config --cflags --libs fsched)
run 0 ./submit
expect "installed, it does the same" same out shown
:
