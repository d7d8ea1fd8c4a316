/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over libyaml's events.  libyaml counts its marks in characters from the start of the
 * text; a cursor that walks the text once turns them into lines and byte columns.  libyaml accepts
 * repeated keys, deep nesting, anchors and tags silently, so all four are checked here. */
#include "base/text/events.h"

#include <stdio.h>
#include <yaml.h>

#include "base/text/tree.h"

/* A place in the text; `index` counts characters as libyaml does. */
typedef struct text_cursor {
  const char *text;
  size_t length;
  size_t at, line_start; /* bytes */
  size_t index;
  uint32_t line;
} text_cursor;

typedef struct parser {
  fsched_context *ctx;
  yaml_parser_t yaml;
  uint32_t file;
  uint32_t documents;
  bool failed;        /* an error was reported, but parsing went on */
  fs_pos quoted;      /* the last text in quotes */
  size_t quoted_ends; /* the index of the character behind it; 0: there is none */
  text_cursor cursor;
  fs_tree tree;
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

static fs_pos scalar_pos(const parser *p, const fs_node *n) {
  return (fs_pos){p->file, n->line, n->column, n->length == 0 ? 1 : n->length};
}

/* Reports a quoted text that does not end, where it begins: the end of the file tells nothing. */
static fs_status unclosed_quote(const parser *p) {
  text_cursor c = {.text = p->cursor.text, .length = p->cursor.length, .line = 1};
  cursor_seek(&c, p->yaml.context_mark.index);
  const char *mark = c.at < c.length && c.text[c.at] == '"' ? "\"" : "'";
  return fs_fail(p->ctx, FSCHED_BAD_INPUT, FS_DIAG_YAML_SYNTAX, cursor_pos(&c, p->file), NULL,
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
  fs_pos pos = cursor_pos(&c, p->file);
  if (y->error == YAML_PARSER_ERROR && y->context != NULL &&
      y->context_mark.line < y->problem_mark.line) {
    return fs_fail(p->ctx, FSCHED_BAD_INPUT, FS_DIAG_YAML_SYNTAX, pos, hint,
                   "not YAML: %s, %s that begins in line %zu", problem, y->context,
                   y->context_mark.line + 1);
  }
  return fs_fail(p->ctx, FSCHED_BAD_INPUT, FS_DIAG_YAML_SYNTAX, pos, hint, "not YAML: %s%s%s",
                 problem, y->context == NULL ? "" : ", ", y->context == NULL ? "" : y->context);
}

static fs_status too_many_nodes(parser *p) {
  return fs_fail(p->ctx, FSCHED_BAD_INPUT, FS_DIAG_YAML_DEPTH, FS_NOWHERE, NULL,
                 "the file has too many nodes");
}

static fs_status add_node(parser *p, fs_node n) {
  return fs_tree_has_room(&p->tree) ? fs_tree_add(&p->tree, n) : too_many_nodes(p);
}

static fs_status reject_extras(parser *p, const char *what, const yaml_mark_t *mark) {
  cursor_seek(&p->cursor, mark->index);
  p->failed = true;
  fs_report(p->ctx, FSCHED_ERROR, FS_DIAG_YAML_FEATURE, cursor_pos(&p->cursor, p->file), NULL,
            "%s are not part of the graph format", what);
  return FSCHED_OK;
}

/* A key comes next when the mapping has an even number of children so far. */
static bool at_key(const parser *p) {
  if (p->tree.depth == 0) {
    return false;
  }
  const fs_node *top = &p->tree.at[p->tree.stack[p->tree.depth - 1].node];
  return top->kind == FS_NODE_MAPPING && top->n_children % 2 == 0;
}

static fs_status open_collection(parser *p, fs_node_kind kind, const yaml_event_t *e) {
  cursor_seek(&p->cursor, e->start_mark.index);
  fs_pos pos = cursor_pos(&p->cursor, p->file);
  if (p->tree.depth == FS_NODE_DEPTH) {
    return fs_fail(p->ctx, FSCHED_BAD_INPUT, FS_DIAG_YAML_DEPTH, pos, NULL,
                   "nested more than %d deep", FS_NODE_DEPTH);
  }
  if (at_key(p)) {
    return fs_fail(p->ctx, FSCHED_BAD_INPUT, FS_DIAG_WRONG_TYPE, pos, NULL,
                   "a key must be a plain name");
  }
  if (!fs_tree_has_room(&p->tree)) {
    return too_many_nodes(p);
  }
  return fs_tree_open(&p->tree, kind, pos.line, pos.column);
}

/* Closes the newest collection, and reports keys that it repeats. */
static fs_status close_collection(parser *p) {
  fs_tree *t = &p->tree;
  FS_TRY(fs_tree_close(t));
  for (size_t i = 0; i < t->repeated.n; i += 2) {
    const fs_node *first = &t->at[t->repeated.at[i]], *second = &t->at[t->repeated.at[i + 1]];
    p->failed = true;
    fs_report(p->ctx, FSCHED_ERROR, FS_DIAG_REPEATED_KEY, scalar_pos(p, second), NULL,
              "key '%s' is already given in line %u", second->text, first->line);
  }
  return FSCHED_OK;
}

static fs_status add_scalar(parser *p, const yaml_event_t *e) {
  const char *text = (const char *)e->data.scalar.value;
  size_t length = e->data.scalar.length;
  cursor_seek(&p->cursor, e->start_mark.index);
  fs_pos pos = cursor_pos(&p->cursor, p->file);
  pos.length = cursor_span(&p->cursor, e->end_mark.index);
  if (e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) {
    p->quoted = pos;
    p->quoted_ends = e->end_mark.index;
  }
  if (memchr(text, '\0', length) != NULL) {
    return fs_fail(p->ctx, FSCHED_BAD_INPUT, FS_DIAG_WRONG_TYPE, pos, NULL,
                   "text may not hold a NUL character");
  }
  fs_node n = {.text = fs_tree_text(&p->tree, text, length, length),
               .line = pos.line,
               .column = pos.column,
               .next = FS_NONE,
               .length = fs_min(pos.length, FS_NODE_UNDERLINED) & FS_NODE_UNDERLINED,
               .kind = FS_NODE_SCALAR,
               .quoted = e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE};
  return n.text == NULL ? FSCHED_SYSTEM : add_node(p, n);
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
                       cursor_pos(&p->cursor, p->file), NULL,
                       "a second document begins here; one is expected");
      }
      return FSCHED_OK;
    case YAML_ALIAS_EVENT: {
      FS_TRY(reject_extras(p, "aliases", &e->start_mark));
      fs_pos pos = cursor_pos(&p->cursor, p->file);
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
    case YAML_SEQUENCE_END_EVENT:
      return close_collection(p);
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
  if (p->tree.n == 0) {
    return fs_fail(p->ctx, FSCHED_BAD_INPUT, FS_DIAG_YAML_SYNTAX, ((fs_pos){p->file, 1, 1, 1}),
                   NULL, "the file is empty");
  }
  return FSCHED_OK;
}

/* Only complete trees are returned, including those with faults that did not end the parsing. */
static fs_status hand_over(parser *p, fs_doc *out) {
  FS_TRY(fs_tree_hand_over(&p->tree, out));
  return p->failed ? FSCHED_BAD_INPUT : FSCHED_OK;
}

fs_status fs_events_parse(fsched_context *ctx, fs_arena *arena, const char *text, size_t length,
                          fs_doc *out) {
  parser p = {.ctx = ctx, .file = out->file};
  p.cursor = (text_cursor){.text = text, .length = length, .line = 1};
  if (!yaml_parser_initialize(&p.yaml)) {
    return fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_OUT_OF_MEMORY, FS_NOWHERE, NULL, "out of memory");
  }
  fs_tree_init(&p.tree, ctx, arena);
  yaml_parser_set_encoding(&p.yaml, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&p.yaml, (const unsigned char *)text, length);
  fs_status status = parse_events(&p);
  yaml_parser_delete(&p.yaml);
  if (status == FSCHED_OK) {
    status = hand_over(&p, out);
  }
  fs_tree_free(&p.tree);
  return status;
}
