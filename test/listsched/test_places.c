/* SPDX-License-Identifier: Apache-2.0 */
/* Places of a memory: random use beside a bitmap, and the allocation scripts of the shared facts.
 *
 * Of the scripts, feasibility and what is spilled are required.  Exact addresses belong to one
 * allocator, so commands that name a fixed address are left out, and a range is identified by the
 * address at which the script expects it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "kit/gen.h"
#include "kit/shared_facts.h"
#include "listsched/places.h"

#include "kit/context.h"

/* ---- random use ---- */

enum { UNITS = 64, LIVE = 40 };

typedef struct places_model {
  fs_places p;
  uint32_t place[LIVE]; /* FS_NONE: none */
  bool counted;
} places_model;

static void check_model(const places_model *m) {
  uint32_t owner[UNITS] = {0};
  uint64_t held = 0, leaving = 0;
  for (uint32_t i = 0; i < LIVE; i++) {
    if (m->place[i] == FS_NONE) {
      continue;
    }
    const fs_place *r = &m->p.place.at[m->place[i]];
    held += r->state == FS_PLACE_LEAVING ? 0 : r->size - r->blocked;
    leaving += r->state == FS_PLACE_LEAVING ? r->size : 0;
    ck_assert_uint_le(r->address + r->size, UNITS);
    for (uint64_t u = r->address; !m->counted && u < r->address + r->size; u++) {
      if (r->state != FS_PLACE_LEAVING) { /* held and promised places never overlap each other */
        ck_assert_uint_eq(owner[u], 0);
        owner[u] = i + 1;
      }
    }
  }
  ck_assert_uint_eq(m->p.free + held + leaving, UNITS);
}

static void random_step(places_model *m, fs_rng *rng) {
  uint32_t i = fs_rng_below(rng, LIVE);
  uint32_t *place = &m->place[i];
  uint64_t size = fs_rng_below(rng, 12);
  bool high = fs_rng_one_in(rng, 2);
  if (*place == FS_NONE) {
    fs_status status = fs_rng_one_in(rng, 2) ? fs_places_reserve_now(&m->p, size, high, place)
                                             : fs_places_reserve_future(&m->p, size, high, place);
    ck_assert_int_eq(status, FSCHED_OK);
    return;
  }
  const fs_place *r = &m->p.place.at[*place];
  switch ((fs_place_state)r->state) {
    case FS_PLACE_RESERVED:
      if (r->blocked == 0 && !fs_rng_one_in(rng, 4)) {
        fs_places_occupy(&m->p, *place);
      } else if (fs_rng_one_in(rng, 2)) {
        fs_places_unreserve(&m->p, *place);
        *place = FS_NONE;
      }
      return;
    case FS_PLACE_OCCUPIED:
      ck_assert_int_eq(fs_places_leave(&m->p, *place), FSCHED_OK);
      return;
    case FS_PLACE_LEAVING:
      if (fs_rng_one_in(rng, 3)) {
        bool promised = fs_places_promised(&m->p, *place);
        ck_assert_int_eq(fs_places_rescue(&m->p, *place), !promised);
      } else {
        ck_assert_int_eq(fs_places_depart(&m->p, *place), FSCHED_OK);
        *place = FS_NONE;
      }
      return;
    case FS_PLACE_GONE:
      ck_abort_msg("a live place is gone");
  }
}

START_TEST(random_use_keeps_the_books)
{
  for (uint64_t seed = 0; seed < 40; seed++) {
    fs_rng rng = {seed};
    places_model m = {.counted = seed % 2};
    memset(m.place, 0xFF, sizeof m.place);
    ck_assert_int_eq(fs_places_init(&m.p, ctx, UNITS, m.counted), FSCHED_OK);
    for (int step = 0; step < 2000; step++) {
      random_step(&m, &rng);
      check_model(&m);
    }
    fs_places_release(&m.p);
    fsched_diag_clear(ctx);
  }
}
END_TEST

/* When everything is gone the memory is one piece again. */
START_TEST(what_is_given_up_joins)
{
  fs_places p;
  ck_assert_int_eq(fs_places_init(&p, ctx, 100, false), FSCHED_OK);
  uint32_t place[10];
  for (int i = 0; i < 10; i++) {
    ck_assert_int_eq(fs_places_reserve_now(&p, 10, i % 2, &place[i]), FSCHED_OK);
    fs_places_occupy(&p, place[i]);
  }
  uint32_t none;
  ck_assert_int_eq(fs_places_reserve_now(&p, 1, false, &none), FSCHED_OK);
  ck_assert_uint_eq(none, FS_NONE);
  for (int i = 0; i < 10; i++) {
    ck_assert_int_eq(fs_places_depart(&p, place[(i * 7) % 10]), FSCHED_OK);
  }
  ck_assert_int_eq(fs_places_reserve_now(&p, 100, false, &none), FSCHED_OK);
  ck_assert_uint_ne(none, FS_NONE);
  fs_places_release(&p);
}
END_TEST

