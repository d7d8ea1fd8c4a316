/* SPDX-License-Identifier: Apache-2.0 */
/* Memory allocation: a CSV table whose first line names its columns, in any order: id, lower,
 * upper, size; a buffer is live in [lower, upper).  Other names of these columns are accepted:
 * buffer and buffer_id; start and begin; and end, which is the last tick instead of the one after
 * it.
 *
 * A buffer is an op whose start is given and that holds its size while it runs.  There is one
 * memory with one alignment, so where there is a column "alignment" the largest alignment is taken,
 * which serves all buffers.  Other columns are left out, and the head of the graph file names them.
 *
 * The bound, the largest sum of the sizes of buffers that live at one time, is found in a sweep
 * over begins and ends, ends first.  The default capacity is the sum of all sizes: a buffer placed
 * directly beside another one, or at either end, never reaches beyond that.  Sizes are rounded up
 * to the alignment in both. */
#include <stdlib.h>

#include "base/names.h"
#include "fsched/graph.h"
#include "import/csv.h"

typedef enum column { COLUMN_ID, COLUMN_LOWER, COLUMN_UPPER, COLUMN_SIZE, COLUMN_ALIGN } column;
enum { NEEDED = COLUMN_SIZE + 1, COLUMNS = COLUMN_ALIGN + 1 };
static const char *const column_name[COLUMNS] = {"id", "lower", "upper", "size", "alignment"};

typedef struct buffer {
  uint64_t lower, upper, size;
  size_t id_at;
  fs_text_span size_at;
} buffer;

typedef struct table {
  fs_csv_row head, row;
  size_t column[COLUMNS]; /* per kind of column: its index in the table; SIZE_MAX: missing */
  bool last;              /* "upper" is the last tick */
  fs_names ids;
  FS_VEC(buffer) buffer; /* in the order of the ids; includes buffers with a faulty number */
  uint64_t align, sum, bound;
} table;

/* ---- the head */

static uint32_t column_of(const fs_import *in, fs_text_span s, bool *last) {
  static const struct {
    const char *name;
    column is;
  } names[] = {{"id", COLUMN_ID},          {"buffer", COLUMN_ID},   {"buffer_id", COLUMN_ID},
               {"lower", COLUMN_LOWER},    {"start", COLUMN_LOWER}, {"begin", COLUMN_LOWER},
               {"upper", COLUMN_UPPER},    {"end", COLUMN_UPPER},   {"size", COLUMN_SIZE},
               {"alignment", COLUMN_ALIGN}};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (fs_import_is(in, s, names[i].name)) {
      *last = *last || strcmp(names[i].name, "end") == 0;
      return names[i].is;
    }
  }
  return FS_NONE;
}

/* Reports each missing column; when all are missing, reports that the line is no head. */
static void report_missing(fs_import *in, const table *t, fs_text_span line) {
  int missing = 0;
  for (int c = 0; c < NEEDED; c++) {
    missing += t->column[c] == SIZE_MAX;
  }
  if (missing == NEEDED) {
    fs_import_syntax(in, line, NULL, "this line should name the columns: id,lower,upper,size");
    return;
  }
  for (int c = 0; c < NEEDED; c++) {
    if (t->column[c] == SIZE_MAX) {
      fs_import_syntax(in, line, NULL, "no column is named '%s'", column_name[c]);
    }
  }
}

static bool read_head(fs_import *in, table *t, fs_text_span line, fs_status *status) {
  if (!fs_csv_split(in, line, &t->head, status)) {
    return false;
  }
  memset(t->column, 0xFF, sizeof t->column);
  for (size_t i = 0; i < t->head.n; i++) {
    uint32_t c = column_of(in, t->head.at[i].span, &t->last);
    if (c != FS_NONE && t->column[c] != SIZE_MAX) {
      fs_import_syntax(in, t->head.at[i].span, NULL, "there are two columns '%s'", column_name[c]);
    } else if (c != FS_NONE) {
      t->column[c] = i;
    }
  }
  report_missing(in, t, line);
  return in->status == FSCHED_OK;
}

/* ---- the rows */

static fs_status read_id(fs_import *in, table *t, const fs_csv_field *field, bool *added) {
  size_t n;
  uint32_t id;
  *added = false;
  if (fs_span_empty(field->span)) {
    fs_import_syntax(in, field->span, NULL, "the id is missing");
    return FSCHED_OK;
  }
  fs_arena_mark mark = fs_arena_set_mark(&in->arena);
  const char *text = fs_csv_text(in, field, &n);
  if (text == NULL) {
    return FSCHED_SYSTEM;
  }
  uint32_t known = fs_names_find(&t->ids, text, n);
  if (known == FS_NONE) {
    *added = true;
    if (!field->escaped) {
      fs_arena_reset(&in->arena, mark);
      text = in->text + field->span.at;
    }
    return fs_names_intern(&t->ids, text, n, &id, NULL);
  }
  fs_import_value(
      in, field->span, NULL, "there are two buffers '%.*s', the first on line %u",
      fs_import_shown(in, field->span), fs_import_at(in, field->span),
      fs_context_error_room(in->ctx) == 0 ? 0 : fs_import_line_of(in, t->buffer.at[known].id_at));
  return FSCHED_OK;
}

