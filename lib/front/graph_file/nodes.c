/* SPDX-License-Identifier: Apache-2.0 */
/* Typed access to the nodes of a graph file. */
#include <stdio.h>

#include "base/text/size_text.h"
#include "front/graph_file/private.h"

void fs_read_fail(fs_reader *r, fs_diag_code code, uint32_t node, const char *hint,
                  const char *format, ...) {
  FS_ASSERT_SLOW(node < r->doc->n_nodes && format != NULL);
  char text[512];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  (void)fs_builder_fail(r->b, code, fs_node_pos(r->doc, node), hint, "%s", text);
}

/* Writes "did you mean 'x'?" to `out`; NULL when no name is near. */
static const char *mean(char *out, size_t size, const char *near) {
  if (near == NULL) {
    return NULL;
  }
  (void)snprintf(out, size, "did you mean '%.100s'?", near);
  return out;
}

static const char *describe(const fs_node *n) {
  switch (n->kind) {
    case FS_NODE_SEQUENCE:
      return "a list";
    case FS_NODE_MAPPING:
      return "a mapping";
    case FS_NODE_SCALAR:
      break;
  }
  return n->text[0] == '\0' ? "nothing" : "text";
}

static void unknown_key(fs_reader *r, uint32_t node, const char *what, const fs_key *keys,
                        size_t n_keys) {
  const char *name[FS_MAX_KEYS] = {0};
  for (size_t i = 0; i < n_keys; i++) {
    name[i] = keys[i].name;
  }
  char hint[400];
  const char *text = fs_read_node(r, node)->text;
  const char *shown = mean(hint, sizeof hint, fs_nearest(text, name, n_keys));
  if (shown == NULL) {
    size_t n = (size_t)snprintf(hint, sizeof hint, "its keys are");
    for (size_t i = 0; i < n_keys && n < sizeof hint; i++) {
      if (!keys[i].later) {
        n += (size_t)snprintf(hint + n, sizeof hint - n, "%s %s", i == 0 ? "" : ",", name[i]);
      }
    }
    shown = hint;
  }
  fs_read_fail(r, FS_DIAG_UNKNOWN_KEY, node, shown, "%s has no key '%.80s'", what, text);
}

bool fs_read_keys(fs_reader *r, uint32_t node, const char *what, const fs_key *keys, size_t n_keys,
                  uint32_t *value) {
  assert(n_keys <= FS_MAX_KEYS);
  for (size_t i = 0; i < n_keys; i++) {
    value[i] = FS_NONE;
  }
  const fs_node *n = fs_read_node(r, node);
  if (n->kind != FS_NODE_MAPPING) {
    fs_read_fail(r, FS_DIAG_WRONG_TYPE, node, NULL, "%s must be a mapping, not %s", what,
                 describe(n));
    return false;
  }
  size_t i = 0; /* the keys mostly come in the order of the table */
  for (uint32_t key = n->child; key != FS_NONE;) {
    const fs_node *k = fs_read_node(r, key);
    size_t tried = 0;
    while (tried < n_keys && !fs_text_same(keys[i].name, k->text)) {
      i = i + 1 == n_keys ? 0 : i + 1;
      tried++;
    }
    if (tried == n_keys) {
      unknown_key(r, key, what, keys, n_keys);
    } else if (keys[i].later) {
      fs_read_fail(r, FS_DIAG_UNSUPPORTED, key, NULL, "this version does not support '%s'",
                   keys[i].name);
      fs_builder_incomplete(r->b);
    } else {
      value[i] = k->next;
    }
    key = fs_read_node(r, k->next)->next;
  }
  return true;
}

bool fs_read_list(fs_reader *r, uint32_t node, const char *what, uint32_t *first) {
  FS_ASSERT_SLOW(node < r->doc->n_nodes);
  const fs_node *n = fs_read_node(r, node);
  *first = n->kind == FS_NODE_SEQUENCE ? n->child : FS_NONE;
  if (n->kind == FS_NODE_SEQUENCE ||
      (n->kind == FS_NODE_SCALAR && n->text[0] == '\0' && !n->quoted)) {
    return true;
  }
  char hint[120];
  (void)snprintf(hint, sizeof hint, "write [%.60s]", n->kind == FS_NODE_SCALAR ? n->text : "...");
  fs_read_fail(r, FS_DIAG_WRONG_TYPE, node, n->kind == FS_NODE_SCALAR ? hint : NULL,
               "%s must be a list, not %s", what, describe(n));
  return false;
}

bool fs_read_name(fs_reader *r, uint32_t node, const char *what, const char **name) {
  FS_ASSERT_SLOW(node < r->doc->n_nodes);
  const fs_node *n = fs_read_node(r, node);
  if (n->kind != FS_NODE_SCALAR || n->text[0] == '\0') {
    fs_read_fail(r, FS_DIAG_WRONG_TYPE, node, NULL, "%s must be text, not %s", what, describe(n));
    return false;
  }
  *name = n->text;
  return true;
}

/* Whether a text is a whole number, however large or negative: such a number is out of range, not
 * of a wrong type. */
static bool looks_whole(const char *s) {
  s += *s == '-';
  return *s != '\0' && s[strspn(s, "0123456789")] == '\0';
}