/* Capacities go up to the largest that a graph may have. */
START_TEST(large_capacities)
{
  static const uint64_t capacities[] = {((uint64_t)1 << 34) - 1, (uint64_t)1 << 34,
                                        (uint64_t)141 << 30, (uint64_t)1 << 48};
  for (size_t i = 0; i < sizeof capacities / sizeof capacities[0]; i++) {
    fs_places p;
    ck_assert_int_eq(fs_places_init(&p, ctx, capacities[i], false), FSCHED_OK);
    uint32_t low, rest;
    ck_assert_int_eq(fs_places_reserve_now(&p, 4, false, &low), FSCHED_OK);
    ck_assert_int_eq(fs_places_reserve_now(&p, capacities[i] - 4, true, &rest), FSCHED_OK);
    ck_assert_uint_ne(low, FS_NONE);
    ck_assert_uint_ne(rest, FS_NONE);
    ck_assert_uint_eq(p.place.at[rest].address, 4);
    fs_places_release(&p);
    fsched_diag_clear(ctx);
  }
}
END_TEST

/* A reservation on leaving places is usable when the last of them has gone. */
START_TEST(promises_wait_for_departures)
{
  fs_places p;
  ck_assert_int_eq(fs_places_init(&p, ctx, 10, false), FSCHED_OK);
  uint32_t a, b, c;
  ck_assert_int_eq(fs_places_reserve_now(&p, 5, false, &a), FSCHED_OK);
  ck_assert_int_eq(fs_places_reserve_now(&p, 5, false, &b), FSCHED_OK);
  fs_places_occupy(&p, a);
  fs_places_occupy(&p, b);
  ck_assert_int_eq(fs_places_leave(&p, a), FSCHED_OK);
  ck_assert_int_eq(fs_places_leave(&p, b), FSCHED_OK);
  ck_assert_int_eq(fs_places_reserve_future(&p, 7, false, &c), FSCHED_OK);
  ck_assert_uint_eq(p.place.at[c].blocked, 7);
  ck_assert(!fs_places_rescue(&p, a));
  ck_assert_int_eq(fs_places_depart(&p, b), FSCHED_OK);
  ck_assert_uint_eq(p.unblocked.n, 0);
  ck_assert_int_eq(fs_places_depart(&p, a), FSCHED_OK);
  ck_assert_uint_eq(p.unblocked.n, 1);
  ck_assert_uint_eq(p.unblocked.at[0], c);
  ck_assert_uint_eq(p.free, 3);
  fs_places_release(&p);
}
END_TEST

/* ---- the shared scripts ---- */

enum { RANGES = 16 };

typedef struct places_range {
  char name[16];
  uint64_t size;
  long weight;
  uint32_t place;
  bool dead, spilled, fixed;
} places_range;

typedef struct places_script {
  fs_places p;
  places_range range[RANGES];
  size_t n;
  bool fixed_seen; /* later results depend on an address of the other allocator */
} places_script;

static places_range *find(places_script *s, const char *name) {
  for (size_t i = 0; i < s->n; i++) {
    if (strcmp(s->range[i].name, name) == 0) {
      return &s->range[i];
    }
  }
  ck_abort_msg("no range %s", name);
  return NULL;
}

static void declare(places_script *s, char *line) {
  places_range *r = &s->range[s->n++];
  *r = (places_range){.place = FS_NONE};
  uint64_t align = 1;
  for (char *word = strtok(line, " \n"); word != NULL; word = strtok(NULL, " \n")) {
    if (strncmp(word, "size=", 5) == 0) {
      r->size = strtoull(word + 5, NULL, 10);
    } else if (strncmp(word, "align=", 6) == 0) {
      align = strtoull(word + 6, NULL, 10);
    } else if (strncmp(word, "weight=", 7) == 0) {
      r->weight = strtol(word + 7, NULL, 10);
    } else if (strncmp(word, "fixed=", 6) == 0) {
      r->fixed = true;
    } else {
      (void)snprintf(r->name, sizeof r->name, "%s", word);
    }
  }
  r->size = (r->size + align - 1) / align * align;
}

static bool requested(places_range *const *request, size_t n, const places_range *r) {
  for (size_t i = 0; i < n; i++) {
    if (request[i] == r) {
      return true;
    }
  }
  return false;
}

/* The live range of least weight that is not leaving and not part of the request. */
static places_range *victim(places_script *s, places_range *const *request, size_t n) {
  places_range *best = NULL;
  for (size_t i = 0; i < s->n; i++) {
    places_range *r = &s->range[i];
    if (r->place != FS_NONE && !r->dead && !requested(request, n, r) &&
        s->p.place.at[r->place].state == FS_PLACE_OCCUPIED &&
        (best == NULL || r->weight < best->weight)) {
      best = r;
    }
  }
  return best;
}

