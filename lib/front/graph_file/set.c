/* SPDX-License-Identifier: Apache-2.0 */
/* Overrides of the target from the command line.  They are put into the tree of the target before
 * it is read, as if the file held them, at positions in a file "command line" with one override a
 * line.  Their values are checked, and faults shown, like any other. */
#include <stdio.h>

#include "front/graph_file/private.h"

/* The keys that can be set, by path.  "*" stands for the name of an entry of a list. */
static const char *const setting[] = {
    "time_unit",
    "concurrency",
    "launch",
    "wait",
    "sync",
    "sync_cost",
    "frontier.capacity",
    "barriers.count",
    "barriers.slots",
    "queues.*.counting",
    "queues.*.host",
    "resources.*.capacity",
    "memories.*.capacity",
    "memories.*.align",
    "memories.*.placement",
    "memories.*.backing",
    "memories.*.spill.on",
    "memories.*.spill.write.fixed",
    "memories.*.spill.write.rate",
    "memories.*.spill.write.per",
    "memories.*.spill.read.fixed",
    "memories.*.spill.read.rate",
    "memories.*.spill.read.per",
    "memories.*.host",
};
enum { SETTINGS = sizeof setting / sizeof setting[0] };
enum { ENTRIES = 256 }; /* entries of a list that a hint compares */

typedef struct override {
  fs_reader *r;
  fs_doc *doc;
  uint32_t target;
  uint32_t file, line;
  const char *text; /* KEY=VALUE */
} override;

static fs_pos key_pos(const override *o, size_t at, size_t length) {
  return (fs_pos){o->file, o->line, (uint32_t)at + 1, (uint32_t)(length == 0 ? 1 : length)};
}

static fs_status bad(const override *o, fs_pos pos, const char *near, const char *format,
                     const char *arg) {
  char hint[160];
  char text[256];
  (void)snprintf(hint, sizeof hint, "did you mean '%.100s'?", near == NULL ? "" : near);
  (void)snprintf(text, sizeof text, format, arg); /* formats in this file have one %s each */
  (void)fs_builder_fail(o->r->b, FS_DIAG_BAD_OVERRIDE, pos, near == NULL ? NULL : hint, "%s", text);
  return FSCHED_OK;
}

/* The entry of a list with this name, FS_NONE if there is none. */
static uint32_t find_entry(const override *o, const char *list, const char *name) {
  uint32_t node = fs_node_get(o->doc, o->target, list);
  if (node == FS_NONE || o->doc->node[node].kind != FS_NODE_SEQUENCE) {
    return FS_NONE;
  }
  for (uint32_t item = o->doc->node[node].child; item != FS_NONE; item = o->doc->node[item].next) {
    uint32_t value = fs_node_get(o->doc, item, "name");
    if (value != FS_NONE && o->doc->node[value].kind == FS_NODE_SCALAR &&
        strcmp(o->doc->node[value].text, name) == 0) {
      return item;
    }
  }
  return FS_NONE;
}

static const char *nearest_entry(const override *o, const char *list, const char *name) {
  uint32_t node = fs_node_get(o->doc, o->target, list);
  const char *candidate[ENTRIES];
  size_t n = 0;
  if (node == FS_NONE || o->doc->node[node].kind != FS_NODE_SEQUENCE ||
      o->r->options->untrusted) { /* the file may not be a target */
    return NULL;
  }
  for (uint32_t item = o->doc->node[node].child; item != FS_NONE && n < ENTRIES;
       item = o->doc->node[item].next) {
    uint32_t value = fs_node_get(o->doc, item, "name");
    if (value != FS_NONE && o->doc->node[value].kind == FS_NODE_SCALAR) {
      candidate[n++] = o->doc->node[value].text;
    }
  }
  return fs_nearest(name, candidate, n);
}

/* Matches "memories.NAME.spill.on" with "memories.*.spill.on"; NAME may hold dots. */
static bool match(const char *pattern, const char *key, size_t length, size_t *name_at,
                  size_t *name_length) {
  const char *star = strchr(pattern, '*');
  *name_at = *name_length = 0;
  if (star == NULL) {
    return strlen(pattern) == length && memcmp(pattern, key, length) == 0;
  }
  size_t before = (size_t)(star - pattern);
  size_t after = strlen(star + 1);
  if (length <= before + after || memcmp(pattern, key, before) != 0 ||
      memcmp(star + 1, key + length - after, after) != 0) {
    return false;
  }
  *name_at = before;
  *name_length = length - before - after;
  return true;
}

