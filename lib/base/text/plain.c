/* SPDX-License-Identifier: Apache-2.0 */
/* A recursive descent over the text, without tokens in between.
 *
 * Where a block collection begins, its column is known; it ends at the first line that begins at
 * another column.  As each collection looks only whether a line begins at its own column, a line at
 * a column that no open collection has is left over at the end, and the reader gives up: that line
 * may go on with a scalar, or be a fault.  The columns within flow collections do not matter.
 *
 * A scalar is a key if a colon follows on its line, at most LONGEST_KEY characters from its start;
 * libyaml looks no further either.  A function that returns false has given up, or, if `status`
 * says so, has run out of memory. */
#include "base/text/plain.h"

#include "base/text/tree.h"

enum { LONGEST_KEY = 1024 };

/* What a character may be; 0: none of these, as tabs and all beyond ASCII are. */
enum {
  PRINTABLE = 1, /* in a comment */
  QUOTABLE = 2,  /* in quotes: all printable ones but the backslash */
  IN_BLOCK = 4,  /* in a plain scalar of a block, behind its first character */
  IN_FLOW = 8,   /* the same in a flow collection */
  FIRST = 16     /* begins a plain scalar */
};

typedef struct plain_reader {
  fs_tree tree;
  const char *at, *end;
  const char *line_start;
  uint32_t line;
  fs_status status;
  uint8_t class[UINT8_MAX + 1];
} plain_reader;

/* A scalar on the present line. */
typedef struct plain_scalar {
  const char *start;
  const char *text; /* behind the quote, if there is one */
  size_t length;    /* of the text */
  size_t span;      /* with quotes */
  bool quoted;
} plain_scalar;

static void set_classes(plain_reader *r) {
  for (unsigned c = ' '; c <= '~'; c++) {
    r->class[c] = PRINTABLE | QUOTABLE | IN_BLOCK | IN_FLOW | FIRST;
  }
  r->class['\\'] &= (uint8_t)~QUOTABLE;
  r->class[' '] = PRINTABLE | QUOTABLE;
  r->class[':'] = PRINTABLE | QUOTABLE; /* a scalar goes on behind some of them */
  for (const char *c = ",[]{}?"; *c != '\0'; c++) {
    r->class[(unsigned char)*c] = PRINTABLE | QUOTABLE | IN_BLOCK;
  }
  for (const char *c = "-#&*!|>'\"%@`"; *c != '\0'; c++) {
    r->class[(unsigned char)*c] &= (uint8_t)~FIRST;
  }
}

static bool is(const plain_reader *r, const char *p, unsigned class) {
  return p < r->end && (r->class[(unsigned char)*p] & class) != 0;
}

/* Is this character at `p`? */
static bool has(const plain_reader *r, const char *p, char c) { return p < r->end && *p == c; }

/* Is there a space, the end of the line, or that of the text? */
static bool is_gap(const plain_reader *r, const char *p) {
  return p >= r->end || *p == ' ' || *p == '\n';
}

static uint32_t column_of(const plain_reader *r, const char *p) {
  return (uint32_t)(p - r->line_start) + 1;
}

/* Does an entry of a block list begin here? */
static bool at_entry(const plain_reader *r) { return has(r, r->at, '-') && is_gap(r, r->at + 1); }

/* Passes a comment.  What stands before it must be apart from it. */
static bool pass_comment(plain_reader *r, const char *from) {
  if (r->at == from && r->at != r->line_start) {
    return false;
  }
  while (is(r, r->at, PRINTABLE)) {
    r->at++;
  }
  return r->at == r->end || *r->at == '\n';
}

/* Passes spaces, comments and ends of lines. */
static bool pass_gap(plain_reader *r) {
  const char *from = r->at;
  while (r->at < r->end) {
    if (*r->at == ' ') {
      r->at++;
    } else if (*r->at == '\n') {
      r->line_start = ++r->at;
      r->line++;
    } else if (*r->at != '#') {
      return true;
    } else if (!pass_comment(r, from)) {
      return false;
    }
  }
  return true;
}

/* Passes a gap that ends the line or the text. */
static bool end_line(plain_reader *r) {
  uint32_t line = r->line;
  return pass_gap(r) && (r->at == r->end || r->line != line);
}

