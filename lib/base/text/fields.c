/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/fields.h"

#include <stdio.h>

static const char *kind_name(const fs_fields *f, uint32_t node) {
  switch (f->doc->node[node].kind) {
    case FS_NODE_MAPPING:
      return "a mapping";
    case FS_NODE_SEQUENCE:
      return "a list";
    case FS_NODE_SCALAR:
      break;
  }
  return f->doc->node[node].quoted ? "a text" : "a plain value";
}

static fs_status wrong_type(const fs_fields *f, uint32_t node, const char *wanted) {
  const fs_node *n = &f->doc->node[node];
  if (n->kind == FS_NODE_SCALAR) {
    return fs_fields_fail(f, f->type, node, "expected %s, found '%.40s'", wanted, n->text);
  }
  return fs_fields_fail(f, f->type, node, "expected %s, found %s", wanted, kind_name(f, node));
}

static fs_status with_hint(const fs_fields *f, fs_diag_code code, uint32_t node, const char *what,
                           const char *nearest) {
  char hint[128];
  (void)snprintf(hint, sizeof hint, "did you mean '%s'?", nearest == NULL ? "" : nearest);
  return fs_fail(f->ctx, FSCHED_BAD_INPUT, code, fs_node_pos(f->doc, node),
                 nearest == NULL ? NULL : hint, "%s '%s'", what, f->doc->node[node].text);
}

enum { MOST_FIELDS = 32 };

static fs_status unknown_key(const fs_fields *f, uint32_t node, const fs_field *field, size_t n) {
  const char *names[MOST_FIELDS];
  for (size_t i = 0; i < n; i++) {
    names[i] = field[i].name;
  }
  return with_hint(f, f->key, node, "unknown key", fs_nearest(f->doc->node[node].text, names, n));
}

fs_status fs_fields_mapping(const fs_fields *f, uint32_t node, const fs_field *field, size_t n,
                            uint32_t *value) {
  assert(n <= MOST_FIELDS);
  uint32_t key;
  FS_TRY(fs_fields_pairs(f, node, &key, NULL));
  for (size_t i = 0; i < n; i++) {
    value[i] = FS_NONE;
  }
  size_t guess = 0; /* the keys mostly come in the order of the table */
  while (key != FS_NONE) {
    const fs_node *k = &f->doc->node[key];
    size_t tried = 0;
    while (tried < n && strcmp(k->text, field[guess].name) != 0) {
      guess = guess + 1 == n ? 0 : guess + 1;
      tried++;
    }
    if (tried == n) {
      return unknown_key(f, key, field, n);
    }
    value[guess] = k->next;
    key = f->doc->node[k->next].next;
  }
  for (size_t i = 0; i < n; i++) {
    if (field[i].required && value[i] == FS_NONE) {
      return fs_fields_fail(f, f->key, node, "key '%s' is missing", field[i].name);
    }
  }
  return FSCHED_OK;
}

fs_status fs_fields_sequence(const fs_fields *f, uint32_t node, uint32_t *first, uint32_t *n) {
  const fs_node *s = &f->doc->node[node];
  if (s->kind != FS_NODE_SEQUENCE) {
    return wrong_type(f, node, "a list");
  }
  *first = s->child;
  if (n != NULL) {
    *n = s->n_children;
  }
  return FSCHED_OK;
}

fs_status fs_fields_pairs(const fs_fields *f, uint32_t node, uint32_t *first, uint32_t *n) {
  const fs_node *m = &f->doc->node[node];
  if (m->kind != FS_NODE_MAPPING) {
    return wrong_type(f, node, "a mapping");
  }
  for (uint32_t key = m->child; key != FS_NONE; key = f->doc->node[f->doc->node[key].next].next) {
    if (f->doc->node[key].kind != FS_NODE_SCALAR) {
      return wrong_type(f, key, "a key");
    }
  }
  *first = m->child;
  if (n != NULL) {
    *n = m->n_children / 2;
  }
  return FSCHED_OK;
}

fs_status fs_fields_text(const fs_fields *f, uint32_t node, const char **out) {
  if (f->doc->node[node].kind != FS_NODE_SCALAR) {
    return wrong_type(f, node, "a text");
  }
  *out = f->doc->node[node].text;
  return FSCHED_OK;
}