static bool read_align(fs_import *in, table *t, fs_wanted wanted) {
  uint64_t align = 1;
  if (t->column[COLUMN_ALIGN] == SIZE_MAX) {
    return true;
  }
  fs_text_span span = t->row.at[t->column[COLUMN_ALIGN]].span;
  wanted.what = column_name[COLUMN_ALIGN];
  if (!fs_import_number(in, span, wanted, 1, FSCHED_MAX_SIZE, &align)) {
    return false;
  }
  if ((align & (align - 1)) != 0) {
    fs_import_value(in, span, NULL, "the alignment %llu is no power of two",
                    (unsigned long long)align);
    return false;
  }
  t->align = fs_max(t->align, align);
  return true;
}

static void read_numbers(fs_import *in, table *t, uint64_t number, buffer *b) {
  fs_wanted wanted = {NULL, "row", number};
  fs_text_span span[NEEDED];
  uint64_t value[NEEDED] = {0};
  bool good = true;
  for (int c = COLUMN_LOWER; c < NEEDED; c++) {
    uint64_t most = c == COLUMN_SIZE               ? FSCHED_MAX_SIZE
                    : c == COLUMN_UPPER && t->last ? FSCHED_MAX_TIME - 1
                                                   : FSCHED_MAX_TIME;
    span[c] = t->row.at[t->column[c]].span;
    wanted.what = column_name[c];
    good = fs_import_number(in, span[c], wanted, 0, most, &value[c]) && good;
  }
  value[COLUMN_UPPER] += t->last;
  if (read_align(in, t, wanted) && good && value[COLUMN_UPPER] <= value[COLUMN_LOWER]) {
    fs_import_value(in, span[COLUMN_UPPER], "a buffer is live from lower to just before upper",
                    "row %llu is never live: it begins at %llu and ends at %llu",
                    (unsigned long long)number, (unsigned long long)value[COLUMN_LOWER],
                    (unsigned long long)value[COLUMN_UPPER]);
  }
  b->lower = value[COLUMN_LOWER];
  b->upper = value[COLUMN_UPPER];
  b->size = value[COLUMN_SIZE];
  b->size_at = span[COLUMN_SIZE];
}

static fs_status read_row(fs_import *in, table *t, uint64_t number, fs_text_span line) {
  fs_status status = FSCHED_OK;
  bool added;
  buffer b;
  if (!fs_csv_split(in, line, &t->row, &status)) {
    return status;
  }
  if (t->row.n != t->head.n) {
    fs_text_span at =
        t->row.n > t->head.n ? t->row.at[t->head.n].span : (fs_text_span){line.end, line.end};
    fs_import_syntax(in, at, NULL, "row %llu has %zu fields, and the head %zu columns",
                     (unsigned long long)number, t->row.n, t->head.n);
    return FSCHED_OK;
  }
  const fs_csv_field *id = &t->row.at[t->column[COLUMN_ID]];
  FS_TRY(read_id(in, t, id, &added));
  read_numbers(in, t, number, &b);
  b.id_at = id->span.at;
  return added ? fs_vec_push(in->ctx, &t->buffer, b) : FSCHED_OK;
}

/* ---- the bound */

typedef struct bound_event {
  uint64_t tick;
  uint32_t row;
} bound_event;

static int compare_events(const void *a, const void *b) {
  const bound_event *x = a, *y = b;
  return x->tick != y->tick ? (x->tick > y->tick) - (x->tick < y->tick)
                            : (x->row > y->row) - (x->row < y->row);
}

/* Finds the bound; reports the first buffer with which more is live than the memory has, or than
 * any memory can have. */
static void sweep_events(fs_import *in, table *t, const bound_event *begin, const bound_event *end,
                         size_t n) {
  uint64_t live = 0, capacity = in->options.capacity;
  uint64_t most = capacity == 0 ? FSCHED_MAX_SIZE : capacity;
  bool fits = true;
  for (size_t i = 0, gone = 0; i < n && fits; i++) {
    for (; end[gone].tick <= begin[i].tick; gone++) {
      live -= fs_align_up(t->buffer.at[end[gone].row].size, t->align);
    }
    const buffer *b = &t->buffer.at[begin[i].row];
    live += fs_align_up(b->size, t->align); /* no overflow: at most 2^49 */
    t->bound = fs_max(t->bound, live);
    fits = live <= most;
    if (!fits) {
      fs_import_infeasible(in, b->size_at, NULL,
                           "with this buffer %llu bytes are live at %llu, and %s has %llu",
                           (unsigned long long)live, (unsigned long long)b->lower,
                           capacity == 0 ? "no memory" : "the memory", (unsigned long long)most);
    }
  }
}

