/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing, at most half full.  A slot keeps bits of the hash beside the
 * id, so that a probe rarely has to look at the text; the hash is keyed, so that nobody can choose
 * names that collide. */
#include "base/names.h"

#define FS_NAMES_EMPTY UINT64_MAX

enum { FIRST_SLOTS = 16, LONGEST_SPELLING = 64, MOST_CANDIDATES = 100000 };

/* A hash of 31 bits, which never makes a slot look empty. */
static uint32_t hash_name(const fs_names *t, const char *s, size_t n) {
  return (uint32_t)(fs_keyed_hash(t->key, s, n) >> 33);
}

void fs_names_init(fs_names *t, fs_arena *arena) {
  assert(arena->ctx != NULL);
  *t = (fs_names){.ctx = arena->ctx, .arena = arena, .key = fs_context_key(arena->ctx)};
}

void fs_names_free(fs_names *t) {
  fs_vec_free(t->ctx, &t->text);
  (void)fs_realloc(t->ctx, t->slot, t->n_slots * sizeof *t->slot, 0);
  t->slot = NULL;
  t->n_slots = 0;
}

fs_status fs_names_copy(const fs_names *from, fs_names *to) {
  assert(to->text.n == 0 && to->n_slots == 0);
  size_t bytes = from->n_slots * sizeof *from->slot;
  FS_TRY(fs_vec_reserve(to->ctx, &to->text, from->text.n));
  if (from->text.n > 0) {
    memcpy(to->text.at, from->text.at, from->text.n * sizeof *from->text.at);
  }
  to->text.n = from->text.n;
  if (bytes > 0) {
    to->slot = fs_realloc(to->ctx, NULL, 0, bytes);
    if (to->slot == NULL) {
      return FSCHED_SYSTEM;
    }
    memcpy(to->slot, from->slot, bytes);
  }
  to->n_slots = from->n_slots;
  to->key = from->key;
  return FSCHED_OK;
}

/* The slot that holds the name, or the free one where it belongs.  Names hold no NUL. */
static size_t probe(const fs_names *t, const char *name, size_t length, uint32_t hash) {
  FS_ASSERT_SLOW(t->n_slots != 0 && (t->n_slots & (t->n_slots - 1)) == 0);
  FS_ASSERT_SLOW(t->text.n * 2 <= t->n_slots);
  size_t mask = t->n_slots - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    uint64_t slot = t->slot[i];
    if (slot == FS_NAMES_EMPTY) {
      return i;
    }
    if (slot >> 32 == hash) {
      const char *text = t->text.at[(uint32_t)slot];
      if (strncmp(text, name, length) == 0 && text[length] == '\0') {
        return i;
      }
    }
  }
}

static fs_status grow(fs_names *t) {
  size_t n = t->n_slots == 0 ? FIRST_SLOTS : t->n_slots * 2;
  uint64_t *slot = fs_realloc(t->ctx, NULL, 0, n * sizeof *slot);
  if (slot == NULL) {
    return FSCHED_SYSTEM;
  }
  memset(slot, 0xFF, n * sizeof *slot);
  for (size_t i = 0; i < t->n_slots; i++) {
    if (t->slot[i] != FS_NAMES_EMPTY) {
      size_t at = (t->slot[i] >> 32) & (n - 1);
      while (slot[at] != FS_NAMES_EMPTY) {
        at = (at + 1) & (n - 1);
      }
      slot[at] = t->slot[i];
    }
  }
  (void)fs_realloc(t->ctx, t->slot, t->n_slots * sizeof *t->slot, 0);
  t->slot = slot;
  t->n_slots = n;
  assert(t->text.n * 2 < t->n_slots);
  return FSCHED_OK;
}

uint32_t fs_names_find(const fs_names *t, const char *name, size_t length) {
  FS_ASSERT_SLOW(memchr(name, 0, length) == NULL);
  if (t->n_slots == 0) {
    return FS_NONE;
  }
  uint64_t slot = t->slot[probe(t, name, length, hash_name(t, name, length))];
  return slot == FS_NAMES_EMPTY ? FS_NONE : (uint32_t)slot;
}

/* Makes room for one more name, so that slots stay where they are. */
static fs_status make_room(fs_names *t) {
  return (t->text.n + 1) * 2 > t->n_slots ? grow(t) : FSCHED_OK;
}

/* *first is the id that look-ups find: an older one for a name that the table already has. Requires
 * the name's slot, in a table with room. */
