/* SPDX-License-Identifier: Apache-2.0 */
/* Races of unrolled graphs, told once for all iterations.
 *
 * Which iterations an instance is of stands in its name, and which op it is of in the builder.  A
 * table finds the race that is known of two ops and a buffer, by their ids as a text. */
#include "front/builder/folded.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/saturate.h"
#include "front/builder/bodies.h"

void fs_folder_init(fs_race_folder *f, fsched_context *ctx) {
  *f = (fs_race_folder){.ctx = ctx};
  fs_arena_init(&f->arena, ctx);
  fs_names_init(&f->keys, &f->arena);
  fs_names_init(&f->names, &f->arena);
}

void fs_folder_free(fs_race_folder *f) {
  fs_names_free(&f->keys);
  fs_names_free(&f->names);
  fs_vec_free(f->ctx, &f->race);
  fs_arena_release(&f->arena);
}

uint32_t fs_builder_arg_of_version(const fsched_graph *g, uint32_t op, uint32_t version) {
  assert(op < g->n_ops);
  uint32_t found = FS_NONE;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    bool here = g->arg_version[a] == version && fs_tag_accesses(g->arg_tag[a]);
    if (here && (found == FS_NONE || fs_tag_writes(g->arg_tag[a]))) {
      found = a;
    }
  }
  return found;
}

void fs_builder_race_text(fs_text *t, const char *buffer) {
  fs_text_printf(t, " are unordered, and one of them writes what both touch of '%s'", buffer);
}

/* An instance: its op's name without the iterations, and these, in the loops around it. */
typedef struct race_instance {
  const char *name;
  size_t length;
  uint64_t at[FSCHED_MAX_LOOPS];
} race_instance;

static race_instance instance_of(const fs_race_folder *f, uint32_t op) {
  const fsched_builder *b = f->b;
  race_instance x = {.name = f->g->op_name[op]};
  uint32_t loop = b->loop_of.at[b->origin.at[op]];
  x.length = strlen(x.name);
  for (; loop != FS_NONE; loop = fs_loop_at(b, loop)->parent) {
    while (x.name[x.length - 1] != '[') { /* the name ends in "[2][0]" */
      x.length--;
    }
    x.at[fs_loop_depth(b, loop) - 1] = strtoull(x.name + x.length, NULL, 10);
    x.length--;
  }
  return x;
}

/* The buffer of a version, as it was described: others are versions of one, NAME@N. */
static uint32_t buffer_of(const fs_race_folder *f, uint32_t version) {
  uint32_t buffer = f->g->version_buffer[version];
  if (buffer < f->b->n_named) {
    return buffer;
  }
  const char *name = f->g->buffer_name[buffer];
  return fs_names_find(&f->b->buffers, name, (size_t)(strrchr(name, '@') - name));
}

/* How many iterations of a loop are from one to another, with those that are not in the graph,
 * which lie between those at the beginning and at the end. */
static int64_t distance_between(const fs_race_folder *f, uint32_t loop, uint64_t from,
                                uint64_t to) {
  uint64_t d = to > from ? to - from : from - to;
  d += f->removed != NULL && d > f->left[loop] / 2 ? f->removed[loop] : 0;
  return to > from ? (int64_t)d : -(int64_t)d;
}

/* How many iterations a race's instances are apart.  Each sum is of a later instance and an earlier
 * one, so none is negative in the end. */
static uint64_t count_iterations(const fs_race_folder *f, uint32_t loop, const fs_folded_race *r) {
  uint64_t forth = 0, back = 0, each = 1;
  for (uint32_t i = r->n_loops; i-- > 0; loop = fs_loop_at(f->b, loop)->parent) {
    int64_t d = r->distance[i];
    forth = fs_add_most(forth, d > 0 ? fs_multiply_most((uint64_t)d, each) : 0);
    back = fs_add_most(back, d < 0 ? fs_multiply_most((uint64_t)-d, each) : 0);
    each = fs_multiply_most(each, f->trip[loop]);
  }
  return forth == UINT64_MAX ? forth : forth - fs_min(back, forth);
}

/* Whether a race is to be told, rather than another one of the same ops and buffer. */
static bool is_nearer(const fs_folded_race *x, const fs_folded_race *y) {
  if (x->iterations != y->iterations) {
    return x->iterations < y->iterations;
  }
  for (uint32_t i = 0; i < x->n_loops; i++) {
    if (x->distance[i] != y->distance[i]) {
      return x->distance[i] < y->distance[i];
    }
  }
  return x->a != y->a ? x->a < y->a : x->arg < y->arg;
}

/* Writes an id as bytes of which none is 0. */
static size_t put_id(char *to, uint32_t id) {
  enum { BYTES = 5, BITS = 7 };
  for (uint32_t i = 0; i < BYTES; i++) {
    to[i] = (char)(1u << BITS | (id >> (BITS * i) & ((1u << BITS) - 1)));
  }
  return BYTES;
}