static void bad_number(fs_reader *r, uint32_t node, const char *what, const char *kind,
                       uint64_t least, uint64_t most) {
  const fs_node *n = fs_read_node(r, node);
  if (n->kind == FS_NODE_SCALAR && !n->quoted && looks_whole(n->text) &&
      !(n->text[0] == '0' && n->text[1] != '\0')) {
    fs_read_fail(r, FS_DIAG_OUT_OF_RANGE, node, NULL, "%s is %.40s, outside %llu .. %llu", what,
                 n->text, (unsigned long long)least, (unsigned long long)most);
  } else if (n->kind == FS_NODE_SCALAR && n->text[0] != '\0') {
    kind = n->quoted ? "numbers stand without quotes" : kind;
    fs_read_fail(r, FS_DIAG_WRONG_TYPE, node, kind, "%s must be a whole number, not %s'%.60s'",
                 what, n->quoted ? "the text " : "", n->text);
  } else {
    fs_read_fail(r, FS_DIAG_WRONG_TYPE, node, kind, "%s must be a whole number, not %s", what,
                 describe(n));
  }
}

bool fs_read_number(fs_reader *r, uint32_t node, const char *what, uint64_t least, uint64_t most,
                    uint64_t *value) {
  FS_ASSERT_SLOW(node < r->doc->n_nodes && least <= most);
  uint64_t v;
  if (!fs_node_u64(r->doc, node, &v) || v < least || v > most) {
    bad_number(r, node, what, "decimal digits only", least, most);
    return false;
  }
  *value = v;
  return true;
}

bool fs_read_size(fs_reader *r, uint32_t node, const char *what, uint64_t *value) {
  FS_ASSERT_SLOW(node < r->doc->n_nodes);
  const fs_node *n = fs_read_node(r, node);
  if (n->kind == FS_NODE_SCALAR && !n->quoted && fs_size_has_unit(n->text)) {
    if (fs_size_parse(n->text, FSCHED_MAX_SIZE, value)) {
      return true;
    }
    fs_read_fail(r, FS_DIAG_OUT_OF_RANGE, node, NULL, "%s is %.40s, outside 0 .. %llu", what,
                 n->text, (unsigned long long)FSCHED_MAX_SIZE);
    return false;
  }
  uint64_t v;
  if (!fs_node_u64(r->doc, node, &v) || v > FSCHED_MAX_SIZE) {
    bad_number(r, node, what, "bytes in decimal digits, or like 64KiB, 2MiB, 1GiB", 0,
               FSCHED_MAX_SIZE);
    return false;
  }
  *value = v;
  return true;
}

bool fs_read_choice(fs_reader *r, uint32_t node, const char *what, const char *const *word,
                    size_t n_words, uint32_t *index) {
  FS_ASSERT_SLOW(node < r->doc->n_nodes && n_words > 0);
  const char *text;
  if (!fs_read_name(r, node, what, &text)) {
    return false;
  }
  for (uint32_t i = 0; i < n_words; i++) {
    if (strcmp(text, word[i]) == 0) {
      *index = i;
      return true;
    }
  }
  char hint[200];
  const char *shown = mean(hint, sizeof hint, fs_nearest(text, word, n_words));
  if (shown == NULL) {
    size_t n = (size_t)snprintf(hint, sizeof hint, "it can be");
    for (size_t i = 0; i < n_words && n < sizeof hint; i++) {
      n += (size_t)snprintf(hint + n, sizeof hint - n, "%s %s", i == 0 ? "" : ",", word[i]);
    }
    shown = hint;
  }
  fs_read_fail(r, FS_DIAG_UNKNOWN_VALUE, node, shown, "%s cannot be '%.80s'", what, text);
  return false;
}

bool fs_read_flag(fs_reader *r, uint32_t node, const char *what, int *value) {
  FS_ASSERT_SLOW(node < r->doc->n_nodes);
  static const char *const words[] = {"true", "false"};
  uint32_t index;
  if (!fs_read_choice(r, node, what, words, 2, &index)) {
    return false;
  }
  *value = index == 0;
  return true;
}

void fs_read_unknown(fs_reader *r, uint32_t node, const char *what, fs_builder_kind kind,
                     const char *name) {
  FS_ASSERT_SLOW(node < r->doc->n_nodes && kind < FS_KIND_SYNC);
  enum { HINTED = 50 };
  if (fs_builder_lost(r->b, kind)) {
    return; /* an error is reported already */
  }
  char hint[160];
  const fs_names *names = fs_builder_names(r->b, kind);
  /* The search is linear, and faults may be thousands: only the first ones get a hint. */
  bool shown = fsched_diag_errors(r->ctx) < HINTED;
  const char *near = shown ? fs_nearest(name, names->text.at, names->text.n) : NULL;
  fs_read_fail(r, FS_DIAG_UNKNOWN_NAME, node, mean(hint, sizeof hint, near),
               "there is no %s '%.80s'", what, name);
}

bool fs_read_reference(fs_reader *r, uint32_t node, const char *what, fs_builder_kind kind,
                       uint32_t *id) {
  FS_ASSERT_SLOW(node < r->doc->n_nodes && kind < FS_KIND_SYNC);
  const fs_node *n = fs_read_node(r, node);
  if (n->kind != FS_NODE_SCALAR || n->text[0] == '\0') {
    fs_read_fail(r, FS_DIAG_WRONG_TYPE, node, NULL, "the name of a %s must be text, not %s", what,
                 describe(n));
    return false;
  }
  const char *name = n->text;
  *id = fs_names_find(fs_builder_names(r->b, kind), name, strlen(name));
  if (*id == FS_NONE) {
    fs_read_unknown(r, node, what, kind, name);
    return false;
  }
  return true;
}

void fs_read_locate(fs_reader *r, uint32_t node) {
  FS_ASSERT_SLOW(node < r->doc->n_nodes);
  fs_builder_locate(r->b, fs_node_pos(r->doc, node));
}
