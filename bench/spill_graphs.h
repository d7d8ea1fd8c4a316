/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs with short memories, of which all that the generator knows beside views, ranges and
 * loops is drawn. */
#ifndef FS_BENCH_SPILL_GRAPHS_H
#define FS_BENCH_SPILL_GRAPHS_H

#include "kit/gen.h"

/* Of least to most ops; `store`: their memories spill. */
static inline fs_gen_params fs_spill_graph(uint64_t seed, uint32_t least, uint32_t most,
                                           bool store) {
  static const double tightness[] = {1, 1.5, 2, 3, 4};
  static const uint32_t queues[] = {1, 2, 3, 5};
  fs_rng rng = {seed};
  return (fs_gen_params){.seed = seed,
                         .n_ops = least + fs_rng_below(&rng, most - least + 1),
                         .n_queues = queues[seed / 5 % 4] + 1,
                         .n_classes = 1 + queues[seed / 5 % 4] / 4,
                         .n_memories = 1 + seed / 20 % 2,
                         .max_size = 1000,
                         .window = 4 << fs_rng_below(&rng, 3),
                         .tightness = tightness[seed % 5],
                         .backing = store,
                         .short_share = store ? 0 : 0.3 + 0.1 * (double)(seed % 5),
                         .io = true,
                         .inouts = fs_rng_one_in(&rng, 2),
                         .inplace = fs_rng_one_in(&rng, 2),
                         .scratch = fs_rng_one_in(&rng, 4),
                         .gangs = fs_rng_one_in(&rng, 4)};
}

#endif