/* Finds the place of a race in the list; *added: it is new. */
static fs_status find_race(fs_race_folder *f, const fs_folded_race *r, uint32_t *at, bool *added) {
  char key[16];
  size_t n = put_id(key, (uint32_t)fs_min(r->a, r->b));
  n += put_id(key + n, (uint32_t)fs_max(r->a, r->b));
  n += put_id(key + n, r->buffer);
  return fs_names_intern(&f->keys, key, n, at, added);
}

static fs_status keep_name(fs_race_folder *f, const char *name, size_t length, const char **out) {
  uint32_t id;
  FS_TRY(fs_names_intern(&f->names, name, length, &id, NULL));
  *out = f->names.text.at[id];
  return FSCHED_OK;
}

fs_status fs_folder_add(fs_race_folder *f, uint32_t before, uint32_t after, uint32_t version) {
  assert(f->b->unrolled && before <= after && !f->sorted);
  const fsched_builder *b = f->b;
  race_instance x = instance_of(f, before), y = instance_of(f, after);
  fs_folded_race r = {.a = b->origin.at[before], .b = b->origin.at[after], .arg = FS_NONE};
  uint32_t around = fs_loop_around_both(b, b->loop_of.at[r.a], b->loop_of.at[r.b]), at;
  r.buffer = buffer_of(f, version);
  r.n_loops = fs_loop_depth(b, around);
  for (uint32_t i = r.n_loops, l = around; i-- > 0; l = fs_loop_at(b, l)->parent) {
    r.distance[i] = distance_between(f, l, x.at[i], y.at[i]);
  }
  r.iterations = count_iterations(f, around, &r);
  uint32_t arg = fs_builder_arg_of_version(f->g, after, version);
  if (arg != FS_NONE) {
    r.arg = arg - f->g->op_arg0[after];
    r.at = fs_pos_at(&b->arg_at, arg);
  }
  bool added;
  FS_TRY(find_race(f, &r, &at, &added));
  if (added) {
    FS_TRY(fs_vec_push(f->ctx, &f->race, r));
  } else if (!is_nearer(&r, &f->race.at[at])) {
    return FSCHED_OK;
  }
  const char *buffer = b->buffers.text.at[r.buffer];
  FS_TRY(keep_name(f, x.name, x.length, &r.name_a));
  FS_TRY(keep_name(f, y.name, y.length, &r.name_b));
  FS_TRY(keep_name(f, buffer, strlen(buffer), &r.buffer_name));
  f->race.at[at] = r;
  return FSCHED_OK;
}

static int by_buffer(const void *p, const void *q) {
  const fs_folded_race *x = p, *y = q;
  uint64_t later_x = fs_max(x->a, x->b), later_y = fs_max(y->a, y->b);
  uint64_t first_x = fs_min(x->a, x->b), first_y = fs_min(y->a, y->b);
  return x->buffer != y->buffer ? (x->buffer < y->buffer ? -1 : 1)
         : later_x != later_y   ? (later_x < later_y ? -1 : 1)
         : first_x != first_y   ? (first_x < first_y ? -1 : 1)
                                : 0;
}

void fs_folder_sort(fs_race_folder *f) {
  if (f->race.n > 1) {
    qsort(f->race.at, f->race.n, sizeof *f->race.at, by_buffer);
  }
  f->sorted = true;
}

static void warn_race(const fs_race_folder *f, const fs_folded_race *r) {
  fs_text t;
  fs_text_init(&t, f->ctx);
  fs_text_printf(&t, "'%s' and '%s'", r->name_a, r->name_b);
  for (uint32_t i = 0; i < r->n_loops; i++) {
    fs_text_printf(&t, "%s%lld", i == 0 ? " at distance " : ", ", (long long)r->distance[i]);
  }
  fs_builder_race_text(&t, r->buffer_name);
  fs_text_add(&t, "", 1);
  if (!t.failed) {
    fs_report(f->ctx, FSCHED_WARNING, FS_DIAG_RACE, r->at, NULL, "ops %s", t.at);
  }
  fs_text_drop(&t);
}

void fs_folder_warn(const fs_race_folder *f) {
  assert(f->sorted);
  size_t n = f->race.n;
  if (f->unknown) {
    fs_report(f->ctx, FSCHED_WARNING, FS_DIAG_RACE, FS_NOWHERE,
              "they are found if all instances of ops are few, or loops move over buffers alike",
              "races of loops are not known");
  }
  for (size_t i = 0; i < n && i < FS_WARNINGS_SHOWN; i++) {
    warn_race(f, &f->race.at[i]);
  }
  if (n > FS_WARNINGS_SHOWN) {
    fs_report(f->ctx, FSCHED_WARNING, FS_DIAG_RACE, FS_NOWHERE,
              "fsched dis --format json lists all", "%zu more pairs of ops are unordered",
              n - FS_WARNINGS_SHOWN);
  }
}