static fs_status enter_at(fs_names *t, size_t at, uint32_t hash, const char *kept, uint32_t *id,
                          uint32_t *first) {
  *id = (uint32_t)t->text.n;
  FS_TRY(fs_vec_push(t->ctx, &t->text, kept));
  *first = t->slot[at] == FS_NAMES_EMPTY ? *id : (uint32_t)t->slot[at];
  if (*first == *id) {
    t->slot[at] = (uint64_t)hash << 32 | *id;
  }
  return FSCHED_OK;
}

static fs_status enter_name(fs_names *t, const char *kept, size_t length, uint32_t *id,
                            uint32_t *first) {
  FS_TRY(make_room(t));
  uint32_t hash = hash_name(t, kept, length);
  return enter_at(t, probe(t, kept, length, hash), hash, kept, id, first);
}

fs_status fs_names_add(fs_names *t, const char *name, size_t length, uint32_t *id, bool *repeated) {
  FS_ASSERT_SLOW(memchr(name, 0, length) == NULL);
  uint32_t first;
  const char *copy = fs_arena_strndup(t->arena, name, length);
  if (copy == NULL) {
    return FSCHED_SYSTEM;
  }
  FS_TRY(enter_name(t, copy, length, id, &first));
  *repeated = first != *id;
  return FSCHED_OK;
}

fs_status fs_names_add_kept(fs_names *t, const char *name, uint32_t *first) {
  uint32_t id;
  return enter_name(t, name, strlen(name), &id, first);
}

fs_status fs_names_intern(fs_names *t, const char *name, size_t length, uint32_t *id, bool *added) {
  FS_ASSERT_SLOW(memchr(name, 0, length) == NULL);
  FS_TRY(make_room(t));
  uint32_t hash = hash_name(t, name, length), first;
  size_t at = probe(t, name, length, hash);
  bool fresh = t->slot[at] == FS_NAMES_EMPTY;
  if (added != NULL) {
    *added = fresh;
  }
  if (!fresh) {
    *id = (uint32_t)t->slot[at];
    return FSCHED_OK;
  }
  const char *copy = fs_arena_strndup(t->arena, name, length);
  return copy == NULL ? FSCHED_SYSTEM : enter_at(t, at, hash, copy, id, &first);
}

/* Optimal string alignment with three rows; O(|a| |b|). */
unsigned fs_spelling_distance(const char *a, const char *b, unsigned limit) {
  size_t n = strlen(a);
  size_t m = strlen(b);
  if (n > LONGEST_SPELLING || m > LONGEST_SPELLING || (n > m ? n - m : m - n) >= limit) {
    return limit;
  }
  unsigned rows[3][LONGEST_SPELLING + 1] = {{0}};
  for (size_t j = 0; j <= m; j++) {
    rows[0][j] = (unsigned)j;
  }
  for (size_t i = 1; i <= n; i++) {
    unsigned *row = rows[i % 3];
    const unsigned *above = rows[(i - 1) % 3];
    const unsigned *above2 = rows[(i + 1) % 3];
    row[0] = (unsigned)i;
    for (size_t j = 1; j <= m; j++) {
      unsigned best = above[j - 1] + (a[i - 1] != b[j - 1]);
      best = (unsigned)fs_min(best, fs_min(above[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        best = (unsigned)fs_min(best, above2[j - 2] + 1);
      }
      row[j] = best;
    }
  }
  return (unsigned)fs_min(rows[n % 3][m], limit);
}

/* Does one of the words begin with the other, which has at least two letters and at least a
 * third of the longer one's length? */
static bool abbreviates(const char *a, const char *b) {
  size_t n = strlen(a), m = strlen(b), least = fs_min(n, m);
  return least >= 2 && 3 * least >= fs_max(n, m) && strncmp(a, b, least) == 0;
}

const char *fs_nearest(const char *name, const char *const *candidate, size_t n) {
  size_t length = strlen(name) - strspn(name, "-"); /* the dashes of an option do not count */
  unsigned limit = length <= 1 ? 1 : length <= 3 ? 2 : length <= 6 ? 3 : 4; /* faults, plus 1 */
  const char *best = NULL, *word = NULL;
  for (size_t i = 0; i < n && i < MOST_CANDIDATES; i++) {
    unsigned d = fs_spelling_distance(name, candidate[i], limit);
    if (d < limit) {
      limit = d;
      best = candidate[i];
    }
    if (abbreviates(name, candidate[i]) && (word == NULL || strlen(candidate[i]) > strlen(word))) {
      word = candidate[i];
    }
  }
  /* An extra or missing letter is nearer than an abbreviation, a wrong letter is not: "input" means
   * "in", not "inout". */
  bool far = best == NULL || limit > 1 || (limit == 1 && strlen(best) == strlen(name));
  return word != NULL && far ? word : best;
}
