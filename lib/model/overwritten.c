/* SPDX-License-Identifier: Apache-2.0 */
#include "model/overwritten.h"

bool fs_version_load_needed(const fsched_graph *g, uint32_t version) {
  FS_ASSERT_SLOW(version < g->n_versions);
  return fs_version_given(g, version) && fs_version_spills(g, version) &&
         g->version_access0[version] < g->version_access0[version + 1] &&
         g->buffer_wanted[g->version_buffer[version]] != 0;
}

bool fs_version_load_races(const fsched_graph *g, uint32_t version) {
  FS_ASSERT_SLOW(version < g->n_versions);
  bool any = false;
  for (uint32_t i = g->version_access0[version]; i < g->version_access0[version + 1]; i++) {
    any = any || fs_tag_writes_over(g->arg_tag[g->access_arg[i]]);
  }
  return any && fs_hazards_data_only(g->hazards) && fs_version_load_needed(g, version);
}

bool fs_version_rests(const fsched_graph *g, uint32_t version) {
  FS_ASSERT_SLOW(version < g->n_versions);
  bool rests = false, raw = fs_hazards_data_only(g->hazards);
  for (uint32_t i = g->version_access0[version]; i < g->version_access0[version + 1]; i++) {
    uint32_t arg = g->access_arg[i];
    rests = rests || (fs_tag_writes_over(g->arg_tag[arg]) && (raw || fs_arg_whole(g, arg)));
  }
  return rests && !fs_memory_spills(fs_version_home(g, version));
}
