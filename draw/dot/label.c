/* SPDX-License-Identifier: Apache-2.0 */
/* Names in labels.  A name that is too long keeps both of its ends, as the number of a layer tends
 * to be at the front, and what is done with it at the back.  Lengths are tried from short to long;
 * names that are alike at one length go on to the next. */
#include "draw/dot/label.h"

#include "base/names.h"
#include "base/text/columns.h"

void fs_dot_escape(fs_text *t, const char *s) {
  fs_text shown;
  fs_text_init(&shown, t->ctx);
  fs_text_visible(&shown, s);
  for (size_t i = 0; i < shown.n; i++) {
    char c = shown.at[i];
    if (c == '\\') {
      fs_text_add(t, "\\\\", 2);
    } else if (c == '&') { /* Graphviz decodes entities even in plain labels */
      fs_text_add(t, "&amp;", 5);
    } else {
      fs_text_add(t, &c, 1);
    }
  }
  t->failed |= shown.failed;
  fs_text_drop(&shown);
}

static bool continues(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

static size_t characters(const char *s) {
  size_t n = 0;
  for (; *s != '\0'; s++) {
    n += !continues(*s);
  }
  return n;
}

static size_t skip(const char *s, size_t n) {
  size_t i = 0;
  while (n > 0 && s[i] != '\0') {
    i++;
    n -= !continues(s[i]);
  }
  return i;
}

/* Shortens a longer name to `most` characters, which include an ellipsis. */
static const char *cut(fs_arena *arena, const char *name, size_t length, size_t most) {
  static const char ellipsis[] = "\xE2\x80\xA6";
  size_t head = skip(name, most / 2), tail = skip(name, length - (most - 1 - most / 2));
  size_t rest = strlen(name + tail), dots = sizeof ellipsis - 1;
  char *text = fs_arena_alloc(arena, head + dots + rest + 1);
  if (text != NULL) {
    memcpy(text, name, head);
    memcpy(text + head, ellipsis, dots);
    memcpy(text + head + dots, name + tail, rest + 1);
  }
  return text;
}

typedef struct fs_short {
  fs_arena *arena;
  fs_names full, tried;   /* the distinct names; the texts of one round */
  FS_VEC(uint32_t) round; /* per full name: the length it has been cut to; FS_NONE: dropped */
  FS_VEC(const char *) text;
  FS_VEC(uint32_t) user; /* per tried text: the first full name that has it */
} fs_short;

/* One round: makes texts for all names that have none.  Names whose texts are equal lose them. */
static fs_status try_length(fs_short *h, size_t most) {
  fsched_context *ctx = h->arena->ctx;
  fs_names_free(&h->tried);
  fs_names_init(&h->tried, h->arena);
  h->user.n = 0;
  for (uint32_t i = 0; i < h->text.n; i++) {
    const char *name = h->full.text.at[i];
    size_t length = characters(name);
    if (h->text.at[i] == NULL) {
      h->text.at[i] = length <= most ? name : cut(h->arena, name, length, most);
      h->round.at[i] = (uint32_t)most;
    }
    if (h->text.at[i] == NULL) {
      return FSCHED_SYSTEM;
    }
    uint32_t id;
    bool added;
    FS_TRY(fs_names_intern(&h->tried, h->text.at[i], strlen(h->text.at[i]), &id, &added));
    if (added) {
      FS_TRY(fs_vec_push(ctx, &h->user, i));
    } else {
      h->round.at[i] = h->round.at[h->user.at[id]] = FS_NONE;
    }
  }
  for (uint32_t i = 0; i < h->text.n; i++) {
    h->text.at[i] = h->round.at[i] == FS_NONE ? NULL : h->text.at[i];
  }
  return FSCHED_OK;
}

static fs_status shorten(fs_short *h, const char *const *name, const char **out, uint32_t n) {
  static const size_t lengths[] = {24, 36, 48};
  fsched_context *ctx = h->arena->ctx;
  uint32_t *id;
  FS_TRY(fs_new(h->arena, &id, n));
  for (uint32_t i = 0; i < n; i++) {
    bool added;
    FS_TRY(fs_names_intern(&h->full, name[i], strlen(name[i]), &id[i], &added));
    if (added) {
      FS_TRY(fs_vec_push(ctx, &h->text, NULL));
      FS_TRY(fs_vec_push(ctx, &h->round, 0));
    }
  }
  for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
    FS_TRY(try_length(h, lengths[k]));
  }
  for (uint32_t i = 0; i < n; i++) {
    const char *text = h->text.at[id[i]];
    out[i] = text == NULL ? name[i] : text;
  }
  return FSCHED_OK;
}

fs_status fs_dot_shorten(fs_arena *arena, const char *const *name, const char **out, uint32_t n) {
  assert(n == 0 || (name != NULL && out != NULL));
  fs_short h = {.arena = arena};
  fs_names_init(&h.full, arena);
  fs_names_init(&h.tried, arena);
  fs_status status = shorten(&h, name, out, n);
  fs_names_free(&h.full);
  fs_names_free(&h.tried);
  fs_vec_free(arena->ctx, &h.round);
  fs_vec_free(arena->ctx, &h.text);
  fs_vec_free(arena->ctx, &h.user);
  return status;
}
