/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32C (Castagnoli): polynomial 0x1EDC6F41 reflected, initial value and final xor 0xFFFFFFFF, as
 * in RFC 3720 (iSCSI) appendix B.4.  The CRC of "123456789" is 0xE3069283. */
#ifndef FS_CRC32C_H
#define FS_CRC32C_H

#include "base/base.h"

/* Continues `crc`, the value of the bytes before these; 0 for the first bytes.  O(size); uses the
 * processor's instruction where there is one, with the same value. */
uint32_t fs_crc32c(uint32_t crc, const void *bytes, size_t size);
/* The portable form, for tests. */
uint32_t fs_crc32c_portable(uint32_t crc, const void *bytes, size_t size);

#endif
