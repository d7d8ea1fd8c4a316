/* SPDX-License-Identifier: Apache-2.0 */
/* The strided views of args. */
#include "codegen/asm/asm.h"

static fs_status dims(fs_asm *a, uint32_t node, uint64_t *dim, uint32_t *n) {
  uint32_t at;
  FS_TRY(fs_fields_sequence(&a->f, node, &at, n));
  if (*n == 0 || *n > FSCHED_MAX_DIMS) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_TYPE, node, "expected 1 to %d numbers",
                          FSCHED_MAX_DIMS);
  }
  for (uint32_t i = 0; i < *n; i++, at = fs_fields_next(&a->f, at)) {
    FS_TRY(fs_fields_u64(&a->f, at, &dim[i]));
  }
  return FSCHED_OK;
}

fs_status fs_asm_view(fs_asm *a, uint32_t node, uint32_t arg, uint64_t *offset, uint64_t *length,
                      fs_stream_view *out) {
  assert(node < a->f.doc->n_nodes);
  enum { OFFSET, SHAPE, STRIDES, ELEMENT, FIELDS };
  static const fs_field fields[FIELDS] = {
      {"offset", true}, {"shape", true}, {"strides", true}, {"element", true}};
  uint32_t value[FIELDS], n;
  fs_stream_view v = {.arg = arg};
  FS_TRY(fs_fields_mapping(&a->f, node, fields, FIELDS, value));
  FS_TRY(fs_fields_u64(&a->f, value[OFFSET], offset));
  FS_TRY(dims(a, value[SHAPE], v.shape, &v.n_dims));
  FS_TRY(dims(a, value[STRIDES], v.stride, &n));
  FS_TRY(fs_fields_u64(&a->f, value[ELEMENT], &v.element));
  fs_view placed = fs_stream_placed(&v, 0);
  if (n != v.n_dims || !fs_view_valid(&placed)) {
    return fs_fields_fail(&a->f, FS_DIAG_STREAM_TYPE, node,
                          n != v.n_dims ? "'shape' and 'strides' have unlike lengths"
                                        : "the view has no element, or is too large");
  }
  *length = fs_view_end(&placed);
  *out = v;
  return FSCHED_OK;
}