/* Walks the mappings of a dotted path, makes those that are missing, and sets the last key. */
static fs_status set_path(const override *o, uint32_t mapping, const char *path, const char *value,
                          fs_pos pos) {
  for (const char *dot; (dot = strchr(path, '.')) != NULL; path = dot + 1) {
    const char *key = fs_arena_strndup(o->r->arena, path, (size_t)(dot - path));
    if (key == NULL) {
      return FSCHED_SYSTEM;
    }
    FS_TRY(fs_doc_set_mapping(o->r->arena, o->doc, mapping, key, pos, &mapping));
  }
  return fs_doc_set(o->r->arena, o->doc, mapping, path, value, pos);
}

static fs_status set_entry(const override *o, const char *list, const char *name, size_t name_at,
                           const char *path, const char *value) {
  uint32_t entry = find_entry(o, list, name);
  if (entry == FS_NONE) {
    return bad(o, key_pos(o, name_at, strlen(name)), nearest_entry(o, list, name),
               strcmp(list, "memories") == 0 ? "the target has no memory '%.80s'"
               : strcmp(list, "queues") == 0 ? "the target has no queue '%.80s'"
                                             : "the target has no resource '%.80s'",
               name);
  }
  fs_pos pos = key_pos(o, (size_t)(value - o->text), strlen(value));
  return set_path(o, entry, path, value, pos);
}

/* Writes a setting with a name in place of its star. */
static void spell(const char *pattern, const char *name, size_t length, char *out, size_t size) {
  const char *star = strchr(pattern, '*');
  (void)snprintf(out, size, "%.*s%.*s%s", (int)(star - pattern), pattern, (int)length, name,
                 star + 1);
}

/* The name that the key "LIST.NAME.REST" may mean: between its first dot, and as many dots before
 * its end as the setting has behind its star.  False if it has too few dots. */
static bool named_part(const char *pattern, const char *key, size_t *at, size_t *length) {
  const char *dot = strchr(key, '.'), *end = key + strlen(key);
  for (const char *p = strchr(pattern, '*'); p != NULL && dot != NULL; p = strchr(p + 1, '.')) {
    if (*p == '.') {
      do {
        end--;
      } while (end > dot && *end != '.');
    }
  }
  if (dot == NULL || end <= dot + 1) {
    return false;
  }
  *at = (size_t)(dot + 1 - key);
  *length = (size_t)(end - dot) - 1;
  return true;
}

/* Whether the key is an entry's name and the rest of the setting, as in "cmx.align". */
static bool lacks_list(const override *o, const char *pattern, const char *key) {
  char name[160], list[32];
  const char *star = strchr(pattern, '*');
  size_t rest = strlen(star + 1), n = strlen(key);
  if (n <= rest || n - rest >= sizeof name || strcmp(key + n - rest, star + 1) != 0) {
    return false;
  }
  (void)snprintf(name, sizeof name, "%.*s", (int)(n - rest), key);
  (void)snprintf(list, sizeof list, "%.*s", (int)(star - pattern) - 1, pattern);
  return find_entry(o, list, name) != FS_NONE;
}

/* The setting that the key may mean.  It is one whose list alone the key lacks, as "cmx.align"
 * does; else one that the key may misspell, with the key's own name in it; else one that ends as
 * the key does, as "align" does, with NAME in it.  NULL: none. */
