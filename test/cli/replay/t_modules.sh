# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Modules are code that a stream names: this tests which of them a run opens.

cat >k.c <<'END'
#include <fsched/kernel.h>
#include <stdio.h>
__attribute__((constructor)) static void opened(void) {
  FILE *f = fopen("opened", "w");
  if (f != 0) (void)fclose(f);
}
int f(const fsched_kernel_call *call) { (void)call; return 0; }
END
mkdir inside inside/below outside
env -u CFLAGS -u LDFLAGS "${CC:-cc}" -w -shared -fPIC -I"$TOP/include" -o inside/k.so k.c || fail "k.so"
cp inside/k.so inside/below/k.so
cp inside/k.so outside/k.so
ln -s k.so inside/within.so
ln -s ../outside/k.so inside/out.so
ln -s ../outside inside/link
ln -s "$PWD/outside/k.so" inside/absolute.so
mkfifo inside/fifo.so
mkdir inside/dir.so
ln -s inside known

# stream NAME MODULE makes a stream.
stream() {
  printf '%s\n' 'fsched: 1' 'ops:' \
    "  - {name: a, args: [{out: o, size: 8}], kernel: {module: '$2', function: f}}" >"$1.yaml"
  run 0 "$FSCHED" compile "$1.yaml" -q -o "$1.fsb"
}
# refused WHY OPTION... checks for status 6, before any code of the module has run.
refused() {
  why=$1
  shift
  run 6 "$FSCHED" run m.fsb "$@"
  expect "$module with $*: $why" holds err "op 'a': module '$module' is not opened: $why"
  expect "$module was opened with $*" [ ! -e opened ]
}
opens() {
  run 0 "$FSCHED" run m.fsb -q "$@"
  expect "$module was not opened with $*" [ -e opened ]
  rm -f opened
}

for module in k k.so ./k within below/k below//k; do
  stream m "$module"
  refused 'modules are code, and none is allowed'
  opens --modules inside
  opens --modules inside/
  opens --modules known
  opens --modules "$PWD/inside"
  opens --modules inside --trust-modules
  opens --modules inside --on sim
  run 0 "$FSCHED" run m.fsb -q --on sim --check
  expect "a simulation has opened $module" [ ! -e opened ]
done
for module in out link/k absolute link/../outside/k.so; do
  stream m "$module"
  case $module in *..*) why='it lies outside' ;; *) why='a link leads out' ;; esac
  refused "$why of the modules' directory" --modules inside
  [ "$module" = link/../outside/k.so ] || opens --modules inside --trust-modules
done
for module in ../outside/k ../inside/k below/../k .. "$PWD/inside/k.so" /inside/k.so //k; do
  stream m "$module"
  refused "it lies outside of the modules' directory" --modules inside
  refused "it lies outside of the modules' directory" --modules inside --on sim
done
for module in fifo dir; do
  stream m "$module"
  refused 'it is no regular file' --modules inside
done
stream m "$PWD/inside/k.so"
module=$PWD/inside/k.so
opens --trust-modules
stream m k
module=k
run 6 "$FSCHED" run m.fsb --modules nowhere
expect "a directory that is not there" holds err "cannot open module 'k' in 'nowhere' with .so: No such file"
run 6 "$FSCHED" run m.fsb --trust-modules
expect "beside the stream" holds err "cannot open module 'k' in '.' with .so: "
cp m.fsb inside/m.fsb
run 0 "$FSCHED" run inside/m.fsb --trust-modules
rm -f opened

# On a device PTX is code, too.
if [ -e "$BUILD/test/fake_cuda/libcuda.so.1" ]; then
  FSCHED_CUDA_DRIVER=$BUILD/test/fake_cuda/libcuda.so.1
  export FSCHED_CUDA_DRIVER
  printf '%s\n' 'fsched: 1' 'ops:' \
    "  - {name: a, args: [{out: o, size: 8}], kernel: {module: kernels.ptx, function: none}}" >p.yaml
  run 0 "$FSCHED" compile p.yaml -q -o p.fsb
  cp "$TOP/test/cuda_modules/kernels.ptx" outside/kernels.ptx
  ln -s ../outside/kernels.ptx inside/kernels.ptx
  for on in cuda cuda-graph; do
    run 6 "$FSCHED" run p.fsb --on $on
    expect "closed on $on" holds err 'modules are code, and none is allowed'
    run 6 "$FSCHED" run p.fsb --on $on --modules inside
    expect "a link on $on" holds err "a link leads out of the modules' directory"
    run 0 "$FSCHED" run p.fsb --on $on --modules outside
    run 0 "$FSCHED" run p.fsb --on $on --modules inside --trust-modules
  done
  unset FSCHED_CUDA_DRIVER
fi
