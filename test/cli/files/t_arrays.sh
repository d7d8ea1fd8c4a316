# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Inputs and outputs are in files, as .npy or bare bytes.
cat >copy.yaml <<'END'
fsched: 1
buffers:
  - {name: x, size: 12, io: input}
  - {name: y, size: 12, io: output}
ops:
  - {name: copy, args: [{in: x}, {out: y}], kernel: {builtin: copy}}
END
run 0 "$FSCHED" compile copy.yaml -q
printf abcdefghijkl >x.raw
copies() { # an input and an output
  run 0 "$FSCHED" run copy.fsb -q --input "x=$1" --output "y=$2"
}
copies x.raw y.npy
expect "a .npy file has a header" [ "$(wc -c <y.npy)" -eq 140 ]
printf '\223NUMPY\001\000v\000' >want
head -c 10 y.npy >got
expect "of format 1.0" same want got
expect "with dtype and shape" holds y.npy "{'descr': '|u1', 'fortran_order': False, 'shape': (12,), }"
copies y.npy z.raw
expect "there and back" same x.raw z.raw
copies y.npy -
expect "standard output has the bytes" same out x.raw
for form in y.npy x.raw; do
  "$FSCHED" run copy.fsb -q --input x=- --output y=z.npy <$form
  expect "standard input as $form" same y.npy z.npy
  # shellcheck disable=SC2002 # a pipe has no size
  cat $form | "$FSCHED" run copy.fsb -q --input x=- --output y=z.npy
  expect "a pipe as $form" same y.npy z.npy
done

# The dtype does not matter, the number of bytes does.
with() { # a dictionary makes a.npy
  {
    printf '\223NUMPY\001\000\177\000%-126s\n' "$1" && cat x.raw
  } >a.npy
}
with "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3)}"
copies a.npy z.raw
expect "six numbers of 16 bits" same x.raw z.raw
refused() { # status, file, message
  run "$1" "$FSCHED" run copy.fsb --input "x=$2" --output y=none.npy
  expect "$2: $3" holds err "$3"
  expect "nothing is written" [ ! -e none.npy ]
}
with "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3)}"
refused 1 a.npy '^a.npy: error: .* Fortran order.*\[array-format\]'
with "{'descr': '>i2', 'fortran_order': False, 'shape': (2, 3)}"
refused 1 a.npy "big-endian ('>i2')"
with "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 4)}"
refused 1 a.npy 'the array has 16 bytes (dtype <i2, shape (2, 4)); 12 are expected \[array-size\]'
head -c 139 y.npy >cut.npy
refused 1 cut.npy 'the array ends after 11 bytes; 12 are expected'
cat y.npy x.raw >long.npy
refused 1 long.npy 'the array goes on after the 12 bytes'
refused 1 copy.yaml 'the file has [0-9]* bytes; 12 are expected'
refused 5 gone.npy 'cannot open gone.npy'
refused 1 /dev/null 'the file ends after 0 bytes; 12 are expected'
"$FSCHED" run copy.fsb --input x=- --output y=none.npy <copy.yaml >out 2>err
expect "standard input has a name" [ $? -eq 1 -a ! -e none.npy ]
expect "<stdin>" holds err '^<stdin>: error: the file goes on'
run 5 "$FSCHED" run copy.fsb -q --input x=x.raw --output y=no/such/y.npy
:
