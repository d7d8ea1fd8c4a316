/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over libyaml's events with a stack of open collections.  libyaml counts its marks in
 * characters from the start of the text; a cursor that walks the text once turns them into lines
 * and byte columns.  libyaml accepts repeated keys, deep nesting, anchors and tags silently, so all
 * four are checked here. */
#include "base/text/node.h"

#include <stdio.h>
#include <yaml.h>

#include "base/names.h"

/* A place in the text; `index` counts characters as libyaml does. */
typedef struct text_cursor {
  const char *text;
  size_t length;
  size_t at, line_start; /* bytes */
  size_t index;
  uint32_t line;
} text_cursor;

typedef struct frame {
  uint32_t node;
  uint32_t last; /* newest child or FS_NONE */
} frame;

/* Texts that came lately, so that the keys of many like mappings share one copy. */
enum { RECENT = 1 << 10, LONGEST_RECENT = 16 };

/* The room for short texts is taken from the arena in pieces, and handed out without alignment. */
enum { TEXT_PIECE = 4096 };

typedef struct parser {
  fsched_context *ctx;
  fs_arena *arena;
  fs_arena nodes; /* holds the nodes alone, which grow in it */
  yaml_parser_t yaml;
  fs_doc *doc;
  struct {
    fs_node *at;
    size_t n, cap;
  } node;
  char *text; /* the rest of a piece */
  size_t text_room;
  const char *recent[RECENT];
  frame stack[FS_NODE_DEPTH];
  uint32_t depth;
  uint32_t documents;
  bool failed;        /* an error was reported, but parsing went on */
  fs_pos quoted;      /* the last text in quotes */
  size_t quoted_ends; /* the index of the character behind it; 0: there is none */
  text_cursor cursor;
  FS_VEC(uint32_t) keys; /* scratch of check_keys */
} parser;

/* libyaml's marks ascend, so the cursor only moves forward; an earlier mark leaves it in place. */
static void cursor_seek(text_cursor *c, size_t index) {
  while (c->index < index && c->at < c->length) {
    unsigned char byte = (unsigned char)c->text[c->at++];
    if (byte == '\n') {
      c->line++;
      c->line_start = c->at;
    }
    while (c->at < c->length && ((unsigned char)c->text[c->at] & 0xC0) == 0x80) {
      c->at++;
    }
    c->index++;
  }
}

static fs_pos cursor_pos(const text_cursor *c, uint32_t file) {
  return (fs_pos){file, c->line, (uint32_t)(c->at - c->line_start) + 1, 1};
}

/* Moves the cursor to `index`, or to the end of the line if that is earlier, and returns the bytes
 * passed. */
static uint32_t cursor_span(text_cursor *c, size_t index) {
  FS_ASSERT_SLOW(index >= c->index || c->at == c->length);
  size_t start = c->at;
  uint32_t line = c->line;
  const char *newline = NULL;
  cursor_seek(c, index);
  if (c->line != line) {
    newline = memchr(c->text + start, '\n', c->length - start);
  }
  size_t end = newline != NULL ? (size_t)(newline - c->text) : c->at;
  return (uint32_t)(end - start);
}

fs_pos fs_node_pos(const fs_doc *doc, uint32_t node) {
  FS_ASSERT_SLOW(node < doc->n_nodes);
  const fs_node *n = &doc->node[node];
  uint32_t file = node >= doc->overlay ? doc->overlay_file : doc->file;
  return (fs_pos){file, n->line, n->column, n->length == 0 ? 1 : n->length};
}

/* The text as a part of the document: an earlier copy, or a new one. */
static const char *keep_text(parser *p, const char *text, size_t n) {
  if (n > LONGEST_RECENT) {
    return fs_arena_strndup(p->arena, text, n);
  }
  uint64_t hash = n;
  for (size_t i = 0; i < n; i++) {
    hash = (hash ^ (unsigned char)text[i]) * 0x9e3779b97f4a7c15u;
  }
  const char **recent = &p->recent[hash >> 54];
  if (*recent != NULL && strncmp(*recent, text, n) == 0 && (*recent)[n] == '\0') {
    return *recent;
  }
  if (p->text_room <= n) {
    p->text = fs_arena_alloc(p->arena, TEXT_PIECE);
    p->text_room = p->text == NULL ? 0 : TEXT_PIECE;
  }
  if (p->text == NULL) {
    return NULL;
  }
  char *copy = p->text;
  memcpy(copy, text, n);
  copy[n] = '\0';
  p->text += n + 1;
  p->text_room -= n + 1;
  return *recent = copy;
}

static fs_pos pending_pos(const parser *p, uint32_t node) {
  const fs_node *n = &p->node.at[node];
  return (fs_pos){p->doc->file, n->line, n->column, n->length == 0 ? 1 : n->length};
}

/* Reports a quoted text that does not end, where it begins: the end of the file tells nothing. */
static fs_status unclosed_quote(const parser *p) {
  text_cursor c = {.text = p->cursor.text, .length = p->cursor.length, .line = 1};
  cursor_seek(&c, p->yaml.context_mark.index);
  const char *mark = c.at < c.length && c.text[c.at] == '"' ? "\"" : "'";
  return fs_fail(p->ctx, FSCHED_BAD_INPUT, FS_DIAG_YAML_SYNTAX, cursor_pos(&c, p->doc->file), NULL,
                 "not YAML: the quote that begins here is not closed: no %s follows", mark);
}

static fs_status syntax_error(parser *p) {
  const yaml_parser_t *y = &p->yaml;
  if (y->error == YAML_MEMORY_ERROR) {
    return fs_fail(p->ctx, FSCHED_SYSTEM, FS_DIAG_OUT_OF_MEMORY, FS_NOWHERE, NULL, "out of memory");
  }
  text_cursor c = {.text = p->cursor.text, .length = p->cursor.length, .line = 1};
  c.at = c.line_start = 0;
  if (y->error == YAML_READER_ERROR) { /* its offset is in bytes */
    const char *bad = c.text + fs_min(y->problem_offset, c.length);
    for (const char *s = c.text; s < bad; s++) {
      if (*s == '\n') {
        c.line++;
        c.line_start = (size_t)(s + 1 - c.text);
      }
    }
    c.at = (size_t)(bad - c.text);
  } else {
    cursor_seek(&c, y->problem_mark.index);
  }
  if (y->error == YAML_SCANNER_ERROR && y->context != NULL &&
      strstr(y->context, "quoted") != NULL && c.at >= c.length) {
    return unclosed_quote(p);
  }
  const char *problem = y->problem == NULL ? "malformed text" : y->problem;
  char quote[100];
  const char *hint = c.at < c.length && c.text[c.at] == '\t' ? "indent with spaces" : NULL;
  if (y->error == YAML_PARSER_ERROR && p->quoted_ends != 0 && c.index == p->quoted_ends) {
    (void)snprintf(quote, sizeof quote,
                   "the quote before it ends a text that begins in line %u, column %u",
                   p->quoted.line, p->quoted.column);
    hint = quote;
  }
  fs_pos pos = cursor_pos(&c, p->doc->file);
  if (y->error == YAML_PARSER_ERROR && y->context != NULL &&
      y->context_mark.line < y->problem_mark.line) {
    return fs_fail(p->ctx, FSCHED_BAD_INPUT, FS_DIAG_YAML_SYNTAX, pos, hint,
                   "not YAML: %s, %s that begins in line %zu", problem, y->context,
                   y->context_mark.line + 1);
  }
  return fs_fail(p->ctx, FSCHED_BAD_INPUT, FS_DIAG_YAML_SYNTAX, pos, hint, "not YAML: %s%s%s",
                 problem, y->context == NULL ? "" : ", ", y->context == NULL ? "" : y->context);
}

static fs_status make_room(parser *p) {
  size_t cap = p->node.cap == 0 ? 64 : p->node.cap * 2;
  fs_node *at = fs_arena_resize(&p->nodes, p->node.at, cap * sizeof *at);
  if (at == NULL) {
    return FSCHED_SYSTEM;
  }
  p->node.at = at;
  p->node.cap = cap;
  return FSCHED_OK;
}

/* Links a new node as the next child of the open collection. */
static fs_status add_node(parser *p, fs_node n) {
  FS_ASSERT_SLOW(p->depth <= FS_NODE_DEPTH);
  if (p->node.n >= FS_NONE - 1) {
    return fs_fail(p->ctx, FSCHED_BAD_INPUT, FS_DIAG_YAML_DEPTH, FS_NOWHERE, NULL,
                   "the file has too many nodes");
  }
  uint32_t id = (uint32_t)p->node.n;
  if (p->node.n == p->node.cap) {
    FS_TRY(make_room(p));
  }
  p->node.at[p->node.n++] = n;
  if (p->depth > 0) {
    frame *top = &p->stack[p->depth - 1];
    if (top->last == FS_NONE) {
      p->node.at[top->node].child = id;
    } else {
      p->node.at[top->last].next = id;
    }
    top->last = id;
    p->node.at[top->node].n_children++;
  }
  return FSCHED_OK;
}

static fs_status reject_extras(parser *p, const char *what, const yaml_mark_t *mark) {
  cursor_seek(&p->cursor, mark->index);
  p->failed = true;
  fs_report(p->ctx, FSCHED_ERROR, FS_DIAG_YAML_FEATURE, cursor_pos(&p->cursor, p->doc->file), NULL,
            "%s are not part of the graph format", what);
  return FSCHED_OK;
}

/* A key comes next when the mapping has an even number of children so far. */
static bool at_key(const parser *p) {
  if (p->depth == 0) {
    return false;
  }
  const fs_node *top = &p->node.at[p->stack[p->depth - 1].node];
  return top->kind == FS_NODE_MAPPING && top->n_children % 2 == 0;
}

static fs_status open_collection(parser *p, uint8_t kind, const yaml_event_t *e) {
  cursor_seek(&p->cursor, e->start_mark.index);
  fs_pos pos = cursor_pos(&p->cursor, p->doc->file);
  if (p->depth == FS_NODE_DEPTH) {
    return fs_fail(p->ctx, FSCHED_BAD_INPUT, FS_DIAG_YAML_DEPTH, pos, NULL,
                   "nested more than %d deep", FS_NODE_DEPTH);
  }
  if (at_key(p)) {
    return fs_fail(p->ctx, FSCHED_BAD_INPUT, FS_DIAG_WRONG_TYPE, pos, NULL,
                   "a key must be a plain name");
  }
  fs_node n = {.child = FS_NONE,
               .line = pos.line,
               .column = pos.column,
               .next = FS_NONE,
               .length = 1,
               .kind = kind & 3};
  FS_TRY(add_node(p, n));
  p->stack[p->depth++] = (frame){(uint32_t)p->node.n - 1, FS_NONE};
  return FSCHED_OK;
}

static fs_status add_scalar(parser *p, const yaml_event_t *e) {
  const char *text = (const char *)e->data.scalar.value;
  size_t length = e->data.scalar.length;
  cursor_seek(&p->cursor, e->start_mark.index);
  fs_pos pos = cursor_pos(&p->cursor, p->doc->file);
  pos.length = cursor_span(&p->cursor, e->end_mark.index);
  if (e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) {
    p->quoted = pos;
    p->quoted_ends = e->end_mark.index;
  }
  if (memchr(text, '\0', length) != NULL) {
    return fs_fail(p->ctx, FSCHED_BAD_INPUT, FS_DIAG_WRONG_TYPE, pos, NULL,
                   "text may not hold a NUL character");
  }
  fs_node n = {.text = keep_text(p, text, length),
               .line = pos.line,
               .column = pos.column,
               .next = FS_NONE,
               .length = fs_min(pos.length, FS_NODE_UNDERLINED) & FS_NODE_UNDERLINED,
               .kind = FS_NODE_SCALAR,
               .quoted = e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE};
  return n.text == NULL ? FSCHED_SYSTEM : add_node(p, n);
}

static bool same_text(const fs_node *a, const fs_node *b) {
  return a->text == b->text || strcmp(a->text, b->text) == 0;
}

static void report_repeated(parser *p, uint32_t first, uint32_t second) {
  p->failed = true;
  fs_report(p->ctx, FSCHED_ERROR, FS_DIAG_REPEATED_KEY, pending_pos(p, second), NULL,
            "key '%s' is already given in line %u", p->node.at[second].text,
            p->node.at[first].line);
}

/* Checks a mapping with many keys. */
static fs_status check_many_keys(parser *p) {
  fs_names names;
  fs_status status = FSCHED_OK;
  fs_names_init(&names, p->arena);
  for (size_t i = 0; i < p->keys.n && status == FSCHED_OK; i++) {
    uint32_t key = p->keys.at[i], first;
    status = fs_names_add_kept(&names, p->node.at[key].text, &first);
    if (status == FSCHED_OK && first != i) {
      report_repeated(p, p->keys.at[first], key);
    }
  }
  fs_names_free(&names);
  return status;
}

