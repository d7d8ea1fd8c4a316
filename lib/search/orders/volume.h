/* SPDX-License-Identifier: Apache-2.0 */
/* What an order copies at least, about: its ops run one at a time, memories have no addresses, and
 * versions leave whose copies take least time per byte and distance to the next use.  A fraction
 * of the work of a schedule, so that orders that copy little are found soon. */
#ifndef FS_ORDERS_VOLUME_H
#define FS_ORDERS_VOLUME_H

#include "search/orders/decoder.h"

typedef struct fs_volume_state {
  uint32_t here; /* its index in here[] of its memory; FS_NONE: it is not there */
  uint32_t next, writers_left, turn;
  bool dirty, content;
} fs_volume_state;

/* A version that is there: what it costs if it leaves, in time of copies per byte, scaled, and the
 * place in the order of its next use. */
typedef struct fs_volume_entry {
  uint64_t cost;
  uint32_t next, version;
} fs_volume_entry;

typedef struct fs_volume_memory {
  uint64_t capacity, used; /* capacity 0: unbounded */
  uint32_t n_here;
  fs_volume_entry *here;
} fs_volume_memory;

/* Times of copies per byte, scaled. */
typedef struct fs_volume_rate {
  uint32_t read, write;
} fs_volume_rate;

typedef struct fs_volume {
  const fs_decoder *d;
  fs_volume_memory *memory;
  fs_volume_state *state;
  fs_volume_rate *rate;    /* per version */
  uint32_t *use, *use_end; /* as in the decoder */
  uint64_t *scratch;       /* per memory, of the op at hand */
  fs_tick least;           /* of copies that no order avoids */

  /* Results. */
  fs_tick copy_time;
  uint32_t n_returned;
  fs_order_return *returned;
} fs_volume;

/* Requires a decoder of the graph, which stays. */
fs_status fs_volume_init(fs_volume *v, const fs_decoder *d, fs_arena *arena) FS_MUST_USE;
/* Requires a linear extension of the graph. */
void fs_volume_run(fs_volume *v, const uint32_t *op_at);

#endif
