# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# examples/serve has programs in flight, chained by fences, with a pool and state.
run 0 "$BUILD/examples/serve/serve"
golden out serve.txt
expect "as its README shows" [ "$(sed -n '/^\$ .*serve$/,/^```/p' "$TOP/examples/serve/README.md" | sed '1d;$d')" = "$(cat out)" ]