static fs_status check_keys(parser *p, uint32_t mapping) {
  FS_ASSERT_SLOW(p->node.at[mapping].kind == FS_NODE_MAPPING);
  enum { FEW = 24 };
  p->keys.n = 0;
  for (uint32_t key = p->node.at[mapping].child; key != FS_NONE;) {
    FS_ASSERT_SLOW(key < p->node.n && p->node.at[key].next != FS_NONE);
    FS_TRY(fs_vec_push(p->ctx, &p->keys, key));
    key = p->node.at[p->node.at[key].next].next;
  }
  if (p->keys.n > FEW) {
    return check_many_keys(p);
  }
  for (size_t i = 1; i < p->keys.n; i++) {
    for (size_t j = 0; j < i; j++) {
      if (same_text(&p->node.at[p->keys.at[j]], &p->node.at[p->keys.at[i]])) {
        report_repeated(p, p->keys.at[j], p->keys.at[i]);
        break;
      }
    }
  }
  return FSCHED_OK;
}

static bool has_tag(const yaml_event_t *e) {
  switch ((int)e->type) { /* of libyaml, which has more of them */
    case YAML_SCALAR_EVENT:
      return e->data.scalar.tag != NULL;
    case YAML_SEQUENCE_START_EVENT:
      return e->data.sequence_start.tag != NULL;
    case YAML_MAPPING_START_EVENT:
      return e->data.mapping_start.tag != NULL;
    default:
      return false;
  }
}

static bool has_anchor(const yaml_event_t *e) {
  switch ((int)e->type) { /* of libyaml, which has more of them */
    case YAML_SCALAR_EVENT:
      return e->data.scalar.anchor != NULL;
    case YAML_SEQUENCE_START_EVENT:
      return e->data.sequence_start.anchor != NULL;
    case YAML_MAPPING_START_EVENT:
      return e->data.mapping_start.anchor != NULL;
    default:
      return false;
  }
}

static fs_status take_event(parser *p, const yaml_event_t *e) {
  if (has_tag(e)) {
    FS_TRY(reject_extras(p, "tags", &e->start_mark));
  }
  if (has_anchor(e)) {
    FS_TRY(reject_extras(p, "anchors", &e->start_mark));
  }
  switch ((int)e->type) { /* of libyaml, which has more of them */
    case YAML_DOCUMENT_START_EVENT:
      if (++p->documents > 1) {
        cursor_seek(&p->cursor, e->start_mark.index);
        return fs_fail(p->ctx, FSCHED_BAD_INPUT, FS_DIAG_YAML_FEATURE,
                       cursor_pos(&p->cursor, p->doc->file), NULL,
                       "a second document begins here; one is expected");
      }
      return FSCHED_OK;
    case YAML_ALIAS_EVENT: {
      FS_TRY(reject_extras(p, "aliases", &e->start_mark));
      fs_pos pos = cursor_pos(&p->cursor, p->doc->file);
      return add_node(
          p, (fs_node){
                 .text = "", .line = pos.line, .column = pos.column, .next = FS_NONE, .length = 1});
    }
    case YAML_SCALAR_EVENT:
      return add_scalar(p, e);
    case YAML_SEQUENCE_START_EVENT:
      return open_collection(p, FS_NODE_SEQUENCE, e);
    case YAML_MAPPING_START_EVENT:
      return open_collection(p, FS_NODE_MAPPING, e);
    case YAML_MAPPING_END_EVENT:
      assert(p->depth > 0);
      p->depth--;
      return check_keys(p, p->stack[p->depth].node);
    case YAML_SEQUENCE_END_EVENT:
      assert(p->depth > 0);
      p->depth--;
      return FSCHED_OK;
    default:
      return FSCHED_OK;
  }
}

static fs_status parse_events(parser *p) {
  for (bool more = true; more;) {
    yaml_event_t event;
    if (!yaml_parser_parse(&p->yaml, &event)) {
      return syntax_error(p);
    }
    more = event.type != YAML_STREAM_END_EVENT;
    fs_status status = take_event(p, &event);
    yaml_event_delete(&event);
    FS_TRY(status);
  }
  if (p->node.n == 0) {
    return fs_fail(p->ctx, FSCHED_BAD_INPUT, FS_DIAG_YAML_SYNTAX, ((fs_pos){p->doc->file, 1, 1, 1}),
                   NULL, "the file is empty");
  }
  return FSCHED_OK;
}

