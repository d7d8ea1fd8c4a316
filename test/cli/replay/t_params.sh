# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# A kernel's own block of parameters goes from the graph to the kernel.
cat >k.c <<'END'
#include <fsched/kernel.h>
#include <string.h>
int put(const fsched_kernel_call *call) {
  if (call->n_params != call->args[0].length) return 7;
  memcpy(call->args[0].data, call->params, call->n_params);
  return 0;
}
int none(const fsched_kernel_call *call) {
  memset(call->args[0].data, call->params == 0 && call->n_params == 0 ? '!' : '?', call->args[0].length);
  return 0;
}
END
env -u CFLAGS -u LDFLAGS "${CC:-cc}" -w -shared -fPIC -I"$TOP/include" -o k.so k.c || fail "k.so"
graph() { # graph PARAMS
  cat <<EOF
fsched: 1
buffers: [{name: a, size: 5, io: output}, {name: b, size: 5, io: output}, {name: c, size: 3, io: output}, {name: d, size: 16, io: output}]
ops:
  - {name: a, args: [{out: a}], kernel: {module: k.so, function: put, params: 48656c6C6f}}
  - {name: b, args: [{out: b}], kernel: {module: k.so, function: put, params: "576f726c64"}}
  - {name: c, args: [{out: c}], kernel: {module: k.so, function: none}}
  - {name: d, args: [{out: d}], kernel: {builtin: mix$1}}
EOF
}
graph ', params: 00ff' >g.yaml
run 0 "$FSCHED" compile -q g.yaml --verify -o g.fsb
run 0 "$FSCHED" run g.fsb -q --modules . --check --output a=a --output b=b --output c=c --output d=d1
expect "each its own" [ "$(cat a b c)" = 'HelloWorld!!!' ]
run 0 "$FSCHED" run g.fsb -q --on sim --modules . --check
run 0 "$FSCHED" dis g.fsb --format json
cp out g.dis
expect "in lower case" holds g.dis '"function": "put", "params": "48656c6c6f"'
run 0 "$FSCHED" asm g.dis -o h.fsb
expect "the same program" cmp g.fsb h.fsb
sed 's/48656c6c6f/48656c6c6F/' g.dis >upper
run 1 "$FSCHED" asm upper -o h.fsb
expect "one form alone" holds err 'the parameters of kernel 0 are not bytes in hexadecimal digits'
sed 's/48656c6c6f/48656c6c70/' g.dis >other
run 0 "$FSCHED" asm other -o h.fsb
run 4 "$FSCHED" verify h.fsb -g g.yaml
expect "another block" holds err "not the graph's"

# What mix writes depends on it.
for params in '' ', params: 00fe' ', params: 00ff00' ', params: ""'; do
  graph "$params" >g2.yaml
  run 0 "$FSCHED" compile -q g2.yaml -o g2.fsb
  run 0 "$FSCHED" run g2.fsb -q --modules . --check --output d="d$(echo "$params" | cksum | cut -d' ' -f1)"
done
expect "four contents" [ "$(cksum d[0-9]* | cut -d' ' -f1 | sort -u | wc -l)" -eq 4 ]

zeros=$(printf '%02048d' 0)
graph ", params: '$zeros'" >long.yaml
run 0 "$FSCHED" compile -q long.yaml -o l.fsb
run 0 "$FSCHED" run l.fsb -q --modules . --check
for bad in "${zeros}00" 0 0g '[1, 2]' 0x00; do
  graph ", params: $bad" >bad.yaml
  run 1 "$FSCHED" compile -q bad.yaml -o bad.fsb
  expect "params: $bad" holds err "'params' must be up to 1024 bytes in hexadecimal digits"
done
