/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32C, eight bytes a step ("slicing by 8", Kounavis and Berry 2005).
 *
 * Table k maps a byte to the CRC that it leaves when k more bytes follow.  The CRC is linear over
 * GF(2), so an entry is the sum of the entries of its byte's bits: eight constants per table, which
 * the preprocessor adds up. */
#include "base/crc32c.h"

#define FS_CRC_BIT(n, b, value) ((((n) >> (b)) & 1) != 0 ? (value) : 0u)
#define FS_CRC_ENTRY(n, c0, c1, c2, c3, c4, c5, c6, c7)                                        \
  (FS_CRC_BIT(n, 0, c0) ^ FS_CRC_BIT(n, 1, c1) ^ FS_CRC_BIT(n, 2, c2) ^ FS_CRC_BIT(n, 3, c3) ^ \
   FS_CRC_BIT(n, 4, c4) ^ FS_CRC_BIT(n, 5, c5) ^ FS_CRC_BIT(n, 6, c6) ^ FS_CRC_BIT(n, 7, c7))
#define FS_CRC_4(n, ...)                                            \
  FS_CRC_ENTRY(n, __VA_ARGS__), FS_CRC_ENTRY((n) + 1, __VA_ARGS__), \
      FS_CRC_ENTRY((n) + 2, __VA_ARGS__), FS_CRC_ENTRY((n) + 3, __VA_ARGS__)
#define FS_CRC_16(n, ...)                                                                   \
  FS_CRC_4(n, __VA_ARGS__), FS_CRC_4((n) + 4, __VA_ARGS__), FS_CRC_4((n) + 8, __VA_ARGS__), \
      FS_CRC_4((n) + 12, __VA_ARGS__)
#define FS_CRC_64(n, ...)                                                                        \
  FS_CRC_16(n, __VA_ARGS__), FS_CRC_16((n) + 16, __VA_ARGS__), FS_CRC_16((n) + 32, __VA_ARGS__), \
      FS_CRC_16((n) + 48, __VA_ARGS__)
/* The arguments are the entries of 1, 2, 4, ... 128. */
#define FS_CRC_TABLE(...)                                                               \
  {                                                                                     \
    FS_CRC_64(0, __VA_ARGS__), FS_CRC_64(64, __VA_ARGS__), FS_CRC_64(128, __VA_ARGS__), \
        FS_CRC_64(192, __VA_ARGS__)                                                     \
  }

/* clang-format off */
static const uint32_t table[8][256] = {
  FS_CRC_TABLE(0xf26b8303u, 0xe13b70f7u, 0xc79a971fu, 0x8ad958cfu,
               0x105ec76fu, 0x20bd8edeu, 0x417b1dbcu, 0x82f63b78u),
  FS_CRC_TABLE(0x13a29877u, 0x274530eeu, 0x4e8a61dcu, 0x9d14c3b8u,
               0x3fc5f181u, 0x7f8be302u, 0xff17c604u, 0xfbc3faf9u),
  FS_CRC_TABLE(0xa541927eu, 0x4f6f520du, 0x9edea41au, 0x38513ec5u,
               0x70a27d8au, 0xe144fb14u, 0xc76580d9u, 0x8b277743u),
  FS_CRC_TABLE(0xdd45aab8u, 0xbf672381u, 0x7b2231f3u, 0xf64463e6u,
               0xe964b13du, 0xd725148bu, 0xaba65fe7u, 0x52a0c93fu),
  FS_CRC_TABLE(0x38116facu, 0x7022df58u, 0xe045beb0u, 0xc5670b91u,
               0x8f2261d3u, 0x1ba8b557u, 0x37516aaeu, 0x6ea2d55cu),
  FS_CRC_TABLE(0xef306b19u, 0xdb8ca0c3u, 0xb2f53777u, 0x6006181fu,
               0xc00c303eu, 0x85f4168du, 0x0e045bebu, 0x1c08b7d6u),
  FS_CRC_TABLE(0x68032cc8u, 0xd0065990u, 0xa5e0c5d1u, 0x4e2dfd53u,
               0x9c5bfaa6u, 0x3d5b83bdu, 0x7ab7077au, 0xf56e0ef4u),
  FS_CRC_TABLE(0x493c7d27u, 0x9278fa4eu, 0x211d826du, 0x423b04dau,
               0x847609b4u, 0x0d006599u, 0x1a00cb32u, 0x34019664u),
};
/* clang-format on */

static uint32_t read32(const unsigned char *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint32_t fs_crc32c_portable(uint32_t crc, const void *bytes, size_t size) {
  const unsigned char *p = bytes;
  crc = ~crc;
  for (; size >= 8; size -= 8, p += 8) {
    uint32_t a = read32(p) ^ crc;
    uint32_t b = read32(p + 4);
    crc = table[7][a & 255] ^ table[6][a >> 8 & 255] ^ table[5][a >> 16 & 255] ^ table[4][a >> 24] ^
          table[3][b & 255] ^ table[2][b >> 8 & 255] ^ table[1][b >> 16 & 255] ^ table[0][b >> 24];
  }
  for (; size != 0; size--, p++) {
    crc = crc >> 8 ^ table[0][(crc ^ *p) & 255];
  }
  return ~crc;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(uint32_t crc, const void *bytes,
                                                               size_t size) {
  const unsigned char *p = bytes;
  uint64_t wide = ~crc;
  for (; size >= 8; size -= 8, p += 8) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  crc = (uint32_t)wide;
  for (; size != 0; size--, p++) {
    crc = __builtin_ia32_crc32qi(crc, *p);
  }
  return ~crc;
}

uint32_t fs_crc32c(uint32_t crc, const void *bytes, size_t size) {
  return __builtin_cpu_supports("sse4.2") ? crc32c_sse42(crc, bytes, size)
                                          : fs_crc32c_portable(crc, bytes, size);
}
#else
uint32_t fs_crc32c(uint32_t crc, const void *bytes, size_t size) {
  return fs_crc32c_portable(crc, bytes, size);
}
#endif