static const char *nearest_setting(const override *o, const char *key) {
  const char *candidate[SETTINGS];
  size_t n = 0;
  for (size_t i = 0; i < SETTINGS; i++) {
    char text[160];
    size_t at, length;
    if (strchr(setting[i], '*') == NULL) {
      candidate[n++] = setting[i];
    } else if (!o->r->options->untrusted && lacks_list(o, setting[i], key)) {
      (void)snprintf(text, sizeof text, "%.*s%.*s", (int)(strchr(setting[i], '*') - setting[i]),
                     setting[i], 120, key);
      return fs_arena_strndup(o->r->arena, text, strlen(text));
    } else if (named_part(setting[i], key, &at, &length)) {
      spell(setting[i], key + at, length, text, sizeof text);
      const char *kept = fs_arena_strndup(o->r->arena, text, strlen(text));
      if (kept != NULL) {
        candidate[n++] = kept;
      }
    }
  }
  const char *near = fs_nearest(key, candidate, n), *dot = strrchr(key, '.');
  const char *last = dot == NULL ? key : dot + 1;
  for (size_t i = 0; i < SETTINGS && near == NULL; i++) {
    const char *own = strrchr(setting[i], '.');
    if (own != NULL && strcmp(own + 1, last) == 0) {
      char text[160];
      spell(setting[i], "NAME", 4, text, sizeof text);
      near = fs_arena_strndup(o->r->arena, text, strlen(text));
    }
  }
  return near;
}

static fs_status apply_setting(const override *o, size_t length, const char *value) {
  for (size_t i = 0; i < SETTINGS; i++) {
    size_t name_at;
    size_t name_length;
    if (!match(setting[i], o->text, length, &name_at, &name_length)) {
      continue;
    }
    if (name_at == 0) {
      return set_path(o, o->target, setting[i], value,
                      key_pos(o, (size_t)(value - o->text), strlen(value)));
    }
    const char *name = fs_arena_strndup(o->r->arena, o->text + name_at, name_length);
    const char *list = fs_arena_strndup(o->r->arena, setting[i], name_at - 1);
    if (name == NULL || list == NULL) {
      return FSCHED_SYSTEM;
    }
    return set_entry(o, list, name, name_at, strchr(setting[i], '*') + 2, value);
  }
  const char *key = fs_arena_strndup(o->r->arena, o->text, length);
  if (key == NULL) {
    return FSCHED_SYSTEM;
  }
  return bad(o, key_pos(o, 0, length), nearest_setting(o, key),
             "'%.100s' is nothing that can be set", key);
}

static fs_status apply(override *o, const char *text, bool memory) {
  o->line++;
  o->text = fs_arena_strndup(o->r->arena, text, strlen(text));
  if (o->text == NULL) {
    return FSCHED_SYSTEM;
  }
  const char *equals = strrchr(o->text, '=');
  if (equals == NULL || equals == o->text) {
    return bad(o, key_pos(o, 0, strlen(text)), NULL,
               memory ? "'%.100s' is not NAME=CAPACITY" : "'%.100s' is not KEY=VALUE", text);
  }
  size_t length = (size_t)(equals - o->text);
  if (!memory) {
    return apply_setting(o, length, equals + 1);
  }
  const char *name = fs_arena_strndup(o->r->arena, o->text, length);
  return name == NULL ? FSCHED_SYSTEM : set_entry(o, "memories", name, 0, "capacity", equals + 1);
}

static fs_status apply_all(override *o) {
  const fsched_read_options *options = o->r->options;
  for (size_t i = 0; i < options->n_memory_overrides; i++) {
    FS_TRY(apply(o, options->memory_overrides[i], true));
  }
  for (size_t i = 0; i < options->n_target_overrides; i++) {
    FS_TRY(apply(o, options->target_overrides[i], false));
  }
  return FSCHED_OK;
}

fs_status fs_read_overrides(fs_reader *r, fs_doc *doc, uint32_t target) {
  const fsched_read_options *options = r->options;
  if (options->n_memory_overrides + options->n_target_overrides == 0 ||
      doc->node[target].kind != FS_NODE_MAPPING) {
    return FSCHED_OK;
  }
  fs_text all;
  fs_text_init(&all, r->ctx);
  for (size_t i = 0; i < options->n_memory_overrides; i++) {
    fs_text_printf(&all, "%s\n", options->memory_overrides[i]);
  }
  for (size_t i = 0; i < options->n_target_overrides; i++) {
    fs_text_printf(&all, "%s\n", options->target_overrides[i]);
  }
  override o = {.r = r, .doc = doc, .target = target};
  fs_status status = all.failed
                         ? FSCHED_SYSTEM
                         : fs_context_add_file(r->ctx, "command line", all.at, all.n, &o.file);
  fs_text_drop(&all);
  FS_TRY(status);
  fs_builder_options_file(r->b, o.file);
  return apply_all(&o);
}
