/* SPDX-License-Identifier: Apache-2.0 */
/* Axes: numbers whose bits name session, machine, domain and ordinal. */
#include "base/base.h"
#include "fsched/frontier.h"

enum { DOMAIN_SHIFT = 40, MACHINE_SHIFT = 48, SESSION_SHIFT = 56 };
enum { DEVICE_SHIFT = 32, QUEUE_SHIFT = 24, BYTE_LIMIT = 256 };

fsched_status fsched_axis_make(fsched_axis_parts parts, fsched_axis *axis) {
  if (parts.session >= BYTE_LIMIT || parts.machine >= BYTE_LIMIT || parts.domain >= BYTE_LIMIT ||
      parts.ordinal > FSCHED_AXIS_MAX_ORDINAL) {
    return FSCHED_USAGE;
  }
  *axis = (uint64_t)parts.session << SESSION_SHIFT | (uint64_t)parts.machine << MACHINE_SHIFT |
          (uint64_t)parts.domain << DOMAIN_SHIFT | parts.ordinal;
  return FSCHED_OK;
}

fsched_status fsched_axis_queue(uint32_t session, uint32_t machine, uint32_t device, uint32_t queue,
                                fsched_axis *axis) {
  if (device >= BYTE_LIMIT || queue >= BYTE_LIMIT) {
    return FSCHED_USAGE;
  }
  uint64_t ordinal = (uint64_t)device << DEVICE_SHIFT | (uint64_t)queue << QUEUE_SHIFT;
  return fsched_axis_make((fsched_axis_parts){session, machine, FSCHED_AXIS_QUEUE, ordinal}, axis);
}

fsched_axis_parts fsched_axis_split(fsched_axis axis) {
  return (fsched_axis_parts){.session = (uint32_t)(axis >> SESSION_SHIFT),
                             .machine = (uint32_t)(axis >> MACHINE_SHIFT) % BYTE_LIMIT,
                             .domain = (uint32_t)(axis >> DOMAIN_SHIFT) % BYTE_LIMIT,
                             .ordinal = axis & FSCHED_AXIS_MAX_ORDINAL};
}
