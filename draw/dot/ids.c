/* SPDX-License-Identifier: Apache-2.0 */
/* A cgraph id discipline that keeps the names of graphs, and leaves all else to cgraph's own. */
#include "draw/dot/ids.h"

#include <assert.h>
#include <stddef.h>

static void *open_ids(Agraph_t *g, Agdisc_t *disciplines) {
  fs_dot_ids *ids = (fs_dot_ids *)(void *)disciplines->id;
  ids->g = g;
  ids->own = AgIdDisc.open(g, disciplines);
  return ids->own == NULL ? NULL : ids;
}

static long map(void *state, int type, char *name, IDTYPE *id, int create) {
  fs_dot_ids *ids = state;
  if (type != AGRAPH || name == NULL) {
    return AgIdDisc.map(ids->own, type, name, id, create);
  }
  if (!create || ids->n == ids->room) { /* existing graphs are never looked up */
    return 0;
  }
  ids->name[ids->n] = agstrdup(ids->g, name);
  *id = ++ids->n;
  return ids->name[ids->n - 1] != NULL;
}

static long alloc_id(void *state, int type, IDTYPE id) {
  const fs_dot_ids *ids = state;
  return AgIdDisc.alloc(ids->own, type, id);
}

static void free_id(void *state, int type, IDTYPE id) {
  const fs_dot_ids *ids = state;
  if (type != AGRAPH) {
    AgIdDisc.free(ids->own, type, id);
  } else if (id <= ids->n) {
    (void)agstrfree(ids->g, ids->name[id - 1]);
  }
}

static char *name_of(void *state, int type, IDTYPE id) {
  const fs_dot_ids *ids = state;
  if (type != AGRAPH) {
    return AgIdDisc.print(ids->own, type, id);
  }
  return id >= 1 && id <= ids->n ? ids->name[id - 1] : NULL;
}

static void close_ids(void *state) {
  const fs_dot_ids *ids = state;
  AgIdDisc.close(ids->own);
}

static void note_object(void *state, int type, void *object) {
  (void)state, (void)type, (void)object;
}

void fs_dot_ids_init(fs_dot_ids *ids, char **name, uint32_t room) {
  assert(room > 0 && name != NULL);
  *ids = (fs_dot_ids){
      .discipline = {open_ids, map, alloc_id, free_id, name_of, close_ids, note_object},
      .name = name,
      .room = room};
}