/* Only complete trees are returned, including those with faults that did not end the parsing.  The
 * nodes stay where they are; the arena takes them over. */
static fs_status hand_over(parser *p) {
  assert(p->node.n > 0 && p->depth == 0);
  fs_doc *doc = p->doc;
  doc->node = fs_arena_resize(&p->nodes, p->node.at, p->node.n * sizeof *doc->node);
  if (doc->node == NULL) {
    return FSCHED_SYSTEM;
  }
  fs_arena_join(p->arena, &p->nodes);
  doc->n_nodes = (uint32_t)p->node.n;
  return p->failed ? FSCHED_BAD_INPUT : FSCHED_OK;
}

static const char byte_order_mark[] = "\xEF\xBB\xBF";
enum { MARK_BYTES = sizeof byte_order_mark - 1 };

static bool has_mark(const char *text, size_t length) {
  return length >= MARK_BYTES && memcmp(text, byte_order_mark, MARK_BYTES) == 0;
}

/* Parses a text that is registered as out->file. */
static fs_status parse_registered(fsched_context *ctx, fs_arena *arena, const char *text,
                                  size_t length, fs_doc *out) {
  parser p = {.ctx = ctx, .arena = arena, .doc = out};
  fs_arena_init(&p.nodes, ctx);
  p.cursor = (text_cursor){.text = text, .length = length, .line = 1};
  if (!yaml_parser_initialize(&p.yaml)) {
    return fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_OUT_OF_MEMORY, FS_NOWHERE, NULL, "out of memory");
  }
  yaml_parser_set_encoding(&p.yaml, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&p.yaml, (const unsigned char *)text, length);
  fs_status status = parse_events(&p);
  yaml_parser_delete(&p.yaml);
  if (status == FSCHED_OK) {
    status = hand_over(&p);
  }
  fs_arena_release(&p.nodes);
  fs_vec_free(ctx, &p.keys);
  return status;
}

fs_status fs_doc_parse(fsched_context *ctx, fs_arena *arena, const char *name, const char *text,
                       size_t length, fs_doc *out) {
  assert(name != NULL && (text != NULL || length == 0));
  *out = (fs_doc){.overlay = FS_NONE, .overlay_file = FS_NONE};
  if (has_mark(text, length)) {
    text += MARK_BYTES;
    length -= MARK_BYTES;
  }
  FS_TRY(fs_context_add_file(ctx, name, text, length, &out->file));
  return parse_registered(ctx, arena, text, length, out);
}

fs_status fs_doc_parse_owned(fsched_context *ctx, fs_arena *arena, const char *name, char *text,
                             size_t length, fs_doc *out) {
  assert(name != NULL && text != NULL);
  *out = (fs_doc){.overlay = FS_NONE, .overlay_file = FS_NONE};
  if (has_mark(text, length)) { /* what is shown has no mark */
    fs_status status = fs_doc_parse(ctx, arena, name, text, length, out);
    (void)fs_realloc(ctx, text, length + 1, 0);
    return status;
  }
  FS_TRY(fs_context_take_file(ctx, name, text, length, &out->file));
  return parse_registered(ctx, arena, text, length, out);
}

uint32_t fs_node_get(const fs_doc *doc, uint32_t mapping, const char *key) {
  FS_ASSERT_SLOW(mapping < doc->n_nodes);
  if (doc->node[mapping].kind != FS_NODE_MAPPING) {
    return FS_NONE;
  }
  for (uint32_t k = doc->node[mapping].child; k != FS_NONE;) {
    uint32_t value = doc->node[k].next;
    if (strcmp(doc->node[k].text, key) == 0) {
      return value;
    }
    k = doc->node[value].next;
  }
  return FS_NONE;
}

static bool parse_u64(const char *s, uint64_t *value) {
  if (s[0] == '\0' || (s[0] == '0' && s[1] != '\0')) {
    return false;
  }
  uint64_t v = 0;
  for (; *s != '\0'; s++) {
    if (*s < '0' || *s > '9') {
      return false;
    }
    unsigned digit = (unsigned)(*s - '0');
    if (v > (UINT64_MAX - digit) / 10) {
      return false;
    }
    v = v * 10 + digit;
  }
  *value = v;
  return true;
}

