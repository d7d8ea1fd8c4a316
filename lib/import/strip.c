/* SPDX-License-Identifier: Apache-2.0 */
/* Strip packing: "strip WIDTH HEIGHT", then one line "w h" per rectangle.  The strip is a memory:
 * its width stands for addresses and its height for time; a rectangle is an op that holds w bytes
 * for h ticks.  HEIGHT is the height of a known solution, so it becomes a comment. */
#include "fsched/graph.h"
#include "import/import.h"

typedef struct strip {
  uint64_t width, height;
  FS_VEC(uint64_t) side; /* per rectangle: width, height */
} strip;

static void no_more(fs_import *in, fs_text_span *rest, const char *what) {
  fs_text_span word = fs_import_word(in, rest);
  if (!fs_span_empty(word)) {
    fs_import_syntax(in, word, NULL, "%s, and '%.*s' is one word too many", what,
                     fs_import_shown(in, word), fs_import_at(in, word));
  }
}

static bool read_head(fs_import *in, strip *s, fs_text_span *line) {
  fs_text_span word = fs_import_word(in, line);
  if (!fs_import_is(in, word, "strip")) {
    fs_import_syntax(in, word, NULL, "this should be: strip WIDTH HEIGHT");
    return false;
  }
  if (!fs_import_next(in, line, (fs_wanted){"width", NULL, 0}, 1, FSCHED_MAX_SIZE, &s->width) ||
      !fs_import_next(in, line, (fs_wanted){"height", NULL, 0}, 1, FSCHED_MAX_TIME, &s->height)) {
    return false;
  }
  no_more(in, line, "a strip has a width and a height");
  return true;
}

static fs_status read_rectangle(fs_import *in, strip *s, uint64_t number, fs_text_span line) {
  fs_text_span word = fs_import_word(in, &line);
  uint64_t width, height;
  bool wide = fs_import_number(in, word, (fs_wanted){"width", "rectangle", number}, 1,
                               FSCHED_MAX_SIZE, &width);
  if (wide && width > s->width) {
    fs_import_infeasible(in, word, NULL, "rectangle %llu is %llu wide, and the strip only %llu",
                         (unsigned long long)number, (unsigned long long)width,
                         (unsigned long long)s->width);
  }
  if (!fs_import_next(in, &line, (fs_wanted){"height", "rectangle", number}, 1, FSCHED_MAX_TIME,
                      &height)) {
    return FSCHED_OK;
  }
  no_more(in, &line, "a rectangle has a width and a height");
  FS_TRY(fs_vec_push(in->ctx, &s->side, wide ? width : 0));
  return fs_vec_push(in->ctx, &s->side, height);
}

static void put_graph(fs_import *in, const strip *s) {
  fs_text *t = &in->out;
  fs_text_puts(t, "# Strip packing: ");
  fs_import_count(t, s->side.n / 2, "rectangle", "rectangles");
  fs_text_puts(t, ", height ");
  fs_text_u64(t, s->height);
  fs_text_puts(t, " is known\n");
  fs_import_head(in);
  fs_text_puts(t, "target:\n  memories:\n    - {name: strip, capacity: ");
  fs_text_u64(t, s->width);
  fs_text_puts(t, ", placement: contiguous}\nops:\n");
  for (size_t i = 0; i < s->side.n; i += 2) {
    fs_text_puts(t, "  - {name: r");
    fs_text_u64(t, i / 2 + 1);
    fs_text_puts(t, ", time: ");
    fs_text_u64(t, s->side.at[i + 1]);
    fs_text_puts(t, ", scratch: {strip: ");
    fs_text_u64(t, s->side.at[i]);
    fs_text_puts(t, "}}\n");
  }
}

static fs_status read_strip(fs_import *in, strip *s) {
  fs_text_span rest = fs_import_all(in), line;
  uint64_t number = 0;
  bool head = false;
  while (fs_import_line(in, &rest, &line)) {
    fs_text_span words = line;
    if (fs_span_empty(fs_import_word(in, &words))) {
      continue;
    }
    if (head) {
      FS_TRY(read_rectangle(in, s, ++number, line));
    } else if (!read_head(in, s, &line)) {
      return FSCHED_OK;
    }
    head = true;
  }
  if (number == 0) {
    rest = (fs_text_span){in->length, in->length};
    fs_import_syntax(in, fs_import_word(in, &rest), NULL, "there are no rectangles");
  }
  if (in->status == FSCHED_OK) {
    put_graph(in, s);
  }
  return FSCHED_OK;
}

fs_status fs_import_strip(fs_import *in) {
  strip s = {0};
  fs_status status = read_strip(in, &s);
  fs_vec_free(in->ctx, &s.side);
  return status;
}
