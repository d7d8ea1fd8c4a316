/* SPDX-License-Identifier: Apache-2.0 */
#include "search/plant.h"

#include "fsched/compile.h"
#include "listsched/policy.h"
#include "model/handle.h"

enum { MEMORIES = 8 };

/* When a version is there. */
typedef struct planted_life {
  fs_tick begin, end;
} planted_life;

static void find_lives(const fsched_graph *g, const fs_tick *start, const fs_tick *end,
                       planted_life *life) {
  fs_tick last = 0;
  for (uint32_t v = 0; v < g->n_versions; v++) {
    life[v] = (planted_life){.begin = fs_version_given(g, v) ? 0 : FS_TICK_NONE};
  }
  for (uint32_t op = 0; op < g->n_ops; op++) {
    last = fs_max(last, end[op]);
    for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
      uint32_t v = g->arg_version[a];
      if (v != FS_NONE && fs_tag_accesses(g->arg_tag[a])) {
        life[v].begin = fs_min(life[v].begin, start[op]);
        life[v].end = fs_max(life[v].end, end[op]);
      }
    }
  }
  for (uint32_t v = 0; v < g->n_versions; v++) {
    life[v].end = fs_version_kept(g, v) ? last : life[v].end;
  }
}

/* The most bytes that are held at once, per memory: what is held grows where an op starts. */
static void find_peaks(const fsched_graph *g, const fs_tick *start, const fs_tick *end,
                       planted_life *life, uint64_t *peak) {
  find_lives(g, start, end, life);
  for (uint32_t at = 0; at < g->n_ops; at++) {
    uint64_t sum[MEMORIES] = {0};
    for (uint32_t v = 0; v < g->n_versions; v++) {
      bool there = life[v].begin <= start[at] && start[at] < life[v].end;
      sum[fs_version_memory(g, v)] +=
          there ? fs_align_up(fs_version_size(g, v), fs_version_home(g, v)->align) : 0;
    }
    for (uint32_t op = 0; op < g->n_ops; op++) {
      bool runs = start[op] <= start[at] && start[at] < end[op];
      for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1] && runs; i++) {
        uint64_t align = g->target.memory[g->scratch_memory[i]].align;
        sum[g->scratch_memory[i]] += fs_align_up(g->scratch_size[i], align);
      }
    }
    for (uint32_t m = 0; m < g->target.n_memories; m++) {
      peak[m] = fs_max(peak[m], sum[m]);
    }
  }
}

static fs_status find_least(fsched_context *ctx, const fsched_graph *g, fs_arena *arena,
                            planted_life *life, uint64_t *least) {
  uint32_t *position;
  fs_tick *start, *end;
  FS_TRY(fs_new(arena, &position, g->n_ops));
  FS_TRY(fs_new(arena, &start, g->n_ops));
  FS_TRY(fs_new(arena, &end, g->n_ops));
  FS_TRY(fs_plan_memory(ctx, g, arena, 0, position));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    start[op] = position[op];
    end[op] = start[op] + 1;
  }
  find_peaks(g, start, end, life, least);
  return FSCHED_OK;
}

fs_status fs_plant(fsched_context *ctx, fsched_graph *g, double part) {
  assert(g->target.n_memories <= MEMORIES);
  uint64_t least[MEMORIES] = {0}, most[MEMORIES] = {0};
  FS_SCRATCH(arena, ctx);
  planted_life *life;
  fsched_schedule *s;
  FS_TRY(fs_new(&arena, &life, g->n_versions));
  FS_TRY(find_least(ctx, g, &arena, life, least));
  FS_TRY(fsched_compile(ctx, g, NULL, &s, NULL));
  find_peaks(g, s->schedule->start, s->schedule->end, life, most);
  fsched_schedule_destroy(s);
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    if (fs_memory_bounded(&g->target.memory[m])) {
      uint64_t room = fs_max(most[m], least[m]) - least[m];
      g->target.memory[m].capacity = fs_max(least[m] + (uint64_t)((double)room * part), 1);
    }
  }
  return FSCHED_OK;
}