/* Text in quotes that goes on, as 'it''s' does, is not followed by what may follow a scalar. */
static bool read_quoted(plain_reader *r, plain_scalar *s) {
  const char *p = r->at + 1;
  while (is(r, p, QUOTABLE) && *p != *r->at) {
    p++;
  }
  if (!has(r, p, *r->at)) {
    return false;
  }
  *s = (plain_scalar){.start = r->at,
                      .text = r->at + 1,
                      .length = (size_t)(p - r->at) - 1,
                      .span = (size_t)(p - r->at) + 1,
                      .quoted = true};
  r->at = p + 1;
  return true;
}

/* A dash begins a number or a name, but no marker of documents; nor do dots. */
static bool begins_plain(const plain_reader *r) {
  if (has(r, r->at, '.')) {
    return !has(r, r->at + 1, '.');
  }
  return is(r, r->at + has(r, r->at, '-'), FIRST);
}

/* Reads words with spaces between them.  A colon within a word is a part of it in blocks; versions
 * of libyaml differ in what it is in flow collections. */
static bool read_plain(plain_reader *r, bool flow, plain_scalar *s) {
  unsigned class = flow ? IN_FLOW : IN_BLOCK;
  if (!begins_plain(r)) {
    return false;
  }
  const char *end, *p = r->at;
  do {
    while (is(r, p, class) || (!flow && has(r, p, ':') && is(r, p + 1, IN_BLOCK))) {
      p++;
    }
    end = p;
    while (has(r, p, ' ')) {
      p++;
    }
  } while (p != end && is(r, p, class) && *p != '#');
  size_t length = (size_t)(end - r->at);
  *s = (plain_scalar){.start = r->at, .text = r->at, .length = length, .span = length};
  r->at = end;
  return true;
}

static bool read_scalar(plain_reader *r, bool flow, plain_scalar *s) {
  return has(r, r->at, '"') || has(r, r->at, '\'') ? read_quoted(r, s) : read_plain(r, flow, s);
}

/* Passes the colon that makes a scalar a key, if there is one.  In flow collections a value may
 * follow a key in quotes at once. */
static bool pass_colon(plain_reader *r, bool flow, const plain_scalar *key) {
  const char *p = r->at;
  while (has(r, p, ' ')) {
    p++;
  }
  if (!has(r, p, ':') || p - key->start > LONGEST_KEY ||
      !((flow && key->quoted) || is_gap(r, p + 1))) {
    return false;
  }
  r->at = p + 1;
  return true;
}

static bool add_scalar(plain_reader *r, const plain_scalar *s) {
  fs_node n = {.text = fs_tree_text(&r->tree, s->text, s->length, (size_t)(r->end - s->text)),
               .line = r->line,
               .column = column_of(r, s->start),
               .next = FS_NONE,
               .length = fs_min(s->span, FS_NODE_UNDERLINED) & FS_NODE_UNDERLINED,
               .kind = FS_NODE_SCALAR,
               .quoted = s->quoted};
  if (!fs_tree_has_room(&r->tree)) {
    return false;
  }
  r->status = n.text == NULL ? FSCHED_SYSTEM : fs_tree_add(&r->tree, n);
  return r->status == FSCHED_OK;
}

static bool open_collection(plain_reader *r, fs_node_kind kind, const char *start) {
  if (r->tree.depth == FS_NODE_DEPTH || !fs_tree_has_room(&r->tree)) {
    return false;
  }
  r->status = fs_tree_open(&r->tree, kind, r->line, column_of(r, start));
  return r->status == FSCHED_OK;
}

static bool close_collection(plain_reader *r) {
  r->status = fs_tree_close(&r->tree);
  return r->status == FSCHED_OK && r->tree.repeated.n == 0;
}

static bool read_flow(plain_reader *r);

static bool at_flow(const plain_reader *r) { return has(r, r->at, '[') || has(r, r->at, '{'); }

static bool read_flow_value(plain_reader *r) {
  plain_scalar s;
  return at_flow(r) ? read_flow(r) : read_scalar(r, true, &s) && add_scalar(r, &s);
}

