/* SPDX-License-Identifier: Apache-2.0 */
/* Gangs whose members have args of their own.
 *
 * Members run at the same time and nothing orders them.  So, but for races, no byte of a version
 * that one of them writes may be accessed by another one.  All writes of an op are entered first,
 * into a map from offset to the member that writes there; then all accesses look for other members
 * there.
 * Complexity: O(accesses log accesses), of the ops that have members. */
#include "base/context.h"
#include "verify/stream/stream.h"

uint32_t fs_vs_member(const fs_vs *v, uint32_t op, uint32_t arg) {
  assert(op < v->s->n_ops && arg < v->s->n_args);
  const fs_stream_op *o = &v->s->ops[op];
  uint32_t m = 0;
  while (m + 1 < o->n_members && v->s->members[o->member0 + m + 1].arg0 <= arg) {
    m++;
  }
  return m;
}

bool fs_vs_members_tile(const fs_stream *s, const fs_stream_op *o) {
  assert(s->n_meta == 1);
  uint32_t arg = o->arg0;
  bool ok = fs_vs_in_range(o->member0, o->n_members, s->n_members);
  for (uint32_t m = 0; ok && m < o->n_members; m++) {
    const fs_stream_member *x = &s->members[o->member0 + m];
    ok = x->arg0 == arg && x->n_args <= o->arg0 + o->n_args - arg;
    arg += ok ? x->n_args : 0;
  }
  return ok && (o->n_members == 0 || arg == o->arg0 + o->n_args);
}

/* Looks at one run of bytes of a member, and takes it for the member if it writes.  *clash: another
 * member writes there. */
static fs_status one_run(fs_vs *v, fs_vmap *map, const fs_vs_runs *r, uint32_t member, bool enter,
                         bool *clash) {
  fs_vmap_cursor at;
  bool fresh;
  if (map->chunk == NULL && !enter) {
    return FSCHED_OK;
  }
  if (map->chunk == NULL) {
    FS_TRY(fs_vmap_cut(&v->arena, map, 0, &at, &fresh));
    fs_vmap_at(map, at)->value = FS_NONE;
  }
  if (enter) {
    FS_TRY(fs_vmap_cut(&v->arena, map, r->high, &at, &fresh));
    FS_TRY(fs_vmap_cut(&v->arena, map, r->low, &at, &fresh));
  }
  at = fs_vmap_find(map, r->low);
  do {
    fs_vmap_entry *e = fs_vmap_at(map, at);
    if (e->key >= r->high) {
      break;
    }
    *clash = *clash || (e->value != FS_NONE && e->value != member);
    e->value = enter ? member : e->value;
  } while (fs_vmap_next(map, &at));
  return FSCHED_OK;
}

/* Enters the writes of an op, or looks its accesses up. */
static fs_status one_pass(fs_vs *v, fs_vmap *map, const fs_stream_op *o, bool enter, bool *clash) {
  for (uint32_t m = 0; m < o->n_members; m++) {
    const fs_stream_member *x = &v->s->members[o->member0 + m];
    for (uint32_t arg = x->arg0; arg < x->arg0 + x->n_args; arg++) {
      const fs_stream_arg *a = &v->s->args[arg];
      if (!fs_tag_accesses(a->tag) || a->version == FS_NONE || (enter && !fs_tag_writes(a->tag))) {
        continue;
      }
      for (fs_vs_runs r = fs_vs_runs_of(v, arg, 0); fs_vs_run(&r);) {
        FS_TRY(one_run(v, &map[a->version], &r, m, enter, clash));
      }
    }
  }
  return FSCHED_OK;
}

fs_status fs_vs_members(fs_vs *v) {
  assert(v->s->n_meta == 1);
  const fs_stream *s = v->s;
  fs_vmap *map;
  if (s->n_members == 0 || fs_hazards_data_only(s->meta[0].hazards)) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_zero(&v->arena, &map, s->n_versions));
  for (uint32_t op = 0; op < s->n_ops; op++) {
    const fs_stream_op *o = &s->ops[op];
    bool clash = false;
    FS_TRY(one_pass(v, map, o, true, &clash));
    FS_TRY(one_pass(v, map, o, false, &clash));
    for (uint32_t i = o->arg0; o->n_members > 0 && i < o->arg0 + o->n_args; i++) {
      if (s->args[i].version != FS_NONE) {
        map[s->args[i].version] = (fs_vmap){0};
      }
    }
    if (clash) {
      FS_WRONG(v, FS_DIAG_VERIFY_CONFLICT, "op %s: a member writes what another one accesses",
               fs_vs_op_name(v, op));
    }
  }
  return FSCHED_OK;
}