static fs_status find_bound(fs_import *in, table *t) {
  size_t n = t->buffer.n;
  bound_event *begin, *end;
  FS_TRY(fs_new(&in->arena, &begin, n));
  FS_TRY(fs_new(&in->arena, &end, n));
  t->sum = 0;
  for (size_t i = 0; i < n; i++) {
    const buffer *b = &t->buffer.at[i];
    begin[i] = (bound_event){b->lower, (uint32_t)i};
    end[i] = (bound_event){b->upper, (uint32_t)i};
    t->sum = fs_min(t->sum + fs_align_up(b->size, t->align), FSCHED_MAX_SIZE);
  }
  qsort(begin, n, sizeof *begin, compare_events);
  qsort(end, n, sizeof *end, compare_events);
  sweep_events(in, t, begin, end, n);
  return FSCHED_OK;
}

/* ---- the graph file */

static fs_status put_left_out(fs_import *in, const table *t) {
  bool none = true, last = false;
  for (size_t i = 0; i < t->head.n; i++) {
    const fs_csv_field *field = &t->head.at[i];
    if (column_of(in, field->span, &last) == FS_NONE) {
      size_t n;
      const char *name = fs_csv_text(in, field, &n);
      if (name == NULL) {
        return FSCHED_SYSTEM;
      }
      fs_text_puts(&in->out, none ? "# Columns left out: " : ", ");
      fs_import_name(&in->out, name);
      none = false;
    }
  }
  fs_text_puts(&in->out, none ? "" : "\n");
  return FSCHED_OK;
}

static void put_buffer(fs_text *out, const char *id, const buffer *b) {
  fs_text_puts(out, "  - {name: ");
  fs_import_name(out, id);
  fs_text_puts(out, ", start: ");
  fs_text_u64(out, b->lower);
  fs_text_puts(out, ", time: ");
  fs_text_u64(out, b->upper - b->lower);
  fs_text_puts(out, ", scratch: {memory: ");
  fs_text_u64(out, b->size);
  fs_text_puts(out, "}}\n");
}

static fs_status put_graph(fs_import *in, const table *t) {
  fs_text *out = &in->out;
  uint64_t capacity = in->options.capacity;
  fs_text_puts(out, "# Memory allocation: ");
  fs_import_count(out, t->buffer.n, "buffer", "buffers");
  fs_text_puts(out, ", at most ");
  fs_import_count(out, t->bound, "byte", "bytes");
  fs_text_puts(out, " live at one time\n");
  FS_TRY(put_left_out(in, t));
  fs_import_head(in);
  fs_text_puts(out, "target:\n  memories:\n    - {name: memory, capacity: ");
  fs_text_u64(out, capacity != 0 ? capacity : fs_max(t->sum, 1));
  if (t->align > 1) {
    fs_text_puts(out, ", align: ");
    fs_text_u64(out, t->align);
  }
  fs_text_puts(out, ", placement: contiguous}\nops:\n");
  for (size_t i = 0; i < t->buffer.n; i++) {
    put_buffer(out, t->ids.text.at[i], &t->buffer.at[i]);
  }
  return FSCHED_OK;
}

static fs_status read_table(fs_import *in, table *t) {
  fs_text_span rest = fs_import_all(in), line;
  fs_status status = FSCHED_OK;
  uint64_t number = 0;
  for (bool head = false; fs_import_line(in, &rest, &line);) {
    fs_text_span words = line;
    if (fs_span_empty(fs_import_word(in, &words))) {
      continue;
    }
    if (head) {
      FS_TRY(read_row(in, t, ++number, line));
    } else if (!read_head(in, t, line, &status)) {
      return status;
    }
    head = true;
  }
  if (number == 0) {
    rest = (fs_text_span){in->length, in->length};
    fs_import_syntax(in, fs_import_word(in, &rest), NULL, "there are no buffers");
  }
  if (in->status == FSCHED_OK) {
    FS_TRY(find_bound(in, t));
  }
  return in->status == FSCHED_OK ? put_graph(in, t) : FSCHED_OK;
}

fs_status fs_import_memory(fs_import *in) {
  table t = {.align = 1};
  fs_names_init(&t.ids, &in->arena);
  fs_status status = read_table(in, &t);
  fs_vec_free(in->ctx, &t.head);
  fs_vec_free(in->ctx, &t.row);
  fs_vec_free(in->ctx, &t.buffer);
  fs_names_free(&t.ids);
  return status;
}