bool fs_node_u64(const fs_doc *doc, uint32_t node, uint64_t *value) {
  FS_ASSERT_SLOW(node < doc->n_nodes);
  const fs_node *n = &doc->node[node];
  return n->kind == FS_NODE_SCALAR && !n->quoted && parse_u64(n->text, value);
}

bool fs_node_i64(const fs_doc *doc, uint32_t node, int64_t *value) {
  FS_ASSERT_SLOW(node < doc->n_nodes);
  const fs_node *n = &doc->node[node];
  if (n->kind != FS_NODE_SCALAR || n->quoted) {
    return false;
  }
  bool negative = n->text[0] == '-';
  uint64_t magnitude;
  if (!parse_u64(n->text + negative, &magnitude) ||
      magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0)) {
    return false;
  }
  *value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
  return true;
}

/* Adds a node after all others, in the overlay's file. */
static fs_status push_overlay(fs_arena *arena, fs_doc *doc, fs_node n, fs_pos pos, uint32_t *id) {
  assert(doc->overlay == FS_NONE || doc->overlay_file == pos.file);
  fs_node *node;
  FS_TRY(fs_new(arena, &node, (size_t)doc->n_nodes + 1));
  memcpy(node, doc->node, doc->n_nodes * sizeof *node);
  if (doc->overlay == FS_NONE) {
    doc->overlay = doc->n_nodes;
    doc->overlay_file = pos.file;
  }
  n.line = pos.line;
  n.column = pos.column;
  n.length = fs_min(pos.length, FS_NODE_UNDERLINED) & FS_NODE_UNDERLINED;
  n.next = FS_NONE;
  node[doc->n_nodes] = n;
  *id = doc->n_nodes++;
  doc->node = node;
  return FSCHED_OK;
}

/* Puts `value` where the mapping has `key`, or key and value at its end. */
static fs_status link_pair(fs_arena *arena, fs_doc *doc, uint32_t mapping, const char *key,
                           uint32_t value, fs_pos pos) {
  assert(doc->node[mapping].kind == FS_NODE_MAPPING);
  assert(value < doc->n_nodes);
  uint32_t last = FS_NONE;
  for (uint32_t k = doc->node[mapping].child; k != FS_NONE;) {
    uint32_t old = doc->node[k].next;
    if (strcmp(doc->node[k].text, key) == 0) {
      doc->node[value].next = doc->node[old].next;
      doc->node[k].next = value;
      return FSCHED_OK;
    }
    last = old;
    k = doc->node[old].next;
  }
  uint32_t name;
  fs_node n = {.text = key, .kind = FS_NODE_SCALAR};
  FS_TRY(push_overlay(arena, doc, n, pos, &name));
  doc->node[name].next = value;
  *(last == FS_NONE ? &doc->node[mapping].child : &doc->node[last].next) = name;
  doc->node[mapping].n_children += 2;
  return FSCHED_OK;
}

fs_status fs_doc_set(fs_arena *arena, fs_doc *doc, uint32_t mapping, const char *key,
                     const char *text, fs_pos pos) {
  assert(mapping < doc->n_nodes && doc->node[mapping].kind == FS_NODE_MAPPING);
  uint32_t value;
  fs_node n = {.text = text, .kind = FS_NODE_SCALAR};
  FS_TRY(push_overlay(arena, doc, n, pos, &value));
  return link_pair(arena, doc, mapping, key, value, pos);
}

fs_status fs_doc_set_mapping(fs_arena *arena, fs_doc *doc, uint32_t mapping, const char *key,
                             fs_pos pos, uint32_t *value) {
  assert(mapping < doc->n_nodes && doc->node[mapping].kind == FS_NODE_MAPPING);
  *value = fs_node_get(doc, mapping, key);
  if (*value != FS_NONE && doc->node[*value].kind == FS_NODE_MAPPING) {
    return FSCHED_OK;
  }
  FS_TRY(
      push_overlay(arena, doc, (fs_node){.child = FS_NONE, .kind = FS_NODE_MAPPING}, pos, value));
  return link_pair(arena, doc, mapping, key, *value, pos);
}