static bool place_one(places_script *s, places_range *r, places_range *const *request, size_t n,
                      bool spill) {
  ck_assert_int_eq(fs_places_reserve_now(&s->p, r->size, false, &r->place), FSCHED_OK);
  if (r->place == FS_NONE) {
    ck_assert_int_eq(fs_places_reserve_future(&s->p, r->size, false, &r->place), FSCHED_OK);
  }
  for (places_range *v; r->place == FS_NONE && spill && (v = victim(s, request, n)) != NULL;) {
    ck_assert_int_eq(fs_places_leave(&s->p, v->place), FSCHED_OK);
    ck_assert_int_eq(fs_places_reserve_around(&s->p, v->place, r->size, false, &r->place),
                     FSCHED_OK);
  }
  return r->place != FS_NONE;
}

/* Allocates all or nothing; victims that are in nobody's way stay. */
static bool allocate(places_script *s, places_range **request, size_t n, bool spill) {
  bool ok = true;
  for (size_t i = 0; i < n; i++) {
    ok = ok && place_one(s, request[i], request, n, spill);
  }
  for (size_t i = 0; !ok && i < n; i++) {
    if (request[i]->place != FS_NONE) {
      fs_places_unreserve(&s->p, request[i]->place);
      request[i]->place = FS_NONE;
    }
  }
  for (size_t i = 0; i < s->n; i++) {
    places_range *r = &s->range[i];
    if (r->place != FS_NONE && s->p.place.at[r->place].state == FS_PLACE_LEAVING &&
        !fs_places_rescue(&s->p, r->place)) {
      ck_assert_int_eq(fs_places_depart(&s->p, r->place), FSCHED_OK);
      r->place = FS_NONE;
      r->spilled = true;
    }
  }
  for (size_t i = 0; ok && i < n; i++) {
    fs_places_occupy(&s->p, request[i]->place);
    request[i]->spilled = false;
  }
  return ok;
}

static void run_allocation(places_script *s, char *line) {
  places_range *request[RANGES];
  size_t n = 0;
  bool spill = strstr(line, "spill=1") != NULL, ok = strstr(line, "=> ok") != NULL;
  *strstr(line, "=>") = '\0';
  for (char *word = strtok(line, " "); word != NULL; word = strtok(NULL, " ")) {
    if (strchr(word, '=') == NULL) {
      request[n++] = find(s, word);
      s->fixed_seen = s->fixed_seen || request[n - 1]->fixed;
    }
  }
  if (!s->fixed_seen) {
    ck_assert_msg(allocate(s, request, n, spill) == ok, "ALLOC %s", request[0]->name);
  }
}

static void run_line(places_script *s, char *line, unsigned *checked) {
  char word[16], name[16];
  unsigned value;
  if (sscanf(line, "%15s", word) != 1 || s->fixed_seen) {
    return;
  }
  char *rest = line + strlen(word) + 1;
  if (strcmp(word, "RANGE") == 0) {
    declare(s, rest);
  } else if (strcmp(word, "ALLOC") == 0) {
    run_allocation(s, rest);
    ++*checked;
  } else if (strcmp(word, "KILL") == 0) {
    for (char *id = strtok(rest, " \n"); id != NULL; id = strtok(NULL, " \n")) {
      places_range *r = find(s, id);
      r->dead = true;
      if (r->place != FS_NONE) {
        ck_assert_int_eq(fs_places_depart(&s->p, r->place), FSCHED_OK);
        r->place = FS_NONE;
      }
    }
  } else if (strcmp(word, "SPILLED") == 0 && sscanf(rest, "%15s %u", name, &value) == 2) {
    ck_assert_msg(find(s, name)->spilled == (value != 0), "SPILLED %s", name);
    ++*checked;
  } else if (strcmp(word, "LIVECOUNT") == 0 && sscanf(rest, "%u", &value) == 1) {
    unsigned live = 0;
    for (size_t i = 0; i < s->n; i++) {
      live += s->range[i].place != FS_NONE;
    }
    ck_assert_uint_eq(live, value);
    ++*checked;
  }
}

START_TEST(shared_scripts)
{
  FILE *f = fs_shared_facts("linear_scan.txt");
  if (f == NULL) {
    return;
  }
  places_script s = {0};
  char line[512];
  bool inside = false;
  unsigned checked = 0;
  while (fgets(line, sizeof line, f) != NULL) {
    unsigned long long capacity;
    if (sscanf(line, "CASE %*s capacity=%llu", &capacity) == 1) {
      s = (places_script){0};
      ck_assert_int_eq(fs_places_init(&s.p, ctx, capacity, false), FSCHED_OK);
      inside = true;
    } else if (inside && strncmp(line, "END", 3) == 0) {
      fs_places_release(&s.p);
      inside = false;
    } else if (inside && line[0] != '#') {
      run_line(&s, line, &checked);
    }
  }
  (void)fclose(f);
  ck_assert_uint_ge(checked, 20);
}
END_TEST

FS_SUITE(places, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, random_use_keeps_the_books, what_is_given_up_joins, large_capacities,
           promises_wait_for_departures, shared_scripts);
}