fs_status fs_fields_u64(const fs_fields *f, uint32_t node, uint64_t *out) {
  if (f->doc->node[node].kind != FS_NODE_SCALAR || f->doc->node[node].quoted ||
      !fs_node_u64(f->doc, node, out)) {
    return wrong_type(f, node, "a number from 0 to 2^64-1");
  }
  return FSCHED_OK;
}

fs_status fs_fields_u32(const fs_fields *f, uint32_t node, uint32_t *out) {
  uint64_t wide;
  FS_TRY(fs_fields_u64(f, node, &wide));
  if (wide > UINT32_MAX) {
    return wrong_type(f, node, "a number below 2^32");
  }
  *out = (uint32_t)wide;
  return FSCHED_OK;
}

fs_status fs_fields_i64(const fs_fields *f, uint32_t node, int64_t *out) {
  if (f->doc->node[node].kind != FS_NODE_SCALAR || f->doc->node[node].quoted ||
      !fs_node_i64(f->doc, node, out)) {
    return wrong_type(f, node, "a number from -2^63 to 2^63-1");
  }
  return FSCHED_OK;
}

fs_status fs_fields_bool(const fs_fields *f, uint32_t node, bool *out) {
  const fs_node *n = &f->doc->node[node];
  bool yes = n->kind == FS_NODE_SCALAR && !n->quoted && strcmp(n->text, "true") == 0;
  bool no = n->kind == FS_NODE_SCALAR && !n->quoted && strcmp(n->text, "false") == 0;
  if (!yes && !no) {
    return wrong_type(f, node, "true or false");
  }
  *out = yes;
  return FSCHED_OK;
}

fs_status fs_fields_word(const fs_fields *f, uint32_t node, const char *const *word, size_t n,
                         uint32_t *index) {
  const char *text = NULL;
  FS_TRY(fs_fields_text(f, node, &text));
  for (size_t i = 0; i < n; i++) {
    if (strcmp(text, word[i]) == 0) {
      *index = (uint32_t)i;
      return FSCHED_OK;
    }
  }
  char list[256];
  size_t used = 0;
  list[0] = '\0';
  for (size_t i = 0; i < n && used < sizeof list; i++) {
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", word[i]);
  }
  return wrong_type(f, node, list);
}

fs_status fs_fields_name(const fs_fields *f, uint32_t node, const fs_names *names, const char *what,
                         uint32_t *id) {
  const char *text = NULL;
  FS_TRY(fs_fields_text(f, node, &text));
  *id = fs_names_find(names, text, strlen(text));
  if (*id == FS_NONE) {
    char unknown[64];
    (void)snprintf(unknown, sizeof unknown, "unknown %s", what);
    return with_hint(f, f->reference, node, unknown,
                     fs_nearest(text, names->text.at, names->text.n));
  }
  return FSCHED_OK;
}

/* Returns the UTF-8 character at *s and moves past it; a malformed byte stands for itself. */
static uint32_t next_character(const unsigned char **s) {
  const unsigned char *p = *s;
  size_t more = p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 1 : p[0] < 0xF0 ? 2 : 3;
  uint32_t c = more == 0 ? p[0] : p[0] & (0x3Fu >> more);
  for (size_t i = 1; i <= more; i++) {
    if ((p[i] & 0xC0) != 0x80) {
      *s = p + 1;
      return p[0];
    }
    c = c << 6 | (p[i] & 0x3F);
  }
  *s = p + more + 1;
  return c;
}

static bool plain(uint32_t c) {
  return c < 0x7F ||
         (c >= 0xA0 && c != 0x2028 && c != 0x2029 && c != 0xFEFF && c != 0xFFFE && c != 0xFFFF);
}

static bool ascii(const char *s) {
  while (*s != '\0' && (unsigned char)*s < 0x7F) {
    s++;
  }
  return *s == '\0';
}

void fs_text_quoted(fs_text *t, const char *s) {
  if (ascii(s)) {
    fs_text_json_string(t, s);
    return;
  }
  fs_text_add(t, "\"", 1);
  for (const unsigned char *p = (const unsigned char *)s; *p != '\0';) {
    const char *from = (const char *)p;
    uint32_t c = next_character(&p);
    if (c == '"' || c == '\\') {
      fs_text_add(t, "\\", 1);
    }
    if (c < 0x20 || !plain(c)) {
      fs_text_printf(t, "\\u%04x", c);
    } else {
      fs_text_add(t, from, (size_t)((const char *)p - from));
    }
  }
  fs_text_add(t, "\"", 1);
}
