# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# The kernels for devices: the committed text is what their source gives. (The suite cuda_kernels checks
# that it is also what is built in.)
kept=$TOP/exec/cuda/kernels/builtin.ptx

: "${CLANG:=clang}"
if "$CLANG" -print-targets 2>/dev/null | grep -q nvptx64; then
  run 0 env CLANG="$CLANG" "$TOP/scripts/gen-kernels" "$PWD"
  # Another version of the compiler writes the same kernels in another form.
  if [ "$(sed -n 2p builtin.ptx)" = "$(sed -n 2p "$kept")" ]; then
    expect "builtin.ptx is not what builtin.cu gives; scripts/gen-kernels makes it" \
      same builtin.ptx "$kept"
  fi
  for k in mix nop copy digest pace; do
    expect "no kernel fsched_$k" holds builtin.ptx "entry fsched_$k("
  done
else
  echo "skipped: no clang for nvptx64 here"
fi

ptxas=$(command -v ptxas) || ptxas=/usr/local/cuda/bin/ptxas
if [ -x "$ptxas" ]; then
  run 0 "$ptxas" -arch=sm_75 -o a.cubin "$kept"
  run 0 "$ptxas" -arch=sm_90 -o b.cubin "$kept"
else
  echo "skipped: no ptxas here"
fi
