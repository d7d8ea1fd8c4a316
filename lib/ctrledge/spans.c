/* SPDX-License-Identifier: Apache-2.0 */
/* An interval [low, high) is taken as follows from the spans that it meets:
 *
 *     before   |--- a ---|  |- b -|   |---- c ----|
 *     take           |<------------------>|
 *     after    |- a -|------- new --------|-- c --|
 *
 * a keeps its left end, b vanishes, and c begins later; when a reaches beyond `high`, its right end
 * becomes a span of its own.  All overlapped spans are cut before the new one is inserted, as
 * otherwise it would be inserted once for each of them. */
#include "ctrledge/spans.h"

enum { LOW, HIGH, OWNER, LINKS, HEAD_WORDS = LINKS + FS_SPAN_LEVELS / 2 };

static uint32_t *links_of(const fs_spans *s, uint32_t span) {
  return (uint32_t *)(s->word.at + span + LINKS);
}

static uint32_t next_of(const fs_spans *s, uint32_t span, uint32_t level) {
  return links_of(s, span)[level];
}

static void set_next(fs_spans *s, uint32_t span, uint32_t level, uint32_t next) {
  links_of(s, span)[level] = next;
}

static uint32_t owner_of(const fs_spans *s, uint32_t span) {
  return (uint32_t)s->word.at[span + OWNER];
}

static uint32_t levels_of(const fs_spans *s, uint32_t span) {
  return (uint32_t)(s->word.at[span + OWNER] >> 32);
}

/* Draws a number of levels; each further level has probability 1/4 (xorshift64). */
static uint32_t draw_levels(fs_spans *s) {
  s->random ^= s->random << 13;
  s->random ^= s->random >> 7;
  s->random ^= s->random << 17;
  uint32_t levels = 1;
  for (uint64_t bits = s->random; (bits & 3) == 0 && levels < FS_SPAN_LEVELS; bits >>= 2) {
    levels++;
  }
  return levels;
}

static fs_status new_span(fs_spans *s, uint32_t levels, uint32_t *out) {
  FS_ASSERT_SLOW(levels > 0 && levels <= FS_SPAN_LEVELS);
  uint32_t id = s->free_span[levels];
  if (id != 0) {
    s->free_span[levels] = next_of(s, id, 0);
  } else {
    id = (uint32_t)s->word.n;
    size_t words = LINKS + (levels + 1) / 2;
    FS_TRY(fs_vec_reserve(s->ctx, &s->word, s->word.n + words));
    s->word.n += words;
  }
  *out = id;
  return FSCHED_OK;
}

fs_status fs_spans_init(fsched_context *ctx, fs_spans *s) {
  *s = (fs_spans){.ctx = ctx};
  FS_TRY(fs_vec_reserve(ctx, &s->word, HEAD_WORDS));
  fs_spans_clear(s);
  return FSCHED_OK;
}

void fs_spans_release(fs_spans *s) { fs_vec_free(s->ctx, &s->word); }

void fs_spans_clear(fs_spans *s) {
  assert(s->word.at != NULL);
  s->word.n = HEAD_WORDS;
  s->random = 0x9e3779b97f4a7c15u;
  memset(s->free_span, 0, sizeof s->free_span);
  memset(s->word.at, 0, HEAD_WORDS * sizeof *s->word.at);
}

/* before[l]: the last span of level l that begins before `low`, or the head. */
static void find_before(const fs_spans *s, uint64_t low, uint32_t before[FS_SPAN_LEVELS]) {
  uint32_t at = 0;
  for (uint32_t l = FS_SPAN_LEVELS; l-- > 0;) {
    for (uint32_t next; (next = next_of(s, at, l)) != 0 && s->word.at[next + LOW] < low;) {
      at = next;
    }
    before[l] = at;
  }
}

/* Inserts a span after before[], which then holds the new span instead. */
static fs_status insert(fs_spans *s, uint32_t before[FS_SPAN_LEVELS], uint64_t low, uint64_t high,
                        uint32_t owner) {
  FS_ASSERT_SLOW(low < high);
  uint32_t id;
  uint32_t levels = draw_levels(s);
  FS_TRY(new_span(s, levels, &id));
  s->word.at[id + LOW] = low;
  s->word.at[id + HIGH] = high;
  s->word.at[id + OWNER] = (uint64_t)levels << 32 | owner;
  for (uint32_t l = 0; l < levels; l++) {
    set_next(s, id, l, next_of(s, before[l], l));
    set_next(s, before[l], l, id);
    before[l] = id;
  }
  return FSCHED_OK;
}

/* Removes `span`, which follows before[0] directly. */
static void erase(fs_spans *s, const uint32_t before[FS_SPAN_LEVELS], uint32_t span) {
  uint32_t levels = levels_of(s, span);
  for (uint32_t l = 0; l < levels; l++) {
    assert(next_of(s, before[l], l) == span);
    set_next(s, before[l], l, next_of(s, span, l));
  }
  set_next(s, span, 0, s->free_span[levels]);
  s->free_span[levels] = span;
}

fs_status fs_spans_take(fs_spans *s, uint64_t low, uint64_t high, uint32_t owner, fs_span_fn fn,
                        void *user) {
  assert(low < high);
  uint32_t before[FS_SPAN_LEVELS];
  find_before(s, low, before);
  uint64_t *left = s->word.at + before[0];
  uint64_t rest = low; /* the old end of a span that reaches beyond both sides */
  uint32_t rest_owner = owner_of(s, before[0]);
  if (before[0] != 0 && left[HIGH] > low) {
    rest = left[HIGH];
    left[HIGH] = low;
    FS_TRY(fn(user, rest_owner));
  }
  for (uint32_t at; (at = next_of(s, before[0], 0)) != 0 && s->word.at[at + LOW] < high;) {
    FS_TRY(fn(user, owner_of(s, at)));
    if (s->word.at[at + HIGH] > high) {
      s->word.at[at + LOW] = high;
      break;
    }
    erase(s, before, at);
  }
  FS_TRY(insert(s, before, low, high, owner));
  return rest > high ? insert(s, before, high, rest, rest_owner) : FSCHED_OK;
}