static bool read_flow_pair(plain_reader *r) {
  plain_scalar key;
  return read_scalar(r, true, &key) && pass_colon(r, true, &key) && add_scalar(r, &key) &&
         pass_gap(r) && read_flow_value(r);
}

/* Reads a list or a mapping in brackets.  A comma may follow the last entry. */
static bool read_flow(plain_reader *r) {
  bool mapping = *r->at == '{';
  char bracket = mapping ? '}' : ']';
  if (!open_collection(r, mapping ? FS_NODE_MAPPING : FS_NODE_SEQUENCE, r->at++) || !pass_gap(r)) {
    return false;
  }
  while (!has(r, r->at, bracket)) {
    if (!(mapping ? read_flow_pair(r) : read_flow_value(r)) || !pass_gap(r)) {
      return false;
    }
    if (has(r, r->at, ',')) {
      r->at++;
      if (!pass_gap(r)) {
        return false;
      }
    } else if (!has(r, r->at, bracket)) {
      return false;
    }
  }
  r->at++;
  return close_collection(r);
}

static bool read_block(plain_reader *r);

static bool read_list(plain_reader *r) {
  uint32_t column = column_of(r, r->at);
  if (!open_collection(r, FS_NODE_SEQUENCE, r->at)) {
    return false;
  }
  do {
    uint32_t line = r->line;
    r->at++;
    if (!pass_gap(r) || (r->line != line && column_of(r, r->at) <= column) || !read_block(r)) {
      return false;
    }
  } while (column_of(r, r->at) == column && at_entry(r));
  return close_collection(r);
}

/* Reads a value that stands on the line of its key. */
static bool read_value_beside(plain_reader *r) {
  plain_scalar s;
  return (at_flow(r) ? read_flow(r) : read_scalar(r, false, &s) && add_scalar(r, &s)) &&
         end_line(r);
}

/* Reads what follows the colon of a key in that column.  A list may stand right below its key. */
static bool read_value(plain_reader *r, uint32_t column) {
  uint32_t line = r->line;
  if (!pass_gap(r)) {
    return false;
  }
  if (r->line == line) {
    return read_value_beside(r);
  }
  uint32_t found = column_of(r, r->at);
  return found > column ? read_block(r) : found == column && at_entry(r) && read_list(r);
}

/* Reads a mapping whose first key, with its colon, has been passed. */
static bool read_mapping(plain_reader *r, plain_scalar key) {
  uint32_t column = column_of(r, key.start);
  if (!open_collection(r, FS_NODE_MAPPING, key.start)) {
    return false;
  }
  for (;;) {
    if (!add_scalar(r, &key) || !read_value(r, column)) {
      return false;
    }
    if (r->at == r->end || column_of(r, r->at) != column || at_entry(r)) {
      return close_collection(r);
    }
    if (!read_scalar(r, false, &key) || !pass_colon(r, false, &key)) {
      return false;
    }
  }
}

/* Reads a value that begins here, up to the line that begins something else. */
static bool read_block(plain_reader *r) {
  if (at_entry(r)) {
    return read_list(r);
  }
  plain_scalar s;
  if (at_flow(r)) {
    return read_flow(r) && end_line(r);
  }
  if (!read_scalar(r, false, &s)) {
    return false;
  }
  return pass_colon(r, false, &s) ? read_mapping(r, s) : add_scalar(r, &s) && end_line(r);
}

fs_status fs_plain_parse(fsched_context *ctx, fs_arena *arena, const char *text, size_t length,
                         fs_doc *out, bool *taken) {
  fs_arena_mark mark = fs_arena_set_mark(arena);
  *taken = false;
  if (length == 0) {
    return FSCHED_OK;
  }
  plain_reader r = {.at = text, .end = text + length, .line_start = text, .line = 1};
  set_classes(&r);
  fs_tree_init(&r.tree, ctx, arena);
  *taken = pass_gap(&r) && read_block(&r) && r.at == r.end;
  if (*taken) {
    r.status = fs_tree_hand_over(&r.tree, out);
  }
  fs_tree_free(&r.tree);
  if (!*taken) {
    fs_arena_reset(arena, mark);
  }
  return r.status;
}
